/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ties.h"

#include <math.h>
#include <stdlib.h>

#include "function/target.h"

/* Of f itself: where targets are clipped it still rises or falls. */
static int direction_between(const struct spec *spec, int64_t from, int64_t to)
{
    const long double a = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, from);
    const long double b = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, to);
    return (b > a) - (b < a);
}

/* TURN where f starts one way and ends the other. */
static signed char direction_over(const struct spec *spec, int64_t from, int64_t to)
{
    if (to > from + 1 && direction_between(spec, from, from + 1) * direction_between(spec, to - 1, to) < 0)
        return TURN;
    return (signed char)direction_between(spec, from, to);
}

int ties_init(struct ties *ties, const struct spec *spec, const struct points *points, struct diag *diag)
{
    *ties = (struct ties){.constraints = spec->constraints,
                          .fold = spec->is_half && spec->in.zero_point > code_min(spec->in.bits, spec->in.is_signed),
                          .fold_sum = spec->fold_sum,
                          .by_max_err = spec->method == METHOD_MINIMAX,
                          .max_err = isnan(spec->max_err) ? INFINITY : spec->max_err};
    if (!ties->constraints.monotone)
        return EXIT_DONE;
    ties->inside = calloc((size_t)points->count, 3);
    if (!ties->inside)
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
    ties->joint = ties->inside + points->count;
    ties->cell = ties->joint + points->count;
    for (int k = 0; k < points->count; k++) {
        ties->cell[k] = direction_over(spec, points->cell[k], points->cell[k + 1] - 1);
        if (k == 0)
            continue;
        ties->joint[k] = direction_over(spec, points->cell[k] - 1, points->cell[k]);
        ties->inside[k] = direction_over(spec, (int64_t)points->code[k - 1], (int64_t)points->code[k]);
    }
    return EXIT_DONE;
}

void ties_free(struct ties *ties)
{
    free(ties->inside);
    ties->inside = NULL;
}
