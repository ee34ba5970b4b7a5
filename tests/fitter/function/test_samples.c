/* SPDX-License-Identifier: GPL-3.0-or-later */
/* User functions from csv and npy: what is read, each refusal with its place, and bytes that must not crash it. */
#include <check.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "function/samples.h"
#include "io/npy.h"

#include "../../support/suite.h"

/* Parses a copy of exactly the size, so that the address sanitizer sees any byte read behind it. */
static int parse(const void *bytes, size_t size, int npy, struct samples **samples, struct diag *diag)
{
    char *exact = malloc(size + 1);
    ck_assert_ptr_nonnull(exact);
    if (size > 0)
        memcpy(exact + 1, bytes, size);
    const int code = samples_parse(exact + 1, size, npy, samples, diag);
    free(exact);
    return code;
}

static struct samples *parse_csv(const char *text)
{
    struct samples *samples;
    struct diag diag = {0};
    ck_assert_msg(parse(text, strlen(text), 0, &samples, &diag) == EXIT_DONE, "'%s': %s", text, diag.text);
    return samples;
}

static long double value_at(const struct samples *samples, long double x)
{
    return dd_long(samples_value(samples, dd_of_long(x)));
}

static long double slope_at(const struct samples *samples, long double x)
{
    return dd_long(samples_derivative(samples, dd_of_long(x)));
}

START_TEST(reads_csv)
{
    static const char *const same[] = {
        "-1,4\n0.5,1\n2,3\n",
        "-1,4\n0.5,1\n2,3",
        "x,y\n-1,4\n0.5,1\n2,3\n",
        "# made elsewhere\n\nx,y\n\n-1,4\n# in between\n0.5,1\n2,3\n\n",
        "time in s\n-1,4\n0.5,1\n2,3\n",
        "x,y,note\n-1,4\n0.5,1\n2,3\n",
        "\xef\xbb\xbfx,y\r\n-1,4\r\n0.5,1\r\n2,3\r\n",
        "\xef\xbb\xbf-1,4\n0.5,1\n2,3\n",
        "  -1 ,\t4\t\n .5, 1e0\n+2.0,0.3E+1\n",
        "2,3\n0.5,1\n-1,4\n",
        "x,y\n2,3\n0.5,1\n-1,4\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        struct samples *samples = parse_csv(same[i]);
        ck_assert_uint_eq(samples->count, 3);
        ck_assert(samples->x[0] == -1 && samples->x[1] == 0.5 && samples->x[2] == 2);
        ck_assert(samples->y[0] == 4 && samples->y[1] == 1 && samples->y[2] == 3);
        samples_free(samples);
    }
    struct samples *samples = parse_csv("0,0\n1,1\n");
    /* printf '0,0\n1,1\n' | sha256sum */
    ck_assert_str_eq(samples->sha256, "d2797ea35024622056379af903fecf96fc87090e12f2c576d5412246d41f595f");
    samples_free(samples);
    samples_free(NULL);
}
END_TEST

START_TEST(interpolates_with_straight_lines)
{
    struct samples *samples = parse_csv("-1,4\n0.5,1\n2,3\n4,3\n");
    ck_assert(value_at(samples, -1) == 4);
    ck_assert(value_at(samples, -0.25L) == 2.5L);
    ck_assert(value_at(samples, 0.5L) == 1);
    ck_assert(value_at(samples, 1.25L) == 2);
    ck_assert(value_at(samples, 2) == 3);
    ck_assert(value_at(samples, 3.5L) == 3);
    ck_assert(value_at(samples, 4) == 3);
    ck_assert(slope_at(samples, -1) == -2);
    ck_assert(slope_at(samples, 0.49L) == -2);
    ck_assert(fabsl(slope_at(samples, 0.5L) - 4.0L / 3) < 2 * LDBL_EPSILON);
    ck_assert(slope_at(samples, 2) == 0);
    ck_assert(slope_at(samples, 4) == 0); /* the last interval's: there is none to the right */
    samples_free(samples);

    samples = parse_csv("0,1e308\n1,-1e308\n");
    ck_assert(value_at(samples, 0.5L) == 0);
    ck_assert(slope_at(samples, 0.5L) < -DBL_MAX); /* overflows */
    samples_free(samples);

    /* every sample is met exactly, whatever its interval's rounding */
    char text[8192];
    size_t used = 0;
    for (int i = 0; i < 200; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%.17g,%.17g\n", i * 0.1 + 1e-3 * (i % 7), sin(i));
    samples = parse_csv(text);
    ck_assert_uint_eq(samples->count, 200);
    for (size_t i = 0; i < samples->count; i++)
        ck_assert(value_at(samples, samples->x[i]) == samples->y[i]);
    samples_free(samples);
}
END_TEST

START_TEST(tells_what_lies_between)
{
    struct samples *samples = parse_csv("-1,0\n0,5\n0.25,1\n4,2\n");
    const double between[] = {-0.5, nextafter(-1, 0), nextafter(0, -1), 0.125, nextafter(0.25, 1), 3.99},
                 not_between[] = {-1, 0, 0.25, 4, -1.5, 4.5};
    for (int i = 0; i < 6; i++) {
        ck_assert_msg(samples_between(samples, between[i]), "%.17g", between[i]);
        ck_assert_msg(!samples_between(samples, not_between[i]), "%.17g", not_between[i]);
    }
    samples_free(samples);
}
END_TEST

START_TEST(grows_to_many_points)
{
    const size_t count = 100000;
    char *text = malloc(count * 24);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, 24, "%zu,%zu.5\n", i, 3 * i);
    struct samples *samples = parse_csv(text);
    free(text);
    ck_assert_uint_eq(samples->count, count);
    ck_assert(value_at(samples, 77777.5L) == 3 * 77777.5L + 0.5L);
    samples_free(samples);
}
END_TEST

START_TEST(csv_errors_name_the_line)
{
    static const struct {
        const char *bytes;
        size_t size; /* 0: up to the zero byte */
        const char *text;
    } bad[] = {
        {"", 0, "no sample points; at least 2"},
        {"\n\n", 0, "no sample points"},
        {"# nothing\n", 0, "no sample points"},
        {"x,y\n", 0, "no sample points"},
        {"\xef\xbb\xbf", 0, "no sample points"},
        {"1,2\n", 0, "only 1 sample point; at least 2"},
        {"x,y\n1,2\n", 0, "only 1 sample point"},
        {"0,0\n1,1\n0.5,2\n", 0, "line 3: x is 0.5 after 1; x must be strictly ascending, as it begins"},
        {"3,0\n2,1\n2.5,2\n", 0, "line 3: x is 2.5 after 2; x must be strictly descending, as it begins"},
        {"# c\n0,0\n\n1,1\n1,2\n", 0, "line 5: x is 1 after 1; x must be strictly ascending"},
        {"1,0\n1,1\n", 0, "line 2: x is 1 after 1; x must be strictly ascending or descending"},
        {"0,0\n-0,1\n", 0, "line 2: x is -0 after 0"},
        {"0,0\nnan,1\n", 0, "line 2: x is not a finite number"},
        {"0,0\n1,-inf\n", 0, "line 2: y is not a finite number"},
        {"0,0\n1,+Infinity\n", 0, "line 2: y is not a finite number"},
        {"nan,1\n0,0\n1,1\n", 0, "line 1: x is not a finite number"},
        {"NaN,NaN\n0,0\n1,1\n", 0, "line 1: x is not a finite number"},
        {"0,0\n1,1e999\n", 0, "line 2: y is not a finite number"},
        {"0,0\nx,1\n", 0, "line 2: x is 'x'; write a decimal number"},
        {"0,0\n1,y\n", 0, "line 2: y is 'y'; write a decimal number"},
        {"1,y\n0,0\n1,1\n", 0, "line 1: y is 'y'"},
        {"x,y\nx,y\n0,0\n1,1\n", 0, "line 2: x is 'x'"},
        {"0,0\n1,\n", 0, "line 2: y is ''"},
        {"0,0\n,1\n", 0, "line 2: x is ''"},
        {"0,0\n0x1,1\n", 0, "line 2: x is '0x1'"},
        {"0,0\n1 2,1\n", 0, "line 2: x is '1 2'"},
        {"0,0\n1,1,1\n", 0, "line 2: more than the two columns"},
        {"0,0\n1,1,\n", 0, "line 2: more than the two columns"},
        {"x,y,z\n0,0,0\n", 0, "line 2: more than the two columns"},
        {"0,0\n1\n", 0, "line 2: '1' is not x,y"},
        {"0;0\n1;1\n", 0, "line 2: '1;1' is not x,y: write two numbers, with a comma"},
        {"0,0\n1\0,1\n", 9, "line 2: x is '1"},
        {"0,0\n1,1\0\n", 9, "line 2: y is '1"},
        {"\x93NUMPY\x01", 0, "no sample points"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct samples *samples;
        struct diag diag = {0};
        const size_t size = bad[i].size > 0 ? bad[i].size : strlen(bad[i].bytes);
        ck_assert_msg(parse(bad[i].bytes, size, 0, &samples, &diag) == EXIT_USAGE, "%s was taken", bad[i].bytes);
        ck_assert_int_eq(diag.code, EXIT_USAGE);
        ck_assert_ptr_null(samples);
        ck_assert_msg(strstr(diag.text, bad[i].text) != NULL, "'%s' lacks '%s'", diag.text, bad[i].text);
    }
}
END_TEST

static unsigned char *build(char kind, int item_size, int dimensions, size_t rows, size_t columns, const void *data,
                            size_t *size)
{
    const struct npy npy = {kind, item_size, dimensions, {rows, columns, 1}, rows * columns, data};
    unsigned char *bytes;
    struct diag diag = {0};
    ck_assert_msg(npy_build(&npy, &bytes, size, &diag) == EXIT_DONE, "%s", diag.text);
    return bytes;
}

START_TEST(reads_npy)
{
    static const double doubles[] = {-1, 4, 0.5, 1, 2, 3};
    static const float floats[] = {2, 3, 0.5f, 1, -1, 4};
    for (int wide = 0; wide < 2; wide++) {
        size_t size;
        struct samples *samples;
        struct diag diag = {0};
        unsigned char *bytes = wide ? build('f', 8, 2, 3, 2, doubles, &size) : build('f', 4, 2, 3, 2, floats, &size);
        ck_assert_msg(parse(bytes, size, 1, &samples, &diag) == EXIT_DONE, "%s", diag.text);
        free(bytes);
        ck_assert_uint_eq(samples->count, 3);
        ck_assert(samples->x[0] == -1 && samples->x[1] == 0.5 && samples->x[2] == 2);
        ck_assert(samples->y[0] == 4 && samples->y[1] == 1 && samples->y[2] == 3);
        samples_free(samples);
    }
}
END_TEST

START_TEST(npy_errors_name_the_row)
{
    static const double data[] = {0, 0, 1, 1, 0.5, 2, NAN, 1, 2, INFINITY, 3, 3};
    static const struct {
        char kind;
        int item_size, dimensions;
        size_t rows, columns, first;
        const char *text;
    } bad[] = {
        {'f', 8, 2, 0, 2, 0, "no sample points"},
        {'f', 8, 2, 1, 2, 0, "only 1 sample point"},
        {'f', 8, 2, 3, 2, 0, "row 2: x is 0.5 after 1"},
        {'f', 8, 2, 2, 2, 4, "row 1: x is not a finite number"},
        {'f', 8, 2, 2, 2, 8, "row 0: y is not a finite number"},
        {'f', 8, 2, 2, 3, 0, "shape must be (n, 2)"},
        {'f', 8, 1, 4, 1, 0, "shape must be (n, 2)"},
        {'f', 8, 3, 2, 2, 0, "shape must be (n, 2)"},
        {'i', 8, 2, 2, 2, 0, "float16, float32 or float64"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t size;
        struct samples *samples;
        struct diag diag = {0};
        unsigned char *bytes = build(bad[i].kind, bad[i].item_size, bad[i].dimensions, bad[i].rows, bad[i].columns,
                                     data + bad[i].first, &size);
        ck_assert_int_eq(parse(bytes, size, 1, &samples, &diag), EXIT_USAGE);
        ck_assert_msg(strstr(diag.text, bad[i].text) != NULL, "'%s' lacks '%s'", diag.text, bad[i].text);
        ck_assert_int_eq(parse(bytes, size - 1, 1, &samples, &diag), EXIT_USAGE);
        ck_assert_ptr_null(samples);
        free(bytes);
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
    static const double data[] = {0, 0, 1, 1};
    char directory[] = "/tmp/test_samples_XXXXXX", path[64], expected[100];
    struct samples *samples;
    struct diag diag = {0};
    ck_assert_ptr_nonnull(mkdtemp(directory));

    snprintf(path, sizeof path, "%s/absent.csv", directory);
    ck_assert_int_eq(samples_read(path, &samples, &diag), EXIT_IO);
    ck_assert_msg(strncmp(diag.text, path, strlen(path)) == 0, "%s", diag.text);
    ck_assert_ptr_null(samples);

    snprintf(path, sizeof path, "%s/points", directory);
    write_file(path, "0,0\n1,1\n", 8);
    ck_assert_int_eq(samples_read(path, &samples, &diag), EXIT_DONE);
    ck_assert_uint_eq(samples->count, 2);
    samples_free(samples);

    write_file(path, "0,0\n0,1\n", 8);
    ck_assert_int_eq(samples_read(path, &samples, &diag), EXIT_USAGE);
    snprintf(expected, sizeof expected, "%s: line 2: ", path);
    ck_assert_msg(strncmp(diag.text, expected, strlen(expected)) == 0, "%s", diag.text);

    size_t size;
    unsigned char *bytes = build('f', 8, 2, 2, 2, data, &size);
    write_file(path, bytes, size); /* known by its content, not its name */
    ck_assert_int_eq(samples_read(path, &samples, &diag), EXIT_DONE);
    ck_assert_uint_eq(samples->count, 2);
    samples_free(samples);
    free(bytes);
    ck_assert_int_eq(unlink(path), 0);

    snprintf(path, sizeof path, "%s/text.npy", directory);
    write_file(path, "0,0\n1,1\n", 8);
    ck_assert_int_eq(samples_read(path, &samples, &diag), EXIT_USAGE);
    snprintf(expected, sizeof expected, "%s: not an npy file", path);
    ck_assert_msg(strncmp(diag.text, expected, strlen(expected)) == 0, "%s", diag.text);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

/* Fixed seed. What parses obeys the contract of struct samples. */
/* FILE.npy:LOW:HIGH: y alone, at both ends of the grid and evenly between. The hash tells grids apart. */
START_TEST(values_on_an_even_grid_are_read)
{
    static const double y[] = {4, 1, 3, 7, 5};
    static const struct {
        const char *grid;
        double x[5];
        bool reversed;
    } good[] = {{":-1:1", {-1, -0.5, 0, 0.5, 1}, false},
                {":2:-2", {-2, -1, 0, 1, 2}, true},
                {":0:1", {0, 0.25, 0.5, 0.75, 1}, false},
                {":0:1e0", {0, 0.25, 0.5, 0.75, 1}, false},
                {":-1:3", {-1, 0, 1, 2, 3}, false}};
    static const struct {
        const char *grid, *text;
    } bad[] = {{"", "y alone takes its even grid behind the name, FILE.npy:LOW:HIGH"},
               {":1:1", "row 1: x is 1 after 1; x must be strictly ascending or descending"}};
    char directory[] = "/tmp/test_samples_XXXXXX", path[64], name[80], hashes[5][65];
    struct diag diag = {0};
    struct samples *samples;
    size_t size;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/y.npy", directory);
    unsigned char *bytes = build('f', 8, 1, 5, 1, y, &size);
    write_file(path, bytes, size);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(name, sizeof name, "%s%s", path, good[i].grid);
        ck_assert_msg(samples_read(name, &samples, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert_uint_eq(samples->count, 5);
        for (int k = 0; k < 5; k++)
            ck_assert(samples->x[k] == good[i].x[k] && samples->y[k] == y[good[i].reversed ? 4 - k : k]);
        memcpy(hashes[i], samples->sha256, sizeof hashes[i]);
        samples_free(samples);
    }
    ck_assert_str_eq(hashes[2], hashes[3]);
    ck_assert(strcmp(hashes[0], hashes[1]) != 0 && strcmp(hashes[0], hashes[2]) != 0);
    ck_assert(strcmp(hashes[0], hashes[4]) != 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(name, sizeof name, "%s%s", path, bad[i].grid);
        ck_assert_int_eq(samples_read(name, &samples, &diag), EXIT_USAGE);
        ck_assert_msg(strncmp(diag.text, name, strlen(name)) == 0 && strstr(diag.text, bad[i].text), "%s", diag.text);
    }
    free(bytes);
    bytes = build('f', 8, 2, 2, 2, y, &size);
    write_file(path, bytes, size);
    snprintf(name, sizeof name, "%s:0:1", path);
    ck_assert_int_eq(samples_read(name, &samples, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "the shape must be (n,)") != NULL, "%s", diag.text);
    free(bytes);
    rename(path, name); /* a file of that name is taken as it is */
    ck_assert_msg(samples_read(name, &samples, &diag) == EXIT_DONE, "%s", diag.text);
    samples_free(samples);
    unlink(name);
    snprintf(path, sizeof path, "%s/y.csv", directory); /* and of other files there are none */
    write_file(path, (const unsigned char *)"0,1\n1,2\n", 8);
    snprintf(name, sizeof name, "%s:0:1", path);
    ck_assert_int_eq(samples_read(name, &samples, &diag), EXIT_IO);
    unlink(path);
    rmdir(directory);
}
END_TEST

START_TEST(mutated_files_are_read_safely)
{
    static const char csv[] = "# c\nx,y\n-1.5,4\n0.5,1e0\n\n2,-3.25\n7,0\n1e2,9\n";
    static const char alphabet[] = "0123456789.,-+eE\n\r #xnaif\0\xef\x93";
    static const double data[] = {-1, 4, 0.5, 1, 2, 3, 2.5, 7};
    size_t npy_size;
    unsigned char *npy = build('f', 8, 2, 4, 2, data, &npy_size);
    uint64_t state = 7;
    int taken[2] = {0, 0}, refused[2] = {0, 0};
    for (int round = 0; round < 60000; round++) {
        const int is_npy = round % 2;
        char bytes[512];
        size_t size = is_npy ? npy_size : sizeof csv - 1;
        ck_assert_uint_le(size, sizeof bytes);
        memcpy(bytes, is_npy ? (const char *)npy : csv, size);
        for (int change = 0; change <= round / 2 % 3; change++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bytes[(state >> 40) % size] =
                is_npy ? (char)(state >> 32) : alphabet[(state >> 32) % (sizeof alphabet - 1)];
        }
        if (round % 10 < 2)
            size = (size_t)(state >> 20) % size;
        struct samples *samples;
        struct diag diag;
        if (parse(bytes, size, is_npy, &samples, &diag) == EXIT_DONE) {
            taken[is_npy]++;
            ck_assert_uint_ge(samples->count, 2);
            for (size_t i = 0; i < samples->count; i++) {
                ck_assert(isfinite(samples->x[i]) && isfinite(samples->y[i]));
                ck_assert(i == 0 || samples->x[i] > samples->x[i - 1]);
                ck_assert(value_at(samples, samples->x[i]) == samples->y[i]);
            }
            samples_free(samples);
        } else {
            refused[is_npy]++;
            ck_assert_int_eq(diag.code, EXIT_USAGE);
            ck_assert_ptr_null(strchr(diag.text, '\n'));
        }
    }
    free(npy);
    ck_assert(taken[0] > 1000 && refused[0] > 1000 && taken[1] > 1000 && refused[1] > 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("samples");
    TCase *samples = tcase_create("samples");
    tcase_add_test(samples, reads_csv);
    tcase_add_test(samples, interpolates_with_straight_lines);
    tcase_add_test(samples, tells_what_lies_between);
    tcase_add_test(samples, grows_to_many_points);
    tcase_add_test(samples, csv_errors_name_the_line);
    tcase_add_test(samples, reads_npy);
    tcase_add_test(samples, npy_errors_name_the_row);
    tcase_add_test(samples, files_are_named_in_messages);
    tcase_add_test(samples, values_on_an_even_grid_are_read);
    tcase_add_test(samples, mutated_files_are_read_safely);
    suite_add_tcase(suite, samples);
    return run_suite(suite);
}
