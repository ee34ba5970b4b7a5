/* SPDX-License-Identifier: Apache-2.0 */
/* Test results as TAP, by the C library alone: Check need not be where the GPU is. */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdio.h>

static int tap_count, tap_failures;

/* One result; the name as by printf. */
static inline void tap(int good, const char *format, ...)
{
    va_list arguments;
    tap_failures += !good;
    printf("%s %d - ", good ? "ok" : "not ok", ++tap_count);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
}

/* The plan; main's exit status. */
static inline int tap_end(void)
{
    printf("1..%d\n", tap_count);
    return tap_failures != 0;
}

#endif
