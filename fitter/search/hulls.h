/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hulls of the bands over a range of points. They say which real lines keep within all bands, and are updated as
 * either end of the range moves. */
#ifndef PWLC_HULLS_H
#define PWLC_HULLS_H

#include <stdbool.h>
#include <stdint.h>

#include "line.h"
#include "points.h"

/* A code, and a limit of the outputs there. */
struct corner {
    int64_t x, y;
};

enum hull_side { HULL_LOW, HULL_HIGH, HULL_SIDES };

/* The upper hull of the lower limits, or the lower hull of the upper limits + 1: corners [first, last), by x. */
struct hull {
    struct corner *corner;
    int first, last;
    bool is_narrow; /* all codes lie close enough together for products of 64 bits */
};

/* A line that touches each hull at one corner, and the index of that corner. */
struct tangent {
    struct corner corner[HULL_SIDES];
    int at[HULL_SIDES];
    bool exists;
};

/* The lines of largest and least slope that keep within the bands. */
enum { STEEPEST, FLATTEST, EXTREMES };

/*
 * A real line z serves the points [begin, end) if low <= z <= high + 1 at each, with the limits of error_band.h. Of all
 * that serve, the one of largest slope touches a lower limit and after it an upper one, that of least slope an upper
 * limit and after it a lower one. Source: J. O'Rourke, "An on-line algorithm for fitting straight lines between data
 * ranges", CACM 24(9), 1981; here for both ends, and exact: with |x| < 2^34 and |y| < 2^35 the products fit 128 bits.
 */
struct hulls {
    const struct points *points;
    int64_t qmin_y, qmax_y;
    double max_err;
    int begin, end;
    struct hull of[HULL_SIDES];
    struct tangent extreme[EXTREMES];
    int middle;              /* where the corners start */
    int undoable;            /* points at the end that can be taken back, one by one */
    struct hulls_step *step; /* by such a point, what was before it */
    int effort;              /* points that moving the end by one counts as */
};

/* Room for ranges of up to `length` points; false when memory is short. */
bool hulls_init(struct hulls *hulls, const struct points *points, int64_t qmin_y, int64_t qmax_y, int length);
void hulls_free(struct hulls *hulls);

/* The empty range at a point. */
void hulls_start(struct hulls *hulls, double max_err, int point);

/* Starts there too, unless the hulls hold a range from there for the same error, which is left as it is. */
void hulls_start_at(struct hulls *hulls, double max_err, int point);

/* The last position of the knot grid to which a real line from another one serves; where all positions are knots the
 * next one at most. The hulls are left there. */
int hulls_last_position(struct hulls *hulls, double max_err, int position);

/* Moves the end to a point, or the beginning to one at or before it. False when no real line serves so much: the range
 * is then the longest that one serves. */
bool hulls_end_at(struct hulls *hulls, int point);
bool hulls_begin_at(struct hulls *hulls, int point);

/* The slopes of the real lines that serve; +-INFINITY where nothing bounds them. */
struct window hulls_slopes(const struct hulls *hulls);

/* The end of the longest range from `begin`, at most `limit`, over which a real line z keeps low <= z <= high + 1 at
 * every point (high + 1 because a floor may follow); `begin` where no line does so at that point alone; -1, with a
 * message, when memory is short. Bounds the slopes of all such lines. No segment of any integer table is longer: its
 * line keeps within the bands too, rounded. */
int hulls_reach(const struct points *points, int64_t qmin_y, int64_t qmax_y, int begin, int limit, double max_err,
                struct window *slopes, struct diag *diag);

#endif
