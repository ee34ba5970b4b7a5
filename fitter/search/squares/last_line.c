/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "last_line.h"

#include <stdlib.h>

#include "line_program.h"
#include "real_bound.h"

/* Room for the points from the last one on. */
struct reversed {
    struct points points;
    double *values;
    struct served (*served)[2];
    int64_t *fixed;
};

static void reversed_free(struct reversed *reversed)
{
    free(reversed->values);
    free(reversed->served);
    free(reversed->fixed);
}

static int reversed_init(struct reversed *reversed, const struct points *points, struct diag *diag)
{
    const size_t count = (size_t)points->count;
    *reversed = (struct reversed){.values = malloc(3 * count * sizeof *reversed->values),
                                  .served = malloc(count * sizeof *reversed->served),
                                  .fixed = malloc(count * sizeof *reversed->fixed)};
    if (!reversed->values || !reversed->served || !reversed->fixed) {
        reversed_free(reversed);
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
    }
    double *code = reversed->values, *target = code + count, *mass = target + count;
    for (size_t k = 0; k < count; k++) {
        const size_t from = count - 1 - k;
        code[k] = -points->code[from];
        target[k] = points->target[from];
        mass[k] = points->mass[from];
        for (int i = 0; points->served && i < 2; i++)
            reversed->served[k][i] = points->served[from][i];
        if (points->fixed)
            reversed->fixed[k] = points->fixed[from];
    }
    reversed->points = (struct points){.count = points->count,
                                       .code = code,
                                       .target = target,
                                       .mass = mass,
                                       .served = points->served ? reversed->served : NULL,
                                       .fixed = points->fixed ? reversed->fixed : NULL};
    return EXIT_DONE;
}

/* Lowers the costs to those of the lines of some rules, where all before costs at least `before`. */
static int add_lines(const struct points *reversed, const struct line_rules *rules, double ceiling,
                     const double *before, double *cost, struct diag *diag)
{
    enum { STEPS_EACH = 512 };
    const int count = reversed->count;
    struct search search;
    if (search_init(&search, reversed, rules, 1, diag))
        return diag->code;
    search.ceiling = ceiling;
    for (int k = 0; k <= count; k++) {
        *entry(search.ahead_any, &search, 0, k) = before[k];
        *entry(search.ahead_any, &search, 1, k) = 0;
    }
    search_begin(&search);
    search_solve(&search, 0, (int64_t)STEPS_EACH * count);
    for (int k = 0; k <= count; k++) {
        const double least = smaller(*entry(search.behind, &search, 1, k), *entry(search.most, &search, 1, k));
        cost[k] = search.slopes.complete ? smaller(cost[k], least) : 0;
    }
    if (search.slopes.out_of_memory)
        diag_set(diag, EXIT_IO, "out of memory for the lines of %d codes", count);
    search_free(&search);
    return diag->code;
}

int last_line_costs(const struct points *points, const struct line_rules *rules, int segments, double ceiling,
                    double *cost, struct diag *diag)
{
    const bool is_anchored = rules->form == PWL_ANCHORED;
    const bool known = rules->accumulator_bits <= 32 && (!is_anchored || rules->rounding < PWL_HALF_AWAY);
    const size_t row = (size_t)points->count + 1;
    struct line_rules lines = *rules;
    struct reversed reversed;
    diag->code = EXIT_DONE;
    for (int k = 0; k <= points->count; k++)
        cost[k] = known ? ceiling : 0;
    if (!known || reversed_init(&reversed, points, diag))
        return diag->code;
    double *before = calloc((size_t)segments * row, sizeof *before); /* by up to so many lines, from the last code on */
    if (!before)
        diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
    else
        integer_bound_suffixes(&reversed.points, rules, segments - 1, ceiling, NULL, before, diag);
    lines.zp_x = -rules->zp_x;
    if (is_anchored) {
        lines.zp_x = (int64_t)reversed.points.code[0];
        lines.accumulator_bits = 56;
        lines.offset_limit = INT64_C(1) << 54;
        lines.form = PWL_ABSOLUTE;
        lines.shift_max = rules->shift_max < 0 ? rules->shift_max : 0;
        if (!diag->code && lines.shift_min <= lines.shift_max)
            add_lines(&reversed.points, &lines, ceiling, before + ((size_t)segments - 1) * row, cost, diag);
        lines.form = PWL_BIASED;
        lines.shift_min = rules->shift_min > 1 ? rules->shift_min : 1;
        lines.shift_max = rules->shift_max;
    }
    if (!diag->code && lines.shift_min <= lines.shift_max)
        add_lines(&reversed.points, &lines, ceiling, before + ((size_t)segments - 1) * row, cost, diag);
    free(before);
    reversed_free(&reversed);
    return diag->code;
}
