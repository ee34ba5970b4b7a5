/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LayerNorm and RMSNorm of rows in packs (packs.h), whose codes v count from the middle of their type: words of
 * unsigned types have been flipped. What the specification has in 64 bits has 32 here, where the operator and the row
 * allow it, and only products have 64.
 */
#ifndef PWL_ROWS_NORM_H
#define PWL_ROWS_NORM_H

#include <pwl/cuda_rows.h>

#include "packs.h"

/* Where planes of constants have those of channel c: of each plane, a pack has `together` channels side by side, so
 * that threads that take packs in turn read what lies side by side. */
PWL_FN uint32_t pwl_plane_at(uint32_t c, uint32_t places, uint32_t together, uint32_t packs)
{
    return (c % places / together * packs + c / places) * together + c % together;
}

/* Sums of v, or of u, and of their squares. */
typedef struct pwl_norm_sums {
    int64_t sum, squares;
} pwl_norm_sums;

PWL_FN int32_t pwl_word_sum(uint32_t word, int bytes, int32_t sum)
{
#ifdef __CUDA_ARCH__
    return bytes == 1 ? __dp4a((int)word, 0x01010101, sum) : __dp2a_lo((int)word, 0x0101, sum);
#else
    for (int k = 0; k < 4 / bytes; k++)
        sum += bytes == 1 ? (int8_t)(word >> 8 * k) : (int16_t)(word >> 16 * k);
    return sum;
#endif
}

/* Of v of some packs, at most 64 KiB. */
PWL_FN pwl_norm_sums pwl_packs_sums(const pwl_pack *packs, int count, int bytes)
{
    pwl_norm_sums sums = {0, 0};
    int32_t sum = 0, byte_squares = 0;
    PWL_UNROLL
    for (int k = 0; k < count * PWL_PACK_WORDS; k++) {
        const uint32_t word = packs[k / PWL_PACK_WORDS].word[k % PWL_PACK_WORDS];
        sum = pwl_word_sum(word, bytes, sum);
        if (bytes == 2) {
            const int32_t low = (int16_t)word, high = (int16_t)(word >> 16);
            sums.squares += (int64_t)low * low;
            sums.squares += (int64_t)high * high;
            continue;
        }
#ifdef __CUDA_ARCH__
        byte_squares = __dp4a((int)word, (int)word, byte_squares);
#else
        for (int b = 0; b < 4; b++)
            byte_squares += (int8_t)(word >> 8 * b) * (int8_t)(word >> 8 * b);
#endif
    }
    sums.sum = sum;
    sums.squares += byte_squares;
    return sums;
}

/* sum u and sum u^2, of those of v over a row. */
PWL_FN pwl_norm_sums pwl_norm_sums_of(pwl_norm_sums v, int64_t base, int64_t length)
{
    pwl_norm_sums u;
    u.sum = v.sum - length * base;
    u.squares = v.squares - 2 * base * v.sum + length * base * base;
    return u;
}

/* What the places of a row share. */
typedef struct pwl_norm_share {
    int32_t length, taken; /* n v - taken is n u - A; in short rows times 2^raise, as far as 31 bits hold that */
    int32_t factor, shift; /* R'; of short rows the shift of upper words */
    int64_t half;
} pwl_norm_share;

/* Returns 0 where 31 bits do not hold R', or where t of short rows is not a shifted upper word. */
PWL_FN int pwl_norm_share_of(const pwl_norm_ends *ends, const pwl_norm_row *row, uint32_t length, int is_short,
                             pwl_norm_share *share)
{
    const int raise = is_short ? ends->raise : 0;
    share->length = (int32_t)(length << raise);
    share->taken = (int32_t)((uint32_t)(row->sum + (int64_t)length * ends->base) << raise);
    share->factor = (int32_t)row->factor;
    share->shift = row->shift + raise - (is_short ? 32 : 0);
    if (share->shift < 1 || (is_short && share->shift > 31))
        return 0;
    share->half = (int64_t)1 << (share->shift - 1 + (is_short ? 32 : 0));
    return row->factor <= INT32_MAX;
}

/* t of v. 32 bits hold n v - taken, though not n v and taken. */
PWL_FN int32_t pwl_norm_t(const pwl_norm_share *share, int is_short, int32_t v)
{
    const int32_t u = (int32_t)((uint32_t)share->length * (uint32_t)v - (uint32_t)share->taken);
    if (is_short)
        return pwl_high_s32(u, share->factor, share->half) >> share->shift;
    return (int32_t)((pwl_wide(u, share->factor) + share->half) >> share->shift);
}

/* The code of t in a channel, from the lowest of its type on and not yet clipped, by G and by what else is added; both
 * are so many times 2 what they were that upper words are enough. */
PWL_FN int32_t pwl_norm_code(const pwl_norm_ends *ends, int32_t t, int32_t gamma, int64_t beta)
{
    return pwl_high_s32(t, gamma, beta) >> ends->shift;
}

/* The words of codes k to k + 3, out_bytes of them, by their constants; beta null: no channel has one. */
PWL_FN void pwl_norm_words(const pwl_norm_ends *ends, const pwl_norm_share *share, int is_short, const pwl_pack *pack,
                           int bytes, int k, const int32_t *gamma, const int64_t *beta, int out_bytes, uint32_t *words)
{
    int32_t codes[4];
    PWL_UNROLL
    for (int i = 0; i < 4; i++)
        codes[i] = pwl_norm_code(ends, pwl_norm_t(share, is_short, pwl_pack_signed(pack, bytes, k + i)), gamma[i],
                                 beta ? beta[i] : ends->added);
    words[0] = pwl_word_of(codes, out_bytes) ^ ends->flip;
    if (out_bytes == 2)
        words[1] = pwl_word_of(codes + 2, 2) ^ ends->flip;
}

#endif
