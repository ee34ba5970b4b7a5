/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile of Y by tensor cores, for every device from 8.0 on: 128 rows of weights and 8 * groups rows of X.
 *
 * Each of a thread block's four warps has 32 rows of weights and all rows of X, so that a code is decoded by one warp
 * alone, right into the fragment that mma.m16n8k16 takes as operand A. X is operand B. Both come in stages of 64
 * columns: a piece of the weights (gemm/layout.h) and 128 bytes of each row of X, whose 16-byte chunks are swapped
 * about so that ldmatrix meets no bank twice.
 */
#ifndef PWL_QGEMM_MMA_HALVES_CUH
#define PWL_QGEMM_MMA_HALVES_CUH

#include "arch/async.cuh"
#include "arch/mma.cuh"
#include "gemm/launch.h"
#include "map/plan.h"
#include "tile.cuh"
#include "weights.cuh"

namespace pwl
{
namespace mma
{

constexpr unsigned stages = 4;

__host__ __device__ constexpr unsigned stage_bytes(pwl_qgemm_format format, unsigned groups)
{
    return x_bytes(groups) + piece_bytes(format);
}

/* Stages, and after them the sums with what a table takes. */
__host__ __device__ constexpr unsigned shared_bytes(pwl_qgemm_format format, unsigned groups, unsigned table)
{
    const unsigned sums = sums_bytes(groups) + table, all = stages * stage_bytes(format, groups);
    return all > sums ? all : sums;
}

static_assert(shared_bytes(PWL_QGEMM_Q8_0, 16, PWL_PLAN_IMAGE) <= 99 << 10, "8.6, 8.9 and 12.0 grant a block no more");

/* Thread blocks that a multiprocessor's registers are for. */
__host__ __device__ constexpr unsigned residents(unsigned groups)
{
    return groups > 8 ? 1 : 2;
}

template <unsigned groups> using sums_of = sums_in<float, groups>;

/*
 * Fills the stages: each thread its chunks of X and of the piece, in every stage the same places. Zeros take the place
 * of what is not there, without a branch that would part the multiplications around it.
 */
template <pwl_qgemm_format format, unsigned groups> struct loader {
    static constexpr unsigned x_chunks = groups * 64 / threads, x_rows = threads / 8; /* rows are so far apart */
    static constexpr unsigned w_chunks = piece_bytes(format) / 16;
    const uint16_t *x;
    const uint8_t *w;
    size_t x_apart;
    uint32_t x_to, w_to;
    int rows;               /* of this thread that are there */
    int x_pieces, w_pieces; /* that are left with its columns, and at all */
    bool has_last;          /* chunk of a piece */

    /* Of `count` pieces from `piece` on. */
    __device__ loader(const pwl_qgemm_call &call, size_t m, size_t n, uint32_t piece, uint32_t count, uint32_t stage)
    {
        const uint32_t thread = thread_here(), row = thread / 8, chunk = thread % 8;
        const size_t k = call.weights.k, column = size_t{piece} * PWL_QGEMM_COLUMNS;
        x = call.h + (m + row) * call.h_stride + column + chunk * 8;
        w = static_cast<const uint8_t *>(call.weights.memory) + pwl_qgemm_piece_at(format, k, n, column) + thread * 16;
        x_apart = x_rows * call.h_stride;
        x_to = stage + row * 128 + (chunk ^ row % 8) * 16;
        w_to = stage + x_bytes(groups) + thread * 16;
        rows = 0;
        for (unsigned i = 0; i < x_chunks; i++)
            rows += m + row + i * x_rows < call.product.m;
        has_last = w_chunks / threads * threads + thread < w_chunks;
        w_pieces = static_cast<int>(count);
        x_pieces = column + (size_t{count} - 1) * PWL_QGEMM_COLUMNS + chunk * 8 < k ? w_pieces : w_pieces - 1;
    }

    /* The next piece; a group of copies of its own even where none is left, so that groups can be counted. */
    __device__ void load(unsigned stage)
    {
        const uint32_t to = stage * stage_bytes(format, groups);
        const int there = x_pieces > 0 ? rows : 0;
#pragma unroll
        for (unsigned i = 0; i < x_chunks; i++)
            copy_async_if(static_cast<int>(i) < there, x_to + to + i * x_rows * 128, x + i * x_apart);
#pragma unroll
        for (unsigned i = 0; i < w_chunks; i += threads) {
            if (i + threads <= w_chunks || has_last)
                copy_async_if(w_pieces > 0, w_to + to + i * 16, w + i * 16);
        }
        x += PWL_QGEMM_COLUMNS;
        w += piece_bytes(format);
        x_pieces--;
        w_pieces--;
        close_group();
    }
};

/* Operands B of a step, all rows of X. */
template <unsigned groups> __device__ void load_x(uint32_t (&b)[groups][2], uint32_t stage, unsigned step)
{
    const unsigned lane = threadIdx.x % 32, row = lane % 8 + lane / 16 * 8, chunk = step * 2 + lane / 8 % 2;
    const uint32_t at = stage + row * 128 + (chunk ^ row % 8) * 16;
#pragma unroll
    for (unsigned i = 0; i < groups; i += 2) {
        uint32_t r[4];
        load_matrices(r, at + i * 8 * 128);
        b[i][0] = r[0];
        b[i][1] = r[1];
        b[i + 1][0] = r[2];
        b[i + 1][1] = r[3];
    }
}

/*
 * Adds `count` pieces from `piece` on of the tile at row m of X and row n of the weights. Operands of a step are made
 * while the one before it is multiplied, and codes are read a step before that. Threads meet in the middle of a piece,
 * when they have much to do before they need the next: it has arrived then, and the stage of the piece before it is
 * free for the one that comes last. `meanwhile` is called while the first pieces come; it may start other copies, which
 * arrive with the piece after these, so that none of the first waits for them.
 */
template <pwl_qgemm_format format, bool bf16, bool exponents, unsigned groups, class function>
__device__ void add_pieces(const pwl_qgemm_call &call, size_t m, size_t n, uint32_t piece, uint32_t count,
                           uint8_t *memory, sums_of<groups> &sums, const function &meanwhile)
{
    constexpr unsigned bytes = stage_bytes(format, groups);
    const uint32_t first = shared_address(memory);
    loader<format, groups> loads(call, m, n, piece, count, first);
    const decoder<format, bf16, exponents, tiles> weights(call, n + threadIdx.x / 32 * tiles * 16);
    codes<format, tiles> here, coming;
    uint32_t b[2][groups][2];
    pwl_fragment a[2][tiles];

#pragma unroll
    for (unsigned i = 0; i < stages - 1; i++)
        loads.load(i);
    meanwhile();
    wait_for_all_but<stages - 2>();
    __syncthreads();
    here.load(memory + x_bytes(groups));
    load_x<groups>(b[0], first, 0);
#pragma unroll
    for (unsigned t = 0; t < tiles; t++)
        a[0][t] = weights.fragment(here, t, 0);

    unsigned before = stages - 1, at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const unsigned next = at + 1 == stages ? 0 : at + 1;
#pragma unroll
        for (unsigned step = 0; step < steps; step++) {
            const unsigned now = step % 2, then = 1 - now;
            if (step == 1) {
                wait_for_all_but<stages - 3>();
                __syncthreads();
                loads.load(before);
            }
            load_x<groups>(b[then], first + (step < 3 ? at : next) * bytes, (step + 1) % steps);
            if (step == 2)
                coming.load(memory + next * bytes + x_bytes(groups));
#pragma unroll
            for (unsigned t = 0; t < tiles; t++) {
                a[then][t] = weights.fragment(step < 3 ? here : coming, t, (step + 1) % steps);
#pragma unroll
                for (unsigned g = 0; g < groups; g++)
                    multiply_add<bf16>(sums[t][g], a[now][t].r, b[now][g]);
            }
        }
        here = coming;
        before = at;
        at = next;
    }
    wait_for_all_but<0>();
    __syncthreads();
}

} // namespace mma
} // namespace pwl

#endif
