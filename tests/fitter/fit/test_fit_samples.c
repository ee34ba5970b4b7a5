/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables made from sample points, csv and npy, from the file to the sweep. */
#include <unistd.h>

#include "base/output.h"
#include "../reference/fixture.h"
#include "cli/command.h"
#include "function/samples.h"

enum { POINTS = 257, PATH_SIZE = 64 };

static char folder[] = "/tmp/pwlc_samples_XXXXXX";
static double xs[POINTS], ys[POINTS];

/* x from -2 to 2, unevenly; y bent, with a step down in the middle. The values are multiples of 2^-20 and fit float32,
 * so that every file holds the same ones. */
static void make_points(void)
{
    for (int k = 0; k < POINTS; k++) {
        const double u = (double)k / (POINTS - 1);
        xs[k] = rint((4 * u * u * (3 - 2 * u) * 0.5 + 4 * u * 0.5 - 2) * 0x1p20) * 0x1p-20;
        ys[k] = rint((xs[k] * xs[k] / 4 - (xs[k] > 0.3 ? 0.5 : 0)) * 0x1p20) * 0x1p-20;
    }
    ck_assert(xs[0] == -2 && xs[POINTS - 1] == 2);
}

static void path_of(const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
}

static FILE *create(const char *name, char path[PATH_SIZE])
{
    path_of(name, path);
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "%s: cannot be written", path);
    return file;
}

static void write_csv(const char *name, char path[PATH_SIZE])
{
    FILE *file = create(name, path);
    fprintf(file, "# measured\nx,y\n");
    for (int k = 0; k < POINTS; k++)
        fprintf(file, "%.17g,%.17g\n", xs[k], ys[k]);
    ck_assert_int_eq(fclose(file), 0);
}

/* bytes per number: 4 or 8 */
static void write_npy(const char *name, int bytes, char path[PATH_SIZE])
{
    FILE *file = create(name, path);
    char header[118];
    const int length =
        snprintf(header, sizeof header, "{'descr': '<f%d', 'fortran_order': False, 'shape': (%d, 2), }", bytes, POINTS);
    memset(header + length, ' ', sizeof header - (size_t)length);
    header[sizeof header - 1] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file); /* 10 + 118 bytes, a multiple of 64 */
    fwrite(header, 1, sizeof header, file);
    for (int k = 0; k < POINTS; k++) {
        const double pair[2] = {xs[k], ys[k]};
        const float narrow[2] = {(float)xs[k], (float)ys[k]};
        fwrite(bytes == 8 ? (const void *)pair : (const void *)narrow, (size_t)bytes, 2, file);
    }
    ck_assert_int_eq(fclose(file), 0);
}

/* The definition: straight lines between neighbours, and the ends' values outside. */
static long double interpolate(long double x)
{
    if (x <= xs[0])
        return ys[0];
    for (int k = 1; k < POINTS; k++)
        if (x <= xs[k])
            return ys[k - 1] + ((long double)ys[k] - ys[k - 1]) * (x - xs[k - 1]) / ((long double)xs[k] - xs[k - 1]);
    return ys[POINTS - 1];
}

/* Codes outside the samples take the value at the nearest code inside, which may lie within the last interval. */
static void assert_certified(const char *flags, const struct fitted *fitted)
{
    const struct table *table = &fitted->table;
    const long double scale_x = reference_scale(table->in.scale.text), scale_y = reference_scale(table->out.scale.text);
    const int64_t zp = table->in.zero_point;
    const int64_t first = (int64_t)ceill(xs[0] / scale_x) + zp, last = (int64_t)floorl(xs[POINTS - 1] / scale_x) + zp;
    struct reference_table reference;
    reference_table_init(&reference, table);
    long double squares = 0, max = 0;
    for (int64_t q = table->in.qmin; q <= table->in.qmax; q++) {
        const int64_t inside = q < first ? first : q > last ? last : q;
        long double t = interpolate(scale_x * (inside - zp)) / scale_y + table->out.zero_point;
        t = fminl(fmaxl(t, table->out.qmin), table->out.qmax);
        const int64_t q_y = ref_eval(&reference.table, q).q_y;
        ck_assert(pwl_eval(&fitted->packed.table, q) == q_y);
        const long double e = fabsl(q_y - t);
        squares += e * e;
        max = fmaxl(max, e);
    }
    free(reference.memory);
    const struct certificate *certificate = &table->certificate;
    const double rms = (double)sqrtl(squares / (table->in.qmax - table->in.qmin + 1));
    ck_assert_msg(fabs(certificate->max_err_lsb - (double)max) <= 1e-6 * (double)max, "%s: max %.9g, measured %.9g",
                  flags, certificate->max_err_lsb, (double)max);
    ck_assert_msg(fabs(certificate->rms_err_lsb - rms) <= 1e-6 * rms, "%s: RMS %.9g, measured %.9g", flags,
                  certificate->rms_err_lsb, rms);
}

static const char *const types[] = {
    "--in s12:2^-10:0 --out s16:2^-14:0 --segments 24",
    "--in s8:2^-6:0 --out u8:2^-7:60 --segments 12",
    "--in u16:0.00006:32768 --out s16:0.00005:-3000",
    "--in s12:2^-10:0 --out s16:2^-14:0 --max-err 20 --form biased --rounding half_up",
    "--in s10:2^-8:0 --out s12:2^-10:0 --method uniform --form anchored",
    "--in s9:2^-6:17 --out s12:2^-10:0 --outside clamp",
    "--in s10:2^-8:0 --out s12:2^-10:0 --method lut",
};
enum { TYPES = sizeof types / sizeof *types };

START_TEST(csv_and_npy_give_certified_tables)
{
    char csv[PATH_SIZE], wide[PATH_SIZE], narrow[PATH_SIZE], flags[FLAGS_SIZE];
    write_csv("points.csv", csv);
    write_npy("points.npy", 8, wide);
    write_npy("narrow.npy", 4, narrow);
    const char *const files[] = {csv, wide, narrow};
    struct fitted first = {0};
    for (int k = 0; k < 3; k++) {
        struct fitted fitted;
        snprintf(flags, sizeof flags, "--samples %s %s", files[k], types[_i]);
        fit_well(flags, &fitted);
        ck_assert_str_eq(fitted.table.function, "samples");
        ck_assert_int_eq(strlen(fitted.table.samples_sha256), 64);
        ck_assert_msg(strstr(fitted.table.spec, "points") == NULL, "a file name in '%s'", fitted.table.spec);
        assert_certified(flags, &fitted);
        if (k == 0) {
            first = fitted;
            continue;
        }
        /* The same points in another file: the same table, but for the hash. */
        ck_assert_str_ne(fitted.table.samples_sha256, first.table.samples_sha256);
        strcpy(fitted.table.samples_sha256, first.table.samples_sha256);
        char *text = json_of(&fitted.table), *expected = json_of(&first.table);
        ck_assert_str_eq(text, expected);
        free(text);
        free(expected);
        fitted_free(&fitted);
    }
    fitted_free(&first);
}
END_TEST

/* Inputs of 16 bits take 34 and 234 segments. */
START_TEST(wide_inputs_take_few_segments_more)
{
    static const struct {
        const char *types;
        double max_err;
        int most;
    } cases[] = {
        {"--in s18:2^-16 --out s12:2^-10", 1, 36},
        {"--in s18:2^-16 --out s16:2^-14", 0.65, 241}, /* codes between the points exceed the first limits */
    };
    char path[PATH_SIZE], flags[FLAGS_SIZE];
    write_csv("wide.csv", path);
    for (int k = 0; k < (test_is_long() ? 2 : 1); k++) {
        struct fitted fitted;
        snprintf(flags, sizeof flags, "--samples %s %s --max-err %g", path, cases[k].types, cases[k].max_err);
        fit_well(flags, &fitted);
        assert_certified(flags, &fitted);
        ck_assert_msg(fitted.table.certificate.max_err_lsb <= cases[k].max_err, "%s: off by %.9g LSB", flags,
                      fitted.table.certificate.max_err_lsb);
        ck_assert_msg(fitted.table.segment_count <= cases[k].most, "%s: %d segments", flags,
                      fitted.table.segment_count);
        fitted_free(&fitted);
    }
}
END_TEST

START_TEST(two_points_are_one_line)
{
    char path[PATH_SIZE], flags[FLAGS_SIZE];
    FILE *file = create("line.csv", path);
    fprintf(file, "-2,-1\n2,1\n");
    ck_assert_int_eq(fclose(file), 0);
    struct fitted fitted;
    snprintf(flags, sizeof flags, "--samples %s --in s8:2^-6:0 --out s16:2^-8:0 --max-err 0.5", path);
    fit_well(flags, &fitted);
    ck_assert_int_eq(fitted.table.segment_count, 1);
    for (int q = -128; q < 128; q++) /* x = q / 64, y = x / 2, in steps of 1/256 */
        ck_assert_int_eq(pwl_eval(&fitted.packed.table, q), 2 * q);
    fitted_free(&fitted);
}
END_TEST

START_TEST(codes_outside_the_samples_are_refused)
{
    char path[PATH_SIZE], flags[FLAGS_SIZE];
    write_csv("points.csv", path);
    snprintf(flags, sizeof flags, "--samples %s --in s9:2^-6:17 --out s12:2^-10:0", path);
    refuse(flags, EXIT_USAGE, "--in: code ");
    snprintf(flags, sizeof flags, "--samples %s --in u8:2^-6:-4000 --out s12:2^-10:0 --outside clamp", path);
    refuse(flags, EXIT_USAGE, "no code lies in the domain");
}
END_TEST

/* Runs a command as main would; its flags are separated by blanks. */
static int run(const struct command *command, const char *flags, struct diag *diag)
{
    char text[FLAGS_SIZE], *rest = NULL, *argv[32];
    int argc = 0;
    ck_assert(strlen(flags) < sizeof text);
    strcpy(text, flags);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    diag->code = EXIT_DONE;
    diag->text[0] = '\0';
    const int code = command->run(argc, argv, diag);
    if (code == EXIT_DONE || code == EXIT_REQUIREMENT)
        ck_assert_int_eq(outputs_commit(&(struct diag){.code = EXIT_DONE}), EXIT_DONE);
    outputs_drop();
    return code;
}

START_TEST(sweep_measures_against_the_samples)
{
    char csv[PATH_SIZE], npy[PATH_SIZE], table[PATH_SIZE], report[PATH_SIZE], flags[FLAGS_SIZE];
    struct diag diag;
    write_csv("points.csv", csv);
    write_npy("points.npy", 8, npy);
    path_of("table.json", table);
    path_of("report.json", report);
    snprintf(flags, sizeof flags, "fit --samples %s --in s12:2^-10:0 --out s16:2^-14:0 --max-err 20 -o %s", npy, table);
    ck_assert_msg(run(&command_fit, flags, &diag) == EXIT_DONE, "%s: %s", flags, diag.text);

    snprintf(flags, sizeof flags, "sweep %s --samples %s --max-err 20 --format json -o %s", table, npy, report);
    ck_assert_msg(run(&command_sweep, flags, &diag) == EXIT_DONE, "%s: %s", flags, diag.text);
    struct table read;
    ck_assert_msg(table_read(table, &read, &diag) == EXIT_DONE, "%s", diag.text);
    char expected[64], line[256];
    snprintf(expected, sizeof expected, "\"max_err_lsb\": %.6g", read.certificate.max_err_lsb);
    table_free(&read);
    bool found = false;
    FILE *file = fopen(report, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file))
        found |= strstr(line, expected) != NULL;
    fclose(file);
    ck_assert_msg(found, "no %s in the sweep", expected);

    snprintf(flags, sizeof flags, "sweep %s --samples %s --max-err 2 -o %s", table, npy, report);
    ck_assert_int_eq(run(&command_sweep, flags, &diag), EXIT_REQUIREMENT);
    snprintf(flags, sizeof flags, "sweep %s --samples %s -o %s", table, csv, report);
    ck_assert_int_eq(run(&command_sweep, flags, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "sha256") != NULL, "%s", diag.text);
    snprintf(flags, sizeof flags, "sweep %s -o %s", table, report);
    ck_assert_int_eq(run(&command_sweep, flags, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "--samples") != NULL, "%s", diag.text);
}
END_TEST

static void set_up(void)
{
    ck_assert_msg(mkdtemp(folder) != NULL, "%s: cannot be made", folder);
    make_points();
}

static void tear_down(void)
{
    static const char *const names[] = {"points.csv", "points.npy", "narrow.npy",
                                        "line.csv",   "table.json", "report.json"};
    char path[PATH_SIZE];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        path_of(names[k], path);
        unlink(path);
    }
    rmdir(folder);
}

int main(void)
{
    Suite *suite = suite_create("fit_samples");
    TCase *tcase = tcase_create("fit_samples");
    tcase_add_unchecked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, csv_and_npy_give_certified_tables, 0, TYPES);
    tcase_add_test(tcase, two_points_are_one_line);
    tcase_add_test(tcase, wide_inputs_take_few_segments_more);
    tcase_add_test(tcase, codes_outside_the_samples_are_refused);
    tcase_add_test(tcase, sweep_measures_against_the_samples);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
