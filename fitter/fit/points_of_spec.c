/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "points_of_spec.h"

#include <math.h>
#include <stdlib.h>

#include "base/progress.h"
#include "function/elementary.h"
#include "function/target.h"
#include "spec/reduce.h"

#define WIDE_POINTS (1 << SPEC_EXHAUSTIVE_BITS)
#define MOST_CODES (WIDE_POINTS + 1) /* of half a folded table, with the mirror image of the lowest code */
#define WIDE_PASSES 4

static int allocate(const struct spec *spec, struct points *points, int count, struct diag *diag)
{
    return points_allocate(points, count, spec->core != NULL, spec->is_half, diag);
}

/* The point that stands for a code. */
static int point_of(const struct points *points, int64_t code)
{
    int low = 0, high = points->count; /* the answer lies in [low, high) */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (points->cell[middle] <= code)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The codes that the points of a spec stand for. */
static const struct tensor *codes_of(const struct spec *spec)
{
    return spec->core ? &spec->whole->in : &spec->in;
}

/* Whether the codes of a reduced table are few enough to visit each; if not, every word counts alike. */
static bool visits_codes(const struct spec *spec)
{
    return spec->core && codes_of(spec)->bits <= SPEC_EXHAUSTIVE_BITS;
}

static int64_t mirror_image(const struct spec *spec, int64_t code)
{
    return 2 * spec->in.zero_point - code;
}

/* Whether the half of a folded table serves a code itself, and the mirror image of a code. */
static bool serves_itself(const struct spec *spec, int64_t code)
{
    return code <= code_max(spec->in.bits, spec->in.is_signed);
}

static bool serves_image(const struct spec *spec, int64_t code)
{
    return code > spec->in.zero_point && mirror_image(spec, code) >= code_min(spec->in.bits, spec->in.is_signed);
}

/* What one code adds to the mass of which input code of the spec's table. Of a folded table each point serves the
 * mirrored code too. */
static double code_mass(const struct spec *spec, int64_t code, double weight, int64_t *point_code)
{
    if (spec->core) {
        const double lsb = spec->core->lsb / reduce_units(spec, code, point_code);
        return lsb * lsb * weight;
    }
    *point_code = code < spec->in.qmin ? mirror_image(spec, code) : code;
    return weight;
}

static void points_measure(const struct spec *spec, struct points *points)
{
    const struct tensor *in = codes_of(spec);
    const bool visited = visits_codes(spec);
    for (int k = 0; k < points->count; k++)
        points->units[k] = visited ? INFINITY : reduce_word_units(spec, points->cell[k], points->cell[k + 1] - 1);
    for (int64_t code = in->qmin; visited && code <= in->qmax; code++) {
        int64_t word;
        const double units = reduce_units(spec, code, &word);
        if (isfinite(units)) {
            double *least = &points->units[point_of(points, word)];
            *least = fmin(*least, units);
        }
    }
}

/* The middle one of a cell. */
static int64_t code_of(const struct points *points, int k)
{
    return points->cell[k] + (points->cell[k + 1] - points->cell[k] - 1) / 2;
}

/* What the points weigh where codes are not counted: their width, twice that where they serve mirrored codes too, and
 * for words the share of reduce_units. */
static double even_mass(const struct spec *spec, const struct points *points, int k)
{
    const int64_t code = code_of(points, k);
    double width = (double)(points->cell[k + 1] - points->cell[k]);
    if (spec->is_half)
        width *= (double)(serves_itself(spec, code) + serves_image(spec, code));
    const double lsb = spec->core ? spec->core->lsb / points->units[k] : 1;
    return fmax(lsb * lsb, LEAST_WEIGHT) * width;
}

/* Gives a point's mass to the codes it serves: that share to the mirrored one, or by halves. */
static void share_mass(const struct spec *spec, struct points *points, int k, double share)
{
    const int64_t code = code_of(points, k);
    if (isnan(share))
        share = !serves_image(spec, code) ? 0 : serves_itself(spec, code) ? 0.5 : 1;
    points->served[k][1].mass = share * points->mass[k];
    points->served[k][0].mass = points->mass[k] - points->served[k][1].mass;
}

/* False when nothing has any mass. */
static bool points_weigh(const struct spec *spec, struct points *points)
{
    const struct weights *weights = spec->weights;
    const struct tensor *in = codes_of(spec);
    const bool counted = weights || visits_codes(spec);
    const double codes = (double)(points->cell[points->count] - points->cell[0]);
    double sum = 0;
    for (int k = 0; k < points->count; k++) {
        points->mass[k] = counted ? 0 : even_mass(spec, points, k);
        sum += points->mass[k];
    }
    if (!counted && !spec->is_half)
        return true;
    const size_t entries = !counted ? 0 : weights ? weights->count : (size_t)(in->qmax - in->qmin + 1);
    for (size_t entry = 0; entry < entries; entry++) {
        const int64_t code = weights ? weights_code(weights, in, entry) : in->qmin + (int64_t)entry;
        int64_t point_code;
        const double mass = code_mass(spec, code, weights ? weights->value[entry] : 1, &point_code);
        const int k = mass > 0 ? point_of(points, point_code) : 0;
        points->mass[k] += mass;
        if (spec->is_half && code < spec->in.qmin)
            points->served[k][1].mass += mass;
        sum += mass;
    }
    for (int k = 0; k < points->count; k++) {
        const double mass = points->mass[k];
        points->mass[k] =
            fmax(sum > 0 ? mass * (codes / sum) : 0, LEAST_WEIGHT * (double)(points->cell[k + 1] - points->cell[k]));
        if (spec->is_half)
            share_mass(spec, points, k, counted && mass > 0 ? points->served[k][1].mass / mass : NAN);
    }
    return sum > 0;
}

/* The target of a code of the spec's table, or of a core's word. */
static struct dd target_of(const struct spec *spec, int64_t code)
{
    return spec->core ? real_dd(reduce_target(spec, code))
                      : target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, code);
}

/* A target clipped to a range; returns whether it was. */
static bool clip_target(struct dd t, const struct tensor *range, double *target)
{
    const struct dd clipped = target_clipped(range, t);
    *target = clipped.hi;
    return clipped.hi != t.hi || clipped.lo != t.lo;
}

/* The codes that a code of a half serves, each with its target within its own range; returns whether all were clipped.
 * The whole output range is that of the type; the half's may be another. */
static bool serve_half(const struct spec *spec, int64_t code, struct served served[2])
{
    const int64_t qmin = code_min(spec->out.bits, spec->out.is_signed),
                  qmax = code_max(spec->out.bits, spec->out.is_signed);
    const struct tensor own[] = {{.qmin = qmin, .qmax = qmax},
                                 {.qmin = spec->fold_sum - qmax, .qmax = spec->fold_sum - qmin}},
                        one[] = {spec->out, spec->out}, *ranges = own;
    const bool serves[] = {serves_itself(spec, code), serves_image(spec, code)};
    if (spec->saturates_as_one && serves[0] && serves[1])
        ranges = one;
    bool clipped = true;
    for (int i = 0; i < 2; i++) {
        served[i].low = served[i].high = served[i].target = 0;
        if (!serves[i])
            continue;
        served[i].low = (double)ranges[i].qmin;
        served[i].high = (double)ranges[i].qmax;
        clipped &= clip_target(i ? target_missed(target_of(spec, mirror_image(spec, code)), spec->fold_sum)
                                 : target_of(spec, code),
                               &ranges[i], &served[i].target);
    }
    return clipped;
}

/* What a code serves, but for masses; all that is no half of a folded table, itself alone. */
static void serve_code(const void *context, int64_t code, struct served served[2])
{
    const struct spec *const spec = context;
    served[0] = (struct served){.low = (double)spec->out.qmin, .high = (double)spec->out.qmax};
    served[1] = (struct served){0};
    if (spec->is_half)
        serve_half(spec, code, served);
    else
        clip_target(target_of(spec, code), &spec->out, &served[0].target);
}

/* The targets of the codes that point k of a half serves, and their mean; returns whether all were clipped. */
static bool serve(const struct spec *spec, struct points *points, int k)
{
    struct served *served = points->served[k];
    const bool clipped = serve_half(spec, code_of(points, k), served);
    points->target[k] = 0;
    for (int i = 0; i < 2; i++)
        points->target[k] += served[i].mass / points->mass[k] * served[i].target;
    return clipped;
}

static void points_evaluate(const struct spec *spec, struct points *points)
{
    if (spec->core)
        points_measure(spec, points);
    const bool any_mass = points_weigh(spec, points);
    points->clipped = 0;
    for (int k = 0; k < points->count; k++) {
        const int64_t code = code_of(points, k);
        if (k % 1024 == 0)
            progress_step("values of the function", (uint64_t)k, (uint64_t)points->count);
        const bool clipped =
            spec->is_half ? serve(spec, points, k) : clip_target(target_of(spec, code), &spec->out, &points->target[k]);
        points->code[k] = (double)code;
        points->weight[k] = clipped ? 0.0 : points->mass[k];
        points->clipped += clipped;
    }
    if (!any_mass) /* every code of a reduced table saturates, though its core does not */
        points->clipped = points->count;
}

/* Of the targets, 0 < k < count - 1. */
static double second_difference(const struct points *points, int k)
{
    const double left = (points->target[k] - points->target[k - 1]) / (points->code[k] - points->code[k - 1]);
    const double right = (points->target[k + 1] - points->target[k]) / (points->code[k + 1] - points->code[k]);
    return 2 * (right - left) / (points->code[k + 1] - points->code[k - 1]);
}

/* By Newton's method, from within a seventh of it: the same everywhere, as pow is not. x >= 0 */
static double fifth_root(double x)
{
    int exponent;
    const double mantissa = frexp(x, &exponent);
    if (!(x > 0 && isfinite(x)))
        return x;
    const int whole = (exponent + 5000) / 5 - 1000;
    const double part = ldexp(mantissa, exponent - 5 * whole); /* 1/2 to 16 */
    double root = 0.9 + 0.06 * part;
    for (int i = 0; i < 5; i++)
        root -= (root - part / (root * root * root * root)) / 5;
    return ldexp(root, whole);
}

/* Cumulative bend: where an optimal table spends its segments. For the squared error their density is proportional
 * to (weight f''^2)^(1/5). So one half is spread; a quarter goes by weight and a quarter evenly, so that no region is
 * without candidates. */
static void points_bend(struct points *points)
{
    const int n = points->count;
    double total = 0, total_mass = 0;
    points->bend[0] = 0;
    for (int k = 0; k < n; k++) {
        const double width = (double)(points->cell[k + 1] - points->cell[k]);
        const double second = n < 3 ? 0 : second_difference(points, k < 1 ? 1 : k > n - 2 ? n - 2 : k);
        const double root = fifth_root(fabs(second) * sqrt(points->mass[k] / width)), share = root * root * width;
        total += share;
        total_mass += points->mass[k];
        points->bend[k + 1] = total;
    }
    const double range = (double)(points->cell[n] - points->cell[0]);
    double mass = 0;
    for (int k = 0; k <= n; k++) {
        const double even = (double)(points->cell[k] - points->cell[0]) / range;
        const double spread = 0.5 * even + 0.5 * mass / total_mass;
        points->bend[k] = total > 0 ? 0.5 * points->bend[k] / total + 0.5 * spread : spread;
        mass += k < n ? points->mass[k] : 0;
    }
}

/* How fine cells are to be: the places of their ends as shares of all cells. */
struct fineness {
    const struct points *points; /* of the pass before */
    bool near_origin;            /* an eighth of the cells goes by the logarithm of the distance from the zero point */
    double zp_x, low, high;      /* of the first and of the last end */
};

static double magnitude_of(double x)
{
    return copysign(dd_log1p(dd_of(fabs(x))).hi, x);
}

/* Where offsets are whole outputs, a line that is a share of an output too high at X is as many more of it too high at
 * 2 X. So where the largest error counts segments near the zero point are short, whatever f is: as long as they are far
 * from it, times a share. */
static struct fineness fineness_of(const struct spec *spec, const struct points *points)
{
    const double zp_x = (double)spec->in.zero_point;
    return (struct fineness){.points = points,
                             .near_origin = spec->form == PWL_ABSOLUTE && !spec->core &&
                                            (spec->method == METHOD_MINIMAX || !isnan(spec->max_err)),
                             .zp_x = zp_x,
                             .low = magnitude_of((double)points->cell[0] - zp_x),
                             .high = magnitude_of((double)points->cell[points->count] - zp_x)};
}

static double share_before(const struct fineness *fineness, int k)
{
    const struct points *points = fineness->points;
    if (!fineness->near_origin)
        return points->bend[k];
    const double near = magnitude_of((double)points->cell[k] - fineness->zp_x);
    return 0.875 * points->bend[k] + 0.125 * (near - fineness->low) / (fineness->high - fineness->low);
}

/* Divides the range into cells of about equal shares, as measured on the cells of the pass before. */
static void refine_cells(const struct fineness *fineness, struct points *fine)
{
    const struct points *coarse = fineness->points;
    int k = 0;
    double before = 0, after = share_before(fineness, 1);
    fine->cell[0] = coarse->cell[0];
    for (int m = 1; m < fine->count; m++) {
        const double wanted = (double)m / fine->count;
        while (after < wanted && k + 1 < coarse->count) {
            before = after;
            after = share_before(fineness, ++k + 1);
        }
        const double share = fmin(1, (wanted - before) / (after - before));
        const int64_t width = coarse->cell[k + 1] - coarse->cell[k];
        int64_t cell = coarse->cell[k] + (int64_t)(share * (double)width);
        /* Each cell holds at least one code, and leaves one for each cell that follows. */
        const int64_t lowest = fine->cell[m - 1] + 1, highest = coarse->cell[coarse->count] - (fine->count - m);
        fine->cell[m] = cell < lowest ? lowest : cell > highest ? highest : cell;
    }
    fine->cell[fine->count] = coarse->cell[coarse->count];
}

/* A fix below the zero point of a folded table binds the mirrored code. */
static int points_fix(const struct spec *spec, struct points *points, struct diag *diag)
{
    if (spec->fix_count == 0)
        return EXIT_DONE;
    points->fixed = malloc((size_t)points->count * sizeof *points->fixed);
    if (!points->fixed)
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
    for (int k = 0; k < points->count; k++)
        points->fixed[k] = POINT_FREE;
    for (int k = 0; k < spec->fix_count; k++) {
        const struct fix *fix = &spec->fixes[k];
        int64_t q_x, q_y;
        struct spec whole = *spec;
        whole.in.qmin = code_min(spec->in.bits, spec->in.is_signed);
        if (spec_fix_codes(&whole, fix, &q_x, &q_y, diag))
            return diag->code;
        if (q_x < spec->in.qmin) {
            q_x = mirror_image(spec, q_x);
            q_y = spec->fold_sum - q_y;
        }
        int64_t *fixed = &points->fixed[q_x - spec->in.qmin];
        if (*fixed != POINT_FREE && *fixed != q_y)
            return diag_set(diag, EXIT_USAGE, "--fix %.9g:%.9g: the code of X is already fixed to another value",
                            fix->x, fix->y);
        *fixed = q_y;
    }
    return EXIT_DONE;
}

/* An expression of many codes may have no value at one that spec_check did not look at; cells go by its values. */
static int points_have_values(const struct spec *spec, const struct points *points, struct diag *diag)
{
    diag->code = EXIT_DONE;
    for (int k = 0; spec->function.expression && !spec->core && k < points->count && !diag->code; k++) {
        const int64_t code = code_of(points, k);
        if (!spec->is_half || serves_itself(spec, code))
            spec_check_value(spec, code, diag);
        if (!diag->code && spec->is_half && serves_image(spec, code))
            spec_check_value(spec, mirror_image(spec, code), diag);
    }
    return diag->code;
}

/* Cells that end at multiples of 2^-16 of all codes, so that those of a grid are among them. */
static int points_even(const struct spec *spec, struct points *points, struct diag *diag)
{
    const int64_t unit = (int64_t)1 << (spec->in.bits - SPEC_EXHAUSTIVE_BITS);
    if (allocate(spec, points, WIDE_POINTS + 1, diag)) /* one more where qmin is no multiple */
        return diag->code;
    points->count = 0;
    for (int64_t start = spec->in.qmin; start <= spec->in.qmax; start = (start & -unit) + unit)
        points->cell[points->count++] = start;
    points->cell[points->count] = spec->in.qmax + 1;
    points_evaluate(spec, points);
    points_bend(points);
    return points_have_values(spec, points, diag);
}

/* Moves the cells' ends next to the extremes of f to the extremes themselves. */
static void points_part_at_turns(const struct spec *spec, struct points *points)
{
    for (int k = 1; k + 1 < points->count; k++) {
        const double *t = points->target + k;
        const double side = t[0] > t[-1] && t[0] > t[1] ? 1 : t[0] < t[-1] && t[0] < t[1] ? -1 : 0;
        int64_t low = (int64_t)points->code[k - 1],
                high = (int64_t)points->code[k + 1]; /* the extreme is in [low, high] */
        if (side == 0)
            continue;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            const struct dd here = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, middle);
            const struct dd next = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, middle + 1);
            if (side * dd_sub(next, here).hi > 0)
                low = middle + 1;
            else
                high = middle;
        }
        int64_t *end = &points->cell[low <= (int64_t)points->code[k] ? k : k + 1];
        if (end[-1] < low && low < end[1])
            *end = low;
    }
    points_evaluate(spec, points);
    points_bend(points);
}

static int points_adaptive(const struct spec *spec, struct points *points, struct diag *diag)
{
    const int64_t codes = spec->in.qmax - spec->in.qmin + 1;
    const bool exhaustive = codes <= MOST_CODES;
    const int count = exhaustive ? (int)codes : WIDE_POINTS;
    if (allocate(spec, points, count, diag))
        return diag->code;
    for (int k = 0; k <= count; k++) /* codes <= 2^32 and k <= 2^16: the product fits */
        points->cell[k] = spec->in.qmin + codes * k / count;
    points->exhaustive = exhaustive && !spec->core; /* no proof of a core's words is one of the table's codes */
    points_evaluate(spec, points);
    points_bend(points);
    for (int pass = 0; !exhaustive && pass < WIDE_PASSES; pass++) {
        struct points finer;
        if (points_have_values(spec, points, diag))
            return diag->code;
        if (allocate(spec, &finer, count, diag)) {
            points_free(points);
            return diag->code;
        }
        const struct fineness fineness = fineness_of(spec, points);
        refine_cells(&fineness, &finer);
        points_evaluate(spec, &finer);
        points_bend(&finer);
        points_free(points);
        *points = finer;
    }
    if (!exhaustive && spec->constraints.monotone)
        points_part_at_turns(spec, points);
    return exhaustive ? EXIT_DONE : points_have_values(spec, points, diag);
}

/* Of a half, the format of the folded table. */
static struct table format_of(const struct spec *spec)
{
    struct table table = {
        .form = spec->form, .rounding = spec->rounding, .in = spec->in, .out = spec->out, .outside = spec->outside};
    if (spec->is_half) {
        table.has_fold = true;
        table.fold_sum = spec->fold_sum;
        table.in.qmin = code_min(spec->in.bits, spec->in.is_signed);
        table.in.qmax = code_max(spec->in.bits, spec->in.is_signed);
        table.out.qmin = code_min(spec->out.bits, spec->out.is_signed);
        table.out.qmax = code_max(spec->out.bits, spec->out.is_signed);
    }
    return table;
}

/* Where points are not all codes. Of a core's words nothing is known in between. */
static int look_between(const struct spec *spec, struct points *points, struct diag *diag)
{
    if (points->exhaustive || spec->core)
        return EXIT_DONE;
    points->between = malloc(sizeof *points->between);
    if (!points->between)
        return diag_set(diag, EXIT_IO, "out of memory for a format");
    *points->between = (struct between){.format = format_of(spec),
                                        .function = &spec->function,
                                        .is_bounded = spec->function.info && spec->function.info->curvature,
                                        .serve = serve_code,
                                        .context = spec};
    return EXIT_DONE;
}

int points_build(const struct spec *spec, struct points *points, struct diag *diag)
{
    const bool on_grid = spec->constraints.knots != KNOTS_FREE || spec->method == METHOD_UNIFORM;
    const bool wide = spec->in.qmax - spec->in.qmin >= MOST_CODES;
    if (wide && on_grid ? points_even(spec, points, diag) : points_adaptive(spec, points, diag))
        return diag->code;
    if (look_between(spec, points, diag))
        return diag->code;
    points->beyond = spec->is_half && !serves_itself(spec, points->cell[points->count - 1]);
    points->effort = malloc(sizeof *points->effort);
    if (!points->effort)
        return diag_set(diag, EXIT_IO, "out of memory for a count");
    const int64_t given = (int64_t)(spec->effort * (double)EFFORT_POINTS);
    *points->effort = (struct effort){.share = spec->effort, .given = given, .left = given, .limit = spec->time_limit};
    return points_fix(spec, points, diag);
}
