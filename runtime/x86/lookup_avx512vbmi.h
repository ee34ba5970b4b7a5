/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to bytes by two permutations of 128 bytes, the top bit of a code choosing between them. Only files compiled for
 * AVX-512 VBMI may have it. */
#ifndef PWL_LOOKUP_AVX512VBMI_H
#define PWL_LOOKUP_AVX512VBMI_H

#include <immintrin.h>
#include <stdint.h>

typedef struct table_256 {
    __m512i part[4];
} table_256;

static inline __m512i look_up(const table_256 *values, __m512i x)
{
    const __m512i lower = _mm512_permutex2var_epi8(values->part[0], x, values->part[1]);
    const __m512i upper = _mm512_permutex2var_epi8(values->part[2], x, values->part[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), lower, upper);
}

static inline void load_table(table_256 *table, const uint8_t bytes[256])
{
    int k;
    for (k = 0; k < 4; k++)
        table->part[k] = _mm512_loadu_si512(bytes + 64 * k);
}

/* Each byte of 256 words, from the lowest on. */
static inline void split_words(const uint32_t words[256], table_256 table[4])
{
    int byte, k;
    for (byte = 0; byte < 4; byte++) {
        uint8_t bytes[256];
        for (k = 0; k < 256; k += 16)
            _mm_storeu_si128((__m128i *)(void *)(bytes + k), _mm512_cvtepi32_epi8(_mm512_srli_epi32(
                                                                 _mm512_loadu_si512(words + k), 8 * (unsigned)byte)));
        load_table(&table[byte], bytes);
    }
}

static inline uint64_t sum_lanes(__m512i v)
{
    uint64_t lanes[8], sum = 0;
    int k;
    _mm512_storeu_si512(lanes, v);
    for (k = 0; k < 8; k++)
        sum += lanes[k];
    return sum;
}

#endif
