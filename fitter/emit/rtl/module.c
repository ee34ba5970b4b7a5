/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "module.h"

#include <stdio.h>
#include <string.h>

void module_add_head(struct text *out, const struct module *m, const char *lead)
{
    text_add(out, "%s%s, style %s: %d words of %d bits\n%s%s\n", lead, m->name, rtl_style_name(m->style),
             m->rom.entries, m->rom.width, lead, m->layout.bytes);
}

void module_add_words(struct text *out, const struct module *m)
{
    module_add_head(out, m, "// ");
    for (int i = 0; i < m->rom.entries; i++) {
        rom_add_hex(out, &m->rom, i);
        text_add(out, "\n");
    }
}

void module_rom_file(const struct module *m, char name[ROM_FILE_SIZE])
{
    snprintf(name, ROM_FILE_SIZE, "%s.mem", m->name);
}

void module_add_roms(struct text *out, const struct module *m, const struct emit_options *options)
{
    char file[ROM_FILE_SIZE];
    module_rom_file(m, file);
    if (m->rom.words && m->rom_in_file)
        rom_add_memory(out, m->dialect, &m->rom, m->rom_name, file);
    else if (m->rom.words)
        rom_add_function(out, m->dialect, &m->rom, m->rom_name);
    if (m->rom.words && m->rom_in_file && options->rom) {
        memcpy(options->rom->name, file, sizeof file);
        module_add_words(&options->rom->words, m);
    }
    if (m->functions.bytes)
        text_add(out, "%s", m->functions.bytes);
    out->failed |= m->functions.failed || m->layout.failed;
}

void module_add_lookup(struct module *m, const char *address)
{
    text_add(pipeline_part(&m->pipeline), m->rom_in_file ? "%s_rom[%s];\n" : "%s_rom(%s);\n", m->rom_name, address);
}

void module_free(struct module *m)
{
    packed_table_free(&m->packed);
    pipeline_free(&m->pipeline);
    text_free(&m->functions);
    text_free(&m->layout);
    rom_free(&m->rom);
}
