/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types from ranges and data: the formulas of calibrate.h, the three ways to a range, and each refusal. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"
#include "spec/calibrate.h"
#include "spec/spec.h"

#include "../../support/suite.h"

static struct tensor codes(const char *text)
{
    struct tensor tensor;
    struct diag diag = {0};
    ck_assert(tensor_is_codes(text));
    ck_assert_int_eq(tensor_parse_codes(text, "--in", &tensor, &diag), EXIT_DONE);
    return tensor;
}

static const struct {
    const char *type, *expected;
    double low, high;
    bool powers_of_two;
} ranges[] = {
    /* 10 / 255 is 2 / 51; -128 + 4 * 25.5 = -26 */
    {"s8", "s8:0.0392156862745098:-26", -4, 6, false},
    /* symmetric: 4 / 127 */
    {"s8", "s8:0.031496062992125984:0", -4, 4, false},
    /* unsigned codes are never symmetric: 8 / 255, 4 / scale = 127.5, to even */
    {"u8", "u8:0.03137254901960784:128", -4, 4, false},
    {"u8", "u8:0.03137254901960784:0", 0, 8, false},
    {"u8", "u8:0.03137254901960784:255", -8, 0, false},
    /* 2.5, to even */
    {"u8", "u8:2^0:2", -2.5, 252.5, false},
    /* 0 outside the range: the zero point is outside the codes */
    {"u8", "u8:2^0:-1000", 1000, 1255, false},
    {"s8", "s8:2^0:872", -1000, -745, false},
    /* exact powers of two stay, others are rounded up */
    {"s8", "s8:2^-4:0", -8, 7.9375, true},
    {"s8", "s8:2^-4:0", -8, 7.9375, false},
    {"s8", "s8:2^-3:0", -8, 8, true},
    {"s8", "s8:2^-4:-64", -4, 8, true},
    {"u16", "u16:2^-12:32768", -8, 7.9, true},
    {"s32", "s32:2^-28:0", -8, 7.999999996, true},
    {"s2", "s2:2^0:0", -1, 1, false},
    {"u2", "u2:2^0:0", 0, 3, false},
};

START_TEST(follows_the_formulas)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct tensor tensor = codes(ranges[i].type);
        struct diag diag = {0};
        char text[80];
        ck_assert_int_eq(
            tensor_set_range(&tensor, ranges[i].low, ranges[i].high, ranges[i].powers_of_two, "--in", &diag),
            EXIT_DONE);
        tensor_format(&tensor, text, sizeof text);
        ck_assert_str_eq(text, ranges[i].expected);
        /* and the text is the type that the formula gave */
        struct tensor again;
        ck_assert_int_eq(tensor_parse(text, "--in", &again, &diag), EXIT_DONE);
        ck_assert(again.scale.value == tensor.scale.value && again.zero_point == tensor.zero_point);
    }
}
END_TEST

/* Every width and many ranges: the ends are within half a scale of the first and the last code, and 0 is a code. */
START_TEST(covers_the_range)
{
    uint32_t state = 1;
    for (int bits = 2; bits <= 32; bits++) {
        for (int k = 0; k < 40; k++) {
            char type[8];
            double ends[2];
            struct diag diag = {0};
            snprintf(type, sizeof type, "%c%d", k % 2 ? 's' : 'u', bits);
            struct tensor tensor = codes(type);
            for (int e = 0; e < 2; e++) {
                state = state * 1664525u + 1013904223u;
                ends[e] = ldexp((double)(int32_t)state, -28);
            }
            const double low = fmin(ends[0], ends[1]), high = fmax(ends[0], ends[1]) + 0.01;
            ck_assert_int_eq(tensor_set_range(&tensor, low, high, false, "--in", &diag), EXIT_DONE);
            /* half a scale, and what rounding the scale to a double moves the far end by */
            const long double half = tensor.scale.value * (0.5L + 0x1p-20L);
            ck_assert(fabsl(tensor_real(&tensor, tensor.qmin) - low) <= half);
            ck_assert(fabsl(tensor_real(&tensor, tensor.qmax) - high) <= half);
            if (low <= 0 && high >= 0)
                ck_assert(tensor.zero_point >= tensor.qmin && tensor.zero_point <= tensor.qmax);
            const long double scale = tensor.scale.value;
            ck_assert_int_eq(tensor_set_range(&tensor, low, high, true, "--in", &diag), EXIT_DONE);
            ck_assert(tensor.scale.power_of_two && tensor.scale.value >= scale && tensor.scale.value < 2 * scale);
        }
    }
}
END_TEST

START_TEST(refuses_ranges_without_a_type)
{
    static const struct {
        double low, high;
        const char *words;
    } bad[] = {
        {0, 1e-30, "outside 2^-64 to 2^64"},
        {0, 1e30, "outside 2^-64 to 2^64"},
        {-1.7e308, 1.7e308, "outside 2^-64 to 2^64"},
        {1e15, 1e15 + 1, "too far from 0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tensor tensor = codes("u8");
        struct diag diag = {0};
        ck_assert_int_eq(tensor_set_range(&tensor, bad[i].low, bad[i].high, false, "--out", &diag), EXIT_USAGE);
        ck_assert_msg(strstr(diag.text, bad[i].words) && strstr(diag.text, "--out"), "%s", diag.text);
    }
}
END_TEST

START_TEST(knows_codes_alone)
{
    static const char *const not_codes[] = {"", "s", "8", "s8:1", "q3.4", "s8x", "x8", "s-8", "s 8", "uq0.8"};
    for (size_t i = 0; i < sizeof not_codes / sizeof *not_codes; i++)
        ck_assert_msg(!tensor_is_codes(not_codes[i]), "%s", not_codes[i]);
    static const char *const bad_widths[] = {"s0", "u1", "s33", "s99999999999"};
    for (size_t i = 0; i < sizeof bad_widths / sizeof *bad_widths; i++) {
        struct tensor tensor;
        struct diag diag = {0};
        ck_assert(tensor_is_codes(bad_widths[i]));
        ck_assert_int_eq(tensor_parse_codes(bad_widths[i], "--in", &tensor, &diag), EXIT_USAGE);
        ck_assert(strstr(diag.text, "--in") != NULL);
    }
    const struct tensor tensor = codes("s12");
    ck_assert(tensor.bits == 12 && tensor.is_signed && tensor.qmin == -2048 && tensor.qmax == 2047);
}
END_TEST

START_TEST(parses_ranges_and_ways)
{
    double low, high, percent = 0;
    enum calibrate_by by;
    struct diag diag = {0};
    ck_assert_int_eq(range_parse("-8:7.9375", "--range", &low, &high, &diag), EXIT_DONE);
    ck_assert(low == -8 && high == 7.9375);
    static const char *const bad[] = {"",    ":",     "1",      "1:",      ":1",    "1:1",
                                      "2:1", "nan:1", "-inf:1", "0:1e999", "0:1:2", "0 :1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(range_parse(bad[i], "--range", &low, &high, &diag) == EXIT_USAGE, "%s", bad[i]);
        ck_assert(strstr(diag.text, "--range") != NULL);
    }
    ck_assert_int_eq(calibrate_by_parse("minmax", "--calibrate-by", &by, &percent, &diag), EXIT_DONE);
    ck_assert_int_eq(by, CALIBRATE_MINMAX);
    ck_assert_int_eq(calibrate_by_parse("mse", "--calibrate-by", &by, &percent, &diag), EXIT_DONE);
    ck_assert_int_eq(by, CALIBRATE_MSE);
    ck_assert_int_eq(calibrate_by_parse("percentile=99.9", "--calibrate-by", &by, &percent, &diag), EXIT_DONE);
    ck_assert(by == CALIBRATE_PERCENTILE && percent == 99.9);
    static const char *const bad_ways[] = {"",
                                           "max",
                                           "percentile",
                                           "percentile=",
                                           "percentile=0",
                                           "percentile=100.1",
                                           "percentile=nan",
                                           "percentile=-1",
                                           "percentile=9x",
                                           "MSE"};
    for (size_t i = 0; i < sizeof bad_ways / sizeof *bad_ways; i++) {
        ck_assert_msg(calibrate_by_parse(bad_ways[i], "--calibrate-by", &by, &percent, &diag) == EXIT_USAGE, "%s",
                      bad_ways[i]);
        ck_assert(strstr(diag.text, "--calibrate-by") != NULL);
    }
}
END_TEST

static int parse_values(char kind, int item_size, const void *data, size_t count, double **values, size_t *found,
                        struct diag *diag)
{
    const struct npy npy = {
        .kind = kind, .item_size = item_size, .dimensions = 1, .shape = {count}, .count = count, .data = data};
    unsigned char *bytes;
    size_t size;
    ck_assert_int_eq(npy_build(&npy, &bytes, &size, diag), EXIT_DONE);
    const int code = calibration_parse(bytes, size, values, found, diag);
    free(bytes);
    return code;
}

START_TEST(reads_and_sorts_data)
{
    const float singles[] = {3, -1.5f, -0.0f, 2};
    const double doubles[] = {0.1, 1e300, -1e300};
    double *values;
    size_t count;
    struct diag diag = {0};
    ck_assert_int_eq(parse_values('f', 4, singles, 4, &values, &count, &diag), EXIT_DONE);
    ck_assert_uint_eq(count, 4);
    ck_assert(values[0] == -1.5 && values[1] == 0 && !signbit(values[1]) && values[2] == 2 && values[3] == 3);
    free(values);
    ck_assert_int_eq(parse_values('f', 8, doubles, 3, &values, &count, &diag), EXIT_DONE);
    ck_assert(values[0] == -1e300 && values[1] == 0.1 && values[2] == 1e300);
    free(values);
}
END_TEST

START_TEST(refuses_bad_data)
{
    const float with_nan[] = {1, 2, NAN}, with_inf[] = {1, -INFINITY};
    const int32_t integers[] = {1, 2};
    double *values;
    size_t count;
    struct diag diag = {0};
    ck_assert_int_eq(parse_values('f', 4, with_nan, 3, &values, &count, &diag), EXIT_USAGE);
    ck_assert_str_eq(diag.text, "element 2 is not a number; all must be finite");
    ck_assert_int_eq(parse_values('f', 4, with_inf, 2, &values, &count, &diag), EXIT_USAGE);
    ck_assert_str_eq(diag.text, "element 1 is infinite; all must be finite");
    ck_assert_int_eq(parse_values('f', 4, with_inf, 0, &values, &count, &diag), EXIT_USAGE);
    ck_assert(strstr(diag.text, "no elements") != NULL);
    ck_assert_int_eq(parse_values('i', 4, integers, 2, &values, &count, &diag), EXIT_USAGE);
    ck_assert(strstr(diag.text, "must be float16, float32 or float64") != NULL);
    ck_assert_int_eq(calibration_parse("1,2\n", 4, &values, &count, &diag), EXIT_USAGE);
    ck_assert_int_eq(calibration_read("missing.npy", &values, &count, &diag), EXIT_IO);
    ck_assert_ptr_null(values);
}
END_TEST

static double low, high;

static int find(const double *values, size_t count, enum calibrate_by by, double percent, const char *type,
                struct diag *diag)
{
    const struct tensor tensor = codes(type);
    return calibrate(values, count, by, percent, &tensor, false, "--calibrate", &low, &high, diag);
}

START_TEST(takes_percentiles_as_numpy)
{
    /* numpy.percentile([-3, -1, 0, 2, 10], [5, 95]) = [-2.6, 8.4] */
    const double values[] = {-3, -1, 0, 2, 10};
    struct diag diag = {0};
    ck_assert_int_eq(find(values, 5, CALIBRATE_PERCENTILE, 90, "s8", &diag), EXIT_DONE);
    ck_assert(fabs(low + 2.6) < 1e-14 && fabs(high - 8.4) < 1e-14);
    ck_assert_int_eq(find(values, 5, CALIBRATE_PERCENTILE, 100, "s8", &diag), EXIT_DONE);
    ck_assert(low == -3 && high == 10);
    /* [25, 75]: places 1 and 3 exactly */
    ck_assert_int_eq(find(values, 5, CALIBRATE_PERCENTILE, 50, "s8", &diag), EXIT_DONE);
    ck_assert(low == -1 && high == 2);
    ck_assert_int_eq(find(values, 5, CALIBRATE_MINMAX, 0, "s8", &diag), EXIT_DONE);
    ck_assert(low == -3 && high == 10);
}
END_TEST

START_TEST(refuses_constant_data)
{
    const double same[] = {0.25, 0.25, 0.25}, nearly[] = {0, 1, 1, 1, 1, 1, 1, 1, 9};
    struct diag diag = {0};
    for (int by = CALIBRATE_MINMAX; by <= CALIBRATE_MSE; by++) {
        ck_assert_int_eq(find(same, 3, (enum calibrate_by)by, 99, "s8", &diag), EXIT_USAGE);
        ck_assert(strstr(diag.text, "every value is 0.25") != NULL);
        ck_assert_int_eq(find(same, 1, (enum calibrate_by)by, 99, "s8", &diag), EXIT_USAGE);
    }
    ck_assert_int_eq(find(nearly, 9, CALIBRATE_PERCENTILE, 50, "s8", &diag), EXIT_USAGE);
    ck_assert(strstr(diag.text, "the middle 50 % of the values are all 1") != NULL);
}
END_TEST

/* Sums of four, close to a normal distribution, and one value far away. */
static void make_data(double *values, size_t count, double outlier)
{
    uint32_t state = 7;
    for (size_t i = 0; i < count; i++) {
        values[i] = 0;
        for (int k = 0; k < 4; k++) {
            state = state * 1664525u + 1013904223u;
            values[i] += ldexp((double)(int32_t)state, -31);
        }
    }
    values[0] = outlier;
    for (size_t i = 1; i < count; i++) /* insertion: the data must be sorted */
        for (size_t j = i; j > 0 && values[j] < values[j - 1]; j--) {
            const double swapped = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swapped;
        }
}

static double mse_of(const double *values, size_t count, const char *type, double from, double to)
{
    struct tensor tensor = codes(type);
    struct diag diag = {0};
    ck_assert_int_eq(tensor_set_range(&tensor, from, to, false, "--in", &diag), EXIT_DONE);
    return calibration_mse(values, count, &tensor);
}

#define COUNT 1500

/* No range of a grid over both ends beats the search by more than the grid of the search itself explains: each end's
 * distance is met within a factor of 2^(1/256). */
START_TEST(searches_the_least_squared_error)
{
    static const char *const types[] = {"s3", "s4", "u6", "s8"};
    static const double outliers[] = {0.5, 4, 100};
    static double values[COUNT];
    struct diag diag = {0};
    for (size_t o = 0; o < 3; o++) {
        make_data(values, COUNT, outliers[o]);
        for (size_t t = 0; t < 4; t++) {
            ck_assert_int_eq(find(values, COUNT, CALIBRATE_MSE, 0, types[t], &diag), EXIT_DONE);
            const double found = mse_of(values, COUNT, types[t], low, high);
            ck_assert(found <= mse_of(values, COUNT, types[t], values[0], values[COUNT - 1]));
            double best = INFINITY;
            for (int i = 0; i < 60; i++)
                for (int j = 0; j < 60; j++)
                    best = fmin(best, mse_of(values, COUNT, types[t], values[0] * exp2(-i / 12.0),
                                             values[COUNT - 1] * exp2(-j / 12.0)));
            ck_assert_msg(found <= best * 1.02, "%s, outlier %g: %g, a grid finds %g", types[t], outliers[o], found,
                          best);
        }
    }
    /* 8 / 7 is too coarse for values below 2.1: the one at 4 is cut, which minmax does not do */
    make_data(values, COUNT, 4);
    ck_assert_int_eq(find(values, COUNT, CALIBRATE_MSE, 0, "s3", &diag), EXIT_DONE);
    ck_assert(high < 3);
}
END_TEST

/* Mean squared error by the definition, value by value. */
START_TEST(measures_the_squared_error)
{
    const double values[] = {-1.3, -0.2, 0.24, 0.26, 5};
    struct tensor tensor = codes("s3"); /* scale 1/2, zero point 1: -2.5 to 1 */
    struct diag diag = {0};
    ck_assert_int_eq(tensor_set_range(&tensor, -2.5, 1, false, "--in", &diag), EXIT_DONE);
    ck_assert(tensor.scale.value == 0.5L && tensor.zero_point == 1);
    /* to -1.5 (-1.3 is 0.2 from it, 0.3 from -1), 0, 0, 0.5, 1 */
    const double expected = (0.2 * 0.2 + 0.2 * 0.2 + 0.24 * 0.24 + 0.24 * 0.24 + 4 * 4) / 5;
    ck_assert(fabs(calibration_mse(values, 5, &tensor) - expected) < 1e-14);
}
END_TEST

/* A spec as flags give it. */
static int resolve(struct spec *spec, const char *const *flags, struct diag *diag)
{
    spec_init(spec);
    *diag = (struct diag){0};
    for (; *flags; flags += 2)
        if (spec_set(spec, flags[0], flags[1], diag))
            return diag->code;
    return spec_resolve(spec, diag);
}

static void expect_types(const char *const *flags, const char *in, const char *out)
{
    struct spec spec;
    struct diag diag;
    char text[80];
    ck_assert_msg(resolve(&spec, flags, &diag) == EXIT_DONE, "%s", diag.text);
    tensor_format(&spec.in, text, sizeof text);
    ck_assert_str_eq(text, in);
    tensor_format(&spec.out, text, sizeof text);
    ck_assert_str_eq(text, out);
    ck_assert_int_eq(spec_check(&spec, &diag), EXIT_DONE);
    spec_free(&spec);
}

#define FLAGS(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(takes_the_output_from_the_function)
{
    expect_types(FLAGS("FUNCTION", "relu6", "--in", "s8:2^-4:0", "--out", "u8"), "s8:2^-4:0",
                 "u8:0.023529411764705882:0");
    /* over the range alone: 0 to 1, not to 6 */
    expect_types(FLAGS("FUNCTION", "relu6", "--in", "s8:2^-4:0", "--out", "u8", "--range", "-1:1"), "s8:2^-4:0",
                 "u8:0.00392156862745098:0");
    expect_types(FLAGS("FUNCTION", "relu", "--in", "s8", "--out", "u8", "--range", "-8:7.9375", "--pow2-scales", NULL),
                 "s8:2^-4:0", "u8:2^-5:0");
    expect_types(FLAGS("FUNCTION", "softsign", "--in", "s8:2^-4:0", "--out", "s8", "--range", "-1:1"), "s8:2^-4:0",
                 "s8:0.003937007874015748:0");
    /* the input's type is kept when only the output's is sought */
    expect_types(FLAGS("FUNCTION", "relu6", "--in", "s8", "--out", "u8:2^-5:0", "--range", "-4:6"),
                 "s8:0.0392156862745098:-26", "u8:2^-5:0");
    /* 32 bits: cos has its maximum 1 between evenly spaced codes, its minimum at the first; 1 is found within the
     * codes' spacing squared, 2^-57 */
    struct spec spec;
    struct diag diag;
    ck_assert_int_eq(
        resolve(&spec, FLAGS("FUNCTION", "cos", "--in", "s32", "--out", "u32", "--range", "-3:2.9"), &diag), EXIT_DONE);
    const long double span = spec.out.scale.value * 4294967295.0L;
    ck_assert(fabsl(span - (1 - cosl(tensor_real(&spec.in, spec.in.qmin)))) < 1e-15L);
    spec_free(&spec);
    /* outside the domain: the codes inside count, log(1/16) to log(8), log(128) / 255 */
    expect_types(FLAGS("FUNCTION", "log", "--in", "u8:2^-4:0", "--out", "s8", "--outside", "clamp", "--range", "0:8"),
                 "u8:2^-4:0", "s8:0.019027569662429872:18");
}
END_TEST

START_TEST(refuses_what_gives_no_type)
{
    static const struct {
        const char *words;
        const char *flags[12];
    } bad[] = {
        {"--in s8: has no scale", {"FUNCTION", "tanh", "--in", "s8", "--out", "s8:2^-7"}},
        {"--in s8: has no scale", {"FUNCTION", "tanh", "--in", "s8", "--out", "s8"}},
        {"--range: --in and --out have scales already",
         {"FUNCTION", "tanh", "--in", "s8:2^-4", "--out", "s8:2^-7", "--range", "-1:1"}},
        {"--pow2-scales: --in and --out have scales already",
         {"FUNCTION", "tanh", "--in", "s8:2^-4", "--out", "s8:2^-7", "--pow2-scales"}},
        {"--calibrate-by: only with --calibrate",
         {"FUNCTION", "tanh", "--in", "s8", "--out", "s8", "--range", "-1:1", "--calibrate-by", "mse"}},
        {"relu is 0 everywhere", {"FUNCTION", "relu", "--in", "s8", "--out", "s8", "--range", "-2:-1"}},
        {"has no finite value", {"FUNCTION", "log", "--in", "s8", "--out", "s8", "--range", "-2:-1"}},
        {"FUNCTION: missing", {"--in", "s8", "--out", "s8", "--range", "-2:-1"}},
        {"--in: missing", {"FUNCTION", "tanh", "--out", "s8", "--range", "-2:-1"}},
        {"--out: missing", {"FUNCTION", "tanh", "--in", "s8", "--range", "-2:-1"}},
        {"too far from 0", {"FUNCTION", "tanh", "--in", "s8", "--out", "s8", "--range", "1e15:1000000000000001"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct spec spec;
        struct diag diag;
        ck_assert_msg(resolve(&spec, bad[i].flags, &diag) == EXIT_USAGE, "%s", bad[i].words);
        ck_assert_msg(strstr(diag.text, bad[i].words), "%s: %s", bad[i].words, diag.text);
        spec_free(&spec);
    }
    /* what is not resolved is not fitted */
    struct spec spec;
    struct diag diag = {0};
    spec_init(&spec);
    ck_assert(!spec_set(&spec, "FUNCTION", "tanh", &diag) && !spec_set(&spec, "--in", "s8:2^-4", &diag) &&
              !spec_set(&spec, "--out", "s8", &diag));
    ck_assert_int_eq(spec_check(&spec, &diag), EXIT_USAGE);
    ck_assert(strstr(diag.text, "--out s8: has no scale") != NULL);
    spec_free(&spec);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("calibrate");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, follows_the_formulas);
    tcase_add_test(cases, covers_the_range);
    tcase_add_test(cases, refuses_ranges_without_a_type);
    tcase_add_test(cases, knows_codes_alone);
    tcase_add_test(cases, parses_ranges_and_ways);
    tcase_add_test(cases, reads_and_sorts_data);
    tcase_add_test(cases, refuses_bad_data);
    tcase_add_test(cases, takes_percentiles_as_numpy);
    tcase_add_test(cases, refuses_constant_data);
    tcase_add_test(cases, searches_the_least_squared_error);
    tcase_add_test(cases, measures_the_squared_error);
    tcase_add_test(cases, takes_the_output_from_the_function);
    tcase_add_test(cases, refuses_what_gives_no_type);
    Suite *suite = suite_create("calibrate");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
