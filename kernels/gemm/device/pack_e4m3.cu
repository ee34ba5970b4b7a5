/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of E4M3's formats into the order of gemm/fp8.h on a device, with the host's arithmetic (gemm/pack_fp8.h), and
 * so its bits, by two launches:
 *
 *     rows      a warp for a row, whose lanes take turns among its blocks: what its blocks come to, hence its scale,
 *               which is put behind the pieces; and whether all can be packed
 *     pieces    a warp for a tile of 16 rows and 64 columns: a lane gathers the words that are its own
 *
 * Between them the host looks at what was found.
 */
#include <cuda_runtime.h>

#include "blocks/lanes.cuh"
#include "gemm/launch.h"
#include "gemm/pack_fp8.h"

namespace
{

using namespace pwl;

constexpr unsigned threads = 256, warps = threads / 32;

__device__ const pwl_block_mxfp4 *blocks_of(const pwl_qgemm_source &from, size_t row)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(&from, row);
    return static_cast<const pwl_block_mxfp4 *>(origin.data) + origin.row * (from.k / PWL_BLOCK);
}

__device__ const uint8_t *codes_of(const pwl_qgemm_source &from, size_t row)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(&from, row);
    return static_cast<const uint8_t *>(origin.data) + origin.row * from.k;
}

/* -- Rows ---------------------------------------------------------------------------------------------------------- */

/* The row's scale, of MXFP4; for all lanes of a warp. */
__device__ float look_at_blocks(const pwl_qgemm_source &from, size_t row, pwl_qgemm_survey_e4m3 *found)
{
    const unsigned lane = threadIdx.x % 32;
    const size_t count = from.k / PWL_BLOCK;
    const pwl_block_mxfp4 *const blocks = blocks_of(from, row);
    pwl_qgemm_powers of = pwl_qgemm_no_powers();
    for (size_t b = lane; b < count; b += 32) {
        if (blocks[b].e == PWL_QGEMM_NAN_SCALE)
            atomicMin(&found->bad, row * count + b);
        else
            of = pwl_qgemm_join_powers(of, pwl_qgemm_powers_of(&blocks[b]));
    }
    for (unsigned step = 1; step < 32; step *= 2) {
        const pwl_qgemm_powers other = {__shfl_xor_sync(all_lanes, of.high, step),
                                        __shfl_xor_sync(all_lanes, of.low, step)};
        of = pwl_qgemm_join_powers(of, other);
    }
    const int r = pwl_qgemm_row_power(of);
    for (size_t b = lane; b < count && from.spread == PWL_QGEMM_SPREAD_EXACT; b += 32) {
        if (!pwl_qgemm_is_exact(&blocks[b], r))
            atomicMin(&found->inexact, row * count + b);
    }
    if (lane == 0 && !pwl_qgemm_is_of_zeros(of))
        atomicMax(&found->apart, of.high - of.low);
    return pwl_f32_of_bits(static_cast<uint32_t>(r + 127) << 23);
}

/* Likewise, of E4M3. */
__device__ float look_at_codes(const pwl_qgemm_source &from, size_t row, pwl_qgemm_survey_e4m3 *found)
{
    const pwl_qgemm_origin origin = pwl_qgemm_origin_of(&from, row);
    const uint8_t *const codes = codes_of(from, row);
    const float scale = static_cast<const float *>(origin.row_data)[origin.row];
    size_t bad = pwl_is_finite(scale) ? from.k : 0;
    for (size_t c = threadIdx.x % 32; c < bad; c += 32) {
        if (pwl_qgemm_is_nan_e4m3(codes[c]))
            bad = c;
    }
    if (bad < from.k)
        atomicMin(&found->bad, row * (from.k / PWL_BLOCK) + bad / PWL_BLOCK);
    return scale;
}

/* Scales of `count` rows, 0 beyond N. */
template <pwl_qgemm_format format>
__global__ void __launch_bounds__(threads)
    rows(const __grid_constant__ pwl_qgemm_source from, size_t count, pwl_qgemm_survey_e4m3 *found, float *scales)
{
    for (size_t row = size_t{blockIdx.x} * warps + threadIdx.x / 32; row < count; row += size_t{gridDim.x} * warps) {
        float scale = 0;
        if (row < from.n)
            scale = format == PWL_QGEMM_MXFP4_E4M3 ? look_at_blocks(from, row, found) : look_at_codes(from, row, found);
        if (threadIdx.x % 32 == 0)
            scales[row] = scale;
    }
}

/* -- Pieces -------------------------------------------------------------------------------------------------------- */

/* Four codes of a row, 0 beyond N and K. */
__device__ uint32_t gather_codes(const pwl_qgemm_source &from, size_t row, size_t column)
{
    if (row >= from.n || column >= from.k)
        return 0;
    const uint8_t *const at = codes_of(from, row) + column;
    return static_cast<uint32_t>(at[3]) << 24 | static_cast<uint32_t>(at[2]) << 16 | static_cast<uint32_t>(at[1]) << 8 |
           at[0];
}

/* Columns 4t to 4t + 3 of a block, and those 16 further on, as a word of its piece. */
__device__ uint32_t gather_e2m1(const pwl_block_mxfp4 &block, unsigned t, int r)
{
    uint32_t word = 0;
#pragma unroll
    for (unsigned i = 0; i < 8; i++) {
        const unsigned j = t * 4 + i % 4 + i / 4 * (PWL_BLOCK / 2);
        const pwl_qgemm_e2m1_place at = pwl_qgemm_e2m1_at(0, j);
        int exact;
        const uint32_t code = pwl_qgemm_code_e2m1(&block, j, r, &exact);
        word |= (code & 7) << at.magnitude | code >> 3 << at.sign;
    }
    return word;
}

/* A tile of E4M3, a word a lane and step: of rows g and g + 8, then those 16 columns further on. */
__device__ void put_codes(const pwl_qgemm_source &from, size_t row, size_t column, uint8_t *tile)
{
    const unsigned lane = threadIdx.x % 32, t = lane % 4;
#pragma unroll
    for (unsigned step = 0; step < 2; step++) {
        uint32_t words[4];
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            words[i] = gather_codes(from, row + lane / 4 + i % 2 * 8, column + step * 32 + i / 2 * 16 + t * 4);
        *reinterpret_cast<uint4 *>(tile + step * 512 + lane * 16) = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

/* A tile of MXFP4, and one of its scales a lane. */
__device__ void put_blocks(const pwl_qgemm_source &from, const float *scales, size_t row, size_t column, uint8_t *tile,
                           uint8_t *shifts)
{
    const unsigned lane = threadIdx.x % 32, t = lane % 4;
    const size_t first = column / PWL_BLOCK, count = from.k / PWL_BLOCK;
    uint32_t words[4];
    uint8_t shift = 0;
#pragma unroll
    for (unsigned i = 0; i < 4; i++) { /* two rows of a block, then of the next */
        const size_t here = row + lane / 4 + i % 2 * 8, b = first + i / 2;
        words[i] = 0;
        if (here >= from.n || b >= count)
            continue;
        const pwl_block_mxfp4 &block = blocks_of(from, here)[b];
        const int r = static_cast<int>(pwl_bits_of_f32(scales[here]) >> 23) - 127;
        words[i] = gather_e2m1(block, t, r);
        if (i == t)
            shift = pwl_qgemm_shift_code(&block, r);
    }
    reinterpret_cast<uint4 *>(tile)[lane] = make_uint4(words[0], words[1], words[2], words[3]);
    shifts[lane] = shift;
}

/* A warp for a tile, a thread block for a piece. */
template <pwl_qgemm_format format>
__global__ void __launch_bounds__(threads)
    pieces(const __grid_constant__ pwl_qgemm_source from, uint8_t *memory, size_t count, const float *scales)
{
    static_assert(warps == PWL_QGEMM_TILES, "as many as tiles in a piece");
    constexpr size_t tile_bytes = pwl_qgemm_tile_bytes(format), all_tiles = PWL_QGEMM_TILES * tile_bytes;
    const size_t depth = pwl_qgemm_depth(from.k);
    const unsigned number = threadIdx.x / 32;
    for (size_t i = blockIdx.x; i < count; i += gridDim.x) {
        const size_t row = i / depth * PWL_QGEMM_ROWS + number * PWL_QGEMM_TILE_ROWS;
        const size_t column = i % depth * PWL_QGEMM_COLUMNS;
        uint8_t *const piece = memory + i * pwl_qgemm_piece_bytes(format), *const tile = piece + number * tile_bytes;
        if (format == PWL_QGEMM_ROWS_E4M3)
            put_codes(from, row, column, tile);
        else
            put_blocks(from, scales, row, column, tile, piece + all_tiles + number * 32);
    }
}

unsigned grid_of(size_t blocks)
{
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

float *scales_of(const pwl_qgemm_weights *to)
{
    uint8_t *const memory = static_cast<uint8_t *>(const_cast<void *>(to->memory));
    return reinterpret_cast<float *>(memory + pwl_qgemm_pieces_bytes(to->format, to->n, to->k));
}

} // namespace

int pwl_cuda_launch_qgemm_e4m3_rows(const pwl_qgemm_source *from, const pwl_qgemm_weights *to,
                                    pwl_qgemm_survey_e4m3 *found, struct CUstream_st *stream)
{
    const size_t count = pwl_qgemm_round_up(from->n, PWL_QGEMM_ROWS);
    const auto kernel = from->format == PWL_QGEMM_MXFP4_E4M3 ? rows<PWL_QGEMM_MXFP4_E4M3> : rows<PWL_QGEMM_ROWS_E4M3>;
    kernel<<<grid_of(count / warps), threads, 0, stream>>>(*from, count, found, scales_of(to));
    return cudaGetLastError();
}

int pwl_cuda_launch_qgemm_e4m3_pieces(const pwl_qgemm_source *from, const pwl_qgemm_weights *to,
                                      struct CUstream_st *stream)
{
    const size_t count = pwl_qgemm_round_up(from->n, PWL_QGEMM_ROWS) / PWL_QGEMM_ROWS * pwl_qgemm_depth(from->k);
    const auto kernel =
        from->format == PWL_QGEMM_MXFP4_E4M3 ? pieces<PWL_QGEMM_MXFP4_E4M3> : pieces<PWL_QGEMM_ROWS_E4M3>;
    kernel<<<grid_of(count), threads, 0, stream>>>(*from, static_cast<uint8_t *>(const_cast<void *>(to->memory)), count,
                                                   scales_of(to));
    return cudaGetLastError();
}
