/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a slope's lines cost from the start in hand, over the ranges to every end: they are followed from code to code.
 */
#ifndef PWLC_FOLLOW_H
#define PWLC_FOLLOW_H

#include <pwl/fixed.h>

#include "slope_scan.h"

/* Lines of the slope in hand: those that were not at the limit behind at the start, `first`; or those that have been
 * there, which has cost `paid`, and leave it at `first`. */
struct lines {
    int first;
    bool leave;
    double paid;
};

/* Any lines of the slope in hand, and those that leave a limit: node by node. */
void follow_nodes(struct slopes *slopes);

/* The lines of a safe slope, where no point is fixed: by their constants, or of biases with phases by classes of
 * those. */
void follow_constants(struct slopes *slopes, const struct lines *lines);
void follow_classes(struct slopes *slopes, const struct lines *lines);

/* The nearest integer of |x| < 2^51, ties to even; rint is a call where the processor's instruction may not be used. */
static inline double nearest(double x)
{
    const double shifter = 0x1.8p52;
    return (x + shifter) - shifter;
}

static inline bool take_step(struct slopes *slopes)
{
    slopes->complete &= slopes->steps < slopes->most_steps;
    return ++slopes->steps <= slopes->most_steps;
}

static inline void note_point(struct slopes *slopes, int k)
{
    slopes->last = k > slopes->last ? k : slopes->last;
}

static inline int64_t floor_shr(int64_t a, int n)
{
    return pwl_shr64(a, n, PWL_FLOOR);
}

static inline int64_t product_at(const struct slopes *slopes, int k)
{
    return slopes->q_b * ((int64_t)slopes->points->code[k] - slopes->origin);
}

static inline int64_t saturated(const struct slopes *slopes, int64_t raw)
{
    return pwl_sat(raw, slopes->rules->qmin_y, slopes->rules->qmax_y);
}

/* Whether a bias comes before a right shift, so that its low bits count. */
static inline bool phased(const struct slopes *slopes)
{
    return slopes->rules->form == PWL_BIASED && slopes->n > 0;
}

/* Whether no two of so many points have ties at the same phase or at neighbouring ones, of a slope q_b * 2^-n: then
 * each tie gives the codes of a phase next to it, whichever way it is rounded. */
static inline bool ties_are_apart(int64_t q_b, int n, int points)
{
    const int64_t mask = pwl_shl64(1, n) - 1;
    for (int64_t d = 1; d < points; d++)
        if (((q_b * d + 1) & mask) <= 2)
            return false;
    return true;
}

/* A line that is the best of the range to an end, if it is one of the rules. */
static inline void keep_line(struct slopes *slopes, int end, int64_t offset, double cost)
{
    const struct line line = {.q_b = slopes->q_b, .n = slopes->n, .offset = offset};
    const double *code = slopes->points->code;
    if (slopes->is_safe || line_provable(slopes->rules, &line, (int64_t)code[slopes->start], (int64_t)code[end - 1]))
        slopes->range[end] =
            (struct range){.cost = cost, .offset = offset, .q_b = (int32_t)slopes->q_b, .n = (int32_t)slopes->n};
    else
        slopes->beyond |= cost < slopes->useful[end];
}

#endif
