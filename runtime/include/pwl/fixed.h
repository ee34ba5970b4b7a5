/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place where signed values are shifted, rounded and saturated; C, C++ and CUDA device code include it,
 * so that all of them give the same bits.
 *
 * A left shift goes through unsigned, since C leaves it undefined for negative values. A right shift of a negative
 * value and the conversion back to signed are implementation-defined: the asserts below hold the compiler to
 * arithmetic shifts and two's complement.
 */
#ifndef PWL_FIXED_H
#define PWL_FIXED_H

#include <stdint.h>

#include "pwl.h"

#ifdef __CUDACC__
#define PWL_FN __host__ __device__ static inline
#else
#define PWL_FN static inline
#endif

#ifdef __cplusplus
static_assert((-1 >> 1) == -1, "right shifts of negative values must be arithmetic");
static_assert((int32_t)UINT32_MAX == -1 && (int64_t)UINT64_MAX == -1, "integers must be two's complement");
#else
_Static_assert((-1 >> 1) == -1, "right shifts of negative values must be arithmetic");
_Static_assert((int32_t)UINT32_MAX == -1 && (int64_t)UINT64_MAX == -1, "integers must be two's complement");
#endif

/* |v| as unsigned, so that the smallest value has one too. */
PWL_FN uint64_t pwl_abs64(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* v clipped to [min, max] */
PWL_FN int64_t pwl_sat(int64_t v, int64_t min, int64_t max)
{
    if (v < min)
        return min;
    return v > max ? max : v;
}

/* p * 2^n, n in 0..31; the product must fit. */
PWL_FN int32_t pwl_shl32(int32_t p, int n)
{
    return (int32_t)((uint32_t)p << n);
}

/* p * 2^n, n in 0..63; the product must fit. */
PWL_FN int64_t pwl_shl64(int64_t p, int n)
{
    return (int64_t)((uint64_t)p << n);
}

/*
 * shr(p, n) of the table's meaning, n in -31..31: p * 2^-n, rounded by `rounding` when n > 0.
 *
 * Every rounding is floor((p + a) / 2^n) with an addend a around half = 2^(n-1):
 *   half_up    a = half
 *   half_away  a = half for p >= 0. Below zero, -floor((|p| + half) / 2^n) = ceil((p - half) / 2^n)
 *              = floor((p - half + 2^n - 1) / 2^n), so a = half - 1.
 *   half_even  a = half where floor(p / 2^n) is odd (a tie goes up to the even code), else half - 1 (a tie stays).
 * a lies in [0, half], so p + a cannot overflow where p + half, which the proof bounds, does not.
 */
PWL_FN int32_t pwl_shr32(int32_t p, int n, int rounding)
{
    if (n <= 0)
        return pwl_shl32(p, -n);
    if (rounding != PWL_FLOOR) {
        int down = 0;
        if (rounding == PWL_HALF_AWAY)
            down = p < 0;
        else if (rounding == PWL_HALF_EVEN)
            down = (int)~(p >> n) & 1;
        p += pwl_shl32(1, n - 1) - down;
    }
    return p >> n;
}

/* As pwl_shr32 for a 64-bit accumulator, n in -63..63. */
PWL_FN int64_t pwl_shr64(int64_t p, int n, int rounding)
{
    if (n <= 0)
        return pwl_shl64(p, -n);
    if (rounding != PWL_FLOOR) {
        int down = 0;
        if (rounding == PWL_HALF_AWAY)
            down = p < 0;
        else if (rounding == PWL_HALF_EVEN)
            down = (int)~(p >> n) & 1;
        p += pwl_shl64(1, n - 1) - down;
    }
    return p >> n;
}

/*
 * One segment before saturation, in a 32-bit accumulator (storage INT8 and INT16). X is q_x - zp_x, or q_x - start
 * in the anchored form; offset is term_c, bias or y. The proof bounds the product and each sum to 32 bits.
 */
PWL_FN int32_t pwl_line32(int form, int rounding, int32_t q_b, int32_t X, int n, int32_t offset)
{
    const int32_t product = q_b * X;
    if (form == PWL_BIASED)
        return pwl_shr32(product + offset, n, rounding);
    return pwl_shr32(product, n, rounding) + offset;
}

/* As pwl_line32 in a 64-bit accumulator (storage INT32). */
PWL_FN int64_t pwl_line64(int form, int rounding, int32_t q_b, int64_t X, int n, int64_t offset)
{
    const int64_t product = q_b * X;
    if (form == PWL_BIASED)
        return pwl_shr64(product + offset, n, rounding);
    return pwl_shr64(product, n, rounding) + offset;
}

#endif
