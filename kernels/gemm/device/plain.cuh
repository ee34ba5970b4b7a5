/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the plain kernels, naive and tiled, take a product apart into numbers, in ways for the kinds of schemes. A thread
 * sums products of `number`s; at the end of a block of 32 columns, the sum of A8 moves on to another one, in floats.
 *
 *   unit()       what the weights of a block have in common
 *   weight()     one of them
 *   input()      an element of X
 *   w_scale(), x_scale(), x_sum()     what end_block() takes, where the way is `scaled`
 *   y()          of the complete sums, or v of INT8
 */
#ifndef PWL_QGEMM_PLAIN_CUH
#define PWL_QGEMM_PLAIN_CUH

#include "gemm/fp8.h"
#include "gemm/input.h"
#include "gemm/layout.h"
#include "numbers.cuh"
#include "store.cuh"

namespace pwl
{
namespace plain
{

__device__ inline float multiply_add(float a, float b, float c)
{
    return fmaf(a, b, c);
}

__device__ inline int multiply_add(int a, int b, int c)
{
    return a * b + c;
}

/* W4A16, W8A16, MXFP4 x A16: halves as floats. */
template <pwl_qgemm_type type> struct halves {
    typedef float number;
    static constexpr bool scaled = false;

    static __device__ float unit(const pwl_qgemm_call &call, size_t n, size_t block)
    {
        return pwl_device_unit(call.weights.format, pwl_qgemm_scale(&call.weights, n, block),
                               pwl_qgemm_row_exponent(&call.weights, n));
    }

    static __device__ float weight(const pwl_qgemm_call &call, size_t n, size_t column, float unit)
    {
        const float q = pwl_device_code(call.weights.format, pwl_qgemm_code(&call.weights, n, column));
        return pwl_device_round<type == PWL_QGEMM_BF16>(q * unit);
    }

    static __device__ int exponent(const pwl_qgemm_call &call, size_t m)
    {
        return type == PWL_QGEMM_F32 ? call.f[m] : 0;
    }

    static __device__ float input(const pwl_qgemm_call &call, size_t m, size_t column)
    {
        return pwl_device_element<type>(call.product.x.data, m * call.product.x.stride + column,
                                        pwl_device_power(-exponent(call, m)));
    }

    static __device__ float y(const pwl_qgemm_call &call, size_t m, size_t n, float sum, float)
    {
        return pwl_device_y(call, n, sum, pwl_qgemm_row_exponent(&call.weights, n) + exponent(call, m));
    }
};

/* W4A8 and W8A8; `stored`: with the s of Q8_1, for codes that count from 0. */
template <bool stored> struct bytes {
    typedef int number;
    static constexpr bool scaled = true;

    /* What codes count from. */
    static __device__ int unit(const pwl_qgemm_call &call, size_t, size_t)
    {
        return call.weights.format == PWL_QGEMM_Q4_0 && !stored ? 8 : 0;
    }

    static __device__ int weight(const pwl_qgemm_call &call, size_t n, size_t column, int zero)
    {
        return pwl_qgemm_code(&call.weights, n, column) - zero;
    }

    static __device__ const pwl_block_q8_1 &block_of_x(const pwl_qgemm_call &call, size_t m, size_t block)
    {
        return call.q[m * call.q_stride + block];
    }

    static __device__ int input(const pwl_qgemm_call &call, size_t m, size_t column)
    {
        return block_of_x(call, m, column / PWL_BLOCK).qs[column % PWL_BLOCK];
    }

    static __device__ float w_scale(const pwl_qgemm_call &call, size_t n, size_t block)
    {
        return pwl_f32_from_f16(pwl_qgemm_scale(&call.weights, n, block));
    }

    static __device__ float x_scale(const pwl_qgemm_call &call, size_t m, size_t block)
    {
        return pwl_f32_from_f16(block_of_x(call, m, block).d);
    }

    static __device__ float x_sum(const pwl_qgemm_call &call, size_t m, size_t block)
    {
        return stored ? pwl_f32_from_f16(block_of_x(call, m, block).s) : 0;
    }

    static __device__ void end_block(float w_scale, float x_scale, float x_sum, int *block, float *sum)
    {
        *sum = pwl_device_add_block<stored>(w_scale, x_scale, x_sum, *block, *sum);
        *block = 0;
    }

    static __device__ float y(const pwl_qgemm_call &call, size_t, size_t n, int, float sum)
    {
        return pwl_device_y(call, n, sum, 0);
    }
};

/* INT8 */
struct integers {
    typedef int number;
    static constexpr bool scaled = false;

    static __device__ int unit(const pwl_qgemm_call &, size_t, size_t)
    {
        return 0;
    }

    static __device__ int weight(const pwl_qgemm_call &call, size_t n, size_t column, int)
    {
        return pwl_qgemm_code(&call.weights, n, column);
    }

    static __device__ int input(const pwl_qgemm_call &call, size_t m, size_t column)
    {
        return static_cast<const int8_t *>(call.product.x.data)[m * call.product.x.stride + column];
    }

    static __device__ int64_t y(const pwl_qgemm_call &call, size_t, size_t n, int sum, float)
    {
        return pwl_device_y(call, n, sum);
    }
};

/* FP8, MXFP4 x FP8 */
struct e4m3 {
    typedef float number;
    static constexpr bool scaled = false;

    static __device__ int unit(const pwl_qgemm_call &, size_t, size_t)
    {
        return 0;
    }

    static __device__ float weight(const pwl_qgemm_call &call, size_t n, size_t column, int)
    {
        return pwl_f32_from_e4m3(pwl_qgemm_weight_e4m3(&call.weights, n, column));
    }

    static __device__ float input(const pwl_qgemm_call &call, size_t m, size_t column)
    {
        return pwl_f32_from_e4m3(static_cast<const uint8_t *>(call.product.x.data)[m * call.product.x.stride + column]);
    }

    static __device__ float y(const pwl_qgemm_call &call, size_t m, size_t n, float sum, float)
    {
        return fmaf(sum * pwl_qgemm_row_scale(&call.weights, n), call.product.x.scale[m],
                    pwl_qgemm_bias_f32(&call.product, &call.epilogue.as, n));
    }
};

/* f(way()) of a product. */
template <typename function> auto way_of(const pwl_qgemm_product *product, function f)
{
    if (product->scheme == PWL_QGEMM_INT8)
        return f(integers());
    if (pwl_qgemm_is_fp8(product))
        return f(e4m3());
    if (product->scheme == PWL_QGEMM_W4A8 || product->scheme == PWL_QGEMM_W8A8)
        return product->sums == PWL_QGEMM_SUMS_STORED ? f(bytes<true>()) : f(bytes<false>());
    return product->x.type == PWL_QGEMM_F32   ? f(halves<PWL_QGEMM_F32>())
           : product->x.type == PWL_QGEMM_F16 ? f(halves<PWL_QGEMM_F16>())
                                              : f(halves<PWL_QGEMM_BF16>());
}

} // namespace plain
} // namespace pwl

#endif
