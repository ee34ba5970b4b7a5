/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "real_bound.h"
#include "slopes.h"

struct search {
    const struct points *points;
    const struct line_rules *rules;
    int segments, count;
    double ceiling;      /* only cheaper tables count */
    double *floor_sum;   /* rounding_floor_sums */
    double *mass_sum;    /* of the points before each */
    double *behind;      /* least cost of the codes before k, by number of segments: [m * (count + 1) + k] */
    int *from;           /* where the last of them starts; -1 when one less does as well */
    double *ahead;       /* lower bound on the codes from k on, likewise */
    struct range *range; /* [i * (count + 1) + j] */
    bool *is_knot;       /* points where ranges may start and end */
    double *spare;       /* of the start in hand: what a range to j may cost */
    struct slopes slopes;
};

static double square(double x)
{
    return x * x;
}

static struct range *range_of(const struct search *search, int i, int j)
{
    return &search->range[(size_t)i * ((size_t)search->count + 1) + (size_t)j];
}

static double *entry(double *table, const struct search *search, int m, int k)
{
    return &table[(size_t)m * ((size_t)search->count + 1) + (size_t)k];
}

/* Weighted sums relative to the first point. */
struct sums {
    double x0, y0, w, x, y, xx, xy, yy;
};

static void sums_add(struct sums *s, double w, double x, double y)
{
    if (s->w <= 0) {
        s->x0 = x;
        s->y0 = y;
    }
    x -= s->x0;
    y -= s->y0;
    s->w += w;
    s->x += w * x;
    s->y += w * y;
    s->xx += w * x * x;
    s->xy += w * x * y;
    s->yy += w * y * y;
}

/* Real least squares of the points that no line of use leaves to saturation. */
struct real_line {
    double slope, sse, spread;
};

static struct real_line real_line_of(const struct sums *s)
{
    struct real_line line = {0};
    if (s->w <= 0)
        return line;
    const double xy = s->xy - s->x * s->y / s->w, yy = s->yy - s->y * s->y / s->w;
    line.spread = fmax(0, s->xx - s->x * s->x / s->w);
    line.slope = line.spread > 0 ? xy / line.spread : 0;
    line.sse = fmax(0, line.spread > 0 ? yy - xy * line.slope : yy);
    return line;
}

/* What ranges from i may cost. Returns whether any can be of use. */
static bool find_spare(struct search *search, int i)
{
    bool any = false;
    search->slopes.end = i;
    search->slopes.range = range_of(search, i, 0);
    for (int j = i + 1; j <= search->count; j++) {
        double spare = -INFINITY;
        for (int m = 1; search->is_knot[j] && m <= search->segments; m++)
            spare = fmax(spare, search->ceiling - *entry(search->behind, search, m - 1, i) -
                                    *entry(search->ahead, search, search->segments - m, j));
        search->spare[j] = spare;
        if (search->floor_sum[j] - search->floor_sum[i] < spare) {
            any = true;
            search->slopes.end = j;
        }
        *range_of(search, i, j) = (struct range){.cost = INFINITY};
        if (search->is_knot[j] && search->points->grid_whole)
            break;
    }
    return any;
}

/* A line is of use at an end when it costs less there than the range may, and than its best line does. Up to that end
 * it still pays at least the rounding floor. */
static void set_limits(struct search *search)
{
    const int i = search->slopes.start;
    double most = -INFINITY;
    for (int j = search->slopes.end; j > i; j--) {
        const double known = range_of(search, i, j)->cost, spare = search->spare[j];
        const double excess = (known < spare ? known : spare) - search->floor_sum[j];
        most = excess > most ? excess : most;
        search->slopes.limit[j] = most + search->floor_sum[j];
    }
}

/* The real slope nearest on its grid, and its neighbours. */
static void try_near(struct search *search, double slope)
{
    const double around = fmax(fabs(slope), 1e-3) * 2 / (double)search->rules->slope_limit;
    slopes_try_all(&search->slopes, (struct window){slope - around, slope + around}, around / 2);
}

/* Slopes that can give a range a line of use: the union over the ends j that are not settled. */
static bool find_window(const struct search *search, struct window *window, bool seeding, double *seeds,
                        int *seed_count)
{
    const struct points *points = search->points;
    const double qmin = (double)search->rules->qmin_y, qmax = (double)search->rules->qmax_y;
    const double steepest = 2 * (qmax - qmin + 1);
    const int i = search->slopes.start;
    struct sums sums = {0};
    double floor_kept = 0; /* of the points in sums */
    int next = 2;
    *window = (struct window){INFINITY, -INFINITY};
    for (int j = i + 1; j <= search->slopes.end; j++) {
        const int k = j - 1;
        const double w = points->mass[k], t = points->target[k];
        const double nearer = fmin(square(t - qmin), square(qmax - t)) * w;
        if (nearer + search->floor_sum[k] - search->floor_sum[i] >= search->slopes.limit[j]) {
            sums_add(&sums, w, points->code[k], t);
            floor_kept += search->floor_sum[j] - search->floor_sum[k];
        }
        const struct real_line real = real_line_of(&sums);
        const double floor = search->floor_sum[j] - search->floor_sum[i];
        const double least = integer_cost_bound(real.sse, sums.w, floor_kept) + floor - floor_kept;
        const double known = range_of(search, i, j)->cost, spare = fmin(known, search->spare[j]);
        if (!(least < spare * (1 - 1e-12)))
            continue;
        if (seeding && j - i >= next) {
            next += 1 + (j - i) / 3;
            seeds[(*seed_count)++] = real.spread > 0 ? real.slope : points->target[k] - points->target[i];
        }
        const double reach = sqrt(spare - (floor - floor_kept)) + 0.5 * sqrt(sums.w);
        const double half = real.spread > 0 ? sqrt(fmax(0, square(reach) - real.sse) / real.spread) : INFINITY;
        window->low = fmin(window->low, fmax(real.slope - half, -steepest));
        window->high = fmax(window->high, fmin(real.slope + half, steepest));
    }
    return window->low <= window->high;
}

static void search_start(struct search *search, int i, int samples)
{
    enum { MOST_SEEDS = 64 };
    double seeds[MOST_SEEDS];
    int seed_count = 0;
    struct window window;
    search->slopes.start = i;
    search->slopes.origin =
        search->rules->form == PWL_ANCHORED ? (int64_t)search->points->code[i] : search->rules->zp_x;
    if (!find_spare(search, i))
        return;
    set_limits(search);
    slopes_try_flat(&search->slopes);
    if (i + 1 < search->count)
        try_near(search, rint(search->points->target[i + 1]) - rint(search->points->target[i]));
    find_window(search, &window, true, seeds, &seed_count);
    for (int s = 0; s < seed_count; s++)
        try_near(search, seeds[s]);
    set_limits(search);
    if (find_window(search, &window, false, NULL, NULL))
        slopes_try_all(&search->slopes, window, samples ? (window.high - window.low) / samples : 0);
}

/* Least cost of the codes before k, of at most m lines. */
static void join(struct search *search, int k)
{
    for (int m = 0; m <= search->segments; m++) {
        double *cost = entry(search->behind, search, m, k);
        int *from = &search->from[(size_t)m * ((size_t)search->count + 1) + (size_t)k];
        *cost = k == 0 ? 0 : m == 0 ? INFINITY : *entry(search->behind, search, m - 1, k);
        *from = -1; /* no need of line m */
        for (int i = k - 1; m > 0 && search->is_knot[k] && i >= 0; i--) {
            if (!search->is_knot[i])
                continue;
            const double sum = *entry(search->behind, search, m - 1, i) + range_of(search, i, k)->cost;
            if (sum < *cost) {
                *cost = sum;
                *from = i;
            }
            if (search->points->grid_whole)
                break;
        }
    }
}

/* One dynamic program below the ceiling in hand; returns the least cost, INFINITY when no table lies below. With
 * samples each start has its share of the steps. */
static double solve(struct search *search, int samples, int64_t most_steps)
{
    struct slopes *slopes = &search->slopes;
    slopes->steps = 0;
    slopes->complete = true;
    for (int k = 0; k <= search->count && !slopes->out_of_memory; k++) {
        slopes->most_steps = samples ? slopes->steps + most_steps / search->count : most_steps;
        join(search, k);
        if (k < search->count && search->is_knot[k])
            search_start(search, k, samples);
    }
    const double cost = *entry(search->behind, search, search->segments, search->count);
    return cost < search->ceiling ? cost : INFINITY;
}

static void read_table(const struct search *search, int *knots, struct line *lines, struct exact *exact)
{
    int k = search->count, m = search->segments, used = 0;
    for (; k > 0; m--) {
        const int i = search->from[(size_t)m * ((size_t)search->count + 1) + (size_t)k];
        if (i < 0)
            continue;
        const struct range *range = range_of(search, i, k);
        lines[used] = (struct line){.q_b = range->q_b, .n = range->n, .offset = range->offset, .cost = range->cost};
        knots[used++] = i;
        k = i;
    }
    for (int a = 0, b = used - 1; a < b; a++, b--) {
        const struct line line = lines[a];
        const int knot = knots[a];
        lines[a] = lines[b];
        knots[a] = knots[b];
        lines[b] = line;
        knots[b] = knot;
    }
    knots[used] = search->count;
    exact->segments = used;
}

static void search_free(struct search *search)
{
    free(search->floor_sum);
    free(search->mass_sum);
    free(search->behind);
    free(search->from);
    free(search->ahead);
    free(search->range);
    free(search->is_knot);
    free(search->spare);
    free(search->slopes.limit);
    free(search->slopes.singles);
}

/* What lies ahead of each point costs at least, for integer lines, when less than a table's cost. */
static int bound_ahead(struct search *search, double cost, struct diag *diag)
{
    const double mass = search->mass_sum[search->count];
    const double most = square(sqrt(cost) + 0.5 * sqrt(mass)) * (1 + 1e-9);
    const int count = search->count;
    if (real_bound_suffixes(search->points, search->rules->qmin_y, search->rules->qmax_y, search->segments, most,
                            search->ahead, diag))
        return diag->code;
    for (int m = 0; m <= search->segments; m++)
        for (int k = 0; k <= count; k++) {
            double *ahead = entry(search->ahead, search, m, k);
            *ahead =
                integer_cost_bound(*ahead, mass - search->mass_sum[k], search->floor_sum[count] - search->floor_sum[k]);
        }
    return EXIT_DONE;
}

int exact_improve(const struct points *points, const struct line_rules *given, int segments, int *knots,
                  struct line *lines, struct exact *exact, struct diag *diag)
{
    enum { SAMPLES = 32, SAMPLE_STEPS = 1 << 24, MOST_STEPS = 1 << 28 };
    const int count = points->count;
    const size_t row = (size_t)count + 1, layers = (size_t)segments + 1;
    struct line_rules rules = *given;
    const bool wide_sums = rules.accumulator_bits > 32;
    if (wide_sums) {
        /* So that every sum below fits 64 bits; what lies beyond is not searched. */
        rules.accumulator_bits = 56;
        rules.shift_min = rules.shift_min > -24 ? rules.shift_min : -24;
        rules.shift_max = rules.shift_max < 24 ? rules.shift_max : 24;
        rules.offset_limit = rules.offset_limit < INT64_C(1) << 54 ? rules.offset_limit : INT64_C(1) << 54;
    }
    struct search search = {.points = points, .rules = &rules, .segments = segments, .count = count};
    search.slopes = (struct slopes){.points = points, .rules = &rules};
    search.floor_sum = rounding_floor_sums(points);
    search.mass_sum = malloc(row * sizeof *search.mass_sum);
    search.behind = malloc(layers * row * sizeof *search.behind);
    search.from = malloc(layers * row * sizeof *search.from);
    search.ahead = malloc(layers * row * sizeof *search.ahead);
    search.range = malloc(row * row * sizeof *search.range);
    search.is_knot = malloc(row * sizeof *search.is_knot);
    search.spare = malloc(row * sizeof *search.spare);
    search.slopes.limit = malloc(row * sizeof *search.slopes.limit);
    diag->code = EXIT_DONE;
    if (!search.floor_sum || !search.mass_sum || !search.behind || !search.from || !search.ahead || !search.range ||
        !search.is_knot || !search.spare || !search.slopes.limit) {
        search_free(&search);
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", count);
    }
    for (int k = 0; k <= count; k++)
        search.is_knot[k] = !points->grid;
    for (int g = 0; points->grid && g <= points->grid_count; g++)
        search.is_knot[points->grid[g]] = true;
    search.mass_sum[0] = 0;
    for (int k = 0; k < count; k++)
        search.mass_sum[k + 1] = search.mass_sum[k] + points->mass[k];
    const double all = square((double)(rules.qmax_y - rules.qmin_y) + 1) * search.mass_sum[count];
    bool known = exact->cost < all;
    exact->cost = known ? exact->cost : all;
    if (bound_ahead(&search, exact->cost, diag))
        goto done;
    exact->lower_bound = fmin(search.ahead[(layers - 1) * row], exact->cost);
    exact->optimal = exact->cost <= exact->lower_bound * (1 + 1e-12);

    /* Some slopes, for a better table; then all. Where that is too much, all below lower ceilings, as a bound. */
    static const struct {
        double share;
        int samples;
        int64_t steps;
    } passes[] = {{1, 32, 1 << 22}, {1, 0, 1 << 25}, {1.0 / 8, 0, 1 << 23}};
    enum { PASSES = sizeof passes / sizeof *passes };
    for (int pass = 0; pass < PASSES && !exact->optimal; pass++) {
        const double share = passes[pass].share;
        search.ceiling = share < 1 ? exact->lower_bound + share * (exact->cost - exact->lower_bound) : exact->cost;
        const double cost = solve(&search, passes[pass].samples,
                                  passes[pass].steps * (count > 256 && rules.form != PWL_BIASED ? 4 : 1));
        if (search.slopes.out_of_memory) {
            diag_set(diag, EXIT_IO, "out of memory for the lines of %d codes", count);
            break;
        }
        if (cost < exact->cost) {
            exact->cost = cost;
            read_table(&search, knots, lines, exact);
            known = true;
        }
        if (passes[pass].samples || wide_sums || !search.slopes.complete)
            continue;
        /* Nothing below the ceiling, or the best there is. */
        exact->lower_bound = cost < INFINITY ? cost : search.ceiling;
        exact->optimal = exact->lower_bound >= exact->cost;
        break;
    }
    exact->cost = known ? exact->cost : INFINITY;
    if (!known && !diag->code)
        diag_set(diag, EXIT_REQUIREMENT,
                 "no provable table of %d segments was found; more segments, a smaller zero point or fewer --fix are "
                 "needed",
                 segments);
done:
    search_free(&search);
    return diag->code;
}
