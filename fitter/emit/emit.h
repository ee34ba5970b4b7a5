/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing tables for their consumers. Each emitter turns tables into the bytes of one file. */
#ifndef PWLC_EMIT_H
#define PWLC_EMIT_H

#include <stdbool.h>

#include "options.h"

/* What an emitter takes. */
enum {
    EMIT_MANY = 1,     /* several tables */
    EMIT_NAMES = 2,    /* identifiers, as --prefix and --name give them */
    EMIT_HARDWARE = 4, /* the flags of rtl_options */
    EMIT_ROM_FILE = 8, /* with --rom mem: fills options.rom, a second file */
};

struct emitter {
    const char *name; /* the --format value */
    const char *summary;
    unsigned takes;
    int (*emit)(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                struct diag *diag);
};

extern const struct emitter emitters[]; /* one for each of EMIT_FORMATS, then a null name */
#define EMIT_FORMATS "c|cuda|sv|v|sv-tb|mem|coe|mif|core|sdc|json|csv|npy"

const struct emitter *emitter_find(const char *name);

#endif
