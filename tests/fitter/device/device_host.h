/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libpwlc-cuda without a device, on the host. DEVICE_FAULT in the environment makes it go wrong, so that pwlc can be
 * seen to notice. */
#ifndef DEVICE_HOST_H
#define DEVICE_HOST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int fault(const char *name)
{
    const char *const wanted = getenv("DEVICE_FAULT");
    return wanted && strcmp(wanted, name) == 0;
}

static inline int no_device(char *message, size_t size)
{
    snprintf(message, size, "no CUDA device: none was found");
    return 77;
}

#endif
