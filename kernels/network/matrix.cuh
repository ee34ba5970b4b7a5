/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of sums of products, whatever multiplies: codes, by way of shared memory, from which rows are stored.
 * Codes of 16 bits are two bytes, whose sums are added at the end.
 */
#ifndef PWL_NETWORK_MATRIX_CUH
#define PWL_NETWORK_MATRIX_CUH

#include "arch/async.cuh"
#include "arch/overlap.cuh"
#include "codes.cuh"
#include "launch.h"
#include "tail.h"

namespace pwl
{

template <int type> constexpr uint32_t bytes_of = type >= PWL_S16 ? 2 : 1;
template <int type> constexpr bool is_signed = type == PWL_S8 || type == PWL_S16;

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

/* A matrix of a launch. */
struct matrix_task {
    pwl_work_output y;
    pwl_work_matrix of;
    const char *a, *b;
    uint32_t tiles, row_tiles, column_tiles;
    bool a_copies, b_copies;
    bool eights; /* whether eight neighbouring codes of a row are stored, and others read, at a time */
};

/* All of it, one behind the other. Weights are bytes: of others there is one. */
template <int b> struct matrix_tasks {
    static constexpr uint32_t count = b == PWL_S8 ? PWL_CUDA_BESIDE : 1;
    matrix_task of[count];
};

inline bool has_eights(const pwl_work &work)
{
    const pwl_work_matrix &of = work.of.matrix;
    return of.columns % 8 == 0 && of.order.columns % 8 == 0 && work.y.type <= PWL_U16 &&
           reinterpret_cast<uintptr_t>(work.y.at) % 16 == 0 && reinterpret_cast<uintptr_t>(of.other.at) % 16 == 0;
}

/* How many there are of the work and what is beside it. */
template <typename tile> uint64_t tiles_of(const pwl_work *work)
{
    uint64_t tiles = 0;
    for (; work; work = work->beside) {
        const pwl_work_matrix &of = work->of.matrix;
        tiles += static_cast<uint64_t>(work->count / (of.rows * of.columns)) *
                 ((of.rows + tile::rows - 1) / tile::rows) * ((of.columns + tile::columns - 1) / tile::columns);
    }
    return tiles;
}

/* The work and what is beside it, in tiles; how many tiles there are. */
template <typename tile, int b> static uint32_t make_tasks(const pwl_work *work, matrix_tasks<b> *made)
{
    uint32_t tiles = 0;
    for (matrix_task *task = made->of; work; work = work->beside, task++) {
        const pwl_work_matrix &of = work->of.matrix;
        const uint32_t bytes_of_a = 1u << (work->x[0].type >> 1), bytes_of_b = 1u << (work->x[1].type >> 1);
        *task = {work->y,
                 of,
                 static_cast<const char *>(work->x[0].at),
                 static_cast<const char *>(work->x[1].at),
                 0,
                 0,
                 0,
                 false,
                 false,
                 has_eights(*work)};
        task->row_tiles = (of.rows + tile::rows - 1) / tile::rows;
        task->column_tiles = (of.columns + tile::columns - 1) / tile::columns;
        task->tiles = work->count / (of.rows * of.columns) * task->row_tiles * task->column_tiles;
        /* Rows of whole chunks. */
        task->a_copies = reinterpret_cast<uintptr_t>(task->a) % 16 == 0 && of.length * bytes_of_a % 16 == 0;
        task->b_copies = reinterpret_cast<uintptr_t>(task->b) % 16 == 0 && of.b_step == 1 &&
                         of.b_stride * bytes_of_b % 16 == 0 && of.b_length * bytes_of_b % 16 == 0 &&
                         of.b_matrix * bytes_of_b % 16 == 0;
        tiles += task->tiles;
    }
    return tiles;
}

/* The task of this block, and its number among those of the task. */
template <int b> __device__ const matrix_task &task_of(const matrix_tasks<b> &tasks, uint32_t *block)
{
    const matrix_task *task = tasks.of;
    *block = blockIdx.x;
    while (tasks.count > 1 && *block >= task->tiles)
        *block -= task++->tiles;
    return *task;
}

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
__device__ void make_codes(const matrix_task &task, const block_place &of,
                           const int32_t (&sum)[parts_of<a, b>][tile::of_rows][tile::of_columns][4], char *shared)
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
                part[k % 2][k / 2] = sum[k / 2][piece / 2][j][2 * (piece % 2) + k % 2];
            *codes_at<tile>(shared, lane.row + 8 * piece, lane.column + 8 * j) =
                make_int2(pair.code(task.y, part[0], 0), pair.code(task.y, part[1], 1));
        }
    }
}

/* Codes that are stored as they are. */
struct as_they_are {
    __device__ int32_t operator()(int32_t code) const
    {
        return code;
    }
};

/* Values of codes, which are read; codes beyond the last are codes as well. */
struct by_values {
    const pwl_work_output &y;

    __device__ int32_t operator()(int32_t code) const
    {
        return static_cast<int32_t>(
            pwl_work_code(y.type, y.values, static_cast<uint32_t>(code) - static_cast<uint32_t>(y.qmin)));
    }
};

/* Eight codes of a row on their way from shared memory to where they are stored. */
struct eight_place {
    bool there;
    uint32_t row, column; /* of all */
    eight_codes codes;
    uint4 other;

    template <typename tile, typename mapping>
    __device__ void read(const matrix_task &task, const block_place &of, char *shared, uint32_t k, const mapping &map)
    {
        const uint32_t down = k / (tile::columns / 8), right = k % (tile::columns / 8) * 8;
        there = k < tile::rows * (tile::columns / 8) && down < of.rows && right < of.columns;
        row = static_cast<uint32_t>(of.first) + down;
        column = of.column + right;
        if (!there)
            return;
        const int4 *const from = reinterpret_cast<const int4 *>(codes_at<tile>(shared, down, right));
        const int4 first = from[0], last = from[1];
        codes = {{first.x, first.y, first.z, first.w, last.x, last.y, last.z, last.w}};
        if (task.eights && task.of.other.at)
            other = load_words(task.of.other, row * task.of.columns + column);
#pragma unroll
        for (uint32_t i = 0; i < together; i++)
            codes.code[i] = map(codes.code[i]);
    }

    __device__ void store(const matrix_task &task)
    {
        const pwl_work_matrix &own = task.of;
        if (there && task.eights) {
            if (own.other.at) {
                const eight_codes others = codes_of(own.other.type, other);
#pragma unroll
                for (uint32_t i = 0; i < together; i++)
                    codes.code[i] = pwl_work_sum_of(&own.sum, codes.code[i], others.code[i]);
            }
            store_eight(task.y, static_cast<uint32_t>(pwl_work_ordered(&own, row, column)), codes);
        } else if (there) {
#pragma unroll
            for (uint32_t i = 0; i < together; i++)
                if (column + i < own.columns)
                    pwl_work_set(
                        task.y.type, task.y.at, pwl_work_ordered(&own, row, column + i),
                        pwl_work_added(&own, codes.code[i], static_cast<size_t>(row) * own.columns + column + i));
        }
    }
};

/* Rows of codes, or of what `map` makes of them, added to others. What is read of `batch` pieces is under way at once.
 */
template <typename tile, uint32_t batch, typename mapping>
__device__ void store(const matrix_task &task, const block_place &of, char *shared, const mapping &map)
{
#pragma unroll 1
    for (uint32_t k = threadIdx.x; k < tile::rows * (tile::columns / 8); k += batch * tile::threads) {
        eight_place places[batch];
#pragma unroll
        for (uint32_t i = 0; i < batch; i++)
            places[i].template read<tile>(task, of, shared, k + i * tile::threads, map);
#pragma unroll
        for (uint32_t i = 0; i < batch; i++)
            places[i].store(task);
    }
}

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

} // namespace pwl

#endif
