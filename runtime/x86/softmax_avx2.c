/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of 8-bit codes to 8 bits: exponentials are added one by one, a row's 256 results are computed once, and
 * looked up as tables of bytes are. */
#include "softmax_results_avx2.h"

#include "../rows/row_ways.h"
#include "bytes_shuffle.h"

int pwl_softmax_avx2_serves(const pwl_softmax *softmax)
{
    return pwl_softmax_is_of_bytes(softmax);
}

/* Codes from the lowest of the type on are x ^ flip. */
static uint8_t largest_of(const uint8_t *x, size_t length, uint8_t flip)
{
    const __m256i flips = _mm256_set1_epi8((char)flip);
    __m256i largest = _mm256_setzero_si256();
    uint8_t bytes[32], found = 0;
    size_t k;
    for (k = 0; k + 32 <= length; k += 32)
        largest = _mm256_max_epu8(largest,
                                  _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(x + k)), flips));
    for (; k < length; k++)
        found = (x[k] ^ flip) > found ? x[k] ^ flip : found;
    _mm256_storeu_si256((__m256i *)(void *)bytes, largest);
    for (k = 0; k < 32; k++)
        found = bytes[k] > found ? bytes[k] : found;
    return found;
}

/* The lower bytes of 32 words, the last of them first. */
INLINE __m256i bytes_back(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i mixed = bytes_mixed(a, b, c, d);
    const __m256i in_order = _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(7, 3, 6, 2, 5, 1, 4, 0));
    const __m256i turned = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3, 2, 1, 0, 7, 6, 5,
                                            4, 11, 10, 9, 8, 15, 14, 13, 12);
    return _mm256_shuffle_epi8(in_order, turned);
}

/* The result of each code of a row, by its bits: that of difference d belongs to code largest - d, modulo 256. */
static void make_results(const pwl_softmax *softmax, pwl_row_factor reciprocal, uint8_t largest, uint8_t results[256])
{
    const lanes all = lanes_of(softmax, reciprocal);
    uint8_t back[512]; /* twice: those of differences 255 to 0 */
    int d, k;
    for (d = 0; d < 256; d += 32) {
        const uint32_t *const exp = softmax->exp + d;
        const __m256i bytes =
            bytes_back(eight(&all, exp), eight(&all, exp + 8), eight(&all, exp + 16), eight(&all, exp + 24));
        _mm256_storeu_si256((__m256i *)(void *)(back + 224 - d), bytes);
        _mm256_storeu_si256((__m256i *)(void *)(back + 480 - d), bytes);
    }
    for (k = 0; k < 256; k += 32)
        _mm256_store_si256((__m256i *)(void *)(results + k),
                           _mm256_loadu_si256((const __m256i *)(const void *)(back + 255 - largest + k)));
}

void pwl_softmax_avx2(const pwl_softmax *softmax, const void *x, void *y, size_t count, size_t length)
{
    const uint8_t flip = pwl_type_is_unsigned((pwl_type)softmax->in) ? 0 : 0x80;
    const uint8_t *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    _Alignas(64) uint8_t results[256];
    for (; count; count--, from += length, to += length) {
        /* As the array has it; differences are the same modulo 256. */
        const uint8_t largest = (uint8_t)(largest_of(from, length, flip) ^ flip);
        const uint64_t sum = pwl_exp_sum(softmax->exp, from, length, largest);
        make_results(softmax, pwl_row_reciprocal(softmax->reciprocal, sum), largest, results);
        run_all(results, from, to, length);
    }
}
