/* SPDX-License-Identifier: Apache-2.0 */
#include "pieces.h"

#include "span.h"

/* Pieces are counted where they are not wanted yet: `made` is null. */
typedef struct builder {
    pwl_pieces *made;
    const pwl_job *job;
    int count, fails;
    uint32_t slope, pre, post; /* of the last piece, to be prolonged by one that is the same */
    int n;
} builder;

static void add(builder *to, uint64_t slope64, uint64_t pre64, uint64_t post64, int n, int64_t last)
{
    const uint32_t slope = (uint16_t)slope64, pre = (uint32_t)pre64, post = (uint16_t)post64;
    const int same = to->count && slope == to->slope && pre == to->pre && n == to->n && post == to->post;
    if (!same)
        to->count++;
    if (to->count > PWL_PIECES) {
        to->fails = 1;
        return;
    }
    to->slope = slope;
    to->pre = pre;
    to->post = post;
    to->n = n;
    if (to->made) {
        const int i = to->count - 1;
        to->made->last[i] = (int16_t)last;
        to->made->slope[i] = (int16_t)(uint16_t)slope;
        to->made->pre_low[i] = (uint16_t)pre;
        to->made->pre_high[i] = (uint16_t)(pre >> 16);
        to->made->n[i] = (uint16_t)n;
        to->made->post[i] = (uint16_t)post;
        to->made->is_long |= n >= 16;
    }
}

/* Codes that all have one value. */
static void add_constant(builder *to, int64_t value, int64_t last)
{
    add(to, 0, 0, (uint64_t)value - (uint64_t)pwl_type_middle(to->job->out), 0, last);
}

/* Codes are served alike while this does not change: -1 and 1 where the value saturates, else 0. Monotone along a
 * span. */
static int side_of(const builder *to, const pwl_span *span, int64_t s)
{
    const pwl_table *const table = to->job->table;
    const int64_t shifted = pwl_span_shift(pwl_span_sum(span, s), span->n, pwl_is_even(table));
    const int64_t value = (int64_t)((uint64_t)shifted + span->post) + pwl_type_middle(to->job->out);
    return value < table->qmin_y ? -1 : value > table->qmax_y;
}

/* A span's codes from `first` to `last`, which need no clipping; not all can be served (span.h). */
static void add_line(builder *to, const pwl_span *span, int64_t first, int64_t last)
{
    int moves = 0;
    if (span->n >= 16) {
        const int64_t sum[2] = {pwl_span_sum(span, first), pwl_span_sum(span, last)};
        const int64_t least = sum[sum[1] < sum[0]], greatest = sum[sum[1] >= sum[0]];
        moves = least >= INT32_MIN && greatest <= INT32_MAX && !(pwl_is_even(to->job->table) && span->n == 31);
        to->fails |= !moves && (least < 0 || greatest > UINT32_MAX);
    }
    if (moves)
        add(to, span->slope, span->pre + ((uint64_t)1 << 31), span->post - ((uint64_t)1 << (31 - span->n)), span->n,
            last);
    else
        add(to, span->slope, span->pre, span->post, span->n, last);
}

static void add_span(builder *to, const pwl_span *span)
{
    const pwl_table *const table = to->job->table;
    const int64_t end = pwl_span_clip(to->job, span->last);
    int64_t first = pwl_span_clip(to->job, span->first);
    if (span->least_value >= table->qmin_y && span->greatest_value <= table->qmax_y) {
        add_line(to, span, first, end);
        return;
    }
    while (first <= end && !to->fails) {
        const int side = side_of(to, span, first);
        int64_t last = side_of(to, span, end) == side ? end : first, beyond = end + 1;
        while (beyond - last > 1) {
            const int64_t middle = last + (beyond - last) / 2;
            if (side_of(to, span, middle) == side)
                last = middle;
            else
                beyond = middle;
        }
        if (side)
            add_constant(to, side > 0 ? table->qmax_y : table->qmin_y, last);
        else
            add_line(to, span, first, last);
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
        const int64_t slope = (int64_t)span.slope;
        to->fails |= slope != (int16_t)slope || !span.fits;
        add_span(to, &span);
    }
    if (pwl_span_clip(job, high + 1) == high + 1)
        add_constant(to, pwl_eval(table, table->qmax_x), INT16_MAX);
    return !to->fails;
}

static size_t pieces_size(const pwl_job *job)
{
    return job->counted <= PWL_PIECES ? sizeof(pwl_pieces) : 0;
}

/* More than PWL_PIECES where the table is not served. */
static uint32_t count(const pwl_job *job)
{
    builder to;
    if (job->table->storage == PWL_INT32 || !pwl_span_overlaps(job) || !build(&to, job, NULL))
        return PWL_PIECES + 1;
    return (uint32_t)to.count;
}

static void prepare(const pwl_job *job, void *memory)
{
    pwl_pieces *const made = (pwl_pieces *)memory;
    int32_t last[PWL_PIECES];
    int16_t wide[PWL_PIECES_CELLS / 2];
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
    made->even = (uint8_t)pwl_is_even(job->table);
    made->capacity = to.count <= 32 ? 32 : to.count <= 64 ? 64 : to.count <= 128 ? 128 : PWL_PIECES;
    for (i = 0; i < PWL_PIECES; i++) {
        last[i] = i < to.count - 1 ? made->last[i] : INT16_MAX;
        made->last[i] = (int16_t)last[i];
    }
    /* Wide cells, unless narrow ones save steps. */
    made->cell_bits = 10;
    made->steps = (uint8_t)pwl_span_cells(last, made->capacity, INT16_MIN, 10, PWL_PIECES_CELLS, PWL_S16, made->cell);
    if (pwl_span_cells(last, made->capacity, INT16_MIN, 11, PWL_PIECES_CELLS / 2, PWL_S16, wide) <= made->steps) {
        made->cell_bits = 11;
        for (i = 0; i < PWL_PIECES_CELLS; i++)
            made->cell[i] = i < PWL_PIECES_CELLS / 2 ? wide[i] : 0;
    }
}

const pwl_kind pwl_kind_pieces = {PWL_TABLES, 2, 2, pieces_size, prepare, count};
