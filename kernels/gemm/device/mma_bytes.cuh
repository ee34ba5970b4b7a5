/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of the weights times bytes of X by mma.m16n8k32, a warp's rows of the weights and all of X. X lies in the
 * order of gemm/layout.h: a lane's 16 bytes are operand B of 64 columns and 8 rows.
 */
#ifndef PWL_QGEMM_MMA_BYTES_CUH
#define PWL_QGEMM_MMA_BYTES_CUH

#include "arch/bits.cuh"
#include "arch/mma.cuh"
#include "tile.cuh"
#include "weights.cuh"

namespace pwl
{
namespace bytes
{

using mma::tiles;
template <pwl_qgemm_format format> using codes = mma::codes<format, tiles>;

/* What a stage has of a row of X: codes, and of A8 d and sum of two blocks. */
constexpr unsigned x_code_bytes = PWL_QGEMM_COLUMNS, x_scale_bytes = x_code_bytes / 8;

__host__ __device__ constexpr unsigned x_bytes(unsigned groups)
{
    return groups * 8 * (x_code_bytes + x_scale_bytes);
}

/* Operands A of a piece: its two blocks of 32 columns, and of A8 the scales of rows g and g + 8. */
template <pwl_qgemm_format format> struct operand {
    uint32_t a[tiles][2][4];
    float d[tiles][2][2];

    __device__ void load(const codes<format> &of)
    {
#pragma unroll
        for (unsigned t = 0; t < tiles; t++) {
#pragma unroll
            for (unsigned step = 0; step < 4; step++) {
                constexpr unsigned each = mma::is_wide(format) ? 2 : 1;
                const uint32_t *const words = of.words[t] + step * each;
                const pwl_bytes8 rows = pwl_fragment_bytes(format, 0, words[0], words[each - 1]);
                a[t][step / 2][step % 2 * 2] = rows.w[0];
                a[t][step / 2][step % 2 * 2 + 1] = rows.w[1];
            }
            for (unsigned i = 0; i < 4 && !pwl_qgemm_is_rows(format); i++)
                d[t][i / 2][i % 2] = pwl_f32_from_f16(static_cast<uint16_t>(of.scales[t][i / 2] >> i % 2 * 16));
        }
    }
};

/* A piece of INT8 into sums over the whole of K. */
template <pwl_qgemm_format format, unsigned groups>
__device__ void add(const operand<format> &w, const uint8_t *x, unsigned present, int32_t (&sums)[tiles][groups][4])
{
#pragma unroll
    for (unsigned g = 0; g < groups; g++) {
        if (g >= 4 && g >= present)
            break;
        const uint4 b = reinterpret_cast<const uint4 *>(x + g * 8 * x_code_bytes)[threadIdx.x % 32];
#pragma unroll
        for (unsigned t = 0; t < tiles; t++) {
            multiply_add(sums[t][g], w.a[t][0], b.x, b.y, sums[t][g]);
            multiply_add(sums[t][g], w.a[t][1], b.z, b.w, sums[t][g]);
        }
    }
}

/* What a lane multiplies of a group: 64 codes in operand B's order, and d and sum of both blocks of its two columns of
 * Y, rows 2t and 2t + 1 of X; of one row alone, which lies by itself, the others are copies. */
template <unsigned rows> struct x_of_lane {
    uint4 codes, scales;

    __device__ x_of_lane(const uint8_t *x, const uint8_t *x_scales)
    {
        codes = reinterpret_cast<const uint4 *>(x)[threadIdx.x % (rows * 4)];
        if constexpr (rows == 1) {
            const uint2 both = *reinterpret_cast<const uint2 *>(x_scales);
            scales = make_uint4(both.x, both.y, both.x, both.y);
        } else {
            scales = reinterpret_cast<const uint4 *>(x_scales)[threadIdx.x % (rows / 2)];
        }
    }
};

/*
 * A piece of A8, block by block into sums in floats, with eight rows of X to a group, or one in all. A block's sum, at
 * most 2^19, is counted from the bits of 1.5 * 2^23, whose units they are: taken for a float, less that number, it
 * needs no conversion.
 */
template <pwl_qgemm_format format, unsigned groups, unsigned rows = 8>
__device__ void add(const operand<format> &w, const uint8_t *x, unsigned present, float (&sums)[tiles][groups][4])
{
    const int32_t zero[4] = {PWL_PRESET, PWL_PRESET, PWL_PRESET, PWL_PRESET};
    const uint8_t *const scales = x + groups * rows * x_code_bytes;
#pragma unroll
    for (unsigned g = 0; g < groups; g++) {
        if (g >= 4 && g >= present)
            break;
        const x_of_lane<rows> of(x + g * rows * x_code_bytes, scales + g * rows * x_scale_bytes);
        const uint4 b = of.codes, s = of.scales;
        const float d[2][2] = {
            {pwl_f32_from_f16(static_cast<uint16_t>(s.x)), pwl_f32_from_f16(static_cast<uint16_t>(s.z))},
            {pwl_f32_from_f16(static_cast<uint16_t>(s.y)), pwl_f32_from_f16(static_cast<uint16_t>(s.w))}};
#pragma unroll
        for (unsigned t = 0; t < tiles; t++) {
#pragma unroll
            for (unsigned block = 0; block < 2; block++) {
                int32_t sum[4];
                multiply_add(sum, w.a[t][block], block ? b.z : b.x, block ? b.w : b.y, zero);
#pragma unroll
                for (unsigned c = 0; c < 4; c += rows == 1 ? 2 : 1)
                    sums[t][g][c] = fmaf(__fmul_rn(w.d[t][block][c / 2], d[block][c % 2]), pwl_f32_from_preset(sum[c]),
                                         sums[t][g][c]);
            }
        }
    }
}

} // namespace bytes
} // namespace pwl

#endif
