/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tied_starts.h"

#include "certificate.h"
#include "judgement.h"
#include "measure/claim.h"
#include "problem.h"
#include "segments.h"

/* Points up to which a table to begin with is soon found. */
enum { MOST_POINTS = 1 << 14 };

/* Asks for a table to begin with: that of the spec, but for the ties and for one thing. False where there is none. */
typedef bool begin(struct spec *spec, int *count);

static bool with_fewer_segments(struct spec *spec, int *count)
{
    --*count;
    return *count > 0 && !has_uniform_knots(spec);
}

static bool with_one_shift(struct spec *spec, int *count)
{
    const bool had = spec->constraints.one_shift;
    (void)count;
    spec->constraints.one_shift = true;
    return !had;
}

static bool by_other_method(struct spec *spec, int *count)
{
    (void)count;
    spec->method = spec->method == METHOD_LSQ ? METHOD_MINIMAX : METHOD_LSQ;
    return true;
}

/* It keeps both ties. */
static bool with_monotone(struct spec *spec, int *count)
{
    const bool had = spec->constraints.monotone;
    (void)count;
    spec->constraints.monotone = true;
    return !had;
}

static begin *const starts[] = {with_fewer_segments, with_one_shift, by_other_method, with_monotone};
enum { STARTS = sizeof starts / sizeof *starts };

/* Fits segments from another table, by the objective of the spec; not from one that a complete search finds, which
 * takes long. */
static int fit_from(struct workspace *work, begin *start, int count, struct table *table, struct diag *diag)
{
    const struct spec *const spec = work->spec;
    const enum objective objective = work->objective;
    const struct ties ties = work->ties;
    struct spec other = *spec;
    diag->code = EXIT_REQUIREMENT;
    if (!start(&other, &count) || (other.method == METHOD_LSQ && work->points.count <= EXACT_POINTS))
        return diag->code;
    const bool other_ties = other.constraints.monotone != spec->constraints.monotone;
    work->spec = &other;
    if (!other_ties || !ties_init(&work->ties, &other, &work->points, diag))
        fit_segments(work, count, diag);
    if (other_ties)
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
    keep_table(&work->kept, table);
    for (int k = 0; k < STARTS && !effort_spent(work->points.effort); k++) {
        struct diag refusal;
        const int status = fit_from(work, starts[k], count, table, &refusal);
        if (status == EXIT_DONE && is_better(&table->certificate, &work->kept.certificate))
            keep_table(&work->kept, table);
        else if (status != EXIT_DONE && status != EXIT_REQUIREMENT)
            return diag_set(diag, status, "%s", refusal.text);
    }
    take_kept_table(&work->kept, table);
    certificate_keep_judgement(&table->certificate, &first);
    work->exact = exact;
    work->minimax = minimax;
    return diag->code;
}
