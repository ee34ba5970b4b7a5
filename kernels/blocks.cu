/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block formats on the device, with the arithmetic of block.h: eight neighbouring threads to a block of 32 elements,
 * four elements to a thread, so that values move by 16 bytes and what a warp touches lies together.
 */
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

#include <pwl/blocks.h>

#include "block.h"
#include "block_lanes.cuh"
#include "launch.h"

namespace
{

using namespace pwl;

constexpr unsigned threads = 256, lanes = 8, each = PWL_BLOCK / lanes;

/* A format's block, what its codes are aligned to, and whether each of them has a byte of its own. */
template <pwl_format format> struct layout;
template <> struct layout<PWL_Q4_0> {
    typedef pwl_block_q4_0 block;
    typedef uint16_t unit;
    static constexpr bool bytes = false;
};
template <> struct layout<PWL_Q8_0> {
    typedef pwl_block_q8_0 block;
    typedef uint16_t unit;
    static constexpr bool bytes = true;
};
template <> struct layout<PWL_Q8_1> {
    typedef pwl_block_q8_1 block;
    typedef uint16_t unit;
    static constexpr bool bytes = true;
};
template <> struct layout<PWL_MXFP4> {
    typedef pwl_block_mxfp4 block;
    typedef uint8_t unit;
    static constexpr bool bytes = false;
};

/* A matrix of blocks, and of values of which each row has k. */
struct shape {
    size_t rows, k, blocks; /* blocks in a row */
};

/* The thread's place: its block in the row, and which four of the elements. */
struct place {
    size_t block;
    unsigned lane;
};

__device__ place place_of_thread()
{
    const size_t thread = size_t{blockIdx.x} * threads + threadIdx.x;
    return {thread / lanes, static_cast<unsigned>(thread % lanes)};
}

template <class T> struct alignas(each * sizeof(T)) four {
    T v[each];
};

/* Elements i to i + 3 of a row of k; 0 from k on. */
__device__ four<float> load(const float *row, size_t i, size_t k, bool aligned)
{
    four<float> x;
    if (aligned && i + each <= k)
        return *reinterpret_cast<const four<float> *>(row + i);
#pragma unroll
    for (unsigned j = 0; j < each; j++)
        x.v[j] = i + j < k ? row[i + j] : 0;
    return x;
}

template <class T> __device__ void save(T *row, size_t i, size_t k, bool aligned, four<T> y)
{
    if (aligned && i + each <= k) {
        *reinterpret_cast<four<T> *>(row + i) = y;
        return;
    }
#pragma unroll
    for (unsigned j = 0; j < each; j++) {
        if (i + j < k)
            row[i + j] = y.v[j];
    }
}

/* The first of the elements of the largest magnitude. */
__device__ float first_of(four<float> x, float amax, unsigned lane)
{
    unsigned at = PWL_BLOCK;
    float first = 0;
#pragma unroll
    for (int j = each - 1; j >= 0; j--) {
        if (pwl_magnitude(x.v[j]) == amax) {
            at = lane;
            first = x.v[j];
        }
    }
    for (unsigned step = 1; step < lanes; step *= 2)
        at = min(at, __shfl_xor_sync(all_lanes, at, step));
    return __shfl_sync(all_lanes, first, at, lanes);
}

template <pwl_format format> __device__ pwl_extent extent_of(four<float> x, unsigned lane)
{
    pwl_extent extent = extent_of_lanes<lanes>(x.v);
    if (format == PWL_Q4_0) { /* no other asks for it */
        const float first = first_of(x, extent.amax, lane);
        extent.first = extent.amax > 0 ? first : 0;
    }
    return extent;
}

/* Four bytes to and from an address that is aligned to an element of `unit`: of 2 bytes, or 1 in MXFP4. */
template <class unit> __device__ void save_bytes(void *to, uint32_t bytes)
{
#pragma unroll
    for (unsigned i = 0; i < 4 / sizeof(unit); i++)
        static_cast<unit *>(to)[i] = static_cast<unit>(bytes >> 8 * sizeof(unit) * i);
}

template <class unit> __device__ uint32_t load_bytes(const void *from)
{
    uint32_t bytes = 0;
#pragma unroll
    for (unsigned i = 0; i < 4 / sizeof(unit); i++)
        bytes |= static_cast<uint32_t>(static_cast<const unit *>(from)[i]) << 8 * sizeof(unit) * i;
    return bytes;
}

/* Lane 0 saves what the lanes have in common. */
__device__ void save_scale(pwl_block_q4_0 *block, pwl_scale scale, uint16_t)
{
    block->d = scale.stored;
}

__device__ void save_scale(pwl_block_q8_0 *block, pwl_scale scale, uint16_t)
{
    block->d = scale.stored;
}

__device__ void save_scale(pwl_block_q8_1 *block, pwl_scale scale, uint16_t s)
{
    block->d = scale.stored;
    block->s = s;
}

__device__ void save_scale(pwl_block_mxfp4 *block, pwl_scale scale, uint16_t)
{
    block->e = static_cast<uint8_t>(scale.stored);
}

__device__ uint16_t load_scale(const pwl_block_mxfp4 *block)
{
    return block->e;
}

template <class block_t> __device__ uint16_t load_scale(const block_t *block)
{
    return block->d;
}

/*
 * x       float[rows][k]
 * blocks  of the format, [rows][size.blocks]
 * A warp stays together to its end, for the shuffles: groups beyond the row's last block work on zeros and save
 * nothing.
 */
template <pwl_format format>
__global__ void __launch_bounds__(threads)
    quantise(pwl_rule rule, const float *x, void *blocks, shape size, bool aligned)
{
    typedef typename layout<format>::block block_t;
    const place at = place_of_thread();
    for (size_t r = blockIdx.y; r < size.rows; r += gridDim.y) {
        const four<float> v = load(x + r * size.k, at.block * PWL_BLOCK + at.lane * each, size.k, aligned);
        const pwl_extent extent = extent_of<format>(v, at.lane);
        const pwl_scale scale = pwl_scale_of(format, rule, extent);
        uint32_t codes = 0;
        int sum_q = 0;
#pragma unroll
        for (unsigned j = 0; j < each; j++) {
            const int q = pwl_code_of(format, rule, scale, extent.finite ? v.v[j] : 0);
            codes |= (static_cast<uint32_t>(q) & 0xff) << 8 * j;
            sum_q += q;
        }
        uint16_t s = 0;
        if (format == PWL_Q8_1)
            s = pwl_sum_of(rule, extent, scale, sum_of_lanes<lanes>(sum_q),
                           rule == PWL_RULE_DOCUMENT ? sum_in_order<lanes>(v.v) : 0);
        if (!layout<format>::bytes)
            codes |= __shfl_down_sync(all_lanes, codes, lanes / 2, lanes) << 4;
        if (at.block >= size.blocks)
            continue;
        block_t *const block = static_cast<block_t *>(blocks) + (r * size.blocks + at.block);
        if (at.lane == 0)
            save_scale(block, scale, s);
        if (layout<format>::bytes || at.lane < lanes / 2)
            save_bytes<typename layout<format>::unit>(block->qs + each * at.lane, codes);
    }
}

__device__ void convert(float v, float *y)
{
    *y = v;
}

__device__ void convert(float v, uint16_t *y)
{
    *y = pwl_f16_from_f32(v);
}

/* y: float or fp16, [rows][k] */
template <pwl_format format, class T>
__global__ void __launch_bounds__(threads) dequantise(const void *blocks, T *y, shape size, bool aligned)
{
    typedef typename layout<format>::block block_t;
    const place at = place_of_thread();
    if (at.block >= size.blocks)
        return;
    for (size_t r = blockIdx.y; r < size.rows; r += gridDim.y) {
        const block_t *const block = static_cast<const block_t *>(blocks) + (r * size.blocks + at.block);
        const float unit = pwl_unit_of(format, load_scale(block));
        four<T> v;
        if (layout<format>::bytes) {
            const uint32_t codes = load_bytes<typename layout<format>::unit>(block->qs + each * at.lane);
#pragma unroll
            for (unsigned j = 0; j < each; j++)
                convert(pwl_value_of(format, unit, static_cast<int8_t>(codes >> 8 * j)), &v.v[j]);
        } else {
            const unsigned half = at.lane / (lanes / 2), from = at.lane % (lanes / 2);
            const uint32_t codes = load_bytes<typename layout<format>::unit>(block->qs + each * from) >> 4 * half;
#pragma unroll
            for (unsigned j = 0; j < each; j++)
                convert(pwl_value_of(format, unit, codes >> 8 * j & 15), &v.v[j]);
        }
        save(y + r * size.k, at.block * PWL_BLOCK + at.lane * each, size.k, aligned, v);
    }
}

/* Rows that start at a multiple of four elements. */
bool rows_aligned(const void *values, size_t value_bytes, size_t k)
{
    return reinterpret_cast<uintptr_t>(values) % (each * value_bytes) == 0 && k % each == 0;
}

int launch(const void *kernel, size_t rows, size_t blocks, void **arguments, struct CUstream_st *stream)
{
    const size_t across = (blocks - 1) / (threads / lanes) + 1;
    if (across > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(rows < 65535 ? rows : 65535));
    return cudaLaunchKernel(kernel, grid, dim3(threads), arguments, 0, stream);
}

} // namespace

int pwl_cuda_launch_quantise(pwl_format format, pwl_rule rule, const float *x, size_t rows, size_t k, size_t k_padded,
                             void *blocks, struct CUstream_st *stream)
{
    typedef void kernel(pwl_rule rule, const float *x, void *blocks, shape size, bool aligned);
    static kernel *const kernels[] = {quantise<PWL_Q4_0>, quantise<PWL_Q8_0>, quantise<PWL_Q8_1>, quantise<PWL_MXFP4>};
    shape size = {rows, k, k_padded / PWL_BLOCK};
    bool aligned = rows_aligned(x, sizeof *x, k);
    void *arguments[] = {&rule, &x, &blocks, &size, &aligned};
    return launch(reinterpret_cast<const void *>(kernels[format]), rows, size.blocks, arguments, stream);
}

int pwl_cuda_launch_dequantise(pwl_format format, const void *blocks, size_t rows, size_t k, size_t k_padded, void *y,
                               size_t value_bytes, struct CUstream_st *stream)
{
    typedef void to_f32(const void *blocks, float *y, shape size, bool aligned);
    typedef void to_f16(const void *blocks, uint16_t *y, shape size, bool aligned);
    static to_f32 *const f32_kernels[] = {dequantise<PWL_Q4_0>, dequantise<PWL_Q8_0>, dequantise<PWL_Q8_1>,
                                          dequantise<PWL_MXFP4>};
    static to_f16 *const f16_kernels[] = {dequantise<PWL_Q4_0>, dequantise<PWL_Q8_0>, dequantise<PWL_Q8_1>,
                                          dequantise<PWL_MXFP4>};
    const void *const kernel = value_bytes == sizeof(float) ? reinterpret_cast<const void *>(f32_kernels[format])
                                                            : reinterpret_cast<const void *>(f16_kernels[format]);
    shape size = {rows, k, k_padded / PWL_BLOCK};
    bool aligned = rows_aligned(y, value_bytes, k);
    void *arguments[] = {&blocks, &y, &size, &aligned};
    return launch(kernel, rows, size.blocks, arguments, stream);
}
