/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search around a table whose segments are tied, shared by its files: what tables cost, and how they are moved. */
#ifndef PWLC_JOINT_SEARCH_H
#define PWLC_JOINT_SEARCH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "search/line.h"
#include "search/points.h"
#include "ties.h"

/* The cost of a line or a table. Of two costs the first part that differs decides, so that ties are kept before errors
 * count, and the largest error before squares. */
struct tie_cost {
    double violation; /* output codes by which ties are missed, summed */
    double error;     /* the largest, in output LSB; 0 where it does not count */
    double squares;   /* the sum of mass * error^2 */
};

static const struct tie_cost infeasible = {INFINITY, INFINITY, INFINITY};

static inline bool costs_less(const struct tie_cost *a, const struct tie_cost *b)
{
    if (a->violation != b->violation)
        return a->violation < b->violation;
    return a->error != b->error ? a->error < b->error : a->squares < b->squares;
}

static inline struct tie_cost cost_sum(const struct tie_cost *a, const struct tie_cost *b)
{
    return (struct tie_cost){.violation = a->violation + b->violation,
                             .error = a->error > b->error ? a->error : b->error,
                             .squares = a->squares + b->squares};
}

/* Whether any table of a given largest error will do. */
static inline bool is_max_err_given(const struct ties *ties)
{
    return ties->by_max_err && ties->stops_at_max_err;
}

/* Whether a table of this cost is all that was asked for, so that the search may end. */
static inline bool holds_max_err(const struct ties *ties, const struct tie_cost *cost)
{
    return is_max_err_given(ties) && cost->violation <= 0 && cost->error <= ties->max_err;
}

/* One line over the points [begin, end), as a segment of a table. */
struct candidate {
    int begin, end;
    struct line line;
    int64_t first, last; /* outputs at the first code and at the last */
    int64_t next;        /* what the line gives at the code after it; set for --continuous */
    struct tie_cost cost;
    struct tie_cost sum; /* with the cheapest candidates of all segments before */
    int before;          /* which of them is that of the segment before; -1 of the first segment */
};

/* The last positions to which real lines of an error serve, whatever is held. */
struct reach {
    double max_err; /* NAN at first */
    int last[];     /* by the position where they begin; -1 where it is not known */
};

/* The incumbent and what it is searched with. A position is an index of the knot grid (points.h). */
struct tie_search {
    const struct ties *ties;
    const struct points *points;
    const struct line_rules *rules;
    int segments, most; /* segments of the incumbent, and allowed */
    int positions;      /* the last position */
    int *position;      /* of the incumbent's knots; segments + 1 */
    struct line *lines; /* its lines */
    double *outputs;    /* by point, of the line whose cost was found last */
    struct reach *reach;
};

/* The ends of a segment may move by one step to either side, and the values there by so many steps. */
enum { MOVES = 3, VALUES = 2, LINES = (2 * VALUES + 1) * (2 * VALUES + 1) };
/* Most candidates of a segment: each range with lines of two kinds, and the incumbent's line. */
enum { TIE_CANDIDATES = 2 * MOVES * MOVES * LINES + 1 };

/* The cost of one line between the points where candidates begin or end, so that candidates of the same line over other
 * ranges need not visit points again. */
struct pieces {
    int count, edge[2 * MOVES]; /* piece i holds the points [edge[i], edge[i + 1]) */
    struct line line;
    int64_t origin;
    bool known[2 * MOVES]; /* false at first */
    struct tie_cost cost[2 * MOVES];
};

/* joint_price.c: whether a candidate's line is proven over its range. */
bool tie_is_provable(const struct tie_search *search, const struct candidate *candidate);

/* Sets the outputs and the cost of a candidate whose range is set, and its line, which is proven over it; infeasible
 * where it costs more than the incumbent. Its ends are edges of the pieces. */
void tie_find_cost(const struct tie_search *search, struct pieces *pieces, struct candidate *candidate,
                   const struct tie_cost *incumbent);

/* By how many codes two neighbours miss their ties. */
double tie_joint_violation(const struct tie_search *search, const struct candidate *left,
                           const struct candidate *right);

/* The cost of the incumbent. */
struct tie_cost tie_table_cost(const struct tie_search *search);

/* joint_moves.c: improves the incumbent by smaller and smaller moves; *cost is its cost. candidates has room for
 * TIE_CANDIDATES of each segment allowed. */
void tie_descend(struct tie_search *search, struct candidate *candidates, struct tie_cost *cost);

/* joint_start.c: the same from several tables, of which the best result becomes the incumbent: the one given, one with
 * knots at the extremes of f, and an agreed cover. No table has a smaller largest error than `low`. */
void tie_search_around(struct tie_search *search, double low, struct candidate *candidates, struct tie_cost *cost);

/*
 * agreed_cover.c: tables whose neighbours share output codes that are agreed on beforehand, near f, so that a segment
 * depends on the one before it alone. From the left each segment is as long as some line stays within the error and
 * comes to the code agreed on at its end:
 *
 *             agreed code _ o------.___         f: between the codes
 *                  _.--'    |          `--o
 *         o ---''           |             |
 *         |  segment 1      |  segment 2  |
 *
 * Such a table of at most search->most segments becomes the incumbent; false, the incumbent being lost, where none was
 * found.
 */

/* Of about the least largest error of such tables from `low` on. */
bool agreed_cover_least_error(struct tie_search *search, double low);

/* Of a largest error of at most max_err: any, or the one of fewest segments. */
bool agreed_cover_within(struct tie_search *search, double max_err);
bool agreed_cover_fewest(struct tie_search *search, double max_err);

#endif
