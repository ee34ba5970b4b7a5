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

/* Starts at random over all codes of s16. */
static inline void draw_64_segments(struct made_table *made, uint64_t *state)
{
    *made = (struct made_table){.table = {.version = PWL_TABLE_VERSION,
                                          .storage = PWL_INT16,
                                          .segments = 64,
                                          .qmin_x = INT16_MIN,
                                          .qmax_x = INT16_MAX,
                                          .qmin_y = INT16_MIN,
                                          .qmax_y = INT16_MAX}};
    for (int i = 0; i < 64; i++) {
        made->start[i] = INT16_MIN + 1024 * i + (i ? random_in(state, -400, 400) : 0);
        made->q_b[i] = random_in(state, -20000, 20000);
        made->n[i] = random_in(state, 13, 18);
        made->offset[i] = random_in(state, -20000, 20000);
    }
    if (pwl_table_check(made_pack(made), NULL) != PWL_OK)
        exit(1);
}

#endif
