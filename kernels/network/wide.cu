/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of many rows with weights, on devices of 9.0: a block is a warpgroup that has a tile of 64 rows, and there
 * are three on a multiprocessor, so that one multiplies while another stores. A thread copies codes as they are,
 * and weights as wide.h packs them:
 *
 *     codes (boxes of 128 bytes a row)   weights (pieces of 64 channels x 128)
 *        | tensor copies                    | bulk copies
 *        v                                  v
 *     | stage | stage | stage |          each with a barrier at which both arrive
 *        | 16 bytes a lane                  |
 *        v                                  |
 *     operand A in registers, ------ wgmma -+
 *     the bytes of 16-bit codes apart       v
 *                                       sums of top bytes, sums of low bytes
 *
 * While a slab of 128 columns is multiplied, the registers of the next one are loaded, and the stage of the one before
 * it is filled anew. In the end codes lie where stages were, and a table's image beside them.
 */
#include <cuda_runtime.h>

#include "arch/tensor.cuh"
#include "arch/wgmma.cuh"
#include "map/plan.h"
#include "matrix.cuh"
#include "wide.h"

namespace pwl
{
namespace wide_products
{

constexpr uint32_t slab = PWL_WIDE_COLUMNS;
constexpr uint32_t of_multiprocessor = 228 << 10, of_block = 1 << 10; /* shared memory, and what a block takes of it */

/* Tiles of 64 columns. Those of 128, two on a multiprocessor, take longer; for four there are too few registers. */
template <int a> struct shape {
    static constexpr uint32_t rows = 64, columns = PWL_WIDE_CHANNELS, threads = 128, blocks = 3;
    static constexpr uint32_t down = 4, across = 1, of_rows = 1, of_columns = columns / 8; /* of warps */
    static constexpr uint32_t boxes = bytes_of<a>, box_bytes = rows * slab;
    static constexpr uint32_t a_bytes = boxes * box_bytes, b_bytes = PWL_WIDE_PIECE, stage = a_bytes + b_bytes;
    static constexpr uint32_t channel_bytes = columns * static_cast<uint32_t>(sizeof(pwl_work_channel));
    static constexpr uint32_t most = of_multiprocessor / blocks - of_block - channel_bytes - 64;
    static constexpr uint32_t stages = most / stage < 4 ? most / stage : 4;
    static constexpr uint32_t image_at = 4 * rows * (columns + 8), end = image_at + PWL_PLAN_IMAGE; /* behind codes */
    static constexpr uint32_t channels_at = stages * stage > end ? stages *stage : end;
    static constexpr uint32_t barriers_at = channels_at + channel_bytes, image_barrier = barriers_at + 8 * stages;
    static constexpr uint32_t bytes = image_barrier + 8;
    static_assert(stage % 1024 == 0 && image_at % 128 == 0, "as the tensor cores and copies want it");
    static_assert(stages >= 3 && (bytes + of_block) * blocks <= of_multiprocessor, "all has room");
};

} // namespace wide_products
} // namespace pwl

namespace
{

using namespace pwl;
using namespace pwl::wide_products;

#if PWL_IS_HOPPER

using namespace pwl::hopper;

constexpr uint32_t steps = slab / 32; /* operands of a slab */

/* What a block multiplies: rows of a tensor from one on, and weights. */
struct operands {
    const CUtensorMap *a;
    const char *b;
    uint32_t memory; /* of the block */
    uint32_t row, slabs;
};

template <typename tile> __device__ uint32_t barrier_of(const operands &of, uint32_t stage)
{
    return of.memory + tile::barriers_at + 8 * stage;
}

/* Weights of slab k, and what is expected with them. */
template <typename tile> __device__ void copy_weights(const operands &of, uint32_t k, uint32_t stage)
{
    const uint32_t to = of.memory + stage * tile::stage + tile::a_bytes, barrier = barrier_of<tile>(of, stage);
    arrive_and_expect(barrier, tile::stage);
    copy_bytes(to, of.b + static_cast<size_t>(k) * PWL_WIDE_PIECE, PWL_WIDE_PIECE, barrier);
}

template <typename tile> __device__ void copy_codes(const operands &of, uint32_t k, uint32_t stage)
{
#pragma unroll
    for (uint32_t box = 0; box < tile::boxes; box++)
        copy_tensor(of.memory + stage * tile::stage + box * tile::box_bytes, of.a,
                    static_cast<int32_t>(k * slab + box * (slab / tile::boxes)), static_cast<int32_t>(of.row),
                    barrier_of<tile>(of, stage));
}

/* One thread fills all stages; weights, which no launch writes, before the last launch has ended. */
template <typename tile> __device__ void begin_copies(const operands &of)
{
    const uint32_t ahead = min(tile::stages, of.slabs);
    for (uint32_t stage = 0; stage < tile::stages; stage++)
        init_barrier(barrier_of<tile>(of, stage), 1);
    init_barrier(of.memory + tile::image_barrier, 1);
    show_barriers();
    for (uint32_t k = 0; k < ahead; k++)
        copy_weights<tile>(of, k, k);
    wait_for_last_launch();
    for (uint32_t k = 0; k < ahead; k++)
        copy_codes<tile>(of, k, k);
}

template <typename tile> __device__ void copy_image(const pwl_work_lines &of, uint32_t memory)
{
    const uint32_t bytes = (of.bytes + 15) / 16 * 16; /* images are pieces of 256 */
    arrive_and_expect(memory + tile::image_barrier, bytes);
    copy_bytes(memory + tile::image_at, of.image, bytes, memory + tile::image_barrier);
}

/* Operand A of a slab: bytes, or the top and the low ones of codes of 16 bits. */
template <int a> using slab_operand = uint32_t[bytes_of<a>][steps][4];

/* `row` is the lane's first row, whose second one is 8 further down; the lane reads two chunks of each 128 bytes. */
template <int a, typename tile> __device__ void load(const char *row, slab_operand<a> &to)
{
    const uint32_t g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (uint32_t chunk = 0; chunk < 2 * tile::boxes; chunk++)
#pragma unroll
        for (uint32_t below = 0; below < 2; below++) {
            const uint4 read = *reinterpret_cast<const uint4 *>(row + chunk / 2 * tile::box_bytes + below * 8 * slab +
                                                                (2 * t + chunk % 2 ^ g) * 16);
            if constexpr (bytes_of<a> == 1) {
                to[0][2 * chunk][below] = read.x;
                to[0][2 * chunk][2 + below] = read.y;
                to[0][2 * chunk + 1][below] = read.z;
                to[0][2 * chunk + 1][2 + below] = read.w;
            } else {
                to[0][chunk][below] = __byte_perm(read.x, read.y, 0x7531);
                to[0][chunk][2 + below] = __byte_perm(read.z, read.w, 0x7531);
                to[1][chunk][below] = __byte_perm(read.x, read.y, 0x6420);
                to[1][chunk][2 + below] = __byte_perm(read.z, read.w, 0x6420);
            }
        }
}

template <int a, typename tile> struct multiplier {
    static constexpr uint32_t bytes = bytes_of<a>;
    static constexpr elements top = is_signed<a> ? elements::s8 : elements::u8;
    const operands &of;
    const char *const row;         /* the lane's first of stage 0 */
    uint32_t stage = 0, empty = 0; /* of this slab, and of the second last */
    bool odd = false;

    __device__ multiplier(const operands &of, const char *shared)
        : of(of), row(shared + (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) * slab)
    {
    }

    /* The stage of slab k - 2 is filled with the next slab that none has yet. */
    __device__ void refill(uint32_t k)
    {
        const uint32_t next = k - 2 + tile::stages;
        if (k < 2 || next >= of.slabs)
            return;
        meet(1, tile::threads);
        if (threadIdx.x == 0) {
            copy_weights<tile>(of, next, empty);
            copy_codes<tile>(of, next, empty);
        }
        __syncwarp();
        empty = empty + 1 == tile::stages ? 0 : empty + 1;
    }

    __device__ void add(uint32_t k, slab_operand<a> &operand, int32_t (&sums)[bytes][1][tile::of_columns][4])
    {
        wait_for_multiplications<1>();
        refill(k);
        wait_for(barrier_of<tile>(of, stage), odd);
        load<a, tile>(row + stage * tile::stage, operand);
        begin_multiplications();
        const uint64_t b = matrix_at(of.memory + stage * tile::stage + tile::a_bytes);
#pragma unroll
        for (uint32_t step = 0; step < steps; step++) {
            multiply_add<top>(sums[0][0], operand[0][step], matrix_beyond(b, 32 * step));
            if constexpr (bytes == 2)
                multiply_add<elements::u8>(sums[1][0], operand[1][step], matrix_beyond(b, 32 * step));
        }
        close_multiplications();
        stage++;
        if (stage == tile::stages) {
            stage = 0;
            odd = !odd;
        }
    }
};

template <int a, typename tile>
__device__ void add_all(const operands &of, const char *shared, int32_t (&sums)[bytes_of<a>][1][tile::of_columns][4])
{
    multiplier<a, tile> by(of, shared);
    slab_operand<a> operand[2];
#pragma unroll
    for (uint32_t byte = 0; byte < bytes_of<a>; byte++)
        hold(sums[byte][0]);
    uint32_t k = 0;
    for (; k + 1 < of.slabs; k += 2) { /* operands of neighbouring slabs are in different registers */
        by.add(k, operand[0], sums);
        by.add(k + 1, operand[1], sums);
    }
    if (k < of.slabs)
        by.add(k, operand[0], sums);
    wait_for_multiplications<0>();
#pragma unroll
    for (uint32_t byte = 0; byte < bytes_of<a>; byte++)
        hold(sums[byte][0]);
}

/* Values of codes by a table's image in shared memory. */
struct by_lines {
    const pwl_work_lines &of;
    const char *heads, *cells;

    __device__ by_lines(const pwl_work_lines &of, const char *image)
        : of(of), heads(image + pwl_image_at(8, of.head_copies, 0, threadIdx.x)),
          cells(image + of.cells_at + pwl_image_at(4, of.cell_copies, 0, threadIdx.x))
    {
    }

    __device__ int32_t operator()(int32_t code) const
    {
        const uint32_t u = static_cast<uint32_t>(code - of.first), at = (u >> of.cell_shift) * (4u << of.cell_copies);
        const uint32_t line = pwl_narrow_pick(*reinterpret_cast<const uint32_t *>(cells + at), u);
        const pwl_compact head = *reinterpret_cast<const pwl_compact *>(heads + line * (8u << of.head_copies));
        return max(min(pwl_compact_eval(head, u, of.fraction, of.even), of.qmax), of.qmin);
    }
};

template <int a, typename tile>
__global__ void __launch_bounds__(tile::threads, tile::blocks)
    multiply(const __grid_constant__ matrix_tasks<PWL_S8> tasks, const __grid_constant__ CUtensorMap codes)
{
    extern __shared__ __align__(1024) char shared[];
    constexpr int b = PWL_S8;
    uint32_t block;
    const matrix_task &task = task_of(tasks, &block);
    const uint32_t column = block % task.column_tiles * tile::columns, row = block / task.column_tiles * tile::rows;
    const uint32_t slabs = pwl_wide_pieces(task.of.length);
    const block_place at = {row, task.of.rows - row, column, task.of.columns - column,
                            reinterpret_cast<const pwl_work_channel *>(shared + tile::channels_at)};
    const operands of = {&codes, static_cast<const char *>(task.of.packed) + static_cast<size_t>(column) * slabs * slab,
                         shared_address(shared), row, slabs};
    int32_t sums[bytes_of<a>][1][tile::of_columns][4] = {};
    if (threadIdx.x == 0)
        begin_copies<tile>(of);
    if (task.of.channels)
        bring_channels<tile::columns, tile::threads>(task, at);
    close_group();
    wait_for_last_launch();
    __syncthreads();
    add_all<a, tile>(of, shared, sums);
    start_next_launch();
    wait_for_all_but<0>();
    __syncthreads();
    if (threadIdx.x == 0 && task.of.lines.image)
        copy_image<tile>(task.of.lines, of.memory);
    if (task.of.channels)
        make_codes<true, a, b, tile>(task, at, sums, shared);
    else
        make_codes<false, a, b, tile>(task, at, sums, shared);
    __syncthreads();
    if (task.of.lines.image) {
        wait_for(of.memory + tile::image_barrier, false);
        store<tile, 2>(task, at, shared, by_lines(task.of.lines, shared + tile::image_at));
    } else if (task.y.values) {
        store<tile, 2>(task, at, shared, by_values{task.y});
    } else {
        store<tile, 4>(task, at, shared, as_they_are());
    }
}

#else

template <int a, typename tile>
__global__ void __launch_bounds__(32)
    multiply(const __grid_constant__ matrix_tasks<PWL_S8>, const __grid_constant__ CUtensorMap)
{
}

#endif

template <int a> cudaError_t launch(const pwl_work &work, bool overlaps, cudaStream_t stream)
{
    using tile = shape<a>;
    using element = std::conditional_t<bytes_of<a> == 1, uint8_t, uint16_t>;
    matrix_tasks<PWL_S8> tasks;
    CUtensorMap codes;
    const uint32_t tiles = make_tasks<tile>(&work, &tasks);
    const pwl_work_matrix &of = work.of.matrix;
    if (!describe_matrix<element>(&codes, work.x[0].at, of.rows, of.length, of.length, 128, tile::rows))
        return cudaErrorNotSupported;
    return launch_overlapped(overlaps, multiply<a, tile>, dim3(tiles), tile::threads, tile::bytes, stream, tasks,
                             codes);
}

} // namespace

int pwl_cuda_wide_runs(int *runs)
{
    int most_threads, ptx;
    const cudaError_t error =
        attributes_of(reinterpret_cast<const void *>(multiply<PWL_S8, shape<PWL_S8>>), &most_threads, &ptx);
    *runs = error == cudaSuccess && most_threads > 32 && tensor_encoder();
    return error;
}

int pwl_cuda_wide_serves(const pwl_work *work)
{
    constexpr uint32_t fewest = 256; /* rows */
    const uintptr_t at = reinterpret_cast<uintptr_t>(work->x[0].at);
    if (at % 16 || work->x[0].type > PWL_U16 || work->of.matrix.rows < fewest)
        return 0;
    for (; work; work = work->beside)
        if (!work->of.matrix.packed)
            return 0;
    return 1;
}

int pwl_cuda_launch_wide(const pwl_work *work, int overlaps, struct CUstream_st *stream)
{
    switch (work->x[0].type) {
    case PWL_S8:
        return launch<PWL_S8>(*work, overlaps, stream);
    case PWL_U8:
        return launch<PWL_U8>(*work, overlaps, stream);
    case PWL_S16:
        return launch<PWL_S16>(*work, overlaps, stream);
    default:
        return launch<PWL_U16>(*work, overlaps, stream);
    }
}
