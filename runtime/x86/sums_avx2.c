/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products, 16 at once, and codes of sums, four at once. */
#include <immintrin.h>

#include "../network/step.h"

typedef __m256i vector, sums;

enum { LANES = 16, MOST = 2 };

static inline vector load(const int16_t *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline void store(int16_t *p, vector v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

static inline vector widen(const int8_t *p)
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p));
}

static inline sums none(void)
{
    return _mm256_setzero_si256();
}

static inline sums dot(sums s, vector a, vector b)
{
    return _mm256_add_epi32(s, _mm256_madd_epi16(a, b));
}

static inline void add_up(const sums *s, int32_t *to)
{
    const __m256i a = _mm256_hadd_epi32(s[0], s[1]), b = _mm256_hadd_epi32(s[2], s[3]), c = _mm256_hadd_epi32(a, b);
    _mm_storeu_si128((__m128i *)to, _mm_add_epi32(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1)));
}

#include "../network/sum_loops.h"
#include "../network/tap_loops.h"

void pwl_sum_avx2(const pwl_network_sums *of)
{
    sum_halves(of);
}

void pwl_taps_avx2(const pwl_network_taps *of)
{
    add_taps(of, PWL_NETWORK_COLUMNS);
}

/* The product of 64 and 31 bits, modulo 2^64. */
static inline __m256i times(__m256i v, __m256i factor)
{
    const __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), factor);
    return _mm256_add_epi64(_mm256_mul_epu32(v, factor), _mm256_slli_epi64(high, 32));
}

static inline __m256i larger(__m256i a, __m256i b)
{
    return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b));
}

static inline __m256i smaller(__m256i a, __m256i b)
{
    return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
}

/* shr(v, n): 2^62 is added, so that logical shifts serve, and 2^(62 - n) taken off again. |v| is below 2^62. */
static inline __m256i rounded(__m256i v, __m256i n)
{
    const __m256i one = _mm256_set1_epi64x(1), middle = _mm256_set1_epi64x((int64_t)1 << 62);
    const __m256i half = _mm256_sllv_epi64(one, _mm256_sub_epi64(n, one));
    return _mm256_sub_epi64(_mm256_srlv_epi64(_mm256_add_epi64(_mm256_add_epi64(v, half), middle), n),
                            _mm256_srlv_epi64(middle, n));
}

/* The lower halves of four. */
static inline __m128i narrowed(__m256i v)
{
    return _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)));
}

static inline void store_codes(int bytes_log2, void *array, size_t at, __m128i v)
{
    const __m128i halves = _mm_shuffle_epi8(v, _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1));
    const __m128i bytes =
        _mm_shuffle_epi8(v, _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
    if (bytes_log2 == 0)
        _mm_storeu_si32((char *)array + at, bytes);
    else if (bytes_log2 == 1)
        _mm_storel_epi64((__m128i *)((char *)array + 2 * at), halves);
    else
        _mm_storeu_si128((__m128i *)((char *)array + 4 * at), v);
}

void pwl_round_avx2(const pwl_network_edge *edge, void *array, size_t at, const int64_t *sums, size_t count,
                    const pwl_network_rounding *by)
{
    const __m256i zero = _mm256_set1_epi64x(edge->zero_point), low = _mm256_set1_epi64x(edge->qmin);
    const __m256i high = _mm256_set1_epi64x(edge->qmax);
    const int bytes_log2 = pwl_type_bytes_log2((pwl_type)edge->type);
    pwl_network_rounding rest = *by;
    __m256i bias = _mm256_set1_epi64x(by->bias && !by->bias_each ? *by->bias : 0);
    __m256i factor = _mm256_set1_epi64x(*by->factor), shift = _mm256_set1_epi64x(*by->shift);
    size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(sums + k));
        if (by->bias_each)
            bias = _mm256_loadu_si256((const __m256i *)(by->bias + k));
        if (by->each) {
            factor = _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(by->factor + k)));
            shift = _mm256_cvtepu8_epi64(_mm_loadu_si32(by->shift + k));
        }
        v = rounded(times(_mm256_add_epi64(v, bias), factor), shift);
        v = smaller(larger(_mm256_add_epi64(v, zero), low), high);
        store_codes(bytes_log2, array, at + k, narrowed(v));
    }
    rest.bias = by->bias ? by->bias + by->bias_each * k : by->bias;
    rest.factor += by->each * k;
    rest.shift += by->each * k;
    if (k < count)
        pwl_network_round(edge, array, at + k, sums + k, count - k, &rest);
}
