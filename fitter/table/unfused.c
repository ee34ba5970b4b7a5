/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unfused.h"

/* Arithmetic right shift by 0..63, defined for negative values too. */
static int64_t shift_right(int64_t value, int count)
{
    return value >= 0 ? value >> count : ~(~value >> count);
}

/* A left shift is undone instead of done, which cannot overflow. */
bool unfused_gives(int64_t q_c, int n_yc, int64_t term_c)
{
    if (n_yc >= 0)
        return shift_right(q_c, n_yc) == term_c;
    const uint64_t lost = ((uint64_t)1 << -n_yc) - 1;
    return shift_right(term_c, -n_yc) == q_c && ((uint64_t)term_c & lost) == 0;
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Shifts a magnitude right (one more than the quotient, since floor moves a negative value down by less than 1) or
 * left; false when the result, or the half that rounding adds before a right shift, leaves limit. */
static bool shift_magnitude(uint64_t *value, int n, pwl_rounding rounding, uint64_t limit)
{
    if (n == 0)
        return *value <= limit;
    if (n > 0) {
        const uint64_t half = rounding == PWL_FLOOR ? 0 : (uint64_t)1 << (n - 1);
        if (*value > limit - half)
            return false;
        *value = (*value >> n) + 1;
        return true;
    }
    if (*value > limit >> -n)
        return false;
    *value <<= -n;
    return true;
}

int unfused_prove(const struct table *table, struct diag *diag)
{
    const int bits = accumulator_bits(table->storage);
    const uint64_t limit = ((uint64_t)1 << (bits - 1)) - 1;
    for (int i = 0; table->has_unfused && i < table->segment_count; i++) {
        const struct segment *const segment = &table->segments[i];
        const int64_t last = i + 1 < table->segment_count ? segment[1].start - 1 : table_last_code(table);
        const uint64_t low = magnitude(segment->start - table->in.zero_point);
        const uint64_t high = magnitude(last - table->in.zero_point);
        uint64_t value = magnitude(segment->q_b) * (low > high ? low : high);
        if (!shift_magnitude(&value, segment->unfused.n_bx, table->rounding, limit) ||
            !shift_magnitude(&value, segment->unfused.n_yb, table->rounding, limit) ||
            magnitude(segment->offset) > limit - value)
            return diag_set(diag, EXIT_USAGE,
                            "segments[%d].unfused: n_bx %d and n_yb %d, must keep every value in %d bits", i,
                            segment->unfused.n_bx, segment->unfused.n_yb, bits);
    }
    return EXIT_DONE;
}
