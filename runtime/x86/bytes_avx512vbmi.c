/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to bytes by two permutations of 128 bytes each, the top bit of a code choosing between them. */
#include <immintrin.h>

#include "../ways.h"

typedef struct table_256 {
    __m512i part[4];
} table_256;

static inline __m512i look_up(const table_256 *values, __m512i x)
{
    const __m512i lower = _mm512_permutex2var_epi8(values->part[0], x, values->part[1]);
    const __m512i upper = _mm512_permutex2var_epi8(values->part[2], x, values->part[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), lower, upper);
}

void pwl_bytes_avx512vbmi(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const uint8_t *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    table_256 values;
    int k;
    for (k = 0; k < 4; k++)
        values.part[k] = _mm512_load_si512((const uint8_t *)plan->memory + 64 * k);
    for (; count >= 128; count -= 128, from += 128, to += 128) {
        const __m512i a = look_up(&values, _mm512_loadu_si512(from));
        const __m512i b = look_up(&values, _mm512_loadu_si512(from + 64));
        _mm512_storeu_si512(to, a);
        _mm512_storeu_si512(to + 64, b);
    }
    for (; count; count -= count < 64 ? count : 64, from += 64, to += 64) {
        const __mmask64 lanes = count < 64 ? ((__mmask64)1 << count) - 1 : ~(__mmask64)0;
        _mm512_mask_storeu_epi8(to, lanes, look_up(&values, _mm512_maskz_loadu_epi8(lanes, from)));
    }
}
