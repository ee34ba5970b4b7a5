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

#include "matrix.cuh"

namespace
{

using namespace pwl;

constexpr uint32_t depth = 64;
constexpr uint32_t longest = 32768; /* products: 2 * 128 * 255 * 32768 < 2^31 */

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
        make_codes<true, a, b, tile>(task, at, sum.part, codes);
    } else {
        make_codes<false, a, b, tile>(task, at, sum.part, codes);
    }
    __syncthreads();
    constexpr uint32_t batch = tile::rows * tile::columns / 8 > tile::threads ? 2 : 1;
    if (task.y.values)
        store<tile, batch>(task, at, codes, by_values{task.y});
    else
        store<tile, batch>(task, at, codes, as_they_are());
}

/* Blocks for which ptxas is to leave registers: where it would rather spill than have fewer, one. */
template <int b, typename tile> constexpr unsigned fewest_blocks()
{
#if __CUDA_ARCH__ == 1200
    return b == PWL_S16 || tile::layers > 1;
#else
    return b == PWL_S16;
#endif
}

template <int a, int b, typename tile>
__global__ void __launch_bounds__(tile::threads, fewest_blocks<b, tile>())
    multiply(const __grid_constant__ matrix_tasks<b> tasks)
{
    extern __shared__ __align__(128) char shared[];
    uint32_t block;
    const matrix_task &task = task_of(tasks, &block);
    const uint32_t column_tile = block % task.column_tiles, above = block / task.column_tiles;
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
cudaError_t launch_tiles(const pwl_work &work, bool overlaps, cudaStream_t stream)
{
    matrix_tasks<b> tasks;
    const uint32_t tiles = make_tasks<tile>(&work, &tasks);
    return launch_overlapped(overlaps, multiply<a, b, tile>, dim3(tiles), tile::threads, memory<a, b, tile>::bytes,
                             stream, tasks);
}

template <int a, int b> cudaError_t launch(const pwl_work &work, bool overlaps, cudaStream_t stream)
{
    const pwl_work_matrix &of = work.of.matrix;
    if (of.rows > 64 && tiles_of<large>(&work) >= 264)
        return launch_tiles<a, b, large>(work, overlaps, stream);
    if (of.rows > 32 && tiles_of<middle>(&work) >= 132)
        return launch_tiles<a, b, middle>(work, overlaps, stream);
    if (of.rows > 32 && tiles_of<slim>(&work) >= 64)
        return launch_tiles<a, b, slim>(work, overlaps, stream);
    if (of.length <= 2 * depth || tiles_of<small>(&work) >= 256)
        return launch_tiles<a, b, small>(work, overlaps, stream);
    return launch_tiles<a, b, few<b>>(work, overlaps, stream);
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
