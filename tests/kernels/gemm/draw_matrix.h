/* SPDX-License-Identifier: Apache-2.0 */
/* Random matrices: uniform in (-1, 1), or Gaussian. */
#ifndef DRAW_MATRIX_H
#define DRAW_MATRIX_H

#include <math.h>
#include <stddef.h>

#include "../../support/random.h"

/* 0 to 1, both excluded */
static inline double draw_open(uint64_t *state)
{
    return ((double)(random_bits(state) >> 12) + 0.5) * 0x1p-52;
}

static inline void draw_matrix(float *x, size_t count, int gaussian, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        const double u = draw_open(state), turn = 6.283185307179586 * draw_open(state);
        x[i] = (float)(gaussian ? sqrt(-2 * log(u)) * cos(turn) : 2 * u - 1);
    }
}

#endif
