/* SPDX-License-Identifier: Apache-2.0 */
/* A Cortex-M without a C library, under a debugger that answers semihosting calls, as QEMU does. The debugger loads
 * code and data alike where they belong, and memory starts as zeros.
 * Source: Arm, "Semihosting for AArch32 and AArch64". */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "say.h"

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20 };
#define STOPPED_BY_APPLICATION 0x20026u
#define FAULT_STATUS 2

int main(void);

static uintptr_t semihosting(uintptr_t operation, const void *argument)
{
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void say(const char *text)
{
    semihosting(SYS_WRITE0, text);
}

static _Noreturn void leave(int status)
{
    const uintptr_t block[] = {STOPPED_BY_APPLICATION, (uintptr_t)status};
    for (;;)
        semihosting(SYS_EXIT_EXTENDED, block);
}

static void fault(void)
{
    say("a fault of the processor\n");
    leave(FAULT_STATUS);
}

static void start(void)
{
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    /* Coprocessors 10 and 11: floating point and vectors. */
    *(volatile uint32_t *)0xe000ed88u |= 0xfu << 20;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
    leave(main());
}

extern uint32_t stack_end[]; /* by the linker */

/* What the processor begins with. From NMI to SysTick, whatever happens is a fault. */
const struct {
    const uint32_t *stack;
    void (*handler[15])(void);
} vectors __attribute__((section(".vectors"), used)) = {
    stack_end,
    {start, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault},
};

/* What the compiler calls of a C library. */
void *memset(void *to, int value, size_t bytes)
{
    volatile unsigned char *p = to; /* or the compiler makes this loop a call of memset */
    while (bytes--)
        *p++ = (unsigned char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    volatile unsigned char *p = to;
    const unsigned char *q = from;
    while (bytes--)
        *p++ = *q++;
    return to;
}
