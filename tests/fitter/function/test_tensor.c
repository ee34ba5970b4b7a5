/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensor types, scales and the numbers in them. */
#include <check.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "function/tensor.h"

#include "../../support/suite.h"

static void parse(const char *text, struct tensor *tensor)
{
    struct diag diag = {0};
    ck_assert_msg(tensor_parse(text, "--in", tensor, &diag) == EXIT_DONE, "%s", diag.text);
}

START_TEST(types_parse_and_print)
{
    static const struct {
        const char *text, *canonical, *type;
        int64_t qmin, qmax;
    } types[] = {
        {"u16:2^-12:24576", "u16:2^-12:24576", "u16", 0, 65535},
        {"s8:0.0472:-3", "s8:0.0472:-3", "s8", -128, 127},
        {"s16:2^-8", "s16:2^-8:0", "s16", -32768, 32767},
        {"q3.12", "s16:2^-12:0", "s16", -32768, 32767},
        {"uq0.16", "u16:2^-16:0", "u16", 0, 65535},
        {"q0.1", "s2:2^-1:0", "s2", -2, 1},
        {"q1.0", "s2:2^0:0", "s2", -2, 1},
        {"uq2.0", "u2:2^0:0", "u2", 0, 3},
        {"q31.0", "s32:2^0:0", "s32", INT32_MIN, INT32_MAX},
        {"uq0.32", "u32:2^-32:0", "u32", 0, UINT32_MAX},
        {"s2:1:0", "s2:2^0:0", "s2", -2, 1},
        {"u32:2^3:-9223372036854775808", "u32:2^3:-9223372036854775808", "u32", 0, UINT32_MAX},
        {"s32:1e-9:9223372036854775807", "s32:1e-9:9223372036854775807", "s32", INT32_MIN, INT32_MAX},
        {"u5:0.25:+7", "u5:2^-2:7", "u5", 0, 31},
        {"s08:0.5:-0", "s8:2^-1:0", "s8", -128, 127},
        {"int8:2^-5", "s8:2^-5:0", "s8", -128, 127},
        {"i16:2^-12", "s16:2^-12:0", "s16", -32768, 32767},
        {"uint8:2^-8:3", "u8:2^-8:3", "u8", 0, 255},
        {"q7.8", "s16:2^-8:0", "s16", -32768, 32767},
        {"q2.9", "s12:2^-9:0", "s12", -2048, 2047},
        {"q0.8", "s9:2^-8:0", "s9", -256, 255},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct tensor tensor, again;
        char text[80], type[8];
        parse(types[i].text, &tensor);
        tensor_format(&tensor, text, sizeof text);
        ck_assert_str_eq(text, types[i].canonical);
        tensor_type_name(&tensor, type, sizeof type);
        ck_assert_str_eq(type, types[i].type);
        ck_assert_int_eq(tensor.qmin, types[i].qmin);
        ck_assert_int_eq(tensor.qmax, types[i].qmax);
        parse(text, &again);
        ck_assert(again.bits == tensor.bits && again.is_signed == tensor.is_signed &&
                  again.zero_point == tensor.zero_point && again.scale.value == tensor.scale.value);
    }
}
END_TEST

START_TEST(scales_have_one_text_for_one_value)
{
    static const struct {
        const char *text, *canonical;
        bool power_of_two;
        int shift_bits;
        double value;
    } scales[] = {
        {"2^-12", "2^-12", true, 12, 0x1p-12},
        {"2^3", "2^3", true, -3, 8},
        {"8", "2^3", true, -3, 8},
        {"8.000", "2^3", true, -3, 8},
        {"0.25", "2^-2", true, 2, 0.25},
        {"0.0625", "2^-4", true, 4, 0.0625},
        {"62.5e-3", "2^-4", true, 4, 0.0625},
        {"1", "2^0", true, 0, 1},
        {"2^-0", "2^0", true, 0, 1},
        {"2^-64", "2^-64", true, 64, 0x1p-64},
        {"2^64", "2^64", true, -64, 0x1p64},
        {"18446744073709551616", "2^64", true, -64, 0x1p64},
        {"5.421010862427522170037264004349708557128906250e-20", "2^-64", true, 64, 0x1p-64},
        {"0.0472", "0.0472", false, 0, 0.0472},
        {".0472", "0.0472", false, 0, 0.0472},
        {"00.047200", "0.0472", false, 0, 0.0472},
        {"4.72E-2", "0.0472", false, 0, 0.0472},
        {"472e-4", "0.0472", false, 0, 0.0472},
        {"3.", "3", false, 0, 3},
        {"1000", "1000", false, 0, 1000},
        {"1e-9", "1e-9", false, 0, 1e-9},
        {"1.5e19", "1.5e19", false, 0, 1.5e19},
        {"0.1000000000000000055511151231257827", "0.1", false, 0, 0.1},
        {"0.10000000000000002", "0.10000000000000002", false, 0, 0.10000000000000002},
        {"0.33333333333333331", "0.3333333333333333", false, 0, 1.0 / 3},
    };
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        struct scale scale, again;
        struct diag diag = {0};
        ck_assert_msg(scale_parse(scales[i].text, "in.scale", &scale, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert_str_eq(scale.text, scales[i].canonical);
        ck_assert(scale.power_of_two == scales[i].power_of_two);
        ck_assert_int_eq(scale.shift_bits, scales[i].shift_bits);
        ck_assert(scale.value == (long double)scales[i].value);
        ck_assert_int_eq(scale_parse(scale.text, "in.scale", &again, &diag), EXIT_DONE);
        ck_assert(again.value == scale.value);
    }
}
END_TEST

START_TEST(bad_scales_are_refused)
{
    static const char *const bad[][2] = {
        {"", "is missing"},
        {"0", "is zero"},
        {"0.000", "is zero"},
        {"-0", "is zero"},
        {"0e5", "is zero"},
        {"-0.5", "is negative"},
        {"-1e-9999", "is negative"},
        {"nan", "is not a number"},
        {"NaN", "is not a number"},
        {"inf", "is not a number"},
        {"-inf", "is not a number"},
        {"infinity", "is not a number"},
        {"0x10", "is not a number"},
        {"0x1p-3", "is not a number"},
        {"0.5x", "is not a number"},
        {"0.5 ", "is not a number"},
        {" 0.5", "is not a number"},
        {"1,5", "is not a number"},
        {"1.5.2", "is not a number"},
        {".", "is not a number"},
        {"e5", "is not a number"},
        {"1e", "is not a number"},
        {"1e+", "is not a number"},
        {"+", "is not a number"},
        {"--1", "is not a number"},
        {"3^-2", "is not a number"},
        {"1e-9999", "is outside 2^-64 to 2^64"},
        {"1e9999", "is outside 2^-64 to 2^64"},
        {"1e-20", "is outside 2^-64 to 2^64"},
        {"5.42101086242752e-20", "is outside 2^-64 to 2^64"},
        {"18446744073709555000", "is outside 2^-64 to 2^64"},
        {"2^-65", "is outside 2^-64 to 2^64"},
        {"2^65", "is outside 2^-64 to 2^64"},
        {"2^-9999", "is outside 2^-64 to 2^64"},
        {"2^99999999999999999999", "is outside 2^-64 to 2^64"},
        {"2^", "has no whole exponent"},
        {"2^-", "has no whole exponent"},
        {"2^-1.5", "has no whole exponent"},
        {"2^-12x", "has no whole exponent"},
        {"2^--3", "has no whole exponent"},
        {"2^ 3", "has no whole exponent"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct scale scale;
        struct diag diag = {0};
        ck_assert_msg(scale_parse(bad[i][0], "in.scale", &scale, &diag) == EXIT_USAGE, "'%s' was taken", bad[i][0]);
        ck_assert_int_eq(diag.code, EXIT_USAGE);
        ck_assert_msg(strncmp(diag.text, "in.scale: ", 10) == 0, "%s", diag.text);
        ck_assert_msg(strstr(diag.text, bad[i][1]) != NULL, "'%s' lacks '%s'", diag.text, bad[i][1]);
        ck_assert_ptr_nonnull(strstr(diag.text, "write 2^-n or a positive decimal"));
    }
}
END_TEST

START_TEST(bad_types_are_refused)
{
    static const char *const bad[][2] = {
        {"", "is missing"},
        {"16:2^-12", "does not start with s, u, q or uq"},
        {"in16:2^-12", "has no width"},
        {"float16:2^-12", "does not start with s, u, q or uq"},
        {"U16:2^-12", "does not start with s, u, q or uq"},
        {"u", "has no width"},
        {"u:2^-12", "has no width"},
        {"ux:2^-12", "has no width"},
        {"u-8:2^-12", "has no width"},
        {"u+8:2^-12", "has no width"},
        {"u8.5:2^-12", "has no width"},
        {"u99999999999999999999:1", "has no width"},
        {"u1:2^-12:0", "is not 2 to 32 bits wide"},
        {"u0:2^-12:0", "is not 2 to 32 bits wide"},
        {"s33:2^-12:0", "is not 2 to 32 bits wide"},
        {"u16", "has no scale"},
        {"u16:", "scale '' is missing"},
        {"u16::5", "scale '' is missing"},
        {"u16:0:5", "is zero"},
        {"u16:2^-9999:5", "is outside 2^-64 to 2^64"},
        {"u16:nan:5", "is not a number"},
        {"u16:2^-12:", "zero point that is not a whole number"},
        {"u16:2^-12:1.5", "zero point that is not a whole number"},
        {"u16:2^-12:5x", "zero point that is not a whole number"},
        {"u16:2^-12:5:6", "zero point that is not a whole number"},
        {"u16:2^-12:0x5", "zero point that is not a whole number"},
        {"u16:2^-12:9223372036854775808", "zero point outside the 64-bit integers"},
        {"u16:2^-12:-9223372036854775809", "zero point outside the 64-bit integers"},
        {"u16:2^-12:99999999999999999999999999", "zero point outside the 64-bit integers"},
        {"q", "is not a Q format"},
        {"q3", "is not a Q format"},
        {"q3.", "is not a Q format"},
        {"q.5", "is not a Q format"},
        {"q3.x", "is not a Q format"},
        {"q-1.5", "is not a Q format"},
        {"q3.4.5", "is not a Q format"},
        {"uq", "is not a Q format"},
        {"q0.0", "is not 2 to 32 bits wide"},
        {"uq1.0", "is not 2 to 32 bits wide"},
        {"q16.16", "write q15.16 or s32:2^-16 for 32 bits"},
        {"q8.8", "would have 17 bits, since the sign is not one of the 8; write q7.8 or s16:2^-8 for 16 bits, or "
                 "s17:2^-8 for 17 bits"},
        {"q1.7", "write q0.7 or s8:2^-7 for 8 bits, or s9:2^-7 for 9 bits"},
        {"q1.15", "write q0.15 or s16:2^-15 for 16 bits"},
        {"q1.31", "write q0.31 or s32:2^-31 for 32 bits"},
        {"q16.17", "is not 2 to 32 bits wide"},
        {"uq0.33", "is not 2 to 32 bits wide"},
        {"uq999.999", "is not 2 to 32 bits wide"},
        {"q3.12:5", "neither scale nor zero point"},
        {"q3.12:2^-12:5", "neither scale nor zero point"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tensor tensor;
        struct diag diag = {0};
        ck_assert_msg(tensor_parse(bad[i][0], "--out", &tensor, &diag) == EXIT_USAGE, "'%s' was taken", bad[i][0]);
        ck_assert_msg(strncmp(diag.text, "--out: ", 7) == 0, "%s", diag.text);
        ck_assert_msg(strstr(diag.text, bad[i][1]) != NULL, "'%s' lacks '%s'", diag.text, bad[i][1]);
    }
    /* the text may be longer than any buffer */
    char *endless = malloc(100001);
    struct tensor tensor;
    struct diag diag;
    memset(endless, '1', 100000);
    endless[100000] = '\0';
    memcpy(endless, "u8:", 3);
    ck_assert_int_eq(tensor_parse(endless, "--out", &tensor, &diag), EXIT_USAGE);
    memcpy(endless, "q11", 3);
    ck_assert_int_eq(tensor_parse(endless, "--out", &tensor, &diag), EXIT_USAGE);
    memcpy(endless, "111", 3);
    ck_assert_int_eq(scale_parse(endless, "--out", &tensor.scale, &diag), EXIT_USAGE);
    free(endless);
}
END_TEST

START_TEST(code_ranges_of_all_widths)
{
    for (int bits = 2; bits <= 32; bits++) {
        ck_assert_int_eq(code_min(bits, false), 0);
        ck_assert_int_eq(code_max(bits, false) - code_min(bits, false) + 1, (int64_t)1 << bits);
        ck_assert_int_eq(code_max(bits, true) - code_min(bits, true) + 1, (int64_t)1 << bits);
        ck_assert_int_eq(code_min(bits, true) + code_max(bits, true), -1);
    }
}
END_TEST

START_TEST(real_values)
{
    struct tensor tensor;
    parse("u16:2^-12:24576", &tensor);
    ck_assert(tensor_real(&tensor, 24986) == 410.0L / 4096);
    ck_assert(tensor_real(&tensor, 0) == -6);
    parse("s8:0.0472:-3", &tensor);
    ck_assert(tensor_real(&tensor, 7) == 10 * (long double)0.0472);
    parse("u32:1:-9223372036854775808", &tensor);
    ck_assert(tensor_real(&tensor, 4294967295) > 0x1p63L); /* beyond int64 */
    parse("s32:1:9223372036854775807", &tensor);
    ck_assert(tensor_real(&tensor, INT32_MIN) < -0x1p63L);
}
END_TEST

START_TEST(integers)
{
    int64_t value = 5;
    ck_assert_int_eq(number_integer("-9223372036854775808", 20, &value), NUMBER_OK);
    ck_assert_int_eq(value, INT64_MIN);
    ck_assert_int_eq(number_integer("9223372036854775807", 19, &value), NUMBER_OK);
    ck_assert_int_eq(value, INT64_MAX);
    ck_assert_int_eq(number_integer("00000000000000000000000012x", 26, &value), NUMBER_OK);
    ck_assert_int_eq(value, 12);
    ck_assert_int_eq(number_integer("-0", 2, &value), NUMBER_OK);
    ck_assert_int_eq(value, 0);
    ck_assert_int_eq(number_integer("9223372036854775808", 19, &value), NUMBER_RANGE);
    ck_assert_int_eq(number_integer("-9223372036854775809", 20, &value), NUMBER_RANGE);
    ck_assert_int_eq(number_integer("92233720368547758070", 20, &value), NUMBER_RANGE);
    ck_assert_int_eq(number_integer("", 0, &value), NUMBER_SYNTAX);
    ck_assert_int_eq(number_integer("-", 1, &value), NUMBER_SYNTAX);
    ck_assert_int_eq(number_integer("1 ", 2, &value), NUMBER_SYNTAX);
    ck_assert_int_eq(number_integer("1\0", 2, &value), NUMBER_SYNTAX);
}
END_TEST

START_TEST(decimals_print_shortest_and_read_back)
{
    static const struct {
        double value;
        const char *text;
    } decimals[] = {
        {0, "0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {1000, "1000"},
        {123456789, "123456789"},
        {1e15, "1000000000000000"},
        {1e16, "1e16"},
        {1e20, "1e20"},
        {1e-5, "1e-5"},
        {0.0001, "0.0001"},
        {1e300, "1e300"},
        {-2.5e-300, "-2.5e-300"},
        {0.1 + 0.2, "0.30000000000000004"},
        {9007199254740993.0, "9007199254740992"},
    };
    for (size_t i = 0; i < sizeof decimals / sizeof decimals[0]; i++) {
        char text[NUMBER_TEXT_SIZE];
        number_format(decimals[i].value, text);
        ck_assert_str_eq(text, decimals[i].text);
    }
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        double value, back;
        char text[NUMBER_TEXT_SIZE];
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t bits = state ^ state >> 33;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        number_format(value, text);
        ck_assert_int_eq(number_real(text, strlen(text), &back), NUMBER_OK);
        ck_assert_msg(back == value, "%s", text);
    }
    double value;
    ck_assert_int_eq(number_real("1e999", 5, &value), NUMBER_RANGE);
    ck_assert_int_eq(number_real("1e-999", 6, &value), NUMBER_OK);
    ck_assert(value == 0);
}
END_TEST

/* Under the first of these locales that the machine has; "C" always exists. */
START_TEST(numbers_do_not_depend_on_the_locale)
{
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "C"};
    size_t i = 0;
    while (setlocale(LC_ALL, commas[i]) == NULL)
        i++;
    struct tensor tensor;
    char text[80];
    parse("s8:0.0472:-3", &tensor);
    tensor_format(&tensor, text, sizeof text);
    const bool kept = strcmp(setlocale(LC_ALL, NULL), commas[i]) == 0;
    setlocale(LC_ALL, "C");
    ck_assert_str_eq(text, "s8:0.0472:-3");
    ck_assert(tensor.scale.value == (long double)0.0472);
    ck_assert(kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tensor");
    TCase *tensor = tcase_create("tensor");
    tcase_add_test(tensor, types_parse_and_print);
    tcase_add_test(tensor, scales_have_one_text_for_one_value);
    tcase_add_test(tensor, bad_scales_are_refused);
    tcase_add_test(tensor, bad_types_are_refused);
    tcase_add_test(tensor, code_ranges_of_all_widths);
    tcase_add_test(tensor, real_values);
    suite_add_tcase(suite, tensor);
    TCase *number = tcase_create("number");
    tcase_add_test(number, integers);
    tcase_add_test(number, decimals_print_shortest_and_read_back);
    tcase_add_test(number, numbers_do_not_depend_on_the_locale);
    suite_add_tcase(suite, number);
    return run_suite(suite);
}
