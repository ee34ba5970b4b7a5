/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ROM of a module as files of memories: for $readmemh, and for the generators of two makers of FPGAs. */
#include "rtl.h"
#include "verilog.h"

static void add_coe(struct text *out, const struct module *m)
{
    module_add_head(out, m, "; ");
    text_add(out, "memory_initialization_radix=16;\nmemory_initialization_vector=\n");
    for (int i = 0; i < m->rom.entries; i++) {
        rom_add_hex(out, &m->rom, i);
        text_add(out, i + 1 < m->rom.entries ? ",\n" : ";\n");
    }
}

static void add_mif(struct text *out, const struct module *m)
{
    module_add_head(out, m, "-- ");
    text_add(out, "WIDTH=%d;\nDEPTH=%d;\nADDRESS_RADIX=HEX;\nDATA_RADIX=HEX;\nCONTENT BEGIN\n", m->rom.width,
             m->rom.entries);
    for (int i = 0; i < m->rom.entries; i++) {
        text_add(out, "  %x : ", (unsigned)i);
        rom_add_hex(out, &m->rom, i);
        text_add(out, ";\n");
    }
    text_add(out, "END;\n");
}

static int emit_memory(const struct table *table, const struct emit_options *options, const char *format,
                       void (*add)(struct text *out, const struct module *m), struct text *out, struct diag *diag)
{
    struct module m;
    int code = module_make(table, options, &system_verilog, &m, diag);
    if (code == EXIT_DONE && !m.rom.words)
        code = diag_set(diag, EXIT_USAGE, "--format %s: a table of one segment has no ROM", format);
    if (code == EXIT_DONE)
        add(out, &m);
    if (code == EXIT_DONE && out->failed)
        code = diag_set(diag, EXIT_IO, "out of memory while writing the ROM of %s", m.name);
    module_free(&m);
    return code;
}

int emit_mem(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag)
{
    (void)count;
    return emit_memory(tables[0], options, "mem", module_add_words, out, diag);
}

int emit_coe(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag)
{
    (void)count;
    return emit_memory(tables[0], options, "coe", add_coe, out, diag);
}

int emit_mif(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag)
{
    (void)count;
    return emit_memory(tables[0], options, "mif", add_mif, out, diag);
}
