/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluation of a table in 128-bit arithmetic, straight from the definitions in pwl.h and reduce.h and sharing no code
 * with them. */
#ifndef FUZZ_EVALUATE_H
#define FUZZ_EVALUATE_H

#include "table/table.h"

__extension__ typedef __int128 wide;

static inline wide wide_floor_divide(wide p, wide divisor)
{
    const wide quotient = p / divisor;
    return p % divisor < 0 ? quotient - 1 : quotient;
}

/* |p| < 2^64, |n| <= 63: nothing here leaves 128 bits. */
static inline wide wide_shift(wide p, int n, pwl_rounding rounding)
{
    if (n <= 0)
        return p * ((wide)1 << -n);
    const wide divisor = (wide)1 << n;
    switch (rounding) {
    case PWL_FLOOR:
        return wide_floor_divide(p, divisor);
    case PWL_HALF_UP:
        return wide_floor_divide(p + divisor / 2, divisor);
    case PWL_HALF_AWAY:
        return p < 0 ? -wide_floor_divide(-p + divisor / 2, divisor) : wide_floor_divide(p + divisor / 2, divisor);
    case PWL_HALF_EVEN:
        break;
    }
    const wide down = wide_floor_divide(p, divisor), rest = p - down * divisor;
    return down + (2 * rest > divisor || (2 * rest == divisor && down % 2 != 0));
}

static inline wide wide_raw(const struct table *table, int64_t q_x)
{
    int i = table->segment_count - 1;
    while (i > 0 && table->segments[i].start > q_x)
        i--;
    const struct segment *segment = &table->segments[i];
    const int64_t middle = (int64_t)1 << (storage_bits(table->storage) - 1); /* of a reduced table's words */
    const wide slope = segment->q_b, from_zero = (wide)q_x - (table->has_reduction ? middle : table->in.zero_point);
    switch (table->form) {
    case PWL_ABSOLUTE:
        return wide_shift(slope * from_zero, segment->n, table->rounding) + segment->offset;
    case PWL_BIASED:
        return wide_shift(slope * from_zero + segment->offset, segment->n, table->rounding);
    case PWL_ANCHORED:
        break;
    }
    return wide_shift(slope * ((wide)q_x - segment->start), segment->n, table->rounding) + segment->offset;
}

/* Before saturation. q_x is clamped. */
static inline wide wide_reduced(const struct table *table, int64_t q_x)
{
    const pwl_reduction *reduction = &table->reduction;
    const int word_bits = storage_bits(table->storage), step = 1 << reduction->log2_step;
    const wide d = (wide)q_x - table->in.zero_point, word_end = (wide)1 << word_bits;
    wide r = 0, m;
    if (reduction->kind == PWL_LEADING_ZEROS) {
        if (d <= 0)
            return reduction->below;
        m = d;
        for (; m >= word_end; r--)
            m = d >> (int)((1 - r) * step);
        for (; r >= 0 && m << step < word_end; r++)
            m <<= step;
    } else {
        const wide z = wide_shift(d * reduction->factor, reduction->fraction - word_bits, PWL_HALF_UP);
        r = wide_floor_divide(z, word_end);
        m = z - r * word_end;
    }
    const wide v = wide_raw(table, (int64_t)m) - r * reduction->addend, n = reduction->shift + reduction->direction * r;
    return table->out.zero_point + wide_shift(v, n < 0 ? 0 : n > 62 ? 62 : (int)n, PWL_HALF_UP);
}

static inline int64_t wide_evaluate(const struct table *table, int64_t q_x)
{
    if (q_x < table->in.qmin)
        q_x = table->in.qmin;
    if (q_x > table->in.qmax)
        q_x = table->in.qmax;
    const wide q_y = table->has_reduction ? wide_reduced(table, q_x)
                     : table->has_fold && q_x < table->in.zero_point
                         ? table->fold_sum - wide_raw(table, 2 * table->in.zero_point - q_x)
                         : wide_raw(table, q_x);
    return q_y < table->out.qmin ? table->out.qmin : q_y > table->out.qmax ? table->out.qmax : (int64_t)q_y;
}

#endif
