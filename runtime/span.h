/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all kinds that evaluate lines share: a table's lines in their last form, with the codes that each serves, and
 * the search for a line.
 *
 * Codes are counted from the middle of the array's type, s; so are values. Of the plain lines (plain.h) nothing is left
 * but two roundings, and no value is negated any more:
 *
 *   value = (P >> n) + post, P = slope * s + pre                        floor, half_up, half_away
 *   value = tie ? (P >> n & ~1) + post : (P >> n) + post                half_even
 *
 * where a tie is a P whose n low bits are 0, if n > 0. With p what a plain line shifts, and half = 2^(n - 1), or 0 for
 * n = 0:
 *
 *   half_away   P = p + half for p >= 0, p + half - 1 for p < 0: a line is cut in two where p changes its sign
 *   half_even   P = p + half: halves up, and from an odd value down again where that was a tie
 *   negated     -(P >> n) = (~P >> n) + 1; of half_even, which is symmetrical, P = -p + half
 *
 * Why no kind leaves its type. Let w be the accumulator's bits (32; 64 for storage INT32) and A the sum that the
 * table's segment shifts. For every table that pwl_table_check() accepts:
 *
 * (1) p is equal to a true sum: to A * 2^-n where n < 0, to A + half where half_up adds it, else to A; or to -1 less
 * that, for a mirrored line that rounds down, which fits wherever the sum does. The check bounds each of these to w
 * bits at its own step, and what fits is equal to what is left modulo 2^w, whatever its parts do; modulo 2^64 too.
 *
 * (2) Where n > 0, p + half fits when rounding to even, and |p| + half away from zero: what the check asks of the
 * addend. So P fits, but for -p + half, of which the check asks nothing: it may have w + 1 bits.
 *
 * (3) The value is what the table has before saturation, which the check bounds to w bits as the sum, or as the fold.
 *
 * (4) Along a line P and the value are monotone in s, so that they lie between what they are at its two ends.
 *
 * Kinds "bytes" and "values" evaluate nothing but pwl_eval() and pwl_reduced_eval(). The others:
 *
 * "cells" and "wide" compute P and the value in 64 bits. Where values are less by 2^31, for unsigned arrays, these have
 * to fit too. What has 65 bits, of INT32 alone, `fits` tells of.
 *
 * "octaves" takes the core's values from "cells"; they, r * addend and half are bounded to 62 bits by
 * pwl_reduced_check().
 *
 * "narrow" and "cells16" do so in 32 bits, with 2^15. Where post is part of pre, P + post * 2^n has to fit.
 *
 * "pieces" shifts P without a sign, and uses the low 16 bits of P >> n. For n < 16 they come from bits 0 to 30 of P,
 * which are right modulo 2^32. For n >= 16 they hold all that is left of P, so that P + base has to lie in [0, 2^32),
 * for one base, 2^31 or 0; 2^31 / 2^n has to be even where ties are rounded to even.
 *
 * A kind leaves a table with a line that does not fit to other kinds, or to pwl_map_*().
 */
#ifndef PWL_SPAN_H
#define PWL_SPAN_H

#include <pwl/plain.h>

#include "kind.h"

typedef struct pwl_span {
    /* s of the lowest and of the highest code, which may lie beyond the type's ends. */
    int64_t first, last;
    /* Modulo 2^64, of which modulo 2^32 is a part. */
    uint64_t slope, pre, post;
    int n;
    /* P and, from 0, values at the ends, in ascending order; P only where it is an int64, which `fits` tells. */
    int64_t least_sum, greatest_sum, least_value, greatest_value;
    int fits;
} pwl_span;

typedef struct pwl_span_walk {
    const pwl_job *job;
    pwl_plain_walk lines;
    pwl_plain_line line[2]; /* the one that spans are made of, and the one after it, in turn */
    int turn, more, follows;
    uint64_t next;  /* u that the next span starts at */
    int64_t from_s; /* u - s */
} pwl_span_walk;

void pwl_span_begin(pwl_span_walk *walk, const pwl_job *job);

/* The next span that a code of the array's type can reach, once clamped; 0 after the last. */
int pwl_span_next(pwl_span_walk *walk, pwl_span *next);

/* Spans of a table over all its codes: at least as many as of any job. */
uint32_t pwl_span_count(const pwl_table *table);

static inline int pwl_is_even(const pwl_table *table)
{
    return table->rounding == PWL_HALF_EVEN;
}

/* P at s, where it fits. */
static inline int64_t pwl_span_sum(const pwl_span *span, int64_t s)
{
    return (int64_t)(span->slope * (uint64_t)s + span->pre);
}

/* P >> n, by the rounding. A shift by (64 - n) % 64 leaves the low n bits, and all for n = 0: P is 0 then where it
 * counts as a tie. */
static inline int64_t pwl_span_shift(int64_t sum, int n, int even)
{
    const int64_t shifted = sum >> n;
    return even && (uint64_t)sum << (-n & 63) == 0 ? shifted & ~(int64_t)1 : shifted;
}

/* The same for P of 32 bits. */
static inline int32_t pwl_span_shift32(int32_t sum, int n, int even)
{
    const int32_t shifted = sum >> n;
    return even && (uint32_t)sum << (-n & 31) == 0 ? shifted & ~1 : shifted;
}

/* Whether P and values from the middle are int64. */
int pwl_span_is_wide(const pwl_span_walk *walk, const pwl_span *span);

/* Whether some code of the table is one of the array's type, so that clamping codes to the table's is clamping them to
 * codes of the type. */
int pwl_span_overlaps(const pwl_job *job);

/* v clipped to signed integers of the job's input. */
int64_t pwl_span_clip(const pwl_job *job, int64_t v);

/*
 * Where the search for the line of s starts, for codes in cells of 2^cell_bits from `lowest`: cell[k], of the type
 * said, is the line of the first code of cell k, or an earlier one. With the steps returned, for step = steps - 1 ...
 * 0, if s > last[i + 2^step - 1] then i += 2^step, it ends at the line of s, and no index reaches `capacity`. last[]
 * holds `capacity` codes, the type's highest from the last line on; cells beyond it are never asked.
 */
int pwl_span_cells(const int32_t *last, uint32_t capacity, int64_t lowest, int cell_bits, uint32_t cells, pwl_type type,
                   void *cell);

#endif
