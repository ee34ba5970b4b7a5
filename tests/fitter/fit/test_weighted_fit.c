/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits with weights: the weighted error is what gets smaller, near the least there is, and what is reported. */
#include "../reference/fixture.h"
#include "../reference/tiny_spec.h"

#include <unistd.h>

/* What codes weigh, and the file that says so. */
struct load {
    int count;
    double *weight;
    char path[64];
};

static void load_write(const struct load *load)
{
    FILE *file = fopen(load->path, "w");
    ck_assert_ptr_nonnull(file);
    for (int k = 0; k < load->count; k++)
        fprintf(file, "%.17g\n", load->weight[k]);
    ck_assert_int_eq(fclose(file), 0);
}

/* A bell of real inputs, as data have, on the type of some flags. */
static void load_bell(struct load *load, const char *flags, double centre, double width)
{
    struct spec spec;
    struct diag diag;
    ck_assert_int_eq(spec_from(flags, &spec, &diag), EXIT_DONE);
    load->count = (int)(spec.in.qmax - spec.in.qmin + 1);
    load->weight = malloc((size_t)load->count * sizeof *load->weight);
    ck_assert_ptr_nonnull(load->weight);
    for (int k = 0; k < load->count; k++) {
        const double x = ((double)tensor_real(&spec.in, spec.in.qmin + k) - centre) / width;
        load->weight[k] = exp(-x * x / 2) + 1e-6;
    }
    snprintf(load->path, sizeof load->path, "/tmp/test_weighted_fit_%ld.csv", (long)getpid());
    load_write(load);
    spec_free(&spec);
}

static void load_free(struct load *load)
{
    ck_assert_int_eq(unlink(load->path), 0);
    free(load->weight);
}

static void fit_load(const char *flags, const struct load *load, struct fitted *fitted)
{
    char with[FLAGS_SIZE];
    snprintf(with, sizeof with, "%s --weights %s", flags, load->path);
    fit_well(with, fitted);
}

static struct plain_stats measure_load(const struct fitted *fitted, const struct load *load)
{
    const struct reference_map map = map_of(&fitted->spec);
    struct reference_table reference;
    struct plain_stats stats = {0};
    long double sum = 0, squares = 0, correct = 0, total = 0;
    reference_table_init(&reference, &fitted->table);
    for (int k = 0; k < load->count; k++) {
        const int64_t q = map.qmin_x + k;
        const long double t = reference_clip(&map, reference_target(&map, q)), w = load->weight[k];
        const long double e = fabsl((long double)ref_eval(&reference.table, q).q_y - t);
        sum += w * e;
        squares += w * e * e;
        correct += e <= 0.5L ? w : 0;
        total += w;
        stats.max = fmax(stats.max, (double)e);
    }
    free(reference.memory);
    stats.rms = (double)sqrtl(squares / total);
    stats.mean_abs = (double)(sum / total);
    stats.correct = (double)(correct / total);
    return stats;
}

static bool same_segments(const struct table *a, const struct table *b)
{
    bool same = a->segment_count == b->segment_count;
    for (int i = 0; same && i < a->segment_count; i++)
        same = a->segments[i].start == b->segments[i].start && a->segments[i].q_b == b->segments[i].q_b &&
               a->segments[i].n == b->segments[i].n && a->segments[i].offset == b->segments[i].offset;
    return same;
}

static const struct {
    const char *flags;
    double centre, width; /* of the data, real */
} cases[] = {
    {"sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1", 0, 1.5},
    {"sigmoid --in s8:2^-4:0 --out s8:2^-8:-128 --segments 6", -2, 1},
    {"tanh --in s16:2^-13:0 --out s16:2^-15:0", 0.5, 0.7},
    {"tanh --in s7:2^-4:0 --out s7:2^-6:0 --segments 5 --form biased", 0, 0.6},
    {"gelu --in s16:2^-12:0 --out s16:2^-12:0 --form anchored", -0.5, 1},
    {"gelu --in s8:0.0472:-3 --out s8:0.0238:-121 --segments 8 --rounding half_up", 0, 1},
    {"silu --in s9:2^-5:0 --out s9:2^-5:0 --segments 6", 1, 1},
    {"exp --in u16:2^-13:65535 --out u16:2^-16:0 --segments 8", -4, 0.5},
    {"softplus --in s16:2^-12:0 --out s16:2^-12:0 --method uniform --segments 8", -1, 1},
    {"tanh --in s16:2^-13:0 --out s16:2^-15:0 --method document", 0, 0.5},
    {"sigmoid --in s16:2^-12:0 --out s16:2^-15:0 --symmetry fold --segments 8", 1, 0.7},
    {"mish --in s17:2^-13:0 --out s17:2^-13:0", 0, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Only ratios of weights count: doubled they make the same table, and equal ones the table of none. */
START_TEST(a_weighted_fit_has_less_weighted_error)
{
    const char *const flags = cases[_i].flags;
    struct fitted plain, weighted, other;
    struct load load;
    load_bell(&load, flags, cases[_i].centre, cases[_i].width);
    fit_well(flags, &plain);
    fit_load(flags, &load, &weighted);
    const struct plain_stats before = measure_load(&plain, &load), after = measure_load(&weighted, &load);
    printf("# %-80s weighted RMS %9.4f, without weights %9.4f\n", flags, after.rms, before.rms);
    ck_assert_msg(after.rms < before.rms, "%s: weighted RMS %.6g, without weights %.6g", flags, after.rms, before.rms);

    for (int k = 0; k < load.count; k++)
        load.weight[k] *= 2;
    load_write(&load);
    fit_load(flags, &load, &other);
    ck_assert_msg(same_segments(&weighted.table, &other.table), "%s: weights doubled make another table", flags);
    fitted_free(&other);

    for (int k = 0; k < load.count; k++)
        load.weight[k] = 0.1;
    load_write(&load);
    fit_load(flags, &load, &other);
    /* The half of a folded table holds the zero point's code once, the others twice. */
    ck_assert_msg(plain.table.has_fold || same_segments(&plain.table, &other.table),
                  "%s: equal weights make another table than none", flags);
    ck_assert(plain.table.weights_sha256[0] == '\0' && other.table.weights_sha256[0] != '\0');
    fitted_free(&other);
    fitted_free(&plain);
    fitted_free(&weighted);
    load_free(&load);
}
END_TEST

/* long double sums of at most 2^17 terms, and libm's own error: far below 1e-9 of the whole. */
START_TEST(the_certificate_is_weighted)
{
    struct fitted fitted;
    struct load load;
    load_bell(&load, cases[_i].flags, cases[_i].centre, cases[_i].width);
    for (int k = 0; k < load.count; k += 3) /* and some that never occur */
        load.weight[k] = 0;
    load_write(&load);
    fit_load(cases[_i].flags, &load, &fitted);
    const struct plain_stats plain = measure_load(&fitted, &load);
    const struct certificate *says = &fitted.table.certificate;
    ck_assert_msg(fabs(says->rms_err_lsb - plain.rms) <= 1e-9 * plain.rms, "%.9g, %.9g", says->rms_err_lsb, plain.rms);
    ck_assert_msg(fabs(says->mean_abs_err_lsb - plain.mean_abs) <= 1e-9 * plain.mean_abs, "%.9g, %.9g",
                  says->mean_abs_err_lsb, plain.mean_abs);
    ck_assert_msg(fabs(says->correctly_rounded - plain.correct) <= 1e-9, "%.9g, %.9g", says->correctly_rounded,
                  plain.correct);
    ck_assert_msg(fabs(says->max_err_lsb - plain.max) <= 1e-9 * plain.max, "%.9g, %.9g", says->max_err_lsb, plain.max);
    ck_assert_str_eq(fitted.table.weights_sha256, fitted.spec.weights->sha256);
    ck_assert_ptr_null(strstr(fitted.table.spec, "weights"));
    fitted_free(&fitted);
    load_free(&load);
}
END_TEST

/* Codes that never occur: next to none, all but one, all but the ends, one half. Where they have a segment of their own
 * it follows f, and everything is proven. */
START_TEST(codes_that_never_occur_are_fitted_safely)
{
    static const char *const flags[] = {"tanh --in s8:2^-5:0 --out s8:2^-7:0 --segments 8",
                                        "gelu --in s16:2^-12:0 --out s16:2^-12:0",
                                        "sigmoid --in s12:2^-8:0 --out u8:2^-8:0 --form biased",
                                        "exp --in s32:2^-24:0 --out s32:2^-10:0 --outside clamp"};
    static const char *const lists[] = {"5,1\n", "0,3\n1,1\n", "-127,1\n127,1\n", "-128,1\n-127,5\n-3,2\n"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        for (size_t j = 0; j < sizeof lists / sizeof *lists; j++) {
            struct load load;
            struct fitted fitted;
            snprintf(load.path, sizeof load.path, "/tmp/test_weighted_fit_%ld.csv", (long)getpid());
            FILE *file = fopen(load.path, "w");
            ck_assert_ptr_nonnull(file);
            fputs(lists[j], file);
            ck_assert_int_eq(fclose(file), 0);
            fit_load(flags[i], &load, &fitted);
            /* Two or three codes, and more segments: each comes out as its nearest code. */
            ck_assert_msg(fitted.table.certificate.correctly_rounded == 1, "%s, %s: %g", flags[i], lists[j],
                          fitted.table.certificate.correctly_rounded);
            fitted_free(&fitted);
            ck_assert_int_eq(unlink(load.path), 0);
        }
}
END_TEST

static const char *const tiny[] = {
    "sigmoid --in s5:2^-1:0 --out s5:2^-5:-16 --segments 2 --slope-bits 5",
    "tanh --in s5:2^-2:0 --out s5:2^-4:0 --segments 3 --slope-bits 4",
    "gelu --in s5:2^-2:0 --out s5:2^-2:0 --segments 3 --slope-bits 6",
    "silu --in u5:2^-2:20 --out s6:2^-3:5 --segments 2 --slope-bits 6",
    "exp --in u5:2^-2:31 --out u6:2^-6:0 --segments 3 --slope-bits 5",
    "erf --in s6:2^-3:0 --out s8:2^-7:0 --segments 4 --slope-bits 8",
};
enum { TINY = sizeof tiny / sizeof *tiny, DRAWS = 6 };

/* Every line of every range, enumerated, against what certificates claim; weights are drawn over two decades. */
START_TEST(claims_of_the_least_weighted_error_hold)
{
    uint64_t state = 99 + (uint64_t)_i;
    for (int draw = 0; draw < DRAWS; draw += quick_step(3)) {
        struct load load;
        struct fitted fitted;
        load_bell(&load, tiny[_i], 0, 1);
        double total = 0;
        for (int k = 0; k < load.count; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            load.weight[k] = pow(10, -2.0 * (double)(state >> 40) / (1 << 24));
            total += load.weight[k];
        }
        load_write(&load);
        fit_load(tiny[_i], &load, &fitted);
        const double rms = measure_load(&fitted, &load).rms;
        struct tiny spec;
        tiny_from_flags(&spec, tiny[_i]);
        memcpy(spec.weight, load.weight, (size_t)load.count * sizeof *load.weight);
        struct every_spec every = tiny_every(&spec, 0);
        every.squares = true;
        const double optimum = sqrt(every_table(&every, rms * rms * total * (1 + 1e-9)).least / total);
        printf("# %-72s weighted RMS %.6f, optimum %.6f, ratio %.4f\n", tiny[_i], rms, optimum, rms / optimum);
        ck_assert_msg(optimum <= rms * (1 + 1e-9), "%s: %.6g is below the best table's %.6g", tiny[_i], rms, optimum);
        const struct certificate *says = &fitted.table.certificate;
        ck_assert_msg(says->optimal != 1 || rms <= optimum * (1 + 1e-9), "%s: %.6g is not optimal, %.6g is", tiny[_i],
                      rms, optimum);
        ck_assert_msg(!says->has_lower_bound || says->lower_bound_lsb <= optimum * (1 + 1e-9),
                      "%s: %.6g is not least, %.6g is", tiny[_i], says->lower_bound_lsb, optimum);
        spec_free(&spec.spec);
        fitted_free(&fitted);
        load_free(&load);
    }
}
END_TEST

START_TEST(weights_that_do_not_serve_are_refused)
{
    static const char types[] = "tanh --in s8:2^-5:0 --out s8:2^-7:0";
    static const struct {
        const char *flags, *words;
    } bad[] = {{"--method minimax", "--weights with --method minimax: must be lsq, uniform or document"},
               {"--max-err 2", "--weights with --method minimax, which --max-err implies"},
               {"--method lut", "--weights with --method lut"},
               {"--in s9:2^-5:0", "256 weights; --in has the codes -256 to 255 and needs 512"}};
    struct load load;
    struct fitted fitted;
    char flags[FLAGS_SIZE];
    load_bell(&load, types, 0, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(flags, sizeof flags, "%s %s --weights %s", types, bad[i].flags, load.path);
        refuse(flags, EXIT_USAGE, bad[i].words);
    }
    snprintf(flags, sizeof flags, "%s --max-err 4 --method lsq", types);
    fit_load(flags, &load, &fitted);
    ck_assert(fitted.table.certificate.max_err_lsb <= 4);
    fitted_free(&fitted);
    load_free(&load);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("weighted fit");
    TCase *tcase = tcase_create("weighted fit");
    /* Each case in one of them at least. */
    for (int k = 0; k < CASES; k += quick_step(2))
        tcase_add_loop_test(tcase, a_weighted_fit_has_less_weighted_error, k, k + 1);
    for (int k = quick_step(2) - 1; k < CASES; k += quick_step(2))
        tcase_add_loop_test(tcase, the_certificate_is_weighted, k, k + 1);
    tcase_add_test(tcase, codes_that_never_occur_are_fitted_safely);
    tcase_add_loop_test(tcase, claims_of_the_least_weighted_error_hold, 0, TINY);
    tcase_add_test(tcase, weights_that_do_not_serve_are_refused);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
