/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The module under a simulator. Codes go in with gaps, and where there is a ready its results are held back at times:
 * each cycle draws one bit for either, from a generator that begins anew at every run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "program.h"
#include "tools/tool.h"

int sv_program_bits(const struct table *table)
{
    return table->in.bits;
}

/* -- Verilator: the standalone header runs beside the module ----------------------------------------------------------
 */

/* What keeps the waves of the module, or does nothing. */
static void add_waves(struct text *out, const struct program *program)
{
    if (!program->wave) {
        text_add(
            out,
            "static void open_waves(void) {}\nstatic void dump_wave(void) {}\nstatic void close_waves(void) {}\n\n");
        return;
    }
    const bool is_fst = wave_is_fst(program);
    text_add(out,
             "#include \"verilated_%s_c.h\"\n"
             "static Verilated%sC *waves; /* never freed: at the end its library is gone */\n"
             "static void open_waves(void)\n"
             "{\n"
             "    Verilated::traceEverOn(true);\n"
             "    waves = new Verilated%sC;\n"
             "    module->trace(waves, 99);\n"
             "    waves->open(\"%s\");\n"
             "}\n"
             "static void dump_wave(void)\n"
             "{\n"
             "    static uint64_t now;\n"
             "    waves->dump(now++);\n"
             "}\n"
             "static void close_waves(void) { waves->close(); }\n\n",
             is_fst ? "fst" : "vcd", is_fst ? "Fst" : "Vcd", is_fst ? "Fst" : "Vcd", program->wave);
}

/* From the headers to the first code. */
static void add_cpp_head(struct text *out, const struct program *program)
{
    text_add(out, "#include \"V" PROGRAM_NAME ".h\"\n");
    program_add_main(out, program);
    text_add(out, "#include <stdlib.h>\n"
                  "#include \"table.h\"\n"
                  "\n"
                  "static V" PROGRAM_NAME " *module;\n"
                  "static uint32_t state = 1;\n"
                  "\n"
                  "double sc_time_stamp() { return 0; }\n"
                  "\n");
    add_waves(out, program);
    text_add(out, "/* One time in eight. */\n"
                  "static bool pause_here(void)\n"
                  "{\n"
                  "    state = state * 1664525u + 1013904223u;\n"
                  "    return state >> 29 == 0;\n"
                  "}\n"
                  "\n"
                  "static void half_cycle(int clock)\n"
                  "{\n"
                  "    module->clk_i = clock;\n"
                  "    module->eval();\n"
                  "    dump_wave();\n"
                  "}\n"
                  "\n"
                  "static void begin(void)\n"
                  "{\n"
                  "    module = new V" PROGRAM_NAME ";\n"
                  "    open_waves();\n"
                  "    module->rst_ni = 0;\n"
                  "    module->valid_i = 0;\n"
                  "    half_cycle(0);\n"
                  "    half_cycle(1);\n"
                  "    module->rst_ni = 1;\n"
                  "}\n"
                  "\n");
}

static void add_cpp(struct text *out, const struct verification *verification, const struct program *program)
{
    const struct tensor *const in = &program->table->in, *const result = &program->table->out;
    const bool has_ready = verification->emit->rtl.has_ready;
    add_cpp_head(out, program);
    text_add(out,
             "static void evaluate(void)\n"
             "{\n"
             "    size_t sent = 0, received = 0;\n"
             "    if (!module)\n"
             "        begin();\n"
             "    for (size_t cycle = 0; received < filled; cycle++) {\n"
             "        const bool gives = sent < filled && !pause_here();\n"
             "        bool takes = true, is_taken = true;\n"
             "        if (cycle == 8 * PIECE) {\n"
             "            fprintf(stderr, \"the module gives no value in %%d cycles\\n\", 8 * PIECE);\n"
             "            exit(1);\n"
             "        }\n"
             "        module->valid_i = gives;\n"
             "        module->x_i = (uint32_t)x[sent < filled ? sent : 0] & UINT32_C(0x%" PRIx64 ");\n",
             UINT64_C(0xffffffff) >> (32 - in->bits));
    if (has_ready)
        text_add(out, "        takes = !pause_here();\n"
                      "        module->ready_i = takes;\n");
    text_add(out, "        half_cycle(0);\n");
    if (has_ready)
        text_add(out, "        is_taken = module->ready_o;\n");
    text_add(out,
             "        if (module->valid_o && takes) {\n"
             "            const int64_t bits = module->y_o;\n"
             "            y[received++][0] = (bits ^ INT64_C(%" PRId64 ")) - INT64_C(%" PRId64 ");\n"
             "        }\n"
             "        sent += gives && is_taken;\n"
             "        half_cycle(1);\n"
             "    }\n"
             "    for (size_t k = 0; k < filled; k++)\n"
             "        y[k][1] = " PROGRAM_NAME "_eval((in_t)x[k]);\n"
             "    if (filled < PIECE) /* the last */\n"
             "        close_waves();\n"
             "}\n",
             result->is_signed ? INT64_C(1) << (result->bits - 1) : 0,
             result->is_signed ? INT64_C(1) << (result->bits - 1) : 0);
}

static int verilator_program(const struct verification *verification, struct program *program, struct diag *diag)
{
    /* A long run is worth a slower build. */
    const char *const optimise = verification->exhaustive && program->table->in.bits > 20 ? "-O2" : "-O0";
    const char *const trace = !program->wave ? NULL : wave_is_fst(program) ? "--trace-fst" : "--trace";
    const char *const argv[] = {"verilator",  "--cc",   "--exe",   "--build",          "-Wall",
                                "-CFLAGS",    optimise, "--Mdir",  "objects",          "--top-module",
                                PROGRAM_NAME, "-o",     "program", PROGRAM_NAME ".sv", "main.cpp",
                                trace,        NULL};
    const struct emit_options header = {.name = PROGRAM_NAME, .standalone = true};
    struct text text = {0};
    char version[TOOL_VERSION_SIZE];
    if (tool_version(&tool_verilator, version, diag))
        return diag->code;
    snprintf(program->tools, sizeof program->tools, "verilator %s", version);
    program->names[0] = "the module";
    program->names[1] = "NAME_eval";
    program->argv[0] = "objects/program";
    add_cpp(&text, verification, program);
    if (scratch_write(program->folder, "main.cpp", &text, diag) || program_emit(program, "c", &header, "table.h", diag))
        return diag->code;
    return tool_run(argv, program->folder, verification->limit_s, NULL, diag);
}

/* -- Icarus Verilog ---------------------------------------------------------------------------------------------------
 */

static void add_bench_signals(struct text *out, const struct program *program, bool has_ready)
{
    const struct tensor *const in = &program->table->in, *const result = &program->table->out;
    text_add(out,
             "module bench;\n"
             "  localparam integer STDIN = 32'h8000_0000;\n"
             "  integer to = %s;\n"
             "  reg clk = 0, reset_n = 0, gives = 0, takes = 1;\n"
             "  reg [%d:0] x = 0;\n"
             "  wire is_valid;\n"
             "  wire is_taken;\n"
             "  wire %s[%d:0] y;\n"
             "  " PROGRAM_NAME " dut (.clk_i(clk), .rst_ni(reset_n), .valid_i(gives), .x_i(x), .valid_o(is_valid),\n"
             "    %s.y_o(y));\n",
             program->wave ? "$fopen(\"/dev/fd/3\", \"wb\")" : "32'h8000_0001", in->bits - 1,
             result->is_signed ? "signed " : "", result->bits - 1,
             has_ready ? ".ready_i(takes), .ready_o(is_taken), " : "");
    if (!has_ready)
        text_add(out, "  assign is_taken = 1;\n");
}

static void add_bench(struct text *out, const struct verification *verification, const struct program *program)
{
    const bool has_ready = verification->emit->rtl.has_ready;
    char waves[80] = "";
    add_bench_signals(out, program, has_ready);
    if (program->wave)
        snprintf(waves, sizeof waves, "    $dumpfile(\"%s\");\n    $dumpvars(0, bench);\n", program->wave);
    text_add(out,
             "  reg signed [63:0] first, count, value;\n"
             "  reg [63:0] sent = 0, received = 0, last = 0;\n"
             "  integer got, cycles = 0;\n"
             "  reg [31:0] state = 1;\n"
             "\n"
             "  // Receives what is there at the end of a cycle.\n"
             "  task cycle;\n"
             "    begin\n"
             "      state = state * 1664525 + 1013904223;\n"
             "      takes = %s;\n"
             "      #1;\n"
             "      if (is_valid && takes) begin\n"
             "        if (^y === 1'bx) $fatal(1, \"y_o has unknown bits\");\n"
             "        value = y;\n"
             "        $fwrite(to, \"%%u\", value);\n"
             "        received = received + 1;\n"
             "        cycles = 0;\n"
             "      end\n"
             "      sent = sent + (gives && is_taken);\n"
             "      cycles = cycles + 1;\n"
             "      if (cycles > 4096) $fatal(1, \"the module gives no value in 4096 cycles\");\n"
             "      clk = 1;\n"
             "      #1 clk = 0;\n"
             "    end\n"
             "  endtask\n"
             "\n"
             "  initial begin\n"
             "    #1 clk = 1;\n"
             "    #1 clk = 0;\n"
             "    reset_n = 1;\n"
             "%s"
             "    got = $fscanf(STDIN, \"%%d %%d\", first, count);\n"
             "    while (got == 2) begin\n"
             "      last = sent;\n"
             "      while (sent - last < count) begin\n"
             "        gives = state[31:29] != 0;\n"
             "        value = first + (sent - last);\n"
             "        x = value[%d:0];\n"
             "        cycle;\n"
             "      end\n"
             "      got = $fscanf(STDIN, \"%%d %%d\", first, count);\n"
             "    end\n"
             "    gives = 0;\n"
             "    while (received != sent) cycle;\n"
             "    $finish(0);\n"
             "  end\n"
             "endmodule\n",
             has_ready ? "state[28:26] != 0" : "1", waves, program->table->in.bits - 1);
}

static int iverilog_program(const struct verification *verification, struct program *program, struct diag *diag)
{
    static const char *const argv[] = {"iverilog", "-g2012",           "-Wall", "-o", "program.vvp",
                                       "bench.sv", PROGRAM_NAME ".sv", NULL};
    struct text text = {0};
    char version[TOOL_VERSION_SIZE];
    if (tool_version(&tool_iverilog, version, diag) || tool_version(&tool_vvp, version, diag))
        return diag->code;
    snprintf(program->tools, sizeof program->tools, "iverilog %s", version);
    program->names[0] = "the module";
    program->argv[0] = "vvp";
    program->argv[1] = "-n";
    program->argv[2] = "program.vvp";
    if (program->wave) { /* which vvp tells of on its standard output */
        program->argv[0] = "sh";
        program->argv[1] = "-c";
        program->argv[2] =
            wave_is_fst(program) ? "exec vvp -n program.vvp -fst 3>&1 >&2" : "exec vvp -n program.vvp 3>&1 >&2";
    }
    add_bench(&text, verification, program);
    if (scratch_write(program->folder, "bench.sv", &text, diag))
        return diag->code;
    return tool_run(argv, program->folder, verification->limit_s, NULL, diag);
}

int sv_program(const struct verification *verification, struct program *program, struct diag *diag)
{
    const struct emit_options options = {.name = PROGRAM_NAME, .rtl = verification->emit->rtl};
    if (program_emit(program, "sv", &options, PROGRAM_NAME ".sv", diag))
        return diag->code;
    return strcmp(verification->simulator, "verilator") == 0 ? verilator_program(verification, program, diag)
                                                             : iverilog_program(verification, program, diag);
}
