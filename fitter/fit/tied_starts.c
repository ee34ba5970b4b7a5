/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tied segments are searched around a table that need not keep the ties. Around other ones the same search may find a
 * better table. */
#include <math.h>
#include <string.h>

#include "measure/claim.h"
#include "workspace.h"

/* Points up to which a table to begin with is soon found. */
enum { MOST_POINTS = 1 << 14 };

void keep_table(struct workspace *work, const struct table *table)
{
    struct kept *kept = &work->kept;
    kept->count = table->segment_count;
    memcpy(kept->segments, table->segments, (size_t)kept->count * sizeof *kept->segments);
    kept->certificate = table->certificate;
}

void take_kept_table(const struct workspace *work, struct table *table)
{
    const struct kept *kept = &work->kept;
    table->segment_count = kept->count;
    memcpy(table->segments, kept->segments, (size_t)kept->count * sizeof *kept->segments);
    table->certificate = kept->certificate;
}

/* Tables to begin with: of those asked for, but for the ties; BOTH_TIES: one that keeps to --monotone, too. */
enum start { FEWER_SEGMENTS, ONE_SHIFT, OTHER_METHOD, BOTH_TIES, STARTS };

/* False where there is no such start. */
static bool begin_with(enum start start, struct spec *spec, int *count)
{
    switch (start) {
    case FEWER_SEGMENTS:
        --*count;
        return *count > 0 && !has_uniform_knots(spec);
    case ONE_SHIFT:
        if (spec->constraints.one_shift)
            return false;
        spec->constraints.one_shift = true;
        return true;
    case BOTH_TIES:
        if (spec->constraints.monotone)
            return false;
        spec->constraints.monotone = true;
        return true;
    default:
        spec->method = spec->method == METHOD_LSQ ? METHOD_MINIMAX : METHOD_LSQ;
        return true;
    }
}

/* Fits segments from another table, by the objective of the spec; not from one that a complete search finds, which
 * takes long. */
static int fit_from(struct workspace *work, enum start start, int count, struct table *table, struct diag *diag)
{
    const struct spec *const spec = work->spec;
    const enum objective objective = work->objective;
    const struct ties ties = work->ties;
    struct spec other = *spec;
    diag->code = EXIT_REQUIREMENT;
    if (!begin_with(start, &other, &count) || (other.method == METHOD_LSQ && work->points.count <= EXACT_POINTS))
        return diag->code;
    work->spec = &other;
    if (start != BOTH_TIES || !ties_init(&work->ties, &other, &work->points, diag))
        fit_segments(work, count, diag);
    if (start == BOTH_TIES)
        ties_free(&work->ties);
    work->ties = ties;
    work->spec = spec;
    work->objective = objective;
    return diag->code ? diag->code : certify(work, table, diag);
}

/* Of wide inputs the first table is long searched, and one of least squares once for each method. */
static bool is_worth_it(const struct workspace *work)
{
    const enum method method = work->spec->method;
    if (work->spec->is_aside || (method != METHOD_LSQ && method != METHOD_MINIMAX))
        return false;
    return work->points.exhaustive ? work->points.count <= MOST_POINTS : method == METHOD_MINIMAX;
}

int try_tied_starts(struct workspace *work, int count, struct table *table, struct diag *diag)
{
    const struct spec *spec = work->spec;
    const struct certificate first = table->certificate;
    const struct exact exact = work->exact;
    const struct minimax minimax = work->minimax;
    diag->code = EXIT_DONE;
    if (!constraints_tie(&spec->constraints) || !is_worth_it(work) || first.optimal == 1)
        return diag->code;
    keep_table(work, table);
    for (enum start start = 0; start < STARTS && !effort_spent(work->points.effort); start++) {
        struct diag refusal;
        const int status = fit_from(work, start, count, table, &refusal);
        if (status == EXIT_DONE && objective_error(&table->certificate) < objective_error(&work->kept.certificate))
            keep_table(work, table);
        else if (status != EXIT_DONE && status != EXIT_REQUIREMENT)
            return diag_set(diag, status, "%s", refusal.text);
    }
    take_kept_table(work, table);
    certificate_keep_judgement(&table->certificate, &first);
    work->exact = exact;
    work->minimax = minimax;
    return diag->code;
}
