/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hulls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "error_band.h"

#define NARROW_CODES 0x1p26 /* over fewer the products fit 64 bits */

/* The state before a point at the end, and the corners whose places its own took. */
struct hulls_step {
    struct tangent extreme[EXTREMES];
    int last[HULL_SIDES];
    struct corner replaced[HULL_SIDES];
};

bool hulls_init(struct hulls *hulls, const struct points *points, int64_t qmin_y, int64_t qmax_y, int length)
{
    *hulls = (struct hulls){.points = points, .qmin_y = qmin_y, .qmax_y = qmax_y, .middle = length, .effort = 1};
    bool whole = true;
    for (enum hull_side s = HULL_LOW; s < HULL_SIDES; s++) {
        hulls->of[s].corner = malloc(2 * (size_t)length * sizeof *hulls->of[s].corner);
        hulls->of[s].is_narrow = points->code[points->count - 1] - points->code[0] < NARROW_CODES;
        whole &= hulls->of[s].corner != NULL;
    }
    hulls->step = malloc((size_t)length * sizeof *hulls->step);
    hulls_start(hulls, 0, 0);
    if (whole && hulls->step)
        return true;
    hulls_free(hulls);
    return false;
}

void hulls_free(struct hulls *hulls)
{
    for (enum hull_side s = HULL_LOW; s < HULL_SIDES; s++) {
        free(hulls->of[s].corner);
        hulls->of[s].corner = NULL;
    }
    free(hulls->step);
    hulls->step = NULL;
}

void hulls_start(struct hulls *hulls, double max_err, int point)
{
    hulls->max_err = max_err;
    hulls->begin = hulls->end = point;
    hulls->undoable = 0;
    for (enum hull_side s = HULL_LOW; s < HULL_SIDES; s++)
        hulls->of[s].first = hulls->of[s].last = hulls->middle;
    for (int extreme = STEEPEST; extreme < EXTREMES; extreme++)
        hulls->extreme[extreme].exists = false;
}

/* Whether p lies below (> 0) or above (< 0) the line through a and b, b being the later one in the direction `way`. */
static int below(bool is_narrow, int way, struct corner a, struct corner b, struct corner p)
{
    if (is_narrow) {
        const int64_t at_line = (b.y - a.y) * (p.x - a.x), at_p = (p.y - a.y) * (b.x - a.x);
        return way * ((at_line > at_p) - (at_line < at_p));
    }
    const wide at_line = (wide)(b.y - a.y) * (p.x - a.x), at_p = (wide)(p.y - a.y) * (b.x - a.x);
    return way * ((at_line > at_p) - (at_line < at_p));
}

/* +1: lines lie above this side's limits, -1: below them. */
static int sign_of(enum hull_side s)
{
    return s == HULL_LOW ? 1 : -1;
}

/* The extreme line that touches this side's hull first. */
static int extreme_of(enum hull_side s, int way)
{
    return sign_of(s) == way ? STEEPEST : FLATTEST;
}

/* Adds a limit at one end; returns its place, and what was there. A corner that an extreme line touches is only dropped
 * for a limit on that line, which takes its place. */
static int hull_add(struct hull *hull, enum hull_side s, int way, struct corner limit, struct corner *replaced)
{
    int place = way > 0 ? hull->last : hull->first - 1;
    for (int left = hull->last - hull->first; left >= 2; left--) {
        if (below(hull->is_narrow, way, hull->corner[place - 2 * way], hull->corner[place - way], limit) == sign_of(s))
            break;
        place -= way;
    }
    if (way > 0)
        hull->last = place + 1;
    else
        hull->first = place;
    *replaced = hull->corner[place];
    hull->corner[place] = limit;
    return place;
}

/* Turns an extreme line to a new limit of the other side, about this side's hull. */
static void turn_to(struct tangent *tangent, const struct hull *hull, enum hull_side s, int way, struct corner limit)
{
    const int end = way > 0 ? hull->last - 1 : hull->first;
    int at = tangent->exists ? tangent->at[s] : way > 0 ? hull->first : hull->last - 1;
    while (at != end && below(hull->is_narrow, way, hull->corner[at], limit, hull->corner[at + way]) != sign_of(s))
        at += way;
    tangent->corner[s] = hull->corner[at];
    tangent->at[s] = at;
    tangent->corner[!s] = limit;
    tangent->exists = true;
}

/* Takes in the next point at one end; nothing is changed when no real line serves it too. */
static bool grow(struct hulls *hulls, int way)
{
    const int k = way > 0 ? hulls->end : hulls->begin - 1;
    const struct band band = band_at(hulls->points, hulls->qmin_y, hulls->qmax_y, k, hulls->max_err);
    const int64_t x = (int64_t)hulls->points->code[k];
    const struct corner limit[] = {{x, band.low}, {x, band.high + 1}};
    const bool open[] = {band.open_low, band.open_high};
    const bool is_narrow = hulls->of[HULL_LOW].is_narrow;
    bool turns[HULL_SIDES];
    if (band.low > band.high)
        return false;
    for (enum hull_side s = HULL_LOW; s < HULL_SIDES; s++) {
        const struct tangent *tangent = &hulls->extreme[extreme_of(s, way)];
        const struct corner *corner = tangent->corner;
        if (tangent->exists && !open[s] && below(is_narrow, way, corner[s], corner[!s], limit[s]) == -sign_of(s))
            return false;
        turns[s] = !open[!s] && hulls->of[s].first < hulls->of[s].last &&
                   (!tangent->exists || below(is_narrow, way, corner[s], corner[!s], limit[!s]) == sign_of(s));
    }

    struct hulls_step *step = &hulls->step[way > 0 ? hulls->undoable : 0];
    hulls->undoable = way > 0 ? hulls->undoable + 1 : 0;
    memcpy(step->extreme, hulls->extreme, sizeof step->extreme);
    for (enum hull_side s = HULL_LOW; s < HULL_SIDES; s++)
        if (turns[s])
            turn_to(&hulls->extreme[extreme_of(s, way)], &hulls->of[s], s, way, limit[!s]);
    for (enum hull_side s = HULL_LOW; s < HULL_SIDES; s++) {
        step->last[s] = hulls->of[s].last;
        if (open[s])
            continue;
        const int place = hull_add(&hulls->of[s], s, way, limit[s], &step->replaced[s]);
        if (turns[!s])
            hulls->extreme[extreme_of(!s, way)].at[s] = place;
    }
    *(way > 0 ? &hulls->end : &hulls->begin) += way;
    return true;
}

/* Takes back the last point. */
static void shrink(struct hulls *hulls)
{
    const struct hulls_step *step = &hulls->step[--hulls->undoable];
    const int64_t x = (int64_t)hulls->points->code[--hulls->end];
    for (enum hull_side s = HULL_LOW; s < HULL_SIDES; s++) {
        struct hull *hull = &hulls->of[s];
        if (hull->first < hull->last && hull->corner[hull->last - 1].x == x)
            hull->corner[hull->last - 1] = step->replaced[s];
        hull->last = step->last[s];
    }
    memcpy(hulls->extreme, step->extreme, sizeof hulls->extreme);
}

bool hulls_end_at(struct hulls *hulls, int point)
{
    points_spend(hulls->points, hulls->effort * llabs(point - hulls->end));
    if (point < hulls->end - hulls->undoable)
        hulls_start(hulls, hulls->max_err, hulls->begin);
    while (hulls->end > point)
        shrink(hulls);
    while (hulls->end < point)
        if (!grow(hulls, +1))
            return false;
    return true;
}

bool hulls_begin_at(struct hulls *hulls, int point)
{
    while (hulls->begin > point)
        if (!grow(hulls, -1))
            return false;
    return true;
}

void hulls_start_at(struct hulls *hulls, double max_err, int point)
{
    if (hulls->begin != point || hulls->max_err != max_err)
        hulls_start(hulls, max_err, point);
}

int hulls_last_position(struct hulls *hulls, double max_err, int position)
{
    const struct points *points = hulls->points;
    hulls_start_at(hulls, max_err, points_at(points, position));
    hulls_end_at(hulls, points->grid_whole ? points_at(points, position + 1) : points->count);
    return points_place_before(points, hulls->end);
}

struct window hulls_slopes(const struct hulls *hulls)
{
    double slope[EXTREMES] = {[STEEPEST] = INFINITY, [FLATTEST] = -INFINITY};
    for (int extreme = STEEPEST; extreme < EXTREMES; extreme++) {
        const struct tangent *tangent = &hulls->extreme[extreme];
        const struct corner *corner = tangent->corner;
        if (tangent->exists)
            slope[extreme] = (double)(corner[1].y - corner[0].y) / (double)(corner[1].x - corner[0].x);
    }
    return (struct window){slope[FLATTEST], slope[STEEPEST]};
}

int hulls_reach(const struct points *points, int64_t qmin_y, int64_t qmax_y, int begin, int limit, double max_err,
                struct window *slopes, struct diag *diag)
{
    struct hulls hulls;
    if (!hulls_init(&hulls, points, qmin_y, qmax_y, limit - begin)) {
        diag_set(diag, EXIT_IO, "out of memory for a segment of %d codes", limit - begin);
        return -1;
    }
    hulls_start(&hulls, max_err, begin);
    hulls_end_at(&hulls, limit);
    *slopes = hulls_slopes(&hulls);
    hulls_free(&hulls);
    return hulls.end;
}
