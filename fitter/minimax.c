/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "minimax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "band.h"
#include "strip.h"

/* One cover of all points, for one error. */
struct cover {
    int segments;
    int knots[PWL_MAX_SEGMENTS + 1];
    struct line lines[PWL_MAX_SEGMENTS];
    bool complete; /* no search was left undecided or shortened */
};

struct solver {
    const struct points *points;
    const struct line_rules *rules;
    struct strip_room *room;
    struct cover cover;
    int *start_of, *reach; /* anchored: by number of segments */
    struct diag *diag;
};

/* Anchored tables look at every start only up to this many points; beyond, at the last ANCHORED_STARTS, and at the last
 * one alone where points are not all codes. */
enum { ANCHORED_POINTS = 4096, ANCHORED_STARTS = 16 };

static bool serves(struct solver *solver, int begin, int end, double max_err, struct line *line)
{
    /* Where points are not all codes nothing can be proven on them: the faster search will do. */
    if (!solver->points->exhaustive)
        return line_fit(solver->rules, solver->points, begin, end, (struct line_limits){max_err, INFINITY}, LINE_QUICK,
                        line);
    const enum strip_answer answer = strip_line(solver->room, solver->rules, begin, end, max_err, line);
    if (answer == STRIP_UNDECIDED)
        solver->cover.complete = false;
    return answer == STRIP_FOUND;
}

/* The longest [begin, end) that a line serves, known to be longer than `known`; `known` itself when there is none.
 * Ends that a real line cannot reach are not tried. */
static int longest(struct solver *solver, int begin, int known, double max_err, struct line *line)
{
    const struct points *points = solver->points;
    const struct line_rules *rules = solver->rules;
    struct band_range range;
    struct line found;
    /* Where a range is known, most starts do not reach beyond it. */
    if (known > begin && known < points->count && !serves(solver, begin, known + 1, max_err, line))
        return known;
    if (band_reach(points, rules->qmin_y, rules->qmax_y, begin, points->count, max_err, &range, solver->diag))
        return -1;
    int good = known > begin && known < points->count ? known + 1 : known, bad = range.end + 1;
    /* The integer line mostly stops a little short of the real one: steps back that double, then bisection, to the
     * point where it proves something. */
    const int close = solver->points->exhaustive ? 1 : 1 + (range.end - begin) / 64;
    for (int back = 0; good + close < bad;) {
        int probe = range.end - back;
        if (probe <= good || back > range.end - good)
            probe = good + (bad - good) / 2;
        if (serves(solver, begin, probe, max_err, &found)) {
            *line = found;
            good = probe;
            back = range.end; /* from here on, bisection */
        } else {
            bad = probe;
            back = 2 * back + close;
        }
    }
    return good;
}

static int cover_hereditary(struct solver *solver, double max_err, int most)
{
    struct cover *cover = &solver->cover;
    int end = 0;
    for (cover->segments = 0; end < solver->points->count; cover->segments++) {
        if (cover->segments == most)
            return 0;
        const int next = longest(solver, end, end, max_err, &cover->lines[cover->segments]);
        if (next < 0)
            return -1;
        if (next == end)
            return 0;
        cover->knots[cover->segments] = end;
        end = next;
    }
    cover->knots[cover->segments] = end;
    return 1;
}

/* reach[m]: the farthest end of m segments; start_of[m]: where the last of them starts. */
static int cover_anchored(struct solver *solver, double max_err, int most)
{
    struct cover *cover = &solver->cover;
    const int count = solver->points->count;
    int *reach = solver->reach, *start_of = solver->start_of, m = 0;
    reach[0] = 0;
    for (; reach[m] < count; m++) {
        if (m == most)
            return 0;
        int lowest = m ? reach[m - 1] + 1 : 0;
        const int starts = !solver->points->exhaustive ? 1 : count > ANCHORED_POINTS ? ANCHORED_STARTS : count;
        if (reach[m] - lowest >= starts) {
            lowest = reach[m] - starts + 1;
            cover->complete = false;
        }
        reach[m + 1] = reach[m];
        for (int start = reach[m]; start >= lowest; start--) {
            struct line line;
            const int end = longest(solver, start, reach[m + 1] > start ? reach[m + 1] : start, max_err, &line);
            if (end < 0)
                return -1;
            if (end > reach[m + 1]) {
                reach[m + 1] = end;
                start_of[m + 1] = start;
            }
        }
        if (reach[m + 1] == reach[m])
            return 0;
    }
    cover->segments = m;
    cover->knots[m] = count;
    for (; m > 0; m--) {
        cover->knots[m - 1] = start_of[m];
        if (!serves(solver, start_of[m], cover->knots[m], max_err, &cover->lines[m - 1]))
            return 0;
    }
    return 1;
}

/* 1: covered, 0: not with `most` segments, -1: failed with a message. */
static int cover_all(struct solver *solver, double max_err, int most)
{
    solver->cover.complete = solver->points->exhaustive;
    return solver->rules->form == PWL_ANCHORED ? cover_anchored(solver, max_err, most)
                                               : cover_hereditary(solver, max_err, most);
}

/* Whether real lines within the bands need more than `most` segments: a table of any form would too. */
static int real_lines_fail(struct solver *solver, double max_err, int most)
{
    const struct points *points = solver->points;
    int end = 0;
    for (int m = 0; m < most && end < points->count; m++) {
        struct band_range range;
        if (band_reach(points, solver->rules->qmin_y, solver->rules->qmax_y, end, points->count, max_err, &range,
                       solver->diag))
            return -1;
        if (range.end == end)
            return 1;
        end = range.end;
    }
    return end < points->count;
}

static double cover_error(const struct solver *solver)
{
    const struct cover *cover = &solver->cover;
    double error = 0;
    for (int m = 0; m < cover->segments; m++)
        error = fmax(
            error, line_max_err(solver->rules, solver->points, cover->knots[m], cover->knots[m + 1], &cover->lines[m]));
    return error;
}

static void keep(const struct solver *solver, struct minimax *result)
{
    const struct cover *cover = &solver->cover;
    result->segments = cover->segments;
    memcpy(result->knots, cover->knots, ((size_t)cover->segments + 1) * sizeof *cover->knots);
    memcpy(result->lines, cover->lines, (size_t)cover->segments * sizeof *cover->lines);
    result->max_err = cover_error(solver);
}

/* No table beats the nearest code of every target. */
static double nearest_code_error(const struct points *points)
{
    double error = 0;
    for (int k = 0; k < points->count; k++)
        error = fmax(error, fabs(points->target[k] - rint(points->target[k])));
    return error;
}

/* The largest error below `high` that real lines cannot reach, by bisection. */
static int bound_by_real_lines(struct solver *solver, int segments, double high, double *bound)
{
    double low = nearest_code_error(solver->points);
    while (high - low > 1e-6 * high + MINIMAX_RESOLUTION) {
        const double middle = 0.5 * (low + high);
        const int fails = real_lines_fail(solver, middle, segments);
        if (fails < 0)
            return solver->diag->code;
        if (fails)
            low = middle;
        else
            high = middle;
    }
    *bound = low;
    return EXIT_DONE;
}

/* Bisection between the lower bound and the error of the table in *result. */
static int improve(struct solver *solver, int segments, struct minimax *result)
{
    /* Of large errors, as 32-bit outputs have, a double's last digits are left out. */
    const double resolution =
        solver->points->exhaustive ? fmax(MINIMAX_RESOLUTION, 1e-12 * result->max_err) : 1e-3 * result->max_err;
    double low = result->lower_bound;
    bool proven = true;
    for (bool last = false; !last;) {
        last = result->max_err - low <= 4 * resolution;
        const double middle = last ? result->max_err - resolution : 0.5 * (low + result->max_err);
        if (middle < nearest_code_error(solver->points))
            break;
        const int covered = cover_all(solver, middle, segments);
        if (covered < 0)
            return solver->diag->code;
        if (covered > 0) {
            keep(solver, result);
            last = false;
        } else {
            low = middle;
            proven &= solver->cover.complete;
        }
    }
    result->optimal = proven && solver->points->exhaustive;
    if (result->optimal)
        result->lower_bound = result->max_err;
    return EXIT_DONE;
}

static void solver_free(struct solver *solver)
{
    if (!solver)
        return;
    strip_room_free(solver->room);
    free(solver->reach);
    free(solver->start_of);
    free(solver);
}

/* Null, with a message, when memory is short. */
static struct solver *solver_new(const struct points *points, const struct line_rules *rules, struct diag *diag)
{
    struct solver *solver = calloc(1, sizeof *solver);
    diag->code = EXIT_DONE;
    if (solver) {
        solver->points = points;
        solver->rules = rules;
        solver->diag = diag;
        solver->room = strip_room_new(points);
        solver->reach = malloc((PWL_MAX_SEGMENTS + 1) * sizeof *solver->reach);
        solver->start_of = malloc((PWL_MAX_SEGMENTS + 1) * sizeof *solver->start_of);
        if (solver->room && solver->reach && solver->start_of)
            return solver;
    }
    solver_free(solver);
    diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
    return NULL;
}

int minimax_least_error(const struct points *points, const struct line_rules *rules, int segments,
                        struct minimax *result, struct diag *diag)
{
    struct solver *solver = solver_new(points, rules, diag);
    /* A first table, mostly little worse than real lines. An error of the whole output range, at most 2^33, is met by
     * any table. */
    int covered = 0;
    if (solver && !bound_by_real_lines(solver, segments, 0x1p34, &result->lower_bound)) {
        const double least = result->lower_bound + MINIMAX_RESOLUTION;
        for (double excess = 0.01; covered == 0 && least * excess < 0x1p40; excess *= 4)
            covered = cover_all(solver, least * (1 + excess), segments);
    }
    if (covered > 0) {
        keep(solver, result);
        improve(solver, segments, result);
    } else if (!diag->code) {
        diag_set(diag, EXIT_REQUIREMENT,
                 "no provable table of %d segments was found; more segments, a smaller zero point or fewer --fix are "
                 "needed",
                 segments);
    }
    solver_free(solver);
    return diag->code;
}

static int cover_or_refuse(struct solver *solver, double max_err, int most, struct minimax *result)
{
    const int covered = cover_all(solver, max_err, most);
    if (covered == 0)
        return diag_set(solver->diag, EXIT_REQUIREMENT,
                        "--max-err %.6g: not met with %d segments (nearest codes alone are off by %.6g LSB); allow a "
                        "larger error, widen --out or drop a --fix",
                        max_err, most, nearest_code_error(solver->points));
    if (covered > 0)
        keep(solver, result);
    return solver->diag->code;
}

int minimax_cover(const struct points *points, const struct line_rules *rules, double max_err, int most,
                  struct minimax *result, struct diag *diag)
{
    struct solver *solver = solver_new(points, rules, diag);
    if (solver)
        cover_or_refuse(solver, max_err, most, result);
    solver_free(solver);
    return diag->code;
}

int minimax_fewest_segments(const struct points *points, const struct line_rules *rules, double max_err, int most,
                            struct minimax *result, struct diag *diag)
{
    struct solver *solver = solver_new(points, rules, diag);
    if (solver && !cover_or_refuse(solver, max_err, most, result)) {
        const bool fewest = solver->cover.complete;
        if (!bound_by_real_lines(solver, result->segments, result->max_err, &result->lower_bound) &&
            !improve(solver, result->segments, result))
            result->optimal &= fewest;
    }
    solver_free(solver);
    return diag->code;
}
