/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a sigmoid with as many segments as are asked for: chords of segments of equal length, or of segments that
 * double their length from one to the next. Whoever includes this makes room by MADE_MAX_SEGMENTS and links libm. */
#ifndef CURVE_TABLE_H
#define CURVE_TABLE_H

#include <math.h>
#include <stdlib.h>

#include "../support/made_table.h"

/* The curve over codes of `bits` bits: inputs of -8 to 8, outputs of the whole signed range. */
static inline double curve(double code, int bits)
{
    const double x = code / ldexp(1, bits - 4);
    return ldexp(1 / (1 + exp(-x)) - 0.5, bits);
}

/* Fills *made; its table has passed pwl_table_check(). */
static inline const pwl_table *curve_table(struct made_table *made, pwl_storage storage, pwl_rounding rounding,
                                           int segments, int skewed)
{
    const int bits = 8 << storage, n = bits - 3;
    const double low = -ldexp(1, bits - 1), codes = ldexp(1, bits);
    *made = (struct made_table){.table = {.version = PWL_TABLE_VERSION,
                                          .storage = (uint8_t)storage,
                                          .form = PWL_ABSOLUTE,
                                          .rounding = (uint8_t)rounding,
                                          .segments = (uint16_t)segments,
                                          .qmin_x = (int64_t)low,
                                          .qmax_x = (int64_t)-low - 1,
                                          .qmin_y = (int64_t)low,
                                          .qmax_y = (int64_t)-low - 1}};
    for (int i = 0; i < segments; i++) {
        /* Skewed: knots lie at 2^-(bits - 1) to 1 of the range, by equal ratios. */
        const double at = i == 0   ? 0
                          : skewed ? pow(2, (double)(bits - 1) * ((double)i / segments - 1)) - 1 / codes
                                   : (double)i / segments;
        made->start[i] = (int64_t)low + (int64_t)(at * codes);
        if (i > 0 && made->start[i] <= made->start[i - 1])
            made->start[i] = made->start[i - 1] + 1;
    }
    for (int i = 0; i < segments; i++) {
        const double first = (double)made->start[i];
        const double last = i + 1 < segments ? (double)made->start[i + 1] : -low;
        const double slope = (curve(last, bits) - curve(first, bits)) / (last - first);
        made->q_b[i] = llrint(ldexp(slope, n));
        made->n[i] = n;
        made->offset[i] = llrint(curve(first, bits) - ldexp((double)made->q_b[i] * first, -n));
    }
    if (pwl_table_check(made_pack(made), NULL) != PWL_OK)
        abort();
    return &made->table;
}

#endif
