/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks of the runtime share: works that take turns, so that all see the same machine. */
#ifndef WORKS_H
#define WORKS_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <pwl/plan.h>

enum { MOST_WORKS = 32, REPETITIONS = 41 };

/* One thing to time. */
struct work {
    char name[40];
    void (*run)(const struct work *work, const void *x, void *y, size_t count);
    pwl_plan plan;
    const void *table;
    double ns[REPETITIONS]; /* per element, sorted once all are measured */
};

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Each work REPETITIONS times in turn, each time over about `least` elements. */
static inline void measure(struct work *works, int count, const void *x, void *y, size_t elements, size_t least)
{
    const size_t rounds = (least + elements - 1) / elements;
    for (int w = 0; w < count; w++)
        works[w].run(&works[w], x, y, elements);
    for (int r = 0; r < REPETITIONS; r++) {
        for (int w = 0; w < count; w++) {
            const double begin = seconds();
            for (size_t k = 0; k < rounds; k++)
                works[w].run(&works[w], x, y, elements);
            works[w].ns[r] = 1e9 * (seconds() - begin) / (double)(rounds * elements);
        }
    }
    for (int w = 0; w < count; w++)
        qsort(works[w].ns, REPETITIONS, sizeof works[w].ns[0], by_size);
}

/* The next of `count` works. */
static inline struct work *add_work(struct work *works, int *count, const char *name,
                                    void (*run)(const struct work *, const void *, void *, size_t), const void *table)
{
    struct work *const work = &works[(*count)++];
    if (*count > MOST_WORKS)
        exit(1);
    snprintf(work->name, sizeof work->name, "%s", name);
    work->run = run;
    work->table = table;
    return work;
}

static inline void run_plan(const struct work *work, const void *x, void *y, size_t count)
{
    pwl_run(&work->plan, x, y, count);
}

#endif
