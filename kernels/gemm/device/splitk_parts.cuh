/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop and schedule of splitk: a warp goes through the pieces of its part of K, in stages that it fills ahead;
 * the sums of the parts are added when all are done, and stored or left in the workspace.
 */
#ifndef PWL_QGEMM_SPLITK_PARTS_CUH
#define PWL_QGEMM_SPLITK_PARTS_CUH

#include "arch/async.cuh"
#include "arch/overlap.cuh"
#include "splitk_input.cuh"

namespace pwl
{
namespace splitk
{

/* Puts a complete sum where it belongs; for all lanes of a warp, of which some may be outside. */
template <class way> __device__ void store(const pwl_qgemm_call &call, size_t m, size_t n, typename way::number sum)
{
    const bool inside = n < call.weights.n;
    decltype(way::y(call, m, n, sum)) y = 0;
    if (inside)
        y = way::y(call, m, n, sum);
    pwl_device_store_lanes(call, inside, m, n, y);
}

/* Stages of a part: of each warp that shares it codes of its tiles and their scales; then X. Where the sums lie
 * afterwards, no stage does. */
template <pwl_qgemm_format format, class way, unsigned groups> struct ring {
    using block = shape<groups>;
    static constexpr unsigned code_bytes = tiles * mma::code_bytes(format),
                              scale_bytes = tiles * mma::scale_bytes(format), w_bytes = code_bytes + scale_bytes,
                              x_at = block::sharers * w_bytes, bytes = x_at + way::x_bytes;
    /* What every device from 8.0 on has, and for many groups 8.0 and 9.0. */
    static constexpr bool is_large = groups >= many && block::sharers == 1;
    static constexpr unsigned room = (is_large ? 163 : 99) << 10,
                              fitting = (room / block::parts - way::own_bytes) / bytes, enough = is_large ? 3 : 12,
                              stages = fitting < enough ? fitting : enough;
    static constexpr unsigned sums = block::parts * groups * 8 * block::pitch * sizeof(float),
                              own_at = block::parts * stages * bytes, all = own_at + block::parts * way::own_bytes,
                              shared = all > sums ? all : sums;
    static_assert(stages >= 3, "one to read, one to fill, one on its way");
};

/* Sums of a row of X, of a rank of a block of rows, in the workspace; rows of weights up to a multiple of a piece's. */
template <class number> __device__ number *sums_at(const pwl_qgemm_call &call, size_t rank, size_t m)
{
    return static_cast<number *>(call.sums) +
           (rank * call.product.m + m) * pwl_qgemm_round_up(call.weights.n, PWL_QGEMM_ROWS);
}

template <pwl_qgemm_format format, class way, unsigned groups>
__device__ void multiply(const pwl_qgemm_call &call, uint8_t *shared)
{
    using number = typename way::number;
    using ring = ring<format, way, groups>;
    constexpr int stages = ring::stages, room = stages - 1;
    constexpr int early = way::x_bytes > 0 && room > 4 ? 4 : room; /* weights that are loaded before X */
    using block = shape<groups>;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned part = warp / block::sharers, sharer = warp % block::sharers, rank = blockIdx.x % block::blocks;
    const unsigned in_all = rank * block::parts + part;
    const unsigned present = static_cast<unsigned>(call.product.m + 7) / 8;
    uint8_t *const memory = shared + part * stages * ring::bytes;
    const uint32_t stage = shared_address(memory);
    const size_t n = size_t{blockIdx.x / block::blocks} * block::rows, own = n + sharer * warp_rows;
    const size_t pieces = pwl_qgemm_depth(call.weights.k), first = pieces * in_all / all_parts;
    const int count = static_cast<int>(pieces * (in_all + 1) / all_parts - first);
    const int rounds = block::sharers == 1 ? count : static_cast<int>((pieces - 1) / all_parts + 1); /* of every part */

    /* The next piece of the weights. */
    const unsigned tile = static_cast<unsigned>(own % PWL_QGEMM_ROWS) / PWL_QGEMM_TILE_ROWS;
    const uint8_t *const piece = static_cast<const uint8_t *>(call.weights.memory) +
                                 pwl_qgemm_piece_at(format, call.weights.k, own, first * PWL_QGEMM_COLUMNS);
    const uint8_t *codes_at = piece + tile * mma::code_bytes(format) + lane * 16;
    const uint8_t *scales_at =
        piece + PWL_QGEMM_TILES * mma::code_bytes(format) + tile * mma::scale_bytes(format) + lane * 16;
    const auto load_weights = [&](int i, bool is_piece) {
        const uint32_t to = stage + static_cast<uint32_t>(i) * ring::bytes + sharer * ring::w_bytes + lane * 16;
#pragma unroll
        for (unsigned at = 0; at < ring::code_bytes; at += 512)
            copy_async_if(is_piece, to + at, codes_at + at);
        if constexpr (ring::scale_bytes > 0) {
            if (lane * 16 < ring::scale_bytes)
                copy_async_if(is_piece, to + ring::code_bytes, scales_at);
        }
        codes_at += mma::piece_bytes(format);
        scales_at += mma::piece_bytes(format);
    };

    /* Groups of copies: the early weights; then X of a piece, beside the weights of a later one while stages are free.
     */
#pragma unroll
    for (int i = 0; i < early; i++)
        load_weights(i, i < count);
    close_group();
    wait_for_last_launch();
    way with(call, own, first, shared + ring::own_at + part * way::own_bytes);
#pragma unroll
    for (int i = 0; i < room; i++) {
        with.load(stage + i * ring::bytes + ring::x_at, i < count);
        if (i + early < room)
            load_weights(i + early, i + early < count);
        close_group();
    }

    number sums[tiles][groups][4] = {};
    for (int i = 0, at = 0, before = stages - 1; i < rounds; i++) {
        wait_for_all_but<stages - 2>();
        /* The piece is there, and the stage of the one before it was read. */
        if constexpr (block::sharers == 1)
            __syncwarp();
        else
            __syncthreads();
        const bool is_piece = i + stages - 1 < count;
        load_weights(before, is_piece);
        with.load(stage + static_cast<uint32_t>(before) * ring::bytes + ring::x_at, is_piece);
        close_group();
        if (i < count) {
            mma::codes<format, tiles> codes;
            const uint8_t *const here = memory + at * ring::bytes, *const mine = here + sharer * ring::w_bytes;
            codes.load(mine, mine + ring::code_bytes);
            with.add(codes, with.of(call, here + ring::x_at, i, count), present, sums);
        }
        before = at;
        at = at + 1 == stages ? 0 : at + 1;
    }
    wait_for_all_but<0>();
    __syncthreads();

    number *const parts = reinterpret_cast<number *>(shared);
    number *const to =
        parts + (part * groups * 8 + lane % 4 * 2) * block::pitch + sharer * warp_rows + mma::row_of_sums<number>(lane);
#pragma unroll
    for (unsigned t = 0; t < tiles; t++)
        mma::put_fragments<block::pitch>(sums[t], to, 0, t * 16);
    __syncthreads();

    constexpr unsigned at_once = threads / block::rows;
    const unsigned row = threadIdx.x % block::rows, m = threadIdx.x / block::rows;
    number complete[groups * 8 / at_once];
#pragma unroll
    for (unsigned i = 0; i < groups * 8 / at_once; i++) {
        complete[i] = 0;
#pragma unroll
        for (unsigned p = 0; p < block::parts; p++)
            complete[i] += parts[(p * groups * 8 + m + i * at_once) * block::pitch + row];
    }
#pragma unroll
    for (unsigned i = 0; i < groups * 8 / at_once; i++) {
        if (m + i * at_once >= call.product.m)
            break;
        if constexpr (block::blocks > 1)
            sums_at<number>(call, rank, m + i * at_once)[n + row] = complete[i];
        else
            store<way>(call, m + i * at_once, n + row, complete[i]);
    }
}

} // namespace splitk
} // namespace pwl

#endif
