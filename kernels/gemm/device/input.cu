/* SPDX-License-Identifier: Apache-2.0 */
/* Activations as the schemes take them, into the workspace. */
#include <cuda_runtime.h>
#include <utility>

#include <pwl/e4m3.h>

#include "arch/bits.cuh"
#include "arch/overlap.cuh"
#include "block_halves.cuh"
#include "elements.cuh"
#include "gemm/launch.h"
#include "gemm/layout.h"
#include "gemm/weight.h"

namespace
{

using namespace pwl;

constexpr unsigned threads = 256;

/* The workspace that is written may be what the last launch reads. */
__device__ void begin_after_last()
{
    start_next_launch();
    wait_for_last_launch();
}

/* The largest of a thread block, for all its threads. */
__device__ float largest_of(float v)
{
    __shared__ float largest[threads / 32];
    for (unsigned step = 1; step < 32; step *= 2)
        v = fmaxf(v, __shfl_xor_sync(all_lanes, v, step));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        largest[threadIdx.x / 32] = v;
    __syncthreads();
    for (unsigned i = 0; i < threads / 32; i++)
        v = fmaxf(v, largest[i]);
    return v;
}

/* A block for a row. The largest of finite magnitudes does not depend on the order. */
__global__ void __launch_bounds__(threads) exponents(const float *x, size_t m, size_t k, size_t stride, int32_t *f)
{
    begin_after_last();
    for (size_t row = blockIdx.x; row < m; row += gridDim.x) {
        float amax = 0;
        for (size_t c = threadIdx.x; c < k; c += threads) {
            const float v = pwl_magnitude(x[row * stride + c]);
            if (pwl_is_finite(v))
                amax = fmaxf(amax, v);
        }
        amax = largest_of(amax);
        if (threadIdx.x == 0)
            f[row] = pwl_qgemm_input_exponent(amax);
    }
}

constexpr unsigned lanes = 8, blocks_of_warp = 32 / lanes; /* of a block: each has four elements that lie together */

/* A block made Q8_1, as its lanes have it. */
struct coded {
    float v[4];
    int code[4];
    pwl_extent extent;
    pwl_scale scale;
};

/* Four elements of each lane's block from `at` on, or zeros where there is none. */
template <pwl_qgemm_type type>
__device__ coded code_of(pwl_rule rule, const void *x, size_t at, bool aligned, bool there)
{
    coded c = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (there)
        load_elements<type>(x, at, aligned, c.v);
    c.extent = extent_of_lanes<lanes>(c.v); /* Q8_1 does not ask which element it was */
    c.scale = pwl_scale_of(PWL_Q8_1, rule, c.extent);
    for (unsigned i = 0; i < 4; i++)
        c.code[i] = pwl_code_of(PWL_Q8_1, rule, c.scale, c.extent.finite ? c.v[i] : 0);
    return c;
}

template <pwl_qgemm_type type>
__global__ void __launch_bounds__(threads)
    quantise(pwl_rule rule, const void *x, size_t m, size_t blocks, size_t stride, pwl_block_q8_1 *q)
{
    begin_after_last();
    const unsigned lane = threadIdx.x % lanes;
    const size_t count = m * blocks, step = size_t{gridDim.x} * (threads / lanes);
    const bool aligned = elements_are_aligned<type>(x, stride);
    /* All lanes of a warp go on as long as its first block is there. */
    for (size_t first = (size_t{blockIdx.x} * threads + threadIdx.x) / 32 * blocks_of_warp; first < count;
         first += step) {
        const size_t i = first + threadIdx.x % 32 / lanes;
        const coded c =
            code_of<type>(rule, x, i / blocks * stride + i % blocks * PWL_BLOCK + lane * 4, aligned, i < count);
        const int sum_q = sum_of_lanes<lanes>(c.code[0] + c.code[1] + c.code[2] + c.code[3]);
        const float sum_x = rule == PWL_RULE_DOCUMENT ? sum_in_order<lanes, 4>(0, c.v) : 0;
        if (i >= count)
            continue;
        for (unsigned j = 0; j < 4; j++)
            q[i].qs[lane * 4 + j] = static_cast<int8_t>(c.code[j]);
        if (lane == 0) {
            q[i].d = c.scale.stored;
            q[i].s = pwl_sum_of(rule, c.extent, c.scale, sum_q, sum_x);
        }
    }
}

/* A lane's four codes of a block, and the block's d. */
struct mine {
    uint32_t codes;
    uint16_t d; /* 0 in INT8 */
};

template <pwl_qgemm_type type>
__device__ mine block_of(const void *x, size_t row, size_t column, size_t stride, bool aligned, bool there)
{
    const unsigned at = threadIdx.x % lanes * 4;
    mine own = {0, 0};
    if constexpr (type == PWL_QGEMM_BLOCKS_Q8_1) {
        const pwl_block_q8_1 *const q = static_cast<const pwl_block_q8_1 *>(x) + row * stride + column / PWL_BLOCK;
        const uint16_t *const pairs = reinterpret_cast<const uint16_t *>(there ? &q->qs[at] : nullptr);
        if (there)
            own = {static_cast<uint32_t>(pairs[1]) << 16 | pairs[0], q->d};
    } else if constexpr (type == PWL_QGEMM_S8) {
        const uint8_t *const codes = static_cast<const uint8_t *>(x) + row * stride + column + at;
        for (unsigned i = 0; i < 4 && there; i++)
            own.codes |= static_cast<uint32_t>(codes[i]) << 8 * i;
    } else {
        const coded c = code_of<type>(PWL_RULE_DEFAULT, x, row * stride + column + at, aligned, there);
        for (unsigned i = 0; i < 4; i++)
            own.codes |= static_cast<uint32_t>(c.code[i] & 0xff) << 8 * i;
        own.d = there ? c.scale.stored : 0;
    }
    return own;
}

template <pwl_qgemm_type type>
__device__ eighth codes_of(const void *x, size_t row, size_t block, size_t stride, bool aligned, bool there)
{
    const unsigned at = threadIdx.x % quarters * eight;
    eighth own = {};
    if constexpr (type == PWL_QGEMM_BLOCKS_Q8_1) {
        const pwl_block_q8_1 *const q = static_cast<const pwl_block_q8_1 *>(x) + row * stride + block;
        const uint16_t *const pairs = reinterpret_cast<const uint16_t *>(there ? &q->qs[at] : nullptr);
        if (there)
            own.d = q->d;
        for (unsigned i = 0; i < eight && there; i++)
            own.code[i] = static_cast<int8_t>(pairs[i / 2] >> i % 2 * 8);
    } else {
        float v[2][4] = {}, all[eight];
        for (unsigned i = 0; i < 2 && there; i++)
            load_elements<type>(x, row * stride + block * PWL_BLOCK + at + i * 4, aligned, v[i]);
        for (unsigned i = 0; i < eight; i++)
            all[i] = v[i / 4][i % 4];
        own = eighth_of(all);
    }
    return own;
}

/*
 * RN16(d * q * 2^-f): a thread block for a row, once as if f were 0, and where it is not, again. Four to a
 * multiprocessor: for more of them, ptxas would spill registers on 12.0.
 */
template <pwl_qgemm_type type>
__global__ void __launch_bounds__(threads, 4)
    halve_blocks(const void *x, size_t m, size_t blocks, size_t stride, uint16_t *h, int32_t *f)
{
    begin_after_last();
    const unsigned lane = threadIdx.x % quarters;
    const bool aligned = elements_are_aligned<type>(x, stride);
    for (size_t row = blockIdx.x; row < m; row += gridDim.x) {
        int exponent = 0, needed = 0;
        do {
            float most = 0;
            exponent = needed;
#pragma unroll 2
            for (size_t first = threadIdx.x / 32 * (32 / quarters); first < blocks; first += threads / quarters) {
                const size_t b = first + threadIdx.x % 32 / quarters;
                const eighth own = codes_of<type>(x, row, b, stride, aligned, b < blocks);
                const float d = pwl_f32_from_f16(own.d);
                if (b >= blocks)
                    continue;
                const float unit = d * pwl_f32_of_bits(static_cast<uint32_t>(127 - exponent) << 23); /* exact */
                *reinterpret_cast<uint4 *>(h + (row * blocks + b) * PWL_BLOCK + lane * eight) = halves_of(own, unit);
                if (pwl_is_finite(d))
                    most = fmaxf(most, pwl_magnitude(d));
            }
            needed = pwl_qgemm_blocks_exponent(largest_of(most));
        } while (needed != exponent);
        if (threadIdx.x == 0)
            f[row] = exponent;
    }
}

/* What strips.h lets a pass make, four lanes to a block; and all marks as the product begins with them. */
__global__ void __launch_bounds__(threads)
    halve_ahead(const uint16_t *x, size_t blocks, size_t stride, pwl_qgemm_strips strips, uint16_t *h, uint32_t *marks)
{
    begin_after_last();
    const size_t thread = size_t{blockIdx.x} * threads + threadIdx.x, all = size_t{gridDim.x} * threads;
    const size_t across = min(blocks, strips.ahead * 2), count = strips.leading * across;
    for (size_t i = thread; i <= strips.count && strips.count; i += all)
        marks[i] = i ? static_cast<uint32_t>(pwl_qgemm_strip_ahead(&strips, i - 1)) : 0;
    /* A warp has 32 blocks. */
    for (size_t first = thread / 32 * 32; first < count; first += all) {
        uint4 own[quarters];
        size_t at[quarters];
#pragma unroll
        for (unsigned i = 0; i < quarters; i++) {
            const size_t block = first + i * (32 / quarters) + thread % 32 / quarters, row = block / across;
            const size_t column = block % across * PWL_BLOCK + thread % quarters * eight;
            at[i] = block < count ? row * blocks * PWL_BLOCK + column : SIZE_MAX;
            own[i] = make_uint4(0, 0, 0, 0);
            if (block < count)
                own[i] = *reinterpret_cast<const uint4 *>(x + row * stride + column);
        }
        halves_of_halves(own);
#pragma unroll
        for (unsigned i = 0; i < quarters; i++) {
            if (at[i] != SIZE_MAX)
                *reinterpret_cast<uint4 *>(h + at[i]) = own[i];
        }
    }
}

/*
 * X in bytes, with d and sums: eight lanes to 32 columns, a word each. Lanes of columns c and c + 8 have each other's
 * pairs. Thread blocks in rows: what belongs where takes no division, which little X would have to wait for.
 */
template <pwl_qgemm_type type>
__global__ void __launch_bounds__(threads) pack(const void *x, size_t m, size_t k, size_t stride, uint8_t *bytes)
{
    constexpr bool rows8 = type == PWL_QGEMM_S8;
    constexpr pwl_qgemm_format format = rows8 ? PWL_QGEMM_ROWS8 : PWL_QGEMM_Q8_0; /* its order */
    begin_after_last();
    const unsigned lane = threadIdx.x % lanes, later = lane / 2 % 2;
    const size_t rows = pwl_qgemm_round_up(m, PWL_QGEMM_TOKENS), blocks = pwl_qgemm_depth(k) * 2;
    const bool aligned = elements_are_aligned<type>(x, stride);
    for (size_t row = blockIdx.y; row < rows; row += gridDim.y) {
#pragma unroll 1
        for (size_t first = (size_t{blockIdx.x} * threads + threadIdx.x) / 32 * blocks_of_warp; first < blocks;
             first += size_t{gridDim.x} * (threads / lanes)) {
            const size_t block = first + threadIdx.x % 32 / lanes, column = block * PWL_BLOCK;
            mine own = {0, 0};
            if (row < m) /* the same for all lanes, and blocks of zeros take their time */
                own = block_of<type>(x, row, column, stride, aligned, column < k);
            const uint32_t other = __shfl_xor_sync(all_lanes, own.codes, 2);
            const int sum = sum_of_lanes<lanes>(pwl_dp4a(own.codes, 0x01010101, 0));
            if (block >= blocks)
                continue;
            const unsigned c = static_cast<unsigned>(column % PWL_QGEMM_COLUMNS) +
                               (rows8 ? lane * 4 : lane / 4 * 16 + lane % 2 * 4 + later * 2);
            *reinterpret_cast<uint32_t *>(bytes + pwl_qgemm_input_at(m, row, column) + pwl_qgemm_byte_at(format, c)) =
                rows8   ? own.codes
                : later ? pwl_prmt(other, own.codes, 0x7362)
                        : pwl_prmt(own.codes, other, 0x5140);
            if (lane == 0)
                *reinterpret_cast<uint32_t *>(bytes + pwl_qgemm_input_scale_at(m, k, row, column) +
                                              column % PWL_QGEMM_COLUMNS / PWL_BLOCK * 4) =
                    static_cast<uint32_t>(sum) << 16 | own.d;
        }
    }
}

/* Two columns a thread. */
template <bool is_float>
__global__ void __launch_bounds__(threads)
    halve(const void *x, size_t m, size_t k, size_t stride, const int32_t *f, uint16_t *h)
{
    begin_after_last();
    const size_t step = size_t{gridDim.x} * threads;
    for (size_t i = size_t{blockIdx.x} * threads + threadIdx.x; i < m * (k / 2); i += step) {
        const size_t row = i / (k / 2), at = row * stride + i % (k / 2) * 2;
        uint16_t pair[2];
        for (unsigned j = 0; j < 2; j++) {
            if constexpr (is_float)
                pair[j] = pwl_f16_from_f32(__fmul_rn(static_cast<const float *>(x)[at + j], ldexpf(1, -f[row])));
            else
                pair[j] = static_cast<const uint16_t *>(x)[at + j];
        }
        reinterpret_cast<uint32_t *>(h)[i] = static_cast<uint32_t>(pair[1]) << 16 | pair[0];
    }
}

/*
 * Rows of floats as E4M3: a thread block for a row, once for the largest of finite magnitudes, and again, which comes
 * from the caches. `aligned`: rows of both are to 16 elements of E4M3. Rows of codes are `pitch` apart.
 */
template <pwl_qgemm_type type>
__global__ void __launch_bounds__(threads) quantise_e4m3(const void *x, size_t m, size_t k, size_t stride, bool aligned,
                                                         uint8_t *codes, size_t pitch, float *scales)
{
    constexpr unsigned together = 16;
    begin_after_last();
    const size_t whole = aligned ? k / together : 0;
    for (size_t row = blockIdx.x; row < m; row += gridDim.x) {
        float amax = 0;
        const auto look = [&amax](float v) { amax = pwl_is_finite(v) ? fmaxf(amax, pwl_magnitude(v)) : amax; };
        for (size_t i = threadIdx.x; i < whole; i += threads) {
            float v[together];
            load_elements<type>(x, row * stride + i * together, v);
#pragma unroll
            for (float one : v)
                look(one);
        }
        for (size_t c = whole * together + threadIdx.x; c < k; c += threads)
            look(pwl_qgemm_element(type, x, row * stride + c));
        const float scale = pwl_e4m3_scale(largest_of(amax)), inverse = pwl_e4m3_inverse(scale);
        for (size_t i = threadIdx.x; i < whole; i += threads) {
            float v[together];
            uint32_t words[together / 4] = {};
            load_elements<type>(x, row * stride + i * together, v);
#pragma unroll
            for (unsigned j = 0; j < together; j++)
                words[j / 4] |= static_cast<uint32_t>(pwl_e4m3_code(v[j], inverse)) << j % 4 * 8;
            *reinterpret_cast<uint4 *>(codes + row * pitch + i * together) =
                make_uint4(words[0], words[1], words[2], words[3]);
        }
        for (size_t c = whole * together + threadIdx.x; c < k; c += threads)
            codes[row * pitch + c] = pwl_e4m3_code(pwl_qgemm_element(type, x, row * stride + c), inverse);
        if (threadIdx.x == 0)
            scales[row] = scale;
    }
}

/* blocks across, and down where there are rows of them. */
template <typename... parameters, typename... types>
int launch(void (*kernel)(parameters...), size_t across, size_t down, cudaStream_t stream, types &&...arguments)
{
    bool waits;
    const cudaError_t error = waits_by_itself(reinterpret_cast<const void *>(kernel), &waits);
    if (error != cudaSuccess)
        return error;
    const dim3 grid(static_cast<unsigned>(across < 65535 ? across : 65535),
                    static_cast<unsigned>(down < 65535 ? down : 65535));
    return launch_overlapped(waits, kernel, grid, threads, 0, stream, std::forward<types>(arguments)...);
}

} // namespace

int pwl_cuda_launch_qgemm_exponents(const pwl_qgemm_call *call, int32_t *f, struct CUstream_st *stream)
{
    const pwl_qgemm_product *const product = &call->product;
    return launch(exponents, product->m, 1, stream, static_cast<const float *>(product->x.data), product->m,
                  call->weights.k, product->x.stride, f);
}

int pwl_cuda_launch_qgemm_e4m3(const pwl_qgemm_input *x, size_t m, size_t k, const pwl_qgemm_output *to,
                               struct CUstream_st *stream)
{
    typedef void kernel(const void *x, size_t m, size_t k, size_t stride, bool aligned, uint8_t *codes, size_t pitch,
                        float *scales);
    static kernel *const kernels[] = {quantise_e4m3<PWL_QGEMM_F32>, quantise_e4m3<PWL_QGEMM_F16>,
                                      quantise_e4m3<PWL_QGEMM_BF16>};
    const size_t together = x->type == PWL_QGEMM_F32 ? 4 : 8;
    const bool aligned = reinterpret_cast<uintptr_t>(x->data) % 16 == 0 && x->stride % together == 0 &&
                         reinterpret_cast<uintptr_t>(to->data) % 16 == 0 && to->stride % 16 == 0;
    return launch(kernels[x->type], m, 1, stream, x->data, m, k, x->stride, aligned, static_cast<uint8_t *>(to->data),
                  to->stride, to->scale);
}

int pwl_cuda_launch_qgemm_blocks(const pwl_qgemm_call *call, pwl_block_q8_1 *q, struct CUstream_st *stream)
{
    typedef void kernel(pwl_rule rule, const void *x, size_t m, size_t blocks, size_t stride, pwl_block_q8_1 *q);
    static kernel *const kernels[] = {quantise<PWL_QGEMM_F32>, quantise<PWL_QGEMM_F16>, quantise<PWL_QGEMM_BF16>};
    const pwl_qgemm_product *const product = &call->product;
    const size_t blocks = call->weights.k / PWL_BLOCK;
    const pwl_rule rule = product->sums == PWL_QGEMM_SUMS_STORED ? PWL_RULE_DOCUMENT : PWL_RULE_DEFAULT;
    return launch(kernels[product->x.type], (product->m * blocks - 1) / (threads / lanes) + 1, 1, stream, rule,
                  product->x.data, product->m, blocks, product->x.stride, q);
}

int pwl_cuda_launch_qgemm_block_halves(const pwl_qgemm_call *call, uint16_t *h, int32_t *f, struct CUstream_st *stream)
{
    typedef void kernel(const void *x, size_t m, size_t blocks, size_t stride, uint16_t *h, int32_t *f);
    static kernel *const kernels[] = {halve_blocks<PWL_QGEMM_F32>, halve_blocks<PWL_QGEMM_F16>,
                                      halve_blocks<PWL_QGEMM_BF16>, halve_blocks<PWL_QGEMM_BLOCKS_Q8_1>};
    const pwl_qgemm_input *const x = &call->product.x;
    const size_t m = call->product.m;
    return launch(kernels[x->type], m, 1, stream, x->data, m, call->weights.k / PWL_BLOCK, x->stride, h, f);
}

int pwl_cuda_launch_qgemm_halves_ahead(const pwl_qgemm_call *call, uint16_t *h, struct CUstream_st *stream)
{
    const pwl_qgemm_input *const x = &call->product.x;
    const pwl_qgemm_strips *const strips = &call->strips;
    const size_t work = strips->leading * strips->ahead * (PWL_QGEMM_COLUMNS / PWL_BLOCK); /* blocks, a thread each */
    return launch(halve_ahead, ((work > strips->count ? work : strips->count + 1) - 1) / threads + 1, 1, stream,
                  static_cast<const uint16_t *>(x->data), call->weights.k / PWL_BLOCK, x->stride, *strips, h,
                  call->marks);
}

int pwl_cuda_launch_qgemm_bytes(const pwl_qgemm_call *call, uint8_t *bytes, struct CUstream_st *stream)
{
    typedef void kernel(const void *x, size_t m, size_t k, size_t stride, uint8_t *bytes);
    static kernel *const kernels[] = {pack<PWL_QGEMM_F32>, pack<PWL_QGEMM_F16>, pack<PWL_QGEMM_BF16>,
                                      pack<PWL_QGEMM_BLOCKS_Q8_1>, pack<PWL_QGEMM_S8>};
    const pwl_qgemm_input *const x = &call->product.x;
    const size_t m = call->product.m, k = call->weights.k, words = pwl_qgemm_depth(k) * PWL_QGEMM_COLUMNS / 4;
    return launch(kernels[x->type], (words - 1) / threads + 1, pwl_qgemm_round_up(m, PWL_QGEMM_TOKENS), stream, x->data,
                  m, k, x->stride, bytes);
}

int pwl_cuda_launch_qgemm_halves(const pwl_qgemm_call *call, uint16_t *h, struct CUstream_st *stream)
{
    const pwl_qgemm_product *const product = &call->product;
    const size_t m = product->m, k = call->weights.k;
    const size_t blocks = (m * (k / 2) - 1) / threads + 1;
    if (product->x.type == PWL_QGEMM_F32)
        return launch(halve<true>, blocks, 1, stream, product->x.data, m, k, product->x.stride, call->f, h);
    return launch(halve<false>, blocks, 1, stream, product->x.data, m, k, product->x.stride, nullptr, h);
}
