/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of FP8 and MXFP4_FP8, of kinds that sums in few bits like and dislike. */
#ifndef QGEMM_FP8_CASES_H
#define QGEMM_FP8_CASES_H

#include <stdlib.h>
#include <string.h>

#include <pwl/qgemm.h>

#include "../../support/random.h"
#include "../need.h"

enum fp8_kind {
    FP8_ANY,         /* every code, blocks up to 11 powers of two apart */
    FP8_EXACT,       /* sums are exact in 13 bits: few numbers of X are not 0, and these are powers of two */
    FP8_ONE_SIGN,    /* sums grow all the way */
    FP8_CANCELLING,  /* the second half of K takes back what the first has added */
    FP8_ALTERNATING, /* signs of X, by blocks of 32 columns; large and small numbers in turns */
    FP8_LARGEST,     /* every number is, and has one sign */
    FP8_KINDS
};

static const char *const fp8_kind_names[FP8_KINDS] = {"any",        "exact",       "one sign",
                                                      "cancelling", "alternating", "largest"};

/* Of K, to where the second half repeats the first: whole blocks. */
static inline size_t fp8_half(size_t k)
{
    return k / 64 * 32;
}

/* Codes x[m][k]. */
static inline void draw_fp8_x(enum fp8_kind kind, uint8_t *x, size_t m, size_t k, uint64_t *state)
{
    for (size_t row = 0; row < m; row++, x += k) {
        memset(x, 0, k);
        for (size_t i = 0; i < 40 && kind == FP8_EXACT; i++)
            x[random_bits(state) % k] = (uint8_t)((random_bits(state) % 2 ? 0x38 : 0x40) | random_bits(state) << 7);
        for (size_t c = 0; c < k && kind != FP8_EXACT; c++) {
            const uint8_t any = (uint8_t)random_in(state, 0, 0x7e), large = (uint8_t)random_in(state, 0x60, 0x7e);
            const uint8_t turns = c % 2 ? any : large;
            x[c] = kind == FP8_ANY           ? (uint8_t)(any | random_bits(state) << 7)
                   : kind == FP8_ALTERNATING ? (uint8_t)(turns | c / 32 % 2 << 7)
                   : kind == FP8_LARGEST     ? 0x7e
                                             : any;
        }
        for (size_t c = 0; c < fp8_half(k) && kind == FP8_CANCELLING; c++)
            x[fp8_half(k) + c] = x[c] ^ 0x80;
    }
}

/* Codes w[n][k]: in FP8_EXACT, E2M1's values. */
static inline void draw_fp8_w(enum fp8_kind kind, uint8_t *w, size_t n, size_t k, uint64_t *state)
{
    static const uint8_t few[8] = {0, 0x30, 0x38, 0x3c, 0x40, 0x44, 0x48, 0x4c};
    for (size_t row = 0; row < n; row++, w += k) {
        for (size_t c = 0; c < k; c++) {
            const uint8_t any = (uint8_t)random_in(state, 0, 0x7e), sign = (uint8_t)(random_bits(state) << 7);
            w[c] = kind == FP8_ANY       ? any | sign
                   : kind == FP8_EXACT   ? few[random_bits(state) % 8] | sign
                   : kind == FP8_LARGEST ? 0x7e
                                         : any;
        }
        for (size_t c = 0; c < fp8_half(k) && kind == FP8_CANCELLING; c++)
            w[fp8_half(k) + c] = w[c];
    }
}

/* Blocks w[n][k / 32], with exponents of up to `base` + 11. */
static inline void draw_fp8_blocks(enum fp8_kind kind, pwl_block_mxfp4 *w, size_t n, size_t k, int base,
                                   uint64_t *state)
{
    const size_t count = k / PWL_BLOCK, half = fp8_half(k) / PWL_BLOCK;
    for (size_t row = 0; row < n; row++, w += count) {
        for (size_t b = 0; b < count; b++) {
            w[b].e = (uint8_t)(base + 127 + (kind == FP8_EXACT ? random_in(state, 0, 3) : random_in(state, 0, 11)));
            for (size_t j = 0; j < PWL_BLOCK / 2; j++) {
                const uint8_t any = (uint8_t)random_bits(state);
                w[b].qs[j] = kind == FP8_ANY || kind == FP8_EXACT ? any : kind == FP8_LARGEST ? 0x77 : any & 0x77;
            }
            if (kind == FP8_LARGEST)
                w[b].e = (uint8_t)(base + 127);
        }
        for (size_t b = 0; b < half && kind == FP8_CANCELLING; b++)
            w[half + b] = w[b];
    }
}

/* Packed into new memory, of E4M3 with scales of powers of two, or of blocks; aborts where that fails. */
static inline pwl_qgemm_weights new_fp8_weights(pwl_qgemm_format format, enum fp8_kind kind, size_t n, size_t k,
                                                uint64_t *state)
{
    pwl_qgemm_weights weights;
    pwl_qgemm_status status;
    size_t bytes;
    if (pwl_qgemm_weights_bytes(format, n, k, &bytes) != PWL_QGEMM_OK)
        abort();
    void *const memory = need(bytes);
    if (format == PWL_QGEMM_MXFP4_E4M3) {
        pwl_block_mxfp4 *const blocks = need(n * (k / PWL_BLOCK) * sizeof *blocks);
        draw_fp8_blocks(kind, blocks, n, k, (int)random_in(state, -20, 10), state);
        status = pwl_qgemm_pack(pwl_qgemm_of_blocks(format, blocks, n, k), memory, bytes, &weights, NULL);
        free(blocks);
    } else {
        uint8_t *const w = need(n * k);
        float *const s = need(n * sizeof *s);
        draw_fp8_w(kind, w, n, k, state);
        for (size_t i = 0; i < n; i++)
            s[i] = pwl_f32_of_bits((uint32_t)random_in(state, 110, 130) << 23);
        status = pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, w, s, n, k), memory, bytes, &weights, NULL);
        free(w);
        free(s);
    }
    if (status != PWL_QGEMM_OK)
        abort();
    return weights;
}

#endif
