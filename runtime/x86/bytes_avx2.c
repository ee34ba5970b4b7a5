/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes to bytes by 16 lookups of 16 values each. A lookup gives 0 where the top bit of its index is set, and passes
 * over the three bits below it. With x below 128, that of part k has the index x - 16 k: negative for the codes of all
 * parts before it, and elsewhere right in its low four bits. So part k holds what its values differ in from those of
 * part k - 1, and the lookups of all parts make a sum modulo 2 of differences. Codes from 128 on have eight parts of
 * their own on the same indices, the top bit of a code choosing between the two sums.
 */
#include <immintrin.h>

#include "../ways.h"

typedef struct table_256 {
    __m256i part[16];
} table_256;

/* sum ^ v. Compilers that regroup a long sum run out of registers: the empty statement makes them keep its order. */
static inline __m256i add(__m256i sum, __m256i v)
{
    sum = _mm256_xor_si256(sum, v);
    __asm__("" : "+x"(sum));
    return sum;
}

static inline __m256i look_up(const table_256 *values, __m256i x)
{
    __m256i index = _mm256_and_si256(x, _mm256_set1_epi8(INT8_MAX));
    __m256i lower = _mm256_shuffle_epi8(values->part[0], index);
    __m256i upper = _mm256_shuffle_epi8(values->part[8], index);
    int k;
    for (k = 1; k < 8; k++) {
        index = _mm256_sub_epi8(index, _mm256_set1_epi8(16));
        lower = add(lower, _mm256_shuffle_epi8(values->part[k], index));
        upper = add(upper, _mm256_shuffle_epi8(values->part[8 + k], index));
    }
    return _mm256_blendv_epi8(lower, upper, x);
}

void pwl_bytes_avx2(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const uint8_t *from = (const uint8_t *)x;
    const uint8_t *const all = (const uint8_t *)plan->memory;
    uint8_t *to = (uint8_t *)y;
    table_256 values;
    int k;
    for (k = 0; k < 16; k++)
        values.part[k] = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(all + 16 * k)));
    for (k = 7; k > 0; k--) {
        values.part[k] = _mm256_xor_si256(values.part[k], values.part[k - 1]);
        values.part[8 + k] = _mm256_xor_si256(values.part[8 + k], values.part[7 + k]);
    }
    for (; count >= 32; count -= 32, from += 32, to += 32)
        _mm256_storeu_si256((__m256i *)to, look_up(&values, _mm256_loadu_si256((const __m256i *)from)));
    for (; count; count--)
        *to++ = all[*from++];
}
