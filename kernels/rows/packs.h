/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in packs of 16 bytes: what one thread of a group computes of the packs that it holds in registers. The group has
 * a row; its threads take packs in turn, and between these steps put together what each has found.
 *
 *   softmax   largest code of each -> of the row;  sum of exponentials of each -> of the row;  codes, pack by pack
 *   norms     sums of each -> of the row;  codes, pack by pack
 *
 * `bytes` of a code, 1 or 2, and the counts of packs are constants where kernels call these functions, which then are
 * straight code on registers. Codes of a word stand from its lowest bits on. Every value is that of pwl/rows.h, bit for
 * bit; compiled for the host, they are tested against it there.
 */
#ifndef PWL_PACKS_H
#define PWL_PACKS_H

#include <pwl/rows.h>

#include "arch/bits.cuh"

#define PWL_PACK_BYTES 16
#define PWL_PACK_WORDS 4

#ifdef __CUDA_ARCH__
#define PWL_UNROLL _Pragma("unroll")
#else
#define PWL_UNROLL
#endif

typedef struct pwl_pack {
    uint32_t word[PWL_PACK_WORDS];
} pwl_pack;

/* The mask of those bytes of a word that are among the first `count`, which may be negative or more than it has. */
PWL_FN uint32_t pwl_first_bytes(int count)
{
    return count >= 4 ? UINT32_MAX : count <= 0 ? 0 : ((uint32_t)1 << 8 * count) - 1;
}

/* Codes from `places` on become 0. */
PWL_FN void pwl_pack_cut(pwl_pack *pack, int bytes, int places)
{
    PWL_UNROLL
    for (int w = 0; w < PWL_PACK_WORDS; w++)
        pack->word[w] &= pwl_first_bytes(places * bytes - 4 * w);
}

/* Byte k. */
PWL_FN uint32_t pwl_word_byte(uint32_t word, int k)
{
#ifdef __CUDA_ARCH__
    return __byte_perm(word, 0, 0x4440 + k);
#else
    return word >> 8 * k & 255;
#endif
}

/* Code k with a sign. */
PWL_FN int32_t pwl_pack_signed(const pwl_pack *pack, int bytes, int k)
{
    const uint32_t word = pack->word[k * bytes / 4];
    if (bytes == 2 && k % 2)
        return (int32_t)word >> 16;
    return (int32_t)pwl_prmt(word, 0, bytes == 2 ? 0x9910 : 0x8880 + (uint32_t)k % 4 * 0x1111);
}

/* The product of two words: said so, since what a compiler knows of its arguments can lead it to wider ones. */
PWL_FN int64_t pwl_wide(int32_t a, int32_t b)
{
#ifdef __CUDA_ARCH__
    int64_t product;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#else
    return (int64_t)a * b;
#endif
}

PWL_FN uint64_t pwl_wide_u32(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    uint64_t product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#else
    return (uint64_t)a * b;
#endif
}

/* The upper word of a * b + c: one instruction, where a sum of 64 bits that is shifted otherwise takes three. */
PWL_FN uint32_t pwl_high_u32(uint32_t a, uint32_t b, uint64_t c)
{
    return (uint32_t)((pwl_wide_u32(a, b) + c) >> 32);
}

PWL_FN int32_t pwl_high_s32(int32_t a, int32_t b, int64_t c)
{
    return (int32_t)((pwl_wide(a, b) + c) >> 32);
}

/* 4 codes of 1 byte, or 2 of 2, clipped to what that holds without a sign. */
PWL_FN uint32_t pwl_word_of(const int32_t *codes, int bytes)
{
#ifdef __CUDA_ARCH__
    uint32_t word, upper;
    if (bytes == 2) {
        asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(word) : "r"(codes[1]), "r"(codes[0]));
        return word;
    }
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(upper) : "r"(codes[3]), "r"(codes[2]));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(codes[1]), "r"(codes[0]), "r"(upper));
    return word;
#else
    const int32_t most = bytes == 1 ? UINT8_MAX : UINT16_MAX;
    uint32_t word = 0;
    for (int k = 0; k < 4 / bytes; k++)
        word |= (uint32_t)(codes[k] < 0 ? 0 : codes[k] > most ? most : codes[k]) << 8 * bytes * k;
    return word;
#endif
}

/* What makes words of such codes those of a type whose lowest code is `lowest`: to be added to codes, and to flip. */
PWL_FN uint32_t pwl_flip_of(int64_t lowest)
{
    return lowest == 0 ? 0 : lowest == INT8_MIN ? 0x80808080u : 0x80008000u;
}

PWL_FN int64_t pwl_type_first(int type)
{
    return type == PWL_S8 ? INT8_MIN : type == PWL_S16 ? INT16_MIN : 0;
}

PWL_FN int64_t pwl_type_last(int type)
{
    return pwl_type_first(type) + (type <= PWL_U8 ? UINT8_MAX : UINT16_MAX);
}

#endif
