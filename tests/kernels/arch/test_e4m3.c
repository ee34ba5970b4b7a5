/* SPDX-License-Identifier: Apache-2.0 */
/* E4M3: every code against its formula, and every float against the nearest code. */
#include <math.h>

#include <pwl/e4m3.h>

#include "../tap.h"

static double value_of(int code)
{
    const int exponent = code >> 3 & 15, digits = code & 7;
    return exponent ? ldexp(8 + digits, exponent - 10) : ldexp(digits, -9);
}

static void test_codes(void)
{
    int good = 1;
    for (int code = 0; code < 0x7f; code++)
        good &= (double)pwl_f32_from_e4m3((uint8_t)code) == value_of(code) &&
                (double)pwl_f32_from_e4m3((uint8_t)(code | 0x80)) == -value_of(code);
    tap(good && signbit(pwl_f32_from_e4m3(0x80)), "codes are their formula's values");
    tap(isnan(pwl_f32_from_e4m3(0x7f)) && isnan(pwl_f32_from_e4m3(0xff)), "0x7f and 0xff are NaN");
}

/* Floats whose bits are from `first` to `last` have this code, and with a sign that one's. */
static int all_have(uint32_t first, uint32_t last, uint8_t code)
{
    uint32_t wrong = 0;
    for (uint32_t bits = first; bits <= last; bits++)
        wrong += (pwl_e4m3_from_f32(pwl_f32_of_bits(bits)) != code) +
                 (pwl_e4m3_from_f32(pwl_f32_of_bits(bits | 0x80000000u)) != (code | 0x80));
    return wrong == 0;
}

static void test_floats(void)
{
    int good = 1;
    uint32_t first = 0;
    for (int code = 0; code < 0x7f; code++) {
        /* The last float that is not nearer to the next code; the border itself goes to the even one. */
        const double border = (value_of(code) + value_of(code + 1)) / 2;
        uint32_t last = pwl_bits_of_f32((float)border) - (code % 2 ? 1 : 0);
        if (code == 0x7e)
            last = 0x7f800000u;
        good &= all_have(first, last, (uint8_t)code);
        first = last + 1;
    }
    tap(good && first == 0x7f800001u, "every float that is not NaN has the nearest code, ties the even one");
    good = 1;
    for (uint32_t bits = 0x7f800001u; bits < 0x80000000u; bits++)
        good &= pwl_e4m3_from_f32(pwl_f32_of_bits(bits)) == 0x7f &&
                pwl_e4m3_from_f32(pwl_f32_of_bits(bits | 0x80000000u)) == 0x7f;
    tap(good, "every NaN is 0x7f");
}

/* The largest has the code of 448 or its neighbour below, as 1 / scale is rounded. */
static void test_scales(void)
{
    int good = 1;
    for (uint32_t bits = 1; bits < 0x7f800000u; bits += 12345) {
        const float amax = pwl_f32_of_bits(bits), scale = pwl_e4m3_scale(amax);
        const float inverse = pwl_e4m3_inverse(scale);
        good &= isfinite(scale) && isfinite(inverse) && scale >= 0x1p-126f &&
                (scale == 0x1p-126f ? pwl_e4m3_code(amax, inverse) <= 0x7e : pwl_e4m3_code(amax, inverse) == 0x7e) &&
                pwl_e4m3_code(INFINITY, inverse) == 0x7e && pwl_e4m3_code(-INFINITY, inverse) == 0xfe &&
                pwl_e4m3_code(NAN, inverse) == 0x7f;
    }
    tap(good, "scales: the largest number has the largest code, infinities too");
    tap(pwl_e4m3_scale(448) == 1 && pwl_e4m3_scale(0) == 0x1p-126f, "scales of 448 and of 0");
}

int main(void)
{
    test_codes();
    test_floats();
    test_scales();
    return tap_end();
}
