/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The flags of a spec: a row each, from which the command line of fit, its help and completion, the keys of lists of
 * jobs and spec_set() come. A row is
 *
 *   F(key, name, argument, set, help)
 *
 *   key       in lists of jobs (--spec)
 *   name      on the command line, and in a table's spec
 *   argument  as help writes it; NULL for a switch; "a|b|c" where it is one of these words, and no other is taken
 *   set       the function of spec_set.c that takes it
 *   help      a line
 */
#ifndef PWLC_FLAGS_H
#define PWLC_FLAGS_H

/* clang-format off */
#define SPEC_FLAGS(F)                                                                                                  \
    F("profile", "--profile", "P", set_profile,                                                                        \
      "what the table of a chip or library asks for, as tosa16: `pwlc list profiles`; flags beside it go "             \
      "before its own")                                                                                                \
    F("in", "--in", "TYPE", set_in,                                                                                    \
      "input type, as u16:2^-12:24576 (width:scale:zero point), q3.12, or a model's, as net.tflite:TENSOR")            \
    F("out", "--out", "TYPE", set_out,                                                                                 \
      "output type; s8 alone takes scale and zero point from the function's range, see below")                         \
    F("range", "--range", "LO:HI", set_range,                                                                          \
      "real input range that gives types without a scale, as --in s8, theirs")                                         \
    F("calibrate", "--calibrate", "FILE", set_calibrate,                                                               \
      "instead of --range: the range of the values in a .npy file of float16, float32 or float64")                     \
    F("calibrate_by", "--calibrate-by", "minmax|percentile=P|mse", set_calibrate_by,                                   \
      "range of the data: all, the middle P percent, or least squared error (default minmax)")                         \
    F("pow2_scales", "--pow2-scales", NULL, set_pow2_scales,                                                           \
      "round scales that are found up to powers of two")                                                               \
    F("segments", "--segments", "N", set_segments,                                                                     \
      "number of segments, 1 to 4096 (default 16, or as few as --max-err needs)")                                      \
    F("max_err", "--max-err", "L", set_max_err,                                                                        \
      "largest error allowed, in output LSB; with --segments a gate (exit 3)")                                         \
    F("method", "--method", SPEC_METHODS, set_method,                                                                  \
      "how to fit, see `pwlc list methods` (default lsq; minimax with --max-err)")                                     \
    F("form", "--form", SPEC_FORMS, set_form,                                                                          \
      "where the constant is added (default absolute; of --knots points the one that holds it)")                       \
    F("rounding", "--rounding", SPEC_ROUNDINGS, set_rounding,                                                          \
      "of the right shift (default floor)")                                                                            \
    F("slope_bits", "--slope-bits", "B", set_slope_bits,                                                               \
      "width of q_b, sign included (default: 8, 16 or 32, by the types)")                                              \
    F("offset_type", "--offset-type", "TYPE", set_offset_type,                                                         \
      "term_c, bias or y is a code of a type, as s16 or u8; so is each value of --knots points (default: "             \
      "the storage's)")                                                                                                \
    F("shift", "--shift", SPEC_SHIFTS, set_constraint,                                                                 \
      "one: the same n_BX_total in all segments (default per-segment)")                                                \
    F("shift_bits", "--shift-bits", "B", set_constraint,                                                               \
      "width of n_BX_total, sign included, 2 to 8: 6 is -32 to 31 (default: what the accumulator allows)")             \
    F("shift_multiple", "--shift-multiple", "N", set_constraint,                                                       \
      "slopes fit --slope-bits once they are stored with a shift of N, 2 N, ... or 32, see below (default: "           \
      "any shift)")                                                                                                    \
    F("slope_terms", "--slope-terms", SPEC_SLOPE_TERMS, set_constraint,                                                \
      "slopes are sums of one or two signed powers of two: shifts, no multiplier")                                     \
    F("knots", "--knots", "free|uniform|pow2[:B]|points[:K[:half_down|:toward_left]]|steps:K", set_constraint,                      \
      "where segments start: equal widths, by the top B bits of a code, or a value every 2^K codes "                   \
      "(default free)")                                                                                                \
    F("monotone", "--monotone", NULL, set_constraint,                                                                  \
      "no step against the direction of the function")                                                                 \
    F("continuous", "--continuous", "S", set_constraint,                                                               \
      "where a segment starts, the one before it would give a value within S output LSB")                              \
    F("fix", "--fix", "X:Y...", set_fix,                                                                               \
      "the code nearest to x gives the code nearest to y, as 0:0; may be repeated")                                    \
    F("zero", "--zero", SPEC_ZEROS, set_zero,                                                                          \
      "keep: f(0) = 0 or 1/2 gives its own code if that costs no segment and at most 0.25 LSB (default); "             \
      "free: any code")                                                                                                \
    F("symmetry", "--symmetry", SPEC_SYMMETRIES, set_symmetry,                                                         \
      "fold: half a table for an odd function or f(-x) = 1 - f(x) (default off)")                                      \
    F("reduce", "--reduce", SPEC_REDUCES, set_reduce,                                                                  \
      "on: a table of one octave of sqrt, rsqrt, reciprocal, log or exp serves all (default off)")                     \
    F("param", "--param", "NAME=VALUE...", set_parameter,                                                              \
      "parameter of the function; may be repeated")                                                                    \
    F("expr", "--expr", "EXPRESSION", set_expression,                                                                  \
      "instead of FUNCTION: an expression of x, as \"x/(1+exp(-x))\" or \"gelu(x)/2\", see below")                     \
    F("samples", "--samples", "FILE", set_samples,                                                                     \
      "instead of FUNCTION: x,y pairs (csv or npy), or y alone (Y.npy:LOW:HIGH), joined by straight lines")            \
    F("weights", "--weights", "FILE", set_weights,                                                                     \
      "how often each input code occurs (csv or npy): least squares counts them so, see below")                        \
    F("outside", "--outside", SPEC_OUTSIDES, set_outside,                                                              \
      "codes outside the function's domain: take the nearest defined one, or refuse (default)")                        \
    F("no_saturate", "--no-saturate", NULL, set_no_saturate,                                                           \
      "exit 3 when the function leaves the output range")
/* clang-format on */

#endif
