/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax of 8-bit codes. A difference is a byte, so that exponentials are looked up: as four tables of 256 bytes, one
 * for each byte of E, whose sums over a row make S. A row has 256 results at most; they are computed once, and looked
 * up.
 */
#include "../rows/row_ways.h"
#include "../rows/softmax_bytes.h"
#include "lookup_avx512vbmi.h"

enum { BYTES = 4 };

int pwl_softmax_avx512vbmi_serves(const pwl_softmax *softmax)
{
    return softmax->kind == PWL_SOFTMAX && !softmax->exp_high;
}

static __mmask64 lanes_of(size_t left)
{
    return left < 64 ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;
}

/* Codes from the lowest of the type on; 0 beyond the end. */
static __m512i load_some(const uint8_t *x, size_t left, __m512i flip)
{
    const __mmask64 lanes = lanes_of(left);
    const __m512i codes = _mm512_xor_si512(_mm512_maskz_loadu_epi8(lanes, x), flip);
    return left < 64 ? _mm512_mask_blend_epi8(lanes, _mm512_setzero_si512(), codes) : codes;
}

static uint8_t largest_of(const uint8_t *x, size_t length, __m512i flip)
{
    __m512i largest = _mm512_setzero_si512();
    uint8_t bytes[64], found = 0;
    size_t k;
    for (k = 0; k + 64 <= length; k += 64)
        largest = _mm512_max_epu8(largest, _mm512_xor_si512(_mm512_loadu_si512(x + k), flip));
    if (k < length)
        largest = _mm512_max_epu8(largest, load_some(x + k, length - k, flip));
    _mm512_storeu_si512(bytes, largest);
    for (k = 0; k < 64; k++)
        found = bytes[k] > found ? bytes[k] : found;
    return found;
}

/* Adds the bytes of E at 64 differences, of which those of `lanes` count. */
static inline void add_some(const table_256 exp[BYTES], __m512i d, __mmask64 lanes, __m512i sums[BYTES])
{
    const __m512i zero = _mm512_setzero_si512();
    int part;
    for (part = 0; part < BYTES; part++) {
        const __m512i bytes = _mm512_mask_blend_epi8(lanes, zero, look_up(&exp[part], d));
        sums[part] = _mm512_add_epi64(sums[part], _mm512_sad_epu8(bytes, zero));
    }
}

static uint64_t sum_of(const table_256 exp[BYTES], const uint8_t *x, size_t length, __m512i flip, __m512i largest)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i sums[BYTES] = {zero, zero, zero, zero};
    uint64_t sum = 0;
    size_t k;
    int part;
    for (k = 0; k + 64 <= length; k += 64)
        add_some(exp, _mm512_sub_epi8(largest, _mm512_xor_si512(_mm512_loadu_si512(x + k), flip)), ~(__mmask64)0, sums);
    if (k < length)
        add_some(exp, _mm512_sub_epi8(largest, load_some(x + k, length - k, flip)), lanes_of(length - k), sums);
    for (part = 0; part < BYTES; part++)
        sum += sum_lanes(sums[part]) << 8 * part;
    return sum;
}

/* The results of all differences, their lower bytes and, of 16 bits, their upper ones. */
static void make_results(const pwl_softmax *softmax, pwl_row_factor reciprocal, table_256 *lower, table_256 *upper)
{
    const pwl_softmax_scale scale = pwl_softmax_scale_of(softmax, reciprocal);
    const __m512i R = _mm512_set1_epi64(scale.factor), shift = _mm512_set1_epi64(scale.shift);
    const __m512i half = _mm512_set1_epi64(scale.half), zero = _mm512_set1_epi64(scale.zero);
    const __m512i least = _mm512_set1_epi64(softmax->qmin_y), most = _mm512_set1_epi64(softmax->qmax_y);
    uint8_t low[256 + 8], high[256 + 8];
    int k;
    for (k = 0; k < 256; k += 8) {
        const __m512i e = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(softmax->exp + k)));
        /* Both have 32 bits at most. */
        const __m512i p = _mm512_srlv_epi64(_mm512_add_epi64(_mm512_mul_epu32(e, R), half), shift);
        const __m512i y = _mm512_min_epi64(_mm512_max_epi64(_mm512_add_epi64(p, zero), least), most);
        _mm_storeu_si128((__m128i *)(void *)(low + k), _mm512_cvtepi64_epi8(y));
        _mm_storeu_si128((__m128i *)(void *)(high + k), _mm512_cvtepi64_epi8(_mm512_srli_epi64(y, 8)));
    }
    load_table(lower, low);
    load_table(upper, high);
}

static void write_bytes(const table_256 *results, const uint8_t *x, uint8_t *y, size_t length, __m512i flip,
                        __m512i largest)
{
    size_t k;
    for (k = 0; k + 64 <= length; k += 64)
        _mm512_storeu_si512(
            y + k, look_up(results, _mm512_sub_epi8(largest, _mm512_xor_si512(_mm512_loadu_si512(x + k), flip))));
    if (k < length)
        _mm512_mask_storeu_epi8(y + k, lanes_of(length - k),
                                look_up(results, _mm512_sub_epi8(largest, load_some(x + k, length - k, flip))));
}

/* Both bytes of each result side by side: those of 8 in each 16 bytes are interleaved, and then put in order. */
static void write_words(const table_256 *lower, const table_256 *upper, const uint8_t *x, uint16_t *y, size_t length,
                        __m512i flip, __m512i largest)
{
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    size_t k;
    for (k = 0; k < length; k += 64) {
        const size_t left = length - k;
        const __m512i d = _mm512_sub_epi8(largest, load_some(x + k, left, flip));
        const __m512i low = look_up(lower, d), high = look_up(upper, d);
        const __m512i a = _mm512_unpacklo_epi8(low, high), b = _mm512_unpackhi_epi8(low, high);
        const __mmask64 lanes = lanes_of(left);
        _mm512_mask_storeu_epi16(y + k, (__mmask32)lanes, _mm512_permutex2var_epi64(a, first, b));
        if (left > 32)
            _mm512_mask_storeu_epi16(y + k + 32, (__mmask32)(lanes >> 32), _mm512_permutex2var_epi64(a, second, b));
    }
}

void pwl_softmax_avx512vbmi(const pwl_softmax *softmax, const void *x, void *y, size_t count, size_t length)
{
    const __m512i flip = _mm512_set1_epi8(pwl_type_is_unsigned((pwl_type)softmax->in) ? 0 : INT8_MIN);
    const int is_wide = pwl_type_bytes_log2((pwl_type)softmax->out);
    const uint8_t *from = (const uint8_t *)x;
    table_256 exp[BYTES], lower, upper;
    size_t k;
    split_words(softmax->exp, exp);
    for (k = 0; k < count; k++, from += length) {
        const __m512i largest = _mm512_set1_epi8((char)largest_of(from, length, flip));
        const uint64_t sum = sum_of(exp, from, length, flip, largest);
        make_results(softmax, pwl_row_reciprocal(softmax->reciprocal, sum), &lower, &upper);
        if (is_wide)
            write_words(&lower, &upper, from, (uint16_t *)y + k * length, length, flip, largest);
        else
            write_bytes(&lower, from, (uint8_t *)y + k * length, length, flip, largest);
    }
}
