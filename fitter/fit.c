/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a spec to a certified table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "certify.h"
#include "document.h"
#include "expression.h"
#include "knots.h"
#include "line.h"
#include "lsq.h"
#include "minimax.h"
#include "points.h"
#include "reduce.h"
#include "relax.h"
#include "samples.h"
#include "settle.h"
#include "spec.h"
#include "squares.h"
#include "tie.h"
#include "wide_line.h"

/* Room for the largest table, shared by the attempts of one fit. */
struct workspace {
    const struct spec *spec; /* of the table, of its half when it is folded, or of its core when it is reduced */
    struct points points;
    struct line_rules rules; /* with one shift, that of the table in hand */
    int knots[PWL_MAX_SEGMENTS + 1];
    struct line lines[PWL_MAX_SEGMENTS];
    struct segment segments[PWL_MAX_SEGMENTS];
    int count;          /* segments of the table in hand */
    struct exact exact; /* of the same, by least squares; 0 segments when nothing was proven */
    struct ties ties;   /* where its segments depend on each other */
    bool moved_by_ties;
    struct minimax minimax; /* its knots and lines are those above */
};

static void take_lines(struct workspace *work, int count)
{
    work->count = count;
    for (int m = 0; m < count; m++) {
        const struct line *line = &work->lines[m];
        work->segments[m] = (struct segment){
            .start = work->points.cell[work->knots[m]], .q_b = line->q_b, .n = line->n, .offset = line->offset};
    }
    if (work->spec->method != METHOD_UNIFORM)
        settle_starts(&work->rules, &work->points, count, work->knots, work->lines, work->segments);
}

/* Lines for the knots chosen. */
static int fit_lines(struct workspace *work, int count, struct diag *diag)
{
    for (int m = 0; m < count; m++)
        if (!line_fit(&work->rules, &work->points, work->knots[m], work->knots[m + 1], LINE_UNLIMITED, LINE_THOROUGH,
                      &work->lines[m]))
            return diag_set(
                diag, EXIT_REQUIREMENT,
                "the segment at code %lld has no provable line: %s needs more than its %d bits, or the values "
                "of --fix are not on one; a smaller zero point of --in or --out or more segments are needed",
                (long long)work->points.cell[work->knots[m]], offset_name(work->rules.form),
                offset_bits(storage_for(work->spec->in.bits, work->spec->out.bits), work->rules.form));
    take_lines(work, count);
    return EXIT_DONE;
}

/* A table of one shift has the one whose lines on the knots chosen cost least; it stays in the rules. */
static int fit_lines_of_one_shift(struct workspace *work, int count, struct diag *diag)
{
    struct line_rules *rules = &work->rules;
    const struct line_rules any = *rules;
    double least = INFINITY;
    int best = 0;
    for (int trial = 0; trial <= any.shift_max - any.shift_min; trial++) {
        struct diag missing;
        double cost = 0;
        rules->shift_min = rules->shift_max = line_one_shift(&any, &work->points, trial);
        if (fit_lines(work, count, &missing))
            continue;
        for (int m = 0; m < count; m++)
            cost += work->lines[m].cost;
        if (cost < least) {
            least = cost;
            best = rules->shift_min;
        }
    }
    rules->shift_min = rules->shift_max = best;
    return fit_lines(work, count, diag);
}

/* Whether the squared error at the points is that of the whole table, or no more: not where a point stands for several
 * codes, of the core of a reduced table, and of a half that is taken to saturate as one. */
static bool has_rms_bound(const struct workspace *work)
{
    return work->spec->method == METHOD_LSQ && work->points.exhaustive && !work->spec->core &&
           !work->spec->saturates_as_one;
}

static int fit_least_squares(struct workspace *work, int count, struct diag *diag)
{
    const struct points *points = &work->points;
    const bool exactly = points->count <= EXACT_POINTS && work->spec->method == METHOD_LSQ;
    struct squares table = {.points = points,
                            .rules = &work->rules,
                            .knots = work->knots,
                            .lines = work->lines,
                            .exact = {.segments = count}};
    if (points->grid_whole)
        memcpy(work->knots, points->grid, ((size_t)count + 1) * sizeof *work->knots);
    else if (knots_least_squares(points, count, work->knots, diag))
        return diag->code;
    diag->code = EXIT_DONE;
    if (work->rules.one_shift)
        fit_lines_of_one_shift(work, count, diag);
    else if (!exactly)
        fit_lines(work, count, diag);
    if (diag->code && !(exactly && diag->code == EXIT_REQUIREMENT))
        return diag->code;
    if (exactly) {
        struct line_rules any;
        line_rules_init(&any, work->spec);
        if (squares_search(&table, &any, diag))
            return diag->code;
    } else if (has_rms_bound(work) && squares_bound(&table, diag)) {
        return diag->code;
    }
    take_lines(work, table.exact.segments);
    if (has_rms_bound(work))
        work->exact = table.exact;
    return EXIT_DONE;
}

/* The knots of a minimax search; each line may still be exchanged for one of smaller squared error, as long as max_err
 * holds. */
static int take_minimax(struct workspace *work, double max_err)
{
    const struct line_limits limits = {max_err, INFINITY};
    if (work->rules.one_shift)
        work->rules.shift_min = work->rules.shift_max = work->lines[0].n;
    for (int m = 0; m < work->minimax.segments; m++) {
        struct line line;
        const int begin = work->knots[m], end = work->knots[m + 1];
        if (line_fit(&work->rules, &work->points, begin, end, limits, LINE_THOROUGH, &line) &&
            (!work->points.spec || wide_line_bound(&work->points, begin, end, &line) <= max_err))
            work->lines[m] = line;
    }
    take_lines(work, work->minimax.segments);
    return EXIT_DONE;
}

static bool has_uniform_knots(const struct spec *spec)
{
    return spec->constraints.knots == KNOTS_UNIFORM || spec->method == METHOD_UNIFORM;
}

/* Where the segments of a table of `count` may start. */
static int allow_knots(struct workspace *work, int count, struct diag *diag)
{
    const struct spec *spec = work->spec;
    const struct constraints *constraints = &spec->constraints;
    if (has_uniform_knots(spec))
        return points_grid_uniform(&work->points, count, diag);
    if (constraints->knots == KNOTS_FREE)
        return EXIT_DONE;
    /* A folded table has its segments on half of the codes, a core by leading zeros on half of the words or more. */
    const int halves = spec->fold || (spec->core && spec->in.qmin > 0) ? 2 : 1;
    const int bits = constraints_index_bits(constraints, halves * count, spec->in.bits);
    return points_grid_pow2(&work->points, spec->in.bits - bits, diag);
}

/* Fills work->segments with a table of `count` segments, or fewer where more would not help. */
static int fit_segments(struct workspace *work, int count, struct diag *diag)
{
    const struct points *points = &work->points;
    line_rules_init(&work->rules, work->spec);
    if (allow_knots(work, count, diag))
        return diag->code;
    count = points_places(points) < count ? points_places(points) : count;
    switch (work->spec->method) {
    case METHOD_LSQ:
    case METHOD_UNIFORM:
        return fit_least_squares(work, count, diag);
    case METHOD_MINIMAX:
        if (minimax_least_error(points, &work->rules, count, &work->minimax, diag))
            return diag->code;
        return take_minimax(work, work->minimax.max_err);
    case METHOD_DOCUMENT:
        if (knots_least_squares(points, count, work->knots, diag))
            return diag->code;
        work->count = count;
        return document_quantise(work->spec, &work->rules, points, count, work->knots, work->segments, diag);
    case METHOD_LUT:
        work->count = count;
        for (int m = 0; m < count; m++)
            work->segments[m] =
                (struct segment){.start = points->cell[m], .offset = (int64_t)floor(points->target[m] + 0.5)};
        return EXIT_DONE;
    }
    return diag_set(diag, EXIT_IO, "internal error: unknown method");
}

static int describe(const struct spec *spec, struct table *table, struct diag *diag)
{
    memset(table, 0, sizeof *table);
    table->spec = spec_canonical(spec);
    table->segments = malloc(PWL_MAX_SEGMENTS * sizeof *table->segments);
    if (!table->spec || !table->segments)
        return diag_set(diag, EXIT_IO, "out of memory for a table");
    snprintf(table->function, sizeof table->function, "%s", function_name(&spec->function));
    if (spec->function.info)
        for (; spec->function.info->parameters[table->parameter_count].name; table->parameter_count++) {
            const int k = table->parameter_count;
            snprintf(table->parameters[k].name, sizeof table->parameters[k].name, "%s",
                     spec->function.info->parameters[k].name);
            table->parameters[k].value = spec->function.parameters[k];
        }
    if (spec->function.expression && !(table->expression = strdup(spec->function.expression->text)))
        return diag_set(diag, EXIT_IO, "out of memory for a table");
    if (spec->function.samples)
        snprintf(table->samples_sha256, sizeof table->samples_sha256, "%s", spec->function.samples->sha256);
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

/* Ties and fixes of a folded table are searched by outputs that saturate where those of both halves do. Where one half
 * saturates before, a table may keep to them by that alone, and be better than the search says. */
static bool is_kept_by_saturation(const struct workspace *work, const struct certificate *certificate)
{
    const struct points *points = &work->points;
    bool limited = certificate->saturated_codes > 0 && constraints_tie(&work->spec->constraints);
    for (int k = 0; points->served && points->fixed && k < points->count; k++)
        for (int i = 0; points->fixed[k] != POINT_FREE && i < 2; i++) {
            const struct served *served = &points->served[k][i];
            const double q_y = (double)points->fixed[k];
            limited |= served->low < served->high && (q_y <= served->low || q_y >= served->high);
        }
    return points->served && limited;
}

/* That of all points; masses are such that their mean over the codes is 1. */
static double total_mass(const struct points *points)
{
    return (double)(points->cell[points->count] - points->cell[0]);
}

/* Whether the table costs what its lines do at the points. That of a half may cost more, see spec_fold_narrow. */
static bool costs_as_searched(const struct workspace *work, const struct certificate *certificate)
{
    const double rms = certificate->rms_err_lsb, mass = total_mass(&work->points);
    return !work->points.served || rms * rms * mass <= work->exact.cost * (1 + 1e-9) + 1e-18 * mass;
}

/* What the search knows of all other tables. */
static void certify_bounds(const struct workspace *work, const struct table *table, struct certificate *certificate)
{
    const struct minimax *minimax = &work->minimax;
    certificate->optimal = -1;
    if (is_kept_by_saturation(work, certificate))
        return;
    switch (work->spec->method) {
    case METHOD_MINIMAX: {
        certificate->objective = OBJECTIVE_MAX;
        /* The core's error is bounded, in its own units; what rounding makes of it is not. */
        if (table->has_reduction)
            break;
        certificate->has_lower_bound = true;
        certificate->lower_bound_lsb = minimax->lower_bound;
        /* Points are codes, so what no table reaches at them none reaches. Over 2^32 codes, slopes and targets of up to
         * 33 bits, the doubles that say so are off by up to 2^-20 LSB. */
        if (!work->points.exhaustive)
            certificate->lower_bound_lsb = fmax(0, minimax->lower_bound * (1 - 1e-6) - 0x1p-20);
        certificate->optimal =
            minimax->optimal && certificate->max_err_lsb <= minimax->max_err + 4 * MINIMAX_RESOLUTION;
        break;
    }
    case METHOD_LSQ:
        if (work->exact.segments) {
            const struct exact *exact = &work->exact;
            certificate->has_lower_bound = true;
            certificate->optimal = exact->optimal && !work->moved_by_ties && costs_as_searched(work, certificate);
            certificate->lower_bound_lsb =
                certificate->optimal ? certificate->rms_err_lsb : sqrt(exact->lower_bound / total_mass(&work->points));
        }
        break;
    case METHOD_LUT:
        certificate->optimal = 1; /* no output code is nearer than the nearest one */
        break;
    default:
        break;
    }
}

/* Proves and measures the segments found, and writes them and their certificate into the table. */
static int certify(struct workspace *work, struct table *table, struct diag *diag)
{
    struct packed_table packed;
    struct error_stats stats;
    struct weighted_stats weighted;
    const struct weights *weights = work->spec->weights;
    pwl_proof proof;
    memcpy(table->segments, work->segments, (size_t)work->count * sizeof *table->segments);
    table->segment_count = work->count;
    if (table_prove(table, EXIT_REQUIREMENT, &packed, &proof, diag))
        return diag->code;
    struct certificate *certificate = &table->certificate;
    memset(certificate, 0, sizeof *certificate);
    int status = measure(table, &packed, &work->spec->function, false, NULL, NULL, &stats, diag);
    if (!status && weights)
        status = measure_weighted(table, &packed, &work->spec->function, weights, &weighted, diag);
    if (!status) {
        certificate_fill(certificate, &stats, &proof);
        if (weights)
            certificate_weigh(certificate, &weighted);
        certify_bounds(work, table, certificate);
        certificate->has_bound =
            !stats.exhaustive && table_bound(table, &work->spec->function, &certificate->bound_lsb);
    }
    packed_table_free(&packed);
    return status;
}

/* Exchanges the table in hand for one that keeps the ties. */
static int tie_lines(struct workspace *work, int most, struct diag *diag)
{
    struct minimax *minimax = &work->minimax;
    struct line_rules rules; /* those of any table, with one shift too */
    struct tied tied = {.segments = work->count, .most = most, .knots = work->knots, .lines = work->lines};
    const double low = work->spec->method == METHOD_MINIMAX ? minimax->lower_bound - 4 * MINIMAX_RESOLUTION : 0;
    line_rules_init(&rules, work->spec);
    if (tie_segments(&work->ties, &work->points, &rules, low, &tied, diag))
        return diag->code;
    work->moved_by_ties = tied.changed;
    if (tied.proven) {
        minimax->max_err = minimax->lower_bound = tied.max_err;
        minimax->optimal = true;
    }
    take_lines(work, tied.segments);
    return EXIT_DONE;
}

/* Least squares places knots for real lines. Where lines may be far from those, because slopes are rare, all have one
 * shift, or a bias leaves the sum little room, a search around the table finds better ones. */
static bool lines_are_constrained(const struct workspace *work)
{
    const struct line_rules *rules = &work->rules;
    return work->spec->method == METHOD_LSQ && work->points.count > EXACT_POINTS &&
           (rules->one_shift || rules->slope_terms || rules->form == PWL_BIASED || work->points.grid);
}

static int fit_and_certify(struct workspace *work, int count, struct table *table, struct diag *diag)
{
    diag->code = EXIT_DONE;
    if (fit_segments(work, count, diag))
        return diag->code;
    work->ties.improve = lines_are_constrained(work);
    const int places = points_places(&work->points);
    if ((work->ties.improve || constraints_tie(&work->spec->constraints)) &&
        tie_lines(work, places < count ? places : count, diag))
        return diag->code;
    return certify(work, table, diag);
}

/* What --max-err is held against: proven where not every code was visited, if it can be. */
static double held_error(const struct table *table)
{
    const struct certificate *certificate = &table->certificate;
    return certificate->has_bound ? certificate->bound_lsb : certificate->max_err_lsb;
}

static bool holds_max_err(const struct spec *spec, const struct table *table)
{
    return held_error(table) <= spec->max_err;
}

static int miss_max_err(const struct spec *spec, const struct table *table, struct diag *diag)
{
    const struct certificate *certificate = &table->certificate;
    if (certificate->has_bound && certificate->max_err_lsb <= spec->max_err)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "--max-err %.6g: of the table of %d segments it is proven only that it is off by at most %.6g "
                        "LSB; the largest error found is %.6g LSB at code %lld",
                        spec->max_err, table->segment_count, certificate->bound_lsb, certificate->max_err_lsb,
                        (long long)certificate->max_err_at);
    return diag_set(diag, EXIT_REQUIREMENT, "--max-err %.6g: the table of %d segments is off by %.6g LSB at code %lld",
                    spec->max_err, table->segment_count, certificate->max_err_lsb, (long long)certificate->max_err_at);
}

/* Whether a table of so many segments is one that was asked for. */
static int try_count(struct workspace *work, int count, struct table *table, bool *good, struct diag *diag)
{
    *good = !fit_and_certify(work, count, table, diag) && holds_max_err(work->spec, table);
    return diag->code == EXIT_REQUIREMENT ? EXIT_DONE : diag->code;
}

/* Few segments for a given error, `least` or more, where a search knows only how to fit a number of them: steps that
 * double, then bisection. */
static int fit_max_err_by_count(struct workspace *work, int least, int most, struct table *table, struct diag *diag)
{
    int bad = least - 1, good = least;
    bool met;
    for (int step = 1;; step *= 2) {
        if (try_count(work, good, table, &met, diag))
            return diag->code;
        if (met)
            break;
        if (good == most)
            return diag->code ? diag->code : miss_max_err(work->spec, table, diag);
        bad = good;
        good = step < most - good ? good + step : most;
    }
    while (bad + 1 < good) {
        const int middle = bad + (good - bad) / 2;
        if (try_count(work, middle, table, &met, diag))
            return diag->code;
        if (met)
            good = middle;
        else
            bad = middle;
    }
    return table->segment_count == good && met ? EXIT_DONE : fit_and_certify(work, good, table, diag);
}

/* For a given error knots on a grid lie on the coarsest one that serves. */
static int allow_knots_for(struct workspace *work, double max_err, int most, struct diag *diag)
{
    const struct spec *spec = work->spec;
    const bool uniform = has_uniform_knots(spec);
    const int given = spec->constraints.index_bits, bits = spec->in.bits;
    const int finest = uniform ? most : bits < CONSTRAINTS_MAX_INDEX_BITS ? bits : CONSTRAINTS_MAX_INDEX_BITS;
    line_rules_init(&work->rules, spec);
    if (!uniform && spec->constraints.knots == KNOTS_FREE)
        return EXIT_DONE;
    for (int fineness = given ? given : 1; fineness <= (given ? given : finest); fineness++) {
        diag->code = EXIT_DONE;
        if (uniform ? points_grid_uniform(&work->points, fineness, diag)
                    : points_grid_pow2(&work->points, bits - fineness, diag))
            return diag->code;
        minimax_cover(&work->points, &work->rules, max_err, most, &work->minimax, diag);
        if (diag->code != EXIT_REQUIREMENT)
            break;
    }
    return diag->code;
}

/* Few segments that hold `limit` at the points: by minimax the fewest and among those of least error, else least
 * squares on the same knots. */
static int cover_points(struct workspace *work, double limit, int most, struct diag *diag)
{
    if (allow_knots_for(work, limit, most, diag))
        return diag->code;
    if (work->spec->method == METHOD_MINIMAX) {
        if (minimax_fewest_segments(&work->points, &work->rules, limit, most, &work->minimax, diag))
            return diag->code;
        return take_minimax(work, work->minimax.max_err);
    }
    if (minimax_cover(&work->points, &work->rules, limit, most, &work->minimax, diag))
        return diag->code;
    return take_minimax(work, limit);
}

/* Fewest segments for a given error. It is held at the points only; where they are not all codes the certificate may
 * find or prove no more than a larger one, and the limit is narrowed by as much. */
static int fit_max_err_by_cover(struct workspace *work, int most, struct table *table, struct diag *diag)
{
    enum { ATTEMPTS = 10 };
    const double max_err = work->spec->max_err;
    /* A reduced table rounds once more, by half an LSB at most. */
    double limit = table->has_reduction && max_err > 0.75 ? max_err - 0.5 : max_err;
    for (int attempt = 0; attempt < ATTEMPTS && limit > 0; attempt++) {
        if (cover_points(work, limit, most, diag)) {
            if (attempt > 0 && diag->code == EXIT_REQUIREMENT) /* the limit is too narrow by now */
                break;
            return diag->code;
        }
        if (certify(work, table, diag))
            return diag->code;
        if (holds_max_err(work->spec, table))
            return EXIT_DONE;
        limit -= fmax(1.02 * (held_error(table) - max_err), 1e-4 * max_err);
    }
    return miss_max_err(work->spec, table, diag);
}

/* Segments that depend on each other are at least as many as those that do not, wherever knots may lie; a grid is that
 * of the number of segments. Where one of more segments has not all the places of one of fewer, each number is tried.
 */
static int fit_max_err_of_ties(struct workspace *work, int most, struct table *table, struct diag *diag)
{
    const struct spec *spec = work->spec;
    bool met = false;
    if (minimax_cover(&work->points, &work->rules, spec->max_err, most, &work->minimax, diag))
        return diag->code;
    int count = work->minimax.segments;
    if (!has_uniform_knots(spec))
        return fit_max_err_by_count(work, count, most, table, diag);
    for (; count <= most && !met; count++) {
        if (points_grid_uniform(&work->points, count, diag))
            return diag->code;
        if (minimax_cover(&work->points, &work->rules, spec->max_err, count, &work->minimax, diag) == EXIT_REQUIREMENT)
            continue;
        if (diag->code || try_count(work, count, table, &met, diag))
            return diag->code;
    }
    return met ? EXIT_DONE : diag->code ? diag->code : miss_max_err(spec, table, diag);
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

    const bool limited = !isnan(spec->max_err);
    if (limited && !spec->segments && spec->method != METHOD_LUT)
        return spec->method == METHOD_DOCUMENT       ? fit_max_err_by_count(work, 1, most, table, diag)
               : constraints_tie(&spec->constraints) ? fit_max_err_of_ties(work, most, table, diag)
                                                     : fit_max_err_by_cover(work, most, table, diag);
    int count = spec->method == METHOD_LUT ? points->count : spec->segments ? spec->segments : SPEC_DEFAULT_SEGMENTS;
    count = count < most ? count : most;
    if (fit_and_certify(work, count, table, diag))
        return diag->code;
    if (limited && !holds_max_err(spec, table))
        return miss_max_err(spec, table, diag);
    return EXIT_DONE;
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
    if (fit_codes(work, &narrow, table, diag) || !work->exact.segments || costs_as_searched(work, certificate))
        return diag->code;
    const struct certificate first = *certificate;
    if (fit_codes(work, &as_one, table, diag) || certificate->rms_err_lsb > first.rms_err_lsb)
        return fit_codes(work, &narrow, table, diag);
    certificate->has_lower_bound = first.has_lower_bound;
    certificate->lower_bound_lsb = first.lower_bound_lsb;
    certificate->optimal = first.optimal;
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

int fit_as_asked(const struct spec *spec, struct table *table, struct diag *diag)
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

int fit(const struct spec *spec, struct table *table, struct diag *diag)
{
    if (fit_as_asked(spec, table, diag) == EXIT_REQUIREMENT)
        relax_explain(spec, diag);
    return diag->code;
}
