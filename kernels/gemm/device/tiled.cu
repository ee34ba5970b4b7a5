/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products by tiles: 64 rows of weights and 64 of X go through shared memory, 32 columns at a time, decoded once for
 * all that need them; a thread has 4 x 4 elements of Y. Sums are in the order of the naive kernel, and have its bits.
 */
#include "store.cuh"

namespace
{

constexpr unsigned threads = 256, side = 64, each = 4, apart = side / each; /* a thread's elements are so far apart */

/* A tile of both operands, columns first; odd so that a column's writes go to different banks. */
template <class T> struct stage {
    T w[PWL_BLOCK][side], x[PWL_BLOCK][side + 1];
    float w_scale[side], x_scale[side], x_sum[side];
};

__device__ float multiply_add(float a, float b, float c)
{
    return fmaf(a, b, c);
}

__device__ int multiply_add(int a, int b, int c)
{
    return a * b + c;
}

/*
 * Ways to take the operands apart into numbers; a thread sums their products. At the end of a block the sum may move on
 * to another one, in floats.
 */

/* A16: halves as floats. */
template <pwl_qgemm_type type> struct halves {
    typedef float number;

    static __device__ float weight(const pwl_qgemm_call &call, size_t n, size_t column)
    {
        const pwl_qgemm_format format = call.weights.format;
        const float unit = pwl_device_unit(format, pwl_qgemm_scale(&call.weights, n, column / PWL_BLOCK),
                                           pwl_qgemm_row_exponent(&call.weights, n));
        const float q = pwl_device_code(format, pwl_qgemm_code(&call.weights, n, column));
        return pwl_device_round<type == PWL_QGEMM_BF16>(q * unit);
    }
    static __device__ float input(const pwl_qgemm_call &call, size_t m, size_t column)
    {
        const float unit = type == PWL_QGEMM_F32 ? pwl_device_power(-call.f[m]) : 1;
        return pwl_device_element<type>(call.product.x.data, m * call.product.x.stride + column, unit);
    }
    static __device__ void load_scales(const pwl_qgemm_call &, size_t, size_t, size_t, unsigned, stage<float> *)
    {
    }
    static __device__ void end_block(const stage<float> &, unsigned, unsigned, float *, float *)
    {
    }
    static __device__ float y(const pwl_qgemm_call &call, size_t m, size_t n, float sum, float)
    {
        const int f = type == PWL_QGEMM_F32 ? call.f[m] : 0;
        return pwl_device_y(call, n, sum, pwl_qgemm_row_exponent(&call.weights, n) + f);
    }
};

/* A8; `stored`: with the s of Q8_1, for codes that count from 0. */
template <bool stored> struct bytes {
    typedef int number;

    static __device__ int weight(const pwl_qgemm_call &call, size_t n, size_t column)
    {
        const int zero = call.weights.format == PWL_QGEMM_Q4_0 && !stored ? 8 : 0;
        return pwl_qgemm_code(&call.weights, n, column) - zero;
    }
    static __device__ int input(const pwl_qgemm_call &call, size_t m, size_t column)
    {
        return call.q[m * call.q_stride + column / PWL_BLOCK].qs[column % PWL_BLOCK];
    }
    /* The thread's row of each operand; there may be no such row of X. */
    static __device__ void load_scales(const pwl_qgemm_call &call, size_t m, size_t n, size_t block, unsigned row,
                                       stage<int> *s)
    {
        s->w_scale[row] = pwl_f32_from_f16(pwl_qgemm_scale(&call.weights, n + row, block));
        if (m + row >= call.product.m)
            return;
        const pwl_block_q8_1 *const q = call.q + (m + row) * call.q_stride + block;
        s->x_scale[row] = pwl_f32_from_f16(q->d);
        if (stored)
            s->x_sum[row] = pwl_f32_from_f16(q->s);
    }
    static __device__ void end_block(const stage<int> &s, unsigned m, unsigned n, int *block, float *sum)
    {
        if (stored)
            *sum = pwl_device_add_stored(s.w_scale[n], s.x_scale[m], *block, s.x_sum[m], *sum);
        else
            *sum = fmaf(s.w_scale[n] * s.x_scale[m], static_cast<float>(*block), *sum);
        *block = 0;
    }
    static __device__ float y(const pwl_qgemm_call &call, size_t, size_t n, int, float sum)
    {
        return pwl_device_y(call, n, sum, 0);
    }
};

struct integers {
    typedef int number;

    static __device__ int weight(const pwl_qgemm_call &call, size_t n, size_t column)
    {
        return pwl_qgemm_code(&call.weights, n, column);
    }
    static __device__ int input(const pwl_qgemm_call &call, size_t m, size_t column)
    {
        return static_cast<const int8_t *>(call.product.x.data)[m * call.product.x.stride + column];
    }
    static __device__ void load_scales(const pwl_qgemm_call &, size_t, size_t, size_t, unsigned, stage<int> *)
    {
    }
    static __device__ void end_block(const stage<int> &, unsigned, unsigned, int *, float *)
    {
    }
    static __device__ int64_t y(const pwl_qgemm_call &call, size_t, size_t n, int sum, float)
    {
        return pwl_device_y(call, n, sum);
    }
};

/* Packed weights have rows of zeros up to a multiple of 128: rows of W beyond N may be read. */
template <class way>
__device__ void load(const pwl_qgemm_call &call, size_t m, size_t n, size_t block, stage<typename way::number> *s)
{
    const size_t column = block * PWL_BLOCK;
    for (unsigned i = threadIdx.x; i < side * PWL_BLOCK; i += threads)
        s->w[i / side][i % side] = way::weight(call, n + i % side, column + i / side);
    for (unsigned i = threadIdx.x; i < side * PWL_BLOCK; i += threads) {
        const unsigned row = i / PWL_BLOCK, k = i % PWL_BLOCK;
        s->x[k][row] = m + row < call.product.m ? way::input(call, m + row, column + k) : 0;
    }
    if (threadIdx.x < side)
        way::load_scales(call, m, n, block, threadIdx.x, s);
}

template <class number>
__device__ void add_block(const stage<number> &s, unsigned m, unsigned n, number (&sums)[each][each])
{
#pragma unroll 8
    for (unsigned k = 0; k < PWL_BLOCK; k++) {
        number w[each], x[each];
#pragma unroll
        for (unsigned i = 0; i < each; i++) {
            w[i] = s.w[k][n + i * apart];
            x[i] = s.x[k][m + i * apart];
        }
#pragma unroll
        for (unsigned i = 0; i < each * each; i++)
            sums[i / each][i % each] = multiply_add(w[i % each], x[i / each], sums[i / each][i % each]);
    }
}

/* Two blocks in a multiprocessor: for sm_120, ptxas would else keep to fewer registers than INT8's stores need. */
template <class way> __global__ void __launch_bounds__(threads, 2) tiled(const __grid_constant__ pwl_qgemm_call call)
{
    __shared__ stage<typename way::number> s;
    const size_t n = size_t{blockIdx.x} * side, blocks = call.weights.k / PWL_BLOCK;
    const unsigned n_mine = threadIdx.x % apart, m_mine = threadIdx.x / apart;
    for (size_t m = size_t{blockIdx.y} * side; m < call.product.m; m += size_t{gridDim.y} * side) {
        typename way::number sums[each][each] = {};
        float scaled[each][each] = {};
        for (size_t b = 0; b < blocks; b++) {
            __syncthreads(); /* the last block has been used */
            load<way>(call, m, n, b, &s);
            __syncthreads();
            add_block(s, m_mine, n_mine, sums);
#pragma unroll
            for (unsigned i = 0; i < each * each; i++)
                way::end_block(s, m_mine + i / each * apart, n_mine + i % each * apart, &sums[i / each][i % each],
                               &scaled[i / each][i % each]);
        }
#pragma unroll
        for (unsigned i = 0; i < each * each; i++) {
            const size_t row = m + m_mine + i / each * apart, column = n + n_mine + i % each * apart;
            const bool inside = row < call.product.m && column < call.weights.n;
            decltype(way::y(call, row, column, {}, {})) y = 0;
            if (inside)
                y = way::y(call, row, column, sums[i / each][i % each], scaled[i / each][i % each]);
            pwl_device_store_lanes(call, inside, row, column, y);
        }
    }
}

typedef void kernel(const pwl_qgemm_call call);

kernel *kernel_of(const pwl_qgemm_product *product)
{
    static kernel *const of_halves[] = {tiled<halves<PWL_QGEMM_F32>>, tiled<halves<PWL_QGEMM_F16>>,
                                        tiled<halves<PWL_QGEMM_BF16>>};
    if (product->scheme == PWL_QGEMM_INT8)
        return tiled<integers>;
    if (product->scheme == PWL_QGEMM_W4A8 || product->scheme == PWL_QGEMM_W8A8)
        return product->sums == PWL_QGEMM_SUMS_STORED ? tiled<bytes<true>> : tiled<bytes<false>>;
    return of_halves[product->x.type];
}

} // namespace

int pwl_cuda_launch_qgemm_tiled(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const size_t columns = (call->weights.n - 1) / side + 1, rows = (call->product.m - 1) / side + 1;
    if (columns > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(rows < 65535 ? rows : 65535));
    kernel_of(&call->product)<<<grid, threads, 0, stream>>>(*call);
    return cudaGetLastError();
}
