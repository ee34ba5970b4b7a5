/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a product one by one, out of codes and of X, and sums of them block by block. */
#ifndef PWL_QGEMM_NUMBERS_CUH
#define PWL_QGEMM_NUMBERS_CUH

#include <cuda_runtime.h>

#include "blocks/block.h"
#include "gemm/launch.h"

__device__ inline float pwl_device_code(pwl_qgemm_format format, int code)
{
    if (format == PWL_QGEMM_MXFP4)
        return pwl_value_of(PWL_MXFP4, 1, code);
    return static_cast<float>(pwl_qgemm_is_q4(format) ? code - 8 : code);
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

/* sum and a block of A8, scales times the sum of the products of codes; `stored`: by the s of Q8_1, for codes of W4A8
 * that count from 0. Each step rounds once, whatever a compiler fuses. */
template <bool stored> __device__ float pwl_device_add_block(float d_w, float d_x, float s, int block, float sum)
{
    if (stored)
        return fmaf(d_w, fmaf(d_x, static_cast<float>(block), -8 * s), sum);
    return fmaf(d_w * d_x, static_cast<float>(block), sum);
}

#endif
