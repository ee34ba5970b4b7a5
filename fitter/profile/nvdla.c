/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NVDLA's struct dla_lut_param: LO, 257 points 2^select codes apart, and LE, 65 points, which tables here do not use.
 *
 *     start             end       y = round((T[i] (2^select - f) + T[i+1] f) / 2^select), halves away from zero
 *       o----o-- ... --o----      before and behind them, slopes from the first and the last point
 *
 * LE is left out by its start, which no code exceeds, and by priorities of 1, which are LO's.
 *
 * Source: NVDLA's hardware and software manuals, LUT programming.
 */
#include <inttypes.h>

#include "base/integers.h"
#include "families.h"
#include "notation.h"
#include "segments.h"

enum { LE_POINTS = 65, LO_POINTS = 257 };
enum { LE, LO, LE_SELECT, LO_SELECT, ENDS, UPPER, SCALES, SHIFTS, PRIORITIES, METHOD };
enum { LE_START, LE_END, LO_START, LO_END };
enum { LE_UNDER, LE_OVER, LO_UNDER, LO_OVER };
#define LINEAR 1

static const struct layout_field fields[] = {
    [LE] = {.name = "linear_exp_table", .bits = 16, .is_signed = true, .count = LE_POINTS, .at = 0, .step = 16},
    [LO] = {.name = "linear_only_table", .bits = 16, .is_signed = true, .count = LO_POINTS, .at = 8 * 130, .step = 16},
    [LE_SELECT] = {.name = "linear_exp_offset", .bits = 8, .is_signed = true, .count = 1, .at = 8 * 644, .step = 8},
    [LO_SELECT] = {.name = "linear_only_select", .bits = 8, .is_signed = true, .count = 1, .at = 8 * 646, .step = 8},
    [ENDS] = {.name = "ends", .bits = 32, .is_signed = true, .count = 4, .at = 8 * 648, .step = 64},
    [UPPER] = {.name = "ends_upper_half", .bits = 32, .count = 4, .at = 8 * 652, .step = 64}, /* not used */
    [SCALES] = {.name = "slope_scale", .bits = 16, .is_signed = true, .count = 4, .at = 8 * 680, .step = 32},
    [SHIFTS] = {.name = "slope_shift", .bits = 8, .is_signed = true, .count = 4, .at = 8 * 682, .step = 32},
    [PRIORITIES] = {.name = "priority", .bits = 8, .count = 3, .at = 8 * 696, .step = 8},
    [METHOD] = {.name = "method", .bits = 8, .count = 1, .at = 8 * 699, .step = 8},
    {.name = NULL}};
static const struct layout layout = {.fields = fields, .bytes = 700};

static int need_types(const struct table *table, struct diag *diag)
{
    return need_type(&table->in, "input", 9, table->in.is_signed ? 32 : 31, ANY_SIGN, diag) ||
                   need_type(&table->out, "output", 2, 32, ANY_SIGN, diag)
               ? diag->code
               : EXIT_DONE;
}

/* Where the points lie: at the segments' starts, but for a segment before the first point and one behind the last. */
struct grid {
    int shift, before; /* segments before the first point: 0 or 1 */
};

static int find_grid(const struct table *table, struct grid *grid, struct diag *diag)
{
    const struct segment *segments = table->segments;
    const int count = table->segment_count, intervals = LO_POINTS - 1;
    for (grid->before = 0; grid->before < 2; grid->before++) {
        if (count < intervals + grid->before || count > intervals + grid->before + 1)
            continue;
        const struct segment *first = &segments[grid->before];
        const int64_t width = first[1].start - first[0].start;
        bool even = (width & (width - 1)) == 0;
        for (int i = 1; i < intervals; i++)
            even &= first[i].start - first[i - 1].start == width;
        if (even && width > 0) {
            grid->shift = unsigned_bits(width) - 1;
            return EXIT_DONE;
        }
    }
    return diag_set(diag, EXIT_REQUIREMENT,
                    "the table has no %d segments of equal width, a power of two; fit with --knots points:%d",
                    intervals, table->in.bits - 8);
}

static int pack(const struct table *table, struct image *image, struct diag *diag)
{
    struct grid grid = {0};
    struct packed_table packed;
    if (need_types(table, diag) || need_lines(table, PWL_BIASED, PWL_HALF_AWAY, LO_POINTS + 1, diag) ||
        need_within(table, diag) || find_grid(table, &grid, diag) || image_make(&layout, 0, image, diag) ||
        table_pack(table, &packed, diag))
        return diag->code;
    const struct segment *first = &table->segments[grid.before], *last = &first[LO_POINTS - 2];
    const int64_t width = (int64_t)1 << grid.shift;
    for (int i = 0; i < LO_POINTS; i++) /* the last one by the line before it */
        image->values[LO][i] = i < LO_POINTS - 1 ? raw_value(table, &packed, first[i].start)
                                                 : segment_value(table, last, last->start + width);
    packed_table_free(&packed);
    image->values[LO_SELECT][0] = grid.shift;
    image->values[ENDS][LE_START] = INT32_MAX;
    image->values[ENDS][LO_START] = first->start;
    image->values[ENDS][LO_END] = last->start + width;
    if (grid.before) {
        image->values[SCALES][LO_UNDER] = table->segments[0].q_b;
        image->values[SHIFTS][LO_UNDER] = table->segments[0].n;
    }
    if (last + 1 < table->segments + table->segment_count) {
        image->values[SCALES][LO_OVER] = last[1].q_b;
        image->values[SHIFTS][LO_OVER] = last[1].n;
    }
    for (int k = 0; k < 3; k++)
        image->values[PRIORITIES][k] = 1;
    image->values[METHOD][0] = LINEAR;
    return EXIT_DONE;
}

/* y = value + round((x - from) scale / 2^shift), for the codes from `first` to `last`. The layout rounds the product, a
 * table the sum: of halves they differ where value and product have opposite signs. */
static int add_slope(struct table *table, int64_t first, int64_t last, int64_t from, int64_t value, int64_t scale,
                     int64_t shift, struct diag *diag)
{
    if (first > last || last < table->in.qmin || first > table->in.qmax)
        return EXIT_DONE;
    if (scale == 0)
        return segments_add(table, first, 0, 0, value, diag);
    if (shift < 0) {
        scale *= (int64_t)1 << smaller_integer(-shift, 31);
        shift = 0;
    }
    const int64_t one = (int64_t)1 << smaller_integer(shift, 31);
    const bool grows = (scale > 0) == (first >= from); /* the product is not negative */
    if (scale % one != 0 && value != 0 && (value > 0) != grows)
        return diag_set(
            diag, EXIT_USAGE,
            "the slope beyond point %s is rounded before it is added, with another sign; no table does that",
            first >= from ? "256" : "0");
    int64_t product, offset;
    if (__builtin_mul_overflow(scale, from - table->in.zero_point, &product) ||
        __builtin_sub_overflow(value * one, product, &offset))
        return diag_set(diag, EXIT_USAGE, "the slope beyond point %s needs more bits than there are",
                        first >= from ? "256" : "0");
    return segments_add(table, first, scale, (int)smaller_integer(shift, 31), offset, diag);
}

static int check_lo_alone(const struct image *image, const struct tensor *in, struct diag *diag)
{
    if (image->values[ENDS][LE_START] < in->qmax)
        return diag_set(diag, EXIT_USAGE,
                        "linear_exp_table serves codes above %" PRId64
                        "; only tables of linear_only_table alone are read",
                        image->values[ENDS][LE_START]);
    for (int k = 0; k < 3; k++)
        if (image->values[PRIORITIES][k] != 1)
            return diag_set(diag, EXIT_USAGE, "priority[%d] is %" PRId64 "; must be 1, for linear_only_table", k,
                            image->values[PRIORITIES][k]);
    if (image->values[METHOD][0] != LINEAR)
        return diag_set(diag, EXIT_USAGE, "method is %" PRId64 "; must be 1, linear", image->values[METHOD][0]);
    for (int k = 0; k < 4; k++)
        if (image->values[SHIFTS][k] < -16 || image->values[SHIFTS][k] > 15)
            return diag_set(diag, EXIT_USAGE, "slope_shift[%d] is %" PRId64 "; must have 5 bits, -16 to 15", k,
                            image->values[SHIFTS][k]);
    if (image->values[LO_SELECT][0] < 0 || image->values[LO_SELECT][0] > 31)
        return diag_set(diag, EXIT_USAGE, "linear_only_select is %" PRId64 "; must be from 0 to 31",
                        image->values[LO_SELECT][0]);
    return EXIT_DONE;
}

static int unpack(const struct image *image, struct table *table, struct diag *diag)
{
    const int64_t *points = image->values[LO];
    const struct tensor *in = &table->in;
    if (need_types(table, diag) || check_lo_alone(image, in, diag))
        return diag->code;
    const int select = (int)image->values[LO_SELECT][0];
    const int64_t start = image->values[ENDS][LO_START], end = image->values[ENDS][LO_END],
                  over = start + ((int64_t)(LO_POINTS - 1) << select);
    segments_begin(table, PWL_BIASED, PWL_HALF_AWAY);
    if (add_slope(table, in->qmin, start, start, points[0], image->values[SCALES][LO_UNDER],
                  image->values[SHIFTS][LO_UNDER], diag))
        return diag->code;
    for (int i = 0; i + 1 < LO_POINTS; i++) {
        const int64_t first = start + ((int64_t)i << select), slope = points[i + 1] - points[i];
        if (first + ((int64_t)1 << select) > in->qmin &&
            segments_add(table, first, slope, select,
                         points[i] * ((int64_t)1 << select) - slope * (first - in->zero_point), diag))
            return diag->code;
    }
    return add_slope(table, over, in->qmax, end, points[LO_POINTS - 1], image->values[SCALES][LO_OVER],
                     image->values[SHIFTS][LO_OVER], diag) ||
                   need_within(table, diag)
               ? diag->code
               : EXIT_DONE;
}

const struct profile profile_nvdla = {
    .name = "nvdla",
    .reader = "NVDLA's SDP and CDP: struct dla_lut_param, linear_only_table alone",
    .limits = "codes of 9 to 32 bits, lines between 257 points of 16 bits on an even grid",
    .flags = "--method minimax --knots points:8 --offset-type s16 --rounding half_away --pow2-scales --in s16:2^-12:0 "
             "--out s16:auto:0",
    .layout = &layout,
    .notations = {&notation_bytes},
    .pack = pack,
    .unpack = unpack,
};
