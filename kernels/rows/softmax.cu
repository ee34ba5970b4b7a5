/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and log-softmax on the device. Aligned rows of softmax without a mask stay in registers (softmax.h); all
 * others are read three times, element by element, with the functions of pwl/rows.h.
 */
#include "group.cuh"
#include "launch.h"
#include "softmax.h"

namespace
{

using namespace pwl;

struct softmax_task {
    pwl_softmax softmax;
    pwl_softmax_ends ends;
    pwl_rows rows;
    const uint16_t *core;
    size_t first_row, count;
    uint32_t log2_width, flip, low_step, high_step;
    uint32_t of_row; /* packs */
    uint32_t turns;
};

__device__ pwl_row_factor reciprocal(const softmax_task &task, uint64_t sum)
{
    const pwl_row_cell cell = pwl_reciprocal_cell(sum);
    return pwl_reciprocal_factor(cell, __ldg(task.core + cell.code));
}

/* Opaque: what is known of an address is added anew each time. */
__device__ uint32_t shared_address(const void *of)
{
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(of));
    asm volatile("" : "+r"(address));
    return address;
}

/* The copies of the exponentials' entries. */
template <int bytes> struct exp_copies;

template <> struct exp_copies<1> {
    uint32_t low[256 * PWL_EXP_COPIES];

    /* Stores of neighbouring lanes go to different banks. */
    __device__ void fill(const pwl_softmax &softmax)
    {
        const uint32_t e = softmax.exp[threadIdx.x & 255], d = threadIdx.x & 255;
        const uint32_t parts = blockDim.x / 256, part = threadIdx.x / 256;
        uint4 *const to = reinterpret_cast<uint4 *>(low) + d * (PWL_EXP_COPIES / 4);
        for (uint32_t k = part; k < PWL_EXP_COPIES / 4; k += parts)
            to[(k + d) % (PWL_EXP_COPIES / 4)] = make_uint4(e, e, e, e);
    }

    __device__ pwl_exp mine(const softmax_task &task) const
    {
        return {shared_address(low + threadIdx.x % PWL_EXP_COPIES), 0, task.low_step, 0};
    }
};

template <> struct exp_copies<2> {
    uint32_t low[256 * PWL_LOW_COPIES];
    uint64_t high[256 * PWL_HIGH_COPIES];

    __device__ void fill(const pwl_softmax &softmax)
    {
        const uint32_t k = threadIdx.x & 255, e = softmax.exp[k];
        const uint64_t h = pwl_exp_high_of(softmax.exp_high[k], softmax.exp_shift[k]);
        const uint32_t parts = blockDim.x / 256, part = threadIdx.x / 256;
        uint4 *const to = reinterpret_cast<uint4 *>(low) + k * (PWL_LOW_COPIES / 4);
        for (uint32_t c = part; c < PWL_LOW_COPIES / 4; c += parts)
            to[(c + k / 2) % (PWL_LOW_COPIES / 4)] = make_uint4(e, e, e, e);
        ulonglong2 *const high_to = reinterpret_cast<ulonglong2 *>(high) + k * (PWL_HIGH_COPIES / 2);
        for (uint32_t c = part; c < PWL_HIGH_COPIES / 2; c += parts)
            high_to[(c + k) % (PWL_HIGH_COPIES / 2)] = make_ulonglong2(h, h);
    }

    __device__ pwl_exp mine(const softmax_task &task) const
    {
        return {shared_address(low + threadIdx.x % PWL_LOW_COPIES),
                shared_address(high + threadIdx.x % PWL_HIGH_COPIES), task.low_step, task.high_step};
    }
};

/* The shared memory of a block: a value for each warp, and the copies. */
template <int bytes, int threads> struct block_memory {
    exp_copies<bytes> copies;
    uint64_t sums[threads / 32];
    uint32_t largest[threads / 32];
};

/* Places that a pack has of the first `reach` of a row. */
template <int bytes> __device__ int places_in(size_t reach, uint32_t pack)
{
    constexpr int places = PWL_PACK_BYTES / bytes;
    const int left = static_cast<int>(reach) - static_cast<int>(pack) * places;
    return min(max(left, 0), places);
}

/* Of the packs that a thread has of a causal row: those beyond it become 0. Returns places that are left. */
template <int bytes, int packs>
__device__ int cut_causal(const group &mine, const held_packs &held, size_t reach, pwl_pack (&x)[packs])
{
    int left = 0;
#pragma unroll
    for (int k = 0; k < packs; k++) {
        const int has = held.has(mine, k) ? places_in<bytes>(reach, k * mine.width + mine.me) : 0;
        pwl_pack_cut(&x[k], bytes, has);
        left += has;
    }
    return left;
}

/* Each block has task.turns times as many rows as it has groups, one after the other, so that copies pay. */
template <int in, int out, int packs, int threads, int blocks, bool keeps>
__global__ void __launch_bounds__(threads, blocks) softmax_packs(const softmax_task task)
{
    constexpr int places = PWL_PACK_BYTES / in, words = places * out / 4;
    extern __shared__ __align__(16) unsigned char memory[];
    block_memory<in, threads> &shared = *reinterpret_cast<block_memory<in, threads> *>(memory);
    const group mine(task.log2_width);
    const size_t groups = threads >> task.log2_width;
    held_packs held(mine, task, task.first_row + blockIdx.x * groups * task.turns + mine.of_block);
    pwl_pack x[packs];

    start_next_launch();
    shared.copies.fill(task.softmax);
    wait_for_last_launch();
    held.load(task.rows.x, mine, task.flip, x);
    __syncthreads();
    const pwl_exp exp = shared.copies.mine(task);
    for (uint32_t turn = 1;; turn++) {
        int present = held.count(mine) * places;
        size_t reach = task.rows.length;
        if (task.rows.is_causal) {
            reach = pwl_rows_reach(&task.rows, held.row);
            present = cut_causal<in>(mine, held, reach, x);
        }
        const uint32_t largest = mine.all(pwl_packs_largest(x, packs, in), larger(), shared.largest);
        uint32_t kept[keeps ? packs * places : 1];
        pwl_packs_from(x, packs, in, largest);
        uint64_t sum = pwl_packs_sum(x, packs, in, &exp, packs * places - present, largest, keeps ? kept : nullptr);
        sum = mine.all(sum, plus(), shared.sums);
        const held_packs next(mine, task, held.row + groups);
        if (keeps && turn < task.turns)
            next.load(task.rows.x, mine, task.flip, x);
        if (!keeps)
            forget_what_came_of(x);
        if (sum != 0) { /* as that of a row is not */
            const pwl_softmax_share share = pwl_softmax_share_of(reciprocal(task, sum), task.ends.out_bits);
#pragma unroll
            for (int k = 0; k < packs; k++)
                if (held.has(mine, k)) {
                    uint32_t codes[words];
                    const uint32_t *const mine_kept = keeps ? kept + k * places : nullptr;
                    if (task.ends.zero)
                        pwl_softmax_words(&task.ends, &share, &x[k], in, &exp, mine_kept, out, 1, codes);
                    else
                        pwl_softmax_words(&task.ends, &share, &x[k], in, &exp, mine_kept, out, 0, codes);
                    if (task.rows.is_causal)
                        pwl_softmax_cut(&task.ends, places_in<in>(reach, k * mine.width + mine.me), out, words, codes);
                    held.store<words>(task.rows.y, mine, k, codes);
                }
        }
        if (turn == task.turns)
            return;
        held = next;
        if (!keeps)
            held.load(task.rows.x, mine, task.flip, x);
    }
}

/* Elements of any row, masked or not, at any place. */
template <class in, class out> __global__ void __launch_bounds__(256) softmax_elements(const softmax_task task)
{
    __shared__ uint32_t low[256], high[256];
    __shared__ uint8_t shift[256];
    __shared__ int32_t largest_space[8];
    __shared__ uint64_t sum_space[8];
    const group mine(task.log2_width);
    const size_t row = task.first_row + static_cast<size_t>(blockIdx.x) * (256u >> task.log2_width) + mine.of_block;
    const size_t length = task.rows.length, held = row < task.count ? length : 0;
    const in *const x = static_cast<const in *>(task.rows.x) + row * length;
    out *const y = static_cast<out *>(task.rows.y) + row * length;
    const uint8_t *const mask = task.rows.mask ? task.rows.mask + row * task.rows.mask_stride : nullptr;
    const uint32_t flip = task.flip & (sizeof(in) == 1 ? 255 : 65535);
    pwl_softmax softmax = task.softmax;

    start_next_launch();
    low[threadIdx.x] = softmax.exp[threadIdx.x];
    softmax.exp = low;
    if (sizeof(in) == 2) {
        high[threadIdx.x] = softmax.exp_high[threadIdx.x];
        shift[threadIdx.x] = softmax.exp_shift[threadIdx.x];
        softmax.exp_high = high;
        softmax.exp_shift = shift;
    }
    wait_for_last_launch();
    __syncthreads();

    const size_t reach = held ? pwl_rows_reach(&task.rows, row) : 0;
    int32_t largest = -1;
    for (size_t k = mine.me; k < reach; k += mine.width)
        if (!mask || mask[k])
            largest = max(largest, static_cast<int32_t>(x[k] ^ flip));
    largest = mine.all<false>(largest, larger(), largest_space);
    uint64_t sum = 0;
    for (size_t k = mine.me; k < reach; k += mine.width)
        if (!mask || mask[k])
            sum += pwl_softmax_exp(&softmax, largest - (x[k] ^ flip));
    sum = mine.all<false>(sum, plus(), sum_space);

    const bool is_log = softmax.kind == PWL_LOG_SOFTMAX;
    const pwl_row_factor factor = is_log || sum == 0 ? pwl_row_factor{} : reciprocal(task, sum);
    const int64_t log = is_log && sum ? pwl_log_softmax_row(&softmax, sum) : 0;
    const out least = static_cast<out>(pwl_softmax_least(&softmax));
    for (size_t k = mine.me; k < held; k += mine.width) {
        const bool has = k < reach && (!mask || mask[k]);
        const uint32_t d = has ? largest - (x[k] ^ flip) : 0;
        y[k] = !has     ? least
               : is_log ? static_cast<out>(pwl_log_softmax_place(&softmax, log, d))
                        : static_cast<out>(pwl_softmax_place(&softmax, factor, d));
    }
}

template <int in, int out, int packs, int threads, int blocks, bool keeps>
cudaError_t launch_packs_by(bool overlaps, softmax_task task, cudaStream_t stream)
{
    task.of_row = static_cast<uint32_t>(task.rows.length * in / PWL_PACK_BYTES);
    task.log2_width = log2_width_for(task.of_row, packs);
    const size_t all = task.count / (threads >> task.log2_width) / 2048; /* which leave each multiprocessor several */
    task.turns = static_cast<uint32_t>(all < 1 ? 1 : all > 8 ? 8 : all);
    return launch_rows(overlaps, softmax_packs<in, out, packs, threads, blocks, keeps>, task, threads,
                       (threads >> task.log2_width) * task.turns, sizeof(block_memory<in, threads>), stream);
}

/* What serves a row in registers: packs of a thread, threads of a block, blocks that have room; whether exponentials
 * are kept, which is faster where registers hold them. */
template <int in, int out> cudaError_t launch_packs(bool overlaps, const softmax_task &task, cudaStream_t stream)
{
    const size_t packs = task.rows.length * in / PWL_PACK_BYTES;
    if constexpr (in == 1)
        return packs <= 512 ? launch_packs_by<in, out, 2, 256, 4, true>(overlaps, task, stream)
                            : launch_packs_by<in, out, 4, 512, 2, false>(overlaps, task, stream);
    else
        return packs <= 1024 ? launch_packs_by<in, out, 4, 256, 3, true>(overlaps, task, stream)
                             : launch_packs_by<in, out, 4, 1024, 1, false>(overlaps, task, stream);
}

template <class in, class out> cudaError_t launch(bool overlaps, softmax_task task, cudaStream_t stream)
{
    constexpr size_t packed = PWL_PACK_BYTES / sizeof(in) * sizeof(out);
    const size_t bytes = task.rows.length * sizeof(in);
    const bool is_aligned = reinterpret_cast<uintptr_t>(task.rows.x) % PWL_PACK_BYTES == 0 &&
                            reinterpret_cast<uintptr_t>(task.rows.y) % (packed < 16 ? packed : 16) == 0 &&
                            bytes % PWL_PACK_BYTES == 0;
    if (is_aligned && !task.rows.mask && pwl_softmax_in_packs(&task.softmax) && task.rows.length <= 32768)
        return launch_packs<sizeof(in), sizeof(out)>(overlaps, task, stream);
    task.log2_width = min(log2_width_for(task.rows.length, 4), 8u);
    return launch_rows(overlaps, softmax_elements<in, out>, task, 256, 256 >> task.log2_width, 0, stream);
}

} // namespace

int pwl_cuda_rows_overlap(int *overlap)
{
    bool waits;
    const cudaError_t error =
        waits_by_itself(reinterpret_cast<const void *>(softmax_elements<uint8_t, uint8_t>), &waits);
    *overlap = error == cudaSuccess && waits;
    return error;
}

int pwl_cuda_launch_softmax(const pwl_cuda_softmax *uploaded, const pwl_rows *rows, struct CUstream_st *stream)
{
    softmax_task task = {};
    task.softmax = uploaded->softmax;
    task.ends = pwl_softmax_ends_of(&uploaded->softmax);
    task.rows = *rows;
    task.core = uploaded->core;
    task.count = rows->count;
    task.flip = flip_of(uploaded->softmax.in, true);
    task.low_step = 4 * (uploaded->softmax.in >= PWL_S16 ? PWL_LOW_COPIES : PWL_EXP_COPIES);
    task.high_step = 8 * PWL_HIGH_COPIES;
    const bool overlaps = uploaded->overlaps, is_wide = uploaded->softmax.out >= PWL_S16;
    if (uploaded->softmax.in >= PWL_S16)
        return is_wide ? launch<uint16_t, uint16_t>(overlaps, task, stream)
                       : launch<uint16_t, uint8_t>(overlaps, task, stream);
    return is_wide ? launch<uint8_t, uint16_t>(overlaps, task, stream)
                   : launch<uint8_t, uint8_t>(overlaps, task, stream);
}
