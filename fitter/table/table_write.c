/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing the table JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "json_parts.h"
#include "table.h"

#define REAL_DIGITS 6 /* of a measured value: another libm changes digits further right */

/* Spells a finite value with REAL_DIGITS significant digits less its trailing zeros, and always as a real: 0.0,
 * 41.176, 1.5e-7. Plain notation from 1e-5 up to 1e6. Only the digits and the exponent are taken from printf, so that
 * the text does not depend on the locale. */
static void format_real(double value, char text[32])
{
    char scientific[48], digit[REAL_DIGITS];
    int count = 0;
    snprintf(scientific, sizeof scientific, "%.*e", REAL_DIGITS - 1, value);
    const char *mark = scientific;
    for (; *mark != 'e'; mark++)
        if (*mark >= '0' && *mark <= '9' && count < REAL_DIGITS)
            digit[count++] = *mark;
    const int exponent = (int)strtol(mark + 1, NULL, 10);
    while (count > 1 && digit[count - 1] == '0')
        count--;

    char *out = text;
    if (signbit(value))
        *out++ = '-';
    const bool plain = exponent >= -5 && exponent < 6;
    const int before = plain ? exponent + 1 : 1; /* digits before the point */
    if (before <= 0)
        *out++ = '0';
    for (int i = 0; i < before; i++)
        *out++ = i < count ? digit[i] : '0';
    *out++ = '.';
    for (int i = before; i < 0; i++)
        *out++ = '0';
    for (int i = before > 0 ? before : 0; i < count; i++)
        *out++ = digit[i];
    if (before >= count)
        *out++ = '0';
    *out = '\0';
    if (!plain)
        snprintf(out, 8, "e%d", exponent);
}

static const char *boolean(bool value)
{
    return value ? "true" : "false";
}

/* spec and expression are printable ASCII, so that only these two need an escape. */
static void write_string(struct text *out, const char *string)
{
    text_add(out, "\"");
    for (const char *c = string; *c; c++)
        text_add(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    text_add(out, "\"");
}

void json_add_real(struct text *out, const char *name, double value)
{
    char text[32];
    format_real(value, text);
    text_add(out, "\"%s\": %s", name, text);
}

static void write_parameters(struct text *out, const struct table *table)
{
    text_add(out, "  \"parameters\": {");
    for (int i = 0; i < table->parameter_count; i++) {
        char text[NUMBER_TEXT_SIZE];
        number_format(table->parameters[i].value + 0.0, text); /* -0.0 is 0: an integer's text holds no sign of 0 */
        text_add(out, "%s\"%s\": %s", i ? ", " : "", table->parameters[i].name, text);
    }
    text_add(out, "},\n");
}

void json_add_tensor(struct text *out, const char *name, const struct tensor *tensor)
{
    text_add(out,
             "  \"%s\": {\"bits\": %d, \"signed\": %s, \"scale\": \"%s\", \"zero_point\": %" PRId64
             ", \"qmin\": %" PRId64 ", \"qmax\": %" PRId64 "},\n",
             name, tensor->bits, boolean(tensor->is_signed), tensor->scale.text, tensor->zero_point, tensor->qmin,
             tensor->qmax);
}

static void write_reduction(struct text *out, const pwl_reduction *reduction)
{
    text_add(out, "  \"reduction\": {\"kind\": \"%s\", ",
             reduction->kind == PWL_LEADING_ZEROS ? "leading_zeros" : "exponent");
    if (reduction->kind == PWL_LEADING_ZEROS)
        text_add(out, "\"step\": %d, ", 1 << reduction->log2_step);
    else
        text_add(out, "\"fraction\": %d, \"factor\": %" PRId64 ", ", reduction->fraction, reduction->factor);
    text_add(out, "\"direction\": %d, \"shift\": %d", reduction->direction, reduction->shift);
    if (reduction->direction == 0)
        text_add(out, ", \"addend\": %" PRId64, reduction->addend);
    if (reduction->kind == PWL_LEADING_ZEROS)
        text_add(out, ", \"below\": %" PRId64, reduction->below);
    text_add(out, "},\n");
}

static void write_segments(struct text *out, const struct table *table)
{
    text_add(out, "  \"segments\": [\n");
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *const segment = &table->segments[i];
        text_add(out, "    {\"start\": %" PRId64 ", \"q_b\": %" PRId64 ", \"n_BX_total\": %d, \"%s\": %" PRId64,
                 segment->start, segment->q_b, segment->n, offset_name(table->form), segment->offset);
        if (table->has_unfused)
            text_add(out, ", \"unfused\": {\"q_c\": %" PRId64 ", \"n_bx\": %d, \"n_yb\": %d, \"n_yc\": %d",
                     segment->unfused.q_c, segment->unfused.n_bx, segment->unfused.n_yb, segment->unfused.n_yc);
        if (table->has_unfused && segment->unfused.has_z_bx)
            text_add(out, ", \"z_bx\": %" PRId64, segment->unfused.z_bx);
        text_add(out, table->has_unfused ? "}" : "");
        text_add(out, "}%s\n", i + 1 < table->segment_count ? "," : "");
    }
    text_add(out, "  ]");
}

static void write_certificate(struct text *out, const struct certificate *certificate)
{
    text_add(out, "  \"certificate\": {\"checked\": %" PRId64 ", \"exhaustive\": %s, ", certificate->checked,
             boolean(certificate->exhaustive));
    json_add_real(out, "max_err_lsb", certificate->max_err_lsb);
    text_add(out, ", \"max_err_at\": %" PRId64 ", ", certificate->max_err_at);
    json_add_real(out, "rms_err_lsb", certificate->rms_err_lsb);
    text_add(out, ", ");
    json_add_real(out, "mean_abs_err_lsb", certificate->mean_abs_err_lsb);
    text_add(out, ", ");
    json_add_real(out, "correctly_rounded", certificate->correctly_rounded);
    text_add(out, ", \"saturated_codes\": %" PRId64 ", \"monotone\": %s, \"acc_bits\": %d, \"objective\": \"%s\"%s, ",
             certificate->saturated_codes, boolean(certificate->monotone), certificate->acc_bits,
             objective_name(certificate->objective),
             certificate->has_second_objective ? ", \"second_objective\": \"rms\"" : "");
    if (certificate->has_lower_bound)
        json_add_real(out, "lower_bound_lsb", certificate->lower_bound_lsb);
    else
        text_add(out, "\"lower_bound_lsb\": null");
    text_add(out, ", \"optimal\": %s", certificate->optimal < 0 ? "null" : boolean(certificate->optimal));
    if (certificate->has_bound) {
        text_add(out, ", ");
        json_add_real(out, "bound_lsb", certificate->bound_lsb);
    }
    if (certificate->proof[0])
        text_add(out, ", \"proof\": \"%s\"", certificate->proof);
    text_add(out, "}");
}

/* A value that JSON cannot spell would give a file that nothing reads. */
static int check_finite(const struct table *table, struct diag *diag)
{
    const struct certificate *const certificate = &table->certificate;
    const double values[] = {certificate->max_err_lsb,
                             certificate->rms_err_lsb,
                             certificate->mean_abs_err_lsb,
                             certificate->correctly_rounded,
                             certificate->has_lower_bound ? certificate->lower_bound_lsb : 0,
                             certificate->has_bound ? certificate->bound_lsb : 0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!isfinite(values[i]))
            return diag_set(diag, EXIT_IO, "certificate: an error of %g, must be finite", values[i]);
    for (int i = 0; i < table->parameter_count; i++)
        if (!isfinite(table->parameters[i].value))
            return diag_set(diag, EXIT_IO, "parameters.%s: %g, must be finite", table->parameters[i].name,
                            table->parameters[i].value);
    return EXIT_DONE;
}

int table_to_json(const struct table *table, char **text, struct diag *diag)
{
    struct text out = {0}, claims = {0};
    *text = NULL;
    if (check_finite(table, diag))
        return diag->code;

    text_add(&out, "{\n  \"pwl_table\": 1,\n  \"spec\": ");
    write_string(&out, table->spec);
    text_add(&out, ",\n  \"function\": \"%s\",\n", table->function);
    if (table->expression) {
        text_add(&out, "  \"expression\": ");
        write_string(&out, table->expression);
        text_add(&out, ",\n");
    }
    write_parameters(&out, table);
    text_add(&out, "  \"method\": \"%s\",\n  \"form\": \"%s\",\n  \"rounding\": \"%s\",\n  \"case\": \"%s\",\n",
             table->method, form_name(table->form), rounding_name(table->rounding), storage_name(table->storage));
    json_add_tensor(&out, "in", &table->in);
    json_add_tensor(&out, "out", &table->out);
    if (table->has_fold)
        text_add(&out, "  \"fold\": {\"sum\": %" PRId64 "},\n", table->fold_sum);
    if (table->has_reduction)
        write_reduction(&out, &table->reduction);
    if (table->outside == OUTSIDE_CLAMP)
        text_add(&out, "  \"outside\": \"clamp\",\n");
    if (table->samples_sha256[0])
        text_add(&out, "  \"samples_sha256\": \"%s\",\n", table->samples_sha256);
    if (table->weights_sha256[0])
        text_add(&out, "  \"weights_sha256\": \"%s\",\n", table->weights_sha256);
    write_segments(&out, table);
    if (table->standing == CERTIFICATE_OWN) {
        write_certificate(&claims, &table->certificate);
        json_add_certified(&out, &claims);
    }
    text_free(&claims);
    text_add(&out, "\n}\n");

    if (out.failed) {
        text_free(&out);
        return diag_set(diag, EXIT_IO, "out of memory for the JSON of %d segments", table->segment_count);
    }
    *text = out.bytes;
    return EXIT_DONE;
}
