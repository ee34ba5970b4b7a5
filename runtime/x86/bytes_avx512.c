/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to bytes as in bytes_shuffle.h, 64 at a time, where no permutation of bytes is at hand. */
#include <immintrin.h>

#include "../ways.h"

typedef struct table_256 {
    __m512i part[16];
} table_256;

/* a ^ b ^ c */
static inline __m512i add(__m512i a, __m512i b, __m512i c)
{
    return _mm512_ternarylogic_epi32(a, b, c, 0x96);
}

static inline __m512i look_up(const table_256 *values, __m512i x)
{
    const __m512i sixteen = _mm512_set1_epi8(16);
    __m512i index = _mm512_and_si512(x, _mm512_set1_epi8(INT8_MAX)), lower, upper;
    int k;
    lower = upper = _mm512_setzero_si512();
    for (k = 0; k < 8; k += 2) {
        const __m512i next = _mm512_sub_epi8(index, sixteen);
        lower = add(lower, _mm512_shuffle_epi8(values->part[k], index), _mm512_shuffle_epi8(values->part[k + 1], next));
        upper =
            add(upper, _mm512_shuffle_epi8(values->part[8 + k], index), _mm512_shuffle_epi8(values->part[9 + k], next));
        index = _mm512_sub_epi8(next, sixteen);
    }
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), lower, upper);
}

void pwl_bytes_avx512(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const uint8_t *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    table_256 values;
    int k;
    for (k = 0; k < 16; k++)
        values.part[k] = _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)plan->memory + k));
    for (k = 7; k > 0; k--) {
        values.part[k] = _mm512_xor_si512(values.part[k], values.part[k - 1]);
        values.part[8 + k] = _mm512_xor_si512(values.part[8 + k], values.part[7 + k]);
    }
    for (; count >= 64; count -= 64, from += 64, to += 64)
        _mm512_storeu_si512(to, look_up(&values, _mm512_loadu_si512(from)));
    if (count) {
        const __mmask64 lanes = ((__mmask64)1 << count) - 1;
        _mm512_mask_storeu_epi8(to, lanes, look_up(&values, _mm512_maskz_loadu_epi8(lanes, from)));
    }
}
