/* SPDX-License-Identifier: Apache-2.0 */
/* Activations as the schemes take them, into the workspace. */
#include <cuda_runtime.h>

#include "block.h"
#include "qgemm_launch.h"
#include "qgemm_weight.h"

namespace
{

constexpr unsigned threads = 256, all = 0xffffffff;

/* A block for a row. The largest of finite magnitudes does not depend on the order. */
__global__ void __launch_bounds__(threads) exponents(const float *x, size_t m, size_t k, size_t stride, int32_t *f)
{
    __shared__ float largest[threads / 32];
    for (size_t row = blockIdx.x; row < m; row += gridDim.x) {
        float amax = 0;
        for (size_t c = threadIdx.x; c < k; c += threads) {
            const float v = pwl_magnitude(x[row * stride + c]);
            if (pwl_is_finite(v))
                amax = fmaxf(amax, v);
        }
        for (unsigned step = 1; step < 32; step *= 2)
            amax = fmaxf(amax, __shfl_xor_sync(all, amax, step));
        if (threadIdx.x % 32 == 0)
            largest[threadIdx.x / 32] = amax;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (unsigned i = 0; i < threads / 32; i++)
                amax = fmaxf(amax, largest[i]);
            f[row] = pwl_qgemm_input_exponent(amax);
        }
        __syncthreads();
    }
}

template <pwl_qgemm_type type> __device__ float element(const void *x, size_t at)
{
    if (type == PWL_QGEMM_F32)
        return static_cast<const float *>(x)[at];
    const uint16_t half = static_cast<const uint16_t *>(x)[at];
    return type == PWL_QGEMM_F16 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
}

/* A warp for a block of 32, a thread for an element. The document's sum is in order, from the first. */
template <pwl_qgemm_type type>
__global__ void __launch_bounds__(threads)
    quantise(pwl_rule rule, const void *x, size_t m, size_t blocks, size_t stride, pwl_block_q8_1 *q)
{
    const unsigned lane = threadIdx.x % 32;
    const size_t warps = size_t{gridDim.x} * (threads / 32);
    for (size_t i = size_t{blockIdx.x} * (threads / 32) + threadIdx.x / 32; i < m * blocks; i += warps) {
        const float v = element<type>(x, i / blocks * stride + i % blocks * PWL_BLOCK + lane);
        pwl_extent extent = {0, 0, __all_sync(all, pwl_is_finite(v))};
        float amax = extent.finite ? pwl_magnitude(v) : 0, sum_x = 0;
        int sum_q;
        for (unsigned step = 1; step < 32; step *= 2)
            amax = fmaxf(amax, __shfl_xor_sync(all, amax, step));
        extent.amax = amax; /* Q8_1 does not ask which element it was */
        const pwl_scale scale = pwl_scale_of(PWL_Q8_1, rule, extent);
        const int code = pwl_code_of(PWL_Q8_1, rule, scale, extent.finite ? v : 0);
        sum_q = code;
        for (unsigned step = 1; step < 32; step *= 2)
            sum_q += __shfl_xor_sync(all, sum_q, step);
        if (rule == PWL_RULE_DOCUMENT) {
            for (unsigned l = 0; l < 32; l++)
                sum_x += __shfl_sync(all, v, l);
        }
        q[i].qs[lane] = static_cast<int8_t>(code);
        if (lane == 0) {
            q[i].d = scale.stored;
            q[i].s = pwl_sum_of(rule, extent, scale, sum_q, sum_x);
        }
    }
}

/* Two columns a thread. */
template <bool is_float>
__global__ void __launch_bounds__(threads)
    halve(const void *x, size_t m, size_t k, size_t stride, const int32_t *f, uint16_t *h)
{
    const size_t step = size_t{gridDim.x} * threads;
    for (size_t i = size_t{blockIdx.x} * threads + threadIdx.x; i < m * (k / 2); i += step) {
        const size_t row = i / (k / 2), at = row * stride + i % (k / 2) * 2;
        uint16_t pair[2];
        for (unsigned j = 0; j < 2; j++) {
            if constexpr (is_float)
                pair[j] = pwl_f16_from_f32(__fmul_rn(static_cast<const float *>(x)[at + j], ldexpf(1, -f[row])));
            else
                pair[j] = static_cast<const uint16_t *>(x)[at + j];
        }
        reinterpret_cast<uint32_t *>(h)[i] = static_cast<uint32_t>(pair[1]) << 16 | pair[0];
    }
}

unsigned grid_of(size_t blocks)
{
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

} // namespace

int pwl_cuda_launch_qgemm_exponents(const float *x, size_t m, size_t k, size_t stride, int32_t *f,
                                    struct CUstream_st *stream)
{
    exponents<<<grid_of(m), threads, 0, stream>>>(x, m, k, stride, f);
    return cudaGetLastError();
}

int pwl_cuda_launch_qgemm_blocks(const pwl_qgemm_call *call, pwl_block_q8_1 *q, struct CUstream_st *stream)
{
    typedef void kernel(pwl_rule rule, const void *x, size_t m, size_t blocks, size_t stride, pwl_block_q8_1 *q);
    static kernel *const kernels[] = {quantise<PWL_QGEMM_F32>, quantise<PWL_QGEMM_F16>, quantise<PWL_QGEMM_BF16>};
    const pwl_qgemm_product *const product = &call->product;
    const size_t blocks = call->weights.k / PWL_BLOCK;
    const pwl_rule rule = product->sums == PWL_QGEMM_SUMS_STORED ? PWL_RULE_DOCUMENT : PWL_RULE_DEFAULT;
    kernels[product->x.type]<<<grid_of((product->m * blocks - 1) / (threads / 32) + 1), threads, 0, stream>>>(
        rule, product->x.data, product->m, blocks, product->x.stride, q);
    return cudaGetLastError();
}

int pwl_cuda_launch_qgemm_halves(const pwl_qgemm_call *call, uint16_t *h, struct CUstream_st *stream)
{
    const pwl_qgemm_product *const product = &call->product;
    const size_t m = product->m, k = call->weights.k;
    const unsigned grid = grid_of((m * (k / 2) - 1) / threads + 1);
    if (product->x.type == PWL_QGEMM_F32)
        halve<true><<<grid, threads, 0, stream>>>(product->x.data, m, k, product->x.stride, call->f, h);
    else
        halve<false><<<grid, threads, 0, stream>>>(product->x.data, m, k, product->x.stride, nullptr, h);
    return cudaGetLastError();
}
