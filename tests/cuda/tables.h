/* SPDX-License-Identifier: Apache-2.0 */
/* Random tables that pass the proof, with as many segments as are asked for. */
#ifndef TABLES_H
#define TABLES_H

#ifndef MADE_MAX_SEGMENTS
#define MADE_MAX_SEGMENTS PWL_MAX_SEGMENTS
#endif

#include <pwl/pwl.h>

#include "../unit/made_table.h"

/* Beyond so many segments, drawing any line until it passes takes too long. */
#define ANY_LINE_SEGMENTS 512

/* A line that passes wherever the zero point and the fold leave some room. */
static inline void draw_gentle_line(struct made_table *made, uint64_t *state, int i)
{
    const int bits = 8 << made->table.storage;
    made->q_b[i] = random_in(state, -8, 7);
    made->n[i] = random_in(state, 0, 3);
    made->offset[i] = random_width(state, bits - 1);
}

/* Fields drawn at large, then line after line anew until each passes; 0 when some line never does. */
static inline int settle_lines(struct made_table *made, uint64_t *state)
{
    pwl_proof proof;
    int tries = 0, last = -1;
    if (made->table.segments > ANY_LINE_SEGMENTS) {
        for (int i = 0; i < made->table.segments; i++)
            draw_gentle_line(made, state, i);
    }
    while (pwl_table_check(made_pack(made), &proof) != PWL_OK) {
        tries = proof.segment == last ? tries + 1 : 0;
        last = proof.segment;
        if (last < 0 || tries > 64 || made->table.segments > ANY_LINE_SEGMENTS)
            return 0;
        made_random_line(made, state, last);
    }
    return 1;
}

/* Over at most `codes` codes; of at least `fewest` segments, each of at most `longest` codes. */
static inline const pwl_table *draw_table(struct made_table *made, uint64_t *state, pwl_storage storage, pwl_form form,
                                          pwl_rounding rounding, int fold, int64_t codes, int64_t longest, int fewest)
{
    do {
        made_random_dense(made, state, storage, form, rounding, fold, codes, longest);
    } while (made->table.segments < fewest || !settle_lines(made, state));
    return &made->table;
}

#endif
