/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cpu JSON: every way of mapping arrays that this machine has, beside what programs do without it, over arrays in
 * the L1 cache, in the L2 cache and in memory. All works of a row take turns, so that they see the same machine;
 * medians of nanoseconds per element and the span from the 10th to the 90th percentile. Codes are uniform at random.
 * Values are compared with the runtime's. The sigmoids in tables.h have 8 to 256 segments; see bench.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/plan.h>

#include "../../runtime/ways.h"
#include "../support/random.h"
#include "baselines.h"
#include "tables.h"
#include "works.h"

/* Beyond so many times the time of memcpy() in the L2 cache, it makes no difference that arrays lie in memory. */
#define SLOW 40

static FILE *json;
static const char *machine;

static void run_copy_8(const struct work *work, const void *x, void *y, size_t count)
{
    (void)work;
    memcpy(y, x, count);
}

static void run_copy_16(const struct work *work, const void *x, void *y, size_t count)
{
    (void)work;
    memcpy(y, x, 2 * count);
}

static void run_copy_32(const struct work *work, const void *x, void *y, size_t count)
{
    (void)work;
    memcpy(y, x, 4 * count);
}

static void run_scan_8(const struct work *work, const void *x, void *y, size_t count)
{
    scan_s8(work->table, x, y, count);
}

static void run_scan_16(const struct work *work, const void *x, void *y, size_t count)
{
    scan_s16(work->table, x, y, count);
}

static void run_scan_32(const struct work *work, const void *x, void *y, size_t count)
{
    scan_s32(work->table, x, y, count);
}

static void run_bytes(const struct work *work, const void *x, void *y, size_t count)
{
    bytes_s8(work->table, x, y, count);
}

static void run_interpolation(const struct work *work, const void *x, void *y, size_t count)
{
    interpolate_s16(work->table, x, y, count);
}

static void run_gather(const struct work *work, const void *x, void *y, size_t count)
{
    (void)gather_s16(work->table, x, y, count);
}

static void run_libm(const struct work *work, const void *x, void *y, size_t count)
{
    (void)work;
    libm_s16(x, y, count);
}

/* Keeps what is not slow; how much that is. */
static int drop_slow(struct work *works, int count)
{
    double copy = 0;
    int kept = 0;
    for (int w = 0; w < count; w++)
        if (!strcmp(works[w].name, "memcpy"))
            copy = works[w].ns[REPETITIONS / 2];
    for (int w = 0; w < count; w++)
        if (works[w].ns[REPETITIONS / 2] < SLOW * copy)
            works[kept++] = works[w];
    return kept;
}

static int64_t code_at(pwl_type type, const void *array, size_t k)
{
    return type == PWL_S8    ? ((const int8_t *)array)[k]
           : type == PWL_S16 ? ((const int16_t *)array)[k]
                             : ((const int32_t *)array)[k];
}

/* Exits unless the plan gives the runtime's values. */
static void check(const struct work *work, const pwl_table *table, pwl_type type, const void *x, void *y, size_t count)
{
    work->run(work, x, y, count);
    for (size_t k = 0; k < count; k++)
        if (code_at(type, y, k) != pwl_eval(table, code_at(type, x, k))) {
            fprintf(stderr, "bench_cpu: %s: the value of element %zu is wrong\n", work->name, k);
            exit(1);
        }
}

static void print(const struct work *works, int count, const char *place, pwl_type type, int segments)
{
    const double element = (double)(1 << (type >> 1));
    for (int w = 0; w < count; w++) {
        const double median = works[w].ns[REPETITIONS / 2];
        printf("| %s | s%d | %d | %s | %.4f | %.4f..%.4f | %.2f |\n", place, 8 << (type >> 1), segments, works[w].name,
               median, works[w].ns[REPETITIONS / 10], works[w].ns[REPETITIONS - 1 - REPETITIONS / 10],
               2 * element / median);
        fprintf(json,
                "{\"bench\": \"cpu\", \"machine\": \"%s\", \"in\": \"%s\", \"type\": \"s%d\", \"segments\": %d, "
                "\"work\": \"%s\", \"ns\": %.5f, \"p10\": %.5f, \"p90\": %.5f, \"repetitions\": %d}\n",
                machine, place, 8 << (type >> 1), segments, works[w].name, median, works[w].ns[REPETITIONS / 10],
                works[w].ns[REPETITIONS - 1 - REPETITIONS / 10], REPETITIONS);
    }
    fflush(stdout);
}

static void bench(const pwl_table *table, pwl_type type, void *x, void *y)
{
    static struct scan_table scan;
    static int16_t samples[513];
    static uint32_t words[512];
    static int8_t values[256];
    static struct work works[MOST_WORKS];
    const pwl_source source = pwl_source_of(table);
    const struct {
        const char *name;
        size_t bytes, least;
    } places[] = {{"L1", 8 << 10, 1 << 17}, {"L2", 256 << 10, 1 << 18}, {"memory", 64 << 20, 1}};
    void *memories[MOST_WORKS];
    int count = 0, plans = 0;
    scan_prepare(&scan, table);
    for (size_t w = 0; w < pwl_way_count; w++) {
        const size_t bytes = pwl_way_bytes(&pwl_ways[w], &source, type, type);
        if (!bytes || (pwl_ways[w].level & pwl_levels()) != pwl_ways[w].level)
            continue;
        struct work *const work = add_work(works, &count, pwl_ways[w].name, run_plan, NULL);
        if (!(memories[plans] = malloc(bytes)))
            exit(1);
        pwl_way_prepare(&pwl_ways[w], &work->plan, memories[plans++], &source, type, type);
        check(work, table, type, x, y, 4096);
    }
    struct work *const map = add_work(works, &count, "pwl_map", run_plan, NULL);
    if (pwl_plan_init(&map->plan, NULL, 0, table, type, type, 0) != PWL_OK)
        exit(1);
    add_work(works, &count, "scan", type == PWL_S8 ? run_scan_8 : type == PWL_S16 ? run_scan_16 : run_scan_32, &scan);
    add_work(works, &count, "memcpy", type == PWL_S8 ? run_copy_8 : type == PWL_S16 ? run_copy_16 : run_copy_32, NULL);
    if (type == PWL_S8) {
        for (int k = 0; k < 256; k++)
            values[k] = (int8_t)pwl_eval(table, (int8_t)k);
        add_work(works, &count, "256-byte table", run_bytes, values);
    }
    if (type == PWL_S16) {
        for (int k = 0; k < 513; k++)
            samples[k] = (int16_t)pwl_eval(table, k < 512 ? 128 * k - 32768 : 32767);
        for (int k = 0; k < 512; k++)
            words[k] = (uint32_t)(samples[k + 1] - samples[k]) << 16 | (uint16_t)samples[k];
        add_work(works, &count, "513-entry table", run_interpolation, samples);
        if (pwl_levels() & PWL_LEVEL_AVX512 && gather_s16(words, x, y, 16))
            add_work(works, &count, "gather of 512 entries", run_gather, words);
        add_work(works, &count, "libm", run_libm, NULL);
    }
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        if (p == 2)
            count = drop_slow(works, count);
        measure(works, count, x, y, places[p].bytes >> (type >> 1), places[p].least);
        print(works, count, places[p].name, type, table->segments);
    }
    while (plans)
        free(memories[--plans]);
}

int main(int argc, char **argv)
{
    const size_t bytes = 64 << 20;
    uint64_t state = 1, *const x = aligned_alloc(64, bytes);
    void *const y = aligned_alloc(64, bytes);
    if (argc != 3 || !x || !y || !(json = fopen(argv[2], "w"))) {
        fprintf(stderr, "usage: %s MACHINE JSON\n", argv[0]);
        return 2;
    }
    machine = argv[1];
    for (size_t k = 0; k < bytes / sizeof *x; k++)
        x[k] = random_bits(&state);
    memset(y, 1, bytes);
    printf("| in | codes | segments | by | ns per element | p10..p90 | GB/s |\n|---|---|---:|---|---:|---:|---:|\n");
    for (size_t t = 0; t < sizeof bench_tables / sizeof *bench_tables; t++)
        bench(bench_tables[t].table, bench_tables[t].type, x, y);
    free(x);
    free(y);
    return ferror(json) | fclose(json);
}
