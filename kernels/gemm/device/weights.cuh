/* SPDX-License-Identifier: Apache-2.0 */
/* Packed weights on their way from shared memory to operand A: codes and scales of a tile, and fragments out of them.
 */
#ifndef PWL_QGEMM_WEIGHTS_CUH
#define PWL_QGEMM_WEIGHTS_CUH

#include "map/walk.cuh"
#include "fragment.cuh"
#include "gemm/launch.h"
#include "gemm/layout.h"

namespace pwl
{
namespace mma
{

constexpr unsigned steps = 4; /* of 16 columns, in a piece */

/* Bytes of a piece, and what a tile has of it. */
__host__ __device__ constexpr unsigned piece_bytes(pwl_qgemm_format format)
{
    return static_cast<unsigned>(pwl_qgemm_piece_bytes(format));
}

__host__ __device__ constexpr bool is_wide(pwl_qgemm_format format)
{
    return pwl_qgemm_bits(format) == 8;
}

__host__ __device__ constexpr unsigned code_bytes(pwl_qgemm_format format)
{
    return static_cast<unsigned>(pwl_qgemm_tile_bytes(format));
}

__host__ __device__ constexpr unsigned scale_bytes(pwl_qgemm_format format)
{
    return piece_bytes(format) / PWL_QGEMM_TILES - code_bytes(format);
}

/* Codes of a warp's rows of a piece, so many tiles, and their scales, of rows g and g + 8, of the first 32 columns and
 * the second. */
template <pwl_qgemm_format format, unsigned tiles> struct codes {
    uint32_t words[tiles][is_wide(format) ? 8 : 4], scales[tiles][2];

    /* Of this warp among those that share a whole piece. */
    __device__ void load(const uint8_t *piece)
    {
        const unsigned first = threadIdx.x / 32 * tiles;
        load(piece + first * code_bytes(format),
             piece + PWL_QGEMM_TILES * code_bytes(format) + first * scale_bytes(format));
    }

    /* Of one tile, from addresses in shared memory. */
    __device__ void load(uint32_t of, uint32_t its_scales)
    {
        static_assert(tiles == 1 && pwl_qgemm_scale_bytes(format) < 2, "as E4M3 has it");
        const unsigned lane = threadIdx.x % 32;
#pragma unroll
        for (unsigned i = 0; i < code_bytes(format) / 512; i++) {
            const uint4 v = load_shared<uint4>(of + i * 512 + lane * 16);
            words[0][i * 4] = v.x;
            words[0][i * 4 + 1] = v.y;
            words[0][i * 4 + 2] = v.z;
            words[0][i * 4 + 3] = v.w;
        }
        if constexpr (pwl_qgemm_scale_bytes(format) == 1)
            scales[0][0] = load_shared<uint32_t>(its_scales + lane / 4 * 4);
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
            if constexpr (pwl_qgemm_scale_bytes(format) == 1) {
                scales[t][0] = *reinterpret_cast<const uint32_t *>(four);
            } else if constexpr (pwl_qgemm_scale_bytes(format) == 2) {
                const uint2 s = *reinterpret_cast<const uint2 *>(four);
                scales[t][0] = s.x;
                scales[t][1] = s.y;
            }
        }
    }
};

/* Of SPARSE4: what is kept of one tile's rows g and g + 8, as 4 bits, the scales, and this lane's word of positions. */
template <> struct codes<PWL_QGEMM_SPARSE4, 1> {
    uint32_t words[1][2], scales[1][2], positions;

    __device__ void load(const uint8_t *of, const uint8_t *its_scales)
    {
        const unsigned lane = threadIdx.x % 32;
        const uint2 v = reinterpret_cast<const uint2 *>(of)[lane];
        words[0][0] = v.x;
        words[0][1] = v.y;
        positions = reinterpret_cast<const uint32_t *>(of + 32 * sizeof v)[lane];
        scales[0][0] = scales[0][1] = reinterpret_cast<const uint32_t *>(its_scales)[lane / 4];
    }
};

/* The smaller and the larger of integers below 2^15 in both halves of a word, which are ordered as fp16 numbers are. */
__device__ inline uint32_t least_halves(uint32_t a, uint32_t b)
{
    uint32_t least;
    asm("min.f16x2 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b)); /* least = min(a, b) */
    return least;
}

__device__ inline uint32_t most_halves(uint32_t a, uint32_t b)
{
    uint32_t most;
    asm("max.f16x2 %0, %1, %2;" : "=r"(most) : "r"(a), "r"(b)); /* most = max(a, b) */
    return most;
}

/* pwl_fragment_scale() of MXFP4 without exponents, of both rows at once: of the first or second two bytes of `stored`.
 */
template <bool bf16> __device__ uint32_t mxfp4_scales(uint32_t stored, unsigned block)
{
    const uint32_t two = least_halves(pwl_prmt(stored, 0, block ? 0x4342 : 0x4140), 0x00800080);
    return bf16 ? (two + 0x007e007e) << 7 : (most_halves(two, 0x00620062) - 0x00620062) << 10;
}

/* Fragments out of codes. `exponents`: some row's e is not 0. */
template <pwl_qgemm_format format, bool bf16, bool exponents, unsigned tiles> struct decoder {
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

    /* Operand A of a tile and the columns of a step. */
    __device__ pwl_fragment fragment(const codes<format, tiles> &of, unsigned t, unsigned step) const
    {
        constexpr unsigned each = is_wide(format) ? 2 : 1; /* words of a step */
        const uint32_t *const words = &of.words[t][step * each];
        if constexpr (format == PWL_QGEMM_MXFP4_E4M3) /* 32 columns to a step */
            return pwl_fragment_mxfp4_e4m3(of.words[t][step * 2], of.words[t][step * 2 + 1], of.scales[t][0], step);
        if constexpr (format == PWL_QGEMM_ROWS8 || format == PWL_QGEMM_ROWS_E4M3) { /* bytes, as many */
            const uint32_t *const both = &of.words[t][step * 4];
            return {{both[0], both[1], both[2], both[3]}};
        }
        if constexpr (format == PWL_QGEMM_ROWS4) {
            const pwl_bytes8 first = pwl_fragment_bytes(format, 0, of.words[t][step * 2], 0),
                             second = pwl_fragment_bytes(format, 0, of.words[t][step * 2 + 1], 0);
            return {{first.w[0], first.w[1], second.w[0], second.w[1]}};
        }
        uint32_t scales = of.scales[t][format == PWL_QGEMM_MXFP4 ? 0 : step / 2];
        if constexpr (format == PWL_QGEMM_MXFP4 && !exponents) {
            scales = mxfp4_scales<bf16>(scales, step / 2);
        } else if constexpr (format == PWL_QGEMM_MXFP4) {
            const uint32_t stored = scales >> step / 2 * 16;
            scales = static_cast<uint32_t>(pwl_fragment_scale(format, bf16, stored >> 8 & 0xff, e[t][1])) << 16 |
                     pwl_fragment_scale(format, bf16, stored & 0xff, e[t][0]);
        }
        return pwl_fragment_halves(format, bf16, exponents, words[0], words[each - 1], scales, units[t]);
    }
};

} // namespace mma
} // namespace pwl

#endif
