/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sweep_gates.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/claim.h"

#define BASELINE_TOLERANCE 1e-9 /* relative; both are measured by the same code */

int sweep_check_certificate(const struct sweep_row *row, struct diag *diag)
{
    const struct measured measured = {&row->stats, row->has_weighted ? &row->weighted : NULL, row->witness_err};
    return claim_compare(&row->table, &measured, diag) ? diag_prefix(diag, row->label) : EXIT_DONE;
}

/* What is sure of all codes, as far as it is. */
static double largest_error(const struct sweep_row *row)
{
    return row->has_bound && !row->stats.exhaustive ? row->bound : row->stats.max_err;
}

int sweep_check_max_err(const struct sweep_row *rows, int count, double max_err, struct diag *diag)
{
    const struct sweep_row *first = NULL;
    int failing = 0;
    for (int i = 0; i < count; i++) {
        if (largest_error(&rows[i]) > max_err) {
            first = first ? first : &rows[i];
            failing++;
        }
    }
    if (!first)
        return EXIT_DONE;
    char others[48] = "";
    if (failing > 1)
        snprintf(others, sizeof others, "; %d tables in all exceed it", failing);
    if (first->stats.max_err <= max_err)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "%s: the proven bound %.6g LSB exceeds --max-err %g, though the largest error found is %.6g at "
                        "code %" PRId64 "; --exhaustive visits every code%s",
                        first->label, first->bound, max_err, first->stats.max_err, first->stats.max_err_at, others);
    return diag_set(diag, EXIT_REQUIREMENT, "%s: max error %.6g LSB at code %" PRId64 " exceeds --max-err %g by %.6g%s",
                    first->label, first->stats.max_err, first->stats.max_err_at, max_err,
                    first->stats.max_err - max_err, others);
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
