/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit.h"

#include <math.h>
#include <stdlib.h>

struct coefficient {
    uint32_t bits; /* in fp32 */
    uint16_t code;
};

/* Coefficients by their values. */
static int compare(const void *a, const void *b)
{
    const double x = sfpu_real_of_bits(((const struct coefficient *)a)->bits),
                 y = sfpu_real_of_bits(((const struct coefficient *)b)->bits);
    return (x > y) - (x < y);
}

int sfpu_coefficients_make(const struct sfpu_layout *layout, struct sfpu_coefficients *coefficients, struct diag *diag)
{
    const int codes = 1 << layout->bits;
    struct coefficient *const all = malloc((size_t)codes * sizeof *all);
    int count = 0;
    coefficients->codes = malloc((size_t)codes * sizeof *coefficients->codes);
    coefficients->bits = malloc((size_t)codes * sizeof *coefficients->bits);
    if (!all || !coefficients->codes || !coefficients->bits) {
        free(all);
        return diag_set(diag, EXIT_IO, "out of memory for %d coefficients", codes);
    }
    for (int code = 0; code < codes; code++) {
        const uint32_t bits = sfpu_coefficient(layout, (uint16_t)code);
        if ((bits & ~SFPU_SIGN) != 0 || code == sfpu_zero(layout))
            all[count++] = (struct coefficient){bits, (uint16_t)code};
    }
    qsort(all, (size_t)count, sizeof *all, compare);
    for (int k = 0; k < count; k++) {
        coefficients->codes[k] = all[k].code;
        coefficients->bits[k] = all[k].bits;
    }
    coefficients->count = count;
    free(all);
    return EXIT_DONE;
}

void sfpu_coefficients_free(struct sfpu_coefficients *coefficients)
{
    free(coefficients->codes);
    free(coefficients->bits);
}

/* Points of a segment, both signs of each |x|; of the subnormal codes, which give what 0 gives, none. */
static int collect(const struct sfpu_layout *layout, int segment, const struct sfpu_target targets[SFPU_CODES],
                   struct sfpu_point *points)
{
    const int last = segment + 1 < layout->segments ? layout->start[segment + 1] - 1 : SFPU_LARGEST;
    int count = 0;
    for (int magnitude = layout->start[segment]; magnitude <= last; magnitude++)
        for (int sign = 0; sign <= 0x8000; sign += 0x8000)
            if ((magnitude == 0 || magnitude >= 0x80) && targets[magnitude | sign].counts)
                points[count++] = (struct sfpu_point){(uint16_t)(magnitude | sign), targets[magnitude | sign]};
    return count;
}

/* What the segments of a table share. */
struct fit {
    struct sfpu_table *table;
    const struct sfpu_target *targets;
    struct sfpu_coefficients coefficients;
    struct sfpu_point *points;
};

/* A code of the opposite number; of 8 bits the least positive number has none. */
static bool negate(const struct sfpu_layout *layout, uint16_t *code)
{
    const uint16_t negated = (uint16_t)(*code ^ 1u << (layout->bits - 1));
    if (*code == sfpu_zero(layout))
        return true;
    if (negated == sfpu_zero(layout))
        return false;
    *code = negated;
    return true;
}

/* Where the sign is that of x, a line and its opposite have the same results: takes the one that is positive at x. */
static void prefer_positive(const struct sfpu_kernel *kernel, uint16_t x, struct sfpu_pair *pair)
{
    const struct sfpu_layout *const layout = kernel->layout;
    const uint32_t line = sfpu_line(kernel, sfpu_coefficient(layout, pair->a), sfpu_coefficient(layout, pair->b), x);
    struct sfpu_pair opposite = *pair;
    if (kernel->sign == SFPU_RETAIN && (line & SFPU_SIGN) && negate(layout, &opposite.a) && negate(layout, &opposite.b))
        *pair = opposite;
}

/* The best pair of a segment, and what it costs: nothing, with the pair of zeros, where no point counts. */
static int fit_segment(struct fit *fit, int segment, enum sfpu_aim aim, double most, struct sfpu_cost *cost,
                       struct diag *diag)
{
    const struct sfpu_layout *const layout = fit->table->kernel.layout;
    struct sfpu_pair *const pair = &fit->table->pairs[segment];
    const int count = collect(layout, segment, fit->targets, fit->points);
    if (aim == SFPU_LEAST_LARGEST)
        *pair = (struct sfpu_pair){sfpu_zero(layout), sfpu_zero(layout)};
    *cost = (struct sfpu_cost){.is_least = true};
    if (count == 0)
        return EXIT_DONE;
    cost->largest = INFINITY;
    if (sfpu_search(&fit->table->kernel, &fit->coefficients, fit->points, count, aim, most, pair, cost, diag))
        return diag->code;
    prefer_positive(&fit->table->kernel, fit->points[count - 1].x, pair);
    if (cost->largest < INFINITY || aim == SFPU_LEAST_SUM)
        return EXIT_DONE;
    return diag_set(diag, EXIT_REQUIREMENT, "segment %d, from |x| = %g on: no pair of coefficients meets the demands",
                    segment, sfpu_real(layout->start[segment]));
}

/* The segment that is worst decides how large the errors of the others may be. */
static int fit_segments(struct fit *fit, struct sfpu_optimum *optimum, struct diag *diag)
{
    const int segments = fit->table->kernel.layout->segments;
    struct sfpu_cost cost;
    *optimum = (struct sfpu_optimum){0, true};
    for (int segment = 0; segment < segments; segment++) {
        if (fit_segment(fit, segment, SFPU_LEAST_LARGEST, INFINITY, &cost, diag))
            return diag->code;
        optimum->largest = fmax(optimum->largest, cost.largest);
    }
    for (int segment = 0; segment < segments; segment++) {
        if (fit_segment(fit, segment, SFPU_LEAST_SUM, optimum->largest, &cost, diag))
            return diag->code;
        optimum->is_least_mean &= cost.is_least;
    }
    return EXIT_DONE;
}

int sfpu_fit(struct sfpu_table *table, const struct sfpu_target targets[SFPU_CODES], struct sfpu_optimum *optimum,
             struct diag *diag)
{
    struct fit fit = {.table = table, .targets = targets, .points = malloc(SFPU_CODES * sizeof *fit.points)};
    int code = fit.points ? sfpu_coefficients_make(table->kernel.layout, &fit.coefficients, diag)
                          : diag_set(diag, EXIT_IO, "out of memory for the points");
    if (code == EXIT_DONE)
        code = fit_segments(&fit, optimum, diag);
    sfpu_coefficients_free(&fit.coefficients);
    free(fit.points);
    return code;
}
