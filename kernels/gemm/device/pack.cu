/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights into the order of gemm/layout.h on a device, with the arithmetic, and so the bits, of the host. A thread
 * block takes a run of pieces in 16 rows:
 *
 *     blocks, or int8                     floats
 *        | copies of 16 bytes                | four lanes make a block
 *        v                                   v
 *     blocks of 16 rows in shared memory, as their format has them
 *        | a warp for each tile of 16 rows and 64 columns: a lane gathers its words, and finds one scale
 *        v
 *     a tile's codes, 512 or 1024 bytes in a row, and its scales
 *
 * Codes depend on rows' exponents in formats of rows alone, so the rest is packed before anyone knows whether there are
 * any: scales are looked at on their way. What is found about them lies in the first 16 bytes of the weights, which are
 * packed last.
 */
#include <cuda_runtime.h>

#include "arch/async.cuh"
#include "blocks/lanes.cuh"
#include "pack_rows.cuh"

namespace
{

using namespace pwl;
using namespace pwl::packing;

/* -- Pieces ---------------------------------------------------------------------------------------------------------
 */

/* Blocks of 16 rows in shared memory. Those that are copied lie as they do in memory, up to 15 bytes behind the
 * beginning of a row here; those that are made of floats have words for codes. An odd number of 16 bytes between rows
 * puts what a warp gathers of eight rows in different banks. */
template <pwl_qgemm_format format, pwl_qgemm_from kind> struct staging {
    static constexpr bool made = pwl_qgemm_is_of_floats(kind);
    static constexpr unsigned code_bytes = pwl_qgemm_code_bytes(format);
    static constexpr unsigned codes_at = made ? 4 : pwl_qgemm_scale_bytes(format), block_bytes = codes_at + code_bytes;
    static constexpr unsigned pieces = 64 / pwl_qgemm_bits(format), blocks = 2 * pieces; /* of a row at a time */
    static constexpr unsigned chunks = (blocks * block_bytes + 15 + 15) / 16 | 1;
    static constexpr unsigned pitch = 16 * chunks, bytes = tile_rows * pitch;
    static constexpr bool even = made || pwl_qgemm_scale_bytes(format) == 2; /* codes' addresses */
};

/* Rows from `row` and blocks from `block` on, and where they are in shared memory. */
struct patch {
    size_t row, block, blocks; /* how many a whole row has */
    uint8_t *shared;

    __device__ bool has(const pwl_qgemm_source &from, unsigned r, size_t b) const
    {
        return row + r < from.n && block + b < blocks;
    }
};

/* Where row g of the first or second eight begins in memory, in which rows of blocks lie. */
__device__ uintptr_t begin_of(const pwl_qgemm_source &from, const patch &of, unsigned half, unsigned g)
{
    const pwl_qgemm_origin first = pwl_qgemm_origin_of(&from, of.row + 8 * half);
    const size_t bytes = pwl_qgemm_block_bytes(from.format), apart = of.blocks * bytes;
    return reinterpret_cast<uintptr_t>(first.data) + first.row * apart + of.block * bytes + g * apart;
}

/* Copies the 16 bytes that each block begins, goes on or ends in, a warp for a row of either half; where these are not
 * all the source's, in its first row or the last one, byte by byte. */
template <class stage> __device__ void copy_blocks(const pwl_qgemm_source &from, const patch &to)
{
    static_assert(warps == 8, "as many as rows in a half");
    const unsigned g = threadIdx.x / 32;
    const size_t matrix = (from.pair ? from.n / 2 : from.n) * to.blocks * stage::block_bytes;
    const unsigned bytes = min(size_t{stage::blocks}, to.blocks - to.block) * stage::block_bytes;
#pragma unroll
    for (unsigned half = 0; half < 2; half++) {
        if (to.row + half * 8 + g >= from.n)
            break;
        const uintptr_t source = reinterpret_cast<uintptr_t>(pwl_qgemm_origin_of(&from, to.row + half * 8).data);
        const uintptr_t begin = begin_of(from, to, half, g), first = begin / 16 * 16;
        const unsigned lead = begin % 16, count = (lead + bytes + 15) / 16;
        const bool inside = first >= source && first + 16 * count <= source + matrix;
        uint8_t *const row = to.shared + (half * 8 + g) * stage::pitch;
#pragma unroll 1
        for (unsigned chunk = threadIdx.x % 32; inside && chunk < count; chunk += 32)
            copy_async<16>(row + 16 * chunk, reinterpret_cast<const void *>(first + 16 * chunk));
#pragma unroll 1
        for (unsigned i = threadIdx.x % 32; !inside && i < bytes; i += 32)
            row[lead + i] = *reinterpret_cast<const uint8_t *>(begin + i);
    }
    close_group();
    wait_for_all_but<0>();
}

/* Four floats of a type from `at` on; at once, where they are aligned to all of them. */
template <pwl_qgemm_type type> __device__ void load_four(const char *at, bool aligned, float *v)
{
    if (!aligned) {
#pragma unroll
        for (unsigned j = 0; j < 4; j++)
            v[j] = pwl_qgemm_element(type, at, j);
    } else if (type == PWL_QGEMM_F32) {
        const float4 four = __ldg(reinterpret_cast<const float4 *>(at));
        v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
    } else {
        const uint2 halves = __ldg(reinterpret_cast<const uint2 *>(at));
#pragma unroll
        for (unsigned j = 0; j < 4; j++) {
            const uint16_t half = static_cast<uint16_t>((j < 2 ? halves.x : halves.y) >> 16 * (j % 2));
            v[j] = type == PWL_QGEMM_F16 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
        }
    }
}

/* What lanes that share a block have of it: codes of four elements of either half, and the scale. */
struct made_codes {
    uint32_t codes[2];
    uint16_t scale;
};

/* As pwl_quantise() makes them, of a lane's elements; e is n_w in formats of rows. */
template <pwl_qgemm_format format, unsigned lanes>
__device__ made_codes quantise(pwl_rule rule, int e, const float (&v)[PWL_BLOCK / lanes])
{
    made_codes made = {{0, 0}, 0};
    if constexpr (pwl_qgemm_is_rows(format)) {
#pragma unroll
        for (unsigned j = 0; j < PWL_BLOCK / lanes; j++)
            made.codes[j / 4] |= (static_cast<uint32_t>(pwl_qgemm_row_code(format, v[j], e)) & 0xff) << j % 4 * 8;
    } else {
        constexpr pwl_format blocks = format == PWL_QGEMM_Q4_0   ? PWL_Q4_0
                                      : format == PWL_QGEMM_Q8_0 ? PWL_Q8_0
                                                                 : PWL_MXFP4;
        const pwl_extent extent = extent_of_halves<blocks, lanes>(v);
        const pwl_scale scale = pwl_scale_of(blocks, rule, extent);
        made.scale = scale.stored;
#pragma unroll
        for (unsigned j = 0; j < PWL_BLOCK / lanes; j++) {
            const int code = pwl_code_of(blocks, rule, scale, extent.finite ? v[j] : 0);
            made.codes[j / 4] |= (static_cast<uint32_t>(code) & 0xff) << j % 4 * 8;
        }
    }
    return made;
}

/* A lane's elements of a block that begins at `at`, four of either half; `block` is its number in the source. */
template <pwl_qgemm_format format, pwl_qgemm_type type>
__device__ void load_eight(const pwl_qgemm_source &from, const void *data, size_t block, const char *at, bool aligned,
                           float (&v)[8])
{
    if (format == PWL_QGEMM_ROWS4 && from.from == PWL_QGEMM_FROM_Q4_0) {
#pragma unroll
        for (unsigned j = 0; j < 8; j++)
            v[j] = pwl_qgemm_source_element(&from, data,
                                            block * PWL_BLOCK + threadIdx.x % 4 * 4 + j % 4 + j / 4 * (PWL_BLOCK / 2));
    } else {
        load_four<type>(at, aligned, v);
        load_four<type>(at + PWL_BLOCK / 2 * (type == PWL_QGEMM_F32 ? 4 : 2), aligned, v + 4);
    }
}

/* Makes blocks of floats: a warp for a row of either half, four lanes for a block. */
template <pwl_qgemm_format format, class stage, pwl_qgemm_type type>
__device__ void make_blocks(const pwl_qgemm_source &from, const pwl_qgemm_weights &weights, const patch &to)
{
    constexpr unsigned lanes = 4, at_once = 32 / lanes, element = type == PWL_QGEMM_F32 ? 4 : 2;
    const unsigned g = threadIdx.x / 32, lane = threadIdx.x % lanes, first = threadIdx.x % 32 / lanes;
    for (unsigned r = g; r < tile_rows && to.row + r < from.n; r += warps) {
        const pwl_qgemm_origin origin = pwl_qgemm_origin_of(&from, to.row + r);
        const char *const row =
            static_cast<const char *>(origin.data) + (origin.row * from.k + to.block * PWL_BLOCK + lane * 4) * element;
        const int e = pwl_qgemm_is_rows(format) ? pwl_qgemm_row_exponent(&weights, to.row + r) : 0;
        const bool aligned = reinterpret_cast<uintptr_t>(row) % (4 * element) == 0;
#pragma unroll 2
        for (unsigned b = first; b < stage::blocks; b += at_once) {
            const bool there = to.block + b < to.blocks;
            const char *const at = row + b * PWL_BLOCK * element;
            float v[PWL_BLOCK / lanes] = {};
            if (there)
                load_eight<format, type>(from, origin.data, origin.row * to.blocks + to.block + b, at, aligned, v);
            const made_codes made = from.rule == PWL_RULE_DEFAULT /* which is then known as that is compiled */
                                        ? quantise<format, lanes>(PWL_RULE_DEFAULT, e, v)
                                        : quantise<format, lanes>(from.rule, e, v);
            uint8_t *const block = to.shared + r * stage::pitch + b * stage::block_bytes;
            uint32_t *const words = reinterpret_cast<uint32_t *>(block + stage::codes_at);
            if (!there)
                continue;
            if (lane == 0)
                *reinterpret_cast<uint16_t *>(block) = made.scale;
            words[lane] = pwl_qgemm_bits(format) == 4 ? made.codes[1] << 4 | made.codes[0] : made.codes[0];
            if (pwl_qgemm_bits(format) == 8)
                words[lanes + lane] = made.codes[1];
        }
    }
}

/* Fills a patch. */
template <pwl_qgemm_format format, class stage>
__device__ void fill(const pwl_qgemm_source &from, const pwl_qgemm_weights &weights, const patch &to)
{
    if constexpr (!stage::made)
        copy_blocks<stage>(from, to);
    else if (from.type == PWL_QGEMM_F32) /* and of blocks */
        make_blocks<format, stage, PWL_QGEMM_F32>(from, weights, to);
    else if (from.type == PWL_QGEMM_F16)
        make_blocks<format, stage, PWL_QGEMM_F16>(from, weights, to);
    else
        make_blocks<format, stage, PWL_QGEMM_BF16>(from, weights, to);
}

/* As pwl_qgemm_gather(), by two bytes where codes are aligned to as many, or four that lie together. */
template <pwl_qgemm_format format, class stage> __device__ uint32_t gather(const uint8_t *q, unsigned t)
{
    if (pwl_qgemm_is_rows(format) && stage::made)
        return reinterpret_cast<const uint32_t *>(q)[t];
    if (pwl_qgemm_is_rows(format) || !stage::even)
        return pwl_qgemm_gather(format, q, t);
    const uint16_t *const pairs = reinterpret_cast<const uint16_t *>(q);
    return pwl_qgemm_interleave(pairs[t], pairs[t + 4]);
}

/* Tells of a scale that is not finite, or for which its row needs an exponent. */
template <pwl_qgemm_format format>
__device__ void tell(pwl_qgemm_survey *found, const patch &of, size_t row, size_t block, uint16_t scale,
                     const uint8_t *codes)
{
    if (!pwl_qgemm_scale_is_finite(format, scale))
        atomicMin(&found->bad, row * of.blocks + block);
    else if (pwl_qgemm_is_wide(format, pwl_qgemm_span_of(format, scale, pwl_qgemm_most(format))) &&
             pwl_qgemm_is_wide(format, pwl_qgemm_span_of(format, scale, pwl_qgemm_most_of(format, codes))))
        atomicMin(&found->row, static_cast<unsigned long long>(row));
}

/* The sum of what a word of codes counts in a format of rows. */
template <pwl_qgemm_format format> __device__ int sum_of_word(uint32_t codes, int sum)
{
    if constexpr (format == PWL_QGEMM_ROWS8)
        return __dp4a(static_cast<int>(codes), 0x01010101, sum);
    const pwl_bytes8 bytes = pwl_s8_from_s4_times16(codes);
    return __dp4a(static_cast<int>(bytes.w[0]), 0x01010101, __dp4a(static_cast<int>(bytes.w[1]), 0x01010101, sum));
}

/* Puts a patch's tiles in place, a warp each; `sums` of formats of rows are added to. */
template <pwl_qgemm_format format, class stage>
__device__ void put_tiles(const pwl_qgemm_source &from, const pwl_qgemm_weights &to, const patch &of,
                          pwl_qgemm_survey *found, int32_t *sums)
{
    constexpr unsigned scale_bytes = pwl_qgemm_scale_bytes(format), tile_bytes = pwl_qgemm_tile_bytes(format);
    constexpr unsigned halves = pwl_qgemm_bits(format) / 4; /* of a block: 16 bytes of codes each */
    constexpr uint32_t zeros = pwl_qgemm_zeros(format) * 0x01010101u;
    const unsigned lane = threadIdx.x % 32, t = lane % 4, tile = of.row / tile_rows % PWL_QGEMM_TILES;
    const unsigned first = pwl_qgemm_row_of_lane(format, lane / 4),
                   at[2] = {first, first + pwl_qgemm_rows_apart(format)};
    const uint8_t *row[2];
    int32_t sum[2] = {0, 0};
#pragma unroll
    for (unsigned i = 0; i < 2; i++)
        row[i] = of.shared + at[i] * stage::pitch + (stage::made ? 0 : begin_of(from, of, at[i] / 8, at[i] % 8) % 16);
    for (unsigned p = threadIdx.x / 32; p < stage::pieces; p += warps) {
        const size_t column = (of.block + 2 * p) * PWL_BLOCK;
        if (column >= from.k)
            break;
        uint8_t *const piece =
            static_cast<uint8_t *>(const_cast<void *>(to.memory)) + pwl_qgemm_piece_at(format, from.k, of.row, column);
        uint32_t words[2][2 * halves]; /* of a block */
#pragma unroll
        for (unsigned b = 0; b < 2; b++) {
#pragma unroll
            for (unsigned h = 0; h < halves; h++) {
                uint32_t codes[2];
#pragma unroll
                for (unsigned i = 0; i < 2; i++) {
                    const uint8_t *const q = row[i] + (2 * p + b) * stage::block_bytes + stage::codes_at + h * 16;
                    codes[i] = of.has(from, at[i], 2 * p + b) ? gather<format, stage>(q, t) : zeros;
                    if constexpr (pwl_qgemm_is_rows(format))
                        sum[i] = sum_of_word<format>(codes[i], sum[i]);
                }
                words[b][2 * h] = halves == 2 ? codes[0] : pwl_qgemm_low_nibbles(codes[0], codes[1]);
                words[b][2 * h + 1] = halves == 2 ? codes[1] : pwl_qgemm_high_nibbles(codes[0], codes[1]);
            }
        }
        const uint32_t *const word = words[0];
#pragma unroll
        for (unsigned h = 0; h < halves; h++) {
            uint4 *const here = reinterpret_cast<uint4 *>(piece + tile * tile_bytes + h * 512) + lane;
            if (static_cast<void *>(here) != found)
                *here = make_uint4(word[4 * h], word[4 * h + 1], word[4 * h + 2], word[4 * h + 3]);
        }
        if constexpr (!pwl_qgemm_is_rows(format)) { /* lanes' scales are in the order of pwl_qgemm_scale_at() */
            const unsigned r = lane % 2 ? at[1] : at[0], b = 2 * p + lane / 2 % 2;
            const uint8_t *const block = (lane % 2 ? row[1] : row[0]) + b * stage::block_bytes;
            uint8_t *const scales = piece + PWL_QGEMM_TILES * tile_bytes + tile * 32 * scale_bytes;
            uint16_t scale = 0;
            if (of.has(from, r, b)) {
                scale = stage::even ? *reinterpret_cast<const uint16_t *>(block) : block[0];
                if (found)
                    tell<format>(found, of, of.row + r, of.block + b, scale, block + stage::codes_at);
            }
            if (scale_bytes == 1)
                scales[lane] = static_cast<uint8_t>(scale);
            else
                reinterpret_cast<uint16_t *>(scales)[lane] = scale;
        }
    }
    if constexpr (pwl_qgemm_is_rows(format)) {
#pragma unroll
        for (unsigned i = 0; i < 2; i++) {
            sum[i] = sum_of_lanes<4>(sum[i]); /* below 2^31 in all of a row, as K <= 65793 */
            if (sums && t == i)
                atomicAdd(&sums[of.row + at[i]], sum[i]);
        }
    }
}

/*
 * A row of the grid for each of the first `tiles` 16 rows, as far as it has so many. Where something is to be found, it
 * lies in the first 16 bytes of the weights, which are then left alone.
 */
template <pwl_qgemm_format format, pwl_qgemm_from kind>
__global__ void __launch_bounds__(threads, 4)
    pieces(const __grid_constant__ pwl_qgemm_source source, const __grid_constant__ pwl_qgemm_weights to, size_t tiles,
           pwl_qgemm_survey *found, int32_t *sums)
{
    typedef staging<format, kind> stage;
    __shared__ __align__(16) uint8_t shared[stage::bytes];
    const pwl_qgemm_source from = known<format, kind>(source);
    for (size_t tile = blockIdx.y; tile < tiles; tile += gridDim.y) {
        const patch here = {tile * tile_rows, size_t{blockIdx.x} * stage::blocks, from.k / PWL_BLOCK, shared};
        fill<format, stage>(from, to, here);
        __syncthreads();
        put_tiles<format, stage>(from, to, here, found, sums);
        __syncthreads();
    }
}

/* -- Launches -------------------------------------------------------------------------------------------------------
 */

__global__ void settle()
{
}

unsigned grid_of(size_t blocks)
{
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

typedef void rows_kernel(const pwl_qgemm_source source, size_t count, pwl_qgemm_survey *found, int8_t *exponents,
                         int32_t *sums);
typedef void pieces_kernel(const pwl_qgemm_source source, const pwl_qgemm_weights to, size_t tiles,
                           pwl_qgemm_survey *found, int32_t *sums);

struct kernels {
    rows_kernel *rows;
    pieces_kernel *pieces;
    size_t pieces_each; /* of a thread block, along K */
};

template <pwl_qgemm_format format, pwl_qgemm_from kind> kernels kernels_for()
{
    return {rows<format, kind>, pieces<format, kind>, staging<format, kind>::pieces};
}

kernels kernels_of(const pwl_qgemm_source *from)
{
    static const kernels of_blocks[] = {kernels_for<PWL_QGEMM_Q4_0, PWL_QGEMM_FROM_BLOCKS>(),
                                        kernels_for<PWL_QGEMM_Q8_0, PWL_QGEMM_FROM_BLOCKS>(),
                                        kernels_for<PWL_QGEMM_MXFP4, PWL_QGEMM_FROM_BLOCKS>()};
    static const kernels of_floats[] = {
        kernels_for<PWL_QGEMM_Q4_0, PWL_QGEMM_FROM_FLOATS>(), kernels_for<PWL_QGEMM_Q8_0, PWL_QGEMM_FROM_FLOATS>(),
        kernels_for<PWL_QGEMM_MXFP4, PWL_QGEMM_FROM_FLOATS>(), kernels_for<PWL_QGEMM_ROWS8, PWL_QGEMM_FROM_FLOATS>(),
        kernels_for<PWL_QGEMM_ROWS4, PWL_QGEMM_FROM_FLOATS>()};
    if (from->from == PWL_QGEMM_FROM_CODES)
        return from->format == PWL_QGEMM_ROWS8 ? kernels_for<PWL_QGEMM_ROWS8, PWL_QGEMM_FROM_CODES>()
                                               : kernels_for<PWL_QGEMM_ROWS4, PWL_QGEMM_FROM_CODES>();
    if (from->from == PWL_QGEMM_FROM_Q4_0)
        return kernels_for<PWL_QGEMM_ROWS4, PWL_QGEMM_FROM_Q4_0>();
    return (from->from == PWL_QGEMM_FROM_BLOCKS ? of_blocks : of_floats)[from->format];
}

int launch_rows(const pwl_qgemm_source *from, size_t count, pwl_qgemm_survey *found, int8_t *exponents, int32_t *sums,
                struct CUstream_st *stream)
{
    kernels_of(from).rows<<<grid_of((count - 1) / warps + 1), threads, 0, stream>>>(*from, count, found, exponents,
                                                                                    sums);
    return cudaGetLastError();
}

/* The sums of rows of formats that have them, or null. */
int32_t *sums_of(const pwl_qgemm_weights *to)
{
    char *const memory = static_cast<char *>(const_cast<void *>(to->memory));
    return pwl_qgemm_is_rows(to->format) ? reinterpret_cast<int32_t *>(memory + pwl_qgemm_row_sum_at(to, 0)) : nullptr;
}

} // namespace

int pwl_cuda_launch_qgemm_survey(const pwl_qgemm_source *from, pwl_qgemm_survey *found, struct CUstream_st *stream)
{
    return launch_rows(from, from->n, found, nullptr, nullptr, stream);
}

int pwl_cuda_launch_qgemm_rows(const pwl_qgemm_source *from, const pwl_qgemm_weights *to, pwl_qgemm_survey *found,
                               struct CUstream_st *stream)
{
    char *const memory = static_cast<char *>(const_cast<void *>(to->memory));
    return launch_rows(from, pwl_qgemm_round_up(from->n, PWL_QGEMM_ROWS), found,
                       reinterpret_cast<int8_t *>(memory + pwl_qgemm_row_exponent_at(to, 0)), sums_of(to), stream);
}

int pwl_cuda_launch_qgemm_pieces(const pwl_qgemm_source *from, const pwl_qgemm_weights *to, pwl_qgemm_survey *found,
                                 struct CUstream_st *stream)
{
    const kernels chosen = kernels_of(from);
    const size_t tiles = pwl_qgemm_round_up(from->n, PWL_QGEMM_ROWS) / tile_rows;
    const size_t across = (pwl_qgemm_depth(from->k) - 1) / chosen.pieces_each + 1;
    if (across > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(tiles < 65535 ? tiles : 65535));
    chosen.pieces<<<grid, threads, 0, stream>>>(*from, *to, tiles, found, sums_of(to));
    return cudaGetLastError();
}

int pwl_cuda_launch_qgemm_last(const pwl_qgemm_source *from, const pwl_qgemm_weights *to, struct CUstream_st *stream)
{
    if (from->from != PWL_QGEMM_FROM_CODES)
        kernels_of(from).pieces<<<1, threads, 0, stream>>>(*from, *to, 1, nullptr, nullptr);
    return cudaGetLastError();
}

int pwl_cuda_launch_qgemm_settle(struct CUstream_st *stream)
{
    settle<<<1, 1, 0, stream>>>();
    return cudaGetLastError();
}
