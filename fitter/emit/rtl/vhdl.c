/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A module in VHDL-2008: its ports, its registers, and what its parts assign. */
#include "vhdl.h"

#include <stdio.h>
#include <stdlib.h>

#include "emit/description.h"
#include "rtl.h"
#include "statements.h"
#include "verilog.h"

static int add_part(struct text *out, const struct text *part, const struct declarations *all,
                    struct formulas *formulas, struct diag *diag)
{
    struct statement s;
    const char *rest = part->bytes;
    if (rest)
        text_add(out, "\n");
    while (rest && statement_next(&rest, all, formulas, &s)) {
        if (s.kind == STATEMENT_COMMENT)
            text_add(out, "  --%.*s\n", s.length, s.text);
        else if (s.kind == STATEMENT_BLANK)
            text_add(out, "\n");
        else if (s.kind == STATEMENT_UNKNOWN ||
                 (s.kind == STATEMENT_ASSIGNMENT && !vhdl_add_assignment(out, s.target, s.bit, s.right)))
            return statement_refuse("vhdl", &s, diag);
    }
    return EXIT_DONE;
}

static void add_entity(struct text *out, const struct module *m)
{
    text_add(out,
             "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\n%s\n"
             "entity %s is\n"
             "  port (\n"
             "    clk_i   : in  std_logic;\n"
             "    rst_ni  : in  std_logic;\n"
             "    valid_i : in  std_logic;\n",
             m->rom.words && m->rom_in_file ? "use std.textio.all;\n" : "", m->name);
    if (m->has_ready)
        text_add(out, "    ready_o : out std_logic;\n");
    text_add(out,
             "    x_i     : in  std_logic_vector(%d downto 0); -- %s\n"
             "    valid_o : out std_logic;\n",
             m->table->in.bits - 1, m->table->in.is_signed ? "signed" : "unsigned");
    if (m->has_ready)
        text_add(out, "    ready_i : in  std_logic;\n");
    text_add(out, "    y_o     : out std_logic_vector(%d downto 0)  -- %s\n  );\nend entity;\n", m->table->out.bits - 1,
             m->table->out.is_signed ? "signed" : "unsigned");
}

static void add_declarations(struct text *out, const struct module *m, const struct declarations *all)
{
    char type[VHDL_TYPE_TEXT];
    text_add(out, "\n  -- Edges of the clock from x_i to y_o%s.\n  constant LATENCY : natural := %d;\n\n",
             m->has_ready ? ", where nothing waits" : "", m->stages);
    for (int i = 0; i < all->count; i++)
        if (!all->list[i].is_port)
            text_add(out, "  signal %s : %s;\n", all->list[i].name, vhdl_type(&all->list[i], type));
    if (m->stages > 0)
        text_add(out, "  signal valid_q : std_logic_vector(LATENCY downto 1);\n");
    for (int k = m->stages; m->has_ready && k > 0; k--)
        text_add(out, "  signal advance_%d : std_logic;\n", k);
}

/* As of the same name in verilog.c. */
static void add_handshake(struct text *out, const struct module *m)
{
    if (m->stages == 0) {
        text_add(out, "\n  valid_o <= valid_i;\n%s", m->has_ready ? "  ready_o <= ready_i;\n" : "");
        return;
    }
    text_add(out, "\n");
    for (int k = m->stages; m->has_ready && k > 0; k--) {
        text_add(out, "  advance_%d <= not valid_q(%d) or ", k, k);
        if (k < m->stages)
            text_add(out, "advance_%d;\n", k + 1);
        else
            text_add(out, "ready_i;\n");
    }
    text_add(out, "  process (clk_i, rst_ni)\n  begin\n"
                  "    if rst_ni = '0' then\n      valid_q <= (others => '0');\n"
                  "    elsif rising_edge(clk_i) then\n");
    for (int k = 1; k <= m->stages; k++) {
        char from[24] = "valid_i";
        if (k > 1)
            snprintf(from, sizeof from, "valid_q(%d)", k - 1);
        if (m->has_ready)
            text_add(out, "      if advance_%d then\n        valid_q(%d) <= %s;\n      end if;\n", k, k, from);
        else
            text_add(out, "      valid_q(%d) <= %s;\n", k, from);
    }
    text_add(out, "    end if;\n  end process;\n  valid_o <= valid_q(LATENCY);\n%s",
             m->has_ready ? "  ready_o <= advance_1;\n" : "");
}

static void add_registers(struct text *out, const struct pipeline *p, int stage)
{
    size_t length;
    const char *rest = p->moves[stage].bytes;
    if (!rest)
        return;
    text_add(out, "\n  process (clk_i)\n  begin\n    if rising_edge(clk_i) then\n");
    if (p->has_enables)
        text_add(out, "      if advance_%d then\n", stage);
    for (const char *line; (line = line_next(&rest, &length)) != NULL;)
        text_add(out, "      %s%.*s\n", p->has_enables ? "  " : "", (int)length, line);
    text_add(out, "%s    end if;\n  end process;\n", p->has_enables ? "      end if;\n" : "");
}

static int add_architecture(struct text *out, const struct module *m, struct declarations *all, struct diag *diag)
{
    const struct pipeline *p = &m->pipeline;
    struct formulas *formulas = malloc(sizeof *formulas);
    if (!formulas || statements_declare(m, all, diag) != EXIT_DONE) {
        free(formulas);
        return diag_set(diag, EXIT_IO, "out of memory while writing %s", m->name);
    }
    add_declarations(out, m, all);
    text_add(out, "begin\n");
    add_handshake(out, m);
    for (int i = 0; i <= p->stages && diag->code == EXIT_DONE; i++) {
        if (i > 0)
            add_registers(out, p, i);
        add_part(out, &p->parts[i], all, formulas, diag);
    }
    text_add(out, "end architecture;\n");
    free(formulas);
    return diag->code;
}

static int write_vhdl(struct text *out, const struct module *m, const struct emit_options *options, struct diag *diag)
{
    struct declarations all = {0};
    text_add(out, "-- SPDX-License-Identifier: 0BSD\n-- DO NOT EDIT: generated by pwlc %s\n--\n", PWLC_VERSION);
    add_description(out, m->table, m->name, "-- ");
    text_add(out, "--   style       %s, %d stage%s, ROM of %d words of %d bits\n\n", rtl_style_name(m->style),
             m->stages, m->stages == 1 ? "" : "s", m->rom.entries, m->rom.width);
    add_entity(out, m);
    text_add(out, "\narchitecture rtl of %s is\n", m->name);
    module_add_roms(out, m, options);
    add_architecture(out, m, &all, diag);
    free(all.list);
    return diag->code;
}

int emit_vhdl(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
              struct diag *diag)
{
    (void)count;
    return module_emit(tables[0], options, &vhdl_2008, write_vhdl, out, diag);
}
