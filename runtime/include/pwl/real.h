/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real numbers and codes: real = scale * (q - zero_point). The same bits on the host and on CUDA devices.
 *
 *   code of x    q = clamp(rint(x * RN(1 / scale)), qmin - zero_point, qmax - zero_point) + zero_point
 *   real of q    RN(scale * RN(q - zero_point))
 *   code of v * 2^-n, v an integer    q = clamp(shr(v, n) + zero_point, qmin, qmax), rounded half up
 *
 * RN rounds to float, rint to an integer, both to nearest with ties to even; NaN has the code of 0. Host code must not
 * be compiled with -ffast-math, nor run with another rounding mode, or one that takes small numbers for 0, in force.
 */
#ifndef PWL_REAL_H
#define PWL_REAL_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/fixed.h>
#include <pwl/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How codes stand for real numbers: affine quantisation. */
typedef struct pwl_affine {
    float scale;        /* 2^-126 to 2^126 */
    int64_t zero_point; /* at most 2^30 from 0; 2^33 where codes are wide, as with tables of storage INT32 */
} pwl_affine;

/* How real numbers lie in memory; the values are stable. */
typedef enum pwl_real { PWL_F32 = 0, PWL_F16 = 1, PWL_BF16 = 2 } pwl_real;

/* rint(v), |v| < 2^62. Both parts of v are exact: beyond 2^23 there is no fraction. No C library needs to have it. */
PWL_FN int64_t pwl_nearest(float v)
{
    const int64_t whole = (int64_t)v; /* towards 0 */
    const float rest = v - (float)whole;
    const int odd = (int)(whole & 1);
    return whole + (rest > 0.5f || (odd && rest == 0.5f)) - (rest < -0.5f || (odd && rest == -0.5f));
}

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
        whole = pwl_nearest(steps);
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

/* Whether `of` is within what pwl_affine says, beside wide codes or others. */
PWL_FN int pwl_affine_serves(pwl_affine of, int wide)
{
    const int64_t most = INT64_C(1) << (wide ? 33 : 30);
    /* 2^-126 and 2^126: C++11 has no hexadecimal floats. */
    return of.scale >= 1.17549435e-38f && of.scale <= 8.50705917e37f && of.zero_point >= -most && of.zero_point <= most;
}

/*
 * y[k] = real of pwl_eval(table, q), as of_y says, for k in [0, count), with q the code of x[k] as of_x says, clamped
 * to those of the plan's input type and to the table's. The types of the plan hold the codes of the table. Codes are
 * wide where the table's storage is INT32, whatever the plan's types. One pass over memory: blocks of codes on the
 * stack, 8 KiB, beside at most 28 KiB where the plan is by pwl_map_*(); on 32-bit processors 1 KiB with all of it. Reads x[0..count), writes y[0..count),
 * nothing else. x and y may be the same array; otherwise they must not overlap. The bits are those of
 * pwl_cuda_map_real().
 *
 * Quickest where q - zero_point fits 32 bits for all codes of the types, as it always does for those of 8 and 16 bits.
 * The library's only function that computes in floating point.
 *
 * Returns PWL_OK, PWL_ERR_NULL (plan, or x or y with a count) or PWL_ERR_FIELD (of_x or of_y is not what pwl_affine
 * allows, see pwl_affine_serves()).
 */
PWL_API PWL_NODISCARD pwl_status pwl_run_real(const pwl_plan *plan, pwl_affine of_x, const float *x, pwl_affine of_y,
                                              float *y, size_t count);

#ifdef __cplusplus
}
#endif
#endif
