/* SPDX-License-Identifier: Apache-2.0 */
#include "pieces.h"

#include "span.h"

/* Pieces are counted where they are not wanted yet: `made` is null. */
typedef struct builder {
    pwl_pieces *made;
    const pwl_job *job;
    int count, fails;
    pwl_plain32 before; /* the last piece, to be prolonged by one that is the same */
    int16_t before_slope;
} builder;

static void add(builder *to, const pwl_plain32 *of, int64_t last)
{
    const int16_t slope = (int16_t)(int32_t)of->slope;
    const int same = to->count && slope == to->before_slope && of->pre == to->before.pre && of->n == to->before.n &&
                     (uint16_t)of->post == (uint16_t)to->before.post;
    if (!same)
        to->count++;
    if (to->count > PWL_PIECES) {
        to->fails = 1;
        return;
    }
    to->before_slope = slope;
    to->before.pre = of->pre;
    to->before.n = of->n;
    to->before.post = of->post;
    if (to->made) {
        const int i = to->count - 1;
        to->made->last[i] = (int16_t)last;
        to->made->slope[i] = slope;
        to->made->pre_low[i] = (uint16_t)of->pre;
        to->made->pre_high[i] = (uint16_t)(of->pre >> 16);
        to->made->n[i] = (uint16_t)of->n;
        to->made->post[i] = (uint16_t)of->post;
        to->made->is_long |= of->n >= 16;
    }
}

/* Codes that all have one value. */
static void add_constant(builder *to, int64_t value, int64_t last)
{
    const pwl_plain32 of = {0, 0, (uint32_t)value - (uint32_t)pwl_type_middle(to->job->out), 0};
    add(to, &of, last);
}

/* What is shifted for s; its sign decides the addend of half_away. */
static int32_t shifted(const pwl_plain32 *of, uint32_t u)
{
    return (int32_t)(of->slope * u + of->pre);
}

/* Codes of a line are served alike while this does not change: -1 and 1 where the value saturates, else 0, and beside
 * it the sign that half_away asks for. Monotone along a line. */
static int class_of(const builder *to, const pwl_plain32 *of, int rounding, uint32_t u)
{
    const pwl_table *const table = to->job->table;
    const int64_t raw = pwl_plain_eval32(of, u, rounding);
    const int side = raw < table->qmin_y ? -1 : raw > table->qmax_y ? 1 : 0;
    return 4 * side + (side == 0 && rounding == PWL_PLAIN_AWAY && shifted(of, u) < 0);
}

/* A line's codes from s = first on that need no clipping, as the kernels evaluate them; not all lines can be
 * (bounds.h).
 */
static void add_line(builder *to, const pwl_plain64 *line, int rounding, int64_t from_s, int64_t first, int64_t last)
{
    const int n = (int)(line->n & 31), negated = line->n / PWL_PLAIN_NEGATED != 0, even = rounding == PWL_PLAIN_EVEN;
    const int64_t half = n ? (int64_t)1 << (n - 1) : 0;
    const pwl_bounds bounds =
        pwl_bounds_of(to->job->table, line, (uint32_t)(first + from_s), (uint32_t)(last + from_s));
    const int64_t addend = rounding == PWL_PLAIN_AWAY && n ? half - (bounds.least_sum < 0) : 0;
    int64_t least = bounds.least_sum + addend, greatest = bounds.greatest_sum + addend;
    pwl_plain32 of = pwl_plain_cut(line);
    of.pre += of.slope * (uint32_t)from_s + (uint32_t)addend;
    of.post -= (uint32_t)pwl_type_middle(to->job->out);
    of.n = (uint32_t)n;
    if (negated) {
        /* -(A >> n) = (~A >> n) + 1; to even, -shr(A, n) = shr(-A, n). */
        const int64_t before = least;
        of.slope = 0 - of.slope;
        of.pre = even ? 0 - of.pre : ~of.pre;
        of.post += !even;
        least = even - 1 - greatest;
        greatest = even - 1 - before;
    }
    if (n >= 16) {
        const int64_t end = greatest + (even ? half : 0);
        /* 2^31 / 2^n has to be even, or would change which values are. */
        if (least >= INT32_MIN && end <= INT32_MAX && !(even && n == 31)) {
            of.pre += (uint32_t)1 << 31;
            of.post -= (uint32_t)1 << (31 - n);
        } else {
            to->fails |= least < 0 || end > UINT32_MAX;
        }
    }
    to->fails |= (int32_t)of.slope != (int16_t)(int32_t)of.slope;
    add(to, &of, last);
}

static void add_span(builder *to, const pwl_span *span, int64_t from_s)
{
    const pwl_table *const table = to->job->table;
    const int rounding = pwl_plain_rounding_of(table);
    const pwl_plain32 line = pwl_plain_cut(span->of);
    const int64_t end = pwl_span_clip(to->job, span->last);
    int64_t first = pwl_span_clip(to->job, span->first);
    while (first <= end && !to->fails) {
        const int class = class_of(to, &line, rounding, (uint32_t)(first + from_s));
        int64_t last = first, beyond = end + 1;
        while (beyond - last > 1) {
            const int64_t middle = last + (beyond - last) / 2;
            if (class_of(to, &line, rounding, (uint32_t)(middle + from_s)) == class)
                last = middle;
            else
                beyond = middle;
        }
        if (class >= 4 || class <= -4)
            add_constant(to, class > 0 ? table->qmax_y : table->qmin_y, last);
        else
            add_line(to, span->of, rounding, from_s, first, last);
        first = last + 1;
    }
}

/* All pieces in order; 0 where some line cannot be one, or there are too many. */
static int build(builder *to, const pwl_job *job, pwl_pieces *made)
{
    const pwl_table *const table = job->table;
    const int64_t middle = pwl_type_middle(job->in);
    const int64_t low = table->qmin_x - middle, high = table->qmax_x - middle;
    pwl_span_walk walk;
    pwl_span span;
    to->made = made;
    to->job = job;
    to->count = to->fails = 0;
    if (pwl_span_clip(job, low - 1) == low - 1)
        add_constant(to, pwl_eval(table, table->qmin_x), low - 1);
    pwl_span_begin(&walk, job);
    while (!to->fails && pwl_span_next(&walk, &span)) {
        const int64_t slope = (int64_t)span.of->slope;
        to->fails |= slope != (int16_t)slope;
        add_span(to, &span, walk.from_s);
    }
    if (pwl_span_clip(job, high + 1) == high + 1)
        add_constant(to, pwl_eval(table, table->qmax_x), INT16_MAX);
    return !to->fails;
}

static size_t pieces_size(const pwl_job *job)
{
    builder to;
    if (job->table->storage == PWL_INT32 || !pwl_span_overlaps(job))
        return 0;
    return build(&to, job, NULL) ? sizeof(pwl_pieces) : 0;
}

static void prepare(const pwl_job *job, void *memory)
{
    pwl_pieces *const made = (pwl_pieces *)memory;
    int32_t last[PWL_PIECES], cell[PWL_PIECES_CELLS];
    builder to;
    int i;
    for (i = 0; i < PWL_PIECES; i++) {
        made->slope[i] = 0;
        made->pre_low[i] = made->pre_high[i] = made->n[i] = made->post[i] = 0;
    }
    made->is_long = 0;
    (void)build(&to, job, made);
    made->flip_x = (uint16_t)pwl_type_middle(job->in);
    made->flip_y = (uint16_t)pwl_type_middle(job->out);
    made->even = pwl_plain_rounding_of(job->table) == PWL_PLAIN_EVEN;
    made->capacity = to.count <= 32 ? 32 : to.count <= 64 ? 64 : 128;
    for (i = 0; i < PWL_PIECES; i++) {
        last[i] = i < to.count - 1 ? made->last[i] : INT16_MAX;
        made->last[i] = (int16_t)last[i];
    }
    /* Wide cells, unless narrow ones save steps. */
    made->cell_bits = 10;
    made->steps = (uint8_t)pwl_span_cells(job, last, made->capacity, 10, PWL_PIECES_CELLS, cell);
    if (pwl_span_cells(job, last, made->capacity, 11, PWL_PIECES_CELLS / 2, cell) <= made->steps)
        made->cell_bits = 11;
    made->steps =
        (uint8_t)pwl_span_cells(job, last, made->capacity, made->cell_bits, 1 << (16 - made->cell_bits), cell);
    for (i = 0; i < PWL_PIECES_CELLS; i++)
        made->cell[i] = (int16_t)(i < 1 << (16 - made->cell_bits) ? cell[i] : 0);
}

const pwl_kind pwl_kind_pieces = {PWL_TABLES, 2, 2, pieces_size, prepare};
