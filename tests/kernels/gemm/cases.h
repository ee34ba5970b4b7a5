/* SPDX-License-Identifier: Apache-2.0 */
/* Packed weights to multiply by. */
#ifndef QGEMM_CASES_H
#define QGEMM_CASES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/half.h>
#include <pwl/qgemm.h>

#include "../../support/random.h"
#include "../need.h"

static const struct qgemm_kind {
    const char *name;
    pwl_qgemm_format format;
    pwl_format blocks;
} qgemm_kinds[] = {
    {"Q4_0", PWL_QGEMM_Q4_0, PWL_Q4_0},
    {"Q8_0", PWL_QGEMM_Q8_0, PWL_Q8_0},
    {"MXFP4", PWL_QGEMM_MXFP4, PWL_MXFP4},
};

#define QGEMM_KINDS (sizeof qgemm_kinds / sizeof qgemm_kinds[0])

static inline size_t blocks_bytes(const struct qgemm_kind *kind, size_t n, size_t k)
{
    return n * (k / PWL_BLOCK) * pwl_format_bytes(kind->blocks);
}

/* Codes at random, scales of any exponent between low and high, and any sign. */
static inline void draw_blocks(const struct qgemm_kind *kind, uint8_t *blocks, size_t count, int low, int high,
                               uint64_t *state)
{
    const size_t bytes = pwl_format_bytes(kind->blocks);
    for (size_t i = 0; i < count * bytes; i++)
        blocks[i] = (uint8_t)random_bits(state);
    for (size_t i = 0; i < count; i++, blocks += bytes) {
        const int exponent = (int)random_in(state, low, high);
        const double d = (1 + (double)(random_bits(state) >> 54) * 0x1p-10) * (random_bits(state) % 2 ? 1 : -1);
        const uint16_t scale = pwl_round_f64(ldexp(d, exponent), 10, 5);
        if (kind->blocks == PWL_MXFP4)
            blocks[0] = (uint8_t)(exponent + 127);
        else
            memcpy(blocks, &scale, sizeof scale);
    }
}

/* The six pairs of ascending positions of four. */
static const uint8_t two_of_four[] = {4, 8, 9, 12, 13, 14};

/* As draw_blocks(), of SPARSE4, with all positions. */
static inline void draw_sparse_blocks(pwl_block_sparse4 *blocks, size_t count, int low, int high, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        pwl_block_q4_0 codes;
        draw_blocks(&qgemm_kinds[0], (uint8_t *)&codes, 1, low, high, state);
        blocks[i].d = codes.d;
        memcpy(blocks[i].qs, codes.qs, sizeof codes.qs);
        for (size_t j = 0; j < sizeof blocks[i].positions; j++)
            blocks[i].positions[j] =
                (uint8_t)(two_of_four[random_bits(state) % 6] | two_of_four[random_bits(state) % 6] << 4);
    }
}

/* Formats of super-blocks, which the host alone multiplies. */
static const struct qgemm_kind super_kinds[] = {
    {"Q4_K", PWL_QGEMM_Q4_K, PWL_Q4_K}, {"Q5_K", PWL_QGEMM_Q5_K, PWL_Q5_K}, {"Q6_K", PWL_QGEMM_Q6_K, PWL_Q6_K}};

#define SUPER_KINDS (sizeof super_kinds / sizeof super_kinds[0])

/* Of a format of super-blocks; else null. */
static inline const struct qgemm_kind *super_kind_of(pwl_qgemm_format format)
{
    for (size_t i = 0; i < SUPER_KINDS; i++) {
        if (super_kinds[i].format == format)
            return &super_kinds[i];
    }
    return NULL;
}

/* As draw_blocks(), of super-blocks, with all scales of sub-blocks. */
static inline void draw_super_blocks(const struct qgemm_kind *kind, uint8_t *blocks, size_t count, int low, int high,
                                     uint64_t *state)
{
    const size_t bytes = pwl_format_bytes(kind->blocks);
    for (size_t i = 0; i < count * bytes; i++)
        blocks[i] = (uint8_t)random_bits(state);
    for (size_t i = 0; i < count; i++, blocks += bytes) {
        for (int second = 0; second < 2; second++) {
            const double d = (1 + (double)(random_bits(state) >> 54) * 0x1p-10) * (random_bits(state) % 2 ? 1 : -1);
            const uint16_t scale = pwl_round_f64(ldexp(d, (int)random_in(state, low, high)), 10, 5);
            if (kind->blocks != PWL_Q6_K)
                memcpy(blocks + 2 * second, &scale, sizeof scale);
            else
                memcpy(blocks + offsetof(pwl_block_q6_k, d), &scale, sizeof scale);
        }
    }
}

/* Packs into new memory; aborts where that fails. */
static inline pwl_qgemm_weights pack_new(const struct qgemm_kind *kind, const void *blocks, size_t n, size_t k)
{
    pwl_qgemm_weights weights;
    size_t bytes;
    if (pwl_qgemm_weights_bytes(kind->format, n, k, &bytes) != PWL_QGEMM_OK ||
        pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, n, k), need(bytes), bytes, &weights, NULL) !=
            PWL_QGEMM_OK)
        abort();
    return weights;
}

static inline void free_weights(pwl_qgemm_weights *weights)
{
    free((void *)(uintptr_t)weights->memory);
}

static inline int is_rows(pwl_qgemm_format format)
{
    return format == PWL_QGEMM_ROWS8 || format == PWL_QGEMM_ROWS4;
}

/* Codes of a format of rows as it packs them: int8, or in ROWS4 nibbles, half as many bytes. */
static inline pwl_qgemm_status pack_codes(pwl_qgemm_format format, const void *q, const int8_t *n_w, size_t n, size_t k,
                                          void *memory, size_t bytes, pwl_qgemm_weights *weights)
{
    return format == PWL_QGEMM_ROWS8
               ? pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, n_w, n, k), memory, bytes, weights, NULL)
               : pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS4, q, n_w, n, k), memory, bytes, weights, NULL);
}

/* What such a code counts: column c of row `row`. */
static inline int8_t code_of(pwl_qgemm_format format, const void *q, size_t k, size_t row, size_t c)
{
    const uint8_t *const bytes = q;
    if (format == PWL_QGEMM_ROWS8)
        return (int8_t)bytes[row * k + c];
    const int nibble = bytes[row * (k / 2) + c / 32 * 16 + c % 16] >> c / 16 % 2 * 4 & 15;
    return (int8_t)(16 * (nibble < 8 ? nibble : nibble - 16));
}

/* What GGUF files call their types, and their bytes of 32 elements. */
static const struct tensor_kind {
    const char *name;
    uint32_t type;
    size_t bytes;
    const struct qgemm_kind *blocks; /* or null for floats */
} tensor_kinds[] = {
    {"F32", 0, 128, NULL},
    {"F16", 1, 64, NULL},
    {"BF16", 30, 64, NULL},
    {"Q4_0", 2, sizeof(pwl_block_q4_0), &qgemm_kinds[0]},
    {"Q8_0", 8, sizeof(pwl_block_q8_0), &qgemm_kinds[1]},
    {"MXFP4", 39, sizeof(pwl_block_mxfp4), &qgemm_kinds[2]},
};

#define TENSOR_KINDS (sizeof tensor_kinds / sizeof tensor_kinds[0])

/* A tensor of n rows of k at random, with scales that call for row exponents; what w, float[n][k], holds of floats. */
static inline pwl_qgemm_tensor draw_tensor(const struct tensor_kind *kind, size_t n, size_t k, float *w,
                                           uint64_t *state)
{
    const size_t bytes = n * (k / PWL_BLOCK) * kind->bytes;
    uint8_t *const data = need(bytes);
    const pwl_qgemm_tensor tensor = {kind->type, {k, n, 1, 1}, data, bytes};
    if (kind->blocks) {
        draw_blocks(kind->blocks, data, n * k / PWL_BLOCK, 3, 15, state);
        return tensor;
    }
    for (size_t i = 0; i < n * k; i++) {
        const float v = (float)random_in(state, -1000000, 1000000) / 16;
        const uint16_t half = kind->type == 1 ? pwl_f16_from_f32(v) : pwl_bf16_from_f32(v);
        w[i] = kind->type == 0 ? v : kind->type == 1 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
        if (kind->type == 0)
            memcpy(data + i * sizeof v, &v, sizeof v);
        else
            memcpy(data + i * sizeof half, &half, sizeof half);
    }
    return tensor;
}

#endif
