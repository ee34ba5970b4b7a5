/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W4A16, W8A16 and MXFP4 x A16 with wide loads and nothing else: as in the naive kernel a thread goes along K on its
 * own, but by 16 bytes of codes and of X at a time, and with the conversions of bits.cuh. Since packed words hold rows
 * g and g + 8 (gemm/layout.h), a thread has these two elements of Y. Each weight is still decoded for every row of X.
 */
#include "fragment.cuh"
#include "gemm/layout.h"
#include "launch.cuh"
#include "store.cuh"

namespace
{

constexpr unsigned across = 32, down = 8;        /* threads of a block: along N, for two rows each, and along M */
constexpr unsigned rows = across * 2, lanes = 4; /* rows of weights to a block; lanes whose words make up a row */

__device__ uint32_t word(const uint4 &v, unsigned i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

template <bool bf16> __device__ float half_of(uint32_t pair, unsigned i)
{
    const uint16_t half = static_cast<uint16_t>(pair >> 16 * i);
    return bf16 ? pwl_f32_from_bf16(half) : pwl_f32_from_f16(half);
}

/* sum + two products */
template <bool bf16> __device__ float add(uint32_t w, uint32_t x, float sum)
{
    sum = fmaf(half_of<bf16>(w, 0), half_of<bf16>(x, 0), sum);
    return fmaf(half_of<bf16>(w, 1), half_of<bf16>(x, 1), sum);
}

/* What a thread has of a piece: rows g and g + 8, which lie in the words of four lanes. */
template <pwl_qgemm_format format, bool bf16, bool exponents> struct weights {
    static constexpr unsigned chunks = format == PWL_QGEMM_Q8_0 ? 2 : 1; /* of 16 bytes, to a lane */
    uint4 codes[lanes][chunks];
    uint32_t scales[2]; /* of both rows as halves, of the first 32 columns and the second */
    uint32_t units;     /* 2^-e of them */
    int e[2];

    __device__ weights(const pwl_qgemm_call &call, size_t n)
    {
        for (unsigned i = 0; i < 2; i++)
            e[i] = exponents ? pwl_qgemm_row_exponent(&call.weights, n + i * 8) : 0;
        units = static_cast<uint32_t>(15 - e[1]) << 26 | static_cast<uint32_t>(15 - e[0]) << 10;
    }

    __device__ void load(const pwl_qgemm_call &call, size_t n, size_t column)
    {
        const uint8_t *const piece =
            static_cast<const uint8_t *>(call.weights.memory) + pwl_qgemm_piece_at(format, call.weights.k, n, column);
        const unsigned row = static_cast<unsigned>(n % PWL_QGEMM_ROWS), bytes = 512 * chunks;
        const uint8_t *const tile = piece + row / 16 * bytes + row % 8 * lanes * 16;
#pragma unroll
        for (unsigned t = 0; t < lanes; t++) {
#pragma unroll
            for (unsigned i = 0; i < chunks; i++)
                codes[t][i] = *reinterpret_cast<const uint4 *>(tile + i * 512 + t * 16);
        }
        const uint8_t *const stored = piece + PWL_QGEMM_TILES * bytes;
        if constexpr (format == PWL_QGEMM_MXFP4) {
            const uchar4 s = *reinterpret_cast<const uchar4 *>(stored + pwl_qgemm_scale_at(format, row, 0));
            scales[0] = pair(s.x, s.y);
            scales[1] = pair(s.z, s.w);
        } else {
            const uint2 s = *reinterpret_cast<const uint2 *>(stored + pwl_qgemm_scale_at(format, row, 0) * 2);
            scales[0] = s.x;
            scales[1] = s.y;
        }
    }

    __device__ uint32_t pair(uint8_t first, uint8_t second) const
    {
        return static_cast<uint32_t>(pwl_fragment_scale(format, bf16, second, e[1])) << 16 |
               pwl_fragment_scale(format, bf16, first, e[0]);
    }

    /* Lane t's of 16 columns: pairs of both rows, then pairs 8 columns later. */
    __device__ pwl_fragment halves(unsigned step, unsigned t) const
    {
        const uint4 &c = codes[t][step / 2 % chunks];
        if (chunks == 1)
            return pwl_fragment_halves(format, bf16, exponents, word(c, step), 0, scales[step / 2], units);
        return pwl_fragment_halves(format, bf16, exponents, word(c, step % 2 * 2), word(c, step % 2 * 2 + 1),
                                   scales[step / 2], units);
    }
};

/* Two blocks in a multiprocessor: ptxas would else keep to fewer registers than rows with exponents need. */
template <pwl_qgemm_format format, bool bf16, bool exponents>
__global__ void __launch_bounds__(across *down, 2) vectorised(const __grid_constant__ pwl_qgemm_call call)
{
    const size_t n = size_t{blockIdx.x} * rows + threadIdx.x / 8 * 16 + threadIdx.x % 8;
    weights<format, bf16, exponents> w(call, n);
    for (size_t m = size_t{blockIdx.y} * down + threadIdx.y; m < call.product.m; m += size_t{gridDim.y} * down) {
        const uint16_t *const x = call.h + m * call.h_stride;
        float sums[2] = {};
        for (size_t column = 0; column < call.weights.k; column += PWL_QGEMM_COLUMNS) {
            w.load(call, n, column);
#pragma unroll
            for (unsigned step = 0; step < 4; step++) {
                if (column + step * 16 >= call.weights.k) /* the second block of 32 columns may be missing */
                    break;
                const uint4 first = *reinterpret_cast<const uint4 *>(x + column + step * 16);
                const uint4 later = *reinterpret_cast<const uint4 *>(x + column + step * 16 + 8);
#pragma unroll
                for (unsigned t = 0; t < lanes; t++) {
                    const pwl_fragment a = w.halves(step, t);
                    for (unsigned i = 0; i < 2; i++)
                        sums[i] = add<bf16>(a.r[i + 2], word(later, t), add<bf16>(a.r[i], word(first, t), sums[i]));
                }
            }
        }
        const int f = call.f ? call.f[m] : 0;
        for (unsigned i = 0; i < 2; i++) {
            if (n + i * 8 < call.weights.n)
                sums[i] = pwl_device_y(call, n + i * 8, sums[i], w.e[i] + f);
        }
        if (n < call.weights.n)
            pwl_device_store(call, m, n, sums[0], sums[1]);
        if (n + 8 < call.weights.n && !call.epilogue.as.gated)
            pwl_device_store(call, m, n + 8, sums[1]);
    }
}

} // namespace

int pwl_cuda_launch_qgemm_vectorised(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const auto kernel = pwl::mma::variant_of(call, [](auto v) {
        using variant = decltype(v);
        return vectorised<variant::format, variant::bf16, variant::exponents>;
    });
    return pwl::launch_grid(kernel, call, call->weights.n, rows, down, dim3(across, down), stream);
}
