/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "keep_zero.h"

#include <math.h>
#include <string.h>

#include "function/target.h"
#include "measure/claim.h"
#include "method.h"
#include "other_methods.h"
#include "problem.h"
#include "search/line.h"

#define KEEP_ZERO_EFFORT 0.5 /* of the table's */

enum { SHORT_BITS = 10 }; /* of inputs for which a second table is fitted */

bool zero_find(const struct function *function, const struct tensor *in, const struct tensor *out, struct zero *zero)
{
    const struct code_domain domain = code_domain_find(function, in);
    const int64_t q_x = in->zero_point;
    if (q_x < domain.first || q_x > domain.last || (domain.has_hole && q_x == domain.hole))
        return false;
    const double value = function_at(function, dd_of(0)).hi;
    const double q_y = target_unclipped(function, in, out, OUTSIDE_ERROR, q_x).hi;
    const bool is_code = q_y == rint(q_y) && q_y >= (double)out->qmin && q_y <= (double)out->qmax;
    *zero = (struct zero){q_x, is_code ? (int64_t)q_y : out->qmin, value};
    return (value == 0 || value == 0.5) && is_code;
}

bool zero_is_kept(const struct table *table, const struct zero *zero)
{
    struct packed_table packed;
    struct diag diag;
    if (table_prove(table, EXIT_IO, &packed, NULL, &diag))
        return false;
    const bool is_kept = packed_eval(&packed, zero->q_x) == zero->q_y;
    packed_table_free(&packed);
    return is_kept;
}

/* Whether a spec leaves room for one more --fix. */
static bool is_free(const struct spec *spec, const struct zero *zero)
{
    const bool may_fix = (spec->method == METHOD_LSQ || spec->method == METHOD_MINIMAX) && !spec->reduce &&
                         spec->in.bits <= SPEC_EXHAUSTIVE_BITS && spec->fix_count < SPEC_MAX_FIXES;
    for (int k = 0; k < spec->fix_count; k++) {
        int64_t q_x, q_y;
        struct diag diag;
        if (spec_fix_codes(spec, &spec->fixes[k], &q_x, &q_y, &diag) || q_x == zero->q_x)
            return false;
    }
    return may_fix;
}

/* The segment that holds a code. */
static int segment_at(const struct table *table, int64_t code)
{
    int m = table->segment_count - 1;
    while (m > 0 && table->segments[m].start > code)
        m--;
    return m;
}

/* The line with least squared error that gives f(0), in the segment where the table has another one. */
static int line_of_zero(const struct spec *fixed, const struct table *table, int m, struct segment *segment,
                        struct diag *diag)
{
    const struct spec spec = fixed->fold ? spec_fold_half(fixed, table->fold_sum) : *fixed;
    const int64_t first = table->segments[m].start,
                  end = m + 1 < table->segment_count ? table->segments[m + 1].start : spec.in.qmax + 1;
    const double most = table->certificate.max_err_lsb + KEEP_ZERO_COST;
    const struct line_limits limits = {fmin(most, spec.max_err), INFINITY}; /* fmin leaves out NAN */
    struct points points = {0};
    struct line_rules rules;
    struct line line;
    line_rules_init(&rules, &spec);
    if (rules.one_shift)
        rules.shift_min = rules.shift_max = table->segments[m].n;
    diag->code = EXIT_DONE;
    if (!points_build(&spec, &points, diag)) {
        const int64_t at = points.cell[0]; /* each code is a point */
        if (line_fit(&rules, &points, (int)(first - at), (int)(end - at), limits, LINE_THOROUGH, &line))
            *segment = line_segment(&line, first);
        else
            diag_set(diag, EXIT_REQUIREMENT, "no line gives f(0)");
    }
    points_free(&points);
    return diag->code;
}

/* Adds --fix 0:f(0). */
static struct spec with_zero_fixed(const struct spec *spec, struct zero *zero)
{
    struct spec fixed = *spec;
    zero_find(&spec->function, &spec->in, &spec->out, zero);
    fixed.fixes[fixed.fix_count++] = (struct fix){0, zero->value};
    return fixed;
}

static bool misses_zero(const struct spec *spec, const struct table *best)
{
    struct zero zero;
    return !spec->zero_is_free && zero_find(&spec->function, &spec->in, &spec->out, &zero) &&
           !zero_is_kept(best, &zero) && is_free(spec, &zero);
}

/* To fit all segments again takes as long as to fit them, which of more codes is more than a moment; lines that share
 * values with their neighbours cannot be exchanged alone. */
static bool exchanges_table(const struct spec *spec)
{
    return spec->in.bits <= SHORT_BITS || constraints_tie(&spec->constraints) || has_points(spec);
}

static bool line_applies(const struct spec *spec, const struct table *best)
{
    return !exchanges_table(spec) && misses_zero(spec, best);
}

static bool table_applies(const struct spec *spec, const struct table *best)
{
    return exchanges_table(spec) && misses_zero(spec, best);
}

/* The best table, with another line in one segment. */
static int make_line(const struct spec *spec, const struct table *best, struct table *table, struct diag *diag)
{
    struct zero zero;
    const struct spec fixed = with_zero_fixed(spec, &zero);
    if (!table_begin(spec, table, diag)) {
        const int m = segment_at(best, zero.q_x);
        table->has_fold = best->has_fold;
        table->fold_sum = best->fold_sum;
        table->segment_count = best->segment_count;
        memcpy(table->segments, best->segments, (size_t)best->segment_count * sizeof *table->segments);
        if (!line_of_zero(&fixed, best, m, &table->segments[m], diag))
            certificate_make(table, &spec->function, spec->weights, false, diag);
    }
    if (diag->code)
        table_free(table);
    return diag->code;
}

static int make_table(const struct spec *spec, const struct table *best, struct table *table, struct diag *diag)
{
    static const struct attempt *const attempts[] = {&attempt_minimax, &attempt_uniform, NULL};
    struct zero zero;
    const struct spec fixed = with_zero_fixed(spec, &zero);
    (void)best;
    return fit_best_of(&fixed, attempts, table, diag);
}

static bool is_worth_it(const struct spec *spec, const struct table *table, const struct table *best)
{
    const struct certificate *const kept = &table->certificate, *const free = &best->certificate;
    (void)spec;
    return table->segment_count <= best->segment_count && kept->monotone >= free->monotone &&
           kept->max_err_lsb <= free->max_err_lsb + KEEP_ZERO_COST &&
           kept->rms_err_lsb <= free->rms_err_lsb + KEEP_ZERO_COST;
}

const struct attempt attempt_line_of_zero = {line_applies, KEEP_ZERO_EFFORT, make_line, is_worth_it};
const struct attempt attempt_table_of_zero = {table_applies, KEEP_ZERO_EFFORT, make_table, is_worth_it};
