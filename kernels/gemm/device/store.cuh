/* SPDX-License-Identifier: Apache-2.0 */
/* What the plain kernels share: numbers out of codes and of X one by one, and elements of Y. */
#ifndef PWL_QGEMM_DEVICE_CUH
#define PWL_QGEMM_DEVICE_CUH

#include <cuda_runtime.h>

#include "blocks/block.h"
#include "gemm/launch.h"
#include "gemm/layout.h"
#include "gemm/store.h"
#include "map/evaluate.cuh"

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

/* y of a row of weights, of a sum in floats over 2^exponent; v, of a sum in INT8. */
__device__ inline float pwl_device_y(const pwl_qgemm_call &call, size_t n, float sum, int exponent)
{
    return pwl_qgemm_finish(sum, exponent, pwl_qgemm_bias_f32(&call.product, &call.epilogue.as, n));
}

__device__ inline int64_t pwl_device_y(const pwl_qgemm_call &call, size_t n, int32_t sum)
{
    return int64_t{sum} - int64_t{call.product.x.zero_point} * pwl_qgemm_row_sum(&call.weights, n) +
           pwl_qgemm_bias_s32(&call.product, &call.epilogue.as, n);
}

/* A table's value of a code within [qmin_x, qmax_x]: of codes of 8 bits by one load. */
__device__ inline int64_t pwl_device_value(const pwl_planned &table, int64_t q)
{
    if (!table.plan.wide && table.plan.qmin_x >= PWL_PLAN_BYTE_FIRST &&
        table.plan.qmax_x < PWL_PLAN_BYTE_FIRST + PWL_PLAN_BYTE_CODES)
        return reinterpret_cast<const int32_t *>(table.memory)[q - PWL_PLAN_BYTE_FIRST];
    const uint32_t u = static_cast<uint32_t>(q - table.plan.qmin_x);
    const int64_t raw = table.plan.wide ? pwl::by_search<pwl::wide>(table)(table, u)
                                        : int64_t{pwl::by_search<pwl::narrow>(table)(table, u)};
    return pwl_sat(raw, table.plan.qmin_y, table.plan.qmax_y);
}

/* n_w + n_x */
__device__ inline int32_t pwl_device_shift(const pwl_qgemm_call &call, size_t m, size_t n)
{
    return pwl_qgemm_row_exponent(&call.weights, n) + call.product.x.n_x[m];
}

/* Not inlined: kernels that have many sums to a thread come here with each. */
__device__ __noinline__ inline void pwl_device_activate(const pwl_qgemm_call &call, size_t m, size_t n, size_t at,
                                                        float y, float up)
{
    const pwl_qgemm_output &to = call.product.y;
    const int64_t q = pwl_device_value(call.table, pwl_qgemm_code_of_f32(&call.epilogue, y));
    pwl_qgemm_store_activated(&call.epilogue, to.type, to.data, at, q, up);
}

__device__ __noinline__ inline void pwl_device_activate(const pwl_qgemm_call &call, size_t m, size_t n, size_t at,
                                                        int64_t v, int64_t up)
{
    const pwl_qgemm_output &to = call.product.y;
    const int64_t q =
        pwl_device_value(call.table, pwl_qgemm_code_of_sum(&call.epilogue, v, pwl_device_shift(call, m, n)));
    const int32_t shift = pwl_device_shift(call, m, call.epilogue.as.gated ? n + 8 : n);
    pwl_qgemm_store_activated_sum(&call.epilogue, to.type, to.data, at, q, up, shift);
}

__device__ inline void pwl_device_keep(const pwl_qgemm_call &call, size_t m, size_t n, size_t at, float y)
{
    pwl_qgemm_store(call.product.y.type, call.product.y.data, at, y);
}

__device__ inline void pwl_device_keep(const pwl_qgemm_call &call, size_t m, size_t n, size_t at, int64_t v)
{
    const pwl_qgemm_output &to = call.product.y;
    if (to.type == PWL_QGEMM_S8)
        static_cast<int8_t *>(to.data)[at] =
            pwl_qgemm_store_s8(v, int64_t{pwl_device_shift(call, m, n)} - to.n_y, to.zero_point);
    else
        static_cast<int32_t *>(to.data)[at] = pwl_qgemm_store_s32(v);
}

/* Puts y or v of a row of weights where it belongs in row m of Y; where gate and up are paired, theirs. */
template <class number>
__device__ void pwl_device_store(const pwl_qgemm_call &call, size_t m, size_t n, number y, number up = 0)
{
    const size_t row = m * call.product.y.stride;
    if (!call.table.memory)
        pwl_device_keep(call, m, n, row + n, y);
    else
        pwl_device_activate(call, m, n, row + (call.epilogue.as.gated ? n / 16 * 8 + n % 8 : n), y, up);
}

/* The same where lanes 8 apart have rows of weights 8 apart; for all lanes of a warp, of which some may be `outside`.
 */
template <class number>
__device__ void pwl_device_store_lanes(const pwl_qgemm_call &call, bool inside, size_t m, size_t n, number y)
{
    number up = 0;
    if (call.epilogue.as.gated) {
        up = __shfl_xor_sync(0xffffffff, y, 8);
        inside = inside && n % 16 < 8;
    }
    if (inside)
        pwl_device_store(call, m, n, y, up);
}

#endif
