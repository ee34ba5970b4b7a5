/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time that a user gives the searches of a table. What they find in it differs from machine to machine, so that
 * there is none unless it is asked for. */
#ifndef PWLC_TIME_LIMIT_H
#define PWLC_TIME_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "clock.h"

struct time_limit {
    double end; /* clock_now() at which it is over */
    bool cut;   /* a search ended for it */
};

static inline void time_limit_begin(struct time_limit *limit, double seconds)
{
    *limit = (struct time_limit){.end = clock_now() + seconds};
}

/* Whether it is over; to be asked by a search that ends then. A null limit never is. */
static inline bool time_limit_over(struct time_limit *limit)
{
    if (!limit || clock_now() < limit->end)
        return false;
    limit->cut = true;
    return true;
}

#endif
