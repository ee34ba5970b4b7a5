/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiplications of a warpgroup, on devices of 9.0 alone: D += A * B, 64 rows of A in registers, B in shared memory,
 * 32 bytes of each row: 16 columns of halves, or 32 of bytes. D has as many columns as B has rows, a multiple of 16 up
 * to 256. Of an A with two of every four columns, 64 bytes of each row of B, 32 columns of halves.
 */
#ifndef PWL_WGMMA_CUH
#define PWL_WGMMA_CUH

#include "hopper.cuh"

namespace pwl
{
namespace hopper
{

enum class elements { f16, bf16, s8, u8, e4m3 }; /* of A and B; u8: of A, with s8 */

} // namespace hopper
} // namespace pwl

#if PWL_IS_HOPPER

namespace pwl
{
namespace hopper
{

/* Before the first multiplication, and after registers that one takes were written. */
__device__ inline void begin_multiplications()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void close_multiplications()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); /* group++ */
}

/* Until all but the last `groups` groups have ended. */
template <int groups> __device__ void wait_for_multiplications()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(groups) : "memory"); /* while (pending > groups); */
}

/*
 * Operand B at an address: rows of 128 bytes, K innermost, eight of them 1024 bytes on, which is what the address of
 * the first is aligned to; 16-byte chunk c of row r lies at c ^ r % 8.
 */
__device__ inline uint64_t matrix_at(uint32_t address)
{
    return uint64_t{1} << 62 | uint64_t{1024 >> 4} << 32 | 1 << 16 | (address & 0x3ffff) >> 4;
}

/* The same of rows of 64 bytes, eight of them 512 bytes on; chunk c of row r lies at c ^ r / 2 % 4. */
__device__ inline uint64_t narrow_matrix_at(uint32_t address)
{
    return uint64_t{2} << 62 | uint64_t{512 >> 4} << 32 | 1 << 16 | (address & 0x3ffff) >> 4;
}

/* The same so many bytes on, a multiple of 16. */
__device__ inline uint64_t matrix_beyond(uint64_t matrix, uint32_t bytes)
{
    return matrix + (bytes >> 4);
}

/* Registers %0 to %(8 i - 1), and the sums in them: 2 i groups of four. */
#define PWL_NUMBERS_1 "%0, %1, %2, %3, %4, %5, %6, %7"
#define PWL_NUMBERS_2 PWL_NUMBERS_1 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define PWL_NUMBERS_3 PWL_NUMBERS_2 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define PWL_NUMBERS_4 PWL_NUMBERS_3 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define PWL_NUMBERS_5 PWL_NUMBERS_4 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define PWL_NUMBERS_6 PWL_NUMBERS_5 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define PWL_NUMBERS_7 PWL_NUMBERS_6 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define PWL_NUMBERS_8 PWL_NUMBERS_7 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define PWL_NUMBERS_9 PWL_NUMBERS_8 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define PWL_NUMBERS_10 PWL_NUMBERS_9 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define PWL_NUMBERS_11 PWL_NUMBERS_10 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define PWL_NUMBERS_12 PWL_NUMBERS_11 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define PWL_NUMBERS_13 PWL_NUMBERS_12 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define PWL_NUMBERS_14 PWL_NUMBERS_13 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define PWL_NUMBERS_15 PWL_NUMBERS_14 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define PWL_NUMBERS_16 PWL_NUMBERS_15 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define PWL_FOUR(of, d) of((d)[0]), of((d)[1]), of((d)[2]), of((d)[3])
#define PWL_EIGHT(of, d, i) PWL_FOUR(of, (d)[i]), PWL_FOUR(of, (d)[(i) + 1])
#define PWL_SUMS_1(of, d) PWL_EIGHT(of, d, 0)
#define PWL_SUMS_2(of, d) PWL_SUMS_1(of, d), PWL_EIGHT(of, d, 2)
#define PWL_SUMS_3(of, d) PWL_SUMS_2(of, d), PWL_EIGHT(of, d, 4)
#define PWL_SUMS_4(of, d) PWL_SUMS_3(of, d), PWL_EIGHT(of, d, 6)
#define PWL_SUMS_5(of, d) PWL_SUMS_4(of, d), PWL_EIGHT(of, d, 8)
#define PWL_SUMS_6(of, d) PWL_SUMS_5(of, d), PWL_EIGHT(of, d, 10)
#define PWL_SUMS_7(of, d) PWL_SUMS_6(of, d), PWL_EIGHT(of, d, 12)
#define PWL_SUMS_8(of, d) PWL_SUMS_7(of, d), PWL_EIGHT(of, d, 14)
#define PWL_SUMS_9(of, d) PWL_SUMS_8(of, d), PWL_EIGHT(of, d, 16)
#define PWL_SUMS_10(of, d) PWL_SUMS_9(of, d), PWL_EIGHT(of, d, 18)
#define PWL_SUMS_11(of, d) PWL_SUMS_10(of, d), PWL_EIGHT(of, d, 20)
#define PWL_SUMS_12(of, d) PWL_SUMS_11(of, d), PWL_EIGHT(of, d, 22)
#define PWL_SUMS_13(of, d) PWL_SUMS_12(of, d), PWL_EIGHT(of, d, 24)
#define PWL_SUMS_14(of, d) PWL_SUMS_13(of, d), PWL_EIGHT(of, d, 26)
#define PWL_SUMS_15(of, d) PWL_SUMS_14(of, d), PWL_EIGHT(of, d, 28)
#define PWL_SUMS_16(of, d) PWL_SUMS_15(of, d), PWL_EIGHT(of, d, 30)

/* d += a * b, with the numbers of the registers behind the sums, of floats ("+f") or integers ("+r"); `signs` begins
 * with
 * ", 1", or with ", 0" for d = a * b ("=r"). */
#define PWL_MULTIPLY(types, of, signs, i, a0, a1, a2, a3, b0)                                                          \
    asm volatile("wgmma.mma_async.sync.aligned." types " {" PWL_NUMBERS_##i "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3  \
                                                                            "}, %" #b0 signs ";"                       \
                 : PWL_SUMS_##i(of, d)                                                                                 \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
#define PWL_MULTIPLY_IF(tokens, ...)                                                                                   \
    if constexpr (groups == tokens / 8 && of == elements::bf16)                                                        \
        PWL_MULTIPLY("m64n" #tokens "k16.f32.bf16.bf16", "+f", ", 1, 1, 1, 0", __VA_ARGS__);                           \
    else if constexpr (groups == tokens / 8 && of == elements::e4m3)                                                   \
        PWL_MULTIPLY("m64n" #tokens "k32.f32.e4m3.e4m3", "+f", ", 1, 1, 1", __VA_ARGS__);                              \
    else if constexpr (groups == tokens / 8)                                                                           \
    PWL_MULTIPLY("m64n" #tokens "k16.f32.f16.f16", "+f", ", 1, 1, 1, 0", __VA_ARGS__)
#define PWL_MULTIPLY_BYTES_IF(tokens, ...)                                                                             \
    if constexpr (groups == tokens / 8 && of == elements::u8)                                                          \
        PWL_MULTIPLY("m64n" #tokens "k32.s32.u8.s8", "+r", ", 1", __VA_ARGS__);                                        \
    else if constexpr (groups == tokens / 8)                                                                           \
    PWL_MULTIPLY("m64n" #tokens "k32.s32.s8.s8", "+r", ", 1", __VA_ARGS__)

/*
 * Adds products to the sums of a warp, 16 rows of A: for every 8 rows of B as mma.m16n8 has them. a is in the registers
 * of this lane, as mma.m16n8k16 has it, or m16n8k32. Goes on until it is waited for.
 */
template <elements of, unsigned groups>
__device__ void multiply_add(float (&d)[groups][4], const uint32_t (&a)[4], uint64_t b)
{
    static_assert(groups % 2 == 0 && groups <= 32, "a multiple of 16 rows of B, up to 256");
    PWL_MULTIPLY_IF(16, 1, 8, 9, 10, 11, 12);
    PWL_MULTIPLY_IF(32, 2, 16, 17, 18, 19, 20);
    PWL_MULTIPLY_IF(48, 3, 24, 25, 26, 27, 28);
    PWL_MULTIPLY_IF(64, 4, 32, 33, 34, 35, 36);
    PWL_MULTIPLY_IF(80, 5, 40, 41, 42, 43, 44);
    PWL_MULTIPLY_IF(96, 6, 48, 49, 50, 51, 52);
    PWL_MULTIPLY_IF(112, 7, 56, 57, 58, 59, 60);
    PWL_MULTIPLY_IF(128, 8, 64, 65, 66, 67, 68);
    PWL_MULTIPLY_IF(144, 9, 72, 73, 74, 75, 76);
    PWL_MULTIPLY_IF(160, 10, 80, 81, 82, 83, 84);
    PWL_MULTIPLY_IF(176, 11, 88, 89, 90, 91, 92);
    PWL_MULTIPLY_IF(192, 12, 96, 97, 98, 99, 100);
    PWL_MULTIPLY_IF(208, 13, 104, 105, 106, 107, 108);
    PWL_MULTIPLY_IF(224, 14, 112, 113, 114, 115, 116);
    PWL_MULTIPLY_IF(240, 15, 120, 121, 122, 123, 124);
    PWL_MULTIPLY_IF(256, 16, 128, 129, 130, 131, 132);
}

template <elements of, unsigned groups>
__device__ void multiply_add(int32_t (&d)[groups][4], const uint32_t (&a)[4], uint64_t b)
{
    static_assert(of == elements::s8 || of == elements::u8, "integers are sums of bytes");
    static_assert(groups % 4 == 0 && groups <= 32, "some multiples of 32 rows of B, up to 256");
    PWL_MULTIPLY_BYTES_IF(32, 2, 16, 17, 18, 19, 20);
    PWL_MULTIPLY_BYTES_IF(64, 4, 32, 33, 34, 35, 36);
    PWL_MULTIPLY_BYTES_IF(96, 6, 48, 49, 50, 51, 52);
    PWL_MULTIPLY_BYTES_IF(128, 8, 64, 65, 66, 67, 68);
    PWL_MULTIPLY_BYTES_IF(192, 12, 96, 97, 98, 99, 100);
    PWL_MULTIPLY_BYTES_IF(256, 16, 128, 129, 130, 131, 132);
}

#define PWL_MULTIPLY_SPARSE(types, i, a0, a1, a2, a3, b0, at, lanes)                                                   \
    asm volatile("wgmma.mma_async.sp.sync.aligned." types " {" PWL_NUMBERS_##i                                         \
                 "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b0 ", %" #at ", %" #lanes ", 1, 1, 1, 0;"           \
                 : PWL_SUMS_##i("+f", d)                                                                               \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(positions), "n"(second_lanes))
#define PWL_MULTIPLY_SPARSE_IF(tokens, ...)                                                                            \
    if constexpr (groups == tokens / 8 && of == elements::bf16)                                                        \
        PWL_MULTIPLY_SPARSE("m64n" #tokens "k32.f32.bf16.bf16", __VA_ARGS__);                                          \
    else if constexpr (groups == tokens / 8)                                                                           \
    PWL_MULTIPLY_SPARSE("m64n" #tokens "k32.f32.f16.f16", __VA_ARGS__)

/*
 * The same of an A that has two of every four columns: a are those, 16 of 32, and `positions` says which they are, as
 * gemm/layout.h has it, taken from lanes 0 and 1 of each four, or from their second lanes, 2 and 3. They must stay in
 * their register until the multiplication has ended, which ptxas, unlike of a and d, does not see to.
 */
template <elements of, unsigned second_lanes, unsigned groups>
__device__ void multiply_add_sparse(float (&d)[groups][4], const uint32_t (&a)[4], uint32_t positions, uint64_t b)
{
    static_assert(of == elements::f16 || of == elements::bf16, "halves");
    static_assert(groups == 8 || groups == 12 || groups == 16 || groups == 24 || groups == 32, "sizes of tiles");
    PWL_MULTIPLY_SPARSE_IF(64, 4, 32, 33, 34, 35, 36, 37, 38);
    PWL_MULTIPLY_SPARSE_IF(96, 6, 48, 49, 50, 51, 52, 53, 54);
    PWL_MULTIPLY_SPARSE_IF(128, 8, 64, 65, 66, 67, 68, 69, 70);
    PWL_MULTIPLY_SPARSE_IF(192, 12, 96, 97, 98, 99, 100, 101, 102);
    PWL_MULTIPLY_SPARSE_IF(256, 16, 128, 129, 130, 131, 132, 133, 134);
}

/* The products alone of bytes with signs, whatever d was: d = a * b. */
template <unsigned groups> __device__ void multiply(int32_t (&d)[groups][4], const uint32_t (&a)[4], uint64_t b)
{
    static_assert(groups == 8 || groups == 16, "64 or 128 rows of B");
    if constexpr (groups == 8)
        PWL_MULTIPLY("m64n64k32.s32.s8.s8", "=r", ", 0", 4, 32, 33, 34, 35, 36);
    else
        PWL_MULTIPLY("m64n128k32.s32.s8.s8", "=r", ", 0", 8, 64, 65, 66, 67, 68);
}

/* Keeps other instructions on sums where they are: before the multiplications, or after. */
template <unsigned groups> __device__ void hold(float (&d)[groups][4])
{
#pragma unroll
    for (unsigned i = 0; i < groups; i++)
        asm volatile("" : PWL_FOUR("+f", d[i])::"memory"); /* it may have changed */
}

template <unsigned groups> __device__ void hold(int32_t (&d)[groups][4])
{
#pragma unroll
    for (unsigned i = 0; i < groups; i++)
        asm volatile("" : PWL_FOUR("+r", d[i])::"memory"); /* the same */
}

} // namespace hopper
} // namespace pwl

#endif
#endif
