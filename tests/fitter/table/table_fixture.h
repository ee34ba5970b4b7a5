/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small tables that pass every check, for tests to write, damage and read. */
#ifndef TABLE_FIXTURE_H
#define TABLE_FIXTURE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/fields.h"
#include "table/table.h"

#include "../../support/suite.h"

/* For JSON that the tests take apart themselves. */
static const struct fields_limits fixture_limits = {1 << 20, 1000, 10000};

static inline struct tensor fixture_tensor(const char *text)
{
    struct tensor tensor = {0};
    struct diag diag = {0};
    ck_assert_msg(tensor_parse(text, "fixture", &tensor, &diag) == EXIT_DONE, "%s", diag.text);
    return tensor;
}

/* Three flat to gentle segments, in the smallest types that need this storage case. */
static inline struct table fixture_table(pwl_form form, pwl_rounding rounding, pwl_storage storage)
{
    static const char *const in[] = {"s8:0.0472:-3", "u16:2^-12:24576", "s24:2^-20:5"};
    static const char *const out[] = {"u6:2^-8:0", "u16:2^-16:-1", "s32:2^3:0"};
    struct table table = {.function = "sigmoid",
                          .method = "lsq",
                          .form = form,
                          .rounding = rounding,
                          .storage = storage,
                          .in = fixture_tensor(in[storage]),
                          .out = fixture_tensor(out[storage]),
                          .segment_count = 3};
    table.spec = strdup("sigmoid --note \"a\\b\"");
    table.segments = calloc(3, sizeof *table.segments);
    ck_assert(table.spec && table.segments);
    table.segments[0] = (struct segment){.start = table.in.qmin, .q_b = 0, .n = 0, .offset = -7};
    table.segments[1] = (struct segment){.start = 10, .q_b = 3, .n = 4, .offset = 9};
    table.segments[2] = (struct segment){.start = 100, .q_b = -5, .n = -1, .offset = 11};
    table.standing = CERTIFICATE_OWN;
    table.certificate = (struct certificate){.checked = 256,
                                             .exhaustive = true,
                                             .max_err_lsb = 1.0 / 3,
                                             .max_err_at = 12,
                                             .rms_err_lsb = 1.5e-9,
                                             .mean_abs_err_lsb = 123456789.0,
                                             .correctly_rounded = 1,
                                             .monotone = true,
                                             .acc_bits = 17,
                                             .objective = OBJECTIVE_MAX,
                                             .has_lower_bound = true,
                                             .lower_bound_lsb = 0.25,
                                             .optimal = 1};
    return table;
}

static inline struct table fixture_plain(void)
{
    return fixture_table(PWL_ABSOLUTE, PWL_FLOOR, PWL_INT8);
}

/* Two shifts that agree with the fused one, negative constants and both directions of n_yc included. */
static inline struct table fixture_unfused(void)
{
    static const struct unfused unfused[] = {
        {-7, 0, 0, 0, false, 0}, {19, 3, 1, 1, false, 0}, {-3, -3, 2, -2, false, 0}};
    struct table table = fixture_table(PWL_ABSOLUTE, PWL_FLOOR, PWL_INT16);
    strcpy(table.method, "document");
    table.has_unfused = true;
    for (int i = 0; i < 3; i++)
        table.segments[i].unfused = unfused[i];
    table.segments[2].offset = -12;
    return table;
}

/* Odd about a zero point of 20: codes down to -128 mirror to 168, beyond the largest code. */
static inline struct table fixture_fold(void)
{
    struct table table = fixture_plain();
    strcpy(table.function, "tanh");
    table.in.zero_point = 20;
    table.has_fold = true;
    table.fold_sum = -40;
    table.segments[0].start = 20;
    table.segments[1].start = 50;
    return table;
}

static inline struct table fixture_samples(void)
{
    struct table table = fixture_table(PWL_BIASED, PWL_HALF_EVEN, PWL_INT16);
    strcpy(table.function, "samples");
    memset(table.samples_sha256, 'a', 64);
    memset(table.weights_sha256, '0', 64);
    return table;
}

/* A parameter, a null bound, no proof of optimality, codes outside the domain, a wide input's bound. */
static inline struct table fixture_parameter(void)
{
    struct table table = fixture_table(PWL_ANCHORED, PWL_HALF_UP, PWL_INT32);
    strcpy(table.function, "leaky_relu");
    table.parameter_count = 1;
    strcpy(table.parameters[0].name, "alpha");
    table.parameters[0].value = 0.1;
    table.outside = OUTSIDE_CLAMP;
    table.certificate.exhaustive = false;
    table.certificate.monotone = false;
    table.certificate.objective = OBJECTIVE_RMS;
    table.certificate.has_lower_bound = false;
    table.certificate.lower_bound_lsb = 0;
    table.certificate.optimal = -1;
    table.certificate.has_bound = true;
    table.certificate.bound_lsb = 4;
    return table;
}

static inline char *fixture_json(struct table table)
{
    char *text = NULL;
    struct diag diag = {0};
    ck_assert_msg(table_to_json(&table, &text, &diag) == EXIT_DONE, "%s", diag.text);
    table_free(&table);
    return text;
}

/* Not inlined: gcc 12 would warn that the result of strstr points at fixture_json's variable, which it does not. */
__attribute__((noinline, unused)) static char *replaced(const char *text, const char *find, const char *replacement)
{
    const char *const at = strstr(text, find);
    ck_assert_msg(at != NULL, "the fixture has no %s:\n%s", find, text);
    char *const result = malloc(strlen(text) + strlen(replacement) + 1);
    ck_assert(result != NULL);
    sprintf(result, "%.*s%s%s", (int)(at - text), text, replacement, at + strlen(find));
    return result;
}

static struct table (*const fixtures[])(void) = {fixture_plain, fixture_unfused, fixture_fold, fixture_samples,
                                                 fixture_parameter};
enum { PLAIN, UNFUSED, FOLD, SAMPLES, PARAMETER, FIXTURES };

static inline struct table read_good(const char *text)
{
    struct table table;
    struct diag diag = {0};
    ck_assert_msg(table_from_json(text, strlen(text), &table, &diag) == EXIT_DONE, "%s\n%s", diag.text, text);
    return table;
}

/* Exit 2, one line that holds `expected`, and nothing left to free. */
static inline void assert_refused(const char *bytes, size_t size, const char *expected)
{
    struct table table;
    struct diag diag = {0};
    const int code = table_from_json(bytes, size, &table, &diag);
    ck_assert_msg(code == EXIT_USAGE, "exit %d, wanted a refusal with: %s", code, expected);
    ck_assert_int_eq(diag.code, EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, expected) != NULL, "message: %s\nwanted: %s", diag.text, expected);
    for (const char *c = diag.text; *c; c++)
        ck_assert_msg(*c >= ' ' && *c <= '~', "message is not one plain line: %s", diag.text);
    ck_assert(table.spec == NULL && table.segments == NULL);
}

static inline void assert_same_table(const struct table *a, const struct table *b)
{
    ck_assert_str_eq(a->spec, b->spec);
    ck_assert_str_eq(a->function, b->function);
    ck_assert_int_eq(a->parameter_count, b->parameter_count);
    for (int i = 0; i < a->parameter_count; i++) {
        ck_assert_str_eq(a->parameters[i].name, b->parameters[i].name);
        ck_assert(a->parameters[i].value == b->parameters[i].value);
    }
    ck_assert_str_eq(a->method, b->method);
    ck_assert_int_eq(a->form, b->form);
    ck_assert_int_eq(a->rounding, b->rounding);
    ck_assert_int_eq(a->storage, b->storage);
    const struct tensor *const tensors[] = {&a->in, &b->in, &a->out, &b->out};
    for (int i = 0; i < 4; i += 2) {
        ck_assert_int_eq(tensors[i]->bits, tensors[i + 1]->bits);
        ck_assert_int_eq(tensors[i]->is_signed, tensors[i + 1]->is_signed);
        ck_assert_str_eq(tensors[i]->scale.text, tensors[i + 1]->scale.text);
        ck_assert(tensors[i]->scale.value == tensors[i + 1]->scale.value);
        ck_assert_int_eq(tensors[i]->zero_point, tensors[i + 1]->zero_point);
        ck_assert_int_eq(tensors[i]->qmin, tensors[i + 1]->qmin);
        ck_assert_int_eq(tensors[i]->qmax, tensors[i + 1]->qmax);
    }
    ck_assert_int_eq(a->has_fold, b->has_fold);
    ck_assert_int_eq(a->fold_sum, b->fold_sum);
    ck_assert_int_eq(a->has_unfused, b->has_unfused);
    ck_assert_int_eq(a->outside, b->outside);
    ck_assert_str_eq(a->samples_sha256, b->samples_sha256);
    ck_assert_str_eq(a->weights_sha256, b->weights_sha256);
    ck_assert_int_eq(a->segment_count, b->segment_count);
    for (int i = 0; i < a->segment_count; i++) {
        const struct segment *const s = &a->segments[i], *const t = &b->segments[i];
        ck_assert_int_eq(s->start, t->start);
        ck_assert_int_eq(s->q_b, t->q_b);
        ck_assert_int_eq(s->n, t->n);
        ck_assert_int_eq(s->offset, t->offset);
        ck_assert_int_eq(s->unfused.q_c, t->unfused.q_c);
        ck_assert_int_eq(s->unfused.n_bx, t->unfused.n_bx);
        ck_assert_int_eq(s->unfused.n_yb, t->unfused.n_yb);
        ck_assert_int_eq(s->unfused.n_yc, t->unfused.n_yc);
    }
    ck_assert_int_eq(a->standing, b->standing);
    const struct certificate *const c = &a->certificate, *const d = &b->certificate;
    ck_assert_int_eq(c->checked, d->checked);
    ck_assert_int_eq(c->exhaustive, d->exhaustive);
    ck_assert_int_eq(c->max_err_at, d->max_err_at);
    ck_assert_int_eq(c->saturated_codes, d->saturated_codes);
    ck_assert_int_eq(c->monotone, d->monotone);
    ck_assert_int_eq(c->acc_bits, d->acc_bits);
    ck_assert_int_eq(c->objective, d->objective);
    ck_assert_int_eq(c->has_lower_bound, d->has_lower_bound);
    ck_assert_int_eq(c->optimal, d->optimal);
    ck_assert_int_eq(c->has_bound, d->has_bound);
    /* six significant digits: at most half a unit of the sixth, 5e-6 of the value */
    const double reals[][2] = {{c->max_err_lsb, d->max_err_lsb},           {c->rms_err_lsb, d->rms_err_lsb},
                               {c->mean_abs_err_lsb, d->mean_abs_err_lsb}, {c->correctly_rounded, d->correctly_rounded},
                               {c->lower_bound_lsb, d->lower_bound_lsb},   {c->bound_lsb, d->bound_lsb}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        ck_assert(fabs(reals[i][0] - reals[i][1]) <= 5e-6 * reals[i][0]);
}

#endif
