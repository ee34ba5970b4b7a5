/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sum_bands.h"

#include <stdlib.h>

#include "search/error_band.h"

static bool allocate(struct slant_bands *of, size_t points, size_t values)
{
    of->sums = malloc(points * sizeof *of->sums);
    of->low = malloc(points * sizeof *of->low);
    of->high = malloc(points * sizeof *of->high);
    of->lows = malloc(values * sizeof *of->lows);
    of->highs = malloc(values * sizeof *of->highs);
    return of->sums && of->low && of->high && of->lows && of->highs;
}

int sum_bands_init(struct sum_bands *bands, const struct interpolation *table, struct diag *diag)
{
    const size_t points = (size_t)table->points->count, values = (size_t)table->intervals + 1;
    *bands = (struct sum_bands){.table = table, .slants = table->by_slant ? SLANTS : 1};
    bands->own = malloc(values * sizeof *bands->own);
    bool is_whole = bands->own != NULL;
    for (int slant = 0; slant < bands->slants; slant++)
        is_whole &= allocate(&bands->of[slant], points, values);
    if (is_whole)
        return EXIT_DONE;
    sum_bands_free(bands);
    return diag_set(diag, EXIT_IO, "out of memory for the values of %zu points", values);
}

void sum_bands_free(struct sum_bands *bands)
{
    free(bands->own);
    for (int slant = 0; slant < SLANTS; slant++) {
        free(bands->of[slant].sums);
        free(bands->of[slant].low);
        free(bands->of[slant].high);
        free(bands->of[slant].lows);
        free(bands->of[slant].highs);
    }
    *bands = (struct sum_bands){0};
}

static int64_t quotient_below(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t quotient_above(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

int64_t sum_of_output(const struct interpolation *table, enum slant slant, int64_t output)
{
    const int64_t sum = output * table->width - table->addends.of[slant], half = table->width / 2;
    switch (table->rules->rounding) {
    case PWL_FLOOR:
        return sum;
    case PWL_HALF_UP:
        return sum - half;
    case PWL_HALF_AWAY:
        return sum - half + (output <= 0);
    case PWL_HALF_EVEN:
        break;
    }
    return sum - half + (output % 2 != 0);
}

/* One end of the band of code f of an interval: the lower one where sign is 1, mirrored where it is -1. */
static int64_t end_of(const struct integers *sums, int sign, int f)
{
    return sign > 0 ? sums[f].low : -sums[f].high;
}

/* The hull of an interval's ends that are no nearer to 0 than each value allows. */
static int find_hull(const struct interpolation *table, const struct integers *sums, int sign, int *hull)
{
    const int64_t open = table->width * (sign > 0 ? table->range.low : -table->range.high);
    int count = 0;
    for (int f = 0; f < table->width; f++) {
        const int64_t end = end_of(sums, sign, f);
        if (end <= open)
            continue;
        while (count > 1) {
            const int first = hull[count - 2], middle = hull[count - 1];
            const int64_t from = end_of(sums, sign, first);
            if ((wide)(end_of(sums, sign, middle) - from) * (f - first) > (wide)(end - from) * (middle - first))
                break;
            count--;
        }
        hull[count++] = f;
    }
    return count;
}

static void set_slant(struct sum_bands *bands, enum slant slant, double max_err)
{
    const struct interpolation *table = bands->table;
    const struct line_rules *rules = table->rules;
    struct slant_bands *of = &bands->of[slant];
    const struct integers all = {table->range.low * table->width, table->range.high * table->width};
    for (int k = 0; k < table->points->count; k++) {
        const struct band band = band_at(table->points, rules->qmin_y, rules->qmax_y, k, max_err);
        of->sums[k] = all;
        if (!band.open_low)
            of->sums[k].low = larger_integer(all.low, sum_of_output(table, slant, band.low));
        if (!band.open_high)
            of->sums[k].high = smaller_integer(all.high, sum_of_output(table, slant, band.high + 1) - 1);
    }
    for (int i = 0; i < table->intervals; i++) {
        const int64_t first = i * table->width;
        of->lows[i] = find_hull(table, &of->sums[first], 1, &of->low[first]);
        of->highs[i] = find_hull(table, &of->sums[first], -1, &of->high[first]);
    }
}

void sum_bands_set(struct sum_bands *bands, double max_err)
{
    const struct interpolation *table = bands->table;
    for (int slant = 0; slant < bands->slants; slant++)
        set_slant(bands, (enum slant)slant, max_err);
    /* At its own code a value is the output whatever way the line goes. */
    for (int i = 0; i < table->intervals; i++) {
        const struct integers *sums = &bands->of[NOT_FALLING].sums[i * table->width];
        bands->own[i] =
            (struct integers){quotient_above(sums->low, table->width), quotient_below(sums->high, table->width)};
        if (!table->by_slant)
            bands->own[i] = pair_end_within(&table->limits[NOT_FALLING][i], true, bands->own[i]);
    }
    bands->own[table->intervals] = table->range;
}

static const struct slant_bands *bands_of(const struct sum_bands *bands, enum slant slant)
{
    return &bands->of[bands->slants > 1 ? slant : NOT_FALLING];
}

struct integers sum_bands_beside(const struct sum_bands *bands, enum slant slant, int i, int64_t known, bool at_left,
                                 int64_t *steps)
{
    const int64_t width = bands->table->width, first = i * width;
    const struct slant_bands *of = bands_of(bands, slant);
    const struct integers *sums = &of->sums[first];
    struct integers other = bands->own[at_left ? i + 1 : i];
    for (int h = 0; h < of->lows[i]; h++) {
        const int64_t f = of->low[first + h], share = at_left ? f : width - f, sum = known * (width - share);
        if (share > 0 && sum + other.low * share < sums[f].low)
            other.low = quotient_above(sums[f].low - sum, share);
    }
    for (int h = 0; h < of->highs[i]; h++) {
        const int64_t f = of->high[first + h], share = at_left ? f : width - f, sum = known * (width - share);
        if (share > 0 && sum + other.high * share > sums[f].high)
            other.high = quotient_below(sums[f].high - sum, share);
    }
    *steps += 1 + of->lows[i] + of->highs[i];
    return other;
}

struct integers sum_bands_shared(const struct sum_bands *bands, enum slant slant, int i, int64_t first, int64_t last)
{
    const struct interpolation *table = bands->table;
    const struct integers *sums = bands_of(bands, slant)->sums;
    struct integers outputs = {table->rules->qmin_y, table->rules->qmax_y};
    for (int64_t k = i * table->width + first; k <= i * table->width + last; k++) {
        outputs.low = larger_integer(outputs.low, interpolation_output(table, slant, sums[k].low));
        outputs.high = smaller_integer(outputs.high, interpolation_output(table, slant, sums[k].high));
    }
    return outputs;
}
