/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/size.h"

static const char *const names[OPERATOR_KINDS] = {"softmax", "logsoftmax", "layernorm", "rmsnorm", "l2norm"};

const char *operator_name(enum operator_kind kind)
{
    return names[kind];
}

bool operator_parse(const char *name, enum operator_kind *kind)
{
    for (int k = 0; k < OPERATOR_KINDS; k++)
        if (strcmp(name, names[k]) == 0) {
            *kind = (enum operator_kind)k;
            return true;
        }
    return false;
}

bool operator_is_norm(enum operator_kind kind)
{
    return kind >= OPERATOR_LAYER_NORM;
}

int64_t operator_integer(const struct row_operator *of, enum operator_list list, uint32_t k)
{
    switch (list) {
    case OPERATOR_EXP:
        return of->exp[k];
    case OPERATOR_EXP_HIGH:
        return of->exp_high[k];
    case OPERATOR_EXP_SHIFT:
        return of->exp_shift[k];
    case OPERATOR_LOG_FACTOR:
        return of->log_factor[k];
    case OPERATOR_LOG_VALUE:
        return of->log_value[k];
    case OPERATOR_GAMMA_CODES:
        return of->gamma_codes[k];
    case OPERATOR_BETA_CODES:
        return of->beta_codes[k];
    }
    return 0;
}

void operator_free(struct row_operator *of)
{
    free(of->spec);
    table_free(&of->core);
    free(of->exp);
    free(of->exp_high);
    free(of->exp_shift);
    free(of->log_factor);
    free(of->log_value);
    free(of->gamma);
    free(of->beta);
    free(of->gamma_codes);
    free(of->beta_codes);
    memset(of, 0, sizeof *of);
}

long double operator_gamma(const struct row_operator *of, uint32_t c)
{
    return of->kind == OPERATOR_L2_NORM ? 1 / sqrtl(of->length) : of->gamma ? of->gamma[c] : 1;
}

long double operator_beta(const struct row_operator *of, uint32_t c)
{
    return of->beta ? of->beta[c] : 0;
}

long double operator_eps(const struct row_operator *of)
{
    return of->kind == OPERATOR_L2_NORM ? (long double)of->eps / of->length : of->eps;
}

static pwl_type type_of(const struct tensor *tensor)
{
    return (pwl_type)((tensor->bits == 8 ? PWL_S8 : PWL_S16) + !tensor->is_signed);
}

static void pack_softmax(const struct row_operator *of, struct packed_operator *packed)
{
    packed->softmax = (pwl_softmax){.version = PWL_ROWS_VERSION,
                                    .kind = of->kind == OPERATOR_LOG_SOFTMAX ? PWL_LOG_SOFTMAX : PWL_SOFTMAX,
                                    .in = (uint8_t)type_of(&of->in),
                                    .out = (uint8_t)type_of(&of->out),
                                    .fraction = (uint8_t)of->fraction,
                                    .out_bits = of->kind == OPERATOR_SOFTMAX ? (uint8_t)of->out.scale.shift_bits : 0,
                                    .step_shift = (uint8_t)of->step_shift,
                                    .log_shift = (uint8_t)of->log_shift,
                                    .longest = of->length,
                                    .step = (int32_t)of->step,
                                    .log_unit = (int32_t)of->log_unit,
                                    .qmin_y = (int32_t)of->out.qmin,
                                    .qmax_y = (int32_t)of->out.qmax,
                                    .zp_y = of->out.zero_point,
                                    .exp = of->exp,
                                    .exp_high = of->exp_high,
                                    .exp_shift = of->exp_shift,
                                    .log_factor = of->log_factor,
                                    .log_value = of->log_value,
                                    .reciprocal = &packed->core.table};
}

static void pack_norm(const struct row_operator *of, struct packed_operator *packed)
{
    const bool is_layer = of->kind == OPERATOR_LAYER_NORM;
    packed->norm = (pwl_norm){.version = PWL_ROWS_VERSION,
                              .kind = is_layer ? PWL_LAYER_NORM : PWL_RMS_NORM,
                              .in = (uint8_t)type_of(&of->in),
                              .out = (uint8_t)type_of(&of->out),
                              .variance_shift = (uint8_t)of->variance_shift,
                              .fraction = (uint8_t)of->fraction,
                              .gamma_shift = (int8_t)of->gamma_shift,
                              .drop = (uint8_t)of->drop,
                              .length = of->length,
                              .qmin_y = (int32_t)of->out.qmin,
                              .qmax_y = (int32_t)of->out.qmax,
                              .zp_y = of->out.zero_point,
                              .zp_x = is_layer ? (of->in.qmin + of->in.qmax + 1) / 2 : of->in.zero_point,
                              .eps = of->eps_code,
                              .gamma = of->gamma_codes,
                              .beta = of->beta_codes,
                              .rsqrt = &packed->core.table};
}

int operator_pack(const struct row_operator *of, int refusal, struct packed_operator *packed, struct diag *diag)
{
    memset(packed, 0, sizeof *packed);
    packed->is_norm = operator_is_norm(of->kind);
    if (table_prove(&of->core, refusal, &packed->core, NULL, diag))
        return diag_prefix(diag, "core");
    pwl_status status;
    if (packed->is_norm) {
        pack_norm(of, packed);
        status = pwl_norm_check(&packed->norm);
    } else {
        pack_softmax(of, packed);
        status = pwl_softmax_check(&packed->softmax);
    }
    if (status != PWL_OK)
        return diag_set(diag, refusal, "%s: not safe to run: %s; must be constants that pass pwl_%s_check()",
                        operator_name(of->kind), pwl_status_text(status), packed->is_norm ? "norm" : "softmax");
    return EXIT_DONE;
}

void packed_operator_free(struct packed_operator *packed)
{
    packed_table_free(&packed->core);
}

void packed_operator_run(const struct packed_operator *packed, const void *x, void *y, size_t length)
{
    if (packed->is_norm)
        pwl_norm_run(&packed->norm, x, y, 1, PWL_LEVELS_ALL);
    else
        pwl_softmax_run(&packed->softmax, &(pwl_rows){.x = x, .y = y, .count = 1, .length = length}, PWL_LEVELS_ALL);
}

int64_t operator_code(const struct tensor *tensor, const void *array, size_t k)
{
    if (tensor->bits == 8)
        return tensor->is_signed ? ((const int8_t *)array)[k] : ((const uint8_t *)array)[k];
    return tensor->is_signed ? ((const int16_t *)array)[k] : ((const uint16_t *)array)[k];
}

size_t operator_bytes(const struct row_operator *of)
{
    size_t bytes = (size_t)table_bytes(&of->core);
    bytes += of->exp ? 256 * sizeof *of->exp : 0;
    bytes += of->exp_high ? 256 * (sizeof *of->exp_high + sizeof *of->exp_shift) : 0;
    bytes += of->log_factor ? PWL_LOG_CELLS * (sizeof *of->log_factor + sizeof *of->log_value) : 0;
    bytes += of->gamma_codes ? of->length * sizeof *of->gamma_codes : 0;
    return bytes + (of->beta_codes ? of->length * sizeof *of->beta_codes : 0);
}
