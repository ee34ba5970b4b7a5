/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "error_bound.h"

#include <math.h>
#include <stdlib.h>

#include <pwl/fixed.h>

#include "base/integers.h"
#include "base/number.h"
#include "base/real.h"
#include "function/curvature.h"
#include "function/expression.h"
#include "comparison.h"
#include "residues.h"

/* Relative error of f and f', of the target and the line made from them, and of x; see error_bound.h. */
#define NOISE (48 * 0x1p-63)
/* Covers what underflows. */
#define LEAST_NOISE 0x1p-40
/* A run is not halved for less than this, in LSB and relative to the largest error. */
#define LEAST_GAIN 0x1p-12
#define LEAST_GAIN_RELATIVE 0x1p-20
/* Rounding is looked at where the bound is more than this above an error that a code has, in LSB; and as much more for
 * each ROUNDINGS_PER_GAIN times that it was looked at in the same segment. */
#define ROUNDING_GAIN 0x1p-12
#define ROUNDINGS_PER_GAIN 64
/* Work after which runs are taken as they are: the bound stays one. */
#define MAX_SAMPLES (1L << 20)
#define MAX_SHAPES (1L << 18) /* of an expression, which has no bound then */
#define MAX_RUNS (1L << 18)
#define MAX_ROUNDINGS (1L << 12) /* of a segment */
#define MAX_ROUNDINGS_JUDGED 32  /* where only `most` counts */
/* Between these nothing overflows: slopes are multiplied by at most 2^33 codes. */
#define LARGEST_VALUE 0x1p500

/* The bound of some codes in the making. */
struct error_search {
    struct subject subject;
    real low, high; /* the output's range */
    real attained;  /* largest error found at a code of the segment, its rounding taken at its worst */
    real reached;   /* the same with its own rounding */
    real bound;     /* of the codes that were dealt with */
    real most;      /* a bound beyond it may be any number beyond it: the search ends */
    long samples, runs, roundings;
    bool failed;
};

/* The table's line on a stretch of codes, mirrored below the zero point of a folded table. */
struct line_piece {
    const struct segment *segment;
    bool mirrored;
    real unit;         /* 2^-n */
    real below, above; /* q_y - L is in [-below, above] */
};

/* A code, with the target and its slope there. */
struct sample {
    int64_t q;
    real offset; /* q - zp, what x is made of */
    real target, slope;
    real noise;            /* of an expression's value, in LSB */
    real line, line_terms; /* the sum of the line's terms, and of their magnitudes */
    real output;           /* the line rounded */
};

/* What is known of the target on a run: its curvature's sign, or where that is 0 how much it bends to either side, in
 * LSB per code squared, and between which values it lies. */
struct shape {
    int sign;
    real convex, concave;
    real low, high;
};

static const struct shape convex = {.sign = 1}, concave = {.sign = -1};

/* A straight line over a run, by its values at both ends. */
struct straight {
    real from, to;
};

static bool is_over(const struct error_search *search)
{
    return search->failed || search->bound > search->most;
}

static real clip(const struct error_search *search, real y)
{
    return y < search->low ? search->low : y > search->high ? search->high : y;
}

static real at(struct straight straight, real share)
{
    return straight.from + share * (straight.to - straight.from);
}

static struct straight raised(struct straight straight, real by)
{
    return (struct straight){straight.from + by, straight.to + by};
}

static struct straight part(struct straight straight, real from, real to)
{
    return (struct straight){at(straight, from), at(straight, to)};
}

/* The largest sat(upper) - sat(lower) on a run. */
static real largest_gap(const struct error_search *search, struct straight upper, struct straight lower)
{
    real gap = real_larger(clip(search, upper.from) - clip(search, lower.from),
                           clip(search, upper.to) - clip(search, lower.to));
    const struct straight both[] = {upper, lower};
    const real limits[] = {search->low, search->high};
    for (int i = 0; i < 4; i++) {
        const struct straight straight = both[i / 2];
        const real share = (limits[i % 2] - straight.from) / (straight.to - straight.from);
        if (share > 0 && share < 1)
            gap = real_larger(gap, clip(search, at(upper, share)) - clip(search, at(lower, share)));
    }
    return gap;
}

/* The largest error of a run where the target lies between two straight lines. */
static real error_between(const struct error_search *search, const struct line_piece *piece, struct straight line,
                          struct straight lower, struct straight upper, real noise)
{
    return real_larger(largest_gap(search, raised(line, piece->above), raised(lower, -noise)),
                       largest_gap(search, raised(upper, noise), raised(line, -piece->below)));
}

static real noise_of(const struct error_search *search, const struct sample *sample, real target)
{
    const real zero_point = real_abs((real)search->subject.table->out.zero_point);
    return LEAST_NOISE + sample->noise + NOISE * (target + 2 * zero_point + sample->line_terms);
}

/* The sum that a segment shifts at a code of its own. No product leaves its type, nor a sum of the biased form: the
 * table is proven. */
static int64_t shifted_sum(const struct table *table, const struct segment *segment, int64_t code)
{
    const int64_t origin = table->form == PWL_ANCHORED ? segment->start : table->in.zero_point;
    return segment->q_b * (code - origin) + (table->form == PWL_BIASED ? segment->offset : 0);
}

/* The line is exact in integers up to the last addition, of at most 64 bits each. */
static void line_at(const struct error_search *search, const struct line_piece *piece, struct sample *sample)
{
    const struct table *table = search->subject.table;
    const struct segment *segment = piece->segment;
    const int64_t sum = shifted_sum(table, segment, piece->mirrored ? 2 * table->in.zero_point - sample->q : sample->q);
    const real outside = table->form == PWL_BIASED ? 0 : (real)segment->offset;
    const real exact = piece->unit * (real)sum,
               rounded = segment->n > 0 ? (real)pwl_shr64(sum, segment->n, (int)table->rounding) : exact;
    /* Level, and its rounding known. */
    const real line = (segment->q_b == 0 ? rounded : exact) + outside, output = rounded + outside,
               fold = piece->mirrored ? (real)table->fold_sum : 0;
    sample->line = piece->mirrored ? fold - line : line;
    sample->output = piece->mirrored ? fold - output : output;
    sample->line_terms = real_abs(exact) + real_abs(outside) + real_abs(fold);
}

static struct sample sample_at(struct error_search *search, const struct line_piece *piece, int64_t q)
{
    const struct subject *subject = &search->subject;
    const struct tensor *in = &subject->table->in, *out = &subject->table->out;
    const int64_t defined = code_domain_nearest(&subject->domain, q);
    const struct dd x = tensor_at(in, defined);
    struct sample sample = {.q = q, .offset = (real)defined - (real)in->zero_point};
    const struct expression *expression = subject->function->expression;
    const struct ball value =
        expression ? expression_value(expression, x) : (struct ball){function_at(subject->function, x), 0};
    sample.target = real_of(subject_target(subject, value.mid));
    sample.noise = (real)value.rad / (real)out->scale.value;
    if (defined == q && !expression) /* else level, or not asked for */
        sample.slope = real_of(dd_mul(function_derivative_at(subject->function, x),
                                      dd_div(dd_of(in->scale.value), dd_of(out->scale.value))));
    line_at(search, piece, &sample);
    if (!(real_abs(sample.target) < LARGEST_VALUE))
        search->failed = true;
    search->samples++;
    return sample;
}

/* What a code is off by where its output lies in [line - below, line + above]. */
static real error_of(const struct error_search *search, const struct sample *sample, real line, real below, real above)
{
    const real target = sample->target, noise = noise_of(search, sample, real_abs(target));
    return real_larger(clip(search, line + above) - clip(search, target - noise),
                       clip(search, target + noise) - clip(search, line - below));
}

static void add_code(struct error_search *search, const struct line_piece *piece, const struct sample *sample)
{
    const real error = error_of(search, sample, sample->output, 0, 0);
    search->attained =
        real_larger(search->attained, error_of(search, sample, sample->line, piece->below, piece->above));
    search->reached = real_larger(search->reached, error);
    search->bound = real_larger(search->bound, error);
}

static real largest(real a, real b, real c, real d)
{
    return real_larger(real_larger(real_abs(a), real_abs(b)), real_larger(real_abs(c), real_abs(d)));
}

/* f' is a sum of terms no larger than f / x and f'. */
static real slope_noise(const struct error_search *search, const struct sample *sample)
{
    const real value = sample->target - (real)search->subject.table->out.zero_point;
    return NOISE * (real_abs(sample->slope) + (sample->offset != 0 ? real_abs(value / sample->offset) : 0));
}

/* A bound of the codes from a to b by the chord, from which what bends by B per code squared is at most B w^2 / 8 away
 * over w codes, and by the values between which f lies. */
static real error_by_chord(const struct error_search *search, const struct line_piece *piece, const struct shape *shape,
                           const struct sample *a, const struct sample *b)
{
    const real width = (real)(b->q - a->q), share = width * width / 8;
    const real below = share * shape->convex, above = share * shape->concave;
    const real target = real_larger(real_abs(a->target), real_abs(b->target));
    const real noise = real_larger(noise_of(search, a, target), noise_of(search, b, target));
    const struct straight line = {a->line, b->line}, chord = {a->target, b->target};
    real error = INFINITY;
    if (below < LARGEST_VALUE && above < LARGEST_VALUE)
        error = error_between(search, piece, line, raised(chord, -below), raised(chord, above), noise);
    if (shape->low > -LARGEST_VALUE && shape->high < LARGEST_VALUE)
        error = real_smaller(error, error_between(search, piece, line, (struct straight){shape->low, shape->low},
                                                  (struct straight){shape->high, shape->high}, noise));
    return error;
}

/* A bound of the codes from a to b, between which f is of such a shape. */
static real error_of_run(const struct error_search *search, const struct line_piece *piece, const struct shape *shape,
                         const struct sample *a, const struct sample *b)
{
    if (shape->sign == 0)
        return error_by_chord(search, piece, shape, a, b);
    const real width = (real)(b->q - a->q);
    /* Where the tangents cross. Any place in the run would do, so its roundings do no harm. */
    real crossing = ((b->target - a->target) / width - b->slope) / (a->slope - b->slope);
    if (!(crossing >= 0 && crossing <= 1))
        crossing = 0.5;
    const struct straight line = {a->line, b->line}, chord = {a->target, b->target};
    const struct straight from_a = {a->target, a->target + a->slope * (crossing * width)};
    const struct straight from_b = {b->target - b->slope * ((1 - crossing) * width), b->target};
    /* f lies between the chord and the tangents, and f' between its values at the ends. */
    const real target = largest(a->target, b->target, from_a.to, from_b.from);
    const real rounded_x = NOISE * real_larger(real_abs(a->offset), real_abs(b->offset)) *
                           real_larger(real_abs(a->slope), real_abs(b->slope));
    const real noise = real_larger(noise_of(search, a, target), noise_of(search, b, target)) + rounded_x +
                       real_larger(slope_noise(search, a), slope_noise(search, b)) * width;
    const struct straight tangents[] = {from_a, from_b},
                          chords[] = {part(chord, 0, crossing), part(chord, crossing, 1)};
    const struct straight lines[] = {part(line, 0, crossing), part(line, crossing, 1)};
    real error = 0;
    for (int i = 0; i < 2; i++)
        error = real_larger(error, error_between(search, piece, lines[i], shape->sign > 0 ? tangents[i] : chords[i],
                                                 shape->sign > 0 ? chords[i] : tangents[i], noise));
    return error;
}

/* A piece with what rounding takes away, or adds, at the codes from a to b. With half added before, a sum whose residue
 * is 0 was half way between two outputs. */
static struct line_piece rounded_over(const struct table *table, const struct line_piece *piece, int64_t a, int64_t b,
                                      int64_t extremes[2])
{
    const int64_t mirror = 2 * table->in.zero_point, first = piece->mirrored ? mirror - b : a;
    const int n = piece->segment->n;
    const real half = table->rounding == PWL_FLOOR ? 0 : 0.5;
    const uint64_t sum =
        (uint64_t)shifted_sum(table, piece->segment, first) + (half > 0 ? (uint64_t)pwl_shl64(1, n - 1) : 0);
    const struct residues residues = residues_over(sum, (uint64_t)piece->segment->q_b, n, b - a);
    const bool ties = residues.least == 0 && table->rounding >= PWL_HALF_AWAY;
    const real below = ties ? 0.5 : piece->unit * (real)residues.most - half,
               above = half - piece->unit * (real)residues.least;
    struct line_piece rounded = *piece;
    rounded.below = piece->mirrored ? above : below;
    rounded.above = piece->mirrored ? below : above;
    extremes[0] = piece->mirrored ? mirror - (first + residues.least_at) : first + residues.least_at;
    extremes[1] = piece->mirrored ? mirror - (first + residues.most_at) : first + residues.most_at;
    return rounded;
}

/* Whether rounding is not known without looking. */
static bool rounds(const struct line_piece *piece)
{
    return piece->below + piece->above > 0;
}

/* Whether a bound of some codes matters, and might be lowered by what rounding does there. One that `most` decides is
 * looked at no closer than without, so that a table of segments within it is so, too. */
static bool is_loose(const struct error_search *search, real error)
{
    const bool judged = isfinite(search->most);
    const real gain = ROUNDING_GAIN * (1 + (real)(search->roundings / ROUNDINGS_PER_GAIN));
    return error > search->bound && error > real_larger(search->reached + gain, judged ? search->most : 0) &&
           search->roundings < (judged ? MAX_ROUNDINGS_JUDGED : MAX_ROUNDINGS);
}

/* Adds the codes between a and b of a run that needs no halving for its curvature; `error` is its bound. Where no code
 * is known to be off by as much, it is halved for what rounding does there. */
static void add_rounded(struct error_search *search, const struct line_piece *piece, const struct shape *shape,
                        const struct sample *a, const struct sample *b, real error)
{
    if (b->q - a->q <= 1 || is_over(search))
        return;
    if (rounds(piece) && is_loose(search, error)) {
        int64_t extremes[2];
        const struct line_piece own = rounded_over(search->subject.table, piece, a->q, b->q, extremes);
        search->roundings++;
        for (int i = 0; i < 2; i++) {
            const struct sample sample = sample_at(search, piece, extremes[i]);
            add_code(search, piece, &sample);
        }
        error = fminl(error, error_of_run(search, &own, shape, a, b));
        if (is_loose(search, error)) {
            const struct sample middle = sample_at(search, piece, a->q + (b->q - a->q) / 2);
            add_code(search, piece, &middle);
            add_rounded(search, piece, shape, a, &middle, error);
            add_rounded(search, piece, shape, &middle, b, error);
            return;
        }
    }
    search->bound = real_larger(search->bound, error);
}

/* An expression's shape from a to b: of its enclosures over all x between them, which are exact. */
static struct shape shape_between(const struct error_search *search, const struct sample *a, const struct sample *b)
{
    const struct tensor *in = &search->subject.table->in, *out = &search->subject.table->out;
    const struct dd from = tensor_at(in, a->q), half = dd_scaled(dd_sub(tensor_at(in, b->q), from), 0.5);
    const struct dd middle = dd_add(from, half);
    const double radius = half.hi * (1 + 0x1p-50) + fabs(middle.hi) * 0x1p-100;
    const struct jet jet = engine_enclosure(search->subject.function->expression->engine, middle, radius);
    const real step = (real)in->scale.value, unit = 1 / (real)out->scale.value, up = 1 + 0x1p-50;
    const real bend = real_of(jet.at[2].mid) * unit * step * step,
               bend_rad = (real)jet.at[2].rad * unit * step * step * up + real_abs(bend) * 0x1p-50;
    const real value = real_of(jet.at[0].mid) * unit + (real)out->zero_point,
               value_rad = (real)jet.at[0].rad * unit * up + real_abs(value) * 0x1p-50;
    return (struct shape){
        .convex = bend + bend_rad > 0    ? bend + bend_rad
                  : bend + bend_rad <= 0 ? 0
                                         : (real)INFINITY,
        .concave = bend_rad - bend > 0    ? bend_rad - bend
                   : bend_rad - bend <= 0 ? 0
                                          : (real)INFINITY,
        .low = value - value_rad,
        .high = value + value_rad,
    };
}

/* The codes between a and b, which have been added; f is of one curvature from a to b, or an expression, whose shape is
 * looked at here. */
static void add_between(struct error_search *search, const struct line_piece *piece, const struct shape *curved,
                        const struct sample *a, const struct sample *b)
{
    if (b->q - a->q <= 1 || is_over(search))
        return;
    struct shape own;
    const struct shape *shape = curved;
    if (!curved) {
        search->failed = search->samples >= MAX_SHAPES;
        own = shape_between(search, a, b);
        shape = &own;
    }
    const real error = error_of_run(search, piece, shape, a, b);
    /* Noise that the output's own values have stays, however short the run. */
    const real least = LEAST_GAIN + LEAST_GAIN_RELATIVE * search->attained +
                       4 * noise_of(search, a, real_larger(real_abs(search->low), real_abs(search->high)));
    if (error <= search->attained + least || search->samples >= MAX_SAMPLES) {
        add_rounded(search, piece, shape, a, b, error);
        return;
    }
    const struct sample middle = sample_at(search, piece, a->q + (b->q - a->q) / 2);
    add_code(search, piece, &middle);
    add_between(search, piece, curved, a, &middle);
    add_between(search, piece, curved, &middle, b);
}

/* Codes whose target is that of one code: outside the domain. */
static void add_level(struct error_search *search, const struct line_piece *piece, int64_t first, int64_t last)
{
    if (first > last)
        return;
    const struct sample a = sample_at(search, piece, first), b = sample_at(search, piece, last);
    add_code(search, piece, &a);
    add_code(search, piece, &b);
    if (first < last)
        add_rounded(search, piece, &convex, &a, &b, error_of_run(search, piece, &convex, &a, &b));
}

/* The last code up to `last` whose x is inside the region, as first's is. */
static int64_t last_inside(const struct error_search *search, const struct curvature_region *region, int64_t first,
                           int64_t last)
{
    while (first < last) {
        const int64_t middle = last - (last - first) / 2;
        if (curvature_inside(region, tensor_at(&search->subject.table->in, middle)))
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

/* Codes of the domain. */
static void add_curved(struct error_search *search, const struct line_piece *piece, int64_t first, int64_t last)
{
    const struct subject *subject = &search->subject;
    if (subject->function->expression && first <= last) {
        const struct sample a = sample_at(search, piece, first), b = sample_at(search, piece, last);
        add_code(search, piece, &a);
        add_code(search, piece, &b);
        add_between(search, piece, NULL, &a, &b);
        return;
    }
    while (first <= last && !is_over(search)) {
        const struct curvature_region region =
            curvature_at(subject->function->info->curvature, tensor_at(&subject->table->in, first));
        const struct sample a = sample_at(search, piece, first);
        const bool inside = curvature_inside(&region, tensor_at(&subject->table->in, first)) && isfinite(a.slope);
        const int64_t end = inside ? last_inside(search, &region, first, last) : first;
        const struct sample b = sample_at(search, piece, end);
        add_code(search, piece, &a);
        add_code(search, piece, &b);
        add_between(search, piece, region.sign > 0 ? &convex : &concave, &a, &b);
        first = end + 1;
        if (++search->runs > MAX_RUNS)
            search->failed = true;
    }
}

/* The codes [first, last] of the input's range. */
static void add_piece(struct error_search *search, const struct line_piece *piece, int64_t first, int64_t last)
{
    const struct code_domain *domain = &search->subject.domain;
    first = larger_integer(first, search->subject.table->in.qmin);
    last = smaller_integer(last, search->subject.table->in.qmax);
    add_level(search, piece, first, smaller_integer(last, domain->first - 1));
    add_level(search, piece, larger_integer(first, domain->last + 1), last);
    first = larger_integer(first, domain->first);
    last = smaller_integer(last, domain->last);
    if (domain->has_hole && first <= domain->hole && domain->hole <= last) {
        add_curved(search, piece, first, domain->hole - 1);
        add_level(search, piece, domain->hole, domain->hole);
        first = domain->hole + 1;
    }
    add_curved(search, piece, first, last);
}

/* Powers of two that q_b has shorten the shift; of the biased form those that the bias has too. */
static int lasting_shift(const struct table *table, const struct segment *segment)
{
    int n = segment->n;
    for (int64_t terms = table->form == PWL_BIASED ? segment->q_b | segment->offset : segment->q_b;
         n > 0 && (terms & 1) == 0; terms /= 2)
        n--;
    return n;
}

/* How far rounding takes the raw output from the line. */
static struct line_piece piece_of(const struct table *table, const struct segment *segment)
{
    struct line_piece piece = {.segment = segment, .unit = ldexp(1, -segment->n)};
    if (segment->q_b == 0)
        return piece;
    const int n = lasting_shift(table, segment);
    if (n <= 0)
        return piece;
    const real step = ldexp(1, -n);
    piece.below = table->rounding == PWL_FLOOR ? 1 - step : table->rounding == PWL_HALF_UP ? 0.5 - step : 0.5;
    piece.above = table->rounding == PWL_FLOOR ? 0 : 0.5;
    return piece;
}

/* A segment up to a code, with its mirror images in a folded table. */
static void add_segment(struct error_search *search, const struct segment *segment, int64_t last)
{
    const struct table *table = search->subject.table;
    const int64_t zero_point = table->in.zero_point;
    struct line_piece piece = piece_of(table, segment);
    search->attained = search->reached = 0; /* so that a segment's bound does not depend on the others */
    search->roundings = 0;
    add_piece(search, &piece, segment->start, last);
    if (table->has_fold) {
        const struct line_piece mirrored = {segment, true, piece.unit, piece.above, piece.below};
        add_piece(search, &mirrored, 2 * zero_point - last,
                  smaller_integer(2 * zero_point - segment->start, zero_point - 1));
    }
}

/* A half-wave is a run for each segment that it touches. */
static bool too_many_waves(const struct table *table, const struct function *function)
{
    return function->info->curvature && function->info->curvature->periodic &&
           table->in.scale.value * (double)(table->in.qmax - table->in.qmin) > 0x1p16 * 3;
}

/* Beyond 2^52 a zero point rounds x, and the slope of an expression by which that counts is not known. */
static bool bound_exists(const struct table *table, const struct function *function)
{
    const double zero_point = fabs((double)table->in.zero_point);
    return function->info && (function->info->curvature || (function->expression && zero_point < 0x1p52)) &&
           !table->has_reduction && REAL_BITS >= 64 && !too_many_waves(table, function);
}

static struct error_search search_of(const struct table *table, const struct function *function, double most)
{
    return (struct error_search){
        .subject = {table, NULL, function, code_domain_find(function, &table->in)},
        .low = (real)table->out.qmin,
        .high = (real)table->out.qmax,
        .most = most,
    };
}

bool segment_bound(const struct table *table, const struct function *function, const struct segment *segment,
                   int64_t last, double most, double *bound)
{
    if (!bound_exists(table, function))
        return false;
    struct error_search search = search_of(table, function, most);
    add_segment(&search, segment, last);
    *bound = (double)search.bound;
    return !search.failed && isfinite(*bound);
}

double segment_bound_at(const struct table *table, const struct segment *segment, int count, const double *codes,
                        const int64_t *cells, const double *targets, double most)
{
    const struct error_search search = {
        .subject = {.table = table}, .low = (real)table->out.qmin, .high = (real)table->out.qmax};
    const struct line_piece piece = piece_of(table, segment);
    double bound = 0;
    for (int k = 0; k < count && bound <= most; k++) {
        struct sample sample = {.q = (int64_t)codes[k], .target = targets[k]};
        line_at(&search, &piece, &sample);
        double error = (double)error_of(&search, &sample, sample.line, piece.below, piece.above);
        if (error > most && rounds(&piece)) {
            int64_t extremes[2];
            const struct line_piece own = rounded_over(table, &piece, cells[k], cells[k + 1] - 1, extremes);
            error = (double)error_of(&search, &sample, sample.line, own.below, own.above);
        }
        bound = fmax(bound, error);
    }
    return bound;
}

bool table_bound(const struct table *table, const struct function *function, double *bound)
{
    if (!bound_exists(table, function))
        return false;
    struct error_search search = search_of(table, function, INFINITY);
    /* A folded table's zero point is a code: those below it are the mirror images of codes below 2^34. */
    for (int i = 0; i < table->segment_count && !search.failed; i++)
        add_segment(&search, &table->segments[i],
                    i + 1 < table->segment_count ? table->segments[i + 1].start - 1 : (int64_t)1 << 40);
    if (search.failed || !(search.bound < LARGEST_VALUE)) /* an expression whose shape is not known */
        return false;
    *bound = number_rounded_up(search.bound);
    return true;
}
