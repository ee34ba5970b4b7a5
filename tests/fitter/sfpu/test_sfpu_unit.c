/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arithmetic of the SFPU, against results of the vendor's models of its multiply-add, and against IEEE 754 where
 * the operands are as short as those of tables. */
#include <check.h>
#include <math.h>

#include <pwl/half.h>

#include "sfpu/kernel.h"

#include "../../support/random.h"
#include "../../support/suite.h"

/* x, y and z; x y + z on Wormhole and on Blackhole, by fma_model_wh and fma_model_bh of tt-isa-documentation. */
static const struct {
    uint32_t x, y, z, sum[2];
} sums[] = {
    {0x3f800000, 0x3f800000, 0x3f800000, {0x40000000, 0x40000000}},
    {0x3f76353f, 0x3f000000, 0x3e45a000, {0x3f2c82a0, 0x3f2c82a0}},
    {0x3fffffff, 0x3fffffff, 0x40000000, {0x40bfffff, 0x40bfffff}},
    {0x3fffffff, 0x3fffffff, 0x40000001, {0x40c00000, 0x40c00000}},
    {0x3fc00001, 0x3fffffff, 0x407fffff, {0x40e00000, 0x40e00000}},
    {0x3ffffffe, 0x3fffffff, 0x407ffffd, {0x40fffffd, 0x40fffffd}},
    {0x3fabcdef, 0x3ffedcba, 0x40765432, {0x40d0af53, 0x40d0af53}},
    {0x3f800001, 0x3f800001, 0xbf800002, {0x32800000, 0x32800000}},
    {0x3f800001, 0x3f7fffff, 0xbf800000, {0x33400000, 0x33400000}},
    {0x40000000, 0x3f000000, 0xbf800000, {0x00000000, 0x00000000}},
    {0x3dcccccd, 0x41200000, 0xbf800000, {0x32800000, 0x32800000}},
    {0x00400000, 0x40000000, 0x00000000, {0x00000000, 0x00000000}},
    {0x00800000, 0x3f000000, 0x00000000, {0x00000000, 0x00000000}},
    {0x00ffffff, 0x3f000000, 0x00000000, {0x00000000, 0x00800000}},
    {0x80ffffff, 0x3f000000, 0x00000000, {0x00000000, 0x80800000}},
    {0x00ffffff, 0x3f000000, 0x80000001, {0x00000000, 0x00800000}},
    {0x20000000, 0x1f000000, 0x80800000, {0x80800000, 0x80800000}},
    {0x3f800000, 0x00800001, 0x80800000, {0x00000000, 0x00000000}},
    {0x1f800000, 0x1f800000, 0x3f800000, {0x3f800000, 0x3f800000}},
    {0x80000000, 0x3f800000, 0x80000000, {0x00000000, 0x80000000}},
    {0x7f000000, 0x40000000, 0xff7fffff, {0x7f800000, 0x7f800000}},
    {0x7f000000, 0x40000000, 0xff800000, {0x7f800001, 0xff800000}},
    {0x7f800000, 0x00000000, 0x3f800000, {0x7f800001, 0x7fc00000}},
    {0x7f800000, 0x00000000, 0x3effe000, {0x7fffe001, 0x7fc00000}},
    {0x7f800000, 0x3f800000, 0xff800000, {0x7f800001, 0x7fc00000}},
    {0x3f800000, 0x3f800000, 0xff800000, {0xff800000, 0xff800000}},
    {0x7fc00000, 0x3f800000, 0x40490fdb, {0x7f800001, 0x7fc00000}},
    {0x3f800000, 0x40400000, 0xffc12345, {0xff800001, 0x7fc00000}},
    {0x7f7fffff, 0x3f800001, 0x00000000, {0x7f800000, 0x7f800000}},
    {0x3fe40df0, 0x3ffe0000, 0x3f86d59a, {0x4092d850, 0x4092d851}},
    {0x3fff1000, 0x3fc09a00, 0x3fde5583, {0x40978818, 0x40978819}},
    {0x3feefc80, 0x3fcf4000, 0x3fc7549d, {0x4092921c, 0x4092921d}},
    {0x3fff480b, 0x3fe00000, 0x3f9a7ca7, {0x40964eae, 0x40964eaf}},
};

START_TEST(sums_are_those_of_the_models)
{
    for (int chip = 0; chip < 2; chip++)
        ck_assert_uint_eq(sfpu_multiply_add((enum sfpu_chip)chip, sums[_i].x, sums[_i].y, sums[_i].z),
                          sums[_i].sum[chip]);
}
END_TEST

/* A coefficient of a table, its codes of 0 among them. */
static uint32_t coefficient(uint64_t *state)
{
    const uint16_t code = (uint16_t)random_bits(state);
    return random_bits(state) % 4 ? sfpu_of_fp16(code) : sfpu_of_fp8(code);
}

static float flushed(float value)
{
    return fabsf(value) < 0x1p-126f ? 0 : value;
}

/* Where x is a bf16 number and coefficients have 11 digits, the chips round x a + b once. */
START_TEST(lines_are_rounded_once)
{
    uint64_t state = 7;
    for (int k = 0; k < 4000000; k++) {
        const uint32_t a = coefficient(&state), b = coefficient(&state);
        uint32_t x = (uint32_t)(random_bits(&state) % 0x7f80) << 16;
        if (k % 2) /* near the coefficients, where digits meet */
            x = (uint32_t)random_in(&state, 0x3c00, 0x4280) << 16;
        const float exact = flushed(fmaf(pwl_f32_of_bits(a), flushed(pwl_f32_of_bits(x)), pwl_f32_of_bits(b)));
        for (int chip = 0; chip < 2; chip++) {
            const float sum = pwl_f32_of_bits(sfpu_multiply_add((enum sfpu_chip)chip, a, x, b));
            ck_assert_msg(sum == exact, "%08x %08x %08x: %a, and %a on chip %d", a, x, b, (double)exact, (double)sum,
                          chip);
        }
    }
}
END_TEST

START_TEST(coefficients_have_their_values)
{
    static const struct {
        uint16_t code;
        float value;
    } short_ones[] = {{0x00, 1},  {0x1d, 0.90625f},       {0x48, 0.09375f},       {0x1a, 0.8125f},
                      {0x80, -1}, {0x7f, 0.01513671875f}, {0xfe, -0.0146484375f}, {0xff, 0}},
      long_ones[] = {{0x3c00, 1},        {0x3bb2, 0.9619140625f}, {0x37ff, 0.499755859375f}, {0x86d8, -0x1.b6p-14f},
                     {0x0000, 0x1p-15f}, {0x8001, -0x1.004p-15f}, {0x7bff, 65504},           {0x7c00, 0},
                     {0x7e01, 0}};
    for (unsigned k = 0; k < sizeof short_ones / sizeof *short_ones; k++)
        ck_assert(pwl_f32_of_bits(sfpu_of_fp8(short_ones[k].code)) == short_ones[k].value);
    for (unsigned k = 0; k < sizeof long_ones / sizeof *long_ones; k++)
        ck_assert(pwl_f32_of_bits(sfpu_of_fp16(long_ones[k].code)) == long_ones[k].value);
}
END_TEST

START_TEST(results_are_stored_as_bf16)
{
    static const struct {
        uint32_t value;
        uint16_t truncated, nearest;
    } stored[] = {
        {0x3f800000, 0x3f80, 0x3f80}, {0x3f807fff, 0x3f80, 0x3f80}, {0x3f808000, 0x3f80, 0x3f81},
        {0xbf80ffff, 0xbf80, 0xbf81}, {0x00000001, 0x0000, 0x0000}, {0x807fffff, 0x8000, 0x0000},
        {0x80000000, 0x8000, 0x0000}, {0x7f7fffff, 0x7f7f, 0x7f80}, {0x7f800000, 0x7f80, 0x7f80},
        {0x7f800001, 0x7f80, 0x7f80}, {0xffc00000, 0xffc0, 0xff80},
    };
    for (unsigned k = 0; k < sizeof stored / sizeof *stored; k++) {
        ck_assert_uint_eq(sfpu_stored(SFPU_TRUNCATE, stored[k].value), stored[k].truncated);
        ck_assert_uint_eq(sfpu_stored(SFPU_NEAREST, stored[k].value), stored[k].nearest);
    }
}
END_TEST

/* The segment of every |x| is the last that does not start above it. */
START_TEST(segments_break_where_the_pages_say)
{
    static const double starts[][6] = {{0, 1, 2}, {0, 1, 2}, {0, 0.5, 1, 1.5, 2, 3}, {0, 0.5, 1, 1.5, 2, 4}};
    const struct sfpu_layout *const layout = &sfpu_layouts[_i];
    for (int code = 0; code <= SFPU_LARGEST; code++) {
        int segment = 0;
        while (segment + 1 < layout->segments && sfpu_real((uint16_t)code) >= starts[_i][segment + 1])
            segment++;
        ck_assert_int_eq(sfpu_segment(layout, (uint16_t)code), segment);
        ck_assert_int_eq(sfpu_segment(layout, (uint16_t)(code | 0x8000)), segment);
    }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("sfpu_unit");
    TCase *const unit = tcase_create("unit");
    tcase_add_loop_test(unit, sums_are_those_of_the_models, 0, (int)(sizeof sums / sizeof *sums));
    tcase_add_test(unit, lines_are_rounded_once);
    tcase_add_test(unit, coefficients_have_their_values);
    tcase_add_test(unit, results_are_stored_as_bf16);
    tcase_add_loop_test(unit, segments_break_where_the_pages_say, 0, 4);
    suite_add_tcase(suite, unit);
    return run_suite(suite);
}
