/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "error_bound.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <pwl/fixed.h>

#include "base/integers.h"
#include "function/curvature.h"
#include "comparison.h"

/* Relative error of f and f', of the target and the line made from them, and of x; see error_bound.h. */
#define NOISE (48 * LDBL_EPSILON)
/* Covers what underflows. */
#define LEAST_NOISE 0x1p-40L
/* A run is not halved for less than this, in LSB and relative to the largest error. */
#define LEAST_GAIN 0x1p-12L
#define LEAST_GAIN_RELATIVE 0x1p-20L
/* Work after which runs are taken as they are: the bound stays one. */
#define MAX_SAMPLES (1L << 20)
#define MAX_RUNS (1L << 18)
/* Between these nothing overflows: slopes are multiplied by at most 2^33 codes. */
#define LARGEST_VALUE 0x1p500L

/* The bound of some codes in the making. */
struct error_search {
    struct subject subject;
    long double low, high; /* the output's range */
    long double attained;  /* largest error found at a code of the segment, its rounding taken at its worst */
    long double bound;     /* of the codes that were dealt with */
    long double most;      /* a bound beyond it may be any number beyond it: the search ends */
    long samples, runs;
    bool failed;
};

/* The table's line on a stretch of codes, mirrored below the zero point of a folded table. */
struct line_piece {
    const struct segment *segment;
    bool mirrored;
    long double unit;         /* 2^-n */
    long double below, above; /* q_y - L is in [-below, above] */
};

/* A code, with the target and its slope there. */
struct sample {
    int64_t q;
    long double offset; /* q - zp, what x is made of */
    long double target, slope;
    long double line, line_terms; /* the sum of the line's terms, and of their magnitudes */
};

/* A straight line over a run, by its values at both ends. */
struct straight {
    long double from, to;
};

static bool is_over(const struct error_search *search)
{
    return search->failed || search->bound > search->most;
}

static long double clip(const struct error_search *search, long double y)
{
    return y < search->low ? search->low : y > search->high ? search->high : y;
}

static long double at(struct straight straight, long double share)
{
    return straight.from + share * (straight.to - straight.from);
}

static struct straight raised(struct straight straight, long double by)
{
    return (struct straight){straight.from + by, straight.to + by};
}

static struct straight part(struct straight straight, long double from, long double to)
{
    return (struct straight){at(straight, from), at(straight, to)};
}

/* The largest sat(upper) - sat(lower) on a run. */
static long double largest_gap(const struct error_search *search, struct straight upper, struct straight lower)
{
    long double gap =
        fmaxl(clip(search, upper.from) - clip(search, lower.from), clip(search, upper.to) - clip(search, lower.to));
    const struct straight both[] = {upper, lower};
    const long double limits[] = {search->low, search->high};
    for (int i = 0; i < 4; i++) {
        const struct straight straight = both[i / 2];
        const long double share = (limits[i % 2] - straight.from) / (straight.to - straight.from);
        if (share > 0 && share < 1)
            gap = fmaxl(gap, clip(search, at(upper, share)) - clip(search, at(lower, share)));
    }
    return gap;
}

/* The largest error of a run where the target lies between two straight lines. */
static long double error_between(const struct error_search *search, const struct line_piece *piece,
                                 struct straight line, struct straight lower, struct straight upper, long double noise)
{
    return fmaxl(largest_gap(search, raised(line, piece->above), raised(lower, -noise)),
                 largest_gap(search, raised(upper, noise), raised(line, -piece->below)));
}

static long double noise_of(const struct error_search *search, const struct sample *sample, long double target)
{
    const long double zero_point = fabsl((long double)search->subject.table->out.zero_point);
    return LEAST_NOISE + NOISE * (target + 2 * zero_point + sample->line_terms);
}

/* The line is exact in integers up to the last addition, of at most 64 bits each. */
static void line_at(const struct error_search *search, const struct line_piece *piece, struct sample *sample)
{
    const struct table *table = search->subject.table;
    const struct segment *segment = piece->segment;
    const long double sum = piece->mirrored ? (long double)table->fold_sum : 0;
    if (segment->q_b == 0) { /* level, and its rounding known */
        const bool shifts = table->form == PWL_BIASED && segment->n > 0;
        const long double level =
            shifts ? (long double)pwl_shr64(segment->offset, segment->n, (int)table->rounding)
                   : ldexpl((long double)segment->offset, table->form == PWL_BIASED ? -segment->n : 0);
        sample->line = piece->mirrored ? sum - level : level;
        sample->line_terms = fabsl(level) + fabsl(sum);
        return;
    }
    const int64_t code = piece->mirrored ? 2 * table->in.zero_point - sample->q : sample->q;
    /* No product leaves its type, nor a sum of the biased form: the table is proven. */
    const int64_t product =
        segment->q_b * (code - (table->form == PWL_ANCHORED ? segment->start : table->in.zero_point));
    const int64_t inside = table->form == PWL_BIASED ? segment->offset : 0;
    const long double outside = table->form == PWL_BIASED ? 0 : (long double)segment->offset;
    const long double shifted = piece->unit * (long double)(product + inside);
    sample->line = piece->mirrored ? sum - (shifted + outside) : shifted + outside;
    sample->line_terms = fabsl(shifted) + fabsl(outside) + fabsl(sum);
}

static struct sample sample_at(struct error_search *search, const struct line_piece *piece, int64_t q)
{
    const struct subject *subject = &search->subject;
    const struct tensor *in = &subject->table->in, *out = &subject->table->out;
    const int64_t defined = code_domain_nearest(&subject->domain, q);
    const long double x = tensor_real(in, defined);
    struct sample sample = {.q = q, .offset = (long double)defined - (long double)in->zero_point};
    sample.target = subject_target(subject, function_value(subject->function, x));
    sample.slope = function_derivative(subject->function, x) * in->scale.value / out->scale.value;
    line_at(search, piece, &sample);
    if (!(fabsl(sample.target) < LARGEST_VALUE))
        search->failed = true;
    search->samples++;
    return sample;
}

static void add_code(struct error_search *search, const struct line_piece *piece, const struct sample *sample)
{
    const long double line = sample->line, target = sample->target, noise = noise_of(search, sample, fabsl(target));
    const long double above = clip(search, line + piece->above) - clip(search, target - noise);
    const long double below = clip(search, target + noise) - clip(search, line - piece->below);
    const long double error = above > below ? above : below;
    if (error > search->attained)
        search->attained = error;
    if (error > search->bound)
        search->bound = error;
}

/* Codes whose target is that of one code: outside the domain. */
static void add_level(struct error_search *search, const struct line_piece *piece, int64_t first, int64_t last)
{
    if (first > last)
        return;
    const struct sample a = sample_at(search, piece, first), b = sample_at(search, piece, last);
    add_code(search, piece, &a);
    add_code(search, piece, &b);
    const struct straight line = {a.line, b.line}, target = {a.target, a.target};
    const long double noise = fmaxl(noise_of(search, &a, fabsl(a.target)), noise_of(search, &b, fabsl(b.target)));
    search->bound = fmaxl(search->bound, error_between(search, piece, line, target, target, noise));
}

static long double largest(long double a, long double b, long double c, long double d)
{
    return fmaxl(fmaxl(fabsl(a), fabsl(b)), fmaxl(fabsl(c), fabsl(d)));
}

/* f' is a sum of terms no larger than f / x and f'. */
static long double slope_noise(const struct error_search *search, const struct sample *sample)
{
    const long double value = sample->target - (long double)search->subject.table->out.zero_point;
    return NOISE * (fabsl(sample->slope) + (sample->offset != 0 ? fabsl(value / sample->offset) : 0));
}

/* The codes between a and b, which have been added; f is of one curvature from a to b. */
static void add_between(struct error_search *search, const struct line_piece *piece, int sign, const struct sample *a,
                        const struct sample *b)
{
    const long double width = (long double)(b->q - a->q);
    if (b->q - a->q <= 1 || is_over(search))
        return;
    /* Where the tangents cross. Any place in the run would do, so its roundings do no harm. */
    long double crossing = ((b->target - a->target) / width - b->slope) / (a->slope - b->slope);
    if (!(crossing >= 0 && crossing <= 1))
        crossing = 0.5L;
    const struct straight line = {a->line, b->line}, chord = {a->target, b->target};
    const struct straight from_a = {a->target, a->target + a->slope * (crossing * width)};
    const struct straight from_b = {b->target - b->slope * ((1 - crossing) * width), b->target};
    /* f lies between the chord and the tangents, and f' between its values at the ends. */
    const long double target = largest(a->target, b->target, from_a.to, from_b.from);
    const long double rounded_x =
        NOISE * fmaxl(fabsl(a->offset), fabsl(b->offset)) * fmaxl(fabsl(a->slope), fabsl(b->slope));
    const long double noise = fmaxl(noise_of(search, a, target), noise_of(search, b, target)) + rounded_x +
                              fmaxl(slope_noise(search, a), slope_noise(search, b)) * width;
    const struct straight tangents[] = {from_a, from_b},
                          chords[] = {part(chord, 0, crossing), part(chord, crossing, 1)};
    const struct straight lines[] = {part(line, 0, crossing), part(line, crossing, 1)};
    long double error = 0;
    for (int i = 0; i < 2; i++)
        error = fmaxl(error, error_between(search, piece, lines[i], sign > 0 ? tangents[i] : chords[i],
                                           sign > 0 ? chords[i] : tangents[i], noise));

    /* Noise that the output's own values have stays, however short the run. */
    const long double least = LEAST_GAIN + LEAST_GAIN_RELATIVE * search->attained +
                              4 * noise_of(search, a, fmaxl(fabsl(search->low), fabsl(search->high)));
    if (error <= search->attained + least || search->samples >= MAX_SAMPLES) {
        search->bound = fmaxl(search->bound, error);
        return;
    }
    const struct sample middle = sample_at(search, piece, a->q + (b->q - a->q) / 2);
    add_code(search, piece, &middle);
    add_between(search, piece, sign, a, &middle);
    add_between(search, piece, sign, &middle, b);
}

/* The last code up to `last` whose x is inside the region, as first's is. */
static int64_t last_inside(const struct error_search *search, const struct curvature_region *region, int64_t first,
                           int64_t last)
{
    while (first < last) {
        const int64_t middle = last - (last - first) / 2;
        if (curvature_inside(region, tensor_real(&search->subject.table->in, middle)))
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
    while (first <= last && !is_over(search)) {
        const struct curvature_region region =
            curvature_at(subject->function->info->curvature, tensor_real(&subject->table->in, first));
        const struct sample a = sample_at(search, piece, first);
        const bool inside = curvature_inside(&region, tensor_real(&subject->table->in, first)) && isfinite(a.slope);
        const int64_t end = inside ? last_inside(search, &region, first, last) : first;
        const struct sample b = sample_at(search, piece, end);
        add_code(search, piece, &a);
        add_code(search, piece, &b);
        add_between(search, piece, region.sign, &a, &b);
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
    struct line_piece piece = {.segment = segment, .unit = ldexpl(1, -segment->n)};
    if (segment->q_b == 0)
        return piece;
    const int n = lasting_shift(table, segment);
    if (n <= 0)
        return piece;
    const long double step = ldexpl(1, -n);
    piece.below = table->rounding == PWL_FLOOR ? 1 - step : table->rounding == PWL_HALF_UP ? 0.5L - step : 0.5L;
    piece.above = table->rounding == PWL_FLOOR ? 0 : 0.5L;
    return piece;
}

static void add_segment(struct error_search *search, int i)
{
    const struct table *table = search->subject.table;
    const struct segment *segment = &table->segments[i];
    const int64_t zero_point = table->in.zero_point;
    /* A folded table's zero point is a code: those below it are the mirror images of codes below 2^34. */
    const int64_t last = i + 1 < table->segment_count ? segment[1].start - 1 : (int64_t)1 << 40;
    struct line_piece piece = piece_of(table, segment);
    search->attained = 0; /* so that a segment's bound does not depend on the others */
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
    return function->info->curvature->periodic &&
           table->in.scale.value * (long double)(table->in.qmax - table->in.qmin) > 0x1p16L * 3;
}

static bool bound_exists(const struct table *table, const struct function *function)
{
    return function->info && function->info->curvature && !table->has_reduction && LDBL_MANT_DIG >= 64 &&
           !too_many_waves(table, function);
}

static struct error_search search_of(const struct table *table, const struct function *function, double most)
{
    return (struct error_search){
        .subject = {table, NULL, function, code_domain_find(function, &table->in)},
        .low = (long double)table->out.qmin,
        .high = (long double)table->out.qmax,
        .most = most,
    };
}

bool segment_bound(const struct table *table, const struct function *function, const struct segment *segment,
                   int64_t last, double most, double *bound)
{
    if (!bound_exists(table, function))
        return false;
    struct error_search search = search_of(table, function, most);
    const struct line_piece piece = piece_of(table, segment);
    add_piece(&search, &piece, segment->start, last);
    *bound = (double)search.bound;
    return !search.failed;
}

double segment_bound_at(const struct table *table, const struct segment *segment, const double *codes,
                        const double *targets, int count, double most)
{
    struct error_search search = {.subject = {.table = table},
                                  .low = (long double)table->out.qmin,
                                  .high = (long double)table->out.qmax,
                                  .most = most};
    const struct line_piece piece = piece_of(table, segment);
    for (int k = 0; k < count && !is_over(&search); k++) {
        struct sample sample = {.q = (int64_t)codes[k], .target = targets[k]};
        line_at(&search, &piece, &sample);
        add_code(&search, &piece, &sample);
    }
    return (double)search.bound;
}

/* The next number of 6 significant digits, for the table's file. */
static double rounded_up(long double bound)
{
    if (bound == 0)
        return 0;
    const long double unit = powl(10, floorl(log10l(bound)) - 5);
    return (double)(ceill(bound / unit) * unit);
}

bool table_bound(const struct table *table, const struct function *function, double *bound)
{
    if (!bound_exists(table, function))
        return false;
    struct error_search search = search_of(table, function, INFINITY);
    for (int i = 0; i < table->segment_count && !search.failed; i++)
        add_segment(&search, i);
    if (search.failed)
        return false;
    *bound = rounded_up(search.bound);
    return true;
}
