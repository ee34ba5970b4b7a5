/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kendryte K210's kpu_activate_table_t: 16 words, each bits 7..0 shift, 23..8 mul, 59..24 x_start, then 16 bias bytes.
 *
 *     y = sat(round((x - x_start) mul / 2^shift) + bias)   of the last entry with x > x_start
 *
 * An entry serves codes above its x_start, at which its line has the value `bias`. A table's segment starts where its
 * line is anchored. So x_start is the segment's start, and the segment before must have the same value there, which
 * fit --continuous 0 sees to. Entry 0 serves the lowest code alone.
 *
 * Source: the activation tables of Kendryte's standalone SDK; formats of halves below zero are not known, so slopes are
 * not negative.
 */
#include <inttypes.h>

#include "base/integers.h"
#include "families.h"
#include "notation.h"
#include "segments.h"

#define ENTRIES 16

enum { SHIFT, MUL, X_START, BIAS };

static const struct layout_field fields[] = {
    [SHIFT] = {.name = "shift", .bits = 8, .count = ENTRIES, .at = 0, .step = 64},
    [MUL] = {.name = "mul", .bits = 16, .is_signed = true, .count = ENTRIES, .at = 8, .step = 64},
    [X_START] = {.name = "x_start", .bits = 36, .is_signed = true, .count = ENTRIES, .at = 24, .step = 64},
    [BIAS] = {.name = "bias", .bits = 8, .count = ENTRIES, .at = 8 * 128, .step = 8},
    {.name = NULL}};
static const struct layout layout = {.fields = fields, .bytes = 144};

#define LOWEST (-((int64_t)1 << 35))

/* The value at the code `from`, of a line of the biased form; exact or refused. */
static int value_at(const struct table *table, int i, int64_t from, int64_t *value, struct diag *diag)
{
    const struct segment *segment = &table->segments[i];
    const int64_t sum = segment->offset + segment->q_b * (from - table->in.zero_point);
    const int64_t one = (int64_t)1 << (segment->n > 0 ? segment->n : 0);
    if (sum % one != 0)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "the line of segments[%d] is no integer at code %" PRId64
                        ", one before its start; fit with --form "
                        "anchored --continuous 0",
                        i, from);
    *value = sum / one;
    return EXIT_DONE;
}

/* A rising line with a shift of 0 or more. */
static int pack_entry(const struct table *table, int i, struct image *image, struct diag *diag)
{
    const struct segment *segment = &table->segments[i];
    const bool is_anchored = table->form == PWL_ANCHORED;
    int64_t mul = segment->q_b, bias = segment->offset;
    const int64_t from = is_anchored ? segment->start : segment->start - 1;
    int n = segment->n;
    if (mul < 0)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "segments[%d].q_b is %" PRId64
                        "; must not be negative, since how halves below zero are rounded is "
                        "not known",
                        i, mul);
    if (!is_anchored && value_at(table, i, from, &bias, diag))
        return diag->code;
    for (; n < 0 && mul <= INT16_MAX; n++)
        mul *= 2;
    image->values[SHIFT][i + 1] = mul ? n : 0;
    image->values[MUL][i + 1] = mul;
    image->values[X_START][i + 1] = from;
    image->values[BIAS][i + 1] = bias;
    return EXIT_DONE;
}

/* A constant first segment may be entry 0 itself. */
static int pack(const struct table *table, struct image *image, struct diag *diag)
{
    const struct segment *first = &table->segments[0];
    const pwl_form form = table->form == PWL_BIASED ? PWL_BIASED : PWL_ANCHORED;
    const int skipped = first->q_b == 0 && form == PWL_BIASED;
    struct packed_table packed;
    if (need_lines(table, form, PWL_HALF_EVEN, ENTRIES - 1 + skipped, diag) ||
        need_type(&table->out, "output", 8, 8, UNSIGNED, diag) || image_make(&layout, 0, image, diag) ||
        table_pack(table, &packed, diag))
        return diag->code;
    const int64_t lowest = packed_eval(&packed, table->in.qmin);
    packed_table_free(&packed);
    struct table rest = *table;
    rest.segments += skipped;
    rest.segment_count -= skipped;
    image->values[X_START][0] = LOWEST;
    image->values[BIAS][0] = lowest;
    for (int i = 0; i < rest.segment_count; i++)
        if (pack_entry(&rest, i, image, diag))
            return diag->code;
    for (int e = rest.segment_count + 1; e < ENTRIES; e++) { /* behind the last code */
        image->values[X_START][e] = table->in.qmax + e;
        image->values[BIAS][e] = image->values[BIAS][e - 1];
    }
    return EXIT_DONE;
}

/* Round(product / 2^shift), halves to even; the product is not negative. */
static int64_t round_even(int64_t product, int64_t shift)
{
    const int64_t floor = product >> shift, rest = product - (floor << shift), half = ((int64_t)1 << shift) / 2;
    return floor + (shift > 0 && (rest > half || (rest == half && floor % 2 != 0)));
}

/* Whether a table's accumulator holds the line's products and sums for the codes from first to last. The constant of a
 * flat line with a fine slope may be too large for 32 bits, though its outputs are of 8. */
static bool holds_line(const struct table *table, int64_t mul, int64_t shift, int64_t offset, int64_t first,
                       int64_t last)
{
    const int bits = offset_bits(table->storage, PWL_BIASED);
    const int64_t limit = bits > 32 ? INT64_MAX / 2 : INT32_MAX, half = ((int64_t)1 << shift) / 2;
    const int64_t low = mul * (first - table->in.zero_point), high = mul * (last - table->in.zero_point);
    return shift < bits && low >= -limit && high <= limit && offset >= -limit && offset <= limit - half &&
           low + offset >= -limit && high + offset <= limit - half;
}

/* A segment for each output of an entry's line, at most 256. */
static int unpack_steps(const struct image *image, int e, int64_t first, int64_t last, struct table *table,
                        struct diag *diag)
{
    int64_t before = -1;
    for (int64_t x = first; x <= last; x++) {
        const int64_t product = image->values[MUL][e] * (x - image->values[X_START][e]);
        const int64_t sum = round_even(product, image->values[SHIFT][e]) + image->values[BIAS][e];
        const int64_t q_y = smaller_integer(sum, table->out.qmax);
        if (q_y != before && segments_add(table, x, 0, 0, q_y, diag))
            return diag->code;
        before = q_y;
    }
    return EXIT_DONE;
}

/* An entry's line, whose rounding to even of the product is that of the sum but for a half where bias is odd. Such
 * codes have segments of their own. */
static int unpack_entry(const struct image *image, int e, struct table *table, struct diag *diag)
{
    const int64_t mul = image->values[MUL][e], from = image->values[X_START][e], bias = image->values[BIAS][e];
    const int64_t shift = image->values[SHIFT][e];
    const int64_t last = e + 1 < ENTRIES ? image->values[X_START][e + 1] : table->in.qmax;
    int64_t first = from + 1;
    if (mul < 0)
        return diag_set(diag, EXIT_USAGE,
                        "mul[%d] is %" PRId64 "; must not be negative, since how halves below zero "
                        "are rounded is not known",
                        e, mul);
    if (shift > 43)
        return diag_set(diag, EXIT_USAGE, "shift[%d] is %" PRId64 "; must be at most 43", e, shift);
    if (last < first || last < table->in.qmin || first > table->in.qmax)
        return EXIT_DONE;
    if (first < table->in.qmin)
        first = table->in.qmin;
    if (mul == 0)
        return segments_add(table, first, 0, 0, bias, diag);
    const int64_t one = (int64_t)1 << shift, offset = bias * one - mul * (from - table->in.zero_point);
    const int64_t end = smaller_integer(last, table->in.qmax);
    if (!holds_line(table, mul, shift, offset, first, end))
        return unpack_steps(image, e, first, end, table, diag);
    if (segments_add(table, first, mul, (int)shift, offset, diag))
        return diag->code;
    if (bias % 2 == 0 || mul % one == 0)
        return EXIT_DONE;
    for (int64_t x = first; x <= end; x++) {
        const int64_t product = mul * (x - from);
        if ((product & (one - 1)) != one / 2)
            continue;
        if (segments_add(table, x, 0, 0, round_even(product, shift) + bias, diag) ||
            (x < end && segments_add(table, x + 1, mul, (int)shift, offset, diag)))
            return diag->code;
    }
    return EXIT_DONE;
}

/* What an entry gives at a code behind its x_start; its mul is not negative. */
static int64_t entry_value(const struct image *image, int e, int64_t x)
{
    const int64_t product = image->values[MUL][e] * (x - image->values[X_START][e]);
    return smaller_integer(round_even(product, image->values[SHIFT][e]) + image->values[BIAS][e], UINT8_MAX);
}

/* Whether entry e's line, counted from its x_start, is a segment of the anchored form that starts there: at that code,
 * which the entry before it serves, both give the same, and a table's accumulator holds its products. */
static bool is_anchored_at_start(const struct image *image, int e, const struct table *table)
{
    const int64_t from = image->values[X_START][e], mul = image->values[MUL][e], shift = image->values[SHIFT][e];
    const int64_t last = smaller_integer(e + 1 < ENTRIES ? image->values[X_START][e + 1] : INT64_MAX, table->in.qmax);
    const int64_t limit = offset_bits(table->storage, PWL_BIASED) > 32 ? INT64_MAX / 2 : INT32_MAX / 2;
    int before = e - 1;
    while (before > 0 && image->values[X_START][before] == from)
        before--;
    return from >= table->in.qmin && mul >= 0 && shift <= 30 && (mul == 0 || last - from <= limit / mul) &&
           entry_value(image, before, from) == image->values[BIAS][e];
}

/* The anchored form rounds the product alone, as the chip does, so that every entry is one segment; it is the form that
 * fit finds. False where entries do not meet. */
static bool unpack_anchored(const struct image *image, struct table *table, struct diag *diag)
{
    segments_begin(table, PWL_ANCHORED, PWL_HALF_EVEN);
    for (int e = 0; e < ENTRIES; e++) {
        const int64_t mul = image->values[MUL][e], from = image->values[X_START][e];
        const bool ascends = e == 0 || from >= image->values[X_START][e - 1];
        if (ascends && from > table->in.qmax)
            continue;
        if (!ascends || (e > 0 && !is_anchored_at_start(image, e, table)) ||
            segments_add(table, from, mul, mul ? (int)image->values[SHIFT][e] : 0, image->values[BIAS][e], diag)) {
            diag->code = EXIT_DONE;
            return false;
        }
    }
    return true;
}

static int unpack(const struct image *image, struct table *table, struct diag *diag)
{
    if (need_type(&table->out, "output", 8, 8, UNSIGNED, diag))
        return diag->code;
    if (table->in.bits > 24)
        return diag_set(diag, EXIT_USAGE, "--in has %d bits; must have at most 24", table->in.bits);
    if (image->values[X_START][0] != LOWEST || image->values[MUL][0] != 0 || image->values[SHIFT][0] != 0)
        return diag_set(diag, EXIT_USAGE,
                        "entry 0: x_start is %" PRId64 ", mul %" PRId64 ", shift %" PRId64 "; must be %" PRId64
                        ", 0, 0",
                        image->values[X_START][0], image->values[MUL][0], image->values[SHIFT][0], LOWEST);
    if (unpack_anchored(image, table, diag))
        return EXIT_DONE;
    segments_begin(table, PWL_BIASED, PWL_HALF_EVEN);
    for (int e = 0; e < ENTRIES; e++) {
        if (e > 0 && image->values[X_START][e] < image->values[X_START][e - 1])
            return diag_set(diag, EXIT_USAGE, "x_start[%d] is below x_start[%d]; must ascend", e, e - 1);
        if (unpack_entry(image, e, table, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

const struct profile profile_k210 = {
    .name = "k210",
    .reader = "Kendryte K210's KPU: kpu_activate_table_t",
    .limits = "15 segments to u8, rising lines that meet, halves rounded to even",
    .flags = "--method minimax --segments 15 --form anchored --rounding half_even --offset-type u8 --continuous 0 --in "
             "s16:2^-12:0 --out u8",
    .layout = &layout,
    .notations = {&notation_bytes},
    .pack = pack,
    .unpack = unpack,
};
