/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "line.h"

#include <stdlib.h>

wide shift_right(wide v, int n, pwl_rounding rounding)
{
    if (n == 0)
        return v;
    const wide down = v >> n, rest = v - down * ((wide)1 << n), half = (wide)1 << (n - 1);
    switch (rounding) {
    case PWL_HALF_UP:
        return down + (rest >= half);
    case PWL_HALF_AWAY:
        return down + (rest > half || (rest == half && v >= 0));
    case PWL_HALF_EVEN:
        return down + (rest > half || (rest == half && (down & 1)));
    case PWL_FLOOR:
        break;
    }
    return down;
}

/* Trailing zero bits of a value, `most` at most, which is what 0 has. */
static int zero_bits(wide v, int most)
{
    int bits = 0;
    while (bits < most && ((v >> bits) & 1) == 0)
        bits++;
    return bits;
}

bool slope_terms(wide slope, struct terms *terms)
{
    wide rest = slope < 0 ? -slope : slope;
    *terms = (struct terms){.sign = slope < 0 ? -1 : 1};
    if (rest == 0) {
        terms->sign = 0;
        return true;
    }
    terms->low = zero_bits(rest, 127);
    rest >>= terms->low;
    /* Odd: 1, or 2^k + 1, or 2^k - 1. */
    if (rest == 1) {
        terms->high = terms->low;
        return true;
    }
    terms->second = (rest & 2) != 0 ? -1 : 1;
    rest -= terms->second;
    const int power = zero_bits(rest, 127);
    terms->high = terms->low + power;
    return rest >> power == 1;
}

/* Takes out powers of two that slope and offset share with 2^n. */
static void shorten(struct line *line, int *n, bool biased)
{
    while (line->slope != 0 && *n > 0 && line->slope % 2 == 0 && (!biased || line->offset % 2 == 0)) {
        line->slope /= 2;
        if (biased)
            line->offset /= 2;
        --*n;
    }
}

/* A constant needs no n of its own: it gets `common`, or 0. */
static void set_constant(struct line *line, int *n, const struct table *table, int common)
{
    if (table->form == PWL_BIASED) {
        line->offset = *n < 0 ? line->offset * ((wide)1 << -*n) : shift_right(line->offset, *n, table->rounding);
        common = common < 0 ? 0 : common;
        line->offset *= (wide)1 << common;
    }
    *n = common;
}

static void make_line(const struct table *table, const struct tensor *codes, int i, struct lines *lines, int *n)
{
    const struct segment *segment = &table->segments[i];
    struct line *line = &lines->lines[i];
    line->start = segment->start - lines->shift;
    line->last =
        (i + 1 < table->segment_count ? table->segments[i + 1].start - 1 : table_last_code(table)) - lines->shift;
    const wide zero = table->form == PWL_ANCHORED ? segment->start : codes->zero_point;
    line->x_low = line->start + lines->shift - zero;
    line->x_high = line->last + lines->shift - zero;
    line->slope = segment->q_b;
    line->offset = segment->offset;
    if (line->x_low == 0 && line->x_high == 0)
        line->slope = 0;
    *n = segment->n;
}

static void set_constants(const struct table *table, struct lines *lines, int *n)
{
    bool sloped = false;
    int smallest = 0;
    for (int i = 0; i < lines->count; i++)
        if (lines->lines[i].slope != 0 && (!sloped || n[i] < smallest)) {
            smallest = n[i];
            sloped = true;
        }
    for (int i = 0; i < lines->count; i++)
        if (lines->lines[i].slope == 0)
            set_constant(&lines->lines[i], &n[i], table, smallest);
}

/* Brings every segment to the largest n by a larger slope. */
static void align(struct lines *lines, int *n, bool biased)
{
    int largest = 0, common = 127;
    for (int i = 0; i < lines->count; i++) {
        shorten(&lines->lines[i], &n[i], biased);
        largest = n[i] > largest ? n[i] : largest;
    }
    for (int i = 0; i < lines->count; i++) {
        struct line *line = &lines->lines[i];
        const wide factor = (wide)1 << (largest - n[i]);
        line->slope *= factor;
        if (biased)
            line->offset *= factor;
        const int slope = zero_bits(line->slope, common), offset = biased ? zero_bits(line->offset, common) : common;
        common = slope < offset ? slope : offset;
    }
    if (common == 127) /* no slopes at all */
        common = largest;
    for (int i = 0; i < lines->count; i++) {
        lines->lines[i].slope >>= common;
        if (biased)
            lines->lines[i].offset >>= common;
    }
    lines->right = largest > common ? largest - common : 0;
    lines->left = common > largest ? common - largest : 0;
}

static void set_amounts(struct lines *lines, const int *n)
{
    int smallest = n[0];
    for (int i = 0; i < lines->count; i++)
        smallest = n[i] < smallest ? n[i] : smallest;
    for (int i = 0; i < lines->count; i++) {
        lines->lines[i].amount = n[i] - smallest;
        lines->max_amount = lines->lines[i].amount > lines->max_amount ? lines->lines[i].amount : lines->max_amount;
    }
    lines->right = smallest > 0 ? smallest : 0;
    lines->left = smallest < 0 ? -smallest : 0;
}

int lines_make(const struct table *table, bool aligned, struct lines *lines, struct diag *diag)
{
    const struct tensor codes = table_segment_codes(table);
    const size_t count = (size_t)table->segment_count;
    *lines = (struct lines){.count = table->segment_count,
                            .lines = calloc(count, sizeof *lines->lines),
                            .shift = table->has_fold ? codes.zero_point : 0,
                            .zero = table->has_fold ? 0 : codes.zero_point,
                            .few_terms = true};
    int *n = calloc(count, sizeof *n);
    if (!lines->lines || !n) {
        free(n);
        return diag_set(diag, EXIT_IO, "out of memory for %zu segments", count);
    }
    for (int i = 0; i < lines->count; i++)
        make_line(table, &codes, i, lines, &n[i]);
    set_constants(table, lines, n);
    if (aligned)
        align(lines, n, table->form == PWL_BIASED);
    else
        set_amounts(lines, n);
    free(n);
    for (int i = 0; i < lines->count; i++) {
        struct terms terms;
        lines->few_terms = lines->few_terms && slope_terms(lines->lines[i].slope, &terms);
    }
    return EXIT_DONE;
}

void lines_free(struct lines *lines)
{
    free(lines->lines);
    lines->lines = NULL;
}
