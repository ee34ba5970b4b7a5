/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A module that looks its output up, the code being the address. */
#include "outputs.h"

/* Registers: of the output; before the ROM too, which is then a block RAM with both; further ones behind it. */
int module_of_outputs(struct module *m, struct diag *diag)
{
    struct pipeline *p = &m->pipeline;
    char name[SIGNAL_TEXT];
    if (rom_of_outputs(m->table, &m->packed, &m->rom, diag) != EXIT_DONE)
        return diag->code;
    text_add(&m->layout, "y[%d:0]%s", m->rom.width - 1, m->table->out.is_signed ? " signed" : "");
    struct signal index = pipeline_bits(p, "index", m->rom.address_bits);
    text_add(pipeline_part(p), "  assign index = {x_i};\n");
    if (m->stages >= 2)
        pipeline_cut(p);
    signal_use(p, &index, name);
    struct signal y = pipeline_bits(p, "y", m->rom.width);
    text_add(pipeline_part(p), "  assign y = ");
    module_add_lookup(m, name);
    while (p->stages < m->stages)
        pipeline_cut(p);
    text_add(pipeline_part(p), m->table->out.is_signed ? "  assign y_o = $signed(%s);\n" : "  assign y_o = %s;\n",
             signal_use(p, &y, name));
    return EXIT_DONE;
}
