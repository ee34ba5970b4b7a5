/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A module is proven equal to its table in two steps. Nothing is held back (ready_i is 1) and reset is over; then its
 * registers become wires. Where no path leads back to where it began, every output depends on one code, that of LATENCY
 * cycles before. What is left is a function of the code, and ABC proves that it is nowhere another one than the table,
 * which stands beside it as a case for each code.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "tools/tool.h"

#define PROVEN_BITS 8 /* beyond, ABC takes minutes and more */

/* Registers with an enable or a synchronous reset are refused: yosys is told to make none of what feeds data. */
static const char registers_as_wires[] = "(* techmap_celltype = \"$dff $adff\" *)\n"
                                         "module register_as_wire (CLK, ARST, D, Q);\n"
                                         "  parameter WIDTH = 1, CLK_POLARITY = 1, ARST_POLARITY = 1, ARST_VALUE = 0;\n"
                                         "  input CLK, ARST;\n"
                                         "  input [WIDTH-1:0] D;\n"
                                         "  output [WIDTH-1:0] Q;\n"
                                         "  assign Q = D;\n"
                                         "endmodule\n";

static const char no_feedback_script[] = "read_verilog -sv " PROGRAM_NAME ".sv free.sv\n"
                                         "hierarchy -check -top free\n"
                                         "proc\n"
                                         "flatten\n"
                                         "opt -nodffe -nosdff\n"
                                         "techmap -map registers.v\n"
                                         "select -assert-none t:$*dff* t:$*latch* t:$*_DFF*\n"
                                         "scc -all_cell_types -expect 0\n";

static const char equality_script[] = "read_verilog -sv table.sv\n"
                                      "hierarchy -check -top differs\n"
                                      "proc\n"
                                      "flatten\n"
                                      "opt -purge\n"
                                      "memory_map\n"
                                      "opt\n"
                                      "techmap\n"
                                      "opt\n"
                                      "aigmap\n"
                                      "write_aiger -symbols differs.aig\n";

/* The module where nothing waits. */
static void add_free(struct text *out, const struct verification *verification)
{
    const struct table *const table = verification->table;
    text_add(out,
             "module free (input clk_i, input rst_ni, input valid_i, input [%d:0] x_i, output valid_o,\n"
             "    output [%d:0] y_o);\n"
             "  " PROGRAM_NAME " dut (.clk_i(clk_i), .rst_ni(rst_ni), .valid_i(valid_i), .x_i(x_i),\n"
             "    .valid_o(valid_o), .y_o(y_o)%s);\n"
             "endmodule\n",
             table->in.bits - 1, table->out.bits - 1, verification->emit->rtl.has_ready ? ", .ready_i(1'b1)" : "");
}

/* The table as a function, and a module whose output says where the verified one is another. */
static void add_table(struct text *out, const struct verification *verification)
{
    const struct table *const table = verification->table;
    const int in = table->in.bits, result = table->out.bits;
    const uint64_t mask = UINT64_C(0xffffffff) >> (32 - result);
    text_add(out,
             "module differs (input [%d:0] x, output is_other);\n"
             "  wire [%d:0] y;\n"
             "  reg [%d:0] expected;\n"
             "  free dut (.clk_i(1'b0), .rst_ni(1'b1), .valid_i(1'b1), .x_i(x), .y_o(y));\n"
             "  always @* case (x)\n",
             in - 1, result - 1, result - 1);
    const int64_t last = code_max(in, table->in.is_signed);
    for (int64_t q = code_min(in, table->in.is_signed); q < last; q++)
        text_add(out, "    %d'h%" PRIx64 ": expected = %d'h%" PRIx64 ";\n", in,
                 (uint64_t)q & (UINT64_C(0xffffffff) >> (32 - in)), result,
                 (uint64_t)packed_eval(verification->packed, q) & mask);
    text_add(out, "    default: expected = %d'h%" PRIx64 ";\n", result,
             (uint64_t)packed_eval(verification->packed, last) & mask);
    text_add(out, "  endcase\n"
                  "  assign is_other = y != expected;\n"
                  "endmodule\n");
}

static int write_string(const struct program *program, const char *name, const char *string, struct diag *diag)
{
    struct text text = {0};
    text_add(&text, "%s", string);
    return scratch_write(program->folder, name, &text, diag);
}

static int run_yosys(const struct verification *verification, const struct program *program, bool is_narrow,
                     struct diag *diag)
{
    static const char *const argv[] = {"yosys", "-q", "proof.ys", NULL};
    struct text table = {0}, script = {0}, free_running = {0};
    add_free(&free_running, verification);
    text_add(&script, "%s%s", no_feedback_script, is_narrow ? equality_script : "");
    int code = scratch_write(program->folder, "proof.ys", &script, diag);
    if (code == EXIT_DONE)
        code = scratch_write(program->folder, "free.sv", &free_running, diag);
    if (code == EXIT_DONE)
        code = write_string(program, "registers.v", registers_as_wires, diag);
    if (code == EXIT_DONE && is_narrow) {
        add_table(&table, verification);
        code = scratch_write(program->folder, "table.sv", &table, diag);
    }
    return code == EXIT_DONE ? tool_run(argv, program->folder, verification->limit_s, NULL, diag) : code;
}

/* The code of a counterexample, as ABC writes it: "x[3]@0=1" for each bit. */
static int read_counterexample(const struct verification *verification, const struct program *program, int64_t *code,
                               struct diag *diag)
{
    const struct tensor *const in = &verification->table->in;
    char path[SCRATCH_PATH_SIZE + 16];
    unsigned char *bytes = NULL;
    size_t size;
    uint64_t pattern = 0;
    int found = 0;
    snprintf(path, sizeof path, "%s/differs.txt", program->folder);
    if (file_read(path, 1 << 16, &bytes, &size, diag))
        return diag->code;
    for (const char *at = (const char *)bytes; (at = strstr(at, "x[")) != NULL; at++) {
        int bit = 0, value = 0;
        if (sscanf(at, "x[%2d]@0=%1d", &bit, &value) == 2 && bit >= 0 && bit < in->bits) {
            pattern |= (uint64_t)(value & 1) << bit;
            found++;
        }
    }
    free(bytes);
    if (found != in->bits)
        return diag_set(diag, EXIT_IO, "yosys-abc: its counterexample has %d of %d bits", found, in->bits);
    *code = (int64_t)pattern - (in->is_signed && pattern >> (in->bits - 1) ? INT64_C(1) << in->bits : 0);
    return EXIT_DONE;
}

/* Exit 3 where the module gives another value. */
static int run_abc(const struct verification *verification, const struct program *program, struct diag *diag)
{
    static const char *const argv[] = {"yosys-abc", "-c",
                                       "read_aiger differs.aig; iprove; print_status; write_cex -n differs.txt", NULL};
    struct text said = {0};
    int64_t q = 0;
    int code = tool_run(argv, program->folder, verification->limit_s, &said, diag);
    const bool is_equal = said.bytes && strstr(said.bytes, "Status = 1 "),
               is_other = said.bytes && strstr(said.bytes, "Status = 0 ");
    text_free(&said);
    if (code != EXIT_DONE || is_equal)
        return code;
    if (!is_other)
        return diag_set(diag, EXIT_IO, "yosys-abc: iprove neither proves nor refutes the module");
    if (read_counterexample(verification, program, &q, diag) == EXIT_DONE)
        diag_set(diag, EXIT_REQUIREMENT, "code %" PRId64 ": the table gives %" PRId64 ", the module another value", q,
                 packed_eval(verification->packed, q));
    return diag->code;
}

int prove(const struct verification *verification, const struct table *table, struct verdict *verdict,
          struct diag *diag)
{
    const struct emit_options options = {.name = PROGRAM_NAME, .rtl = verification->emit->rtl};
    const bool is_narrow = table->in.bits <= PROVEN_BITS;
    struct program program = {.table = table};
    char version[TOOL_VERSION_SIZE];
    if (verification->inject && !is_narrow)
        return diag_set(diag, EXIT_USAGE, "--prove: values are proven for inputs of up to %d bits; leave out --inject",
                        PROVEN_BITS);
    if (tool_version(&tool_yosys, version, diag) || scratch_folder(program.folder, diag) ||
        program_emit(&program, "sv", &options, PROGRAM_NAME ".sv", diag))
        return diag->code;
    snprintf(verdict->tools, sizeof verdict->tools, "yosys %s", version);
    if (run_yosys(verification, &program, is_narrow, diag) || (is_narrow && run_abc(verification, &program, diag)))
        return diag->code;
    if (is_narrow)
        snprintf(verdict->claim, sizeof verdict->claim, "equal at every one of %d codes, no feedback",
                 1 << table->in.bits);
    else
        snprintf(verdict->claim, sizeof verdict->claim, "no feedback; that codes are equal is left to --against sv");
    return EXIT_DONE;
}
