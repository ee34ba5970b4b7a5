/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_QGEMM_INPUT_H
#define PWL_QGEMM_INPUT_H

#include <pwl/qgemm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the scheme is W4A16, W8A16, MXFP4_A16 or SPARSE4_A16; W4A8, W8A8, MXFP4_A8 or one of
 * super-blocks; FP8 or MXFP4_FP8. */
int pwl_qgemm_is_a16(const pwl_qgemm_product *product);
int pwl_qgemm_is_a8(const pwl_qgemm_product *product);
int pwl_qgemm_is_fp8(const pwl_qgemm_product *product);

/* One element of an X of floats. */
float pwl_qgemm_input_element(const pwl_qgemm_input *x, size_t row, size_t column);

/* f of a row of X. */
int pwl_qgemm_input_row_exponent(const pwl_qgemm_product *product, size_t row);

/* FP8: a row's scale, which is X's or is made of it; one of its codes, by that scale. */
float pwl_qgemm_input_scale(const pwl_qgemm_product *product, size_t row);
uint8_t pwl_qgemm_input_e4m3(const pwl_qgemm_product *product, size_t row, size_t column, float scale);

/* A block of Q8_1 of the schemes of A8: one of X, or made of 32 elements of it. */
pwl_block_q8_1 pwl_qgemm_input_block(const pwl_qgemm_product *product, size_t row, size_t block);

/* f of a row of X in W4A8 and W8A8 where halves are multiplied. */
int pwl_qgemm_input_halves_exponent(const pwl_qgemm_product *product, size_t row);

/* X of W4A8, W8A8 and INT8 (with d = 0) in the order of layout.h, pwl_qgemm_input_bytes(), aligned to 16. */
void pwl_qgemm_pack_input(const pwl_qgemm_product *product, void *memory);

#ifdef __cplusplus
}
#endif

#endif
