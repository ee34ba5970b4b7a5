/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A module for every table of the same types, case, form, rounding and constants. A word is a segment, in the widths of
 * the case:
 *
 *   {below, q_b, n, offset}     below: the code before the segment's start; of what is no segment, the highest
 *
 *   code > below[segment]? --> word --> q_b X --> shr by n, + offset, saturate
 *        register                register      register
 *
 * All is computed in the accumulator's bits, as in C: pwl_table_check() proves that nothing leaves them.
 */
#include "loadable.h"

#include <stdio.h>

/* A mirrored code has a bit more than a code, and its sign another. */
struct loadable_layout loadable_layout(const struct table *table)
{
    return (struct loadable_layout){.below = table->in.bits + 2,
                                    .slope = storage_bits(table->storage),
                                    .shift = 8,
                                    .offset = offset_bits(table->storage, table->form),
                                    .acc = accumulator_bits(table->storage)};
}

int module_of_words(struct module *m, struct diag *diag)
{
    const struct table *t = m->table;
    const struct loadable_layout l = loadable_layout(t);
    const int width = l.below + l.slope + l.shift + l.offset;
    if (t->has_reduction)
        return diag_set(diag, EXIT_USAGE,
                        "--loadable: a reduced table needs more than its segments; fit without "
                        "--reduce");
    if (t->segment_count > m->loadable)
        return diag_set(diag, EXIT_USAGE, "--loadable %d: the table has %d segments", m->loadable, t->segment_count);
    if (rom_make(&m->rom, m->loadable, width, diag) != EXIT_DONE)
        return diag->code;
    text_add(&m->layout, "below[%d:%d] signed, q_b[%d:%d] signed, n[%d:%d] signed, offset[%d:0] signed", width - 1,
             width - l.below, width - l.below - 1, l.shift + l.offset, l.shift + l.offset - 1, l.offset, l.offset - 1);
    for (int i = 0; i < m->loadable; i++) {
        const struct segment none = {0}, *s = i < t->segment_count ? &t->segments[i] : &none;
        const wide highest = ((wide)1 << (l.below - 1)) - 1;
        rom_put(&m->rom, i, l.slope + l.shift + l.offset, l.below, i < t->segment_count ? (wide)s->start - 1 : highest);
        rom_put(&m->rom, i, l.shift + l.offset, l.slope, s->q_b);
        rom_put(&m->rom, i, l.offset, l.shift, s->n);
        rom_put(&m->rom, i, 0, l.offset, s->offset);
    }
    return EXIT_DONE;
}

static void add_search(struct text *out, const struct module *m, const struct loadable_layout *l)
{
    const int bits = m->rom.address_bits, top = m->rom.width - 1, low = m->rom.width - l->below;
    text_add(out, "\n  // Its segment, bit by bit.\n");
    for (int bit = bits - 1; bit >= 0; bit--) {
        text_add(out, "  logic [%d:0] word_%d;\n  assign word_%d = words[{", top, bit, bit);
        for (int upper = bits - 1; upper > bit; upper--)
            text_add(out, "segment_%d, ", upper);
        text_add(out, bit > 0 ? "1'b1, %d'd0}];\n" : "1'b1}];\n", bit);
        text_add(out,
                 "  logic segment_%d, unused_%d;\n"
                 "  assign segment_%d = code > $signed(word_%d[%d:%d]);\n"
                 "  assign unused_%d = ^word_%d[%d:0];\n",
                 bit, bit, bit, bit, top, low, bit, bit, low - 1);
    }
    text_add(out, "  logic [%d:0] segment;\n  assign segment = {", bits - 1);
    for (int bit = bits - 1; bit >= 0; bit--)
        text_add(out, "segment_%d%s", bit, bit > 0 ? ", " : "};\n");
}

static void add_code(struct text *out, const struct module *m, const struct loadable_layout *l)
{
    const struct table *t = m->table;
    char low[CONSTANT_TEXT], high[CONSTANT_TEXT], zero[CONSTANT_TEXT], twice[CONSTANT_TEXT];
    char from[64] = "$signed({2'd0, x_i})";
    if (t->in.is_signed)
        snprintf(from, sizeof from, "%d'(x_i)", l->below);
    signed_constant(l->below, t->in.qmin, low);
    signed_constant(l->below, t->in.qmax, high);
    text_add(out,
             "\n  // The code%s.\n"
             "  logic signed [%d:0] x, clamped, code;\n"
             "  assign x = %s;\n"
             "  assign clamped = (x < %s) ? %s : (x > %s) ? %s : x;\n",
             t->has_fold ? ", or its mirror image" : "", l->below - 1, from, low, low, high, high);
    if (t->has_fold)
        text_add(out,
                 "  logic mirrored;\n  assign mirrored = clamped < %s;\n"
                 "  assign code = mirrored ? %s - clamped : clamped;\n",
                 signed_constant(l->below, t->in.zero_point, zero),
                 signed_constant(l->below, 2 * (wide)t->in.zero_point, twice));
    else
        text_add(out, "  assign code = clamped;\n");
}

static void add_product(struct text *out, const struct module *m, const struct loadable_layout *l)
{
    char zero[CONSTANT_TEXT];
    const int a = l->acc;
    text_add(out,
             "\n  // The line.\n"
             "  logic signed [%d:0] below;\n  logic signed [%d:0] q_b;\n  logic signed [%d:0] offset;\n"
             "  logic signed [%d:0] x_offset, product, product_q, addend;\n"
             "  logic signed [7:0] n, n_q;\n"
             "  assign {below, q_b, n, offset} = word_q;\n",
             l->below - 1, l->slope - 1, l->offset - 1, a - 1);
    if (m->table->form == PWL_ANCHORED)
        text_add(out, "  assign x_offset = %d'(code_q) - %d'(below) - %d'sd1;\n", a, a, a);
    else
        text_add(out, "  assign x_offset = %d'(code_q) - %s;\n  logic unused_below;\n  assign unused_below = ^below;\n",
                 a, signed_constant(a, m->table->in.zero_point, zero));
    text_add(out, "  assign product = %d'(q_b) * x_offset%s;\n", a, m->table->form == PWL_BIASED ? " + addend" : "");
    text_add(out, "  assign addend = %d'(offset);\n", a);
}

static void add_sum(struct text *out, const struct module *m, const struct loadable_layout *l)
{
    static const char *const addends[] = {"", " + half", " + half - ((product_q < 0) ? A'(1) : A'(0))",
                                          " + half - A'(1) + ((product_q >>> n_q) & A'(1))"};
    const struct table *t = m->table;
    const int a = l->acc;
    char low[CONSTANT_TEXT], high[CONSTANT_TEXT], fold[CONSTANT_TEXT];
    text_add(out,
             "\n  // Its shift, rounded; the offset; the output code.\n"
             "  localparam integer A = %d;\n"
             "  logic signed [A-1:0] half, shifted, sum, value;\n"
             "  logic signed [7:0] up;\n"
             "  assign up = -n_q;\n"
             "  assign half = (n_q > 0) ? A'(1) <<< (n_q - 8'sd1) : A'(0);\n"
             "  assign shifted = (n_q > 0) ? (product_q%s) >>> n_q : product_q <<< up;\n"
             "  assign sum = shifted%s;\n",
             a, addends[t->rounding], t->form == PWL_BIASED ? "" : " + addend_q");
    if (t->rounding == PWL_FLOOR)
        text_add(out, "  logic unused_half;\n  assign unused_half = ^half;\n");
    if (t->has_fold)
        text_add(out, "  assign value = mirrored_q2 ? %s - sum : sum;\n", signed_constant(a, t->fold_sum, fold));
    else
        text_add(out, "  assign value = sum;\n");
    text_add(out, "  logic [%d:0] y_q;\n", t->out.bits - 1);
    signed_constant(a, t->out.qmin, low);
    signed_constant(a, t->out.qmax, high);
    text_add(out,
             "  logic signed [A-1:0] bounded;\n"
             "  assign bounded = (value < %s) ? %s : (value > %s) ? %s : value;\n"
             "  logic unused_bounded;\n  assign unused_bounded = ^bounded[A-1:%d];\n",
             low, low, high, high, t->out.bits);
}

void loadable_add(struct text *out, const struct module *m)
{
    const struct table *t = m->table;
    const struct loadable_layout l = loadable_layout(t);
    const bool biased = t->form == PWL_BIASED;
    text_add(
        out,
        "module %s #(\n  parameter INIT_FILE = \"\"  // of words, for $readmemh; \"\": they come over the port\n) (\n"
        "  input  logic clk_i,\n  input  logic rst_ni,\n"
        "  // A word at an edge with write_i; codes that enter before the last word find parts of two tables.\n"
        "  input  logic write_i,\n  input  logic [%d:0] address_i,\n  input  logic [%d:0] word_i,\n"
        "  input  logic valid_i,\n  input  logic %s[%d:0] x_i,\n"
        "  output logic valid_o,\n  output logic %s[%d:0] y_o\n);\n"
        "  // Edges of the clock from x_i to y_o.\n  localparam integer LATENCY = %d;\n\n"
        "  // %s\n"
        "  logic [%d:0] words [0:%d];\n"
        "  initial if (INIT_FILE != \"\") $readmemh(INIT_FILE, words);\n"
        "  always @(posedge clk_i) if (write_i) words[address_i] <= word_i;\n",
        m->name, m->rom.address_bits - 1, m->rom.width - 1, t->in.is_signed ? "signed " : "", t->in.bits - 1,
        t->out.is_signed ? "signed " : "", t->out.bits - 1, LOADABLE_STAGES, m->layout.bytes, m->rom.width - 1,
        m->rom.entries - 1);
    add_code(out, m, &l);
    add_search(out, m, &l);
    text_add(out, "\n  logic [%d:0] word_q;\n  logic signed [%d:0] code_q;\n%s", m->rom.width - 1, l.below - 1,
             t->has_fold ? "  logic mirrored_q, mirrored_q2;\n" : "");
    add_product(out, m, &l);
    if (!biased)
        text_add(out, "  logic signed [%d:0] addend_q;\n", l.acc - 1);
    add_sum(out, m, &l);
    text_add(out,
             "\n  always_ff @(posedge clk_i) begin\n"
             "    word_q <= words[segment];\n    code_q <= code;\n"
             "    product_q <= product;\n    n_q <= n;\n%s%s"
             "    y_q <= bounded[%d:0];\n  end\n  assign y_o = y_q;\n",
             biased ? "" : "    addend_q <= addend;\n",
             t->has_fold ? "    mirrored_q <= mirrored;\n    mirrored_q2 <= mirrored_q;\n" : "", t->out.bits - 1);
    text_add(out, "\n  logic [LATENCY:1] valid_q;\n"
                  "  always_ff @(posedge clk_i or negedge rst_ni) begin\n"
                  "    if (!rst_ni) valid_q <= {LATENCY{1'b0}};\n"
                  "    else valid_q <= {valid_q[LATENCY-1:1], valid_i};\n"
                  "  end\n  assign valid_o = valid_q[LATENCY];\nendmodule\n");
}
