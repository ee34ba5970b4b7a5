/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A module in VHDL-2008: its ports, its registers, and what its parts assign. */
#include "vhdl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit/description.h"
#include "rtl.h"
#include "verilog.h"

/* ---- what parts declare and assign ---- */

static struct declared *new_declared(struct declarations *all, const char *name, size_t length, int bits)
{
    if (all->count == all->room) {
        const int room = 2 * all->room + 64;
        struct declared *list = realloc(all->list, (size_t)room * sizeof *list);
        if (!list)
            return NULL;
        all->list = list;
        all->room = room;
    }
    struct declared *declared = &all->list[all->count];
    *declared = (struct declared){.bits = bits};
    if (length >= sizeof declared->name)
        return NULL;
    memcpy(declared->name, name, length);
    all->count++;
    return declared;
}

/* "logic signed [7:0] name;" */
static bool read_declaration(const char *line, size_t length, struct declarations *all)
{
    const char *name = line + strlen("logic "), *end = line + length - 1;
    int high = 0;
    const bool is_signed = strncmp(name, "signed ", 7) == 0;
    name += is_signed ? 7 : 0;
    if (*name == '[') {
        high = atoi(name + 1);
        name = strchr(name, ' ') + 1;
    }
    struct declared *declared = new_declared(all, name, (size_t)(end - name), high + 1);
    if (declared)
        declared->is_signed = is_signed;
    return declared != NULL;
}

static bool begins(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* Each line, without blanks in front, of a text. */
static const char *next_line(const char **text, size_t *length)
{
    const char *line = *text + strspn(*text, " ");
    if (*line == '\0')
        return NULL;
    *length = strcspn(line, "\n");
    *text = line + *length + (line[*length] == '\n');
    return line;
}

/* What is only there for lint tools of Verilog. */
static bool is_unused(const char *line)
{
    return begins(line, "logic unused_") || begins(line, "assign unused_");
}

static bool read_declarations(const struct text *text, struct declarations *all)
{
    size_t length;
    const char *rest = text->bytes;
    for (const char *line; rest && (line = next_line(&rest, &length)) != NULL;)
        if (begins(line, "logic ") && !is_unused(line) && !read_declaration(line, length, all))
            return false;
    return true;
}

/* "assign a = ...;" or "assign a[3] = ...;" */
static bool add_statement(struct text *out, const char *line, size_t length, const struct declarations *all,
                          struct formulas *formulas)
{
    char target[64];
    const char *name = line + strlen("assign "), *equals = strstr(name, " = ");
    const size_t name_length = strcspn(name, "[ ");
    const struct declared *declared = declared_find(all, name, name_length);
    if (!equals || !declared)
        return false;
    if (name[name_length] == '[')
        snprintf(target, sizeof target, "%s(%d)", declared->name, atoi(name + name_length + 1));
    else
        snprintf(target, sizeof target, "%s", declared->name);
    const char *right = equals + 3;
    const struct formula *formula = formula_read(right, (size_t)(line + length - 1 - right), all, formulas);
    return formula && vhdl_add_assignment(out, target, declared, formula);
}

static int add_part(struct text *out, const struct text *part, const struct declarations *all,
                    struct formulas *formulas, struct diag *diag)
{
    size_t length;
    const char *rest = part->bytes;
    if (rest)
        text_add(out, "\n");
    for (const char *line; rest && (line = next_line(&rest, &length)) != NULL;) {
        if (begins(line, "//"))
            text_add(out, "  --%.*s\n", (int)length - 2, line + 2);
        else if (length == 0)
            text_add(out, "\n");
        else if (begins(line, "assign ") && !is_unused(line) && !add_statement(out, line, length, all, formulas))
            return diag_set(diag, EXIT_IO, "--format vhdl: no counterpart of \"%.*s\"", (int)length, line);
    }
    return EXIT_DONE;
}

/* ---- the module ---- */

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
    for (const char *line; (line = next_line(&rest, &length)) != NULL;)
        text_add(out, "      %s%.*s\n", p->has_enables ? "  " : "", (int)length, line);
    text_add(out, "%s    end if;\n  end process;\n", p->has_enables ? "      end if;\n" : "");
}

static int add_architecture(struct text *out, const struct module *m, struct declarations *all, struct diag *diag)
{
    const struct pipeline *p = &m->pipeline;
    struct declared *x = new_declared(all, "x_i", 3, m->table->in.bits);
    struct declared *y = new_declared(all, "y_o", 3, m->table->out.bits);
    bool is_read = x && y;
    if (is_read) {
        all->list[0].is_port = all->list[1].is_port = true;
        all->list[0].is_signed = m->table->in.is_signed;
    }
    for (int i = 0; is_read && i <= p->stages; i++) {
        is_read = read_declarations(&p->declarations[i], all) && read_declarations(&p->parts[i], all);
        out->failed |= p->parts[i].failed || p->declarations[i].failed || p->moves[i].failed;
    }
    struct formulas *formulas = malloc(sizeof *formulas);
    if (!is_read || !formulas) {
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
