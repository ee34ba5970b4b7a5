/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why no kind leaves its type: the bounds that every kind builds on, and what each asks for beyond them.
 *
 * Let w be the accumulator's bits (32; 64 for storage INT32), A the sum that the table's segment shifts at a code u
 * which a plain line (plain.h) serves, half = 2^(n - 1), and p = slope * u + pre, modulo 2^w and read as signed. For
 * every table that pwl_table_check() accepts:
 *
 * (1) p is equal to a true sum: to A * 2^-n where n < 0, to A + half where half_up adds it, else to A; or to -1 less
 * that, for a mirrored line that rounds down, which fits wherever the sum does. The check bounds each of these to w
 * bits at its own step, and what fits is equal to what is left modulo 2^w, whatever its parts do.
 *
 * (2) Where n > 0, p + half fits when rounding to even, and |p| + half away from zero: what the check asks of the
 * addend. It asks nothing of -p + half. Even -p does not fit for p = -2^(w - 1).
 *
 * (3) shr(p, n) + post, or post - shr(p, n) of a negated line, is the value before saturation, which the check bounds
 * to w bits as the sum, or as the fold.
 *
 * (4) Along a line p and the value are monotone in u, so that they lie between what they are at its two ends.
 *
 * Kinds "bytes", "values" and "cells" compute p, shr and the value in w bits, for which (1) to (3) are enough.
 *
 * "narrow" and "cells16" do so in 32 bits, and values of unsigned arrays are less by 2^15: a value less that has to fit
 * too. Where post is part of pre, p + post * 2^n has to; (2) is not needed then, since these lines are rounded down.
 *
 * "wide" is as "narrow", in 64 bits with 2^31.
 *
 * "pieces" shifts p' without a sign: p with its addend for away from zero; or -1 less that, or to even -p, of a negated
 * line. The low 16 bits of p' >> n are used. For n < 16 they come from bits 0 to 30 of p', which are right modulo 2^32.
 * For n >= 16 they hold all that is left of p', so that p' + base, and to even p' + base + half, has to lie in
 * [0, 2^32), for one base, 2^31 or 0. By (2) negated lines to even may have none, and by parity some with n = 31.
 *
 * A kind asks pwl_bounds_of(), and leaves a table with a line that does not fit to other kinds: "values" serves every
 * table for arrays of up to 16 bits, "cells" every table.
 */
#ifndef PWL_BOUNDS_H
#define PWL_BOUNDS_H

#include <pwl/plain.h>

typedef struct pwl_bounds {
    int64_t least_sum, greatest_sum;     /* of p */
    int64_t least_value, greatest_value; /* before saturation */
} pwl_bounds;

/* Of a plain line of a checked table over the codes first to last, which it serves. */
pwl_bounds pwl_bounds_of(const pwl_table *table, const pwl_plain64 *line, uint32_t first, uint32_t last);

#endif
