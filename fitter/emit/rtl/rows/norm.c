/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LayerNorm, RMSNorm and the L2 norm. */
#include <inttypes.h>

#include "emit/rtl/pipeline.h"
#include "emit/rtl/rom.h"
#include "row_module.h"

static const char squares[] =
    "\n"
    "  // ---- First, while it comes: the sum of the squares of u, the codes' distances from Origin.\n"
    "\n"
    "  // Stages: 1 u_q; 2 squares; then what they are added to. Places behind the row's end are 0.\n"
    "  localparam integer Rest = Longest - (Beats - 1) * Lanes;\n"
    "  logic [2:1] adds_q, firsts_q, ends_q;\n"
    "  logic [Lanes*UBits-1:0] us;\n"
    "  logic [Lanes*SquareBits-1:0] squares;\n"
    "  logic [2*Lanes*SquaresBits-1:0] square_tree;\n"
    "  logic [SquaresBits-1:0] squares_sum_q;\n"
    "  logic is_added_q;\n"
    "  integer square_k;\n"
    "\n"
    "  always_comb begin\n"
    "    square_tree = '0;\n"
    "    for (square_k = 0; square_k < Lanes; square_k = square_k + 1)\n"
    "      square_tree[(Lanes+square_k)*SquaresBits +: SquaresBits] =\n"
    "          SquaresBits'(squares[square_k*SquareBits +: SquareBits]);\n"
    "    for (square_k = Lanes - 1; square_k > 0; square_k = square_k - 1)\n"
    "      square_tree[square_k*SquaresBits +: SquaresBits] =\n"
    "          square_tree[2*square_k*SquaresBits +: SquaresBits] + square_tree[(2*square_k+1)*SquaresBits +: "
    "SquaresBits];\n"
    "  end\n"
    "  assign starts = is_added_q & ~|writes_q[6:1];\n"
    "  assign is_summed = 1'b1;\n"
    "\n"
    "  always_ff @(posedge clk_i) begin\n"
    "    firsts_q <= {firsts_q[1], load_at_q == '0};\n"
    "    ends_q <= {ends_q[1], load_ends};\n"
    "    if (adds_q[2]) squares_sum_q <= (firsts_q[2] ? '0 : squares_sum_q) + square_tree[SquaresBits +: "
    "SquaresBits];\n"
    "  end\n"
    "  always_ff @(posedge clk_i or negedge rst_ni) begin\n"
    "    if (!rst_ni) begin\n"
    "      adds_q <= '0;\n"
    "      is_added_q <= 1'b0;\n"
    "    end else begin\n"
    "      adds_q <= {adds_q[1], takes};\n"
    "      if (adds_q[2] & ends_q[2]) is_added_q <= 1'b1;\n"
    "      else if (state_q == Factor) is_added_q <= 1'b0;\n"
    "    end\n"
    "  end\n";

static const char mean[] =
    "\n"
    "  // And the sum of u, of which stage 2 has the tree's registers.\n"
    "  logic [2*Lanes*ABits-1:0] u_tree;\n"
    "  logic signed [ABits-1:0] u_tree_q, u_sum_q, row_sum_q;\n"
    "  logic [Lanes*ABits-1:0] us_wide;\n"
    "  integer mean_k;\n"
    "  genvar mean_lane;\n"
    "\n"
    "  generate\n"
    "    for (mean_lane = 0; mean_lane < Lanes; mean_lane = mean_lane + 1) begin : g_mean\n"
    "      logic signed [UBits-1:0] u;\n"
    "      assign u = us[mean_lane*UBits +: UBits];\n"
    "      assign us_wide[mean_lane*ABits +: ABits] = ABits'(u);\n"
    "    end\n"
    "  endgenerate\n"
    "\n"
    "  always_comb begin\n"
    "    u_tree = {us_wide, {(Lanes * ABits) {1'b0}}};\n"
    "    for (mean_k = Lanes - 1; mean_k > 0; mean_k = mean_k - 1)\n"
    "      u_tree[mean_k*ABits +: ABits] = u_tree[2*mean_k*ABits +: ABits] + u_tree[(2*mean_k+1)*ABits +: ABits];\n"
    "  end\n"
    "  always_ff @(posedge clk_i) begin\n"
    "    u_tree_q <= u_tree[ABits +: ABits];\n"
    "    if (adds_q[2]) u_sum_q <= (firsts_q[2] ? '0 : u_sum_q) + u_tree_q;\n"
    "    if (step_q == 5'd1) row_sum_q <= u_sum_q;\n"
    "  end\n";

static const char no_mean[] = "\n"
                              "  // No mean is taken away.\n"
                              "  logic signed [ABits-1:0] u_sum_q, row_sum_q;\n"
                              "  logic unused_us;\n"
                              "  assign unused_us = ^us;\n"
                              "  assign u_sum_q = '0;\n"
                              "  assign row_sum_q = '0;\n";

static const char root[] =
    "\n"
    "  // ---- Between: 1/sqrt(V) as a word and a shift, by the core and by the multiplier of lane 0. Where V is "
    "Epsilon, "
    "every\n"
    "  // n u - A is 0, and the root does not count.\n"
    "\n"
    "  logic [SpreadBits-1:0] spread_q, scaled_sum_q;\n"
    "  logic [VarianceBits-1:0] variance_q;\n"
    "  logic [VarianceBits+31:0] aligned;\n"
    "  logic [FallBits-1:0] fall, fall_q;\n"
    "  logic [31:0] word_q;\n"
    "  logic [15:0] core_y;\n"
    "  logic signed [49:0] err;\n"
    "  logic signed [MulABits-1:0] err_q;\n"
    "  logic [ABits-1:0] sum_size_q;  // of u_sum_q\n"
    "  logic [31:0] square, half;\n"
    "  logic [31:0] root;\n"
    "  logic [FactorBits-1:0] factor_q;\n"
    "  logic signed [FarBits-1:0] first_far;\n"
    "  logic [MulABits-1:0] mul_a;\n"
    "  logic [MulBBits-1:0] mul_b;\n"
    "  logic [MulABits+MulBBits-1:0] product;\n"
    "  logic far_below, err_below, mul_negative;\n"
    "  logic unused_bits;\n"
    "  integer pair_k;\n"
    "\n"
    "  always_comb begin\n"
    "    fall = '0;\n"
    "    for (pair_k = 1; pair_k <= FallMost; pair_k = pair_k + 1)\n"
    "      if (variance_q[2*(PairLeast+pair_k)] | variance_q[2*(PairLeast+pair_k)+1]) fall = FallBits'(pair_k);\n"
    "  end\n"
    "  assign aligned = {variance_q, 32'd0} << {FallBits'(FallMost) - fall_q, 1'b0};\n"
    "  assign far_below = first_far[FarBits-1];\n"
    "  assign err_below = err_q[MulABits-1];\n"
    "  assign square = product[31:0];\n"
    "  assign half = {1'b0, word_q[31:1]} + {31'd0, word_q[0]};\n"
    "  assign err = 50'sh0400000000000 - $signed({2'b0, product[62:15]});\n"
    "  assign root = {1'b0, core_y, 15'd0} + product[48:17];\n"
    "  assign unused_bits = ^{aligned, product, err, root};\n"
    "  // Each product is there three steps later.\n"
    "  always_comb begin\n"
    "    mul_negative = 1'b0;\n"
    "    mul_a = MulABits'(core_y);\n"
    "    mul_b = MulBBits'(core_y);\n"
    "    case (step_q)\n"
    "      5'd0: begin\n"
    "        mul_a = MulABits'(first_far);\n"
    "        mul_b = MulBBits'(factor_q);\n"
    "        mul_negative = far_below;\n"
    "      end\n"
    "      5'd2: begin\n"
    "        mul_a = MulABits'(sum_size_q);\n"
    "        mul_b = MulBBits'(sum_size_q);\n"
    "      end\n"
    "      CoreStep + 5'd3: begin\n"
    "        mul_a = MulABits'(square);\n"
    "        mul_b = MulBBits'(half);\n"
    "      end\n"
    "      CoreStep + 5'd7: begin\n"
    "        mul_a = err_q;\n"
    "        mul_negative = err_below;\n"
    "      end\n"
    "      default: ;\n"
    "    endcase\n"
    "  end\n"
    "\n"
    "  UNIT_product #(\n"
    "    .ABits(MulABits), .BBits(MulBBits)\n"
    "  ) u_product (\n"
    "    .clk_i(clk_i), .advance_i(advance | (step_q != 5'd0)), .negative_i(mul_negative), .a_i(mul_a), .b_i(mul_b),\n"
    "    .product_o(product)\n"
    "  );\n"
    "\n"
    "  always_ff @(posedge clk_i) begin\n"
    "    case (step_q)\n"
    "      5'd1: begin\n"
    "        sum_size_q <= u_sum_q[ABits-1] ? -u_sum_q : u_sum_q;\n"
    "        scaled_sum_q <= SpreadBits'(squares_sum_q) * SpreadBits'(Longest);\n"
    "      end\n"
    "      5'd5: spread_q <= scaled_sum_q - product[SpreadBits-1:0];\n"
    "      5'd6: variance_q <= (VarianceBits'(spread_q) << VarianceShift) + Epsilon;\n"
    "      5'd7: fall_q <= fall;\n"
    "      5'd8: word_q <= aligned[VarianceBits+31 -: 32];\n"
    "      CoreStep + 5'd6: err_q <= MulABits'(err >>> 15);\n"
    "      LastStep: factor_q <= root[31:Drop];\n"
    "      default: ;\n"
    "    endcase\n"
    "  end\n";

static const char lanes[] =
    "\n"
    "  // ---- Last, out of the buffer: the outputs. Stages: 2 far_q, 3 to 5 own, 6 normal_q and the channel's word, "
    "7\n"
    "  // scaled_q, 8 y_q.\n"
    "\n"
    "  logic [AtBits-1:0] channel_at_q;\n"
    "  always_ff @(posedge clk_i or negedge rst_ni) begin\n"
    "    if (!rst_ni) channel_at_q <= '0;\n"
    "    else if (advance & writes_q[5]) channel_at_q <= lasts_q[5] ? '0 : channel_at_q + AtBits'(1);\n"
    "  end\n"
    "\n"
    "  genvar lane;\n"
    "  generate\n"
    "    for (lane = 0; lane < Lanes; lane = lane + 1) begin : g_lane\n"
    "      logic signed [UBits-1:0] u_q;\n"
    "      logic signed [FarBits-1:0] far_q;\n"
    "      logic signed [OwnBits-1:0] own;  // far_q by factor_q, three edges later\n"
    "      logic signed [HighBits-1:0] high, fallen;\n"
    "      logic signed [HighBits-2:0] floor;\n"
    "      logic signed [NormalBits-1:0] normal_q;\n"
    "      logic [WordBits-1:0] word;\n"
    "      logic signed [GammaBits-1:0] gamma_q;\n"
    "      logic signed [BetaBits-1:0] beta_q, beta_late_q;\n"
    "      logic signed [SumBits-1:0] scaled_q, sum;\n"
    "      logic signed [ValueBits-1:0] value;\n"
    "      // Kept apart: yosys 0.23 makes an iCE40's DSP of it and of the sums behind it that gives other sums.\n"
    "      (* keep *) logic [SquareBits-1:0] square_q;\n"
    "      logic [YBits-1:0] y_q;\n"
    "      logic unused_lane;\n"
    "\n"
    "      assign places[lane*PlaceBits +: PlaceBits] = s_axis_tdata[lane*XBits +: XBits];\n"
    "      assign us[lane*UBits +: UBits] = u_q;\n"
    "      assign squares[lane*SquareBits +: SquareBits] = square_q;\n"
    "      if (lane == 0) begin : g_first\n"
    "        assign first_far = far_q;\n"
    "        assign own = OwnBits'($signed(product));\n"
    "      end else begin : g_other\n"
    "        logic [FarBits+FactorBits-1:0] own_product;\n"
    "        UNIT_product #(\n"
    "          .ABits(FarBits), .BBits(FactorBits)\n"
    "        ) u_own (\n"
    "          .clk_i(clk_i), .advance_i(advance), .negative_i(far_q[FarBits-1]), .a_i(far_q), .b_i(factor_q),\n"
    "          .product_o(own_product)\n"
    "        );\n"
    "        assign own = OwnBits'($signed(own_product));\n"
    "      end\n"
    "      assign high = own[OwnBits-1:ShiftLeast-1];\n"
    "      assign fallen = high >>> fall_q;\n"
    "      assign floor = fallen[HighBits-1:1];\n"
    "      assign sum = scaled_q + SumBits'(beta_late_q);\n"
    "      assign value = sum[SumBits-1:OutShift];\n"
    "      assign unused_lane = ^{own, floor, sum, word, channel_at_q};\n"
    "      always_ff @(posedge clk_i) begin\n"
    "        u_q <= ((lane < Rest) || (load_at_q != LastAt)) ? u_of(places[lane*PlaceBits +: PlaceBits]) : '0;\n"
    "        square_q <= SquareBits'(u_q) * SquareBits'(u_q);\n"
    "        if (advance) begin\n"
    "          far_q <= FarBits'(u_of(read_q[lane*PlaceBits +: PlaceBits])) * FarBits'(Longest) - "
    "FarBits'(row_sum_q);\n"
    "          normal_q <= NormalBits'(floor) + NormalBits'(fallen[0]);\n"
    "          gamma_q <= word[GammaBits-1:0];\n"
    "          beta_q <= word[WordBits-1:GammaBits];\n"
    "          scaled_q <= SumBits'(normal_q) * SumBits'(gamma_q);\n"
    "          beta_late_q <= beta_q;\n"
    "          y_q <= clip(value);\n"
    "        end\n"
    "      end\n"
    "      assign m_axis_tdata[lane*YBits +: YBits] = y_q;\n"
    "      assign m_axis_tkeep[lane*YBytes +: YBytes] = {YBytes{(lane < Rest) ? 1'b1 : ~m_axis_tlast}};\n";

/* What the numbers of a unit follow from. */
struct norm_ranges {
    wide n, u_low, u_high;                           /* of u */
    wide u_most, far;                                /* |u|; |n u - A| */
    wide variance_low, variance_high;                /* of V, where it is not E0 */
    wide normal;                                     /* |t| */
    wide gamma_low, gamma_high, beta_low, beta_high; /* beta with the half that rounds the output */
};

static struct norm_ranges ranges_of(const struct row_module *m)
{
    const struct row_operator *const of = m->of;
    const pwl_norm *const norm = &m->packed->norm;
    const bool is_layer = norm->kind == PWL_LAYER_NORM;
    const int bits = of->in.bits, out_shift = of->gamma_shift + of->fraction;
    struct norm_ranges r = {.n = of->length, .normal = (wide)pwl_norm_most(norm)};
    r.u_low = code_min(bits, of->in.is_signed) - norm->zp_x;
    r.u_high = code_max(bits, of->in.is_signed) - norm->zp_x;
    r.u_most = larger_wide(-r.u_low, r.u_high);
    const wide range = is_layer ? ((wide)1 << bits) - 1 : r.u_most;
    const wide most = r.n * r.n * range * range, least = r.n - is_layer;
    r.far = r.n * range;
    r.variance_low = larger_wide((least << of->variance_shift) + of->eps_code, 1);
    r.variance_high = larger_wide(((is_layer ? most / 4 : most) << of->variance_shift) + of->eps_code, r.variance_low);
    for (uint32_t c = 0; c < of->length; c++) {
        const wide gamma = of->gamma_codes[c];
        const wide beta = (of->beta_codes ? of->beta_codes[c] : 0) + ((wide)1 << (out_shift - 1));
        r.gamma_low = c ? smaller_wide(r.gamma_low, gamma) : gamma;
        r.gamma_high = c ? larger_wide(r.gamma_high, gamma) : gamma;
        r.beta_low = c ? smaller_wide(r.beta_low, beta) : beta;
        r.beta_high = c ? larger_wide(r.beta_high, beta) : beta;
    }
    return r;
}

static int larger_of(int a, int b)
{
    return a > b ? a : b;
}

/* The words of the channels: {beta, gamma}, and `word` of a lane. One that all channels share is a constant. */
static int add_channels(struct text *out, const struct row_module *m, const struct norm_ranges *r, int gamma_bits,
                        int beta_bits, struct diag *diag)
{
    const struct row_operator *const of = m->of;
    const wide half = (wide)1 << (of->gamma_shift + of->fraction - 1);
    const bool is_one = r->gamma_low == r->gamma_high && r->beta_low == r->beta_high;
    struct rom rom;
    if (rom_make(&rom, is_one ? 1 : (int)of->length, gamma_bits + beta_bits, diag))
        return diag->code;
    for (int c = 0; c < rom.entries; c++) {
        rom_put(&rom, c, 0, gamma_bits, of->gamma_codes[c]);
        rom_put(&rom, c, gamma_bits, beta_bits, (of->beta_codes ? of->beta_codes[c] : 0) + half);
    }
    if (is_one) {
        text_add(out, "  localparam logic [WordBits-1:0] Word = %d'h", rom.width);
        rom_add_hex(out, &rom, 0);
        text_add(out, ";\n");
    } else {
        row_add_number(out, "IndexBits", rom.address_bits, "of a channel's number");
        rom_add_function(out, &system_verilog, &rom, "channel");
    }
    rom_free(&rom);
    return EXIT_DONE;
}

static void add_u(struct text *out, const struct row_module *m, const struct norm_ranges *r)
{
    const struct row_operator *const of = m->of;
    const int bits = signed_bits(r->u_low, r->u_high);
    char origin[CONSTANT_TEXT];
    text_add(out,
             "\n  // A code's distance from the origin.\n"
             "  function automatic logic signed [UBits-1:0] u_of(input logic %s[XBits-1:0] code);\n"
             "    u_of = UBits'(code) - %s;\n"
             "  endfunction\n",
             of->in.is_signed ? "signed " : "", signed_constant(bits, m->packed->norm.zp_x, origin));
}

static void add_sizes_of_sums(struct text *out, const struct row_module *m, const struct norm_ranges *r)
{
    const struct row_operator *const of = m->of;
    const bool is_layer = m->packed->norm.kind == PWL_LAYER_NORM;
    row_add_number(out, "YBytes", of->out.bits / 8, "of an output code");
    row_add_number(out, "PlaceBits", of->in.bits, "in the buffer");
    row_add_number(out, "UBits", signed_bits(r->u_low, r->u_high), "of a code's distance from the origin");
    row_add_number(out, "SquareBits", 2 * signed_bits(r->u_low, r->u_high) - 1, "of its square");
    row_add_number(out, "SquaresBits", unsigned_bits(r->n * r->u_most * r->u_most), "of a row's sum of these");
    row_add_number(out, "ABits", is_layer ? signed_bits(r->n * r->u_low, r->n * r->u_high) : 1, "of a row's sum of u");
    row_add_number(out, "SpreadBits", unsigned_bits(r->n * r->n * r->u_most * r->u_most), "of n sum u^2");
}

static void add_sizes_of_root(struct text *out, const struct row_module *m, const struct norm_ranges *r)
{
    const struct row_operator *const of = m->of;
    const int least = (unsigned_bits(r->variance_low) - 1) / 2, most = (unsigned_bits(r->variance_high) - 1) / 2;
    const int variance_bits = 2 * most + 2, far_bits = signed_bits(-r->far, r->far);
    const int a_bits = signed_bits(r->n * r->u_low, r->n * r->u_high);
    wide low, high;
    row_core_errors(m, ROOT_FIRST, &low, &high);
    const int a = larger_of(larger_of(32, far_bits), larger_of(signed_bits(low, high), a_bits));
    row_add_number(out, "VarianceShift", of->variance_shift, "f");
    row_add_number(out, "VarianceBits", variance_bits, "of V, in pairs");
    row_add_number(out, "PairLeast", least, "the pair of the smallest V's upper bit");
    row_add_number(out, "FallMost", most - least, "pairs of the largest V beyond it");
    row_add_number(out, "FallBits", unsigned_bits(most - least), "of such a number");
    row_add_number(out, "Drop", of->drop, "bits of the root that are dropped");
    row_add_number(out, "FactorBits", 32 - of->drop, "of what is left");
    row_add_number(out, "FarBits", far_bits, "of n u - A");
    row_add_number(out, "MulABits", a, "of lane 0's first factor");
    row_add_number(out, "MulBBits", larger_of(32, a_bits), "of its second");
    text_add(out, "  localparam logic [VarianceBits-1:0] Epsilon = %d'h%" PRIx64 ";\n", variance_bits,
             (uint64_t)of->eps_code);
}

/* LayerNorm of one place, where every product is 0, has any shift. */
static void add_sizes_of_place(struct text *out, const struct row_module *m, const struct norm_ranges *r,
                               int gamma_bits, int beta_bits)
{
    const struct row_operator *const of = m->of;
    const int pair = (unsigned_bits(r->variance_low) - 1) / 2, out_shift = of->gamma_shift + of->fraction;
    const int shift = larger_of(31 + pair - of->drop - of->fraction - of->variance_shift / 2, 1);
    const int own_bits = larger_of(signed_bits(-r->far, r->far) + 32 - of->drop, shift + 2);
    const wide scaled = r->normal * larger_wide(-r->gamma_low, r->gamma_high);
    const wide low = r->beta_low - scaled, high = r->beta_high + scaled;
    const int sum_bits = larger_of(signed_bits(low, high), out_shift + 2);
    row_add_number(out, "ShiftLeast", shift, "of a product at the smallest V");
    row_add_number(out, "OwnBits", own_bits, "of a product");
    row_add_number(out, "HighBits", own_bits - shift + 1, "of what that leaves, and a bit for rounding");
    row_add_number(out, "NormalBits", signed_bits(-r->normal, r->normal), "of a normalised value");
    row_add_number(out, "GammaBits", gamma_bits, "of a channel's factor");
    row_add_number(out, "BetaBits", beta_bits, "of its addend, and a half for rounding");
    row_add_number(out, "WordBits", gamma_bits + beta_bits, "of both");
    row_add_number(out, "SumBits", sum_bits, "of the scaled value and the addend");
    row_add_number(out, "OutShift", out_shift, "g + T");
    row_add_number(out, "ValueBits", sum_bits - out_shift, "of an output less its zero point");
    row_add_number(out, "Stages", 8, "of the pipeline");
    row_add_clip(out, of, sum_bits - out_shift, true, low >> out_shift, high >> out_shift);
}

int row_add_norm(struct text *out, const struct row_module *m, struct diag *diag)
{
    const struct norm_ranges r = ranges_of(m);
    const int gamma_bits = signed_bits(r.gamma_low, r.gamma_high), beta_bits = signed_bits(r.beta_low, r.beta_high);
    const bool is_one = r.gamma_low == r.gamma_high && r.beta_low == r.beta_high;
    add_sizes_of_sums(out, m, &r);
    add_sizes_of_root(out, m, &r);
    const int core_step = row_core_step(out, 9);
    text_add(out, "  localparam logic [1:0] FirstState = 2'd2;\n  localparam logic [4:0] LastStep = 5'd%d;\n",
             core_step + 10);
    add_sizes_of_place(out, m, &r, gamma_bits, beta_bits);
    if (add_channels(out, m, &r, gamma_bits, beta_bits, diag))
        return diag->code;
    add_u(out, m, &r);
    row_add_stream(out, m);
    text_add(out, "%s%s", squares, m->packed->norm.kind == PWL_LAYER_NORM ? mean : no_mean);
    row_add_named(out, m, root);
    row_add_core(out, m, ROOT_FIRST);
    row_add_named(out, m, lanes);
    text_add(out, "      assign word = %s;\n    end\n  endgenerate\n",
             is_one ? "Word" : "channel_rom(IndexBits'(channel_at_q) * IndexBits'(Lanes) + IndexBits'(lane))");
    return EXIT_DONE;
}
