/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a spec to a certified table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "fit.h"
#include "function/expression.h"
#include "function/samples.h"
#include "keep_zero.h"
#include "measure/claim.h"
#include "other_methods.h"
#include "search/real_line_fit.h"
#include "spec/reduce.h"
#include "workspace.h"

static int describe(const struct spec *spec, struct table *table, struct diag *diag)
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

int fit_and_certify(struct workspace *work, int count, struct table *table, struct diag *diag)
{
    return fit_segments(work, count, diag) ? diag->code : certify(work, table, diag);
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
                        "would be constant; change the scale or the zero point",
                        function_name(&spec->function));

    if (has_points(spec))
        return fit_interpolation(work, table, diag);
    if (!isnan(spec->max_err) && !spec->segments && spec->method != METHOD_LUT)
        return fit_max_err(work, most, table, diag) ? diag->code : check_max_err(spec, table, diag);
    const int wanted = spec->method == METHOD_LUT ? points->count
                       : spec->segments           ? spec->segments
                                                  : SPEC_DEFAULT_SEGMENTS,
              count = wanted < most ? wanted : most;
    if (fit_and_certify(work, count, table, diag) || try_tied_starts(work, count, table, diag) ||
        !check_max_err(spec, table, diag) || spec->method == METHOD_LUT)
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
    points_free(&work->points);
    ties_free(&work->ties);
    work->spec = spec;
    work->exact = (struct exact){0};
    work->minimax = (struct minimax){.knots = work->knots, .lines = work->lines};
    line_rules_init(&work->rules, spec);
    if (points_build(spec, &work->points, diag) || ties_init(&work->ties, spec, &work->points, diag))
        return diag->code;
    return fit_in(work, table, diag);
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
    if (fit_codes(work, &as_one, table, diag) || certificate->rms_err_lsb > first.rms_err_lsb)
        return fit_codes(work, &narrow, table, diag);
    certificate_keep_judgement(certificate, &first);
    return EXIT_DONE;
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

/* By the method asked for alone, and without regard to f(0). */
static int fit_by_method(const struct spec *spec, struct table *table, struct diag *diag)
{
    lsq_begin();
    memset(table, 0, sizeof *table);
    if (spec_check(spec, diag))
        return diag->code;
    struct workspace *work = malloc(sizeof *work);
    if (!work)
        return diag_set(diag, EXIT_IO, "out of memory for a fit");
    memset(&work->points, 0, sizeof work->points);
    memset(&work->ties, 0, sizeof work->ties);
    work->moved_by_ties = false;
    diag->code = EXIT_DONE;
    if (describe(spec, table, diag) || fit_with(work, spec, table, diag))
        table_free(table);
    points_free(&work->points);
    ties_free(&work->ties);
    free(work);
    return diag->code;
}

/* Without regard to f(0). */
static int fit_freely(const struct spec *spec, struct table *table, struct diag *diag)
{
    if (!fit_by_method(spec, table, diag) && try_other_methods(spec, fit_by_method, table, diag))
        table_free(table);
    return diag->code;
}

int fit_as_asked(const struct spec *spec, struct table *table, struct diag *diag)
{
    struct progress progress;
    progress_begin(&progress, "tables", 0);
    if (!fit_freely(spec, table, diag) && !spec->zero_is_free && keep_zero(spec, fit_freely, table, diag))
        table_free(table);
    progress_end(&progress);
    return diag->code;
}
