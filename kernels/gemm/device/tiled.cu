/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products by tiles: 64 rows of weights and 64 of X go through shared memory, 32 columns at a time, decoded once for
 * all that need them; a thread has 4 x 4 elements of Y. Sums are in the order of the naive kernel, and have its bits.
 */
#include "launch.cuh"
#include "plain.cuh"

namespace
{

using namespace pwl;

constexpr unsigned threads = 256, side = 64, each = 4, apart = side / each; /* a thread's elements are so far apart */

/* A tile of both operands, columns first; odd so that a column's writes go to different banks. */
template <class T> struct stage {
    T w[PWL_BLOCK][side], x[PWL_BLOCK][side + 1];
    float w_scale[side], x_scale[side], x_sum[side];
};

/* Packed weights have rows of zeros up to a multiple of 128: rows of W beyond N may be read. */
template <class way>
__device__ void load(const pwl_qgemm_call &call, size_t m, size_t n, size_t block, stage<typename way::number> *s)
{
    const size_t column = block * PWL_BLOCK;
    for (unsigned i = threadIdx.x; i < side * PWL_BLOCK; i += threads) {
        const size_t row = n + i % side;
        s->w[i / side][i % side] = way::weight(call, row, column + i / side, way::unit(call, row, block));
    }
    for (unsigned i = threadIdx.x; i < side * PWL_BLOCK; i += threads) {
        const unsigned row = i / PWL_BLOCK, k = i % PWL_BLOCK;
        s->x[k][row] = m + row < call.product.m ? way::input(call, m + row, column + k) : 0;
    }
    if constexpr (way::scaled) {
        const unsigned row = threadIdx.x;
        if (row >= side)
            return;
        s->w_scale[row] = way::w_scale(call, n + row, block);
        if (m + row >= call.product.m)
            return;
        s->x_scale[row] = way::x_scale(call, m + row, block);
        s->x_sum[row] = way::x_sum(call, m + row, block);
    }
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
            sums[i / each][i % each] = plain::multiply_add(w[i % each], x[i / each], sums[i / each][i % each]);
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
            if constexpr (way::scaled) {
#pragma unroll
                for (unsigned i = 0; i < each * each; i++) {
                    const unsigned row = m_mine + i / each * apart, column = n_mine + i % each * apart;
                    way::end_block(s.w_scale[column], s.x_scale[row], s.x_sum[row], &sums[i / each][i % each],
                                   &scaled[i / each][i % each]);
                }
            }
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

} // namespace

int pwl_cuda_launch_qgemm_tiled(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const auto kernel = plain::way_of(&call->product, [](auto way) { return tiled<decltype(way)>; });
    return launch_grid(kernel, call, call->weights.n, side, side, dim3(threads), stream);
}
