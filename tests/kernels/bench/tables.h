/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that benchmarks evaluate: those that are shipped, and one of 64 segments. */
#ifndef BENCH_TABLES_H
#define BENCH_TABLES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../map/tables.h"
#include "luts.h"

static inline const pwl_table *shipped(const char *name)
{
    for (int i = 0; luts[i].table; i++)
        if (!strcmp(luts[i].name, name))
            return luts[i].table;
    fprintf(stderr, "no shipped table %s\n", name);
    exit(1);
}

/* Starts at random over all codes of s16; values reach `most`, that of 8 or 16 bits. */
static inline void draw_segments(struct made_table *made, int segments, int most, uint64_t *state)
{
    const int width = 65536 / segments, less = most == INT8_MAX ? 8 : 0;
    *made = (struct made_table){.table = {.version = PWL_TABLE_VERSION,
                                          .storage = PWL_INT16,
                                          .segments = segments,
                                          .qmin_x = INT16_MIN,
                                          .qmax_x = INT16_MAX,
                                          .qmin_y = -most - 1,
                                          .qmax_y = most}};
    for (int i = 0; i < segments; i++) {
        made->start[i] = INT16_MIN + width * i + (i ? random_in(state, -width * 2 / 5, width * 2 / 5) : 0);
        made->q_b[i] = random_in(state, -20000, 20000);
        made->n[i] = random_in(state, 13 + less, 18 + less);
        made->offset[i] = random_in(state, -(20000 >> less), 20000 >> less);
    }
    if (pwl_table_check(made_pack(made), NULL) != PWL_OK)
        exit(1);
}

static inline void draw_64_segments(struct made_table *made, uint64_t *state)
{
    draw_segments(made, 64, INT16_MAX, state);
}

#endif
