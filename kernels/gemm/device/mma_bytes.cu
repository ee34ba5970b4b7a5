/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W4A8, W8A8 and INT8 by tensor cores that multiply bytes, mma.m16n8k32. A thread block has 128 rows of weights and up
 * to 64 of X; each of its four warps 32 rows of weights and all of X, as in mma_halves.cuh. X lies in the order of
 * gemm/layout.h: a lane's 16 bytes are operand B of 64 columns and 8 rows. Sums of A8 are in the order of the naive
 * kernel, and have its bits: two operations on floats for each sum of a block, which mma does without.
 */
#include "epilogue.cuh"
#include "launch.cuh"
#include "mma_bytes.cuh"

namespace
{

using namespace pwl;
using mma::piece_bytes;
using mma::threads;
using mma::tiles;

constexpr unsigned stages = 4;
constexpr unsigned many = 8, few = 1; /* groups of 8 rows of X */

__host__ __device__ constexpr unsigned stage_bytes(pwl_qgemm_format format, unsigned groups)
{
    return bytes::x_bytes(groups) + piece_bytes(format);
}

__host__ __device__ constexpr unsigned shared_bytes(pwl_qgemm_format format, unsigned groups, unsigned table)
{
    const unsigned sums = mma::sums_bytes(groups) + table, all = stages * stage_bytes(format, groups);
    return all > sums ? all : sums;
}

static_assert(2 * shared_bytes(PWL_QGEMM_Q8_0, many, PWL_PLAN_IMAGE) <= 163 << 10,
              "two blocks in a multiprocessor of 8.0");

/* Starts to copy `bytes` that lie together, zeros in place of those from `present` on. Both are multiples of 16. */
template <unsigned bytes> __device__ void copy_run(uint32_t to, const uint8_t *from, size_t present)
{
#pragma unroll
    for (unsigned i = 0; i < bytes; i += threads * 16) {
        const unsigned at = i + threadIdx.x * 16;
        if (i + threads * 16 <= bytes || at < bytes)
            copy_async_if(at < present, to + at, from + at);
    }
}

/* Fills a stage with a piece, if there is such; a group of copies in any case. */
template <pwl_qgemm_format format, unsigned groups>
__device__ void load(const pwl_qgemm_call &call, size_t m, size_t n, uint32_t piece, uint32_t stage)
{
    const size_t m_all = call.product.m, k = call.weights.k, column = size_t{piece} * PWL_QGEMM_COLUMNS;
    const size_t rows = pwl_qgemm_round_up(m_all, PWL_QGEMM_TOKENS) - m;
    if (column < k) {
        copy_run<groups * 8 * bytes::x_code_bytes>(stage, call.bytes + pwl_qgemm_input_at(m_all, m, column),
                                                   rows * bytes::x_code_bytes);
        stage += groups * 8 * bytes::x_code_bytes;
        if (!pwl_qgemm_is_rows(format))
            copy_run<groups * 8 * bytes::x_scale_bytes>(
                stage, call.bytes + pwl_qgemm_input_scale_at(m_all, k, m, column), rows * bytes::x_scale_bytes);
        stage += groups * 8 * bytes::x_scale_bytes;
        copy_run<piece_bytes(format)>(
            stage, static_cast<const uint8_t *>(call.weights.memory) + pwl_qgemm_piece_at(format, k, n, column),
            piece_bytes(format));
    }
    close_group();
}

template <pwl_qgemm_format format, unsigned groups>
__global__ void __launch_bounds__(threads, 2) product(const __grid_constant__ pwl_qgemm_call call, uint32_t across)
{
    typedef std::conditional_t<pwl_qgemm_is_rows(format), int32_t, float> number;
    constexpr unsigned stage = stage_bytes(format, groups), piece_at = bytes::x_bytes(groups);
    extern __shared__ uint4 shared[];
    uint8_t *const memory = reinterpret_cast<uint8_t *>(shared);
    const uint32_t first = shared_address(memory), depth = static_cast<uint32_t>(pwl_qgemm_depth(call.weights.k));
    const size_t n = size_t{blockIdx.x % across} * PWL_QGEMM_ROWS, m = size_t{blockIdx.x / across} * groups * 8;
    number sums[tiles][groups][4] = {};
    bytes::operand<format> weights;
    bytes::codes<format> here;

#pragma unroll
    for (unsigned i = 0; i < stages - 1; i++)
        load<format, groups>(call, m, n, i, first + i * stage);
    for (uint32_t piece = 0, at = 0; piece < depth; piece++, at = at + 1 == stages ? 0 : at + 1) {
        wait_for_all_but<stages - 2>();
        __syncthreads(); /* the piece is there, and the one before it was used */
        load<format, groups>(call, m, n, piece + stages - 1, first + (at == 0 ? stages - 1 : at - 1) * stage);
        here.load(memory + at * stage + piece_at);
        weights.load(here);
        bytes::add<format, groups>(weights, memory + at * stage, groups, sums);
    }
    wait_for_all_but<0>();
    __syncthreads();

    mma::store_tile<false, number, groups>(call, m, n, memory, 0, sums);
}

template <pwl_qgemm_format format, unsigned groups> int launch(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return mma::launch<groups>(product<format, groups>, shared_bytes(format, groups, mma::table_bytes(call)), call,
                               stream);
}

template <pwl_qgemm_format format> int launch(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->product.m > few * 8 ? launch<format, many>(call, stream) : launch<format, few>(call, stream);
}

} // namespace

int pwl_cuda_launch_qgemm_mma_bytes(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->weights.format == PWL_QGEMM_Q4_0    ? launch<PWL_QGEMM_Q4_0>(call, stream)
           : call->weights.format == PWL_QGEMM_Q8_0  ? launch<PWL_QGEMM_Q8_0>(call, stream)
           : call->weights.format == PWL_QGEMM_ROWS8 ? launch<PWL_QGEMM_ROWS8>(call, stream)
                                                     : launch<PWL_QGEMM_ROWS4>(call, stream);
}
