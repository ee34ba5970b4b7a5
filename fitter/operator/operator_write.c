/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing the operator JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "operator.h"
#include "table/json_parts.h"

/* "name": [1, 2, ...], the integers of a list, twelve a line. */
static void write_integers(struct text *out, const char *name, const struct row_operator *of, uint32_t count,
                           enum operator_list list)
{
    text_add(out, "  \"%s\": [", name);
    for (uint32_t k = 0; k < count; k++)
        text_add(out, "%s%s%" PRId64, k ? "," : "", k % 12 ? " " : "\n    ", operator_integer(of, list, k));
    text_add(out, "\n  ],\n");
}

static void write_reals(struct text *out, const char *name, const double *values, uint32_t count)
{
    text_add(out, "  \"%s\": [", name);
    for (uint32_t k = 0; k < count; k++) {
        char number[NUMBER_TEXT_SIZE];
        number_format(values[k] + 0.0, number);
        text_add(out, "%s%s%s", k ? "," : "", k % 8 ? " " : "\n    ", number);
    }
    text_add(out, "\n  ],\n");
}

static void write_softmax(struct text *out, const struct row_operator *of)
{
    text_add(out, "  \"fraction\": %d,\n", of->fraction);
    if (of->kind == OPERATOR_LOG_SOFTMAX)
        text_add(out,
                 "  \"step\": %" PRId64 ",\n  \"step_shift\": %d,\n  \"log_unit\": %" PRId64
                 ",\n  \"log_shift\": %d,\n",
                 of->step, of->step_shift, of->log_unit, of->log_shift);
    write_integers(out, "exp", of, 256, OPERATOR_EXP);
    if (of->exp_high) {
        write_integers(out, "exp_high", of, 256, OPERATOR_EXP_HIGH);
        write_integers(out, "exp_shift", of, 256, OPERATOR_EXP_SHIFT);
    }
    if (of->log_factor) {
        write_integers(out, "log_factor", of, PWL_LOG_CELLS, OPERATOR_LOG_FACTOR);
        write_integers(out, "log_value", of, PWL_LOG_CELLS, OPERATOR_LOG_VALUE);
    }
}

static void write_norm(struct text *out, const struct row_operator *of)
{
    char eps[NUMBER_TEXT_SIZE];
    number_format(of->eps + 0.0, eps);
    text_add(out,
             "  \"eps\": %s,\n  \"variance_shift\": %d,\n  \"fraction\": %d,\n  \"gamma_shift\": %d,\n  \"drop\": %d,\n"
             "  \"eps_code\": %" PRId64 ",\n",
             eps, of->variance_shift, of->fraction, of->gamma_shift, of->drop, of->eps_code);
    if (of->gamma)
        write_reals(out, "gamma", of->gamma, of->length);
    if (of->beta)
        write_reals(out, "beta", of->beta, of->length);
    write_integers(out, "gamma_codes", of, of->length, OPERATOR_GAMMA_CODES);
    if (of->beta_codes)
        write_integers(out, "beta_codes", of, of->length, OPERATOR_BETA_CODES);
}

/* The table's own JSON, two blanks further in. */
static int write_core(struct text *out, const struct row_operator *of, struct diag *diag)
{
    char *core;
    if (table_to_json(&of->core, &core, diag))
        return diag->code;
    text_add(out, "  \"core\": ");
    for (const char *c = core; *c; c++)
        if (c[0] != '\n')
            text_add(out, "%c", *c);
        else if (c[1] != '\0')
            text_add(out, "\n  ");
    free(core);
    return EXIT_DONE;
}

static void write_element(struct text *out, const struct row_operator *of)
{
    if (of->kind == OPERATOR_ADD)
        text_add(out, "  \"factor_a\": %" PRId64 ",\n  \"factor_b\": %" PRId64, of->factor_a, of->factor_b);
    else
        text_add(out, "  \"multiplier\": %" PRId64, of->factor_a);
    text_add(out, ",\n  \"shift\": %d", of->shift);
}

static void write_certificate(struct text *out, const struct row_operator *of)
{
    struct operator_certificate certificate = of->certificate;
    struct operator_part parts[OPERATOR_PARTS];
    const int count = operator_parts(of->kind, &certificate, parts);
    text_add(out, "  \"certificate\": {");
    json_add_real(out, "bound_lsb", certificate.bound_lsb);
    for (int k = 0; k < count; k++) {
        text_add(out, ", ");
        json_add_real(out, parts[k].name, *parts[k].value);
    }
    text_add(out, ", ");
    json_add_real(out, "max_err_lsb", certificate.max_err_lsb);
    text_add(out, ", \"rows\": %" PRId64 ", \"worst_row\": \"%s\"}", certificate.rows, certificate.worst_row);
}

/* What follows the types; the last field without a comma. */
static int write_fields(struct text *out, const struct row_operator *of, struct diag *diag)
{
    if (operator_is_element(of->kind)) {
        write_element(out, of);
        return EXIT_DONE;
    }
    text_add(out, "  \"rows\": %" PRIu32 ",\n", of->length);
    if (of->kind == OPERATOR_WEIGH) {
        write_element(out, of);
        text_add(out, ",\n");
    }
    if (operator_is_norm(of->kind))
        write_norm(out, of);
    else
        write_softmax(out, of);
    return write_core(out, of, diag);
}

int operator_to_json(const struct row_operator *of, char **text, struct diag *diag)
{
    struct text out = {0}, claims = {0};
    *text = NULL;
    text_add(&out, "{\n  \"pwl_operator\": 1,\n  \"spec\": \"%s\",\n  \"operator\": \"%s\",\n", of->spec,
             operator_name(of->kind));
    json_add_tensor(&out, "in", &of->in);
    if (operator_has_in_b(of->kind))
        json_add_tensor(&out, "in_b", &of->in_b);
    json_add_tensor(&out, "out", &of->out);
    if (write_fields(&out, of, diag) == EXIT_DONE && of->standing == CERTIFICATE_OWN) {
        write_certificate(&claims, of);
        json_add_certified(&out, &claims);
    }
    text_free(&claims);
    text_add(&out, "\n}\n");
    if (out.failed && diag->code == EXIT_DONE)
        diag_set(diag, EXIT_IO, "out of memory for the JSON of %s", operator_name(of->kind));
    if (diag->code == EXIT_DONE)
        *text = out.bytes;
    else
        text_free(&out);
    return diag->code;
}
