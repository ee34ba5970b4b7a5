/* SPDX-License-Identifier: Apache-2.0 */
/* The epilogue of one element: from its complete sum to what Y holds, with or without an activation. */
#ifndef PWL_QGEMM_STORE_CUH
#define PWL_QGEMM_STORE_CUH

#include <cuda_runtime.h>

#include "gemm/launch.h"
#include "gemm/layout.h"
#include "gemm/store.h"
#include "map/evaluate.cuh"

/* y of a row of weights, of a sum in floats over 2^exponent; v, of a sum in INT8. */
__device__ inline float pwl_device_y(const pwl_qgemm_call &call, size_t n, float sum, int exponent)
{
    return pwl_qgemm_finish(sum, exponent, pwl_qgemm_bias_f32(&call.product, &call.epilogue.as, n));
}

__device__ inline int64_t pwl_device_y(const pwl_qgemm_call &call, size_t n, int32_t sum)
{
    return pwl_qgemm_with_bias(&call.product, &call.epilogue.as, n,
                               int64_t{sum} - int64_t{call.product.x.zero_point} * pwl_qgemm_row_sum(&call.weights, n));
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

__device__ inline void pwl_device_activate(const pwl_qgemm_call &call, size_t m, size_t n, size_t at, float y, float up)
{
    const int64_t q = pwl_device_value(call.table, pwl_qgemm_code_of_f32(&call.epilogue, y));
    pwl_qgemm_store_activated(&call.epilogue, &call.product.y, m, at, q, up);
}

__device__ inline void pwl_device_activate(const pwl_qgemm_call &call, size_t m, size_t n, size_t at, int64_t v,
                                           int64_t up)
{
    const pwl_qgemm_output &to = call.product.y;
    const int64_t q =
        pwl_device_value(call.table, pwl_qgemm_code_of_sum(&call.epilogue, v, pwl_device_shift(call, m, n)));
    const int32_t shift = pwl_device_shift(call, m, call.epilogue.as.gated ? n + 8 : n);
    pwl_qgemm_store_activated_sum(&call.epilogue, to.type, to.data, at, q, up, shift);
}

/* Not inlined: kernels that have many sums to a thread come here with each. */
template <class number>
__device__ __noinline__ void pwl_device_activate_apart(const pwl_qgemm_call &call, size_t m, size_t n, size_t at,
                                                       number y, number up)
{
    pwl_device_activate(call, m, n, at, y, up);
}

__device__ inline void pwl_device_keep(const pwl_qgemm_call &call, size_t m, size_t n, size_t at, float y)
{
    pwl_qgemm_store_real(&call.product.y, m, at, y);
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

/* Puts y or v of a row of weights where it belongs in row m of Y; where gate and up are paired, theirs. `apart`: with
 * an activation that is a function of its own. */
template <bool apart = true, class number>
__device__ void pwl_device_store(const pwl_qgemm_call &call, size_t m, size_t n, number y, number up = 0)
{
    const size_t row = m * call.product.y.stride;
    if (!call.table.memory)
        pwl_device_keep(call, m, n, row + n, y);
    else if (apart)
        pwl_device_activate_apart(call, m, n, row + (call.epilogue.as.gated ? n / 16 * 8 + n % 8 : n), y, up);
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
