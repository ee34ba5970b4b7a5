/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "minimax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounded_line.h"
#include "integer_line_in_band.h"
#include "search/cover.h"

/* Where the rest of a table with so many segments can still be served by real lines. */
struct deadlines {
    int segments;   /* 0: nothing is known */
    double max_err; /* and for any smaller error */
    int *position;  /* after m segments: at this one or behind it */
};

/* Positions are indices of the knot grid (points.h): knots lie at positions 0 to `positions`. */
struct solver {
    const struct points *points;
    const struct line_rules *given;
    struct line_rules rules; /* of the trial */
    double max_err;          /* of the cover, which is a table under construction */
    struct hulls hulls;
    int positions;
    struct cover cover;
    int *reach, *start_of; /* anchored: the farthest end of m segments, and where the last of them starts */
    struct deadlines deadlines;
    int *hardest; /* that of the result */
};

/* The last position to which a real line serves. */
static int real_reach(void *context, int begin)
{
    struct solver *solver = context;
    return hulls_last_position(&solver->hulls, solver->max_err, begin);
}

/* A line over the points between two positions. */
static enum line_answer find_line(void *context, int begin, int end, struct line *line)
{
    struct solver *solver = context;
    const struct points *points = solver->points;
    const int first = points_at(points, begin), last = points_at(points, end);
    const struct line_limits limits = {solver->max_err, INFINITY};
    /* Where points are not all codes nothing can be proven on them: the faster search will do. */
    if (!points->between && !points->exhaustive)
        return line_fit(&solver->rules, points, first, last, limits, LINE_QUICK, line) ? LINE_FOUND : LINE_NONE;
    hulls_start_at(&solver->hulls, solver->max_err, first);
    if (!hulls_end_at(&solver->hulls, last))
        return LINE_NONE;
    if (points->between)
        return bounded_line(&solver->hulls, &solver->rules, line) ? LINE_FOUND : LINE_NONE;
    return integer_line_in_band(&solver->hulls, &solver->rules, line);
}

/* From the right, each segment as long as real lines allow. */
static void find_deadlines(struct solver *solver, double max_err, int most)
{
    const struct points *points = solver->points;
    int *position = solver->deadlines.position;
    if (points->grid_whole)
        return;
    position[most] = solver->positions;
    for (int m = most - 1; m >= 0; m--) {
        const int next = position[m + 1];
        hulls_start(&solver->hulls, max_err, points_at(points, next));
        hulls_begin_at(&solver->hulls, 0);
        const int before = points_place_before(points, solver->hulls.begin);
        position[m] = points_at(points, before) < solver->hulls.begin ? before + 1 : before;
        if (next > 0 && position[m] == next)
            position[m] = next - 1;
    }
    solver->deadlines.segments = most;
    solver->deadlines.max_err = max_err;
}

/* Where every position is a knot each segment stands alone: the one that failed last is tried first. */
static bool cover_given_segments(struct solver *solver)
{
    struct cover *cover = &solver->cover;
    const int positions = solver->positions, first = points_place_before(solver->points, *solver->hardest);
    if (positions > cover->most)
        return false;
    for (int m = 0; m < positions; m++) {
        const int begin = (first + m) % positions;
        cover->place[begin] = begin;
        if (cover_longest(cover, begin, &cover->lines[begin]) == begin) {
            *solver->hardest = points_at(solver->points, begin);
            return false;
        }
    }
    cover->segments = cover->place[positions] = positions;
    return true;
}

/* The end of the longest segment from a position where a line to `end` is known and not much more is expected: steps
 * that double, then bisection. */
static int longest_from(struct solver *solver, int begin, int end)
{
    struct line line;
    int good = end, bad = solver->positions + 1;
    for (int step = 1; bad - good > 1; step *= 2) {
        const bool doubles = bad > solver->positions && good + step < bad;
        const int probe = doubles ? good + step : good + (bad - good) / 2;
        *(cover_finds(&solver->cover, begin, probe, &line) ? &good : &bad) = probe;
    }
    return good;
}

/* The farthest end of a segment that starts at one of the positions from `lowest` to `highest`, and the highest start
 * that reaches it. Starts end to be of interest where no real line comes from there to beyond the farthest end so far:
 * nor does any from a lower start. */
static int farthest_end(struct solver *solver, int lowest, int highest, int *farthest_start)
{
    const struct points *points = solver->points;
    struct hulls *hulls = &solver->hulls;
    struct line line;
    int end = cover_longest(&solver->cover, highest, &line);
    *farthest_start = highest;
    for (int start = highest - 1; start >= lowest && end < solver->positions; start--) {
        if (!hulls_end_at(hulls, points_at(points, end + 1)) || !hulls_begin_at(hulls, points_at(points, start)))
            break;
        if (cover_takes(&solver->cover, integer_line_in_band(hulls, &solver->rules, &line))) {
            end = longest_from(solver, start, end + 1);
            *farthest_start = start;
        }
    }
    return end;
}

/* Anchored: the farthest end of m segments, for each m, over all starts that m - 1 segments reach. */
static bool cover_anchored(struct solver *solver)
{
    struct cover *cover = &solver->cover;
    int *reach = solver->reach, *start_of = solver->start_of, m = 0;
    reach[0] = 0;
    for (; reach[m] < solver->positions; m++) {
        if (m == cover->most)
            return false;
        const int lowest = m && solver->points->exhaustive ? reach[m - 1] + 1 : reach[m];
        reach[m + 1] = farthest_end(solver, lowest, reach[m], &start_of[m + 1]);
        if (reach[m + 1] == reach[m] || cover_is_late(cover, m + 1, reach[m + 1]))
            return false;
    }
    cover->segments = m;
    cover->place[m] = solver->positions;
    for (; m > 0; m--) {
        cover->place[m - 1] = start_of[m];
        if (!cover_finds(cover, start_of[m], cover->place[m], &cover->lines[m - 1]))
            return false;
    }
    return true;
}

/* Sets what a cover is asked for. */
static void begin_cover(struct solver *solver, double max_err, int most)
{
    const struct deadlines *deadlines = &solver->deadlines;
    solver->max_err = max_err;
    solver->cover.most = most;
    solver->cover.deadline = deadlines->segments == most && max_err <= deadlines->max_err ? deadlines->position : NULL;
    solver->cover.complete = solver->points->exhaustive;
}

/* Whether all is covered with `most` segments. */
static bool cover_all(struct solver *solver, double max_err, int most)
{
    begin_cover(solver, max_err, most);
    if (solver->points->grid_whole)
        return cover_given_segments(solver);
    return solver->rules.form == PWL_ANCHORED ? cover_anchored(solver) : cover_greedily(&solver->cover);
}

/* Whether real lines within the bands need more than `most` segments: a table of any form would too. */
static bool real_lines_fail(struct solver *solver, double max_err, int most)
{
    int end = 0;
    for (int m = 0; m < most && end < solver->positions; m++) {
        const int reach = hulls_last_position(&solver->hulls, max_err, end);
        if (reach == end)
            return true;
        end = reach;
    }
    return end < solver->positions;
}

/* At the points, or proven at every code. */
static double cover_error(const struct solver *solver)
{
    const struct points *points = solver->points;
    const struct cover *cover = &solver->cover;
    double error = 0;
    for (int m = 0; m < cover->segments; m++) {
        const int begin = points_at(points, cover->place[m]), end = points_at(points, cover->place[m + 1]);
        const struct line *line = &cover->lines[m];
        error = fmax(error, points->between ? bounded_line_error(points, begin, end, line, INFINITY)
                                            : line_max_err(&solver->rules, points, begin, end, line));
    }
    return error;
}

/* A cover that keeps an error. What is proven of a line may be a little more than what it was held to. */
static void keep_cover(const struct solver *solver, double max_err, struct minimax *result)
{
    const struct cover *cover = &solver->cover;
    result->segments = cover->segments;
    for (int m = 0; m <= cover->segments; m++)
        result->knots[m] = points_at(solver->points, cover->place[m]);
    memcpy(result->lines, cover->lines, (size_t)cover->segments * sizeof *cover->lines);
    result->max_err = fmin(cover_error(solver), max_err);
}

/* No table beats the nearest code of every target. */
static double nearest_code_error(const struct points *points)
{
    double error = 0;
    for (int k = 0; k < points->count; k++) {
        const struct served *served = points->served ? points->served[k] : NULL;
        for (int i = 0; served && i < 2; i++)
            error = fmax(error, fabs(served[i].target - rint(served[i].target)));
        if (!served)
            error = fmax(error, fabs(points->target[k] - rint(points->target[k])) / points_units(points, k));
    }
    return error;
}

/* The largest error below `most` that real lines cannot reach: steps that double, then bisection. */
static double bound_by_real_lines(struct solver *solver, int segments, double most)
{
    double low = nearest_code_error(solver->points), high = fmin(fmax(1, 2 * low), most);
    while (high < most && real_lines_fail(solver, high, segments)) {
        low = high;
        high = fmin(2 * high, most);
    }
    while (high - low > 1e-6 * high + MINIMAX_RESOLUTION) {
        const double middle = 0.5 * (low + high);
        if (real_lines_fail(solver, middle, segments))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Of large errors and targets, as 32-bit outputs have, a double's last digits are left out: the bands are made of their
 * sums. Where points are not all codes, what lies between them is not known any better. */
static double resolution_of(const struct solver *solver, double max_err)
{
    const double y_max = fmax(fabs((double)solver->given->qmin_y), fabs((double)solver->given->qmax_y));
    return solver->points->exhaustive ? fmax(MINIMAX_RESOLUTION, fmax(1e-12 * max_err, 0x1p-50 * y_max))
                                      : fmax(1e-6, 1e-4 * max_err);
}

/* Whether some table holds an error, which then becomes the incumbent, *result; *proven is cleared when none is found
 * and the search was not complete. */
static bool find_better(struct solver *solver, int segments, double max_err, struct minimax *result, bool *proven)
{
    if (max_err < nearest_code_error(solver->points))
        return false;
    const bool covered = cover_all(solver, max_err, segments);
    if (covered)
        keep_cover(solver, max_err, result);
    else
        *proven &= solver->cover.complete;
    return covered;
}

/* The least distance of a target from a whole number that is larger than `max_err`: up to there each output has the
 * same codes to choose from. */
static double next_error(const struct points *points, double max_err)
{
    double next = INFINITY;
    for (int k = 0; k < points->count; k++)
        for (int i = 0; i < (points->served ? 2 : 1); i++) {
            const double t = points->served ? points->served[k][i].target : points->target[k], part = t - floor(t);
            const double above = part + floor(max_err - part) + 1, below = 1 - part + floor(max_err - (1 - part)) + 1;
            next = above < next ? above : next;
            next = below < next ? below : next;
        }
    return next;
}

/* Whether no better table than the incumbent is looked for, nor any bound proven, for want of time. */
static bool is_cut(const struct solver *solver, bool *proven)
{
    const bool over = points_out_of_time(solver->points);
    *proven &= !over;
    return over;
}

/* Bisection between the lower bound and the error of the incumbent, whose rules are the solver's. */
static void bisect(struct solver *solver, int segments, struct minimax *result, bool *proven)
{
    double low = result->lower_bound;
    while (!is_cut(solver, proven)) {
        const double resolution = resolution_of(solver, result->max_err);
        if (result->max_err - low <= 4 * resolution) {
            if (!find_better(solver, segments, result->max_err - resolution, result, proven))
                break;
            continue;
        }
        const double middle = 0.5 * (low + result->max_err);
        if (find_better(solver, segments, middle, result, proven))
            continue;
        low = middle;
        if (solver->points->exhaustive && !solver->points->units)
            low = fmax(low, fmin(next_error(solver->points, middle), result->max_err) - resolution);
    }
}

/* A first table, mostly little worse than real lines. An error of the whole output range, at most 2^33, is met by any
 * table. */
static bool find_any(struct solver *solver, int segments, struct minimax *result)
{
    const double least = result->lower_bound + MINIMAX_RESOLUTION;
    for (double excess = 0.01; least * excess < 0x1p40; excess *= 4)
        if (cover_all(solver, least * (1 + excess), segments)) {
            keep_cover(solver, least * (1 + excess), result);
            return true;
        }
    return false;
}

/* The least error of so many segments, given the lower bound and, if `found`, some table in *result. Returns whether
 * there is one. */
static bool minimise(struct solver *solver, int segments, bool found, struct minimax *result)
{
    bool proven = solver->points->exhaustive;
    for (int trial = 0; line_rules_of_trial(solver->given, solver->points, trial, &solver->rules); trial++) {
        const double enough = found ? result->max_err - resolution_of(solver, result->max_err) : 0;
        if (found && is_cut(solver, &proven))
            break;
        /* Most shifts fail, and most of them in the first segments. */
        const bool known = solver->deadlines.segments == segments && solver->deadlines.max_err == enough;
        if (found && solver->given->one_shift && !known)
            find_deadlines(solver, enough, segments);
        if (found ? find_better(solver, segments, enough, result, &proven) : find_any(solver, segments, result)) {
            found = true;
            bisect(solver, segments, result, &proven);
        }
    }
    if (found && proven)
        result->lower_bound = result->max_err;
    return found;
}

static void solver_free(struct solver *solver)
{
    if (!solver)
        return;
    hulls_free(&solver->hulls);
    free(solver->reach);
    free(solver->cover.lines);
    free(solver);
}

/* Null, with a message, when memory is short. */
static struct solver *solver_new(const struct points *points, const struct line_rules *rules, struct minimax *result,
                                 struct diag *diag)
{
    enum { ROW = PWL_MAX_SEGMENTS + 1 };
    struct solver *solver = calloc(1, sizeof *solver);
    diag->code = EXIT_DONE;
    if (solver) {
        solver->points = points;
        solver->given = rules;
        solver->rules = *rules;
        solver->positions = points_places(points);
        solver->hardest = &result->hardest;
        solver->reach = malloc((size_t)4 * ROW * sizeof *solver->reach);
        solver->cover = (struct cover){.points = points,
                                       .reach = real_reach,
                                       .find = find_line,
                                       .context = solver,
                                       .is_coarse = true,
                                       .lines = malloc(PWL_MAX_SEGMENTS * sizeof *solver->cover.lines)};
        if (hulls_init(&solver->hulls, points, rules->qmin_y, rules->qmax_y, points->count) && solver->reach &&
            solver->cover.lines) {
            solver->start_of = solver->reach + ROW;
            solver->deadlines.position = solver->reach + 2 * ROW;
            solver->cover.place = solver->reach + 3 * ROW;
            return solver;
        }
    }
    solver_free(solver);
    diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
    return NULL;
}

int minimax_least_error(const struct points *points, const struct line_rules *rules, int segments,
                        struct minimax *result, struct diag *diag)
{
    struct solver *solver = solver_new(points, rules, result, diag);
    if (!solver)
        return diag->code;
    result->lower_bound = bound_by_real_lines(solver, segments, 0x1p34);
    if (!minimise(solver, segments, false, result))
        diag_set(diag, EXIT_REQUIREMENT,
                 "no provable table of %d segments was found; more segments, a smaller zero point or fewer --fix are "
                 "needed",
                 segments);
    solver_free(solver);
    return diag->code;
}

/* The fewest segments; *proven says that fewer do not suffice. */
static int cover_with_fewest(struct solver *solver, double max_err, int most, struct minimax *result, bool *proven,
                             struct diag *diag)
{
    bool found = false;
    *proven = true;
    for (int trial = 0; most > 0 && line_rules_of_trial(solver->given, solver->points, trial, &solver->rules);
         trial++) {
        if (found && is_cut(solver, proven))
            break;
        if (solver->deadlines.segments != most)
            find_deadlines(solver, max_err, most);
        begin_cover(solver, max_err, most);
        if (cover_is_late(&solver->cover, 0, 0))
            continue;
        const bool covered = cover_all(solver, max_err, most);
        *proven &= solver->cover.complete;
        if (covered) {
            found = true;
            keep_cover(solver, max_err, result);
            most = result->segments - 1;
        }
    }
    if (!found)
        diag_set(diag, EXIT_REQUIREMENT,
                 "--max-err %.6g: not met with %d segments (nearest codes alone are off by %.6g LSB); allow a "
                 "larger error, widen --out or drop a --fix",
                 max_err, most, nearest_code_error(solver->points));
    return diag->code;
}

int minimax_fewest_segments(const struct points *points, const struct line_rules *rules, double max_err, int most,
                            struct minimax *result, bool *fewest, struct diag *diag)
{
    struct solver *solver = solver_new(points, rules, result, diag);
    if (solver && !cover_with_fewest(solver, max_err, most, result, fewest, diag)) {
        result->lower_bound = bound_by_real_lines(solver, result->segments, result->max_err);
        minimise(solver, result->segments, true, result);
    }
    solver_free(solver);
    return diag->code;
}

int minimax_cover(const struct points *points, const struct line_rules *rules, double max_err, int most,
                  struct minimax *result, bool *fewest, struct diag *diag)
{
    struct solver *solver = solver_new(points, rules, result, diag);
    if (solver)
        cover_with_fewest(solver, max_err, most, result, fewest, diag);
    solver_free(solver);
    return diag->code;
}
