/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of X as the schemes take them. */
#include "input.h"

#include <string.h>

#include <pwl/e4m3.h>

#include "blocks/block.h"
#include "layout.h"
#include "weight.h"

int pwl_qgemm_is_a16(const pwl_qgemm_product *product)
{
    return product->scheme <= PWL_QGEMM_MXFP4_A16 || product->scheme == PWL_QGEMM_SPARSE4_A16;
}

int pwl_qgemm_is_a8(const pwl_qgemm_product *product)
{
    return product->scheme == PWL_QGEMM_W4A8 || product->scheme == PWL_QGEMM_W8A8 ||
           product->scheme == PWL_QGEMM_MXFP4_A8 ||
           (product->scheme >= PWL_QGEMM_Q4_K_A8 && product->scheme <= PWL_QGEMM_Q6_K_A8);
}

int pwl_qgemm_is_fp8(const pwl_qgemm_product *product)
{
    return product->scheme == PWL_QGEMM_FP8 || product->scheme == PWL_QGEMM_MXFP4_FP8;
}

/* One element of an X of floats. */
float pwl_qgemm_input_element(const pwl_qgemm_input *x, size_t row, size_t column)
{
    return pwl_qgemm_element(x->type, x->data, row * x->stride + column);
}

/* The largest of the finite magnitudes of a row of X of floats. */
static float input_amax(const pwl_qgemm_product *product, size_t row)
{
    float amax = 0;
    for (size_t c = 0; c < product->weights->k; c++) {
        const float v = pwl_magnitude(pwl_qgemm_input_element(&product->x, row, c));
        if (pwl_is_finite(v) && v > amax)
            amax = v;
    }
    return amax;
}

/* f of a row of X. */
int pwl_qgemm_input_row_exponent(const pwl_qgemm_product *product, size_t row)
{
    if (!pwl_qgemm_is_a16(product) || product->x.type != PWL_QGEMM_F32)
        return 0;
    return pwl_qgemm_input_exponent(input_amax(product, row));
}

float pwl_qgemm_input_scale(const pwl_qgemm_product *product, size_t row)
{
    if (product->x.type == PWL_QGEMM_E4M3)
        return product->x.scale[row];
    return pwl_e4m3_scale(input_amax(product, row));
}

uint8_t pwl_qgemm_input_e4m3(const pwl_qgemm_product *product, size_t row, size_t column, float scale)
{
    if (product->x.type == PWL_QGEMM_E4M3)
        return ((const uint8_t *)product->x.data)[row * product->x.stride + column];
    return pwl_e4m3_code(pwl_qgemm_input_element(&product->x, row, column), pwl_e4m3_inverse(scale));
}

/* A block of Q8_1: one of X, or made of 32 elements of it. */
pwl_block_q8_1 pwl_qgemm_input_block(const pwl_qgemm_product *product, size_t row, size_t block)
{
    const pwl_rule rule = product->sums == PWL_QGEMM_SUMS_STORED ? PWL_RULE_DOCUMENT : PWL_RULE_DEFAULT;
    pwl_block_q8_1 q = {0, 0, {0}};
    float x[PWL_BLOCK];
    if (product->x.type == PWL_QGEMM_BLOCKS_Q8_1)
        return ((const pwl_block_q8_1 *)product->x.data)[row * product->x.stride + block];
    for (size_t j = 0; j < PWL_BLOCK; j++)
        x[j] = pwl_qgemm_input_element(&product->x, row, block * PWL_BLOCK + j);
    (void)!pwl_quantise(PWL_Q8_1, rule, x, 1, PWL_BLOCK, PWL_BLOCK, &q); /* of one block: it cannot fail */
    return q;
}

int pwl_qgemm_input_halves_exponent(const pwl_qgemm_product *product, size_t row)
{
    float most = 0;
    for (size_t b = 0; b < product->weights->k / PWL_BLOCK; b++) {
        const float d = pwl_magnitude(pwl_f32_from_f16(pwl_qgemm_input_block(product, row, b).d));
        if (pwl_is_finite(d) && d > most)
            most = d;
    }
    return pwl_qgemm_blocks_exponent(most);
}

void pwl_qgemm_pack_input(const pwl_qgemm_product *product, void *memory)
{
    const size_t m = product->m, k = product->weights->k;
    uint8_t *const to = memory;
    memset(to, 0, pwl_qgemm_input_bytes(m, k));
    for (size_t row = 0; row < m; row++) {
        for (size_t c = 0; c < k; c += PWL_BLOCK) {
            const int8_t *const x = (const int8_t *)product->x.data + row * product->x.stride + c;
            uint8_t *const codes = to + pwl_qgemm_input_at(m, row, c);
            uint8_t *const scale = to + pwl_qgemm_input_scale_at(m, k, row, c) + c % PWL_QGEMM_COLUMNS / PWL_BLOCK * 4;
            pwl_block_q8_1 q = {0, 0, {0}};
            int16_t sum = 0;
            if (pwl_qgemm_is_a8(product))
                q = pwl_qgemm_input_block(product, row, c / PWL_BLOCK);
            else
                memcpy(q.qs, x, PWL_BLOCK);
            for (size_t j = 0; j < PWL_BLOCK; j++) {
                codes[pwl_qgemm_byte_at(product->weights->format, (unsigned)((c + j) % PWL_QGEMM_COLUMNS))] =
                    (uint8_t)q.qs[j];
                sum = (int16_t)(sum + q.qs[j]); /* at most 32 * 128 in magnitude */
            }
            memcpy(scale, &q.d, sizeof q.d);
            memcpy(scale + sizeof q.d, &sum, sizeof sum);
        }
    }
}
