/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax of 16-bit codes. Of a difference the two bytes look up low[d & 255], high[d >> 8] and the shift n, byte by
 * byte in tables of 256: 64 differences at once.
 *
 * n is 32 at least, so that of a product p < 2^63 the 32 bits p >> 31 suffice: E is ((p >> 31 >> (n - 32)) + 1) >> 1.
 * The sum stays within 32 bits, as E is at most 2^30. Where n is beyond 62, E is 0, and so is that of a shift by 32.
 *
 * The exponentials of up to KEPT places of a row stay on the stack between the sum and the results; those of the places
 * after them are computed twice.
 *
 * Bytes of a and b, 32 codes each, are in turns: a's first, b's first, a's second. Unpacked to words of 32 bits, which
 * packs undo, they make four vectors: in each 16 bytes four places of the 16.
 */
#include "../loop.h"
#include "../rows/row_ways.h"
#include "../rows/softmax_bytes.h"
#include "../rows/softmax_words.h"
#include "lookup_avx512vbmi.h"

enum { BYTES = 4, VECTOR = 64, KEPT = 4096 };

static const __mmask64 B_PLACES = 0xaaaaaaaaaaaaaaaa;

int pwl_softmax_words_avx512vbmi_serves(const pwl_softmax *softmax)
{
    return pwl_softmax_is_of_words(softmax);
}

typedef struct exp_tables {
    table_256 low[BYTES], high[BYTES], shift;
} exp_tables;

static void load_tables(exp_tables *tables, const pwl_softmax *softmax)
{
    uint8_t shift[256];
    int k;
    split_words(softmax->exp, tables->low);
    split_words(softmax->exp_high, tables->high);
    for (k = 0; k < 256; k++)
        shift[k] = softmax->exp_shift[k] > 62 ? 32 : (uint8_t)(softmax->exp_shift[k] - 32);
    load_table(&tables->shift, shift);
}

/* The first of `left` words of 16 bits, of which a vector has 32. */
static inline __mmask32 words_of(size_t left)
{
    return left < 32 ? ((__mmask32)1 << left) - 1 : ~(__mmask32)0;
}

/* Codes from the lowest of the type on are x ^ flip. */
static uint16_t largest_of(const uint16_t *x, size_t length, __m512i flip)
{
    __m512i largest = _mm512_setzero_si512();
    uint16_t words[32], found = 0;
    size_t k;
    for (k = 0; k + 32 <= length; k += 32)
        largest = _mm512_max_epu16(largest, _mm512_xor_si512(_mm512_loadu_si512(x + k), flip));
    if (k < length) {
        const __mmask32 left = words_of(length - k);
        const __m512i codes = _mm512_xor_si512(_mm512_maskz_loadu_epi16(left, x + k), flip);
        largest = _mm512_max_epu16(largest, _mm512_mask_blend_epi16(left, _mm512_setzero_si512(), codes));
    }
    _mm512_storeu_si512(words, largest);
    for (k = 0; k < 32; k++)
        found = words[k] > found ? words[k] : found;
    return found;
}

/* Four vectors of words of 32 bits. */
typedef struct words {
    __m512i part[4];
} words;

INLINE words unpack(__m512i byte_0, __m512i byte_1, __m512i byte_2, __m512i byte_3)
{
    const __m512i lower = _mm512_unpacklo_epi8(byte_0, byte_1), upper = _mm512_unpacklo_epi8(byte_2, byte_3);
    const __m512i lower_2 = _mm512_unpackhi_epi8(byte_0, byte_1), upper_2 = _mm512_unpackhi_epi8(byte_2, byte_3);
    const words w = {{_mm512_unpacklo_epi16(lower, upper), _mm512_unpackhi_epi16(lower, upper),
                      _mm512_unpacklo_epi16(lower_2, upper_2), _mm512_unpackhi_epi16(lower_2, upper_2)}};
    return w;
}

INLINE words look_words_up(const table_256 tables[BYTES], __m512i x)
{
    return unpack(look_up(&tables[0], x), look_up(&tables[1], x), look_up(&tables[2], x), look_up(&tables[3], x));
}

/* E of 64 places, of codes a and then b. */
INLINE words exp_of(const exp_tables *tables, __m512i a, __m512i b, __m512i largest)
{
    const __m512i d = _mm512_sub_epi16(largest, a), d_2 = _mm512_sub_epi16(largest, b);
    const __m512i l = _mm512_mask_blend_epi8(B_PLACES, d, _mm512_slli_epi16(d_2, 8));
    const __m512i h = _mm512_mask_blend_epi8(B_PLACES, _mm512_srli_epi16(d, 8), d_2);
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    const words low = look_words_up(tables->low, l), high = look_words_up(tables->high, h);
    const words shift = unpack(look_up(&tables->shift, h), zero, zero, zero);
    words e;
    int k;
    for (k = 0; k < 4; k++) {
        const __m512i even = _mm512_mul_epu32(low.part[k], high.part[k]);
        const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(low.part[k], 32), _mm512_srli_epi64(high.part[k], 32));
        const __m512i p = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 31), _mm512_slli_epi64(odd, 1));
        e.part[k] = _mm512_srli_epi32(_mm512_add_epi32(_mm512_srlv_epi32(p, shift.part[k]), one), 1);
    }
    return e;
}

/* E of the next 64 of `left` places; 0 beyond the last one. */
INLINE words exp_at(const exp_tables *tables, const uint16_t *x, size_t left, __m512i largest)
{
    const __m512i zero = _mm512_setzero_si512(), ones = _mm512_set1_epi8(-1);
    const __mmask32 of_a = words_of(left), of_b = words_of(left > 32 ? left - 32 : 0);
    words e, valid;
    __m512i bytes;
    int k;
    if (left >= VECTOR)
        return exp_of(tables, _mm512_loadu_si512(x), _mm512_loadu_si512(x + 32), largest);
    e = exp_of(tables, _mm512_maskz_loadu_epi16(of_a, x), _mm512_maskz_loadu_epi16(of_b, x + (of_b ? 32 : 0)), largest);
    bytes = _mm512_mask_blend_epi8(B_PLACES, _mm512_mask_blend_epi16(of_a, zero, ones),
                                   _mm512_mask_blend_epi16(of_b, zero, ones));
    valid = unpack(bytes, bytes, bytes, bytes);
    for (k = 0; k < 4; k++)
        e.part[k] = _mm512_and_si512(e.part[k], valid.part[k]);
    return e;
}

/* Two exponentials make 31 bits at most. */
static inline __m512i add_exp(__m512i sums, words e)
{
    const __m512i lower = _mm512_set1_epi64(UINT32_MAX);
    const __m512i a = _mm512_add_epi32(e.part[0], e.part[1]), b = _mm512_add_epi32(e.part[2], e.part[3]);
    sums = _mm512_add_epi64(_mm512_add_epi64(sums, _mm512_and_si512(a, lower)), _mm512_srli_epi64(a, 32));
    return _mm512_add_epi64(_mm512_add_epi64(sums, _mm512_and_si512(b, lower)), _mm512_srli_epi64(b, 32));
}

static uint64_t sum_of(const exp_tables *tables, const uint16_t *x, size_t length, __m512i largest, words *kept)
{
    __m512i sums = _mm512_setzero_si512();
    size_t k;
    for (k = 0; k + VECTOR <= length; k += VECTOR) {
        const words e = exp_of(tables, _mm512_loadu_si512(x + k), _mm512_loadu_si512(x + k + 32), largest);
        if (k < KEPT)
            kept[k / VECTOR] = e;
        sums = add_exp(sums, e);
    }
    if (k < length) {
        const words e = exp_at(tables, x + k, length - k, largest);
        if (k < KEPT)
            kept[k / VECTOR] = e;
        sums = add_exp(sums, e);
    }
    return sum_lanes(sums);
}

/* What the results of a row share, in each lane. */
typedef struct lanes {
    __m512i factor, half, shift, zero, least, most;
} lanes;

static lanes lanes_of(const pwl_softmax *softmax, pwl_row_factor reciprocal)
{
    const pwl_softmax_scale scale = pwl_softmax_scale_of(softmax, reciprocal);
    const lanes all = {_mm512_set1_epi64(scale.factor),    _mm512_set1_epi64(scale.half),
                       _mm512_set1_epi64(scale.shift),     _mm512_set1_epi32(scale.zero),
                       _mm512_set1_epi32(softmax->qmin_y), _mm512_set1_epi32(softmax->qmax_y)};
    return all;
}

/* 16 results, which 22 bits hold before they saturate. */
static inline __m512i results_of(const lanes *all, __m512i e)
{
    const __m512i even = _mm512_add_epi64(_mm512_mul_epu32(e, all->factor), all->half);
    const __m512i odd = _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(e, 32), all->factor), all->half);
    const __m512i p = _mm512_mask_blend_epi32(0xaaaa, _mm512_srlv_epi64(even, all->shift),
                                              _mm512_slli_epi64(_mm512_srlv_epi64(odd, all->shift), 32));
    return _mm512_min_epi32(_mm512_max_epi32(_mm512_add_epi32(p, all->zero), all->least), all->most);
}

/* The lower 16 bits of words, in the order of bytes that they came from. */
static inline __m512i low_halves(__m512i first, __m512i second)
{
    const __m512i half = _mm512_set1_epi32(UINT16_MAX);
    return _mm512_packus_epi32(_mm512_and_si512(first, half), _mm512_and_si512(second, half));
}

static inline void store_bytes(uint8_t *y, size_t left, __m512i first, __m512i second)
{
    /* a's bytes, then b's. */
    static const uint8_t order[VECTOR] = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                          32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62,
                                          1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                          33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    const __m512i byte = _mm512_set1_epi16(UINT8_MAX);
    const __m512i mixed = _mm512_packus_epi16(_mm512_and_si512(first, byte), _mm512_and_si512(second, byte));
    _mm512_mask_storeu_epi8(y, left < VECTOR ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0,
                            _mm512_permutexvar_epi8(_mm512_loadu_si512(order), mixed));
}

static inline void store_words(uint16_t *y, size_t left, __m512i first, __m512i second)
{
    /* In each 16 bytes, the even words of both are eight of a, the odd ones eight of b. */
    static const uint16_t of_a[32] = {0,  2,  4,  6,  32, 34, 36, 38, 8,  10, 12, 14, 40, 42, 44, 46,
                                      16, 18, 20, 22, 48, 50, 52, 54, 24, 26, 28, 30, 56, 58, 60, 62};
    const __m512i even = _mm512_loadu_si512(of_a), odd = _mm512_add_epi16(even, _mm512_set1_epi16(1));
    _mm512_mask_storeu_epi16(y, words_of(left), _mm512_permutex2var_epi16(first, even, second));
    if (left > 32)
        _mm512_mask_storeu_epi16(y + 32, words_of(left - 32), _mm512_permutex2var_epi16(first, odd, second));
}

static inline void store_results(const lanes *all, words e, void *y, size_t at, size_t left, int is_wide)
{
    const __m512i first = low_halves(results_of(all, e.part[0]), results_of(all, e.part[1]));
    const __m512i second = low_halves(results_of(all, e.part[2]), results_of(all, e.part[3]));
    if (is_wide)
        store_words((uint16_t *)y + at, left, first, second);
    else
        store_bytes((uint8_t *)y + at, left, first, second);
}

/* One row; y is x itself, or apart from it. */
static void run_row(const exp_tables *tables, const pwl_softmax *softmax, const uint16_t *x, void *y, size_t length)
{
    const int is_wide = pwl_type_bytes_log2((pwl_type)softmax->out);
    const int16_t flip = pwl_type_is_unsigned((pwl_type)softmax->in) ? 0 : INT16_MIN;
    /* As the array has it; differences are the same modulo 2^16. */
    const __m512i largest = _mm512_set1_epi16((int16_t)(largest_of(x, length, _mm512_set1_epi16(flip)) ^ flip));
    words kept[KEPT / VECTOR];
    const uint64_t sum = sum_of(tables, x, length, largest, kept);
    const lanes all = lanes_of(softmax, pwl_row_reciprocal(softmax->reciprocal, sum));
    size_t k;
    for (k = 0; k < length && k < KEPT; k += VECTOR)
        store_results(&all, kept[k / VECTOR], y, k, length - k, is_wide);
    for (; k < length; k += VECTOR)
        store_results(&all, exp_at(tables, x + k, length - k, largest), y, k, length - k, is_wide);
}

void pwl_softmax_words_avx512vbmi(const pwl_softmax *softmax, const void *x, void *y, size_t count, size_t length)
{
    const size_t y_bytes = length << pwl_type_bytes_log2((pwl_type)softmax->out);
    exp_tables tables;
    size_t r;
    load_tables(&tables, softmax);
    for (r = 0; r < count; r++)
        run_row(&tables, softmax, (const uint16_t *)x + r * length, (char *)y + r * y_bytes, length);
}
