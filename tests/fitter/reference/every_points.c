/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "every_points.h"

#include <math.h>
#include <stdlib.h>

struct value {
    double least; /* of the tables up to this value */
    int64_t before;
};

struct path {
    const struct every_spec *spec;
    double limit;
    int64_t low;          /* the first value that counts */
    int count, intervals; /* values that count; the points are one more than the intervals */
    struct value *value;  /* of each point and value */
};

static struct value *value_at(const struct path *path, int point, int64_t value)
{
    return path->value + (size_t)point * (size_t)path->count + (value - path->low);
}

int64_t every_addend(const struct every_spec *spec, int64_t q_b)
{
    const int64_t width = INT64_C(1) << spec->shift;
    return spec->half_down ? width / 2 - 1 : spec->toward_left && q_b < 0 ? width - 1 : 0;
}

/* The sum whose 2^-shift is code f of an interval, and the output there. */
static int64_t sum_at(const struct every_spec *spec, int64_t a, int64_t b, int f)
{
    return a * (INT64_C(1) << spec->shift) + (b - a) * f + every_addend(spec, b - a);
}

static int64_t output_at(const struct every_spec *spec, int64_t a, int64_t b, int f)
{
    const int64_t value = every_shift(spec->rounding, sum_at(spec, a, b, f), spec->shift);
    return value < spec->qmin_y ? spec->qmin_y : value > spec->qmax_y ? spec->qmax_y : value;
}

/* Whether an interval of a table, from code k on, stays in its types. */
static bool is_legal(const struct every_spec *spec, int k, int64_t a, int64_t b)
{
    const int64_t q_b = b - a, from = spec->form == EVERY_ANCHORED ? 0 : spec->first_x + k - spec->zp_x;
    const int64_t most = INT64_C(1) << (spec->field_bits == 8 ? 15 : 31);
    if (spec->form == EVERY_ANCHORED && (a < -most || a >= most))
        return false;
    if (spec->form == EVERY_BIASED && !every_fits(spec, sum_at(spec, a, b, 0) - q_b * from))
        return false;
    for (int f = 0; f < 1 << spec->shift; f++) {
        const int64_t shifted = spec->form == EVERY_ANCHORED ? q_b * f : sum_at(spec, a, b, f);
        if (!every_fits(spec, q_b * (from + f)) || !every_shifts_legally(spec, shifted, spec->shift) ||
            !every_fits(spec, every_shift(spec->rounding, sum_at(spec, a, b, f), spec->shift)))
            return false;
    }
    return true;
}

/* Of an interval whose first code is k. INFINITY where it may not be. */
static double cost_of(const struct path *path, int k, int64_t a, int64_t b, double before)
{
    const struct every_spec *spec = path->spec;
    const int width = 1 << spec->shift;
    double cost = before;
    for (int f = 0; f < width; f++) {
        const int64_t q_y = output_at(spec, a, b, f), next = output_at(spec, a, b, f + 1);
        const double here = every_cost(spec, &spec->output[k + f], q_y);
        cost = spec->squares ? cost + here : fmax(cost, here);
        if (!(cost <= path->limit) ||
            (spec->monotone && k + f + 1 < spec->count && spec->output[k + f + 1].direction * (next - q_y) < 0))
            return INFINITY;
    }
    return is_legal(spec, k, a, b) && every_is_stored(spec, b - a, spec->shift) ? cost : INFINITY;
}

static void step(const struct path *path, int i)
{
    const int64_t steepest = INT64_C(1) << (path->spec->slope_bits - 1), last = path->low + path->count - 1;
    for (int64_t a = path->low; a <= last; a++) {
        const double before = value_at(path, i, a)->least;
        if (!(before <= path->limit))
            continue;
        for (int64_t b = a - steepest > path->low ? a - steepest : path->low; b < a + steepest && b <= last; b++) {
            struct value *const value = value_at(path, i + 1, b);
            const double cost = before < value->least ? cost_of(path, i << path->spec->shift, a, b, before) : INFINITY;
            if (cost < value->least)
                *value = (struct value){cost, a};
        }
    }
}

static struct every_found take_best(const struct path *path)
{
    struct every_found found = {.found = false, .least = INFINITY};
    const struct every_spec *spec = path->spec;
    int64_t best = path->low;
    for (int64_t b = path->low; b < path->low + path->count; b++)
        if (value_at(path, path->intervals, b)->least < value_at(path, path->intervals, best)->least)
            best = b;
    found.least = value_at(path, path->intervals, best)->least;
    found.found = found.least <= path->limit;
    for (int i = path->intervals; found.found && i > 0; i--) {
        const int64_t b = best, a = value_at(path, i, b)->before, start = spec->first_x + ((i - 1) << spec->shift);
        found.segment[i - 1] = (struct every_segment){
            .start = start,
            .q_b = b - a,
            .n = spec->shift,
            .offset = spec->form == EVERY_ANCHORED ? a : sum_at(spec, a, b, 0) - (b - a) * (start - spec->zp_x)};
        best = a;
    }
    found.segments = found.found ? path->intervals : 0;
    return found;
}

struct every_found every_points(const struct every_spec *spec, double limit)
{
    const int64_t far = 3 * (INT64_C(1) << (spec->slope_bits - 1));
    struct path path = {.spec = spec, .limit = limit, .intervals = spec->count >> spec->shift};
    const int64_t low = spec->qmin_y - far, high = spec->qmax_y + far;
    path.low = low > spec->offset_low ? low : spec->offset_low;
    path.count = (int)((high < spec->offset_high ? high : spec->offset_high) - path.low + 1);
    path.value = malloc((size_t)(path.intervals + 1) * (size_t)path.count * sizeof *path.value);
    if (!path.value)
        abort();
    for (int v = 0; v < path.count * (path.intervals + 1); v++)
        path.value[v].least = v < path.count ? 0 : INFINITY;
    for (int i = 0; i < path.intervals; i++)
        step(&path, i);
    const struct every_found found = take_best(&path);
    free(path.value);
    return found;
}
