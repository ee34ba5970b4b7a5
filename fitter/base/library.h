/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Libraries of pwlc's own that are loaded at run time, so that one binary serves machines with and without what they
 * are linked with. Where one is looked for:
 *
 *   1. the file that its environment variable names, and no other, where that is set and not empty;
 *   2. beside pwlc, as in a build directory;
 *   3. in the folder that libraries are installed to;
 *   4. where the system's loader searches.
 */
#ifndef PWLC_LIBRARY_H
#define PWLC_LIBRARY_H

#include "diag.h"

struct library_kind {
    const char *name;     /* "libpwlc-cuda.so" */
    const char *variable; /* of the environment, "PWL_CUDA_LIBRARY" */
    const char *option;   /* of Meson, with which it is built: "-Dcuda=enabled" */
    const char *version;  /* its function int (void), which gives the version of its interface */
    int expected;         /* that version */
};

struct library {
    void *handle; /* null when none is open */
    const struct library_kind *kind;
    char path[4096]; /* as found */
};

/* Opens one of a kind, which lives as long, and compares the version of its interface with pwlc's own. Exit 77, saying
 * which file or folders, when there is none, it cannot be loaded, or it is of another version. */
int library_open(struct library *library, const struct library_kind *kind, struct diag *diag);

/* Leaves a library alone that is not open. */
void library_close(struct library *library);

/* A function of the library, of any type: to be converted to its own. Exit 77 when it has none of this name. */
typedef void library_entry(void);
int library_function(const struct library *library, const char *name, library_entry **function, struct diag *diag);

#endif
