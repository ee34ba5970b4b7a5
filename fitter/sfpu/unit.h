/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The arithmetic of Tenstorrent's vector unit (SFPU), on the bits of its numbers: the multiply-add of SFPMAD, which
 * SFPLUT and SFPLUTFP32 end in, the codes of their coefficients, and the two ways to a bf16 in Dst.
 *
 * Source: tt-isa-documentation, pages SFPLUT, SFPLUTFP32, SFPMAD, SFPSTOCHRND and SFPSTORE of Wormhole and Blackhole,
 * and its page Miscellaneous/FMA, which says where both chips leave IEEE 754.
 */
#ifndef PWLC_SFPU_UNIT_H
#define PWLC_SFPU_UNIT_H

#include <stdint.h>

enum sfpu_chip { SFPU_WORMHOLE, SFPU_BLACKHOLE };

/* How a result in fp32 becomes the bf16 that is kept. */
enum sfpu_store {
    SFPU_TRUNCATE, /* SFPSTORE alone: toward zero */
    SFPU_NEAREST   /* SFPSTOCHRND to nearest before it, ties away from zero; NaN becomes infinity, -0 becomes 0 */
};

#define SFPU_SIGN 0x80000000u

/* x y + z in fp32, all as bits: rounded once, to nearest even, of a product that keeps four bits more than fp32 has.
 * Subnormal inputs count as zero, and no result is subnormal. */
uint32_t sfpu_multiply_add(enum sfpu_chip chip, uint32_t x, uint32_t y, uint32_t z);

/* A coefficient of SFPLUT: sign, 3 bits of e, 4 of m, (1 + m/16) 2^-e; 0xff is 0. */
uint32_t sfpu_of_fp8(uint16_t code);

/* A coefficient of SFPLUTFP32: sign, 5 bits of e, 10 of m, (1 + m/1024) 2^(e - 15), also for e = 0; e = 31 is 0. */
uint32_t sfpu_of_fp16(uint16_t code);

/* What is kept of a result. Subnormal results become 0. */
uint16_t sfpu_stored(enum sfpu_store store, uint32_t value);

#endif
