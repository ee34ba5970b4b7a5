/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the operator JSON. An operator that is accepted is complete, within every range and proven safe to run. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/fields.h"
#include "io/recognise.h"
#include "operator.h"
#include "table/json_parts.h"

#define OPERATOR_VERSION 1
#define SPEC_MAX_LENGTH 8192

/* At most four arrays of a value a channel, and the core. */
static const struct fields_limits limits = {OPERATOR_MAX_BYTES, 2 * PWL_MAX_SEGMENTS + 128,
                                            4 * PWL_LONGEST_ROW + 11 * PWL_MAX_SEGMENTS + 4096};

/* Elements of an array that has `count` of them, each an integer in min..max, or with `reals` a finite number. */
static int read_array(const struct fields *top, const char *name, uint32_t count, int64_t min, int64_t max,
                      int64_t *integers, double *reals, struct diag *diag)
{
    json_t *array;
    if (field_array(top, name, PWL_LONGEST_ROW, &array, diag))
        return diag->code;
    if (json_array_size(array) != count)
        return diag_set(diag, EXIT_USAGE, "%s: %zu values, must be %u", name, json_array_size(array), count);
    for (uint32_t k = 0; k < count; k++) {
        const json_t *const value = json_array_get(array, k);
        if (reals ? !json_is_number(value)
                  : !json_is_integer(value) || json_integer_value(value) < min || json_integer_value(value) > max)
            return reals ? diag_set(diag, EXIT_USAGE, "%s[%u]: must be a number", name, k)
                         : diag_set(diag, EXIT_USAGE, "%s[%u]: must be an integer from %lld to %lld", name, k,
                                    (long long)min, (long long)max);
        if (reals)
            reals[k] = json_number_value(value);
        else
            integers[k] = json_integer_value(value);
    }
    return EXIT_DONE;
}

/* An array of integers into one of `bytes` each; *array is malloc'd. */
static int read_integers(const struct fields *top, const char *name, uint32_t count, int64_t min, int64_t max,
                         size_t bytes, void *array, struct diag *diag)
{
    int64_t *const values = malloc(count * sizeof *values);
    unsigned char *const stored = malloc(count * bytes);
    *(void **)array = stored;
    if (!values || !stored)
        diag_set(diag, EXIT_IO, "out of memory for %u values", count);
    else if (read_array(top, name, count, min, max, values, NULL, diag) == EXIT_DONE)
        for (uint32_t k = 0; k < count; k++)
            switch (bytes) {
            case 1:
                ((uint8_t *)stored)[k] = (uint8_t)values[k];
                break;
            case 2:
                ((uint16_t *)(void *)stored)[k] = (uint16_t)values[k];
                break;
            case 4:
                ((uint32_t *)(void *)stored)[k] = (uint32_t)values[k];
                break;
            default:
                ((int64_t *)(void *)stored)[k] = values[k];
            }
    free(values);
    return diag->code;
}

static int read_reals(const struct fields *top, const char *name, uint32_t count, double **array, struct diag *diag)
{
    if (!field_present(top, name))
        return EXIT_DONE;
    *array = malloc(count * sizeof **array);
    if (!*array)
        return diag_set(diag, EXIT_IO, "out of memory for %u values", count);
    return read_array(top, name, count, 0, 0, NULL, *array, diag);
}

static int read_small(const struct fields *top, const char *name, int64_t min, int64_t max, int *value,
                      struct diag *diag)
{
    int64_t read;
    if (field_integer(top, name, min, max, &read, diag))
        return diag->code;
    *value = (int)read;
    return EXIT_DONE;
}

/* The fields of all operators of rows, of wide inputs' exponentials, of logsoftmax, of all operators of elements, of
 * weigh and of norms. A list of them that is shorter than its array ends with a null. */
#define COMMON "pwl_operator", "spec", "operator", "in", "out", "rows", "core", "hash", "certificate", "fraction"
#define WIDE "exp_high", "exp_shift"
#define LOG "step", "step_shift", "log_unit", "log_shift", "log_factor", "log_value"
#define ELEMENT "pwl_operator", "spec", "operator", "in", "out", "shift", "hash", "certificate"
#define WEIGH "in_b", "multiplier", "shift"
#define NORM "eps", "variance_shift", "gamma_shift", "drop", "eps_code", "gamma_codes", "beta_codes"

/* The multiplier of requantise and of weigh. */
static int read_requantise(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    return read_small(top, "shift", 1, 62, &of->shift, diag) ||
           field_integer(top, "multiplier", 1 << 30, INT32_MAX, &of->factor_a, diag);
}

static int read_softmax(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    const bool is_log = of->kind == OPERATOR_LOG_SOFTMAX, is_wide = of->in.bits == 16,
               is_weigh = of->kind == OPERATOR_WEIGH;
    static const char *const known[2][3][24] = {
        {{COMMON, "exp"}, {COMMON, "exp", LOG}, {COMMON, "exp", WEIGH}},
        {{COMMON, "exp", WIDE}, {COMMON, "exp", WIDE, LOG}, {COMMON, "exp", WIDE, WEIGH}}};
    const struct scale *const scale = &of->out.scale;
    if (of->kind == OPERATOR_SOFTMAX && !(scale->power_of_two && scale->shift_bits >= 1 && scale->shift_bits <= 16))
        return diag_set(diag, EXIT_USAGE, "out.scale: \"%s\", must be from 2^-1 to 2^-16", scale->text);
    if (fields_known(top, known[is_wide][is_weigh ? 2 : is_log], diag) ||
        (is_weigh && read_requantise(top, of, diag)) || read_small(top, "fraction", 8, 30, &of->fraction, diag) ||
        read_integers(top, "exp", 256, 0, UINT32_MAX, sizeof *of->exp, &of->exp, diag))
        return diag->code;
    if (is_wide && (read_integers(top, "exp_high", 256, 0, UINT32_MAX, sizeof *of->exp_high, &of->exp_high, diag) ||
                    read_integers(top, "exp_shift", 256, 0, UINT8_MAX, 1, &of->exp_shift, diag)))
        return diag->code;
    if (!is_log)
        return EXIT_DONE;
    if (field_integer(top, "step", 0, INT32_MAX, &of->step, diag) ||
        field_integer(top, "log_unit", 1, INT32_MAX, &of->log_unit, diag) ||
        read_small(top, "step_shift", 1, 40, &of->step_shift, diag) ||
        read_small(top, "log_shift", 1, 62, &of->log_shift, diag) ||
        read_integers(top, "log_factor", PWL_LOG_CELLS, 0, UINT16_MAX, sizeof *of->log_factor, &of->log_factor, diag))
        return diag->code;
    return read_integers(top, "log_value", PWL_LOG_CELLS, INT32_MIN, INT32_MAX, sizeof *of->log_value, &of->log_value,
                         diag);
}

static int read_norm(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    const bool is_l2 = of->kind == OPERATOR_L2_NORM;
    static const char *const known[2][24] = {{COMMON, NORM, "gamma", "beta"}, {COMMON, NORM}};
    if (fields_known(top, known[is_l2], diag) || field_real(top, "eps", 0, DBL_MAX, &of->eps, diag) ||
        read_small(top, "variance_shift", 0, 24, &of->variance_shift, diag) ||
        read_small(top, "fraction", 1, 30, &of->fraction, diag) ||
        read_small(top, "gamma_shift", INT8_MIN, INT8_MAX, &of->gamma_shift, diag) ||
        read_small(top, "drop", 0, 8, &of->drop, diag) ||
        field_integer(top, "eps_code", 0, INT64_MAX, &of->eps_code, diag) ||
        read_reals(top, "gamma", of->length, &of->gamma, diag) ||
        read_reals(top, "beta", of->length, &of->beta, diag) ||
        read_integers(top, "gamma_codes", of->length, INT32_MIN, INT32_MAX, sizeof *of->gamma_codes, &of->gamma_codes,
                      diag))
        return diag->code;
    if (field_present(top, "beta_codes") != (of->beta != NULL))
        return field_refuse(top, "beta_codes", diag, "there with beta, and without it left out");
    return of->beta ? read_integers(top, "beta_codes", of->length, INT64_MIN, INT64_MAX, sizeof *of->beta_codes,
                                    &of->beta_codes, diag)
                    : EXIT_DONE;
}

static int read_element(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    static const char *const requantise[] = {ELEMENT, "multiplier", NULL}, *const add[] = {ELEMENT, "in_b", "factor_a",
                                                                                           "factor_b", NULL};
    if (of->kind == OPERATOR_REQUANTISE)
        return fields_known(top, requantise, diag) || read_requantise(top, of, diag);
    return fields_known(top, add, diag) || read_small(top, "shift", 1, 62, &of->shift, diag) ||
           field_integer(top, "factor_a", 0, INT32_MAX, &of->factor_a, diag) ||
           field_integer(top, "factor_b", 0, INT32_MAX, &of->factor_b, diag);
}

static int read_core(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    struct fields core;
    if (field_object(top, "core", &core, diag))
        return diag->code;
    char *const text = json_dumps(core.json, JSON_ENSURE_ASCII);
    if (!text)
        return diag_set(diag, EXIT_IO, "out of memory for the core");
    if (table_from_json(text, strlen(text), &of->core, diag))
        diag_prefix(diag, "core");
    free(text);
    return diag->code;
}

static int read_certificate(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    struct operator_certificate *const certificate = &of->certificate;
    const char *known[OPERATOR_PARTS + 5] = {"bound_lsb", "max_err_lsb", "rows", "worst_row"}, *words;
    struct operator_part parts[OPERATOR_PARTS];
    const int count = operator_parts(of->kind, certificate, parts);
    struct fields object;
    for (int k = 0; k < count; k++)
        known[4 + k] = parts[k].name;
    if (field_object(top, "certificate", &object, diag) || fields_known(&object, known, diag) ||
        field_real(&object, "bound_lsb", 0, DBL_MAX, &certificate->bound_lsb, diag) ||
        field_real(&object, "max_err_lsb", 0, DBL_MAX, &certificate->max_err_lsb, diag) ||
        field_integer(&object, "rows", 1, INT64_MAX, &certificate->rows, diag) ||
        field_text(&object, "worst_row", sizeof certificate->worst_row - 1, &words, diag))
        return diag->code;
    for (int k = 0; k < count; k++)
        if (field_real(&object, parts[k].name, 0, DBL_MAX, parts[k].value, diag))
            return diag->code;
    if (strchr(words, '"') || strchr(words, '\\'))
        return field_refuse(&object, "worst_row", diag, "words without quotes");
    strcpy(certificate->worst_row, words);
    return EXIT_DONE;
}

/* Only a certificate with the hash of its own operator, and of itself, counts. */
static int read_claims(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    if (json_read_standing(top, &of->standing, diag) || of->standing == CERTIFICATE_ABSENT)
        return diag->code;
    return read_certificate(top, of, diag);
}

/* A side of an operator; of an input all codes take part. */
static int read_type(const struct fields *top, const char *name, bool is_input, bool may_be_wide, struct tensor *tensor,
                     struct diag *diag)
{
    struct fields object;
    if (json_read_tensor(top, name, tensor, diag) || field_object(top, name, &object, diag))
        return diag->code;
    if (tensor->bits != 8 && tensor->bits != 16 && !(may_be_wide && tensor->bits == 32 && tensor->is_signed))
        return field_refuse(&object, "bits", diag, may_be_wide ? "8, 16, or 32 and signed" : "8 or 16");
    if (is_input && (tensor->qmin != code_min(tensor->bits, tensor->is_signed) ||
                     tensor->qmax != code_max(tensor->bits, tensor->is_signed)))
        return diag_set(diag, EXIT_USAGE, "%s.qmin, %s.qmax: must be all codes of the type", name, name);
    return EXIT_DONE;
}

static int read_types(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    if (read_type(top, "in", true, of->kind == OPERATOR_REQUANTISE, &of->in, diag) ||
        (operator_has_in_b(of->kind) && read_type(top, "in_b", true, false, &of->in_b, diag)) ||
        read_type(top, "out", false, false, &of->out, diag))
        return diag->code;
    return element_check_zero_points(of, "in", "in_b", diag);
}

static int read_head(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    const char *text;
    int64_t version, rows;
    if (field_integer(top, "pwl_operator", 1, INT64_MAX, &version, diag))
        return diag->code;
    if (version != OPERATOR_VERSION)
        return field_refuse(top, "pwl_operator", diag, "%d, the version that this pwlc reads", OPERATOR_VERSION);
    if (field_text(top, "spec", SPEC_MAX_LENGTH, &text, diag))
        return diag->code;
    if (strchr(text, '"') || strchr(text, '\\'))
        return field_refuse(top, "spec", diag, "flags of fit, which have no quotes");
    of->spec = strdup(text);
    if (!of->spec)
        return diag_set(diag, EXIT_IO, "out of memory for the spec");
    if (field_text(top, "operator", SPEC_MAX_LENGTH, &text, diag))
        return diag->code;
    if (!operator_parse(text, &of->kind))
        return field_refuse(top, "operator", diag, "one of %s", OPERATOR_NAMES);
    if (read_types(top, of, diag) || operator_is_element(of->kind))
        return diag->code;
    if (field_integer(top, "rows", 1, PWL_LONGEST_ROW, &rows, diag))
        return diag->code;
    of->length = (uint32_t)rows;
    return EXIT_DONE;
}

static int read_constants(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    if (operator_is_element(of->kind))
        return read_element(top, of, diag);
    return (operator_is_norm(of->kind) ? read_norm(top, of, diag) : read_softmax(top, of, diag)) ||
           read_core(top, of, diag);
}

static int read_operator(const struct fields *top, struct row_operator *of, struct diag *diag)
{
    struct packed_operator packed;
    if (read_head(top, of, diag) || read_constants(top, of, diag))
        return diag->code;
    if (operator_pack(of, EXIT_USAGE, &packed, diag) == EXIT_DONE)
        read_claims(top, of, diag);
    packed_operator_free(&packed);
    return diag->code;
}

int operator_from_json(const char *bytes, size_t size, struct row_operator *of, struct diag *diag)
{
    struct fields top = {0};
    memset(of, 0, sizeof *of);
    diag_set(diag, EXIT_DONE, "%s", "");
    if (fields_parse(bytes, size, &limits, &top.json, diag))
        return diag->code;
    if (!json_is_object(top.json))
        diag_set(diag, EXIT_USAGE, "an array, must be an object with the field pwl_operator");
    else
        read_operator(&top, of, diag);
    json_decref(top.json);
    if (diag->code != EXIT_DONE)
        operator_free(of);
    return diag->code;
}

int operator_read(const char *path, struct row_operator *of, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    memset(of, 0, sizeof *of);
    if (file_read(path, OPERATOR_MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    if (operator_from_json((const char *)bytes, size, of, diag))
        diag_prefix(diag, path);
    free(bytes);
    return diag->code;
}

bool operator_recognise(const char *path)
{
    return json_file_has(path, "pwl_operator", OPERATOR_MAX_BYTES);
}
