/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/size.h"

static const struct {
    const char *name;
    enum operator_family family;
    const char *in_b; /* what its second input is; null: it has none */
} kinds[OPERATOR_KINDS] = {
    [OPERATOR_SOFTMAX] = {"softmax", FAMILY_SOFTMAX, NULL},
    [OPERATOR_LOG_SOFTMAX] = {"logsoftmax", FAMILY_SOFTMAX, NULL},
    [OPERATOR_LAYER_NORM] = {"layernorm", FAMILY_NORM, NULL},
    [OPERATOR_RMS_NORM] = {"rmsnorm", FAMILY_NORM, NULL},
    [OPERATOR_L2_NORM] = {"l2norm", FAMILY_NORM, NULL},
    [OPERATOR_REQUANTISE] = {"requantise", FAMILY_ELEMENT, NULL},
    [OPERATOR_ADD] = {"add", FAMILY_ELEMENT, "second in"},
    [OPERATOR_WEIGH] = {"weigh", FAMILY_WEIGH, "values"},
};

const char *operator_name(enum operator_kind kind)
{
    return kinds[kind].name;
}

bool operator_parse(const char *name, enum operator_kind *kind)
{
    for (int k = 0; k < OPERATOR_KINDS; k++)
        if (strcmp(name, kinds[k].name) == 0) {
            *kind = (enum operator_kind)k;
            return true;
        }
    return false;
}

enum operator_family operator_family(enum operator_kind kind)
{
    return kinds[kind].family;
}

bool operator_is_norm(enum operator_kind kind)
{
    return operator_family(kind) == FAMILY_NORM;
}

bool operator_is_element(enum operator_kind kind)
{
    return operator_family(kind) == FAMILY_ELEMENT;
}

bool operator_has_in_b(enum operator_kind kind)
{
    return kinds[kind].in_b != NULL;
}

const char *operator_in_b_words(enum operator_kind kind)
{
    return kinds[kind].in_b;
}

bool operator_has_exp(enum operator_kind kind)
{
    return operator_family(kind) == FAMILY_SOFTMAX || operator_family(kind) == FAMILY_WEIGH;
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
    return (pwl_type)((tensor->bits == 8 ? PWL_S8 : tensor->bits == 16 ? PWL_S16 : PWL_S32) + !tensor->is_signed);
}

const struct tensor *operator_softmax_out(const struct row_operator *of)
{
    static const struct tensor shares = {.bits = 8, .scale = {.shift_bits = 8}, .qmax = 255};
    return of->kind == OPERATOR_WEIGH ? &shares : &of->out;
}

static void pack_softmax(const struct row_operator *of, struct packed_operator *packed)
{
    const struct tensor *const out = operator_softmax_out(of);
    const bool is_log = of->kind == OPERATOR_LOG_SOFTMAX;
    packed->softmax = (pwl_softmax){.version = PWL_ROWS_VERSION,
                                    .kind = is_log ? PWL_LOG_SOFTMAX : PWL_SOFTMAX,
                                    .in = (uint8_t)type_of(&of->in),
                                    .out = (uint8_t)type_of(out),
                                    .fraction = (uint8_t)of->fraction,
                                    .out_bits = is_log ? 0 : (uint8_t)out->scale.shift_bits,
                                    .step_shift = (uint8_t)of->step_shift,
                                    .log_shift = (uint8_t)of->log_shift,
                                    .longest = of->length,
                                    .step = (int32_t)of->step,
                                    .log_unit = (int32_t)of->log_unit,
                                    .qmin_y = (int32_t)out->qmin,
                                    .qmax_y = (int32_t)out->qmax,
                                    .zp_y = out->zero_point,
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

/* Of weigh, of its sums, whose zero point is 0. */
static void pack_requantise(const struct row_operator *of, struct packed_operator *packed)
{
    const bool is_sum = of->kind == OPERATOR_WEIGH;
    packed->requantise = (pwl_requantise){.version = PWL_ELEMENTS_VERSION,
                                          .in = (uint8_t)(is_sum ? PWL_S32 : type_of(&of->in)),
                                          .out = (uint8_t)type_of(&of->out),
                                          .shift = (uint8_t)of->shift,
                                          .multiplier = (int32_t)of->factor_a,
                                          .qmin_y = (int32_t)of->out.qmin,
                                          .qmax_y = (int32_t)of->out.qmax,
                                          .zp_x = is_sum ? 0 : of->in.zero_point,
                                          .zp_y = of->out.zero_point};
}

static pwl_status pack_weigh(const struct row_operator *of, struct packed_operator *packed)
{
    pack_softmax(of, packed);
    pack_requantise(of, packed);
    packed->values = (pwl_row_values){.type = (uint8_t)type_of(&of->in_b), .zero_point = of->in_b.zero_point};
    const pwl_status status = pwl_softmax_check(&packed->softmax), values = pwl_row_values_check(&packed->values);
    return status != PWL_OK ? status : values != PWL_OK ? values : pwl_requantise_check(&packed->requantise);
}

/* Zero points are codes, so that the constant has 48 bits at most. */
static void pack_add(const struct row_operator *of, struct packed_operator *packed)
{
    packed->add = (pwl_add){.version = PWL_ELEMENTS_VERSION,
                            .in_a = (uint8_t)type_of(&of->in),
                            .in_b = (uint8_t)type_of(&of->in_b),
                            .out = (uint8_t)type_of(&of->out),
                            .shift = (uint8_t)of->shift,
                            .factor_a = (int32_t)of->factor_a,
                            .factor_b = (int32_t)of->factor_b,
                            .qmin_y = (int32_t)of->out.qmin,
                            .qmax_y = (int32_t)of->out.qmax,
                            .constant = -(of->factor_a * of->in.zero_point + of->factor_b * of->in_b.zero_point),
                            .zp_y = of->out.zero_point};
}

/* What the runtime's check says of a packed operator. */
static pwl_status pack_and_check(const struct row_operator *of, struct packed_operator *packed)
{
    switch (operator_family(of->kind)) {
    case FAMILY_SOFTMAX:
        pack_softmax(of, packed);
        return pwl_softmax_check(&packed->softmax);
    case FAMILY_NORM:
        pack_norm(of, packed);
        return pwl_norm_check(&packed->norm);
    case FAMILY_WEIGH:
        return pack_weigh(of, packed);
    default:
        break;
    }
    if (of->kind == OPERATOR_ADD) {
        pack_add(of, packed);
        return pwl_add_check(&packed->add);
    }
    pack_requantise(of, packed);
    return pwl_requantise_check(&packed->requantise);
}

int operator_pack(const struct row_operator *of, int refusal, struct packed_operator *packed, struct diag *diag)
{
    static const char *const structs[] = {
        [FAMILY_SOFTMAX] = "softmax", [FAMILY_NORM] = "norm", [FAMILY_WEIGH] = "softmax"};
    const enum operator_family family = operator_family(of->kind);
    memset(packed, 0, sizeof *packed);
    packed->kind = of->kind;
    if (family != FAMILY_ELEMENT && table_prove(&of->core, refusal, &packed->core, NULL, diag))
        return diag_prefix(diag, "core");
    const pwl_status status = pack_and_check(of, packed);
    if (status != PWL_OK)
        return diag_set(diag, refusal, "%s: not safe to run: %s; must be constants that pass pwl_%s_check()",
                        operator_name(of->kind), pwl_status_text(status),
                        family == FAMILY_ELEMENT ? operator_name(of->kind) : structs[family]);
    return EXIT_DONE;
}

void packed_operator_free(struct packed_operator *packed)
{
    packed_table_free(&packed->core);
}

/* Some channels at once, whose sums lie on the stack. */
static void run_weigh(const struct packed_operator *packed, const struct operator_row *row, const pwl_rows *rows)
{
    enum { CHANNELS = 64 };
    const size_t v_bytes = packed->values.type <= PWL_U8 ? 1 : 2, y_bytes = packed->requantise.out <= PWL_U8 ? 1 : 2;
    int32_t sums[CHANNELS];
    pwl_row_values values = packed->values;
    values.stride = row->channels;
    for (size_t c = 0; c < row->channels; c += values.channels) {
        values.v = (const char *)row->b + c * v_bytes;
        values.channels = row->channels - c < CHANNELS ? row->channels - c : CHANNELS;
        pwl_softmax_weigh(&packed->softmax, rows, &values, sums);
        pwl_requantise_run(&packed->requantise, sums, (char *)row->y + c * y_bytes, values.channels);
    }
}

void packed_operator_run(const struct packed_operator *packed, const struct operator_row *row)
{
    const pwl_rows rows = {.x = row->x, .y = row->y, .count = 1, .length = row->length};
    switch (packed->kind) {
    case OPERATOR_REQUANTISE:
        pwl_requantise_run(&packed->requantise, row->x, row->y, row->length);
        break;
    case OPERATOR_ADD:
        pwl_add_run(&packed->add, row->x, row->b, row->y, row->length);
        break;
    case OPERATOR_WEIGH:
        run_weigh(packed, row, &rows);
        break;
    case OPERATOR_LAYER_NORM:
    case OPERATOR_RMS_NORM:
    case OPERATOR_L2_NORM:
        pwl_norm_run(&packed->norm, row->x, row->y, 1, PWL_LEVELS_ALL);
        break;
    case OPERATOR_SOFTMAX:
    case OPERATOR_LOG_SOFTMAX:
        pwl_softmax_run(&packed->softmax, &rows, PWL_LEVELS_ALL);
    }
}

int64_t operator_code(const struct tensor *tensor, const void *array, size_t k)
{
    if (tensor->bits == 8)
        return tensor->is_signed ? ((const int8_t *)array)[k] : ((const uint8_t *)array)[k];
    if (tensor->bits == 16)
        return tensor->is_signed ? ((const int16_t *)array)[k] : ((const uint16_t *)array)[k];
    return tensor->is_signed ? ((const int32_t *)array)[k] : (int64_t)((const uint32_t *)array)[k];
}

void operator_set_code(const struct tensor *tensor, void *array, size_t k, int64_t code)
{
    if (tensor->bits == 8)
        ((uint8_t *)array)[k] = (uint8_t)code;
    else if (tensor->bits == 16)
        ((uint16_t *)array)[k] = (uint16_t)code;
    else
        ((uint32_t *)array)[k] = (uint32_t)code;
}

size_t operator_bytes(const struct row_operator *of)
{
    if (operator_is_element(of->kind))
        return of->kind == OPERATOR_ADD ? sizeof(pwl_add) : sizeof(pwl_requantise);
    size_t bytes = (size_t)table_bytes(&of->core);
    bytes += of->exp ? 256 * sizeof *of->exp : 0;
    bytes += of->exp_high ? 256 * (sizeof *of->exp_high + sizeof *of->exp_shift) : 0;
    bytes += of->log_factor ? PWL_LOG_CELLS * (sizeof *of->log_factor + sizeof *of->log_value) : 0;
    bytes += of->gamma_codes ? of->length * sizeof *of->gamma_codes : 0;
    return bytes + (of->beta_codes ? of->length * sizeof *of->beta_codes : 0);
}
