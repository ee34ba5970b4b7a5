/* SPDX-License-Identifier: Apache-2.0 */
/* Kind "octaves". What lies before the core is done in words of 32 bits, products of an exponent aside, and what lies
 * behind it in words of 64 bits, those of codes 0, 1, 4 and 5 in one vector. */
#include "../octaves.h"
#include "../ways.h"
#include "cells_avx2.h"

typedef struct state {
    cells_state core;
    const pwl_octave *octaves;
    __m256i low, high, base, flip_x;             /* of x */
    __m256i word_bits, most_m, flip_m;           /* of m, which has no sign */
    __m256i factor, half, beyond, mask;          /* of z, in words of 64 bits */
    __m256i zero_y, min_y, max_y, flip_y, below; /* of y; zero_y in words of 64 bits */
    __m128i log2_step, dropped, shift_r;
} state;

/* Bits of d, which has no sign; 0 of 0. The exponent of a float tells, once no bits below the highest can carry into
 * it; to 2^31 and more, which look negative, belong 32. */
INLINE __m256i bit_lengths(__m256i d)
{
    const __m256i alone = _mm256_andnot_si256(_mm256_srli_epi32(d, 1), d);
    const __m256i exponent = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(alone)), 23);
    const __m256i bits = _mm256_max_epi32(_mm256_sub_epi32(exponent, _mm256_set1_epi32(126)), _mm256_setzero_si256());
    return _mm256_min_epi32(bits, _mm256_set1_epi32(32));
}

/* What an octave and m are of d by leading zeros; octave 0 where d is not positive. */
INLINE __m256i by_leading_zeros(const state *of, __m256i s, __m256i *octave)
{
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi32(1);
    const __m256i d = _mm256_and_si256(_mm256_sub_epi32(s, of->base), _mm256_cmpgt_epi32(s, of->base));
    const __m256i bits = bit_lengths(d);
    const __m256i left = _mm256_sra_epi32(_mm256_sub_epi32(of->word_bits, _mm256_max_epi32(bits, one)), of->log2_step);
    const __m256i shift = _mm256_sll_epi32(left, of->log2_step);
    *octave = bits;
    return _mm256_srlv_epi32(_mm256_sllv_epi32(d, _mm256_max_epi32(shift, zero)),
                             _mm256_max_epi32(_mm256_sub_epi32(zero, shift), zero));
}

/* The same by an exponent: z less that of octave 0, whose bits beyond the word's are the octave. */
INLINE __m256i by_exponent(const state *of, __m256i s, __m256i *octave)
{
    const __m256i d = _mm256_sub_epi32(s, of->base);
    const wide differences = widen(d, d);
    __m256 m[2], r[2];
    int k;
    for (k = 0; k < 2; k++) {
        const __m256i product = _mm256_add_epi64(_mm256_mul_epi32(differences.part[k], of->factor), of->half);
        const __m256i z = _mm256_sub_epi64(_mm256_srl_epi64(product, of->dropped), of->beyond);
        m[k] = _mm256_castsi256_ps(_mm256_and_si256(z, of->mask));
        r[k] = _mm256_castsi256_ps(_mm256_srl_epi64(z, of->shift_r));
    }
    *octave = _mm256_castps_si256(_mm256_shuffle_ps(r[0], r[1], 0x88));
    return _mm256_castps_si256(_mm256_shuffle_ps(m[0], m[1], 0x88));
}

INLINE __m128i load_octave(const state *of, uint32_t at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)&of->octaves[at]);
}

/* Two octaves in one vector. */
INLINE __m256i load_octaves(const state *of, uint32_t low, uint32_t high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_octave(of, low)), load_octave(of, high), 1);
}

/* sat() aside, the results of four raw values in octaves at[0], at[1], at[4] and at[5]. */
INLINE __m256i restore(const state *of, __m256i raw, const uint32_t *at)
{
    const __m256i top = _mm256_set1_epi64x(INT64_MIN);
    const __m256i even = load_octaves(of, at[0], at[4]), odd = load_octaves(of, at[1], at[5]);
    const __m256i n = _mm256_and_si256(_mm256_unpackhi_epi64(even, odd), _mm256_set1_epi64x(UINT8_MAX));
    /* No sign is shifted in: 2^63 is added before, and 2^(63 - n) taken away. */
    const __m256i sum = _mm256_xor_si256(_mm256_add_epi64(raw, _mm256_unpacklo_epi64(even, odd)), top);
    const __m256i shifted = _mm256_sub_epi64(_mm256_srlv_epi64(sum, n), _mm256_srlv_epi64(top, n));
    return _mm256_add_epi64(shifted, of->zero_y);
}

INLINE void map(const state *of, const uint32_t *x, uint32_t *y, int kind, int steps, int even)
{
    __m256i s[BLOCK / 8], found[BLOCK / 8];
    uint32_t i[BLOCK], at[BLOCK];
    int k;
    for (k = 0; k < BLOCK / 8; k++) {
        const __m256i bits = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)x + k), of->flip_x);
        const __m256i code = _mm256_min_epi32(_mm256_max_epi32(bits, of->low), of->high);
        __m256i octave;
        const __m256i m = kind == PWL_EXPONENT ? by_exponent(of, code, &octave) : by_leading_zeros(of, code, &octave);
        const __m256i core = _mm256_xor_si256(_mm256_min_epu32(m, of->most_m), of->flip_m);
        s[k] = _mm256_min_epi32(_mm256_max_epi32(core, of->core.low), of->core.high);
        _mm256_storeu_si256((__m256i *)(void *)at + k, octave);
    }
    find(&of->core, s, found, steps);
    for (k = 0; k < BLOCK / 8; k++)
        _mm256_storeu_si256((__m256i *)(void *)i + k, found[k]);
    for (k = 0; k < BLOCK / 8; k++) {
        const wide codes = widen(s[k], s[k]);
        __m256i clipped;
        wide v;
        v.part[0] = restore(of, evaluate(&of->core, codes.part[0], i + 8 * k, even), at + 8 * k);
        v.part[1] = restore(of, evaluate(&of->core, codes.part[1], i + 8 * k + 2, even), at + 8 * k + 2);
        clipped = _mm256_min_epi32(_mm256_max_epi32(saturate(&v), of->min_y), of->max_y);
        if (kind == PWL_LEADING_ZEROS) {
            const __m256i octave = _mm256_loadu_si256((const __m256i *)(const void *)at + k);
            clipped = _mm256_blendv_epi8(clipped, of->below, _mm256_cmpeq_epi32(octave, _mm256_setzero_si256()));
        }
        _mm256_storeu_si256((__m256i *)(void *)y + k, _mm256_xor_si256(clipped, of->flip_y));
    }
}

INLINE void load_exponent(state *of, const pwl_octaves_table *made, int word_bits)
{
    const pwl_reduction *const reduction = &made->reduced->reduction;
    const int dropped = reduction->fraction - word_bits;
    const uint64_t top = (uint64_t)1 << 63;
    of->factor = _mm256_set1_epi64x(reduction->factor);
    of->half = _mm256_set1_epi64x((int64_t)((((uint64_t)1 << dropped) >> 1) + top));
    of->beyond = _mm256_set1_epi64x((int64_t)((top >> dropped) + ((uint64_t)made->first << word_bits)));
    of->mask = _mm256_set1_epi64x(((int64_t)1 << word_bits) - 1);
    of->dropped = _mm_cvtsi32_si128(dropped);
    of->shift_r = _mm_cvtsi32_si128(word_bits);
}

INLINE void run(const pwl_octaves_table *made, const uint32_t *x, uint32_t *y, size_t count, int kind, int steps,
                int even)
{
    const pwl_cells_table *const core = pwl_octaves_core(made);
    const pwl_reduced *const reduced = made->reduced;
    const int word_bits = 8 << reduced->core.storage;
    state of;
    of.core = load_cells(core);
    of.octaves = pwl_octaves_of(made);
    of.low = _mm256_set1_epi32(made->low);
    of.high = _mm256_set1_epi32(made->high);
    of.base = _mm256_set1_epi32(made->base);
    of.flip_x = _mm256_set1_epi32((int32_t)(uint32_t)made->middle_x);
    of.word_bits = _mm256_set1_epi32(word_bits);
    of.most_m = _mm256_set1_epi32(core->flip_x ? -1 : INT32_MAX);
    of.flip_m = _mm256_set1_epi32((int32_t)core->flip_x);
    of.log2_step = _mm_cvtsi32_si128(reduced->reduction.log2_step);
    of.zero_y = _mm256_set1_epi64x(reduced->reduction.zp_y - made->middle_y);
    of.min_y = _mm256_set1_epi32((int32_t)(reduced->core.qmin_y - made->middle_y));
    of.max_y = _mm256_set1_epi32((int32_t)(reduced->core.qmax_y - made->middle_y));
    of.below = _mm256_set1_epi32((int32_t)(reduced->reduction.below - made->middle_y));
    of.flip_y = _mm256_set1_epi32((int32_t)(uint32_t)made->middle_y);
    if (kind == PWL_EXPONENT)
        load_exponent(&of, made, word_bits);
    PWL_MAP_VECTORS(uint32_t, BLOCK, x, y, count, map, &of, kind, steps, even);
}

/* Of one law; the searches of most tables take one step. */
INLINE void run_kind(const pwl_octaves_table *made, const uint32_t *x, uint32_t *y, size_t count, int kind)
{
    const pwl_cells_table *const core = pwl_octaves_core(made);
    if (core->even)
        run(made, x, y, count, kind, core->steps, 1);
    else if (core->steps == 1)
        run(made, x, y, count, kind, 1, 0);
    else
        run(made, x, y, count, kind, core->steps, 0);
}

/* What takes longer words is left to plain C. */
void pwl_octaves_avx2(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_octaves_table *const made = (const pwl_octaves_table *)plan->memory;
    if (!made->is_short)
        pwl_octaves(plan, x, y, count);
    else if (made->reduced->reduction.kind == PWL_EXPONENT)
        run_kind(made, (const uint32_t *)x, (uint32_t *)y, count, PWL_EXPONENT);
    else
        run_kind(made, (const uint32_t *)x, (uint32_t *)y, count, PWL_LEADING_ZEROS);
}
