/* SPDX-License-Identifier: Apache-2.0 */
/* Weights into the order of gemm/layout.h on a device, with the functions, and so the bits, of the host. */
#include <cuda_runtime.h>

#include "gemm/launch.h"

namespace
{

constexpr unsigned threads = 256, all = 0xffffffff;

/* The source, with what is known when a kernel is compiled. */
template <pwl_qgemm_format format, pwl_qgemm_from kind> __device__ pwl_qgemm_source known(pwl_qgemm_source from)
{
    from.format = format;
    from.from = kind;
    return from;
}

/*
 * A warp for a row: lanes take turns among its blocks. What is null is not told. Two blocks in a multiprocessor, here
 * and below: ptxas would else keep to fewer registers than floats need.
 */
template <pwl_qgemm_format format, pwl_qgemm_from kind>
__global__ void __launch_bounds__(threads, 2) rows(const __grid_constant__ pwl_qgemm_source source, size_t count,
                                                   pwl_qgemm_survey *found, int8_t *exponents, int32_t *sums)
{
    const pwl_qgemm_source from = known<format, kind>(source);
    const unsigned lane = threadIdx.x % 32;
    const size_t warps = size_t{gridDim.x} * (threads / 32);
    for (size_t row = size_t{blockIdx.x} * (threads / 32) + threadIdx.x / 32; row < count; row += warps) {
        const size_t blocks = row < from.n ? from.k / PWL_BLOCK : 0;
        pwl_qgemm_span span = pwl_qgemm_no_span();
        for (size_t b = lane; b < blocks; b += 32) {
            const pwl_qgemm_parts p = pwl_qgemm_parts_of(&from, row, b, 0);
            if (p.finite)
                span = pwl_qgemm_join(span, pwl_qgemm_span_of(&from, row, b, &p));
            else if (found)
                atomicMin(&found->bad, row * blocks + b);
        }
        for (unsigned step = 1; step < 32; step *= 2) {
            const pwl_qgemm_span other = {__shfl_xor_sync(all, span.high, step), __shfl_xor_sync(all, span.low, step)};
            span = pwl_qgemm_join(span, other);
        }
        const int e = blocks ? pwl_qgemm_exponent_of(&from, row, span) : 0;
        int32_t sum = 0;
        for (size_t b = lane; sums && b < blocks; b += 32) {
            const pwl_qgemm_parts p = pwl_qgemm_parts_of(&from, row, b, e);
            sum += pwl_qgemm_sum_of(&p);
        }
        for (unsigned step = 1; step < 32; step *= 2)
            sum += __shfl_xor_sync(all, sum, step);
        if (lane != 0)
            continue;
        if (found && e != 0)
            atomicMin(&found->row, static_cast<unsigned long long>(row));
        if (exponents)
            exponents[row] = static_cast<int8_t>(e);
        if (sums)
            sums[row] = sum;
    }
}

/* A thread for a block of rows r and r + 8. n_w is there already in ROWS8; the other formats' codes need no e. */
template <pwl_qgemm_format format, pwl_qgemm_from kind>
__global__ void __launch_bounds__(threads, 2)
    pieces(const __grid_constant__ pwl_qgemm_source source, const __grid_constant__ pwl_qgemm_weights to, size_t count)
{
    const pwl_qgemm_source from = known<format, kind>(source);
    const size_t blocks = pwl_qgemm_depth(from.k) * 2, step = size_t{gridDim.x} * threads;
    for (size_t i = size_t{blockIdx.x} * threads + threadIdx.x; i < count; i += step) {
        const size_t row = pwl_qgemm_pair_row(i / blocks), block = i % blocks;
        const pwl_qgemm_parts g = pwl_qgemm_parts_of(&from, row, block, pwl_qgemm_row_exponent(&to, row));
        const pwl_qgemm_parts g8 = pwl_qgemm_parts_of(&from, row + 8, block, pwl_qgemm_row_exponent(&to, row + 8));
        uint8_t *const piece = static_cast<uint8_t *>(const_cast<void *>(to.memory)) +
                               pwl_qgemm_piece_at(from.format, from.k, row, block * PWL_BLOCK);
        pwl_qgemm_put(from.format, piece, static_cast<unsigned>(row % PWL_QGEMM_ROWS), static_cast<unsigned>(block % 2),
                      &g, &g8);
    }
}

unsigned grid_of(size_t blocks)
{
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

typedef void rows_kernel(const pwl_qgemm_source source, size_t count, pwl_qgemm_survey *found, int8_t *exponents,
                         int32_t *sums);
typedef void pieces_kernel(const pwl_qgemm_source source, const pwl_qgemm_weights to, size_t count);

/*
 * Does nothing, after the packing: products read weights before the launch just before them has ended, and that is then
 * this one, which begins once the weights are there.
 */
__global__ void settle()
{
}

struct kernels {
    rows_kernel *rows;
    pieces_kernel *pieces;
};

template <pwl_qgemm_format format, pwl_qgemm_from kind> kernels kernels_for()
{
    return {rows<format, kind>, pieces<format, kind>};
}

kernels kernels_of(const pwl_qgemm_source *from)
{
    static const kernels of_blocks[] = {kernels_for<PWL_QGEMM_Q4_0, PWL_QGEMM_FROM_BLOCKS>(),
                                        kernels_for<PWL_QGEMM_Q8_0, PWL_QGEMM_FROM_BLOCKS>(),
                                        kernels_for<PWL_QGEMM_MXFP4, PWL_QGEMM_FROM_BLOCKS>()};
    static const kernels of_floats[] = {
        kernels_for<PWL_QGEMM_Q4_0, PWL_QGEMM_FROM_FLOATS>(), kernels_for<PWL_QGEMM_Q8_0, PWL_QGEMM_FROM_FLOATS>(),
        kernels_for<PWL_QGEMM_MXFP4, PWL_QGEMM_FROM_FLOATS>(), kernels_for<PWL_QGEMM_ROWS8, PWL_QGEMM_FROM_FLOATS>()};
    if (from->from == PWL_QGEMM_FROM_S8)
        return kernels_for<PWL_QGEMM_ROWS8, PWL_QGEMM_FROM_S8>();
    return (from->from == PWL_QGEMM_FROM_BLOCKS ? of_blocks : of_floats)[from->format];
}

int launch_rows(const pwl_qgemm_source *from, size_t count, pwl_qgemm_survey *found, int8_t *exponents, int32_t *sums,
                struct CUstream_st *stream)
{
    const kernels chosen = kernels_of(from);
    chosen.rows<<<grid_of((count - 1) / (threads / 32) + 1), threads, 0, stream>>>(*from, count, found, exponents,
                                                                                   sums);
    return cudaGetLastError();
}

} // namespace

int pwl_cuda_launch_qgemm_survey(const pwl_qgemm_source *from, pwl_qgemm_survey *found, struct CUstream_st *stream)
{
    return launch_rows(from, from->n, found, nullptr, nullptr, stream);
}

int pwl_cuda_launch_qgemm_pack(const pwl_qgemm_source *from, const pwl_qgemm_weights *to, struct CUstream_st *stream)
{
    char *const memory = static_cast<char *>(const_cast<void *>(to->memory));
    const size_t padded = pwl_qgemm_round_up(from->n, PWL_QGEMM_ROWS), count = padded * pwl_qgemm_depth(from->k);
    const kernels chosen = kernels_of(from);
    if (to->row_data) {
        int8_t *const exponents = reinterpret_cast<int8_t *>(memory + pwl_qgemm_row_exponent_at(to, 0));
        int32_t *const sums = from->format == PWL_QGEMM_ROWS8
                                  ? reinterpret_cast<int32_t *>(memory + pwl_qgemm_row_sum_at(to, 0))
                                  : nullptr;
        const int error = launch_rows(from, padded, nullptr, exponents, sums, stream);
        if (error != cudaSuccess)
            return error;
    }
    chosen.pieces<<<grid_of((count - 1) / threads + 1), threads, 0, stream>>>(*from, *to, count);
    settle<<<1, 1, 0, stream>>>();
    return cudaGetLastError();
}
