/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "follow.h"

/* A line of the slope in hand that leaves the limit behind, by its offset less the addend; or all with such an offset
 * in [low, high), which have given the same codes so far. */
struct leaver {
    int64_t low, high;
    double cost;
};

enum { MOST = 1 << 12 };

struct leavers {
    int count;
    struct leaver leaver[MOST];
};

static void add_leaver(struct slopes *slopes, struct leavers *leavers, int64_t low, int64_t high, double cost)
{
    if (leavers->count < MOST)
        leavers->leaver[leavers->count++] = (struct leaver){low, high, cost};
    else /* outputs of many bits, of which few errors are small */
        slopes->complete = false;
}

/* Parts the lines whose codes at point k differ, and leaves out ties. Those that part come last. */
static void part_leavers(struct slopes *slopes, struct leavers *leavers, int k)
{
    const int64_t p = product_at(slopes, k), one = pwl_shl64(1, slopes->n);
    const bool tie = slopes->rules->rounding >= PWL_HALF_AWAY;
    int kept = 0;
    for (int l = 0; l < leavers->count; l++) {
        struct leaver leaver = leavers->leaver[l];
        const int64_t next = (floor_shr(p + leaver.low, slopes->n) + 1) * one - p;
        if (next < leaver.high) {
            add_leaver(slopes, leavers, next, leaver.high, leaver.cost);
            leaver.high = next;
        }
        leaver.low += tie && leaver.low == next - one;
        if (leaver.low < leaver.high)
            leavers->leaver[kept++] = leaver;
    }
    leavers->count = kept;
}

/* Adds what the lines cost at point k, keeps the best, and drops those that are of no more use. */
static void add_point(struct slopes *slopes, struct leavers *leavers, int k)
{
    const double limit = slopes->limit[k + 1];
    const int64_t p = product_at(slopes, k);
    int kept = 0;
    for (int l = 0; l < leavers->count; l++) {
        struct leaver leaver = leavers->leaver[l];
        leaver.cost += points_cost(slopes->points, k, (double)saturated(slopes, floor_shr(p + leaver.low, slopes->n)));
        if (leaver.cost < slopes->range[k + 1].cost)
            keep_line(slopes, k + 1, leaver.low - slopes->addend, leaver.cost);
        if (leaver.cost < limit)
            leavers->leaver[kept++] = leaver;
    }
    leavers->count = kept;
}

static void follow_biases(struct slopes *slopes, int first, double paid, int64_t low, int64_t high)
{
    struct leavers leavers;
    leavers.count = 0;
    slopes->until = slopes->end;
    slopes->part[0] = (struct phases){low, high};
    slopes->parts = 1;
    if (high - low > SLOPES_GROUPS && !slopes->points->served && !follow_leaving_groups(slopes, first, paid, low, high))
        return;
    for (int part = 0; part < slopes->parts; part++)
        add_leaver(slopes, &leavers, slopes->part[part].low, slopes->part[part].high, paid);
    part_leavers(slopes, &leavers, first - 1);
    for (int k = first; k < slopes->until && leavers.count > 0; k++) {
        if (!take_step(slopes))
            return;
        part_leavers(slopes, &leavers, k);
        slopes->steps += leavers.count / 8;
        add_point(slopes, &leavers, k);
        note_point(slopes, k);
    }
}

void follow_leaving(struct slopes *slopes, int first, double paid)
{
    const int64_t one = phased(slopes) ? pwl_shl64(1, slopes->n) : 1, edge = slopes->near_first + (slopes->rise < 0);
    const int64_t before = phased(slopes) ? product_at(slopes, first - 1) : (int64_t)slopes->code[first - 1],
                  after = phased(slopes) ? product_at(slopes, first) : (int64_t)slopes->code[first];
    /* Offsets of the lines whose codes leave the limit between the two points. */
    const int64_t low = edge * one - (slopes->rise > 0 ? after : before),
                  high = edge * one - (slopes->rise > 0 ? before : after);
    note_point(slopes, first);
    if (slopes->rise == 0 || low >= high)
        return;
    if (phased(slopes))
        follow_biases(slopes, first, paid, low, high);
    else
        follow_constants(slopes, &(struct lines){first, true, paid, low, high});
}
