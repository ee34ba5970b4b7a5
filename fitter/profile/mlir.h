/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TOSA tables as MLIR text, which tosa-opt takes: a function of tosa.const and tosa.table, and for points tosa.rescale.
 */
#ifndef PWLC_PROFILE_MLIR_H
#define PWLC_PROFILE_MLIR_H

#include "description.h"

extern const struct notation notation_mlir_table;  /* 256 outputs of 8 bits */
extern const struct notation notation_mlir_points; /* 513 points of 16 bits */
extern const struct notation notation_mlir_bytes;  /* four times 513, each a byte of an output of 32 bits */

#endif
