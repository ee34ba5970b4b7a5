/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "row_operator.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "row_c.h"

static void add_array(struct text *out, const struct row_c *c, const char *type, const char *suffix, uint32_t count,
                      enum operator_list list)
{
    char literal[C_LITERAL_SIZE];
    snprintf(literal, sizeof literal, "%s[%" PRIu32 "]", suffix, count);
    c_add_array_head(out, c->attribute, type, c->name, literal);
    for (uint32_t k = 0; k < count; k++) {
        /* An INT64_C() is for 64 bits alone. */
        const int64_t value = operator_integer(c->of, list, k);
        if (value > INT32_MAX && value <= UINT32_MAX)
            snprintf(literal, sizeof literal, "%" PRId64 "u", value);
        else
            c_literal(value, literal);
        text_add(out, "%s%s%s", k ? "," : "", k % 8 ? " " : "\n    ", literal);
    }
    text_add(out, "\n};\n");
}

static const char *type_constant(const struct tensor *tensor)
{
    if (tensor->bits == 32)
        return tensor->is_signed ? "PWL_S32" : "PWL_U32";
    return tensor->bits == 8 ? (tensor->is_signed ? "PWL_S8" : "PWL_U8") : tensor->is_signed ? "PWL_S16" : "PWL_U16";
}

static void add_arrays(struct text *out, const struct row_c *c)
{
    const struct row_operator *const of = c->of;
    if (of->exp)
        add_array(out, c, "uint32_t", "exp", 256, OPERATOR_EXP);
    if (of->exp_high) {
        add_array(out, c, "uint32_t", "exp_high", 256, OPERATOR_EXP_HIGH);
        add_array(out, c, "uint8_t", "exp_shift", 256, OPERATOR_EXP_SHIFT);
    }
    if (of->log_factor) {
        add_array(out, c, "uint16_t", "log_factor", PWL_LOG_CELLS, OPERATOR_LOG_FACTOR);
        add_array(out, c, "int32_t", "log_value", PWL_LOG_CELLS, OPERATOR_LOG_VALUE);
    }
    if (of->gamma_codes)
        add_array(out, c, "int32_t", "gamma", of->length, OPERATOR_GAMMA_CODES);
    if (of->beta_codes)
        add_array(out, c, "int64_t", "beta", of->length, OPERATOR_BETA_CODES);
}

static void add_softmax(struct text *out, const struct row_c *c)
{
    const struct row_operator *const of = c->of;
    const struct tensor *const y = operator_softmax_out(of);
    const bool is_log = of->kind == OPERATOR_LOG_SOFTMAX;
    char zero_point[C_LITERAL_SIZE], low[C_LITERAL_SIZE], high[C_LITERAL_SIZE];
    text_add(out, "\nstatic const pwl_softmax %s = {\n    %d, /* version */\n    %s, /* kind */\n", c->name,
             PWL_ROWS_VERSION, is_log ? "PWL_LOG_SOFTMAX" : "PWL_SOFTMAX");
    text_add(out, "    %s, %s, /* in, out */\n    %d, /* fraction */\n    %d, /* out_bits */\n", type_constant(&of->in),
             type_constant(y), of->fraction, is_log ? 0 : y->scale.shift_bits);
    text_add(out, "    %d, %d, /* step_shift, log_shift */\n    %" PRIu32 ", /* longest */\n", of->step_shift,
             of->log_shift, of->length);
    text_add(out, "    %" PRId64 ", %" PRId64 ", /* step, log_unit */\n    %s, %s, /* qmin_y, qmax_y */\n", of->step,
             of->log_unit, c_literal(y->qmin, low), c_literal(y->qmax, high));
    text_add(out, "    %s, /* zp_y */\n    %s_exp, /* exp */\n", c_literal(y->zero_point, zero_point), c->name);
    if (of->exp_high)
        text_add(out, "    %s_exp_high, %s_exp_shift, /* exp_high, exp_shift */\n", c->name, c->name);
    else
        text_add(out, "    0, 0, /* exp_high, exp_shift */\n");
    if (is_log)
        text_add(out, "    %s_log_factor, %s_log_value, /* log_factor, log_value */\n", c->name, c->name);
    else
        text_add(out, "    0, 0, /* log_factor, log_value */\n");
    text_add(out, "    &%s_core /* reciprocal */\n};\n", c->name);
}

static void add_norm(struct text *out, const struct row_c *c, const pwl_norm *norm)
{
    const struct row_operator *const of = c->of;
    char zero_point[C_LITERAL_SIZE], low[C_LITERAL_SIZE], high[C_LITERAL_SIZE], eps[C_LITERAL_SIZE];
    text_add(out, "\nstatic const pwl_norm %s = {\n    %d, /* version */\n    %s, /* kind */\n", c->name,
             PWL_ROWS_VERSION, norm->kind == PWL_LAYER_NORM ? "PWL_LAYER_NORM" : "PWL_RMS_NORM");
    text_add(out, "    %s, %s, /* in, out */\n    %d, /* variance_shift */\n    %d, /* fraction */\n",
             type_constant(&of->in), type_constant(&of->out), of->variance_shift, of->fraction);
    text_add(out, "    %d, /* gamma_shift */\n    %d, /* drop */\n    %" PRIu32 ", /* length */\n", of->gamma_shift,
             of->drop, of->length);
    text_add(out, "    %s, %s, /* qmin_y, qmax_y */\n    %s, /* zp_y */\n", c_literal(of->out.qmin, low),
             c_literal(of->out.qmax, high), c_literal(of->out.zero_point, zero_point));
    text_add(out, "    %" PRId64 ", /* zp_x */\n    %s, /* eps */\n    %s_gamma, /* gamma */\n", norm->zp_x,
             c_literal(of->eps_code, eps), c->name);
    if (of->beta_codes)
        text_add(out, "    %s_beta, /* beta */\n", c->name);
    else
        text_add(out, "    0, /* beta */\n");
    text_add(out, "    &%s_core /* rsqrt */\n};\n", c->name);
}

static void add_ends(struct text *out, const struct row_operator *of)
{
    char low[C_LITERAL_SIZE], high[C_LITERAL_SIZE];
    text_add(out, "    %s, %s, /* qmin_y, qmax_y */\n", c_literal(of->out.qmin, low), c_literal(of->out.qmax, high));
}

/* The last field. */
static void add_zero_point(struct text *out, const struct row_operator *of)
{
    char zero_point[C_LITERAL_SIZE];
    text_add(out, "    %s /* zp_y */\n};\n", c_literal(of->out.zero_point, zero_point));
}

/* Of weigh, its second constant. */
static void add_requantise(struct text *out, const struct row_c *c)
{
    const struct row_operator *const of = c->of;
    const bool is_weigh = of->kind == OPERATOR_WEIGH;
    text_add(out, "\nstatic const pwl_requantise %s%s = {\n    %d, /* version */\n    %s, %s, /* in, out */\n", c->name,
             is_weigh ? "_codes" : "", PWL_ELEMENTS_VERSION, is_weigh ? "PWL_S32" : type_constant(&of->in),
             type_constant(&of->out));
    text_add(out, "    %d, /* shift */\n    %" PRId64 ", /* multiplier */\n", of->shift, of->factor_a);
    add_ends(out, of);
    text_add(out, "    %" PRId64 ", /* zp_x */\n", is_weigh ? 0 : of->in.zero_point);
    add_zero_point(out, of);
}

static void add_sum(struct text *out, const struct row_c *c, const pwl_add *add)
{
    const struct row_operator *const of = c->of;
    char constant[C_LITERAL_SIZE];
    text_add(out, "\nstatic const pwl_add %s = {\n    %d, /* version */\n    %s, %s, %s, /* in_a, in_b, out */\n",
             c->name, PWL_ELEMENTS_VERSION, type_constant(&of->in), type_constant(&of->in_b), type_constant(&of->out));
    text_add(out, "    %d, /* shift */\n    %" PRId64 ", %" PRId64 ", /* factor_a, factor_b */\n", of->shift,
             of->factor_a, of->factor_b);
    add_ends(out, of);
    text_add(out, "    %s, /* constant */\n", c_literal(add->constant, constant));
    add_zero_point(out, of);
}

/* The function of both: weighted sums, which are then requantised. */
static void add_weigh(struct text *out, const struct row_c *c)
{
    const struct row_operator *const of = c->of;
    const char *const v = c_type(of->in_b.bits, of->in_b.is_signed), *const y = c_type(of->out.bits, of->out.is_signed);
    text_add(
        out,
        "\n/* y[r * channels + c] of rows->count rows; rows->y is not read. A place has `channels` values, and those "
        "of\n"
        " * the next lie `stride` elements on. sums is memory for one number for each y. Both constants have passed\n"
        " * pwl_softmax_check() and pwl_requantise_check(). */\n");
    text_add(out,
             "static inline void %s_run(const pwl_rows *rows, const %s *v, size_t channels, size_t stride,\n"
             "                          int32_t *sums, %s *y)\n{\n"
             "    const pwl_row_values values = {v, %s, %" PRId64 ", channels, stride};\n"
             "    pwl_softmax_weigh(&%s, rows, &values, sums);\n"
             "    pwl_requantise_run(&%s_codes, sums, y, rows->count * channels);\n}\n",
             c->name, v, y, type_constant(&of->in_b), of->in_b.zero_point, c->name, c->name);
}

/* pwl_softmax_s8_u8, or what --prefix and --name say. */
static int name_operator(struct row_c *c, const struct emit_options *options, struct diag *diag)
{
    struct emit_options named = *options;
    if (!named.prefix)
        named.prefix = "pwl_";
    if (emit_name(operator_name(c->of->kind), &c->of->in, &c->of->out, &named, &identifiers_c, c->name,
                  sizeof c->name - sizeof "_core", diag))
        return diag->code;
    for (size_t k = 0; k <= strlen(c->name); k++)
        c->upper[k] = (char)toupper((unsigned char)c->name[k]);
    return EXIT_DONE;
}

static void add_banner(struct text *out, const struct row_c *c, bool is_standalone)
{
    const struct row_operator *const of = c->of;
    const bool is_element = operator_is_element(of->kind);
    const char *const kind = is_standalone ? "_STANDALONE" : "";
    const char *const includes = is_standalone                ? "#include <stdint.h>"
                                 : of->kind == OPERATOR_WEIGH ? "#include <pwl/elements.h>\n#include <pwl/rows.h>"
                                 : is_element                 ? "#include <pwl/elements.h>"
                                                              : "#include <pwl/rows.h>";
    char in[80], in_b[80] = "", y[80];
    tensor_format(&of->in, in, sizeof in);
    tensor_format(&of->out, y, sizeof y);
    if (operator_has_in_b(of->kind))
        tensor_format(&of->in_b, in_b, sizeof in_b);
    text_add(out, "#ifndef %s%s_H\n#define %s%s_H\n\n%s\n\n/*\n * %s\n *   operator    %s\n", c->upper, kind, c->upper,
             kind, includes, c->name, operator_name(of->kind));
    text_add(out, " *   types       %s%s%s to %s\n", in, *in_b ? " and " : "", in_b, y);
    if (!is_element)
        text_add(out, " *   rows        %s %" PRIu32 " places\n", operator_is_norm(of->kind) ? "of" : "of up to",
                 of->length);
    text_add(out, " *   spec        %s\n", of->spec);
    if (of->standing == CERTIFICATE_OWN)
        text_add(out, " *   proven      no code%s is off by more than %g LSB\n *   measured    %g LSB\n",
                 is_element ? "" : " of any row", of->certificate.bound_lsb, of->certificate.max_err_lsb);
    text_add(out, " */\n");
}

/* The header's first part: of an operator of rows its core, which has a guard of its own. */
static int add_core(const struct row_c *c, const struct emit_options *options, struct text *out, struct diag *diag)
{
    struct emit_options core_options = *options;
    const struct table *const core = &c->of->core;
    char core_name[EMIT_NAME_SIZE + 8];
    if (operator_is_element(c->of->kind)) {
        text_add(out, "/* SPDX-License-Identifier: 0BSD */\n/* DO NOT EDIT: generated by pwlc %s */\n", PWLC_VERSION);
        return EXIT_DONE;
    }
    snprintf(core_name, sizeof core_name, "%s_core", c->name);
    core_options.name = core_name;
    core_options.prefix = NULL;
    if (emit_c(&core, 1, &core_options, out, diag) == EXIT_DONE)
        text_add(out, "\n");
    return diag->code;
}

static void add_runtime_operator(struct text *out, const struct row_c *c, const struct packed_operator *packed)
{
    switch (operator_family(c->of->kind)) {
    case FAMILY_ELEMENT:
        if (c->of->kind == OPERATOR_ADD)
            add_sum(out, c, &packed->add);
        else
            add_requantise(out, c);
        break;
    case FAMILY_NORM:
        add_norm(out, c, &packed->norm);
        break;
    case FAMILY_WEIGH:
        add_softmax(out, c);
        add_requantise(out, c);
        add_weigh(out, c);
        break;
    case FAMILY_SOFTMAX:
        add_softmax(out, c);
    }
}

int emit_operator_c(const struct row_operator *of, const struct emit_options *options, struct text *out,
                    struct diag *diag)
{
    struct row_c c = {.of = of, .attribute = options->attribute ? options->attribute : ""};
    struct packed_operator packed;
    if (name_operator(&c, options, diag) || add_core(&c, options, out, diag) ||
        operator_pack(of, EXIT_USAGE, &packed, diag))
        return diag->code;
    add_banner(out, &c, options->standalone);
    add_arrays(out, &c);
    if (options->standalone)
        row_c_add_standalone(out, &c, &packed);
    else
        add_runtime_operator(out, &c, &packed);
    text_add(out, "\n#endif\n");
    packed_operator_free(&packed);
    return out->failed ? diag_set(diag, EXIT_IO, "out of memory while writing %s", c.name) : EXIT_DONE;
}
