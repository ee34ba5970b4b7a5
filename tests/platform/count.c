/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions per element of every way that a Cortex-M has, for arrays of codes of 8 and 16 bits. Needs an emulator
 * in which each instruction takes the same time. Fails where the list of ways has them in another order: a level's way
 * that takes no fewer instructions than what comes after it is not worth having. (What converts codes is no
 * competitor.)
 */
#include <pwl/eval.h>
#include <pwl/plan.h>

#include "../../runtime/ways.h"
#include "../support/typed_array.h"
#include "pwl_sigmoid_s16.h"
#include "pwl_sigmoid_s8.h"
#include "say.h"
#include "text.h"

/* The system timer. Source: Armv7-M and Armv8-M Architecture Reference Manuals, "SysTick". */
#define SYST_CSR (*(volatile uint32_t *)0xe000e010u)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014u)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018u)
enum { ENABLED_BY_PROCESSOR_CLOCK = 5, LONGEST = 0xffffff };

enum { COUNT = 1024, MEMORY_BYTES = 132 << 10 };

static uint32_t x[COUNT], y[COUNT];
static uint8_t memory[MEMORY_BYTES];

/* The timer counts down, and begins again after 0. */
static uint32_t ticks_since(uint32_t then)
{
    return (then - SYST_CVR) & LONGEST;
}

/* Ticks of 2^16 instructions. */
static uint32_t calibrate(void)
{
    uint32_t turns = 1u << 15;
    const uint32_t then = SYST_CVR;
    __asm__ volatile("0: subs %0, %0, #1\n\tbne 0b" : "+r"(turns) : : "cc");
    return ticks_since(then);
}

/* Hundredths of instructions per element. */
static uint32_t count(const pwl_plan *plan, uint32_t calibration)
{
    const uint32_t then = SYST_CVR;
    pwl_run(plan, x, y, COUNT);
    return (uint32_t)((uint64_t)ticks_since(then) * (100u << 16) / calibration / COUNT);
}

static void print(pwl_type type, const char *way, uint32_t hundredths)
{
    struct text text = {.length = 0};
    add(&text, type == PWL_S8 ? "s8 " : "s16 ");
    add(&text, way);
    add(&text, " ");
    add_number(&text, hundredths / 100);
    add(&text, ".");
    add_number(&text, hundredths / 10 % 10);
    add_number(&text, hundredths % 10);
    add(&text, "\n");
    say(text.characters);
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
        print(type, way->name, taken);
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
    uint32_t calibration;
    SYST_RVR = LONGEST;
    SYST_CVR = 0;
    SYST_CSR = ENABLED_BY_PROCESSOR_CLOCK;
    calibration = calibrate();
    return count_all(&pwl_sigmoid_s8, PWL_S8, calibration) | count_all(&pwl_sigmoid_s16, PWL_S16, calibration);
}
