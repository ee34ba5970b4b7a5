/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every code by the functions of the device, compiled for the host (sweep_host.c, which PWL_CUDA_LIBRARY names),
 * against measure(): the same extremes and counts, and sums that differ by the margins. */
#include "../../support/suite.h"
#include "../measure/measure_fixture.h"
#include "device/cuda_library.h"
#include "device/measure_cuda.h"

static struct library library;

static struct error_stats on_device(const struct made *made, const struct function *function)
{
    struct error_stats stats;
    struct diag diag;
    memset(&stats, 0, sizeof stats);
    ck_assert_msg(measure_on_cuda(&made->table, &made->packed, function, &library, NULL, NULL, &stats, &diag) ==
                      EXIT_DONE,
                  "%s", diag.text);
    return stats;
}

/* Margins are below 2^-16 LSB here, of errors that average more than an LSB; most outputs are narrower by far. */
static void compare(const char *what, const struct made *made, const struct function *function)
{
    const struct error_stats device = on_device(made, function), host = measured(made, function, true);
    assert_same(what, &device, &host, 1e-9);
}

/* Every built-in function, most inputs not of a power of two, and outputs of three widths. */
START_TEST(every_function_agrees_with_the_host)
{
    static const char *const ins[] = {"s17:2^-13:0", "s17:0.000122:100", "u17:0.00023:40000"};
    static const char *const outs[] = {"s8:2^-5:3", "s16:0.00037:-20", "s32:2^-27:0"};
    for (const struct function_info *info = function_table; info->name; info++) {
        const struct function function = function_of(info->name);
        for (int k = 0; k < 3; k++) {
            struct made made;
            start_table(&made, ins[k], outs[(k + (info - function_table)) % 3]);
            made.table.outside = OUTSIDE_CLAMP;
            made.table.in.qmin += 777; /* the last run is short */
            add_chords(&made, &function, 20, 10, 0);
            compare(info->name, &made, &function);
        }
    }
}
END_TEST

/* More than 2^20 codes, where measure() takes another way. */
START_TEST(wide_inputs_agree_with_the_host)
{
    static const struct {
        const char *name, *in, *out;
        int n;
    } jobs[] = {
        {"sigmoid", "s22:2^-17:0", "s16:2^-15:0", 20},
        {"tanh", "s22:2^-17:100", "s32:2^-31:0", 6},
        {"hard_swish", "s22:2^-16:7", "s16:2^-12:0", 20},
        {"exp", "s22:2^-6:0", "s16:2^-4:0", 10},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const struct function function = function_of(jobs[i].name);
        struct made made;
        start_table(&made, jobs[i].in, jobs[i].out);
        made.table.in.qmin = -524290;
        made.table.in.qmax = 524300;
        add_chords(&made, &function, 13, jobs[i].n, 0);
        compare(jobs[i].name, &made, &function);
    }
}
END_TEST

/* t is a limit of the output, a tie, or q_y itself at many codes: undecided, and too many to list in some runs. */
START_TEST(exact_targets_agree_with_the_host)
{
    static const char *const outs[] = {"s16:2^0:0", "s16:2^1:0", "s16:2^6:0", "u8:2^8:1", "s17:2^0:-3"};
    const struct function function = function_of("relu");
    for (size_t i = 0; i < sizeof outs / sizeof *outs; i++) {
        for (int drop = 0; drop < 3; drop++) {
            struct made made;
            start_table(&made, "s18:2^0:0", outs[i]);
            add_chords(&made, &function, 16, 12, 0);
            for (int k = 0; k < made.table.segment_count; k++)
                made.offset[k] = made.segments[k].offset -= drop;
            compare(outs[i], &made, &function);
        }
    }
}
END_TEST

/* t is a limit of the output but for double's rounding: 0.1 * 81923 / 0.1 is above 81923. The largest error is in
 * another run, so that the host does not measure this one anyway. */
START_TEST(targets_rounded_beyond_a_limit_do_not_saturate)
{
    const struct function function = function_of("relu");
    for (int limit = 81920; limit < 81930; limit++) {
        struct made made;
        start_table(&made, "s18:0.1:0", "s18:0.1:0");
        made.table.out.qmax = limit;
        add_segment(&made, -(1 << 17), 0, 0, 50);
        add_segment(&made, -65536, 0, 0, 0);
        add_segment(&made, 0, 1, 0, -1);
        finish(&made);
        ck_assert_int_eq(on_device(&made, &function).saturated_codes, 131071 - limit);
        compare("limit", &made, &function);
    }
}
END_TEST

/* Values that double does not hold, on both sides. */
START_TEST(overflow_and_underflow_agree_with_the_host)
{
    static const char *const names[] = {"exp", "gelu", "gelu_tanh", "sigmoid", "logsigmoid", "mish", "softplus"};
    static const char *const outs[] = {"u16:2^-3:0", "s16:2^-3:7", "s32:2^60:0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct function function = function_of(names[i]);
        for (int k = 0; k < 3; k++) {
            struct made made;
            start_table(&made, "s16:0.09:0", outs[k]); /* -2949 to 2949 */
            add_chords(&made, &function, 24, 4, 0);
            compare(names[i], &made, &function);
        }
    }
}
END_TEST

/* One step against f, at a run's first code and inside a run; and steps too small to tell. */
START_TEST(backward_steps_are_found)
{
    const struct function function = function_of("leaky_relu");
    for (int inside = 0; inside < 2; inside++) {
        for (int drop = 1; drop <= 2; drop++) {
            struct made made;
            start_table(&made, "s18:2^0:0", "s18:2^0:0");
            add_segment(&made, -(1 << 17), 0, 0, -1000);
            add_segment(&made, 0, 1, 0, 0);
            add_segment(&made, 65536 + inside * 1234, 1, 0, -drop);
            finish(&made);
            ck_assert_int_eq(on_device(&made, &function).monotone, drop == 1);
            compare("step", &made, &function);
        }
    }
    const struct function flat = function_of("tanh"); /* 1 from 20 on, but for less than double holds */
    for (int sign = -1; sign <= 1; sign += 2) {
        struct made made;
        start_table(&made, "s16:2^-8:-10000", "s16:2^-8:0");
        add_segment(&made, -32768, sign, 12, 200);
        finish(&made);
        compare("flat", &made, &flat);
    }
}
END_TEST

START_TEST(two_runs_give_the_same_bits)
{
    const struct function function = function_of("silu");
    struct made made;
    start_table(&made, "s18:0.00007:3", "s24:2^-20:5");
    add_chords(&made, &function, 16, 12, 0);
    const struct error_stats a = on_device(&made, &function), b = on_device(&made, &function);
    ck_assert(a.rms == b.rms && a.mean_abs == b.mean_abs && a.bias == b.bias);
}
END_TEST

/* What devices do not have. */
START_TEST(other_functions_are_refused)
{
    double x[] = {-10, 10}, y[] = {0, 1};
    struct samples samples = {.count = 2, .x = x, .y = y};
    const struct function sampled = {.samples = &samples};
    const struct function log = function_of("log");
    struct made made;
    struct error_stats stats;
    struct diag diag;
    start_table(&made, "s8:2^-5:0", "s8:2^-7:0");
    add_segment(&made, -128, 1, 0, 0);
    finish(&made);
    ck_assert_int_eq(measure_on_cuda(&made.table, &made.packed, &sampled, &library, NULL, NULL, &stats, &diag),
                     EXIT_USAGE);
    ck_assert_str_eq(diag.text, "--device cuda: samples is no built-in function; must be --device cpu");
    ck_assert_int_eq(measure_on_cuda(&made.table, &made.packed, &log, &library, NULL, NULL, &stats, &diag), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(diag.text, "lies outside the domain"));
}
END_TEST

int main(void)
{
    struct diag diag;
    if (cuda_library_open(&library, &diag) != EXIT_DONE) {
        fprintf(stderr, "%s\n", diag.text);
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("measure_cuda");
    TCase *tests = tcase_create("measure_cuda");
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, every_function_agrees_with_the_host);
    tcase_add_test(tests, wide_inputs_agree_with_the_host);
    tcase_add_test(tests, exact_targets_agree_with_the_host);
    tcase_add_test(tests, targets_rounded_beyond_a_limit_do_not_saturate);
    tcase_add_test(tests, overflow_and_underflow_agree_with_the_host);
    tcase_add_test(tests, backward_steps_are_found);
    tcase_add_test(tests, two_runs_give_the_same_bits);
    tcase_add_test(tests, other_functions_are_refused);
    suite_add_tcase(suite, tests);
    const int status = run_suite(suite);
    library_close(&library);
    return status;
}
