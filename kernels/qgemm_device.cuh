/* SPDX-License-Identifier: Apache-2.0 */
/* What the plain kernels share: numbers out of codes and of X one by one, and elements of Y. */
#ifndef PWL_QGEMM_DEVICE_CUH
#define PWL_QGEMM_DEVICE_CUH

#include <cuda_runtime.h>

#include "block.h"
#include "qgemm_launch.h"
#include "qgemm_layout.h"
#include "qgemm_store.h"

__device__ inline float pwl_device_code(pwl_qgemm_format format, int code)
{
    if (format == PWL_QGEMM_MXFP4)
        return pwl_value_of(PWL_MXFP4, 1, code);
    return static_cast<float>(format == PWL_QGEMM_Q4_0 ? code - 8 : code);
}

/*
 * 2^-e times a block's scale: a float, of at most 11 bits, so that its product with a code is exact. 2^(s - e) of MXFP4
 * is at most 2 but for blocks of zeros; below 2^-149, where it is 0, every weight is too.
 */
__device__ inline float pwl_device_unit(pwl_qgemm_format format, uint16_t scale, int e)
{
    if (format == PWL_QGEMM_MXFP4)
        return ldexpf(1, min(scale - 127 - e, 1));
    return ldexpf(pwl_f32_from_f16(scale), -e);
}

template <bool bf16> __device__ inline float pwl_device_round(float v)
{
    return bf16 ? pwl_f32_from_bf16(pwl_bf16_from_f32(v)) : pwl_f32_from_f16(pwl_f16_from_f32(v));
}

/* An element of X over 2^f. Going up this is exact, and where it is not, far down, the result is 0. */
template <pwl_qgemm_type type> __device__ inline float pwl_device_element(const void *x, size_t at, float unit)
{
    if (type == PWL_QGEMM_F32)
        return pwl_device_round<false>(__fmul_rn(static_cast<const float *>(x)[at], unit));
    const uint16_t half = static_cast<const uint16_t *>(x)[at];
    return type == PWL_QGEMM_F16 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
}

/* 2^n for n in -126..127 */
__device__ inline float pwl_device_power(int n)
{
    return pwl_f32_of_bits(static_cast<uint32_t>(127 + n) << 23);
}

/* sum and a block of W4A8 by the stored s; each step rounds once, whatever a compiler fuses. */
__device__ inline float pwl_device_add_stored(float d_w, float d_x, int block, float s, float sum)
{
    return fmaf(d_w, fmaf(d_x, static_cast<float>(block), -8 * s), sum);
}

/* The sum of an element of Y in floats, over 2^exponent. */
__device__ inline void pwl_device_store(const pwl_qgemm_call &call, size_t m, size_t n, float sum, int exponent)
{
    const pwl_qgemm_product &p = call.product;
    const float bias = p.bias ? static_cast<const float *>(p.bias)[n] : 0;
    pwl_qgemm_store(p.y.type, p.y.data, m * p.y.stride + n, pwl_qgemm_finish(sum, exponent, bias));
}

/* INT8 */
__device__ inline void pwl_device_store(const pwl_qgemm_call &call, size_t m, size_t n, int32_t sum)
{
    const pwl_qgemm_product &p = call.product;
    const size_t at = m * p.y.stride + n;
    const int32_t bias = p.bias ? static_cast<const int32_t *>(p.bias)[n] : 0;
    const int64_t v = int64_t{sum} - int64_t{p.x.zero_point} * pwl_qgemm_row_sum(&call.weights, n) + int64_t{bias};
    const int64_t shift = int64_t{pwl_qgemm_row_exponent(&call.weights, n)} + p.x.n_x[m] - p.y.n_y;
    if (p.y.type == PWL_QGEMM_S8)
        static_cast<int8_t *>(p.y.data)[at] = pwl_qgemm_store_s8(v, shift, p.y.zero_point);
    else
        static_cast<int32_t *>(p.y.data)[at] = pwl_qgemm_store_s32(v);
}

#endif
