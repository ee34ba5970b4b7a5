/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least largest error of tables whose segments are tied, by a complete search of narrow formats. */
#ifndef PWLC_JOINT_EXACT_H
#define PWLC_JOINT_EXACT_H

#include <stdbool.h>

#include "base/diag.h"
#include "search/line.h"
#include "search/points.h"
#include "tie.h"

/* Room for segments + 1 knots and as many lines as segments. */
struct tie_exact {
    int segments; /* of the table found, at most those asked for */
    int *knots;
    struct line *lines;
    double max_err; /* of this table */
    bool found;     /* one was found whose error is below `high` */
    bool complete;  /* no table has a smaller error than this one, or where none was found than `high` */
};

/*
 * Looks for the table of at most so many segments that keeps the ties with the least largest error, which is known to
 * be at least `low`; only errors below `high` are of interest. Formats with too many lines are left alone, neither
 * found nor complete; the decision is by counts, so that it is the same on every machine.
 *
 * An error is one of the finitely many distances of an output code from a target, so bisection over those finds the
 * least. Whether an error can be held: from each start every slope of the rules is followed code by code. Its constants
 * form intervals within which all outputs so far are the same, and which part as the codes go on; an interval ends
 * where an output leaves its band, steps against f or is not provable. Of a segment only its last output and, for
 * --continuous, what it gives at the next start matter to the next; among segments that agree in the latter, the one
 * whose last output is farthest back in the direction of f stands for all. So a state for each number of segments, end
 * and value there holds all that is reachable.
 */
int tie_least_error(const struct ties *ties, const struct points *points, const struct line_rules *rules, int segments,
                    double low, double high, struct tie_exact *exact, struct diag *diag);

#endif
