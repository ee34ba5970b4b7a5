/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparing every code of a 32-bit input means 4 billion values of f, at up to a microsecond each. Over
 * a block of neighbouring codes f is nearly a polynomial of low degree, except at kinks. So a block takes f from the
 * polynomial through nine of its codes, Chebyshev's points with both ends, if that polynomial also meets f at a code
 * between each two of them. (A kink makes it stray everywhere, not only beside the
 * kink; an end of the domain is one.) A block where it does not is
 * halved, and the smallest blocks are computed code by code.
 *
 * Only sums are taken from the polynomial. A code is decided by f itself when what is counted would change within a
 * margin 64 times as wide as the tolerance of the check: a tie, a limit of the output, a step of the table against
 * f, the maximum; and where the error is next to nothing, so that exact stretches add nothing to the sums.
 */
#include "smooth.h"

#include <math.h>

#define NODES 9
#define LARGEST_BLOCK 4096
#define SMALLEST_BLOCK 64
#define TOLERANCE 0x1p-36 /* LSB; for blocks in which the target moves by more than 4096 LSB, relative to that */
#define NOISE 0x1p-60     /* of the target: values of f are good to a few parts of that themselves */
#define MARGIN_FACTOR 64

struct block {
    int64_t first;
    int count;
    double base;            /* an integer; the polynomial gives target - base */
    double centre, inverse; /* u = (k - centre) * inverse lies in [-1, 1] for code first + k */
    double at[NODES];       /* nodes, as u */
    double newton[NODES];   /* divided differences */
    double margin;
};

static double block_target(const struct block *block, int k)
{
    const double u = ((double)k - block->centre) * block->inverse;
    double value = block->newton[NODES - 1];
    for (int i = NODES - 2; i >= 0; i--)
        value = value * (u - block->at[i]) + block->newton[i];
    return value;
}

static struct dd target_at(const struct subject *subject, int64_t q)
{
    return subject_target(subject, subject_value(subject, q));
}

/* Whether the polynomial stands for f. The codes lie between the nodes, where it strays most. */
static bool block_holds(const struct block *block, const struct subject *subject, double tolerance)
{
    static const double checked[] = {0.02, 0.09, 0.23, 0.41, 0.6, 0.77, 0.9, 0.985};
    const int last = block->count - 1;
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++) {
        const int k = (int)(checked[i] * last);
        const struct dd target = dd_plus(target_at(subject, block->first + k), -block->base);
        if (!(fabs(target.hi - block_target(block, k)) <= tolerance))
            return false;
    }
    return true;
}

/* Fills the block for count codes from first; false when f is not that smooth there. */
static bool block_fit(struct block *block, const struct subject *subject, int64_t first, int count)
{
    /* (1 - cos(pi i / 8)) / 2 */
    static const double place[NODES] = {0,   0.038060233744356624, 0.14644660940672624, 0.30865828381745514,
                                        0.5, 0.69134171618254486,  0.85355339059327376, 0.96193976625564338,
                                        1};
    const struct code_domain *domain = &subject->domain;
    if (domain->has_hole && first <= domain->hole && domain->hole < first + count)
        return false;

    block->first = first;
    block->count = count;
    block->centre = 0.5 * (count - 1);
    block->inverse = 1 / block->centre;
    struct dd difference[NODES];
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < NODES; i++) {
        const int k = (int)(place[i] * (count - 1) + 0.5);
        const struct dd target = target_at(subject, first + k);
        if (i == 0) {
            if (!(fabs(target.hi) < 0x1p52))
                return false;
            block->base = floor(target.hi);
        }
        difference[i] = dd_plus(target, -block->base);
        low = fmin(low, difference[i].hi);
        high = fmax(high, difference[i].hi);
        block->at[i] = ((double)k - block->centre) * block->inverse;
    }
    if (!(high - low < 0x1p52))
        return false;
    for (int order = 1; order < NODES; order++) {
        for (int i = NODES - 1; i >= order; i--)
            difference[i] =
                dd_div(dd_sub(difference[i], difference[i - 1]), dd_sum(block->at[i], -block->at[i - order]));
    }
    for (int i = 0; i < NODES; i++)
        block->newton[i] = difference[i].hi;
    const double tolerance = TOLERANCE * fmax(1, (high - low) / 4096) + NOISE * fabs(block->base);
    block->margin = tolerance * MARGIN_FACTOR;
    return block_holds(block, subject, tolerance);
}

/* The table's own array evaluation, into 64 bits. Widths are at most 32. */
static void eval_run(const struct packed_table *packed, int64_t first, int count, int64_t *y)
{
    const pwl_table *const table = &packed->table;
    union {
        int32_t s[LARGEST_BLOCK];
        uint32_t u[LARGEST_BLOCK];
    } x, out;
    if (packed->is_reduced) {
        for (int k = 0; k < count; k++)
            y[k] = packed_eval(packed, first + k);
        return;
    }
    if (table->qmin_x < 0) {
        for (int k = 0; k < count; k++)
            x.s[k] = (int32_t)(first + k);
        if (table->qmin_y < 0)
            pwl_map_s32_s32(table, x.s, out.s, (size_t)count);
        else
            pwl_map_s32_u32(table, x.s, out.u, (size_t)count);
    } else {
        for (int k = 0; k < count; k++)
            x.u[k] = (uint32_t)(first + k);
        if (table->qmin_y < 0)
            pwl_map_u32_s32(table, x.u, out.s, (size_t)count);
        else
            pwl_map_u32_u32(table, x.u, out.u, (size_t)count);
    }
    for (int k = 0; k < count; k++)
        y[k] = table->qmin_y < 0 ? (int64_t)out.s[k] : (int64_t)out.u[k];
}

static void add_block(struct chunk *chunk, const struct subject *subject, const struct block *block)
{
    const struct tensor *out = &subject->table->out;
    const double margin = block->margin;
    const double low = (double)out->qmin - block->base, high = (double)out->qmax - block->base;
    int64_t y[LARGEST_BLOCK];
    double sum = 0, signed_sum = 0, sum_of_squares = 0, previous = 0;
    int averaged = 0, correct = 0, saturated = 0;
    eval_run(subject->packed, block->first, block->count, y);
    for (int k = 0; k < block->count; k++) {
        const double target = block_target(block, k);
        const double clipped = target < low ? low : target > high ? high : target;
        const double difference = (double)y[k] - block->base - clipped, err = fabs(difference);
        if (!chunk->backward && (k == 0 || (y[k] != y[k - 1] && !(y[k] > y[k - 1] ? target - previous > 2 * margin
                                                                                  : previous - target > 2 * margin))))
            chunk->backward = steps_backward_at(subject, block->first + k);
        previous = target;
        if (err > chunk->max_err - margin || err > (double)chunk->max_ulp + 0.5 - margin || err <= margin ||
            fabs(err - 0.5) <= margin || fabs(target - low) <= margin || fabs(target - high) <= margin) {
            const struct point point = point_at(subject, block->first + k, true);
            chunk_add_point(chunk, subject, &point);
            continue;
        }
        sum += err;
        signed_sum += difference;
        sum_of_squares += err * err;
        averaged++;
        correct += err < 0.5;
        saturated += clipped != target;
    }
    chunk->sum = dd_plus(chunk->sum, sum);
    chunk->signed_sum = dd_plus(chunk->signed_sum, signed_sum);
    chunk->sum_of_squares = dd_plus(chunk->sum_of_squares, sum_of_squares);
    chunk->averaged += averaged;
    chunk->correct += correct;
    chunk->saturated += saturated;
}

static void add_halving(struct chunk *chunk, const struct subject *subject, int64_t first, int count)
{
    struct block block;
    if (count < SMALLEST_BLOCK) {
        chunk_add_codes(chunk, subject, first, count, false);
    } else if (block_fit(&block, subject, first, count)) {
        add_block(chunk, subject, &block);
    } else {
        add_halving(chunk, subject, first, count / 2);
        add_halving(chunk, subject, first + count / 2, count - count / 2);
    }
}

void chunk_add_run(struct chunk *chunk, const struct subject *subject, int64_t first, int64_t count)
{
    for (int64_t done = 0; done < count; done += LARGEST_BLOCK)
        add_halving(chunk, subject, first + done, count - done < LARGEST_BLOCK ? (int)(count - done) : LARGEST_BLOCK);
}

void chunk_add_codes(struct chunk *chunk, const struct subject *subject, int64_t first, int64_t count, bool wide)
{
    if (wide) {
        chunk_add_run(chunk, subject, first, count);
        return;
    }
    struct point previous = point_at(subject, first > subject->table->in.qmin ? first - 1 : first, true);
    for (int64_t q = first; q < first + count; q++) {
        const struct point point = point_at(subject, q, true);
        chunk_add_point(chunk, subject, &point);
        if (!chunk->backward)
            chunk->backward = steps_backward(subject, &previous, &point);
        previous = point;
    }
}
