/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cliffs JSON: plans of this tree beside those of an older one, whose functions have the prefix old_, in one
 * process and in turn: where an array's types, a table's size, its rounding or its kind once made plans slow. Medians
 * of nanoseconds per element, codes uniform at random, arrays in cache. See cliffs.sh.
 */
#define MADE_MAX_SEGMENTS 4096
#include <string.h>

#include <pwl/reduce.h>

#include "../../luts/pwl_gelu_s16_1lsb.h"
#include "../../luts/pwl_sigmoid_s16_1lsb.h"
#include "../../luts/pwl_tanh_s16_1lsb.h"
#include "../support/random.h"
#include "curve_table.h"
#include "reduced.h"
#include "works.h"

#include "../../runtime/element.h"

enum { COUNT = 16384 };

pwl_status old_pwl_plan_init(pwl_plan *plan, void *memory, size_t bytes, const pwl_table *table, pwl_type in,
                             pwl_type out, uint32_t levels);
size_t old_pwl_plan_size(const pwl_table *table, pwl_type in, pwl_type out, uint32_t levels);
void old_pwl_reduced_map(const pwl_reduced *reduced, pwl_type in, const void *x, pwl_type out, void *y, size_t count);

static FILE *json;
static int32_t codes[COUNT];

static void run_old_reduced(const struct work *work, const void *x, void *y, size_t count)
{
    old_pwl_reduced_map(work->table, (pwl_type)work->plan.in, x, (pwl_type)work->plan.out, y, count);
}

static void report(const char *name, const struct work *old, const struct work *new)
{
    const double before = old->ns[REPETITIONS / 2], after = new->ns[REPETITIONS / 2];
    printf("| %s | %s | %.3f | %s | %.3f | %.1f |\n", name, old->plan.way, before, new->plan.way, after,
           before / after);
    fprintf(json,
            "{\"bench\": \"cliffs\", \"case\": \"%s\", \"old_way\": \"%s\", \"old_ns\": %.4f, \"way\": \"%s\", "
            "\"ns\": %.4f}\n",
            name, old->plan.way, before, new->plan.way, after);
    fflush(stdout);
}

static void *memory_of(size_t bytes)
{
    void *const memory = malloc(bytes ? bytes : 1);
    if (!memory)
        exit(2);
    return memory;
}

/* Of a table, or of a reduced one; `bits` of its input codes. */
static void bench(const char *name, const pwl_table *table, const pwl_reduced *reduced, int bits, pwl_type in,
                  pwl_type out)
{
    static uint32_t x[COUNT], y[COUNT];
    static struct work works[MOST_WORKS];
    int count = 0;
    struct work *const old = add_work(works, &count, "old", reduced ? run_old_reduced : run_plan, reduced);
    struct work *const new = add_work(works, &count, "new", run_plan, NULL);
    const size_t old_bytes = reduced ? 0 : old_pwl_plan_size(table, in, out, PWL_LEVELS_ALL);
    const size_t new_bytes = reduced ? pwl_reduced_plan_size(reduced, in, out, PWL_LEVELS_ALL)
                                     : pwl_plan_size(table, in, out, PWL_LEVELS_ALL);
    void *const old_memory = memory_of(old_bytes), *const new_memory = memory_of(new_bytes);
    old->plan.in = (uint8_t)in;
    old->plan.out = (uint8_t)out;
    old->plan.way = "pwl_reduced_map";
    if (!reduced && old_pwl_plan_init(&old->plan, old_memory, old_bytes, table, in, out, PWL_LEVELS_ALL) != PWL_OK)
        exit(2);
    if ((reduced ? pwl_reduced_plan_init(&new->plan, new_memory, new_bytes, reduced, in, out, PWL_LEVELS_ALL)
                 : pwl_plan_init(&new->plan, new_memory, new_bytes, table, in, out, PWL_LEVELS_ALL)) != PWL_OK)
        exit(2);
    for (size_t k = 0; k < COUNT; k++)
        pwl_set_element_of(in, x, k, (int64_t)codes[k] >> (32 - bits));
    measure(works, count, x, y, COUNT, COUNT);
    report(name, old, new);
    free(old_memory);
    free(new_memory);
}

/* pwl_map_*() of `count` codes, by plans without memory. */
static void bench_short(const char *name, const pwl_table *table, pwl_type type, size_t count)
{
    static uint32_t x[COUNT], y[COUNT];
    static struct work works[MOST_WORKS];
    char title[80];
    int n = 0;
    struct work *const old = add_work(works, &n, "old", run_plan, NULL);
    struct work *const new = add_work(works, &n, "new", run_plan, NULL);
    if (old_pwl_plan_init(&old->plan, NULL, 0, table, type, type, PWL_LEVELS_ALL) != PWL_OK ||
        pwl_plan_init(&new->plan, NULL, 0, table, type, type, PWL_LEVELS_ALL) != PWL_OK)
        exit(2);
    for (size_t k = 0; k < count; k++)
        pwl_set_element_of(type, x, k, (int64_t)codes[k] >> (32 - (8 << pwl_type_bytes_log2(type))));
    measure(works, n, x, y, count, COUNT);
    snprintf(title, sizeof title, "%s, %zu codes", name, count);
    report(title, old, new);
}

static void bench_short_arrays(void)
{
    static const size_t counts[] = {16, 64, 140, 160, 319, 320, 1024, 4096};
    static struct made_table made[2];
    curve_table(&made[0], PWL_INT8, PWL_FLOOR, 16, 0);
    curve_table(&made[1], PWL_INT16, PWL_FLOOR, 16, 0);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        bench_short("s8, 16 lines", &made[0].table, PWL_S8, counts[k]);
        bench_short("s16, 16 lines", &made[1].table, PWL_S16, counts[k]);
        bench_short("sigmoid_s16_1lsb", &pwl_sigmoid_s16_1lsb, PWL_S16, counts[k]);
    }
}

static void bench_curve(int storage, pwl_rounding rounding, int segments, int in, int out)
{
    static const char *const roundings[] = {"", ", half_up", ", half_away", ", half_even"};
    static struct made_table made;
    const int bits = 8 << storage;
    char name[80];
    curve_table(&made, (pwl_storage)storage, rounding, segments, 0);
    if (8 << out < bits) { /* outputs are cut to the array's */
        made.table.qmin_y = -((int64_t)1 << ((8 << out) - 1));
        made.table.qmax_y = -made.table.qmin_y - 1;
    }
    snprintf(name, sizeof name, "s%d to s%d, INT%d, %d lines%s", 8 << in, 8 << out, bits, segments,
             roundings[rounding]);
    bench(name, &made.table, NULL, bits < 8 << in ? bits : 8 << in, (pwl_type)(2 * in), (pwl_type)(2 * out));
}

int main(int argc, char **argv)
{
    uint64_t state = 1;
    if (argc != 2 || !(json = fopen(argv[1], "w"))) {
        fprintf(stderr, "usage: %s JSON\n", argv[0]);
        return 2;
    }
    for (size_t k = 0; k < COUNT; k++)
        codes[k] = (int32_t)(uint32_t)(random_bits(&state) >> 32);
    printf("| | before | ns | now | ns | times as quick |\n|---|---|---:|---|---:|---:|\n");
    for (int segments = 16; segments <= 4096; segments *= segments < 64 ? 2 : 4)
        bench_curve(2, PWL_FLOOR, segments, 2, 2);
    for (int types = 0; types < 9; types++)
        bench_curve(types % 4 == 0 ? types / 4 : 1, PWL_FLOOR, 16, types / 3, types % 3);
    bench_curve(0, PWL_FLOOR, 16, 0, 1);
    bench_curve(0, PWL_FLOOR, 16, 2, 0);
    for (int segments = 32; segments <= 128; segments += 32)
        bench_curve(1, PWL_FLOOR, segments, 1, 1);
    for (int segments = 128; segments <= 256; segments *= 2) /* what registers hold, and a line more */
        for (int more = 0; more < 2; more++)
            bench_curve(1, PWL_FLOOR, segments + more, 2, 2);
    bench("gelu_s16_1lsb", &pwl_gelu_s16_1lsb, NULL, 16, PWL_S16, PWL_S16);
    bench("sigmoid_s16_1lsb", &pwl_sigmoid_s16_1lsb, NULL, 16, PWL_S16, PWL_S16);
    bench("tanh_s16_1lsb", &pwl_tanh_s16_1lsb, NULL, 16, PWL_S16, PWL_S16);
    for (int storage = 1; storage <= 2; storage++)
        for (int rounding = PWL_FLOOR; rounding <= PWL_HALF_EVEN; rounding++)
            bench_curve(storage, (pwl_rounding)rounding, 16, storage, storage);
    bench_curve(0, PWL_FLOOR, 16, 1, 1);
    bench_short_arrays();
    bench("reduced sqrt, u16 to u16", &pwl_sqrt_u16.core, &pwl_sqrt_u16, 16, PWL_U16, PWL_U16);
    bench("reduced sqrt, u32 to u16", &pwl_sqrt_u32.core, &pwl_sqrt_u32, 32, PWL_U32, PWL_U16);
    bench("reduced exp, s32 to u32", &pwl_exp_s32.core, &pwl_exp_s32, 32, PWL_S32, PWL_U32);
    return ferror(json) | fclose(json) ? 2 : 0;
}
