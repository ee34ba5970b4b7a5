/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which codes to compare when there are too many for all of them. Inside a piece (the codes of one segment, or their
 * mirror image) the table follows one line, so |q_y - t| has its local maxima at the piece's ends, where f' equals
 * the slope, where f crosses a limit of the output, and, since rounding makes steps of the line, at the steps next to
 * those. Where the line crosses a limit is the step next to an end of the piece.
 */
#include "sampled_codes.h"

#include <math.h>
#include <stdlib.h>

#include <pwl/eval.h>

#define KNOT_WINDOW 64
#define EXTREME_WINDOW 2
/* Points at which f' - slope and f are examined for changes: at least so many in a long piece, and in all. */
#define PIECE_POINTS 64
#define SCAN_POINTS ((int64_t)1 << 16)

struct piece {
    int64_t first, last;
    double slope; /* output codes per input code */
};

struct builder {
    const struct subject *subject;
    int64_t qmin, qmax;
    uint64_t *items;
    size_t count, capacity;
    bool failed; /* out of memory */
};

static void add(struct builder *builder, int64_t q, bool even)
{
    if (q < builder->qmin || q > builder->qmax || builder->failed)
        return;
    if (builder->count == builder->capacity) {
        const size_t capacity = builder->capacity ? builder->capacity * 2 : (size_t)EVEN_SAMPLES * 2;
        uint64_t *items =
            capacity <= SIZE_MAX / sizeof *items ? realloc(builder->items, capacity * sizeof *items) : NULL;
        if (!items) {
            builder->failed = true;
            return;
        }
        builder->items = items;
        builder->capacity = capacity;
    }
    builder->items[builder->count++] = (uint64_t)(q - builder->qmin) * 2 + even;
}

static void add_window(struct builder *builder, int64_t q, int64_t radius)
{
    for (int64_t code = q - radius; code <= q + radius; code++)
        add(builder, code, false);
}

/* What a bisection tells apart; -1, 0 or 1. */
typedef int side_of(const struct builder *builder, const struct piece *piece, int64_t q);

static int sign(double value)
{
    return (value > 0) - (value < 0);
}

static int side_of_limits(const struct builder *builder, struct dd y)
{
    const struct tensor *out = &builder->subject->table->out;
    return dd_less(dd_of((double)out->qmax), y) - dd_less(y, dd_of((double)out->qmin));
}

/* Sign of f' - slope. Where another code stands for q, the target is constant. */
static int side_of_slope(const struct builder *builder, const struct piece *piece, int64_t q)
{
    const struct subject *subject = builder->subject;
    const struct tensor *in = &subject->table->in, *out = &subject->table->out;
    struct dd derivative = {0, 0};
    if (code_domain_nearest(&subject->domain, q) == q)
        derivative = dd_mul(function_derivative_at(subject->function, tensor_at(in, q)),
                            dd_div(dd_of(in->scale.value), dd_of(out->scale.value)));
    return sign(dd_plus(derivative, -piece->slope).hi);
}

static int target_side(const struct builder *builder, const struct piece *piece, int64_t q)
{
    (void)piece;
    return side_of_limits(builder, subject_target(builder->subject, subject_value(builder->subject, q)));
}

/* Given different sides at a and b: the code nearest to a, on the way to b, whose side is not a's. */
static int64_t first_change(const struct builder *builder, const struct piece *piece, side_of *side, int64_t a,
                            int64_t b)
{
    const int from = side(builder, piece, a);
    while (llabs(b - a) > 1) {
        const int64_t middle = a + (b - a) / 2;
        if (side(builder, piece, middle) == from)
            a = middle;
        else
            b = middle;
    }
    return b;
}

/* The codes at the table's next step from q towards `end`, inside a piece: q_y is monotone there. */
static void add_step(struct builder *builder, int64_t q, int64_t end)
{
    const struct packed_table *packed = builder->subject->packed;
    const int64_t y = packed_eval(packed, q);
    if (packed_eval(packed, end) == y)
        return;
    while (llabs(end - q) > 1) {
        const int64_t middle = q + (end - q) / 2;
        if (packed_eval(packed, middle) == y)
            q = middle;
        else
            end = middle;
    }
    add_window(builder, end, EXTREME_WINDOW);
}

static void add_extreme(struct builder *builder, const struct piece *piece, int64_t q)
{
    add_window(builder, q, EXTREME_WINDOW);
    add_step(builder, q, piece->first);
    add_step(builder, q, piece->last);
}

static void add_changes(struct builder *builder, const struct piece *piece, side_of *side, int64_t a, int side_a,
                        int64_t b, int side_b)
{
    if (side_a == side_b)
        return;
    add_extreme(builder, piece, first_change(builder, piece, side, a, b));
    add_extreme(builder, piece, first_change(builder, piece, side, b, a));
}

static void add_piece(struct builder *builder, const struct piece *piece, int64_t spacing)
{
    add_window(builder, piece->first, KNOT_WINDOW);
    add_window(builder, piece->last, KNOT_WINDOW);
    if (piece->last - piece->first <= 2 * KNOT_WINDOW)
        return;
    add_step(builder, piece->first, piece->last);
    add_step(builder, piece->last, piece->first);

    int64_t step = (piece->last - piece->first) / PIECE_POINTS;
    if (step > spacing)
        step = spacing;
    int64_t a = piece->first;
    int slope_a = side_of_slope(builder, piece, a), target_a = target_side(builder, piece, a);
    while (a < piece->last && !builder->failed) {
        const int64_t b = piece->last - a > step ? a + step : piece->last;
        const int slope_b = side_of_slope(builder, piece, b), target_b = target_side(builder, piece, b);
        add_changes(builder, piece, side_of_slope, a, slope_a, b, slope_b);
        add_changes(builder, piece, target_side, a, target_a, b, target_b);
        a = b;
        slope_a = slope_b;
        target_a = target_b;
    }
}

/* Cuts [first, last] to [min, max] and adds it when something is left. */
static void add_cut_piece(struct builder *builder, int64_t first, int64_t last, int64_t min, int64_t max, double slope,
                          int64_t spacing)
{
    const struct piece piece = {first < min ? min : first, last > max ? max : last, slope};
    if (piece.first <= piece.last)
        add_piece(builder, &piece, spacing);
}

/* The part of a reduced table that a code belongs to: octave and segment. A clipped shift makes one part of all the
 * octaves it serves. */
struct part {
    int64_t octave;
    int segment;
    double slope; /* output codes per input code */
};

static struct part part_of(const struct packed_table *packed, int64_t q)
{
    const pwl_reduction *reduction = &packed->reduced.reduction;
    const pwl_table *core = &packed->reduced.core;
    const int word_bits = 8 << core->storage;
    struct part part = {.segment = packed_segment(packed, q)};
    if (part.segment < 0)
        return part;
    part.octave = pwl_reduce(reduction, word_bits, q - reduction->zp_x).r;
    const int64_t n = reduction->shift + reduction->direction * part.octave;
    if (n <= 0 || n >= 62)
        return (struct part){.octave = n <= 0 ? INT64_MIN : INT64_MAX};
    /* Words per code: 2^(r * step), or the factor. */
    const double words = reduction->kind == PWL_LEADING_ZEROS
                             ? ldexp(1, (int)part.octave * (1 << reduction->log2_step))
                             : ldexp((double)reduction->factor, word_bits - reduction->fraction);
    part.slope = ldexp((double)pwl_element_slope(core, part.segment) * words, -core->n[part.segment] - (int)n);
    return part;
}

/* Codes of one part are neighbours. */
static void add_reduced_pieces(struct builder *builder, int64_t spacing)
{
    const struct packed_table *packed = builder->subject->packed;
    for (int64_t first = builder->qmin; first <= builder->qmax && !builder->failed;) {
        const struct part part = part_of(packed, first);
        int64_t last = first, next = builder->qmax + 1; /* the part's last code lies in [last, next) */
        while (next - last > 1) {
            const int64_t middle = last + (next - last) / 2;
            const struct part other = part_of(packed, middle);
            if (other.octave == part.octave && other.segment == part.segment)
                last = middle;
            else
                next = middle;
        }
        add_cut_piece(builder, first, last, builder->qmin, builder->qmax, part.slope, spacing);
        first = next;
    }
}

static int compare_items(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

int wide_codes(const struct subject *subject, uint64_t **items, size_t *count, struct diag *diag)
{
    const struct table *table = subject->table;
    struct builder builder = {.subject = subject, .qmin = table->in.qmin, .qmax = table->in.qmax};
    const int64_t qmin = builder.qmin, qmax = builder.qmax, zp = table->in.zero_point;
    const int64_t range = qmax - qmin, spacing = range / SCAN_POINTS;

    for (int64_t k = 0; k < EVEN_SAMPLES; k++)
        add(&builder, qmin + k * range / (EVEN_SAMPLES - 1), true); /* k * range < 2^52 */
    for (int i = 0; i < table->segment_count && !table->has_reduction; i++) {
        const struct segment *segment = &table->segments[i];
        /* |zp_x|, |start| and the mirrored codes stay below 2^34, so 2^40 stands for no limit. */
        const int64_t last = i + 1 < table->segment_count ? table->segments[i + 1].start - 1 : (int64_t)1 << 40;
        const double slope = ldexp((double)segment->q_b, -segment->n);
        add_cut_piece(&builder, segment->start, last, qmin, qmax, slope, spacing);
        if (table->has_fold)
            add_cut_piece(&builder, 2 * zp - last, 2 * zp - segment->start, qmin, zp - 1, slope, spacing);
    }
    if (table->has_reduction)
        add_reduced_pieces(&builder, spacing);
    if (builder.failed) {
        free(builder.items);
        return diag_set(diag, EXIT_IO, "out of memory while choosing the codes to compare");
    }

    qsort(builder.items, builder.count, sizeof *builder.items, compare_items);
    size_t kept = 0;
    for (size_t i = 0; i < builder.count; i++) {
        /* Of equal codes the one with the sample's mark comes last, and is the one to keep. */
        if (kept > 0 && builder.items[kept - 1] / 2 == builder.items[i] / 2)
            kept--;
        builder.items[kept++] = builder.items[i];
    }
    *items = builder.items;
    *count = kept;
    return EXIT_DONE;
}
