/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "line_program.h"

#include <math.h>
#include <stdlib.h>

#include "real_bound.h"
#include "slope_windows.h"

/* What rounding of sums may do to what is known of lines. */
static const double hair = 1e-12;

enum { WHOLE_SHARES = 4 }; /* of the steps, where all is to be searched: a start has one at most */

/* What ranges from i may cost, when all before comes to paid[m] for line m. Returns whether any can be of use. */
static bool find_spare(struct search *search, int i, const double *paid)
{
    struct slopes *slopes = &search->slopes;
    double *spare = slopes->spare, *known = search->known;
    int last = search->count;
    for (int j = i + 1; search->points->grid_whole && last == search->count && j < last; j++)
        last = search->is_knot[j] ? j : last;
    for (int j = i + 1; j <= last; j++) {
        spare[j] = -INFINITY;
        known[j] = INFINITY;
    }
    slopes->start = slopes->furthest = i;
    for (int m = 1; m <= search->segments; m++) {
        const double *behind = entry(search->behind, search, m, 0), *most = entry(search->most, search, m, 0);
        double *ahead =
            slopes->leaves ? search->ahead_any : search->ahead; /* no line starts where one leaves a limit */
        if (!(paid[m] + *entry(ahead, search, search->segments - m + 1, i) < search->ceiling))
            continue;
        for (int j = i + 1; j <= last; j++)
            known[j] = smaller(known[j], behind[j]);
        for (int j = i + 1; j <= last; j++)
            spare[j] = larger(smaller(known[j], most[j]) - paid[m], spare[j]);
    }
    const double *off = search->off[slopes->way], *least = search_least(search, slopes->leaves, slopes->way, i);
    for (int j = i + 1; j <= last; j++) {
        const double off_limit = slopes->leaves ? off[j] - off[i] - search->over_error : 0;
        if (!search->is_knot[j] || !(search->floor_sum[j] - search->floor_sum[i] + off_limit < spare[j]) ||
            !(least[j] * (1 - hair) < spare[j]))
            spare[j] = -INFINITY;
        else
            slopes->furthest = j;
    }
    return slopes->furthest > i;
}

/* The real slope nearest on its grid, and its neighbours. */
static void try_near(struct search *search, double slope)
{
    const double around = fmax(fabs(slope), 1e-3) * 2 / (double)search->rules->slope_limit;
    slopes_try_all(&search->slopes, (struct window){slope - around, slope + around}, around / 2);
}

/* Slopes of least squares. */
static void try_seeds(struct search *search)
{
    const struct points *points = search->points;
    const int i = search->slopes.start;
    if (i + 1 < search->count)
        try_near(search, rint(points->target[i + 1]) - rint(points->target[i]));
    for (int j = i + 2; j <= search->slopes.furthest; j += 1 + (j - i) / 3) {
        const double slope = windows_centre(search, j);
        if (search->slopes.core[DOWN][j].excess > 0)
            try_near(search, isnan(slope) ? points->target[j - 1] - points->target[i] : slope);
    }
}

/* Leaves out the last ends that no slope is of use to. */
static void drop_ends(struct slopes *slopes)
{
    const struct window *up = slopes->window[UP], *down = slopes->window[DOWN];
    for (int j = slopes->furthest; j > slopes->start; slopes->furthest = --j)
        if (up[j].low <= up[j].high || down[j].low <= down[j].high)
            break;
}

/* Keeps what lines from the start in hand cost at least, now that all of use have been followed. */
static void keep_least(struct search *search)
{
    struct slopes *slopes = &search->slopes;
    double *any = entry(search->least_any, search, slopes->start, 0);
    for (int j = slopes->start + 1; j <= slopes->furthest; j++) {
        const double least = slopes->spare[j] > -INFINITY ? smaller(slopes->range[j].cost, slopes->spare[j]) : 0;
        slopes->least[j] = larger(slopes->least[j], least);
        any[j] = slopes->leaves ? any[j] : larger(any[j], least);
    }
}

/* The lines from the start in hand. */
static void search_start(struct search *search, int samples)
{
    struct slopes *slopes = &search->slopes;
    const int i = slopes->start, furthest = slopes->furthest;
    const bool complete = slopes->complete;
    slopes->origin = search->rules->form == PWL_ANCHORED ? (int64_t)search->points->code[i] : search->rules->zp_x;
    slopes->least = search_least(search, slopes->leaves, slopes->way, i);
    windows_sum_points(search, i);
    slopes->complete = true;
    if (!slopes->leaves) {
        if (samples)
            windows_find(search);
        slopes_try_flat(slopes);
        if (samples)
            try_seeds(search);
    }
    for (int part = 0; part < (slopes->all || slopes->leaves || !windows_hold_steep(search) ? 1 : 2); part++) {
        slopes->apart = !slopes->all && part == 0;
        const struct window window = windows_find(search);
        drop_ends(slopes);
        slopes_try_all(slopes, window, samples ? (window.high - window.low) / samples : 0);
        slopes->furthest = furthest;
    }
    slopes->apart = !slopes->all;
    if (slopes->complete && !samples)
        keep_least(search);
    slopes->complete &= complete;
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

/* What ranges of the start in hand cost, by the end. */
static void find_costs(struct search *search)
{
    const struct slopes *slopes = &search->slopes;
    const int i = slopes->start;
    search->first_end = search->count + 1;
    for (int j = i + 1; j <= slopes->furthest; j++) {
        search->cost[j] = search->is_knot[j] ? slopes->range[j].cost : INFINITY;
        if (search->cost[j] < INFINITY) {
            search->first_end = j < search->first_end ? j : search->first_end;
            search->last_end = j;
        }
    }
    if (search->first_end > search->count)
        search->last_end = search->count;
}

/* Takes them in as line m, which has begun at i. */
static void join(struct search *search, int m, int i)
{
    const double *cost = search->cost, paid = search->paid[m];
    double *behind = entry(search->behind, search, m, 0);
    int *from = from_of(search, m, 0);
    for (int j = search->first_end; paid < INFINITY && j <= search->last_end; j++)
        if (paid + cost[j] < behind[j]) {
            behind[j] = paid + cost[j];
            from[j] = i;
        }
}

/* Keeps the lines that leave a limit, as lines from where they have begun. */
static void keep_left(struct search *search, const struct waiting *waiting)
{
    for (int j = search->first_end; j <= search->last_end; j++) {
        struct range *range = range_of(search, waiting->start, j);
        const double cost = search->cost[j] + waiting->paid;
        if (cost < range->cost) {
            *range = search->left[j];
            range->cost = cost;
        }
    }
}

/* The lines that start at k. Where the lines before go on to the next point and meet its nearest code, a line that
 * starts there instead costs no more; it is the same but for the anchored form. */
static void start_lines(struct search *search, int k, int samples)
{
    struct slopes *slopes = &search->slopes;
    const bool may_wait = search->rules->form != PWL_ANCHORED && search->is_knot[k + 1] && !search->points->grid_whole;
    const double floor = search->floor_sum[k + 1] - search->floor_sum[k];
    double next = INFINITY;
    for (int m = 1; m <= search->segments; m++) {
        const double here = *entry(search->behind, search, m - 1, k);
        next = smaller(next, *entry(search->behind, search, m - 1, k + 1));
        search->paid[m] = may_wait && next <= here + floor + 0x1p-48 * (1 + here) ? INFINITY : here;
    }
    slopes->leaves = false;
    slopes->range = range_of(search, k, 0);
    if (!find_spare(search, k, search->paid))
        return;
    search_start(search, samples);
    find_costs(search);
    for (int m = 1; m <= search->segments; m++)
        join(search, m, k);
}

/* The lines of a direction that have been at the limit behind since their start, and leave it at k. */
static void leave_limit(struct search *search, enum direction way, int k, int samples)
{
    const struct points *points = search->points;
    const double limit = (double)(way == UP ? search->rules->qmin_y : search->rules->qmax_y);
    const double pays = points_cost(points, k - 1, limit);
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
    slopes->way = way;
    slopes->range = search->left;
    for (int j = k + 1; j <= search->count; j++)
        search->left[j].cost = INFINITY;
    if (!find_spare(search, k, search->paid))
        return;
    search_start(search, samples);
    find_costs(search);
    for (int m = 1; m <= search->segments; m++) {
        join(search, m, waiting[m].start);
        if (waiting[m].cost < INFINITY)
            keep_left(search, &waiting[m]);
    }
}

/* Whether a search up to k will take too many steps, at the pace so far. */
static bool is_hopeless(const struct search *search, int k, int64_t most_steps)
{
    const int64_t steps = search->slopes.steps;
    return steps > most_steps / WHOLE_SHARES && (double)steps * search->count > 2 * (double)most_steps * k;
}

double search_solve(struct search *search, int samples, int64_t most_steps)
{
    struct slopes *slopes = &search->slopes;
    slopes->steps = 0;
    slopes->complete = true;
    const size_t cells = ((size_t)search->segments + 1) * ((size_t)search->count + 1);
    for (size_t c = 0; c < cells; c++)
        search->behind[c] = INFINITY;
    for (int m = 0; m <= search->segments; m++)
        for (int k = 0; k <= search->count; k++)
            *entry(search->most, search, m, k) =
                smaller(*entry(search->upper, search, m, k) * (1 + 1e-9) + 1e-12,
                        search->ceiling - *entry(search->ahead, search, search->segments - m, k));
    for (int m = 0; m <= search->segments; m++)
        search->waiting[UP][m] = search->waiting[DOWN][m] = (struct waiting){.cost = INFINITY};
    search->known_to = -1;
    for (int k = 0; k <= search->count && !slopes->out_of_memory; k++) {
        if (search->whole && is_hopeless(search, k, most_steps)) {
            slopes->complete = false;
            break;
        }
        slopes->most_steps = slopes->steps + most_steps / (samples         ? search->count
                                                           : search->whole ? WHOLE_SHARES
                                                                           : search->shares);
        slopes->most_steps = slopes->most_steps < most_steps ? slopes->most_steps : most_steps;
        settle_costs(search, k);
        if (slopes->complete && !samples && !search->near && !search->all_starts)
            search->known_to = k;
        for (enum direction way = UP; slopes->apart && k > 0 && k < search->count && way < DIRECTIONS; way++)
            leave_limit(search, way, k, samples);
        if (k < search->count && search->is_knot[k])
            start_lines(search, k, samples);
    }
    for (size_t c = 0; c < cells; c++)
        search->upper[c] = smaller(search->upper[c], search->behind[c]);
    const double cost = *entry(search->behind, search, search->segments, search->count);
    return cost < search->ceiling ? cost : INFINITY;
}

void search_read(const struct search *search, int *knots, struct line *lines, struct exact *exact)
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

void search_anywhere(struct search *search)
{
    const struct points *points = search->points;
    for (int k = 0; k <= points->count; k++)
        search->is_knot[k] = false;
    for (int place = 0; place <= points_places(points); place++)
        search->is_knot[points_at(points, place)] = true;
    search->shares = 1;
    search->near = false;
}

void search_near(struct search *search, const int *knots, int segments, int radius)
{
    search_anywhere(search);
    for (int k = 0, m = 0; k <= search->count; k++) {
        m += m < segments && knots[m + 1] <= k;
        search->is_knot[k] &= k - knots[m] <= radius || (m < segments && knots[m + 1] - k <= radius);
    }
    search->shares = (2 * radius + 1) * segments / 2 + 1;
    search->near = true;
}

void search_know(struct search *search, const int *knots, const struct line *lines, int segments)
{
    bool allowed = true;
    for (int m = 0; m < segments; m++)
        allowed &= lines[m].n >= search->rules->shift_min && lines[m].n <= search->rules->shift_max;
    for (int m = 0; allowed && m < segments; m++)
        *range_of(search, knots[m], knots[m + 1]) =
            (struct range){lines[m].cost, lines[m].offset, (int32_t)lines[m].q_b, lines[m].n};
}

/* What being at a limit of the output costs, and being off it. */
static void sum_limits(struct search *search)
{
    const struct points *points = search->points;
    const int count = search->count;
    double most = 0;
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        const double near = (double)(way == UP ? search->rules->qmin_y : search->rules->qmax_y),
                     far = (double)(way == UP ? search->rules->qmax_y : search->rules->qmin_y);
        double *over = search->over[way], *off = search->off[way];
        over[0] = off[0] = 0;
        for (int k = 0; k < count; k++) {
            const double best = rint(points->target[k]), floor = points_floor(points, k);
            const double y = way == UP ? larger(near + 1, best) : smaller(near - 1, best);
            over[k + 1] = over[k] + points_cost(points, k, near) - floor;
            /* Of a half the limit ahead may cost less than the codes before. */
            off[k + 1] = off[k] + larger(0, smaller(points_cost(points, k, y), points_cost(points, k, far)) - floor);
        }
        most = larger(most, larger(over[count], off[count]));
    }
    search->over_error = count * 0x1p-51 * most;
}

void search_free(struct search *search)
{
    free(search->floor_sum);
    free(search->sums);
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        free(search->slopes.window[way]);
        free(search->slopes.core[way]);
        free(search->least_left[way]);
        free(search->slopes.leaving[way]);
        free(search->waiting[way]);
        free(search->over[way]);
        free(search->off[way]);
    }
    free(search->least);
    free(search->least_any);
    free(search->paid);
    free(search->left);
    free(search->behind);
    free(search->upper);
    free(search->before);
    free(search->most);
    free(search->known);
    free(search->cost);
    free(search->from);
    free(search->ahead);
    free(search->ahead_any);
    free(search->range);
    free(search->is_knot);
    free(search->slopes.spare);
    free(search->slopes.limit);
    free(search->slopes.useful);
    free(search->slopes.code);
    free(search->slopes.singles);
}

int search_init(struct search *search, const struct points *points, const struct line_rules *rules, int segments,
                struct diag *diag)
{
    const int count = points->count;
    const size_t row = (size_t)count + 1, layers = (size_t)segments + 1;
    *search = (struct search){.points = points, .rules = rules, .segments = segments, .count = count};
    search->floor_sum = rounding_floor_sums(points);
    search->slopes = (struct slopes){.points = points,
                                     .rules = rules,
                                     .floor_sum = search->floor_sum,
                                     .all = rules->form == PWL_ANCHORED || points->fixed || points->grid_whole};
    slopes_init(&search->slopes);
    search->unsafe = slopes_unsafe(&search->slopes);
    search->sums = malloc(row * sizeof *search->sums);
    bool windows = true;
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        search->slopes.window[way] = malloc(row * sizeof *search->slopes.window[way]);
        search->least_left[way] = calloc(row * row, sizeof *search->least_left[way]);
        windows &= search->least_left[way] != NULL;
        search->slopes.core[way] = malloc(row * sizeof *search->slopes.core[way]);
        search->slopes.leaving[way] = malloc(row * sizeof *search->slopes.leaving[way]);
        search->waiting[way] = malloc(layers * sizeof *search->waiting[way]);
        search->over[way] = malloc(row * sizeof *search->over[way]);
        search->off[way] = malloc(row * sizeof *search->off[way]);
        windows &= search->slopes.window[way] && search->slopes.core[way] && search->slopes.leaving[way] &&
                   search->waiting[way] && search->over[way] && search->off[way];
    }
    search->least = calloc(row * row, sizeof *search->least);
    search->before = malloc(layers * row * sizeof *search->before);
    search->least_any = calloc(row * row, sizeof *search->least_any);
    search->ahead_any = malloc(layers * row * sizeof *search->ahead_any);
    windows &= search->before && search->least && search->least_any && search->ahead_any;
    search->paid = malloc(layers * sizeof *search->paid);
    search->left = malloc(row * sizeof *search->left);
    search->behind = malloc(layers * row * sizeof *search->behind);
    search->upper = malloc(layers * row * sizeof *search->upper);
    search->most = malloc(layers * row * sizeof *search->most);
    search->known = malloc(row * sizeof *search->known);
    search->cost = malloc(row * sizeof *search->cost);
    search->from = malloc(layers * row * sizeof *search->from);
    search->ahead = malloc(layers * row * sizeof *search->ahead);
    search->range = malloc(row * row * sizeof *search->range);
    search->is_knot = malloc(row * sizeof *search->is_knot);
    search->slopes.spare = malloc(row * sizeof *search->slopes.spare);
    search->slopes.limit = malloc(row * sizeof *search->slopes.limit);
    search->slopes.useful = malloc(row * sizeof *search->slopes.useful);
    search->slopes.code = malloc(row * sizeof *search->slopes.code);
    if (!search->floor_sum || !search->sums || !search->behind || !search->upper || !search->most || !search->known ||
        !search->cost || !search->slopes.useful || !search->slopes.code || !search->from || !search->ahead ||
        !search->range || !search->is_knot || !search->slopes.spare || !search->slopes.limit || !windows ||
        !search->paid || !search->left) {
        search_free(search);
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", count);
    }
    search_anywhere(search);
    for (size_t c = 0; c < layers * row; c++)
        search->upper[c] = INFINITY;
    for (size_t r = 0; r < row * row; r++)
        search->range[r].cost = INFINITY;
    sum_limits(search);
    return diag->code = EXIT_DONE;
}
