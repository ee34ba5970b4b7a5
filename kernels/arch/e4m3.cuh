/* SPDX-License-Identifier: Apache-2.0 */
/* Four floats as E4M3, by the instruction that devices from 8.9 on have for two. */
#ifndef PWL_E4M3_CUH
#define PWL_E4M3_CUH

#include <pwl/e4m3.h>

/* As pwl_e4m3_from_f32() makes them, v[0] in the lowest byte; test_bits_cuda.c visits every float. */
__device__ inline uint32_t pwl_e4m3x4_from_f32(const float (&v)[4])
{
#if __CUDA_ARCH__ >= 890
    uint32_t codes;
    asm("{\n"
        ".reg .b16 low, high;\n"
        "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n" /* low = e4m3(v[1]) << 8 | e4m3(v[0]), to nearest, ties to even */
        "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
        "mov.b32 %0, {low, high};\n" /* codes = high << 16 | low */
        "}"
        : "=r"(codes)
        : "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]));
    return codes;
#else
    uint32_t codes = 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
        codes |= static_cast<uint32_t>(pwl_e4m3_from_f32(v[k])) << 8 * k;
    return codes;
#endif
}

#endif
