/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel around the main loop of wgmma_loop.cuh, and its launch. A thread block has a multiprocessor to itself and
 * goes from tile to tile; the copies for the next one start while Y of the last is stored. Where the tiles left over at
 * last are few, a cluster of two blocks shares each:
 *
 *     block 0 | tile 0 | tile 4 | tile 8, first half of K
 *     block 1 | tile 1 | tile 5 | tile 8, second half
 *     block 2 | tile 2 | tile 6 |
 *     block 3 | tile 3 | tile 7 |
 *
 * Or the blocks of a cluster take neighbouring tiles along X in pairs, and each copies half of their weights to both.
 *
 * What is done with sums is a type of its own, `storing`, for the threads that multiply: prefetch() of weights' rows;
 * its constructor, which must read nothing but weights; ready(), once all earlier launches have ended; for each tile
 * begin(), which gives its sums their first values, meanwhile(), while these multiply, and store(), which knows the
 * next tile.
 */
#ifndef PWL_QGEMM_WGMMA_PRODUCT_CUH
#define PWL_QGEMM_WGMMA_PRODUCT_CUH

#include "arch/async.cuh"
#include "launch.cuh"
#include "arch/tensor.cuh"
#include "wgmma_ahead.cuh"
#include "wgmma_experts.cuh"
#include "wgmma_loop.cuh"

namespace pwl
{
namespace wgmma
{

constexpr unsigned most_shared = 227 << 10; /* that 9.0 grants a block */

/* Of a thread that multiplies, and of one that does something else: to make strips takes more. */
template <class shape> constexpr int registers_multiplying = shape::strips ? 216 : 232;
template <class shape> constexpr int registers_else = shape::strips ? 72 : 40;

#if PWL_IS_HOPPER

/* Whether this block shares a tile with the other one of its cluster. */
__device__ inline bool shares_tile(const work &of)
{
    return of.split > 1 && of.whole + blockIdx.x < of.turns;
}

template <class shape> __device__ void make_barriers(const work &of, uint32_t memory)
{
    for (unsigned i = 0; i < of.stages; i++) {
        init_barrier(memory + of.barriers_at + i * 16, 2);
        init_barrier(memory + of.barriers_at + i * 16 + 8, multiplying / 32 * tellers * (shape::pairs ? 2 : 1));
    }
    init_barrier(memory + of.barriers_at + of.stages * 16, 1);
    show_barriers();
}

/* The warps that do not multiply: one thread copies X, one the weights, and two warps make X where it is not there. */
template <class shape>
__device__ void copy(const pwl_qgemm_call &call, const CUtensorMap &x, const work &of, uint32_t memory)
{
    leave_registers<registers_else<shape>>();
    const unsigned warp = (threadIdx.x - multiplying) / 32, lane = threadIdx.x % 32;
    if (shape::pairs)
        wait_for_cluster(); /* the other block has barriers, too */
    if (warp == 0 && (lane == 0 || (shape::strips && call.strips.count)))
        copy_x<shape>(call, of, x, memory);
    else if (warp == 1 && lane == 0)
        copy_weights<shape>(call, of, memory);
    else if (shape::strips && warp > 1 && call.strips.count)
        make_strips(call);
    __syncwarp();
    if (shares_tile(of)) { /* as often as the others do */
        if (!shape::meets_early)
            arrive_at_cluster();
        wait_for_cluster();
        if (!shape::sends_parts) {
            arrive_at_cluster();
            wait_for_cluster();
        }
    }
}

template <class shape, class storing>
__device__ void multiply_and_store(const pwl_qgemm_call &call, const CUtensorMap &y, const work &of, uint8_t *memory)
{
    take_registers<registers_multiplying<shape>>();
    const unsigned row = __shfl_sync(0xffffffff, threadIdx.x / 32, 0) * PWL_QGEMM_TILE_ROWS;
    /* What a warp tells itself ptxas does not make anew in each step, which E4M3 would wait for. */
    const uint32_t address = shared_address(memory);
    place<shape> from(of, shape::of_e4m3 ? __shfl_sync(0xffffffff, address, 0) : address, false);
    const pwl_qgemm_call &own = shape::places::own_call(call, of);
    typename shape::places here(call, of);
    storing by(own, y, of, memory, here);
    if (shape::pairs)
        wait_for_cluster();
    wait_for_last_launch();
    by.ready(here);
    while (here.is_there(of)) {
        const size_t m = here.m(of, shape::tokens), n = size_t{here.across} * PWL_QGEMM_ROWS;
        typename shape::places next = here;
        typename shape::number sums[shape::tokens / 8][4];
        if (!shape::of_group) /* whose stores do not ask for it */
            next.advance(of);
        here.show(call, of, own);
        by.begin(here, m, n, sums);
        if constexpr (shape::way != loop::behind)
            by.meanwhile();
        if constexpr (shape::way == loop::in_runs)
            multiply_in_runs<shape>(own, memory, n + row, row, here.end - here.first, from, sums);
        else if constexpr (shape::way == loop::ahead)
            multiply_ahead<shape>(own, memory, n + row, row, here.end - here.first, from, sums);
        else
            multiply<shape>(own, memory, n + row, row, here.end - here.first, from, sums, [&] { by.meanwhile(); });
        by.store(here, next, m, n, sums);
        if (shape::of_group)
            next.advance(of);
        here = next;
    }
    if (threadIdx.x % group_threads == 0) /* shared memory must stay until then */
        wait_for_copies_to_read();
}

#endif

/* Bounded to a single thread where it has no code: the host asks for that. */
template <class shape, class storing>
__global__ void __launch_bounds__(PWL_IS_HOPPER ? threads : 1, 1)
    product(const __grid_constant__ pwl_qgemm_call call, const __grid_constant__ CUtensorMap x,
            const __grid_constant__ CUtensorMap y, const __grid_constant__ work of)
{
#if PWL_IS_HOPPER
    extern __shared__ __align__(1024) uint8_t shared[];
    const uint32_t memory = shared_address(shared);
    if (threadIdx.x == multiplying + 32) {
        make_barriers<shape>(of, memory);
        if constexpr (!shape::of_group)
            fill_stages<shape>(call, of, memory);
    } else if (threadIdx.x == multiplying) {
        prefetch_tensor(&x);
        if (of.copies_y)
            prefetch_tensor(&y);
    } else if constexpr (!shape::of_group) {
        storing::prefetch(call, of);
    } else if (threadIdx.x < 32) {
        shape::places::template find<shape::tokens>(call, of);
    }
    start_next_launch();
    __syncthreads();
    if (shape::pairs || (shape::meets_early && shares_tile(of)))
        arrive_at_cluster_relaxed(); /* barriers are there, as they were shown; nothing else */
    if (threadIdx.x >= multiplying)
        copy<shape>(call, x, of, memory);
    else
        multiply_and_store<shape, storing>(call, y, of, shared);
    if (shape::pairs) { /* until then, the other block tells this one, or copies to it */
        arrive_at_cluster_relaxed();
        wait_for_cluster();
    }
#endif
}

/* Tiles along N of a panel: as many as let a wave of thread blocks have all of X, and at least 16, whose weights stay
 * in the L2 cache from one row of tiles to the next. */
inline size_t panel_of(size_t down, size_t blocks)
{
    const size_t wave = (blocks - 1) / down + 1;
    return wave > 16 ? wave : 16;
}

/* Gives the work of a product to thread blocks; false where it is too much for its numbers. */
template <class shape> bool share_work(work &of, const pwl_qgemm_call *call, size_t panel)
{
    if (shape::of_group)
        return share_group<shape>(of, call);
    const size_t m = call->product.m, n = call->weights.n, blocks = call->tile.blocks;
    const size_t depth = pwl_qgemm_depth(call->weights.k), across = (n - 1) / PWL_QGEMM_ROWS + 1;
    const size_t rows = shape::tokens * (shape::pairs ? 2 : 1), down = (m - 1) / rows + 1, tiles = across * down;
    const size_t steps = (depth - 1) / shape::pieces + 1;
    if (steps > INT32_MAX / shape::pieces / PWL_QGEMM_COLUMNS || across > INT32_MAX / 2 / down)
        return false;
    of.pairs = shape::pairs;
    of.split = !of.pairs && steps > 1 && tiles % blocks <= blocks / 2 ? call->tile.split : 1;
    of.across = static_cast<uint32_t>(across);
    of.down = static_cast<uint32_t>(down);
    of.panel = static_cast<uint32_t>(panel < across ? panel : across);
    of.whole = static_cast<uint32_t>(of.split > 1 ? tiles / blocks * blocks : tiles << of.pairs);
    of.turns = of.split > 1 ? of.whole + static_cast<uint32_t>(tiles - of.whole) * of.split : of.whole;
    of.m_last = static_cast<uint32_t>(m > shape::tokens ? m - shape::tokens : 0);
    of.rows = static_cast<uint32_t>(m < shape::tokens ? m : shape::tokens);
    of.depth = static_cast<uint32_t>(depth);
    of.steps = static_cast<uint32_t>(steps);
    of.alone = of.turns <= blocks;
    return true;
}

/* Bytes behind the stages: of Y that waits to be copied, which is aligned as they are, of what a block of a cluster
 * leaves the other one, of a table, and of exponents of rows of X. */
struct room {
    unsigned out, parts, table, units;
};

/* Gives shared memory to as many stages as leave room for these and for what a group has; the bytes of all. */
template <class shape> unsigned share_out(work &of, const room &behind)
{
    const unsigned of_group = shape::of_group ? group_bytes(of.experts) : 0;
    unsigned bytes;
    of.stages = most_stages + 1;
    do {
        of.stages--;
        const unsigned end = of.stages * (shape::x_bytes + shape::w_bytes);
        of.w_at = of.stages * shape::x_bytes;
        of.out_at = behind.out ? (end + alignment - 1) / alignment * alignment : 0;
        of.parts_at = (end + alignment - 1) / alignment * alignment + behind.out;
        of.table_at = behind.table ? of.parts_at + behind.parts : 0;
        of.units_at = of.parts_at + behind.parts + behind.table;
        of.group_at = of.units_at + behind.units;
        of.barriers_at = of.group_at + of_group;
        bytes = of.barriers_at + of.stages * 16 + 8;
    } while (bytes > most_shared);
    return bytes;
}

template <class shape, class storing>
int launch(const pwl_qgemm_call *call, const CUtensorMap &x, const CUtensorMap &y, const work &of, unsigned bytes,
           struct CUstream_st *stream)
{
    const unsigned blocks = of.turns < call->tile.blocks ? of.turns : call->tile.blocks;
    return launch_overlapped(true, of.pairs ? 2 : of.split, product<shape, storing>, dim3(blocks), threads, bytes,
                             stream, *call, x, y, of);
}

} // namespace wgmma
} // namespace pwl

#endif
