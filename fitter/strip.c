/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strip.h"

#include <math.h>
#include <stdlib.h>

#include <pwl/fixed.h>

#include "band.h"

__extension__ typedef __int128 wide;

/* Slopes or constants of one search before it gives up undecided, by the bits of the accumulator. Of slopes of 16 bits
 * all that can matter are fewer. */
enum { MOST_CANDIDATES_32 = 1 << 22, MOST_CANDIDATES_64 = 1 << 8 };

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
    int64_t most_candidates;
    struct line line;
};

static wide floor_div(wide a, wide b)
{
    const wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static wide ceil_div(wide a, wide b)
{
    return -floor_div(-a, b);
}

static wide power(int n)
{
    return (wide)1 << n;
}

/* The specification at every point. The line is provable, so no product overflows. */
static bool serves(const struct search *search, const struct line *line)
{
    const struct line_rules *rules = search->rules;
    const struct points *points = search->room->points;
    for (int k = search->begin; k < search->end; k++) {
        const struct band band = band_at(points, rules->qmin_y, rules->qmax_y, k, search->max_err);
        const int64_t q = line_value(rules, line, search->origin, (int64_t)points->code[k]);
        if ((!band.open_low && q < band.low) || (!band.open_high && q > band.high))
            return false;
    }
    return true;
}

static bool accept(struct search *search, int64_t q_b, int n, int64_t offset)
{
    const struct line line = {.q_b = q_b, .n = n, .offset = offset};
    if (!line_provable(search->rules, &line, search->first, search->last) || !serves(search, &line))
        return false;
    search->line = line;
    return true;
}

/* A line of slope 0 whose value is the code c, of at most 33 bits. */
static bool accept_flat(struct search *search, int64_t c)
{
    const int n = line_flat_shift(search->rules);
    if (search->rules->form != PWL_BIASED || n == 0)
        return accept(search, 0, n, c);
    const wide bias = n > 0 ? c * power(n) : floor_div(c, power(-n));
    const wide limit = search->rules->offset_limit;
    return -limit <= bias && bias <= limit && accept(search, 0, n, (int64_t)bias);
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
    const struct line_rules *rules = search->rules;
    const int64_t limit = rules->slope_limit;
    wide q = bound->numerator, d = bound->denominator;
    if (q == 0)
        return accept_flat(search, c);
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
    while (q % 2 == 0 && (q > limit || -q > limit || n > rules->shift_max)) { /* n is 0 or less here, or q odd */
        q /= 2;
        n--;
    }
    for (; n < rules->shift_min; n++) /* at most 126 bits */
        q *= 2;
    return n <= rules->shift_max && -limit <= q && q <= limit && accept(search, (int64_t)q, n, c);
}

/* The integer of least magnitude strictly between two bounds of one sign, times 2^n; 0 when there is none. At least one
 * bound is finite; its numerator has at most 52 bits and the denominator 36, so that a shift by 63 fits. */
static wide least_between(const struct fraction *low, const struct fraction *high, int n)
{
    const wide up = n > 0 ? power(n) : 1, down = n < 0 ? power(-n) : 1;
    if (low->finite && low->numerator >= 0) {
        const wide q = floor_div(low->numerator * up, low->denominator * down) + 1;
        return high->finite && q >= ceil_div(high->numerator * up, high->denominator * down) ? 0 : q;
    }
    const wide q = ceil_div(high->numerator * up, high->denominator * down) - 1;
    return low->finite && q <= floor_div(low->numerator * up, low->denominator * down) ? 0 : q;
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

    /* Strictly inside, each slope serves. The flattest of a shift is the easiest to prove. */
    if ((!low.finite || low.numerator < 0) && (!high.finite || high.numerator > 0)) {
        if (accept_flat(search, c))
            return true;
    } else {
        const wide limit = search->rules->slope_limit;
        for (int n = search->rules->shift_min; n <= search->rules->shift_max; n++) {
            const wide q = least_between(&low, &high, n);
            if (q > limit || -q > limit)
                break; /* and longer still for larger n */
            if (q != 0 && accept(search, (int64_t)q, n, c))
                return true;
        }
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

/* Integers from `low` to `high`. */
struct span {
    int64_t low, high;
};

/* Integers from low to high, cut to [min, max], which have at most 48 bits; empty when nothing is left. */
static struct span span_within(double low, double high, double min, double max)
{
    return (struct span){.low = (int64_t)fmin(fmax(low, min), max + 1),
                         .high = (int64_t)fmax(fmin(high, max), min - 1)};
}

/* The constants of the polygon of real lines. */
static struct span constants_of(const struct search *search, const struct band_range *window)
{
    const double low = extreme(least_constant, &search->room->low, +1, window->slope_min, window->slope_max);
    const double high = extreme(most_constant, &search->room->high, -1, window->slope_min, window->slope_max);
    /* The searches above stop a little short of the extremes; one more constant on each side covers that. */
    const double reach =
        1e-12 * fmax(fabs(window->slope_min), fabs(window->slope_max)) *
        fmax(fabs((double)(search->first - search->origin)), fabs((double)(search->last - search->origin)));
    const double margin = 2 + reach, limit = (double)search->rules->offset_limit;
    return span_within(floor(low - margin), ceil(high + margin), -limit - 1, limit);
}

/* Every constant, from the middle outwards. */
static enum strip_answer search_constants(struct search *search, struct span constants)
{
    const int64_t middle = constants.low + (constants.high - constants.low) / 2;
    for (int64_t away = 0; away <= constants.high - constants.low; away++) {
        if (away > search->most_candidates / 2)
            return STRIP_UNDECIDED;
        if (middle + away <= constants.high && try_constant(search, middle + away))
            return STRIP_FOUND;
        if (away && middle - away >= constants.low && try_constant(search, middle - away))
            return STRIP_FOUND;
    }
    return STRIP_NONE;
}

struct wide_span {
    wide low, high;
};

static void narrow(struct wide_span *span, wide low, wide high)
{
    span->low = low > span->low ? low : span->low;
    span->high = high < span->high ? high : span->high;
}

/* The offsets with which line_provable agrees. */
static struct wide_span provable_offsets(const struct search *search, int64_t q_b, int n)
{
    const struct line_rules *rules = search->rules;
    const wide limit = power(rules->accumulator_bits - 1);
    const wide half = n > 0 && search->nearest ? power(n - 1) : 0;
    struct wide_span offsets = {-(wide)rules->offset_limit - 1, rules->offset_limit};
    for (int end = 0; end < 2; end++) {
        const wide x = (wide)(end ? search->last : search->first) - search->origin, p = q_b * x;
        /* of all that is shifted to the right, or to the left */
        struct wide_span sums = {-limit, limit - 1 - half};
        if (half && rules->rounding == PWL_HALF_AWAY)
            sums.low = half - limit + 1;
        if (n < 0)
            sums = (struct wide_span){-(limit >> -n), (limit - 1) >> -n};
        if (p < -limit || p >= limit)
            return (struct wide_span){0, -1};
        if (rules->form == PWL_BIASED) {
            narrow(&offsets, sums.low - p, sums.high - p);
            continue;
        }
        if (p < sums.low || p > sums.high)
            return (struct wide_span){0, -1};
        const wide shifted = pwl_shr64((int64_t)p, n, (int)rules->rounding);
        narrow(&offsets, -limit - shifted, limit - 1 - shifted);
    }
    return offsets;
}

/*
 * The offsets with which a slope serves. Exact under floor. To nearest, ties are taken to go whichever way helps, so
 * that of the true interval an end may be missing, and no more than the end: where a tie goes changes an output by 1,
 * which a step of the constant makes up for, and of the bias as well.
 */
static struct wide_span serving_offsets(const struct search *search, int64_t q_b, int n)
{
    const struct corners *low = &search->room->low, *high = &search->room->high;
    const wide unit = n > 0 ? power(n) : 1, factor = n < 0 ? power(-n) : 1;
    const wide half = n > 0 && search->nearest ? unit / 2 : 0;
    const bool biased = search->rules->form == PWL_BIASED;
    struct wide_span offsets = {-power(100), power(100)};
    for (int k = 0; k < low->count; k++) {
        const wide p = (wide)q_b * low->x[k], y = low->y[k];
        narrow(&offsets, biased ? ceil_div(y * unit, factor) - half - p : y - floor_div((p + half) * factor, unit),
               power(100));
    }
    for (int k = 0; k < high->count; k++) {
        const wide p = (wide)q_b * high->x[k], y = high->y[k];
        const wide down = half ? ceil_div(p - half, unit) : floor_div(p * factor, unit);
        narrow(&offsets, -power(100),
               !biased ? y - down
               : half  ? y * unit + half - p
                       : floor_div((y + 1) * unit - 1, factor) - p);
    }
    return offsets;
}

/* Some offset for a slope. Inside the interval that serves one does so under every rounding: of three or more, the
 * middle one. */
static bool try_slope(struct search *search, int64_t q_b, int n)
{
    struct wide_span offsets = serving_offsets(search, q_b, n);
    if (offsets.low > offsets.high)
        return false;
    const struct wide_span provable = provable_offsets(search, q_b, n);
    narrow(&offsets, provable.low, provable.high);
    if (offsets.low > offsets.high)
        return false;
    const int64_t low = (int64_t)offsets.low, high = (int64_t)offsets.high, middle = low + (high - low) / 2;
    return accept(search, q_b, n, middle) || (high != middle && accept(search, q_b, n, high));
}

/* The slopes q_b / 2^n of a window. */
static struct span slopes_of(const struct search *search, const struct band_range *window, int n)
{
    return span_within(ceil(ldexp(window->slope_min, n)), floor(ldexp(window->slope_max, n)),
                       -(double)search->rules->slope_limit, (double)search->rules->slope_limit);
}

/* Without a bias under the shift an even q_b says what its half says with n - 1, and is harder to prove. */
static bool is_reducible(const struct search *search, int64_t q_b, int n)
{
    return search->rules->form != PWL_BIASED && q_b % 2 == 0 && n > search->rules->shift_min;
}

/* Every slope of the window, the short ones first. */
static enum strip_answer search_slopes(struct search *search, const struct band_range *window)
{
    const struct line_rules *rules = search->rules;
    int64_t candidates = 0;
    for (int n = rules->shift_min; n <= rules->shift_max; n++) {
        const struct span slopes = slopes_of(search, window, n);
        for (int64_t q_b = slope_above(rules, slopes.low - 1); q_b <= slopes.high; q_b = slope_above(rules, q_b)) {
            if (is_reducible(search, q_b, n))
                continue;
            if (candidates++ > search->most_candidates)
                return STRIP_UNDECIDED;
            if (try_slope(search, q_b, n))
                return STRIP_FOUND;
        }
    }
    return STRIP_NONE;
}

static double count_slopes(const struct search *search, const struct band_range *window)
{
    double count = 0;
    for (int n = search->rules->shift_min; n <= search->rules->shift_max; n++) {
        const struct span slopes = slopes_of(search, window, n);
        count += slopes.low <= slopes.high ? (double)(slopes.high - slopes.low) + 1 : 0;
    }
    return 0.5 * count; /* half of them are reducible */
}

/* Constants or slopes, whichever are fewer; a constant says nothing of the sums that make a slope. */
static enum strip_answer search_either(struct search *search, const struct band_range *window)
{
    if (search->rules->slope_terms)
        return search_slopes(search, window);
    const struct span constants = constants_of(search, window);
    const double count = (double)(constants.high - constants.low);
    return count < 100 || count <= count_slopes(search, window) ? search_constants(search, constants)
                                                                : search_slopes(search, window);
}

/*
 * No slope steeper than 8 R is needed, R being a power of two beyond the number of output codes. A line that rises by
 * more from code to code has at most one code that does not saturate. Absolute and anchored: the line of slope 4 R
 * through that code's value, or else through qmin_y at the last code that saturates there, gives the same outputs and
 * lies between the other line and that value, so that it is provable too. Biased: as well, with a shift to the left by
 * at most the bits of R, since of multiples of more than each output only the sign counts; the slope is then the least
 * multiple of the factor beyond 2 R. Where that factor is the only one, its first multiple is looked at however large.
 */
static void leave_out_steep(const struct line_rules *rules, struct band_range *window)
{
    double steepest = 8;
    while (steepest / 8 <= (double)(rules->qmax_y - rules->qmin_y))
        steepest *= 2;
    steepest = fmax(steepest, ldexp(1, 1 - rules->shift_max));
    window->slope_min = fmax(window->slope_min, -steepest);
    window->slope_max = fmin(window->slope_max, steepest);
    /* band_reach rounds; each candidate is verified, so a little more does no harm. */
    const double slack = 1e-12 * fmax(fabs(window->slope_min), fabs(window->slope_max));
    window->slope_min -= slack;
    window->slope_max += slack;
}

/* Hulls of the limits, and a constant line where one serves. */
static bool take_limits(struct search *search)
{
    struct strip_room *room = (struct strip_room *)search->room;
    const struct line_rules *rules = search->rules;
    int64_t flat_low = rules->qmin_y, flat_high = rules->qmax_y;
    room->low.count = room->high.count = 0;
    for (int k = search->begin; k < search->end; k++) {
        const struct band band = band_at(room->points, rules->qmin_y, rules->qmax_y, k, search->max_err);
        const int64_t x = (int64_t)room->points->code[k] - search->origin;
        if (!band.open_low) {
            corners_add(&room->low, +1, x, band.low);
            flat_low = band.low > flat_low ? band.low : flat_low;
        }
        if (!band.open_high) {
            corners_add(&room->high, -1, x, band.high);
            flat_high = band.high < flat_high ? band.high : flat_high;
        }
    }
    return flat_low <= flat_high && accept_flat(search, flat_low);
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
                            .nearest = rules->rounding != PWL_FLOOR,
                            .most_candidates = rules->accumulator_bits <= 32 ? MOST_CANDIDATES_32 : MOST_CANDIDATES_64};
    search.origin = rules->form == PWL_ANCHORED ? search.first : rules->zp_x;
    *line = (struct line){0};
    if (band_reach(points, rules->qmin_y, rules->qmax_y, begin, end, max_err, &window, &ignored))
        return STRIP_UNDECIDED;
    if (window.end < end)
        return STRIP_NONE;

    enum strip_answer answer = STRIP_FOUND;
    if (!take_limits(&search)) {
        leave_out_steep(rules, &window);
        answer = rules->form == PWL_BIASED ? search_slopes(&search, &window) : search_either(&search, &window);
    }
    *line = search.line;
    return answer;
}
