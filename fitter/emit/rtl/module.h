/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A module while it is written. */
#ifndef PWLC_RTL_MODULE_H
#define PWLC_RTL_MODULE_H

#include "emit/options.h"
#include "pipeline.h"
#include "rom.h"
#include "rtl.h"

struct module {
    const struct table *table;
    struct packed_table packed;
    const struct dialect *dialect;
    char name[EMIT_NAME_SIZE];
    enum rtl_style style; /* not auto */
    int stages;
    bool has_ready, rom_in_file;
    struct rom rom;        /* of outputs, or of segments; no words where there is none */
    const char *rom_name;  /* "output", "word", "residual" */
    struct text layout;    /* what the bits of its words are */
    struct text functions; /* of the body, beside the ROM's */
    struct pipeline pipeline;
    struct datapath datapath; /* of segments */
};

void module_free(struct module *m);

/* The name of the file that a memory is read from, what it holds, and lines about that, each behind `lead`. */
void module_rom_file(const struct module *m, char name[ROM_FILE_SIZE]);
void module_add_words(struct text *out, const struct module *m);
void module_add_head(struct text *out, const struct module *m, const char *lead);

/* "NAME_rom[address];" or "NAME_rom(address);", the right side of an assignment */
void module_add_lookup(struct module *m, const char *address);

#endif
