/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libpwlc-cuda.so, what pwlc runs on CUDA devices. pwlc itself is not linked with CUDA, so that one binary serves
 * machines with and without devices; it finds the library when a command asks for one:
 *
 *   1. the file that PWL_CUDA_LIBRARY names, and no other, where it is set and not empty;
 *   2. beside pwlc, as in a build directory;
 *   3. in the folder that libraries are installed to;
 *   4. where the system's loader searches.
 */
#ifndef PWLC_CUDA_LIBRARY_H
#define PWLC_CUDA_LIBRARY_H

#include <stdbool.h>

#include "base/diag.h"

#define CUDA_LIBRARY_NAME "libpwlc-cuda.so"
#define CUDA_LIBRARY_VARIABLE "PWL_CUDA_LIBRARY"

struct cuda_library {
    void *handle;    /* null when none is open */
    char path[4096]; /* as found */
};

/* The value of --device: cpu, cuda or, where its command has that, auto. */
enum device { DEVICE_AUTO, DEVICE_CPU, DEVICE_CUDA };
enum device device_parse(const char *value);

/* Opens it and compares its interface's version with pwlc's own. Exit 77, saying which file or folders, when there is
 * none, it cannot be loaded, or it is of another version. */
int cuda_library_open(struct cuda_library *library, struct diag *diag);

/* Leaves a library alone that is not open. */
void cuda_library_close(struct cuda_library *library);

/* A function of the library, of any type: to be converted to its own. Exit 77 when it has none of this name. */
typedef void cuda_function(void);
int cuda_library_function(const struct cuda_library *library, const char *name, cuda_function **function,
                          struct diag *diag);

#endif
