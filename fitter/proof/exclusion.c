/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exclusion.h"

#include <inttypes.h>

#include "search/error_band.h"
#include "shifted.h"

/* Slopes and stretches of one exclusion that are looked at: all slopes that 16 bits have, by every shift. */
#define MOST_LOOKS ((int64_t)1 << 22)

/* Slopes that are looked at one by one, as runs of fewer of them are longer then. */
enum { SHORT_STRETCH = 64 };

/* A slope's end: numerator / denominator, denominator > 0. */
struct ratio {
    int64_t numerator, denominator;
    bool finite;
};

struct slope {
    int64_t q_b;
    int n;
};

/* Slopes of one shift: q_b = first, first + step, ..., last. */
struct stretch {
    int n, step;
    int64_t first, last;
};

/* Points of the range, counted from its first one: that of a lower limit and that of an upper one; LIMIT: what the
 * types allow. */
struct pair {
    int low, high;
};
enum { LIMIT = -1 };

struct range {
    const struct hulls *hulls;
    const struct points *points;
    const struct line_rules *rules;
    int from, upto;
    int64_t origin;
    struct pair window[2];
    int window_count;
    struct ratio least, most; /* slopes of the window */
    /* The runs: */
    struct text *out;
    struct pair pair; /* of the present one */
    int64_t count;    /* of its slopes */
    int64_t looks;    /* at slopes and stretches */
    bool has_runs;
};

static const struct band *band_of(const struct range *range, int k)
{
    return &range->points->bands[range->from + k];
}

static int64_t code_of(const struct range *range, int k)
{
    return range->points->cell[range->from + k];
}

/* The least integer that comes out as u or more when it is shifted. */
static wide least_sum(const struct line_rules *rules, wide u, int n)
{
    if (n <= 0)
        return ceil_div(u, power(-n));
    const wide half = rules->rounding == PWL_FLOOR ? 0 : power(n - 1);
    const bool tie_stays =
        (rules->rounding == PWL_HALF_AWAY && u <= 0) || (rules->rounding == PWL_HALF_EVEN && u % 2 != 0);
    return u * power(n) - half + tie_stays;
}

/* The least offset that keeps a value at a code at `output` or above. */
static wide least_offset(const struct range *range, struct slope slope, int64_t code, wide output)
{
    const wide p = (wide)slope.q_b * (code - range->origin);
    return range->rules->form == PWL_BIASED ? least_sum(range->rules, output, slope.n) - p
                                            : output - shifted(range->rules, p, slope.n);
}

static wide least_at(const struct range *range, struct slope slope, int k)
{
    return least_offset(range, slope, code_of(range, k), band_of(range, k)->low);
}

static wide most_at(const struct range *range, struct slope slope, int k)
{
    return least_offset(range, slope, code_of(range, k), (wide)band_of(range, k)->high + 1) - 1;
}

static struct integers offsets_of(const struct range *range, struct slope slope)
{
    return line_offsets(range->rules, slope.q_b, slope.n, code_of(range, 0),
                        code_of(range, range->upto - range->from - 1));
}

/* Whether the products of a slope are small enough to be shifted here; else no offset is provable. */
static bool is_shiftable(const struct range *range, struct slope slope)
{
    if (slope.n >= 0 || slope.q_b == 0)
        return true;
    const struct integers offsets = offsets_of(range, slope);
    return offsets.low <= offsets.high;
}

/* Whether a pair leaves a slope no offset. */
static bool excludes(const struct range *range, struct pair pair, struct slope slope)
{
    const bool limited = pair.low == LIMIT || pair.high == LIMIT;
    const struct integers offsets = limited ? offsets_of(range, slope) : (struct integers){0, 0};
    if (pair.low == LIMIT && pair.high == LIMIT)
        return offsets.low > offsets.high;
    if (!is_shiftable(range, slope) || (limited && offsets.low > offsets.high))
        return false;
    const wide least = pair.low == LIMIT ? offsets.low : least_at(range, slope, pair.low);
    return least > (pair.high == LIMIT ? offsets.high : most_at(range, slope, pair.high));
}

/* The codes that leave a slope the fewest offsets, of some: LIMIT where no code has an end. */
struct search {
    struct pair pair;
    wide least, most;
};

static void look_at_low(const struct range *range, struct slope slope, int k, struct search *search)
{
    const wide least = least_at(range, slope, k);
    if (search->pair.low == LIMIT || least > search->least) {
        search->least = least;
        search->pair.low = k;
    }
}

static void look_at_high(const struct range *range, struct slope slope, int k, struct search *search)
{
    const wide most = most_at(range, slope, k);
    if (search->pair.high == LIMIT || most < search->most) {
        search->most = most;
        search->pair.high = k;
    }
}

/* Of the corners of the hulls. Where sums half way between two outputs are all rounded one way, no other code asks for
 * more. */
static struct search search_corners(const struct range *range, struct slope slope)
{
    struct search search = {.pair = {LIMIT, LIMIT}};
    const struct hull *low = &range->hulls->of[HULL_LOW], *high = &range->hulls->of[HULL_HIGH];
    for (int k = low->first; k < low->last; k++)
        look_at_low(range, slope, (int)(low->corner[k].x - code_of(range, 0)), &search);
    for (int k = high->first; k < high->last; k++)
        look_at_high(range, slope, (int)(high->corner[k].x - code_of(range, 0)), &search);
    return search;
}

static struct search search_codes(const struct range *range, struct slope slope)
{
    struct search search = {.pair = {LIMIT, LIMIT}};
    for (int k = 0; k < range->upto - range->from; k++) {
        if (!band_of(range, k)->open_low)
            look_at_low(range, slope, k, &search);
        if (!band_of(range, k)->open_high)
            look_at_high(range, slope, k, &search);
    }
    return search;
}

/* A pair that excludes a slope; false where some line of that slope serves. */
static bool find_pair(const struct range *range, struct slope slope, struct pair *pair)
{
    *pair = (struct pair){LIMIT, LIMIT};
    if (!is_shiftable(range, slope))
        return true;
    struct search search = search_corners(range, slope);
    const bool both = search.pair.low != LIMIT && search.pair.high != LIMIT;
    if (!(both && search.least > search.most) && range->rules->rounding != PWL_FLOOR)
        search = search_codes(range, slope);
    const struct pair pairs[] = {search.pair, {search.pair.low, LIMIT}, {LIMIT, search.pair.high}, {LIMIT, LIMIT}};
    for (int k = 0; k < 4; k++)
        if (excludes(range, pairs[k], slope)) {
            *pair = pairs[k];
            return true;
        }
    return false;
}

static void end_run(struct range *range)
{
    if (range->count > 0)
        text_add(range->out, "%s%" PRId64 ", %d, %d", range->has_runs ? ", " : "", range->count, range->pair.low,
                 range->pair.high);
    range->has_runs |= range->count > 0;
    range->count = 0;
}

/* Adds slopes to the present run, or begins another. */
static void add_to_run(struct range *range, struct pair pair, int64_t count)
{
    if (range->count > 0 && (range->pair.low != pair.low || range->pair.high != pair.high))
        end_run(range);
    range->pair = pair;
    range->count += count;
}

static enum exclusion exclude_slope(struct range *range, struct slope slope)
{
    struct pair pair = range->pair;
    if (range->looks++ >= MOST_LOOKS)
        return TOO_MANY_SLOPES;
    if ((range->count == 0 || !excludes(range, pair, slope)) && !find_pair(range, slope, &pair))
        return NOT_EXCLUDED;
    add_to_run(range, pair, 1);
    return EXCLUDED;
}

/* Whether a pair leaves no slope of a stretch an offset, as far as the stretch's ends tell: the offsets that each code
 * asks for grow or fall with the slope. */
static bool excludes_stretch(const struct range *range, struct pair pair, const struct stretch *stretch)
{
    const struct slope a = {stretch->first, stretch->n}, b = {stretch->last, stretch->n};
    const int64_t x[] = {code_of(range, 0) - range->origin,
                         code_of(range, range->upto - range->from - 1) - range->origin};
    const bool limited = pair.low == LIMIT || pair.high == LIMIT;
    struct integers offsets = {0, 0};
    if (!is_shiftable(range, a) || !is_shiftable(range, b) ||
        (limited && !offsets_over(range->rules, stretch->n, (struct integers){a.q_b, b.q_b}, x, &offsets)))
        return false;
    const wide least = pair.low == LIMIT ? offsets.low
                                         : smaller_wide(least_at(range, a, pair.low), least_at(range, b, pair.low)),
               most = pair.high == LIMIT ? offsets.high
                                         : larger_wide(most_at(range, a, pair.high), most_at(range, b, pair.high));
    return least > most;
}

/* A stretch as a whole, by the pair of the run or by that of its middle, or by halves. */
static enum exclusion exclude_stretch(struct range *range, const struct stretch *stretch)
{
    const int64_t count = (stretch->last - stretch->first) / stretch->step + 1, half = count / 2;
    const struct slope middle = {stretch->first + half * stretch->step, stretch->n};
    enum exclusion answer = EXCLUDED;
    struct pair pair = range->pair;
    if (count <= SHORT_STRETCH) {
        for (int64_t k = 0; k < count && answer == EXCLUDED; k++)
            answer = exclude_slope(range, (struct slope){stretch->first + k * stretch->step, stretch->n});
        return answer;
    }
    if (range->looks++ >= MOST_LOOKS)
        return TOO_MANY_SLOPES;
    if (range->count == 0 || !excludes_stretch(range, pair, stretch)) {
        if (!find_pair(range, middle, &pair))
            return NOT_EXCLUDED;
        if (!excludes_stretch(range, pair, stretch)) {
            struct stretch part = *stretch;
            part.last = middle.q_b - stretch->step;
            answer = exclude_stretch(range, &part);
            part = *stretch;
            part.first = middle.q_b;
            return answer == EXCLUDED ? exclude_stretch(range, &part) : answer;
        }
    }
    add_to_run(range, pair, count);
    return EXCLUDED;
}

/* The q_b of a shift in the window. */
static struct integers slopes_in_window(const struct range *range, int n)
{
    const wide up = n > 0 ? power(n) : 1, down = n < 0 ? power(-n) : 1;
    struct integers slopes = line_slopes(range->rules, n);
    const struct ratio *least = &range->least, *most = &range->most;
    if (least->finite)
        slopes = integers_within(slopes, ceil_div(least->numerator * up, least->denominator * down), slopes.high);
    if (most->finite)
        slopes = integers_within(slopes, slopes.low, floor_div(most->numerator * up, most->denominator * down));
    return slopes;
}

/* The slopes of one shift that are not reducible. */
static enum exclusion exclude_shift(struct range *range, int n)
{
    const struct line_rules *rules = range->rules;
    const struct integers slopes = slopes_in_window(range, n);
    const bool odd = line_is_reducible(rules, 0, n);
    enum exclusion answer = EXCLUDED;
    if (rules->slope_terms == 0) {
        const struct stretch stretch = {.n = n,
                                        .step = odd ? 2 : 1,
                                        .first = slopes.low + (odd && slopes.low % 2 == 0),
                                        .last = slopes.high - (odd && slopes.high % 2 == 0)};
        return stretch.first <= stretch.last ? exclude_stretch(range, &stretch) : EXCLUDED;
    }
    for (int64_t q_b = slope_above(rules, slopes.low - 1); q_b <= slopes.high && answer == EXCLUDED;
         q_b = slope_above(rules, q_b))
        if (!odd || q_b % 2 != 0)
            answer = exclude_slope(range, (struct slope){q_b, n});
    return answer;
}

static enum exclusion write_runs(struct range *range)
{
    const struct line_rules *rules = range->rules;
    enum exclusion answer = EXCLUDED;
    for (int n = rules->shift_min; n <= rules->shift_max && answer == EXCLUDED; n++)
        answer = exclude_shift(range, n);
    end_run(range);
    return answer == EXCLUDED && !range->has_runs ? EXCLUDED_BY_WINDOW : answer;
}

/* Takes a pair, of which both ends are finite, into the window. */
static void narrow(struct range *range, int64_t low_code, int64_t high_code)
{
    const struct pair pair = {(int)(low_code - code_of(range, 0)), (int)(high_code - code_of(range, 0))};
    const int64_t distance = low_code - high_code,
                  rise = band_of(range, pair.low)->low - band_of(range, pair.high)->high - 1;
    const struct ratio bound = {distance > 0 ? rise : -rise, distance > 0 ? distance : -distance, true};
    struct ratio *end = distance > 0 ? &range->least : &range->most;
    range->window[range->window_count++] = pair;
    *end = bound;
}

/* Whether the window holds no slope. */
static bool is_empty(const struct range *range)
{
    const struct ratio *a = &range->least, *b = &range->most;
    return a->finite && b->finite && (wide)a->numerator * b->denominator > (wide)b->numerator * a->denominator;
}

/* The window where real lines serve: the least and the largest of their slopes. */
static void take_extremes(struct range *range)
{
    for (int extreme = STEEPEST; extreme < EXTREMES; extreme++) {
        const struct tangent *tangent = &range->hulls->extreme[extreme];
        if (tangent->exists)
            narrow(range, tangent->corner[HULL_LOW].x, tangent->corner[HULL_HIGH].x);
    }
}

/* The window where they do not: of a limit at point k that lies beyond an extreme line, and of that line. */
static bool contradict(struct range *range, int k)
{
    const int64_t code = range->points->cell[k];
    for (enum hull_side side = HULL_LOW; side < HULL_SIDES; side++) {
        const struct tangent *tangent = &range->hulls->extreme[side == HULL_LOW ? STEEPEST : FLATTEST];
        const struct band *band = &range->points->bands[k];
        if (!tangent->exists || (side == HULL_LOW ? band->open_low : band->open_high))
            continue;
        range->least.finite = range->most.finite = false;
        range->window_count = 0;
        narrow(range, tangent->corner[HULL_LOW].x, tangent->corner[HULL_HIGH].x);
        if (side == HULL_LOW)
            narrow(range, code, tangent->corner[HULL_HIGH].x);
        else
            narrow(range, tangent->corner[HULL_LOW].x, code);
        if (is_empty(range))
            return true;
    }
    return false;
}

enum exclusion exclusion_write(struct hulls *hulls, const struct line_rules *rules, int from, int upto,
                               struct text *out)
{
    struct range range = {
        .hulls = hulls, .points = hulls->points, .rules = rules, .from = from, .upto = upto, .out = out};
    range.origin = line_origin(rules, code_of(&range, 0));
    text_add(out, "{\"from\": %" PRId64 ", \"upto\": %" PRId64 ", ", code_of(&range, 0), range.points->cell[upto]);
    hulls_start_at(hulls, hulls->max_err, from);
    if (hulls_end_at(hulls, upto)) {
        take_extremes(&range);
    } else {
        const struct band *band = &range.points->bands[hulls->end];
        if (band->low > band->high) {
            text_add(out, "\"none\": %d}", hulls->end - from);
            return EXCLUDED_BY_WINDOW;
        }
        if (!contradict(&range, hulls->end))
            return NOT_EXCLUDED;
    }
    text_add(out, "\"window\": [");
    for (int k = 0; k < range.window_count; k++)
        text_add(out, "%s[%d, %d]", k ? ", " : "", range.window[k].low, range.window[k].high);
    text_add(out, "], \"runs\": [");
    const enum exclusion answer = is_empty(&range) ? EXCLUDED_BY_WINDOW : write_runs(&range);
    text_add(out, "]}");
    return answer;
}
