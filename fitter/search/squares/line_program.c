/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "line_program.h"

#include <math.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "base/progress.h"
#include "search/rounding.h"
#include "slope_scan.h"
#include "slope_windows.h"

/* Finds the most that ranges from i may cost, when all before comes to paid[m] for line m. Returns whether any can
 * belong to a better table. */
static bool find_spare(struct line_program *program, int i, const double *paid)
{
    struct slope_scan *slopes = &program->slopes;
    double *spare = slopes->from.spare, *known = program->known;
    int last = program->count;
    for (int j = i + 1; program->points->grid_whole && last == program->count && j < last; j++)
        last = program->is_knot[j] ? j : last;
    for (int j = i + 1; j <= last; j++) {
        spare[j] = -INFINITY;
        known[j] = INFINITY;
    }
    slopes->from.start = slopes->from.furthest = i;
    for (int m = 1; m <= program->segments; m++) {
        const double *behind = entry(program->behind, program, m, 0), *most = entry(program->most, program, m, 0);
        double *ahead =
            slopes->from.leaves ? program->ahead_any : program->ahead; /* no line starts where one leaves a limit */
        if (!(paid[m] + *entry(ahead, program, program->segments - m + 1, i) < program->ceiling))
            continue;
        for (int j = i + 1; j <= last; j++)
            known[j] = smaller(known[j], behind[j]);
        for (int j = i + 1; j <= last; j++)
            spare[j] = larger(smaller(known[j], most[j]) - paid[m], spare[j]);
    }
    const double *off = program->off[slopes->from.way],
                 *least = program_least(program, slopes->from.leaves, slopes->from.way, i);
    for (int j = i + 1; j <= last; j++) {
        const double off_limit = slopes->from.leaves ? off[j] - off[i] - program->over_error : 0;
        if (!program->is_knot[j] || !(program->floor_sum[j] - program->floor_sum[i] + off_limit < spare[j]) ||
            !(just_below(least[j]) < spare[j]))
            spare[j] = -INFINITY;
        else
            slopes->from.furthest = j;
    }
    return slopes->from.furthest > i;
}

/* The real slope nearest on its grid, and its neighbours. */
static void try_near(struct line_program *program, double slope)
{
    const struct line_rules *rules = program->rules;
    const double steep = fmax(fabs(slope), 1e-3),
                 step = rules->shift_multiple ? ldexp(1, -line_finest_shift(rules, steep)) /* of few bits, mostly */
                                              : steep / (double)rules->slopes.high;
    const double around = 2 * step;
    slopes_try_all(&program->slopes, (struct window){slope - around, slope + around}, around / 2);
}

/* Slopes of least squares. */
static void try_seeds(struct line_program *program)
{
    const struct points *points = program->points;
    const int i = program->slopes.from.start;
    if (i + 1 < program->count)
        try_near(program, rint(points->target[i + 1]) - rint(points->target[i]));
    for (int j = i + 2; j <= program->slopes.from.furthest; j += 1 + (j - i) / 3) {
        const double slope = slope_windows_centre(program, j);
        if (program->slopes.from.core[DOWN][j].excess > 0)
            try_near(program, isnan(slope) ? points->target[j - 1] - points->target[i] : slope);
    }
}

/* Leaves out the last ends for which the windows hold no slope. */
static void drop_ends(struct slope_scan *slopes)
{
    const struct window *up = slopes->from.window[UP], *down = slopes->from.window[DOWN];
    for (int j = slopes->from.furthest; j > slopes->from.start; slopes->from.furthest = --j)
        if (up[j].low <= up[j].high || down[j].low <= down[j].high)
            break;
}

/* Keeps what lines from this start cost at least, now that each line that can belong to a better table was followed. */
static void keep_least(struct line_program *program)
{
    struct slope_scan *slopes = &program->slopes;
    for (int j = slopes->from.start + 1; j <= slopes->from.furthest; j++) {
        const double least =
            slopes->from.spare[j] > -INFINITY ? smaller(slopes->from.range[j].cost, slopes->from.spare[j]) : 0;
        slopes->from.least[j] = larger(slopes->from.least[j], least);
    }
}

/* Follows the lines from one start. */
static void scan_start(struct line_program *program, int samples)
{
    struct slope_scan *slopes = &program->slopes;
    const int i = slopes->from.start, furthest = slopes->from.furthest;
    const bool complete = slopes->work.complete;
    slopes->from.origin =
        program->rules->form == PWL_ANCHORED ? (int64_t)program->points->code[i] : program->rules->zp_x;
    slopes->from.least = program_least(program, slopes->from.leaves, slopes->from.way, i);
    slope_windows_sum_points(program, i);
    slopes->work.complete = true;
    if (!slopes->from.leaves) {
        if (samples)
            slope_windows_find(program);
        slopes_try_flat(slopes);
        if (samples)
            try_seeds(program);
    }
    for (int part = 0; part < (slopes->all || slopes->from.leaves || !slope_windows_hold_steep(program) ? 1 : 2);
         part++) {
        slopes->from.apart = !slopes->all && part == 0;
        const struct window window = slope_windows_find(program);
        drop_ends(slopes);
        slopes_try_all(slopes, window, samples ? (window.high - window.low) / samples : 0);
        slopes->from.furthest = furthest;
    }
    slopes->from.apart = !slopes->all;
    if (slopes->work.complete && !samples)
        keep_least(program);
    slopes->work.complete &= complete;
}

/* Least cost of the codes before k, once all ranges that end there are in. */
static void settle_costs(struct line_program *program, int k)
{
    for (int m = 0; m <= program->segments; m++) {
        double *cost = entry(program->behind, program, m, k);
        const double fewer = k == 0 ? 0 : m == 0 ? INFINITY : *entry(program->behind, program, m - 1, k);
        if (fewer <= *cost) {
            *cost = fewer;
            program->from[(size_t)m * ((size_t)program->count + 1) + (size_t)k] = -1; /* no need of line m */
        }
    }
}

/* Finds the cost of the ranges from this start, by the end. */
static void find_costs(struct line_program *program)
{
    const struct slope_scan *slopes = &program->slopes;
    const int i = slopes->from.start;
    program->first_end = program->count + 1;
    for (int j = i + 1; j <= slopes->from.furthest; j++) {
        program->cost[j] = program->is_knot[j] ? slopes->from.range[j].cost : INFINITY;
        if (program->cost[j] < INFINITY) {
            program->first_end = j < program->first_end ? j : program->first_end;
            program->last_end = j;
        }
    }
    if (program->first_end > program->count)
        program->last_end = program->count;
}

/* Takes them in as line m, which has begun at i. */
static void join(struct line_program *program, int m, int i)
{
    const double *cost = program->cost, paid = program->paid[m];
    double *behind = entry(program->behind, program, m, 0);
    int *from = &program->from[(size_t)m * ((size_t)program->count + 1)];
    for (int j = program->first_end; paid < INFINITY && j <= program->last_end; j++)
        if (paid + cost[j] < behind[j]) {
            behind[j] = paid + cost[j];
            from[j] = i;
        }
}

/* Keeps the lines that leave a limit, as lines from where they have begun. */
static void keep_left(struct line_program *program, const struct waiting *waiting)
{
    for (int j = program->first_end; j <= program->last_end; j++) {
        struct range *range = range_of(program, waiting->start, j);
        const double cost = program->cost[j] + waiting->paid;
        if (cost < range->cost) {
            *range = program->left[j];
            range->cost = cost;
        }
    }
}

/* The lines that start at k. Where the lines before go on to the next point and meet its nearest code, a line that
 * starts there instead costs no more; it is the same but for the anchored form. */
static void start_lines(struct line_program *program, int k, int samples)
{
    struct slope_scan *slopes = &program->slopes;
    const bool may_wait =
        program->rules->form != PWL_ANCHORED && program->is_knot[k + 1] && !program->points->grid_whole;
    const double floor = program->floor_sum[k + 1] - program->floor_sum[k];
    double next = INFINITY;
    for (int m = 1; m <= program->segments; m++) {
        const double here = *entry(program->behind, program, m - 1, k);
        next = smaller(next, *entry(program->behind, program, m - 1, k + 1));
        program->paid[m] = may_wait && no_more_than(next, here + floor) ? INFINITY : here;
    }
    slopes->from.leaves = false;
    slopes->from.range = range_of(program, k, 0);
    if (!find_spare(program, k, program->paid))
        return;
    scan_start(program, samples);
    find_costs(program);
    for (int m = 1; m <= program->segments; m++)
        join(program, m, k);
}

/* The lines of a direction that have been at the near limit since their start, and leave it at k. */
static void leave_limit(struct line_program *program, enum direction way, int k, int samples)
{
    const struct points *points = program->points;
    const double limit = (double)(way == UP ? program->rules->qmin_y : program->rules->qmax_y);
    const double pays = points_cost(points, k - 1, limit);
    struct waiting *waiting = program->waiting[way];
    struct slope_scan *slopes = &program->slopes;
    for (int m = 1; m <= program->segments; m++) {
        const double begun = *entry(program->behind, program, m - 1, k - 1);
        if (program->is_knot[k - 1] && begun < waiting[m].cost)
            waiting[m] = (struct waiting){begun, 0, k - 1};
        waiting[m].cost += pays;
        waiting[m].paid += pays;
        program->paid[m] = waiting[m].cost;
    }
    slopes->from.leaves = true;
    slopes->from.way = way;
    slopes->from.range = program->left;
    for (int j = k + 1; j <= program->count; j++)
        program->left[j].cost = INFINITY;
    if (!find_spare(program, k, program->paid))
        return;
    scan_start(program, samples);
    find_costs(program);
    for (int m = 1; m <= program->segments; m++) {
        join(program, m, waiting[m].start);
        if (waiting[m].cost < INFINITY)
            keep_left(program, &waiting[m]);
    }
}

double program_solve(struct line_program *program, int samples, int64_t most_steps)
{
    struct slope_scan *slopes = &program->slopes;
    slopes->work.steps = 0;
    slopes->work.complete = true;
    const size_t cells = ((size_t)program->segments + 1) * ((size_t)program->count + 1);
    for (size_t c = 0; c < cells; c++)
        program->behind[c] = INFINITY;
    for (int m = 0; m <= program->segments; m++)
        for (int k = 0; k <= program->count; k++)
            *entry(program->most, program, m, k) =
                smaller(just_above(*entry(program->upper, program, m, k)),
                        program->ceiling - *entry(program->ahead, program, program->segments - m, k));
    for (int m = 0; m <= program->segments; m++)
        program->waiting[UP][m] = program->waiting[DOWN][m] = (struct waiting){.cost = INFINITY};
    for (int k = 0; k <= program->count && !slopes->work.out_of_memory; k++) {
        progress_step("integer lines of every segment", (uint64_t)k, (uint64_t)program->count);
        slopes->work.most_steps = slopes->work.steps + most_steps / (samples ? program->count : program->shares);
        slopes->work.most_steps = slopes->work.most_steps < most_steps ? slopes->work.most_steps : most_steps;
        if (points_out_of_time(program->points))
            slopes->work.most_steps = 0;
        settle_costs(program, k);
        for (enum direction way = UP; slopes->from.apart && k > 0 && k < program->count && way < DIRECTIONS; way++)
            leave_limit(program, way, k, samples);
        if (k < program->count && program->is_knot[k])
            start_lines(program, k, samples);
    }
    slopes->work.complete &= slopes->work.steps <= most_steps;
    for (size_t c = 0; c < cells; c++)
        program->upper[c] = smaller(program->upper[c], program->behind[c]);
    const double cost = *entry(program->behind, program, program->segments, program->count);
    return cost < program->ceiling ? cost : INFINITY;
}

int program_read(const struct line_program *program, int *knots, struct line *lines)
{
    int k = program->count, m = program->segments, used = 0;
    for (; k > 0; m--) {
        const int i = program->from[(size_t)m * ((size_t)program->count + 1) + (size_t)k];
        /* A line that gains no more than rounding of sums is none. */
        if (i < 0 ||
            (m > 1 && no_more_than(*entry(program->behind, program, m - 1, k), *entry(program->behind, program, m, k))))
            continue;
        const struct range *range = range_of(program, i, k);
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
    knots[used] = program->count;
    return used;
}

void program_place_anywhere(struct line_program *program)
{
    const struct points *points = program->points;
    for (int k = 0; k <= points->count; k++)
        program->is_knot[k] = false;
    for (int place = 0; place <= points_places(points); place++)
        program->is_knot[points_at(points, place)] = true;
    program->shares = 1;
}

void program_place_near(struct line_program *program, const int *knots, int segments, int radius)
{
    program_place_anywhere(program);
    for (int k = 0, m = 0; k <= program->count; k++) {
        m += m < segments && knots[m + 1] <= k;
        program->is_knot[k] &= k - knots[m] <= radius || (m < segments && knots[m + 1] - k <= radius);
    }
    program->shares = (2 * radius + 1) * segments / 2 + 1;
}

void program_take_lines(struct line_program *program, const int *knots, const struct line *lines, int segments)
{
    bool allowed = true;
    for (int m = 0; m < segments; m++)
        allowed &= lines[m].n >= program->rules->shift_min && lines[m].n <= program->rules->shift_max;
    for (int m = 0; allowed && m < segments; m++)
        *range_of(program, knots[m], knots[m + 1]) =
            (struct range){lines[m].cost, lines[m].offset, (int32_t)lines[m].q_b, lines[m].n};
}

/* Sums the cost of being at a limit of the output, and of being off it. */
static void sum_limits(struct line_program *program)
{
    const struct points *points = program->points;
    const int count = program->count;
    double most = 0;
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        const double near = (double)(way == UP ? program->rules->qmin_y : program->rules->qmax_y),
                     far = (double)(way == UP ? program->rules->qmax_y : program->rules->qmin_y);
        double *over = program->over[way], *off = program->off[way];
        over[0] = off[0] = 0;
        for (int k = 0; k < count; k++) {
            const double best = rint(points->target[k]), floor = points_floor(points, k);
            const double y = way == UP ? larger(near + 1, best) : smaller(near - 1, best);
            over[k + 1] = over[k] + points_cost(points, k, near) - floor;
            /* In a half the far limit may cost less than the codes before. */
            off[k + 1] = off[k] + larger(0, smaller(points_cost(points, k, y), points_cost(points, k, far)) - floor);
        }
        most = larger(most, larger(over[count], off[count]));
    }
    program->over_error = ROUNDING_SHARE(count) * most;
}

/* Sets the arrays to parts of some memory, one after the other; returns how much they take, of null too. */
static size_t lay_out(struct line_program *program, char *memory)
{
    const size_t row = (size_t)program->count + 1, layers = (size_t)program->segments + 1;
    struct slope_scan *slopes = &program->slopes;
    size_t used = 0;
#define TAKE(array, entries)                                                                                           \
    ((array) = memory ? (void *)(memory + used) : NULL, used += ((entries) * sizeof *(array) + 15) / 16 * 16)
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        TAKE(program->over[way], row);
        TAKE(program->off[way], row);
        TAKE(program->waiting[way], layers);
        TAKE(program->least_left[way], row * row);
        TAKE(slopes->from.window[way], row);
        TAKE(slopes->from.core[way], row);
        TAKE(slopes->from.leaving[way], row);
    }
    TAKE(program->floor_sum, row);
    TAKE(program->is_knot, row + 1);
    TAKE(program->paid, layers);
    TAKE(program->sums, row);
    TAKE(program->known, row);
    TAKE(program->cost, row);
    TAKE(program->left, row);
    TAKE(program->behind, layers * row);
    TAKE(program->from, layers * row);
    TAKE(program->upper, layers * row);
    TAKE(program->most, layers * row);
    TAKE(program->before, layers * row);
    TAKE(program->ahead_any, layers * row);
    TAKE(program->ahead, layers * row);
    TAKE(program->range, row * row);
    TAKE(program->least, row * row);
    TAKE(slopes->from.spare, row);
    TAKE(slopes->trial.ceiling, row);
    TAKE(slopes->trial.useful, row);
    TAKE(slopes->trial.code, row);
#undef TAKE
    return used;
}

void program_free(struct line_program *program)
{
    free(program->memory);
    free(program->slopes.work.singles);
}

int program_init(struct line_program *program, const struct points *points, const struct line_rules *rules,
                 int segments, struct diag *diag)
{
    const int count = points->count;
    const size_t row = (size_t)count + 1, layers = (size_t)segments + 1;
    *program = (struct line_program){.points = points, .rules = rules, .segments = segments, .count = count};
    program->memory = calloc(1, lay_out(program, NULL));
    if (!program->memory)
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", count);
    lay_out(program, program->memory);
    program->slopes.points = points;
    program->slopes.rules = rules;
    program->slopes.floor_sum = program->floor_sum;
    program->slopes.all = rules->form == PWL_ANCHORED || points->fixed || points->grid_whole;
    slopes_init(&program->slopes);
    program->unsafe = slopes_unsafe(&program->slopes);
    for (int k = 0; k < count; k++)
        program->floor_sum[k + 1] = program->floor_sum[k] + points_floor(points, k);
    program_place_anywhere(program);
    for (size_t c = 0; c < layers * row; c++)
        program->upper[c] = INFINITY;
    for (size_t r = 0; r < row * row; r++)
        program->range[r].cost = INFINITY;
    sum_limits(program);
    return diag->code = EXIT_DONE;
}
