/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights of codes from csv and npy: what is read, each refusal with its place, and what the points of a fit weigh. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fit/problem.h"
#include "function/weights.h"
#include "io/npy.h"
#include "search/points.h"

#include "../../support/suite.h"

/* Parses a copy of exactly the size, so that the address sanitizer sees any byte read behind it. */
static int parse(const void *bytes, size_t size, int npy, struct weights **weights, struct diag *diag)
{
    char *exact = malloc(size + 1);
    ck_assert_ptr_nonnull(exact);
    if (size > 0)
        memcpy(exact + 1, bytes, size);
    const int code = weights_parse(exact + 1, size, npy, 256, weights, diag);
    free(exact);
    return code;
}

static struct weights *parse_csv(const char *text)
{
    struct weights *weights;
    struct diag diag = {0};
    ck_assert_msg(parse(text, strlen(text), 0, &weights, &diag) == EXIT_DONE, "'%s': %s", text, diag.text);
    return weights;
}

static unsigned char *build(char kind, int item_size, int dimensions, size_t rows, size_t columns, const void *data,
                            size_t *size)
{
    const struct npy npy = {kind, item_size, dimensions, {rows, columns, 1}, rows * columns, data};
    unsigned char *bytes;
    struct diag diag = {0};
    ck_assert_msg(npy_build(&npy, &bytes, size, &diag) == EXIT_DONE, "%s", diag.text);
    return bytes;
}

static const struct tensor s2 = {.bits = 2, .is_signed = true, .qmin = -2, .qmax = 1};

START_TEST(reads_a_weight_for_each_code)
{
    static const char *const same[] = {"1\n0\n4\n2\n", "count\n1\n0\n4\n2", "# c\n\n1e0\n0.0\r\n 4\n2 \n",
                                       "0.25\n0\n1\n0.5\n"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct weights *weights = parse_csv(same[i]);
        ck_assert_uint_eq(weights->count, 4);
        ck_assert_ptr_null(weights->code);
        ck_assert(weights->value[0] == 0.25 && weights->value[1] == 0);
        ck_assert(weights->value[2] == 1 && weights->value[3] == 0.5);
        for (size_t k = 0; k < 4; k++)
            ck_assert_int_eq(weights_code(weights, &s2, k), (int64_t)k - 2);
        weights_free(weights);
    }
    struct weights *weights = parse_csv("1\n2\n");
    /* printf '1\n2\n' | sha256sum */
    ck_assert_str_eq(weights->sha256, "a6e2b7a040683432de03a18fd8a1939a2fdf82585b364bfc874bdd4095c4cae1");
    weights_free(weights);
    weights_free(NULL);
}
END_TEST

START_TEST(reads_codes_with_their_weights)
{
    static const char *const same[] = {"-2,1\n0,4\n1,2\n", "q_x,weight\n1,2\n-2,1\n0,4\n", "1,20\n0,40\n-2,10"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct weights *weights = parse_csv(same[i]);
        ck_assert_uint_eq(weights->count, 3);
        ck_assert(weights->value[0] == 0.25 && weights->value[1] == 1 && weights->value[2] == 0.5);
        ck_assert_int_eq(weights_code(weights, &s2, 0), -2);
        ck_assert_int_eq(weights_code(weights, &s2, 1), 0);
        ck_assert_int_eq(weights_code(weights, &s2, 2), 1);
        struct diag diag = {0};
        ck_assert_int_eq(weights_check(weights, &s2, &diag), EXIT_DONE);
        weights_free(weights);
    }
}
END_TEST

START_TEST(reads_npy_of_every_type)
{
    static const int8_t i1[] = {1, 0, 4, 2};
    static const uint16_t u2[] = {1000, 0, 4000, 2000};
    static const int64_t i8[] = {1, 0, 4, 2};
    static const float f4[] = {0.125f, 0, 0.5f, 0.25f};
    static const double f8[] = {1e307, 0, 4e307, 2e307};
    static const int64_t pairs[] = {1, 2, -2, 1, 0, 4, -1, 0};
    static const struct {
        char kind;
        int item_size, dimensions;
        size_t columns;
        const void *data;
    } same[] = {{'i', 1, 1, 1, i1}, {'u', 2, 1, 1, u2}, {'i', 8, 1, 1, i8},
                {'f', 4, 1, 1, f4}, {'f', 8, 1, 1, f8}, {'i', 8, 2, 2, pairs}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        size_t size;
        unsigned char *bytes =
            build(same[i].kind, same[i].item_size, same[i].dimensions, 4, same[i].columns, same[i].data, &size);
        struct weights *weights;
        struct diag diag = {0};
        ck_assert_msg(parse(bytes, size, 1, &weights, &diag) == EXIT_DONE, "%zu: %s", i, diag.text);
        ck_assert_uint_eq(weights->count, 4);
        ck_assert(weights->value[0] == 0.25 && weights->value[1] == 0);
        ck_assert(weights->value[2] == 1 && weights->value[3] == 0.5);
        ck_assert_int_eq(weights_check(weights, &s2, &diag), EXIT_DONE);
        weights_free(weights);
        free(bytes);
    }
}
END_TEST

static void refuse(const char *text, size_t size, const char *words)
{
    struct weights *weights;
    struct diag diag = {0};
    ck_assert_int_eq(parse(text, size, 0, &weights, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, words) != NULL, "'%s' lacks '%s'", diag.text, words);
    ck_assert_ptr_null(weights);
}

/* There are 256 codes. */
START_TEST(stops_at_the_first_weight_too_many)
{
    char text[4000];
    size_t size = 0;
    struct weights *weights;
    struct diag diag = {0};
    for (int i = 0; i < 257; i++)
        size += (size_t)sprintf(text + size, "%d\n", i);
    refuse(text, size, "line 257: one weight too many, the input has 256 codes");
    ck_assert_int_eq(parse(text, size - 4, 0, &weights, &diag), EXIT_DONE);
    weights_free(weights);
    size = 0;
    for (int i = 0; i < 257; i++)
        size += (size_t)sprintf(text + size, "%d,1\n", -i);
    refuse(text, size, "line 257: one weight too many, the input has 256 codes");
}
END_TEST

/* A line that is longer than a number can be is no header either: it would be left out without a word. */
START_TEST(long_numbers_are_no_header)
{
    char text[1300];
    struct weights *weights;
    struct diag diag = {0};
    memset(text, '1', sizeof text);
    memcpy(text + 1201, "\n1\n1\n", 5);
    refuse(text, 1206, "line 1: weight has 1201 characters; write a decimal number of at most 1200");
    memset(text, ',', 1201);
    refuse(text, 1206, "line 1: more than the two columns q_x,weight");
    memset(text, 'a', 1201);
    refuse(text, 1206, "line 1: weight has 1201 characters");
    memset(text, '0', 1201);
    memcpy(text + 1200, "\n1\n1\n", 5);
    ck_assert_int_eq(parse(text, 1205, 0, &weights, &diag), EXIT_DONE);
    ck_assert_uint_eq(weights->count, 3);
    weights_free(weights);
    memset(text, 'a', 1200);
    ck_assert_int_eq(parse(text, 1205, 0, &weights, &diag), EXIT_DONE);
    ck_assert_uint_eq(weights->count, 2);
    weights_free(weights);
}
END_TEST

START_TEST(refuses_bad_csv)
{
    static const struct {
        const char *text;
        size_t size; /* 0: of the text */
        const char *words;
    } bad[] = {
        {"", 0, "no weights"},
        {"weight\n", 0, "no weights"},
        {"0\n0\n", 0, "every weight is 0"},
        {"3,0\n", 0, "every weight is 0"},
        {"1\n-1\n", 0, "line 2: the weight is -1, must be finite and 0 or more"},
        {"1\nnan\n", 0, "line 2: weight is not a finite number"},
        {"1\n1e999\n", 0, "line 2: weight is not a finite number"},
        {"1\nx\n", 0, "line 2: weight is 'x'; write a decimal number"},
        {"1\n1,2\n", 0, "line 2: more than the column weight"},
        {"w\n1 2\n", 0, "line 2: weight is '1 2'"},
        {"1,2\n3\n", 0, "line 2: '3' is not q_x,weight"},
        {"1,2\n3,4,5\n", 0, "line 2: more than the two columns q_x,weight"},
        {"1,2\n3,-0.5\n", 0, "line 2: the weight is -0.5"},
        {"1,2\n1.5,2\n", 0, "line 2: q_x is 1.5, must be a code, an integer"},
        {"1,2\n1e300,2\n", 0, "line 2: q_x is 1e+300"},
        {"1,2\n1e19,2\n", 0, "line 2: q_x is 1e+19, must be a code, an integer"},
        {"1,2\n,2\n", 0, "line 2: q_x is ''"},
        {"1,2\n0,1\n\n1,3\n", 0, "line 4: q_x 1 is there already, in line 1"},
        {"1\n2\0\n", 5, "line 2: weight is '2"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weights *weights;
        struct diag diag = {0};
        const size_t size = bad[i].size ? bad[i].size : strlen(bad[i].text);
        ck_assert_msg(parse(bad[i].text, size, 0, &weights, &diag) == EXIT_USAGE, "'%s' was read", bad[i].text);
        ck_assert_ptr_null(weights);
        ck_assert_msg(strstr(diag.text, bad[i].words) != NULL, "'%s': '%s' does not say '%s'", bad[i].text, diag.text,
                      bad[i].words);
    }
}
END_TEST

START_TEST(refuses_bad_npy)
{
    static const double negative[] = {1, 2, -1, 0}, not_a_number[] = {1, 2, NAN, 1}, infinite[] = {1, 2, INFINITY, 1};
    static const double half[] = {0, 1, 0.5, 1}, twice[] = {3, 1, 3, 1}, code_nan[] = {0, 1, NAN, 1};
    static const double none[] = {0, 0, 0, 0};
    static const struct {
        int dimensions;
        size_t rows, columns;
        const double *data;
        const char *words;
    } bad[] = {
        {1, 4, 1, negative, "element 2: the weight is -1"},
        {1, 4, 1, not_a_number, "element 2: the weight is nan"},
        {1, 4, 1, infinite, "element 2: the weight is inf"},
        {1, 4, 1, none, "every weight is 0"},
        {1, 0, 1, none, "no weights"},
        {2, 2, 2, half, "row 1: q_x is 0.5, must be a code, an integer"},
        {2, 2, 2, code_nan, "row 1: q_x is nan"},
        {2, 2, 2, twice, "row 1: q_x 3 is there already, in row 0"},
        {2, 4, 1, negative, "the shape must be (n,)"},
        {0, 1, 1, negative, "the shape must be (n,)"},
        {3, 2, 2, negative, "the shape must be (n,)"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t size;
        unsigned char *bytes = build('f', 8, bad[i].dimensions, bad[i].rows, bad[i].columns, bad[i].data, &size);
        struct weights *weights;
        struct diag diag = {0};
        ck_assert_msg(parse(bytes, size, 1, &weights, &diag) == EXIT_USAGE, "%zu was read", i);
        ck_assert_msg(strstr(diag.text, bad[i].words) != NULL, "%zu: '%s' does not say '%s'", i, diag.text,
                      bad[i].words);
        /* A file cut short is no array. */
        ck_assert_int_eq(parse(bytes, size - 1, 1, &weights, &diag), EXIT_USAGE);
        free(bytes);
    }
}
END_TEST

START_TEST(weights_must_be_those_of_the_type)
{
    static const struct {
        const char *text, *words;
    } bad[] = {{"1\n2\n3\n", "3 weights; --in has the codes -2 to 1 and needs 4"},
               {"1\n2\n3\n4\n5\n", "5 weights; --in has the codes -2 to 1 and needs 4"},
               {"0,1\n2,1\n", "q_x 2 is no code of --in, -2 to 1"},
               {"-3,1\n0,1\n", "q_x -3 is no code of --in, -2 to 1"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weights *weights = parse_csv(bad[i].text);
        struct diag diag = {0};
        ck_assert_int_eq(weights_check(weights, &s2, &diag), EXIT_USAGE);
        ck_assert_msg(strstr(diag.text, bad[i].words) != NULL, "'%s': '%s'", bad[i].text, diag.text);
        weights_free(weights);
    }
}
END_TEST

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(files_are_named_in_messages)
{
    static const double data[] = {1, 2};
    char directory[] = "/tmp/test_weights_XXXXXX", path[64], expected[100];
    struct weights *weights;
    struct diag diag = {0};
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/weights", directory);
    ck_assert_int_eq(weights_read(path, 256, &weights, &diag), EXIT_IO);
    ck_assert_msg(strncmp(diag.text, path, strlen(path)) == 0, "%s", diag.text);
    ck_assert_ptr_null(weights);

    write_file(path, "1\nx\n", 4);
    ck_assert_int_eq(weights_read(path, 256, &weights, &diag), EXIT_USAGE);
    snprintf(expected, sizeof expected, "%s: line 2: ", path);
    ck_assert_msg(strncmp(diag.text, expected, strlen(expected)) == 0, "%s", diag.text);

    size_t size;
    unsigned char *bytes = build('f', 8, 1, 2, 1, data, &size);
    write_file(path, bytes, size); /* known by its content, not its name */
    ck_assert_int_eq(weights_read(path, 256, &weights, &diag), EXIT_DONE);
    ck_assert_uint_eq(weights->count, 2);
    weights_free(weights);
    free(bytes);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

/* Takes the weights. */
static void build_points(const char *in, bool fold, struct weights *weights, struct points *points)
{
    struct spec spec;
    struct diag diag = {0};
    int64_t sum = 0;
    spec_init(&spec);
    ck_assert_int_eq(spec_set(&spec, "FUNCTION", "tanh", &diag), EXIT_DONE);
    ck_assert_int_eq(spec_set(&spec, "--in", in, &diag), EXIT_DONE);
    ck_assert_int_eq(spec_set(&spec, "--out", "s8:2^-7:0", &diag), EXIT_DONE);
    spec.fold = fold;
    spec.weights = weights;
    ck_assert_msg(spec_check(&spec, &diag) == EXIT_DONE, "%s", diag.text);
    if (fold)
        ck_assert_int_eq(spec_fold_sum(&spec, &sum, &diag), EXIT_DONE);
    const struct spec half = fold ? spec_fold_half(&spec, sum) : spec;
    ck_assert_int_eq(points_build(&half, points, &diag), EXIT_DONE);
    spec_free(&spec);
}

START_TEST(points_weigh_what_their_codes_do)
{
    struct points points;
    build_points("s3:2^-2:0", false, parse_csv("0,2\n-4,1\n3,1\n"), &points);
    ck_assert_int_eq(points.count, 8);
    for (int k = 0; k < 8; k++) /* of mean 1 over the 8 codes */
        ck_assert(points.mass[k] == (k == 0 || k == 7 ? 2 : k == 4 ? 4 : LEAST_WEIGHT));
    points_free(&points);
    build_points("s3:2^-2:0", false, parse_csv("3\n3\n3\n3\n3\n3\n3\n3\n"), &points);
    for (int k = 0; k < 8; k++)
        ck_assert(points.mass[k] == 1 && points.weight[k] == 1);
    points_free(&points);
}
END_TEST

/* 0.1 and 1/3 are no binary fractions: their sums round, but equal weights must be 1. */
START_TEST(equal_weights_are_exactly_those_of_none)
{
    static const char *const equal[] = {"0.1", "0.3333333333333333", "1e-300", "1.7e308", "12345678.9"};
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
        char text[8192];
        size_t used = 0;
        for (int k = 0; k < 256; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", equal[i]);
        struct points points, plain;
        build_points("s8:2^-5:0", false, parse_csv(text), &points);
        build_points("s8:2^-5:0", false, NULL, &plain);
        for (int k = 0; k < 256; k++)
            ck_assert(points.mass[k] == plain.mass[k] && points.weight[k] == plain.weight[k] &&
                      points.bend[k] == plain.bend[k]);
        points_free(&points);
        points_free(&plain);
    }
}
END_TEST

/* Of zero point 0: code 0 alone, 1 with -1 and so on; -4 is beyond the last code and goes to it. */
START_TEST(the_stored_half_weighs_both)
{
    struct points points;
    build_points("s3:2^-2:0", true, parse_csv("1\n2\n3\n4\n5\n6\n7\n8\n"), &points);
    static const double both[] = {5, 6 + 4, 7 + 3, 8 + 2, 1};
    enum { HALF = sizeof both / sizeof *both };
    ck_assert_int_eq(points.count, HALF);
    for (int k = 0; k < HALF; k++) /* 36 / 5 is the mean over the half */
        ck_assert_msg(fabs(points.mass[k] - both[k] * HALF / 36) < 1e-15, "%d: %g", k, points.mass[k]);
    points_free(&points);
}
END_TEST

/* Wider inputs: cells hold the weights of their codes, all of them, and are narrow where the weights are. */
START_TEST(cells_follow_the_weights)
{
    struct points points;
    build_points("s24:2^-20:0", false, parse_csv("1000,1\n1001,2\n-8388608,1\n"), &points);
    double sum = 0;
    int64_t width = 0;
    for (int k = 0; k < points.count; k++) {
        sum += points.mass[k];
        if (points.cell[k] <= 1001 && points.cell[k + 1] > 1001) {
            width = points.cell[k + 1] - points.cell[k];
            ck_assert_msg(fabs(points.mass[k] - 0x1p23) < 1, "%g", points.mass[k]);
        }
    }
    ck_assert_msg(fabs(sum - 0x1p24) < 1, "%.17g", sum);
    ck_assert_int_eq(width, 1);
    points_free(&points);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("weights");
    TCase *tcase = tcase_create("weights");
    tcase_add_test(tcase, reads_a_weight_for_each_code);
    tcase_add_test(tcase, reads_codes_with_their_weights);
    tcase_add_test(tcase, reads_npy_of_every_type);
    tcase_add_test(tcase, refuses_bad_csv);
    tcase_add_test(tcase, stops_at_the_first_weight_too_many);
    tcase_add_test(tcase, long_numbers_are_no_header);
    tcase_add_test(tcase, refuses_bad_npy);
    tcase_add_test(tcase, weights_must_be_those_of_the_type);
    tcase_add_test(tcase, files_are_named_in_messages);
    tcase_add_test(tcase, points_weigh_what_their_codes_do);
    tcase_add_test(tcase, equal_weights_are_exactly_those_of_none);
    tcase_add_test(tcase, the_stored_half_weighs_both);
    tcase_add_test(tcase, cells_follow_the_weights);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
