/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "minimax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounded_line.h"
#include "integer_line_in_band.h"

/* One cover of all points, for one error. */
struct cover {
    int segments;
    int knots[PWL_MAX_SEGMENTS + 1];
    struct line lines[PWL_MAX_SEGMENTS];
    bool complete; /* no search was left undecided or shortened */
};

struct solver {
    const struct points *points;
    const struct line_rules *given;
    struct line_rules rules; /* those given, with a shift chosen where there is to be one */
    struct hulls hulls;
    int places; /* where segments may start or end: 0 to places */
    struct cover cover;
    int *start_of, *reach; /* anchored: by number of segments */
    int *due;              /* the least place after so many segments from which real lines can serve the rest, */
    int due_segments;      /* of tables of so many segments; 0: nothing is known */
    double due_max_err;    /* and this error or less */
    int *hardest;          /* that of the result */
};

/* Points the hulls to ranges from a place, unless they are. */
static void look_from(struct solver *solver, int begin, double max_err)
{
    const int first = points_at(solver->points, begin);
    if (solver->hulls.begin != first || solver->hulls.max_err != max_err)
        hulls_start(&solver->hulls, max_err, first);
}

/* The last place that a real line from `begin` can reach. */
static int real_reach(struct solver *solver, int begin, double max_err)
{
    const struct points *points = solver->points;
    look_from(solver, begin, max_err);
    hulls_end_at(&solver->hulls, points->grid_whole ? points_at(points, begin + 1) : points->count);
    return points_place_before(points, solver->hulls.end);
}

/* Whether a line of the rules serves the range of the hulls. */
static bool hulls_serve(struct solver *solver, struct line *line)
{
    const enum strip_answer answer = strip_line(&solver->hulls, &solver->rules, line);
    if (answer == STRIP_UNDECIDED)
        solver->cover.complete = false;
    return answer == STRIP_FOUND;
}

static bool serves(struct solver *solver, int begin, int end, double max_err, struct line *line)
{
    const int first = points_at(solver->points, begin), last = points_at(solver->points, end);
    if (solver->points->spec) {
        look_from(solver, begin, max_err);
        return hulls_end_at(&solver->hulls, last) && bounded_line(&solver->hulls, &solver->rules, line);
    }
    /* Where points are not all codes nothing can be proven on them: the faster search will do. */
    if (!solver->points->exhaustive)
        return line_fit(&solver->rules, solver->points, first, last, (struct line_limits){max_err, INFINITY},
                        LINE_QUICK, line);
    look_from(solver, begin, max_err);
    return hulls_end_at(&solver->hulls, last) && hulls_serve(solver, line);
}

/* The longest [begin, end) that a line serves; empty where there is none. Ends that a real line cannot reach are not
 * tried. */
static int longest(struct solver *solver, int begin, double max_err, struct line *line)
{
    struct line found;
    const int reach = real_reach(solver, begin, max_err);
    int good = begin, bad = reach + 1;
    /* The integer line mostly stops a little short of the real one: steps back that double, then bisection, to the
     * point where it proves something. */
    const int close = solver->points->exhaustive || solver->points->spec ? 1 : 1 + (reach - begin) / 64;
    const int pace = solver->points->exhaustive ? 1 : 1 + (reach - begin) / 64;
    for (int back = 0; good + (good == begin ? 1 : close) < bad;) {
        int probe = reach - back;
        if (probe <= good || back > reach - good)
            probe = good + (bad - good) / 2;
        if (serves(solver, begin, probe, max_err, &found)) {
            *line = found;
            good = probe;
            back = reach; /* from here on, bisection */
        } else {
            bad = probe;
            back = 2 * back + pace;
        }
    }
    return good;
}

/* Whether the first m segments end too early for the others. */
static bool is_overdue(const struct solver *solver, int m, int end, double max_err, int most)
{
    return solver->due_segments == most && max_err <= solver->due_max_err && end < solver->due[m];
}

/* Finds out which places are due, where segments may end elsewhere. */
static void find_due(struct solver *solver, double max_err, int most)
{
    const struct points *points = solver->points;
    if (points->grid_whole)
        return;
    solver->due[most] = solver->places;
    for (int m = most - 1; m >= 0; m--) {
        const int next = solver->due[m + 1];
        hulls_start(&solver->hulls, max_err, points_at(points, next));
        hulls_begin_at(&solver->hulls, 0);
        const int place = points_place_before(points, solver->hulls.begin);
        solver->due[m] = points_at(points, place) < solver->hulls.begin ? place + 1 : place;
        if (next > 0 && solver->due[m] == next)
            solver->due[m] = next - 1;
    }
    solver->due_segments = most;
    solver->due_max_err = max_err;
}

static bool cover_hereditary(struct solver *solver, double max_err, int most)
{
    struct cover *cover = &solver->cover;
    int end = 0;
    for (cover->segments = 0; end < solver->places; cover->segments++) {
        if (cover->segments == most)
            return false;
        const int next = longest(solver, end, max_err, &cover->lines[cover->segments]);
        if (next == end || is_overdue(solver, cover->segments + 1, next, max_err, most))
            return false;
        cover->knots[cover->segments] = points_at(solver->points, end);
        end = next;
    }
    cover->knots[cover->segments] = points_at(solver->points, end);
    return true;
}

/* Where every place starts a segment, each stands alone: the one that failed last is tried first. */
static bool cover_cells(struct solver *solver, double max_err, int most)
{
    struct cover *cover = &solver->cover;
    const struct points *points = solver->points;
    const int places = solver->places, first = points_place_before(points, *solver->hardest);
    if (places > most)
        return false;
    for (int m = 0; m < places; m++) {
        const int begin = (first + m) % places;
        cover->knots[begin] = points_at(points, begin);
        if (longest(solver, begin, max_err, &cover->lines[begin]) == begin) {
            *solver->hardest = cover->knots[begin];
            return false;
        }
    }
    cover->segments = places;
    cover->knots[places] = points_at(points, places);
    return true;
}

/* The same where a line is known to serve [begin, end), and not much more is expected: steps that double, then
 * bisection. */
static int longest_from(struct solver *solver, int begin, int end, double max_err)
{
    struct line line;
    int good = end, bad = solver->places + 1;
    for (int step = 1; bad - good > 1; step *= 2) {
        const bool doubles = bad > solver->places && good + step < bad;
        const int probe = doubles ? good + step : good + (bad - good) / 2;
        if (serves(solver, begin, probe, max_err, &line))
            good = probe;
        else
            bad = probe;
    }
    return good;
}

/* The farthest end of a segment that starts at one of the places from `lowest` to `highest`, and the highest start that
 * reaches it. All that real lines can serve is looked at: of starts below one that cannot reach beyond the farthest end
 * so far, none can. */
static int farthest_end(struct solver *solver, int lowest, int highest, double max_err, int *farthest_start)
{
    const struct points *points = solver->points;
    struct hulls *hulls = &solver->hulls;
    struct line line;
    int end = longest(solver, highest, max_err, &line);
    *farthest_start = highest;
    for (int start = highest - 1; start >= lowest && end < solver->places; start--) {
        if (!hulls_end_at(hulls, points_at(points, end + 1)) || !hulls_begin_at(hulls, points_at(points, start)))
            break;
        if (hulls_serve(solver, &line)) {
            end = longest_from(solver, start, end + 1, max_err);
            *farthest_start = start;
        }
    }
    return end;
}

/* reach[m]: the farthest end of m segments; start_of[m]: where the last of them starts. */
static bool cover_anchored(struct solver *solver, double max_err, int most)
{
    struct cover *cover = &solver->cover;
    const int places = solver->places;
    int *reach = solver->reach, *start_of = solver->start_of, m = 0;
    reach[0] = 0;
    for (; reach[m] < places; m++) {
        if (m == most)
            return false;
        const int lowest = m && solver->points->exhaustive ? reach[m - 1] + 1 : reach[m];
        reach[m + 1] = farthest_end(solver, lowest, reach[m], max_err, &start_of[m + 1]);
        if (reach[m + 1] == reach[m] || is_overdue(solver, m + 1, reach[m + 1], max_err, most))
            return false;
    }
    cover->segments = m;
    cover->knots[m] = points_at(solver->points, places);
    for (int end = places; m > 0; end = start_of[m], m--) {
        cover->knots[m - 1] = points_at(solver->points, start_of[m]);
        if (!serves(solver, start_of[m], end, max_err, &cover->lines[m - 1]))
            return false;
    }
    return true;
}

/* Whether all is covered with `most` segments. */
static bool cover_all(struct solver *solver, double max_err, int most)
{
    solver->cover.complete = solver->points->exhaustive;
    if (solver->points->grid_whole)
        return cover_cells(solver, max_err, most);
    return solver->rules.form == PWL_ANCHORED ? cover_anchored(solver, max_err, most)
                                              : cover_hereditary(solver, max_err, most);
}

/* Whether real lines within the bands need more than `most` segments: a table of any form would too. */
static bool real_lines_fail(struct solver *solver, double max_err, int most)
{
    int end = 0;
    for (int m = 0; m < most && end < solver->places; m++) {
        const int reach = real_reach(solver, end, max_err);
        if (reach == end)
            return true;
        end = reach;
    }
    return end < solver->places;
}

/* At the points, or proven at every code. */
static double cover_error(const struct solver *solver)
{
    const struct cover *cover = &solver->cover;
    double error = 0;
    for (int m = 0; m < cover->segments; m++) {
        const int begin = cover->knots[m], end = cover->knots[m + 1];
        const struct line *line = &cover->lines[m];
        error = fmax(error, solver->points->spec ? bounded_line_error(solver->points, begin, end, line, INFINITY)
                                                 : line_max_err(&solver->rules, solver->points, begin, end, line));
    }
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

/* Sets the rules of one trial: all that are given, or those with the one shift of each trial. False after the last. */
static bool take_rules(struct solver *solver, int trial)
{
    const struct line_rules *given = solver->given;
    if (!given->one_shift)
        return trial == 0;
    if (trial > given->shift_max - given->shift_min)
        return false;
    solver->rules.shift_min = solver->rules.shift_max = line_one_shift(given, solver->points, trial);
    return true;
}

/* Of large errors and targets, as 32-bit outputs have, a double's last digits are left out: the bands are made of their
 * sums. Where points are not all codes, what lies between them is not known any better. */
static double resolution_of(const struct solver *solver, double max_err)
{
    const double y_max = fmax(fabs((double)solver->given->qmin_y), fabs((double)solver->given->qmax_y));
    return solver->points->exhaustive ? fmax(MINIMAX_RESOLUTION, fmax(1e-12 * max_err, 0x1p-50 * y_max))
                                      : fmax(1e-6, 1e-4 * max_err);
}

/* Whether some table is better than the one in *result, which it then becomes; *proven is cleared when a search without
 * success was not complete. */
static bool surpass(struct solver *solver, int segments, double max_err, struct minimax *result, bool *proven)
{
    if (max_err < nearest_code_error(solver->points))
        return false;
    const bool covered = cover_all(solver, max_err, segments);
    if (covered)
        keep(solver, result);
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

/* Bisection between the lower bound and the error of the table in *result, whose rules are the solver's. */
static void improve(struct solver *solver, int segments, struct minimax *result, bool *proven)
{
    double low = result->lower_bound;
    for (;;) {
        const double resolution = resolution_of(solver, result->max_err);
        if (result->max_err - low <= 4 * resolution) {
            if (!surpass(solver, segments, result->max_err - resolution, result, proven))
                break;
            continue;
        }
        const double middle = 0.5 * (low + result->max_err);
        if (surpass(solver, segments, middle, result, proven))
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
    bool covered = false;
    for (double excess = 0.01; !covered && least * excess < 0x1p40; excess *= 4)
        covered = cover_all(solver, least * (1 + excess), segments);
    if (covered)
        keep(solver, result);
    return covered;
}

/* The least error of so many segments, given the lower bound and, if `found`, some table in *result. Returns whether
 * there is one. */
static bool minimise(struct solver *solver, int segments, bool found, struct minimax *result)
{
    bool proven = solver->points->exhaustive;
    for (int trial = 0; take_rules(solver, trial); trial++) {
        const double enough = found ? result->max_err - resolution_of(solver, result->max_err) : 0;
        /* Most shifts fail, and most of those in the first segments. */
        const bool is_due = solver->due_segments == segments && solver->due_max_err == enough;
        if (found && solver->given->one_shift && !is_due)
            find_due(solver, enough, segments);
        if (found ? surpass(solver, segments, enough, result, &proven) : find_any(solver, segments, result)) {
            found = true;
            improve(solver, segments, result, &proven);
        }
    }
    result->optimal = proven;
    if (found && result->optimal)
        result->lower_bound = result->max_err;
    return found;
}

static void solver_free(struct solver *solver)
{
    if (!solver)
        return;
    hulls_free(&solver->hulls);
    free(solver->reach);
    free(solver->start_of);
    free(solver->due);
    free(solver);
}

/* Null, with a message, when memory is short. */
static struct solver *solver_new(const struct points *points, const struct line_rules *rules, struct minimax *result,
                                 struct diag *diag)
{
    struct solver *solver = calloc(1, sizeof *solver);
    diag->code = EXIT_DONE;
    if (solver) {
        solver->points = points;
        solver->given = rules;
        solver->rules = *rules;
        solver->places = points_places(points);
        solver->hardest = &result->hardest;
        solver->reach = malloc((PWL_MAX_SEGMENTS + 1) * sizeof *solver->reach);
        solver->start_of = malloc((PWL_MAX_SEGMENTS + 1) * sizeof *solver->start_of);
        solver->due = malloc((PWL_MAX_SEGMENTS + 1) * sizeof *solver->due);
        if (hulls_init(&solver->hulls, points, rules->qmin_y, rules->qmax_y, points->count) && solver->reach &&
            solver->start_of && solver->due)
            return solver;
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
    for (int trial = 0; most > 0 && take_rules(solver, trial); trial++) {
        if (solver->due_segments != most)
            find_due(solver, max_err, most);
        if (is_overdue(solver, 0, 0, max_err, most))
            continue;
        const bool covered = cover_all(solver, max_err, most);
        *proven &= solver->cover.complete;
        if (covered) {
            found = true;
            keep(solver, result);
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

int minimax_cover(const struct points *points, const struct line_rules *rules, double max_err, int most,
                  struct minimax *result, struct diag *diag)
{
    struct solver *solver = solver_new(points, rules, result, diag);
    bool proven;
    if (solver)
        cover_with_fewest(solver, max_err, most, result, &proven, diag);
    solver_free(solver);
    return diag->code;
}

int minimax_fewest_segments(const struct points *points, const struct line_rules *rules, double max_err, int most,
                            struct minimax *result, struct diag *diag)
{
    struct solver *solver = solver_new(points, rules, result, diag);
    bool fewest;
    if (solver && !cover_with_fewest(solver, max_err, most, result, &fewest, diag)) {
        result->lower_bound = bound_by_real_lines(solver, result->segments, result->max_err);
        minimise(solver, result->segments, true, result);
        result->optimal &= fewest;
    }
    solver_free(solver);
    return diag->code;
}
