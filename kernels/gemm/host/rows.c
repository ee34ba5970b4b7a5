/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of X as passes read them. */
#include "rows.h"

#include <float.h>
#include <string.h>

#include "blocks/block.h"
#include "blocks/q8.h"
#include "gemm/weight.h"

enum { AT_ONCE = 16 }; /* blocks, or elements */

pwl_qgemm_kind pwl_qgemm_kind_of(const pwl_qgemm_product *product)
{
    if (product->scheme == PWL_QGEMM_INT8)
        return PWL_QGEMM_INTEGERS;
    if (product->scheme == PWL_QGEMM_W4A16)
        return PWL_QGEMM_HALVES4;
    if (product->scheme == PWL_QGEMM_W8A16)
        return PWL_QGEMM_HALVES8;
    if (product->scheme == PWL_QGEMM_MXFP4_A16)
        return PWL_QGEMM_HALVES_E2M1;
    if (product->scheme == PWL_QGEMM_W8A8)
        return PWL_QGEMM_BYTES;
    if (product->scheme == PWL_QGEMM_MXFP4_A8)
        return PWL_QGEMM_E2M1;
    if (product->scheme == PWL_QGEMM_Q4_K_A8)
        return PWL_QGEMM_SUPER4;
    if (product->scheme == PWL_QGEMM_Q5_K_A8)
        return PWL_QGEMM_SUPER5;
    if (product->scheme == PWL_QGEMM_Q6_K_A8)
        return PWL_QGEMM_SUPER6;
    return product->sums == PWL_QGEMM_SUMS_STORED ? PWL_QGEMM_NIBBLES_STORED : PWL_QGEMM_NIBBLES;
}

size_t pwl_qgemm_row_of_x_bytes(const pwl_qgemm_product *product, size_t k)
{
    if (product->scheme == PWL_QGEMM_INT8)
        return sizeof(int32_t);
    if (pwl_qgemm_is_halves(pwl_qgemm_kind_of(product)))
        return PWL_QGEMM_LINE + k * sizeof(float);
    return k / PWL_BLOCK * sizeof(pwl_qgemm_x);
}

/* At most count * 128 in magnitude, of 16 or 32. */
static int32_t sum_of(const int8_t *q, size_t count)
{
    int32_t sum = 0;
    for (size_t j = 0; j < count; j++)
        sum += q[j];
    return sum;
}

static void put_block(pwl_qgemm_kind kind, const pwl_block_q8_1 *q, pwl_qgemm_x *to)
{
    const int zero = kind == PWL_QGEMM_BYTES ? 128 : kind == PWL_QGEMM_E2M1 ? PWL_QGEMM_E2M1_ZERO : 8;
    const float d = pwl_f32_from_f16(q->d);
    memcpy(to->q, q->qs, sizeof to->q);
    to->d = kind == PWL_QGEMM_E2M1 ? d * 0.5f : d;
    if (kind == PWL_QGEMM_NIBBLES_STORED)
        to->of.less = pwl_f32_from_f16(q->s) * 8;
    else if (kind == PWL_QGEMM_SUPER4 || kind == PWL_QGEMM_SUPER5)
        to->of.less = (float)sum_of(q->qs, PWL_BLOCK) * d;
    else if (kind == PWL_QGEMM_SUPER6)
        for (size_t half = 0; half < 2; half++)
            to->of.halves[half] = (int16_t)sum_of(q->qs + half * PWL_SUB_BLOCK, PWL_SUB_BLOCK);
    else
        to->of.start = -zero * sum_of(q->qs, PWL_BLOCK);
}

/* Blocks of an X of floats, from element `at` on. */
static const pwl_block_q8_1 *make_blocks(const pwl_qgemm_input *x, pwl_qgemm_kind kind, size_t at, size_t blocks,
                                         pwl_block_q8_1 made[AT_ONCE])
{
    const size_t count = blocks * PWL_BLOCK;
    const float *v = (const float *)x->data + at;
    float widened[AT_ONCE * PWL_BLOCK];
    if (x->type != PWL_QGEMM_F32) {
        for (size_t i = 0; i < count; i++)
            widened[i] = pwl_qgemm_element(x->type, x->data, at + i);
        v = widened;
    }
    if (kind == PWL_QGEMM_NIBBLES_STORED)
        (void)!pwl_quantise(PWL_Q8_1, PWL_RULE_DOCUMENT, v, 1, count, count,
                            made); /* of whole blocks: it cannot fail */
    else
        pwl_q8_1(v, blocks, made);
    return made;
}

static void prepare_integers(const pwl_qgemm_input *x, size_t k, size_t row, int32_t *start)
{
    const int8_t *const q = (const int8_t *)x->data + row * x->stride;
    int32_t sum = 0; /* at most 65793 * 128 in magnitude */
    for (size_t c = 0; c < k; c += PWL_BLOCK)
        sum += sum_of(q + c, PWL_BLOCK);
    *start = (int32_t)(-128 * (uint32_t)sum);
}

/* f of a row, as pwl_qgemm_input_row_exponent() finds it. */
static int exponent_of(const float *x, size_t k)
{
    float amax[AT_ONCE] = {0};
    for (size_t c = 0; c < k; c += AT_ONCE) {
        for (size_t i = 0; i < AT_ONCE; i++) {
            const float a = pwl_magnitude(x[c + i]), finite = a <= FLT_MAX ? a : 0;
            amax[i] = finite > amax[i] ? finite : amax[i];
        }
    }
    for (size_t i = 1; i < AT_ONCE; i++)
        amax[0] = amax[i] > amax[0] ? amax[i] : amax[0];
    return pwl_qgemm_input_exponent(amax[0]);
}

/* RN16(x * 2^-f), as pass.h says: what is finite is below 2^15. */
static void round_halves(const float *x, size_t k, int f, float *to)
{
    const float down = (float)pwl_qgemm_power(-f);
    for (size_t c = 0; c < k; c++) {
        const float p = x[c] * down;
        const float power = pwl_f32_of_bits(pwl_bits_of_f32(p) & 0x7f800000) * 0x1.8p13f;
        const float unit = power > 0x1.8p-1f ? power : 0x1.8p-1f, sum = p + unit, rounded = sum - unit;
        to[c] = p - p == 0 ? rounded : p;
    }
}

static void prepare_halves(const pwl_qgemm_input *x, size_t k, size_t row, void *to)
{
    float *const v = (float *)(void *)((uint8_t *)to + PWL_QGEMM_LINE);
    const size_t at = row * x->stride;
    int32_t f = 0;
    if (x->type == PWL_QGEMM_F32) {
        f = exponent_of((const float *)x->data + at, k);
        round_halves((const float *)x->data + at, k, f, v);
    } else {
        for (size_t c = 0; c < k; c++)
            v[c] = pwl_qgemm_element(x->type, x->data, at + c);
    }
    memcpy(to, &f, sizeof f);
}

void pwl_qgemm_prepare_row(const pwl_qgemm_product *product, size_t k, size_t row, void *to)
{
    const pwl_qgemm_input *const x = &product->x;
    const pwl_qgemm_kind kind = pwl_qgemm_kind_of(product);
    const size_t blocks = k / PWL_BLOCK;
    if (kind == PWL_QGEMM_INTEGERS) {
        prepare_integers(x, k, row, to);
        return;
    }
    if (pwl_qgemm_is_halves(kind)) {
        prepare_halves(x, k, row, to);
        return;
    }
    for (size_t b = 0; b < blocks; b += AT_ONCE) {
        const size_t count = blocks - b < AT_ONCE ? blocks - b : AT_ONCE;
        pwl_block_q8_1 made[AT_ONCE];
        const pwl_block_q8_1 *const q = x->type == PWL_QGEMM_BLOCKS_Q8_1
                                            ? (const pwl_block_q8_1 *)x->data + row * x->stride + b
                                            : make_blocks(x, kind, row * x->stride + b * PWL_BLOCK, count, made);
        for (size_t i = 0; i < count; i++)
            put_block(kind, &q[i], (pwl_qgemm_x *)to + b + i);
    }
}
