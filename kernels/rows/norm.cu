/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LayerNorm and RMSNorm on the device. Aligned rows stay in registers where 32 bits serve (norm.h); all others are read
 * twice, element by element, with the functions of pwl/rows.h.
 */
#include <type_traits>

#include "norm.h"
#include "group.cuh"
#include "launch.h"

namespace
{

using namespace pwl;

struct norm_task {
    pwl_norm norm;
    pwl_norm_ends ends;
    const void *x;
    void *y;
    const uint16_t *core;
    const int4 *gamma;
    const longlong2 *beta;
    size_t first_row, count;
    uint32_t log2_width, flip;
    uint32_t of_row; /* packs */
};

__device__ pwl_norm_row row_of(const norm_task &task, int64_t sum, int64_t squares)
{
    const uint64_t spread = pwl_norm_spread(&task.norm, sum, squares);
    pwl_row_factor root = {};
    if (spread != 0) {
        const pwl_row_cell cell = pwl_rsqrt_cell(pwl_norm_variance(&task.norm, spread));
        root = pwl_rsqrt_factor(cell, __ldg(task.core + cell.code));
    }
    return pwl_norm_row_by(&task.norm, sum, spread, root);
}

/* Code k of an array, with the sign that its type has. */
template <class in> __device__ int32_t code_at(const void *x, size_t k, uint32_t flip)
{
    /* flip is that of unsigned types */
    const in raw = static_cast<const in *>(x)[k];
    return flip ? static_cast<int32_t>(raw)
                : static_cast<int32_t>(static_cast<typename std::make_signed<in>::type>(raw));
}

/* Short rows are those whose t has few bits. */
template <int in, int out> constexpr bool is_short = in == 1 && out == 1;

/* The codes of pack `pack` of a row. */
template <int in, int out, bool has_beta>
__device__ void pack_codes(const norm_task &task, const pwl_norm_share &share, const pwl_pack &x, uint32_t pack,
                           uint32_t *codes)
{
    constexpr int places = PWL_PACK_BYTES / in;
#pragma unroll
    for (int k = 0; k < places; k += 4) {
        const int4 g = __ldg(task.gamma + (k / 4 * task.of_row + pack));
        const int32_t gamma[4] = {g.x, g.y, g.z, g.w};
        int64_t beta[4];
        if (has_beta) {
            const longlong2 first = __ldg(task.beta + (k / 2 * task.of_row + pack));
            const longlong2 second = __ldg(task.beta + ((k / 2 + 1) * task.of_row + pack));
            beta[0] = first.x, beta[1] = first.y, beta[2] = second.x, beta[3] = second.y;
        }
        pwl_norm_words(&task.ends, &share, is_short<in, out>, &x, in, k, gamma, has_beta ? beta : nullptr, out,
                       codes + k * out / 4);
    }
}

/* Rare: R' has a bit too many, or codes hardly differ. Each thread reads its own places once more, so that y may be x.
 */
template <int in, int out>
__device__ void write_wide(const norm_task &task, const pwl_norm_row &share, const group &mine, size_t row)
{
    constexpr uint32_t places = PWL_PACK_BYTES / in;
    using input = typename std::conditional<in == 1, uint8_t, uint16_t>::type;
    using output = typename std::conditional<out == 1, uint8_t, uint16_t>::type;
    for (uint32_t pack = mine.me; pack < task.of_row; pack += mine.width)
        for (uint32_t c = pack * places; c < (pack + 1) * places; c++) {
            const size_t at = row * task.norm.length + c;
            const int64_t u = code_at<input>(task.x, at, task.flip) - task.norm.zp_x;
            static_cast<output *>(task.y)[at] = static_cast<output>(pwl_norm_place(&task.norm, &share, u, c));
        }
}

template <int in, int out, int packs, int threads, int blocks, bool has_beta>
__global__ void __launch_bounds__(threads, blocks) norm_packs(const norm_task task)
{
    constexpr int words = PWL_PACK_BYTES / in * out / 4;
    __shared__ int64_t sum_space[threads / 32], square_space[threads / 32];
    const group mine(task.log2_width);
    const held_packs held(
        mine, task, task.first_row + blockIdx.x * static_cast<size_t>(threads >> task.log2_width) + mine.of_block);
    pwl_pack x[packs];

    start_next_launch();
    wait_for_last_launch();
    held.load(task.x, mine, task.flip, x);
    pwl_norm_sums sums = pwl_packs_sums(x, packs, in);
    sums.sum = mine.all(sums.sum, plus(), sum_space);
    sums.squares = mine.all(sums.squares, plus(), square_space);
    if (held.row >= task.count)
        return;
    sums = pwl_norm_sums_of(sums, task.ends.base, task.norm.length);
    const pwl_norm_row row = row_of(task, sums.sum, sums.squares);
    pwl_norm_share share;
    if (!pwl_norm_share_of(&task.ends, &row, task.norm.length, is_short<in, out>, &share)) {
        write_wide<in, out>(task, row, mine, held.row);
        return;
    }
#pragma unroll
    for (int k = 0; k < packs; k++)
        if (held.has(mine, k)) {
            uint32_t codes[words];
            pack_codes<in, out, has_beta>(task, share, x[k], k * mine.width + mine.me, codes);
            held.store<words>(task.y, mine, k, codes);
        }
}

/* Elements of any row, at any place. */
template <class in, class out> __global__ void __launch_bounds__(256) norm_elements(const norm_task task)
{
    __shared__ int64_t sum_space[8], square_space[8];
    const group mine(task.log2_width);
    const size_t row = task.first_row + static_cast<size_t>(blockIdx.x) * (256u >> task.log2_width) + mine.of_block;
    const uint32_t held = row < task.count ? task.norm.length : 0;
    const in *const x = static_cast<const in *>(task.x) + row * task.norm.length;
    out *const y = static_cast<out *>(task.y) + row * task.norm.length;
    int64_t sum = 0, squares = 0;

    start_next_launch();
    wait_for_last_launch();
    for (uint32_t k = mine.me; k < held; k += mine.width) {
        const int64_t u = code_at<in>(x, k, task.flip) - task.norm.zp_x;
        sum += u;
        squares += u * u;
    }
    sum = mine.all<false>(sum, plus(), sum_space);
    squares = mine.all<false>(squares, plus(), square_space);
    const pwl_norm_row share = row_of(task, sum, squares);
    for (uint32_t k = mine.me; k < held; k += mine.width)
        y[k] = static_cast<out>(pwl_norm_place(&task.norm, &share, code_at<in>(x, k, task.flip) - task.norm.zp_x, k));
}

/* What serves a row in registers: packs of a thread, threads of a block. */
template <int in, int out, bool has_beta> cudaError_t launch_packs(bool overlaps, norm_task task, cudaStream_t stream)
{
    task.of_row = task.norm.length * in / PWL_PACK_BYTES;
    task.log2_width = log2_width_for(task.of_row, 4);
    constexpr int blocks = in == 1 || has_beta ? 3 : 4, many = in == 1 ? 512 : 1024;
    if (task.log2_width <= 8)
        return launch_rows(overlaps, norm_packs<in, out, 4, 256, blocks, has_beta>, task, 256, 256 >> task.log2_width,
                           0, stream);
    return launch_rows(overlaps, norm_packs<in, out, 4, many, 1, has_beta>, task, many, many >> task.log2_width, 0,
                       stream);
}

template <class in, class out> cudaError_t launch(bool overlaps, norm_task task, cudaStream_t stream)
{
    constexpr size_t packed = PWL_PACK_BYTES / sizeof(in) * sizeof(out);
    const bool is_aligned = reinterpret_cast<uintptr_t>(task.x) % PWL_PACK_BYTES == 0 &&
                            reinterpret_cast<uintptr_t>(task.y) % (packed < 16 ? packed : 16) == 0 &&
                            task.norm.length * sizeof(in) % PWL_PACK_BYTES == 0;
    if (is_aligned && task.ends.serves && task.norm.length <= 32768)
        return task.beta ? launch_packs<sizeof(in), sizeof(out), true>(overlaps, task, stream)
                         : launch_packs<sizeof(in), sizeof(out), false>(overlaps, task, stream);
    task.log2_width = min(log2_width_for(task.norm.length, 4), 8u);
    return launch_rows(overlaps, norm_elements<in, out>, task, 256, 256 >> task.log2_width, 0, stream);
}

} // namespace

int pwl_cuda_launch_norm(const pwl_cuda_norm *uploaded, const void *x, void *y, size_t count,
                         struct CUstream_st *stream)
{
    norm_task task = {};
    task.norm = uploaded->norm;
    task.ends = uploaded->ends;
    task.x = x;
    task.y = y;
    task.core = uploaded->core;
    task.gamma = reinterpret_cast<const int4 *>(uploaded->gamma);
    task.beta = reinterpret_cast<const longlong2 *>(uploaded->beta);
    task.count = count;
    task.flip = flip_of(uploaded->norm.in, false);
    const bool overlaps = uploaded->overlaps, is_wide = uploaded->norm.out >= PWL_S16;
    if (uploaded->norm.in >= PWL_S16)
        return is_wide ? launch<uint16_t, uint16_t>(overlaps, task, stream)
                       : launch<uint16_t, uint8_t>(overlaps, task, stream);
    return is_wide ? launch<uint8_t, uint16_t>(overlaps, task, stream)
                   : launch<uint8_t, uint8_t>(overlaps, task, stream);
}
