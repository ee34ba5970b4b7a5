/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions on a Cortex-M, in an emulator in which each instruction takes the same time. */
#ifndef TICKS_H
#define TICKS_H

#include <stdint.h>

#include "say.h"
#include "text.h"

/* The system timer. Source: Armv6-M, Armv7-M and Armv8-M Architecture Reference Manuals, "SysTick". */
#define SYST_CSR (*(volatile uint32_t *)0xe000e010u)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014u)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018u)
enum { ENABLED_BY_PROCESSOR_CLOCK = 5, LONGEST = 0xffffff };

/* The timer counts down, and begins again after 0. */
static inline uint32_t ticks_since(uint32_t then)
{
    return (then - SYST_CVR) & LONGEST;
}

/* Starts the timer; ticks of 2^16 instructions. */
static inline uint32_t ticks_begin(void)
{
    uint32_t turns = 1u << 15, then;
    SYST_RVR = LONGEST;
    SYST_CVR = 0;
    SYST_CSR = ENABLED_BY_PROCESSOR_CLOCK;
    then = SYST_CVR;
    __asm__ volatile(".syntax unified\n0: subs %0, %0, #1\n\tbne 0b" : "+l"(turns) : : "cc");
    return ticks_since(then);
}

/* Hundredths of instructions per element of what began at `then`. */
static inline uint32_t ticks_per_element(uint32_t then, uint32_t calibration, uint32_t elements)
{
    return (uint32_t)((uint64_t)ticks_since(then) * (100u << 16) / calibration / elements);
}

static inline void print_instructions(const char *type, const char *name, uint32_t hundredths)
{
    struct text text = {.length = 0};
    add(&text, type);
    add(&text, " ");
    add(&text, name);
    add(&text, " ");
    add_number(&text, hundredths / 100);
    add(&text, ".");
    add_number(&text, hundredths / 10 % 10);
    add_number(&text, hundredths % 10);
    add(&text, "\n");
    say(text.characters);
}

#endif
