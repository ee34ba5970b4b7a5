/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tie.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "band.h"
#include "certify.h"
#include "tie_exact.h"

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
                          .fold = spec->is_half,
                          .fold_sum = spec->fold_sum,
                          .by_max_err = spec->method == METHOD_MINIMAX};
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

/* By how much a step goes against a direction. */
static double backward(int direction, int64_t step)
{
    return direction == TURN ? fabs((double)step) : fmax(0, -direction * (double)step);
}

/* What a choice costs, the first that differs deciding. */
struct price {
    double violation; /* output codes by which ties are missed */
    double error;     /* the largest, or 0 */
    double squares;
};

static const struct price unaffordable = {INFINITY, INFINITY, INFINITY};

static bool cheaper(const struct price *a, const struct price *b)
{
    if (a->violation != b->violation)
        return a->violation < b->violation;
    return a->error != b->error ? a->error < b->error : a->squares < b->squares;
}

static struct price together(const struct price *a, const struct price *b)
{
    return (struct price){.violation = a->violation + b->violation,
                          .error = fmax(a->error, b->error),
                          .squares = a->squares + b->squares};
}

/* One line over the points [begin, end). */
struct option {
    int begin, end;
    struct line line;
    int64_t first, last, next; /* outputs at the first code, at the last, and at the code after it */
    struct price price;
    struct price sum; /* of the cheapest way to the end of this segment */
    int from;         /* the option before on that way */
};

/* The search around one table. */
struct search {
    const struct ties *ties;
    const struct points *points;
    const struct line_rules *rules;
    int segments, places; /* places where knots may lie: 0 to places */
    int *place;           /* of the knots in hand; segments + 1 */
    struct line *lines;
    int64_t *outputs; /* room for one for each point */
};

static int64_t origin_of(const struct search *search, int begin)
{
    return search->rules->form == PWL_ANCHORED ? search->points->cell[begin] : search->rules->zp_x;
}

static inline int64_t output(const struct line_rules *rules, const struct line *line, int64_t x, int rounding)
{
    return pwl_sat(pwl_line64((int)rules->form, rounding, (int32_t)line->q_b, x, line->n, line->offset), rules->qmin_y,
                   rules->qmax_y);
}

/* The output at a code that may lie beyond the segment; false where the product would leave 63 bits. */
static bool output_at(const struct search *search, const struct line *line, int64_t origin, int64_t code, int64_t *q)
{
    const struct line_rules *rules = search->rules;
    int64_t product;
    if (__builtin_mul_overflow(line->q_b, code - origin, &product) ||
        (rules->form == PWL_BIASED && __builtin_add_overflow(product, line->offset, &product)) ||
        product > (INT64_MAX >> 1) || product < (INT64_MIN >> 1) || line->n < -31)
        return false;
    if (line->n < 0 && llabs(product) >= INT64_MAX >> (2 - line->n))
        return false;
    *q = output(rules, line, code - origin, (int)rules->rounding);
    return true;
}

/* Outputs at the points of an option, for one rounding each so that the compiler knows it. */
static void outputs(const struct search *search, const struct option *option, int64_t *q)
{
    const struct line_rules *rules = search->rules;
    const double *code = search->points->code + option->begin;
    const int64_t origin = origin_of(search, option->begin);
    const struct line line = option->line;
    const int count = option->end - option->begin;
    switch (rules->rounding) {
    case PWL_FLOOR:
        for (int k = 0; k < count; k++)
            q[k] = output(rules, &line, (int64_t)code[k] - origin, PWL_FLOOR);
        break;
    case PWL_HALF_UP:
        for (int k = 0; k < count; k++)
            q[k] = output(rules, &line, (int64_t)code[k] - origin, PWL_HALF_UP);
        break;
    case PWL_HALF_AWAY:
        for (int k = 0; k < count; k++)
            q[k] = output(rules, &line, (int64_t)code[k] - origin, PWL_HALF_AWAY);
        break;
    case PWL_HALF_EVEN:
        for (int k = 0; k < count; k++)
            q[k] = output(rules, &line, (int64_t)code[k] - origin, PWL_HALF_EVEN);
        break;
    }
}

/* Prices an option whose range and line are set; `enough`: whatever costs more is of no use. */
static void appraise(const struct search *search, struct option *option, const struct price *enough)
{
    const struct ties *ties = search->ties;
    const struct points *points = search->points;
    const struct line *line = &option->line;
    const int64_t origin = origin_of(search, option->begin);
    const int64_t first = points->cell[option->begin], end = points->cell[option->end];
    const int64_t *q = search->outputs;
    option->price = unaffordable;
    if (!line_provable(search->rules, line, first, end - 1) ||
        !output_at(search, line, origin, first, &option->first) ||
        !output_at(search, line, origin, end - 1, &option->last) ||
        !output_at(search, line, origin, end, &option->next))
        return;
    const int count = option->end - option->begin;
    const double *target = points->target + option->begin, *mass = points->mass + option->begin;
    const int64_t *fixed = points->fixed ? points->fixed + option->begin : NULL;
    outputs(search, option, search->outputs);
    double squares = 0, most = 0;
    for (int k = 0; k < count && !points->served; k++) {
        const double e = fabs((double)q[k] - target[k]);
        squares += e * e * mass[k];
        most = e > most ? e : most;
    }
    for (int k = 0; k < count && points->served; k++) {
        squares += points_cost(points, option->begin + k, (double)q[k]);
        most = fmax(most, points_error(points, option->begin + k, (double)q[k]));
    }
    struct price price = {.error = ties->by_max_err ? most : 0, .squares = squares};
    for (int k = 0; fixed && k < count; k++)
        if (fixed[k] != POINT_FREE && fixed[k] != q[k])
            return;
    if (enough->violation <= 0 && !cheaper(&price, enough))
        return;
    if (ties->constraints.monotone) {
        price.violation += backward(ties->cell[option->begin], q[0] - option->first);
        price.violation += backward(ties->cell[option->end - 1], option->last - q[count - 1]);
        for (int k = 1; k < count; k++)
            price.violation += backward(ties->inside[option->begin + k], q[k] - q[k - 1]);
    }
    /* Where a folded table's halves meet, at the first code, the mirrored half ends with the sum minus the second. */
    if (ties->fold && option->begin == 0 && ties->constraints.continuous)
        price.violation += fmax(0, fabs((double)(2 * option->first - ties->fold_sum)) - ties->constraints.max_step);
    if (ties->fold && option->begin == 0 && option->end > 1 && ties->constraints.monotone)
        price.violation += backward(ties->joint[1], q[0] + q[1] - ties->fold_sum);
    option->price = price;
}

static double joint_violation(const struct ties *ties, const struct option *left, const struct option *right)
{
    double violation = 0;
    if (ties->constraints.monotone)
        violation += backward(ties->joint[right->begin], right->first - left->last);
    if (ties->constraints.monotone && ties->fold && right->begin == 1)
        violation += backward(ties->joint[1], left->first + right->first - ties->fold_sum);
    if (ties->constraints.continuous)
        violation += fmax(0, fabs((double)(right->first - left->next)) - ties->constraints.max_step);
    return violation;
}

/* The finest provable line through (code, value) with about that slope. */
static bool line_through(const struct search *search, int begin, int end, double slope, double code, double value,
                         struct line *line)
{
    const struct line_rules *rules = search->rules;
    const struct points *points = search->points;
    const double x = code - (double)origin_of(search, begin);
    for (int n = rules->shift_max; n >= rules->shift_min; n--) {
        const double unit = ldexp(1, n);
        *line = (struct line){.q_b = slope_nearest(rules, slope * unit), .n = n};
        if (llabs(line->q_b) > rules->slope_limit)
            continue;
        const double offset = rules->form == PWL_BIASED ? rint(value * unit - (double)line->q_b * x)
                                                        : rint(value - (double)line->q_b / unit * x);
        if (!(fabs(offset) < (double)rules->offset_limit))
            continue;
        line->offset = (int64_t)offset;
        if (line_provable(rules, line, points->cell[begin], points->cell[end] - 1))
            return true;
    }
    return false;
}

/* The line before it is rounded, at a code. */
static double real_value(const struct search *search, int begin, const struct line *line, double code)
{
    const double product = (double)line->q_b * (code - (double)origin_of(search, begin));
    return search->rules->form == PWL_BIASED ? ldexp(product + (double)line->offset, -line->n)
                                             : ldexp(product, -line->n) + (double)line->offset;
}

enum { REACH = 1, PLACES = 2 * REACH + 1, VALUES = 2, LINES = (2 * VALUES + 1) * (2 * VALUES + 1) };
enum { MOST_OPTIONS = 2 * PLACES * PLACES * LINES + 1 };

/* Two places of a line, real. */
struct ends {
    double x0, y0, x1, y1;
};

/* Lines through the ends and values near them, appraised. Returns how many. */
static int add_lines(const struct search *search, struct option option, const struct ends *ends, double shift,
                     const struct price *enough, struct option *options)
{
    int count = 0;
    for (int i = -VALUES; i <= VALUES; i++)
        for (int j = -VALUES; j <= VALUES; j++) {
            const double left = ends->y0 + i * shift, right = ends->y1 + j * shift;
            const double slope = ends->x1 > ends->x0 ? (right - left) / (ends->x1 - ends->x0) : 0;
            if (!line_through(search, option.begin, option.end, slope, 0.5 * (ends->x0 + ends->x1),
                              0.5 * (left + right), &option.line))
                continue;
            appraise(search, &option, enough);
            if (option.price.squares < INFINITY)
                options[count++] = option;
        }
    return count;
}

/* The value at a knot that its two lines share: the mean of theirs, at a place near the knot. */
static double shared_value(const struct search *search, int m, double code)
{
    double sum = 0;
    int count = 0;
    for (int side = m - 1; side <= m; side++)
        if (side >= 0 && side < search->segments) {
            sum += real_value(search, points_at(search->points, search->place[side]), &search->lines[side], code);
            count++;
        }
    return sum / count;
}

/* The options of segment m around the table in hand: the ends moved by `step` places, the values there by `shift`. */
static int collect_options(const struct search *search, int m, int step, double shift, const struct price *enough,
                           struct option *options)
{
    const struct points *points = search->points;
    const struct line *line = &search->lines[m];
    const int old_begin = points_at(search->points, search->place[m]);
    const bool pinned = points->grid_whole;
    int count = 0;
    for (int a = -REACH; a <= REACH; a++)
        for (int b = -REACH; b <= REACH; b++) {
            const int begin_place = search->place[m] + a * step, end_place = search->place[m + 1] + b * step;
            if ((a && (m == 0 || pinned)) || (b && (m == search->segments - 1 || pinned)) || begin_place < 0 ||
                end_place > search->places || begin_place >= end_place)
                continue;
            struct option option = {.begin = points_at(search->points, begin_place),
                                    .end = points_at(search->points, end_place)};
            if (a == 0 && b == 0) {
                option.line = *line;
                appraise(search, &option, &unaffordable);
                options[count++] = option;
            }
            struct ends ends = {.x0 = (double)points->cell[option.begin], .x1 = (double)points->cell[option.end] - 1};
            ends.y0 = real_value(search, old_begin, line, ends.x0);
            ends.y1 = real_value(search, old_begin, line, ends.x1);
            count += add_lines(search, option, &ends, shift, enough, options + count);
            if (!search->ties->constraints.continuous)
                continue;
            ends.x1 += 1;
            ends.y0 = rint(shared_value(search, m, ends.x0));
            ends.y1 = rint(shared_value(search, m + 1, ends.x1));
            count += add_lines(search, option, &ends, shift, enough, options + count);
        }
    return count;
}

/* The cheapest table among the options around the one in hand, which it becomes; *price is its price. */
static bool improve(struct search *search, int step, double shift, struct option *options, struct price *price)
{
    const int segments = search->segments;
    int *starts = malloc(((size_t)segments + 1) * sizeof *starts);
    if (!starts)
        return false;
    starts[0] = 0;
    for (int m = 0; m < segments; m++) {
        struct option *mine = options + starts[m];
        const int count = collect_options(search, m, step, shift, price, mine);
        starts[m + 1] = starts[m] + count;
        for (int k = 0; k < count; k++) {
            mine[k].sum = m == 0 ? mine[k].price : unaffordable;
            mine[k].from = -1;
            for (int before = m ? starts[m - 1] : 0; m && before < starts[m]; before++) {
                const struct option *left = &options[before];
                if (left->end != mine[k].begin || !(left->sum.squares < INFINITY))
                    continue;
                const struct price joint = {joint_violation(search->ties, left, &mine[k]), 0, 0};
                struct price sum = together(&left->sum, &mine[k].price);
                sum = together(&sum, &joint);
                if (cheaper(&sum, &mine[k].sum)) {
                    mine[k].sum = sum;
                    mine[k].from = before;
                }
            }
        }
    }
    int best = -1;
    for (int k = starts[segments - 1]; k < starts[segments]; k++)
        if (cheaper(&options[k].sum, price)) {
            *price = options[k].sum;
            best = k;
        }
    free(starts);
    const bool improved = best >= 0;
    if (improved)
        search->place[segments] = search->places;
    for (int m = segments - 1; best >= 0; best = options[best].from, m--) {
        search->lines[m] = options[best].line;
        search->place[m] = points_place_before(search->points, options[best].begin);
    }
    return improved;
}

/* The table in hand, all ties counted. */
static struct price price_of(const struct search *search)
{
    struct price sum = {0, 0, 0};
    struct option before = {0};
    for (int m = 0; m < search->segments; m++) {
        struct option option = {.begin = points_at(search->points, search->place[m]),
                                .end = points_at(search->points, search->place[m + 1]),
                                .line = search->lines[m]};
        appraise(search, &option, &unaffordable);
        sum = together(&sum, &option.price);
        if (m) {
            const struct price joint = {joint_violation(search->ties, &before, &option), 0, 0};
            sum = together(&sum, &joint);
        }
        before = option;
    }
    return sum;
}

/* The costs of a line over the points between two places, and the line. */
static double line_between(const struct search *search, int begin, int end, struct line *line)
{
    return line_fit(search->rules, search->points, points_at(search->points, begin), points_at(search->points, end),
                    LINE_UNLIMITED, LINE_QUICK, line)
               ? line->cost
               : INFINITY;
}

/* Places a knot at each extreme of f and drops as many others, those whose neighbours are served best by one line.
 * Returns false, the table in hand being left, when no extreme is without a knot or there are too many. */
static bool start_at_turns(struct search *search)
{
    const struct ties *ties = search->ties;
    const int points = search->points->count;
    int *place = malloc(((size_t)points + 1) * sizeof *place);
    bool *keep = calloc((size_t)search->places + 1, sizeof *keep);
    int turns = 0, count = 0, last = 0;
    bool moved = false;
    if (!place || !keep)
        goto done;
    for (int k = 1; k < points; k++) {
        const int direction = ties->joint[k];
        int nearest = 0;
        if (direction * last < 0) {
            while (nearest < search->places && points_at(search->points, nearest) < k - 1)
                nearest++;
            turns += !keep[nearest];
            keep[nearest] = true;
        }
        last = direction ? direction : last;
    }
    if (turns == 0 || turns >= search->segments || search->points->grid_whole)
        goto done;
    moved = true;
    for (int p = 0, m = 0; p <= search->places; p++) {
        while (m < search->segments && search->place[m] < p)
            m++;
        if (keep[p] || search->place[m] == p)
            place[count++] = p;
    }
    for (count--; count > search->segments; count--) { /* count is the number of segments */
        double least = INFINITY;
        int victim = -1;
        for (int m = 1; m < count; m++) {
            struct line line;
            if (keep[place[m]])
                continue;
            const double more = line_between(search, place[m - 1], place[m + 1], &line) -
                                line_between(search, place[m - 1], place[m], &line) -
                                line_between(search, place[m], place[m + 1], &line);
            if (victim < 0 || more < least) {
                least = more;
                victim = m;
            }
        }
        memmove(place + victim, place + victim + 1, (size_t)(count - victim) * sizeof *place);
    }
    memcpy(search->place, place, ((size_t)count + 1) * sizeof *place);
    for (int m = 0; m < count; m++)
        line_between(search, place[m], place[m + 1], &search->lines[m]);
done:
    free(place);
    free(keep);
    return moved;
}

/* From wide steps to narrow ones. */
static void descend(struct search *search, struct option *options, struct price *price)
{
    enum { ROUNDS = 6 };
    /* Errors of the table in hand, and the width of its segments, are the scale of the first steps. */
    double shift =
        fmax(1, 2 * (search->ties->by_max_err ? price->error : sqrt(price->squares / search->points->count)));
    int step = search->places / search->segments / 4;
    for (; shift >= 0.25; shift /= 2, step /= 2)
        for (int round = 0; round < ROUNDS && improve(search, step > 0 ? step : 1, shift, options, price); round++)
            ;
}

/* The better of what is found from the table in hand and from one with knots at the extremes of f. */
static void search_around(struct search *search, struct option *options, struct price *price)
{
    const size_t knots = ((size_t)search->segments + 1) * sizeof *search->place,
                 lines = (size_t)search->segments * sizeof *search->lines;
    int *place = malloc(knots);
    struct line *line = malloc(lines);
    if (place && line) {
        memcpy(place, search->place, knots);
        memcpy(line, search->lines, lines);
    }
    descend(search, options, price);
    if (place && line && search->ties->constraints.monotone) {
        struct search other = *search;
        other.place = place;
        other.lines = line;
        if (start_at_turns(&other)) {
            struct price other_price = price_of(&other);
            descend(&other, options, &other_price);
            if (cheaper(&other_price, price)) {
                *price = other_price;
                memcpy(search->place, place, knots);
                memcpy(search->lines, line, lines);
            }
        }
    }
    free(place);
    free(line);
}

static const char *binding(const struct constraints *constraints)
{
    return constraints->monotone && constraints->continuous ? "--monotone and --continuous"
           : constraints->monotone                          ? "--monotone"
                                                            : "--continuous";
}

/* The rules of a table in hand: with one shift, its own. */
static struct line_rules rules_of(const struct line_rules *rules, const struct line *lines)
{
    struct line_rules own = *rules;
    if (rules->one_shift)
        own.shift_min = own.shift_max = lines[0].n;
    return own;
}

static void take(struct search *search, int segments, const int *knots)
{
    search->segments = segments;
    for (int m = 0; m <= segments; m++)
        search->place[m] = points_place_before(search->points, knots[m]);
}

/* The table of the least largest error, where it can be found; then one near it of smaller squares. */
static int search_completely(struct search *search, const struct line_rules *rules, double low, struct option *options,
                             struct tied *tied, struct price *price, struct diag *diag)
{
    const double high = price->violation > 0 ? INFINITY : price->error;
    struct tie_exact exact = {.knots = tied->knots, .lines = malloc((size_t)tied->most * sizeof *exact.lines)};
    if (!exact.lines)
        return diag_set(diag, EXIT_IO, "out of memory for %d segments", tied->most);
    if (!tie_least_error(search->ties, search->points, rules, tied->most, low, high, &exact, diag)) {
        tied->proven = exact.complete;
        tied->max_err = exact.found ? exact.max_err : price->error;
        if (exact.found) {
            memcpy(search->lines, exact.lines, (size_t)exact.segments * sizeof *exact.lines);
            take(search, exact.segments, exact.knots);
            const struct line_rules *const before = search->rules, own = rules_of(rules, search->lines);
            search->rules = &own;
            *price = price_of(search);
            descend(search, options, price);
            search->rules = before;
        }
    }
    free(exact.lines);
    return diag->code;
}

static int search_table(struct search *search, const struct line_rules *rules, double low, struct tied *tied,
                        struct diag *diag)
{
    struct option *options = malloc((size_t)tied->most * MOST_OPTIONS * sizeof *options);
    struct price price = price_of(search);
    tied->changed = price.violation > 0;
    tied->proven = false;
    if (!options)
        return diag_set(diag, EXIT_IO, "out of memory for %d segments", tied->most);
    diag->code = EXIT_DONE;
    if (tied->changed || search->ties->improve) {
        search_around(search, options, &price);
        if (search->ties->by_max_err)
            search_completely(search, rules, low, options, tied, &price, diag);
    }
    free(options);
    tied->segments = search->segments;
    for (int m = 0; m <= search->segments; m++)
        tied->knots[m] = points_at(search->points, search->place[m]);
    if (price.violation > 0 && !diag->code)
        diag_set(diag, EXIT_REQUIREMENT, "%s: no table of %d segments %s it; more segments or a larger step are needed",
                 binding(&search->ties->constraints), tied->most,
                 tied->proven ? "keeps to" : "was found that keeps to");
    return diag->code;
}

int tie_segments(const struct ties *ties, const struct points *points, const struct line_rules *rules, double low,
                 struct tied *tied, struct diag *diag)
{
    const struct line_rules own = rules_of(rules, tied->lines);
    struct search search = {.ties = ties,
                            .points = points,
                            .rules = &own,
                            .places = points_places(points),
                            .place = malloc(((size_t)tied->most + 1) * sizeof *search.place),
                            .lines = tied->lines,
                            .outputs = malloc((size_t)points->count * sizeof *search.outputs)};
    if (search.place && search.outputs) {
        take(&search, tied->segments, tied->knots);
        search_table(&search, rules, low, tied, diag);
    } else {
        diag_set(diag, EXIT_IO, "out of memory for %d segments", tied->most);
    }
    free(search.place);
    free(search.outputs);
    return diag->code;
}
