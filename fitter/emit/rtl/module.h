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
    const char *rom_name;  /* "output", "word" */
    struct text layout;    /* what the bits of its words are */
    struct text functions; /* of the body, beside the ROM's */
    struct pipeline pipeline;
};

/* Decides the style, and writes the body. module_free() follows in any case. */
int module_make(const struct table *table, const struct emit_options *options, const struct dialect *dialect,
                struct module *m, struct diag *diag);
void module_free(struct module *m);

/* One file about a module: `write` adds it to out. Exit 1 when memory runs out. */
typedef int module_write(struct text *out, const struct module *m, const struct emit_options *options,
                         struct diag *diag);
int module_emit(const struct table *table, const struct emit_options *options, const struct dialect *dialect,
                module_write *write, struct text *out, struct diag *diag);

/* The bodies: all outputs in a ROM; segments. */
int module_of_outputs(struct module *m, struct diag *diag);
int module_of_segments(struct module *m, struct diag *diag);

/* The name of the file that a memory is read from, and what it holds. */
void module_rom_file(const struct module *m, char name[ROM_FILE_SIZE]);
void module_add_words(struct text *out, const struct module *m);

/* "NAME_rom[address];" or "NAME_rom(address);", the right side of an assignment */
void module_add_lookup(struct module *m, const char *address);

#endif
