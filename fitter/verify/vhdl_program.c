/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The module in VHDL under GHDL, driven as sv_program.c drives the other: gaps before it, waits behind it. */
#include <stdio.h>
#include <string.h>

#include "program.h"
#include "tools/tool.h"

static const struct tool ghdl = {"ghdl", "Debian's package ghdl", "--version", "1.0"};

/* Standard input has integers of up to 33 bits, those of VHDL have 32: they are read as hundred thousands and the rest.
 * What is written is text to VHDL, the bytes of an int64_t to its reader. */
static const char reading[] =
    "  procedure read_number(variable row : inout line; variable number : out signed(63 downto 0)) is\n"
    "    variable digit : character;\n"
    "    variable upper, lower, digits : integer := 0;\n"
    "    variable is_good, is_negative : boolean := false;\n"
    "  begin\n"
    "    loop\n"
    "      read(row, digit, is_good);\n"
    "      exit when not is_good or (digit = ' ' and digits > 0);\n"
    "      is_negative := is_negative or digit = '-';\n"
    "      if digit >= '0' and digit <= '9' then\n"
    "        upper := upper * 10 + lower / 10000;\n"
    "        lower := (lower mod 10000) * 10 + character'pos(digit) - character'pos('0');\n"
    "        digits := digits + 1;\n"
    "      end if;\n"
    "    end loop;\n"
    "    number := resize(to_signed(upper, 32) * to_signed(100000, 32), 64) + lower;\n"
    "    if is_negative then\n"
    "      number := -number;\n"
    "    end if;\n"
    "  end procedure;\n"
    "\n"
    "  procedure write_number(number : std_logic_vector(31 downto 0); fill : std_logic) is\n"
    "    variable bytes : string(1 to 8);\n"
    "    variable upper, lower : natural;\n"
    "  begin\n"
    "    upper := to_integer(unsigned(number(31 downto 16)));\n"
    "    lower := to_integer(unsigned(number(15 downto 0)));\n"
    "    bytes := (1 => character'val(lower mod 256), 2 => character'val(lower / 256), 3 => character'val(upper mod "
    "256),\n"
    "      4 => character'val(upper / 256), others => character'val(0));\n"
    "    if fill = '1' then\n"
    "      bytes(5 to 8) := (others => character'val(255));\n"
    "    end if;\n"
    "    write(output, bytes);\n"
    "  end procedure;\n";

/* One cycle: receives what is there at its end. */
static void add_cycle(struct text *out, const struct verification *verification)
{
    text_add(out,
             "    procedure cycle is\n"
             "    begin\n"
             "      state := state(30 downto 0) & (state(31) xor state(21) xor state(1) xor state(0));\n"
             "      takes <= %s;\n"
             "      wait for 1 ns;\n"
             "      if is_valid = '1' and takes = '1' then\n"
             "        assert not is_x(y) report \"y_o has unknown bits\" severity failure;\n"
             "        write_number(std_logic_vector(resize(%s(y), 32)), %s);\n"
             "        received := received + 1;\n"
             "        cycles := 0;\n"
             "      end if;\n"
             "      if gives = '1' and is_taken = '1' then\n"
             "        sent := sent + 1;\n"
             "        code := code + 1;\n"
             "      end if;\n"
             "      cycles := cycles + 1;\n"
             "      assert cycles <= 4096 report \"the module gives no value in 4096 cycles\" severity failure;\n"
             "      clk <= '1';\n"
             "      wait for 1 ns;\n"
             "      clk <= '0';\n"
             "    end procedure;\n",
             verification->emit->rtl.has_ready ? "'1' when state(28 downto 26) /= 0 else '0'" : "'1'",
             verification->table->out.is_signed ? "signed" : "unsigned",
             verification->table->out.is_signed ? "y(y'high)" : "'0'");
}

static void add_bench(struct text *out, const struct verification *verification)
{
    const struct tensor *const in = &verification->table->in, *const y = &verification->table->out;
    const bool has_ready = verification->emit->rtl.has_ready;
    text_add(
        out,
        "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\nuse std.textio.all;\n"
        "\n"
        "entity bench is\nend entity;\n"
        "\n"
        "architecture run of bench is\n"
        "%s"
        "  signal clk, reset_n, gives : std_logic := '0';\n"
        "  signal takes, is_taken : std_logic := '1';\n"
        "  signal is_valid : std_logic;\n"
        "  signal x : std_logic_vector(%d downto 0) := (others => '0');\n"
        "  signal y : std_logic_vector(%d downto 0);\n"
        "begin\n"
        "  dut : entity work." PROGRAM_NAME "\n"
        "    port map (clk_i => clk, rst_ni => reset_n, valid_i => gives, x_i => x, valid_o => is_valid,%s y_o => y);\n"
        "\n"
        "  process\n"
        "    variable row : line;\n"
        "    variable first, count : signed(63 downto 0);\n"
        "    variable code, behind : unsigned(x'range);\n"
        "    variable state : unsigned(31 downto 0) := to_unsigned(1, 32);\n"
        "    variable sent, received, begun, cycles : natural := 0;\n",
        reading, in->bits - 1, y->bits - 1, has_ready ? " ready_i => takes, ready_o => is_taken," : "");
    add_cycle(out, verification);
    text_add(out, "  begin\n"
                  "    wait for 1 ns;\n"
                  "    clk <= '1';\n"
                  "    wait for 1 ns;\n"
                  "    clk <= '0';\n"
                  "    reset_n <= '1';\n"
                  "    while not endfile(input) loop\n"
                  "      readline(input, row);\n"
                  "      read_number(row, first);\n"
                  "      read_number(row, count);\n"
                  "      code := resize(unsigned(first), x'length);\n"
                  "      behind := resize(unsigned(first + count), x'length);\n"
                  "      begun := sent;\n"
                  "      while code /= behind or sent = begun loop\n"
                  "        gives <= '1' when state(31 downto 29) /= 0 else '0';\n"
                  "        x <= std_logic_vector(code);\n"
                  "        cycle;\n"
                  "      end loop;\n"
                  "    end loop;\n"
                  "    gives <= '0';\n"
                  "    while received /= sent loop\n"
                  "      cycle;\n"
                  "    end loop;\n"
                  "    wait;\n"
                  "  end process;\n"
                  "end architecture;\n");
}

int vhdl_program(const struct verification *verification, struct program *program, struct diag *diag)
{
    static const char *const analyse[] = {"ghdl", "-a", "--std=08", PROGRAM_NAME ".vhd", "bench.vhd", NULL};
    static const char *const elaborate[] = {"ghdl", "-e", "--std=08", "bench", NULL};
    /* Before the first edge all is unknown, of which its packages would warn. */
    static const char *const run[] = {"ghdl", "-r", "--std=08", "bench", "--ieee-asserts=disable", NULL};
    const struct emit_options options = {.name = PROGRAM_NAME, .rtl = verification->emit->rtl};
    struct text text = {0};
    char version[TOOL_VERSION_SIZE];
    if (tool_version(&ghdl, version, diag) || program_emit(program, "vhdl", &options, PROGRAM_NAME ".vhd", diag))
        return diag->code;
    snprintf(program->tools, sizeof program->tools, "ghdl %s", version);
    program->names[0] = "the module";
    memcpy(program->argv, run, sizeof run);
    if (program->wave) /* behind the last but the null */
        program->argv[sizeof run / sizeof *run - 1] = wave_is_fst(program) ? "--fst=wave.fst" : "--vcd=wave.vcd";
    add_bench(&text, verification);
    if (scratch_write(program->folder, "bench.vhd", &text, diag) ||
        tool_run(analyse, program->folder, verification->limit_s, NULL, diag))
        return diag->code;
    return tool_run(elaborate, program->folder, verification->limit_s, NULL, diag);
}
