/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QGEMM_PADDING_H
#define QGEMM_PADDING_H

#include "gemm/layout.h"
#include "gemm/weight.h"

/* Of packed weights. */
static const size_t shapes[][2] = {{1, 32}, {1, 96}, {16, 64}, {127, 32}, {128, 128}, {129, 96}, {130, 4064}};
#define SHAPES (sizeof shapes / sizeof shapes[0])

/* Weights outside the matrix are 0, with scales of 0. */
static inline int padding_is_zero(const pwl_qgemm_weights *weights)
{
    const size_t rows = pwl_qgemm_round_up(weights->n, PWL_QGEMM_ROWS), depth = pwl_qgemm_depth(weights->k);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < depth * PWL_QGEMM_COLUMNS; c++) {
            if (r < weights->n && c < weights->k)
                continue;
            if (pwl_qgemm_code_value(weights->format, pwl_qgemm_code(weights, r, c)) != 0)
                return 0;
            if (!is_rows(weights->format) && pwl_qgemm_scale(weights, r, c / PWL_BLOCK) != 0)
                return 0;
        }
        if (r >= weights->n && (pwl_qgemm_row_exponent(weights, r) != 0 ||
                                (is_rows(weights->format) && pwl_qgemm_row_sum(weights, r) != 0)))
            return 0;
    }
    return 1;
}

#endif
