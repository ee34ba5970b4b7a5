/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Softmax. Stages of the pipeline behind the buffer, of 8-bit codes and of 16-bit ones:
 *
 *   1 read_q   2 distance_q   3 exp_q                                 4 tree_q, high_own_q   5 sum_q, value_q   6 y_q
 *                             3 high_q, low_q  4 expanded_q  5 exp_q  6                      7                  8
 */
#include <stdio.h>

#include "emit/rtl/rom.h"
#include "row_module.h"

static const char passes[] =
    "\n"
    "  // ---- First, while it comes: the largest code. Codes are counted from the type's least on, and of places that "
    "take\n"
    "  // no part 0 is compared.\n"
    "\n"
    "  // Largest k is that of 2 k and 2 k + 1; those from Lanes on are the places.\n"
    "  logic [2*Lanes*PlaceBits-1:0] largests;\n"
    "  logic [PlaceBits-1:0] beat_largest, load_largest_q;\n"
    "  logic [XBits-1:0] largest_q;\n"
    "  integer max_k;\n"
    "\n"
    "  always_comb begin\n"
    "    largests = {places, {(Lanes * PlaceBits) {1'b0}}};\n"
    "    for (max_k = Lanes; max_k < 2 * Lanes; max_k = max_k + 1)\n"
    "      if (!largests[max_k*PlaceBits+XBits]) largests[max_k*PlaceBits +: PlaceBits] = '0;\n"
    "    for (max_k = Lanes - 1; max_k > 0; max_k = max_k - 1)\n"
    "      if (largests[2*max_k*PlaceBits +: PlaceBits] > largests[(2*max_k+1)*PlaceBits +: PlaceBits])\n"
    "        largests[max_k*PlaceBits +: PlaceBits] = largests[2*max_k*PlaceBits +: PlaceBits];\n"
    "      else largests[max_k*PlaceBits +: PlaceBits] = largests[(2*max_k+1)*PlaceBits +: PlaceBits];\n"
    "  end\n"
    "  assign beat_largest = largests[PlaceBits +: PlaceBits];\n"
    "  assign starts = is_loaded_q & advance;\n"
    "\n"
    "  always_ff @(posedge clk_i) begin\n"
    "    if (takes && ((load_at_q == '0) || (beat_largest > load_largest_q)))\n"
    "      load_largest_q <= beat_largest;\n"
    "    if (starts && (state_q == Idle)) largest_q <= load_largest_q[XBits-1:0];\n"
    "  end\n"
    "\n"
    "  // ---- Then, out of the buffer: the sum of the exponentials.\n"
    "\n"
    "  logic [Stages-1:1] sums_q;\n"
    "  logic [(Stages-1)*Lanes-1:0] keeps_q;\n"
    "  logic [Lanes-1:0] keeps;\n"
    "  logic [Lanes*ExpBits-1:0] exps;\n"
    "  logic [2*Lanes*SumBits-1:0] tree;\n"
    "  logic [SumBits-1:0] tree_q, sum_q;\n"
    "  integer sum_k;\n"
    "\n"
    "  always_comb begin\n"
    "    tree = '0;\n"
    "    for (sum_k = 0; sum_k < Lanes; sum_k = sum_k + 1)\n"
    "      tree[(Lanes+sum_k)*SumBits +: SumBits] = SumBits'(exps[sum_k*ExpBits +: ExpBits]);\n"
    "    for (sum_k = Lanes - 1; sum_k > 0; sum_k = sum_k - 1)\n"
    "      tree[sum_k*SumBits +: SumBits] = tree[2*sum_k*SumBits +: SumBits] + tree[(2*sum_k+1)*SumBits +: SumBits];\n"
    "  end\n"
    "  assign is_summed = advance & sums_q[ExpStage+1] & lasts_q[ExpStage+1];\n"
    "\n"
    "  always_ff @(posedge clk_i) begin\n"
    "    if (advance) begin\n"
    "      keeps_q <= {keeps_q[(Stages-2)*Lanes-1:0], keeps};\n"
    "      tree_q <= tree[SumBits +: SumBits];\n"
    "    end\n"
    "    if (state_q == Idle) sum_q <= '0;\n"
    "    else if (advance && sums_q[ExpStage+1]) sum_q <= sum_q + tree_q;\n"
    "  end\n"
    "  always_ff @(posedge clk_i or negedge rst_ni) begin\n"
    "    if (!rst_ni) sums_q <= '0;\n"
    "    else if (advance) sums_q <= {sums_q[Stages-2:1], state_q == Sum};\n"
    "  end\n";

static const char reciprocal[] =
    "\n"
    "  // ---- Between: 1/S as a word of 31 bits and a shift, by the core and by the multiplier of lane 0.\n"
    "\n"
    "  logic [OctaveBits-1:0] octave, octave_q;\n"
    "  logic [AlignedBits-1:0] aligned;\n"
    "  logic [31:0] word_q;\n"
    "  logic [15:0] core_y;\n"
    "  logic signed [48:0] scalar_q, err;\n"
    "  logic [30:0] factor_q;\n"
    "  logic signed [MulABits-1:0] mul_a;\n"
    "  logic signed [MulBBits-1:0] mul_b;\n"
    "  logic signed [ProductBits-1:0] product;\n"
    "  logic [ExpBits-1:0] first_exp;\n"
    "  logic unused_bits;\n"
    "  integer octave_k;\n"
    "\n"
    "  always_comb begin\n"
    "    octave = '0;\n"
    "    for (octave_k = 1; octave_k <= MostOctaves; octave_k = octave_k + 1)\n"
    "      if (sum_q[Fraction+octave_k]) octave = OctaveBits'(octave_k);\n"
    "  end\n"
    "  assign aligned = {sum_q, {(31 - Fraction) {1'b0}}} >> octave_q;\n"
    "  assign unused_bits = ^{aligned, product, err, scalar_q, s_axis_tkeep};\n"
    "  assign first_exp = exps[ExpBits-1:0];\n"
    "  assign err = 49'sh0800000000000 - scalar_q;\n"
    "  always_comb begin\n"
    "    case (step_q)\n"
    "      4'd4: mul_a = MulABits'(word_q);\n"
    "      4'd5: mul_a = MulABits'(err >>> 15);\n"
    "      default: mul_a = MulABits'(factor_q);\n"
    "    endcase\n"
    "  end\n"
    "  assign mul_b = step_q[2] ? MulBBits'(core_y) : MulBBits'(first_exp);\n"
    "  assign product = ProductBits'(mul_a) * ProductBits'(mul_b);\n"
    "\n"
    "  always_ff @(posedge clk_i) begin\n"
    "    if (step_q == 4'd1) octave_q <= octave;\n"
    "    if (step_q == 4'd2) word_q <= aligned[31:0];\n"
    "    if ((step_q == 4'd4) || (step_q == 4'd5)) scalar_q <= 49'(product);\n"
    "    if (step_q == 4'd6) factor_q <= {core_y, 15'd0} + scalar_q[47:17];\n"
    "  end\n";

static const char lane_begin[] =
    "\n"
    "  // ---- Last, out of the buffer once more: the outputs.\n"
    "\n"
    "  genvar lane;\n"
    "  generate\n"
    "    for (lane = 0; lane < Lanes; lane = lane + 1) begin : g_lane\n"
    "      logic [XBits-1:0] code;\n"
    "      logic [XBits-1:0] distance_q;\n"
    "      logic [ExpBits-1:0] exp_q;\n"
    "      assign code = s_axis_tdata[lane*XBits +: XBits];\n"
    "      assign places[lane*PlaceBits +: PlaceBits] = {s_axis_tkeep[lane*XBytes], code ^ LeastCode};\n"
    "      assign keeps[lane] = read_q[lane*PlaceBits+XBits];\n"
    "      assign exps[lane*ExpBits +: ExpBits] = exp_q;\n"
    "      always_ff @(posedge clk_i)\n"
    "        if (advance) distance_q <= largest_q - read_q[lane*PlaceBits +: XBits];\n";

static const char exp_of_bytes[] =
    "      always_ff @(posedge clk_i)\n"
    "        if (advance) exp_q <= keeps_q[(ExpStage-3)*Lanes+lane] ? exp_rom(distance_q) : '0;\n";

static const char exp_of_words[] =
    "      logic [FallBits+31:0] high_q;\n"
    "      logic [31:0] low_q;\n"
    "      logic [FallBits-1:0] fall_q;\n"
    "      logic [63:0] expanded;\n"
    "      logic [64-LeastFall:0] expanded_q, fallen;\n"
    "      logic unused_expanded;\n"
    "      assign expanded = 64'(high_q[31:0]) * 64'(low_q);\n"
    "      assign unused_expanded = ^{expanded, fallen};\n"
    "      assign fallen = expanded_q >> fall_q;\n"
    "      always_ff @(posedge clk_i)\n"
    "        if (advance) begin\n"
    "          high_q <= high_rom(distance_q[15:8]);\n"
    "          low_q <= low_rom(distance_q[7:0]);\n"
    "          fall_q <= high_q[FallBits+31:32];\n"
    "          expanded_q <= expanded[63:LeastFall-1];\n"
    "          if (!keeps_q[(ExpStage-3)*Lanes+lane] || (32'(fall_q) + LeastFall > 62)) exp_q <= '0;\n"
    "          else exp_q <= ExpBits'(fallen[64-LeastFall:1]) + ExpBits'(fallen[0]);\n"
    "        end\n";

static const char lane_end[] =
    "      logic [OwnBits-1:0] own;\n"
    "      logic [OutBits:0] high_own_q, scaled, value_q;\n"
    "      logic [YBits-1:0] y_q;\n"
    "      logic unused_own;\n"
    "      if (lane == 0) begin : g_first\n"
    "        assign own = product[OwnBits-1:0];\n"
    "      end else begin : g_other\n"
    "        assign own = OwnBits'(exp_q) * OwnBits'(factor_q);\n"
    "      end\n"
    "      assign unused_own = ^own;\n"
    "      assign scaled = high_own_q >> octave_q;\n"
    "      assign m_axis_tdata[lane*YBits +: YBits] = y_q;\n"
    "      assign m_axis_tkeep[lane*YBytes +: YBytes] = {YBytes{keeps_q[(Stages-2)*Lanes+lane]}};\n"
    "      always_ff @(posedge clk_i)\n"
    "        if (advance) begin\n"
    "          high_own_q <= own[OwnBits-1 -: OutBits+1];\n"
    "          value_q <= ValueBits'(scaled[OutBits:1]) + ValueBits'(scaled[0]);\n"
    "          y_q <= clip(value_q);\n"
    "        end\n"
    "    end\n"
    "  endgenerate\n";

static int add_rom(struct text *out, const char *name, int width, wide word_of(const struct row_operator *of, int k),
                   const struct row_operator *of, struct diag *diag)
{
    struct rom rom;
    if (rom_make(&rom, 256, width, diag))
        return diag->code;
    for (int k = 0; k < 256; k++)
        rom_put(&rom, k, 0, width, word_of(of, k));
    rom_add_function(out, &system_verilog, &rom, name);
    rom_free(&rom);
    return EXIT_DONE;
}

/* Shifts above 62 give 0, whatever they are. */
static int shift_of(const struct row_operator *of, int k)
{
    return of->exp_shift[k] < 63 ? of->exp_shift[k] : 63;
}

static int least_shift(const struct row_operator *of)
{
    int least = 63;
    for (int k = 0; k < 256; k++)
        least = shift_of(of, k) < least ? shift_of(of, k) : least;
    return least;
}

static wide exp_word(const struct row_operator *of, int k)
{
    return of->exp[k];
}

static wide high_word(const struct row_operator *of, int k)
{
    return (wide)(shift_of(of, k) - least_shift(of)) << 32 | of->exp_high[k];
}

static int add_exponentials(struct text *out, const struct row_operator *of, struct diag *diag)
{
    if (!of->exp_high)
        return add_rom(out, "exp", of->fraction + 1, exp_word, of, diag);
    const int least = least_shift(of), bits = unsigned_bits(63 - least);
    row_add_number(out, "LeastFall", least, "the smallest shift of an exponential");
    row_add_number(out, "FallBits", bits, "of what another has more");
    return add_rom(out, "high", 32 + bits, high_word, of, diag) ? diag->code
                                                                : add_rom(out, "low", 32, exp_word, of, diag);
}

static void add_numbers(struct text *out, const struct row_module *m)
{
    const struct row_operator *const of = m->of;
    const int exp_stage = of->exp_high ? 5 : 3;
    wide low, high;
    row_core_errors(m, RECIPROCAL_FIRST, &low, &high);
    const int error_bits = signed_bits(low, high);
    row_add_number(out, "XBytes", of->in.bits / 8, "of an input code");
    row_add_number(out, "YBytes", of->out.bits / 8, "of an output code");
    row_add_number(out, "PlaceBits", of->in.bits + 1, "in the buffer: whether it takes part, and the code");
    row_add_number(out, "Fraction", of->fraction, "bits of an exponential");
    row_add_number(out, "ExpBits", of->fraction + 1, "of an exponential, at most 2^Fraction");
    row_add_number(out, "OutBits", of->out.scale.shift_bits, "an output counts 2^-OutBits");
    row_add_number(out, "ValueBits", of->out.scale.shift_bits + 1, "of an output, at most 2^OutBits");
    row_add_number(out, "ExpStage", exp_stage, "the stage of the pipeline that has exponentials");
    row_add_number(out, "Stages", exp_stage + 3, "of the pipeline");
    row_add_number(out, "MulABits", error_bits > 33 ? error_bits : 33, "of lane 0's first factor");
    row_add_number(out, "MulBBits", of->fraction > 16 ? of->fraction + 2 : 17, "of its second");
    text_add(out,
             "  localparam integer ProductBits = MulABits + MulBBits;\n"
             "  localparam integer OwnBits = Fraction + 31;  // of an exponential times 1/S, at most 2^31 - 1\n"
             "  // S is below 2^(Fraction + 1 + MostOctaves).\n"
             "  localparam integer MostOctaves = $clog2(Longest + 1) - 1;\n"
             "  localparam integer OctaveBits = (MostOctaves > 0) ? $clog2(MostOctaves + 1) : 1;\n"
             "  localparam integer SumBits = ExpBits + MostOctaves;\n"
             "  localparam integer AlignedBits = MostOctaves + 32;\n"
             "  localparam logic [XBits-1:0] LeastCode = %d'h%x;\n"
             "  localparam logic [1:0] FirstState = 2'd1;\n"
             "  localparam logic [3:0] LastStep = 4'd6;\n",
             of->in.bits, of->in.is_signed ? 1u << (of->in.bits - 1) : 0u);
}

int row_add_softmax(struct text *out, const struct row_module *m, struct diag *diag)
{
    const struct row_operator *const of = m->of;
    const int b = of->out.scale.shift_bits;
    if (of->kind == OPERATOR_LOG_SOFTMAX)
        return diag_set(diag, EXIT_USAGE, "logsoftmax: has no unit of hardware yet");
    add_numbers(out, m);
    if (add_exponentials(out, of, diag))
        return diag->code;
    row_add_clip(out, of, b + 1, false, 0, (wide)1 << b);
    row_add_stream(out, m);
    text_add(out, "%s%s", passes, reciprocal);
    row_add_core(out, m, RECIPROCAL_FIRST);
    text_add(out, "%s%s%s", lane_begin, of->exp_high ? exp_of_words : exp_of_bytes, lane_end);
    return EXIT_DONE;
}
