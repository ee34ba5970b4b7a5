/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "keep_zero.h"

#include <math.h>
#include <string.h>

#include "function/target.h"
#include "measure/claim.h"
#include "search/line.h"

#define KEEP_ZERO_EFFORT 0.5 /* of the table's */

enum { SHORT_BITS = 10 }; /* of inputs for which a second table is fitted */

bool zero_find(const struct function *function, const struct tensor *in, const struct tensor *out, struct zero *zero)
{
    const struct code_domain domain = code_domain_find(function, in);
    const int64_t q_x = in->zero_point;
    if (q_x < domain.first || q_x > domain.last || (domain.has_hole && q_x == domain.hole))
        return false;
    const double value = (double)function_value(function, 0);
    const double q_y = (double)target_unclipped(function, in, out, OUTSIDE_ERROR, q_x);
    *zero = (struct zero){q_x, (int64_t)q_y, value};
    return (value == 0 || value == 0.5) && q_y == rint(q_y) && q_y >= (double)out->qmin && q_y <= (double)out->qmax;
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

static bool is_worth_it(const struct certificate *kept, const struct certificate *free)
{
    return kept->monotone >= free->monotone && kept->max_err_lsb <= free->max_err_lsb + KEEP_ZERO_COST &&
           kept->rms_err_lsb <= free->rms_err_lsb + KEEP_ZERO_COST;
}

/* It is one of the tables that the other search was about. */
static void judge(struct certificate *kept, const struct certificate *free)
{
    certificate_keep_judgement(kept, free);
    if (free->objective != OBJECTIVE_SEGMENTS && free->optimal == 1 && objective_error(kept) > objective_error(free))
        kept->optimal = 0;
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

/* Exchanges that line, and no other. */
static int exchange_line(const struct spec *fixed, const struct zero *zero, struct table *table, struct diag *diag)
{
    const int m = segment_at(table, zero->q_x);
    const struct segment before = table->segments[m];
    const struct certificate free = table->certificate;
    if (line_of_zero(fixed, table, m, &table->segments[m], diag) ||
        certificate_make(table, &fixed->function, fixed->weights, false, diag) ||
        !is_worth_it(&table->certificate, &free)) {
        table->segments[m] = before;
        table->certificate = free;
        return diag->code;
    }
    judge(&table->certificate, &free);
    return EXIT_DONE;
}

/* Exchanges the table for the one of --fix. */
static int exchange_table(const struct spec *fixed, fit_table *fit, struct table *table, struct diag *diag)
{
    struct table kept;
    if (fit(fixed, &kept, diag))
        return diag->code;
    if (kept.segment_count > table->segment_count || !is_worth_it(&kept.certificate, &table->certificate)) {
        table_free(&kept);
        return EXIT_DONE;
    }
    char *const text = kept.spec;
    kept.spec = table->spec;
    table->spec = text;
    judge(&kept.certificate, &table->certificate);
    table_free(table);
    *table = kept;
    return EXIT_DONE;
}

int keep_zero(const struct spec *spec, fit_table *fit, struct table *table, struct diag *diag)
{
    struct zero zero;
    struct spec fixed = *spec;
    struct diag refusal;
    if (!zero_find(&spec->function, &spec->in, &spec->out, &zero) || zero_is_kept(table, &zero) ||
        !is_free(spec, &zero) || time_limit_over(spec->time_limit))
        return EXIT_DONE;
    fixed.effort *= KEEP_ZERO_EFFORT;
    fixed.fixes[fixed.fix_count++] = (struct fix){0, zero.value};
    /* To fit all segments again takes as long as to fit them, which of more codes is more than a moment; lines that
     * share values with their neighbours cannot be exchanged alone. */
    const bool is_short = spec->in.bits <= SHORT_BITS || constraints_tie(&spec->constraints) || has_points(spec);
    const int status =
        is_short ? exchange_table(&fixed, fit, table, &refusal) : exchange_line(&fixed, &zero, table, &refusal);
    if (status != EXIT_DONE && status != EXIT_REQUIREMENT)
        *diag = refusal;
    return diag->code;
}
