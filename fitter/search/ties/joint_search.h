/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search around a table whose segments are tied, shared by its files: what tables cost, and how they are moved. */
#ifndef PWLC_JOINT_SEARCH_H
#define PWLC_JOINT_SEARCH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "search/line.h"
#include "search/points.h"
#include "tie.h"

/* What a choice costs, the first that differs deciding. */
struct price {
    double violation; /* output codes by which ties are missed */
    double error;     /* the largest, or 0 */
    double squares;
};

static const struct price unaffordable = {INFINITY, INFINITY, INFINITY};

static inline bool cheaper(const struct price *a, const struct price *b)
{
    if (a->violation != b->violation)
        return a->violation < b->violation;
    return a->error != b->error ? a->error < b->error : a->squares < b->squares;
}

static inline struct price together(const struct price *a, const struct price *b)
{
    return (struct price){.violation = a->violation + b->violation,
                          .error = a->error > b->error ? a->error : b->error,
                          .squares = a->squares + b->squares};
}

/* Whether any table of a given largest error will do. */
static inline bool is_error_given(const struct ties *ties)
{
    return ties->by_max_err && ties->only_enough;
}

/* Whether a table that costs as much is one that was asked for, a better one being of no more use. */
static inline bool suffices(const struct ties *ties, const struct price *price)
{
    return is_error_given(ties) && price->violation <= 0 && price->error <= ties->enough;
}

/* One line over the points [begin, end). */
struct option {
    int begin, end;
    struct line line;
    int64_t first, last; /* outputs at the first code and at the last */
    int64_t next;        /* of --continuous at the code after it, too */
    struct price price;
    struct price sum; /* of the cheapest way to the end of this segment */
    int from;         /* the option before on that way */
};

/* The search around one table. */
struct tie_search {
    const struct ties *ties;
    const struct points *points;
    const struct line_rules *rules;
    int segments, most; /* segments in hand, and allowed */
    int places;         /* where knots may lie: 0 to places */
    int *place;         /* of the knots in hand; segments + 1 */
    struct line *lines;
    double *outputs; /* of the line last looked at, by point */
};

static inline int64_t origin_of(const struct tie_search *search, int begin)
{
    return search->rules->form == PWL_ANCHORED ? search->points->cell[begin] : search->rules->zp_x;
}

/* The ends of a segment may move so many places to either side, and the values there so many steps. At most so many
 * options of each segment. */
enum { REACH = 1, PLACES = 2 * REACH + 1, VALUES = 2, LINES = (2 * VALUES + 1) * (2 * VALUES + 1) };
enum { TIE_OPTIONS = 2 * PLACES * PLACES * LINES + 1 };

/* The line last appraised between the points where options of a segment begin or end, so that options of the same line
 * are priced in one. */
struct pieces {
    int count, edge[2 * PLACES]; /* piece i holds the points [edge[i], edge[i + 1]) */
    struct line line;
    int64_t origin;
    bool known[2 * PLACES];
    struct price price[2 * PLACES];
};

/* joint_price.c: prices an option whose range and line are set; `enough`: whatever costs more is of no use. Its ends
 * are edges of the pieces, whose `known` are false at first. */
void tie_appraise(const struct tie_search *search, struct pieces *pieces, struct option *option,
                  const struct price *enough);

/* By how many codes two neighbours miss their ties. */
double tie_joint_violation(const struct ties *ties, const struct option *left, const struct option *right);

/* The table in hand, all ties counted. */
struct price tie_price(const struct tie_search *search);

/* joint_moves.c: improves the table in hand, from wide steps to narrow ones; *price is its price. options has room for
 * TIE_OPTIONS of each segment. */
void tie_descend(struct tie_search *search, struct option *options, struct price *price);

/* joint_start.c: the same, and takes the best of what is found so, from a table with knots at the extremes of f and
 * from one of tie_meet. No table has a smaller largest error than `low`. */
void tie_search_around(struct tie_search *search, double low, struct option *options, struct price *price);

/*
 * agreed_cover.c: tables in which neighbours meet in output codes agreed on beforehand, near f, so that a segment
 * depends on the one before it alone: from the left, each is as long as some line serves it within an error and comes
 * to the code agreed on at its end. These replace the table in hand by one of at most search->most segments; false, the
 * table being lost, where none was found.
 */

/* Of about the least largest error of such tables from `low` on. */
bool tie_meet_least_error(struct tie_search *search, double low);

/* Of a largest error of at most max_err: any, or the one of fewest segments. */
bool tie_meet_within(struct tie_search *search, double max_err);
bool tie_meet_with_fewest(struct tie_search *search, double max_err);

#endif
