/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products, 32 at once, of codes of 8 bits 64, and codes of sums, eight at once. */
#include <immintrin.h>

#include "../network/step.h"

typedef __m512i vector, sums;

enum { LANES = 32, MOST = 4, BYTE_LANES = 64 };

static inline vector load(const int16_t *p)
{
    return _mm512_loadu_si512(p);
}

static inline void store(int16_t *p, vector v)
{
    _mm512_storeu_si512(p, v);
}

static inline vector widen(const int8_t *p)
{
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)p));
}

static inline sums none(void)
{
    return _mm512_setzero_si512();
}

/* Spelled out, as gcc copies the sums of its intrinsics from register to register. */
static inline sums dot(sums s, vector a, vector b)
{
    __asm__("vpdpwssd %2, %1, %0" : "+v"(s) : "v"(a), "v"(b));
    return s;
}

static inline sums byte_dot(sums s, __m512i a, __m512i b)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(s) : "v"(a), "v"(b));
    return s;
}

/* Pairs of lanes of a and of b, beside each other. */
static inline __m512i add_pairs(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
}

static inline void add_up(const sums *s, int32_t *to)
{
    const __m512i a = add_pairs(s[0], s[1]), b = add_pairs(s[2], s[3]);
    const __m512i c = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    const __m256i d = _mm256_add_epi32(_mm512_castsi512_si256(c), _mm512_extracti64x4_epi64(c, 1));
    _mm_storeu_si128((__m128i *)to, _mm_add_epi32(_mm256_castsi256_si128(d), _mm256_extracti128_si256(d, 1)));
}

#include "../network/sum_loops.h"
#include "../network/tap_loops.h"

/*
 * Codes of 8 bits: a as u8 and b as s8, by their highest bits where they are not. With A and B what then stands for 0,
 *
 *   sum (a - A) (b - B) = sum a b - A sum b - B sum a + length A B
 */
typedef struct bytes {
    __m512i flip[2]; /* of a, of b */
    int64_t zero[2]; /* A, B */
} bytes;

static bytes bytes_of(const pwl_network_sums *of)
{
    const int flips_a = of->a_type == PWL_S8, flips_b = of->b_type == PWL_U8;
    const bytes by = {{_mm512_set1_epi8(flips_a ? INT8_MIN : 0), _mm512_set1_epi8(flips_b ? INT8_MIN : 0)},
                      {of->a_zero + (flips_a ? 128 : 0), of->b_zero - (flips_b ? 128 : 0)}};
    return by;
}

/* 64 codes, or those of the mask and zeros. */
INLINE __m512i load_bytes(const int8_t *p, __m512i flip, int is_whole, __mmask64 mask)
{
    return is_whole ? _mm512_xor_si512(_mm512_loadu_si512(p), flip)
                    : _mm512_maskz_mov_epi8(mask, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, p), flip));
}

INLINE void byte_step(const bytes *by, const int8_t *const *a, const int8_t *const *b, size_t rows, size_t k,
                      int is_whole, __mmask64 mask, __m512i s[MOST][COLUMNS])
{
    __m512i w[COLUMNS];
    size_t i, j;
    UNROLL for (j = 0; j < COLUMNS; j++) w[j] = load_bytes(b[j] + k, by->flip[1], is_whole, mask);
    UNROLL for (i = 0; i < rows; i++)
    {
        const __m512i v = load_bytes(a[i] + k, by->flip[0], is_whole, mask);
        UNROLL for (j = 0; j < COLUMNS; j++) s[i][j] = byte_dot(s[i][j], v, w[j]);
    }
}

INLINE __mmask64 first_of(size_t count)
{
    return ((__mmask64)1 << count) - 1;
}

INLINE void byte_dots(const bytes *by, const int8_t *const *a, const int8_t *const *b, size_t rows, size_t count,
                      int32_t to[MOST][COLUMNS])
{
    __m512i s[MOST][COLUMNS];
    size_t i, j, k;
    UNROLL for (i = 0; i < rows; i++)
    {
        UNROLL for (j = 0; j < COLUMNS; j++) s[i][j] = none();
    }
    for (k = 0; k + BYTE_LANES <= count; k += BYTE_LANES)
        byte_step(by, a, b, rows, k, 1, 0, s);
    if (k < count)
        byte_step(by, a, b, rows, k, 0, first_of(count - k), s);
    UNROLL for (i = 0; i < rows; i++) add_up(s[i], to[i]);
}

static void byte_dots_of(const bytes *by, const int8_t *const *a, const int8_t *const *b, size_t rows, size_t count,
                         int32_t to[MOST][COLUMNS])
{
    if (rows > 1)
        byte_dots(by, a, b, MOST, count, to);
    else
        byte_dots(by, a, b, 1, count, to);
}

INLINE void byte_sums_step(const bytes *by, const int8_t *const *lines, int is_b, size_t k, int is_whole,
                           __mmask64 mask, __m512i s[COLUMNS])
{
    const __m512i ones = _mm512_set1_epi8(1);
    size_t j;
    UNROLL for (j = 0; j < COLUMNS; j++)
    {
        const __m512i v = load_bytes(lines[j] + k, by->flip[is_b], is_whole, mask);
        s[j] = is_b ? byte_dot(s[j], ones, v) : byte_dot(s[j], v, ones);
    }
}

/* Sums of the codes of four lines of a, or of b. */
INLINE void byte_sums(const bytes *by, const int8_t *const *lines, int is_b, size_t count, int32_t *to)
{
    __m512i s[COLUMNS] = {none(), none(), none(), none()};
    size_t k;
    for (k = 0; k + BYTE_LANES <= count; k += BYTE_LANES)
        byte_sums_step(by, lines, is_b, k, 1, 0, s);
    if (k < count)
        byte_sums_step(by, lines, is_b, k, 0, first_of(count - k), s);
    add_up(s, to);
}

/* A line of b from code `at` on; in `room` where its codes do not lie side by side. */
static const int8_t *byte_line(const pwl_network_sums *of, size_t line, size_t at, size_t count, int8_t *room)
{
    const int8_t *const from = (const int8_t *)of->b + line * of->b_stride + at * of->b_step;
    size_t k;
    if (of->b_step == 1)
        return from;
    for (k = 0; k < count; k++)
        room[k] = from[k * of->b_step];
    return room;
}

enum { BYTE_PIECE = 1024, BYTES_HELD = 32768 }; /* of which 32 bits hold the sum: 255 * 128 each */

static void sum_byte_piece(const pwl_network_sums *of, const bytes *by, size_t at, size_t count)
{
    const int8_t *rows[PWL_NETWORK_ROWS + MOST];
    int8_t room[COLUMNS][BYTE_PIECE];
    int32_t a_sums[PWL_NETWORK_ROWS + MOST] = {0}, b_sums[COLUMNS] = {0};
    int64_t less[COLUMNS];
    size_t i, j, v, w;
    for (i = 0; i < of->rows + MOST; i++) /* some of which are summed, and left */
        rows[i] = (const int8_t *)of->a + (i < of->rows ? i : of->rows - 1) * of->a_stride + at;
    for (i = 0; by->zero[1] && i < of->rows; i += MOST)
        byte_sums(by, rows + i, 0, count, a_sums + i);
    for (j = 0; j < of->columns; j += COLUMNS) {
        const size_t columns = of->columns - j < COLUMNS ? of->columns - j : COLUMNS;
        const int8_t *lines[COLUMNS];
        for (w = 0; w < COLUMNS; w++)
            lines[w] = w < columns ? byte_line(of, j + w, at, count, room[w]) : lines[0];
        if (by->zero[0])
            byte_sums(by, lines, 1, count, b_sums);
        for (w = 0; w < COLUMNS; w++)
            less[w] = by->zero[0] * (b_sums[w] - (int64_t)count * by->zero[1]);
        for (i = 0; i < of->rows; i += MOST) {
            const size_t left = of->rows - i < MOST ? of->rows - i : MOST;
            int32_t found[MOST][COLUMNS];
            byte_dots_of(by, rows + i, lines, left, count, found);
            for (v = 0; v < left; v++)
                add_row(of->sums + (i + v) * of->columns + j, found[v], less, by->zero[1] * a_sums[i + v], columns);
        }
    }
}

static void sum_bytes(const pwl_network_sums *of)
{
    const bytes by = bytes_of(of);
    const size_t most = of->b_step == 1 ? BYTES_HELD : BYTE_PIECE;
    size_t at, k, count;
    for (k = 0; k < of->rows * of->columns; k++)
        of->sums[k] = 0;
    for (at = 0; at < of->length; at += count) {
        count = of->length - at < most ? of->length - at : most;
        sum_byte_piece(of, &by, at, count);
    }
}

void pwl_sum_avx512vnni(const pwl_network_sums *of)
{
    const int is_bytes = of->a_type <= PWL_U8 && of->b_type <= PWL_U8;
    if (is_bytes && is_within(of->a_zero, INT16_MIN, INT16_MAX) && is_within(of->b_zero, INT16_MIN, INT16_MAX))
        sum_bytes(of);
    else
        sum_halves(of);
}

void pwl_taps_avx512vnni(const pwl_network_taps *of)
{
    add_taps(of, PWL_NETWORK_COLUMNS);
}

void pwl_round_avx512vnni(const pwl_network_edge *edge, void *array, size_t at, const int64_t *sums, size_t count,
                          const pwl_network_rounding *by)
{
    const __m512i zero = _mm512_set1_epi64(edge->zero_point), low = _mm512_set1_epi64(edge->qmin);
    const __m512i high = _mm512_set1_epi64(edge->qmax), one = _mm512_set1_epi64(1);
    const int bytes_log2 = pwl_type_bytes_log2((pwl_type)edge->type);
    __m512i bias = _mm512_set1_epi64(by->bias && !by->bias_each ? *by->bias : 0);
    __m512i factor = _mm512_set1_epi64(*by->factor), shift = _mm512_set1_epi64(*by->shift);
    size_t k;
    for (k = 0; k < count; k += 8) {
        const __mmask8 mask = (__mmask8)(count - k < 8 ? (1u << (count - k)) - 1 : 255);
        char *const to = (char *)array + ((at + k) << bytes_log2);
        __m512i v = _mm512_maskz_loadu_epi64(mask, sums + k);
        if (by->bias_each)
            bias = _mm512_maskz_loadu_epi64(mask, by->bias + k);
        if (by->each) {
            factor = _mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(mask, by->factor + k));
            shift = _mm512_cvtepu8_epi64(_mm_maskz_loadu_epi8(mask, by->shift + k));
        }
        v = _mm512_mullo_epi64(_mm512_add_epi64(v, bias), factor);
        v = _mm512_add_epi64(v, _mm512_sllv_epi64(one, _mm512_sub_epi64(shift, one)));
        v = _mm512_add_epi64(_mm512_srav_epi64(v, shift), zero);
        v = _mm512_min_epi64(_mm512_max_epi64(v, low), high);
        if (bytes_log2 == 0)
            _mm512_mask_cvtepi64_storeu_epi8(to, mask, v);
        else if (bytes_log2 == 1)
            _mm512_mask_cvtepi64_storeu_epi16(to, mask, v);
        else
            _mm512_mask_cvtepi64_storeu_epi32(to, mask, v);
    }
}
