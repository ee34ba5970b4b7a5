/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_ways MACHINE JSON: whether the cost model (runtime/ways.h) chooses well on this machine. Every way that the
 * machine has is measured over tables of every size, pair of types and rounding; beside each stands what the model says
 * of it. For each number of bytes that a caller may give, the way that pwl_plan_init() takes is held against the
 * quickest of those that find room: where it takes more than TOLERATED times as long, a line says so, and the exit
 * status is 1. Times are the 10th percentile: other programs may share the machine. Codes are uniform at random, arrays
 * of COUNT elements.
 */
#define MADE_MAX_SEGMENTS 4096
#include <string.h>

#include "../../runtime/map.h"
#include "../../runtime/ways.h"
#include "../support/random.h"
#include "curve_table.h"
#include "works.h"

#define TOLERATED 1.3

enum { COUNT = 16384, BYTES_FOR_ALL = 512 << 10 };

static FILE *json;
static int cases, beaten;
static double worst = 1;

/* What is measured: a table's size and rounding, and the types of arrays. */
struct setting {
    pwl_source source;
    int segments, skewed;
    pwl_type in, out;
};

static const char *rounding_of(const pwl_table *table)
{
    static const char *const names[] = {"floor", "half_up", "half_away", "half_even"};
    return names[table->rounding];
}

static double time_of(const struct work *work)
{
    return work->ns[REPETITIONS / 10];
}

/* What pwl_map_*() takes: arrays long enough have a plan on its stack, which is memory as well. */
static size_t bytes_of_map(const struct setting *of)
{
    return COUNT >= pwl_map_pays(of->source.table, of->in) ? PWL_MAP_STACK : 0;
}

/* One line: of each way bytes, nanoseconds, and nanoseconds by the model; the model knows nothing of pwl_map_*(). */
static void write_times(const struct setting *of, const struct work *works, const size_t *bytes, int count)
{
    fprintf(json,
            "{\"storage\": %d, \"segments\": %d, \"skewed\": %d, \"rounding\": \"%s\", \"in\": \"s%d\", "
            "\"out\": \"s%d\"",
            8 << of->source.table->storage, of->segments, of->skewed, rounding_of(of->source.table), 8 << (of->in >> 1),
            8 << (of->out >> 1));
    for (int w = 0; w < count; w++) {
        uint32_t model = 0;
        for (size_t k = 0; k < pwl_way_count; k++)
            if (!strcmp(pwl_ways[k].name, works[w].name))
                model = pwl_way_cost(&pwl_ways[k], &of->source, of->in, of->out);
        fprintf(json, ", \"%s\": [%zu, %.3f, %.2f]", works[w].name, bytes[w], time_of(&works[w]), 1e-3 * model);
    }
    fprintf(json, "}\n");
}

/* Of the choice within `most` bytes, against the works. */
static void judge(const struct setting *of, const struct work *works, const size_t *bytes, int count, size_t most,
                  void *memory)
{
    const struct work *taken = NULL, *best = NULL;
    pwl_plan plan;
    if (pwl_plan_init(&plan, memory, most, of->source.table, of->in, of->out, PWL_LEVELS_ALL) != PWL_OK)
        exit(2);
    for (int w = 0; w < count; w++) {
        if (!strcmp(works[w].name, pwl_plan_way(&plan)))
            taken = &works[w];
        if ((bytes[w] <= most || &works[w] == taken) && (!best || time_of(&works[w]) < time_of(best)))
            best = &works[w];
    }
    if (!taken || !best)
        exit(2);
    const double ratio = time_of(taken) / time_of(best);
    cases++;
    worst = ratio > worst ? ratio : worst;
    if (ratio <= TOLERATED)
        return;
    beaten++;
    printf("| s%d to s%d | %d, %d%s | %s | %zu | %s | %.3f | %s | %.3f | %.2f |\n", 8 << (of->in >> 1),
           8 << (of->out >> 1), 8 << of->source.table->storage, of->segments, of->skewed ? " skewed" : "",
           rounding_of(of->source.table), most, taken->name, time_of(taken), best->name, time_of(best), ratio);
    fflush(stdout);
}

static void bench(const struct setting *of, const void *x, void *y)
{
    static struct work works[MOST_WORKS];
    size_t bytes[MOST_WORKS];
    void *memories[MOST_WORKS], *const memory = malloc(BYTES_FOR_ALL);
    int count = 0;
    if (!memory)
        exit(2);
    for (size_t w = 0; w < pwl_way_count; w++) {
        const size_t taken = pwl_way_bytes(&pwl_ways[w], &of->source, of->in, of->out);
        if (!taken || (pwl_ways[w].level & pwl_levels()) != pwl_ways[w].level)
            continue;
        bytes[count] = taken;
        if (!(memories[count] = malloc(taken)))
            exit(2);
        struct work *const work = add_work(works, &count, pwl_ways[w].name, run_plan, NULL);
        pwl_way_prepare(&pwl_ways[w], &work->plan, memories[count - 1], &of->source, of->in, of->out);
    }
    bytes[count] = bytes_of_map(of);
    memories[count] = NULL;
    struct work *const map = add_work(works, &count, "map", run_plan, NULL);
    if (pwl_plan_init(&map->plan, NULL, 0, of->source.table, of->in, of->out, 0) != PWL_OK)
        exit(2);
    measure(works, count, x, y, COUNT, COUNT);
    write_times(of, works, bytes, count);
    for (int w = 0; w < count; w++)
        judge(of, works, bytes, count, w + 1 < count ? bytes[w] : 0, memory);
    for (int w = 0; w < count; w++)
        free(memories[w]);
    free(memory);
}

int main(int argc, char **argv)
{
    static const pwl_rounding roundings[] = {PWL_FLOOR, PWL_HALF_AWAY, PWL_HALF_EVEN};
    static const int sizes[3][12] = {
        {16}, {8, 16, 24, 32, 48, 64, 100, 128, 250, 1000}, {8, 16, 32, 64, 128, 250, 1000, 4000}};
    static struct made_table made;
    static int32_t codes[COUNT];
    static uint32_t x[COUNT], y[COUNT];
    uint64_t state = 1;
    if (argc != 3 || !(json = fopen(argv[2], "w"))) {
        fprintf(stderr, "usage: %s MACHINE JSON\n", argv[0]);
        return 2;
    }
    fprintf(json, "{\"bench\": \"ways\", \"machine\": \"%s\"}\n", argv[1]);
    for (size_t k = 0; k < COUNT; k++)
        codes[k] = (int32_t)(uint32_t)(random_bits(&state) >> 32);
    printf("Chosen ways that another one beats by more than %.1f:\n\n", TOLERATED);
    printf("| arrays | storage, segments | rounding | bytes | chosen | ns per element | quickest | ns | times |\n"
           "|---|---|---|---:|---|---:|---|---:|---:|\n");
    for (int storage = 0; storage < 3; storage++)
        for (const int *segments = sizes[storage]; *segments; segments++)
            for (int skewed = 0; skewed < (storage == 0 ? 1 : 2); skewed++)
                for (size_t r = 0; r < sizeof roundings / sizeof *roundings; r++)
                    for (int types = 0; types < 9; types++) {
                        struct setting of = {.segments = *segments,
                                             .skewed = skewed,
                                             .in = (pwl_type)(types / 3 * 2),
                                             .out = (pwl_type)(types % 3 * 2)};
                        curve_table(&made, (pwl_storage)storage, roundings[r], *segments, skewed);
                        if (made.table.qmin_y < -((int64_t)1 << ((8 << (of.out >> 1)) - 1))) {
                            /* Outputs are cut to the array's. */
                            made.table.qmin_y = -((int64_t)1 << ((8 << (of.out >> 1)) - 1));
                            made.table.qmax_y = -made.table.qmin_y - 1;
                        }
                        /* Codes of the narrower of the two. */
                        for (size_t k = 0; k < COUNT; k++)
                            pwl_set_element_of(of.in, x, k, codes[k] >> (storage < 2 ? 32 - (8 << storage) : 0));
                        of.source = pwl_source_of(&made.table);
                        bench(&of, x, y);
                    }
    printf("\n%d choices, %d beaten, the worst by %.2f\n", cases, beaten, worst);
    return ferror(json) | fclose(json) ? 2 : beaten > 0;
}
