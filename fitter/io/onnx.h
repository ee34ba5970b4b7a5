/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX models: of the main graph, its values, and the scales and zero points that its nodes take for them. */
#ifndef PWLC_ONNX_H
#define PWLC_ONNX_H

#include "model.h"

/* Adds the tensors to an empty model: the graph's inputs, then the outputs of its nodes, each in the order of the file,
 * then the stored tensors that nodes take as quantised. The real values before QuantizeLinear and after
 * DequantizeLinear have the scale of the codes that stand for them. On failure, exit 1 or 2, the caller frees the
 * model.
 */
int onnx_parse(struct window *window, struct model *model, struct diag *diag);

#endif
