/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The integer table of least squared error, by a complete search, for short inputs. */
#ifndef PWLC_COMPLETE_SEARCH_H
#define PWLC_COMPLETE_SEARCH_H

#include "base/diag.h"
#include "search/line.h"
#include "search/points.h"
#include "search/rounding.h"

#define EXACT_FEW 256 /* points of which all lines are soon looked at */

struct program_bounds;

/* How far a search goes: some slopes from each start; knots near those of the incumbent; all tables. */
enum exact_stage { EXACT_SOME, EXACT_NEAR, EXACT_ALL };

/* Shares of the steps where a table takes several searches, so that all together take about as long as one. */
#define EXACT_SHARE_ABSOLUTE 0.5 /* of the absolute table that a biased one of many points begins with */
#define EXACT_SHARE_BIASED 0.38  /* of that biased one; its steps take longer, too */

struct exact {
    enum exact_stage last;              /* the last stage that is run */
    double share;                       /* of the steps of a table that takes one search; then what is left */
    int segments;                       /* at most those asked for */
    double cost;                        /* of the table, in LSB^2 */
    bool complete;                      /* all its lines were searched, or need not be */
    double lower_bound;                 /* no table of the rules with as many segments costs less */
    const struct program_bounds *known; /* from a search over these lines and others, or null */
    struct program_bounds *found;       /* takes those of this search, or null */
    double any_shift;                   /* with one shift: what the best table without costs; NAN where not known */
};

/* Whether the bound says that no table of the rules with as many segments costs less: the search was complete. */
static inline bool exact_is_optimal(const struct exact *exact)
{
    return no_more_than(exact->cost, exact->lower_bound);
}

/*
 * Improves a table: on entry knots and lines hold one of *exact's segments and cost (INFINITY when there is none).
 * The passes stand in one schedule in complete_search.c; the page of the room, ../README.md, tells what each of them
 * does and why its bounds hold. What the page leaves out:
 *
 * - A line of the absolute or biased form is the same from whatever code it starts. So no line starts at a code that
 * the lines before it meet at no more than the rounding floor; a line that starts at a limit of the output is followed
 *   from where it leaves the limit, once for all starts; and a line that runs into the other limit must have cost less
 *   than that limit alone. Lines that may leave their types are followed one by one, where a line of wider types could
 *   belong to a better table.
 * - What a line pays at a limit it cannot pay between the limits: that narrows the window of its slopes.
 * - Slopes that would give the codes of a slope that was given up are skipped.
 * - Half a folded table does not cost at a limit what the parabola says. Its lines are at a limit from the limit's code
 *   on, not from the code beyond it.
 * - Of equal tables the one of fewest segments is taken.
 */
int exact_improve(const struct points *points, const struct line_rules *rules, int segments, int *knots,
                  struct line *lines, struct exact *exact, struct diag *diag);

/* Cuts [first, last] to the shifts that are searched: with sums of more than 32 bits none beyond 24, either way. */
void exact_cut_shifts(const struct line_rules *rules, int *first, int *last);

#endif
