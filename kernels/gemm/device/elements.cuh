/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of an X of floats, four at a time where they are aligned so. */
#ifndef PWL_QGEMM_ELEMENTS_CUH
#define PWL_QGEMM_ELEMENTS_CUH

#include <stddef.h>
#include <stdint.h>

#include "gemm/weight.h"

namespace pwl
{

/* Whether all fours of rows are. */
template <pwl_qgemm_type type> __device__ bool elements_are_aligned(const void *x, size_t stride)
{
    const unsigned bytes = type == PWL_QGEMM_F32 ? 16 : 8;
    return reinterpret_cast<uintptr_t>(x) % bytes == 0 && stride % 4 == 0;
}

/* Four elements that lie together; `aligned` to as many bytes. */
template <pwl_qgemm_type type> __device__ void load_elements(const void *x, size_t at, bool aligned, float (&v)[4])
{
    if (aligned && type == PWL_QGEMM_F32) {
        const float4 four = *reinterpret_cast<const float4 *>(static_cast<const float *>(x) + at);
        v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
    } else if (aligned) {
        const ushort4 four = *reinterpret_cast<const ushort4 *>(static_cast<const uint16_t *>(x) + at);
        const uint16_t halves[4] = {four.x, four.y, four.z, four.w};
        for (unsigned i = 0; i < 4; i++)
            v[i] = pwl_qgemm_element(type, halves, i);
    } else {
        for (unsigned i = 0; i < 4; i++)
            v[i] = pwl_qgemm_element(type, x, at + i);
    }
}

/* 16 that lie together, aligned to 16 bytes. */
template <pwl_qgemm_type type> __device__ void load_elements(const void *x, size_t at, float (&v)[16])
{
    constexpr unsigned together = type == PWL_QGEMM_F32 ? 4 : 8;
#pragma unroll
    for (unsigned i = 0; i < 16; i += together) {
        const char *const from = static_cast<const char *>(x) + (at + i) * (16 / together);
        const uint4 words = *reinterpret_cast<const uint4 *>(from);
#pragma unroll
        for (unsigned j = 0; j < together; j++)
            v[i + j] = pwl_qgemm_element(type, &words, j);
    }
}

} // namespace pwl

#endif
