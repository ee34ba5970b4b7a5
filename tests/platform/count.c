/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions per element of every way that a Cortex-M has, for arrays of codes of 8 and 16 bits. Fails where the list
 * of ways has them in another order: a level's way that takes no fewer instructions than what comes after it is not
 * worth having. (What converts codes is no competitor.)
 */
#include <pwl/eval.h>
#include <pwl/plan.h>

#include "../../runtime/ways.h"
#include "../support/typed_array.h"
#include "pwl_sigmoid_s16.h"
#include "pwl_sigmoid_s8.h"
#include "ticks.h"

enum { COUNT = 1024, MEMORY_BYTES = 132 << 10 };

static uint32_t x[COUNT], y[COUNT];
static uint8_t memory[MEMORY_BYTES];

/* Hundredths of instructions per element. */
static uint32_t count(const pwl_plan *plan, uint32_t calibration)
{
    const uint32_t then = SYST_CVR;
    pwl_run(plan, x, y, COUNT);
    return ticks_per_element(then, calibration, COUNT);
}

enum { MOST_WAYS = 16 };

static int count_all(const pwl_table *table, pwl_type type, uint32_t calibration)
{
    const pwl_source source = pwl_source_of(table);
    uint32_t cost[MOST_WAYS], instructions[MOST_WAYS];
    int failed = 0, ways = 0;
    pwl_plan plan;
    for (size_t k = 0; k < COUNT; k++)
        pwl_set_element_of(type, x, k, (int64_t)(k * 2654435761u >> 13));
    for (size_t w = 0; w < pwl_way_count; w++) {
        const pwl_way *const way = &pwl_ways[w];
        const size_t bytes = pwl_way_bytes(way, &source, type, type);
        uint32_t taken;
        if (!bytes || bytes > MEMORY_BYTES || ways == MOST_WAYS)
            continue;
        pwl_way_prepare(way, &plan, memory, &source, type, type);
        taken = count(&plan, calibration);
        print_instructions(type == PWL_S8 ? "s8" : "s16", way->name, taken);
        for (size_t k = 0; k < COUNT; k++)
            failed |= pwl_element_of(type, y, k) != pwl_eval(table, pwl_element_of(type, x, k));
        if (plan.run == plan.kernel) {
            cost[ways] = pwl_way_cost(way, &source, type, type);
            instructions[ways++] = taken;
        }
    }
    /* What costs less takes fewer instructions. */
    for (int a = 0; a < ways; a++)
        for (int b = 0; b < ways; b++)
            failed |= cost[a] < cost[b] && instructions[a] >= instructions[b];
    return failed;
}

int main(void)
{
    const uint32_t calibration = ticks_begin();
    return count_all(&pwl_sigmoid_s8, PWL_S8, calibration) | count_all(&pwl_sigmoid_s16, PWL_S16, calibration);
}
