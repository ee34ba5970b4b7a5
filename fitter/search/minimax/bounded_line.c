/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bounded_line.h"

#include <math.h>
#include <stdlib.h>

#include "base/real.h"
#include "measure/error_bound.h"

/* Between which values a real line may pass at one code, room for rounding left; +-INFINITY where saturation brings the
 * output back. */
struct gate {
    double x; /* codes from the segment's first one */
    double low, high;
};

struct post {
    double x, y;
};

/* The posts of all gates on one side, but for those that no line touches first: their hull, by x. */
struct posts {
    struct post *at;
    int count;
    int sign; /* +1: lines pass above them, -1: below */
};

/* The gates that a line has to pass: one at each point and at the two end codes, and at codes held. */
struct gates {
    const struct line_rules *rules;
    struct posts low, high;
    struct gate begin, end; /* those of the end codes */
    int64_t first, last;    /* codes of the segment */
    double from;            /* X of the first one */
    double below, above;    /* rounding takes an output at most so far below and above the line */
};

/* The gate x codes from the segment's first one, where its own output and that of its mirror image are held to an
 * error. Where X is 0 nothing is rounded but a bias. */
static struct gate gate_at(const struct gates *gates, double x, const struct served *served, double max_err)
{
    struct gate gate = {x, -INFINITY, INFINITY};
    const bool rounds = gates->rules->form == PWL_BIASED || gates->from + x != 0;
    for (int i = 0; i < 2; i++) {
        const double low = served[i].target - max_err, high = served[i].target + max_err;
        if (low > served[i].low)
            gate.low = fmax(gate.low, low + (rounds ? gates->below : 0));
        if (high < served[i].high)
            gate.high = fmin(gate.high, high - (rounds ? gates->above : 0));
    }
    return gate;
}

/* That of a point. */
static struct gate point_gate(const struct gates *gates, const struct points *points, int k, double max_err)
{
    const double x = points->code[k] - (double)gates->first;
    const struct served own[2] = {
        {.low = (double)gates->rules->qmin_y, .high = (double)gates->rules->qmax_y, .target = points->target[k]}};
    return gate_at(gates, x, points->served ? points->served[k] : own, max_err);
}

/* That of any code. */
static struct gate code_gate(const struct gates *gates, const struct points *points, int64_t code, double max_err)
{
    struct served served[2];
    points->between->serve(points->between->context, code, served);
    return gate_at(gates, (double)(code - gates->first), served, max_err);
}

/* Codes that rounding may take the line to. */
static struct gate held_gate(const struct gates *gates, const struct held *held)
{
    return (struct gate){(double)(held->code - gates->first),
                         held->low <= gates->rules->qmin_y ? -INFINITY : (double)held->low - gates->above,
                         held->high >= gates->rules->qmax_y ? INFINITY : (double)held->high + gates->below};
}

/* Posts come by ascending x. */
static void add_post(struct posts *posts, double x, double y)
{
    struct post *at = posts->at;
    if (isinf(y))
        return;
    if (posts->count && at[posts->count - 1].x == x) {
        if (posts->sign * (y - at[posts->count - 1].y) <= 0)
            return;
        posts->count--;
    }
    for (; posts->count >= 2; posts->count--) {
        const struct post a = at[posts->count - 2], b = at[posts->count - 1];
        if (posts->sign * ((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)) < 0)
            break;
    }
    at[posts->count++] = (struct post){x, y};
}

static void add_gate(struct gates *gates, struct gate gate)
{
    add_post(&gates->low, gate.x, gate.low);
    add_post(&gates->high, gate.x, gate.high);
}

/* Where a line of this slope that touches the posts is at x = 0. */
static double touching(const struct posts *posts, double slope)
{
    int low = 0, high = posts->count - 1; /* the post that it touches is one of [low, high] */
    if (posts->count == 0)
        return -posts->sign * (double)INFINITY;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const struct post a = posts->at[middle], b = posts->at[middle + 1];
        if (posts->sign * (b.y - a.y - slope * (b.x - a.x)) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return posts->at[low].y - slope * posts->at[low].x;
}

/* How much a line of this slope can be moved up and down, and its value in the middle at x = 0; the room is a concave
 * function of the slope. */
static double room_of(const struct gates *gates, double slope, double *middle)
{
    const double low = touching(&gates->low, slope), high = touching(&gates->high, slope);
    *middle = isinf(low) ? (isinf(high) ? 0 : high - 1) : isinf(high) ? low + 1 : 0.5 * (low + high);
    return high - low;
}

/* Narrows slopes to those of the lines that pass the posts and have a value where X, which is `from` at x = 0, is 0;
 * where there are none, min > max. */
static void pass_from(const struct posts *posts, double from, double offset, struct window *slopes)
{
    for (int k = 0; k < posts->count; k++) {
        const double x = from + posts->at[k].x, y = posts->at[k].y - offset;
        if (x == 0 && posts->sign * y > 0)
            *slopes = (struct window){INFINITY, -INFINITY};
        else if (x != 0 && (x > 0) == (posts->sign > 0))
            slopes->low = fmax(slopes->low, y / x);
        else if (x != 0)
            slopes->high = fmin(slopes->high, y / x);
    }
}

static struct window slopes_from(const struct gates *gates, double offset)
{
    struct window slopes = {-INFINITY, INFINITY};
    pass_from(&gates->low, gates->from, offset, &slopes);
    pass_from(&gates->high, gates->from, offset, &slopes);
    return slopes;
}

/* Golden section search for the most room, until slopes differ by no more than `fine` of an output. */
static double roomiest_slope(const struct gates *gates, const struct window *slopes, double fine)
{
    enum { STEPS = 44 };
    double low = slopes->low, high = slopes->high;
    const double golden = 0.6180339887498949, close = fine / gates->end.x;
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
    if (rules->slope_terms == 0 || fabs(scaled) > (double)line_slopes(rules, n).high)
        return slope_nearest(rules, scaled);
    const int64_t above = slope_above(rules, (int64_t)ceil(scaled) - 1),
                  below = -slope_above(rules, (int64_t)ceil(-scaled) - 1);
    return room_of(gates, ldexp((double)above, -n), &ignored) > room_of(gates, ldexp((double)below, -n), &ignored)
               ? above
               : below;
}

double bounded_line_error(const struct points *points, int begin, int end, const struct line *line, double most)
{
    const struct between *const between = points->between;
    const int64_t first = points->cell[begin], last = points->cell[end] - 1;
    const struct segment segment = line_segment(line, first);
    if (between->is_bounded) {
        double bound;
        return segment_bound(&between->format, between->function, &segment, last, most, &bound) ? bound : INFINITY;
    }
    double error = segment_bound_at(&between->format, &segment, end - begin, points->code + begin, points->cell + begin,
                                    points->target + begin, most);
    for (int i = 0; i < 2 && error <= most; i++) {
        struct served served[2];
        const int64_t code = i == 0 ? first : last, cell[] = {code, code + 1};
        between->serve(between->context, code, served);
        error = fmax(error, segment_bound_at(&between->format, &segment, 1, &(double){(double)code}, cell,
                                             &served[0].target, most));
    }
    return error;
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

/* Of the two offsets next to a real one. */
enum { NEAREST, OTHER_SIDE, SIDES };

static bool round_offset(real offset, int side, int64_t *rounded)
{
    if (!(real_abs(offset) < 0x1p62))
        return false;
    *rounded = (int64_t)real_nearest(offset);
    if (side == OTHER_SIDE)
        *rounded += offset > (real)*rounded ? 1 : -1;
    return true;
}

/* The line of about this slope with as much room above as below. */
static bool line_of_slope(const struct gates *gates, double slope, int n, int side, struct line *line)
{
    const struct line_rules *rules = gates->rules;
    double middle;
    *line = (struct line){.q_b = grid_slope(gates, slope, n), .n = n};
    room_of(gates, ldexp((double)line->q_b, -n), &middle);
    const real offset = middle - real_scaled((real)line->q_b * (real)gates->from, -n);
    return round_offset(rules->form == PWL_BIASED ? real_scaled(offset, n) : offset, side, &line->offset) &&
           is_within(line_slopes(rules, n), line->q_b) && line_provable(rules, line, gates->first, gates->last);
}

/* The line of this offset and about this slope. */
static bool line_of_offset(const struct gates *gates, double slope, int n, int64_t offset, struct line *line)
{
    const struct line_rules *rules = gates->rules;
    *line = (struct line){.q_b = slope_nearest(rules, ldexp(slope, n)), .n = n, .offset = offset};
    return is_within(line_slopes(rules, n), line->q_b) && line_provable(rules, line, gates->first, gates->last);
}

/* The longest shift to try for a slope. */
static int longest_shift(const struct gates *gates, double slope)
{
    const double to = gates->from + (double)(gates->last - gates->first);
    return line_shift(gates->rules, slope, fmax(fabs(gates->from), fabs(to)));
}

/* The finest provable line of about this slope. */
static bool finest_line(const struct gates *gates, double slope, int side, struct line *line)
{
    for (int n = longest_shift(gates, slope); n >= gates->rules->shift_min; n--) {
        if (line_of_slope(gates, slope, n, side, line))
            return true;
        if (line->q_b == 0)
            return false;
    }
    return false;
}

static void gates_free(struct gates *gates)
{
    free(gates->low.at);
    free(gates->high.at);
}

/* False when memory is short. */
static bool gates_init(struct gates *gates, const struct line_rules *rules, const struct hulls *hulls)
{
    const struct points *points = hulls->points;
    const int begin = hulls->begin, end = hulls->end;
    const int64_t first = points->cell[begin], last = points->cell[end] - 1;
    const size_t most = (size_t)(end - begin) + POINTS_HELD + 2;
    *gates = (struct gates){.rules = rules,
                            .low = {.at = malloc(most * sizeof *gates->low.at), .sign = 1},
                            .high = {.at = malloc(most * sizeof *gates->high.at), .sign = -1},
                            .first = first,
                            .last = last,
                            .from = (double)(first - line_origin(rules, first)),
                            .below = rules->rounding == PWL_FLOOR ? 1 : 0.5,
                            .above = rules->rounding == PWL_FLOOR ? 0 : 0.5};
    if (!gates->low.at || !gates->high.at) {
        gates_free(gates);
        return false;
    }
    gates->begin = code_gate(gates, points, first, hulls->max_err);
    gates->end = code_gate(gates, points, last, hulls->max_err);
    add_gate(gates, gates->begin);
    for (int i = 0; points->held && i < POINTS_HELD; i++)
        if (points->held[i].point >= 0 && points->held[i].code == first)
            add_gate(gates, held_gate(gates, &points->held[i]));
    for (int k = begin; k < end; k++)
        add_gate(gates, point_gate(gates, points, k, hulls->max_err));
    add_gate(gates, gates->end);
    for (int i = 0; points->held && i < POINTS_HELD; i++) /* at the last code or behind it */
        if (points->held[i].point >= 0 && points->held[i].code != first)
            add_gate(gates, held_gate(gates, &points->held[i]));
    return true;
}

/* The slope of fewest bits in a range: where f is a straight line, its own. */
static bool shortest_slope(const struct line_rules *rules, const struct window *window, double *slope, int *n)
{
    for (*n = rules->shift_min > 0 ? rules->shift_min : 0; *n <= rules->shift_max; ++*n) {
        const double q_b = ceil(ldexp(window->low, *n));
        if (!((double)rules->slopes.low <= q_b && q_b <= (double)rules->slopes.high))
            return false;
        *slope = ldexp(q_b, -*n);
        if (*slope <= window->high && is_within(line_slopes(rules, *n), (wide)q_b))
            return true;
    }
    return false;
}

/* Slopes of lines through the gates; where saturation leaves one side open, those up to the whole output range within
 * the segment; for a single code, level. False when there are none. */
static bool slopes_of(const struct gates *gates, const struct window *window, struct window *slopes)
{
    const struct gate first = gates->begin, last = gates->end;
    const double width = last.x;
    if (width == 0) {
        *slopes = (struct window){0, 0};
        return true;
    }
    const double steepest = line_steepest(gates->rules) / width;
    slopes->low = fmax(window->low, fmax((last.low - first.high) / width, -steepest));
    slopes->high = fmin(window->high, fmin((last.high - first.low) / width, steepest));
    return slopes->low <= slopes->high;
}

/* A feasible line of a whole offset, with as much room for its slope to either side as there is, or else of the slope
 * of fewest bits. */
static bool feasible_line_of_offset(const struct gates *gates, const struct hulls *hulls, int64_t offset,
                                    struct line *line)
{
    const struct line_rules *rules = gates->rules;
    const struct window window = slopes_from(gates, (double)offset);
    double slope;
    int n;
    if (!(window.low <= window.high))
        return false;
    slope = isinf(window.low) || isinf(window.high) ? fmin(fmax(0, window.low), window.high)
                                                    : 0.5 * (window.low + window.high);
    for (n = longest_shift(gates, slope); n >= rules->shift_min; n--)
        if (line_of_offset(gates, slope, n, offset, line)) {
            if (is_feasible(hulls, rules, line))
                return true;
            break;
        }
    return shortest_slope(rules, &window, &slope, &n) && line_of_offset(gates, slope, n, offset, line) &&
           is_feasible(hulls, rules, line);
}

/* A feasible line near the roomiest one, of this slope. Where offsets are whole outputs, each of the two next to the
 * real one has slopes of its own; but where slopes are of few bits, none of them may be near. */
static bool feasible_line(const struct gates *gates, const struct hulls *hulls, double slope, struct line *line)
{
    const struct line_rules *rules = gates->rules;
    double middle;
    room_of(gates, slope, &middle);
    const real offset = (real)middle - (real)slope * (real)gates->from;
    for (int side = NEAREST; side < SIDES && rules->form != PWL_BIASED && !rules->slope_terms; side++) {
        int64_t whole;
        if (round_offset(offset, side, &whole) && feasible_line_of_offset(gates, hulls, whole, line))
            return true;
    }
    for (int side = NEAREST; side < SIDES; side++)
        if (finest_line(gates, slope, side, line) && is_feasible(hulls, rules, line))
            return true;
    return false;
}

bool bounded_line(const struct hulls *hulls, const struct line_rules *rules, struct line *line)
{
    const struct window window = hulls_slopes(hulls);
    struct gates gates;
    if (!gates_init(&gates, rules, hulls))
        return false;
    struct window slopes;
    bool found =
        slopes_of(&gates, &window, &slopes) &&
        feasible_line(&gates, hulls, roomiest_slope(&gates, &slopes, fmax(0x1p-10, 1e-6 * hulls->max_err)), line);
    double slope;
    int n;
    if (!found && shortest_slope(rules, &window, &slope, &n))
        for (int side = NEAREST; side < SIDES && !found; side++)
            found = line_of_slope(&gates, slope, n, side, line) && is_feasible(hulls, rules, line);
    gates_free(&gates);
    return found;
}
