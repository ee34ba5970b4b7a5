/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "real_bound.h"
#include "slopes.h"

/* Weighted sums relative to the point they start from. */
struct sums {
    double w, x, y, xx, xy, yy;
};

/* Of a range: what it may cost beyond the rounding floor, and where the last of the points ends that no line leaves to
 * saturation. */
struct core {
    double excess;
    int end;
    double slope; /* of least squares from its first point on, NAN where any will do */
};

/* A line that has been at a limit since its start. */
struct waiting {
    double cost, paid; /* of all codes so far, and of those since its start */
    int start;
};

struct search {
    const struct points *points;
    const struct line_rules *rules;
    int segments, count;
    double ceiling;      /* only cheaper tables count */
    double *floor_sum;   /* rounding_floor_sums */
    double *over[2];     /* what being at qmin_y and at qmax_y costs beyond that, of the points before each */
    double unsafe;       /* the least slope that is not safe */
    double over_error;   /* what rounding may have done to differences of those */
    struct core *core;   /* of the start in hand, by the end */
    struct sums *sums;   /* of the start in hand, over the points from there to each */
    double *behind;      /* least cost of the codes before k, by number of segments: [m * (count + 1) + k] */
    double *upper;       /* the same of passes before */
    int *from;           /* where the last of them starts; -1 when one less does as well */
    double *ahead;       /* lower bound on the codes from k on, likewise */
    struct range *range; /* [i * (count + 1) + j] */
    struct waiting *waiting[DIRECTIONS]; /* the best line m that may leave the limit behind */
    double *paid;                        /* what all before the start in hand costs with line m */
    struct range *left;                  /* of the lines that leave a limit, by the end */
    bool *is_knot;                       /* points where ranges may start and end */
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

static int *from_of(const struct search *search, int m, int k)
{
    return &search->from[(size_t)m * ((size_t)search->count + 1) + (size_t)k];
}

/* Real least squares of a range. */
struct real_line {
    double slope, sse, spread;
};

/* Of the points [a, b), which lie at or after the start in hand. */
static struct real_line real_line_of(const struct search *search, int a, int b)
{
    const struct sums *from = &search->sums[a], *to = &search->sums[b];
    const double w = to->w - from->w, x = to->x - from->x, y = to->y - from->y;
    const double xx = to->xx - from->xx - x * x / w, xy = to->xy - from->xy - x * y / w,
                 yy = to->yy - from->yy - y * y / w;
    struct real_line line = {.spread = b - a > 1 ? fmax(0, xx) : 0};
    line.slope = line.spread > 0 ? xy / line.spread : 0;
    line.sse = fmax(0, (line.spread > 0 ? yy - xy * line.slope : yy) - 0x1p-46 * to->yy);
    return line;
}

static void sum_points(struct search *search, int i)
{
    const struct points *points = search->points;
    struct sums s = {0};
    search->sums[i] = s;
    for (int k = i; k < search->slopes.furthest; k++) {
        const double w = points->mass[k], x = points->code[k] - points->code[i],
                     y = points->target[k] - points->target[i];
        s.w += w;
        s.x += w * x;
        s.y += w * y;
        s.xx += w * x * x;
        s.xy += w * x * y;
        s.yy += w * y * y;
        search->sums[k + 1] = s;
    }
}

/* What ranges from i may cost, when all before comes to paid[m] for line m. Returns whether any can be of use. */
static bool find_spare(struct search *search, int i, const double *paid)
{
    struct slopes *slopes = &search->slopes;
    slopes->start = slopes->furthest = i;
    for (int j = i + 1; j <= search->count; j++) {
        double spare = -INFINITY, known = INFINITY;
        for (int m = 1; search->is_knot[j] && m <= search->segments; m++) {
            known = fmin(known, *entry(search->behind, search, m, j));
            const double most = fmin(*entry(search->upper, search, m, j) * (1 + 1e-9),
                                     search->ceiling - *entry(search->ahead, search, search->segments - m, j));
            spare = fmax(spare, fmin(known, most) - paid[m]);
        }
        slopes->spare[j] = spare;
        if (search->floor_sum[j] - search->floor_sum[i] < spare)
            slopes->furthest = j;
        if (search->is_knot[j] && search->points->grid_whole)
            break;
    }
    return slopes->furthest > i;
}

/* The real slope nearest on its grid, and its neighbours. */
static void try_near(struct search *search, double slope)
{
    const double around = fmax(fabs(slope), 1e-3) * 2 / (double)search->rules->slope_limit;
    slopes_try_all(&search->slopes, (struct window){slope - around, slope + around}, around / 2);
}

/* The points of [i, j) that no line of a direction leaves to saturation there: being at the limit behind at all before,
 * or at that ahead at all after, costs as much as the range may. */
static void find_core(const struct search *search, enum direction way, int j, double excess, int *a, int *b)
{
    const int i = search->slopes.start;
    const double *behind = search->over[way], *ahead = search->over[DIRECTIONS - 1 - way];
    const double most = excess + search->over_error;
    int below = i, above = search->slopes.apart ? i : j;
    while (below < above) { /* the first whose points before, itself included, cost too much */
        const int k = below + (above - below) / 4;
        if (behind[k + 1] - behind[i] >= most)
            above = k;
        else
            below = k + 1;
    }
    *a = below;
    above = j;
    while (below < above) { /* the first from which on the points do not */
        const int k = above - 1 - (above - below) / 4;
        if (ahead[j] - ahead[k] >= most)
            below = k + 1;
        else
            above = k;
    }
    *b = below;
}

/* Widens a window by the slopes of lines over the points [a, b) that cost at most `excess` beyond their floor. */
static bool widen(const struct search *search, int a, int b, double excess, struct window *window, double *centre)
{
    const double mass = search->sums[b].w - search->sums[a].w;
    const struct real_line real = a < b ? real_line_of(search, a, b) : (struct real_line){0};
    const double reach = sqrt(excess + search->floor_sum[b] - search->floor_sum[a]) + 0.5 * sqrt(mass);
    const double room = square(reach) * (1 + 1e-9) - real.sse;
    if (room < 0)
        return false;
    const double half = real.spread > 0 ? sqrt(room / real.spread) : INFINITY;
    *centre = real.spread > 0 ? real.slope : NAN;
    window->low = fmin(window->low, real.slope - half);
    window->high = fmax(window->high, real.slope + half);
    return true;
}

/* Slopes that can give a range a line of use, by the end. */
static void find_windows(struct search *search, enum direction way)
{
    const double *floor_sum = search->floor_sum;
    struct slopes *slopes = &search->slopes;
    const int i = slopes->start;
    for (int j = i + 1; j <= slopes->furthest; j++) {
        const double budget = fmin(slopes->range[j].cost, slopes->spare[j]), floor = floor_sum[j] - floor_sum[i];
        struct window *window = &slopes->window[way][j];
        struct core *core = &search->core[j];
        int a;
        *window = (struct window){INFINITY, -INFINITY};
        *core = (struct core){-INFINITY, i, NAN};
        if (!(floor < budget * (1 - 1e-12)))
            continue;
        find_core(search, way, j, budget - floor, &a, &core->end);
        if (widen(search, a, core->end, budget - floor, window, &core->slope))
            core->excess = budget - floor;
    }
}

/* Slopes of lines of use that are at the limit behind until k: those of the points from there on, with what is left. */
static void find_leaving_windows(struct search *search, enum direction way)
{
    struct slopes *slopes = &search->slopes;
    const int i = slopes->start;
    const double *over = search->over[way];
    double most = slopes->apart ? -INFINITY : INFINITY; /* what an end has to spare */
    for (int k = i + 1; k < slopes->furthest; k++) {
        const double paid = over[k] - over[i] - search->over_error;
        struct window *window = &slopes->leaving[way][k];
        *window = (struct window){INFINITY, -INFINITY};
        if (paid >= most)
            continue;
        most = -INFINITY;
        for (int j = k + 1; j <= slopes->furthest; j++) {
            const struct core *core = &search->core[j];
            double centre;
            most = fmax(most, core->excess);
            if (core->excess > paid)
                widen(search, k, core->end > k ? core->end : k, core->excess - paid, window, &centre);
        }
    }
}

/* All of them; returns one that holds the windows of both directions. */
static struct window find_all_windows(struct search *search)
{
    const struct slopes *slopes = &search->slopes;
    /* Beyond this a line saturates at once. */
    const double steepest = 2 * (double)(search->rules->qmax_y - search->rules->qmin_y + 1);
    double most[DIRECTIONS] = {0, 0};
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        if (slopes->leaves && way != slopes->way)
            continue;
        find_windows(search, way);
        find_leaving_windows(search, way);
        for (int j = slopes->start + 1; j <= slopes->furthest; j++) {
            const struct window *window = &slopes->window[way][j];
            most[way] = fmax(most[way], way == UP ? window->high : -window->low);
        }
    }
    return (struct window){-fmin(most[DOWN], steepest), fmin(most[UP], steepest)};
}

/* Slopes of least squares. */
static void try_seeds(struct search *search)
{
    const struct points *points = search->points;
    const int i = search->slopes.start;
    if (i + 1 < search->count)
        try_near(search, rint(points->target[i + 1]) - rint(points->target[i]));
    for (int j = i + 2; j <= search->slopes.furthest; j += 1 + (j - i) / 3) {
        const double slope = search->core[j].slope;
        if (search->core[j].excess > 0)
            try_near(search, isnan(slope) ? points->target[j - 1] - points->target[i] : slope);
    }
}

/* Whether any slope that is not safe can be of use. Its lines lie between the limits at few codes, behind those at the
 * one and before those at the other. */
static bool steep_lines_serve(const struct search *search)
{
    const struct slopes *slopes = &search->slopes;
    const double range = (double)(search->rules->qmax_y - search->rules->qmin_y + 1);
    const int i = slopes->start;
    const int between = search->unsafe > 0 ? (int)fmin(ceil(range / search->unsafe) + 1, search->count) : search->count;
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        const double *behind = search->over[way], *ahead = search->over[DIRECTIONS - 1 - way];
        double least =
            INFINITY; /* of being at the limit behind before the codes between, less that ahead up to there */
        for (int j = i + 1; j <= slopes->furthest; j++) {
            const double most = fmin(slopes->range[j].cost, slopes->spare[j]) -
                                (search->floor_sum[j] - search->floor_sum[i]) + 2 * search->over_error;
            if (j - between > i)
                least = fmin(least, behind[j - between] - behind[i] - ahead[j]);
            /* Its codes between may begin before the start or go on beyond the end. */
            const int last = j - between > i ? j - between : i, first = i + between < j ? i + between : j;
            if (least + ahead[j] < most || behind[last] - behind[i] < most || ahead[j] - ahead[first] < most)
                return true;
        }
    }
    return false;
}

/* The lines from the start in hand. */
static void search_start(struct search *search, int samples)
{
    struct slopes *slopes = &search->slopes;
    const int i = slopes->start;
    slopes->origin = search->rules->form == PWL_ANCHORED ? (int64_t)search->points->code[i] : search->rules->zp_x;
    sum_points(search, i);
    if (!slopes->leaves) {
        if (samples)
            find_all_windows(search);
        slopes_try_flat(slopes);
        if (samples)
            try_seeds(search);
    }
    for (int part = 0; part < (slopes->all || slopes->leaves || !steep_lines_serve(search) ? 1 : 2); part++) {
        slopes->apart = !slopes->all && part == 0;
        const struct window window = find_all_windows(search);
        slopes_try_all(slopes, window, samples ? (window.high - window.low) / samples : 0);
    }
    slopes->apart = !slopes->all;
}

/* Least cost of the codes before k, once all ranges that end there are in. */
static void settle_costs(struct search *search, int k)
{
    for (int m = 0; m <= search->segments; m++) {
        double *cost = entry(search->behind, search, m, k);
        const double fewer = k == 0 ? 0 : m == 0 ? INFINITY : *entry(search->behind, search, m - 1, k);
        if (fewer <= *cost) {
            *cost = fewer;
            *from_of(search, m, k) = -1; /* no need of line m */
        }
    }
}

/* Takes in a range [i, j) as line m. */
static void join(struct search *search, int m, int i, int j, double cost)
{
    if (cost < *entry(search->behind, search, m, j)) {
        *entry(search->behind, search, m, j) = cost;
        *from_of(search, m, j) = i;
    }
}

/* The lines that start at k. */
static void start_lines(struct search *search, int k, int samples)
{
    struct slopes *slopes = &search->slopes;
    for (int m = 1; m <= search->segments; m++)
        search->paid[m] = *entry(search->behind, search, m - 1, k);
    slopes->leaves = false;
    slopes->range = range_of(search, k, 0);
    if (!find_spare(search, k, search->paid))
        return;
    slopes->gain = slopes->apart && k > 0 && search->is_knot[k - 1] ? INFINITY : -INFINITY;
    for (int m = 1; m <= search->segments; m++)
        if (search->paid[m] < INFINITY)
            slopes->gain = fmin(slopes->gain, search->paid[m] - *entry(search->behind, search, m - 1, k - (k > 0)));
    search_start(search, samples);
    for (int j = k + 1; j <= slopes->furthest; j++)
        for (int m = 1; search->is_knot[j] && m <= search->segments; m++)
            join(search, m, k, j, search->paid[m] + slopes->range[j].cost);
}

/* The lines of a direction that have been at the limit behind since their start, and leave it at k. */
static void leave_limit(struct search *search, enum direction way, int k, int samples)
{
    const struct points *points = search->points;
    const double limit = (double)(way == UP ? search->rules->qmin_y : search->rules->qmax_y);
    const double pays = square(points->target[k - 1] - limit) * points->mass[k - 1];
    struct waiting *waiting = search->waiting[way];
    struct slopes *slopes = &search->slopes;
    for (int m = 1; m <= search->segments; m++) {
        const double begun = *entry(search->behind, search, m - 1, k - 1);
        if (search->is_knot[k - 1] && begun < waiting[m].cost)
            waiting[m] = (struct waiting){begun, 0, k - 1};
        waiting[m].cost += pays;
        waiting[m].paid += pays;
        search->paid[m] = waiting[m].cost;
    }
    slopes->leaves = true;
    slopes->range = search->left;
    for (int j = k + 1; j <= search->count; j++)
        search->left[j].cost = INFINITY;
    if (!find_spare(search, k, search->paid))
        return;
    slopes->way = way;
    search_start(search, samples);
    for (int j = k + 1; j <= slopes->furthest; j++)
        for (int m = 1; search->is_knot[j] && m <= search->segments; m++) {
            struct range left = search->left[j], *range = range_of(search, waiting[m].start, j);
            join(search, m, waiting[m].start, j, search->paid[m] + left.cost);
            left.cost += waiting[m].paid;
            if (left.cost < range->cost)
                *range = left;
        }
}

/* One dynamic program below the ceiling in hand; returns the least cost, INFINITY when no table lies below. With
 * samples each start has its share of the steps. */
static double solve(struct search *search, int samples, int64_t most_steps)
{
    struct slopes *slopes = &search->slopes;
    slopes->steps = 0;
    slopes->complete = true;
    const size_t cells = ((size_t)search->segments + 1) * ((size_t)search->count + 1);
    for (size_t c = 0; c < cells; c++)
        search->behind[c] = INFINITY;
    for (int m = 0; m <= search->segments; m++)
        search->waiting[UP][m] = search->waiting[DOWN][m] = (struct waiting){.cost = INFINITY};
    for (int k = 0; k <= search->count && !slopes->out_of_memory; k++) {
        slopes->most_steps = samples ? slopes->steps + most_steps / search->count : most_steps;
        settle_costs(search, k);
        for (enum direction way = UP; slopes->apart && k > 0 && k < search->count && way < DIRECTIONS; way++)
            leave_limit(search, way, k, samples);
        if (k < search->count && search->is_knot[k])
            start_lines(search, k, samples);
    }
    for (size_t c = 0; c < cells; c++)
        search->upper[c] = fmin(search->upper[c], search->behind[c]);
    const double cost = *entry(search->behind, search, search->segments, search->count);
    return cost < search->ceiling ? cost : INFINITY;
}

static void read_table(const struct search *search, int *knots, struct line *lines, struct exact *exact)
{
    const double hair = 1e-13 * *entry(search->behind, search, search->segments, search->count);
    int k = search->count, m = search->segments, used = 0;
    for (; k > 0; m--) {
        const int i = *from_of(search, m, k);
        /* A line that gains no more than rounding of sums is none. */
        if (i < 0 || (m > 1 && *entry(search->behind, search, m - 1, k) <= *entry(search->behind, search, m, k) + hair))
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
    free(search->over[0]);
    free(search->over[1]);
    free(search->sums);
    free(search->core);
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        free(search->slopes.window[way]);
        free(search->slopes.leaving[way]);
        free(search->waiting[way]);
    }
    free(search->paid);
    free(search->left);
    free(search->behind);
    free(search->upper);
    free(search->from);
    free(search->ahead);
    free(search->range);
    free(search->is_knot);
    free(search->slopes.spare);
    free(search->slopes.limit);
    free(search->slopes.singles);
    free(search->slopes.classes.before);
}

int exact_improve(const struct points *points, const struct line_rules *given, int segments, int *knots,
                  struct line *lines, struct exact *exact, struct diag *diag)
{
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
    search.floor_sum = rounding_floor_sums(points);
    search.slopes = (struct slopes){.points = points,
                                    .rules = &rules,
                                    .floor_sum = search.floor_sum,
                                    .all = rules.form == PWL_ANCHORED || points->fixed || points->grid_whole};
    slopes_init(&search.slopes);
    search.unsafe = slopes_unsafe(&search.slopes);
    search.over[0] = malloc(row * sizeof *search.over[0]);
    search.over[1] = malloc(row * sizeof *search.over[1]);
    search.sums = malloc(row * sizeof *search.sums);
    search.core = malloc(row * sizeof *search.core);
    bool windows = true;
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        search.slopes.window[way] = malloc(row * sizeof *search.slopes.window[way]);
        search.slopes.leaving[way] = malloc(row * sizeof *search.slopes.leaving[way]);
        search.waiting[way] = malloc(layers * sizeof *search.waiting[way]);
        windows &= search.slopes.window[way] && search.slopes.leaving[way] && search.waiting[way];
    }
    search.paid = malloc(layers * sizeof *search.paid);
    search.left = malloc(row * sizeof *search.left);
    search.behind = malloc(layers * row * sizeof *search.behind);
    search.upper = malloc(layers * row * sizeof *search.upper);
    search.from = malloc(layers * row * sizeof *search.from);
    search.ahead = malloc(layers * row * sizeof *search.ahead);
    search.range = malloc(row * row * sizeof *search.range);
    search.is_knot = malloc(row * sizeof *search.is_knot);
    search.slopes.spare = malloc(row * sizeof *search.slopes.spare);
    search.slopes.limit = malloc(row * sizeof *search.slopes.limit);
    diag->code = EXIT_DONE;
    if (!search.floor_sum || !search.over[0] || !search.over[1] || !search.sums || !search.behind || !search.upper ||
        !search.from || !search.ahead || !search.range || !search.is_knot || !search.slopes.spare || !search.core ||
        !search.slopes.limit || !windows || !search.paid || !search.left) {
        search_free(&search);
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", count);
    }
    for (int k = 0; k <= count; k++)
        search.is_knot[k] = !points->grid;
    for (int g = 0; points->grid && g <= points->grid_count; g++)
        search.is_knot[points->grid[g]] = true;
    for (size_t c = 0; c < layers * row; c++)
        search.upper[c] = INFINITY;
    for (size_t r = 0; r < row * row; r++)
        search.range[r].cost = INFINITY;
    double mass = 0;
    search.over[0][0] = search.over[1][0] = 0;
    for (int k = 0; k < count; k++) {
        mass += points->mass[k];
        for (int l = 0; l < 2; l++) {
            const double limit = (double)(l ? rules.qmax_y : rules.qmin_y),
                         e = points->target[k] - rint(points->target[k]);
            search.over[l][k + 1] = search.over[l][k] + points->mass[k] * (square(points->target[k] - limit) - e * e);
        }
    }
    search.over_error = count * 0x1p-51 * fmax(search.over[0][count], search.over[1][count]);
    const double all = square((double)(rules.qmax_y - rules.qmin_y) + 1) * mass;
    bool known = exact->cost < all;
    exact->cost = known ? exact->cost : all;
    if (integer_bound_suffixes(points, rules.qmin_y, rules.qmax_y, segments, exact->cost * (1 + 1e-9), search.ahead,
                               diag))
        goto done;
    /* The first of the two is cut a hair for its rounding. */
    exact->lower_bound = fmin(fmax(search.ahead[(layers - 1) * row], search.floor_sum[count]), exact->cost);
    exact->optimal = exact->cost <= exact->lower_bound * (1 + 1e-12);

    /* Some slopes, for a better table; then all. Where that is too much, all below lower ceilings, as a bound. */
    static const struct {
        double share;
        int samples;
        int64_t steps;
    } passes[] = {{1, 32, 1 << 21}, {1, 0, 1 << 25}, {1.0 / 8, 0, 1 << 22}};
    enum { PASSES = sizeof passes / sizeof *passes };
    for (int pass = 0; pass < (exact->quick ? 1 : PASSES) && !exact->optimal; pass++) {
        const double share = passes[pass].share;
        search.ceiling = share < 1 ? exact->lower_bound + share * (exact->cost - exact->lower_bound) : exact->cost;
        const double cost = solve(&search, passes[pass].samples, passes[pass].steps);
        if (search.slopes.out_of_memory) {
            diag_set(diag, EXIT_IO, "out of memory for the lines of %d codes", count);
            break;
        }
        if (cost < exact->cost) {
            exact->cost = cost;
            read_table(&search, knots, lines, exact);
            known = true;
            exact->optimal = exact->cost <= exact->lower_bound * (1 + 1e-12);
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
