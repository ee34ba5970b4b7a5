/* SPDX-License-Identifier: 0BSD */
/*
 * An activation on all cores: a plan is only read once it is made, so that any number of threads runs one, each on a
 * part of the array. Parts are multiples of 64 bytes, or threads would write to one line of the cache by turns.
 *
 *   cc -std=c11 -O2 -fopenmp -Iluts examples/openmp_map.c $(pkg-config --cflags --libs pwl) -o openmp_map
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/plan.h>

#include "pwl_sigmoid_s16.h"

#define COUNT ((size_t)1 << 22)
#define PART ((size_t)1 << 16)

static void map_on_all_cores(const pwl_plan *plan, const int16_t *x, int16_t *y, size_t count)
{
    const long parts = (long)((count + PART - 1) / PART);
#pragma omp parallel for schedule(static)
    for (long part = 0; part < parts; part++) {
        const size_t first = (size_t)part * PART, left = count - first;
        pwl_run(plan, x + first, y + first, left < PART ? left : PART);
    }
}

int main(void)
{
    const pwl_table *const table = &pwl_sigmoid_s16;
    const size_t bytes = pwl_plan_size(table, PWL_S16, PWL_S16, PWL_LEVELS_ALL);
    int16_t *const x = aligned_alloc(64, COUNT * sizeof *x), *const y = aligned_alloc(64, COUNT * sizeof *y);
    int16_t *const expected = aligned_alloc(64, COUNT * sizeof *expected);
    void *const memory = malloc(bytes ? bytes : 1);
    pwl_plan plan;
    int failed = 1;
    if (!x || !y || !expected || !memory) {
        fprintf(stderr, "openmp_map: out of memory\n");
        goto done;
    }
    if (pwl_table_check(table, NULL) != PWL_OK ||
        pwl_plan_init(&plan, memory, bytes, table, PWL_S16, PWL_S16, PWL_LEVELS_ALL) != PWL_OK) {
        fprintf(stderr, "openmp_map: the table cannot be used\n");
        goto done;
    }
    for (size_t k = 0; k < COUNT; k++)
        x[k] = (int16_t)(k * 40503 >> 5);
    map_on_all_cores(&plan, x, y, COUNT - 7);
    pwl_run(&plan, x, expected, COUNT - 7);
    failed = memcmp(y, expected, (COUNT - 7) * sizeof *y) != 0;
    printf("%zu codes by %s: %s\n", COUNT - 7, pwl_plan_way(&plan), failed ? "they differ" : "as by one thread");
done:
    free(x);
    free(y);
    free(expected);
    free(memory);
    return failed;
}
