/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "size.h"

#include <pwl/fixed.h>

#include "base/integers.h"

bool table_is_full(const struct table *table)
{
    if (table->has_fold || table->has_reduction || table->segment_count != table->in.qmax - table->in.qmin + 1)
        return false;
    for (int i = 0; i < table->segment_count; i++)
        if (table->segments[i].q_b != 0 || table->segments[i].start != table->in.qmin + i)
            return false;
    return true;
}

int table_bytes(const struct table *table)
{
    const int code = code_type_bits(table->out.bits) / 8;
    return table->segment_count * (table_is_full(table) ? code : packed_segment_bytes(table->storage, table->form));
}

/* The lowest and the highest value of a field, with one more. */
static struct integers with(struct integers range, int64_t value)
{
    return (struct integers){smaller_integer(value, range.low), larger_integer(value, range.high)};
}

static struct field_width width_of(struct integers range)
{
    return (struct field_width){.bits = field_bits(range.low, range.high), .is_signed = range.low < 0};
}

/* What a segment of a full table gives. */
static int64_t value_of(const struct table *table, const struct segment *segment)
{
    const int64_t value =
        table->form == PWL_BIASED ? pwl_shr64(segment->offset, segment->n, (int)table->rounding) : segment->offset;
    return pwl_sat(value, table->out.qmin, table->out.qmax);
}

struct field_widths table_field_widths(const struct table *table)
{
    const struct segment *first = &table->segments[0];
    const bool is_full = table_is_full(table);
    struct integers start = {first->start, first->start}, q_b = {first->q_b, first->q_b}, n = {first->n, first->n},
                    offset = {first->offset, first->offset}, value = {table->out.qmax, table->out.qmin};
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &table->segments[i];
        start = with(start, segment->start);
        q_b = with(q_b, segment->q_b);
        n = with(n, segment->n);
        offset = with(offset, segment->offset);
        if (is_full)
            value = with(value, value_of(table, segment));
    }
    struct field_widths widths = {0};
    if (is_full) {
        widths.value = width_of(value);
    } else {
        widths.start = width_of(start);
        widths.q_b = width_of(q_b);
        widths.n = width_of(n);
        widths.offset = width_of(offset);
    }
    widths.rom_bits = table->segment_count *
                      (widths.start.bits + widths.q_b.bits + widths.n.bits + widths.offset.bits + widths.value.bits);
    return widths;
}
