/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bounded_line.h"

#include <math.h>
#include <stdlib.h>

#include "function/target.h"
#include "measure/error_bound.h"

/* Between which values a real line may pass at one code, room for rounding left; +-INFINITY where saturation brings the
 * output back. */
struct gate {
    double x; /* codes from the segment's first one */
    double low, high;
};

/* What a line has to pass: a gate at each point and at the two end codes, which come last, and at codes held. */
struct gates {
    const struct line_rules *rules;
    struct gate *gate;
    int count;
    int64_t first, last; /* codes of the segment */
    double below, above; /* rounding takes an output at most so far below and above the line */
};

static struct gate gate_at(const struct gates *gates, double x, double target, double max_err)
{
    const double low = target - max_err, high = target + max_err;
    return (struct gate){x, low <= (double)gates->rules->qmin_y ? -INFINITY : low + gates->below,
                         high >= (double)gates->rules->qmax_y ? INFINITY : high - gates->above};
}

/* Codes that rounding may take the line to. */
static struct gate held_gate(const struct gates *gates, const struct held *held)
{
    return (struct gate){(double)(held->code - gates->first),
                         held->low <= gates->rules->qmin_y ? -INFINITY : (double)held->low - gates->above,
                         held->high >= gates->rules->qmax_y ? INFINITY : (double)held->high + gates->below};
}

static double target_at(const struct points *points, int64_t code)
{
    const struct spec *spec = points->spec;
    const long double t = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, code);
    return (double)target_clipped(&spec->out, t);
}

/* How much a line of this slope can be moved up and down, and its value in the middle at x = 0; the room is a concave
 * function of the slope. */
static double room_of(const struct gates *gates, double slope, double *middle)
{
    double low = -INFINITY, high = INFINITY;
    for (int k = 0; k < gates->count; k++) {
        const struct gate *gate = &gates->gate[k];
        const double line = slope * gate->x, least = gate->low - line, most = gate->high - line;
        low = least > low ? least : low;
        high = most < high ? most : high;
    }
    *middle = isinf(low) ? (isinf(high) ? 0 : high - 1) : isinf(high) ? low + 1 : 0.5 * (low + high);
    return high - low;
}

/* Golden section search for the most room, until slopes differ by no more than `fine` of an output. */
static double roomiest_slope(const struct gates *gates, const struct slope_window *slopes, double fine)
{
    enum { STEPS = 44 };
    double low = slopes->min, high = slopes->max;
    const double golden = 0.6180339887498949, close = fine / gates->gate[gates->count - 1].x;
    double ignored, a = high - golden * (high - low), b = low + golden * (high - low);
    double room_a = room_of(gates, a, &ignored), room_b = room_of(gates, b, &ignored);
    for (int step = 0; step < STEPS && high - low > close; step++) {
        if (room_a > room_b) {
            high = b;
            b = a;
            room_b = room_a;
            a = high - golden * (high - low);
            room_a = room_of(gates, a, &ignored);
        } else {
            low = a;
            a = b;
            room_a = room_b;
            b = low + golden * (high - low);
            room_b = room_of(gates, b, &ignored);
        }
    }
    return 0.5 * (low + high);
}

/* The slope q_b * 2^-n next to one; of those that are sums of few powers of two, above or below it, the roomier one. */
static int64_t grid_slope(const struct gates *gates, double slope, int n)
{
    const struct line_rules *rules = gates->rules;
    const double scaled = ldexp(slope, n);
    double ignored;
    if (rules->slope_terms == 0 || fabs(scaled) > (double)rules->slope_limit)
        return slope_nearest(rules, scaled);
    const int64_t above = slope_above(rules, (int64_t)ceil(scaled) - 1),
                  below = -slope_above(rules, (int64_t)ceil(-scaled) - 1);
    return room_of(gates, ldexp((double)above, -n), &ignored) > room_of(gates, ldexp((double)below, -n), &ignored)
               ? above
               : below;
}

double bounded_line_error(const struct points *points, int begin, int end, const struct line *line, double most)
{
    const struct spec *spec = points->spec;
    const int64_t first = points->cell[begin], last = points->cell[end] - 1;
    const struct table format = line_format(spec);
    const struct segment segment = line_segment(line, first);
    if (points->bounded) {
        double bound;
        return segment_bound(&format, &spec->function, &segment, last, most, &bound) ? bound : INFINITY;
    }
    const double ends[] = {(double)first, (double)last};
    const double targets[] = {target_at(points, first), target_at(points, last)};
    return fmax(segment_bound_at(&format, &segment, ends, targets, 2, most),
                segment_bound_at(&format, &segment, points->code + begin, points->target + begin, end - begin, most));
}

/* Whether the line gives codes within their limits where codes are held, and keeps the error everywhere. */
static bool is_feasible(const struct hulls *hulls, const struct line_rules *rules, const struct line *line)
{
    const struct points *points = hulls->points;
    const int64_t first = points->cell[hulls->begin];
    for (int i = 0; points->held && i < POINTS_HELD; i++) {
        const struct held *held = &points->held[i];
        if (held->point < 0)
            continue;
        if (!line_provable(rules, line, first, held->code))
            return false;
        const int64_t q = line_code(rules, line, line_origin(rules, first), held->code);
        if (q < held->low || q > held->high)
            return false;
    }
    return bounded_line_error(points, hulls->begin, hulls->end, line, hulls->max_err) <= hulls->max_err;
}

/* Ways to round a real line to integers. The offset that is nearest, or the one on the other side. Where offsets are
 * whole outputs, the slope that takes the line with that offset through its value in the middle of the segment, or the
 * slope as given. */
enum { VARIANTS = 4, OTHER_SIDE = 1, SAME_SLOPE = 2 };

/* The line of about this slope with as much room above as below. */
static bool integer_line(const struct gates *gates, double slope, int n, int variant, struct line *line)
{
    const struct line_rules *rules = gates->rules;
    const bool whole = rules->form != PWL_BIASED;
    const long double origin = (long double)line_origin(rules, gates->first);
    const long double half = 0.5L * (long double)(gates->last - gates->first),
                      centre = (long double)gates->first + half - origin;
    double middle;
    *line = (struct line){.q_b = grid_slope(gates, slope, n), .n = n};
    room_of(gates, ldexp((double)line->q_b, -n), &middle);
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
    return llabs(line->q_b) <= rules->slope_limit && line_provable(rules, line, gates->first, gates->last);
}

/* The finest provable line of about this slope. */
static bool finest_line(const struct gates *gates, double slope, int variant, struct line *line)
{
    const struct line_rules *rules = gates->rules;
    const double origin = (double)line_origin(rules, gates->first);
    const double x_max = fmax(fabs((double)gates->first - origin), fabs((double)gates->last - origin));
    for (int n = line_shift(rules, slope, x_max); n >= rules->shift_min; n--) {
        if (integer_line(gates, slope, n, variant, line))
            return true;
        if (line->q_b == 0)
            return false;
    }
    return false;
}

/* False when memory is short. */
static bool gates_init(struct gates *gates, const struct line_rules *rules, const struct hulls *hulls)
{
    const struct points *points = hulls->points;
    const int begin = hulls->begin, end = hulls->end;
    const int64_t first = points->cell[begin], last = points->cell[end] - 1;
    const double max_err = hulls->max_err;
    *gates = (struct gates){.rules = rules,
                            .gate = malloc(((size_t)(end - begin) + POINTS_HELD + 2) * sizeof *gates->gate),
                            .first = first,
                            .last = last,
                            .below = rules->rounding == PWL_FLOOR ? 1 : 0.5,
                            .above = rules->rounding == PWL_FLOOR ? 0 : 0.5};
    if (!gates->gate)
        return false;
    for (int i = 0; points->held && i < POINTS_HELD; i++)
        if (points->held[i].point >= 0)
            gates->gate[gates->count++] = held_gate(gates, &points->held[i]);
    for (int k = begin; k < end; k++)
        gates->gate[gates->count++] = gate_at(gates, points->code[k] - (double)first, points->target[k], max_err);
    gates->gate[gates->count++] = gate_at(gates, 0, target_at(points, first), max_err);
    gates->gate[gates->count++] = gate_at(gates, (double)(last - first), target_at(points, last), max_err);
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

/* Slopes of lines through the gates; where saturation leaves one side open, those up to the whole output range within
 * the segment; for a single code, level. False when there are none. */
static bool slopes_of(const struct gates *gates, const struct slope_window *window, struct slope_window *slopes)
{
    const struct gate first = gates->gate[gates->count - 2], last = gates->gate[gates->count - 1];
    const double width = last.x - first.x;
    if (width == 0) {
        *slopes = (struct slope_window){0, 0};
        return true;
    }
    const double steepest = line_steepest(gates->rules) / width;
    slopes->min = fmax(window->min, fmax((last.low - first.high) / width, -steepest));
    slopes->max = fmin(window->max, fmin((last.high - first.low) / width, steepest));
    return slopes->min <= slopes->max;
}

bool bounded_line(const struct hulls *hulls, const struct line_rules *rules, struct line *line)
{
    const struct slope_window window = hulls_slopes(hulls);
    struct gates gates;
    if (!gates_init(&gates, rules, hulls))
        return false;
    struct slope_window slopes;
    bool found = false;
    if (slopes_of(&gates, &window, &slopes)) {
        const double slope = roomiest_slope(&gates, &slopes, fmax(0x1p-10, 1e-6 * hulls->max_err));
        for (int variant = 0; variant < VARIANTS && !found; variant++)
            found = finest_line(&gates, slope, variant, line) && is_feasible(hulls, rules, line);
    }
    double slope;
    int n;
    if (!found && shortest_slope(rules, &window, &slope, &n))
        for (int side = 0; side <= OTHER_SIDE && !found; side++)
            found = integer_line(&gates, slope, n, SAME_SLOPE | side, line) && is_feasible(hulls, rules, line);
    free(gates.gate);
    return found;
}
