/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much the searches of one table may still look at. */
#ifndef PWLC_EFFORT_H
#define PWLC_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time_limit.h"

/* Points that the searches for tied segments may look at, a point at which a line is priced being one: some seconds.
 * What takes as long otherwise counts as much. */
#define EFFORT_POINTS ((int64_t)3 << 28)

/* Their number decides when a search for better tables ends, so that the same spec gives the same table on every
 * machine; the clock does so only where a user says --time-limit. */
struct effort {
    double share; /* of what is given to a table; that of the steps of other searches, too */
    int64_t given, left;
    struct time_limit *limit; /* null: none */
};

/* Whether a table that keeps to all that is asked need not be improved any more. */
static inline bool effort_spent(const struct effort *effort)
{
    return effort->left <= 0 || time_limit_over(effort->limit);
}

enum { EFFORT_CREDIT = 7, EFFORT_NOTE_CREDIT = 1 };
#define EFFORT_NOTE 0.125 /* a smaller share is that of what only a note or a message asks */

/* Whether a search that has found no such table ends, too: to find one at all it may look at so many times as much
 * again. */
static inline bool effort_overdrawn(const struct effort *effort)
{
    const int credit = effort->share < EFFORT_NOTE ? EFFORT_NOTE_CREDIT : EFFORT_CREDIT;
    return effort->left <= -credit * effort->given || time_limit_over(effort->limit);
}

#endif
