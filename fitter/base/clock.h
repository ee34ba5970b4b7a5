/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PWLC_CLOCK_H
#define PWLC_CLOCK_H

#include <time.h>

/* Seconds from a moment that is the same for the whole process. */
static inline double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
