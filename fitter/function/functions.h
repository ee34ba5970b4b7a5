/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in functions: a row each, from which builtin.c, reference_mpfr.c and device/double_function.h take theirs.
 * A row is
 *
 *   F(value, name, aliases,
 *     formula, first, second,
 *     domain, symmetry, curvature, limit_min, limit_max, parameters, margin)
 *
 *   value          the C identifier: f in builtin.c, and by MPFR in reference_mpfr.c; DOUBLE_value is a case of
 *                  double_value() in device/double_function.h
 *   name           by which commands and tables name it
 *   aliases        ALIASES("...", ...): what others call it, torch and ONNX among them; or NO_ALIASES
 *   formula        for `pwlc list`
 *   first, second  the derivatives in builtin.c
 *   domain         REALS, POSITIVE, NOT_NEGATIVE or NOT_ZERO
 *   symmetry       of function.h
 *   curvature      of curvature.h: where f is convex and where concave
 *   limit_min, limit_max  behaviour at the domain's ends: "0", "1", "x", "-inf", "oscillates"
 *   parameters     ALPHA(initial, min, max) or NO_PARAMETERS
 *   margin         MARGIN(side, a, b, c, d, e, tiny): how far double_value() is off; double_function.h derives it
 *
 * A file that takes the rows defines the words in capitals that it uses.
 */
#ifndef PWLC_FUNCTIONS_H
#define PWLC_FUNCTIONS_H

/* clang-format off */
#define FUNCTIONS(F)                                                                                                   \
    F(sigmoid, "sigmoid", ALIASES("logistic", "expit"),                                                                \
      "1 / (1 + exp(-x))", sigmoid_d1, sigmoid_d2,                                                                     \
      REALS, SYMMETRY_COMPLEMENT, curvature_convex_concave, "0", "1", NO_PARAMETERS, MARGIN(-1, 8, 2, 0, 0, 0, 1))     \
    F(tangent_h, "tanh", NO_ALIASES,                                                                                   \
      "tanh(x)", tangent_h_d1, tangent_h_d2,                                                                           \
      REALS, SYMMETRY_ODD, curvature_convex_concave, "-1", "1", NO_PARAMETERS, MARGIN(0, 6, 0, 0, 0, 0, 0))            \
    F(gelu, "gelu", ALIASES("gelu_erf"),                                                                               \
      "x (1 + erf(x / sqrt(2))) / 2", gelu_d1, gelu_d2,                                                                \
      REALS, SYMMETRY_NONE, curvature_gelu, "0", "x", NO_PARAMETERS, MARGIN(-1, 26, 0, 4, 0, 0, 1))                    \
    F(gelu_tanh, "gelu_tanh", ALIASES("gelu_new", "gelu_pytorch_tanh"),                                                \
      "x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2", gelu_tanh_d1, gelu_tanh_d2,                                 \
      REALS, SYMMETRY_NONE, curvature_gelu_tanh, "0", "x", NO_PARAMETERS, MARGIN(-1, 24, 20, 18, 0, 0, 1))             \
    F(quick_gelu, "quick_gelu", ALIASES("quickgelu"),                                                                  \
      "x / (1 + exp(-1.702 x))", quick_gelu_d1, quick_gelu_d2,                                                         \
      REALS, SYMMETRY_NONE, curvature_quick_gelu, "0", "x", NO_PARAMETERS, MARGIN(-1, 12, 6, 0, 0, 0, 1))              \
    F(silu, "silu", ALIASES("swish"),                                                                                  \
      "x / (1 + exp(-x))", silu_d1, silu_d2,                                                                           \
      REALS, SYMMETRY_NONE, curvature_silu, "0", "x", NO_PARAMETERS, MARGIN(-1, 12, 2, 0, 0, 0, 1))                    \
    F(softplus, "softplus", ALIASES("soft_plus", "softrelu", "smooth_relu"),                                           \
      "log(1 + exp(x))", sigmoid, sigmoid_d1,                                                                          \
      REALS, SYMMETRY_NONE, curvature_convex, "0", "x", NO_PARAMETERS, MARGIN(-1, 12, 2, 0, 0, 0, 1))                  \
    F(mish, "mish", NO_ALIASES,                                                                                        \
      "x tanh(log(1 + exp(x)))", mish_d1, mish_d2,                                                                     \
      REALS, SYMMETRY_NONE, curvature_mish, "0", "x", NO_PARAMETERS, MARGIN(-1, 24, 4, 0, 0, 0, 1))                    \
    F(elu, "elu", NO_ALIASES,                                                                                          \
      "x < 0: alpha (exp(x) - 1); else x", elu_d1, elu_d2,                                                             \
      REALS, SYMMETRY_NONE, curvature_kink, "-alpha", "x", ALPHA(1, 0, 1000), MARGIN(0, 8, 0, 0, 0, 0, 0))             \
    F(selu, "selu", NO_ALIASES,                                                                                        \
      "1.0507 (x < 0: 1.67326 (exp(x) - 1); else x)", selu_d1, selu_d2,                                                \
      REALS, SYMMETRY_NONE, curvature_kink, "-1.7581", "1.0507 x", NO_PARAMETERS, MARGIN(0, 10, 0, 0, 0, 0, 0))        \
    F(exponential, "exp", NO_ALIASES,                                                                                  \
      "exp(x)", exponential, exponential,                                                                              \
      REALS, SYMMETRY_NONE, curvature_convex, "0", "inf", NO_PARAMETERS, MARGIN(0, 5, 2, 0, 0, 0, 1))                  \
    F(error_function, "erf", NO_ALIASES,                                                                               \
      "erf(x)", error_function_d1, error_function_d2,                                                                  \
      REALS, SYMMETRY_ODD, curvature_convex_concave, "-1", "1", NO_PARAMETERS, MARGIN(0, 10, 0, 0, 0, 0, 0))           \
    F(logarithm, "log", ALIASES("ln"),                                                                                 \
      "log(x), natural", reciprocal, logarithm_d2,                                                                     \
      POSITIVE, SYMMETRY_NONE, curvature_concave, "-inf", "inf", NO_PARAMETERS, MARGIN(0, 4, 0, 0, 2, 0, 0))           \
    F(square_root, "sqrt", NO_ALIASES,                                                                                 \
      "sqrt(x)", square_root_d1, square_root_d2,                                                                       \
      NOT_NEGATIVE, SYMMETRY_NONE, curvature_concave, "0", "inf", NO_PARAMETERS, MARGIN(0, 4, 0, 0, 0, 0, 0))          \
    F(rsqrt, "rsqrt", ALIASES("inv_sqrt"),                                                                             \
      "1 / sqrt(x)", rsqrt_d1, rsqrt_d2,                                                                               \
      POSITIVE, SYMMETRY_NONE, curvature_convex, "inf", "0", NO_PARAMETERS, MARGIN(0, 6, 0, 0, 0, 0, 0))               \
    F(reciprocal, "reciprocal", ALIASES("recip"),                                                                      \
      "1 / x", logarithm_d2, reciprocal_d2,                                                                            \
      NOT_ZERO, SYMMETRY_ODD, curvature_concave_convex, "0", "0", NO_PARAMETERS, MARGIN(0, 4, 0, 0, 0, 0, 0))          \
    F(sine, "sin", NO_ALIASES,                                                                                         \
      "sin(x)", cosine, minus_sine,                                                                                    \
      REALS, SYMMETRY_ODD, curvature_sine, "oscillates", "oscillates", NO_PARAMETERS, MARGIN(0, 9, 0, 0, 0, 4, 0))     \
    F(cosine, "cos", NO_ALIASES,                                                                                       \
      "cos(x)", minus_sine, minus_cosine,                                                                              \
      REALS, SYMMETRY_EVEN, curvature_cosine, "oscillates", "oscillates", NO_PARAMETERS, MARGIN(0, 9, 0, 0, 0, 4, 0))  \
    F(arc_tangent, "atan", ALIASES("arctan"),                                                                          \
      "atan(x)", arc_tangent_d1, arc_tangent_d2,                                                                       \
      REALS, SYMMETRY_ODD, curvature_convex_concave, "-pi/2", "pi/2", NO_PARAMETERS, MARGIN(0, 10, 0, 0, 0, 0, 0))     \
    F(softsign, "softsign", ALIASES("soft_sign"),                                                                      \
      "x / (1 + |x|)", softsign_d1, softsign_d2,                                                                       \
      REALS, SYMMETRY_ODD, curvature_convex_concave, "-1", "1", NO_PARAMETERS, MARGIN(0, 6, 0, 0, 0, 0, 0))            \
    F(logsigmoid, "logsigmoid", ALIASES("log_sigmoid"),                                                                \
      "-log(1 + exp(-x))", logsigmoid_d1, logsigmoid_d2,                                                               \
      REALS, SYMMETRY_NONE, curvature_concave, "x", "0", NO_PARAMETERS, MARGIN(1, 12, 2, 0, 0, 0, 1))                  \
    F(hard_sigmoid, "hard_sigmoid", ALIASES("hsigmoid", "h_sigmoid", "hardsigmoid"),                                   \
      "min(max(x/6 + 1/2, 0), 1)", hard_sigmoid_d1, zero,                                                              \
      REALS, SYMMETRY_COMPLEMENT, curvature_hard, "0", "1", NO_PARAMETERS, MARGIN(0, 4, 0, 0, 2, 0, 0))                \
    F(hard_swish, "hard_swish", ALIASES("hswish", "h_swish", "hardswish"),                                             \
      "x min(max(x/6 + 1/2, 0), 1)", hard_swish_d1, hard_swish_d2,                                                     \
      REALS, SYMMETRY_NONE, curvature_hard, "0", "x", NO_PARAMETERS, MARGIN(0, 6, 0, 0, 6, 0, 0))                      \
    F(relu, "relu", NO_ALIASES,                                                                                        \
      "max(x, 0)", relu_d1, zero,                                                                                      \
      REALS, SYMMETRY_NONE, curvature_kink, "0", "x", NO_PARAMETERS, MARGIN(0, 2, 0, 0, 0, 0, 0))                      \
    F(relu6, "relu6", NO_ALIASES,                                                                                      \
      "min(max(x, 0), 6)", relu6_d1, zero,                                                                             \
      REALS, SYMMETRY_NONE, curvature_relu6, "0", "6", NO_PARAMETERS, MARGIN(0, 2, 0, 0, 0, 0, 0))                     \
    F(leaky_relu, "leaky_relu", ALIASES("leakyrelu", "lrelu"),                                                         \
      "x < 0: alpha x; else x", leaky_relu_d1, zero,                                                                   \
      REALS, SYMMETRY_NONE, curvature_kink, "alpha x", "x", ALPHA(0.01, -1000, 1000), MARGIN(0, 4, 0, 0, 0, 0, 0))
/* clang-format on */

#endif
