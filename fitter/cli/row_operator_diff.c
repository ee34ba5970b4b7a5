/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two row operators, field by field, and code by code over the rows that certificates measure. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/color.h"
#include "differences.h"
#include "operator/hard_rows.h"
#include "operator/operator.h"
#include "row_operator.h"

struct side {
    const char *path;
    struct row_operator of;
    struct packed_operator packed;
};

static int side_read(struct side *side, const char *path, struct diag *diag)
{
    side->path = path;
    return operator_read(path, &side->of, diag) || operator_pack(&side->of, EXIT_USAGE, &side->packed, diag);
}

static void side_free(struct side *side)
{
    packed_operator_free(&side->packed);
    operator_free(&side->of);
}

/* ---- Fields ---- */

static void compare_real(const char *field, double a, double b, int *differences)
{
    if (a == b)
        return;
    printf("%s: %.15g | %.15g\n", field, a, b);
    ++*differences;
}

/* Entries of a list that both have. */
static void compare_list(const char *field, const struct row_operator *a, const struct row_operator *b,
                         enum operator_list list, uint32_t count, int *differences)
{
    uint32_t differing = 0, first = 0;
    for (uint32_t k = 0; k < count; k++)
        if (operator_integer(a, list, k) != operator_integer(b, list, k) && differing++ == 0)
            first = k;
    if (differing == 0)
        return;
    printf("%s: %" PRIu32 " of %" PRIu32 " differ, the first [%" PRIu32 "]: %" PRId64 " | %" PRId64 "\n", field,
           differing, count, first, operator_integer(a, list, first), operator_integer(b, list, first));
    ++*differences;
}

/* gamma or beta, of which either may be left out. */
static void compare_channels(const char *field, const struct row_operator *a, const struct row_operator *b,
                             long double (*value)(const struct row_operator *of, uint32_t c), int *differences)
{
    for (uint32_t c = 0; c < a->length; c++)
        if (value(a, c) != value(b, c)) {
            char name[32];
            snprintf(name, sizeof name, "%s[%" PRIu32 "]", field, c);
            compare_real(name, (double)value(a, c), (double)value(b, c), differences);
            return;
        }
}

static void compare_core(const struct table *a, const struct table *b, int *differences)
{
    const int common = a->segment_count < b->segment_count ? a->segment_count : b->segment_count;
    int differing = a->form != b->form || a->rounding != b->rounding;
    compare_integer("core.segments", a->segment_count, b->segment_count, differences);
    for (int i = 0; i < common; i++) {
        const struct segment *const s = &a->segments[i], *const t = &b->segments[i];
        differing += s->start != t->start || s->q_b != t->q_b || s->n != t->n || s->offset != t->offset;
    }
    compare_integer("core: fields and segments that differ", 0, differing, differences);
}

static void compare_softmax(const struct row_operator *a, const struct row_operator *b, int *differences)
{
    compare_integer("step", a->step, b->step, differences);
    compare_integer("step_shift", a->step_shift, b->step_shift, differences);
    compare_integer("log_unit", a->log_unit, b->log_unit, differences);
    compare_integer("log_shift", a->log_shift, b->log_shift, differences);
    compare_list("exp", a, b, OPERATOR_EXP, 256, differences);
    if (a->exp_high && b->exp_high) {
        compare_list("exp_high", a, b, OPERATOR_EXP_HIGH, 256, differences);
        compare_list("exp_shift", a, b, OPERATOR_EXP_SHIFT, 256, differences);
    }
    if (a->log_factor && b->log_factor) {
        compare_list("log_factor", a, b, OPERATOR_LOG_FACTOR, PWL_LOG_CELLS, differences);
        compare_list("log_value", a, b, OPERATOR_LOG_VALUE, PWL_LOG_CELLS, differences);
    }
}

static void compare_norm(const struct row_operator *a, const struct row_operator *b, int *differences)
{
    compare_real("eps", a->eps, b->eps, differences);
    compare_integer("eps_code", a->eps_code, b->eps_code, differences);
    compare_integer("variance_shift", a->variance_shift, b->variance_shift, differences);
    compare_integer("gamma_shift", a->gamma_shift, b->gamma_shift, differences);
    compare_integer("drop", a->drop, b->drop, differences);
    if (a->length != b->length)
        return;
    compare_channels("gamma", a, b, operator_gamma, differences);
    compare_channels("beta", a, b, operator_beta, differences);
    compare_list("gamma_codes", a, b, OPERATOR_GAMMA_CODES, a->length, differences);
    if (a->beta_codes && b->beta_codes)
        compare_list("beta_codes", a, b, OPERATOR_BETA_CODES, a->length, differences);
}

static int compare_fields(const struct row_operator *a, const struct row_operator *b)
{
    int differences = 0;
    compare_text("operator", operator_name(a->kind), operator_name(b->kind), &differences);
    compare_tensor("in", &a->in, &b->in, &differences);
    if (operator_has_in_b(a->kind) && operator_has_in_b(b->kind))
        compare_tensor("in_b", &a->in_b, &b->in_b, &differences);
    compare_tensor("out", &a->out, &b->out, &differences);
    compare_integer("rows", a->length, b->length, &differences);
    compare_integer(a->kind == OPERATOR_ADD ? "factor_a" : "multiplier", a->factor_a, b->factor_a, &differences);
    compare_integer("factor_b", a->factor_b, b->factor_b, &differences);
    compare_integer("shift", a->shift, b->shift, &differences);
    if (operator_family(a->kind) == operator_family(b->kind) && !operator_is_element(a->kind)) {
        compare_integer("fraction", a->fraction, b->fraction, &differences);
        compare_core(&a->core, &b->core, &differences);
        if (operator_is_norm(a->kind))
            compare_norm(a, b, &differences);
        else
            compare_softmax(a, b, &differences);
    }
    compare_text("spec", a->spec, b->spec, NULL);
    return differences;
}

/* ---- Outputs ---- */

struct outputs {
    const struct side *a, *b;
    void *y; /* what b makes of a row */
    int64_t compared, differing, largest;
    char worst[160], first[160]; /* rows, in words */
};

static void compare_row(void *context, const struct measured_row *given)
{
    struct outputs *const outputs = context;
    struct measured_row row = *given;
    measured_row_run(&outputs->b->packed, &row, outputs->y);
    for (row.worst = 0; row.worst < row.results; row.worst++) {
        const int64_t difference = operator_code(&outputs->a->of.out, row.y, row.worst) -
                                   operator_code(&outputs->b->of.out, outputs->y, row.worst);
        outputs->compared++;
        if (difference == 0)
            continue;
        if (outputs->differing++ == 0)
            measured_row_text(&row, outputs->first, sizeof outputs->first);
        if (llabs(difference) > outputs->largest) {
            outputs->largest = llabs(difference);
            measured_row_text(&row, outputs->worst, sizeof outputs->worst);
        }
    }
}

/* Whether one row may be given to both. */
static bool take_same_rows(const struct row_operator *a, const struct row_operator *b)
{
    const enum operator_family family = operator_family(a->kind);
    const bool is_same = family == FAMILY_ELEMENT ? a->kind == b->kind : family == operator_family(b->kind);
    return is_same && a->in.bits == b->in.bits && a->in.is_signed == b->in.is_signed && a->in_b.bits == b->in_b.bits &&
           a->in_b.is_signed == b->in_b.is_signed && (family != FAMILY_NORM || a->length == b->length);
}

/* Rows of the operator whose rows are shorter: the other takes them too. */
static int compare_outputs(const struct side *a, const struct side *b, struct outputs *outputs, struct diag *diag)
{
    const bool is_longer = a->of.length > b->of.length;
    *outputs = (struct outputs){.a = is_longer ? b : a, .b = is_longer ? a : b};
    outputs->y = malloc(2 * (size_t)PWL_LONGEST_ROW);
    if (!outputs->y)
        return diag_set(diag, EXIT_IO, "out of memory for rows of %d places", PWL_LONGEST_ROW);
    hard_rows_measure(&outputs->a->of, hard_rows_default(&outputs->a->of), compare_row, outputs, diag);
    free(outputs->y);
    return diag->code;
}

static void print_outputs(const struct outputs *outputs)
{
    printf("outputs: %s%" PRId64 " of %" PRId64 " codes differ%s (of the rows that a certificate measures)\n",
           color_on(stdout, outputs->differing ? COLOR_BAD : COLOR_GOOD), outputs->differing, outputs->compared,
           color_off(stdout));
    if (outputs->differing)
        printf("outputs: largest difference %" PRId64 " in the row %s\noutputs: first difference in the row %s\n",
               outputs->largest, outputs->worst, outputs->first);
}

static void print_certificate(const struct side *side)
{
    if (side->of.standing == CERTIFICATE_OWN)
        printf("%s: proven %.6g LSB, measured %.6g LSB\n", side->path, side->of.certificate.bound_lsb,
               side->of.certificate.max_err_lsb);
}

static int compare(const struct side *a, const struct side *b, bool outputs_only, struct diag *diag)
{
    struct outputs outputs;
    const int differences = outputs_only ? 0 : compare_fields(&a->of, &b->of);
    if (!take_same_rows(&a->of, &b->of)) {
        printf("outputs: not compared, the rows differ\n");
        return diag_set(diag, EXIT_REQUIREMENT, "%s and %s take different rows: other input types or lengths", a->path,
                        b->path);
    }
    if (compare_outputs(a, b, &outputs, diag))
        return diag->code;
    print_outputs(&outputs);
    if (!outputs_only) {
        print_certificate(a);
        print_certificate(b);
    }
    if (outputs.differing == 0 && differences == 0)
        return EXIT_DONE;
    return diag_set(diag, EXIT_REQUIREMENT, "%s and %s differ: %" PRId64 " of %" PRId64 " outputs, %d fields", a->path,
                    b->path, outputs.differing, outputs.compared, differences);
}

int row_operator_diff(const char *path_a, const char *path_b, bool outputs_only, struct diag *diag)
{
    struct side a = {0}, b = {0};
    if (!side_read(&a, path_a, diag) && !side_read(&b, path_b, diag))
        compare(&a, &b, outputs_only, diag);
    side_free(&b);
    side_free(&a);
    return diag->code;
}
