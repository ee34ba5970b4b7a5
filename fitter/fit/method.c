/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate.h"
#include "function/expression.h"
#include "function/samples.h"
#include "interpolation_table.h"
#include "judgement.h"
#include "max_err.h"
#include "measure/claim.h"
#include "search/real_line_fit.h"
#include "spec/reduce.h"
#include "tied_starts.h"
#include "workspace.h"

int table_begin(const struct spec *spec, struct table *table, struct diag *diag)
{
    memset(table, 0, sizeof *table);
    table->spec = spec_canonical(spec);
    table->segments = malloc(PWL_MAX_SEGMENTS * sizeof *table->segments);
    if (!table->spec || !table->segments)
        return diag_set(diag, EXIT_IO, "out of memory for a table");
    if (table_set_function(table, &spec->function, diag))
        return diag->code;
    if (spec->weights)
        snprintf(table->weights_sha256, sizeof table->weights_sha256, "%s", spec->weights->sha256);
    snprintf(table->method, sizeof table->method, "%s", method_name(spec->method));
    table->form = spec->form;
    table->rounding = spec->rounding;
    table->storage = spec_storage(spec);
    table->in = spec->in;
    table->out = spec->out;
    table->has_unfused = spec->method == METHOD_DOCUMENT;
    table->outside = spec->outside;
    return EXIT_DONE;
}

/* A table that is flat everywhere needs least; where even it has no proof, a zero point is to blame. */
static int check_provable(struct table *table, struct diag *diag)
{
    struct packed_table packed;
    pwl_proof proof;
    table->segments[0] =
        (struct segment){.start = table->has_fold ? table->in.zero_point : table_segment_codes(table).qmin};
    table->segment_count = 1;
    if (table_prove(table, EXIT_REQUIREMENT, &packed, &proof, diag))
        return diag->code;
    packed_table_free(&packed);
    return EXIT_DONE;
}

static int fit_in(struct workspace *work, struct table *table, struct diag *diag)
{
    const struct spec *spec = work->spec;
    const struct points *points = &work->points;
    if (check_provable(table, diag))
        return diag->code;
    const int most = points_starts(points) < PWL_MAX_SEGMENTS ? points_starts(points) : PWL_MAX_SEGMENTS;
    if (points->clipped == points->count)
        return diag_set(diag, EXIT_USAGE,
                        "--out: %s is outside the output range at every input code, so the table "
                        "would hold no values but the ends of that range; change the scale or the zero point",
                        function_name(&spec->function));

    if (has_points(spec))
        return fit_interpolation(work, table, diag);
    if (!isnan(spec->max_err) && !spec->segments && !method_is_of_codes(spec->method) && !has_values(spec))
        return fit_max_err(work, most, table, diag) ? diag->code : check_max_err(spec, table, diag);
    const int wanted = method_is_of_codes(spec->method) ? points->count
                       : has_values(spec)               ? spec_step_count(spec)
                       : spec->segments                 ? spec->segments
                                                        : SPEC_DEFAULT_SEGMENTS,
              count = wanted < most ? wanted : most;
    if (fit_and_certify(work, count, table, diag) || try_tied_starts(work, count, table, diag) ||
        !check_max_err(spec, table, diag) || method_is_of_codes(spec->method))
        return diag->code;
    /* Another objective than the largest error, and a grid of knots that is that of the number of segments, miss tables
     * that --max-err alone finds. */
    const struct diag missed = *diag;
    diag->code = EXIT_DONE;
    if ((fit_max_err(work, count, table, diag) || check_max_err(spec, table, diag)) && diag->code == EXIT_REQUIREMENT)
        *diag = missed;
    return diag->code;
}

/* Fits the codes of a spec, of the half of one or of its core. */
static int fit_codes(struct workspace *work, const struct spec *spec, struct table *table, struct diag *diag)
{
    return workspace_begin(work, spec, diag) ? diag->code : fit_in(work, table, diag);
}

/* Fits the half of a folded table. For squares its output range is narrowed; where that finds a line which costs more
 * than it seemed, the other way of taking the limits may find a better table, of which nothing is proven. */
static int fit_half(struct workspace *work, const struct spec *half, struct table *table, struct diag *diag)
{
    struct spec narrow = *half, as_one = *half;
    struct certificate *certificate = &table->certificate;
    if (half->method == METHOD_MINIMAX)
        return fit_codes(work, half, table, diag);
    as_one.saturates_as_one = true;
    const bool by_squares = half->method == METHOD_LSQ && (half->segments || isnan(half->max_err));
    if (!by_squares || !spec_fold_narrow(&narrow))
        return fit_codes(work, &as_one, table, diag);
    const int status = fit_codes(work, &narrow, table, diag);
    if (status == EXIT_REQUIREMENT && !isnan(half->max_err)) { /* --max-err alone takes the limits the other way */
        const struct diag missed = *diag;
        if (fit_codes(work, &as_one, table, diag) == EXIT_REQUIREMENT)
            *diag = missed;
        return diag->code;
    }
    if (status || !work->exact.segments || costs_as_searched(work, certificate))
        return status;
    const struct certificate first = *certificate;
    keep_table(&work->kept_half, table);
    if (fit_codes(work, &as_one, table, diag) || is_better(&first, certificate))
        take_kept_table(&work->kept_half, table);
    else
        certificate_keep_judgement(certificate, &first);
    return diag->code = EXIT_DONE;
}

/* Fits the table's own codes, those of the half that it stores, or the words of its core. */
static int fit_with(struct workspace *work, const struct spec *spec, struct table *table, struct diag *diag)
{
    if (spec->reduce) {
        struct reduced_core core;
        if (reduce_plan(spec, &core, diag))
            return diag->code;
        table->has_reduction = true;
        table->reduction = core.reduction;
        const struct spec words = reduce_core_spec(spec, &core);
        fit_codes(work, &words, table, diag);
    } else if (spec->fold) {
        if (spec_fold_sum(spec, &table->fold_sum, diag))
            return diag->code;
        table->has_fold = true;
        const struct spec half = spec_fold_half(spec, table->fold_sum);
        fit_half(work, &half, table, diag);
    } else {
        fit_codes(work, spec, table, diag);
    }
    if (diag->code)
        return diag->code;
    const struct certificate *certificate = &table->certificate;
    if (spec->constraints.monotone && !certificate->monotone)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "--monotone: no table of %d segments was found that keeps to it; more segments are needed",
                        table->segment_count);
    if (spec->no_saturate && certificate->saturated_codes > 0)
        return diag_set(
            diag, EXIT_REQUIREMENT, "--no-saturate: %s leaves the output range at %lld of %lld codes; widen --out",
            function_name(&spec->function), (long long)certificate->saturated_codes, (long long)certificate->checked);
    return EXIT_DONE;
}

int fit_by_method(const struct spec *spec, struct table *table, struct diag *diag)
{
    lsq_begin();
    memset(table, 0, sizeof *table);
    if (spec_check(spec, diag))
        return diag->code;
    struct workspace *work = calloc(1, sizeof *work);
    if (!work)
        return diag_set(diag, EXIT_IO, "out of memory for a fit");
    diag->code = EXIT_DONE;
    if (table_begin(spec, table, diag) || fit_with(work, spec, table, diag))
        table_free(table);
    workspace_free(work);
    free(work);
    return diag->code;
}
