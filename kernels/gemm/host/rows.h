/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_QGEMM_ROWS_H
#define PWL_QGEMM_ROWS_H

#include "pass.h"

/* What of the weights' scheme a way multiplies. */
pwl_qgemm_kind pwl_qgemm_kind_of(const pwl_qgemm_product *product);

/* Bytes that a row of X takes as a pass reads it, in the workspace. */
size_t pwl_qgemm_row_of_x_bytes(const pwl_qgemm_product *product, size_t k);

/* Row `row` of X, which is K long, to `to`, of that many bytes and aligned to 4: pwl_qgemm_x [K / 32]; in INT8 the
 * pass's `start` alone; in A16 f (int32_t), and float [K] from byte 64 on. */
void pwl_qgemm_prepare_row(const pwl_qgemm_product *product, size_t k, size_t row, void *to);

#endif
