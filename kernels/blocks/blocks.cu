/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block formats on the device, with the arithmetic of block.h. Some neighbouring threads share a block of 32 elements:
 * values move by 16 bytes, and what a warp touches at once lies together. What keeps this below the speed of a copy are
 * the blocks, which begin at multiples of 2, or of 1 in MXFP4, and move by as many bytes at a time.
 */
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

#include <pwl/blocks.h>

#include "block.h"
#include "lanes.cuh"
#include "launch.h"

namespace
{

using namespace pwl;

constexpr unsigned threads = 256;

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

/* The thread's place: its block in the row, and which of the lanes that share it. */
struct place {
    size_t block;
    unsigned lane;
};

__device__ place place_of_thread(unsigned lanes)
{
    const size_t thread = size_t{blockIdx.x} * threads + threadIdx.x;
    return {thread / lanes, static_cast<unsigned>(thread % lanes)};
}

/* Values that move at once. By a plain load or store they would not: nvcc takes it apart where elements may also move
 * one by one. */
template <class T> constexpr unsigned together = 16 / sizeof(T);
template <class T> struct values {
    T v[together<T>];
};

/* Elements from i on of a row of k; 0 from k on. */
__device__ values<float> load(const float *row, size_t i, size_t k, bool aligned)
{
    values<float> x;
    if (aligned && i + together<float> <= k) {
        asm("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
            : "=f"(x.v[0]), "=f"(x.v[1]), "=f"(x.v[2]), "=f"(x.v[3])
            : "l"(row + i));
        return x;
    }
#pragma unroll
    for (unsigned j = 0; j < together<float>; j++)
        x.v[j] = i + j < k ? row[i + j] : 0;
    return x;
}

__device__ uint32_t word_of(values<float> y, unsigned i)
{
    return pwl_bits_of_f32(y.v[i]);
}

__device__ uint32_t word_of(values<uint16_t> y, unsigned i)
{
    return static_cast<uint32_t>(y.v[2 * i + 1]) << 16 | y.v[2 * i];
}

template <class T> __device__ void save(T *row, size_t i, size_t k, bool aligned, values<T> y)
{
    if (aligned && i + together<T> <= k) {
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                     :
                     : "l"(row + i), "r"(word_of(y, 0)), "r"(word_of(y, 1)), "r"(word_of(y, 2)), "r"(word_of(y, 3))
                     : "memory");
        return;
    }
#pragma unroll
    for (unsigned j = 0; j < together<T>; j++) {
        if (i + j < k)
            row[i + j] = y.v[j];
    }
}

/*
 * Quantising, a thread has `each` elements of either half of a block: of 4-bit formats both codes of a byte, and the
 * scale is found for eight elements at once.
 */
constexpr unsigned half = PWL_BLOCK / 2, each = together<float>, lanes = half / each;

/* A thread's elements of a block, those of the first half first. */
__device__ void load(const float *row, place at, size_t k, bool aligned, float (&v)[2 * each])
{
#pragma unroll
    for (unsigned h = 0; h < 2; h++) {
        const values<float> x = load(row, at.block * PWL_BLOCK + h * half + at.lane * each, k, aligned);
#pragma unroll
        for (unsigned j = 0; j < each; j++)
            v[h * each + j] = x.v[j];
    }
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

/* A thread's codes, four bytes of either half; `to` is where the first is. */
template <pwl_format format, class T> __device__ void save_codes(T *to, const uint32_t (&codes)[2])
{
    typedef typename layout<format>::unit unit;
    save_bytes<unit>(to, layout<format>::bytes ? codes[0] : codes[1] << 4 | codes[0]);
    if (layout<format>::bytes)
        save_bytes<unit>(to + half, codes[1]);
}

/* Codes from i on, four to a word, in the low bits of a byte each. */
template <pwl_format format, unsigned words, class T>
__device__ void load_codes(const T *codes, unsigned i, uint32_t (&bytes)[words])
{
    typedef typename layout<format>::unit unit;
    const T *const from = codes + (layout<format>::bytes ? i : i % half);
#pragma unroll
    for (unsigned w = 0; w < words; w++) {
        bytes[w] = load_bytes<unit>(from + 4 * w);
        if (!layout<format>::bytes)
            bytes[w] >>= i / half * 4;
    }
}

/* The first of a word. */
template <pwl_format format> __device__ int code_of(uint32_t bytes)
{
    return layout<format>::bytes ? static_cast<int8_t>(bytes) : static_cast<int>(bytes & 15);
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
    const place at = place_of_thread(lanes);
    for (size_t r = blockIdx.y; r < size.rows; r += gridDim.y) {
        float v[2 * each];
        load(x + r * size.k, at, size.k, aligned, v);
        const pwl_extent extent = extent_of_halves<format, lanes>(v);
        const pwl_scale scale = pwl_scale_of(format, rule, extent);
        uint32_t codes[2] = {0, 0};
        int sum_q = 0;
#pragma unroll
        for (unsigned j = 0; j < 2 * each; j++) {
            const int q = pwl_code_of(format, rule, scale, extent.finite ? v[j] : 0);
            codes[j / each] |= (static_cast<uint32_t>(q) & 0xff) << 8 * (j % each);
            sum_q += q;
        }
        uint16_t s = 0;
        if (format == PWL_Q8_1) {
            float sum_x = 0;
            for (unsigned h = 0; h < 2 && rule == PWL_RULE_DOCUMENT; h++)
                sum_x = sum_in_order<lanes, each>(sum_x, v + h * each);
            s = pwl_sum_of(rule, extent, scale, sum_of_lanes<lanes>(sum_q), sum_x);
        }
        if (at.block >= size.blocks)
            continue;
        block_t *const block = static_cast<block_t *>(blocks) + (r * size.blocks + at.block);
        if (at.lane == 0)
            save_scale(block, scale, s);
        save_codes<format>(block->qs + each * at.lane, codes);
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
    constexpr unsigned count = together<T>;
    const place at = place_of_thread(PWL_BLOCK / count);
    if (at.block >= size.blocks)
        return;
    for (size_t r = blockIdx.y; r < size.rows; r += gridDim.y) {
        const block_t *const block = static_cast<const block_t *>(blocks) + (r * size.blocks + at.block);
        const float unit = pwl_unit_of(format, load_scale(block));
        uint32_t codes[count / 4];
        load_codes<format>(block->qs, at.lane * count, codes);
        values<T> v;
#pragma unroll
        for (unsigned j = 0; j < count; j++)
            convert(pwl_value_of(format, unit, code_of<format>(codes[j / 4] >> j % 4 * 8)), &v.v[j]);
        save(y + r * size.k, at.block * PWL_BLOCK + at.lane * count, size.k, aligned, v);
    }
}

/* Rows all of whose values can move by 16 bytes. */
bool rows_aligned(const void *values, size_t value_bytes, size_t k)
{
    return reinterpret_cast<uintptr_t>(values) % 16 == 0 && k * value_bytes % 16 == 0;
}

/* `shared` threads to a block. */
int launch(const void *kernel, size_t rows, size_t blocks, size_t shared, void **arguments, struct CUstream_st *stream)
{
    const size_t across = (blocks - 1) / (threads / shared) + 1;
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
    return launch(reinterpret_cast<const void *>(kernels[format]), rows, size.blocks, lanes, arguments, stream);
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
    return launch(kernel, rows, size.blocks, PWL_BLOCK * value_bytes / 16, arguments, stream);
}
