/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bench that checks a unit by itself: rows, and what the runtime makes of them. They go in with gaps, and are held
 * back behind it. Whatever differs ends in $fatal.
 */
#include <inttypes.h>

#include "emit/rtl/pipeline.h"
#include "row_module.h"
#include "row_vectors.h"
#include "rows.h"

enum { WORD_BYTES = 5, LEAST_ROWS = 12 };

static const char signals[] = "\n"
                              "  logic clk = 1'b0, rst_n = 1'b0;\n"
                              "  logic s_valid = 1'b0, s_ready, s_last = 1'b0, m_valid, m_ready = 1'b1, m_last;\n"
                              "  logic [Lanes*XBits-1:0] s_data = '0;\n"
                              "  logic [Lanes*XBytes-1:0] s_keep = '0;\n"
                              "  logic [Lanes*YBits-1:0] m_data, held_data = '0;\n"
                              "  logic [Lanes*YBytes-1:0] m_keep, held_keep = '0;\n";

static const char stream[] =
    "\n"
    "  always #5 clk = ~clk;\n"
    "\n"
    "  // The places that the next beat and its row begin with, going in and coming out.\n"
    "  integer sent = 0, sent_begins = 0, received = 0, row_begins = 0, rows = 0, cycles = 0, since = 0;\n"
    "\n"
    "  // Some of the longest rows end without tlast.\n"
    "  logic [31:0] draw = 1;\n"
    "  logic is_silent;\n"
    "  assign is_silent = draw[3];\n"
    "\n"
    "  // Gaps and waits, drawn: in every other row, and in every other two.\n"
    "  logic gap, hold;\n"
    "  assign gap = Pauses & rows[0] & draw[0];\n"
    "  assign hold = Pauses & rows[1] & draw[5];\n"
    "\n"
    "  logic running = 1'b0, held = 1'b0, held_last = 1'b0, is_over;\n"
    "  logic [39:0] place;\n"
    "  integer k;\n"
    "\n"
    "  always @(posedge clk) begin\n"
    "    draw <= {draw[30:0], draw[31] ^ draw[21] ^ draw[1] ^ draw[0]};\n"
    "    cycles <= cycles + 1;\n"
    "    since <= since + 1;\n"
    "    if (since > 16 * Longest + 1000) $fatal(1, \"%m: no beat in %0d cycles, after %0d places\", since, "
    "received);\n"
    "    if (!running) begin\n"
    "      // What was inside is lost, and sent again.\n"
    "      sent = row_begins;\n"
    "      sent_begins = row_begins;\n"
    "      received = row_begins;\n"
    "      s_valid <= 1'b0;\n"
    "      held <= 1'b0;\n"
    "      since <= 0;\n"
    "    end else begin\n"
    "      if (s_valid && s_ready || !s_valid) begin\n"
    "        s_valid <= sent < Places && !gap;\n"
    "        if (sent < Places && !gap) begin\n"
    "          s_data <= '1;\n"
    "          s_keep <= '0;\n"
    "          s_last <= 1'b0;\n"
    "          is_over = 1'b0;\n"
    "          for (k = 0; k < Lanes; k = k + 1) begin\n"
    "            if (!is_over) begin\n"
    "              place = places[sent];\n"
    "              s_data[k*XBits +: XBits] <= place[XBits-1:0];\n"
    "              s_keep[k*XBytes +: XBytes] <= {XBytes{place[32]}};\n"
    "              s_last <= place[33] & ~((sent + 1 - sent_begins == Longest) & is_silent);\n"
    "              is_over = place[33];\n"
    "              sent = sent + 1;\n"
    "              if (is_over) sent_begins = sent;\n"
    "            end\n"
    "          end\n"
    "        end\n"
    "      end\n"
    "      m_ready <= ~hold;\n"
    "      held <= m_valid & ~m_ready;\n"
    "      held_data <= m_data;\n"
    "      held_keep <= m_keep;\n"
    "      held_last <= m_last;\n"
    "      if (held && (m_valid !== 1'b1 || m_data !== held_data || m_keep !== held_keep || m_last !== held_last))\n"
    "        $fatal(1, \"%m: an output changed while it waited\");\n"
    "      if (m_valid && m_ready) begin\n"
    "        since <= 0;\n"
    "        is_over = 1'b0;\n"
    "        for (k = 0; k < Lanes; k = k + 1) begin\n"
    "          place = is_over ? 40'd0 : places[received];\n"
    "          if (m_keep[k*YBytes +: YBytes] !== {YBytes{place[32]}})\n"
    "            $fatal(1, \"%m: row %0d, place %0d: tkeep is not %0b\", rows, received - row_begins, place[32]);\n"
    "          if (!is_over) begin\n"
    "            if (m_data[k*YBits +: YBits] !== place[16 +: YBits])\n"
    "              $fatal(1, \"%m: row %0d, place %0d: gives 'h%h, expected 'h%h\", rows, received - row_begins,\n"
    "                     m_data[k*YBits +: YBits], place[16 +: YBits]);\n"
    "            is_over = place[33];\n"
    "            received = received + 1;\n"
    "          end\n"
    "        end\n"
    "        if (m_last !== is_over) $fatal(1, \"%m: row %0d, place %0d: tlast is not %0b\", rows, received - "
    "row_begins, is_over);\n"
    "        if (is_over) begin\n"
    "          row_begins = received;\n"
    "          rows <= rows + 1;\n"
    "        end\n"
    "        if (received == Places) begin\n"
    "          $display(\"%m: %0d rows, %0d codes, no mismatch, %0d cycles\", rows + 1, Places, cycles);\n"
    "          $finish;\n"
    "        end\n"
    "      end\n"
    "    end\n"
    "  end\n"
    "\n"
    "  // A reset in the middle, between two edges of the clock.\n"
    "  initial begin\n"
    "    repeat (3) @(negedge clk);\n"
    "    rst_n = 1'b1;\n"
    "    running = 1'b1;\n"
    "    if (Pauses) begin\n"
    "      while (received < Places / 2) @(negedge clk);\n"
    "      running = 1'b0;\n"
    "      rst_n = 1'b0;\n"
    "      #1 if (m_valid !== 1'b0) $fatal(1, \"%m: m_axis_tvalid during reset\");\n"
    "      repeat (2) @(negedge clk);\n"
    "      rst_n = 1'b1;\n"
    "      running = 1'b1;\n"
    "    end\n"
    "  end\n"
    "endmodule\n";

static void add_numbers(struct text *out, const struct row_module *m, int64_t places)
{
    const struct row_operator *const of = m->of;
    text_add(out,
             "  parameter integer Lanes = %d;\n"
             "  parameter Pauses = 1'b1;\n",
             m->lanes);
    row_add_number(out, "Longest", of->length, "places of the longest row");
    row_add_number(out, "XBits", of->in.bits, "of an input code");
    row_add_number(out, "XBytes", of->in.bits / 8, "of an input code");
    row_add_number(out, "YBits", of->out.bits, "of an output code");
    row_add_number(out, "YBytes", of->out.bits / 8, "of an output code");
    row_add_number(out, "Places", places, "of all rows");
    text_add(out, "\n  // The rows: {6'b0, last place, takes part, output, input} of each place.\n"
                  "  logic [39:0] places [0:Places-1];\n");
}

/* What a bench sends: so many rows, or 12 and as many more as have so many places. */
static bool is_enough(const struct row_bench_size *size, int64_t rows, int64_t places)
{
    return size->rows ? rows == size->rows : rows >= LEAST_ROWS && places >= size->places;
}

/* As statements, or in a file's bytes, the highest of a word first. */
static void add_place(struct text *out, bool is_file, int64_t place, uint64_t word)
{
    if (!is_file)
        text_add(out, "    places[%" PRId64 "] = 40'h%010" PRIx64 ";\n", place, word);
    const unsigned char bytes[WORD_BYTES] = {(unsigned char)(word >> 32), (unsigned char)(word >> 24),
                                             (unsigned char)(word >> 16), (unsigned char)(word >> 8),
                                             (unsigned char)word};
    if (is_file)
        text_add_bytes(out, bytes, sizeof bytes);
}

static int add_places(struct text *out, bool is_file, const struct row_module *m, struct row_bench_size *size,
                      struct diag *diag)
{
    const struct row_operator *const of = m->of;
    struct row_vector row;
    int64_t rows = 0, places = 0;
    if (row_vector_make(of, &row, diag) == EXIT_DONE)
        for (; !is_enough(size, rows, places); rows++) {
            row_vector_next(m->packed, of, rows, &row);
            for (uint32_t i = 0; i < row.length; i++)
                add_place(out, is_file, places++, row_vector_word(of, &row, i));
        }
    row_vector_free(&row);
    size->rows = rows;
    size->places = places;
    return diag->code;
}

static void add_unit(struct text *out, const struct row_module *m)
{
    text_add(out,
             "\n  %s #(.Lanes(Lanes)) dut (\n"
             "    .clk_i(clk), .rst_ni(rst_n), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), "
             ".s_axis_tdata(s_data),\n    %s.s_axis_tlast(s_last), .m_axis_tvalid(m_valid), .m_axis_tready(m_ready),\n"
             "    .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tlast(m_last)\n  );\n",
             m->name, operator_is_norm(m->of->kind) ? "" : ".s_axis_tkeep(s_keep), ");
}

static void add_initial(struct text *out, const struct text *places, bool is_file)
{
    text_add(out, "  initial begin\n");
    if (is_file)
        text_add(out,
                 "    file = $fopen(\"" ROW_PLACES_FILE "\", \"rb\");\n"
                 "    if ($fread(places, file) != 5 * Places) $fatal(1, \"%%m: " ROW_PLACES_FILE " is short\");\n");
    else if (places->bytes)
        text_add_bytes(out, places->bytes, places->size);
    text_add(out, "  end\n");
}

int emit_row_bench(const struct row_operator *of, const struct emit_options *options, struct row_bench_size *size,
                   struct text *file, struct text *out, struct diag *diag)
{
    struct packed_operator packed = {0};
    struct row_module m = {.of = of, .packed = &packed, .lanes = options->rtl.lanes ? options->rtl.lanes : 1};
    struct text statements = {0}, *const places = file ? file : &statements;
    if (row_unit_check(of, diag) || row_module_name(of, options, m.name, diag))
        return diag->code;
    if (operator_pack(of, EXIT_USAGE, &packed, diag) == EXIT_DONE)
        add_places(places, file, &m, size, diag);
    text_add(out,
             "// SPDX-License-Identifier: 0BSD\n// DO NOT EDIT: generated by pwlc %s\n//\n"
             "// Checks %s, and ends in $fatal where it differs from the runtime.\n\n"
             "module %s_tb;\n",
             PWLC_VERSION, m.name, m.name);
    add_numbers(out, &m, size->places);
    if (file)
        text_add(out, "  integer file;\n");
    add_initial(out, places, file);
    text_add(out, "%s", signals);
    add_unit(out, &m);
    text_add(out, "%s", stream);
    out->failed |= places->failed;
    text_free(&statements);
    packed_operator_free(&packed);
    if (diag->code == EXIT_DONE && out->failed)
        diag_set(diag, EXIT_IO, "out of memory while writing %s_tb", m.name);
    return diag->code;
}

int emit_operator_bench(const struct row_operator *of, const struct emit_options *options, struct text *out,
                        struct diag *diag)
{
    return emit_row_bench(of, options, &(struct row_bench_size){.places = 4096}, NULL, out, diag);
}
