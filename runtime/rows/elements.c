/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requantisation and addition of arrays. Every step is of docs/operators.md. Codes are widened and narrowed in pieces,
 * so that each loop is one that compilers make vectors of: products of 32 bits by 32, sums that may wrap where the
 * check proves that their value does not leave its type.
 */
#include <pwl/elements.h>

#include "../element.h"
#include "codes.h"

/* The ends of what is clipped before the zero point is added to it. */
typedef struct ends {
    int64_t low, high, zp_y;
} ends;

static ends ends_of(int64_t qmin_y, int64_t qmax_y, int64_t zp_y)
{
    const ends of = {qmin_y - zp_y, qmax_y - zp_y, zp_y};
    return of;
}

/* codes[k] = clip(zp_y + floor(sums[k] 2^-n)) */
static void round_off(const int64_t *sums, int32_t *codes, size_t count, int n, ends to)
{
    size_t k;
    for (k = 0; k < count; k++)
        codes[k] = (int32_t)(pwl_sat(sums[k] >> n, to.low, to.high) + to.zp_y);
}

void pwl_requantise_run(const pwl_requantise *requantise, const void *x, void *y, size_t count)
{
    const ends to = ends_of(requantise->qmin_y, requantise->qmax_y, requantise->zp_y);
    const int64_t multiplier = requantise->multiplier;
    const uint64_t half = (uint64_t)1 << (requantise->shift - 1);
    const uint64_t constant = half - (uint64_t)(multiplier * requantise->zp_x);
    int32_t codes[PWL_PIECE];
    int64_t sums[PWL_PIECE];
    size_t from, k, piece;
    for (from = 0; from < count; from += piece) {
        piece = pwl_piece_of(count - from);
        pwl_codes_load((pwl_type)requantise->in, x, from, piece, codes);
        for (k = 0; k < piece; k++)
            sums[k] = (int64_t)((uint64_t)(multiplier * codes[k]) + constant);
        round_off(sums, codes, piece, requantise->shift, to);
        pwl_codes_store((pwl_type)requantise->out, y, from, piece, codes);
    }
}

/* Whether 32 bits hold the sums, with the half that is added, of every two codes, and the ends. */
static int is_narrow(const pwl_add *add)
{
    const int64_t half = (int64_t)1 << (add->shift - 1), limit = (int64_t)1 << 30;
    const int64_t least = add->factor_a * pwl_type_lowest((pwl_type)add->in_a) +
                          add->factor_b * pwl_type_lowest((pwl_type)add->in_b) + add->constant;
    const int64_t most = add->factor_a * pwl_type_highest((pwl_type)add->in_a) +
                         add->factor_b * pwl_type_highest((pwl_type)add->in_b) + add->constant;
    return add->shift <= 31 && least >= INT32_MIN && most <= INT32_MAX - half && -limit < add->zp_y &&
           add->zp_y < limit;
}

static void add_narrow(const pwl_add *add, int32_t *a, const int32_t *b, size_t count)
{
    const uint32_t factor_a = (uint32_t)add->factor_a, factor_b = (uint32_t)add->factor_b;
    const uint32_t constant = (uint32_t)(add->constant + ((int64_t)1 << (add->shift - 1)));
    const int32_t zp_y = (int32_t)add->zp_y, low = add->qmin_y - zp_y, high = add->qmax_y - zp_y;
    const int n = add->shift;
    size_t k;
    for (k = 0; k < count; k++) {
        int32_t v = (int32_t)(factor_a * (uint32_t)a[k] + factor_b * (uint32_t)b[k] + constant) >> n;
        v = v < low ? low : v;
        a[k] = (v > high ? high : v) + zp_y;
    }
}

static void add_wide(const pwl_add *add, int32_t *a, const int32_t *b, size_t count)
{
    const int64_t factor_a = add->factor_a, factor_b = add->factor_b;
    const int64_t constant = add->constant + ((int64_t)1 << (add->shift - 1));
    int64_t sums[PWL_PIECE];
    size_t k;
    for (k = 0; k < count; k++)
        sums[k] = factor_a * a[k] + factor_b * b[k] + constant;
    round_off(sums, a, count, add->shift, ends_of(add->qmin_y, add->qmax_y, add->zp_y));
}

void pwl_add_run(const pwl_add *add, const void *a, const void *b, void *y, size_t count)
{
    const int narrow = is_narrow(add);
    int32_t codes[PWL_PIECE], others[PWL_PIECE];
    size_t from, piece;
    for (from = 0; from < count; from += piece) {
        piece = pwl_piece_of(count - from);
        pwl_codes_load((pwl_type)add->in_a, a, from, piece, codes);
        pwl_codes_load((pwl_type)add->in_b, b, from, piece, others);
        if (narrow)
            add_narrow(add, codes, others, piece);
        else
            add_wide(add, codes, others, piece);
        pwl_codes_store((pwl_type)add->out, y, from, piece, codes);
    }
}
