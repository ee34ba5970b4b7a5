/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax of rows in packs (packs.h), whose codes count from the lowest of their type: words of signed types have been
 * flipped. d is the row's largest code less a code.
 *
 * Places that a thread has not, those beyond the row and those that a causal row masks, are codes 0: they change no
 * largest code, and their exponentials, which are all alike, are taken away from the sum.
 *
 * Exponentials come from shared memory, each entry in copies side by side, of which a lane reads its own: neighbouring
 * lanes then seldom meet in a bank.
 */
#ifndef PWL_ROWS_SOFTMAX_H
#define PWL_ROWS_SOFTMAX_H

#include "packs.h"

#define PWL_EXP_COPIES 32 /* of E, for codes of 8 bits */
#define PWL_LOW_COPIES 16 /* of low and high, for codes of 16 bits */
#define PWL_HIGH_COPIES 16

/* high[h], and above it shift[h] less 1; both such that products give 0 where the shift is beyond 62. */
PWL_FN uint64_t pwl_exp_high_of(uint32_t high, int shift)
{
    return shift > 62 ? (uint64_t)61 << 32 : (uint64_t)(shift - 1) << 32 | high;
}

/* The arrays as one lane reads them: from its first copy on, on a device by addresses in shared memory, and bytes from
 * an entry to the next. These are numbers that the compiler does not know: it would make shifts of products by them,
 * and sums of addresses, in units that are busier. */
typedef struct pwl_exp {
    uintptr_t low, high; /* high: of codes of 16 bits */
    uint32_t low_step, high_step;
} pwl_exp;

PWL_FN uint32_t pwl_exp_low(const pwl_exp *exp, uint32_t k)
{
#ifdef __CUDA_ARCH__
    uint32_t entry;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(entry) : "r"((uint32_t)exp->low + k * exp->low_step));
    return entry;
#else
    return *(const uint32_t *)(const void *)(exp->low + k * exp->low_step);
#endif
}

PWL_FN uint64_t pwl_exp_high(const pwl_exp *exp, uint32_t k)
{
#ifdef __CUDA_ARCH__
    uint64_t entry;
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(entry) : "r"((uint32_t)exp->high + k * exp->high_step));
    return entry;
#else
    return *(const uint64_t *)(const void *)(exp->high + k * exp->high_step);
#endif
}

/* E[d] of the difference at place k of a pack. shr(p, n) is (floor(p 2^(1-n)) + 1) >> 1, where 64 bits shift once. */
PWL_FN uint32_t pwl_exp_at(const pwl_exp *exp, int bytes, const pwl_pack *pack, int k)
{
    const uint32_t word = pack->word[k * bytes / 4];
    const uint32_t low = pwl_exp_low(exp, pwl_word_byte(word, k * bytes % 4));
    if (bytes == 1)
        return low;
    const uint64_t high = pwl_exp_high(exp, pwl_word_byte(word, k * 2 % 4 + 1));
    return ((uint32_t)(pwl_wide_u32((uint32_t)high, low) >> (high >> 32)) + 1) >> 1;
}

/* What all rows share of step 4. Codes count from the lowest of their type, and are clipped to it alone. A probability
 * has 17 bits, so that a zero point far from them is as good as one of 21. */
typedef struct pwl_softmax_ends {
    int32_t zero;
    int32_t out_bits;
    uint32_t flip; /* makes words of such codes those of the type */
} pwl_softmax_ends;

PWL_FN pwl_softmax_ends pwl_softmax_ends_of(const pwl_softmax *softmax)
{
    const int64_t lowest = pwl_type_first(softmax->out);
    const int32_t far = 1 << 20;
    pwl_softmax_ends ends;
    ends.zero = (int32_t)pwl_sat(softmax->zp_y - lowest, -far, far);
    ends.out_bits = softmax->out_bits;
    ends.flip = pwl_flip_of(lowest);
    return ends;
}

/* Whether this file has an operator: its codes are clipped to their type alone, and shifts are those of products' upper
 * words, 33 at least; k >= 31 + F. */
PWL_FN int pwl_softmax_in_packs(const pwl_softmax *softmax)
{
    return softmax->kind == PWL_SOFTMAX && softmax->fraction >= softmax->out_bits + 2 &&
           softmax->qmin_y == pwl_type_first(softmax->out) && softmax->qmax_y == pwl_type_last(softmax->out);
}

/* What the places of a row share. */
typedef struct pwl_softmax_share {
    uint32_t factor; /* R; 0 where the shift is beyond 62 */
    int32_t shift;   /* of upper words */
    uint64_t half;
} pwl_softmax_share;

PWL_FN pwl_softmax_share pwl_softmax_share_of(pwl_row_factor reciprocal, int out_bits)
{
    const int n = reciprocal.shift - out_bits;
    pwl_softmax_share share;
    share.factor = n > 62 ? 0 : (uint32_t)reciprocal.factor;
    share.shift = (n > 62 ? 62 : n) - 32;
    share.half = (uint64_t)1 << (share.shift + 31);
    return share;
}

/* The probability of an exponential, in steps of the output. */
PWL_FN int32_t pwl_softmax_steps(const pwl_softmax_share *share, uint32_t e)
{
    return (int32_t)(pwl_high_u32(e, share->factor, share->half) >> share->shift);
}

PWL_FN uint32_t pwl_larger_halves(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    return __vmaxu2(a, b);
#else
    const uint32_t high = a >> 16 > b >> 16 ? a >> 16 : b >> 16;
    const uint32_t low = (a & 65535) > (b & 65535) ? a & 65535 : b & 65535;
    return high << 16 | low;
#endif
}

/* The largest code of some packs. Bytes are compared as the upper ones of halves: those below them decide nothing. */
PWL_FN uint32_t pwl_packs_largest(const pwl_pack *packs, int count, int bytes)
{
    uint32_t halves = 0;
    PWL_UNROLL
    for (int k = 0; k < count * PWL_PACK_WORDS; k++) {
        const uint32_t word = packs[k / PWL_PACK_WORDS].word[k % PWL_PACK_WORDS];
        halves = pwl_larger_halves(halves, word);
        if (bytes == 1)
            halves = pwl_larger_halves(halves, word << 8);
    }
    halves = halves >> 16 > (halves & 65535) ? halves >> 16 : halves & 65535;
    return bytes == 1 ? halves >> 8 : halves;
}

/* Codes become differences, all at once: none is above the largest. */
PWL_FN void pwl_packs_from(pwl_pack *packs, int count, int bytes, uint32_t largest)
{
    const uint32_t all = largest * (bytes == 1 ? 0x01010101u : 0x00010001u);
    PWL_UNROLL
    for (int k = 0; k < count * PWL_PACK_WORDS; k++)
        packs[k / PWL_PACK_WORDS].word[k % PWL_PACK_WORDS] = all - packs[k / PWL_PACK_WORDS].word[k % PWL_PACK_WORDS];
}

/* The sum over packs of differences, of which `absent` places have that of code 0, `largest`, and do not count. Where
 * `kept` is not null, the exponentials are left there. */
PWL_FN uint64_t pwl_packs_sum(const pwl_pack *packs, int count, int bytes, const pwl_exp *exp, uint32_t absent,
                              uint32_t largest, uint32_t *kept)
{
    uint64_t sum = 0;
    PWL_UNROLL
    for (int k = 0; k < count * PWL_PACK_BYTES / bytes; k += 2) {
        const int places = PWL_PACK_BYTES / bytes;
        const uint32_t first = pwl_exp_at(exp, bytes, &packs[k / places], k % places);
        const uint32_t second = pwl_exp_at(exp, bytes, &packs[k / places], k % places + 1);
        sum += first + second; /* at most 2^31 */
        if (kept) {
            kept[k] = first;
            kept[k + 1] = second;
        }
    }
    if (absent) {
        pwl_pack all;
        all.word[0] = largest;
        sum -= (uint64_t)absent * pwl_exp_at(exp, bytes, &all, 0);
    }
    return sum;
}

/* The words of a pack's codes: out_bytes * places / 4 of them. Exponentials are those kept, or where that is null come
 * of the pack of differences. `has_zero`: ends->zero may be another than 0. */
PWL_FN void pwl_softmax_words(const pwl_softmax_ends *ends, const pwl_softmax_share *share, const pwl_pack *pack,
                              int bytes, const pwl_exp *exp, const uint32_t *kept, int out_bytes, int has_zero,
                              uint32_t *words)
{
    const int together = 4 / out_bytes;
    PWL_UNROLL
    for (int w = 0; w < PWL_PACK_BYTES / bytes / together; w++) {
        int32_t codes[4];
        PWL_UNROLL
        for (int k = 0; k < together; k++) {
            const int at = w * together + k;
            codes[k] = pwl_softmax_steps(share, kept ? kept[at] : pwl_exp_at(exp, bytes, pack, at));
            if (has_zero)
                codes[k] += ends->zero;
        }
        words[w] = pwl_word_of(codes, out_bytes) ^ ends->flip;
    }
}

/* Codes from `places` on become those of probability 0. */
PWL_FN void pwl_softmax_cut(const pwl_softmax_ends *ends, int places, int out_bytes, int count, uint32_t *words)
{
    const int32_t codes[4] = {ends->zero, ends->zero, ends->zero, ends->zero};
    const uint32_t word = pwl_word_of(codes, out_bytes) ^ ends->flip;
    PWL_UNROLL
    for (int w = 0; w < count; w++) {
        const uint32_t mask = pwl_first_bytes(places * out_bytes - 4 * w);
        words[w] = (words[w] & mask) | (word & ~mask);
    }
}

#endif
