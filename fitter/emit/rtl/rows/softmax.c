/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Softmax and log-softmax. Stages of the pipeline behind the buffer, of 8-bit codes and of 16-bit ones:
 *
 *   1 read_q  2 distance_q  3 exp_q                                   4 tree_q, 5 sum_q   4-6 own   7 value_q   8 y_q
 *                           3 high_q, low_q  4-6 expanded  7 exp_q    8         9         8-10      11          12
 */
#include <stdio.h>

#include "emit/rtl/pipeline.h"
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
    "  logic signed [48:0] err;\n"
    "  logic signed [MulABits-1:0] err_q;\n"
    "  logic [30:0] factor_q;\n"
    "  logic [MulABits-1:0] mul_a;\n"
    "  logic [MulBBits-1:0] mul_b;\n"
    "  logic [MulABits+MulBBits-1:0] product;\n"
    "  logic [ExpBits-1:0] first_exp;\n"
    "  logic refines_q, unused_bits;\n"
    "  integer octave_k;\n"
    "\n"
    "  always_comb begin\n"
    "    octave = '0;\n"
    "    for (octave_k = 1; octave_k <= MostOctaves; octave_k = octave_k + 1)\n"
    "      if (sum_q[Fraction+octave_k]) octave = OctaveBits'(octave_k);\n"
    "  end\n"
    "  assign aligned = {sum_q, {(31 - Fraction) {1'b0}}} >> octave_q;\n"
    "  assign unused_bits = ^{aligned, product, err, s_axis_tkeep};\n"
    "  assign first_exp = exps[ExpBits-1:0];\n"
    "  assign err = 49'sh0800000000000 - $signed({1'b0, product[47:0]});\n"
    "  // At CoreStep word_q by core_y, then err_q by core_y; each is there three steps later. Outputs of the row "
    "before are\n"
    "  // behind the product when the sum is whole: a beat without a row lies between.\n"
    "  assign mul_a = (step_q == 5'd0) ? MulABits'(factor_q) : refines_q ? err_q : MulABits'(word_q);\n"
    "  assign mul_b = (step_q == 5'd0) ? MulBBits'(first_exp) : MulBBits'(core_y);\n"
    "\n"
    "  UNIT_product #(\n"
    "    .ABits(MulABits), .BBits(MulBBits)\n"
    "  ) u_product (\n"
    "    .clk_i(clk_i), .advance_i(advance | (step_q != 5'd0)), .negative_i(refines_q & err_q[MulABits-1]),\n"
    "    .a_i(mul_a), .b_i(mul_b), .product_o(product)\n"
    "  );\n"
    "\n"
    "  always_ff @(posedge clk_i) begin\n"
    "    if (step_q == 5'd1) octave_q <= octave;\n"
    "    if (step_q == 5'd2) word_q <= aligned[31:0];\n"
    "    refines_q <= step_q == CoreStep + 5'd3;\n"
    "    if (step_q == CoreStep + 5'd3) err_q <= MulABits'(err >>> 15);\n"
    "    if (step_q == LastStep) factor_q <= {core_y, 15'd0} + product[47:17];\n"
    "  end\n";

static const char lane_begin[] =
    "\n"
    "  // ---- Last, out of the buffer again: the outputs.\n"
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
    "      logic [3*FallBits-1:0] falls_q;\n"
    "      logic [FallBits-1:0] fall;\n"
    "      logic [63:0] expanded;\n"
    "      logic [64-LeastFall:0] fallen;\n"
    "      logic unused_expanded;\n"
    "      UNIT_product #(\n"
    "        .ABits(32), .BBits(32)\n"
    "      ) u_expanded (\n"
    "        .clk_i(clk_i), .advance_i(advance), .negative_i(1'b0), .a_i(high_q[31:0]), .b_i(low_q),\n"
    "        .product_o(expanded)\n"
    "      );\n"
    "      assign unused_expanded = ^{expanded, fallen};\n"
    "      assign fall = falls_q[3*FallBits-1 -: FallBits];\n"
    "      assign fallen = expanded[63:LeastFall-1] >> fall;\n"
    "      always_ff @(posedge clk_i)\n"
    "        if (advance) begin\n"
    "          high_q <= high_rom(distance_q[15:8]);\n"
    "          low_q <= low_rom(distance_q[7:0]);\n"
    "          falls_q <= {falls_q[2*FallBits-1:0], high_q[FallBits+31:32]};\n"
    "          if (!keeps_q[(ExpStage-3)*Lanes+lane] || (32'(fall) + LeastFall > 62)) exp_q <= '0;\n"
    "          else exp_q <= ExpBits'(fallen[64-LeastFall:1]) + ExpBits'(fallen[0]);\n"
    "        end\n";

static const char lane_end[] =
    "      logic [OwnBits-1:0] own;  // exp_q by factor_q, three edges later\n"
    "      logic [OutBits:0] scaled, value_q;\n"
    "      logic [YBits-1:0] y_q;\n"
    "      logic unused_own;\n"
    "      if (lane == 0) begin : g_first\n"
    "        assign own = product[OwnBits-1:0];\n"
    "      end else begin : g_other\n"
    "        logic [ExpBits+30:0] own_product;\n"
    "        logic unused_product;\n"
    "        UNIT_product #(\n"
    "          .ABits(31), .BBits(ExpBits)\n"
    "        ) u_own (\n"
    "          .clk_i(clk_i), .advance_i(advance), .negative_i(1'b0), .a_i(factor_q), .b_i(exp_q), "
    ".product_o(own_product)\n"
    "        );\n"
    "        assign own = own_product[OwnBits-1:0];\n"
    "        assign unused_product = ^own_product;\n"
    "      end\n"
    "      assign unused_own = ^own;\n"
    "      assign scaled = own[OwnBits-1 -: OutBits+1] >> octave_q;\n"
    "      assign m_axis_tdata[lane*YBits +: YBits] = y_q;\n"
    "      assign m_axis_tkeep[lane*YBytes +: YBytes] = {YBytes{keeps_q[(Stages-2)*Lanes+lane]}};\n"
    "      always_ff @(posedge clk_i)\n"
    "        if (advance) begin\n"
    "          value_q <= ValueBits'(scaled[OutBits:1]) + ValueBits'(scaled[0]);\n"
    "          y_q <= clip(value_q);\n"
    "        end\n"
    "    end\n"
    "  endgenerate\n";

static const char logarithm[] =
    "\n"
    "  // ---- Between: what the logarithm of S takes from every place, by one multiplier. word_q is m, z_q is m f - "
    "1.\n"
    "\n"
    "  logic [OctaveBits-1:0] octave, octave_q;\n"
    "  logic [AlignedBits-1:0] aligned;\n"
    "  logic [31:0] word_q;\n"
    "  logic [46:0] cell_word;\n"
    "  logic signed [32:0] mul_a;\n"
    "  logic signed [25:0] mul_b, z_q;\n"
    "  logic signed [58:0] scalar_q, scaled;\n"
    "  logic signed [35:0] ln, ln_q;\n"
    "  logic signed [63:0] product;\n"
    "  logic signed [SumOutBits-1:0] base_q;\n"
    "  logic unused_bits;\n"
    "  integer octave_k;\n"
    "\n"
    "  always_comb begin\n"
    "    octave = '0;\n"
    "    for (octave_k = 1; octave_k <= MostOctaves; octave_k = octave_k + 1)\n"
    "      if (sum_q[Fraction+octave_k]) octave = OctaveBits'(octave_k);\n"
    "  end\n"
    "  assign aligned = {sum_q, {(31 - Fraction) {1'b0}}} >> octave_q;\n"
    "  assign cell_word = cell_rom(word_q[30:24]);\n"
    "  assign mul_a = (step_q == 5'd3) ? 33'(word_q) : 33'(z_q);\n"
    "  assign mul_b = (step_q == 5'd3) ? 26'(cell_word[15:0]) : z_q;\n"
    "  assign scaled = (scalar_q >>> 17) - 59'sd1073741824;\n"
    "  assign ln = 36'(cell_word[46:16]) + 36'(z_q) - 36'(scalar_q >>> 31) + 36'(octave_q) * 36'd744261118;\n"
    "  assign product = 64'(ln_q) * LogUnit + LogHalf;\n"
    "  assign unused_bits = ^{aligned, scaled, product, s_axis_tkeep};\n"
    "\n"
    "  always_ff @(posedge clk_i) begin\n"
    "    if (step_q == 5'd1) octave_q <= octave;\n"
    "    if (step_q == 5'd2) word_q <= aligned[31:0];\n"
    "    if ((step_q == 5'd3) || (step_q == 5'd5)) scalar_q <= 59'(mul_a) * 59'(mul_b);\n"
    "    if (step_q == 5'd4) z_q <= 26'(scaled);\n"
    "    if (step_q == 5'd6) ln_q <= ln;\n"
    "    if (step_q == 5'd7) base_q <= OutHalf - SumOutBits'(product >>> LogShift);\n"
    "  end\n";

static const char log_lane_end[] =
    "      logic [StepsBits-1:0] steps_q;\n"
    "      logic signed [SumOutBits-1:0] sum;\n"
    "      logic signed [ValueBits-1:0] value_q;\n"
    "      logic [LateBits-1:0] ys_q;\n"
    "      logic unused_sum;\n"
    "      assign sum = base_q - SumOutBits'(steps_q);\n"
    "      assign unused_sum = ^sum;\n"
    "      assign m_axis_tdata[lane*YBits +: YBits] = ys_q[LateBits-1 -: YBits];\n"
    "      assign m_axis_tkeep[lane*YBytes +: YBytes] = {YBytes{keeps_q[(Stages-2)*Lanes+lane]}};\n"
    "      always_ff @(posedge clk_i)\n"
    "        if (advance) begin\n"
    "          steps_q <= StepsBits'(distance_q) * StepsBits'(Step);\n"
    "          value_q <= sum[SumOutBits-1:OutShift];\n"
    "          ys_q <= LateBits'({ys_q, keeps_q[2*Lanes+lane] ? clip(value_q) : LeastY});\n"
    "        end\n"
    "    end\n"
    "  endgenerate\n";

static int add_rom(struct text *out, const char *name, int words, int width,
                   wide word_of(const struct row_operator *of, int k), const struct row_operator *of, struct diag *diag)
{
    struct rom rom;
    if (rom_make(&rom, words, width, diag))
        return diag->code;
    for (int k = 0; k < words; k++)
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

static int exp_stage(const struct row_operator *of)
{
    return of->exp_high ? 7 : 3;
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
        return add_rom(out, "exp", 256, of->fraction + 1, exp_word, of, diag);
    const int least = least_shift(of), bits = unsigned_bits(63 - least);
    row_add_number(out, "LeastFall", least, "the smallest shift of an exponential");
    row_add_number(out, "FallBits", bits, "of what another has more");
    return add_rom(out, "high", 256, 32 + bits, high_word, of, diag) ? diag->code
                                                                     : add_rom(out, "low", 256, 32, exp_word, of, diag);
}

static wide log_word(const struct row_operator *of, int k)
{
    return (wide)of->log_value[k] << 16 | of->log_factor[k];
}

/* What softmax and log-softmax have alike. */
static void add_numbers(struct text *out, const struct row_operator *of, int stages, int last_step)
{
    row_add_number(out, "XBytes", of->in.bits / 8, "of an input code");
    row_add_number(out, "YBytes", of->out.bits / 8, "of an output code");
    row_add_number(out, "PlaceBits", of->in.bits + 1, "in the buffer: whether it takes part, and the code");
    row_add_number(out, "Fraction", of->fraction, "bits of an exponential");
    row_add_number(out, "ExpBits", of->fraction + 1, "of an exponential, at most 2^Fraction");
    row_add_number(out, "ExpStage", exp_stage(of), "the stage of the pipeline that has exponentials");
    row_add_number(out, "Stages", stages, "of the pipeline");
    text_add(out,
             "  // S is below 2^(Fraction + 1 + MostOctaves).\n"
             "  localparam integer MostOctaves = $clog2(Longest + 1) - 1;\n"
             "  localparam integer OctaveBits = (MostOctaves > 0) ? $clog2(MostOctaves + 1) : 1;\n"
             "  localparam integer SumBits = ExpBits + MostOctaves;\n"
             "  localparam integer AlignedBits = MostOctaves + 32;\n"
             "  localparam logic [XBits-1:0] LeastCode = %d'h%x;\n"
             "  localparam logic [1:0] FirstState = 2'd1;\n"
             "  localparam logic [4:0] LastStep = 5'd%d;\n",
             of->in.bits, of->in.is_signed ? 1u << (of->in.bits - 1) : 0u, last_step);
}

static void add_numbers_of_share(struct text *out, const struct row_module *m)
{
    const struct row_operator *const of = m->of;
    wide low, high;
    row_core_errors(m, RECIPROCAL_FIRST, &low, &high);
    const int error_bits = signed_bits(low, high);
    row_add_number(out, "OutBits", of->out.scale.shift_bits, "an output counts 2^-OutBits");
    row_add_number(out, "ValueBits", of->out.scale.shift_bits + 1, "of an output, at most 2^OutBits");
    row_add_number(out, "MulABits", error_bits > 32 ? error_bits : 32, "of lane 0's first factor");
    row_add_number(out, "MulBBits", of->fraction > 15 ? of->fraction + 1 : 16, "of its second");
    text_add(out, "  localparam integer OwnBits = Fraction + 31;  // of an exponential times 1/S, at most 2^31 - 1\n");
    row_add_clip(out, of, of->out.scale.shift_bits + 1, false, 0, (wide)1 << of->out.scale.shift_bits);
}

/* ln(S) of 1 to 65536 places counts 2^-30, and is off by less than 2^25. */
static void add_numbers_of_log(struct text *out, const struct row_operator *of, int stages)
{
    const int g = of->step_shift, h = of->log_shift;
    const wide slack = (wide)1 << 25, most_ln = ((wide)1 << 30) + slack + 17 * (wide)744261118;
    const wide log_low = (-slack * of->log_unit) >> h, log_high = ((most_ln * of->log_unit) >> h) + 1;
    const wide most = (((wide)1 << of->in.bits) - 1) * of->step, half = (wide)1 << (g - 1);
    const wide low = half - log_high - most, high = half - log_low;
    const int needed = signed_bits(low, high), bits = needed > g + 2 ? needed : g + 2;
    char unit[CONSTANT_TEXT], log_half[CONSTANT_TEXT], least[CONSTANT_TEXT], out_half[CONSTANT_TEXT];
    row_add_number(out, "Step", of->step, "P");
    row_add_number(out, "StepsBits", unsigned_bits(most > 0 ? most : 1), "of it times a distance");
    row_add_number(out, "SumOutBits", bits, "of an output before its shift");
    row_add_number(out, "OutShift", g, "g");
    row_add_number(out, "ValueBits", bits - g, "of an output less its zero point");
    row_add_number(out, "LogShift", h, "h");
    row_add_number(out, "LateBits", (stages - 4) * of->out.bits, "of outputs that wait for the pipeline's end");
    text_add(out,
             "  localparam logic signed [63:0] LogUnit = %s;\n"
             "  localparam logic signed [63:0] LogHalf = %s;\n"
             "  localparam logic signed [SumOutBits-1:0] OutHalf = %s;\n"
             "  localparam logic [YBits-1:0] LeastY = %s;\n",
             signed_constant(64, of->log_unit, unit), signed_constant(64, (wide)1 << (h - 1), log_half),
             signed_constant(bits, half, out_half), signed_constant(of->out.bits, of->out.qmin, least));
    row_add_clip(out, of, bits - g, true, low >> g, high >> g);
}

static int add_log_softmax(struct text *out, const struct row_module *m, struct diag *diag)
{
    const struct row_operator *const of = m->of;
    const int stages = exp_stage(of) + 2;
    add_numbers(out, of, stages, 7);
    add_numbers_of_log(out, of, stages);
    if (add_exponentials(out, of, diag) || add_rom(out, "cell", PWL_LOG_CELLS, 47, log_word, of, diag))
        return diag->code;
    row_add_stream(out, m);
    text_add(out, "%s%s%s", passes, logarithm, lane_begin);
    row_add_named(out, m, of->exp_high ? exp_of_words : exp_of_bytes);
    text_add(out, "%s", log_lane_end);
    return EXIT_DONE;
}

int row_add_softmax(struct text *out, const struct row_module *m, struct diag *diag)
{
    const struct row_operator *const of = m->of;
    if (of->kind == OPERATOR_LOG_SOFTMAX)
        return add_log_softmax(out, m, diag);
    add_numbers(out, of, exp_stage(of) + 5, row_core_step(out, 3) + 7);
    add_numbers_of_share(out, m);
    if (add_exponentials(out, of, diag))
        return diag->code;
    row_add_stream(out, m);
    text_add(out, "%s", passes);
    row_add_named(out, m, reciprocal);
    row_add_core(out, m, RECIPROCAL_FIRST);
    text_add(out, "%s", lane_begin);
    row_add_named(out, m, of->exp_high ? exp_of_words : exp_of_bytes);
    row_add_named(out, m, lane_end);
    return EXIT_DONE;
}
