/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "wide_starts.h"

#include <math.h>

#include "function/target.h"
#include "measure/error_bound.h"

static double error_at(const struct spec *spec, const struct line_rules *rules, const struct line *line, int64_t code)
{
    const struct dd t = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, code);
    const int64_t y = line_value(rules, line, rules->zp_x, code);
    const struct tensor range = {.qmin = rules->qmin_y, .qmax = rules->qmax_y};
    return fabs(target_missed(target_clipped(&range, t), pwl_sat(y, range.qmin, range.qmax)).hi);
}

/* The larger bound of two neighbours when the second starts at a code; INFINITY where one has no proof. */
static double bound_with(const struct between *between, const struct line_rules *rules, const struct line *lines,
                         int64_t first, int64_t start, int64_t last)
{
    const int64_t firsts[] = {first, start}, lasts[] = {start - 1, last};
    double bounds[2];
    for (int side = 0; side < 2; side++) {
        const struct segment segment = line_segment(&lines[side], firsts[side]);
        if (!line_provable(rules, &lines[side], firsts[side], lasts[side]) ||
            !segment_bound(&between->format, between->function, &segment, lasts[side], INFINITY, &bounds[side]))
            return INFINITY;
    }
    return fmax(bounds[0], bounds[1]);
}

void settle_starts(const struct spec *spec, const struct line_rules *rules, const struct points *points, int count,
                   const int *knots, const struct line *lines, struct segment *segments)
{
    const struct between *const between = points->between;
    if (!between || !between->is_bounded || points->fixed || rules->form == PWL_ANCHORED ||
        spec->constraints.knots != KNOTS_FREE || constraints_tie(&spec->constraints))
        return;
    for (int m = 1; m < count; m++) {
        const struct line *left = &lines[m - 1], *right = &lines[m];
        int64_t low = (int64_t)points->code[knots[m] - 1], high = (int64_t)points->code[knots[m]];
        if (!(error_at(spec, rules, left, low) < error_at(spec, rules, right, low) &&
              error_at(spec, rules, right, high) < error_at(spec, rules, left, high)))
            continue;
        while (high - low > 1) { /* left is better at low, right at high */
            const int64_t middle = low + (high - low) / 2;
            if (error_at(spec, rules, right, middle) < error_at(spec, rules, left, middle))
                high = middle;
            else
                low = middle;
        }
        /* A single code may have luck with its rounding. */
        const int64_t first = segments[m - 1].start, last = points->cell[knots[m + 1]] - 1;
        if (bound_with(between, rules, &lines[m - 1], first, high, last) <=
            bound_with(between, rules, &lines[m - 1], first, segments[m].start, last))
            segments[m].start = high;
    }
}
