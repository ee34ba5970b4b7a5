/* SPDX-License-Identifier: Apache-2.0 */
/* Tables at the ends of the proof: products, sums, addends, shifted values and folds within a few units of what
 * pwl_table_check() accepts. */
#ifndef EXTREME_TABLE_H
#define EXTREME_TABLE_H

#include "made_table.h"

static inline int made_passes(struct made_table *made)
{
    return pwl_table_check(made_pack(made), NULL) == PWL_OK;
}

/* Sets a field, if the table passes with it. */
static inline void made_try(struct made_table *made, int64_t *field, int64_t v)
{
    const int64_t before = *field;
    *field = v;
    if (!made_passes(made))
        *field = before;
}

/* Half the way from a to b, towards a. */
static inline int64_t half_way(int64_t a, int64_t b)
{
    return a < b ? a + (int64_t)(((uint64_t)b - (uint64_t)a) / 2) : a - (int64_t)(((uint64_t)a - (uint64_t)b) / 2);
}

/* Moves a field of a table that passes towards `end` as far as the table passes, but for up to 3 units: a limit of the
 * arithmetic lets pass an interval. */
static inline void made_push(struct made_table *made, uint64_t *state, int64_t *field, int64_t end)
{
    int64_t good = *field, bad = end;
    const int64_t back = (int64_t)(random_bits(state) % 4), before = good;
    made_try(made, field, end);
    if (*field == end)
        good = end;
    while (good != end && half_way(good, bad) != good) {
        *field = half_way(good, bad);
        if (made_passes(made))
            good = *field;
        else
            bad = *field;
    }
    *field = good;
    if ((good > before ? (uint64_t)good - (uint64_t)before : (uint64_t)before - (uint64_t)good) >= (uint64_t)back)
        made_try(made, field, good > before ? good - back : good + back);
}

/* Pushes one field of the table or of segment i, up or down. */
static inline void made_push_any(struct made_table *made, uint64_t *state, int i)
{
    pwl_table *const table = &made->table;
    const int bits = 8 << table->storage, acc_bits = table->storage == PWL_INT32 ? 64 : 32;
    const int offset_bits = table->form == PWL_BIASED ? acc_bits : table->storage == PWL_INT32 ? 48 : 2 * bits;
    const int zero_bits = table->storage == PWL_INT32 ? 63 : 2 * bits;
    const struct {
        int64_t *field;
        int bits;
    } fields[] = {{&made->offset[i], offset_bits},
                  {&made->offset[i], offset_bits},
                  {&made->q_b[i], bits},
                  {&table->fold_sum, acc_bits},
                  {&table->zp_x, zero_bits}};
    const int fold = (table->flags & PWL_FLAG_FOLD) != 0; /* a fold's zero point is its first start */
    const int k = (int)(random_bits(state) % 4), field = k == 3 && !fold ? 4 : k;
    const int64_t max = (int64_t)(UINT64_MAX >> (65 - fields[field].bits));
    made_push(made, state, fields[field].field, random_bits(state) % 2 ? max : -max - 1);
}

/* A few segments over at most `codes` codes. */
static inline void draw_extreme(struct made_table *made, uint64_t *state, pwl_storage storage, pwl_form form,
                                pwl_rounding rounding, int fold, int64_t codes)
{
    const int max_n = storage == PWL_INT32 ? 63 : 31;
    int i, k;
    do {
        made_random_dense(made, state, storage, form, rounding, fold, codes, codes);
        made->table.fold_sum = 0;
        for (i = 0; i < made->table.segments; i++)
            made->q_b[i] = made->n[i] = made->offset[i] = 0;
    } while (made->table.segments > 4 || !made_passes(made));
    for (i = 0; i < made->table.segments; i++) {
        static const struct {
            int min, max;
        } thirds[] = {{-3, -1}, {0, 0}, {1, 3}, {1, 3}};
        k = (int)(random_bits(state) % 4);
        made_try(made, &made->n[i], random_in(state, thirds[k].min * max_n / 3, thirds[k].max * max_n / 3));
        made_try(made, &made->q_b[i], random_field(state, 8 << storage));
        for (k = 0; k < 3; k++)
            made_push_any(made, state, i);
    }
    made_pack(made);
}

#endif
