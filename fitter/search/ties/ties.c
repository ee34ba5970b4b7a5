/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ties.h"

#include <stdlib.h>

void ties_free(struct ties *ties)
{
    free(ties->inside);
    free(ties->run_end);
    ties->inside = NULL;
    ties->run_end = NULL;
}

static const struct integers all = {INT64_MIN, INT64_MAX};

/* Where the code that a point serves itself (0) saturates, or its mirror image (1), in terms of the point's output. A
 * point that serves one code has the output range, which bounds its outputs already. False where there is no such
 * code. */
static bool limits_of(const struct points *points, int k, int image, struct integers *limits)
{
    if (!points->served) {
        *limits = all;
        return image == 0;
    }
    const struct served *served = &points->served[k][image];
    *limits = (struct integers){(int64_t)served->low, (int64_t)served->high};
    return limits->low < limits->high;
}

static int64_t saturated(const struct integers *limits, int64_t q)
{
    return larger_integer(limits->low, smaller_integer(q, limits->high));
}

/* Leaves of the outputs those that come to lie between low and high by saturating. */
static void keep_between(struct integers *outputs, const struct integers *limits, int64_t low, int64_t high)
{
    if (low > limits->low)
        outputs->low = larger_integer(outputs->low, low);
    if (high < limits->high)
        outputs->high = smaller_integer(outputs->high, high);
}

/* before: the output of a lower code, as the code itself and as the mirror image follow it. */
static struct integers outputs_after(const struct points *points, int k, int direction, const int64_t before[2])
{
    struct integers outputs = all, limits;
    if (!points->served) {
        const int64_t q = before[0];
        return direction ? (struct integers){direction == -1 ? INT64_MIN : q, direction == 1 ? INT64_MAX : q} : all;
    }
    for (int image = 0; image < 2 && direction; image++)
        if (limits_of(points, k, image, &limits)) {
            const int64_t q = saturated(&limits, before[image]);
            keep_between(&outputs, &limits, direction == -1 ? INT64_MIN : q, direction == 1 ? INT64_MAX : q);
        }
    return outputs;
}

struct integers tie_outputs_in_cell(const struct points *points, int k, int direction, int64_t before)
{
    return outputs_after(points, k, direction, (int64_t[]){before, before});
}

/* The first code is its own mirror image: that of the second one follows the sum minus the first output. */
struct integers tie_outputs_after(const struct ties *ties, const struct points *points, int k, int direction,
                                  int64_t before)
{
    const int64_t image = ties->fold && k == 1 ? ties->fold_sum - before : before;
    return outputs_after(points, k, direction, (int64_t[]){before, image});
}

struct integers tie_outputs_near(const struct ties *ties, const struct points *points, int k, int64_t value)
{
    struct integers outputs = all, limits;
    const int64_t step = ties->max_step;
    if (!points->served)
        return (struct integers){value - step, value + step};
    for (int image = 0; image < 2; image++)
        if (limits_of(points, k, image, &limits)) {
            const int64_t q = saturated(&limits, value);
            keep_between(&outputs, &limits, q - step, q + step);
        }
    return outputs;
}

int64_t tie_gap_of_halves(const struct ties *ties, const struct points *points, int64_t first)
{
    struct integers limits;
    limits_of(points, 0, 0, &limits);
    return llabs(saturated(&limits, first) - saturated(&limits, ties->fold_sum - first));
}

struct integers tie_outputs_apart(const struct points *points, int k, struct integers outputs)
{
    struct integers apart = {INT64_MAX, INT64_MIN}, limits;
    for (int image = 0; image < 2; image++)
        if (limits_of(points, k, image, &limits))
            apart = (struct integers){smaller_integer(apart.low, limits.low), larger_integer(apart.high, limits.high)};
    return (struct integers){larger_integer(apart.low, outputs.low), smaller_integer(apart.high, outputs.high)};
}

/* Two outputs that lie between the same limits: a step. One below those of the image and one above those of the code
 * itself, or the other way about: a step each, of which the part that lies between both limits counts once. */
int64_t tie_widest_step(const struct ties *ties, const struct points *points, int k)
{
    const int64_t step = ties->max_step;
    struct integers own, image;
    if (!limits_of(points, k, 0, &own) || !limits_of(points, k, 1, &image))
        return step;
    const int64_t shared = smaller_integer(own.high, image.high) - larger_integer(own.low, image.low);
    return step + larger_integer(0, step - shared);
}
