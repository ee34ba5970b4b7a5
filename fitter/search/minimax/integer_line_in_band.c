/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "integer_line_in_band.h"

#include <math.h>

#include "base/integers.h"
#include "search/error_band.h"

/* Slopes or constants of one search before it gives up undecided, by the bits of the accumulator. Of slopes of 16 bits
 * all that can matter are fewer. */
enum { MOST_CANDIDATES_32 = 1 << 22, MOST_CANDIDATES_64 = 1 << 8 };

/* One search, for a line over a range of codes. */
struct band_search {
    const struct hulls *hulls;
    const struct line_rules *rules;
    int64_t origin, first, last; /* line_origin, and the codes of the segment */
    struct integers level;       /* outputs that all bands allow: those of a line of slope 0 */
    bool nearest;                /* rounds to nearest: real lines may lie half a code outside the hulls */
    int64_t most_candidates;
    struct line line; /* the last one that was feasible */
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

/* Whether a line gives outputs within the bands at the corners of the hulls. */
static bool meets_corners(const struct band_search *search, const struct line *line)
{
    for (enum hull_side side = HULL_LOW; side < HULL_SIDES; side++) {
        const struct hull *hull = &search->hulls->of[side];
        for (int k = hull->first; k < hull->last; k++) {
            const struct corner corner = hull->corner[k];
            const int64_t q = line_value(search->rules, line, search->origin, corner.x);
            if (side == HULL_LOW ? q < corner.y : q >= corner.y)
                return false;
        }
    }
    return true;
}

/*
 * Whether a provable line gives outputs within the bands at every point. Rounded down, also half a code higher, a value
 * is at or above an integer where the real line is, and a real line that is within the bands at the corners of the
 * hulls is so everywhere. To nearest that leaves the codes where the sum lies half way between two outputs, which may
 * go another way than at the corners.
 */
static bool meets_bands(const struct band_search *search, const struct line *line)
{
    const struct line_rules *rules = search->rules;
    const struct hulls *hulls = search->hulls;
    const struct points *points = hulls->points;
    if (!meets_corners(search, line))
        return false;
    const struct line_halfway halfway = line_halfway(rules, line);
    if (rules->rounding == PWL_FLOOR || rules->rounding == PWL_HALF_UP || halfway.period == 0)
        return true;
    const bool all = !points->exhaustive; /* codes do not count points */
    const uint64_t x = (uint64_t)(search->first - search->origin), length = (uint64_t)(hulls->end - hulls->begin);
    for (uint64_t k = all ? 0 : (halfway.first - x) & (halfway.period - 1); k < length; k += all ? 1 : halfway.period) {
        const int point = hulls->begin + (int)k;
        const struct band band = band_at(points, rules->qmin_y, rules->qmax_y, point, hulls->max_err);
        const int64_t q = line_value(rules, line, search->origin, (int64_t)points->code[point]);
        if ((!band.open_low && q < band.low) || (!band.open_high && q > band.high))
            return false;
    }
    return true;
}

/* Keeps a candidate that is feasible. */
static bool accept(struct band_search *search, int64_t q_b, int n, int64_t offset)
{
    const struct line line = {.q_b = q_b, .n = n, .offset = offset};
    if (!line_provable(search->rules, &line, search->first, search->last) || !meets_bands(search, &line))
        return false;
    search->line = line;
    return true;
}

/* A line of slope 0 whose value is the code c, of at most 33 bits. */
static bool accept_level(struct band_search *search, int64_t c)
{
    const int n = line_flat_shift(search->rules);
    if (search->rules->form != PWL_BIASED || n == 0)
        return accept(search, 0, n, c);
    const wide bias = n > 0 ? c * power(n) : floor_div(c, power(-n));
    return is_within(search->rules->offsets, bias) && accept(search, 0, n, (int64_t)bias);
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

/* Takes in one corner of a side: its limit - c against slope * x. Returns false when x is 0 and the limit is missed.
 * Numerators are doubled to hold the halves. */
static bool bound_slope(const struct band_search *search, enum hull_side side, int64_t x, int64_t limit, int64_t c,
                        struct fraction *low, struct fraction *high)
{
    /* v < U + 1 - c of floor, which the closed bound below includes, meets_bands() decides. */
    const wide twice = 2 * ((wide)limit - c) - search->nearest;
    if (x == 0)
        return side == HULL_LOW ? twice <= 0 : twice >= 0;
    struct fraction bound = {.numerator = x > 0 ? twice : -twice, .denominator = 2 * (x > 0 ? x : -x), .finite = true};
    if ((x > 0) == (side == HULL_LOW)) {
        if (!low->finite || less(low, &bound))
            *low = bound;
    } else if (!high->finite || less(&bound, high)) {
        *high = bound;
    }
    return true;
}

/* A bound that is itself q_b / 2^n; at an end of the interval the rounding decides. */
static bool accept_end(struct band_search *search, const struct fraction *bound, int64_t c)
{
    const struct line_rules *rules = search->rules;
    wide q = bound->numerator, d = bound->denominator;
    if (q == 0)
        return accept_level(search, c);
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
    /* n is 0 or less here, or q odd */
    while (q % 2 == 0 && n > rules->shift_min && (n > rules->shift_max || !is_within(line_slopes(rules, n), q))) {
        q /= 2;
        n--;
    }
    for (; n < rules->shift_min; n++) /* at most 126 bits */
        q *= 2;
    return n <= rules->shift_max && is_within(line_slopes(rules, n), q) && accept(search, (int64_t)q, n, c);
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

/* The least shift with which a slope of 1 / 2^n may lie between two bounds of one sign. */
static int least_shift(const struct line_rules *rules, const struct fraction *low, const struct fraction *high)
{
    const struct fraction *steep = low->finite && low->numerator >= 0 ? high : low;
    if (!steep->finite)
        return rules->shift_min;
    if (steep->numerator == 0) /* as the other one is then: nothing lies between */
        return rules->shift_max + 1;
    const int n = -ilogb((double)steep->numerator / (double)steep->denominator) - 1;
    return n > rules->shift_min ? n : rules->shift_min;
}

/* Some slope for the constant c. */
static bool try_constant(struct band_search *search, int64_t c)
{
    struct fraction low = {0}, high = {0};
    for (enum hull_side side = HULL_LOW; side < HULL_SIDES; side++) {
        const struct hull *hull = &search->hulls->of[side];
        for (int k = hull->first; k < hull->last; k++)
            if (!bound_slope(search, side, hull->corner[k].x - search->origin, hull->corner[k].y, c, &low, &high))
                return false;
    }
    if (low.finite && high.finite && less(&high, &low))
        return false;

    /* Strictly inside, each slope serves. The flattest of a shift is the easiest to prove. */
    if ((!low.finite || low.numerator < 0) && (!high.finite || high.numerator > 0)) {
        if (accept_level(search, c))
            return true;
    } else {
        for (int n = least_shift(search->rules, &low, &high); n <= search->rules->shift_max; n++) {
            const wide q = least_between(&low, &high, n);
            if (!is_within(search->rules->slopes, q))
                break; /* and longer still for larger n */
            if (q != 0 && is_within(line_slopes(search->rules, n), q) && accept(search, (int64_t)q, n, c))
                return true;
        }
    }
    return (low.finite && accept_end(search, &low, c)) || (high.finite && accept_end(search, &high, c));
}

/* Of the limits of one side at X, less slope * X, the one that binds: no c less than it, or more, meets all. Real. */
static double binding(const struct band_search *search, enum hull_side side, double slope)
{
    const struct hull *hull = &search->hulls->of[side];
    double c = side == HULL_LOW ? -INFINITY : INFINITY;
    for (int k = hull->first; k < hull->last; k++) {
        const double at_zero = (double)hull->corner[k].y - slope * (double)(hull->corner[k].x - search->origin);
        if (side == HULL_LOW ? at_zero > c : at_zero < c)
            c = at_zero;
    }
    return c;
}

/* The least of what binds from below over the slopes of a window, or the largest of what binds from above: convex, or
 * concave, in the slope. Its extreme is where the hull crosses X = 0, or else at an end of the window. */
static double extreme_constant(const struct band_search *search, enum hull_side side, const struct window *window)
{
    const struct hull *hull = &search->hulls->of[side];
    const double a = binding(search, side, window->low), b = binding(search, side, window->high);
    double extreme = side == HULL_LOW ? fmin(a, b) : fmax(a, b);
    for (int k = hull->first + 1; k < hull->last; k++) {
        const double x1 = (double)(hull->corner[k - 1].x - search->origin), y1 = (double)hull->corner[k - 1].y;
        const double x2 = (double)(hull->corner[k].x - search->origin), y2 = (double)hull->corner[k].y;
        const double slope = (y2 - y1) / (x2 - x1);
        if ((x1 < 0) != (x2 < 0) && window->low < slope && slope < window->high)
            extreme = y1 - slope * x1;
    }
    return extreme;
}

/* Integers from low to high, cut to [min, max], which have at most 48 bits; empty when nothing is left. */
static struct integers integers_between(double low, double high, double min, double max)
{
    return (struct integers){.low = (int64_t)fmin(fmax(low, min), max + 1),
                             .high = (int64_t)fmax(fmin(high, max), min - 1)};
}

/* The constants of the polygon of real lines, and a little more: what the rounding of doubles may have cut off. */
static struct integers constants_of(const struct band_search *search, const struct window *window)
{
    const double shift = search->nearest ? 0.5 : 0;
    const struct integers offsets = search->rules->offsets;
    const double x_max =
        fmax(fabs((double)(search->first - search->origin)), fabs((double)(search->last - search->origin)));
    const double y_max = fmax(fabs((double)search->rules->qmin_y), fabs((double)search->rules->qmax_y));
    const double slack = 1e-9 + 1e-12 * (y_max + fmax(fabs(window->low), fabs(window->high)) * x_max);
    return integers_between(ceil(extreme_constant(search, HULL_LOW, window) - shift - slack),
                            floor(extreme_constant(search, HULL_HIGH, window) - shift + slack), (double)offsets.low,
                            (double)offsets.high);
}

/* Every constant, from the middle outwards. */
static enum line_answer search_constants(struct band_search *search, struct integers constants)
{
    const int64_t middle = constants.low + (constants.high - constants.low) / 2;
    for (int64_t away = 0; away <= constants.high - constants.low; away++) {
        if (away > search->most_candidates / 2)
            return LINE_UNDECIDED;
        if (middle + away <= constants.high && try_constant(search, middle + away))
            return LINE_FOUND;
        if (away && middle - away >= constants.low && try_constant(search, middle - away))
            return LINE_FOUND;
    }
    return LINE_NONE;
}

/* Of the limits of one side, times `unit`, less slope * X: the one that binds. Along a hull they rise and then fall, or
 * the other way round. */
static wide binding_limit(const struct band_search *search, enum hull_side side, wide slope, wide unit)
{
    const struct hull *hull = &search->hulls->of[side];
    int low = hull->first, high = hull->last - 1; /* it is one of [low, high] */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const struct corner a = hull->corner[middle], b = hull->corner[middle + 1];
        const wide step = (b.y - a.y) * unit - slope * (b.x - a.x);
        if (side == HULL_LOW ? step > 0 : step < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return hull->first == hull->last ? (side == HULL_LOW ? -power(110) : power(110))
                                     : hull->corner[low].y * unit - slope * (hull->corner[low].x - search->origin);
}

/*
 * The offsets with which a slope is feasible. Exact under floor. To nearest, sums half way between two outputs are
 * taken to go whichever way helps, so that of the true interval an end may be missing, and no more than the end: where
 * such a sum goes changes an output by 1, which a step of the offset makes up for.
 */
static struct integers feasible_offsets(const struct band_search *search, int64_t q_b, int n)
{
    const wide unit = n > 0 ? power(n) : 1, factor = n < 0 ? power(-n) : 1;
    const wide half = n > 0 && search->nearest ? unit / 2 : 0;
    const wide step = search->rules->form == PWL_BIASED ? factor : unit; /* of the offset */
    const wide low = binding_limit(search, HULL_LOW, q_b * factor, unit);
    const wide high = binding_limit(search, HULL_HIGH, q_b * factor, unit);
    const struct integers in_bands =
        integers_within(search->rules->offsets, ceil_div(low - half, step), floor_div(high - (half ? half : 1), step));
    if (in_bands.low > in_bands.high)
        return in_bands;
    const struct integers provable = line_offsets(search->rules, q_b, n, search->first, search->last);
    return integers_within(provable, in_bands.low, in_bands.high);
}

/* Of some slopes those that may meet the corners of the hulls with some offset: few where --offset-type is narrow.
 * Corners are not looked at where there are as many as slopes. */
static struct integers slopes_with_offsets(const struct band_search *search, struct integers slopes, int n)
{
    const struct integers offsets = search->rules->offsets;
    const wide unit = n > 0 ? power(n) : 1, factor = n < 0 ? power(-n) : 1;
    const wide half = n > 0 && search->nearest ? unit / 2 : 0;
    const wide step = search->rules->form == PWL_BIASED ? factor : unit; /* of the offset */
    for (enum hull_side side = HULL_LOW; side < HULL_SIDES; side++) {
        const struct hull *hull = &search->hulls->of[side];
        for (int k = hull->first; k < hull->last && slopes.high - slopes.low > hull->last - hull->first; k++) {
            /* slope * x is at least this, or at most */
            const wide x = (hull->corner[k].x - search->origin) * factor, y = hull->corner[k].y * unit;
            const wide bound = side == HULL_LOW ? y - half - offsets.high * step : y - offsets.low * step;
            if (x > 0)
                slopes = side == HULL_LOW ? integers_within(slopes, ceil_div(bound, x), slopes.high)
                                          : integers_within(slopes, slopes.low, floor_div(bound, x));
            else if (x < 0)
                slopes = side == HULL_LOW ? integers_within(slopes, slopes.low, floor_div(bound, x))
                                          : integers_within(slopes, ceil_div(bound, x), slopes.high);
            else if (side == HULL_LOW ? bound > 0 : bound < 0)
                slopes = (struct integers){0, -1};
        }
    }
    return slopes;
}

/* Some offset for a slope. Of three or more offsets the middle one is feasible under every rounding. */
static bool try_slope(struct band_search *search, int64_t q_b, int n)
{
    const struct integers offsets = feasible_offsets(search, q_b, n);
    if (offsets.low > offsets.high)
        return false;
    const int64_t middle = offsets.low + (offsets.high - offsets.low) / 2;
    return accept(search, q_b, n, middle) || (offsets.high != middle && accept(search, q_b, n, offsets.high));
}

/* The slopes q_b / 2^n of a window. */
static struct integers slopes_of(const struct band_search *search, const struct window *window, int n)
{
    const struct integers slopes = line_slopes(search->rules, n);
    return integers_between(ceil(ldexp(window->low, n)), floor(ldexp(window->high, n)), (double)slopes.low,
                            (double)slopes.high);
}

/* Whether no sum of a biased line can be shifted to the outputs that the limits ask for, nor by more than n. */
static bool is_beyond_sums(const struct band_search *search, int n)
{
    const wide limit = power(search->rules->accumulator_bits - 1);
    return search->rules->form == PWL_BIASED && n > 0 &&
           (search->level.low * power(n) >= limit || (search->level.high + 1) * power(n) < -limit);
}

/* Every slope of the window, the short ones first. */
static enum line_answer search_slopes(struct band_search *search, const struct window *window)
{
    const struct line_rules *rules = search->rules;
    int64_t candidates = 0;
    for (int n = rules->shift_min; n <= rules->shift_max && !is_beyond_sums(search, n); n++) {
        const struct integers slopes = slopes_with_offsets(search, slopes_of(search, window, n), n);
        for (int64_t q_b = slope_above(rules, slopes.low - 1); q_b <= slopes.high; q_b = slope_above(rules, q_b)) {
            if (line_is_reducible(rules, q_b, n))
                continue;
            if (candidates++ > search->most_candidates)
                return LINE_UNDECIDED;
            if (try_slope(search, q_b, n))
                return LINE_FOUND;
        }
    }
    return LINE_NONE;
}

static double count_slopes(const struct band_search *search, const struct window *window)
{
    double count = 0;
    for (int n = search->rules->shift_min; n <= search->rules->shift_max; n++) {
        const struct integers slopes = slopes_of(search, window, n);
        count += slopes.low <= slopes.high ? (double)(slopes.high - slopes.low) + 1 : 0;
    }
    return 0.5 * count; /* half of them are reducible */
}

/* Constants or slopes, whichever take less; a constant says nothing of the sums that make a slope. */
static enum line_answer search_either(struct band_search *search, const struct window *window)
{
    enum { SLOPES = 8 }; /* take about as long as one constant, which meets all corners of the hulls */
    const struct line_rules *rules = search->rules;
    if (rules->slope_terms)
        return search_slopes(search, window);
    const struct integers constants = constants_of(search, window);
    const double enough = SLOPES * (double)(constants.high - constants.low + 1);
    if (enough <= rules->shift_max - rules->shift_min) /* each shift takes a look */
        return search_constants(search, constants);
    const double slopes = count_slopes(search, window);
    return slopes < enough && slopes <= (double)search->most_candidates ? search_slopes(search, window)
                                                                        : search_constants(search, constants);
}

/* The slopes of real lines within the bands, but for those that are too steep to be needed. */
static struct window slopes_needed(const struct band_search *search)
{
    const double steepest = line_steepest_needed(search->rules);
    struct window window = hulls_slopes(search->hulls);
    window.low = fmax(window.low, -steepest);
    window.high = fmin(window.high, steepest);
    /* hulls_slopes rounds; each candidate is verified, so a little more does no harm. */
    const double slack = 1e-12 * fmax(fabs(window.low), fabs(window.high));
    window.low -= slack;
    window.high += slack;
    return window;
}

static struct integers level_outputs(const struct band_search *search)
{
    const struct hull *low = &search->hulls->of[HULL_LOW], *high = &search->hulls->of[HULL_HIGH];
    struct integers level = {search->rules->qmin_y, search->rules->qmax_y};
    for (int k = low->first; k < low->last; k++)
        level = integers_within(level, low->corner[k].y, level.high);
    for (int k = high->first; k < high->last; k++)
        level = integers_within(level, level.low, high->corner[k].y - 1);
    return level;
}

enum line_answer integer_line_in_band(const struct hulls *hulls, const struct line_rules *rules, struct line *line)
{
    const struct points *points = hulls->points;
    struct band_search search = {.hulls = hulls,
                                 .rules = rules,
                                 .first = points->cell[hulls->begin],
                                 .last = points->cell[hulls->end] - 1,
                                 .nearest = rules->rounding != PWL_FLOOR,
                                 .most_candidates =
                                     rules->accumulator_bits <= 32 ? MOST_CANDIDATES_32 : MOST_CANDIDATES_64};
    search.origin = line_origin(rules, search.first);
    search.level = level_outputs(&search);

    enum line_answer answer = LINE_FOUND;
    if (search.level.low > search.level.high || !accept_level(&search, search.level.low)) {
        const struct window window = slopes_needed(&search);
        answer = window.low > window.high    ? LINE_NONE
                 : rules->form == PWL_BIASED ? search_slopes(&search, &window)
                                             : search_either(&search, &window);
    }
    *line = search.line;
    return answer;
}
