/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of Q8_1, made of floats or given, as halves. Four lanes share a block of 32 elements. */
#ifndef PWL_QGEMM_BLOCK_HALVES_CUH
#define PWL_QGEMM_BLOCK_HALVES_CUH

#include "blocks/lanes.cuh"
#include "gemm/weight.h"

namespace pwl
{

/* Eight codes of a block that four lanes share, and the block's d. */
constexpr unsigned quarters = 4, eight = PWL_BLOCK / quarters;

struct eighth {
    int code[eight];
    uint16_t d;
};

/* Of a block's elements, of which this lane has eight. All lanes of the warp take part. */
__device__ inline eighth eighth_of(const float (&v)[eight])
{
    eighth own = {};
    const pwl_extent extent = extent_of_lanes<quarters>(v); /* Q8_1 does not ask which element it was */
    const pwl_scale scale = pwl_scale_of(PWL_Q8_1, PWL_RULE_DEFAULT, extent);
    own.d = scale.stored;
    for (unsigned i = 0; i < eight; i++)
        own.code[i] = pwl_code_of(PWL_Q8_1, PWL_RULE_DEFAULT, scale, extent.finite ? v[i] : 0);
    return own;
}

/* RN16(unit * q). */
__device__ inline uint4 halves_of(const eighth &own, float unit)
{
    uint32_t pairs[eight / 2];
    for (unsigned i = 0; i < eight / 2; i++)
        pairs[i] = static_cast<uint32_t>(pwl_f16_from_f32(unit * own.code[2 * i + 1])) << 16 |
                   pwl_f16_from_f32(unit * own.code[2 * i]);
    return make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

/* Of four blocks that four lanes share, the largest of block q for lane q of them: `most` are this lane's. */
__device__ inline uint32_t largest_of_own(const uint32_t (&most)[quarters])
{
    const bool upper = threadIdx.x & 2, odd = threadIdx.x & 1;
    uint32_t first = upper ? most[2] : most[0], second = upper ? most[3] : most[1];
    first = max(first, __shfl_xor_sync(all_lanes, upper ? most[0] : most[2], 2));
    second = max(second, __shfl_xor_sync(all_lanes, upper ? most[1] : most[3], 2));
    return max(odd ? second : first, __shfl_xor_sync(all_lanes, odd ? first : second, 1));
}

/*
 * Halves of X as RN16(d q), f = 0: eight of each of four blocks that four lanes share, of which each lane finds the
 * scale of one. d is at most RN16(65504 / 127) = 516, and d q at most 65532, which would be rounded to infinity: there
 * it is 65504, off by less than 2^-11 of it, as every rounding to fp16 may be. All lanes of the warp take part.
 */
__device__ inline void halves_of_halves(uint4 (&x)[quarters])
{
    uint32_t most[quarters];
    __syncwarp();
#pragma unroll
    for (unsigned i = 0; i < quarters; i++) {
        const uint32_t signless = 0x7fff7fff; /* magnitudes are in the order of their bits */
        const uint32_t pairs =
            __vmaxu2(__vmaxu2(x[i].x & signless, x[i].y & signless), __vmaxu2(x[i].z & signless, x[i].w & signless));
        most[i] = max(pairs & 0xffff, pairs >> 16);
    }
    const uint32_t largest = largest_of_own(most);
    const int finite = largest < 0x7c00;
    const pwl_extent extent = {finite ? pwl_f32_from_f16(static_cast<uint16_t>(largest)) : 0, 0, finite};
    const pwl_scale scale = pwl_scale_of(PWL_Q8_1, PWL_RULE_DEFAULT, extent);
    const float own_d = pwl_f32_from_f16(scale.stored);
#pragma unroll
    for (unsigned i = 0; i < quarters; i++) {
        const float inverse = __shfl_sync(all_lanes, scale.inverse, i, quarters);
        const float d = __shfl_sync(all_lanes, own_d, i, quarters);
        uint32_t *const pairs[] = {&x[i].x, &x[i].y, &x[i].z, &x[i].w};
#pragma unroll
        for (uint32_t *const pair : pairs) {
            const float low = pwl_q8_1_real(inverse, d, pwl_f32_from_f16(static_cast<uint16_t>(*pair)));
            const float high = pwl_q8_1_real(inverse, d, pwl_f32_from_f16(static_cast<uint16_t>(*pair >> 16)));
            asm("{\n"
                ".reg .b32 pair;\n"
                "cvt.rn.f16x2.f32 pair, %2, %1;\n"
                "max.NaN.f16x2 pair, pair, %3;\n"
                "min.NaN.f16x2 %0, pair, %4;\n"
                "}" /* RN16(high) << 16 | RN16(low), each from -65504 to 65504, or NaN */
                : "=r"(*pair)
                : "f"(low), "f"(high), "r"(0xfbfffbff), "r"(0x7bff7bff));
        }
    }
}

} // namespace pwl

#endif
