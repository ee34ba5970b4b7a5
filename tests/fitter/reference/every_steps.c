/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "every_steps.h"

#include <math.h>

static int64_t index_of(const struct every_spec *spec, int k)
{
    return every_shift(spec->rounding, k, spec->step_shift);
}

/* What the codes [begin, end) cost with one output. */
static double cost_of(const struct every_spec *spec, int begin, int end, int64_t q_y)
{
    double cost = 0;
    for (int k = begin; k < end; k++) {
        const double here = every_cost(spec, &spec->output[k], q_y);
        cost = spec->squares ? cost + here : fmax(cost, here);
    }
    return cost;
}

/* The constant nearest to an output that comes out as it; false where there is none. */
static bool constant_of(const struct every_spec *spec, int64_t q_y, int64_t *constant)
{
    const int64_t low = spec->offset_low, high = spec->offset_high;
    *constant = q_y < low ? low : q_y > high ? high : q_y;
    return *constant == q_y || (q_y == spec->qmax_y && *constant > q_y) || (q_y == spec->qmin_y && *constant < q_y);
}

struct every_found every_steps(const struct every_spec *spec, double limit)
{
    struct every_found found = {.found = true};
    for (int begin = 0, end; begin < spec->count; begin = end) {
        double least = INFINITY;
        struct every_segment *const segment = &found.segment[found.segments++];
        *segment = (struct every_segment){.start = spec->first_x + begin};
        for (end = begin + 1; end < spec->count && index_of(spec, end) == index_of(spec, begin);)
            end++;
        for (int64_t q_y = spec->qmin_y, constant; q_y <= spec->qmax_y; q_y++) {
            const double cost = constant_of(spec, q_y, &constant) ? cost_of(spec, begin, end, q_y) : INFINITY;
            if (cost < least) {
                least = cost;
                segment->offset = constant;
            }
        }
        found.least = spec->squares ? found.least + least : fmax(found.least, least);
    }
    found.found = found.least <= limit;
    return found;
}
