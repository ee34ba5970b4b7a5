/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "knot_moves.h"

#include <math.h>
#include <string.h>

/* Whether a knot can make a move; *place is where it comes to. */
static bool can_move(const struct knot_moves *knots, int m, int move, int step, int *place)
{
    const bool is_inner = m > 0 && m < knots->segments;
    *place = knots->place[m] + knots->moves[move] * step;
    return is_inner ? *place > 0 && *place < knots->end : move == knots->stay;
}

double knot_moves_try(const struct knot_moves *knots, int step)
{
    double before[KNOT_MOVES] = {0}, after[KNOT_MOVES];
    for (int m = 0; m < knots->segments; m++) {
        for (int k = 0; k < knots->count; k++) {
            int begin, end;
            after[k] = INFINITY;
            if (!can_move(knots, m + 1, k, step, &end))
                continue;
            for (int i = 0; i < knots->count; i++) {
                if (!can_move(knots, m, i, step, &begin) || begin >= end)
                    continue;
                const double cost = before[i] + knots->cost(knots->context, m, i, k, begin, end);
                if (cost < after[k] * (1 - knots->tie)) {
                    after[k] = cost;
                    knots->from[m][k] = (signed char)i;
                }
            }
        }
        memcpy(before, after, sizeof before);
    }
    return before[knots->stay];
}

bool knot_moves_take(const struct knot_moves *knots, int step)
{
    bool moved = false;
    for (int m = knots->segments - 1, move = knots->stay; m > 0; m--) {
        move = knots->from[m][move];
        knots->place[m] += knots->moves[move] * step;
        moved |= move != knots->stay;
    }
    return moved;
}
