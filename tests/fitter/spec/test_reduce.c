/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reduced tables: how far off they may be, against plain tables of as many segments, and what the fit refuses. */
#include "../reference/fixture.h"

#include "spec/reduce.h"

#define SEGMENTS 16

/* Functions over wide ranges, without --method and what follows. */
static const char *const wide_ranges[] = {
    "rsqrt --in u16:0.015623498207064927:-6 --out u16:2^-14 --outside error", /* [0.1, 1024] */
    "exp --in s16:2^-8:32767 --out u16:2^-16:-1",                             /* [-256, 0] */
    "exp --in s16:2^-11 --out u16:2^-4",                                      /* [-16, 16) */
    "sqrt --in u16:2^-6 --out u16:2^-11",
    "sqrt --in s16:2^-5 --out s16:2^-9:-100 --outside clamp",
    "log --in u16:2^-6 --out s16:2^-11 --outside clamp",
    "log --in u16:0.37:-3 --out s16:0.0005:-7000",
    "reciprocal --in u16:2^-8 --out u16:2^-8 --outside clamp",
    "reciprocal --in s16:2^-4:-32769 --out s16:2^-16:-32768",
};
#define WIDE_RANGES ((int)(sizeof wide_ranges / sizeof *wide_ranges))

static const char *const wide_inputs[] = {
    "rsqrt --in u32:2^-22 --out u32:2^-30 --outside clamp",      "exp --in s32:2^-24:2147483647 --out u32:2^-32",
    "log --in u32:2^-16 --out s32:2^-26 --outside clamp",        "sqrt --in u32:2^-16 --out u32:2^-24",
    "reciprocal --in u32:2^-16 --out u16:2^-12 --outside clamp",
};
#define WIDE_INPUTS ((int)(sizeof wide_inputs / sizeof *wide_inputs))

/* The octave of x and, of 16 equal parts of it, the one that holds x: [low, low + width]. */
static void part_of_octave(const struct spec *spec, long double x, long double *low, long double *width)
{
    const char *name = function_name(&spec->function);
    long double start, length;
    if (!strcmp(name, "exp")) {
        length = logl(2);
        start = floorl(x / length) * length;
    } else {
        /* Octaves end at powers of 2 in d, of 4 for the square roots, whose words have an even number of bits. */
        const int step = strstr(name, "sqrt") ? 2 : 1;
        int exponent;
        frexpl(x / spec->in.scale.value, &exponent);
        const long double end = exponent + (step == 2 && exponent % 2);
        start = exp2l(end - step) * spec->in.scale.value;
        length = exp2l(end) * spec->in.scale.value - start;
    }
    *width = length / SEGMENTS;
    *low = start + floorl((x - start) / *width) * *width;
}

/*
 * What a reduced minimax table of 16 segments need not exceed at x, in LSB. Its knots may be those of 16 equal parts of
 * an octave; its largest error is then at most the largest over all x of these terms:
 *   h^2 max|f''| / 16   the best line over a part of width h; |f''| falls with x, or grows for exp: the largest is at
 * an end of the part. The search stops within 1/1000 of the least error |f'| octave / 2^(w-1)   a word has at least w -
 * 1 bits in its octave, and is rounded, or cut, by less than one of them 1/2                 the last rounding 1/32
 * steps of the core's value, its line's floor and its slope, at 2^-8 LSB or less; the addend's, half a step of 2^-10
 * LSB in each of 16 octaves and for words of 32 bits the steps are no finer than a 32-bit LSB: 1 for the value and half
 * of 32 octaves.
 */
static double need_not_exceed(const struct spec *spec, int64_t q)
{
    const long double x = tensor_real(&spec->in, q), scale = spec->out.scale.value;
    const int word_bits = storage_bits(spec_storage(spec));
    long double low, width;
    part_of_octave(spec, x, &low, &width);
    const long double bend = fmaxl(fabsl(function_second_derivative(&spec->function, low)),
                                   fabsl(function_second_derivative(&spec->function, low + width)));
    const long double line = 1.001L * bend * width * width / 16 / scale;
    const long double word =
        fabsl(function_derivative(&spec->function, x)) * ldexpl(SEGMENTS * width, 1 - word_bits) / scale;
    return (double)(line + word) + 0.5 + (word_bits == 16 ? 1.0 / 32 : 17);
}

static bool is_reduced_code(const struct spec *spec, int64_t q)
{
    const long double x = tensor_real(&spec->in, q);
    return function_defined(&spec->function, x) && x != 0;
}

static long double clipped_target(const struct spec *spec, int64_t q, bool *saturates)
{
    const long double t = dd_long(target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, q));
    const long double low = (long double)spec->out.qmin, high = (long double)spec->out.qmax;
    /* Just beyond, a value may come out inside, and is held to the bound as if it were. */
    *saturates = t < low || t > high + (high - low) / 1024;
    return t < low ? low : t > high ? high : t;
}

static void fit_as(const char *flags, const char *more, struct fitted *fitted)
{
    char all[FLAGS_SIZE];
    snprintf(all, sizeof all, "%s %s", flags, more);
    fit_well(all, fitted);
}

/* Every code: the certificate is what a plain loop finds. */
static void check_every_code(const struct fitted *fitted)
{
    const struct spec *spec = &fitted->spec;
    const struct certificate *says = &fitted->table.certificate;
    double max = 0;
    long double squares = 0;
    for (int64_t q = spec->in.qmin; q <= spec->in.qmax; q++) {
        bool saturates;
        const long double t = clipped_target(spec, q, &saturates);
        const long double e = fabsl((long double)packed_eval(&fitted->packed, q) - t);
        squares += e * e;
        max = fmax(max, (double)e);
    }
    const double rms = (double)sqrtl(squares / (long double)(spec->in.qmax - spec->in.qmin + 1));
    ck_assert_double_eq_tol(says->max_err_lsb, max, 1e-9 * max);
    ck_assert_double_eq_tol(says->rms_err_lsb, rms, 1e-9 * rms);
    ck_assert(says->exhaustive && says->optimal == -1 && !says->has_lower_bound);
}

static double largest_bound(const struct spec *spec)
{
    double bound = 0;
    for (int64_t q = spec->in.qmin; q <= spec->in.qmax; q++) {
        bool saturates;
        clipped_target(spec, q, &saturates);
        if (!saturates && is_reduced_code(spec, q))
            bound = fmax(bound, need_not_exceed(spec, q));
    }
    return bound;
}

START_TEST(sixteen_segments_serve_a_wide_range)
{
    struct fitted plain, reduced, minimax;
    fit_as(wide_ranges[_i], "--method minimax --reduce on", &minimax);
    fit_as(wide_ranges[_i], "--method minimax", &plain);
    ck_assert(minimax.table.has_reduction && minimax.table.segment_count == SEGMENTS);
    check_every_code(&minimax);
    const double bound = largest_bound(&minimax.spec);
    const double max = minimax.table.certificate.max_err_lsb, other = plain.table.certificate.max_err_lsb;
    ck_assert_msg(max <= bound, "%s: max %g, must be at most %g", wide_ranges[_i], max, bound);
    ck_assert_msg(max < other, "%s: max %g, a plain table has %g", wide_ranges[_i], max, other);
    fitted_free(&plain);

    /* Least squares gain as well. */
    fit_as(wide_ranges[_i], "--method lsq --reduce on", &reduced);
    fit_as(wide_ranges[_i], "--method lsq", &plain);
    check_every_code(&reduced);
    const double rms = reduced.table.certificate.rms_err_lsb;
    ck_assert_double_lt(rms, plain.table.certificate.rms_err_lsb);
    /* The search weighs each word by its octaves. Rounding, which it does not see, is below 1/2 LSB. */
    ck_assert_double_le(rms, minimax.table.certificate.rms_err_lsb + 0.01);
    fitted_free(&minimax);
    fitted_free(&plain);
    fitted_free(&reduced);
}
END_TEST

/* Words of 32 bits: random codes of every magnitude. */
START_TEST(wide_inputs_are_within_the_bound)
{
    struct fitted reduced;
    fit_as(wide_inputs[_i], "--method minimax --reduce on", &reduced);
    const struct spec *spec = &reduced.spec;
    const double says = reduced.table.certificate.max_err_lsb;
    double bound = 0;
    uint64_t random = 88172645463325252u;
    ck_assert(!reduced.table.certificate.exhaustive);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < 100000; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            const int64_t d = (int64_t)((random & UINT32_MAX) >> (random >> 59));
            const int64_t q = strcmp(function_name(&spec->function), "exp") ? d : spec->in.qmax - d;
            bool saturates;
            const long double t = clipped_target(spec, q, &saturates);
            if (pass == 0 && !saturates && is_reduced_code(spec, q))
                bound = fmax(bound, need_not_exceed(spec, q));
            if (pass == 1) {
                const double e = fabs((double)((long double)packed_eval(&reduced.packed, q) - t));
                ck_assert_msg(e <= bound, "%s: code %" PRId64 " is off by %g, bound %g", wide_inputs[_i], q, e, bound);
            }
        }
    ck_assert_double_le(says, bound);
    fitted_free(&reduced);
}
END_TEST

/* Codes weigh by their octave, and not at all where f lies beyond the outputs by more than 1/1024 of them. A word is
 * within one of its steps of the code's own; codes so near to where weights end are left out. */
static void check_weights(const char *flags)
{
    char all[FLAGS_SIZE];
    struct spec spec;
    struct reduced_core core;
    struct diag diag;
    int64_t weighed = 0, word;
    snprintf(all, sizeof all, "%s --reduce on", flags);
    ck_assert(spec_from(all, &spec, &diag) == EXIT_DONE && reduce_plan(&spec, &core, &diag) == EXIT_DONE);
    const struct spec inner = reduce_core_spec(&spec, &core);
    const long double near = (long double)(spec.out.qmax - spec.out.qmin) / 1024;
    for (int64_t q = spec.in.qmin; q <= spec.in.qmax; q++) {
        const double units = reduce_units(&inner, q, &word);
        if (core.reduction.kind == PWL_LEADING_ZEROS && q <= spec.in.zero_point) {
            ck_assert(isinf(units));
            continue;
        }
        const long double t = dd_long(target_unclipped(&spec.function, &spec.in, &spec.out, spec.outside, q));
        const long double x = tensor_real(&spec.in, q);
        long double low, width;
        part_of_octave(&spec, x, &low, &width);
        const long double off = 1.0L / 32 + fabsl(function_derivative(&spec.function, x)) * width * SEGMENTS *
                                                ldexpl(1, 1 - core.words.bits) / spec.out.scale.value;
        const long double beyond = fmaxl((long double)spec.out.qmin - t, t - (long double)spec.out.qmax);
        if (fabsl(beyond - near) <= off)
            continue;
        ck_assert_msg(isinf(units) == (beyond > near), "%s: code %" PRId64 ", target %Lg: weight 1/%g", all, q, t,
                      units);
        if (isinf(units))
            continue;
        long double y = reduce_target(&inner, word) / units + (long double)spec.out.zero_point - t;
        if (core.reduction.direction == 0) /* but for whole octaves */
            y = remainderl(y, logl(2) / spec.out.scale.value);
        ck_assert_msg(fabsl(y) <= off, "%s: code %" PRId64 ", target %Lg: weight 1/%g is off by %Lg", all, q, t, units,
                      y);
        weighed++;
    }
    ck_assert_int_gt(weighed, 0);
    spec_free(&spec);
}

START_TEST(codes_weigh_by_their_octaves_unless_they_saturate)
{
    for (int k = 0; k < WIDE_RANGES; k++)
        check_weights(wide_ranges[k]);
    check_weights("exp --in s12:2^-8 --out u8:2^-1");
    check_weights("rsqrt --in u12:2^-8 --out s10:2^-4:20 --outside clamp");
}
END_TEST

/* d and 4 d have the same word: half_up(v / 2^(n + 1)) and half_up(v / 2^n), so that twice the one is within 1 of the
 * other. */
START_TEST(octaves_repeat)
{
    struct fitted reduced;
    fit_well("sqrt --in u16:2^-6 --out u16:2^-11 --reduce on", &reduced);
    for (int64_t d = 1; 4 * d < 65536; d++) {
        const int64_t once = packed_eval(&reduced.packed, d), twice = packed_eval(&reduced.packed, 4 * d);
        ck_assert(llabs(twice - 2 * once) <= 1 || twice == 65535);
    }
    ck_assert_int_eq(packed_eval(&reduced.packed, 0), 0);
    fitted_free(&reduced);
}
END_TEST

START_TEST(an_error_needs_fewer_segments)
{
    struct fitted plain, reduced;
    fit_as(wide_ranges[_i], "--max-err 1 --reduce on", &reduced);
    fit_as(wide_ranges[_i], "--max-err 1", &plain);
    ck_assert_double_le(reduced.table.certificate.max_err_lsb, 1);
    ck_assert_int_lt(reduced.table.segment_count, plain.table.segment_count);
    fitted_free(&plain);
    fitted_free(&reduced);
}
END_TEST

/* Every form and rounding, and the constraints that leave segments alone; 8-bit types have an int16 core. */
START_TEST(every_form_and_rounding)
{
    static const char *const types[] = {"exp --in s8:2^-4:127 --out u8:2^-8", "sqrt --in u8:2^-4:-9 --out u8:2^-6",
                                        "rsqrt --in u12:2^-8 --out s10:2^-4:20 --outside clamp",
                                        "log --in s16:2^-12:-32769 --out s16:2^-12"};
    static const char *const forms[] = {"absolute", "biased", "anchored"};
    static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};
    static const char *const more[] = {"--segments 6",
                                       "--segments 6 --method minimax",
                                       "--segments 4 --shift one",
                                       "--segments 5 --slope-terms 2",
                                       "--segments 6 --knots pow2",
                                       "--method uniform",
                                       "--segments 6 --slope-bits 9",
                                       "--max-err 0.9"};
    for (int k = _i % quick_step(3); k < 12; k += quick_step(3)) {
        char flags[FLAGS_SIZE];
        struct fitted reduced;
        snprintf(flags, sizeof flags, "%s --reduce on --form %s --rounding %s %s", types[_i], forms[k % 3],
                 roundings[k / 3], more[(k + 3 * _i) % 8]);
        fit_well(flags, &reduced);
        check_every_code(&reduced);
        ck_assert(reduced.table.storage == PWL_INT16);
        if (!isnan(reduced.spec.max_err))
            ck_assert_double_le(reduced.table.certificate.max_err_lsb, 0.9);
        fitted_free(&reduced);
    }
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
    refuse("tanh --in s8:2^-4 --out s8:2^-7 --reduce on", EXIT_USAGE, "--reduce on: tanh does not repeat itself");
    refuse("sqrt --in u8:2^-4 --out u8:2^-4 --reduce yes", EXIT_USAGE, "--reduce yes: must be on or off");
    refuse("sqrt --in u8:2^-4 --out u8:2^-4 --reduce on --method lut", EXIT_USAGE, "--reduce on with --method lut");
    refuse("sqrt --in u8:2^-4 --out u8:2^-4 --reduce on --method document", EXIT_USAGE,
           "--reduce on with --method document");
    refuse("reciprocal --in u8:2^-4:-1 --out u8:2^-4 --reduce on --symmetry fold", EXIT_USAGE, "--symmetry fold");
    refuse("sqrt --in u8:2^-4 --out u8:2^-4 --reduce on --fix 0:0", EXIT_USAGE, "--reduce on with --fix");
    refuse("sqrt --in u8:2^-4 --out u8:2^-4 --reduce on --continuous 1", EXIT_USAGE, "--continuous");
    refuse("sqrt --in s8:2^-4 --out s8:2^-4 --reduce on", EXIT_USAGE, "outside the domain");
    refuse("sqrt --in u8:2^-4:255 --out s8:2^-4 --reduce on --outside clamp", EXIT_USAGE, "no code of --in lies above");
    refuse("reciprocal --in s8:2^-4 --out s8:2^-4 --reduce on --outside clamp", EXIT_USAGE, "negative values");
    refuse("exp --in s16:2^32 --out u16:2^-4 --reduce on", EXIT_USAGE, "fraction bits");
    refuse("exp --in u16:2^-4:-100000 --out u16:2^-4 --reduce on", EXIT_USAGE, "at every input code");
    refuse("sqrt --in u16:2^-4 --out u16:2^-40 --reduce on", EXIT_USAGE, "at every input code");
    refuse("exp --in s32:2^-24 --out s32:2^-40:-1000000000000000 --reduce on", EXIT_USAGE, "do not fit the core's");
    refuse("sqrt --in u8:2^-4 --out u8:2^-4 --reduce on --slope-bits 17", EXIT_USAGE, "must be from 2 to 16");
    refuse("sqrt --in u16:2^-6 --out u16:2^-11 --reduce on --segments 8 --max-err 1", EXIT_REQUIREMENT, "--max-err 1");
    refuse("sqrt --in u16:2^-6 --out u16:2^-11 --reduce on --max-err 0.4", EXIT_REQUIREMENT, "--max-err 0.4");
}
END_TEST

START_TEST(off_is_as_without)
{
    struct fitted off, without;
    fit_well("sqrt --in u8:2^-4 --out u8:2^-6 --reduce off", &off);
    fit_well("sqrt --in u8:2^-4 --out u8:2^-6", &without);
    char *a = json_of(&off.table), *b = json_of(&without.table);
    ck_assert_str_eq(a, b);
    free(a);
    free(b);
    fitted_free(&off);
    fitted_free(&without);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reduce");
    TCase *tcase = tcase_create("reduce");
    tcase_set_timeout(tcase, 300);
    for (int k = 0; k < WIDE_RANGES; k += quick_step(2)) /* every function */
        tcase_add_loop_test(tcase, sixteen_segments_serve_a_wide_range, k, k + 1);
    tcase_add_loop_test(tcase, wide_inputs_are_within_the_bound, 0, WIDE_INPUTS);
    tcase_add_test(tcase, codes_weigh_by_their_octaves_unless_they_saturate);
    tcase_add_test(tcase, octaves_repeat);
    tcase_add_loop_test(tcase, an_error_needs_fewer_segments, 0, 4);
    tcase_add_loop_test(tcase, every_form_and_rounding, 0, 4);
    tcase_add_test(tcase, what_makes_no_sense_is_refused);
    tcase_add_test(tcase, off_is_as_without);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
