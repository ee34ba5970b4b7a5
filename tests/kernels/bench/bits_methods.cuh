/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to convert a word of packed codes, to be compared: those of bits.cuh and, as the plain ones, what a compiler
 * makes of shifts, masks and conversions. Each writes words of two halves, or bytes, in the order that bits.cuh has.
 */
#ifndef BITS_METHODS_CUH
#define BITS_METHODS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "arch/bits.cuh"

/* Words of results, to be stored at once. */
template <int n> struct alignas(4 * n) results {
    uint32_t w[n];
};

__device__ inline results<4> results_of(pwl_halves8 v)
{
    return {{v.w[0], v.w[1], v.w[2], v.w[3]}};
}

__device__ inline results<2> results_of(pwl_halves4 v)
{
    return {{v.w[0], v.w[1]}};
}

__device__ inline results<2> results_of(pwl_bytes8 v)
{
    return {{v.w[0], v.w[1]}};
}

__device__ inline uint32_t pair(__half low, __half high)
{
    return static_cast<uint32_t>(__half_as_ushort(high)) << 16 | __half_as_ushort(low);
}

__device__ inline uint32_t pair(__nv_bfloat16 low, __nv_bfloat16 high)
{
    return static_cast<uint32_t>(__bfloat16_as_ushort(high)) << 16 | __bfloat16_as_ushort(low);
}

/* The field of 4 or 8 bits, unsigned or in two's complement. */
template <int width> __device__ int unsigned_code(uint32_t x, int i)
{
    return static_cast<int>(x >> width * i & ((1u << width) - 1));
}

template <int width> __device__ int signed_code(uint32_t x, int i)
{
    return static_cast<int>(x << (32 - width * (i + 1))) >> (32 - width);
}

/* One FP4 code by its fields, with a branch for the subnormal numbers. */
__device__ inline __half plain_e2m1(uint32_t code, __half scale)
{
    const int exponent = static_cast<int>(code >> 1 & 3), mantissa = static_cast<int>(code & 1);
    __half v;
    if (exponent == 0)
        v = __hmul_rn(__int2half_rn(mantissa), __float2half(0.5f));
    else
        v = __hmul_rn(__int2half_rn(1 << (exponent - 1)),
                      __hadd_rn(__float2half(1.0f), __hmul_rn(__int2half_rn(mantissa), __float2half(0.5f))));
    if (code >> 3 & 1)
        v = __hneg(v);
    return __hmul_rn(v, scale);
}

__device__ inline results<4> plain_f16_e2m1(uint32_t x, __half scale)
{
    results<4> v;
    for (int i = 0; i < 4; i++)
        v.w[i] = pair(plain_e2m1(x >> 4 * i & 15, scale), plain_e2m1(x >> 4 * (i + 4) & 15, scale));
    return v;
}

__device__ inline results<4> plain_f16_u4(uint32_t x, __half scale, __half zero)
{
    results<4> v;
    for (int i = 0; i < 4; i++)
        v.w[i] = pair(__hmul_rn(__hsub_rn(__int2half_rn(unsigned_code<4>(x, i)), zero), scale),
                      __hmul_rn(__hsub_rn(__int2half_rn(unsigned_code<4>(x, i + 4)), zero), scale));
    return v;
}

__device__ inline results<4> plain_f16_u4b8(uint32_t x)
{
    results<4> v;
    for (int i = 0; i < 4; i++)
        v.w[i] = pair(__int2half_rn(unsigned_code<4>(x, i) - 8), __int2half_rn(unsigned_code<4>(x, i + 4) - 8));
    return v;
}

__device__ inline results<4> plain_f16_s4(uint32_t x)
{
    results<4> v;
    for (int i = 0; i < 4; i++)
        v.w[i] = pair(__int2half_rn(signed_code<4>(x, i)), __int2half_rn(signed_code<4>(x, i + 4)));
    return v;
}

__device__ inline results<4> plain_bf16_u4b8(uint32_t x)
{
    results<4> v;
    for (int i = 0; i < 4; i++)
        v.w[i] = pair(__int2bfloat16_rn(unsigned_code<4>(x, i) - 8), __int2bfloat16_rn(unsigned_code<4>(x, i + 4) - 8));
    return v;
}

__device__ inline results<2> plain_f16_s8(uint32_t x)
{
    return {{pair(__int2half_rn(signed_code<8>(x, 0)), __int2half_rn(signed_code<8>(x, 1))),
             pair(__int2half_rn(signed_code<8>(x, 2)), __int2half_rn(signed_code<8>(x, 3)))}};
}

__device__ inline results<2> plain_f16_s8(uint32_t x, __half scale)
{
    results<2> v = plain_f16_s8(x);
    for (int i = 0; i < 2; i++)
        v.w[i] = pwl_mul_f16x2(v.w[i], pwl_twice(__half_as_ushort(scale)));
    return v;
}

__device__ inline results<2> scaled_f16_s8(uint32_t x, uint16_t scale)
{
    const pwl_halves4 v = pwl_f16_from_s8(x);
    return {{pwl_mul_f16x2(v.w[0], pwl_twice(scale)), pwl_mul_f16x2(v.w[1], pwl_twice(scale))}};
}

__device__ inline results<2> scaled_f16_u8b128(uint32_t x, uint16_t scale)
{
    const pwl_halves4 v = pwl_f16_from_u8b128_packed(x);
    return {{pwl_mul_f16x2(v.w[0], pwl_twice(scale)), pwl_mul_f16x2(v.w[1], pwl_twice(scale))}};
}

__device__ inline results<2> plain_bf16_s8(uint32_t x)
{
    return {{pair(__int2bfloat16_rn(signed_code<8>(x, 0)), __int2bfloat16_rn(signed_code<8>(x, 2))),
             pair(__int2bfloat16_rn(signed_code<8>(x, 1)), __int2bfloat16_rn(signed_code<8>(x, 3)))}};
}

/* CUDA's own subtraction of four bytes. */
__device__ inline results<2> plain_s8_u4b8(uint32_t x)
{
    return {{__vsub4(x & 0x0f0f0f0f, 0x08080808), __vsub4(x >> 4 & 0x0f0f0f0f, 0x08080808)}};
}

/*
 * METHOD(name, what it is, cycles an element by document 001's table, elements of a word, whether it is one of
 * bits.cuh, the name of the method whose results are the same, results). The scale is s, and the zero is z, both fp16.
 */
#define BITS_METHODS(METHOD)                                                                                           \
    METHOD(plain_e2m1_scaled, "FP4 to fp16, scaled, field by field", "8", 8, plain_e2m1_scaled,                        \
           plain_f16_e2m1(x, __ushort_as_half(s)))                                                                     \
    METHOD(e2m1_scaled, "FP4 to fp16, scaled", "2", 8, plain_e2m1_scaled,                                              \
           results_of(pwl_scale_f16(pwl_f16_from_e2m1(x), s)))                                                         \
    METHOD(e2m1_times, "FP4 to fp16, by 2^14 times the scale", "2", 8, plain_e2m1_scaled,                              \
           results_of(pwl_f16_from_e2m1_times(x, s_2_14)))                                                             \
    METHOD(mxfp4, "MXFP4 to bf16, scaled", "-", 8, mxfp4, results_of(pwl_bf16_from_mxfp4(x, 124)))                     \
    METHOD(plain_u4_scaled, "INT4 with zero and scale, converted", "4", 8, plain_u4_scaled,                            \
           plain_f16_u4(x, __ushort_as_half(s), __ushort_as_half(z)))                                                  \
    METHOD(u4_scaled, "INT4 with zero and scale, magic bias", "1.5", 8, plain_u4_scaled,                               \
           results_of(pwl_f16_from_u4_scaled(x, s, z)))                                                                \
    METHOD(u4b8_scaled, "INT4 of bias 8 with scale (Q4_0), magic bias", "1.5", 8, u4b8_scaled,                         \
           results_of(pwl_scale_f16(pwl_f16_from_u4b8(x), s)))                                                         \
    METHOD(plain_u4b8, "INT4 of bias 8 to fp16, converted", "-", 8, plain_u4b8, plain_f16_u4b8(x))                     \
    METHOD(u4b8, "INT4 of bias 8 to fp16, magic bias", "-", 8, plain_u4b8, results_of(pwl_f16_from_u4b8(x)))           \
    METHOD(plain_s4, "signed INT4 to fp16, converted", "-", 8, plain_s4, plain_f16_s4(x))                              \
    METHOD(s4, "signed INT4 to fp16, magic bias", "-", 8, plain_s4, results_of(pwl_f16_from_s4(x)))                    \
    METHOD(plain_bf16_u4b8, "INT4 of bias 8 to bf16, converted", "-", 8, plain_bf16_u4b8, plain_bf16_u4b8(x))          \
    METHOD(bf16_u4b8, "INT4 of bias 8 to bf16, magic bias", "-", 8, plain_bf16_u4b8,                                   \
           results_of(pwl_bf16_from_u4b8(x)))                                                                          \
    METHOD(plain_s8_scaled, "INT8 with scale (Q8_0), converted", "-", 4, plain_s8_scaled,                              \
           plain_f16_s8(x, __ushort_as_half(s)))                                                                       \
    METHOD(s8_scaled, "INT8 with scale (Q8_0), prmt", "-", 4, plain_s8_scaled, scaled_f16_s8(x, s))                    \
    METHOD(u8b128_scaled, "INT8 of bias 128 with scale, prmt", "-", 4, u8b128_scaled, scaled_f16_u8b128(x, s))         \
    METHOD(plain_s8, "INT8 to fp16, converted", "-", 4, plain_s8, plain_f16_s8(x))                                     \
    METHOD(s8, "INT8 to fp16, prmt", "-", 4, plain_s8, results_of(pwl_f16_from_s8(x)))                                 \
    METHOD(plain_bf16_s8, "INT8 to bf16, converted", "-", 4, plain_bf16_s8, plain_bf16_s8(x))                          \
    METHOD(bf16_s8, "INT8 to bf16, magic bias", "-", 4, plain_bf16_s8, results_of(pwl_bf16_from_s8(x)))                \
    METHOD(plain_s8_u4b8, "INT4 of bias 8 to INT8, __vsub4", "-", 8, plain_s8_u4b8, plain_s8_u4b8(x))                  \
    METHOD(s8_u4b8, "INT4 of bias 8 to INT8", "-", 8, plain_s8_u4b8, results_of(pwl_s8_from_u4b8(x)))                  \
    METHOD(s8_s4_times16, "signed INT4 to 16 times INT8", "-", 8, s8_s4_times16, results_of(pwl_s8_from_s4_times16(x)))

#endif
