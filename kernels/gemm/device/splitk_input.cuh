/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a warp of splitk gets X for the pieces of its part, and what it does with it: halves or bytes that are copied to
 * each stage beside the weights, or floats that the warp makes Q8_1 by itself.
 *
 * Each way has: load(), which starts to copy X of the next piece to a stage; of(), where X of a piece lies once the
 * stage has arrived; add() of a piece; and y() of a complete sum. x_bytes are a stage's, own_bytes a part's beside its
 * stages.
 */
#ifndef PWL_QGEMM_SPLITK_INPUT_CUH
#define PWL_QGEMM_SPLITK_INPUT_CUH

#include "blocks/lanes.cuh"
#include "elements.cuh"
#include "gemm/launch.h"
#include "mma_bytes.cuh"
#include "mma_halves.cuh"
#include "store.cuh"

namespace pwl
{
namespace splitk
{

using mma::tiles;

constexpr unsigned warps = 8, threads = warps * 32, all_parts = 8;
constexpr unsigned warp_rows = tiles * PWL_QGEMM_TILE_ROWS; /* of weights, to a warp */

/* Groups of 8 rows of X; up to `alone` of them, a warp has its part of X to itself. */
constexpr unsigned most = PWL_QGEMM_FEW_ROWS / 8, alone = 5, many = 4, several = 3, some = 2, few = 1;

/* A thread block for so many groups. Warps that share a part have other rows of weights. */
template <unsigned groups> struct shape {
    static constexpr unsigned sharers = groups > alone ? 4 : 1, parts = warps / sharers, blocks = all_parts / parts;
    static constexpr unsigned rows = sharers * warp_rows, sharing_threads = sharers * 32;
    static constexpr unsigned pitch = rows + 4; /* between the sums of a row of X: a warp's stores meet no bank twice */
};

/* X in the stages. */
struct in_stages {
    static constexpr unsigned own_bytes = 0;

    static __device__ const uint8_t *of(const pwl_qgemm_call &, const uint8_t *stage, int, int)
    {
        return stage;
    }
};

/* y of sums of bytes. */
struct from_bytes {
    static __device__ float y(const pwl_qgemm_call &call, size_t, size_t n, float sum)
    {
        return pwl_device_y(call, n, sum, 0);
    }

    static __device__ int64_t y(const pwl_qgemm_call &call, size_t, size_t n, int32_t sum)
    {
        return pwl_device_y(call, n, sum);
    }
};

/* X in halves: as in mma_halves.cuh a row of 128 bytes, with its chunks swapped about. */
template <pwl_qgemm_format format, bool bf16, bool exponents, unsigned groups> struct by_halves : in_stages {
    typedef float number;
    using block = shape<groups>;
    static constexpr unsigned x_bytes = mma::x_bytes(groups);
    static constexpr unsigned at_once = block::sharing_threads / 8, copies = groups * 8 / at_once; /* rows, by a copy */

    mma::decoder<format, bf16, exponents, tiles> weights;
    const uint16_t *x;
    size_t apart;
    uint32_t to;
    int there;        /* of this thread's rows */
    size_t column, k; /* of its chunk, and how many there are */

    __device__ by_halves(const pwl_qgemm_call &call, size_t n, size_t first, uint8_t *) : weights(call, n)
    {
        const unsigned thread = threadIdx.x % block::sharing_threads, row = thread / 8, chunk = thread % 8;
        column = first * PWL_QGEMM_COLUMNS + chunk * 8;
        k = call.weights.k;
        x = call.h + row * call.h_stride + column;
        apart = at_once * call.h_stride;
        to = row * 128 + (chunk ^ row % 8) * 16;
        there = 0;
        for (unsigned i = 0; i < copies; i++)
            there += row + i * at_once < call.product.m;
    }

    /* The next piece's. */
    __device__ void load(uint32_t stage, bool is_piece)
    {
        const int count = is_piece && column < k ? there : 0;
#pragma unroll
        for (unsigned i = 0; i < copies; i++) /* four rows further on, chunks are swapped the other way */
            copy_async_if(static_cast<int>(i) < count, stage + (to ^ i * at_once % 8 * 16) + i * at_once * 128,
                          x + i * apart);
        x += PWL_QGEMM_COLUMNS;
        column += PWL_QGEMM_COLUMNS;
    }

    /* Adds a piece, of the groups that are there. */
    __device__ void add(const mma::codes<format, tiles> &codes, const uint8_t *stage, unsigned present,
                        float (&sums)[tiles][groups][4]) const
    {
        const unsigned lane = threadIdx.x % 32;
        const uint32_t row = shared_address(stage) + lane % 8 * 128;
#pragma unroll
        for (unsigned half = 0; half < 2; half++) { /* of the piece's steps */
            pwl_fragment a[2][tiles];
#pragma unroll
            for (unsigned step = 0; step < 2; step++) {
#pragma unroll
                for (unsigned t = 0; t < tiles; t++)
                    a[step][t] = weights.fragment(codes, t, half * 2 + step);
            }
#pragma unroll
            for (unsigned g = 0; g < groups; g++) {
                if (g >= many && g >= present)
                    break;
                uint32_t b[4];
                load_matrices(b, row + g * 8 * 128 + ((half * 4 + lane / 8) ^ lane % 8) * 16);
#pragma unroll
                for (unsigned step = 0; step < 2; step++) {
                    const uint32_t of_step[2] = {b[step * 2], b[step * 2 + 1]};
#pragma unroll
                    for (unsigned t = 0; t < tiles; t++)
                        multiply_add<bf16>(sums[t][g], a[step][t].r, of_step);
                }
            }
        }
    }

    /* y of the complete sum. */
    static __device__ float y(const pwl_qgemm_call &call, size_t m, size_t n, float sum)
    {
        const int e = exponents ? pwl_qgemm_row_exponent(&call.weights, n) : 0;
        return pwl_device_y(call, n, sum, e + (call.f ? call.f[m] : 0));
    }
};

/* X in bytes, in the order of gemm/layout.h. */
template <pwl_qgemm_format format, unsigned groups> struct by_bytes : in_stages, from_bytes {
    typedef std::conditional_t<pwl_qgemm_is_rows(format), int32_t, float> number;
    using block = shape<groups>;
    static constexpr unsigned x_bytes = bytes::x_bytes(groups);
    static constexpr unsigned all_codes = groups * 8 * bytes::x_code_bytes, all_scales = x_bytes - all_codes;

    const uint8_t *codes_at, *scales_at;
    unsigned codes, scales; /* bytes of a piece that are there */

    __device__ by_bytes(const pwl_qgemm_call &call, size_t, size_t first, uint8_t *)
    {
        const size_t m = call.product.m, column = first * PWL_QGEMM_COLUMNS;
        const unsigned padded = static_cast<unsigned>(pwl_qgemm_round_up(m, PWL_QGEMM_TOKENS));
        codes_at = call.bytes + pwl_qgemm_input_at(m, 0, column);
        scales_at = call.bytes + pwl_qgemm_input_scale_at(m, call.weights.k, 0, column);
        codes = padded * bytes::x_code_bytes;
        scales = padded * bytes::x_scale_bytes;
    }

    __device__ void load(uint32_t stage, bool is_piece)
    {
        constexpr unsigned at_once = block::sharing_threads * 16;
        const unsigned thread = threadIdx.x % block::sharing_threads * 16;
#pragma unroll
        for (unsigned i = 0; i < all_codes; i += at_once)
            copy_async_if(is_piece && i + thread < codes, stage + i + thread, codes_at + i + thread);
        if (!pwl_qgemm_is_rows(format) && thread < all_scales)
            copy_async_if(is_piece && thread < scales, stage + all_codes + thread, scales_at + thread);
        codes_at += codes;
        scales_at += scales;
    }

    __device__ void add(const mma::codes<format, tiles> &codes, const uint8_t *stage, unsigned present,
                        number (&sums)[tiles][groups][4]) const
    {
        bytes::operand<format> weights;
        weights.load(codes);
        bytes::add<format, groups>(weights, stage, present, sums);
    }
};

/* Four codes, saturated to bytes, the first lowest. */
__device__ inline uint32_t saturate_bytes(int a, int b, int c, int d)
{
    uint32_t high, all;
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" /* high = sat(d) << 8 | sat(c) */
        : "=r"(high)
        : "r"(d), "r"(c));
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" /* all = high << 16 | sat(b) << 8 | sat(a) */
        : "=r"(all)
        : "r"(b), "r"(a), "r"(high));
    return all;
}

/*
 * One row of floats, which each warp makes Q8_1 by itself, eight pieces at a time: where there are few of them, that
 * takes less time than a launch that does it once for all, 1.5 us on an H200 (M = 1 with it: W4A8 6.1 us for 5.4, W8A8
 * 7.2 for 5.9). A lane has 16 columns, half of a block, so that the delays of finding a scale come once for 512
 * columns; piece by piece they took 3 us.
 */
template <pwl_qgemm_format format, pwl_qgemm_type type> struct by_floats : from_bytes {
    typedef float number;
    static constexpr int batch = 8;                                                                  /* pieces */
    static constexpr unsigned codes = bytes::x_code_bytes, pitch = codes + bytes::x_scale_bytes + 8; /* of pieces */
    static constexpr unsigned x_bytes = 0, own_bytes = batch * pitch;
    static_assert(pitch % 32 == 16, "four lanes store 16 bytes of a piece: with those of all eight, one to each bank");

    uint8_t *own;
    size_t column, k; /* of this lane in the next batch, and how many there are */

    __device__ by_floats(const pwl_qgemm_call &call, size_t, size_t first, uint8_t *own)
        : own(own), column(first * PWL_QGEMM_COLUMNS + threadIdx.x % 32 * 16), k(call.weights.k)
    {
    }

    __device__ void load(uint32_t, bool) const
    {
    }

    /* A batch, of which a lane's columns may be beyond the part or X. */
    __device__ void quantise(const pwl_qgemm_call &call, bool there) const
    {
        const unsigned lane = threadIdx.x % 32, quarter = lane % 4;
        uint8_t *const to = own + lane / 4 * pitch;
        float v[16] = {};
        if (there)
            load_elements<type>(call.product.x.data, column, v);
        const pwl_extent extent = extent_of_lanes<2>(v); /* Q8_1 does not ask which element it was */
        const pwl_scale scale = pwl_scale_of(PWL_Q8_1, PWL_RULE_DEFAULT, extent);
        if (quarter % 2 == 0) /* the sum is none that add() asks for */
            *reinterpret_cast<uint32_t *>(to + codes + quarter * 2) = scale.stored;
        /* As pwl_code_of(), but that 127 is clipped to in packing, and that codes mean nothing where d is a NaN. */
        int code[16];
#pragma unroll
        for (unsigned i = 0; i < 16; i++)
            code[i] = pwl_round_away(fmaxf(__fmul_rn(v[i], scale.inverse), -127));
#pragma unroll
        for (unsigned pair = 0; pair < 4; pair++)
            *reinterpret_cast<uint32_t *>(to + pair * 16 + quarter * 4) =
                saturate_bytes(code[pair * 2], code[pair * 2 + 8], code[pair * 2 + 1], code[pair * 2 + 9]);
    }

    /* X of piece i of `count`. */
    __device__ const uint8_t *of(const pwl_qgemm_call &call, const uint8_t *, int i, int count)
    {
        if (i % batch == 0) {
            __syncwarp(); /* the batch before it was read */
            quantise(call, i + static_cast<int>(threadIdx.x % 32 / 4) < count && column < k);
            __syncwarp();
            column += batch * PWL_QGEMM_COLUMNS;
        }
        return own + i % batch * pitch;
    }

    __device__ void add(const mma::codes<format, tiles> &of_piece, const uint8_t *x, unsigned present,
                        float (&sums)[tiles][1][4]) const
    {
        bytes::operand<format> weights;
        weights.load(of_piece);
        bytes::add<format, 1, 1>(weights, x, present, sums);
    }
};

} // namespace splitk
} // namespace pwl

#endif
