/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The codes a table is fitted on, with their targets. */
#ifndef PWLC_POINTS_H
#define PWLC_POINTS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/numbers.h"
#include "effort.h"
#include "function/function.h"
#include "table/table.h"

/* Point k stands for the codes [cell[k], cell[k+1]). With up to 16 bits each code is a point; wider inputs get
 * 2^16 cells, narrow where the function bends. Knots are indices of points: a segment starts at cell[knot]. */
#define POINT_FREE INT64_MIN

/* Codes that never occur count as much: too little to change what the others ask for, as the squares of errors stay
 * below 2^66, and enough to find the lines of segments that hold no other code. */
#define LEAST_WEIGHT 0x1p-128

/* A code that the point of a folded table's half serves: itself, or its mirror image, whose output is the sum less the
 * point's. In terms of the point's output: where the code's saturates, and its target, within that. A point that is
 * the image of no code has the range of one value, which asks nothing. */
struct served {
    double low, high, target;
    double mass;
};

struct band; /* error_band.h */

/* Bounds on the output of a segment's line at one code, beside those that its error sets: what a neighbour needs.
 * point: the one whose cell holds the code, -1 where there is no such bound. */
struct held {
    int point;
    int64_t code;
    int64_t low, high;
};

enum { POINTS_HELD = 3 };

/* f at codes that are no points, where lines are judged over these, too (bounded_line.h). */
struct between {
    struct table format; /* of the table, without segments; of a half, that of the folded one */
    const struct function *function;
    bool is_bounded; /* errors are proven there (error_bound.h), else those at the ends of segments count */
    void (*serve)(const void *context, int64_t code, struct served served[2]); /* what a code serves, but for masses */
    const void *context;
};

struct points {
    int count;
    int64_t *cell;  /* count + 1 boundaries */
    double *code;   /* the middle code of the cell */
    double *target; /* output LSB, clipped to the output range */
    double *mass;   /* > 0: codes in the cell; with --weights what they weigh, 1 being the mean of all codes */
    double *weight; /* mass; 0 where the target is clipped */
    struct served (*served)[2]; /* half of a folded table: itself and its mirror image. The target above is their mean
                                 * and the mass their sum; null: the point is all it serves */
    double *units;  /* core of a reduced table: units of the target in an output LSB, where they are fewest, INFINITY at
                     * words that no code takes; null: 1 everywhere. Largest errors are counted in LSB */
    double *bend;   /* cumulative share of curvature before the point, count + 1 values, 0..1 */
    int64_t *fixed; /* output code that a point must have, POINT_FREE where it need not; null without any */
    const struct held *held;  /* of the segment under trial, POINTS_HELD; null without any */
    const struct band *bands; /* of each point, where they are given and not made of targets; else null */
    int beyond;  /* points at the end that start no segment: 1 for the image beyond the last code of a folded table,
                  * see spec_fold_half; else 0 */
    int clipped; /* points whose target was clipped */
    int *grid;   /* grid_count + 1 points where segments may start or end, ends included; null: anywhere */
    int grid_count;
    bool grid_whole; /* and every one of them does */
    bool exhaustive;
    struct effort *effort;   /* malloc'd, so that copies of the points draw on the same one; null in tests */
    struct between *between; /* malloc'd; null where all codes are points, or points alone count */
};

/* Room for so many points, with or without `units` and `served`. fit/points_of_spec.h fills it; nothing but grid and
 * held is set after that. */
int points_allocate(struct points *points, int count, bool has_units, bool has_served, struct diag *diag);
void points_free(struct points *points);

/* Counts points that a search looked at. */
static inline void points_spend(const struct points *points, int64_t count)
{
    if (points->effort)
        points->effort->left -= count;
}

/* The mass of all points. */
static inline double points_mass(const struct points *points)
{
    double mass = 0;
    for (int k = 0; k < points->count; k++)
        mass += points->mass[k];
    return mass;
}

/* Whether --time-limit asks a search of points to end. */
static inline bool points_out_of_time(const struct points *points)
{
    return points->effort && time_limit_over(points->effort->limit);
}

static inline double points_units(const struct points *points, int k)
{
    return points->units ? points->units[k] : 1;
}

static inline double served_error(const struct served *served, double q_y)
{
    const double above = q_y > served->low ? q_y : served->low, y = above < served->high ? above : served->high;
    return fabs(y - served->target);
}

/* How far an output code within the output range is off at a point, in LSB: at the worse of the codes it serves. */
static inline double points_error(const struct points *points, int k, double q_y)
{
    if (points->served)
        return larger(served_error(&points->served[k][0], q_y), served_error(&points->served[k][1], q_y));
    return fabs(q_y - points->target[k]) / points_units(points, k);
}

/* What it costs: mass * error^2, summed over the codes it serves. */
static inline double points_cost(const struct points *points, int k, double q_y)
{
    double cost = 0;
    if (!points->served)
        return (q_y - points->target[k]) * (q_y - points->target[k]) * points->mass[k];
    for (int i = 0; i < 2; i++) {
        const double e = served_error(&points->served[k][i], q_y);
        cost += e * e * points->served[k][i].mass;
    }
    return cost;
}

/* What the best output code costs. Of a half it is the one nearest to the mean, or where the range of one of its codes
 * ends the one nearest to the other's target. */
static inline double points_floor(const struct points *points, int k)
{
    double least = points_cost(points, k, rint(points->target[k]));
    for (int i = 0; points->served && i < 2; i++)
        if (points->served[k][i].mass > 0)
            least = fmin(least, points_cost(points, k, rint(points->served[k][i].target)));
    return least;
}

/* What it costs at any output within all ranges, beyond mass * (q_y - target)^2: the targets of a half may differ. */
static inline double points_apart(const struct points *points, int k)
{
    double apart = 0;
    for (int i = 0; points->served && i < 2; i++) {
        const double d = points->served[k][i].target - points->target[k];
        apart += d * d * points->served[k][i].mass;
    }
    return apart;
}

/* Allows starts at these points alone: one for each of `count` equal parts of the codes, all of them to be used, or at
 * each multiple of 2^shift. */
int points_grid_uniform(struct points *points, int count, struct diag *diag);

/* A segment starts wherever the distance of a code from the first one, shifted by so many bits, begins to give another
 * index, and nowhere else; of points that are all codes. */
int points_grid_steps(struct points *points, int shift, pwl_rounding rounding, struct diag *diag);
int points_grid_pow2(struct points *points, int shift, struct diag *diag);

/* The next number of equal parts above `count` whose width is a power of two; 0: there is none. */
int points_next_of_powers(const struct points *points, int count);

/* The points that may start a segment, where no grid says which: all before this one. */
static inline int points_starts(const struct points *points)
{
    return points->count - points->beyond;
}

/* Where segments may start or end, in order: the places 0 to points_places, each at a point; the first one is at point
 * 0, the last one behind all points. */
static inline int points_places(const struct points *points)
{
    return points->grid ? points->grid_count : points_starts(points);
}

static inline int points_at(const struct points *points, int place)
{
    return points->grid ? points->grid[place] : place < points_starts(points) ? place : points->count;
}

/* The last place at or before a point. */
int points_place_before(const struct points *points, int point);

#endif
