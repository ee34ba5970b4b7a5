/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tile of Y that a thread block of the kernels on tensor cores has: which sums a thread has of it, and how they lie
 * in shared memory, a row for each of X.
 */
#ifndef PWL_QGEMM_TILE_CUH
#define PWL_QGEMM_TILE_CUH

#include <type_traits>

#include "gemm/layout.h"

namespace pwl
{
namespace mma
{

constexpr unsigned threads = 128, warps = threads / 32;

/* This thread among those that share a tile, of threadIdx.x read anew: what is made of it here is not to stay in
 * registers through the multiplications before. */
__device__ inline unsigned thread_here()
{
    unsigned thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread)); /* thread = threadIdx.x */
    return thread % threads;
}

constexpr unsigned tiles = 2;                  /* of 16 rows of weights, to a warp */
constexpr unsigned pitch = PWL_QGEMM_ROWS + 4; /* between the sums of a row of X: odd in chunks of 16 bytes */
constexpr unsigned unit_at = PWL_QGEMM_ROWS;   /* behind them, 2^f of the row */
constexpr unsigned inverse_at = unit_at + 1;   /* of Y in E4M3, the inverse of the row's scale */

/* Sums of a thread: c0, c1 of row g and two rows of X, c2, c3 of row g + 8. */
template <class number, unsigned groups> using sums_in = number[tiles][groups][4];

__host__ __device__ constexpr unsigned sums_bytes(unsigned groups)
{
    return groups * 8 * pitch * sizeof(float);
}

/* X in halves, of 64 columns: 128 bytes to a row. */
__host__ __device__ constexpr unsigned x_bytes(unsigned groups)
{
    return groups * 8 * 128;
}

/* The format whose sums are of a type, as far as lanes' rows depend on it. */
template <class number>
constexpr pwl_qgemm_format format_of_sums = std::is_same<number, int32_t>::value ? PWL_QGEMM_ROWS8 : PWL_QGEMM_Q8_0;

/* Which of 16 rows of weights this lane's first sums are of. */
template <class number> __device__ unsigned row_of_sums(unsigned lane)
{
    return pwl_qgemm_row_of_lane(format_of_sums<number>, lane / 4);
}

/* Sums of 16 rows of weights into shared memory, rows of X `pitch` apart: from this row and column on, a lane's own. */
template <unsigned pitch, class number, unsigned groups>
__device__ void put_fragments(const number (&sums)[groups][4], number *to, unsigned row, unsigned column)
{
#pragma unroll
    for (unsigned g = 0; g < groups; g++) {
#pragma unroll
        for (unsigned c = 0; c < 4; c++)
            to[(g * 8 + row + c % 2) * pitch + column + c / 2 * pwl_qgemm_rows_apart(format_of_sums<number>)] =
                sums[g][c];
    }
}

} // namespace mma
} // namespace pwl

#endif
