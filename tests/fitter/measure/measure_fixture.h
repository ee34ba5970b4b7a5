/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made tables, a plain loop that measures them, and functions of the tests' own. */
#ifndef PWLC_CERTIFY_FIXTURE_H
#define PWLC_CERTIFY_FIXTURE_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function/samples.h"
#include "measure/measure.h"

#include "../../support/suite.h"

#define MAX_SEGMENTS 32

/* A table in both layouts; the arrays are of storage INT32. */
struct made {
    struct table table;
    struct packed_table packed;
    struct segment segments[MAX_SEGMENTS];
    int32_t start[MAX_SEGMENTS], q_b[MAX_SEGMENTS];
    int8_t n[MAX_SEGMENTS];
    int64_t offset[MAX_SEGMENTS];
};

static inline struct tensor tensor_of(const char *text)
{
    struct tensor tensor;
    struct diag diag;
    ck_assert_msg(tensor_parse(text, "in", &tensor, &diag) == EXIT_DONE, "%s: %s", text, diag.text);
    return tensor;
}

static inline struct function function_of(const char *name)
{
    struct function function;
    struct diag diag;
    ck_assert_msg(function_init(&function, name, &diag) == EXIT_DONE, "%s", diag.text);
    return function;
}

/* Packs what made->table says and proves it. */
static inline void finish(struct made *made)
{
    struct table *table = &made->table;
    table->segments = made->segments;
    table->storage = PWL_INT32;
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &made->segments[i];
        /* Codes are of 31 bits when unsigned here, so that one array serves both. */
        made->start[i] = (int32_t)segment->start;
        made->q_b[i] = (int32_t)segment->q_b;
        made->n[i] = (int8_t)segment->n;
        made->offset[i] = segment->offset;
    }
    made->packed.table = (pwl_table){
        .version = PWL_TABLE_VERSION,
        .storage = PWL_INT32,
        .form = (uint8_t)table->form,
        .rounding = (uint8_t)table->rounding,
        .flags = (uint16_t)((table->in.is_signed ? 0 : PWL_FLAG_UNSIGNED_X) | (table->has_fold ? PWL_FLAG_FOLD : 0)),
        .segments = (uint16_t)table->segment_count,
        .start = made->start,
        .q_b = made->q_b,
        .n = made->n,
        .offset = made->offset,
        .zp_x = table->in.zero_point,
        .qmin_x = table->in.qmin,
        .qmax_x = table->in.qmax,
        .qmin_y = table->out.qmin,
        .qmax_y = table->out.qmax,
        .fold_sum = table->fold_sum,
    };
    pwl_proof proof;
    const pwl_status status = pwl_table_check(&made->packed.table, &proof);
    ck_assert_msg(status == PWL_OK, "segment %d: %s", proof.segment, pwl_status_text(status));
}

static inline void start_table(struct made *made, const char *in, const char *out)
{
    memset(made, 0, sizeof *made);
    made->table.in = tensor_of(in);
    made->table.out = tensor_of(out);
    made->table.form = PWL_ABSOLUTE;
    made->table.rounding = PWL_FLOOR;
}

static inline void add_segment(struct made *made, int64_t start, int64_t q_b, int n, int64_t offset)
{
    ck_assert_int_lt(made->table.segment_count, MAX_SEGMENTS);
    made->segments[made->table.segment_count++] =
        (struct segment){.start = start, .q_b = q_b, .n = n, .offset = offset};
}

/* As floorl(), which took a third of the time of tests that visit every code. */
static inline int64_t floor_of(long double value)
{
    const int64_t cut = (int64_t)value;
    return cut - ((long double)cut > value);
}

/* Plain evaluation of absolute tables with floor: no code of the project. */
static inline int64_t plain_eval(const struct made *made, int64_t q)
{
    const struct table *table = &made->table;
    int i = table->segment_count - 1;
    while (made->segments[i].start > q)
        i--;
    const struct segment *segment = &made->segments[i];
    const long double exact = (long double)segment->q_b * (long double)(q - table->in.zero_point);
    const int64_t y = floor_of(ldexpl(exact, -segment->n)) + segment->offset;
    return y < table->out.qmin ? table->out.qmin : y > table->out.qmax ? table->out.qmax : y;
}

/* f at a code, where the test's tables use functions that are defined at every code of [first, last] but `hole`. */
struct plain_domain {
    int64_t first, last, hole; /* hole: a code whose right neighbour stands for it; INT64_MAX without */
};

static const struct plain_domain everywhere = {INT64_MIN, INT64_MAX, INT64_MAX};

static inline struct error_stats plain_measure(const struct made *made, const struct function *function,
                                               struct plain_domain domain)
{
    const struct tensor *in = &made->table.in, *out = &made->table.out;
    struct error_stats stats = {.exhaustive = true, .monotone = true, .max_err = -1, .max_ulp = -1};
    long double sum = 0, signed_sum = 0, squares = 0, correct = 0, previous_value = 0;
    int64_t previous_y = 0;
    const double tie = fmax(1e-12, ldexp((double)(out->qmax - out->qmin), -59)); /* by how much equal errors differ */
    for (int64_t q = in->qmin; q <= in->qmax; q++) {
        int64_t code = q < domain.first ? domain.first : q > domain.last ? domain.last : q;
        code += code == domain.hole;
        const long double value = function_value(function, (long double)in->scale.value * (code - in->zero_point));
        const long double target = value / out->scale.value + out->zero_point;
        const long double clipped = target < out->qmin ? out->qmin : target > out->qmax ? out->qmax : target;
        const int64_t y = plain_eval(made, q);
        const long double err = fabsl(y - clipped);
        if ((double)err > stats.max_err + tie)
            stats.max_err_at = q;
        stats.max_err = fmax(stats.max_err, (double)err);
        /* Distance to the nearest codes, counted out. */
        const int64_t below = floor_of(clipped), above = below + ((long double)below < clipped);
        int64_t ulp = clipped - below <= above - clipped ? llabs(y - below) : llabs(y - above);
        if (clipped - below == above - clipped && llabs(y - above) < ulp)
            ulp = llabs(y - above);
        if (ulp > stats.max_ulp) {
            stats.max_ulp = ulp;
            stats.max_ulp_at = q;
        }
        stats.saturated_codes += target < out->qmin || target > out->qmax;
        if (q > in->qmin && ((value > previous_value && y < previous_y) || (value < previous_value && y > previous_y)))
            stats.monotone = false;
        sum += err;
        signed_sum += y - clipped;
        squares += err * err;
        correct += err <= 0.5L;
        stats.checked++;
        previous_value = value;
        previous_y = y;
    }
    stats.rms = (double)sqrtl(squares / stats.checked);
    stats.mean_abs = (double)(sum / stats.checked);
    stats.bias = (double)(signed_sum / stats.checked);
    stats.correctly_rounded = (double)(correct / stats.checked);
    return stats;
}

static inline void assert_close(const char *what, double a, double b, double relative)
{
    ck_assert_msg(fabs(a - b) <= relative * fabs(b), "%s: %.17g, expected %.17g", what, a, b);
}

/* relative: of the sums, which are added in another order */
static inline void assert_same(const char *what, const struct error_stats *stats, const struct error_stats *plain,
                               double relative)
{
    /* The plain loop's targets are rounded to long double, three times. */
    ck_assert_msg(fabs(stats->max_err - plain->max_err) <= relative * plain->max_err, "%s: max %.17g, expected %.17g",
                  what, stats->max_err, plain->max_err);
    ck_assert_msg(stats->max_err_at == plain->max_err_at, "%s: max at %" PRId64 ", expected %" PRId64, what,
                  stats->max_err_at, plain->max_err_at);
    ck_assert_msg(stats->max_ulp == plain->max_ulp && stats->max_ulp_at == plain->max_ulp_at,
                  "%s: ulp %" PRId64 " at %" PRId64 ", expected %" PRId64 " at %" PRId64, what, stats->max_ulp,
                  stats->max_ulp_at, plain->max_ulp, plain->max_ulp_at);
    ck_assert_msg(stats->saturated_codes == plain->saturated_codes, "%s: saturated %" PRId64 ", expected %" PRId64,
                  what, stats->saturated_codes, plain->saturated_codes);
    ck_assert_msg(stats->checked == plain->checked && stats->exhaustive == plain->exhaustive, "%s: checked", what);
    ck_assert_msg(stats->correctly_rounded == plain->correctly_rounded, "%s: correct %.17g, expected %.17g", what,
                  stats->correctly_rounded, plain->correctly_rounded);
    ck_assert_msg(stats->monotone == plain->monotone, "%s: monotone %d", what, stats->monotone);
    assert_close(what, stats->rms, plain->rms, relative);
    assert_close(what, stats->mean_abs, plain->mean_abs, relative);
    /* Errors of both signs cancel each other, their own inaccuracy does not. */
    ck_assert_msg(fabs(stats->bias - plain->bias) <= (relative + BIAS_RESOLUTION) * plain->mean_abs,
                  "%s: bias %.17g, expected %.17g", what, stats->bias, plain->bias);
}

static inline struct error_stats measured_on(const struct made *made, const struct function *function, bool all_codes,
                                             int threads)
{
    struct error_stats stats;
    struct diag diag;
    memset(&stats, 0, sizeof stats);
    ck_assert_msg(measure_on_threads(&made->table, &made->packed, function, all_codes, threads, NULL, NULL, &stats,
                                     &diag) == EXIT_DONE,
                  "%s", diag.text);
    return stats;
}

static inline struct error_stats measured(const struct made *made, const struct function *function, bool all_codes)
{
    return measured_on(made, function, all_codes, 2);
}

/* Chords of f between evenly spaced knots, so that errors of all sizes and signs occur; `tilt` is added to each slope
 * in units of 2^-n. */
static inline void add_chords(struct made *made, const struct function *function, int count, int n, int64_t tilt)
{
    const struct tensor *in = &made->table.in, *out = &made->table.out;
    const int64_t codes = in->qmax - in->qmin + 1;
    for (int i = 0; i < count; i++) {
        const int64_t first = in->qmin + codes * i / count, last = in->qmin + codes * (i + 1) / count - 1;
        const long double from = dd_long(target_unclipped(function, in, out, OUTSIDE_CLAMP, first));
        const long double to = dd_long(target_unclipped(function, in, out, OUTSIDE_CLAMP, last));
        long double slope = ldexpl((to - from) / (long double)(last - first), n);
        if (!(fabsl(slope) < 0x1p30L))
            slope = 0;
        const int64_t q_b = llrintl(slope) + tilt;
        const long double start = fminl(fmaxl(from, -0x1p40L), 0x1p40L);
        const int64_t offset = llrintl(start - ldexpl((long double)q_b * (first - in->zero_point), -n));
        add_segment(made, first, q_b, n, offset);
    }
    finish(made);
}

/* f(x) = x and f(x) = -|x|, as functions of their own */
static inline struct dd identity(struct dd x, const double *p)
{
    (void)p;
    return x;
}

static inline struct dd one(struct dd x, const double *p)
{
    (void)x, (void)p;
    return dd_of(1);
}

static inline struct dd minus_abs(struct dd x, const double *p)
{
    (void)p;
    return dd_neg(dd_abs(x));
}

static inline struct dd minus_abs_slope(struct dd x, const double *p)
{
    (void)p;
    return dd_of(x.hi < 0 ? 1 : -1);
}

static inline struct dd zero(struct dd x, const double *p)
{
    (void)x, (void)p;
    return dd_of(0);
}

static inline struct dd not_a_number_at_5(struct dd x, const double *p)
{
    (void)p;
    return dd_of(x.hi == 5 ? (double)NAN : 0);
}

#define OWN_INFO(f, d)                                                                                                 \
    {                                                                                                                  \
        .name = #f, .value = f, .derivative = d, .second_derivative = zero, .domain_min = -INFINITY,                   \
        .domain_max = INFINITY                                                                                         \
    }
static const struct function_info identity_info = OWN_INFO(identity, one), constant_info = OWN_INFO(zero, zero),
                                  minus_abs_info = OWN_INFO(minus_abs, minus_abs_slope),
                                  nan_info = OWN_INFO(not_a_number_at_5, zero);

static inline struct function own(const struct function_info *info)
{
    return (struct function){.info = info};
}

#endif
