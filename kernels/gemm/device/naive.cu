/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products as plainly as a device can have them: a thread for each element of Y goes along K, code by code. Every
 * scheme and type; what faster kernels are compared with.
 */
#include "store.cuh"

namespace
{

constexpr unsigned across = 32, down = 8; /* elements of a thread block, along N and along M */

/* W4A16, W8A16, MXFP4 x A16 */
template <pwl_qgemm_type type> struct halves {
    static __device__ float compute(const pwl_qgemm_call &call, size_t m, size_t n)
    {
        const pwl_qgemm_product &p = call.product;
        const pwl_qgemm_format format = call.weights.format;
        const int e = pwl_qgemm_row_exponent(&call.weights, n), f = type == PWL_QGEMM_F32 ? call.f[m] : 0;
        float sum = 0;
        for (size_t c = 0; c < call.weights.k; c += PWL_BLOCK) {
            const float unit = pwl_device_unit(format, pwl_qgemm_scale(&call.weights, n, c / PWL_BLOCK), e);
            for (size_t i = c; i < c + PWL_BLOCK; i++) {
                const float q = pwl_device_code(format, pwl_qgemm_code(&call.weights, n, i));
                const float x = pwl_device_element<type>(p.x.data, m * p.x.stride + i, pwl_device_power(-f));
                sum = fmaf(pwl_device_round<type == PWL_QGEMM_BF16>(q * unit), x, sum);
            }
        }
        return pwl_device_y(call, n, sum, e + f);
    }
};

/* W4A8 and W8A8; `stored`: with the s of Q8_1, for codes that count from 0. */
template <bool stored> struct bytes {
    static __device__ float compute(const pwl_qgemm_call &call, size_t m, size_t n)
    {
        const int zero = call.weights.format == PWL_QGEMM_Q4_0 && !stored ? 8 : 0;
        float sum = 0;
        for (size_t b = 0; b < call.weights.k / PWL_BLOCK; b++) {
            const pwl_block_q8_1 *const q = call.q + m * call.q_stride + b;
            const float d_w = pwl_f32_from_f16(pwl_qgemm_scale(&call.weights, n, b)), d_x = pwl_f32_from_f16(q->d);
            int block = 0;
            for (size_t i = 0; i < PWL_BLOCK; i++)
                block += (pwl_qgemm_code(&call.weights, n, b * PWL_BLOCK + i) - zero) * q->qs[i];
            if (stored)
                sum = pwl_device_add_stored(d_w, d_x, block, pwl_f32_from_f16(q->s), sum);
            else
                sum = fmaf(d_w * d_x, static_cast<float>(block), sum);
        }
        return pwl_device_y(call, n, sum, 0);
    }
};

struct integers {
    static __device__ int64_t compute(const pwl_qgemm_call &call, size_t m, size_t n)
    {
        const pwl_qgemm_product &p = call.product;
        const int8_t *const x = static_cast<const int8_t *>(p.x.data) + m * p.x.stride;
        int32_t sum = 0;
        for (size_t c = 0; c < call.weights.k; c++)
            sum += pwl_qgemm_code(&call.weights, n, c) * x[c];
        return pwl_device_y(call, n, sum);
    }
};

/* Two blocks in a multiprocessor: ptxas would else keep to fewer registers than gate and up need. */
template <class way>
__global__ void __launch_bounds__(across *down, 2) naive(const __grid_constant__ pwl_qgemm_call call)
{
    const bool gated = call.epilogue.as.gated;
    const size_t column = size_t{blockIdx.x} * across + threadIdx.x, n = gated ? pwl_qgemm_gate_row(column) : column;
    if (n >= call.weights.n)
        return;
    for (size_t m = size_t{blockIdx.y} * down + threadIdx.y; m < call.product.m; m += size_t{gridDim.y} * down) {
        const auto y = way::compute(call, m, n);
        pwl_device_store(call, m, n, y, gated ? way::compute(call, m, n + 8) : decltype(y){});
    }
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
    const size_t n = pwl_qgemm_columns(call->weights.n, call->epilogue.as.gated);
    const size_t columns = (n - 1) / across + 1, rows = (call->product.m - 1) / down + 1;
    if (columns > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(rows < 65535 ? rows : 65535));
    kernel_of(&call->product)<<<grid, dim3(across, down), 0, stream>>>(*call);
    return cudaGetLastError();
}
