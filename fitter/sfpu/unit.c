/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <stdbool.h>

#define SPECIAL 255       /* the exponent of infinities and NaN */
#define LEADING 0x800000u /* the digit that fp32 leaves out */
#define FRACTION (LEADING - 1)
#define INFINITE 0x7f800000u
#define GUARD 3 /* digits behind those of fp32; the last is sticky: set for all that is lost */

/* (-1)^sign digits 2^(exponent - 150), with GUARD digits more: 2^(exponent - 153). */
struct number {
    uint32_t sign, digits;
    int exponent;
};

static struct number unpack(uint32_t bits)
{
    const int exponent = (int)(bits >> 23 & 255);
    return (struct number){bits & SFPU_SIGN, exponent ? (bits & FRACTION) | LEADING : 0, exponent};
}

static bool is_nan(struct number x)
{
    return x.exponent == SPECIAL && x.digits != LEADING;
}

/* Infinity times zero, and NaN. */
static bool spoils_product(struct number x, struct number y)
{
    return x.exponent == SPECIAL && (x.digits != LEADING || y.digits == 0);
}

/* 26 to 28 digits and those behind them in the sticky one. */
static struct number product(struct number x, struct number y)
{
    const uint64_t exact = (uint64_t)x.digits * y.digits;
    const int dropped = 23 - GUARD;
    const uint32_t rest = (exact & ((1u << dropped) - 1)) != 0;
    return (struct number){x.sign ^ y.sign, (uint32_t)(exact >> dropped) | rest, x.exponent + y.exponent - 127};
}

/* Moved right; what is moved out altogether leaves no trace. */
static uint32_t moved(uint32_t digits, int by)
{
    if (by > 31)
        return 0;
    const uint32_t kept = digits >> by;
    return kept ? kept | ((kept << by) != digits) : 0;
}

/* Digits of a sum whose first is the 27th, rounded to fp32. Wormhole forgets the higher of two digits that go at once;
 * Blackhole rounds what will be subnormal at its own last digit. */
static uint32_t rounded(enum sfpu_chip chip, uint32_t sign, uint32_t digits, int exponent)
{
    int right = 5 - __builtin_clz(digits);
    exponent += right;
    if (exponent >= SPECIAL)
        return sign | INFINITE;
    if (exponent < 0 && chip == SFPU_WORMHOLE)
        return 0;
    if (exponent <= 0 && chip == SFPU_BLACKHOLE) {
        right++;
        exponent = 0;
    }
    if (right > 0)
        digits = digits >> right | ((digits & (chip == SFPU_WORMHOLE ? 1 : (unsigned)right | 1)) != 0);
    else
        digits <<= -right;
    uint32_t bits = ((uint32_t)exponent << 23) + (digits >> GUARD & FRACTION);
    bits += (digits & 7) + (bits & 1) > 4;
    if (bits >> 23 == 0)
        return chip == SFPU_WORMHOLE ? 0 : sign;
    return sign | bits;
}

/* p + z, both with GUARD digits, neither special. */
static uint32_t sum(enum sfpu_chip chip, struct number p, struct number z)
{
    const int exponent = p.exponent > z.exponent ? p.exponent : z.exponent;
    const uint32_t a = moved(p.digits, exponent - p.exponent), b = moved(z.digits, exponent - z.exponent);
    const uint32_t sign = a >= b ? p.sign : z.sign;
    const uint32_t digits = p.sign == z.sign ? a + b : a >= b ? a - b : b - a;
    if (digits == 0)
        return chip == SFPU_WORMHOLE ? 0 : p.sign & z.sign;
    return rounded(chip, sign, digits, exponent);
}

uint32_t sfpu_multiply_add(enum sfpu_chip chip, uint32_t x_bits, uint32_t y_bits, uint32_t z_bits)
{
    const bool wormhole = chip == SFPU_WORMHOLE;
    const struct number x = unpack(x_bits), y = unpack(y_bits);
    struct number z = unpack(z_bits), p = product(x, y);
    const bool from_infinity = x.exponent == SPECIAL || y.exponent == SPECIAL, overflows = p.exponent >= SPECIAL;
    uint32_t nan = 0;
    if (from_infinity || overflows || z.exponent == SPECIAL) {
        const bool cancels = z.exponent == SPECIAL && !is_nan(z) && z.sign != p.sign;
        if (spoils_product(x, y) || spoils_product(y, x) || (cancels && (from_infinity || (wormhole && overflows))))
            nan = p.sign | INFINITE | 1;
        else if (is_nan(z))
            nan = z.sign | INFINITE | 1;
        else
            return z.exponent == SPECIAL ? z_bits : p.sign | INFINITE;
        if (!wormhole)
            return 0x7fc00000;
        p.exponent = overflows ? SPECIAL : p.exponent;
    }
    if (p.digits == 0 || p.exponent < 0) {
        if (nan == 0)
            return z.digits ? z_bits : wormhole ? 0 : z.sign & p.sign;
        p.digits = 0;
        p.exponent = 0;
    }
    z.digits <<= GUARD;
    const uint32_t bits = sum(chip, p, z);
    return nan ? nan | (bits & ~SFPU_SIGN) : bits; /* digits of the sum shine through Wormhole's NaN */
}

uint32_t sfpu_of_fp8(uint16_t code)
{
    const uint32_t sign = code >> 7 & 1u, exponent = code >> 4 & 7u, fraction = code & 15u;
    return (code & 255u) == 255 ? 0 : sign << 31 | (127 - exponent) << 23 | fraction << 19;
}

uint32_t sfpu_of_fp16(uint16_t code)
{
    const uint32_t sign = code >> 15, exponent = code >> 10 & 31u, fraction = code & 1023u;
    return exponent == 31 ? sign << 31 : sign << 31 | (exponent + 112) << 23 | fraction << 13;
}

uint16_t sfpu_stored(enum sfpu_store store, uint32_t value)
{
    const uint32_t exponent = value >> 23 & 255;
    if (exponent == 0)
        return store == SFPU_NEAREST ? 0 : (uint16_t)(value >> 16 & 0x8000);
    if (store == SFPU_NEAREST)
        value = exponent == SPECIAL ? value & ~FRACTION : value + 0x8000;
    return (uint16_t)(value >> 16);
}
