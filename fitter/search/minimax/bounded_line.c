/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bounded_line.h"

#include <math.h>
#include <stdlib.h>

#include <pwl/fixed.h>

#include "function/target.h"
#include "measure/error_bound.h"

/* Where the line may pass at one code, rounding not yet counted; +-INFINITY where saturation serves. */
struct gate {
    double x; /* from the segment's first code */
    double low, high;
};

struct strip {
    const struct line_rules *rules;
    struct gate *gates;
    int count;
    double below, above; /* rounding takes the output at most so far from the line */
};

static struct gate gate_at(const struct strip *strip, double x, double target, double max_err)
{
    const double low = target - max_err, high = target + max_err;
    return (struct gate){x, low <= (double)strip->rules->qmin_y ? -INFINITY : low + strip->below,
                         high >= (double)strip->rules->qmax_y ? INFINITY : high - strip->above};
}

/* Codes that rounding may take the line to. */
static struct gate held_gate(const struct strip *strip, const struct held *held, int64_t first)
{
    return (struct gate){(double)(held->code - first),
                         held->low <= strip->rules->qmin_y ? -INFINITY : (double)held->low - strip->above,
                         held->high >= strip->rules->qmax_y ? INFINITY : (double)held->high + strip->below};
}

static double target_at(const struct points *points, int64_t code)
{
    const struct spec *spec = points->spec;
    const long double t = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, code);
    return (double)fminl(fmaxl(t, (long double)spec->out.qmin), (long double)spec->out.qmax);
}

/* How much a line of this slope can be moved up and down, and its value in the middle at x = 0; the room is a concave
 * function of the slope. */
static double room_of(const struct strip *strip, double slope, double *middle)
{
    double low = -INFINITY, high = INFINITY;
    for (int k = 0; k < strip->count; k++) {
        const struct gate *gate = &strip->gates[k];
        const double line = slope * gate->x, least = gate->low - line, most = gate->high - line;
        low = least > low ? least : low;
        high = most < high ? most : high;
    }
    *middle = isinf(low) ? (isinf(high) ? 0 : high - 1) : isinf(high) ? low + 1 : 0.5 * (low + high);
    return high - low;
}

/* Golden section search for the most room, until slopes differ by no more than `fine` of an output. */
static double roomiest_slope(const struct strip *strip, const struct slope_window *slopes, double fine)
{
    enum { STEPS = 44 };
    double low = slopes->min, high = slopes->max;
    const double golden = 0.6180339887498949, close = fine / strip->gates[strip->count - 1].x;
    double ignored, a = high - golden * (high - low), b = low + golden * (high - low);
    double room_a = room_of(strip, a, &ignored), room_b = room_of(strip, b, &ignored);
    for (int step = 0; step < STEPS && high - low > close; step++) {
        if (room_a > room_b) {
            high = b;
            b = a;
            room_b = room_a;
            a = high - golden * (high - low);
            room_a = room_of(strip, a, &ignored);
        } else {
            low = a;
            a = b;
            room_a = room_b;
            b = low + golden * (high - low);
            room_b = room_of(strip, b, &ignored);
        }
    }
    return 0.5 * (low + high);
}

/* The slope q_b * 2^-n next to one; of those that are sums of few powers of two, above or below it, the roomier one. */
static int64_t grid_slope(const struct strip *strip, double slope, int n)
{
    const struct line_rules *rules = strip->rules;
    const double scaled = ldexp(slope, n);
    double ignored;
    if (rules->slope_terms == 0 || fabs(scaled) > (double)rules->slope_limit)
        return slope_nearest(rules, scaled);
    const int64_t above = slope_above(rules, (int64_t)ceil(scaled) - 1),
                  below = -slope_above(rules, (int64_t)ceil(-scaled) - 1);
    return room_of(strip, ldexp((double)above, -n), &ignored) > room_of(strip, ldexp((double)below, -n), &ignored)
               ? above
               : below;
}

/* At the points and the two end codes. */
static double bound_at_points(const struct points *points, int begin, int end, const struct line *line, double most)
{
    const struct spec *spec = points->spec;
    const int64_t first = points->cell[begin], last = points->cell[end] - 1;
    const double ends[] = {(double)first, (double)last};
    const double targets[] = {target_at(points, first), target_at(points, last)};
    return fmax(line_bound_at(spec, line, first, ends, targets, 2, most),
                line_bound_at(spec, line, first, points->code + begin, points->target + begin, end - begin, most));
}

double wide_line_bound(const struct points *points, int begin, int end, const struct line *line, double most)
{
    double bound;
    if (!points->bounded)
        return bound_at_points(points, begin, end, line, most);
    return line_bound(points->spec, line, points->cell[begin], points->cell[end] - 1, most, &bound) ? bound : INFINITY;
}

/* Whether a line within the gates, on the integers' grid, holds the error and comes to the codes it is held to. */
static bool serves(const struct hulls *hulls, const struct line_rules *rules, const struct line *line)
{
    const struct points *points = hulls->points;
    const int64_t first = points->cell[hulls->begin], origin = rules->form == PWL_ANCHORED ? first : rules->zp_x;
    for (int i = 0; points->held && i < POINTS_HELD; i++) {
        const struct held *held = &points->held[i];
        if (held->point < 0)
            continue;
        if (!line_provable(rules, line, first, held->code))
            return false;
        const int64_t q = line_code(rules, line, origin, held->code);
        if (q < held->low || q > held->high)
            return false;
    }
    return wide_line_bound(points, hulls->begin, hulls->end, line, hulls->max_err) <= hulls->max_err;
}

/* Ways onto the integers' grid where the constant is in whole outputs: rounded to nearest, or to the other side; and a
 * little of the slope given for passing the middle of the segment where the real line does, or not. */
enum { VARIANTS = 4, OTHER_SIDE = 1, SAME_SLOPE = 2 };

/* The line of about this slope through the middle of the strip. */
static bool place_line(const struct strip *strip, double slope, int n, int variant, int64_t first, int64_t last,
                       struct line *line)
{
    const struct line_rules *rules = strip->rules;
    const bool whole = rules->form != PWL_BIASED;
    const long double origin = (long double)(rules->form == PWL_ANCHORED ? first : rules->zp_x);
    const long double half = 0.5L * (long double)(last - first), centre = (long double)first + half - origin;
    double middle;
    *line = (struct line){.q_b = grid_slope(strip, slope, n), .n = n};
    room_of(strip, ldexp((double)line->q_b, -n), &middle);
    const long double value = (long double)middle + ldexpl((long double)line->q_b * half, -n);
    const long double offset = value - ldexpl((long double)line->q_b * centre, -n);
    const long double scaled = whole ? offset : ldexpl(offset, n);
    if (!(fabsl(scaled) < 0x1p62L))
        return false;
    line->offset = (int64_t)rintl(scaled);
    if (variant & OTHER_SIDE)
        line->offset += scaled > (long double)line->offset ? 1 : -1;
    if (whole && !(variant & SAME_SLOPE) && rules->slope_terms == 0 && centre != 0) {
        const long double through = ldexpl((value - (long double)line->offset) / centre, n);
        if (fabsl(through) <= (long double)rules->slope_limit)
            line->q_b = (int64_t)rintl(through);
    }
    return llabs(line->q_b) <= rules->slope_limit && line_provable(rules, line, first, last);
}

/* Shorter slopes where longer ones have no proof. */
static bool round_line(const struct strip *strip, double slope, int variant, int64_t first, int64_t last,
                       struct line *line)
{
    const struct line_rules *rules = strip->rules;
    const double origin = (double)(rules->form == PWL_ANCHORED ? first : rules->zp_x);
    const double x_max = fmax(fabs((double)first - origin), fabs((double)last - origin));
    for (int n = line_shift(rules, slope, x_max); n >= rules->shift_min; n--) {
        if (place_line(strip, slope, n, variant, first, last, line))
            return true;
        if (line->q_b == 0)
            return false;
    }
    return false;
}

static bool fill(struct strip *strip, const struct hulls *hulls)
{
    const struct points *points = hulls->points;
    const int begin = hulls->begin, end = hulls->end;
    const int64_t first = points->cell[begin], last = points->cell[end] - 1;
    const double max_err = hulls->max_err;
    strip->gates = malloc(((size_t)(end - begin) + POINTS_HELD + 2) * sizeof *strip->gates);
    if (!strip->gates)
        return false;
    for (int i = 0; points->held && i < POINTS_HELD; i++)
        if (points->held[i].point >= 0)
            strip->gates[strip->count++] = held_gate(strip, &points->held[i], first);
    for (int k = begin; k < end; k++)
        strip->gates[strip->count++] = gate_at(strip, points->code[k] - (double)first, points->target[k], max_err);
    strip->gates[strip->count++] = gate_at(strip, 0, target_at(points, first), max_err);
    strip->gates[strip->count++] = gate_at(strip, (double)(last - first), target_at(points, last), max_err);
    return true;
}

/* The slope of fewest bits in a range: where f is a straight line, its own. */
static bool shortest_slope(const struct line_rules *rules, const struct slope_window *window, double *slope, int *n)
{
    for (*n = rules->shift_min > 0 ? rules->shift_min : 0; *n <= rules->shift_max; ++*n) {
        const double q_b = ceil(ldexp(window->min, *n));
        if (!(fabs(q_b) <= (double)rules->slope_limit))
            return false;
        *slope = ldexp(q_b, -*n);
        if (*slope <= window->max)
            return true;
    }
    return false;
}

/* Slopes that a line through the gates may have; where saturation leaves one side open, those up to the whole output
 * range within the segment; for a single code, level. False when there are none. */
static bool slopes_of(const struct strip *strip, const struct slope_window *window, struct slope_window *slopes)
{
    const struct gate first = strip->gates[strip->count - 2], last = strip->gates[strip->count - 1];
    const double width = last.x - first.x;
    if (width == 0) {
        *slopes = (struct slope_window){0, 0};
        return true;
    }
    const double steepest = line_steepest(strip->rules) / width;
    slopes->min = fmax(window->min, fmax((last.low - first.high) / width, -steepest));
    slopes->max = fmin(window->max, fmin((last.high - first.low) / width, steepest));
    return slopes->min <= slopes->max;
}

bool wide_line(const struct hulls *hulls, const struct line_rules *rules, struct line *line)
{
    const struct points *points = hulls->points;
    const int64_t first = points->cell[hulls->begin], last = points->cell[hulls->end] - 1;
    const struct slope_window window = hulls_slopes(hulls);
    struct strip strip = {.rules = rules,
                          .below = rules->rounding == PWL_FLOOR ? 1 : 0.5,
                          .above = rules->rounding == PWL_FLOOR ? 0 : 0.5};
    if (!fill(&strip, hulls))
        return false;
    struct slope_window slopes;
    bool found = false;
    if (slopes_of(&strip, &window, &slopes)) {
        const double slope = roomiest_slope(&strip, &slopes, fmax(0x1p-10, 1e-6 * hulls->max_err));
        for (int variant = 0; variant < VARIANTS && !found; variant++)
            found = round_line(&strip, slope, variant, first, last, line) && serves(hulls, rules, line);
    }
    double slope;
    int n;
    if (!found && shortest_slope(rules, &window, &slope, &n))
        for (int side = 0; side <= OTHER_SIDE && !found; side++)
            found = place_line(&strip, slope, n, SAME_SLOPE | side, first, last, line) && serves(hulls, rules, line);
    free(strip.gates);
    return found;
}
