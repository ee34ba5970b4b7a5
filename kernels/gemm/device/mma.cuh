/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile of Y by tensor cores, for every device from 8.0 on: 128 rows of weights and 8 * groups rows of X.
 *
 * Each of a thread block's four warps has 32 rows of weights and all rows of X, so that a code is decoded by one warp
 * alone, right into the fragment that mma.m16n8k16 takes as operand A. X is operand B. Both come in stages of 64
 * columns: a piece of the weights (gemm/layout.h) and 128 bytes of each row of X, whose 16-byte chunks are swapped
 * about so that ldmatrix meets no bank twice.
 */
#ifndef PWL_QGEMM_MMA_CUH
#define PWL_QGEMM_MMA_CUH

#include "fragment.cuh"
#include "gemm/input.h"
#include "tile.cuh"

namespace pwl
{
namespace mma
{

constexpr unsigned stages = 4;
constexpr unsigned steps = 4; /* of 16 columns, in a piece */

__host__ __device__ constexpr unsigned piece_bytes(pwl_qgemm_format format)
{
    return format == PWL_QGEMM_Q4_0 ? 4608 : format == PWL_QGEMM_Q8_0 ? 8704 : format == PWL_QGEMM_MXFP4 ? 4352 : 8192;
}

__host__ __device__ constexpr unsigned x_bytes(unsigned groups)
{
    return groups * 8 * 128;
}

__host__ __device__ constexpr unsigned stage_bytes(pwl_qgemm_format format, unsigned groups)
{
    return x_bytes(groups) + piece_bytes(format);
}

/* Stages, and after them the sums with what a table takes. */
__host__ __device__ constexpr unsigned shared_bytes(pwl_qgemm_format format, unsigned groups, unsigned table)
{
    const unsigned sums = sums_bytes(groups) + table, all = stages * stage_bytes(format, groups);
    return all > sums ? all : sums;
}

static_assert(shared_bytes(PWL_QGEMM_Q8_0, 16, PWL_PLAN_IMAGE) <= 99 << 10, "8.6, 8.9 and 12.0 grant a block no more");

/* Thread blocks that a multiprocessor's registers are for. */
__host__ __device__ constexpr unsigned residents(unsigned groups)
{
    return groups > 8 ? 1 : 2;
}

template <unsigned groups> using sums_of = sums_in<float, groups>;

/* Four matrices of 8 x 8 halves, whose rows lie at the addresses of 8 lanes each. */
__device__ inline void load_matrices(uint32_t (&r)[4], uint32_t address)
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

/*
 * Fills the stages: each thread its chunks of X and of the piece, in every stage the same places. Zeros take the place
 * of what is not there, without a branch that would part the multiplications around it.
 */
template <pwl_qgemm_format format, unsigned groups> struct loader {
    static constexpr unsigned x_chunks = groups * 64 / threads, x_rows = threads / 8; /* rows are so far apart */
    static constexpr unsigned w_chunks = piece_bytes(format) / 16;
    const uint16_t *x;
    const uint8_t *w;
    size_t x_apart;
    uint32_t x_to, w_to;
    int rows;               /* of this thread that are there */
    int x_pieces, w_pieces; /* that are left with its columns, and at all */
    bool has_last;          /* chunk of a piece */

    /* Of `count` pieces from `piece` on. */
    __device__ loader(const pwl_qgemm_call &call, size_t m, size_t n, uint32_t piece, uint32_t count, uint32_t stage)
    {
        const uint32_t thread = thread_here(), row = thread / 8, chunk = thread % 8;
        const size_t k = call.weights.k, column = size_t{piece} * PWL_QGEMM_COLUMNS;
        x = call.h + (m + row) * call.h_stride + column + chunk * 8;
        w = static_cast<const uint8_t *>(call.weights.memory) + pwl_qgemm_piece_at(format, k, n, column) + thread * 16;
        x_apart = x_rows * call.h_stride;
        x_to = stage + row * 128 + (chunk ^ row % 8) * 16;
        w_to = stage + x_bytes(groups) + thread * 16;
        rows = 0;
        for (unsigned i = 0; i < x_chunks; i++)
            rows += m + row + i * x_rows < call.product.m;
        has_last = w_chunks / threads * threads + thread < w_chunks;
        w_pieces = static_cast<int>(count);
        x_pieces = column + (size_t{count} - 1) * PWL_QGEMM_COLUMNS + chunk * 8 < k ? w_pieces : w_pieces - 1;
    }

    /* The next piece; a group of copies of its own even where none is left, so that groups can be counted. */
    __device__ void load(unsigned stage)
    {
        const uint32_t to = stage * stage_bytes(format, groups);
        const int there = x_pieces > 0 ? rows : 0;
#pragma unroll
        for (unsigned i = 0; i < x_chunks; i++)
            copy_async_if(static_cast<int>(i) < there, x_to + to + i * x_rows * 128, x + i * x_apart);
#pragma unroll
        for (unsigned i = 0; i < w_chunks; i += threads) {
            if (i + threads <= w_chunks || has_last)
                copy_async_if(w_pieces > 0, w_to + to + i * 16, w + i * 16);
        }
        x += PWL_QGEMM_COLUMNS;
        w += piece_bytes(format);
        x_pieces--;
        w_pieces--;
        close_group();
    }
};

/* What a tile has of a piece. */
__host__ __device__ constexpr bool is_wide(pwl_qgemm_format format)
{
    return format == PWL_QGEMM_Q8_0 || format == PWL_QGEMM_ROWS8;
}

__host__ __device__ constexpr unsigned code_bytes(pwl_qgemm_format format)
{
    return is_wide(format) ? 1024 : 512;
}

__host__ __device__ constexpr unsigned scale_bytes(pwl_qgemm_format format)
{
    return piece_bytes(format) / PWL_QGEMM_TILES - code_bytes(format);
}

/* Codes of a warp's rows of a piece, and their scales, of rows g and g + 8, of the first 32 columns and the second. */
template <pwl_qgemm_format format, unsigned tiles = mma::tiles> struct codes {
    uint32_t words[tiles][is_wide(format) ? 8 : 4], scales[tiles][2];

    /* Of this warp among those that share a whole piece. */
    __device__ void load(const uint8_t *piece)
    {
        const unsigned first = threadIdx.x / 32 * tiles;
        load(piece + first * code_bytes(format),
             piece + PWL_QGEMM_TILES * code_bytes(format) + first * scale_bytes(format));
    }

    /* From where the first tile's lie. */
    __device__ void load(const uint8_t *of, const uint8_t *its_scales)
    {
        constexpr unsigned bytes = code_bytes(format);
        const unsigned lane = threadIdx.x % 32;
#pragma unroll
        for (unsigned t = 0; t < tiles; t++) {
#pragma unroll
            for (unsigned i = 0; i < bytes / 512; i++) {
                const uint4 v = *reinterpret_cast<const uint4 *>(of + t * bytes + i * 512 + lane * 16);
                words[t][i * 4] = v.x;
                words[t][i * 4 + 1] = v.y;
                words[t][i * 4 + 2] = v.z;
                words[t][i * 4 + 3] = v.w;
            }
            /* This lane's four. */
            const uint8_t *const four = its_scales + t * scale_bytes(format) + lane / 4 * (scale_bytes(format) / 8);
            if constexpr (format == PWL_QGEMM_MXFP4) {
                scales[t][0] = *reinterpret_cast<const uint32_t *>(four);
            } else if constexpr (format != PWL_QGEMM_ROWS8) {
                const uint2 s = *reinterpret_cast<const uint2 *>(four);
                scales[t][0] = s.x;
                scales[t][1] = s.y;
            }
        }
    }
};

/* Fragments out of codes. `exponents`: some row's e is not 0. */
template <pwl_qgemm_format format, bool bf16, bool exponents, unsigned tiles = mma::tiles> struct decoder {
    uint32_t units[tiles]; /* 2^-e of rows g and g + 8 */
    int e[tiles][2];

    /* Of a warp's rows of weights, from n on. */
    __device__ decoder(const pwl_qgemm_call &call, size_t n)
    {
        const unsigned row = threadIdx.x % 32 / 4;
        for (unsigned t = 0; t < tiles; t++) {
            for (unsigned i = 0; i < 2; i++)
                e[t][i] = exponents ? pwl_qgemm_row_exponent(&call.weights, n + row + t * 16 + i * 8) : 0;
            units[t] = static_cast<uint32_t>(15 - e[t][1]) << 26 | static_cast<uint32_t>(15 - e[t][0]) << 10;
        }
    }

    /* Operand A of a tile and the 16 columns of a step. */
    __device__ pwl_fragment fragment(const codes<format, tiles> &of, unsigned t, unsigned step) const
    {
        constexpr unsigned each = is_wide(format) ? 2 : 1; /* words of a step */
        const uint32_t *const words = &of.words[t][step * each];
        uint32_t scales = of.scales[t][format == PWL_QGEMM_MXFP4 ? 0 : step / 2];
        if constexpr (format == PWL_QGEMM_MXFP4) {
            const uint32_t stored = scales >> step / 2 * 16;
            scales = static_cast<uint32_t>(pwl_fragment_scale(format, bf16, stored >> 8 & 0xff, e[t][1])) << 16 |
                     pwl_fragment_scale(format, bf16, stored & 0xff, e[t][0]);
        }
        return pwl_fragment_halves(format, bf16, exponents, words[0], words[each - 1], scales, units[t]);
    }
};

/* Operands B of a step, all rows of X. */
template <unsigned groups> __device__ void load_x(uint32_t (&b)[groups][2], uint32_t stage, unsigned step)
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

/*
 * Adds `count` pieces from `piece` on of the tile at row m of X and row n of the weights. Operands of a step are made
 * while the one before it is multiplied, and codes are read a step before that. Threads meet in the middle of a piece,
 * when they have much to do before they need the next: it has arrived then, and the stage of the piece before it is
 * free for the one that comes last. `meanwhile` is called while the first pieces come; it may start other copies, which
 * arrive with the piece after these, so that none of the first waits for them.
 */
template <pwl_qgemm_format format, bool bf16, bool exponents, unsigned groups, class function>
__device__ void add_pieces(const pwl_qgemm_call &call, size_t m, size_t n, uint32_t piece, uint32_t count,
                           uint8_t *memory, sums_of<groups> &sums, const function &meanwhile)
{
    constexpr unsigned bytes = stage_bytes(format, groups);
    const uint32_t first = shared_address(memory);
    loader<format, groups> loads(call, m, n, piece, count, first);
    const decoder<format, bf16, exponents> weights(call, n + threadIdx.x / 32 * tiles * 16);
    codes<format> here, coming;
    uint32_t b[2][groups][2];
    pwl_fragment a[2][tiles];

#pragma unroll
    for (unsigned i = 0; i < stages - 1; i++)
        loads.load(i);
    meanwhile();
    wait_for_all_but<stages - 2>();
    __syncthreads();
    here.load(memory + x_bytes(groups));
    load_x<groups>(b[0], first, 0);
#pragma unroll
    for (unsigned t = 0; t < tiles; t++)
        a[0][t] = weights.fragment(here, t, 0);

    unsigned before = stages - 1, at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const unsigned next = at + 1 == stages ? 0 : at + 1;
#pragma unroll
        for (unsigned step = 0; step < steps; step++) {
            const unsigned now = step % 2, then = 1 - now;
            if (step == 1) {
                wait_for_all_but<stages - 3>();
                __syncthreads();
                loads.load(before);
            }
            load_x<groups>(b[then], first + (step < 3 ? at : next) * bytes, (step + 1) % steps);
            if (step == 2)
                coming.load(memory + next * bytes + x_bytes(groups));
#pragma unroll
            for (unsigned t = 0; t < tiles; t++) {
                a[then][t] = weights.fragment(step < 3 ? here : coming, t, (step + 1) % steps);
#pragma unroll
                for (unsigned g = 0; g < groups; g++)
                    multiply_add<bf16>(sums[t][g], a[now][t], b[now][g]);
            }
        }
        here = coming;
        before = at;
        at = next;
    }
    wait_for_all_but<0>();
    __syncthreads();
}

/* A thread block for each tile of 128 rows of weights and 8 * groups of X; `more` is what else the kernel takes. */
template <unsigned groups, class... more_types>
int launch(void (*kernel)(pwl_qgemm_call call, uint32_t across, more_types... more), unsigned bytes,
           const pwl_qgemm_call *call, struct CUstream_st *stream, more_types... more)
{
    const size_t across = (call->weights.n - 1) / PWL_QGEMM_ROWS + 1, down = (call->product.m - 1) / (groups * 8) + 1;
    if (across > INT32_MAX || down > INT32_MAX / across)
        return cudaErrorInvalidConfiguration;
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    kernel<<<static_cast<unsigned>(across * down), threads, bytes, stream>>>(*call, static_cast<uint32_t>(across),
                                                                             more...);
    return cudaGetLastError();
}

/* What a kernel is compiled for. */
template <pwl_qgemm_format of, bool in_bf16, bool with_exponents> struct variant {
    static constexpr pwl_qgemm_format format = of;
    static constexpr bool bf16 = in_bf16, exponents = with_exponents;
};

/* f(variant<...>()) of a product; exponents are nothing to bf16, but in MXFP4. */
template <pwl_qgemm_format format, typename function> auto variant_of(const pwl_qgemm_call *call, function f)
{
    const bool exponents = call->weights.row_data;
    if (call->product.x.type == PWL_QGEMM_BF16 && !pwl_qgemm_is_a8(&call->product))
        return exponents ? f(variant<format, true, format == PWL_QGEMM_MXFP4>()) : f(variant<format, true, false>());
    return exponents ? f(variant<format, false, true>()) : f(variant<format, false, false>());
}

template <typename function> auto variant_of(const pwl_qgemm_call *call, function f)
{
    return call->weights.format == PWL_QGEMM_Q4_0   ? variant_of<PWL_QGEMM_Q4_0>(call, f)
           : call->weights.format == PWL_QGEMM_Q8_0 ? variant_of<PWL_QGEMM_Q8_0>(call, f)
                                                    : variant_of<PWL_QGEMM_MXFP4>(call, f);
}

} // namespace mma
} // namespace pwl

#endif
