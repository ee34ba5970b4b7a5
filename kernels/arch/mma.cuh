/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor cores of every device from 8.0 on: operands of a warp, and the multiplications mma.m16n8. */
#ifndef PWL_MMA_CUH
#define PWL_MMA_CUH

#include <stdint.h>

namespace pwl
{

/* Four matrices of 8 x 8 halves, whose rows lie at the addresses of 8 lanes each. */
__device__ inline void load_matrices(uint32_t (&r)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" /* r[i] = matrix i */
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

/* 16 rows of A times 8 of B: c += a * b of 16 columns of halves. */
template <bool bf16> __device__ void multiply_add(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    if constexpr (bf16)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " /* c += a * b */
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " /* c += a * b */
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* d = c + a * b of 32 columns of bytes. */
__device__ inline void multiply_add(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                                    const int32_t (&c)[4])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " /* d = c + a * b */
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

} // namespace pwl

#endif
