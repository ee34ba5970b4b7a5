/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "segments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "problem.h"
#include "residual_table.h"
#include "search/minimax/squares_in_band.h"
#include "search/rounding.h"
#include "search/squares/best_squares.h"
#include "search/squares/real_knots.h"
#include "search/ties/tied_table.h"
#include "wide_starts.h"

static void take_lines(struct workspace *work, int count)
{
    work->count = count;
    for (int m = 0; m < count; m++)
        work->segments[m] = line_segment(&work->lines[m], work->points.cell[work->knots[m]]);
    if (work->spec->method != METHOD_UNIFORM)
        settle_starts(work->spec, &work->rules, &work->points, count, work->knots, work->lines, work->segments);
}

/* Lines for the knots chosen, that cost less than *cost, which they then cost. */
static int fit_lines(struct workspace *work, int count, double *cost, struct diag *diag)
{
    double sum = 0;
    for (int m = 0; m < count; m++) {
        const struct line_limits limits = {INFINITY, *cost - sum};
        if (!line_fit(&work->rules, &work->points, work->knots[m], work->knots[m + 1], limits, LINE_THOROUGH,
                      &work->lines[m]))
            return diag_set(
                diag, EXIT_REQUIREMENT,
                "the segment at code %lld has no provable line: %s needs more than its %d bits, or the values "
                "of --fix are not on one; a smaller zero point of --in or --out or more segments are needed",
                (long long)work->points.cell[work->knots[m]], offset_name(work->rules.form),
                offset_bits(storage_for(work->spec->in.bits, work->spec->out.bits), work->rules.form));
        sum += work->lines[m].cost;
    }
    *cost = sum;
    take_lines(work, count);
    return EXIT_DONE;
}

/* The segment of the steepest line. */
static int steepest_line(const struct workspace *work, int count)
{
    int steepest = 0;
    for (int m = 1; m < count; m++)
        if (llabs(work->lines[m].q_b) > llabs(work->lines[steepest].q_b))
            steepest = m;
    return steepest;
}

/* A table of one shift has the one whose lines on the knots chosen cost least; it stays in the rules. Of those that
 * cost about the same the likeliest is taken, with which lines can get steeper when knots move. */
static int fit_lines_of_one_shift(struct workspace *work, int count, struct diag *diag)
{
    static const double gain = 1e-5;
    struct line_rules *rules = &work->rules;
    const struct line_rules any = *rules;
    double least = INFINITY;
    int best = 0, hardest = 0;
    for (int trial = 0; line_rules_of_trial(&any, &work->points, trial, rules); trial++) {
        struct diag missing;
        struct line line;
        const int n = rules->shift_min;
        if (line_shift_suffices(&any, &work->points, n + 1))
            continue;
        double cost = least * (1 - gain);
        /* Where the shift is too long for a slope, that of the steepest line so far tells. */
        if (isfinite(least) && !line_fit(rules, &work->points, work->knots[hardest], work->knots[hardest + 1],
                                         (struct line_limits){INFINITY, cost}, LINE_QUICK, &line))
            continue;
        if (!fit_lines(work, count, &cost, &missing)) {
            best = n;
            least = cost;
            hardest = steepest_line(work, count);
        }
    }
    double any_cost = INFINITY;
    rules->shift_min = rules->shift_max = best;
    return fit_lines(work, count, &any_cost, diag);
}

/* Whether the squared error at the points is that of the whole table, or no more: not where a point stands for several
 * codes, of the core of a reduced table, and of a half that is taken to saturate as one. */
static bool has_rms_bound(const struct workspace *work)
{
    return work->spec->method == METHOD_LSQ && work->points.exhaustive && !work->spec->core &&
           !work->spec->saturates_as_one;
}

/* Whether the knots of real lines that saturate are looked for, where points are too many for all integer lines. */
static bool looks_at_real_lines(const struct workspace *work)
{
    return has_rms_bound(work) || (work->spec->method == METHOD_LSQ && work->points.between);
}

/* Exchanges the present table for one that keeps the ties. */
static int tie_lines(struct workspace *work, int most, struct diag *diag)
{
    struct minimax *minimax = &work->minimax;
    struct line_rules rules; /* those of any table, with one shift too */
    struct tied tied = {.segments = work->count, .most = most, .knots = work->knots, .lines = work->lines};
    const double low = work->spec->method == METHOD_MINIMAX ? minimax->lower_bound - 4 * MINIMAX_RESOLUTION : 0;
    line_rules_init(&rules, work->spec);
    if (work->spec->is_half && constraints_tie(&work->spec->constraints)) { /* ties bind where each half saturates */
        const struct integers outputs = spec_fold_outputs(work->spec);
        rules.qmin_y = outputs.low;
        rules.qmax_y = outputs.high;
    }
    if (tie_segments(&work->ties, &work->points, &rules, low, &tied, diag))
        return diag->code;
    work->moved_by_ties = tied.changed;
    if (tied.proven)
        minimax->max_err = minimax->lower_bound = tied.max_err;
    take_lines(work, tied.segments);
    return EXIT_DONE;
}

static double cost_of(const struct workspace *work, int begin, int end, const struct line *line)
{
    return line_cost_below(&work->rules, &work->points, begin, end, line, NULL, INFINITY);
}

/* Whether the first of two lines, in segments that meet, serves the codes of both as well: by what they cost, or, where
 * points say nothing of the codes between, as the same line. */
static bool serves_both(const struct workspace *work, const int knots[3], const struct line *first,
                        const struct line *second)
{
    const struct line_rules *rules = &work->rules;
    const int64_t *cell = work->points.cell;
    if (!line_provable(rules, first, cell[knots[0]], cell[knots[2]] - 1))
        return false;
    if (work->points.exhaustive)
        return cost_of(work, knots[0], knots[2], first) <=
               cost_of(work, knots[0], knots[1], first) + cost_of(work, knots[1], knots[2], second);
    return rules->form == PWL_ABSOLUTE && first->offset == second->offset &&
           ldexp((double)first->q_b, -first->n) == ldexp((double)second->q_b, -second->n);
}

/* Leaves out each segment whose codes the line before it serves as well: straight parts of f then take one segment. */
static void leave_out_alike(struct workspace *work)
{
    int *const knots = work->knots, kept = 0;
    struct line *const lines = work->lines;
    for (int m = 1; m < work->count; m++) {
        if (serves_both(work, (int[]){knots[kept], knots[m], knots[m + 1]}, &lines[kept], &lines[m]))
            continue;
        lines[++kept] = lines[m];
        knots[kept] = knots[m];
    }
    knots[kept + 1] = knots[work->count];
    if (kept + 1 < work->count)
        take_lines(work, kept + 1);
}

static int fit_least_squares(struct workspace *work, int count, struct diag *diag)
{
    const struct points *points = &work->points;
    const bool exactly = points->count <= EXACT_POINTS && work->spec->method == METHOD_LSQ;
    const bool look_around = work->ties.improve && !constraints_tie(&work->spec->constraints);
    struct squares table = {.points = points,
                            .rules = &work->rules,
                            .knots = work->knots,
                            .lines = work->lines,
                            .is_trial = work->ties.stops_at_max_err,
                            .exact = {.segments = count}};
    if (points->grid_whole)
        memcpy(work->knots, points->grid, ((size_t)count + 1) * sizeof *work->knots);
    else if (knots_least_squares(points, count, work->knots, diag))
        return diag->code;
    diag->code = EXIT_DONE;
    double any_cost = INFINITY;
    if (work->rules.one_shift)
        fit_lines_of_one_shift(work, count, diag);
    else if (!exactly)
        fit_lines(work, count, &any_cost, diag);
    if (diag->code && !(exactly && diag->code == EXIT_REQUIREMENT))
        return diag->code;
    for (int m = 0; diag->code && m < count; m++)
        work->lines[m].cost = INFINITY; /* there is no table to begin with */
    if (exactly) {
        struct line_rules any;
        line_rules_init(&any, work->spec);
        if (squares_search(&table, &any, diag))
            return diag->code;
    } else if (looks_at_real_lines(work)) {
        /* The better the table, the closer its bound; and the best real lines may lie elsewhere. */
        if (look_around && tie_lines(work, count, diag))
            return diag->code;
        table.exact.segments = look_around ? work->count : count;
        if (squares_bound(&table, diag))
            return diag->code;
    }
    const bool again = look_around && (table.moved || !looks_at_real_lines(work));
    take_lines(work, table.exact.segments);
    if (has_rms_bound(work))
        work->exact = table.exact;
    if (again && tie_lines(work, count, diag))
        return diag->code;
    if (!points->grid_whole && !constraints_tie(&work->spec->constraints))
        leave_out_alike(work);
    return EXIT_DONE;
}

/* The table of a minimax search, of less squared error as long as max_err holds. Where segments depend on each other it
 * is what the search for ties begins with. */
static int take_minimax(struct workspace *work, double max_err, struct diag *diag)
{
    if (work->rules.one_shift)
        work->rules.shift_min = work->rules.shift_max = work->minimax.lines[0].n;
    if (squares_in_band(&work->points, &work->rules, max_err, &work->minimax, diag))
        return diag->code;
    take_lines(work, work->minimax.segments);
    return EXIT_DONE;
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
    if (constraints->knots == KNOTS_STEPS)
        return points_grid_steps(&work->points, constraints->point_shift, spec->rounding, diag);
    /* A folded table has its segments on half of the codes, a core by leading zeros on half of the words or more. */
    const int halves = spec->fold || (spec->core && spec->in.qmin > 0) ? 2 : 1;
    const int bits = constraints_index_bits(constraints, halves * count, spec->in.bits);
    return points_grid_pow2(&work->points, spec->in.bits - bits, diag);
}

static int choose_segments(struct workspace *work, int count, struct diag *diag)
{
    const struct points *points = &work->points;
    line_rules_init(&work->rules, work->spec);
    if (allow_knots(work, count, diag))
        return diag->code;
    /* Least squares places knots for real lines; integer ones are better on others. */
    work->ties.improve = work->spec->method == METHOD_LSQ && points->count > EXACT_POINTS;
    count = points_places(points) < count ? points_places(points) : count;
    switch (work->spec->method) {
    case METHOD_LSQ:
    case METHOD_UNIFORM:
        return fit_least_squares(work, count, diag);
    case METHOD_MINIMAX:
        if (minimax_least_error(points, &work->rules, count, &work->minimax, diag))
            return diag->code;
        return take_minimax(work, work->minimax.max_err, diag);
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
    case METHOD_RESIDUAL:
        return residual_segments(work->spec, points, work->segments, &work->count, diag);
    }
    return diag_set(diag, EXIT_IO, "internal error: unknown method");
}

int fit_segments(struct workspace *work, int count, struct diag *diag)
{
    diag->code = EXIT_DONE;
    work->objective = work->spec->method == METHOD_MINIMAX ? OBJECTIVE_MAX : OBJECTIVE_RMS;
    if (choose_segments(work, count, diag))
        return diag->code;
    const int places = points_places(&work->points);
    if (constraints_tie(&work->spec->constraints))
        tie_lines(work, places < count ? places : count, diag);
    return diag->code;
}

int fit_few_segments(struct workspace *work, int most, struct diag *diag)
{
    struct line_rules rules;
    struct tied tied = {.most = most, .knots = work->knots, .lines = work->lines};
    line_rules_init(&rules, work->spec);
    diag->code = EXIT_DONE;
    if (!tie_few_segments(&work->ties, &work->points, &rules, &tied, diag))
        take_lines(work, tied.segments);
    return diag->code;
}

/* The fewest segments, all of equal width, of `from` or more; of widths that are powers of two alone, or of any. */
static int fewest_equal(struct workspace *work, double max_err, int from, int most, bool of_powers, bool *proven,
                        struct diag *diag)
{
    diag_set(diag, EXIT_REQUIREMENT, "no table of up to %d equal segments keeps to --max-err %.6g", most, max_err);
    for (int count = from; count > 0 && count <= most;
         count = of_powers ? points_next_of_powers(&work->points, count) : count + 1) {
        bool fewest = false;
        if (points_grid_uniform(&work->points, count, diag))
            return diag->code;
        minimax_fewest_segments(&work->points, &work->rules, max_err, most, &work->minimax, &fewest, diag);
        *proven &= fewest;
        if (diag->code != EXIT_REQUIREMENT)
            return diag->code;
    }
    return diag->code;
}

/* Of widths that are powers of two, which hardware finds by the bits of a code, where some keep to the error. Where
 * already the widest do, and more than one, wider ones of any width are tried. */
static int fewest_on_equal_grid(struct workspace *work, double max_err, int most, struct diag *diag)
{
    const int widest = points_next_of_powers(&work->points, 0);
    bool proven = true;
    if (fewest_equal(work, max_err, widest, most, true, &proven, diag) == EXIT_REQUIREMENT)
        fewest_equal(work, max_err, 1, most, false, &proven, diag);
    else if (!diag->code && widest > 1 && work->minimax.segments == widest) {
        if (fewest_equal(work, max_err, 1, widest - 1, false, &proven, diag) == EXIT_REQUIREMENT)
            fewest_equal(work, max_err, widest, widest, true, &proven, diag);
    }
    work->is_fewest = proven;
    return diag->code;
}

/* Where knots lie on a grid of top bits: of the grids that have tables of the fewest segments the coarsest. Each has
 * the places of the coarser ones, so that the finest has the fewest segments. */
static int fewest_on_grid(struct workspace *work, double max_err, int most, struct diag *diag)
{
    const int bits = work->spec->in.bits, given = work->spec->constraints.index_bits;
    const int widest = bits < CONSTRAINTS_MAX_INDEX_BITS ? bits : CONSTRAINTS_MAX_INDEX_BITS;
    const int finest = given ? given : widest;
    bool proven = true;
    if (points_grid_pow2(&work->points, bits - finest, diag) ||
        minimax_cover(&work->points, &work->rules, max_err, most, &work->minimax, &proven, diag))
        return diag->code;
    most = work->minimax.segments;
    for (int fineness = given ? given : 1; fineness <= finest; fineness++) {
        if (points_grid_pow2(&work->points, bits - fineness, diag))
            return diag->code;
        bool fewest = false;
        minimax_fewest_segments(&work->points, &work->rules, max_err, most, &work->minimax, &fewest, diag);
        if (diag->code != EXIT_REQUIREMENT)
            break;
    }
    work->is_fewest = proven; /* of coarser grids the finest has told */
    return diag->code;
}

int fit_segments_within(struct workspace *work, double limit, int most, struct diag *diag)
{
    const struct spec *spec = work->spec;
    line_rules_init(&work->rules, spec);
    work->objective = OBJECTIVE_SEGMENTS;
    if (has_uniform_knots(spec))
        fewest_on_equal_grid(work, limit, most, diag);
    else if (spec->constraints.knots != KNOTS_FREE && !has_values(spec))
        fewest_on_grid(work, limit, most, diag);
    else
        minimax_fewest_segments(&work->points, &work->rules, limit, most, &work->minimax, &work->is_fewest, diag);
    work->is_fewest &= limit == spec->max_err;
    return diag->code ? diag->code : take_minimax(work, limit, diag);
}
