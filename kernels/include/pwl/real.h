/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real numbers and codes: real = scale * (q - zero_point). The same bits on the host and on CUDA devices.
 *
 *   code of x    q = clamp(rint(x * RN(1 / scale)), qmin - zero_point, qmax - zero_point) + zero_point
 *   real of q    RN(scale * RN(q - zero_point))
 *   code of v * 2^-n, v an integer    q = clamp(shr(v, n) + zero_point, qmin, qmax), rounded half up
 *
 * RN rounds to float, rint to an integer, both to nearest with ties to even; NaN has the code of 0. Host code must not
 * be compiled with -ffast-math, nor with another rounding mode in force.
 */
#ifndef PWL_REAL_H
#define PWL_REAL_H

#include <math.h>
#include <stdint.h>

#include <pwl/fixed.h>

/* How codes stand for real numbers: affine quantisation. */
typedef struct pwl_affine {
    float scale;        /* 2^-126 to 2^126 */
    int64_t zero_point; /* at most 2^30 from 0 beside codes of 8 and 16 bits, 2^33 beside those of 32 */
} pwl_affine;

/* How real numbers lie in memory; the values are stable. */
typedef enum pwl_real { PWL_F32 = 0, PWL_F16 = 1, PWL_BF16 = 2 } pwl_real;

/* The code of x; inverse is RN(1 / scale). */
PWL_FN int64_t pwl_code_of_real(float x, float inverse, int64_t zero_point, int64_t qmin, int64_t qmax)
{
    const float steps = x * inverse, most = (float)((int64_t)1 << 62); /* far beyond every code */
    int64_t whole = 0;
    if (steps >= most)
        whole = INT64_MAX / 2;
    else if (steps <= -most)
        whole = INT64_MIN / 2;
    else if (steps == steps)
        whole = (int64_t)rintf(steps);
    return pwl_sat(whole + zero_point, qmin, qmax);
}

PWL_FN float pwl_real_of_code(int64_t q, pwl_affine of)
{
    return of.scale * (float)(q - of.zero_point);
}

/* The code of v * 2^-n for any n, |v| <= 2^53. Shifted, v is cut to 2^62, beyond every code. */
PWL_FN int64_t pwl_code_of_integer(int64_t v, int64_t n, int64_t zero_point, int64_t qmin, int64_t qmax)
{
    const int left = n < -62 ? 62 : n < 0 ? (int)-n : 0, right = n > 62 ? 62 : n > 0 ? (int)n : 0;
    const int64_t most = INT64_C(1) << (62 - left);
    return pwl_sat(pwl_shr64(pwl_sat(v, -most, most), right - left, PWL_HALF_UP) + zero_point, qmin, qmax);
}

/* Whether `of` is within what pwl_affine says, beside codes of up to 16 bits or `wide` ones. */
PWL_FN int pwl_affine_serves(pwl_affine of, int wide)
{
    const int64_t most = INT64_C(1) << (wide ? 33 : 30);
    /* 2^-126 and 2^126: C++11 has no hexadecimal floats. */
    return of.scale >= 1.17549435e-38f && of.scale <= 8.50705917e37f && of.zero_point >= -most && of.zero_point <= most;
}

#endif
