/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TFLite models: FlatBuffers of the schema that its version 3 has, of which the tensors are read. */
#ifndef PWLC_TFLITE_H
#define PWLC_TFLITE_H

#include "model.h"

bool tflite_recognise(struct window *window);

/* Adds the tensors to an empty model, those of the first subgraph first, so that their indices are the model's own. On
 * failure, exit 1 or 2, the caller frees the model. */
int tflite_parse(struct window *window, struct model *model, struct diag *diag);

#endif
