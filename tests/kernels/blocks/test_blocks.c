/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block formats on the host: every scale and code decoded, quantisers against their formulas written out plainly,
 * padding, what is not finite or leaves fp16, and every error.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "../e2m1.h"
#include "../tap.h"
#include "blocks/block.h"
#include "inputs.h"

#define MOST_BYTES 36

/* A block's fields, taken out of its bytes. */
struct parts {
    uint16_t d, s;
    int q[PWL_BLOCK];
};

static struct parts parts_of(pwl_format format, const uint8_t *bytes)
{
    const size_t head = format == PWL_MXFP4 ? 1 : format == PWL_Q8_1 ? 4 : 2;
    struct parts parts = {.d = bytes[0]};
    if (format != PWL_MXFP4)
        parts.d = (uint16_t)(parts.d | bytes[1] << 8);
    if (format == PWL_Q8_1)
        parts.s = (uint16_t)(bytes[2] | bytes[3] << 8);
    for (int j = 0; j < PWL_BLOCK; j++) {
        if (format == PWL_Q8_0 || format == PWL_Q8_1)
            parts.q[j] = (int8_t)bytes[head + (size_t)j];
        else
            parts.q[j] = j < 16 ? bytes[head + (size_t)j] & 15 : bytes[head + (size_t)j - 16] >> 4;
    }
    return parts;
}

static uint16_t f16(double v)
{
    return pwl_round_f64(v, 10, 5);
}

/* -- Formulas -------------------------------------------------------------------------------------------------------
 */

static float inverse_of(float d)
{
    const float inverse = 1.0f / d;
    return isfinite(inverse) ? inverse : 0;
}

static int between(float v, int min, int max)
{
    return v < (float)min ? min : v > (float)max ? max : (int)v;
}

/* As the document prints them, and ggml's: d from the value of largest magnitude, fractions cut off. */
static struct parts formula_q4_0(pwl_rule rule, const float *x)
{
    struct parts parts = {0};
    float amax = 0, m = 0;
    for (int j = 0; j < PWL_BLOCK; j++) {
        if (fabsf(x[j]) > amax) {
            m = x[j];
            amax = fabsf(m);
        }
    }
    const float d = rule == PWL_RULE_DOCUMENT ? amax / 7.0f : m / -8.0f, inverse = inverse_of(d);
    parts.d = f16(d);
    for (int j = 0; j < PWL_BLOCK; j++) {
        const volatile float p = x[j] * inverse;
        parts.q[j] = rule == PWL_RULE_DOCUMENT ? between(roundf(p) + 8, 0, 15) : between(p + 8.5f, 0, 15);
    }
    return parts;
}

static struct parts formula_q8(pwl_format format, pwl_rule rule, const float *x)
{
    struct parts parts = {0};
    float amax = 0, sum = 0;
    int sum_q = 0;
    for (int j = 0; j < PWL_BLOCK; j++) {
        amax = fmaxf(amax, fabsf(x[j]));
        sum += x[j];
    }
    const float d = amax / 127.0f;
    parts.d = f16(d);
    const float used = rule == PWL_RULE_DEFAULT ? pwl_f32_from_f16(parts.d) : d, inverse = inverse_of(used);
    for (int j = 0; j < PWL_BLOCK; j++) {
        const volatile float p = x[j] * inverse;
        parts.q[j] = between(roundf(p), -127, 127);
        sum_q += parts.q[j];
    }
    if (format == PWL_Q8_1)
        parts.s = f16(rule == PWL_RULE_DOCUMENT ? sum : used * (float)sum_q);
    return parts;
}

/* The nearest of all sixteen, by distance. */
static struct parts formula_mxfp4(pwl_rule rule, const float *x)
{
    struct parts parts = {0};
    float amax = 0;
    int e = 0, exponent;
    for (int j = 0; j < PWL_BLOCK; j++)
        amax = fmaxf(amax, fabsf(x[j]));
    if (amax > 0) {
        (void)frexpf(amax, &exponent); /* amax = [0.5, 1) * 2^exponent */
        e = exponent - 1 - 2 + 127 < 0 ? 0 : exponent - 1 - 2 + 127;
    }
    parts.d = (uint16_t)e;
    for (int j = 0; j < PWL_BLOCK; j++) {
        const double v = ldexp(x[j], 127 - e);
        const int sign = signbit(v) ? 8 : 0;
        int best = sign;
        for (int code = sign + 1; code < sign + 8; code++) {
            const double nearer = fabs(e2m1(best) - v) - fabs(e2m1(code) - v);
            if (nearer > 0 || (nearer == 0 && rule != PWL_RULE_GGML && code % 2 == 0))
                best = code;
        }
        parts.q[j] = rule == PWL_RULE_GGML && best == 8 ? 0 : best;
    }
    return parts;
}

static struct parts formula(pwl_format format, pwl_rule rule, const float *x)
{
    struct parts none = {.d = format == PWL_MXFP4 ? 255 : 0x7fff, .s = format == PWL_Q8_1 ? 0x7fff : 0};
    for (int j = 0; j < PWL_BLOCK; j++)
        none.q[j] = format == PWL_Q4_0 ? 8 : 0;
    for (int j = 0; j < PWL_BLOCK; j++) {
        if (!isfinite(x[j]))
            return none;
    }
    if (format == PWL_MXFP4)
        return formula_mxfp4(rule, x);
    return format == PWL_Q4_0 ? formula_q4_0(rule, x) : formula_q8(format, rule, x);
}

static int parts_agree(const struct parts *got, const struct parts *expected, const float *x)
{
    if (got->d != expected->d || got->s != expected->s) {
        printf("# d %04x, s %04x, not %04x, %04x\n", got->d, got->s, expected->d, expected->s);
        return 0;
    }
    for (int j = 0; j < PWL_BLOCK; j++) {
        if (got->q[j] != expected->q[j]) {
            printf("# element %d, %a with d %04x: %d, not %d\n", j, (double)x[j], got->d, got->q[j], expected->q[j]);
            return 0;
        }
    }
    return 1;
}

static void test_formulas(const struct block_kind *kind)
{
    uint64_t state = 1;
    int good = 1, tries = 50000;
    while (good && tries--) {
        float x[PWL_BLOCK];
        uint16_t block[MOST_BYTES / 2];
        draw_block(x, &state);
        good = pwl_quantise(kind->format, kind->rule, x, 1, PWL_BLOCK, PWL_BLOCK, block) == PWL_BLOCKS_OK;
        const struct parts got = parts_of(kind->format, (const uint8_t *)block);
        const struct parts expected = formula(kind->format, kind->rule, x);
        good = good && parts_agree(&got, &expected, x);
    }
    tap(good, "%s by its formula", kind->name);
}

/* -- Values ---------------------------------------------------------------------------------------------------------
 */

static int same_f32(float got, double exact)
{
    return isnan(exact) ? pwl_bits_of_f32(got) == 0x7fc00000 : pwl_bits_of_f32(got) == pwl_bits_of_f32((float)exact);
}

/* A block of a scale and codes; q8 from `first` up, the others all codes, turned by `first`. */
static void fill_block(pwl_format format, uint16_t scale, int first, uint8_t *block)
{
    const size_t bytes = pwl_format_bytes(format), head = format == PWL_MXFP4 ? 1 : format == PWL_Q8_1 ? 4 : 2;
    memset(block, 0x11, head);
    block[0] = (uint8_t)scale;
    if (format != PWL_MXFP4)
        block[1] = (uint8_t)(scale >> 8);
    for (size_t j = head; j < bytes; j++) {
        const int k = first + (int)(j - head);
        block[j] = (uint8_t)(format == PWL_Q8_0 || format == PWL_Q8_1 ? k : (k & 15) | (~k & 15) << 4);
    }
}

static double meaning(pwl_format format, uint16_t scale, int q)
{
    if (format == PWL_MXFP4)
        return scale == 255 ? NAN : e2m1(q) * ldexp(1, scale - 127);
    return (format == PWL_Q4_0 ? q - 8 : q) * (double)pwl_f32_from_f16(scale);
}

static void test_values(pwl_format format, const char *name)
{
    const uint32_t scales = format == PWL_MXFP4 ? 256 : 65536;
    int good = 1;
    for (uint32_t scale = 0; scale < scales && good; scale++) {
        /* Eight scales with 32 of 256 codes each: over all scales, each code meets thousands. */
        const int first = (int)(scale % 8) * 32;
        uint16_t block[MOST_BYTES / 2], h[PWL_BLOCK];
        float v[PWL_BLOCK];
        fill_block(format, (uint16_t)scale, first, (uint8_t *)block);
        const struct parts parts = parts_of(format, (const uint8_t *)block);
        good &= pwl_dequantise(format, block, 1, PWL_BLOCK, PWL_BLOCK, v) == PWL_BLOCKS_OK;
        good &= pwl_dequantise_f16(format, block, 1, PWL_BLOCK, PWL_BLOCK, h) == PWL_BLOCKS_OK;
        for (int j = 0; j < PWL_BLOCK; j++) {
            const double exact = meaning(format, (uint16_t)scale, parts.q[j]);
            if (!same_f32(v[j], exact) || h[j] != f16(exact)) {
                printf("# scale %04x, code %d: %a and %04x, not %a\n", scale, parts.q[j], (double)v[j], h[j], exact);
                good = 0;
            }
        }
    }
    tap(good, "%s: values of every scale", name);
}

/* -- Blocks worked out by hand --------------------------------------------------------------------------------------
 */

static void test_by_hand(void)
{
    float x[PWL_BLOCK];
    pwl_block_q4_0 q4;
    pwl_block_q8_0 q8;
    pwl_block_q8_1 q81;
    pwl_block_mxfp4 mx;
    for (int j = 0; j < PWL_BLOCK; j++)
        x[j] = (float)(j - 16);
    /* d = -16 / -8 = 2; -16 is 0, -15 is 1 (1.0), -14 is 1 (1.5), 0 is 8, 15 is 16, which is 15 */
    tap(pwl_quantise(PWL_Q4_0, PWL_RULE_DEFAULT, x, 1, 32, 32, &q4) == PWL_BLOCKS_OK && q4.d == 0x4000 &&
            q4.qs[0] == 0x80 && q4.qs[1] == 0x91 && q4.qs[2] == 0x91 && q4.qs[15] == 0xf8,
        "Q4_0 of -16 to 15");
    x[0] = 16; /* the first of that magnitude: d = -2; -16 is 16, which is 15, 0 is 8, -1 is 9, 15 is 1 */
    x[1] = -16;
    tap(pwl_quantise(PWL_Q4_0, PWL_RULE_DEFAULT, x, 1, 32, 32, &q4) == PWL_BLOCKS_OK && q4.d == 0xc000 &&
            q4.qs[0] == 0x80 && q4.qs[1] == 0x8f && q4.qs[15] == 0x19,
        "Q4_0 after a positive extreme");
    for (int j = 0; j < PWL_BLOCK; j++)
        x[j] = (float)(4 * j - 63); /* -63 to 61; d = 63 / 7 = 9: -63 is -7, -59 is -6.6, 1 is 0, 61 is 6.8 */
    tap(pwl_quantise(PWL_Q4_0, PWL_RULE_DOCUMENT, x, 1, 32, 32, &q4) == PWL_BLOCKS_OK && q4.d == 0x4880 &&
            q4.qs[0] == 0x81 && q4.qs[1] == 0x91 && q4.qs[15] == 0xf8,
        "Q4_0 by the document");
    x[0] = 127; /* d = 1 */
    tap(pwl_quantise(PWL_Q8_0, PWL_RULE_DEFAULT, x, 1, 32, 32, &q8) == PWL_BLOCKS_OK && q8.d == 0x3c00 &&
            q8.qs[0] == 127 && q8.qs[1] == -59 && q8.qs[31] == 61,
        "Q8_0");
    /* -63 to 61 by 4 sum to -32; 190 more for 127 */
    tap(pwl_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, x, 1, 32, 32, &q81) == PWL_BLOCKS_OK && q81.d == 0x3c00 &&
            q81.s == f16(158) && q81.qs[31] == 61,
        "Q8_1");
    for (int j = 0; j < PWL_BLOCK; j++)
        x[j] = (float)(j - 16) / 2; /* -8 to 7.5: 2^floor(log2 8) / 4 = 2, the values are -4 to 3.75 */
    tap(pwl_quantise(PWL_MXFP4, PWL_RULE_DEFAULT, x, 1, 32, 32, &mx) == PWL_BLOCKS_OK && mx.e == 128 &&
            mx.qs[0] == 0x0e && mx.qs[1] == 0x0e && mx.qs[2] == 0x1e && mx.qs[15] == 0x68,
        "MXFP4: -4 and -3.75 are -4, so is -3.5; 0.5 is 0.5, -0.25 is -0, 3.75 is 4");
    tap(pwl_quantise(PWL_MXFP4, PWL_RULE_GGML, x, 1, 32, 32, &mx) == PWL_BLOCKS_OK && mx.e == 128 && mx.qs[1] == 0x0e &&
            mx.qs[2] == 0x1d && mx.qs[15] == 0x60,
        "by ggml's rule -3.5 is -3, and -0.25 is 0");
}

/* -- Ends of fp16 ---------------------------------------------------------------------------------------------------
 */

static void fill(float x[PWL_BLOCK], float v)
{
    for (int j = 0; j < PWL_BLOCK; j++)
        x[j] = v;
}

/* The root of the mean squared error, relative to the largest value, of values from -amax to amax. */
static double q8_error(pwl_rule rule, float amax)
{
    float x[PWL_BLOCK], v[PWL_BLOCK];
    pwl_block_q8_0 block;
    double sum = 0;
    for (int j = 0; j < PWL_BLOCK; j++)
        x[j] = amax * (float)(2 * j - 31) / 31;
    if (pwl_quantise(PWL_Q8_0, rule, x, 1, 32, 32, &block) != PWL_BLOCKS_OK ||
        pwl_dequantise(PWL_Q8_0, &block, 1, 32, 32, v) != PWL_BLOCKS_OK)
        return INFINITY;
    for (int j = 0; j < PWL_BLOCK; j++)
        sum += ((double)v[j] - (double)x[j]) * ((double)v[j] - (double)x[j]);
    return sqrt(sum / PWL_BLOCK) / (double)amax;
}

static void test_small_scales(void)
{
    /* d is 13 * 2^-24 there and not 13.21 * 2^-24: 1.6 % less. Codes for the latter carry that over to every value, and
     * values from -1 to 1 have a root mean square of 0.595 here; codes for the former only at the clip. */
    const double unrounded = q8_error(PWL_RULE_GGML, 1e-4f), stored = q8_error(PWL_RULE_DEFAULT, 1e-4f);
    float x[PWL_BLOCK];
    pwl_block_q8_0 block;
    tap(unrounded > 0.009 && unrounded < 0.010 && q8_error(PWL_RULE_DOCUMENT, 1e-4f) == unrounded,
        "codes for an unrounded d at 1e-4: an error of %.4f", unrounded);
    tap(stored < unrounded / 2, "codes for the stored d: %.4f", stored);
    fill(x, 3.7e-6f);
    tap(pwl_quantise(PWL_Q8_0, PWL_RULE_DEFAULT, x, 1, 32, 32, &block) == PWL_BLOCKS_OK && block.d == 0 &&
            block.qs[0] == 0,
        "d is 0 below 127 * 2^-25 = 3.78e-6, and so are the codes");
    fill(x, 3.9e-6f);
    tap(pwl_quantise(PWL_Q8_0, PWL_RULE_DEFAULT, x, 1, 32, 32, &block) == PWL_BLOCKS_OK && block.d == 1 &&
            block.qs[0] == 65,
        "from there on it is 2^-24, and 3.9e-6 is 65 of them");
}

static void test_ends(void)
{
    float x[PWL_BLOCK], v[PWL_BLOCK];
    pwl_block_q8_1 block;
    pwl_block_q4_0 q4;
    int good = 1;
    fill(x, 65520.0f * 127);
    tap(pwl_quantise(PWL_Q8_1, PWL_RULE_GGML, x, 1, 32, 32, &block) == PWL_BLOCKS_OK && block.d == 0x7c00 &&
            block.s == 0x7c00 && pwl_dequantise(PWL_Q8_1, &block, 1, 32, 32, v) == PWL_BLOCKS_OK && isinf(v[0]),
        "a d beyond fp16 is infinite");
    tap(pwl_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, x, 1, 32, 32, &block) == PWL_BLOCKS_OK && block.d == 0x7c00 &&
            block.qs[0] == 0 && pwl_dequantise(PWL_Q8_1, &block, 1, 32, 32, v) == PWL_BLOCKS_OK && isnan(v[0]),
        "and leaves no codes where they belong to it");
    fill(x, 4000);
    tap(pwl_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, x, 1, 32, 32, &block) == PWL_BLOCKS_OK && block.d < 0x7c00 &&
            block.s == 0x7c00,
        "a sum beyond fp16 is infinite, d is not");
    fill(x, 0);
    tap(pwl_quantise(PWL_Q4_0, PWL_RULE_DEFAULT, x, 1, 32, 32, &q4) == PWL_BLOCKS_OK && q4.d == 0x8000 &&
            q4.qs[0] == 0x88 && pwl_quantise(PWL_Q4_0, PWL_RULE_DOCUMENT, x, 1, 32, 32, &q4) == PWL_BLOCKS_OK &&
            q4.d == 0 && q4.qs[15] == 0x88,
        "Q4_0 of nothing: d is -0 by ggml's rule, 0 by the document's");
    /* The order of the sum: 2^24 + 1 is 2^24 in float. */
    memset(x, 0, sizeof x);
    x[3] = 0x1p24f;
    x[4] = 1;
    x[31] = -0x1p24f;
    tap(pwl_quantise(PWL_Q8_1, PWL_RULE_DOCUMENT, x, 1, 32, 32, &block) == PWL_BLOCKS_OK && block.s == 0,
        "the document's sum goes from the first to the last");
    for (size_t i = 0; i < BLOCK_KINDS; i++) {
        for (int bad = 0; bad < 3 * PWL_BLOCK; bad++) {
            uint16_t bytes[MOST_BYTES / 2];
            fill(x, 1);
            x[bad % PWL_BLOCK] = bad / PWL_BLOCK == 0 ? NAN : bad / PWL_BLOCK == 1 ? INFINITY : -INFINITY;
            good &= pwl_quantise(block_kinds[i].format, block_kinds[i].rule, x, 1, 32, 32, bytes) == PWL_BLOCKS_OK;
            good &= pwl_dequantise(block_kinds[i].format, bytes, 1, 32, 32, v) == PWL_BLOCKS_OK;
            for (int j = 0; j < PWL_BLOCK; j++)
                good &= isnan(v[j]) != 0;
        }
    }
    tap(good, "a NaN or an infinity anywhere makes the block NaN");
}

/* -- Rows -----------------------------------------------------------------------------------------------------------
 */

/* Rows of any k are the rows of k_padded with zeros behind them, and come back without. */
static void test_padding(const struct block_kind *kind)
{
    enum { ROWS = 3, MOST = 192 };
    const size_t bytes = pwl_format_bytes(kind->format);
    uint64_t state = 5;
    int good = 1;
    for (size_t k = 0; k <= 100; k++) {
        const size_t padded = (k + 31) / 32 * 32 + 32 * (k % 3), count = padded / 32 * bytes;
        float x[ROWS * MOST], wide[ROWS * MOST] = {0}, y[ROWS * MOST + 1];
        uint16_t blocks[ROWS * MOST / 32 * MOST_BYTES / 2 + 1], expected[ROWS * MOST / 32 * MOST_BYTES / 2];
        float values[MOST];
        draw_values(x, ROWS * k, &state);
        for (size_t r = 0; r < ROWS; r++)
            memcpy(wide + r * padded, x + r * k, k * sizeof *x);
        memset(blocks, 0xa5, sizeof blocks);
        memset(y, 0xa5, sizeof y);
        good &= pwl_quantise(kind->format, kind->rule, x, ROWS, k, padded, blocks) == PWL_BLOCKS_OK;
        good &=
            pwl_quantise(kind->format, kind->rule, wide, 1, ROWS * padded, ROWS * padded, expected) == PWL_BLOCKS_OK;
        good &= memcmp(blocks, expected, ROWS * count) == 0 && ((uint8_t *)blocks)[ROWS * count] == 0xa5;
        good &= pwl_dequantise(kind->format, blocks, ROWS, k, padded, y) == PWL_BLOCKS_OK;
        for (size_t r = 0; r < ROWS; r++) {
            const uint8_t *const row = (const uint8_t *)blocks + r * count;
            good &= pwl_dequantise(kind->format, row, 1, padded, padded, values) == PWL_BLOCKS_OK;
            good &= memcmp(y + r * k, values, k * sizeof *y) == 0;
        }
        good &= pwl_bits_of_f32(y[ROWS * k]) == 0xa5a5a5a5;
    }
    tap(good, "%s: rows of 0 to 100 elements", kind->name);
}

static void test_sizes(void)
{
    static const size_t bytes[] = {18, 34, 36, 17};
    size_t n;
    int good = 1;
    for (int format = PWL_Q4_0; format <= PWL_MXFP4; format++) {
        good &= pwl_format_bytes((pwl_format)format) == bytes[format];
        good &= pwl_blocks_bytes((pwl_format)format, 7, 96, &n) == PWL_BLOCKS_OK && n == 21 * bytes[format];
        good &= pwl_blocks_bytes((pwl_format)format, 0, 96, &n) == PWL_BLOCKS_OK && n == 0;
        good &= pwl_blocks_bytes((pwl_format)format, SIZE_MAX, 0, &n) == PWL_BLOCKS_OK && n == 0;
        good &= pwl_blocks_bytes((pwl_format)format, SIZE_MAX / bytes[format], 32, &n) == PWL_BLOCKS_OK;
        good &= pwl_blocks_bytes((pwl_format)format, SIZE_MAX / bytes[format] + 1, 32, &n) == PWL_BLOCKS_ERR_SHAPE;
    }
    tap(good, "sizes");
    tap(pwl_format_bytes((pwl_format)7) == 0, "what is no format has none");
    tap(pwl_blocks_bytes((pwl_format)7, 1, 32, &n) == PWL_BLOCKS_ERR_FORMAT && n == 0, "sizes: no format");
    tap(pwl_blocks_bytes(PWL_Q8_1, 1, 33, &n) == PWL_BLOCKS_ERR_SHAPE && n == 0, "sizes: a part of a block");
    tap(pwl_blocks_bytes(PWL_Q8_1, 1, SIZE_MAX / 32 * 32, &n) == PWL_BLOCKS_ERR_SHAPE && n == 0,
        "sizes: too long a row");
    tap(pwl_blocks_bytes(PWL_Q8_1, 1, 32, NULL) == PWL_BLOCKS_ERR_NULL, "sizes: nowhere to put them");
}

static void test_errors(void)
{
    float x[PWL_BLOCK] = {1};
    uint16_t h[PWL_BLOCK], block[MOST_BYTES / 2 + 1];
    const size_t many = SIZE_MAX / 4 / 32 + 1;
    char *const odd = (char *)block + 1;
    tap(pwl_quantise((pwl_format)7, PWL_RULE_DEFAULT, x, 1, 32, 32, block) == PWL_BLOCKS_ERR_FORMAT, "no format");
    tap(pwl_quantise(PWL_Q4_0, (pwl_rule)3, x, 1, 32, 32, block) == PWL_BLOCKS_ERR_RULE, "no rule");
    tap(pwl_quantise(PWL_MXFP4, PWL_RULE_DOCUMENT, x, 1, 32, 32, block) == PWL_BLOCKS_ERR_RULE, "not MXFP4's rule");
    tap(pwl_quantise(PWL_Q4_0, PWL_RULE_DEFAULT, x, 1, 33, 32, block) == PWL_BLOCKS_ERR_SHAPE, "k above k_padded");
    tap(pwl_quantise(PWL_Q4_0, PWL_RULE_DEFAULT, x, 1, 20, 40, block) == PWL_BLOCKS_ERR_SHAPE, "k_padded of 40");
    tap(pwl_quantise(PWL_MXFP4, PWL_RULE_DEFAULT, x, many, 32, 32, block) == PWL_BLOCKS_ERR_SHAPE, "too many values");
    tap(pwl_quantise(PWL_Q4_0, PWL_RULE_DEFAULT, NULL, 1, 32, 32, block) == PWL_BLOCKS_ERR_NULL, "no values");
    tap(pwl_quantise(PWL_Q4_0, PWL_RULE_DEFAULT, x, 1, 32, 32, NULL) == PWL_BLOCKS_ERR_NULL, "no blocks");
    tap(pwl_quantise(PWL_Q4_0, PWL_RULE_DEFAULT, NULL, 0, 32, 32, NULL) == PWL_BLOCKS_OK, "no rows need neither");
    tap(pwl_quantise(PWL_Q4_0, PWL_RULE_DEFAULT, x, 1, 32, 32, odd) == PWL_BLOCKS_ERR_ALIGN,
        "blocks at an odd address");
    tap(pwl_quantise(PWL_MXFP4, PWL_RULE_DEFAULT, x, 1, 32, 32, odd) == PWL_BLOCKS_OK, "which MXFP4 takes");
    tap(pwl_dequantise(PWL_MXFP4, block, 1, 32, 32, (float *)(void *)((char *)x + 2)) == PWL_BLOCKS_ERR_ALIGN,
        "values at half a float");
    tap(pwl_dequantise((pwl_format)-1, block, 1, 32, 32, x) == PWL_BLOCKS_ERR_FORMAT, "dequantise: no format");
    tap(pwl_dequantise(PWL_Q8_0, NULL, 1, 32, 32, x) == PWL_BLOCKS_ERR_NULL, "dequantise: no blocks");
    tap(pwl_dequantise_f16(PWL_Q8_0, block, 1, 32, 32, NULL) == PWL_BLOCKS_ERR_NULL, "dequantise: nowhere to put it");
    tap(pwl_dequantise_f16(PWL_Q8_0, block, 1, 32, 31, h) == PWL_BLOCKS_ERR_SHAPE, "dequantise: k_padded of 31");
}

static void test_texts(void)
{
    const char *const unknown = pwl_blocks_status_text((pwl_blocks_status)99);
    int distinct = 1;
    for (int a = PWL_BLOCKS_OK; a <= PWL_BLOCKS_ERR_ALIGN; a++) {
        for (int b = PWL_BLOCKS_OK; b < a; b++)
            distinct &=
                strcmp(pwl_blocks_status_text((pwl_blocks_status)a), pwl_blocks_status_text((pwl_blocks_status)b)) != 0;
        distinct &= strcmp(pwl_blocks_status_text((pwl_blocks_status)a), unknown) != 0;
    }
    tap(distinct && strcmp(unknown, "unknown status") == 0, "each status has a text of its own");
}

/* Each v from one power of two to the next, whose quotients by 127 are those of all others but for their exponents;
 * and where these are subnormal. */
static void test_over_127(void)
{
    int good = 1;
    for (uint32_t bits = 0; bits < 1u << 23; bits++) {
        const float v = pwl_f32_of_bits(0x3f800000 | bits), small = pwl_f32_of_bits(bits * 37);
        good &= pwl_over_127_fused(v) == v / 127 && pwl_over_127_fused(small) == small / 127;
    }
    tap(good, "quotients by 127 are rounded correctly without a division");
}

/* The floats around each integer and each tie, to both sides, and one in 3000 of all below 2^23. */
static void test_round_away(void)
{
    int good = 1;
    for (int i = 0; i < 1 << 15; i++)
        for (int side = -1; side <= 1; side++) {
            const float v = pwl_f32_of_bits(pwl_bits_of_f32((float)(i + 1) / 2) + (uint32_t)side);
            good &= pwl_round_away(v) == (int)roundf(v) && pwl_round_away(-v) == (int)roundf(-v);
        }
    for (uint32_t bits = 0; bits < 0x4b000000; bits += 3000) {
        const float v = pwl_f32_of_bits(bits);
        good &= pwl_round_away(v) == (int)roundf(v) && pwl_round_away(-v) == (int)roundf(-v);
    }
    tap(good, "ties are rounded away from zero");
}

int main(void)
{
    static const char *const names[] = {"Q4_0", "Q8_0", "Q8_1", "MXFP4"};
    for (size_t i = 0; i < BLOCK_KINDS; i++)
        test_formulas(&block_kinds[i]);
    for (int format = PWL_Q4_0; format <= PWL_MXFP4; format++)
        test_values((pwl_format)format, names[format]);
    test_over_127();
    test_round_away();
    test_by_hand();
    test_small_scales();
    test_ends();
    for (size_t i = 0; i < BLOCK_KINDS; i++)
        test_padding(&block_kinds[i]);
    test_sizes();
    test_errors();
    test_texts();
    return tap_end();
}
