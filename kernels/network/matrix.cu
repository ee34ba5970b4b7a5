/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of products on tensor cores, exactly: codes of 16 bits are two bytes, whose sums are added in 64 bits at the
 * end.
 *
 *   a = 2^8 a_top + a_low, b likewise:   sum a b = 2^16 sum a_top b_top + 2^8 (sum a_top b_low + sum a_low b_top) + ...
 *
 * A block has a tile of `rows` by `columns` sums. Pieces of 64 columns of both operands lie in shared memory, the next
 * while the last is multiplied; of few rows, layers of warps share the columns, and add their sums at the end:
 *
 *          64 k
 *   a   |         |  rows         row r of 64 or 128 bytes, in chunks of 16, whose halves change places in every second
 *   b   |         |  columns      pair of rows, or row, so that the lanes of a load read all banks
 *
 * The order of k within 32 is that in which lanes read: lane (g, t) has k 8 t to 8 t + 7 of row g, for both operands.
 */
#include <cuda_runtime.h>

#include "arch/async.cuh"
#include "arch/overlap.cuh"
#include "launch.h"

namespace
{

using namespace pwl;

constexpr uint32_t depth = 64;
constexpr uint32_t longest = 32768; /* products: 2 * 128 * 255 * 32768 < 2^31 */

template <int type> constexpr uint32_t bytes_of = type >= PWL_S16 ? 2 : 1;
template <int type> constexpr bool is_signed = type == PWL_S8 || type == PWL_S16;

/* d += a * b of 32 columns of bytes. */
template <bool a_signed, bool b_signed>
__device__ void multiply_bytes(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
#define PWL_MULTIPLY(types)                                                                                            \
    asm("mma.sync.aligned.m16n8k32.row.col.s32." types ".s32 " /* d += a * b */                                        \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                              \
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                               \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
    if constexpr (a_signed && b_signed)
        PWL_MULTIPLY("s8.s8");
    else if constexpr (a_signed)
        PWL_MULTIPLY("s8.u8");
    else if constexpr (b_signed)
        PWL_MULTIPLY("u8.s8");
    else
        PWL_MULTIPLY("u8.u8");
#undef PWL_MULTIPLY
}

/* Where byte `at` of a row lies in a piece. */
template <int type> __device__ uint32_t place_in(uint32_t row, uint32_t at)
{
    const uint32_t flip = bytes_of<type> == 2 ? (row & 1) << 6 : (row & 2) << 4;
    return row * depth * bytes_of<type> + (at ^ flip);
}

/* Eight neighbouring codes of a row as bytes: [0] the first four, [1] the last. */
struct byte_words {
    uint32_t top[2], low[2];
};

template <int type> __device__ byte_words words_at(const char *piece, uint32_t row, uint32_t half, uint32_t t)
{
    byte_words words;
    const char *const at = piece + place_in<type>(row, (half * 32 + t * 8) * bytes_of<type>);
    if constexpr (bytes_of<type> == 1) {
        const uint2 read = *reinterpret_cast<const uint2 *>(at);
        words.top[0] = read.x;
        words.top[1] = read.y;
        words.low[0] = words.low[1] = 0;
    } else {
        const uint4 read = *reinterpret_cast<const uint4 *>(at);
        words.top[0] = __byte_perm(read.x, read.y, 0x7531);
        words.top[1] = __byte_perm(read.z, read.w, 0x7531);
        words.low[0] = __byte_perm(read.x, read.y, 0x6420);
        words.low[1] = __byte_perm(read.z, read.w, 0x6420);
    }
    return words;
}

/* One operand as a block reads it. */
struct source {
    const char *at;        /* row 0 of the block's */
    uint32_t rows, length; /* of the block's that there are; codes of a row that may be read */
    uint32_t stride, step; /* codes from row to row, and from k to k */
    bool copies;           /* 16 bytes at a time */
};

/* Starts to bring codes [from, from + 64) of `rows` rows; zeros where there are none. */
template <int type, uint32_t rows, uint32_t threads> __device__ void bring(const source &of, uint32_t from, char *piece)
{
    constexpr uint32_t bytes = bytes_of<type>, chunk = 16 / bytes, chunks = depth / chunk;
    if (of.copies) {
        const uint32_t at = threadIdx.x % chunks * chunk, first = threadIdx.x / chunks;
        const char *const begin = of.at + (static_cast<size_t>(first) * of.stride + from + at) * bytes;
#pragma unroll
        for (uint32_t k = 0; k < rows * chunks; k += threads) {
            const uint32_t row = first + k / chunks;
            const bool there = row < of.rows && from + at < of.length;
            const char *const source = there ? begin + static_cast<size_t>(k / chunks) * of.stride * bytes : of.at;
            if (rows * chunks % threads == 0 || row < rows)
                copy_async_if(there, shared_address(piece + place_in<type>(row, at * bytes)), source);
        }
        return;
    }
    for (uint32_t k = threadIdx.x; k < rows * depth; k += threads) {
        const uint32_t row = of.step == 1 ? k / depth : k % rows, at = of.step == 1 ? k % depth : k / rows;
        const bool there = row < of.rows && from + at < of.length;
        const size_t offset = static_cast<size_t>(row) * of.stride + static_cast<size_t>(from + at) * of.step;
        char *const to = piece + place_in<type>(row, at * bytes);
        if constexpr (bytes == 1)
            *to = there ? of.at[offset] : 0;
        else
            *reinterpret_cast<int16_t *>(to) = there ? reinterpret_cast<const int16_t *>(of.at)[offset] : 0;
    }
}

/* How many warps lie beside each other, how many pieces of 16 rows and of 8 columns each has, and how many such layers
 * share the columns of both operands. */
template <uint32_t down_, uint32_t across_, uint32_t of_rows_, uint32_t of_columns_, uint32_t layers_ = 1>
struct shape {
    static constexpr uint32_t down = down_, across = across_, of_rows = of_rows_, of_columns = of_columns_;
    static constexpr uint32_t layers = layers_, threads = 32 * down * across * layers;
    static constexpr uint32_t rows = 16 * of_rows * down, columns = 8 * of_columns * across;
};

template <int a, int b> constexpr int parts_of = static_cast<int>(bytes_of<a> + bytes_of<b>) - 1;

/* Sums of bytes, the highest first, as a sum. */
template <typename integer, int parts> __device__ integer whole(const int32_t (&part)[parts])
{
    integer sum = 0;
#pragma unroll
    for (int k = 0; k < parts; k++)
        sum = sum * 256 + static_cast<integer>(part[k]);
    return sum;
}

/* What lane `lane` of a warp has of its tile: of each piece of 16 rows and 8 columns, and of each upper or lower half
 * of it, two neighbouring sums. */
struct lane_place {
    uint32_t row, column;

    template <typename tile> __device__ static lane_place of(const tile &)
    {
        const uint32_t warp = threadIdx.x / 32 % (tile::down * tile::across), lane = threadIdx.x % 32;
        return {warp / tile::across * (16 * tile::of_rows) + lane / 4,
                warp % tile::across * (8 * tile::of_columns) + lane % 4 * 2};
    }
};

/* The sums of a warp. */
template <int a, int b, typename tile> struct sums {
    static constexpr int parts = parts_of<a, b>;
    int32_t part[parts][tile::of_rows][tile::of_columns][4];

    __device__ sums() : part{}
    {
    }

    /* Adds the products of 32 k. */
    __device__ void add(const char *a_piece, const char *b_piece, uint32_t half)
    {
        const uint32_t lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, warp = threadIdx.x / 32;
        const uint32_t row = warp / tile::across % tile::down * (16 * tile::of_rows) + g;
        const uint32_t column = warp % tile::across * (8 * tile::of_columns) + g;
        byte_words of_b[tile::of_columns];
#pragma unroll
        for (uint32_t j = 0; j < tile::of_columns; j++)
            of_b[j] = words_at<b>(b_piece, column + 8 * j, half, t);
#pragma unroll
        for (uint32_t i = 0; i < tile::of_rows; i++) {
            const byte_words upper = words_at<a>(a_piece, row + 16 * i, half, t);
            const byte_words lower = words_at<a>(a_piece, row + 16 * i + 8, half, t);
            const uint32_t top[4] = {upper.top[0], lower.top[0], upper.top[1], lower.top[1]};
            const uint32_t low[4] = {upper.low[0], lower.low[0], upper.low[1], lower.low[1]};
#pragma unroll
            for (uint32_t j = 0; j < tile::of_columns; j++) {
                multiply_bytes<is_signed<a>, is_signed<b>>(part[0][i][j], top, of_b[j].top);
                if constexpr (bytes_of<a> == 2)
                    multiply_bytes<false, is_signed<b>>(part[1][i][j], low, of_b[j].top);
                if constexpr (bytes_of<b> == 2)
                    multiply_bytes<is_signed<a>, false>(part[1][i][j], top, of_b[j].low);
                if constexpr (bytes_of<a> == 2 && bytes_of<b> == 2)
                    multiply_bytes<false, false>(part[2][i][j], low, of_b[j].low);
            }
        }
    }
};

struct matrix_task {
    pwl_work_output y;
    pwl_work_matrix of;
    const char *a, *b;
    uint32_t row_tiles, column_tiles;
    bool a_copies, b_copies;
};

/* A block's tile of the output: its first row and column, and how many there are from there on. */
struct block_place {
    size_t first;
    uint32_t rows, column, columns;
    const pwl_work_channel *channels; /* of its columns, in shared memory */
};

/* What becomes of sums in two neighbouring columns; beyond the last, of any. */
template <bool narrow> struct column_pair {
    int64_t added[2], bias[2];
    int32_t factor[2], shift[2], up[2];

    /* Columns from `at` of the block's tile on. */
    __device__ column_pair(const matrix_task &task, const block_place &of, uint32_t at)
    {
#pragma unroll
        for (uint32_t k = 0; k < 2; k++) {
            if constexpr (narrow) {
                const uint32_t c = at + k;
                const int4 read = *reinterpret_cast<const int4 *>(of.channels + c);
                added[k] = static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(read.y)) << 32 |
                                                static_cast<uint32_t>(read.x));
                bias[k] = read.z;
                factor[k] = read.w;
                shift[k] = of.channels[c].shift;
                up[k] = of.channels[c].up;
            } else {
                const uint32_t c = of.column + min(at + k, of.columns - 1), which = task.of.factors.count > 1 ? c : 0;
                bias[k] = task.of.bias ? __ldg(task.of.bias + c) : 0;
                factor[k] = __ldg(task.of.factors.factor + which);
                shift[k] = __ldg(task.of.factors.shift + which);
                added[k] = up[k] = 0;
            }
        }
    }

    template <int parts> __device__ int32_t code(const pwl_work_output &y, const int32_t (&part)[parts], int k) const
    {
        if constexpr (narrow) {
            const uint32_t v = whole<uint32_t>(part) + static_cast<uint32_t>(bias[k]);
            const int64_t scaled = static_cast<int64_t>(static_cast<int32_t>(v << up[k])) * factor[k] + added[k];
            const int32_t code = static_cast<int32_t>(scaled >> 32) >> shift[k];
            return max(min(code, static_cast<int32_t>(y.qmax)), static_cast<int32_t>(y.qmin));
        } else {
            const int64_t v = pwl_network_shr((whole<int64_t>(part) + bias[k]) * factor[k], shift[k]);
            return static_cast<int32_t>(pwl_sat(v + y.zero_point, y.qmin, y.qmax)); /* of U32 as its bits */
        }
    }
};

/* Codes of a tile in shared memory, from which rows are stored: where two neighbours are. */
template <typename tile> __device__ int2 *codes_at(char *shared, uint32_t row, uint32_t column)
{
    constexpr uint32_t stride = tile::columns + 8; /* so that the lanes of a store write to all banks */
    return reinterpret_cast<int2 *>(reinterpret_cast<int32_t *>(shared) + row * stride + column);
}

template <bool narrow, int a, int b, typename tile>
__device__ void make_codes(const matrix_task &task, const block_place &of, const sums<a, b, tile> &sum, char *shared)
{
    constexpr int parts = parts_of<a, b>;
    const lane_place lane = lane_place::of(tile());
#pragma unroll
    for (uint32_t j = 0; j < tile::of_columns; j++) {
        const column_pair<narrow> pair(task, of, lane.column + 8 * j);
#pragma unroll
        for (uint32_t piece = 0; piece < 2 * tile::of_rows; piece++) {
            int32_t part[2][parts];
#pragma unroll
            for (int k = 0; k < 2 * parts; k++)
                part[k % 2][k / 2] = sum.part[k / 2][piece / 2][j][2 * (piece % 2) + k % 2];
            *codes_at<tile>(shared, lane.row + 8 * piece, lane.column + 8 * j) =
                make_int2(pair.code(task.y, part[0], 0), pair.code(task.y, part[1], 1));
        }
    }
}

/* The same of the sums of all layers, which lie in shared memory: each layer makes some of them. */
template <bool narrow, int a, int b, typename tile>
__device__ void make_layers_codes(const matrix_task &task, const block_place &of, const int32_t *sums, char *shared)
{
    constexpr int parts = parts_of<a, b>;
    constexpr uint32_t lanes = 32 * tile::down * tile::across, each = 4 * parts * tile::of_rows * tile::of_columns;
    const lane_place place = lane_place::of(tile());
    const uint32_t layer = threadIdx.x / lanes, lane = threadIdx.x % lanes;
    for (uint32_t piece = layer; piece < 2 * tile::of_rows * tile::of_columns; piece += tile::layers) {
        const uint32_t below = piece % 2, i = piece / 2 / tile::of_columns, j = piece / 2 % tile::of_columns;
        int32_t part[2][parts] = {};
#pragma unroll
        for (uint32_t from = 0; from < tile::layers; from++)
#pragma unroll
            for (int k = 0; k < 2 * parts; k++)
                part[k % 2][k / 2] +=
                    sums[(from * each + (piece / 2 * parts + k / 2) * 4 + 2 * below + k % 2) * lanes + lane];
        const column_pair<narrow> pair(task, of, place.column + 8 * j);
        *codes_at<tile>(shared, place.row + 16 * i + 8 * below, place.column + 8 * j) =
            make_int2(pair.code(task.y, part[0], 0), pair.code(task.y, part[1], 1));
    }
}

template <int a, int b, typename tile> __device__ void keep_sums(const sums<a, b, tile> &sum, int32_t *shared)
{
    constexpr int parts = parts_of<a, b>;
    constexpr uint32_t lanes = 32 * tile::down * tile::across, each = 4 * parts * tile::of_rows * tile::of_columns;
    const uint32_t layer = threadIdx.x / lanes, lane = threadIdx.x % lanes;
#pragma unroll
    for (uint32_t k = 0; k < each; k++)
        shared[(layer * each + k) * lanes + lane] =
            sum.part[k / 4 % parts][k / (4 * parts) / tile::of_columns][k / (4 * parts) % tile::of_columns][k % 4];
}

/* Rows of codes, eight at a time, by way of values where there are such. */
template <typename tile> __device__ void store(const matrix_task &task, const block_place &of, char *shared)
{
    const pwl_work_output &y = task.y;
    const bool whole = task.of.columns % 8 == 0 && y.type <= PWL_U16 && reinterpret_cast<uintptr_t>(y.at) % 16 == 0;
#pragma unroll 1
    for (uint32_t k = threadIdx.x; k < tile::rows * (tile::columns / 8); k += tile::threads) {
        const uint32_t row = k / (tile::columns / 8), column = k % (tile::columns / 8) * 8;
        if (row >= of.rows || column >= of.columns)
            continue;
        const int4 *const read = reinterpret_cast<const int4 *>(codes_at<tile>(shared, row, column));
        const int4 first = read[0], last = read[1];
        const size_t at = (of.first + row) * task.of.columns + of.column + column;
        int32_t code[8] = {first.x, first.y, first.z, first.w, last.x, last.y, last.z, last.w};
        if (y.values) {
#pragma unroll
            for (uint32_t i = 0; i < 8; i++) /* codes beyond the last are codes as well */
                code[i] = static_cast<int32_t>(
                    pwl_work_code(y.type, y.values, static_cast<uint32_t>(code[i]) - static_cast<uint32_t>(y.qmin)));
        }
        if (whole) {
            const uint4 pairs =
                make_uint4(__byte_perm(code[0], code[1], 0x5410), __byte_perm(code[2], code[3], 0x5410),
                           __byte_perm(code[4], code[5], 0x5410), __byte_perm(code[6], code[7], 0x5410));
            if (y.type <= PWL_U8)
                *reinterpret_cast<uint2 *>(static_cast<char *>(y.at) + at) =
                    make_uint2(__byte_perm(pairs.x, pairs.y, 0x6420), __byte_perm(pairs.z, pairs.w, 0x6420));
            else
                *reinterpret_cast<uint4 *>(static_cast<char *>(y.at) + 2 * at) = pairs;
            continue;
        }
#pragma unroll
        for (uint32_t i = 0; i < 8; i++)
            if (column + i < of.columns)
                pwl_work_set(y.type, y.at, at + i, code[i]);
    }
}

template <int a, int b, typename tile> struct memory {
    static constexpr uint32_t a_bytes = tile::rows * depth * bytes_of<a>, b_bytes = tile::columns * depth * bytes_of<b>;
    static constexpr uint32_t piece = a_bytes + b_bytes, stage = piece * tile::layers;
    static constexpr uint32_t most = 80 << 10; /* of which every device has one block's */
    static constexpr uint32_t stages = most / stage < 4 ? most / stage : 4;
    static constexpr uint32_t of_sums =
        tile::layers > 1 ? 4 * tile::threads * 4 * parts_of<a, b> *tile::of_rows *tile::of_columns : 0;
    static constexpr uint32_t at_end = of_sums + 4 * tile::rows * (tile::columns + 8);
    static constexpr uint32_t channels = stages * stage > at_end ? stages *stage : at_end; /* where they begin */
    static constexpr uint32_t bytes = channels + tile::columns * static_cast<uint32_t>(sizeof(pwl_work_channel));
    static_assert(stages >= 2 && channels <= most, "two stages fit");
};

/* Starts to bring what the block's columns need. */
template <uint32_t columns, uint32_t threads>
__device__ void bring_channels(const matrix_task &task, const block_place &of)
{
    for (uint32_t k = threadIdx.x; k < 2 * columns; k += threads) {
        const uint32_t c = task.of.bias ? of.column + k / 2 : 0;
        copy_async_if(k / 2 < of.columns, shared_address(reinterpret_cast<const int4 *>(of.channels) + k),
                      reinterpret_cast<const int4 *>(task.of.channels + (k / 2 < of.columns ? c : 0)) + k % 2);
    }
}

/* Brings stages of both operands to shared memory. */
template <int a, int b, typename tile> struct stages {
    typedef memory<a, b, tile> memory;
    static constexpr uint32_t deep = depth * tile::layers, ahead = memory::stages - 1;
    source of_a, of_b;
    char *shared;
    uint32_t length;

    __device__ void bring_a(uint32_t from, uint32_t stage) const
    {
#pragma unroll 1
        for (uint32_t layer = 0; layer < tile::layers; layer++)
            bring<a, tile::rows, tile::threads>(of_a, from + layer * depth,
                                                shared + stage * memory::stage + layer * memory::piece);
    }

    __device__ void bring_b(uint32_t from, uint32_t stage) const
    {
#pragma unroll 1
        for (uint32_t layer = 0; layer < tile::layers; layer++)
            bring<b, tile::columns, tile::threads>(
                of_b, from + layer * depth, shared + stage * memory::stage + layer * memory::piece + memory::a_bytes);
    }

    /* The first ones; weights, which no launch writes, before the last launch has ended. */
    __device__ void begin(bool has_weights) const
    {
        for (uint32_t stage = 0; has_weights && stage < ahead && stage * deep < length; stage++)
            bring_b(stage * deep, stage);
        wait_for_last_launch();
        for (uint32_t stage = 0; stage < ahead; stage++) {
            if (stage * deep < length) {
                bring_a(stage * deep, stage);
                if (!has_weights)
                    bring_b(stage * deep, stage);
            }
            close_group();
        }
    }

    /* Adds all products. */
    __device__ void add(sums<a, b, tile> &sum) const
    {
        const uint32_t layer = threadIdx.x / (tile::threads / tile::layers);
        uint32_t stage = 0;
        for (uint32_t from = 0; from < length; from += deep) {
            wait_for_all_but<static_cast<int>(memory::stages) - 2>();
            __syncthreads();
            const uint32_t next = from + ahead * deep, free = stage == 0 ? ahead : stage - 1;
            if (next < length) {
                bring_a(next, free);
                bring_b(next, free);
            }
            close_group();
            const char *const piece = shared + stage * memory::stage + layer * memory::piece;
            if (from + layer * depth < length)
                sum.add(piece, piece + memory::a_bytes, 0);
            if (from + layer * depth + depth / 2 < length)
                sum.add(piece, piece + memory::a_bytes, 1);
            stage = stage == ahead ? 0 : stage + 1;
        }
    }
};

template <int a, int b, typename tile>
__device__ void finish(const matrix_task &task, const block_place &at, const sums<a, b, tile> &sum, char *shared)
{
    char *const codes = shared + memory<a, b, tile>::of_sums;
    __syncthreads();
    if constexpr (tile::layers > 1) {
        int32_t *const kept = reinterpret_cast<int32_t *>(shared);
        keep_sums(sum, kept);
        __syncthreads();
        if (task.of.channels)
            make_layers_codes<true, a, b, tile>(task, at, kept, codes);
        else
            make_layers_codes<false, a, b, tile>(task, at, kept, codes);
    } else if (task.of.channels) {
        make_codes<true>(task, at, sum, codes);
    } else {
        make_codes<false>(task, at, sum, codes);
    }
    __syncthreads();
    store<tile>(task, at, codes);
}

template <int a, int b, typename tile>
__global__ void __launch_bounds__(tile::threads) multiply(const __grid_constant__ matrix_task task)
{
    extern __shared__ __align__(128) char shared[];
    const uint32_t column_tile = blockIdx.x % task.column_tiles, above = blockIdx.x / task.column_tiles;
    const uint32_t matrix = above / task.row_tiles, row = above % task.row_tiles * tile::rows;
    const uint32_t column = column_tile * tile::columns, length = task.of.length;
    const block_place at = {static_cast<size_t>(matrix) * task.of.rows + row, task.of.rows - row, column,
                            task.of.columns - column,
                            reinterpret_cast<const pwl_work_channel *>(shared + memory<a, b, tile>::channels)};
    const size_t first_b =
        static_cast<size_t>(matrix) * task.of.b_matrix + static_cast<size_t>(column) * task.of.b_stride;
    const stages<a, b, tile> brings = {
        {task.a + at.first * length * bytes_of<a>, at.rows, length, length, 1, task.a_copies},
        {task.b + first_b * bytes_of<b>, at.columns, task.of.b_length, task.of.b_stride, task.of.b_step, task.b_copies},
        shared,
        length};
    sums<a, b, tile> sum;
    if (task.of.channels)
        bring_channels<tile::columns, tile::threads>(task, at);
    brings.begin(task.of.bias != nullptr);
    brings.add(sum);
    start_next_launch();
    finish(task, at, sum, shared);
}

/* 128 rows and 64 columns; 64 and 64; 64 and 32; 32 and 32 of many small matrices; 32 and 16 of few rows. */
typedef shape<4, 2, 2, 4> large;
typedef shape<2, 2, 2, 4> middle;
typedef shape<2, 2, 2, 2> slim;
typedef shape<2, 2, 1, 2> small;
template <int b> using few = shape<1, 1, 2, 2, bytes_of<b> == 2 ? 4 : 8>;

template <int a, int b, typename tile>
cudaError_t launch_tiles(matrix_task task, uint32_t matrices, bool overlaps, cudaStream_t stream)
{
    task.row_tiles = (task.of.rows + tile::rows - 1) / tile::rows;
    task.column_tiles = (task.of.columns + tile::columns - 1) / tile::columns;
    return launch_overlapped(overlaps, multiply<a, b, tile>, dim3(matrices * task.row_tiles * task.column_tiles),
                             tile::threads, memory<a, b, tile>::bytes, stream, task);
}

template <typename tile> uint64_t tiles_of(const pwl_work_matrix &of, uint32_t matrices)
{
    return static_cast<uint64_t>(matrices) * ((of.rows + tile::rows - 1) / tile::rows) *
           ((of.columns + tile::columns - 1) / tile::columns);
}

template <int a, int b> cudaError_t launch(const pwl_work &work, bool overlaps, cudaStream_t stream)
{
    const pwl_work_matrix &of = work.of.matrix;
    const uint32_t matrices = work.count / (of.rows * of.columns);
    matrix_task task = {
        work.y, of, static_cast<const char *>(work.x[0].at), static_cast<const char *>(work.x[1].at), 0, 0, 0, 0};
    /* Rows of whole chunks. */
    task.a_copies = reinterpret_cast<uintptr_t>(task.a) % 16 == 0 && of.length * bytes_of<a> % 16 == 0;
    task.b_copies = reinterpret_cast<uintptr_t>(task.b) % 16 == 0 && of.b_step == 1 &&
                    of.b_stride * bytes_of<b> % 16 == 0 && of.b_length * bytes_of<b> % 16 == 0 &&
                    of.b_matrix * bytes_of<b> % 16 == 0;
    if (of.rows > 64 && tiles_of<large>(of, matrices) >= 264)
        return launch_tiles<a, b, large>(task, matrices, overlaps, stream);
    if (of.rows > 32 && tiles_of<middle>(of, matrices) >= 132)
        return launch_tiles<a, b, middle>(task, matrices, overlaps, stream);
    if (of.rows > 32 && tiles_of<slim>(of, matrices) >= 64)
        return launch_tiles<a, b, slim>(task, matrices, overlaps, stream);
    if (of.length <= 2 * depth || tiles_of<small>(of, matrices) >= 256)
        return launch_tiles<a, b, small>(task, matrices, overlaps, stream);
    return launch_tiles<a, b, few<b>>(task, matrices, overlaps, stream);
}

template <int a> cudaError_t launch_b(const pwl_work &work, bool overlaps, cudaStream_t stream)
{
    return work.x[1].type == PWL_S8 ? launch<a, PWL_S8>(work, overlaps, stream)
                                    : launch<a, PWL_S16>(work, overlaps, stream);
}

} // namespace

int pwl_cuda_matrix_serves(const pwl_work *work)
{
    return work->of.matrix.length <= longest && work->x[0].type <= PWL_U16 &&
           (work->x[1].type == PWL_S8 || work->x[1].type == PWL_S16) && work->x[0].zero_point == 0 &&
           work->x[1].zero_point == 0;
}

int pwl_cuda_launch_matrix(const pwl_work *work, int overlaps, struct CUstream_st *stream)
{
    switch (work->x[0].type) {
    case PWL_S8:
        return launch_b<PWL_S8>(*work, overlaps, stream);
    case PWL_U8:
        return launch_b<PWL_U8>(*work, overlaps, stream);
    case PWL_S16:
        return launch_b<PWL_S16>(*work, overlaps, stream);
    default:
        return launch_b<PWL_U16>(*work, overlaps, stream);
    }
}
