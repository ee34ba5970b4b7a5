/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of 16-bit codes: vectors of softmax_pieces.h. */
#include "softmax_results_avx2.h"

#include "../rows/row_ways.h"

enum { EACH = 32 }; /* results that are stored at once */

static uint16_t largest_of(const uint16_t *x, size_t length, uint16_t flip)
{
    const __m256i flips = _mm256_set1_epi16((short)flip);
    __m256i largest = _mm256_setzero_si256();
    uint16_t words[16], found = 0;
    size_t k;
    for (k = 0; k + 16 <= length; k += 16)
        largest = _mm256_max_epu16(largest,
                                   _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(x + k)), flips));
    for (; k < length; k++)
        found = (x[k] ^ flip) > found ? x[k] ^ flip : found;
    _mm256_storeu_si256((__m256i *)(void *)words, largest);
    for (k = 0; k < 16; k++)
        found = words[k] > found ? words[k] : found;
    return found;
}

static void subtract(const uint16_t *x, size_t count, uint16_t largest, uint16_t *d)
{
    const __m256i from = _mm256_set1_epi16((short)largest);
    size_t k;
    for (k = 0; k + 16 <= count; k += 16)
        _mm256_storeu_si256((__m256i *)(void *)(d + k),
                            _mm256_sub_epi16(from, _mm256_loadu_si256((const __m256i *)(const void *)(x + k))));
    for (; k < count; k++)
        d[k] = (uint16_t)(largest - x[k]);
}

static uint64_t round_and_add(size_t count, uint32_t *e)
{
    const __m256i one = _mm256_set1_epi32(1), lower = _mm256_set1_epi64x(UINT32_MAX);
    __m256i sums = _mm256_setzero_si256();
    uint64_t four[4];
    size_t k;
    for (k = 0; k < count; k += 8) {
        __m256i *const at = (__m256i *)(void *)(e + k);
        const __m256i v = _mm256_srli_epi32(_mm256_add_epi32(_mm256_loadu_si256(at), one), 1);
        _mm256_storeu_si256(at, v);
        sums = _mm256_add_epi64(sums, _mm256_add_epi64(_mm256_and_si256(v, lower), _mm256_srli_epi64(v, 32)));
    }
    _mm256_storeu_si256((__m256i *)(void *)four, sums);
    return four[0] + four[1] + four[2] + four[3];
}

INLINE void store_bytes(const lanes *all, const uint32_t *e, uint8_t *y)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i mixed = bytes_mixed(eight(all, e), eight(all, e + 8), eight(all, e + 16), eight(all, e + 24));
    _mm256_storeu_si256((__m256i *)(void *)y, _mm256_permutevar8x32_epi32(mixed, order));
}

INLINE void store_words(const lanes *all, const uint32_t *e, uint16_t *y)
{
    const __m256i half = _mm256_set1_epi32(UINT16_MAX);
    const __m256i mixed =
        _mm256_packus_epi32(_mm256_and_si256(eight(all, e), half), _mm256_and_si256(eight(all, e + 8), half));
    _mm256_storeu_si256((__m256i *)(void *)y, _mm256_permute4x64_epi64(mixed, _MM_SHUFFLE(3, 1, 2, 0)));
}

static void store_piece(const lanes *all, const uint32_t *e, size_t count, int is_wide, void *y)
{
    _Alignas(32) uint8_t last[2 * EACH];
    size_t k, from;
    for (k = 0; k < count; k += EACH) {
        const int is_whole = k + EACH <= count;
        uint8_t *const to = is_whole ? (uint8_t *)y + (k << is_wide) : last;
        if (is_wide) {
            store_words(all, e + k, (uint16_t *)(void *)to);
            store_words(all, e + k + 16, (uint16_t *)(void *)to + 16);
        } else {
            store_bytes(all, e + k, to);
        }
        for (from = 0; !is_whole && from < (count - k) << is_wide; from++)
            ((uint8_t *)y)[(k << is_wide) + from] = last[from];
    }
}

#include "../rows/softmax_pieces.h"

int pwl_softmax_words_avx2_serves(const pwl_softmax *softmax)
{
    return pwl_softmax_is_of_words(softmax);
}

void pwl_softmax_words_avx2(const pwl_softmax *softmax, const void *x, void *y, size_t count, size_t length)
{
    run_rows(softmax, x, y, count, length);
}
