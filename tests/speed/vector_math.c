/* SPDX-License-Identifier: Apache-2.0 */
/* Sigmoids in float as programs write them on SLEEF, with -DSLEEF, and on glibc's vector math, which -ffast-math lets the
 * compiler call; for bench_peers.py. */
#include <math.h>
#include <stddef.h>

void glibc_sigmoid(const float *restrict x, float *restrict y, size_t count)
{
    for (size_t k = 0; k < count; k++)
        y[k] = 1 / (1 + expf(-x[k]));
}

#ifdef SLEEF
#include <immintrin.h>
#include <sleef.h>

/* `count` is a multiple of 16. */
void sleef_sigmoid(const float *x, float *y, size_t count)
{
#ifdef __AVX512F__
    const __m512 one = _mm512_set1_ps(1), sign = _mm512_set1_ps(-0.0f);
    for (size_t k = 0; k < count; k += 16) {
        const __m512 power = Sleef_expf16_u10avx512f(_mm512_xor_ps(_mm512_loadu_ps(x + k), sign));
        _mm512_storeu_ps(y + k, _mm512_div_ps(one, _mm512_add_ps(one, power)));
    }
#else
    const __m256 one = _mm256_set1_ps(1), sign = _mm256_set1_ps(-0.0f);
    for (size_t k = 0; k < count; k += 8) {
        const __m256 power = Sleef_expf8_u10avx2(_mm256_xor_ps(_mm256_loadu_ps(x + k), sign));
        _mm256_storeu_ps(y + k, _mm256_div_ps(one, _mm256_add_ps(one, power)));
    }
#endif
}
#endif
