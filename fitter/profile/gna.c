/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intel GNA's Gna2PwlSegment: 8 bytes an entry.
 *
 *     y = sat(((x - xBase) slope >> shift) + yBase)   of the last entry with xBase <= x; shift = 8 (k + 1)
 *
 * The two low bits of xBase hold k, so starts are multiples of 4. The first entry is a constant from INT32_MIN on; one
 * behind the last code holds the value there, as codes of a table end and GNA's accumulators do not.
 *
 * Source: the Gna2PwlSegment structure of Intel's GNA library.
 */
#include <inttypes.h>

#include "families.h"
#include "notation.h"
#include "segments.h"

#define MOST 128

enum { X_BASE, Y_BASE, SLOPE };

static const struct layout_field fields[] = {
    [X_BASE] = {.name = "xBase", .bits = 32, .is_signed = true, .at = 0, .step = 64},
    [Y_BASE] = {.name = "yBase", .bits = 16, .is_signed = true, .at = 32, .step = 64},
    [SLOPE] = {.name = "slope", .bits = 16, .is_signed = true, .at = 48, .step = 64},
    {.name = NULL}};
static const struct layout layout = {.fields = fields, .entry_bytes = 8, .min_entries = 2, .max_entries = MOST};

/* The hardware clips to 8, 16 or 32 bits, and to nothing else. */
static int need_clipping(const struct table *table, struct diag *diag)
{
    const int bits = table->out.bits;
    return bits == 8 || bits == 16 || bits == 32 ? EXIT_DONE : need_within(table, diag);
}

/* A segment with one of the four shifts, by making slope and shift larger together. */
static int pack_segment(const struct table *table, int i, int64_t *x_base, int64_t *y_base, int64_t *slope,
                        struct diag *diag)
{
    const struct segment *segment = &table->segments[i];
    int n = segment->n;
    *slope = segment->q_b;
    for (; *slope != 0 && (n < 8 || n % 8 != 0) && n < 32 && *slope <= INT16_MAX && *slope >= INT16_MIN; n++)
        *slope *= 2;
    if (*slope == 0)
        n = 8;
    if (*slope > INT16_MAX || *slope < INT16_MIN || n > 32 || n % 8 != 0)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "segments[%d] has the slope %" PRId64 " * 2^-%d, which no 16 bits have with a shift of 8, 16, "
                        "24 or 32; fit with --slope-bits 16 --shift-multiple 8",
                        i, segment->q_b, segment->n);
    if (segment->start % 4 != 0)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "segments[%d] starts at %" PRId64 "; must be a multiple of 4: fit with --knots pow2:%d", i,
                        segment->start, table->in.bits - 2);
    *x_base = segment->start + n / 8 - 1;
    *y_base = segment->offset;
    return EXIT_DONE;
}

static int pack(const struct table *table, struct image *image, struct diag *diag)
{
    struct packed_table packed;
    if (need_lines(table, PWL_ANCHORED, PWL_FLOOR, MOST - 2, diag) ||
        need_type(&table->in, "input", 3, 32, SIGNED, diag) || need_type(&table->out, "output", 2, 16, SIGNED, diag) ||
        need_clipping(table, diag) || table_pack(table, &packed, diag))
        return diag->code;
    const bool ends = table->in.bits<32, begins = table->in.qmin> INT32_MIN;
    const int count = table->segment_count;
    const int64_t lowest = packed_eval(&packed, table->in.qmin), highest = packed_eval(&packed, table->in.qmax);
    packed_table_free(&packed);
    if (count + begins + ends < layout.min_entries)
        return diag_set(diag, EXIT_REQUIREMENT, "has %d segment that serves 32 bits; must have %d", count,
                        layout.min_entries);
    if (image_make(&layout, count + begins + ends, image, diag))
        return diag->code;
    int64_t **values = image->values;
    int e = 0;
    if (begins) {
        values[X_BASE][e] = INT32_MIN;
        values[Y_BASE][e++] = lowest;
    }
    for (int i = 0; i < count; i++, e++)
        if (pack_segment(table, i, &values[X_BASE][e], &values[Y_BASE][e], &values[SLOPE][e], diag))
            return diag->code;
    if (ends) {
        values[X_BASE][e] = table->in.qmax + 1;
        values[Y_BASE][e] = highest;
    }
    return EXIT_DONE;
}

/* A segment of a slope with a shift of 8 (k + 1); by a shorter slope where the table's own are of fewer than 16 bits,
 * or their shifts below 32. Products of two such codes are less than 2^31, which a shift by 31 makes 0 or -1, as by 32.
 */
static int add_segment(struct table *table, int64_t start, int64_t slope, int k, int64_t y_base, struct diag *diag)
{
    const int bits = storage_bits(storage_for(table->in.bits, table->out.bits)), most = bits < 32 ? 31 : 63;
    int n = slope ? 8 * (k + 1) : 0;
    for (; slope % 2 == 0 && (slope < code_min(bits, true) || slope > code_max(bits, true) || n > most); n--)
        slope /= 2;
    n = n > most ? most : n;
    return segments_add(table, start, slope, n, y_base, diag);
}

static int unpack(const struct image *image, struct table *table, struct diag *diag)
{
    if (need_type(&table->in, "input", 2, 32, SIGNED, diag) || need_type(&table->out, "output", 2, 32, SIGNED, diag))
        return diag->code;
    segments_begin(table, PWL_ANCHORED, PWL_FLOOR);
    const int64_t first = image->values[X_BASE][0] & ~(int64_t)3;
    if (first > table->in.qmin && segments_add(table, table->in.qmin, 0, 0, image->values[Y_BASE][0], diag))
        return diag->code;
    for (int e = 0; e < image->entries; e++) {
        const int64_t base = image->values[X_BASE][e] & ~(int64_t)3;
        const int64_t next = e + 1 < image->entries ? image->values[X_BASE][e + 1] & ~(int64_t)3 : INT64_MAX;
        const int64_t slope = image->values[SLOPE][e];
        if (next <= base)
            return diag_set(diag, EXIT_USAGE, "xBase[%d] is not above xBase[%d]; must ascend", e + 1, e);
        if (next <= table->in.qmin)
            continue;
        if (add_segment(table, base, slope, (int)(image->values[X_BASE][e] & 3), image->values[Y_BASE][e], diag))
            return diag->code;
    }
    return need_clipping(table, diag);
}

const struct profile profile_gna = {
    .name = "gna",
    .reader = "Intel GNA: Gna2PwlSegment",
    .limits = "126 segments of the anchored form, floor, with shifts of 8, 16, 24 and 32, that start at multiples of 4",
    .flags = "--method minimax --segments 64 --form anchored --rounding floor --slope-bits 16 --shift-multiple 8 "
             "--offset-type s16 --knots pow2:14 --pow2-scales --in s16:2^-12:0 --out s16:auto:0",
    .layout = &layout,
    .notations = {&notation_bytes},
    .pack = pack,
    .unpack = unpack,
};
