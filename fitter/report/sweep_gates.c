/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sweep_gates.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "measure/claim.h"

#define BASELINE_TOLERANCE 1e-9 /* relative; both are measured by the same code */

int sweep_check_certificate(const struct sweep_row *row, struct diag *diag)
{
    const struct measured measured = {&row->stats, row->has_weighted ? &row->weighted : NULL, row->witness_err,
                                      row->has_bound, row->bound};
    return claim_compare(&row->table, &measured, diag) ? diag_prefix(diag, row->label) : EXIT_DONE;
}

/* What is sure of all codes, as far as it is. */
static double largest_error(const struct sweep_row *row)
{
    return row->has_bound && !row->stats.exhaustive ? row->bound : row->stats.max_err;
}

enum figure { FIGURE_MAX, FIGURE_RMS, FIGURE_BIAS, FIGURE_CORRECT };

static double figure_of(const struct sweep_row *row, enum figure figure)
{
    const struct error_stats *stats = &row->stats;
    const struct weighted_stats *weighted = row->has_weighted ? &row->weighted : NULL;
    switch (figure) {
    case FIGURE_MAX:
        return largest_error(row);
    case FIGURE_RMS:
        return weighted ? weighted->rms : stats->rms;
    case FIGURE_BIAS:
        return weighted ? weighted->bias : stats->bias;
    default:
        return weighted ? weighted->correctly_rounded : stats->correctly_rounded;
    }
}

/* By how much the figure misses its limit; 0 or less when it does not, or there is none. */
static double excess(const struct sweep_row *row, enum figure figure, double limit)
{
    const double value = figure_of(row, figure);
    if (isnan(limit))
        return 0;
    return figure == FIGURE_CORRECT ? limit - value : fabs(value) - limit;
}

static int refuse(const struct sweep_row *row, enum figure figure, double limit, const char *others, struct diag *diag)
{
    const struct error_stats *stats = &row->stats;
    const char *weighted = row->has_weighted ? "weighted " : "";
    const double value = figure_of(row, figure), by = excess(row, figure, limit);
    switch (figure) {
    case FIGURE_MAX:
        if (number_written_within(stats->max_err, limit))
            return diag_set(diag, EXIT_REQUIREMENT,
                            "%s: the proven bound %.6g LSB exceeds --max-err %g, though the largest error found is "
                            "%.6g at code %" PRId64 "; --exhaustive visits every code%s",
                            row->label, value, limit, stats->max_err, stats->max_err_at, others);
        return diag_set(diag, EXIT_REQUIREMENT,
                        "%s: max error %.6g LSB at code %" PRId64 " exceeds --max-err %g by %.6g%s", row->label,
                        stats->max_err, stats->max_err_at, limit, stats->max_err - limit, others);
    case FIGURE_RMS:
        return diag_set(diag, EXIT_REQUIREMENT, "%s: %sRMS error %.6g LSB exceeds --max-rms %g by %.6g%s", row->label,
                        weighted, value, limit, by, others);
    case FIGURE_BIAS:
        return diag_set(diag, EXIT_REQUIREMENT, "%s: %sbias %.6g LSB exceeds --max-bias %g by %.6g%s", row->label,
                        weighted, value, limit, by, others);
    default:
        return diag_set(diag, EXIT_REQUIREMENT,
                        "%s: %sshare of correctly rounded codes %.6g is below --min-correct %g by %.6g%s", row->label,
                        weighted, value, limit, by, others);
    }
}

static int check_limit(const struct sweep_row *rows, int count, enum figure figure, double limit, struct diag *diag)
{
    const struct sweep_row *first = NULL;
    char others[48] = "";
    int failing = 0;
    for (int i = 0; i < count; i++) {
        if (excess(&rows[i], figure, limit) > 0) {
            first = first ? first : &rows[i];
            failing++;
        }
    }
    if (failing > 1)
        snprintf(others, sizeof others, "; %d tables in all miss it", failing);
    return first ? refuse(first, figure, limit, others, diag) : EXIT_DONE;
}

int sweep_check_limits(const struct sweep_row *rows, int count, const struct sweep_limits *limits, struct diag *diag)
{
    const double limit[] = {[FIGURE_MAX] = limits->max_err,
                            [FIGURE_RMS] = limits->max_rms,
                            [FIGURE_BIAS] = limits->max_bias,
                            [FIGURE_CORRECT] = limits->min_correct};
    for (int i = 0; i < (int)(sizeof limit / sizeof *limit); i++)
        if (check_limit(rows, count, (enum figure)i, limit[i], diag) != EXIT_DONE)
            return diag->code;
    return EXIT_DONE;
}

int sweep_check_baseline(const struct sweep_row *new, const struct sweep_row *old, struct diag *diag)
{
    const struct error_stats *now = &new->stats, *before = &old->stats;
    if (now->max_err > before->max_err * (1 + BASELINE_TOLERANCE))
        return diag_set(diag, EXIT_REQUIREMENT,
                        "%s: max error %.9g LSB at code %" PRId64 " is larger than the %.9g of --baseline %s",
                        new->label, now->max_err, now->max_err_at, before->max_err, old->label);
    const double rms_now = new->has_weighted ? new->weighted.rms : now->rms;
    const double rms_before = new->has_weighted ? old->weighted.rms : before->rms;
    if (rms_now > rms_before * (1 + BASELINE_TOLERANCE))
        return diag_set(diag, EXIT_REQUIREMENT, "%s: %sRMS error %.9g LSB is larger than the %.9g of --baseline %s",
                        new->label, new->has_weighted ? "weighted " : "", rms_now, rms_before, old->label);
    return EXIT_DONE;
}

int sweep_check_comparable(const struct sweep_row *new, const struct sweep_row *old, struct diag *diag)
{
    char new_text[3][96], old_text[3][96];
    static const char *const field[] = {"function", "in", "out"};
    const struct table *tables[] = {&new->table, &old->table};
    for (int i = 0; i < 2; i++) {
        char(*text)[96] = i ? old_text : new_text;
        snprintf(text[0], sizeof text[0], "%s", tables[i]->function);
        tensor_format(&tables[i]->in, text[1], sizeof text[1]);
        tensor_format(&tables[i]->out, text[2], sizeof text[2]);
    }
    for (int i = 0; i < 3; i++) {
        if (strcmp(new_text[i], old_text[i]) != 0)
            return diag_set(diag, EXIT_USAGE, "--baseline %s: %s is %s, must be %s as in %s", old->label, field[i],
                            old_text[i], new_text[i], new->label);
    }
    const char *new_expression = new->table.expression, *old_expression = old->table.expression;
    const int parameters = new->table.parameter_count;
    bool same = parameters == old->table.parameter_count &&
                strcmp(new->table.samples_sha256, old->table.samples_sha256) == 0 &&
                strcmp(new_expression ? new_expression : "", old_expression ? old_expression : "") == 0;
    for (int i = 0; same && i < parameters; i++)
        same = new->table.parameters[i].value == old->table.parameters[i].value;
    if (!same)
        return diag_set(diag, EXIT_USAGE, "--baseline %s: must have the parameters, samples or expression of %s",
                        old->label, new->label);
    return EXIT_DONE;
}
