/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fuzz targets share. Each target is one LLVMFuzzerTestOneInput; libFuzzer or replay.c calls it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold for every input; unlike assert it stays in release builds. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: property does not hold: %s\n", __FILE__, __LINE__, #condition);                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Whether an input gets the checks that take long as well, every code and every module of hardware: those that are
 * replayed, and one in 1024 of what libFuzzer makes, which has the others at their own speed. */
static inline int takes_long(const uint8_t *data, size_t size)
{
#ifdef FUZZ_REPLAY
    (void)data;
    (void)size;
    return 1;
#else
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    return hash >> 54 == 0;
#endif
}

/* A refusal of bad input: exit code 2 and a message of one line. */
#define REQUIRE_REFUSAL(code, diag) REQUIRE((code) == EXIT_USAGE && (diag).code == EXIT_USAGE && one_line((diag).text))

static inline int one_line(const char *text)
{
    if (text[0] == '\0')
        return 0;
    for (; *text != '\0'; text++)
        if (*text == '\n' || *text == '\r')
            return 0;
    return 1;
}

#endif
