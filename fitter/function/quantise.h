/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real numbers to codes: round(x / scale) + zero point, ties to even. */
#ifndef PWLC_QUANTISE_H
#define PWLC_QUANTISE_H

#include <stddef.h>
#include <stdint.h>

#include "tensor.h"

/* The code of x, not clamped but to 2^62 and more, beyond every range. */
int64_t quantise(const struct tensor *tensor, long double x);

/* q[k] = quantise(tensor, x[k]), clamped to [qmin, qmax], for k in [0, count), of numbers alone: as int32_t where the
 * tensor is signed. How many were clamped, and the code that the first of them had. */
size_t quantise_all(const struct tensor *tensor, const double *x, size_t count, uint32_t *q, int64_t *first);

#endif
