/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products as plainly as a device can have them: a thread for each element of Y goes along K, code by code. Every
 * scheme and type; what faster kernels are compared with.
 */
#include <cuda_runtime.h>

#include "block.h"
#include "qgemm_launch.h"
#include "qgemm_layout.h"
#include "qgemm_store.h"

namespace
{

constexpr unsigned across = 32, down = 8; /* elements of a thread block, along N and along M */

__device__ float code_value(pwl_qgemm_format format, int code)
{
    if (format == PWL_QGEMM_MXFP4)
        return pwl_value_of(PWL_MXFP4, 1, code);
    return static_cast<float>(format == PWL_QGEMM_Q4_0 ? code - 8 : code);
}

/*
 * 2^-e times a block's scale: a float, of at most 11 bits, so that its product with a code is exact. 2^(s - e) of MXFP4
 * is at most 2 but for blocks of zeros; below 2^-149, where it is 0, every weight is too.
 */
__device__ float unit_of(pwl_qgemm_format format, uint16_t scale, int e)
{
    if (format == PWL_QGEMM_MXFP4)
        return ldexpf(1, min(scale - 127 - e, 1));
    return ldexpf(pwl_f32_from_f16(scale), -e);
}

template <bool bf16> __device__ float rounded(float v)
{
    return bf16 ? pwl_f32_from_bf16(pwl_bf16_from_f32(v)) : pwl_f32_from_f16(pwl_f16_from_f32(v));
}

/* An element of X over 2^f. Going up this is exact, and where it is not, far down, the result is 0. */
template <pwl_qgemm_type type> __device__ float element(const void *x, size_t at, float unit)
{
    if (type == PWL_QGEMM_F32)
        return rounded<false>(__fmul_rn(static_cast<const float *>(x)[at], unit));
    const uint16_t half = static_cast<const uint16_t *>(x)[at];
    return type == PWL_QGEMM_F16 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
}

/* 2^n for n in -126..127 */
__device__ float power(int n)
{
    return pwl_f32_of_bits(static_cast<uint32_t>(127 + n) << 23);
}

/* W4A16, W8A16, MXFP4 x A16 */
template <pwl_qgemm_type type> struct halves {
    static __device__ void compute(const pwl_qgemm_call &call, size_t m, size_t n)
    {
        const pwl_qgemm_product &p = call.product;
        const pwl_qgemm_format format = call.weights.format;
        const int e = pwl_qgemm_row_exponent(&call.weights, n), f = type == PWL_QGEMM_F32 ? call.f[m] : 0;
        float sum = 0;
        for (size_t c = 0; c < call.weights.k; c += PWL_BLOCK) {
            const float unit = unit_of(format, pwl_qgemm_scale(&call.weights, n, c / PWL_BLOCK), e);
            for (size_t i = c; i < c + PWL_BLOCK; i++) {
                const float q = code_value(format, pwl_qgemm_code(&call.weights, n, i));
                const float x = element<type>(p.x.data, m * p.x.stride + i, power(-f));
                sum = fmaf(rounded<type == PWL_QGEMM_BF16>(q * unit), x, sum);
            }
        }
        const float bias = p.bias ? static_cast<const float *>(p.bias)[n] : 0;
        pwl_qgemm_store(p.y.type, p.y.data, m * p.y.stride + n, pwl_qgemm_finish(sum, e + f, bias));
    }
};

/* W4A8 and W8A8; `stored`: with the s of Q8_1, for codes that count from 0. */
template <bool stored> struct bytes {
    static __device__ void compute(const pwl_qgemm_call &call, size_t m, size_t n)
    {
        const pwl_qgemm_product &p = call.product;
        const int zero = call.weights.format == PWL_QGEMM_Q4_0 && !stored ? 8 : 0;
        float sum = 0;
        for (size_t b = 0; b < call.weights.k / PWL_BLOCK; b++) {
            const pwl_block_q8_1 *const q = call.q + m * call.q_stride + b;
            const float d_w = pwl_f32_from_f16(pwl_qgemm_scale(&call.weights, n, b)), d_x = pwl_f32_from_f16(q->d);
            int block = 0;
            for (size_t i = 0; i < PWL_BLOCK; i++)
                block += (pwl_qgemm_code(&call.weights, n, b * PWL_BLOCK + i) - zero) * q->qs[i];
            if (stored)
                sum += d_w * (d_x * static_cast<float>(block) - 8 * pwl_f32_from_f16(q->s));
            else
                sum = fmaf(d_w * d_x, static_cast<float>(block), sum);
        }
        const float bias = p.bias ? static_cast<const float *>(p.bias)[n] : 0;
        pwl_qgemm_store(p.y.type, p.y.data, m * p.y.stride + n, pwl_qgemm_finish(sum, 0, bias));
    }
};

struct integers {
    static __device__ void compute(const pwl_qgemm_call &call, size_t m, size_t n)
    {
        const pwl_qgemm_product &p = call.product;
        const int8_t *const x = static_cast<const int8_t *>(p.x.data) + m * p.x.stride;
        const size_t at = m * p.y.stride + n;
        int32_t sum = 0;
        for (size_t c = 0; c < call.weights.k; c++)
            sum += pwl_qgemm_code(&call.weights, n, c) * x[c];
        const int32_t bias = p.bias ? static_cast<const int32_t *>(p.bias)[n] : 0;
        const int64_t v = int64_t{sum} - int64_t{p.x.zero_point} * pwl_qgemm_row_sum(&call.weights, n) + int64_t{bias};
        const int64_t shift = int64_t{pwl_qgemm_row_exponent(&call.weights, n)} + p.x.n_x[m] - p.y.n_y;
        if (p.y.type == PWL_QGEMM_S8)
            static_cast<int8_t *>(p.y.data)[at] = pwl_qgemm_store_s8(v, shift, p.y.zero_point);
        else
            static_cast<int32_t *>(p.y.data)[at] = pwl_qgemm_store_s32(v);
    }
};

template <class way> __global__ void __launch_bounds__(across *down) naive(const __grid_constant__ pwl_qgemm_call call)
{
    const size_t n = size_t{blockIdx.x} * across + threadIdx.x;
    if (n >= call.weights.n)
        return;
    for (size_t m = size_t{blockIdx.y} * down + threadIdx.y; m < call.product.m; m += size_t{gridDim.y} * down)
        way::compute(call, m, n);
}

typedef void kernel(const pwl_qgemm_call call);

kernel *kernel_of(const pwl_qgemm_product *product)
{
    static kernel *const of_halves[] = {naive<halves<PWL_QGEMM_F32>>, naive<halves<PWL_QGEMM_F16>>,
                                        naive<halves<PWL_QGEMM_BF16>>};
    if (product->scheme == PWL_QGEMM_INT8)
        return naive<integers>;
    if (product->scheme == PWL_QGEMM_W4A8 || product->scheme == PWL_QGEMM_W8A8)
        return product->sums == PWL_QGEMM_SUMS_STORED ? naive<bytes<true>> : naive<bytes<false>>;
    return of_halves[product->x.type];
}

} // namespace

int pwl_cuda_launch_qgemm_naive(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const size_t columns = (call->weights.n - 1) / across + 1, rows = (call->product.m - 1) / down + 1;
    if (columns > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(rows < 65535 ? rows : 65535));
    kernel_of(&call->product)<<<grid, dim3(across, down), 0, stream>>>(*call);
    return cudaGetLastError();
}
