/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.cuh and half.h on the host: every code in every place and every scale against values worked out in doubles, and
 * the slips of the sources that the conversions come from.
 */
#include <math.h>
#include <stdlib.h>

#include "../e2m1.h"
#include "../tap.h"
#include "bits_inputs.h"

/* Magnitudes of a format by their code, up to infinity, which counts as the next power of two when rounding. */
struct format {
    double *magnitude;
    uint32_t infinity;
};

static double f16_magnitudes[0x7c01], bf16_magnitudes[0x7f81];
static const struct format f16 = {f16_magnitudes, 0x7c00}, bf16 = {bf16_magnitudes, 0x7f80};

/* (1 + m / 2^digits) * 2^(e - bias), or without the 1 where e is 0. */
static void fill(const struct format *format, int digits, int bias)
{
    for (uint32_t code = 0; code <= format->infinity; code++) {
        const int e = (int)(code >> digits), m = (int)(code & ((1u << digits) - 1)), hidden = e > 0;
        format->magnitude[code] = ldexp((hidden << digits) + m, (hidden ? e : 1) - bias - digits);
    }
}

/* Of infinity and NaN too. */
static double value_of(const struct format *format, uint32_t code)
{
    const uint32_t rest = code & 0x7fff;
    const double v = rest < format->infinity ? format->magnitude[rest] : rest == format->infinity ? INFINITY : NAN;
    return code & 0x8000 ? -v : v;
}

/* The sign of p + c - at, exactly: what p + c leaves over decides only where the rounded sum is `at` itself. */
static int compare(double p, double c, double at)
{
    const double sum = p + c, part = sum - p, left = (p - (sum - part)) + (c - part);
    if (sum != at)
        return sum > at ? 1 : -1;
    return (left > 0) - (left < 0);
}

/* The code nearest to p + c, ties to even; a c of -0 leaves the sign of a zero p alone. */
static uint32_t nearest(const struct format *format, double p, double c)
{
    const double sum = p + c, *const magnitude = format->magnitude;
    const uint32_t sign = signbit(sum) ? 0x8000 : 0;
    uint32_t low = 0, high = format->infinity;
    if (isnan(sum))
        return 0x7fff;
    if (isinf(sum))
        return sign | format->infinity;
    if (sign) {
        p = -p;
        c = -c;
    }
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const int above = compare(p, c, (magnitude[middle] + magnitude[middle + 1]) / 2);
        if (above > 0 || (above == 0 && middle % 2))
            low = middle + 1;
        else
            high = middle;
    }
    return sign | low;
}

static double rounded(const struct format *format, double v)
{
    return value_of(format, nearest(format, v, -0.0));
}

/* -- What codes mean ------------------------------------------------------------------------------------------------
 */

static double u4(uint32_t code)
{
    return code;
}

static double u4b8(uint32_t code)
{
    return (double)code - 8;
}

static double s4(uint32_t code)
{
    return code < 8 ? (double)code : (double)code - 16;
}

static double u4b8_times16(uint32_t code)
{
    return 16 * u4b8(code);
}

static double s4_times16(uint32_t code)
{
    return 16 * s4(code);
}

static double u8b128(uint32_t code)
{
    return (double)code - 128;
}

static double s8(uint32_t code)
{
    return code < 128 ? (double)code : (double)code - 256;
}

static double e8m0(uint32_t e)
{
    return e == 255 ? NAN : ldexp(1, (int)e - 127);
}

/* -- Conversions of several codes -----------------------------------------------------------------------------------
 */

/* Where element i is put. */
enum order {
    PAIRED,  /* word i % (n / 2), half i / (n / 2) */
    NATURAL, /* word i / 2, half i % 2 */
    STRIDED  /* bytes: word i % 2, byte i / 2 */
};

static const struct several {
    enum bits_case id;
    int width; /* of a code */
    double (*meaning)(uint32_t code);
    const struct format *format; /* null: int8 */
    enum order order;
} several[] = {
    {BITS_CASE_f16_u4, 4, u4, &f16, PAIRED},
    {BITS_CASE_f16_u4b8, 4, u4b8, &f16, PAIRED},
    {BITS_CASE_f16_s4, 4, s4, &f16, PAIRED},
    {BITS_CASE_bf16_u4, 4, u4, &bf16, PAIRED},
    {BITS_CASE_bf16_u4b8, 4, u4b8, &bf16, PAIRED},
    {BITS_CASE_bf16_s4, 4, s4, &bf16, PAIRED},
    {BITS_CASE_f16_e2m1, 4, e2m1, &f16, PAIRED},
    {BITS_CASE_bf16_e2m1, 4, e2m1, &bf16, PAIRED},
    {BITS_CASE_f16_u4_natural, 4, u4, &f16, NATURAL},
    {BITS_CASE_f16_u8b128, 8, u8b128, &f16, NATURAL},
    {BITS_CASE_f16_u8b128_packed, 8, u8b128, &f16, PAIRED},
    {BITS_CASE_f16_s8, 8, s8, &f16, NATURAL},
    {BITS_CASE_bf16_u8b128, 8, u8b128, &bf16, PAIRED},
    {BITS_CASE_bf16_s8, 8, s8, &bf16, PAIRED},
    {BITS_CASE_u8_u4, 4, u4, NULL, STRIDED},
    {BITS_CASE_s8_u4b8, 4, u4b8, NULL, STRIDED},
    {BITS_CASE_s8_s4, 4, s4, NULL, STRIDED},
    {BITS_CASE_s8_u4b8_times16, 4, u4b8_times16, NULL, STRIDED},
    {BITS_CASE_s8_s4_times16, 4, s4_times16, NULL, STRIDED},
    {BITS_CASE_f16_u4b8_scaled, 4, u4b8, &f16, PAIRED},
    {BITS_CASE_f16_e2m1_scaled, 4, e2m1, &f16, PAIRED},
    {BITS_CASE_f16_e2m1_times, 4, e2m1, &f16, PAIRED},
    {BITS_CASE_bf16_s4_scaled, 4, s4, &bf16, PAIRED},
    {BITS_CASE_f16_u4_scaled, 4, u4, &f16, PAIRED},
    {BITS_CASE_bf16_mxfp4, 4, e2m1, &bf16, PAIRED},
};

/* v times the scale, or v less the zero times the scale, as the conversion takes them. */
static uint32_t scaled(const struct several *kind, const bits_input *in, double v)
{
    const double scale = value_of(kind->format, in->scale & 0xffff);
    switch (kind->id) {
    case BITS_CASE_f16_u4b8_scaled:
    case BITS_CASE_f16_e2m1_scaled:
    case BITS_CASE_bf16_s4_scaled:
        return nearest(kind->format, v * scale, -0.0);
    case BITS_CASE_f16_e2m1_times:
        return nearest(kind->format, v * scale / 16384, -0.0);
    case BITS_CASE_f16_u4_scaled:
        return nearest(kind->format, rounded(&f16, v - value_of(&f16, in->zero)) * scale, -0.0);
    case BITS_CASE_bf16_mxfp4:
        return nearest(kind->format, v * e8m0(in->scale & 0xff), -0.0);
    default:
        return nearest(kind->format, v, -0.0);
    }
}

static uint32_t element_of(const struct several *kind, const bits_output *out, int i)
{
    const int words = 16 / kind->width; /* of pairs of halves */
    switch (kind->order) {
    case PAIRED:
        return out->w[i % words] >> 16 * (i / words) & 0xffff;
    case NATURAL:
        return out->w[i / 2] >> 16 * (i % 2) & 0xffff;
    default:
        return out->w[i % 2] >> 8 * (i / 2) & 0xff;
    }
}

/* The result of a code is the same in every place: worked out once for an input with its scale and zero. */
static int several_agree(const struct several *kind, const bits_input *in, const bits_output *out)
{
    static uint32_t known[256];
    static bits_input known_for;
    static enum bits_case known_kind = BITS_CASE_COUNT;
    const uint32_t codes = 1u << kind->width;
    if (known_kind != kind->id || known_for.scale != in->scale || known_for.zero != in->zero) {
        for (uint32_t code = 0; code < codes; code++)
            known[code] =
                kind->format ? scaled(kind, in, kind->meaning(code)) : (uint32_t)(int32_t)kind->meaning(code) & 0xff;
        known_kind = kind->id;
        known_for = *in;
    }
    for (int i = 0; i < 32 / kind->width; i++) {
        const uint32_t code = in->x >> kind->width * i & (codes - 1), got = element_of(kind, out, i);
        if (got != known[code]) {
            printf("# code %u in place %d of %08x, scale %04x, zero %04x: %04x, not %04x\n", code, i, in->x, in->scale,
                   in->zero, got, known[code]);
            return 0;
        }
    }
    return 1;
}

/* -- Single results -------------------------------------------------------------------------------------------------
 */

static uint32_t each_half(const struct format *format, const bits_input *in)
{
    uint32_t both = 0;
    for (int shift = 0; shift <= 16; shift += 16)
        both |=
            nearest(format, value_of(format, in->x >> shift & 0xffff) * value_of(format, in->scale >> shift & 0xffff),
                    value_of(format, in->zero >> shift & 0xffff))
            << shift;
    return both;
}

/* From 8 on a nibble names a byte whose sign stands in all eight bits. */
static uint32_t selected(const bits_input *in)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t nibble = in->zero >> 4 * i & 15, from = nibble % 8 < 4 ? in->x : in->scale;
        const uint32_t byte = from >> 8 * (nibble % 4) & 0xff;
        word |= (nibble < 8 ? byte : byte < 128 ? 0 : 0xff) << 8 * i;
    }
    return word;
}

/* The sum with the products of bytes, which a double holds. */
static uint32_t dot(const bits_input *in)
{
    double sum = (double)(in->zero & 0xffffff) - 0x800000;
    for (int i = 0; i < 32; i += 8)
        sum += s8(in->x >> i & 0xff) * s8(in->scale >> i & 0xff);
    return (uint32_t)(int32_t)sum;
}

static uint32_t bits_of(double v)
{
    return isnan(v) ? 0x7fffffff : pwl_bits_of_f32((float)v);
}

static uint32_t expected_word(enum bits_case id, const bits_input *in)
{
    switch (id) {
    case BITS_CASE_f16_e2m1_scalar:
        return nearest(&f16, e2m1(in->x & 15) * value_of(&f16, in->scale & 0xffff), -0.0);
    case BITS_CASE_f32_e8m0:
        return bits_of(e8m0(in->x & 0xff));
    case BITS_CASE_bf16_e8m0:
        return nearest(&bf16, e8m0(in->x & 0xff), -0.0);
    case BITS_CASE_f16_u10:
        return nearest(&f16, in->x & 1023, -0.0);
    case BITS_CASE_f16_int4:
        return nearest(&f16, (int)(in->x & 15) - 8, -0.0);
    case BITS_CASE_f32_preset:
        return bits_of((int)(in->x & 0x7fffff) - 0x400000);
    case BITS_CASE_f16_of_f32:
        return nearest(&f16, pwl_f32_of_bits(in->x), -0.0);
    case BITS_CASE_bf16_of_f32:
        return nearest(&bf16, pwl_f32_of_bits(in->x), -0.0);
    case BITS_CASE_f32_of_f16:
        return bits_of(value_of(&f16, in->x & 0xffff));
    case BITS_CASE_fma_f16x2:
        return each_half(&f16, in);
    case BITS_CASE_fma_bf16x2:
        return each_half(&bf16, in);
    case BITS_CASE_dp4a:
        return dot(in);
    default:
        return selected(in);
    }
}

/* Two NaNs of a float are the same. */
static int word_agrees(enum bits_case id, const bits_input *in, const bits_output *out)
{
    const uint32_t expected = expected_word(id, in);
    if (out->w[0] == expected ||
        (id == BITS_CASE_f32_of_f16 && expected == 0x7fffffff && (out->w[0] << 1) > 0xff000000))
        return 1;
    printf("# %08x, %08x, %08x: %08x, not %08x\n", in->x, in->scale, in->zero, out->w[0], expected);
    return 0;
}

static const struct several *find_several(enum bits_case id)
{
    for (size_t i = 0; i < sizeof several / sizeof several[0]; i++) {
        if (several[i].id == id)
            return &several[i];
    }
    return NULL;
}

static void test_case(enum bits_case id, const char *name, bits_output (*run)(bits_input in), bits_input *inputs)
{
    const struct several *const kind = find_several(id);
    const size_t count = bits_draw(id, inputs, 0);
    size_t k = 0;
    for (; k < count; k++) {
        const bits_output out = run(inputs[k]);
        if (!(kind ? several_agree(kind, &inputs[k], &out) : word_agrees(id, &inputs[k], &out)))
            break;
    }
    tap(k == count && count > 0, "%s: %zu inputs", name, count);
}

/* -- Slips of the sources -------------------------------------------------------------------------------------------
 */

static double f16_value(uint32_t code)
{
    return value_of(&f16, code);
}

static void test_walk(void)
{
    int good = 1;
    tap(f16_value(0x6400) == 1024 && (0x6400 | 13) == 0x640d && f16_value(0x640d) == 1037 && f16_value(0x6408) == 1032,
        "the walk of 5: 13 is 0x640d, is 1037; 1032 is 0x6408");
    tap(pwl_f16_from_int4(5) == 0x4500 && f16_value(0x4500) == 5, "and ends at 5, which is 0x4500");
    tap(f16_value(0x4240) == 3.125 && f16_value(0x4200 /* 0 10000 1000000000 */) == 3,
        "not at 0x4240, which is 3.125, nor at its binary digits, which are 3");
    for (uint32_t q = 0; q < 1024; q++)
        good &= f16_value(0x6400 | q) == 1024 + q;
    tap(good && 0x6400 >> 10 == 25 /* 11001 */, "1024 has exponent 11001, and the integer lies in the lowest bits");
    tap(f16_value(0x6400 | 5 << 6) != 1024 + 5, "not 6 bits higher");
}

static void test_lost_codes(void)
{
    const uint32_t packed = 0x76543210;
    const pwl_halves8 v = pwl_natural(pwl_f16_from_u4(packed));
    int good = 1;
    tap(pwl_and_or(packed, 0x0f0f0f0f, 0x00ff00ff) == 0x06ff02ff,
        "lop3 with the masks 0x0f0f0f0f and 0x00ff00ff overwrites four of eight codes");
    for (uint32_t i = 0; i < 8; i++)
        good &= f16_value(v.w[i / 2] >> 16 * (i % 2) & 0xffff) == i;
    tap(good, "with 0x000f000f and 0x64006400 all eight come out");
}

static void test_packed_bytes(void)
{
    const uint32_t natural = 0x83828180, packed = 0x83818280;
    const pwl_halves4 labelled = pwl_f16_from_u8b128_packed(natural), ordered = pwl_f16_from_u8b128(natural),
                      repacked = pwl_f16_from_u8b128_packed(packed);
    tap(labelled.w[0] == 0x40000000 && labelled.w[1] == 0x42003c00, "selectors 0x5250 and 0x5351 take 0, 2 and 1, 3");
    tap(repacked.w[0] == 0x3c000000 && repacked.w[1] == 0x42004000, "which are 0, 1 and 2, 3 of packed bytes");
    tap(ordered.w[0] == repacked.w[0] && ordered.w[1] == repacked.w[1], "as 0x5150 and 0x5352 take them from others");
}

/* The largest error of q - 8 times the scale, in steps of the scale, over the normal scales from 2^-13 to below 1. */
static double largest_error(int fused)
{
    double largest = 0;
    for (uint32_t scale = 0x0800; scale < 0x3c00; scale++) {
        const double step = f16_value(scale);
        const uint32_t term = nearest(&f16, -1032 * step, -0.0);
        for (uint32_t q = 0; q < 16; q++) {
            const uint32_t got = fused ? pwl_f16_fma((uint16_t)(0x6400 | q), (uint16_t)scale, (uint16_t)term)
                                       : pwl_scale_f16(pwl_f16_from_u4b8(q), (uint16_t)scale).w[0] & 0xffff;
            largest = fmax(largest, fabs(f16_value(got) - ((double)q - 8) * step) / step);
        }
    }
    return largest;
}

static void test_fusing(void)
{
    const double fused = largest_error(1), exact = largest_error(0);
    tap(fused > 0.49 && fused < 0.5, "one multiply-add for bias and scale: %.3f of a step off", fused);
    /* |q - 8| <= 8, and half a unit in the last place is 2^-11 of the result at most. */
    tap(exact <= 8.0 / 2048, "subtracting exactly, then multiplying: %.5f", exact);
}

static void test_folded_power(void)
{
    tap(nearest(&f16, 16384 * 4.0, -0.0) == 0x7c00 && nearest(&f16, 16384 * f16_value(0x43ff), -0.0) == 0x7bff,
        "2^14 * scale is a number for every scale below 4, and infinite from 4 on");
}

int main(void)
{
    bits_input *const inputs = malloc(BITS_MOST_INPUTS * sizeof *inputs);
    if (!inputs)
        return 1;
    fill(&f16, 10, 15);
    fill(&bf16, 7, 127);
#define TEST(name, type, value) test_case(BITS_CASE_##name, #name, bits_##name, inputs);
    BITS_CASES(TEST)
#undef TEST
    test_walk();
    test_lost_codes();
    test_packed_bytes();
    test_fusing();
    test_folded_power();
    free(inputs);
    return tap_end();
}
