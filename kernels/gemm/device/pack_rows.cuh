/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to rows of packed weights: exponents, of what their blocks or floats call for, and sums. */
#ifndef PWL_QGEMM_PACK_ROWS_CUH
#define PWL_QGEMM_PACK_ROWS_CUH

#include "blocks/lanes.cuh"
#include "gemm/launch.h"

namespace pwl
{
namespace packing
{

constexpr unsigned threads = 256, warps = threads / 32, tile_rows = PWL_QGEMM_TILE_ROWS;

/* The source, with what is known when a kernel is compiled. */
template <pwl_qgemm_format format, pwl_qgemm_from kind> __device__ pwl_qgemm_source known(pwl_qgemm_source from)
{
    from.format = format;
    from.from = kind;
    return from;
}

/* What a row's exponent depends on, by the lanes of a warp, which take turns among its blocks; *bad = the first block
 * that is not finite, or `blocks`. */
__device__ inline pwl_qgemm_span span_of_row(const pwl_qgemm_source &from, size_t row, size_t blocks, size_t *bad)
{
    const unsigned lane = threadIdx.x % 32;
    pwl_qgemm_span span = pwl_qgemm_no_span();
    *bad = blocks;
    for (size_t b = lane; b < blocks; b += 32) {
        const pwl_qgemm_block block = pwl_qgemm_block_at(&from, row, b, 0);
        if (block.finite)
            span = pwl_qgemm_join(span, pwl_qgemm_span_at(&from, row, b, &block));
        else
            *bad = min(*bad, b);
    }
    return span;
}

/* Of floats in formats of rows: a lane has an element of each block. */
__device__ inline pwl_qgemm_span span_of_floats(const pwl_qgemm_source &from, size_t row, size_t blocks, size_t *bad)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(&from, row);
    const size_t first = origin.row * from.k + threadIdx.x % 32;
    pwl_qgemm_span span = pwl_qgemm_no_span();
    *bad = blocks;
#pragma unroll 8
    for (size_t b = 0; b < blocks; b++) {
        const float v = pwl_qgemm_source_element(&from, origin.data, first + b * PWL_BLOCK);
        const bool finite = pwl_is_finite(v);
        span.high = max(span.high, finite ? static_cast<int32_t>(pwl_bits_of_f32(pwl_magnitude(v))) : 0);
        *bad = finite ? *bad : min(*bad, b);
    }
    return span;
}

/* n_w of a row of finite floats in ROWS4, n being that of its largest; all lanes of a warp. */
__device__ inline int shift_by_errors(const pwl_qgemm_source &from, size_t row, size_t blocks, int n)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(&from, row);
    const size_t first = origin.row * from.k + threadIdx.x % 32;
    pwl_qgemm_errors_s4 errors = {};
#pragma unroll 4
    for (size_t b = 0; b < blocks; b++)
        pwl_qgemm_add_errors_s4(&errors, pwl_qgemm_source_element(&from, origin.data, first + b * PWL_BLOCK), n);
#pragma unroll
    for (int i = 0; i < PWL_QGEMM_SHIFTS_S4; i++) {
        for (unsigned step = 1; step < 32; step *= 2)
            errors.of[i] += __shfl_xor_sync(all_lanes, static_cast<unsigned long long>(errors.of[i]), step);
    }
    return pwl_qgemm_shift_s4(&errors, n);
}

/*
 * A warp for a row: its exponent, and a sum of 0 for pieces() to add to. What is null is not told. Two blocks in a
 * multiprocessor: ptxas would else keep to fewer registers than 32 floats need.
 */
template <pwl_qgemm_format format, pwl_qgemm_from kind>
__global__ void __launch_bounds__(threads, 2) rows(const __grid_constant__ pwl_qgemm_source source, size_t count,
                                                   pwl_qgemm_survey *found, int8_t *exponents, int32_t *sums)
{
    constexpr bool is_of_floats = pwl_qgemm_is_rows(format) && pwl_qgemm_is_of_floats(kind);
    const pwl_qgemm_source from = known<format, kind>(source);
    for (size_t row = size_t{blockIdx.x} * warps + threadIdx.x / 32; row < count; row += size_t{gridDim.x} * warps) {
        const size_t blocks = row < from.n ? from.k / PWL_BLOCK : 0;
        pwl_qgemm_span span = pwl_qgemm_no_span();
        size_t bad = blocks;
        if constexpr (is_of_floats)
            span = span_of_floats(from, row, blocks, &bad);
        else if constexpr (kind != PWL_QGEMM_FROM_CODES)
            span = span_of_row(from, row, blocks, &bad);
        if (found && bad < blocks)
            atomicMin(&found->bad, row * blocks + bad);
        for (unsigned step = 1; step < 32; step *= 2) {
            const pwl_qgemm_span other = {__shfl_xor_sync(all_lanes, span.high, step),
                                          __shfl_xor_sync(all_lanes, span.low, step)};
            span = pwl_qgemm_join(span, other);
        }
        int e = blocks ? pwl_qgemm_exponent_of(&from, row, span) : 0;
        if constexpr (is_of_floats && format == PWL_QGEMM_ROWS4) {
            if (!__any_sync(all_lanes, bad < blocks) && span.high > 0)
                e = shift_by_errors(from, row, blocks, e);
        }
        if (threadIdx.x % 32 != 0)
            continue;
        if (found && e != 0)
            atomicMin(&found->row, static_cast<unsigned long long>(row));
        if (exponents)
            exponents[row] = static_cast<int8_t>(e);
        if (sums)
            sums[row] = 0;
    }
}

} // namespace packing
} // namespace pwl

#endif
