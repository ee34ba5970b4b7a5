/* SPDX-License-Identifier: Apache-2.0 */
/* Proven tables of as many segments as a test asks for. */
#ifndef DRAWN_TABLE_H
#define DRAWN_TABLE_H

#include "made_table.h"
#include "typed_array.h"

/* A proven table of about `most` segments, as far as MADE_MAX_SEGMENTS and the codes allow, whose output codes are of
 * the type. */
static inline void draw_table(struct made_table *made, uint64_t *state, pwl_storage storage, struct type_limits out,
                              int most)
{
    const int64_t half = (int64_t)1 << ((8 << storage) - 1);
    for (;;) {
        const uint64_t choice = random_bits(state);
        const int64_t codes = 2 * half >> (random_bits(state) % 4 ? 0 : random_bits(state) % 6);
        pwl_proof proof;
        int tries = 0, last = -1;
        made_random_dense(made, state, storage, (pwl_form)(choice % 3), (pwl_rounding)(choice / 3 % 4),
                          (int)(choice / 12 % 2), codes, 1 + codes * 2 / most);
        made->table.qmin_y = out.min < -half ? -half : out.min;
        made->table.qmax_y = made->table.qmin_y < 0 ? half - 1 : 2 * half - 1;
        if (made->table.qmax_y > out.max)
            made->table.qmax_y = out.max;
        while (pwl_table_check(made_pack(made), &proof) != PWL_OK) {
            tries = proof.segment == last ? tries + 1 : 0;
            last = proof.segment;
            if (last < 0 || tries > 64)
                break;
            made_random_line(made, state, last);
        }
        if (pwl_table_check(&made->table, NULL) == PWL_OK)
            return;
    }
}

#endif
