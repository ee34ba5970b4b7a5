/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measuring tables of up to 2^20 codes: every code is compared. */
#include <string.h>

#include "measure/claim.h"
#include "measure/curve.h"
#include "measure/distribution.h"
#include "measure/histogram.h"
#include "measure_fixture.h"

#include "../../support/suite.h"

START_TEST(target_is_f_over_scale_plus_zero_point)
{
    const struct tensor in = tensor_of("u16:2^-12:24576"), out = tensor_of("u16:2^-16:-1");
    const struct function sigmoid = function_of("sigmoid");
    const double x = 410.0 / 4096;
    const double expected = 65536 / (1 + exp(-x)) - 1;
    assert_close("t", target_unclipped(&sigmoid, &in, &out, OUTSIDE_ERROR, 24986).hi, expected, 1e-14);
}
END_TEST

START_TEST(target_outside_the_domain_is_the_nearest_defined_codes)
{
    const struct tensor in = tensor_of("s8:2^-4:3"), out = tensor_of("s16:2^-8:7");
    const struct function logarithm = function_of("log"), reciprocal = function_of("reciprocal");
    const double at_first = target_unclipped(&logarithm, &in, &out, OUTSIDE_ERROR, 4).hi;
    assert_close("t", at_first, log(0x1p-4) * 256 + 7, 1e-14);
    for (int64_t q = -128; q <= 4; q++)
        ck_assert(target_unclipped(&logarithm, &in, &out, OUTSIDE_CLAMP, q).hi == at_first);
    ck_assert(target_unclipped(&logarithm, &in, &out, OUTSIDE_CLAMP, 5).hi > at_first);
    /* Code 3 is x = 0: the smallest positive code stands for it. */
    ck_assert(target_unclipped(&reciprocal, &in, &out, OUTSIDE_CLAMP, 3).hi == 16 * 256 + 7);
    ck_assert(target_unclipped(&reciprocal, &in, &out, OUTSIDE_CLAMP, 2).hi == -16 * 256 + 7);
    /* No positive code: the largest negative one does. */
    const struct tensor negative = tensor_of("s8:2^-4:127");
    ck_assert(target_unclipped(&reciprocal, &negative, &out, OUTSIDE_CLAMP, 127).hi == -16 * 256 + 7);
}
END_TEST

START_TEST(target_may_overflow_and_is_then_clipped)
{
    struct made made;
    const struct function exponential = function_of("exp");
    start_table(&made, "s8:2^9:0", "s8:2^-1:0");
    add_segment(&made, -128, 0, 0, 0);
    add_segment(&made, 1, 0, 0, 127);
    finish(&made);
    ck_assert(isinf(target_unclipped(&exponential, &made.table.in, &made.table.out, OUTSIDE_ERROR, 127).hi));
    const struct error_stats stats = measured(&made, &exponential, false);
    ck_assert_int_eq(stats.saturated_codes, 127);
    ck_assert(stats.max_err == 2 && stats.max_err_at == 0); /* e^0 = 1 is code 2 */
}
END_TEST

START_TEST(every_code_agrees_with_a_plain_loop)
{
    static const char *const names[] = {"sigmoid", "tanh", "gelu", "exp", "relu6", "sin"};
    static const char *const types[][2] = {{"s8:2^-4:0", "s8:2^-7:0"},        {"u8:0.0472:100", "u8:0.0238:17"},
                                           {"s8:2^-3:-20", "s16:2^-12:-300"}, {"u16:2^-12:24576", "u16:2^-16:-1"},
                                           {"s16:2^-12:0", "s16:2^-15:0"},    {"s16:0.00021:12345", "u8:0.011:40"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct function function = function_of(names[i]);
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            for (int tilt = -1; tilt <= 1; tilt += 2) {
                struct made made;
                char what[80];
                snprintf(what, sizeof what, "%s %s %s tilt %d", names[i], types[j][0], types[j][1], tilt);
                start_table(&made, types[j][0], types[j][1]);
                add_chords(&made, &function, 16, 12, tilt * 5);
                const struct error_stats stats = measured(&made, &function, false);
                const struct error_stats plain = plain_measure(&made, &function, everywhere);
                assert_same(what, &stats, &plain, 1e-14);
            }
        }
    }
}
END_TEST

START_TEST(the_witness_is_the_lowest_code)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s16:2^0:0", "s16:2^0:0");
    add_segment(&made, -32768, 1, 0, 0);
    add_segment(&made, -20000, 1, 0, 3);
    add_segment(&made, 100, 1, 0, 0);
    add_segment(&made, 200, 1, 0, -3);
    add_segment(&made, 300, 1, 0, 2);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, false);
    ck_assert(stats.max_err == 3 && stats.max_err_at == -20000);
    ck_assert(stats.max_ulp == 3 && stats.max_ulp_at == -20000);
    ck_assert(measure_code(&made.table, &made.packed, &function, 250) == 3);
    ck_assert(measure_code(&made.table, &made.packed, &function, 150) == 0);
    ck_assert(measure_code(&made.table, &made.packed, &function, 32767) == 0); /* saturates where f does */
}
END_TEST

/* One error at all codes, but for the last bits, of which later codes have more: of many outputs by those of the
 * target, of few by those of the error. */
START_TEST(the_witness_is_the_lowest_of_equal_errors)
{
    static const struct {
        const char *in, *out;
        int slope, offset;
    } tables[] = {{"s16:0.1:-32768", "s20:0.025:0", 4, -3},
                  {"s16:0.1:-32768", "s20:0.025:0", 4, 3},
                  {"s6:0.3:0", "s8:0.1:0", 3, 5}};
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, tables[_i].in, tables[_i].out);
    add_segment(&made, made.table.in.qmin, tables[_i].slope, 0, tables[_i].offset);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, false);
    ck_assert_msg(stats.max_err_at == made.table.in.qmin, "at %lld", (long long)stats.max_err_at);
}
END_TEST

START_TEST(an_exact_table_has_no_error_at_its_first_code)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s8:2^0:5", "s8:2^0:5");
    add_segment(&made, -128, 1, 0, 5);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, false);
    ck_assert(stats.max_err == 0 && stats.max_err_at == -128 && stats.rms == 0 && stats.mean_abs == 0);
    ck_assert(stats.max_ulp == 0 && stats.max_ulp_at == -128 && stats.correctly_rounded == 1);
    ck_assert(stats.checked == 256 && stats.exhaustive && stats.monotone && stats.saturated_codes == 0);
}
END_TEST

/* f goes on where the target ends at the output's range. */
START_TEST(a_point_of_a_curve_has_f_beyond_the_output)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s8:2^0:0", "s8:2^-1:3");
    add_segment(&made, -128, 1, 0, 0);
    finish(&made);
    const struct curve_point point = curve_point_of(&made.table, &made.packed, &function, 100);
    ck_assert(point.x == 100 && point.f == 100 && point.target == 127 && point.output == 100 && point.err == -27);
}
END_TEST

/* Each code of a narrow input; of a wide one its ends, and codes in between that ascend evenly. */
START_TEST(a_curve_has_the_codes_from_end_to_end)
{
    static const char *const types[] = {"s8:2^0:0", "u22:2^0:5"};
    struct made made;
    struct curve curve;
    struct diag diag;
    const struct function function = own(&identity_info);
    start_table(&made, types[_i], types[_i]);
    add_segment(&made, made.table.in.qmin, 1, 0, 0);
    finish(&made);
    ck_assert_int_eq(curve_make(&made.table, &made.packed, &function, &curve, &diag), EXIT_DONE);
    const int64_t codes = made.table.in.qmax - made.table.in.qmin + 1,
                  wanted = codes < CURVE_CODES ? codes : CURVE_CODES;
    ck_assert(curve.count == (size_t)wanted && curve.exhaustive == (codes == wanted));
    ck_assert(curve.code[0] == made.table.in.qmin && curve.code[curve.count - 1] == made.table.in.qmax);
    for (size_t k = 1; k < curve.count; k++) {
        const int64_t step = curve.code[k] - curve.code[k - 1];
        ck_assert(step == codes / wanted || step == codes / wanted + 1);
        ck_assert(curve.x[k] == (double)(curve.code[k] - made.table.in.zero_point));
    }
    curve_free(&curve);
}
END_TEST

/* 20 bins or a few more than half as many: the width is the next of 1, 2 and 5. */
START_TEST(a_histogram_has_round_widths)
{
    static const double spans[][2] = {{20, 1}, {21, 2}, {34, 2}, {40, 2}, {41, 5}, {100, 5}, {101, 10}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        struct histogram histogram;
        histogram_make((double[]){0, spans[i][0], spans[i][0]}, 3, &histogram);
        ck_assert_msg(histogram.width == spans[i][1], "%g: %g", spans[i][0], histogram.width);
        ck_assert(histogram.first == 0 && histogram.total == 3 && histogram.counts[0] == 1 &&
                  histogram.counts[histogram.bins - 1] == 2);
    }
}
END_TEST

/* Sizes 1 to 10, of both signs and in no order: nearest ranks. Of equal sizes the lower code comes first, also where
 * the witness is none of the codes; it is there once. */
START_TEST(a_distribution_has_the_ranks_and_the_worst)
{
    static const double errors[] = {4, -1, 10, -7, 3, -9, 8, 2, -5, 6, -6, 10};
    static const int64_t codes[] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110},
                         worst[] = {20, 50, 60, 30, 90, 80};
    struct distribution distribution;
    struct diag diag;
    ck_assert_int_eq(distribution_make(codes, errors, 10, (struct code_error){20, 10}, &distribution, &diag),
                     EXIT_DONE);
    ck_assert(distribution.within[0] == 5 && distribution.within[1] == 9 && distribution.within[2] == 10);
    ck_assert_int_eq(distribution.count, 10);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(distribution.worst[i].code, worst[i]);
    ck_assert_int_eq(distribution_make(codes, errors, 12, (struct code_error){25, -10}, &distribution, &diag),
                     EXIT_DONE);
    ck_assert(distribution.within[0] == 6 && distribution.within[1] == 10);
    ck_assert(distribution.worst[0].code == 20 && distribution.worst[1].code == 25 &&
              distribution.worst[2].code == 110);
    ck_assert(distribution.count == DISTRIBUTION_WORST && distribution.worst[9].err == 4);
}
END_TEST

START_TEST(a_tie_is_correctly_rounded)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s8:2^0:0", "s8:2^1:0"); /* t = q / 2 */
    add_segment(&made, -128, 1, 1, 0);
    finish(&made);
    struct error_stats stats = measured(&made, &function, false);
    ck_assert(stats.max_err == 0.5 && stats.max_err_at == -127 && stats.correctly_rounded == 1 && stats.max_ulp == 0);

    start_table(&made, "s8:2^0:0", "s8:2^1:0"); /* one too low: odd codes are 1.5 off, one from the nearer code */
    add_segment(&made, -128, 1, 1, -1);
    finish(&made);
    stats = measured(&made, &function, false);
    ck_assert(stats.max_err == 1.5 && stats.max_err_at == -127 && stats.correctly_rounded == 0);
    ck_assert(stats.max_ulp == 1 && stats.max_ulp_at == -128);
}
END_TEST

/* ReLU where an output step is two input steps: every second positive code is a tie, and the others are exact. */
START_TEST(averages_by_weight_count_each_code_by_its_own)
{
    struct made made;
    struct weights *weights;
    struct weighted_stats stats;
    struct diag diag;
    const struct function function = function_of("relu");
    start_table(&made, "s8:2^-5:0", "s8:2^-4:0");
    add_segment(&made, -128, 0, 0, 0);
    add_segment(&made, 0, 1, 1, 0);
    finish(&made);
    /* q_y - t is 0 at -7 and 2, -1/2 at 1 and 3 */
    static const char text[] = "-7,8\n1,4\n2,3\n3,1\n5,0\n";
    ck_assert_int_eq(weights_parse(text, sizeof text - 1, 0, (uint64_t)1 << 16, &weights, &diag), EXIT_DONE);
    ck_assert_int_eq(measure_weighted(&made.table, &made.packed, &function, weights, &stats, &diag), EXIT_DONE);
    weights_free(weights);
    assert_close("mean", stats.mean_abs, 0.5 * 5 / 16, 1e-15);
    assert_close("bias", stats.bias, -0.5 * 5 / 16, 1e-15);
    assert_close("rms", stats.rms, sqrt(0.25 * 5 / 16), 1e-15);
    ck_assert(stats.correctly_rounded == 1);
    /* one code higher, the ties are on the other side, and the rest is wrong */
    start_table(&made, "s8:2^-5:0", "s8:2^-4:0");
    add_segment(&made, -128, 0, 0, 0);
    add_segment(&made, 0, 1, 1, 1);
    finish(&made);
    ck_assert_int_eq(weights_parse(text, sizeof text - 1, 0, (uint64_t)1 << 16, &weights, &diag), EXIT_DONE);
    ck_assert_int_eq(measure_weighted(&made.table, &made.packed, &function, weights, &stats, &diag), EXIT_DONE);
    weights_free(weights);
    assert_close("bias", stats.bias, (0.5 * 5 + 3) / 16, 1e-15);
    ck_assert(stats.correctly_rounded == 13.0 / 16);
}
END_TEST

START_TEST(saturated_codes_are_strictly_outside_the_output)
{
    struct made made;
    const struct function function = own(&identity_info);
    start_table(&made, "s8:2^0:0", "s8:2^-1:0"); /* t = 2 q: -65 and below, 64 and above; -64 is code -128 itself */
    add_segment(&made, -128, 2, 0, 0);
    finish(&made);
    const struct error_stats stats = measured(&made, &function, false);
    ck_assert_int_eq(stats.saturated_codes, 64 + 64);
    ck_assert(stats.max_err == 0);
}
END_TEST

START_TEST(a_backward_step_is_not_monotone)
{
    struct made made;
    const struct function function = own(&identity_info), falling = own(&minus_abs_info);
    for (int drop = 0; drop <= 2; drop++) {
        start_table(&made, "s16:2^0:0", "s16:2^4:0");
        add_segment(&made, -32768, 1, 4, 0);
        add_segment(&made, 160, 1, 4, -drop); /* code 159 gives 9, code 160 10 - drop */
        finish(&made);
        ck_assert_int_eq(measured(&made, &function, false).monotone, drop < 2);
    }
    /* At a multiple of 4096 from the lowest code, where another thread may go on. */
    start_table(&made, "s16:2^0:0", "s16:2^0:0");
    add_segment(&made, -32768, 0, 0, 1);
    add_segment(&made, 8192, 0, 0, 0);
    finish(&made);
    ck_assert(!measured(&made, &function, false).monotone);
    /* A function that falls, and its table with it. */
    start_table(&made, "u8:2^0:0", "s16:2^0:0");
    add_segment(&made, 0, -1, 0, 0);
    add_segment(&made, 128, -1, 0, -3);
    finish(&made);
    ck_assert(measured(&made, &falling, false).monotone);
    made.offset[1] = 3;
    ck_assert(!measured(&made, &falling, false).monotone);
}
END_TEST

START_TEST(where_f_is_flat_any_step_is_monotone)
{
    struct made made;
    const struct function function = own(&constant_info);
    start_table(&made, "s8:2^0:0", "s8:2^0:0");
    add_segment(&made, -128, 1, 4, 0);
    add_segment(&made, 0, -1, 4, 0);
    finish(&made);
    ck_assert(measured(&made, &function, false).monotone);
}
END_TEST

START_TEST(numbers_do_not_depend_on_threads)
{
    static const char *const types[] = {"s16:2^-12:0", "s24:2^-20:0"};
    const struct function function = function_of("tanh");
    for (int i = 0; i < 2; i++) {
        struct made made;
        start_table(&made, types[i], "s16:2^-15:0");
        add_chords(&made, &function, 16, 14, 1);
        const struct error_stats single = measured_on(&made, &function, false, 1);
        for (int threads = 2; threads <= 5; threads++) {
            const struct error_stats stats = measured_on(&made, &function, false, threads);
            ck_assert(memcmp(&single, &stats, sizeof stats) == 0);
        }
    }
}
END_TEST

START_TEST(a_range_outside_the_domain_is_refused)
{
    struct made made;
    struct error_stats stats;
    struct diag diag;
    const struct function logarithm = function_of("log"), reciprocal = function_of("reciprocal");
    start_table(&made, "s8:2^-4:0", "s8:2^-4:0");
    add_segment(&made, -128, 0, 0, 0);
    finish(&made);
    ck_assert_int_eq(measure(&made.table, &made.packed, &logarithm, false, NULL, NULL, &stats, &diag), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(diag.text, "code -128"));
    ck_assert_int_eq(measure(&made.table, &made.packed, &reciprocal, false, NULL, NULL, &stats, &diag), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(diag.text, "code 0"));
    made.table.outside = OUTSIDE_CLAMP;
    ck_assert_int_eq(measure(&made.table, &made.packed, &logarithm, false, NULL, NULL, &stats, &diag), EXIT_DONE);

    made.table.in.qmax = 0; /* no code is in the domain, so none can stand for the others */
    ck_assert_int_eq(measure(&made.table, &made.packed, &logarithm, false, NULL, NULL, &stats, &diag), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(diag.text, "no code"));
    made.table.in.qmin = 0; /* x = 0 alone */
    ck_assert_int_eq(measure(&made.table, &made.packed, &reciprocal, false, NULL, NULL, &stats, &diag), EXIT_USAGE);
}
END_TEST

/* In the first of the chunks that threads take, and in a later one. */
START_TEST(a_function_without_a_value_is_an_error)
{
    static const char *const types[] = {"s8:2^0:0", "s16:2^0:0"};
    struct made made;
    struct error_stats stats;
    struct diag diag;
    const struct function function = own(&nan_info);
    start_table(&made, types[_i], types[_i]);
    add_segment(&made, made.table.in.qmin, 0, 0, 0);
    finish(&made);
    ck_assert_int_eq(measure(&made.table, &made.packed, &function, false, NULL, NULL, &stats, &diag), EXIT_IO);
    ck_assert_ptr_nonnull(strstr(diag.text, "code 5"));
    ck_assert(isnan(measure_code(&made.table, &made.packed, &function, 5)));
}
END_TEST

/* Infinite functions of our own saturate; an expression that is infinite has no value there. */
START_TEST(an_infinite_expression_is_refused)
{
    struct made made;
    struct error_stats stats;
    struct function function;
    struct diag diag;
    ck_assert_int_eq(function_set_expression(&function, "1 / x", "--expr", &diag), EXIT_DONE);
    start_table(&made, "s8:2^0:5", "s8:2^0:0");
    add_segment(&made, -128, 0, 0, 0);
    finish(&made);
    ck_assert_int_eq(measure(&made.table, &made.packed, &function, false, NULL, NULL, &stats, &diag), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(diag.text, "no value at code 5"));
    function_free(&function);
}
END_TEST

START_TEST(a_certificate_is_what_is_measured_and_proven)
{
    struct made made;
    struct packed_table packed;
    struct error_stats stats;
    struct diag diag;
    pwl_proof proof;
    const struct function function = own(&minus_abs_info);
    start_table(&made, "s8:2^0:0", "s8:2^0:0");
    add_segment(&made, -128, 0, 0, 0);
    add_segment(&made, 0, 3, 5, 0);
    finish(&made);
    made.table.certificate = (struct certificate){.objective = OBJECTIVE_MAX, .optimal = 1, .has_lower_bound = true};
    ck_assert_int_eq(table_prove(&made.table, EXIT_USAGE, &packed, &proof, &diag), EXIT_DONE);
    ck_assert_int_eq(measure(&made.table, &packed, &function, false, NULL, NULL, &stats, &diag), EXIT_DONE);
    packed_table_free(&packed);
    ck_assert_int_eq(certificate_make(&made.table, &function, NULL, false, &diag), EXIT_DONE);
    const struct certificate *c = &made.table.certificate;
    ck_assert(made.table.standing == CERTIFICATE_OWN && c->checked == 256 && c->exhaustive &&
              c->max_err_lsb == stats.max_err && c->max_err_at == stats.max_err_at && c->rms_err_lsb == stats.rms &&
              c->mean_abs_err_lsb == stats.mean_abs && c->correctly_rounded == stats.correctly_rounded &&
              c->saturated_codes == stats.saturated_codes && c->monotone == stats.monotone &&
              c->acc_bits == proof.acc_bits);
    /* Nothing is known of other tables. */
    ck_assert(c->optimal == -1 && !c->has_lower_bound && !c->has_bound);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("certify");
    TCase *tests = tcase_create("certify");
    tcase_add_test(tests, target_is_f_over_scale_plus_zero_point);
    tcase_add_test(tests, target_outside_the_domain_is_the_nearest_defined_codes);
    tcase_add_test(tests, target_may_overflow_and_is_then_clipped);
    tcase_add_test(tests, every_code_agrees_with_a_plain_loop);
    tcase_add_test(tests, the_witness_is_the_lowest_code);
    tcase_add_loop_test(tests, the_witness_is_the_lowest_of_equal_errors, 0, 3);
    tcase_add_test(tests, an_exact_table_has_no_error_at_its_first_code);
    tcase_add_test(tests, a_point_of_a_curve_has_f_beyond_the_output);
    tcase_add_loop_test(tests, a_curve_has_the_codes_from_end_to_end, 0, 2);
    tcase_add_test(tests, a_histogram_has_round_widths);
    tcase_add_test(tests, a_distribution_has_the_ranks_and_the_worst);
    tcase_add_test(tests, a_tie_is_correctly_rounded);
    tcase_add_test(tests, averages_by_weight_count_each_code_by_its_own);
    tcase_add_test(tests, saturated_codes_are_strictly_outside_the_output);
    tcase_add_test(tests, a_backward_step_is_not_monotone);
    tcase_add_test(tests, where_f_is_flat_any_step_is_monotone);
    tcase_add_test(tests, numbers_do_not_depend_on_threads);
    tcase_add_test(tests, a_range_outside_the_domain_is_refused);
    tcase_add_loop_test(tests, a_function_without_a_value_is_an_error, 0, 2);
    tcase_add_test(tests, an_infinite_expression_is_refused);
    tcase_add_test(tests, a_certificate_is_what_is_measured_and_proven);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
