/* SPDX-License-Identifier: Apache-2.0 */
/* Random tables that pass the proof, with as many segments as are asked for. */
#ifndef TABLES_H
#define TABLES_H

#ifndef MADE_MAX_SEGMENTS
#define MADE_MAX_SEGMENTS PWL_MAX_SEGMENTS
#endif

#include <pwl/pwl.h>

#include "../../support/made_table.h"

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

/* From all codes of 16 bits, in up to `most` segments that rise by at most one for each code, as those of functions do,
 * and are not much shorter than each other. Half of the slopes end in zeros, which makes ties. */
static inline const pwl_table *draw_smooth_table(struct made_table *made, uint64_t *state, pwl_form form,
                                                 pwl_rounding rounding, int fold, int most)
{
    const int is_unsigned = (int)(random_bits(state) % 2), unsigned_y = (int)(random_bits(state) % 2);
    pwl_table *const table = &made->table;
    memset(made, 0, sizeof *made);
    table->version = PWL_TABLE_VERSION;
    table->storage = PWL_INT16;
    table->form = (uint8_t)form;
    table->rounding = (uint8_t)rounding;
    table->flags = (uint16_t)((is_unsigned ? PWL_FLAG_UNSIGNED_X : 0) | (fold ? PWL_FLAG_FOLD : 0));
    table->qmin_x = is_unsigned ? 0 : INT16_MIN;
    table->qmax_x = table->qmin_x + UINT16_MAX;
    table->qmin_y = unsigned_y ? 0 : INT16_MIN;
    table->qmax_y = table->qmin_y + (random_bits(state) % 2 ? UINT16_MAX : random_in(state, 0, UINT16_MAX));
    table->zp_x = table->qmin_x + 32768;
    table->fold_sum = fold ? random_in(state, -40000, 40000) : 0;
    table->segments = (uint16_t)random_in(state, 1, most);
    const int64_t first = fold ? table->zp_x : table->qmin_x, apart = (table->qmax_x + 1 - first) / table->segments;
    for (int i = 0; i < table->segments; i++) {
        const int drawn = (int)(random_bits(state) % 18), few_bits = drawn % 9;
        made->start[i] = first + apart * i + (i ? random_in(state, 0, apart / 4 * 3) : 0);
        made->q_b[i] = (random_in(state, -32767, 32767) >> few_bits) * (drawn < 9 ? 1 : 1 << few_bits);
        made->n[i] = random_in(state, 15, 20);
        made->offset[i] = random_in(state, table->qmin_y, table->qmax_y);
        if (form == PWL_BIASED)
            made->offset[i] *= 1 << (made->n[i] - 7);
    }
    if (pwl_table_check(made_pack(made), NULL) != PWL_OK)
        __builtin_trap(); /* without a library too */
    return table;
}

#endif
