/* SPDX-License-Identifier: Apache-2.0 */
#include "compact.h"

#define MOST_FRACTION 14 /* leaves values 18 bits */

/* Offsets with which a slope gives the right values, and the codes that bound them. */
typedef struct offsets {
    int64_t least, most;
    uint32_t least_at, most_at;
} offsets;

/* The line's slope with so many bits below the point; it has at most 32 + 16 + 14 bits. */
static int64_t scaled_slope(const pwl_plain32 *line, uint32_t fraction)
{
    const int32_t slope = (int32_t)(line->n & PWL_PLAIN_NEGATED ? 0 - line->slope : line->slope);
    return slope * (INT64_C(1) << (16 + fraction)) >> (line->n & 31);
}

/* To the next line of the table; 0 after the last. */
static int next_line(pwl_compact_walk *walk)
{
    const pwl_table *const table = walk->table.table;
    if (!walk->has_next)
        return 0;
    walk->line = pwl_plain_cut(&walk->next.of);
    walk->first = (uint32_t)walk->next.start;
    walk->has_next = pwl_plain_next(&walk->table, &walk->next);
    walk->last = (uint32_t)(walk->has_next ? walk->next.start - 1 : (uint64_t)(table->qmax_x - table->qmin_x));
    return 1;
}

static void begin(pwl_compact_walk *walk, const pwl_table *table)
{
    pwl_plain_begin(&walk->table, table);
    walk->has_next = pwl_plain_next(&walk->table, &walk->next);
    walk->first = 1;
    walk->last = 0;
}

/* The most bits below the point that leave all slopes their 32 bits. One code can have any slope. */
static uint32_t fraction_of(const pwl_table *table)
{
    pwl_compact_walk walk;
    uint32_t fraction = MOST_FRACTION;
    begin(&walk, table);
    while (next_line(&walk)) {
        while (walk.first < walk.last && fraction > 0 &&
               scaled_slope(&walk.line, fraction) != (int32_t)scaled_slope(&walk.line, fraction))
            fraction--;
    }
    return fraction;
}

void pwl_compact_begin(pwl_compact_walk *walk, const pwl_table *table, uint32_t shift, int even)
{
    walk->fraction = fraction_of(table);
    walk->shift = shift;
    walk->even = even;
    begin(walk, table);
}

/* Of a slope, for the codes from walk->first to `last`. Before the shift a value q is what lies in [q, q + 1) *
 * 2^fraction; of even lines q + 1 itself as well, but not q, where q + slope is odd, the other way where it is even.
 * Where q saturates, it is what lies anywhere beyond in 32 bits. */
static offsets offsets_of(const pwl_compact_walk *walk, int32_t slope, uint32_t last)
{
    const pwl_table *const table = walk->table.table;
    const int rounding = (int)pwl_plain_rounding_of(table);
    const pwl_compact line = (uint32_t)slope;
    const int64_t one = INT64_C(1) << walk->fraction;
    offsets of = {INT64_MIN, INT64_MAX, 0, 0};
    uint32_t u;
    for (u = walk->first; u <= last; u++) {
        const int64_t q = pwl_sat(pwl_plain_eval32(&walk->line, u, rounding), table->qmin_y, table->qmax_y);
        const int64_t sum = pwl_compact_sum(line, u);
        const int lowered = walk->even && ((q ^ slope) & 1), kept = walk->even && !lowered;
        const int64_t least = (q > table->qmin_y ? q * one + lowered : INT32_MIN) - sum;
        const int64_t most = (q < table->qmax_y ? q * one + one - 1 + kept : INT32_MAX) - sum;
        if (least > of.least) {
            of.least = least;
            of.least_at = u;
        }
        if (most < of.most) {
            of.most = most;
            of.most_at = u;
        }
    }
    return of;
}

/*
 * A line for the codes from walk->first to `last`, of even ones with `odd` as the last bit of its slope; 0 where there
 * is none. How far apart the offsets' bounds are is, but for rounding, a concave function of the slope, and the codes
 * that set them tell to which side it grows: bisection, from the table's slope on, to as far as turns a line by one
 * value over these codes.
 */
static int find_slope(const pwl_compact_walk *walk, uint32_t last, int odd, pwl_compact *found)
{
    const int64_t turn = (INT64_C(1) << (16 + walk->fraction)) / (last - walk->first + 1);
    int64_t slope = pwl_sat(scaled_slope(&walk->line, walk->fraction), INT32_MIN, INT32_MAX);
    int64_t low = pwl_sat(slope - turn, INT32_MIN, INT32_MAX), high = pwl_sat(slope + turn, INT32_MIN, INT32_MAX);
    while (low <= high) {
        if (walk->even && (slope & 1) != odd)
            slope += slope < high ? 1 : -1;
        if (slope < low)
            return 0;
        const offsets of = offsets_of(walk, (int32_t)slope, last);
        if (of.least <= of.most) {
            *found = (uint64_t)of.least << 32 | (uint32_t)slope;
            return 1;
        }
        if (of.least_at > of.most_at)
            low = slope + 1;
        else
            high = slope - 1;
        slope = low + (high - low) / 2;
    }
    return 0;
}

static int find_line(const pwl_compact_walk *walk, uint32_t last, pwl_compact *found)
{
    return find_slope(walk, last, 0, found) || (walk->even && find_slope(walk, last, 1, found));
}

/* The first code of the second half of codes that start at walk->first; walk->first where they cannot be cut. */
static uint32_t second_half(const pwl_compact_walk *walk, uint32_t last)
{
    const uint32_t middle = walk->first + (last - walk->first) / 2;
    uint32_t next = middle >> walk->shift << walk->shift;
    if (next <= walk->first)
        next += UINT32_C(1) << walk->shift;
    return next <= last ? next : walk->first;
}

int pwl_compact_next(pwl_compact_walk *walk, pwl_compact_part *part)
{
    if (walk->first > walk->last && !next_line(walk))
        return 0;
    part->first = walk->first;
    part->last = walk->last;
    while (!find_line(walk, part->last, &part->line)) {
        const uint32_t half = second_half(walk, part->last);
        if (half == walk->first)
            return -1;
        part->last = half - 1;
    }
    walk->first = part->last + 1;
    return 1;
}
