/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the table JSON. A table that is accepted is complete, within every range and proven safe to run. */
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "function/expression.h"
#include "io/fields.h"
#include "json_parts.h"
#include "reduction.h"
#include "table.h"
#include "unfused.h"

#define TABLE_VERSION 1
#define SPEC_MAX_LENGTH 8192

/* A segment is an object, with its unfused part two, of 12 values at most; 64 for all else. */
static const struct fields_limits limits = {TABLE_MAX_BYTES, 2 * PWL_MAX_SEGMENTS + 64, 12 * PWL_MAX_SEGMENTS + 64};

static int read_version(const struct fields *top, struct diag *diag)
{
    int64_t version;
    if (field_integer(top, "pwl_table", 1, INT64_MAX, &version, diag))
        return diag->code;
    if (version != TABLE_VERSION)
        return field_refuse(top, "pwl_table", diag, "%d, the version that this pwlc reads", TABLE_VERSION);
    return EXIT_DONE;
}

static bool consists_of(const char *text, const char *characters)
{
    return text[strspn(text, characters)] == '\0';
}

/* A field that may be left out, and then gives an empty string. */
int json_read_sha256(const struct fields *top, const char *name, char hex[SHA256_LENGTH + 1], struct diag *diag)
{
    const char *text;
    hex[0] = '\0';
    if (!field_present(top, name))
        return EXIT_DONE;
    if (field_text(top, name, SPEC_MAX_LENGTH, &text, diag))
        return diag->code;
    if (strlen(text) != SHA256_LENGTH || !consists_of(text, "0123456789abcdef"))
        return field_refuse(top, name, diag, "%d lower-case hexadecimal digits", SHA256_LENGTH);
    memcpy(hex, text, SHA256_LENGTH + 1);
    return EXIT_DONE;
}

static int read_parameters(const struct fields *top, const struct function_info *info, struct table *table,
                           struct diag *diag)
{
    const char *names[FUNCTION_MAX_PARAMETERS + 1] = {NULL};
    struct fields object;
    int count = 0;
    for (; info && count < FUNCTION_MAX_PARAMETERS && info->parameters[count].name; count++)
        names[count] = info->parameters[count].name;
    if (field_object(top, "parameters", &object, diag) || fields_known(&object, names, diag))
        return diag->code;
    for (int i = 0; i < count; i++) {
        const struct parameter_info *const parameter = &info->parameters[i];
        if (strlen(parameter->name) >= sizeof table->parameters[i].name)
            return diag_set(diag, EXIT_IO, "parameters.%s: the name is too long for a table", parameter->name);
        strcpy(table->parameters[i].name, parameter->name);
        if (field_real(&object, parameter->name, parameter->min, parameter->max, &table->parameters[i].value, diag))
            return diag->code;
    }
    table->parameter_count = count;
    return EXIT_DONE;
}

/* Kept as text: only what measures the table evaluates it. */
static int read_expression(const struct fields *top, bool needed, struct table *table, struct diag *diag)
{
    const char *text;
    if (!needed && field_present(top, "expression"))
        return field_refuse(top, "expression", diag, "left out unless function is \"expr\"");
    if (!needed)
        return EXIT_DONE;
    if (field_text(top, "expression", EXPRESSION_MAX, &text, diag))
        return diag->code;
    table->expression = strdup(text);
    return table->expression ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory for the expression");
}

static int read_function(const struct fields *top, struct table *table, struct diag *diag)
{
    const char *name;
    const struct function_info *info = NULL;
    if (field_text(top, "function", SPEC_MAX_LENGTH, &name, diag))
        return diag->code;
    const bool sampled = strcmp(name, "samples") == 0, expression = strcmp(name, expression_info.name) == 0;
    if (!sampled && !expression && !(info = function_find(name)))
        return field_refuse(top, "function", diag, "\"samples\", \"expr\" or a name that `pwlc list` shows");
    if (strlen(name) >= sizeof table->function)
        return diag_set(diag, EXIT_IO, "function: the name is too long for a table");
    strcpy(table->function, name);
    if (read_parameters(top, info, table, diag) || json_read_sha256(top, "samples_sha256", table->samples_sha256, diag))
        return diag->code;
    if (sampled && !table->samples_sha256[0])
        return field_refuse(top, "samples_sha256", diag, "that of the sample points, since function is \"samples\"");
    if (!sampled && table->samples_sha256[0])
        return field_refuse(top, "samples_sha256", diag, "left out unless function is \"samples\"");
    return read_expression(top, expression, table, diag);
}

static int read_words(const struct fields *top, struct table *table, struct diag *diag)
{
    const char *text;
    if (field_text(top, "spec", SPEC_MAX_LENGTH, &text, diag))
        return diag->code;
    table->spec = strdup(text);
    if (!table->spec)
        return diag_set(diag, EXIT_IO, "out of memory for the spec");
    if (field_text(top, "method", SPEC_MAX_LENGTH, &text, diag))
        return diag->code;
    if (!*text || strlen(text) >= sizeof table->method || !consists_of(text, "abcdefghijklmnopqrstuvwxyz_"))
        return field_refuse(top, "method", diag, "1 to %zu characters of a-z and _", sizeof table->method - 1);
    strcpy(table->method, text);
    if (field_text(top, "form", SPEC_MAX_LENGTH, &text, diag))
        return diag->code;
    if (!form_parse(text, &table->form))
        return field_refuse(top, "form", diag, "one of %s", FORM_CHOICES);
    if (field_text(top, "rounding", SPEC_MAX_LENGTH, &text, diag))
        return diag->code;
    if (!rounding_parse(text, &table->rounding))
        return field_refuse(top, "rounding", diag, "one of %s", ROUNDING_CHOICES);
    if (field_present(top, "outside")) {
        if (field_text(top, "outside", SPEC_MAX_LENGTH, &text, diag))
            return diag->code;
        if (strcmp(text, "clamp") != 0)
            return field_refuse(top, "outside", diag, "\"clamp\", or left out");
        table->outside = OUTSIDE_CLAMP;
    }
    return json_read_sha256(top, "weights_sha256", table->weights_sha256, diag);
}

int json_read_tensor(const struct fields *top, const char *name, struct tensor *tensor, struct diag *diag)
{
    static const char *const known[] = {"bits", "signed", "scale", "zero_point", "qmin", "qmax", NULL};
    struct fields object;
    char scale_path[24];
    const char *scale;
    int64_t bits;
    if (field_object(top, name, &object, diag) || fields_known(&object, known, diag) ||
        field_integer(&object, "bits", 2, 32, &bits, diag) ||
        field_boolean(&object, "signed", &tensor->is_signed, diag) ||
        field_text(&object, "scale", sizeof tensor->scale.text - 1, &scale, diag))
        return diag->code;
    tensor->bits = (int)bits;

    snprintf(scale_path, sizeof scale_path, "%s.scale", name);
    if (scale_parse(scale, scale_path, &tensor->scale, diag))
        return diag->code;
    if (strcmp(scale, tensor->scale.text) != 0)
        return field_refuse(&object, "scale", diag, "written \"%s\"", tensor->scale.text);

    const int64_t min = code_min(tensor->bits, tensor->is_signed), max = code_max(tensor->bits, tensor->is_signed);
    if (field_integer(&object, "zero_point", INT64_MIN, INT64_MAX, &tensor->zero_point, diag) ||
        field_integer(&object, "qmin", min, max, &tensor->qmin, diag) ||
        field_integer(&object, "qmax", min, max, &tensor->qmax, diag))
        return diag->code;
    if (tensor->qmin > tensor->qmax)
        return field_refuse(&object, "qmax", diag, "at least qmin, %" PRId64, tensor->qmin);
    return EXIT_DONE;
}

static int read_case(const struct fields *top, struct table *table, struct diag *diag)
{
    const char *text;
    const pwl_storage smallest = field_present(top, "reduction") ? reduction_storage(table->in.bits, table->out.bits)
                                                                 : storage_for(table->in.bits, table->out.bits);
    if (field_text(top, "case", SPEC_MAX_LENGTH, &text, diag))
        return diag->code;
    if (!storage_parse(text, &table->storage) || table->storage != smallest)
        return field_refuse(top, "case", diag, "\"%s\", the smallest that holds %d-bit input and %d-bit output",
                            storage_name(smallest), table->in.bits, table->out.bits);
    return EXIT_DONE;
}

static int read_fold(const struct fields *top, struct table *table, struct diag *diag)
{
    static const char *const known[] = {"sum", NULL};
    const int64_t limit = table->storage == PWL_INT32 ? INT64_MAX : INT32_MAX;
    struct fields object;
    if (!field_present(top, "fold"))
        return EXIT_DONE;
    if (field_object(top, "fold", &object, diag) || fields_known(&object, known, diag) ||
        field_integer(&object, "sum", -limit - 1, limit, &table->fold_sum, diag))
        return diag->code;
    if (table->in.zero_point < table->in.qmin || table->in.zero_point > table->in.qmax)
        return diag_set(diag, EXIT_USAGE,
                        "in.zero_point: %" PRId64 ", must be in qmin..qmax since the table has a fold",
                        table->in.zero_point);
    table->has_fold = true;
    return EXIT_DONE;
}

/* The law is the function's; so are its step and direction. */
static int read_law(const struct fields *object, const struct table *table, pwl_reduction *reduction, struct diag *diag)
{
    static const char *const kinds[] = {"leading_zeros", "exponent"};
    const char *kind;
    int64_t step, direction;
    if (!reduction_law(table->function, reduction))
        return diag_set(diag, EXIT_USAGE, "reduction: must be left out, %s has no octaves", table->function);
    if (field_text(object, "kind", SPEC_MAX_LENGTH, &kind, diag))
        return diag->code;
    if (strcmp(kind, kinds[reduction->kind]) != 0)
        return field_refuse(object, "kind", diag, "\"%s\", that of %s", kinds[reduction->kind], table->function);
    if (reduction->kind == PWL_LEADING_ZEROS) {
        const int octaves = 1 << reduction->log2_step;
        if (field_integer(object, "step", octaves, octaves, &step, diag))
            return diag->code;
    }
    return field_integer(object, "direction", reduction->direction, reduction->direction, &direction, diag);
}

/* What the proof needs beyond these limits it says itself. */
static int read_reduction(const struct fields *top, struct table *table, struct diag *diag)
{
    pwl_reduction *const reduction = &table->reduction;
    struct fields object;
    int64_t shift, fraction;
    if (!field_present(top, "reduction"))
        return EXIT_DONE;
    if (table->has_fold)
        return diag_set(diag, EXIT_USAGE, "reduction: must be left out of a table with a fold");
    if (field_object(top, "reduction", &object, diag) || read_law(&object, table, reduction, diag) ||
        field_integer(&object, "shift", INT16_MIN, INT16_MAX, &shift, diag))
        return diag->code;
    reduction->shift = (int16_t)shift;
    table->has_reduction = true;
    if (reduction->kind == PWL_EXPONENT) {
        static const char *const known[] = {"kind", "direction", "shift", "fraction", "factor", NULL};
        if (fields_known(&object, known, diag) ||
            field_integer(&object, "fraction", storage_bits(table->storage), 62, &fraction, diag) ||
            field_integer(&object, "factor", 1, INT64_MAX, &reduction->factor, diag))
            return diag->code;
        reduction->fraction = (uint8_t)fraction;
        return EXIT_DONE;
    }
    const bool adds = reduction->direction == 0;
    const char *const known[] = {"kind", "direction", "shift", "step", "below", adds ? "addend" : NULL, NULL};
    if (fields_known(&object, known, diag) ||
        field_integer(&object, "below", table->out.qmin, table->out.qmax, &reduction->below, diag))
        return diag->code;
    return adds ? field_integer(&object, "addend", 0, INT64_MAX, &reduction->addend, diag) : EXIT_DONE;
}

static int read_unfused(const struct fields *object, const struct table *table, struct segment *segment,
                        struct diag *diag)
{
    static const char *const known[] = {"q_c", "n_bx", "n_yb", "n_yc", "z_bx", NULL};
    const int64_t q_c_max = INT64_MAX >> 16; /* 48 bits, as for the widest term_c */
    const int shift_max = accumulator_bits(table->storage) - 1;
    struct unfused *const unfused = &segment->unfused;
    struct fields inner;
    int64_t n_bx, n_yb, n_yc;
    if (table->form != PWL_ABSOLUTE)
        return field_refuse(object, "unfused", diag, "left out: only form \"absolute\" has it");
    if (table->has_reduction)
        return field_refuse(object, "unfused", diag, "left out: a table with a reduction has none");
    if (field_object(object, "unfused", &inner, diag) || fields_known(&inner, known, diag) ||
        field_integer(&inner, "q_c", -q_c_max - 1, q_c_max, &unfused->q_c, diag) ||
        field_integer(&inner, "n_bx", -shift_max, shift_max, &n_bx, diag) ||
        field_integer(&inner, "n_yb", -shift_max, shift_max, &n_yb, diag) ||
        field_integer(&inner, "n_yc", -shift_max, shift_max, &n_yc, diag))
        return diag->code;
    unfused->has_z_bx = field_present(&inner, "z_bx");
    if (unfused->has_z_bx && field_integer(&inner, "z_bx", -q_c_max - 1, q_c_max, &unfused->z_bx, diag))
        return diag->code;
    unfused->n_bx = (int)n_bx;
    unfused->n_yb = (int)n_yb;
    unfused->n_yc = (int)n_yc;
    if (segment->n != n_bx + n_yb)
        return field_refuse(object, "n_BX_total", diag, "n_bx + n_yb of unfused, %d", (int)(n_bx + n_yb));
    if (!unfused_gives(unfused->q_c, unfused->n_yc, segment->offset))
        return field_refuse(object, offset_name(table->form), diag, "q_c of unfused, %" PRId64 ", shifted %s by %d",
                            unfused->q_c, n_yc < 0 ? "left" : "right", abs(unfused->n_yc));
    return EXIT_DONE;
}

static int read_segment(const struct fields *object, struct table *table, int index, struct diag *diag)
{
    const char *const offset = offset_name(table->form);
    const char *const known[] = {"start", "q_b", "n_BX_total", offset, "unfused", NULL};
    struct segment *const segment = &table->segments[index];
    const int64_t lowest = table_segment_codes(table).qmin;
    const int shift_max = accumulator_bits(table->storage) - 1;
    const int64_t q_b_max = INT64_MAX >> (64 - storage_bits(table->storage));
    const int64_t offset_max = INT64_MAX >> (64 - offset_bits(table->storage, table->form));
    int64_t n;
    if (fields_known(object, known, diag) ||
        field_integer(object, "start", lowest, table_last_code(table), &segment->start, diag) ||
        field_integer(object, "q_b", -q_b_max - 1, q_b_max, &segment->q_b, diag) ||
        field_integer(object, "n_BX_total", -shift_max, shift_max, &n, diag) ||
        field_integer(object, offset, -offset_max - 1, offset_max, &segment->offset, diag))
        return diag->code;
    segment->n = (int)n;

    const int64_t first = table->has_fold ? table->in.zero_point : lowest;
    if (index == 0 && segment->start != first)
        return field_refuse(object, "start", diag, "%s, %" PRId64,
                            table->has_fold        ? "the zero point, where the fold is"
                            : table->has_reduction ? "the lowest word of the reduction"
                                                   : "qmin of in",
                            first);
    if (index > 0 && segment->start <= segment[-1].start)
        return field_refuse(object, "start", diag, "above the start before it, %" PRId64, segment[-1].start);

    if (index == 0)
        table->has_unfused = field_present(object, "unfused");
    if (field_present(object, "unfused") != table->has_unfused)
        return field_refuse(object, "unfused", diag, "in every segment or in none");
    return table->has_unfused ? read_unfused(object, table, segment, diag) : EXIT_DONE;
}

static int read_segments(const struct fields *top, struct table *table, struct diag *diag)
{
    json_t *array;
    if (field_array(top, "segments", PWL_MAX_SEGMENTS, &array, diag))
        return diag->code;
    const int count = (int)json_array_size(array);
    table->segments = calloc((size_t)count, sizeof *table->segments);
    if (!table->segments)
        return diag_set(diag, EXIT_IO, "out of memory for %d segments", count);
    table->segment_count = count;
    for (int i = 0; i < count; i++) {
        struct fields object;
        if (field_element(top, "segments", array, (size_t)i, &object, diag) || read_segment(&object, table, i, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

static bool is_null(const struct fields *fields, const char *name)
{
    return json_is_null(json_object_get(fields->json, name));
}

static int read_judgement(const struct fields *object, struct certificate *certificate, struct diag *diag)
{
    bool optimal;
    const char *objective;
    if (field_text(object, "objective", SPEC_MAX_LENGTH, &objective, diag))
        return diag->code;
    if (!objective_parse(objective, &certificate->objective))
        return field_refuse(object, "objective", diag, "\"max\", \"rms\" or \"segments\"");
    certificate->has_second_objective = field_present(object, "second_objective");
    if (certificate->has_second_objective) {
        if (field_text(object, "second_objective", SPEC_MAX_LENGTH, &objective, diag))
            return diag->code;
        if (strcmp(objective, objective_name(OBJECTIVE_RMS)) != 0)
            return field_refuse(object, "second_objective", diag, "\"rms\", or left out");
    }

    certificate->has_lower_bound = !is_null(object, "lower_bound_lsb");
    if (certificate->has_lower_bound &&
        field_real(object, "lower_bound_lsb", 0, DBL_MAX, &certificate->lower_bound_lsb, diag))
        return field_refuse(object, "lower_bound_lsb", diag, "null or a number of at least 0");
    certificate->optimal = -1;
    if (!is_null(object, "optimal")) {
        if (field_boolean(object, "optimal", &optimal, diag))
            return field_refuse(object, "optimal", diag, "true, false or null");
        certificate->optimal = optimal;
    }
    certificate->has_bound = field_present(object, "bound_lsb");
    if (certificate->has_bound && field_real(object, "bound_lsb", 0, DBL_MAX, &certificate->bound_lsb, diag))
        return diag->code;
    return json_read_sha256(object, "proof", certificate->proof, diag);
}

static int read_certificate(const struct fields *top, struct table *table, struct diag *diag)
{
    static const char *const known[] = {
        "checked",           "exhaustive",      "max_err_lsb",      "max_err_at", "rms_err_lsb", "mean_abs_err_lsb",
        "correctly_rounded", "saturated_codes", "monotone",         "acc_bits",   "objective",   "lower_bound_lsb",
        "optimal",           "bound_lsb",       "second_objective", "proof",      NULL};
    struct certificate *const certificate = &table->certificate;
    struct fields object;
    int64_t acc_bits;
    if (field_object(top, "certificate", &object, diag) || fields_known(&object, known, diag) ||
        field_integer(&object, "checked", 0, INT64_MAX, &certificate->checked, diag) ||
        field_boolean(&object, "exhaustive", &certificate->exhaustive, diag) ||
        field_real(&object, "max_err_lsb", 0, DBL_MAX, &certificate->max_err_lsb, diag) ||
        field_integer(&object, "max_err_at", table->in.qmin, table->in.qmax, &certificate->max_err_at, diag) ||
        field_real(&object, "rms_err_lsb", 0, DBL_MAX, &certificate->rms_err_lsb, diag) ||
        field_real(&object, "mean_abs_err_lsb", 0, DBL_MAX, &certificate->mean_abs_err_lsb, diag) ||
        field_real(&object, "correctly_rounded", 0, 1, &certificate->correctly_rounded, diag) ||
        field_integer(&object, "saturated_codes", 0, INT64_MAX, &certificate->saturated_codes, diag) ||
        field_boolean(&object, "monotone", &certificate->monotone, diag) ||
        field_integer(&object, "acc_bits", 1, 64, &acc_bits, diag))
        return diag->code;
    certificate->acc_bits = (int)acc_bits;
    return read_judgement(&object, certificate, diag);
}

/* Only a certificate with the hash of its own table, and of itself, counts. */
static int read_claims(const struct fields *top, struct table *table, struct diag *diag)
{
    if (json_read_standing(top, &table->standing, diag) || table->standing == CERTIFICATE_ABSENT)
        return diag->code;
    return read_certificate(top, table, diag);
}

static int read_table(const struct fields *top, struct table *table, struct diag *diag)
{
    static const char *const known[] = {"pwl_table",
                                        "spec",
                                        "function",
                                        "parameters",
                                        "method",
                                        "form",
                                        "rounding",
                                        "case",
                                        "in",
                                        "out",
                                        "fold",
                                        "outside",
                                        "samples_sha256",
                                        "weights_sha256",
                                        "segments",
                                        "certificate",
                                        "expression",
                                        "reduction",
                                        "hash",
                                        NULL};
    struct packed_table packed;
    if (field_present(top, "pwl_operator"))
        return diag_set(
            diag, EXIT_USAGE,
            "a row operator, must be a table here: show, certify, sweep, eval and emit take operators, as files");
    if (field_present(top, "pwl_sfpu"))
        return diag_set(diag, EXIT_USAGE, "a table of the SFPU, which pwlc sfpu takes");
    if (read_version(top, diag) || fields_known(top, known, diag) || read_words(top, table, diag) ||
        read_function(top, table, diag) || json_read_tensor(top, "in", &table->in, diag) ||
        json_read_tensor(top, "out", &table->out, diag) || read_case(top, table, diag) || read_fold(top, table, diag) ||
        read_reduction(top, table, diag) || read_segments(top, table, diag) || read_claims(top, table, diag) ||
        table_prove(table, EXIT_USAGE, &packed, NULL, diag))
        return diag->code;
    packed_table_free(&packed);
    return unfused_prove(table, diag);
}

int table_from_json(const char *bytes, size_t size, struct table *table, struct diag *diag)
{
    struct fields top = {0};
    memset(table, 0, sizeof *table);
    diag_set(diag, EXIT_DONE, "%s", "");
    if (fields_parse(bytes, size, &limits, &top.json, diag))
        return diag->code;
    if (!json_is_object(top.json))
        diag_set(diag, EXIT_USAGE, "an array, must be an object with the field pwl_table");
    else
        read_table(&top, table, diag);
    json_decref(top.json);
    if (diag->code != EXIT_DONE)
        table_free(table);
    return diag->code;
}

int table_read(const char *path, struct table *table, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    memset(table, 0, sizeof *table);
    if (file_read(path, TABLE_MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    if (table_from_json((const char *)bytes, size, table, diag))
        diag_prefix(diag, strcmp(path, "-") == 0 ? "standard input" : path);
    free(bytes);
    return diag->code;
}
