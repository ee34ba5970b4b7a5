/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measuring tables of more than 2^20 codes: chosen codes, or all of them through polynomials. */
#include <string.h>

#include "measure_fixture.h"
#include "function/samples.h"
#include "measure/sampled_codes.h"

#include "../../support/suite.h"

/* f = -|x - c| over a level table: the worst code is the kink, which lies between the evenly spaced codes. */
START_TEST(an_extreme_between_the_samples_is_found)
{
    const int64_t kink = 123456789;
    struct made made;
    struct function function = own(&minus_abs_info);
    start_table(&made, "s32:2^0:123456789", "s32:2^0:0");
    add_segment(&made, INT32_MIN, 0, 0, INT32_MIN);
    finish(&made);
    const int64_t sample = (kink - INT32_MIN) * 1048575 / 4294967295; /* the last one that is not beyond the kink */
    ck_assert_int_gt(kink - (INT32_MIN + sample * 4294967295 / 1048575), 1000);
    ck_assert_int_gt(INT32_MIN + (sample + 1) * 4294967295 / 1048575 - kink, 1000);
    /* Far from the kink f saturates like the table; at the kink they differ by 2^31. */
    struct error_stats stats = measured(&made, &function, false);
    ck_assert(stats.max_err == 0x1p31 && stats.max_err_at == kink);
    ck_assert(!stats.exhaustive && stats.checked > 1 << 20 && stats.checked < 1 << 21);

    /* The same with the extreme next to a slope that is not level. */
    function = own(&minus_abs_info);
    made.segments[0].q_b = made.q_b[0] = 1;
    made.segments[0].n = made.n[0] = 1;
    stats = measured(&made, &function, false);
    ck_assert_int_eq(stats.max_err_at, kink);
}
END_TEST

/* A code is 16 output codes: t = -16 |x - c|, and a line of slope 1 that lies below all of it, farthest at the kink. */
START_TEST(an_extreme_is_found_by_slopes_in_codes)
{
    const int64_t kink = 123456789;
    struct made made;
    const struct function function = own(&minus_abs_info);
    start_table(&made, "s32:2^0:123456789", "s32:2^-4:0");
    made.table.in.qmin = kink - (1 << 25) - 77;
    made.table.in.qmax = kink + (1 << 25);
    add_segment(&made, made.table.in.qmin, 1, 0, -(1 << 30));
    finish(&made);
    const struct error_stats stats = measured(&made, &function, false);
    ck_assert(stats.max_err == 0x1p30);
    ck_assert_int_eq(stats.max_err_at, kink);
}
END_TEST

/* t = q / 2^24 and floor: just below each step the error is 1 - 2^-24, at the samples at most 1 - 2^-13. */
START_TEST(codes_beside_the_tables_steps_are_compared)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s32:2^-24:0", "s16:2^0:0");
    add_segment(&made, INT32_MIN, 1, 24, 0);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, false);
    ck_assert(stats.max_err == 1 - 0x1p-24);
    ck_assert_int_eq(stats.max_err_at, (int64_t)INT32_MIN + (1 << 24) - 1);
}
END_TEST

/* A slope of 63/64 of f's falls behind, so that the last step before the end is the worst. */
START_TEST(codes_beside_the_last_step_are_compared)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s32:2^-24:0", "s16:2^0:0");
    made.table.in.qmax = INT32_MAX - 8000000; /* half a step from the last one */
    add_segment(&made, INT32_MIN, 63, 30, 0);
    finish(&made);
    const int64_t step = ((INT64_C(125) << 30) + 62) / 63; /* the first code with 63 q / 2^30 >= 125 */
    const struct error_stats stats = measured(&made, &function, false);
    ck_assert_int_eq(stats.max_err_at, step - 1);
    ck_assert(stats.max_err == (double)(step - 1) * 0x1p-24 - 124);
}
END_TEST

/* Where f leaves the output's range, a table that goes on to rise is worst just there. */
START_TEST(the_limit_of_the_output_is_compared)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s32:2^0:0", "s24:2^0:0");
    add_segment(&made, INT32_MIN, 1, 8, 0);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, false);
    /* t = q up to 2^23 - 1, y = q >> 8: at q = 2^23 - 1 the distance is 2^23 - 2^15. At -2^23 it is as large. */
    ck_assert(stats.max_err == 0x1p23 - 0x1p15);
    ck_assert_int_eq(stats.max_err_at, -(1 << 23));
    ck_assert(stats.saturated_codes > 0);
}
END_TEST

/* And where the table does, while f goes on. */
START_TEST(the_saturation_of_the_table_is_compared)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s32:2^0:0", "s24:2^9:0");
    add_segment(&made, INT32_MIN, 1, 7, 0);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, false);
    /* t = q / 512 and y = q >> 7, which stays at -2^23 up to q = -2^30 + 127. */
    ck_assert(stats.max_err == 0x1p23 - 0x1p21 + 127.0 / 512);
    ck_assert_int_eq(stats.max_err_at, -(1 << 30) + 127);
    ck_assert_int_eq(stats.saturated_codes, 0);
}
END_TEST

START_TEST(each_code_is_compared_once)
{
    struct made made;
    const struct function function = own(&constant_info);
    start_table(&made, "s32:2^0:0", "s16:2^0:0");
    add_segment(&made, INT32_MIN, 0, 0, 0);
    finish(&made);
    /* The ends are of the sample, their 64 neighbours are not. */
    ck_assert_int_eq(measured(&made, &function, false).checked, (1 << 20) + 64 + 64);
}
END_TEST

START_TEST(averages_of_wide_inputs_are_of_the_even_samples)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s32:2^-16:0", "s16:2^0:0"); /* right in the lower half, 2 off in the upper */
    add_segment(&made, INT32_MIN, 1, 16, 0);
    add_segment(&made, 0, 1, 16, 2);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, false);
    long double sum = 0, signed_sum = 0, squares = 0, correct = 0;
    for (int64_t k = 0; k < 1 << 20; k++) {
        const int64_t q = INT32_MIN + k * 4294967295 / 1048575;
        int64_t y = plain_eval(&made, q);
        long double target = ldexpl((long double)q, -16);
        target = target > 32767 ? 32767 : target;
        sum += fabsl(y - target);
        signed_sum += y - target;
        squares += (y - target) * (y - target);
        correct += fabsl(y - target) <= 0.5L;
    }
    assert_close("mean", stats.mean_abs, (double)ldexpl(sum, -20), 1e-14);
    assert_close("bias", stats.bias, (double)ldexpl(signed_sum, -20), 1e-14);
    assert_close("rms", stats.rms, (double)sqrtl(ldexpl(squares, -20)), 1e-14);
    assert_close("correct", stats.correctly_rounded, (double)ldexpl(correct, -20), 1e-15);
}
END_TEST

START_TEST(a_backward_step_between_samples_is_found)
{
    struct made made;
    const struct function function = function_of("tanh");
    start_table(&made, "s32:2^-29:0", "s16:2^-15:0");
    add_chords(&made, &function, 16, 30, 0);
    /* Chords meet at the knots, so that only rounding can step back; two LSB lower is a step back for certain. */
    ck_assert_int_eq(made.segments[8].start, 0);
    ck_assert(measured(&made, &function, false).monotone);
    made.segments[8].offset = made.offset[8] -= 2;
    ck_assert(!measured(&made, &function, false).monotone);
}
END_TEST

/* The only step backward is from the last code of a chunk to the first one of the next, which threads take apart. */
START_TEST(a_backward_step_between_two_chunks_is_found)
{
    /* Compared below it are every second code, the others of the 64 above the lowest code, and those of the 65 in front
     * of it, so that its place is 2^16: a multiple of each size of a chunk. */
    const uint64_t place = 1 << 16, above_lowest = 2 * (place - 32 - 33);
    const struct function function = own(&identity_info);
    struct made made;
    uint64_t *items;
    size_t count;
    struct diag diag;
    start_table(&made, "s21:2^0:0", "s21:2^0:0");
    add_segment(&made, -(1 << 20), 0, 0, 3);
    add_segment(&made, -(1 << 20) + (int64_t)above_lowest, 0, 0, 2);
    finish(&made);
    const struct subject subject = {&made.table, &made.packed, &function, code_domain_find(&function, &made.table.in)};
    ck_assert_int_eq(wide_codes(&subject, &items, &count, &diag), EXIT_DONE);
    ck_assert(items[place] / 2 == above_lowest);
    free(items);
    ck_assert(!measured(&made, &function, false).monotone);
    made.segments[1].offset = made.offset[1] = 3;
    ck_assert(measured(&made, &function, false).monotone);
}
END_TEST

/* A slope against f's, so slow that no two neighbours near a knot or a sample differ. */
START_TEST(a_slope_against_f_is_not_monotone)
{
    struct made made;
    const struct function function = function_of("sigmoid");
    double x[] = {-100, 0, 100}, y[] = {-1, 0, 5};
    struct samples samples = {.count = 3, .x = x, .y = y};
    const struct function rising = {.samples = &samples};
    for (int sign = -1; sign <= 1; sign += 2) {
        start_table(&made, "s32:2^-29:0", "s16:2^-8:0");
        add_segment(&made, INT32_MIN, sign, 29, 100);
        finish(&made);
        ck_assert_int_eq(measured(&made, &function, false).monotone, sign > 0);
        ck_assert_int_eq(measured(&made, &rising, false).monotone, sign > 0);
    }
}
END_TEST

/* The table rises everywhere, f rises at both ends and falls between them, nowhere as steeply as the table: only the
 * evenly spaced codes see it. */
START_TEST(a_fall_of_f_inside_a_segment_is_not_monotone)
{
    struct made made;
    const struct function sine = function_of("sin");
    double x[] = {-10, -1, 1, 10}, y[] = {0, 0.5, 0.25, 1};
    struct samples samples = {.count = 4, .x = x, .y = y};
    const struct function sampled = {.samples = &samples};
    start_table(&made, "s32:0.0000000028:0", "s16:2^-7:0");
    add_segment(&made, INT32_MIN, 1, 16, 0);
    finish(&made);
    ck_assert(!measured(&made, &sine, false).monotone);
    ck_assert(!measured(&made, &sampled, false).monotone);
    y[2] = 0.5;
    ck_assert(measured(&made, &sampled, false).monotone);
}
END_TEST

/* Between two of the even samples f rises by 10 and falls by 5, and the table steps down in the fall. */
START_TEST(a_step_with_f_between_samples_is_monotone)
{
    const int64_t step = 1000 * 65536 + 1; /* floor(-q / 65536) steps down here */
    const int64_t k = (step - 500 - INT32_MIN) * 1048575 / 4294967295;
    const int64_t sample = INT32_MIN + k * 4294967295 / 1048575;
    ck_assert(sample + 100 < step && step < sample + 4000);
    double x[] = {INT32_MIN, (double)sample, (double)sample + 100, (double)sample + 4200, INT32_MAX};
    double y[] = {0, 0, 10, 5, 5};
    struct samples samples = {.count = 5, .x = x, .y = y};
    const struct function function = {.samples = &samples};
    struct made made;
    start_table(&made, "s32:2^0:0", "s32:2^0:0");
    add_segment(&made, INT32_MIN, -1, 16, 0);
    finish(&made);
    ck_assert(measured(&made, &function, false).monotone);
    y[0] = y[1] = 2, y[2] = 0; /* it falls, and rises by more */
    ck_assert(measured(&made, &function, false).monotone);
    y[0] = y[1] = 0, y[2] = 2; /* now it rises all the way, */
    ck_assert(!measured(&made, &function, false).monotone);
    made.table.outside = OUTSIDE_CLAMP; /* and from the step on, which does not say what it does before */
    samples.x += 2, samples.y += 2, samples.count -= 2;
    ck_assert(measured(&made, &function, false).monotone);
}
END_TEST

/* Just over 2^20 codes, so that --exhaustive takes its own way; every number is the plain loop's. */
START_TEST(all_codes_of_wide_inputs_agree_with_a_plain_loop)
{
    static const struct {
        const char *name, *in, *out;
        int n;
    } jobs[] = {
        {"sigmoid", "s22:2^-17:0", "s16:2^-15:0", 20},    {"silu", "s22:0.00001:-300000", "s16:2^-11:5", 20},
        {"tanh", "s22:2^-17:100", "s32:2^-31:0", 6},      {"relu6", "s22:2^-16:0", "u8:0.0235:0", 24},
        {"hard_swish", "s22:2^-16:7", "s16:2^-12:0", 20}, {"exp", "s22:2^-6:0", "s16:2^-4:0", 10},
        {"sin", "s22:2^-3:0", "s16:2^-14:0", 10},         {"elu", "s22:2^-18:9", "s24:2^-20:-1", 16},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const struct function function = function_of(jobs[i].name);
        struct made made;
        start_table(&made, jobs[i].in, jobs[i].out);
        made.table.in.qmin = -524290;
        made.table.in.qmax = 524300;
        add_chords(&made, &function, 13, jobs[i].n, 0);
        const struct error_stats stats = measured(&made, &function, true);
        struct error_stats plain = plain_measure(&made, &function, everywhere);
        assert_same(jobs[i].name, &stats, &plain, 1e-9);
    }
}
END_TEST

/* Codes whose target is a limit of the output, exactly, do not saturate. */
START_TEST(all_codes_agree_with_a_plain_loop_at_the_limits)
{
    static const char *const outs[] = {"s16:7:0", "s16:11:0", "s16:13:0"};
    const struct function function = own(&identity_info);
    for (size_t i = 0; i < sizeof outs / sizeof *outs; i++) {
        struct made made;
        start_table(&made, "s22:2^0:0", outs[i]);
        made.table.in.qmin = -522790;
        made.table.in.qmax = 526000;
        add_chords(&made, &function, 13, 20, 0);
        for (int j = 0; j < made.table.segment_count; j++)
            made.offset[j] = made.segments[j].offset +=
                made.start[j] < 0 ? 5 : -5; /* so that errors alone give no reason to look twice */
        const struct error_stats stats = measured(&made, &function, true);
        const struct error_stats plain = plain_measure(&made, &function, everywhere);
        assert_same(outs[i], &stats, &plain, 1e-9);
    }
}
END_TEST

START_TEST(all_codes_agree_with_a_plain_loop_around_the_domain)
{
    struct made made;
    struct function function = function_of("log");
    start_table(&made, "s22:2^-10:0", "s16:2^-8:0");
    made.table.in.qmin = -500000;
    made.table.in.qmax = 600000;
    made.table.outside = OUTSIDE_CLAMP;
    add_chords(&made, &function, 20, 16, 0);
    struct error_stats stats = measured(&made, &function, true);
    struct error_stats plain = plain_measure(&made, &function, (struct plain_domain){1, INT64_MAX, INT64_MAX});
    assert_same("log", &stats, &plain, 1e-9);

    function = function_of("reciprocal");
    for (int i = 0; i < made.table.segment_count; i++)
        made.segments[i] = (struct segment){0};
    made.table.segment_count = 0;
    add_chords(&made, &function, 20, 16, 0);
    stats = measured(&made, &function, true);
    plain = plain_measure(&made, &function, (struct plain_domain){INT64_MIN, INT64_MAX, 0});
    assert_same("reciprocal", &stats, &plain, 1e-9);
}
END_TEST

/* A hole in a function that is smooth but for it. */
START_TEST(all_codes_agree_with_a_plain_loop_at_a_hole)
{
    struct function_info info = identity_info;
    info.punctured = true;
    const struct function function = own(&info);
    struct made made;
    start_table(&made, "s21:2^0:77", "s21:2^0:0");
    made.table.outside = OUTSIDE_CLAMP;
    add_segment(&made, -(1 << 20), 1, 0, -9);
    add_segment(&made, 500000, 1, 0, -20);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, true);
    const struct error_stats plain = plain_measure(&made, &function, (struct plain_domain){INT64_MIN, INT64_MAX, 77});
    ck_assert(measure_code(&made.table, &made.packed, &function, 77) == 10);
    assert_same("hole", &stats, &plain, 1e-9);
}
END_TEST

/* A target of 2^54: codes can no longer be told apart in double precision beside it. */
START_TEST(all_codes_agree_with_a_plain_loop_far_outside_the_output)
{
    const struct function_info info = OWN_INFO(one, zero);
    const struct function function = own(&info);
    struct made made;
    start_table(&made, "s21:2^0:0", "s8:2^-54:0");
    made.table.out.qmax = 125;
    add_segment(&made, -(1 << 20), 0, 0, 100);
    add_segment(&made, 1000, 0, 0, 99);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, true);
    const struct error_stats plain = plain_measure(&made, &function, everywhere);
    ck_assert(plain.max_err == 26 && plain.max_err_at == 1000);
    assert_same("far outside", &stats, &plain, 1e-9);
}
END_TEST

/* The polynomials' blocks start at multiples of 4096 from the lowest code; one step back, there or inside a block. */
START_TEST(all_codes_find_a_single_backward_step)
{
    const struct function function = own(&identity_info);
    for (int inside = 0; inside < 2; inside++) {
        for (int drop = 1; drop <= 2; drop++) {
            struct made made;
            start_table(&made, "s21:2^0:0", "s21:2^0:0");
            add_segment(&made, -(1 << 20), 1, 0, 0);
            add_segment(&made, 17 * 4096 + inside * 1234, 1, 0, -drop);
            finish(&made);
            ck_assert_int_eq(measured(&made, &function, true).monotone, drop == 1);
        }
    }
}
END_TEST

/* Joined sample points have a kink each; blocks between them are straight. */
START_TEST(all_codes_of_samples_agree_with_a_plain_loop)
{
    double x[41], y[41];
    for (int i = 0; i < 41; i++) {
        x[i] = i - 20 + 0.37 * (i % 3);
        y[i] = (i * i * 7) % 23;
    }
    struct samples samples = {.count = 41, .x = x, .y = y};
    const struct function function = {.samples = &samples};
    struct made made;
    start_table(&made, "s22:2^-15:0", "s16:2^-8:0");
    made.table.in.qmin = -600000;
    made.table.in.qmax = 600000;
    made.table.outside = OUTSIDE_CLAMP;
    add_chords(&made, &function, 13, 20, 0);
    const struct error_stats stats = measured(&made, &function, true);
    const struct error_stats plain = plain_measure(&made, &function, everywhere);
    assert_same("samples", &stats, &plain, 1e-9);
}
END_TEST

START_TEST(all_codes_find_what_samples_cannot)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s22:2^0:0", "s22:2^0:0");
    /* One code wrong, far from everything that is sampled but in a piece of its own, which is sampled. */
    add_segment(&made, -(1 << 21), 1, 0, 0);
    add_segment(&made, 777777, 1, 0, 1);
    add_segment(&made, 777778, 1, 0, 0);
    finish(&made);
    const struct error_stats sampled = measured(&made, &function, false), all = measured(&made, &function, true);
    ck_assert(sampled.max_err == 1 && sampled.max_err_at == 777777 && !sampled.exhaustive);
    ck_assert(all.max_err == 1 && all.max_err_at == 777777 && all.exhaustive && all.checked == 1 << 22);
    assert_close("mean", all.mean_abs, 0x1p-22, 1e-12);
}
END_TEST

START_TEST(folded_tables_are_compared_on_both_sides)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s32:2^0:0", "s32:2^0:0");
    made.table.has_fold = true;
    add_segment(&made, 0, 1, 0, 0);
    add_segment(&made, 1000003, 1, 0, 4); /* one off too, from -1000003 down */
    add_segment(&made, 2000003, 1, 0, 0);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, false);
    ck_assert(stats.max_err == 4);
    ck_assert_int_eq(stats.max_err_at, -2000002);
}
END_TEST

struct seen {
    uint64_t calls, done, total;
    bool ordered;
};

static void note_progress(void *context, uint64_t done, uint64_t total)
{
    struct seen *seen = context;
    seen->ordered = seen->ordered && done >= seen->done && done <= total;
    seen->calls++;
    seen->done = done;
    seen->total = total;
}

START_TEST(progress_ends_at_the_total)
{
    struct made made;
    struct error_stats stats;
    struct diag diag;
    const struct function function = function_of("sigmoid");
    start_table(&made, "s22:2^-18:0", "s16:2^-15:0");
    add_chords(&made, &function, 16, 20, 0);
    for (int all = 0; all < 2; all++) {
        struct seen seen = {.ordered = true};
        ck_assert_int_eq(measure(&made.table, &made.packed, &function, all, note_progress, &seen, &stats, &diag),
                         EXIT_DONE);
        ck_assert(seen.ordered && seen.calls > 1 && seen.done == seen.total);
        ck_assert_uint_eq(seen.total, (uint64_t)stats.checked);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("certify_wide");
    TCase *tests = tcase_create("certify_wide");
    tcase_add_test(tests, an_extreme_between_the_samples_is_found);
    tcase_add_test(tests, an_extreme_is_found_by_slopes_in_codes);
    tcase_add_test(tests, codes_beside_the_tables_steps_are_compared);
    tcase_add_test(tests, codes_beside_the_last_step_are_compared);
    tcase_add_test(tests, the_limit_of_the_output_is_compared);
    tcase_add_test(tests, the_saturation_of_the_table_is_compared);
    tcase_add_test(tests, each_code_is_compared_once);
    tcase_add_test(tests, averages_of_wide_inputs_are_of_the_even_samples);
    tcase_add_test(tests, a_backward_step_between_samples_is_found);
    tcase_add_test(tests, a_backward_step_between_two_chunks_is_found);
    tcase_add_test(tests, a_slope_against_f_is_not_monotone);
    tcase_add_test(tests, a_fall_of_f_inside_a_segment_is_not_monotone);
    tcase_add_test(tests, a_step_with_f_between_samples_is_monotone);
    tcase_add_test(tests, all_codes_of_wide_inputs_agree_with_a_plain_loop);
    tcase_add_test(tests, all_codes_agree_with_a_plain_loop_at_the_limits);
    tcase_add_test(tests, all_codes_agree_with_a_plain_loop_around_the_domain);
    tcase_add_test(tests, all_codes_agree_with_a_plain_loop_at_a_hole);
    tcase_add_test(tests, all_codes_agree_with_a_plain_loop_far_outside_the_output);
    tcase_add_test(tests, all_codes_find_a_single_backward_step);
    tcase_add_test(tests, all_codes_of_samples_agree_with_a_plain_loop);
    tcase_add_test(tests, all_codes_find_what_samples_cannot);
    tcase_add_test(tests, folded_tables_are_compared_on_both_sides);
    tcase_add_test(tests, progress_ends_at_the_total);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
