/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outputs and the cost of a line over many points, the inner loop of every search among lines. */
#include <pwl/fixed.h>

#include "base/numbers.h"
#include "error_band.h"
#include "line.h"

/* Outputs of consecutive codes in a 32-bit accumulator: p is the sum before the shift at the first one, and grows by
 * q_b. */
static inline void outputs32(const struct line_rules *rules, const struct line *line, int64_t p, int64_t after,
                             int count, double *q, const int rounding)
{
    const double low = (double)rules->qmin_y, high = (double)rules->qmax_y;
    const int32_t added = (int32_t)after;
    const int n = line->n;
    uint32_t sum = (uint32_t)p; /* it may wrap behind the last point */
    for (int k = 0; k < count; k++, sum += (uint32_t)line->q_b) {
        const double y = pwl_shr32((int32_t)sum, n, rounding) + added, above = y > low ? y : low;
        q[k] = above < high ? above : high;
    }
}

static inline void outputs64(const struct line_rules *rules, const struct line *line, int64_t origin,
                             const double *code, int count, double *q, const int rounding)
{
    for (int k = 0; k < count; k++)
        q[k] = (double)pwl_sat(pwl_line64((int)rules->form, rounding, (int32_t)line->q_b, (int64_t)code[k] - origin,
                                          line->n, line->offset),
                               rules->qmin_y, rules->qmax_y);
}

static inline void outputs(const struct line_rules *rules, const struct points *points, int begin, int from, int to,
                           const struct line *line, double *q, const int rounding)
{
    const int64_t origin = line_origin(rules, points->cell[begin]);
    const int64_t before = rules->form == PWL_BIASED ? line->offset : 0, after = line->offset - before;
    const int64_t p = line->q_b * (points->cell[from] - origin) + before;
    const int count = to - from;
    if (rules->accumulator_bits == 32 && points->cell[to] - points->cell[from] == count)
        outputs32(rules, line, p, after, count, q, rounding);
    else
        outputs64(rules, line, origin, points->code + from, count, q, rounding);
}

/* For one rounding each, so that the compiler knows it. */
void line_outputs(const struct line_rules *rules, const struct points *points, int begin, int from, int to,
                  const struct line *line, double *q)
{
    switch (rules->rounding) {
    case PWL_FLOOR:
        outputs(rules, points, begin, from, to, line, q, PWL_FLOOR);
        break;
    case PWL_HALF_UP:
        outputs(rules, points, begin, from, to, line, q, PWL_HALF_UP);
        break;
    case PWL_HALF_AWAY:
        outputs(rules, points, begin, from, to, line, q, PWL_HALF_AWAY);
        break;
    case PWL_HALF_EVEN:
        outputs(rules, points, begin, from, to, line, q, PWL_HALF_EVEN);
        break;
    }
}

enum { LANES = 4 }; /* sums side by side, so that one need not wait for the other */

double points_squares(const struct points *points, int from, int to, const double *q)
{
    const double *target = points->target + from, *mass = points->mass + from;
    double sum[LANES] = {0};
    int k = 0;
    for (; !points->served && k + LANES <= to - from; k += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const double e = q[k + lane] - target[k + lane];
            sum[lane] += e * e * mass[k + lane];
        }
    for (; k < to - from; k++)
        sum[0] += points_cost(points, from + k, q[k]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double points_worst(const struct points *points, int from, int to, const double *q)
{
    const double *target = points->target + from;
    double worst[LANES] = {0};
    int k = 0;
    for (; !points->served && !points->units && k + LANES <= to - from; k += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const double e = fabs(q[k + lane] - target[k + lane]);
            worst[lane] = e > worst[lane] ? e : worst[lane];
        }
    for (; k < to - from; k++)
        worst[0] = larger(worst[0], points_error(points, from + k, q[k]));
    return larger(larger(worst[0], worst[1]), larger(worst[2], worst[3]));
}

double line_cost_below(const struct line_rules *rules, const struct points *points, int begin, int end,
                       const struct line *line, const struct band *bands, double enough)
{
    double q[LINE_BLOCK], cost = 0;
    for (int from = begin, to; from < end && cost < enough; from = to) {
        to = end - from > LINE_BLOCK ? from + LINE_BLOCK : end;
        line_outputs(rules, points, begin, from, to, line, q);
        if (!bands_hold(bands ? bands + (from - begin) : NULL, q, to - from))
            return INFINITY;
        for (int k = from; points->fixed && k < to; k++)
            if (points->fixed[k] != POINT_FREE && points->fixed[k] != (int64_t)q[k - from])
                return INFINITY;
        cost += points_squares(points, from, to, q);
    }
    return cost < enough ? cost : INFINITY;
}
