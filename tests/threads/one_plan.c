/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads run one plan at a time, and make plans of their own of the same table; check_threads.sh runs this under
 * ThreadSanitizer. With the argument "race" they all write to one array, which is what callers must not do: the
 * sanitizer has to see it, or it would not see the library's own.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <pwl/plan.h>
#include <pwl/pwl.h>

#include "../../luts/pwl_gelu_s16.h"
#include "../../luts/pwl_gelu_s32.h"
#include "../../luts/pwl_gelu_s8.h"

enum { THREADS = 8, ROUNDS = 20, COUNT = 1000, MEMORY = 256 << 10 };

/* What every thread reads. */
struct shared {
    const pwl_table *table;
    pwl_type type;
    size_t bytes; /* of an element */
    pwl_plan plan;
    unsigned char x[4 * COUNT], expected[4 * COUNT], memory[MEMORY];
};

struct thread {
    const struct shared *shared;
    unsigned char *y;
    pthread_t id;
    int wrong;
    unsigned char own_y[4 * COUNT], own_memory[4096];
};

static void *run(void *of)
{
    struct thread *const thread = of;
    const struct shared *const shared = thread->shared;
    for (int round = 0; round < ROUNDS; round++) {
        /* In every other round a plan of this thread's own, by ways that need little memory or none. */
        pwl_plan own = shared->plan;
        const size_t bytes = round % 4 == 1 ? sizeof thread->own_memory : 0;
        if (round % 2 && pwl_plan_init(&own, thread->own_memory, bytes, shared->table, shared->type, shared->type,
                                       PWL_LEVELS_ALL) != PWL_OK)
            thread->wrong++;
        thread->wrong += pwl_table_check(shared->table, NULL) != PWL_OK;
        pwl_run(round % 2 ? &own : &shared->plan, shared->x, thread->y, COUNT);
        if (thread->y == thread->own_y)
            thread->wrong += memcmp(thread->y, shared->expected, COUNT * shared->bytes) != 0;
    }
    return NULL;
}

/* With the quickest way there is for so many bytes of memory and these levels. */
static int run_all(const pwl_table *table, pwl_type type, uint32_t levels, size_t memory, int race)
{
    static struct shared shared;
    static struct thread threads[THREADS];
    int wrong = 0;
    shared.table = table;
    shared.type = type;
    shared.bytes = (size_t)1 << (type >> 1);
    for (size_t k = 0; k < COUNT * shared.bytes; k++)
        shared.x[k] = (unsigned char)(k * 167 + k / 256);
    if (pwl_plan_init(&shared.plan, shared.memory, memory, table, type, type, levels) != PWL_OK)
        return 1;
    if (type == PWL_S8)
        pwl_map_s8_s8(table, (const int8_t *)shared.x, (int8_t *)shared.expected, COUNT);
    else if (type == PWL_S16)
        pwl_map_s16_s16(table, (const int16_t *)(const void *)shared.x, (int16_t *)(void *)shared.expected, COUNT);
    else
        pwl_map_s32_s32(table, (const int32_t *)(const void *)shared.x, (int32_t *)(void *)shared.expected, COUNT);
    for (int k = 0; k < THREADS; k++) {
        threads[k].shared = &shared;
        threads[k].wrong = 0;
        threads[k].y = threads[race ? 0 : k].own_y;
        if (pthread_create(&threads[k].id, NULL, run, &threads[k]))
            return 1;
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k].id, NULL);
        wrong += threads[k].wrong;
    }
    printf("%s by %d threads: %d wrong\n", pwl_plan_way(&shared.plan), THREADS, wrong);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct {
        const pwl_table *table;
        pwl_type type;
    } cases[] = {{&pwl_gelu_s8, PWL_S8}, {&pwl_gelu_s16, PWL_S16}, {&pwl_gelu_s32, PWL_S32}};
    int wrong = 0;
    if (argc > 1 && !strcmp(argv[1], "race"))
        return run_all(&pwl_gelu_s8, PWL_S8, 0, MEMORY, 1) != 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        wrong += run_all(cases[k].table, cases[k].type, PWL_LEVELS_ALL, MEMORY, 0);
        wrong += run_all(cases[k].table, cases[k].type, 0, MEMORY, 0);
        wrong += run_all(cases[k].table, cases[k].type, 0, 0, 0);
    }
    return wrong != 0;
}
