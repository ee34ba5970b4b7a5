/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What units of both families have alike:
 *
 *   clk_i, rst_ni             clock; reset, asynchronous and active low, of the control
 *   s_axis_*                  a row of codes, Lanes places a beat, the first in the lowest bits; tlast ends it
 *   m_axis_*                  its outputs, in the same beats
 *
 * A row is written into a buffer while it comes, and read out of it to be added up (softmax) and to be written. It is
 * being written when the next one comes: that fills the buffer behind the reading.
 */
#include "row_module.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emit/rtl/pipeline.h"
#include "emit/rtl/rtl.h"
#include "rows.h"

#define CORE_STAGES 4 /* registers of the core: its search, its product and its sum */

static const char stream[] =
    "\n"
    "  // ---- The row: one buffer, which the next row fills behind the last reading of this one.\n"
    "\n"
    "  localparam integer Beats = (Longest + Lanes - 1) / Lanes;\n"
    "  localparam integer AtBits = (Beats > 1) ? $clog2(Beats) : 1;\n"
    "  localparam logic [AtBits-1:0] LastAt = AtBits'(Beats - 1);\n"
    "  localparam logic [1:0] Idle = 2'd0;\n"
    "  localparam logic [1:0] Sum = 2'd1;\n"
    "  localparam logic [1:0] Factor = 2'd2;\n"
    "  localparam logic [1:0] Write = 2'd3;\n"
    "\n"
    "  logic [1:0] state_q;\n"
    "  logic [4:0] step_q;\n"
    "  logic [AtBits-1:0] load_at_q, load_last_q, last_at_q, read_at_q;\n"
    "  logic is_loaded_q, takes, load_ends, starts, is_summed, advance, reads, read_ends;\n"
    "  logic [Lanes*PlaceBits-1:0] places, read_q;\n"
    "  logic [Stages:1] writes_q, lasts_q;\n"
    "\n"
    "  assign s_axis_tready = ~is_loaded_q & ((state_q != Write) | (load_at_q < read_at_q));\n"
    "  assign takes = s_axis_tvalid & s_axis_tready;\n"
    "  assign load_ends = s_axis_tlast | (load_at_q == LastAt);\n"
    "  assign reads = advance & ((state_q == Sum) | (state_q == Write));\n"
    "  assign read_ends = read_at_q == last_at_q;\n"
    "  assign advance = ~writes_q[Stages] | m_axis_tready;\n"
    "  assign m_axis_tvalid = writes_q[Stages];\n"
    "  assign m_axis_tlast = lasts_q[Stages];\n"
    "\n"
    "  UNIT_buffer #(\n"
    "    .Width(Lanes * PlaceBits), .Words(Beats), .AtBits(AtBits)\n"
    "  ) u_buffer (\n"
    "    .clk_i(clk_i), .write_i(takes), .write_at_i(load_at_q), .data_i(places), .read_i(advance),\n"
    "    .read_at_i(read_at_q), .data_o(read_q)\n"
    "  );\n"
    "\n"
    "  always_ff @(posedge clk_i)\n"
    "    if (advance) lasts_q <= {lasts_q[Stages-1:1], read_ends};\n"
    "\n"
    "  always_ff @(posedge clk_i or negedge rst_ni) begin\n"
    "    if (!rst_ni) begin\n"
    "      state_q <= Idle;\n"
    "      step_q <= 5'd0;\n"
    "      is_loaded_q <= 1'b0;\n"
    "      load_at_q <= '0;\n"
    "      load_last_q <= '0;\n"
    "      last_at_q <= '0;\n"
    "      read_at_q <= '0;\n"
    "      writes_q <= '0;\n"
    "    end else begin\n"
    "      if (advance) writes_q <= {writes_q[Stages-1:1], state_q == Write};\n"
    "      if (reads) read_at_q <= read_ends ? '0 : read_at_q + AtBits'(1);\n"
    "      if (takes) begin\n"
    "        load_at_q <= load_ends ? '0 : load_at_q + AtBits'(1);\n"
    "        load_last_q <= load_at_q;\n"
    "        is_loaded_q <= load_ends;\n"
    "      end\n"
    "      case (state_q)\n"
    "        Idle:\n"
    "        if (starts) begin\n"
    "          state_q <= FirstState;\n"
    "          last_at_q <= load_last_q;\n"
    "        end\n"
    "        Sum: if (reads & read_ends) state_q <= Factor;\n"
    "        Factor:\n"
    "        if (step_q == LastStep) begin\n"
    "          state_q <= Write;\n"
    "          step_q <= 5'd0;\n"
    "          is_loaded_q <= 1'b0;\n"
    "        end else if ((step_q != 5'd0) | is_summed) begin\n"
    "          step_q <= step_q + 5'd1;\n"
    "        end\n"
    "        default: if (reads & read_ends) state_q <= Idle;\n"
    "      endcase\n"
    "    end\n"
    "  end\n";

/* A module of its own, so that a memory of the device or of the foundry may take its place. */
static const char buffer[] =
    "\n"
    "// The buffer of a row: a memory with a port to write and one to read, which gives a word one edge later.\n"
    "module UNIT_buffer #(\n"
    "  parameter integer Width = 8,\n"
    "  parameter integer Words = 2,\n"
    "  parameter integer AtBits = 1\n"
    ") (\n"
    "  input  logic clk_i,\n"
    "  input  logic write_i,\n"
    "  input  logic [AtBits-1:0] write_at_i,\n"
    "  input  logic [Width-1:0] data_i,\n"
    "  input  logic read_i,\n"
    "  input  logic [AtBits-1:0] read_at_i,\n"
    "  output logic [Width-1:0] data_o\n"
    ");\n"
    "  logic [Width-1:0] words [0:Words-1];\n"
    "  always_ff @(posedge clk_i) begin\n"
    "    if (write_i) words[write_at_i] <= data_i;\n"
    "    if (read_i) data_o <= words[read_at_i];\n"
    "  end\n"
    "endmodule\n";

/* In quarters, so that no period has more than a product of 16 by 16 bits or an addition. */
static const char product[] = "\n"
                              "// a b, three edges later; where negative_i, a counts 2^ABits less.\n"
                              "module UNIT_product #(\n"
                              "  parameter integer ABits = 32,\n"
                              "  parameter integer BBits = 32\n"
                              ") (\n"
                              "  input  logic clk_i,\n"
                              "  input  logic advance_i,\n"
                              "  input  logic negative_i,\n"
                              "  input  logic [ABits-1:0] a_i,\n"
                              "  input  logic [BBits-1:0] b_i,\n"
                              "  output logic [ABits+BBits-1:0] product_o\n"
                              ");\n"
                              "  localparam integer AHigh = (ABits > 16) ? ABits - 16 : 1;\n"
                              "  localparam integer BHigh = (BBits > 16) ? BBits - 16 : 1;\n"
                              "  localparam integer MiddleBits = ((AHigh > BHigh) ? AHigh : BHigh) + 17;\n"
                              "  localparam integer OuterBits = AHigh + BHigh + 32;\n"
                              "  logic [15:0] a_low, b_low;\n"
                              "  logic [AHigh-1:0] a_high;\n"
                              "  logic [BHigh-1:0] b_high;\n"
                              "  logic [31:0] low_q;\n"
                              "  logic [AHigh+15:0] left_q;\n"
                              "  logic [BHigh+15:0] right_q;\n"
                              "  logic [AHigh+BHigh-1:0] high_q;\n"
                              "  logic [BBits-1:0] less_q;\n"
                              "  logic [MiddleBits-1:0] middle_q;\n"
                              "  logic [OuterBits-1:0] outer_q, whole;\n"
                              "  logic unused_whole;\n"
                              "\n"
                              "  assign {a_high, a_low} = (AHigh+16)'(a_i);\n"
                              "  assign {b_high, b_low} = (BHigh+16)'(b_i);\n"
                              "  assign whole = outer_q + (OuterBits'(middle_q) << 16);\n"
                              "  assign unused_whole = ^whole;\n"
                              "  always_ff @(posedge clk_i)\n"
                              "    if (advance_i) begin\n"
                              "      low_q <= 32'(a_low) * 32'(b_low);\n"
                              "      left_q <= (AHigh+16)'(a_high) * (AHigh+16)'(b_low);\n"
                              "      right_q <= (BHigh+16)'(a_low) * (BHigh+16)'(b_high);\n"
                              "      high_q <= (AHigh+BHigh)'(a_high) * (AHigh+BHigh)'(b_high);\n"
                              "      less_q <= negative_i ? b_i : '0;\n"
                              "      middle_q <= MiddleBits'(left_q) + MiddleBits'(right_q);\n"
                              "      outer_q <= {high_q, low_q} - (OuterBits'(less_q) << ABits);\n"
                              "      product_o <= whole[ABits+BBits-1:0];\n"
                              "    end\n"
                              "endmodule\n";

void row_add_named(struct text *out, const struct row_module *m, const char *text)
{
    for (const char *next; (next = strstr(text, "UNIT")) != NULL; text = next + sizeof "UNIT" - 1) {
        text_add_bytes(out, text, (size_t)(next - text));
        text_add(out, "%s", m->name);
    }
    text_add(out, "%s", text);
}

int row_unit_check(const struct row_operator *of, struct diag *diag)
{
    const enum operator_family family = operator_family(of->kind);
    if (family == FAMILY_SOFTMAX || family == FAMILY_NORM)
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "%s: has no unit of hardware; softmax, logsoftmax and norms have",
                    operator_name(of->kind));
}

int row_module_name(const struct row_operator *of, const struct emit_options *options, char name[EMIT_NAME_SIZE],
                    struct diag *diag)
{
    struct emit_options named = *options;
    if (!named.prefix)
        named.prefix = "pwl_";
    return emit_name(operator_name(of->kind), &of->in, &of->out, &named, &identifiers_verilog, name,
                     EMIT_NAME_SIZE - sizeof "_core", diag);
}

void row_add_number(struct text *out, const char *name, int64_t value, const char *what)
{
    text_add(out, "  localparam integer %s = %" PRId64 ";  // %s\n", name, value, what);
}

void row_add_clip(struct text *out, const struct row_operator *of, int bits, bool is_signed, wide low, wide high)
{
    const struct tensor *const y = &of->out;
    const wide zero_point = y->zero_point;
    const int needed = signed_bits(low + zero_point, high + zero_point), all = needed > bits ? needed : bits + 1;
    char zero[CONSTANT_TEXT], limit[CONSTANT_TEXT], code[CONSTANT_TEXT];
    text_add(out,
             "\n  // The output code of a value less its zero point.\n"
             "  function automatic logic [YBits-1:0] clip(input logic %s[%d:0] value);\n"
             "    logic signed [%d:0] sum;\n"
             "    sum = %d'(value) + %s;\n    ",
             is_signed ? "signed " : "", bits - 1, all - 1, all, signed_constant(all, zero_point, zero));
    if (low + zero_point < y->qmin)
        text_add(out, "if (sum < %s) clip = %s;\n    else ", signed_constant(all, y->qmin, limit),
                 signed_constant(y->bits, y->qmin, code));
    if (high + zero_point > y->qmax ||
        (low + zero_point >= y->qmin && all > y->bits)) /* else bits of it are left over */
        text_add(out, "if (sum > %s) clip = %s;\n    else ", signed_constant(all, y->qmax, limit),
                 signed_constant(y->bits, y->qmax, code));
    text_add(out, "clip = YBits'(sum);\n  endfunction\n");
}

void row_core_errors(const struct row_module *m, int first, wide *low, wide *high)
{
    const wide one = (wide)1 << (first == ROOT_FIRST ? 46 : 47);
    *low = *high = 0;
    for (int cell = first; cell < 65536; cell++) {
        const wide r = packed_eval(&m->packed->core, cell - first);
        for (int end = 0; end < 2; end++) {
            const wide word = ((wide)cell << 16) + (end ? 65535 : 0);
            const wide err = one - (first == ROOT_FIRST ? (r * r * ((word + 1) >> 1)) >> 15 : word * r);
            *low = smaller_wide(*low, err >> 15);
            *high = larger_wide(*high, err >> 15);
        }
    }
}

int row_core_step(struct text *out, int word_step)
{
    const int step = word_step + CORE_STAGES;
    text_add(out, "  localparam logic [4:0] CoreStep = 5'd%d;  // from which on core_y is that of word_q\n", step);
    return step;
}

void row_add_core(struct text *out, const struct row_module *m, int first)
{
    const struct tensor *const in = &m->of->core.in, *const y = &m->of->core.out;
    const int64_t most = ((int64_t)1 << (in->bits - in->is_signed)) - 1, top = 65535 - first;
    text_add(out,
             "\n  // 16 bits of it, of the word's cell.\n"
             "  logic [15:0] core_cell;\n"
             "  logic [%d:0] core_x;\n"
             "  logic [%d:0] core_out;\n"
             "  logic core_valid, unused_core;\n"
             "  assign core_cell = word_q[31:16] - 16'd%d;\n"
             "  assign core_x = ",
             in->bits - 1, y->bits - 1, first);
    if (most < top)
        text_add(out, "(core_cell > 16'd%" PRId64 ") ? %d'd%" PRId64 " : ", most, in->bits, most);
    text_add(out,
             "%d'(core_cell);\n"
             "  assign core_y = 16'(core_out);\n"
             "  assign unused_core = ^{core_valid, core_cell, core_out};\n"
             "  %s_core u_core (\n"
             "    .clk_i(clk_i), .rst_ni(rst_ni), .valid_i(1'b1), .x_i(core_x), .valid_o(core_valid),\n"
             "    .y_o(core_out)\n  );\n",
             in->bits, m->name);
}

void row_add_ports(struct text *out, const struct row_module *m)
{
    const struct row_operator *const of = m->of;
    const bool is_norm = operator_is_norm(of->kind);
    text_add(out, "module %s #(\n  parameter integer Lanes = %d", m->name, m->lanes);
    if (!is_norm)
        text_add(out, ",\n  parameter integer Longest = %" PRIu32, of->length);
    text_add(out,
             "\n) (\n  input  logic clk_i,\n  input  logic rst_ni,\n"
             "  input  logic s_axis_tvalid,\n  output logic s_axis_tready,\n"
             "  input  logic [Lanes*%d-1:0] s_axis_tdata,\n",
             of->in.bits);
    if (!is_norm)
        text_add(out, "  input  logic [Lanes*%d-1:0] s_axis_tkeep,\n", of->in.bits / 8);
    text_add(out,
             "  input  logic s_axis_tlast,\n"
             "  output logic m_axis_tvalid,\n  input  logic m_axis_tready,\n"
             "  output logic [Lanes*%d-1:0] m_axis_tdata,\n"
             "  output logic [Lanes*%d-1:0] m_axis_tkeep,\n"
             "  output logic m_axis_tlast\n);\n",
             of->out.bits, of->out.bits / 8);
    if (is_norm)
        row_add_number(out, "Longest", of->length, "places of a row");
    row_add_number(out, "XBits", of->in.bits, "of an input code");
    row_add_number(out, "YBits", of->out.bits, "of an output code");
}

void row_add_stream(struct text *out, const struct row_module *m)
{
    row_add_named(out, m, stream);
}

static void add_banner(struct text *out, const struct row_module *m)
{
    const struct row_operator *const of = m->of;
    char in[80], y[80];
    tensor_format(&of->in, in, sizeof in);
    tensor_format(&of->out, y, sizeof y);
    text_add(out,
             "// SPDX-License-Identifier: 0BSD\n// DO NOT EDIT: generated by pwlc %s\n//\n// %s\n"
             "//   operator    %s\n//   types       %s to %s\n//   rows        %s %" PRIu32 " places\n"
             "//   spec        %s\n",
             PWLC_VERSION, m->name, operator_name(of->kind), in, y, operator_is_norm(of->kind) ? "of" : "of up to",
             of->length, of->spec);
    if (of->standing == CERTIFICATE_OWN)
        text_add(out, "//   proven      no code of any row is off by more than %g LSB\n//   measured    %g LSB\n",
                 of->certificate.bound_lsb, of->certificate.max_err_lsb);
    text_add(out, "\n");
}

static int add_modules(struct text *out, const struct row_module *m, struct diag *diag)
{
    const struct table *const core = &m->of->core;
    char name[EMIT_NAME_SIZE];
    snprintf(name, sizeof name, "%.*s_core", (int)(sizeof name - sizeof "_core"), m->name);
    text_add(out, "\n// verilator lint_off DECLFILENAME\n");
    row_add_named(out, m, buffer);
    if (m->of->kind != OPERATOR_LOG_SOFTMAX || m->of->exp_high)
        row_add_named(out, m, product);
    if (m->of->kind == OPERATOR_LOG_SOFTMAX) /* which has no core */
        return EXIT_DONE;
    text_add(out, "\n");
    return emit_sv(&core, 1, &(struct emit_options){.name = name, .rtl = {.stages = CORE_STAGES}}, out, diag);
}

int emit_operator_sv(const struct row_operator *of, const struct emit_options *options, struct text *out,
                     struct diag *diag)
{
    struct packed_operator packed = {0};
    struct row_module m = {.of = of, .packed = &packed, .lanes = options->rtl.lanes ? options->rtl.lanes : 1};
    if (row_unit_check(of, diag) || row_module_name(of, options, m.name, diag))
        return diag->code;
    if (operator_pack(of, EXIT_USAGE, &packed, diag) == EXIT_DONE) {
        add_banner(out, &m);
        row_add_ports(out, &m);
        if (operator_is_norm(of->kind))
            row_add_norm(out, &m, diag);
        else
            row_add_softmax(out, &m, diag);
        text_add(out, "endmodule\n");
    }
    if (diag->code == EXIT_DONE)
        add_modules(out, &m, diag);
    packed_operator_free(&packed);
    if (diag->code == EXIT_DONE && out->failed)
        diag_set(diag, EXIT_IO, "out of memory while writing %s", m.name);
    return diag->code;
}
