/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strip.h"

#include <math.h>
#include <stdlib.h>

#include <pwl/fixed.h>

#include "band.h"

__extension__ typedef __int128 wide;

/* Candidates of one search, before it gives up undecided. */
#define MOST_CANDIDATES ((int64_t)1 << 20)

/* Corners of a hull; x is X of the form, y a limit. */
struct corners {
    int64_t *x, *y;
    int count;
};

struct strip_room {
    const struct points *points;
    int64_t *memory;
    struct corners low, high; /* upper hull of lower limits, lower hull of upper limits */
};

struct strip_room *strip_room_new(const struct points *points)
{
    const size_t count = (size_t)points->count;
    struct strip_room *room = calloc(1, sizeof *room);
    if (!room)
        return NULL;
    room->points = points;
    room->memory = malloc(4 * count * sizeof *room->memory);
    if (!room->memory) {
        free(room);
        return NULL;
    }
    room->low = (struct corners){.x = room->memory, .y = room->memory + count};
    room->high = (struct corners){.x = room->memory + 2 * count, .y = room->memory + 3 * count};
    return room;
}

void strip_room_free(struct strip_room *room)
{
    if (room)
        free(room->memory);
    free(room);
}

/* side +1 keeps an upper hull, -1 a lower one. |x| < 2^34 and |y| < 2^35: the products fit 128 bits. */
static void corners_add(struct corners *corners, int side, int64_t x, int64_t y)
{
    while (corners->count >= 2) {
        const int64_t x1 = corners->x[corners->count - 2], y1 = corners->y[corners->count - 2];
        const int64_t x2 = corners->x[corners->count - 1], y2 = corners->y[corners->count - 1];
        const wide turn = (wide)(y2 - y1) * (x - x1) - (wide)(y - y1) * (x2 - x1);
        if (side > 0 ? turn > 0 : turn < 0)
            break;
        corners->count--;
    }
    corners->x[corners->count] = x;
    corners->y[corners->count] = y;
    corners->count++;
}

/* One search. */
struct search {
    const struct strip_room *room;
    const struct line_rules *rules;
    int begin, end;
    int64_t origin, first, last;
    double max_err;
    bool nearest; /* rounds to nearest: limits are widened by 1/2 */
    int64_t candidates;
    struct line line;
};

static int64_t floor_div(wide a, wide b)
{
    const wide q = a / b;
    return (int64_t)(a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
}

static int64_t ceil_div(wide a, wide b)
{
    return -floor_div(-a, b);
}

/* The specification at every point. The line is provable, so no product overflows. */
static bool serves(const struct search *search, const struct line *line)
{
    const struct line_rules *rules = search->rules;
    const struct points *points = search->room->points;
    for (int k = search->begin; k < search->end; k++) {
        const struct band band = band_at(points, rules->qmin_y, rules->qmax_y, k, search->max_err);
        const int64_t product = line->q_b * ((int64_t)points->code[k] - search->origin);
        const int64_t q = rules->form == PWL_BIASED ? pwl_shr64(product + line->offset, line->n, (int)rules->rounding)
                                                    : pwl_shr64(product, line->n, (int)rules->rounding) + line->offset;
        if ((!band.open_low && q < band.low) || (!band.open_high && q > band.high))
            return false;
    }
    return true;
}

static bool accept(struct search *search, int64_t q_b, int n, int64_t offset)
{
    const struct line line = {.q_b = q_b, .n = n, .offset = offset};
    if (llabs(q_b) > search->rules->slope_limit || !line_provable(search->rules, &line, search->first, search->last) ||
        !serves(search, &line))
        return false;
    search->line = line;
    return true;
}

/* A bound on the slope: numerator / denominator, denominator > 0. */
struct fraction {
    wide numerator;
    int64_t denominator;
    bool finite;
};

static bool less(const struct fraction *a, const struct fraction *b)
{
    return a->numerator * b->denominator < b->numerator * a->denominator;
}

/* Takes in one corner: limit - c against slope * x, `above` when the limit bounds from below. Returns false when x is 0
 * and the limit is missed. Numerators are doubled to hold the halves. */
static bool bound_slope(const struct search *search, int64_t x, int64_t limit, int64_t c, bool above,
                        struct fraction *low, struct fraction *high)
{
    /* floor: L - c <= v and v < U + 1 - c, which the closed bound below includes and serves() settles. */
    wide twice = 2 * ((wide)limit - c);
    twice += search->nearest ? (above ? -1 : 1) : (above ? 0 : 2);
    if (x == 0)
        return above ? twice <= 0 : twice >= 0;
    struct fraction bound = {.numerator = x > 0 ? twice : -twice, .denominator = 2 * (x > 0 ? x : -x), .finite = true};
    if ((x > 0) == above) {
        if (!low->finite || less(low, &bound))
            *low = bound;
    } else if (!high->finite || less(&bound, high)) {
        *high = bound;
    }
    return true;
}

/* A bound that is itself q_b / 2^n; at an end of the interval the rounding decides. */
static bool accept_end(struct search *search, const struct fraction *bound, int64_t c)
{
    wide q = bound->numerator, d = bound->denominator;
    while (q % 2 == 0 && d % 2 == 0) {
        q /= 2;
        d /= 2;
    }
    /* Any odd factor of d has to divide q. */
    int n = 0;
    while (d % 2 == 0) {
        d /= 2;
        n++;
    }
    if (q % d != 0)
        return false;
    q /= d;
    while (n == 0 && q != 0 && q % 2 == 0 && (q > search->rules->slope_limit || -q > search->rules->slope_limit)) {
        q /= 2;
        n--;
        if (n == -search->rules->shift_limit)
            break;
    }
    const int64_t limit = search->rules->slope_limit;
    return n <= search->rules->shift_limit && -limit <= q && q <= limit && accept(search, (int64_t)q, n, c);
}

/* Some slope for the constant c. */
static bool try_constant(struct search *search, int64_t c)
{
    struct fraction low = {0}, high = {0};
    const struct corners *corners = &search->room->low;
    for (int k = 0; k < corners->count; k++)
        if (!bound_slope(search, corners->x[k], corners->y[k], c, true, &low, &high))
            return false;
    corners = &search->room->high;
    for (int k = 0; k < corners->count; k++)
        if (!bound_slope(search, corners->x[k], corners->y[k], c, false, &low, &high))
            return false;
    if (low.finite && high.finite && less(&high, &low))
        return false;
    if (!low.finite && !high.finite)
        return accept(search, 0, 0, c);

    /* The coarsest fraction strictly inside; numerators have at most 70 bits here, so that 2^31 times them fits. */
    const int shift_limit = search->rules->shift_limit < 40 ? search->rules->shift_limit : 40;
    for (int n = -shift_limit; n <= shift_limit; n++) {
        wide q;
        if (low.finite) {
            const wide a = n >= 0 ? low.numerator * ((wide)1 << n) : low.numerator;
            const wide b = n >= 0 ? low.denominator : (wide)low.denominator << -n;
            q = (a >= 0 ? a / b : -((-a + b - 1) / b)) + 1; /* floor + 1 */
        } else {
            const wide a = n >= 0 ? high.numerator * ((wide)1 << n) : high.numerator;
            const wide b = n >= 0 ? high.denominator : (wide)high.denominator << -n;
            q = -(-a >= 0 ? -a / b : -((a + b - 1) / b)) - 1; /* ceil - 1 */
        }
        if (q > search->rules->slope_limit || -q > search->rules->slope_limit)
            break; /* and longer still for larger n */
        if (low.finite && high.finite) {
            const wide left = n >= 0 ? q * high.denominator : q * high.denominator * ((wide)1 << -n);
            const wide right = n >= 0 ? high.numerator * ((wide)1 << n) : high.numerator;
            if (left >= right)
                continue;
        }
        if (accept(search, (int64_t)q, n, c))
            return true;
        break;
    }
    return (low.finite && accept_end(search, &low, c)) || (high.finite && accept_end(search, &high, c));
}

/* Least c that meets all lower limits for a slope, and the largest that meets all upper ones; real. */
static double least_constant(const struct corners *low, double slope)
{
    double c = -INFINITY;
    for (int k = 0; k < low->count; k++)
        c = fmax(c, (double)low->y[k] - slope * (double)low->x[k]);
    return c;
}

static double most_constant(const struct corners *high, double slope)
{
    double c = INFINITY;
    for (int k = 0; k < high->count; k++)
        c = fmin(c, (double)high->y[k] + 1 - slope * (double)high->x[k]);
    return c;
}

/* Extreme of a convex (sign +1: minimum) or concave (-1: maximum) function of the slope over [a, b]. */
static double extreme(double (*of)(const struct corners *, double), const struct corners *corners, int sign, double a,
                      double b)
{
    for (int step = 0; step < 100; step++) {
        const double left = a + (b - a) / 3, right = b - (b - a) / 3;
        if (sign * (of(corners, left) - of(corners, right)) <= 0)
            b = right;
        else
            a = left;
    }
    const double middle = 0.5 * (a + b);
    return sign > 0 ? fmin(of(corners, middle), fmin(of(corners, a), of(corners, b)))
                    : fmax(of(corners, middle), fmax(of(corners, a), of(corners, b)));
}

/* Every integer constant of the polygon of real lines, from the middle outwards. */
static enum strip_answer search_constants(struct search *search, const struct band_range *window)
{
    const double low = extreme(least_constant, &search->room->low, +1, window->slope_min, window->slope_max);
    const double high = extreme(most_constant, &search->room->high, -1, window->slope_min, window->slope_max);
    /* The searches above stop a little short of the extremes; one more constant on each side covers that. */
    const double margin = 2 + 1e-9 * (fabs(low) + fabs(high));
    const double limit = (double)search->rules->offset_limit + 1;
    const double from = fmax(floor(low - margin), -limit), to = fmin(ceil(high + margin), limit - 1);
    if (!(from <= to))
        return STRIP_NONE;
    if (!(to - from < (double)MOST_CANDIDATES))
        return STRIP_UNDECIDED;
    const int64_t c_min = (int64_t)from, c_max = (int64_t)to, middle = c_min + (c_max - c_min) / 2;
    for (int64_t away = 0; away <= c_max - c_min; away++) {
        if (middle + away <= c_max && try_constant(search, middle + away))
            return STRIP_FOUND;
        if (away && middle - away >= c_min && try_constant(search, middle - away))
            return STRIP_FOUND;
    }
    return STRIP_NONE;
}

/* The biases that serve with one slope; the ends are exact under floor, and one inside both ends serves under every
 * rounding, since ties are at the ends. */
static bool try_biased_slope(struct search *search, int64_t q_b, int n)
{
    const struct line_rules *rules = search->rules;
    const wide unit = n >= 0 ? (wide)1 << n : 1, half = search->nearest && n > 0 ? unit / 2 : 0;
    wide low = -(wide)rules->offset_limit - 1, high = rules->offset_limit;
    for (int k = 0; k < search->room->low.count; k++) {
        const wide limit = search->room->low.y[k];
        const wide scaled = n >= 0 ? limit * unit : ceil_div(limit, (wide)1 << -n);
        const wide bound = scaled - half - (wide)q_b * search->room->low.x[k];
        low = bound > low ? bound : low;
    }
    for (int k = 0; k < search->room->high.count; k++) {
        const wide limit = search->room->high.y[k];
        const wide scaled = n >= 0 ? (limit + 1) * unit - 1 : floor_div(limit, (wide)1 << -n);
        const wide bound = scaled - half + (half ? 1 : 0) - (wide)q_b * search->room->high.x[k];
        high = bound < high ? bound : high;
    }
    if (low > high)
        return false;
    const int64_t a = (int64_t)low, b = (int64_t)high, middle = a + (b - a) / 2;
    return accept(search, q_b, n, middle) || accept(search, q_b, n, a) || accept(search, q_b, n, b);
}

/* Biased: every slope of the window, finest shift first, since a finer one has all biases of a coarser one. */
static enum strip_answer search_biases(struct search *search, const struct band_range *window)
{
    const int64_t limit = search->rules->slope_limit;
    const double slack = 1e-12 * fmax(fabs(window->slope_min), fabs(window->slope_max));
    for (int n = search->rules->shift_limit; n >= -search->rules->shift_limit; n--) {
        const double from = fmax(ceil(ldexp(window->slope_min - slack, n)), -(double)limit);
        const double to = fmin(floor(ldexp(window->slope_max + slack, n)), (double)limit);
        if (!(from <= to))
            continue;
        for (int64_t q_b = (int64_t)from; q_b <= (int64_t)to; q_b++) {
            if (search->candidates++ > MOST_CANDIDATES)
                return STRIP_UNDECIDED;
            /* What a shorter slope says was said at the finer shift, unless that was not provable. */
            if (try_biased_slope(search, q_b, n))
                return STRIP_FOUND;
        }
    }
    return STRIP_NONE;
}

enum strip_answer strip_line(struct strip_room *room, const struct line_rules *rules, int begin, int end,
                             double max_err, struct line *line)
{
    const struct points *points = room->points;
    struct band_range window;
    struct diag ignored;
    struct search search = {.room = room,
                            .rules = rules,
                            .begin = begin,
                            .end = end,
                            .first = points->cell[begin],
                            .last = points->cell[end] - 1,
                            .max_err = max_err,
                            .nearest = rules->rounding != PWL_FLOOR};
    search.origin = rules->form == PWL_ANCHORED ? search.first : rules->zp_x;
    if (band_reach(points, rules->qmin_y, rules->qmax_y, begin, end, max_err, &window, &ignored))
        return STRIP_UNDECIDED;
    if (window.end < end)
        return STRIP_NONE;

    room->low.count = room->high.count = 0;
    bool flat = true;
    int64_t flat_low = INT64_MIN, flat_high = INT64_MAX;
    for (int k = begin; k < end; k++) {
        const struct band band = band_at(points, rules->qmin_y, rules->qmax_y, k, max_err);
        const int64_t x = (int64_t)points->code[k] - search.origin;
        if (!band.open_low) {
            corners_add(&room->low, +1, x, band.low);
            flat_low = band.low > flat_low ? band.low : flat_low;
        }
        if (!band.open_high) {
            corners_add(&room->high, -1, x, band.high);
            flat_high = band.high < flat_high ? band.high : flat_high;
        }
    }
    flat = flat_low <= flat_high;
    *line = (struct line){0};
    if (flat) {
        const int64_t level = flat_low > INT64_MIN ? flat_low : flat_high < INT64_MAX ? flat_high : rules->qmin_y;
        search.line = (struct line){0};
        if (accept(&search, 0, 0, level)) {
            *line = search.line;
            return STRIP_FOUND;
        }
    }
    enum strip_answer answer;
    if (rules->form == PWL_BIASED) {
        const double steepest = ldexp((double)rules->slope_limit, rules->shift_limit);
        window.slope_min = fmax(window.slope_min, -steepest);
        window.slope_max = fmin(window.slope_max, steepest);
        answer = search_biases(&search, &window);
    } else if (isfinite(window.slope_min) && isfinite(window.slope_max)) {
        answer = search_constants(&search, &window);
    } else {
        /* Bounded on one side only: a step into saturation. Steep slopes through every constant near the range. */
        answer = STRIP_UNDECIDED;
        for (int n = rules->shift_limit; n >= -rules->shift_limit && answer == STRIP_UNDECIDED; n--)
            for (int sign = -1; sign <= 1 && answer == STRIP_UNDECIDED; sign += 2) {
                const double slope = sign * ldexp(1, -n);
                if (slope < window.slope_min || slope > window.slope_max)
                    continue;
                const double a = least_constant(&room->low, slope), b = most_constant(&room->high, slope);
                const double c = isfinite(a) ? ceil(a) : isfinite(b) ? floor(b) - 1 : 0;
                if (fabs(c) <= (double)rules->offset_limit && try_constant(&search, (int64_t)c))
                    answer = STRIP_FOUND;
            }
    }
    *line = search.line;
    return answer;
}
