/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bench that checks the module of a table by itself. Its model is the definition of the table in 64-bit steps, with
 * the numbers as the table has them; a hash of all outputs, which the runtime computed, holds the model to the runtime.
 * Whatever differs ends in $fatal.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "codes.h"
#include "rtl.h"
#include "verilog.h"

static void add_array(struct text *out, const struct module *m, const char *name, size_t at)
{
    char literal[CONSTANT_TEXT];
    const int count = m->table->segment_count;
    text_add(out, "  logic signed [63:0] %s [0:%d];\n  initial begin\n", name, count - 1);
    for (int i = 0; i < count; i++) {
        const struct segment *segment = &m->table->segments[i];
        const int64_t values[] = {segment->start, segment->q_b, segment->n, segment->offset};
        text_add(out, "    %s[%d] = %s;\n", name, i, signed_constant(64, values[at], literal));
    }
    text_add(out, "  end\n");
}

/* v / 2^n rounded, for n > 0 to the right */
static void add_shift_function(struct text *out, pwl_rounding rounding)
{
    static const char *const addends[] = {"64'sd0", "half", "half - ((v < 0) ? 64'sd1 : 64'sd0)",
                                          "half - (((v >>> n) & 64'sd1) == 0 ? 64'sd1 : 64'sd0)"};
    text_add(out,
             "\n  // v / 2^n, rounded\n"
             "  function automatic logic signed [63:0] shr(input logic signed [63:0] v, input logic signed [63:0] n);\n"
             "    logic signed [63:0] half;\n"
             "    half = 64'sd0;\n"
             "    if (n <= 0) return v <<< -n;\n"
             "    half = 64'sd1 <<< (n - 64'sd1);\n"
             "    return (v + (%s)) >>> n;\n"
             "  endfunction\n",
             addends[rounding]);
}

static void add_raw_function(struct text *out, const struct module *m)
{
    const struct table *t = m->table;
    char zero[CONSTANT_TEXT];
    signed_constant(64, table_segment_codes(t).zero_point, zero);
    text_add(out,
             "\n  // The line of the last segment that starts at or before the code.\n"
             "  function automatic logic signed [63:0] raw(input logic signed [63:0] code);\n"
             "    integer low, high, middle;\n"
             "    low = 0;\n"
             "    high = %d;\n"
             "    while (high - low > 1) begin\n"
             "      middle = (low + high) / 2;\n"
             "      if (start[middle] <= code) low = middle;\n"
             "      else high = middle;\n"
             "    end\n",
             t->segment_count);
    const char *from = t->form == PWL_ANCHORED ? "start[low]" : zero;
    if (t->form == PWL_BIASED)
        text_add(out, "    return shr(q_b[low] * (code - %s) + offset[low], shift[low]);\n", from);
    else
        text_add(out, "    return shr(q_b[low] * (code - %s), shift[low]) + offset[low];\n", from);
    text_add(out, "  endfunction\n");
}

static void add_reduced_value(struct text *out, const struct module *m)
{
    const pwl_reduction *r = &m->table->reduction;
    const int bits = storage_bits(m->table->storage), dropped = r->fraction - bits;
    char a[CONSTANT_TEXT], c[CONSTANT_TEXT];
    text_add(out, "    d = code - %s;\n", signed_constant(64, m->table->in.zero_point, a));
    if (r->kind == PWL_LEADING_ZEROS) {
        text_add(out, "    if (d <= 0) return %s;\n", signed_constant(64, r->below, a));
        text_add(out,
                 "    octave = 64'sd%d;\n"
                 "    for (rest = d; rest > 0; rest = rest >>> 1) octave = octave - 64'sd1;\n"
                 "    octave = octave >>> %d;\n"
                 "    up = octave <<< %d;\n"
                 "    word = (up < 0) ? d >>> -up : d <<< up;\n",
                 bits, r->log2_step, r->log2_step);
    } else {
        text_add(out, "    rest = d * %s;\n", signed_constant(64, r->factor, a));
        if (dropped > 0)
            text_add(out, "    rest = (rest + (64'sd1 <<< %d)) >>> %d;\n", dropped - 1, dropped);
        text_add(out, "    octave = rest >>> %d;\n    word = rest - (octave <<< %d);\n", bits, bits);
    }
    text_add(out,
             "    up = %s + octave * %d;\n"
             "    if (up < 0) up = 64'sd0;\n"
             "    if (up > 62) up = 64'sd62;\n",
             signed_constant(64, r->shift, a), r->direction);
    text_add(out, "    value = raw(word) - octave * %s;\n", signed_constant(64, r->addend, a));
    text_add(out, "    if (up > 0) value = (value + (64'sd1 <<< (up - 64'sd1))) >>> up;\n    value = value + %s;\n",
             signed_constant(64, m->table->out.zero_point, c));
}

static void add_model(struct text *out, const struct module *m)
{
    const struct table *t = m->table;
    char a[CONSTANT_TEXT], c[CONSTANT_TEXT];
    text_add(out, "\n  // The output of a code, by the definition of the table.\n"
                  "  function automatic logic signed [63:0] model(input logic signed [63:0] x);\n"
                  "    logic signed [63:0] code, value");
    text_add(out, t->has_reduction ? ", d, rest, octave, up, word;\n" : ";\n");
    text_add(out, "    code = x;\n    if (code < %s) code = %s;\n", signed_constant(64, t->in.qmin, a), a);
    text_add(out, "    if (code > %s) code = %s;\n", signed_constant(64, t->in.qmax, a), a);
    if (t->has_reduction) {
        add_reduced_value(out, m);
    } else if (t->has_fold) {
        text_add(out, "    if (code < %s) value = %s - ", signed_constant(64, t->in.zero_point, a),
                 signed_constant(64, t->fold_sum, c));
        text_add(out, "raw(%s - code);\n    else value = raw(code);\n", signed_constant(64, 2 * t->in.zero_point, a));
    } else {
        text_add(out, "    value = raw(code);\n");
    }
    text_add(out, "    if (value < %s) value = %s;\n", signed_constant(64, t->out.qmin, a), a);
    text_add(out, "    if (value > %s) value = %s;\n", signed_constant(64, t->out.qmax, a), a);
    text_add(out, "    return value;\n  endfunction\n");
}

static void add_codes(struct text *out, const struct codes *codes)
{
    char literal[CONSTANT_TEXT];
    const char *sign = codes->is_signed ? " signed" : "";
    if (codes->listed) {
        text_add(out, "\n  logic%s [%d:0] listed [0:%" PRId64 "];\n  initial begin\n", sign, codes->bits - 1,
                 codes->listed_count - 1);
        for (int64_t i = 0; i < codes->listed_count; i++)
            text_add(out, "    listed[%" PRId64 "] = %s;\n", i,
                     signed_constant(codes->bits, codes->listed[i], literal));
        text_add(out, "  end\n");
    }
    text_add(out,
             "\n  // The code at a place of the stream%s.\n"
             "  function automatic logic%s [%d:0] code_at(input logic [31:0] place);\n",
             codes->has_all ? ": every one" : ": those around knots and limits, then drawn ones", sign,
             codes->bits - 1);
    if (codes->has_all)
        text_add(out, "    return place[%d:0];\n", codes->bits - 1);
    else
        text_add(out,
                 "    logic [31:0] mixed;\n"
                 "    mixed = (place ^ (place >> 16)) * 32'h7feb352d;\n"
                 "    mixed = (mixed ^ (mixed >> 15)) * 32'h846ca68b;\n"
                 "    mixed = mixed ^ (mixed >> 16);\n"
                 "    return (place < %" PRId64 ") ? listed[place] : mixed[%d:0];\n",
                 codes->listed_count, codes->bits - 1);
    text_add(out, "  endfunction\n");
}

static void add_constants(struct text *out, const struct module *m, const struct codes *codes, const uint64_t hashes[2])
{
    const struct code_bits bits = code_bits(codes);
    text_add(out,
             "  localparam integer LATENCY = %d;\n"
             "  localparam integer CODES = %" PRId64 ";\n"
             "  parameter integer LAST = CODES;  // FIRST_CODES is the other number that has a hash\n"
             "  localparam integer FIRST_CODES = %" PRId64 ";\n"
             "  localparam logic [63:0] FIRST_HASH = 64'h%016" PRIx64 ";\n"
             "  localparam logic [63:0] HASH = 64'h%016" PRIx64 ";\n"
             "  localparam integer GAP_BIT = %d;\n"
             "  localparam integer WAIT_BIT = %d;\n"
             "  localparam logic HAS_READY = 1'b%d;\n",
             m->stages, codes->count, codes_first(codes), hashes[0], hashes[1], bits.gap, bits.wait, m->has_ready);
}

/* Of a module whose table is written over its port. */
static void add_words(struct text *out, const struct module *m)
{
    text_add(out,
             "  logic write = 1'b0;\n  logic [%d:0] address = 0;\n  logic [%d:0] word = 0;\n"
             "  logic [%d:0] words [0:%d];\n  initial begin\n",
             m->rom.address_bits - 1, m->rom.width - 1, m->rom.width - 1, m->rom.entries - 1);
    for (int i = 0; i < m->rom.entries; i++) {
        text_add(out, "    words[%d] = %d'h", i, m->rom.width);
        rom_add_hex(out, &m->rom, i);
        text_add(out, ";\n");
    }
    text_add(out, "  end\n");
}

static void add_signals(struct text *out, const struct module *m)
{
    const struct tensor *in = &m->table->in, *y = &m->table->out;
    const char *x_sign = in->is_signed ? "signed " : "", *y_sign = y->is_signed ? "signed " : "";
    text_add(out, "\n");
    if (m->loadable > 0)
        add_words(out, m);
    text_add(out,
             "  logic clk = 1'b0, rst_n = 1'b0;\n"
             "  logic valid_in = 1'b0, valid_out, ready_in = 1'b1, ready_out;\n"
             "  logic %s[%d:0] x = '0;\n"
             "  logic %s[%d:0] y;\n"
             "  %s dut (\n"
             "    .clk_i(clk), .rst_ni(rst_n), .valid_i(valid_in), .x_i(x), .valid_o(valid_out), .y_o(y)%s\n  );\n",
             x_sign, in->bits - 1, y_sign, y->bits - 1, m->name,
             m->has_ready      ? ",\n    .ready_o(ready_out), .ready_i(ready_in)"
             : m->loadable > 0 ? ",\n    .write_i(write), .address_i(address), .word_i(word)"
                               : "");
    if (!m->has_ready)
        text_add(out, "  assign ready_out = 1'b1;\n");
    text_add(out, "  logic signed [63:0] place_x, wide_y;\n  assign place_x = %s;\n  assign wide_y = %s;\n",
             in->is_signed ? "64'(code_at(received))" : "$signed({1'b0, 63'(code_at(received))})",
             y->is_signed ? "64'(y)" : "$signed({1'b0, 63'(y)})");
}

static void add_loading(struct text *out, const struct module *m)
{
    text_add(out,
             "    write = 1'b1;\n"
             "    for (integer i = 0; i < %d; i = i + 1) begin\n"
             "      address = %d'(i);\n      word = words[i];\n      @(negedge clk);\n    end\n"
             "    write = 1'b0;\n",
             m->rom.entries, m->rom.address_bits);
}

static const char stream[] =
    "\n"
    "  always #5 clk = ~clk;\n"
    "\n"
    "  // Codes that were taken, and those that came out; the order tells which is which.\n"
    "  logic [31:0] sent = 0, received = 0;\n"
    "  logic taken;\n"
    "  logic [31:0] next;\n"
    "  assign taken = valid_in & ready_out;\n"
    "  assign next = sent + (taken ? 1 : 0);\n"
    "\n"
    "  // Gaps and waits, drawn.\n"
    "  logic [31:0] draw = 1;\n"
    "  logic gap, hold;\n"
    "  assign gap = next[GAP_BIT] & draw[0];\n"
    "  assign hold = HAS_READY & next[WAIT_BIT] & draw[5];\n"
    "\n"
    "  // valid_in, now and before; edges since ready_in was 0; what must stand still.\n"
    "  logic [LATENCY+1:0] entered;\n"
    "  logic [LATENCY:0] earlier = 0;\n"
    "  logic [31:0] flowing = 0;\n"
    "  logic held = 1'b0;\n"
    "  logic signed [63:0] held_y = 0;\n"
    "  assign entered = {earlier, valid_in};\n"
    "\n"
    "  logic running = 1'b0;\n"
    "  logic signed [63:0] expected;\n"
    "  logic [63:0] hash = 64'hcbf29ce484222325;\n"
    "  logic [31:0] cycles = 0;\n"
    "\n"
    "  always @(posedge clk) begin\n"
    "    draw <= {draw[30:0], draw[31] ^ draw[21] ^ draw[1] ^ draw[0]};\n"
    "    cycles <= cycles + 1;\n"
    "    if (cycles / 8 > LAST + 100) $fatal(1, \"%m: %0d of %0d codes came out\", received, LAST);\n"
    "    if (!running) begin\n"
    "      // What was inside is lost, and sent again.\n"
    "      sent <= received;\n"
    "      valid_in <= 1'b0;\n"
    "      earlier <= 0;\n"
    "      flowing <= 0;\n"
    "      held <= 1'b0;\n"
    "    end else begin\n"
    "      earlier <= entered[LATENCY:0];\n"
    "      flowing <= ready_in ? flowing + 1 : 0;\n"
    "      held <= valid_out & ~ready_in;\n"
    "      held_y <= wide_y;\n"
    "      if (ready_in && !ready_out) $fatal(1, \"%m: ready_o is 0 where ready_i is 1\");\n"
    "      if (flowing >= LATENCY && valid_out !== entered[LATENCY])\n"
    "        $fatal(1, \"%m: valid_o is not valid_i of %0d edges before; "
    "emit module and bench with the same --stages\", LATENCY);\n"
    "      if (held && (valid_out !== 1'b1 || wide_y !== held_y)) $fatal(1, \"%m: an output changed while it "
    "waited\");\n"
    "      sent <= next;\n"
    "      if (taken || !valid_in) begin\n"
    "        valid_in <= next < LAST && !gap;\n"
    "        x <= code_at(next);\n"
    "      end\n"
    "      ready_in <= ~hold;\n"
    "      if (valid_out && ready_in) begin\n"
    "        expected = model(place_x);\n"
    "        hash = (hash ^ expected) * 64'h100000001b3;\n"
    "        if (wide_y !== expected)\n"
    "          $fatal(1, \"%m: code %0d gives %0d, expected %0d\", place_x, wide_y, expected);\n"
    "        if ((received + 1 == FIRST_CODES && hash != FIRST_HASH) || (received + 1 == CODES && hash != HASH))\n"
    "          $fatal(1, \"%m: the model is not the table: hash %h of %0d codes\", hash, received + 1);\n"
    "        received <= received + 1;\n"
    "        if (received + 1 == LAST) begin\n"
    "          $display(\"%m: %0d codes, no mismatch\", LAST);\n"
    "          $finish;\n"
    "        end\n"
    "      end\n"
    "    end\n"
    "  end\n"
    "\n"
    "  // A reset in the middle, between two edges of the clock.\n"
    "  initial begin\n";

static const char reset[] = "    repeat (3) @(negedge clk);\n"
                            "    rst_n = 1'b1;\n"
                            "    running = 1'b1;\n"
                            "    while (received < LAST / 2) @(negedge clk);\n"
                            "    running = 1'b0;\n"
                            "    rst_n = 1'b0;\n"
                            "    #1 if (LATENCY > 0 && valid_out !== 1'b0) $fatal(1, \"%m: valid_o during reset\");\n"
                            "    repeat (2) @(negedge clk);\n"
                            "    rst_n = 1'b1;\n"
                            "    running = 1'b1;\n"
                            "  end\n"
                            "endmodule\n";

static int write_bench(struct text *out, const struct module *m, const struct emit_options *options, struct diag *diag)
{
    struct codes codes;
    (void)options;
    if (codes_make(m, &codes, diag) != EXIT_DONE)
        return diag->code;
    text_add(out,
             "// SPDX-License-Identifier: 0BSD\n// DO NOT EDIT: generated by pwlc %s\n//\n"
             "// Checks %s, and ends in $fatal where it differs from the table.\n\n"
             "module %s_tb;\n",
             PWLC_VERSION, m->name, m->name);
    const uint64_t hashes[2] = {codes_hash(m, &codes, codes_first(&codes)), codes_hash(m, &codes, codes.count)};
    add_constants(out, m, &codes, hashes);
    text_add(out, "\n  // The table.\n");
    static const char *const names[] = {"start", "q_b", "shift", "offset"};
    for (size_t i = 0; i < 4; i++)
        add_array(out, m, names[i], i);
    add_shift_function(out, m->table->rounding);
    add_raw_function(out, m);
    add_model(out, m);
    add_codes(out, &codes);
    add_signals(out, m);
    text_add(out, "%s", stream);
    if (m->loadable > 0)
        add_loading(out, m);
    text_add(out, "%s", reset);
    free(codes.listed);
    return EXIT_DONE;
}

int emit_sv_bench(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                  struct diag *diag)
{
    (void)count;
    return module_emit(tables[0], options, &system_verilog, write_bench, out, diag);
}
