/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table that the searches for least squared error improve. */
#ifndef PWLC_SQUARES_TABLE_H
#define PWLC_SQUARES_TABLE_H

#include <stdbool.h>
#include <string.h>

#include "complete_search.h"
#include "search/line.h"
#include "search/points.h"

/* The incumbent. knots has room for PWL_MAX_SEGMENTS + 1, lines for PWL_MAX_SEGMENTS entries. */
struct squares {
    const struct points *points;
    struct line_rules *rules; /* with one shift, that of the incumbent */
    int *knots;
    struct line *lines;
    bool is_trial;      /* of a number of segments: not worth a close bound */
    bool moved;         /* squares_bound has replaced it */
    struct exact exact; /* exact.segments is to be set */
};

/* Takes another incumbent. */
static inline void squares_take(struct squares *table, double cost, int count, const int *knots,
                                const struct line *lines)
{
    table->exact.cost = cost;
    table->exact.segments = count;
    memcpy(table->knots, knots, ((size_t)count + 1) * sizeof *knots);
    memcpy(table->lines, lines, (size_t)count * sizeof *lines);
}

#endif
