/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of a group of products (gemm/group.h) for the kernel of wgmma_product.cuh. A warp finds how many tiles each
 * expert has, from offsets that an earlier launch wrote, while barriers are made; thread blocks then go from tile to
 * tile, as many blocks apart, until there are no more.
 *
 * Stores see a call of their own in shared memory, one for each warpgroup, in which weights, bias and M are those of
 * the tile's expert: M is where its rows end. Loads of X go beyond that, into rows that others multiply, too; what
 * comes of these is not stored.
 *
 * In shared memory, from group_at on: a call for each warpgroup; then of every expert the first tile along M, with the
 * number of all tiles behind the last; the first row of X, and where its rows end.
 */
#ifndef PWL_QGEMM_WGMMA_EXPERTS_CUH
#define PWL_QGEMM_WGMMA_EXPERTS_CUH

#include "gemm/group.h"
#include "gemm/launch.h"
#include "wgmma_loop.cuh"

namespace pwl
{
namespace wgmma
{

/* A shape of tiles for a group. */
template <class shape> struct grouped : shape {
    static constexpr bool of_group = true;
    using places = group_place;
    static constexpr bool strips = false, meets_early = false;
};

constexpr unsigned call_bytes = (sizeof(pwl_qgemm_call) + 15) / 16 * 16;

constexpr unsigned group_bytes(uint32_t experts)
{
    return groups * call_bytes + (3 * experts + 1 + 3) / 4 * 16;
}

template <class shape> constexpr unsigned most_group_bytes = shape::of_group ? group_bytes(PWL_QGEMM_MOST_EXPERTS) : 0;

/* share_work() of a group. */
template <class shape> bool share_group(work &of, const pwl_qgemm_call *call)
{
    const size_t m = call->product.m, depth = pwl_qgemm_depth(call->weights.k);
    const size_t across = (call->weights.n - 1) / PWL_QGEMM_ROWS + 1, steps = (depth - 1) / shape::pieces + 1;
    const size_t down = pwl_qgemm_group_most_tiles(m, call->experts.count, shape::tokens);
    if (steps > INT32_MAX / shape::pieces / PWL_QGEMM_COLUMNS || across > INT32_MAX / 2 / down)
        return false;
    of.across = static_cast<uint32_t>(across);
    of.whole = of.turns = static_cast<uint32_t>(across * down);
    of.rows = static_cast<uint32_t>(m < shape::tokens ? m : shape::tokens);
    of.depth = static_cast<uint32_t>(depth);
    of.steps = static_cast<uint32_t>(steps);
    of.split = 1;
    of.experts = call->experts.count;
    return true;
}

#if PWL_IS_HOPPER

constexpr unsigned meet_to_show = 4; /* a barrier, the first warpgroup's */

/* What is found about the group. */
struct group_table {
    uint32_t *starts, *begins, *ends;

    __device__ explicit group_table(const work &of)
    {
        extern __shared__ __align__(1024) uint8_t shared[];
        starts = reinterpret_cast<uint32_t *>(shared + of.group_at + groups * call_bytes);
        begins = starts + of.experts + 1;
        ends = begins + of.experts;
    }
};

struct group_place {
    static constexpr bool shared = false;
    static constexpr uint32_t part = 0, first = 0;
    uint32_t turn, end; /* of its steps */
    uint32_t across, expert;

    __device__ group_place(const pwl_qgemm_call &, const work &of) : end(of.steps)
    {
        take(of, blockIdx.x);
    }

    __device__ bool is_there(const work &of) const
    {
        return turn < group_table(of).starts[of.experts] * of.across;
    }

    __device__ void advance(const work &of)
    {
        take(of, turn + gridDim.x);
    }

    __device__ void take(const work &of, uint32_t next)
    {
        turn = next;
        if (!is_there(of))
            return;
        const pwl_qgemm_group_tile tile = pwl_qgemm_group_tile_at(group_table(of).starts, of.experts, of.across, turn);
        expert = tile.expert;
        across = tile.across;
        down = tile.down;
    }

    __device__ uint32_t m(const work &of, uint32_t tokens) const
    {
        return group_table(of).begins[expert] + down * tokens;
    }

    __device__ size_t weights_at(const pwl_qgemm_call &call) const
    {
        return expert * call.experts.apart;
    }

    static __device__ pwl_qgemm_call &own_call(const work &of)
    {
        extern __shared__ __align__(1024) uint8_t shared[];
        return *reinterpret_cast<pwl_qgemm_call *>(shared + of.group_at + threadIdx.x / group_threads * call_bytes);
    }

    /* This warpgroup's call, as far as it is the same for all tiles. */
    static __device__ const pwl_qgemm_call &own_call(const pwl_qgemm_call &call, const work &of)
    {
        static_assert(sizeof call % sizeof(uint32_t) == 0, "whole words");
        const uint32_t *const from = reinterpret_cast<const uint32_t *>(&call);
        uint32_t *const to = reinterpret_cast<uint32_t *>(&own_call(of));
        for (unsigned i = threadIdx.x % group_threads; i < sizeof call / sizeof *to; i += group_threads)
            to[i] = from[i];
        meet(meet_to_show + threadIdx.x / group_threads, group_threads);
        return own_call(of);
    }

    /* The tile in the warpgroup's own call, once all of its threads are through with the last one. */
    __device__ void show(const pwl_qgemm_call &call, const work &of, const pwl_qgemm_call &own) const
    {
        pwl_qgemm_call &to = const_cast<pwl_qgemm_call &>(own);
        const bool gated = call.epilogue.as.gated;
        const size_t rows = expert * pwl_qgemm_columns(call.weights.n, gated) * sizeof(float); /* of bias */
        const unsigned group = threadIdx.x / group_threads;
        meet(meet_to_show + group, group_threads);
        if (threadIdx.x % group_threads == 0) {
            to.weights.memory = static_cast<const uint8_t *>(call.weights.memory) + weights_at(call);
            if (call.product.bias)
                to.product.bias = static_cast<const char *>(call.product.bias) + rows;
            if (call.epilogue.as.bias_up)
                to.epilogue.as.bias_up = static_cast<const char *>(call.epilogue.as.bias_up) + rows;
            to.product.m = group_table(of).ends[expert];
        }
        meet(meet_to_show + group, group_threads);
    }

    /* What all threads of the block find tiles by: for a warp. */
    template <unsigned tokens> static __device__ void find(const pwl_qgemm_call &call, const work &of)
    {
        const group_table to(of);
        const pwl_qgemm_experts &experts = call.experts;
        const unsigned lane = threadIdx.x % 32;
        int32_t highest = 0;
        uint32_t tiles = 0;
        if (lane == 0)
            to.starts[0] = 0;
        wait_for_last_launch();
        for (uint32_t first = 0; first < experts.count; first += 32) {
            const uint32_t e = min(first + lane, experts.count - 1); /* the last one is found more than once */
            const int32_t begin = experts.offsets[e], end = experts.offsets[e + 1];
            int32_t most = max(begin, highest), before;
#pragma unroll
            for (unsigned i = 1; i < 32; i *= 2) {
                before = __shfl_up_sync(all_lanes, most, i);
                most = lane >= i ? max(most, before) : most;
            }
            before = __shfl_up_sync(all_lanes, most, 1);
            const uint32_t rows =
                first + lane > e ? 0 : pwl_qgemm_expert_rows(begin, end, lane ? before : highest, call.product.m);
            uint32_t sum = pwl_qgemm_expert_tiles(rows, tokens);
#pragma unroll
            for (unsigned i = 1; i < 32; i *= 2) {
                const uint32_t other = __shfl_up_sync(all_lanes, sum, i);
                sum += lane >= i ? other : 0;
            }
            if (first + lane == e) {
                to.starts[e + 1] = tiles + sum;
                to.begins[e] = static_cast<uint32_t>(begin);
                to.ends[e] = static_cast<uint32_t>(end);
            }
            highest = __shfl_sync(all_lanes, most, 31);
            tiles += __shfl_sync(all_lanes, sum, 31);
        }
    }

  private:
    uint32_t down;
};

#endif

} // namespace wgmma
} // namespace pwl

#endif
