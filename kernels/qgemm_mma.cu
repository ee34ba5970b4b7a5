/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W4A16, W8A16 and MXFP4 x A16 by tensor cores, for every device from 8.0 on.
 *
 * A thread block has 128 rows of weights and 64 of X; each of its four warps 32 rows of weights and all 64 of X, so
 * that a code is decoded by one warp alone, right into the fragment that mma.m16n8k16 takes as operand A. X is operand
 * B. Both come in stages of 64 columns, a piece of the weights (qgemm_layout.h) and 128 bytes of each row of X, whose
 * 16-byte chunks are swapped about so that ldmatrix meets no bank twice. Sums go through shared memory at the end, for
 * Y to be written along its rows.
 */
#include "async.cuh"
#include "qgemm_device.cuh"
#include "qgemm_fragment.cuh"

namespace
{

using namespace pwl;

constexpr unsigned threads = 128, tokens = 64, stages = 3;
constexpr unsigned tiles = 2;              /* of 16 rows of weights, to a warp */
constexpr unsigned groups = tokens / 8;    /* of 8 rows of X: operands B of a step */
constexpr unsigned x_bytes = tokens * 128; /* of a stage */
constexpr unsigned pitch = 128 + 4;        /* between the sums of a row of X: odd in chunks of 16 bytes */

__host__ __device__ constexpr unsigned piece_bytes(pwl_qgemm_format format)
{
    return format == PWL_QGEMM_Q4_0 ? 4608 : format == PWL_QGEMM_Q8_0 ? 8704 : 4352;
}

__host__ __device__ constexpr unsigned stage_bytes(pwl_qgemm_format format)
{
    return x_bytes + piece_bytes(format);
}

/* Stages, and after them the sums. */
__host__ __device__ constexpr unsigned shared_bytes(pwl_qgemm_format format)
{
    const unsigned sums = tokens * pitch * sizeof(float), all = stages * stage_bytes(format);
    return all > sums ? all : sums;
}

static_assert(shared_bytes(PWL_QGEMM_Q8_0) <= 99 << 10, "8.6, 8.9 and 12.0 grant a block no more");

/* Four matrices of 8 x 8 halves, whose rows lie at the addresses of 8 lanes each. */
__device__ void load_matrices(uint32_t (&r)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" /* r[i] = matrix i */
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

template <bool bf16> __device__ void multiply_add(float (&c)[4], const pwl_fragment &a, const uint32_t (&b)[2])
{
    if constexpr (bf16)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " /* c += a * b */
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b[0]), "r"(b[1]));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " /* c += a * b */
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b[0]), "r"(b[1]));
}

/* Fills the stages: each thread its chunks of X and of the piece, in every stage the same places. */
template <pwl_qgemm_format format> struct loader {
    static constexpr unsigned x_chunks = tokens * 8 / threads, x_rows = threads / 8; /* a thread's rows, so far apart */
    static constexpr unsigned w_chunks = piece_bytes(format) / 16;
    const uint16_t *x;
    const uint8_t *w;
    size_t x_apart;
    uint32_t x_to, w_to, rows; /* bit i: row i of this thread is there */
    int64_t columns;           /* that are left of X from this thread's on */
    uint32_t pieces;           /* that are left */

    __device__ loader(const pwl_qgemm_call &call, size_t m, size_t n, uint32_t stage)
    {
        const uint32_t row = threadIdx.x / 8, chunk = threadIdx.x % 8;
        const size_t k = call.weights.k;
        x = call.h + (m + row) * call.h_stride + chunk * 8;
        w = static_cast<const uint8_t *>(call.weights.memory) + pwl_qgemm_piece_at(format, k, n, 0) + threadIdx.x * 16;
        x_apart = x_rows * call.h_stride;
        x_to = stage + row * 128 + (chunk ^ row % 8) * 16;
        w_to = stage + x_bytes + threadIdx.x * 16;
        rows = 0;
        for (unsigned i = 0; i < x_chunks; i++)
            rows |= (m + row + i * x_rows < call.product.m ? 1u : 0u) << i;
        columns = static_cast<int64_t>(k) - chunk * 8;
        pieces = static_cast<uint32_t>(pwl_qgemm_depth(k));
    }

    /* The next piece; a group of copies of its own even where none is left, so that groups can be counted. */
    __device__ void load(unsigned stage)
    {
        if (pieces > 0) {
#pragma unroll
            for (unsigned i = 0; i < x_chunks; i++) {
                const bool there = columns > 0 && (rows >> i & 1);
                copy_async_if(there, x_to + stage * stage_bytes(format) + i * x_rows * 128,
                              x + (there ? i * x_apart : 0));
            }
#pragma unroll
            for (unsigned i = 0; i < w_chunks; i += threads) {
                if (i + threads <= w_chunks || i + threadIdx.x < w_chunks)
                    copy_async_if(true, w_to + stage * stage_bytes(format) + i * 16, w + i * 16);
            }
            x += 64;
            w += piece_bytes(format);
            columns -= 64;
            pieces--;
        }
        close_group();
    }
};

/* This warp's codes and scales of a piece, and fragments made of them. */
template <pwl_qgemm_format format, bool bf16, bool exponents> struct decoder {
    static constexpr bool is_wide = format == PWL_QGEMM_Q8_0;
    uint4 codes[tiles][is_wide ? 2 : 1];
    uint32_t scales[tiles][2]; /* of rows g and g + 8, as halves, of the first 32 columns and the second */
    uint32_t units[tiles];     /* 2^-e of these rows */
    int e[tiles][2];

    __device__ decoder(const pwl_qgemm_call &call, size_t n)
    {
        const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * tiles * 16 + lane / 4;
        for (unsigned t = 0; t < tiles; t++) {
            for (unsigned i = 0; i < 2; i++)
                e[t][i] = exponents ? pwl_qgemm_row_exponent(&call.weights, n + row + t * 16 + i * 8) : 0;
            units[t] = static_cast<uint32_t>(15 - e[t][1]) << 26 | static_cast<uint32_t>(15 - e[t][0]) << 10;
        }
    }

    __device__ uint16_t scale_of(uint8_t stored, int exponent) const
    {
        return bf16 ? pwl_fragment_mxfp4_bf16_scale(stored, exponent) : pwl_fragment_mxfp4_scale(stored, exponent);
    }

    __device__ void load(const uint8_t *piece)
    {
        const unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * tiles;
#pragma unroll
        for (unsigned t = 0; t < tiles; t++) {
            const uint8_t *const tile = piece + (first + t) * (is_wide ? 1024 : 512) + lane * 16;
            const unsigned at = (first + t) * 32 + lane / 4 * 4; /* of this lane's four scales */
            const uint8_t *const all = piece + PWL_QGEMM_TILES * (is_wide ? 1024 : 512);
            codes[t][0] = *reinterpret_cast<const uint4 *>(tile);
            if constexpr (is_wide)
                codes[t][1] = *reinterpret_cast<const uint4 *>(tile + 512);
            if constexpr (format == PWL_QGEMM_MXFP4) {
                const uchar4 s = *reinterpret_cast<const uchar4 *>(all + at);
                scales[t][0] = static_cast<uint32_t>(scale_of(s.y, e[t][1])) << 16 | scale_of(s.x, e[t][0]);
                scales[t][1] = static_cast<uint32_t>(scale_of(s.w, e[t][1])) << 16 | scale_of(s.z, e[t][0]);
            } else {
                const uint2 s = *reinterpret_cast<const uint2 *>(all + at * 2);
                scales[t][0] = s.x;
                scales[t][1] = s.y;
            }
        }
    }

    static __device__ uint32_t word(const uint4 &v, unsigned i)
    {
        return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
    }

    /* Operand A of a tile and 16 columns, of which there are four `step`s. */
    __device__ pwl_fragment fragment(unsigned t, unsigned step) const
    {
        const uint32_t scale = scales[t][step / 2];
        if constexpr (format == PWL_QGEMM_MXFP4) {
            const uint32_t nibbles = word(codes[t][0], step);
            return bf16 ? pwl_fragment_mxfp4_bf16(nibbles, scale) : pwl_fragment_mxfp4(nibbles, scale);
        } else {
            const pwl_fragment q =
                is_wide ? pwl_fragment_q8_0(word(codes[t][step / 2 % (is_wide ? 2 : 1)], step % 2 * 2),
                                            word(codes[t][step / 2 % (is_wide ? 2 : 1)], step % 2 * 2 + 1))
                        : pwl_fragment_q4_0(word(codes[t][0], step));
            if constexpr (bf16)
                return pwl_fragment_weights_bf16(q, scale);
            else if constexpr (exponents)
                return pwl_fragment_weights(q, scale, units[t]);
            else
                return pwl_fragment_scaled(q.r[0], q.r[1], q.r[2], q.r[3], scale);
        }
    }
};

/* Operands B of a step, all 64 rows of X. */
__device__ void load_x(uint32_t (&b)[groups][2], uint32_t stage, unsigned step)
{
    const unsigned lane = threadIdx.x % 32, row = lane % 8 + lane / 16 * 8, chunk = step * 2 + lane / 8 % 2;
    const uint32_t at = stage + row * 128 + (chunk ^ row % 8) * 16;
#pragma unroll
    for (unsigned i = 0; i < groups; i += 2) {
        uint32_t r[4];
        load_matrices(r, at + i * 8 * 128);
        b[i][0] = r[0];
        b[i][1] = r[1];
        b[i + 1][0] = r[2];
        b[i + 1][1] = r[3];
    }
}

template <pwl_qgemm_format format, bool bf16, bool exponents>
__global__ void __launch_bounds__(threads, 2) product(const __grid_constant__ pwl_qgemm_call call, uint32_t across)
{
    extern __shared__ uint4 shared[];
    uint8_t *const memory = reinterpret_cast<uint8_t *>(shared);
    const size_t n = size_t{blockIdx.x % across} * PWL_QGEMM_ROWS, m = size_t{blockIdx.x / across} * tokens;
    const uint32_t first = shared_address(memory), depth = static_cast<uint32_t>(pwl_qgemm_depth(call.weights.k));
    loader<format> stage(call, m, n, first);
    decoder<format, bf16, exponents> weights(call, n);
    float sums[tiles][groups][4] = {};
    uint32_t b[2][groups][2];
    pwl_fragment a[2][tiles];

#pragma unroll
    for (unsigned i = 0; i < stages; i++)
        stage.load(i);
    wait_for_all_but<stages - 1>();
    __syncthreads();
    weights.load(memory + x_bytes);
    load_x(b[0], first, 0);
#pragma unroll
    for (unsigned t = 0; t < tiles; t++)
        a[0][t] = weights.fragment(t, 0);

    /* Operands of a step are made while the one before it is multiplied, from one piece into the next. */
    unsigned at = 0;
    for (uint32_t piece = 0; piece < depth; piece++) {
        const unsigned next = at + 1 == stages ? 0 : at + 1;
#pragma unroll
        for (unsigned step = 0; step < 4; step++) {
            const unsigned now = step % 2, then = 1 - now;
            if (step < 3) {
                load_x(b[then], first + at * stage_bytes(format), step + 1);
            } else if (piece + 1 < depth) {
                wait_for_all_but<stages - 2>();
                __syncthreads();
                weights.load(memory + next * stage_bytes(format) + x_bytes);
                load_x(b[then], first + next * stage_bytes(format), 0);
                stage.load(at);
            }
#pragma unroll
            for (unsigned t = 0; t < tiles; t++) {
#pragma unroll
                for (unsigned i = 0; i < groups; i++)
                    multiply_add<bf16>(sums[t][i], a[now][t], b[now][i]);
            }
#pragma unroll
            for (unsigned t = 0; t < tiles; t++)
                a[then][t] = weights.fragment(t, (step + 1) % 4);
        }
        at = next;
    }

    /* Y: a thread has one row of weights, or eight, and pairs of rows of X. */
    wait_for_all_but<0>();
    __syncthreads();
    float *const y = reinterpret_cast<float *>(memory);
    const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * tiles * 16 + lane / 4, pair = lane % 4 * 2;
#pragma unroll
    for (unsigned t = 0; t < tiles; t++) {
#pragma unroll
        for (unsigned i = 0; i < groups; i++) {
#pragma unroll
            for (unsigned c = 0; c < 4; c++)
                y[(i * 8 + pair + c % 2) * pitch + row + t * 16 + c / 2 * 8] = sums[t][i][c];
        }
    }
    __syncthreads();
    const size_t column = n + threadIdx.x;
    if (column >= call.weights.n)
        return;
    /* Of bf16 weights 2^-e is left out where it changes nothing. */
    const int e = exponents && (!bf16 || format == PWL_QGEMM_MXFP4) ? pwl_qgemm_row_exponent(&call.weights, column) : 0;
    for (unsigned i = 0; i < tokens && m + i < call.product.m; i++)
        pwl_device_store(call, m + i, column, y[i * pitch + threadIdx.x], e + (call.f ? call.f[m + i] : 0));
}

typedef void kernel(const pwl_qgemm_call call, uint32_t across);

template <pwl_qgemm_format format> kernel *kernel_of(bool bf16, bool exponents)
{
    if (bf16)
        return exponents && format == PWL_QGEMM_MXFP4 ? product<format, true, true> : product<format, true, false>;
    return exponents ? product<format, false, true> : product<format, false, false>;
}

template <pwl_qgemm_format format> int launch(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const size_t across = (call->weights.n - 1) / PWL_QGEMM_ROWS + 1, down = (call->product.m - 1) / tokens + 1;
    if (across > INT32_MAX || down > INT32_MAX / across)
        return cudaErrorInvalidConfiguration;
    kernel *const chosen = kernel_of<format>(call->product.x.type == PWL_QGEMM_BF16, call->weights.row_data);
    const cudaError_t error =
        cudaFuncSetAttribute(chosen, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes(format));
    if (error != cudaSuccess)
        return error;
    chosen<<<static_cast<unsigned>(across * down), threads, shared_bytes(format), stream>>>(
        *call, static_cast<uint32_t>(across));
    return cudaGetLastError();
}

} // namespace

int pwl_cuda_launch_qgemm_mma(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->weights.format == PWL_QGEMM_Q4_0   ? launch<PWL_QGEMM_Q4_0>(call, stream)
           : call->weights.format == PWL_QGEMM_Q8_0 ? launch<PWL_QGEMM_Q8_0>(call, stream)
                                                    : launch<PWL_QGEMM_MXFP4>(call, stream);
}
