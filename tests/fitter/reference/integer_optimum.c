/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "integer_optimum.h"

#include <math.h>
#include <stdlib.h>

/* p / 2^n rounded down, or p * 2^-n; |p| < 2^31 and -16 <= n <= 31. */
static int64_t shifted(int64_t p, int n)
{
    const int64_t power = (int64_t)1 << (n < 0 ? -n : n);
    if (n <= 0)
        return p * power;
    return p >= 0 ? p / power : -((-p + power - 1) / power);
}

struct search {
    const struct integer_problem *problem;
    double *nearest;         /* weighted squared distance of each target to its nearest code */
    double spare;            /* what a table within `most` can cost above the sum of these */
    int *low_end, *high_end; /* from a code on, the code where a line at the limit has cost too much */
    int outputs;
    double *above; /* what output v costs at code k above its nearest: above[k * outputs + v - qmin_y] */
    int64_t *line; /* the line without its constant, by code */
    double *range; /* least cost above the nearest of the codes [i, j) is range[i * (count + 1) + j] */
};

static int64_t clipped(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static double weight_of(const struct integer_problem *problem, int k)
{
    return problem->weight ? problem->weight[k] : 1;
}

static void find_costs(struct search *search)
{
    const struct integer_problem *problem = search->problem;
    for (int k = 0; k < problem->count; k++)
        for (int v = 0; v < search->outputs; v++) {
            const double e = (double)(problem->qmin_y + v) - problem->target[k];
            search->above[k * search->outputs + v] = weight_of(problem, k) * e * e - search->nearest[k];
        }
}

/* Ranges that begin at code i, with every constant that does not cost too much at i already. */
static void extend(const struct search *search, int i)
{
    const struct integer_problem *problem = search->problem;
    const int64_t c_max = ((int64_t)1 << (problem->term_c_bits - 1)) - 1, *line = search->line;
    const double t = problem->target[i], reach = sqrt((search->spare + search->nearest[i]) / weight_of(problem, i));
    int64_t low = (int64_t)ceil(t - reach) - line[i], high = (int64_t)floor(t + reach) - line[i];
    /* At a limit, constants beyond do as well; when so far that the line is there until it costs too much, they
     * make one and the same line. Lines are monotone, so their extremes are at the ends. */
    if (t - reach <= (double)problem->qmin_y) {
        const int64_t end = line[search->low_end[i]];
        low = problem->qmin_y - (end > line[i] ? end : line[i]);
    }
    if (t + reach >= (double)problem->qmax_y) {
        const int64_t end = line[search->high_end[i]];
        high = problem->qmax_y - (end < line[i] ? end : line[i]);
    }
    /* Where the code before is at its limit and costs nothing, beginning there costs the same: see inherit_parts. */
    if (i > 0 && problem->target[i - 1] == (double)problem->qmin_y && low <= problem->qmin_y - line[i - 1])
        low = problem->qmin_y - line[i - 1] + 1;
    if (i > 0 && problem->target[i - 1] == (double)problem->qmax_y && high >= problem->qmax_y - line[i - 1])
        high = problem->qmax_y - line[i - 1] - 1;
    low = clipped(low, -c_max - 1, c_max + 1);
    high = clipped(high, -c_max - 2, c_max);
    double *range = search->range + (size_t)i * ((size_t)problem->count + 1);
    for (int64_t c = low; c <= high; c++) {
        double above = 0;
        for (int j = i; j < problem->count; j++) {
            const int64_t v = clipped(line[j] + c, problem->qmin_y, problem->qmax_y) - problem->qmin_y;
            above += search->above[j * search->outputs + v];
            if (above > search->spare)
                break;
            range[j + 1] = above < range[j + 1] ? above : range[j + 1];
        }
    }
}

static void try_line(struct search *search, int64_t q_b, int n)
{
    const struct integer_problem *problem = search->problem;
    for (int k = 0; k < problem->count; k++)
        search->line[k] = shifted(q_b * (problem->qmin_x + k - problem->zp_x), n);
    for (int i = 0; i < problem->count; i++)
        extend(search, i);
}

static void try_all_lines(struct search *search)
{
    const struct integer_problem *problem = search->problem;
    const int64_t slope_max = ((int64_t)1 << (problem->slope_bits - 1)) - 1;
    const int64_t first = llabs(problem->qmin_x - problem->zp_x);
    const int64_t last = llabs(problem->qmin_x + problem->count - 1 - problem->zp_x);
    const int64_t product_max = (slope_max + 1) * (first > last ? first : last);
    /* From a slope of the whole output range on, one code at most is between the limits, and a steeper line does the
     * same. From 2^n above every product on, the line is 0 or -1 by the product's sign alone. */
    int n_min = 0, n_max = 0;
    while (((int64_t)1 << -n_min) < problem->qmax_y - problem->qmin_y)
        n_min--;
    while (((int64_t)1 << n_max) <= product_max)
        n_max++;
    try_line(search, 0, 0);
    for (int n = n_min; n <= n_max; n++)
        for (int64_t q_b = -slope_max - 1; q_b <= slope_max; q_b++)
            if (q_b % 2 != 0 && llabs(q_b) <= (int64_t)1 << (n - n_min)) /* 2 q_b at n + 1 is q_b at n */
                try_line(search, q_b, n);
}

/* A line that serves a range serves each part of it, and no part costs more. */
static void inherit_parts(const struct search *search)
{
    const int count = search->problem->count;
    const size_t places = (size_t)count + 1;
    for (int i = 1; i < count; i++) {
        double *range = search->range + (size_t)i * places;
        const double *longer = range - places;
        for (int j = i + 1; j <= count; j++)
            range[j] = fmin(range[j], longer[j]);
    }
}

static double join_ranges(const struct search *search)
{
    const int count = search->problem->count;
    const size_t places = (size_t)count + 1;
    double *before = malloc(places * sizeof *before), *after = malloc(places * sizeof *after);
    if (!before || !after)
        abort();
    for (int j = 0; j <= count; j++)
        before[j] = j == 0 ? 0 : INFINITY;
    for (int m = 0; m < search->problem->segments; m++) {
        for (int j = 0; j <= count; j++) {
            after[j] = before[j];
            for (int i = 0; i < j; i++)
                after[j] = fmin(after[j], before[i] + search->range[(size_t)i * places + (size_t)j]);
        }
        double *swap = before;
        before = after;
        after = swap;
    }
    const double least = before[count];
    free(before);
    free(after);
    return least;
}

static int *find_ends(const struct search *search, double limit)
{
    const struct integer_problem *problem = search->problem;
    int *ends = malloc((size_t)problem->count * sizeof *ends);
    if (!ends)
        abort();
    for (int i = 0; i < problem->count; i++) {
        double above = 0;
        ends[i] = i;
        for (int j = i; j < problem->count && above <= search->spare; j++) {
            const double e = limit - problem->target[j];
            above += weight_of(problem, j) * e * e - search->nearest[j];
            ends[i] = j;
        }
    }
    return ends;
}

double integer_optimum(const struct integer_problem *problem, double most)
{
    const size_t places = (size_t)problem->count + 1;
    struct search search = {.problem = problem, .outputs = (int)(problem->qmax_y - problem->qmin_y) + 1};
    search.above = malloc((size_t)problem->count * (size_t)search.outputs * sizeof *search.above);
    search.nearest = malloc(places * sizeof *search.nearest);
    search.line = malloc(places * sizeof *search.line);
    search.range = malloc(places * places * sizeof *search.range);
    if (!search.nearest || !search.above || !search.line || !search.range)
        abort();
    for (size_t k = 0; k < places * places; k++)
        search.range[k] = INFINITY;
    search.spare = most * (1 + 1e-12); /* sums in another order differ by rounding */
    for (int k = 0; k < problem->count; k++) {
        const double e = problem->target[k] - rint(problem->target[k]);
        search.nearest[k] = weight_of(problem, k) * e * e;
        search.spare -= search.nearest[k];
    }
    search.spare = fmax(search.spare, 1e-9);
    find_costs(&search);

    search.low_end = find_ends(&search, (double)problem->qmin_y);
    search.high_end = find_ends(&search, (double)problem->qmax_y);

    try_all_lines(&search);
    inherit_parts(&search);
    double least = join_ranges(&search);
    for (int k = 0; k < problem->count; k++)
        least += search.nearest[k];
    free(search.nearest);
    free(search.above);
    free(search.low_end);
    free(search.high_end);
    free(search.line);
    free(search.range);
    return least;
}
