/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the document. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"
#include "document.h"
#include "io/fields.h"

#define MAX_BYTES 65536
#define MAX_TEXT 128

static const struct fields_limits limits = {MAX_BYTES, 16, 128};

bool sfpu_number_parse(const char *text, uint32_t most, uint32_t *value)
{
    const bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *const digits = text + (is_hexadecimal ? 2 : 0);
    const size_t length = strlen(digits);
    if (length == 0 || length > 10 ||
        strspn(digits, is_hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") != length)
        return false;
    const unsigned long long number = strtoull(digits, NULL, is_hexadecimal ? 16 : 10);
    *value = (uint32_t)number;
    return number <= most;
}

static bool parse_end(const char *text, size_t length, double otherwise, double *end)
{
    *end = otherwise;
    return length == 0 || number_real(text, length, end) == NUMBER_OK;
}

bool sfpu_range_parse(const char *text, struct sfpu_demand *demand)
{
    const char *const colon = strchr(text, ':');
    return colon && parse_end(text, (size_t)(colon - text), -INFINITY, &demand->low) &&
           parse_end(colon + 1, strlen(colon + 1), INFINITY, &demand->high) && demand->low <= demand->high;
}

bool sfpu_words_take(const uint32_t *words, struct sfpu_table *table)
{
    const struct sfpu_layout *const layout = table->kernel.layout;
    const uint32_t mask = layout->bits == 8 ? 0xff : 0xffff;
    for (int k = 0; k < 3; k++) {
        if (layout->bits == 8 && words[k] >> 16)
            return false;
        if (layout->segments == 3) {
            table->pairs[k] =
                (struct sfpu_pair){(uint16_t)(words[k] >> layout->bits & mask), (uint16_t)(words[k] & mask)};
            continue;
        }
        table->pairs[2 * k] = (struct sfpu_pair){(uint16_t)words[k], (uint16_t)words[3 + k]};
        table->pairs[2 * k + 1] = (struct sfpu_pair){(uint16_t)(words[k] >> 16), (uint16_t)(words[3 + k] >> 16)};
    }
    return true;
}

/* A field that is one of "a|b|c", and its place among them. */
static int read_choice(const struct fields *top, const char *name, const char *choices, int *choice, struct diag *diag)
{
    const char *text, *list = choices;
    char word[MAX_TEXT];
    if (field_text(top, name, MAX_TEXT - 1, &text, diag) || choice_check(name, choices, text, diag))
        return diag->code;
    *choice = 0;
    for (const char *at = list; (at = strchr(at, '|')) != NULL; at++) {
        snprintf(word, sizeof word, "%.*s", (int)(at - list), list);
        if (strcmp(word, text) == 0)
            return EXIT_DONE;
        list = at + 1;
        ++*choice;
    }
    return EXIT_DONE;
}

static int read_function(const struct fields *top, struct function *function, struct diag *diag)
{
    const char *name, *names[FUNCTION_MAX_PARAMETERS + 1] = {NULL};
    struct fields object;
    if (field_text(top, "function", MAX_TEXT, &name, diag))
        return diag->code;
    if (function_init(function, name, diag))
        return diag_prefix(diag, "function");
    const struct parameter_info *const parameters = function->info->parameters;
    for (int k = 0; parameters[k].name; k++)
        names[k] = parameters[k].name;
    if (field_object(top, "parameters", &object, diag) || fields_known(&object, names, diag))
        return diag->code;
    for (int k = 0; parameters[k].name; k++)
        if (field_real(&object, parameters[k].name, parameters[k].min, parameters[k].max, &function->parameters[k],
                       diag))
            return diag->code;
    return EXIT_DONE;
}

static int read_kernel(const struct fields *top, struct sfpu_kernel *kernel, struct diag *diag)
{
    int layout, chip, sign, store;
    const char *add;
    if (read_choice(top, "layout", SFPU_LAYOUTS, &layout, diag) || read_choice(top, "chip", SFPU_CHIPS, &chip, diag) ||
        read_choice(top, "sign", SFPU_SIGNS, &sign, diag) || read_choice(top, "store", SFPU_STORES, &store, diag) ||
        field_text(top, "add", MAX_TEXT, &add, diag))
        return diag->code;
    *kernel = (struct sfpu_kernel){
        .layout = &sfpu_layouts[layout],
        .chip = (enum sfpu_chip)chip,
        .sign = (enum sfpu_sign)sign,
        .store = (enum sfpu_store)store,
    };
    return sfpu_add_parse(add, kernel) ? EXIT_DONE
                                       : field_refuse(top, "add", diag, "none, x/2 or a number that bf16 has");
}

static int read_demand(const struct fields *top, struct sfpu_demand *demand, struct diag *diag)
{
    int measure;
    const char *range;
    if (read_choice(top, "measure", SFPU_MEASURES, &measure, diag) ||
        field_text(top, "range", MAX_TEXT, &range, diag) || field_boolean(top, "keep_zero", &demand->keep_zero, diag) ||
        field_boolean(top, "keep_ends", &demand->keep_ends, diag))
        return diag->code;
    demand->measure = (enum sfpu_measure)measure;
    return sfpu_range_parse(range, demand) ? EXIT_DONE : field_refuse(top, "range", diag, "LO:HI, LO not above HI");
}

static int read_registers(const struct fields *top, struct sfpu_table *table, struct diag *diag)
{
    const int count = table->kernel.layout->words;
    const uint32_t most = table->kernel.layout->bits == 8 ? 0xffff : UINT32_MAX;
    uint32_t words[SFPU_MAX_WORDS] = {0};
    char names[SFPU_MAX_WORDS][8];
    const char *known[SFPU_MAX_WORDS + 1] = {NULL}, *text;
    struct fields object;
    for (int k = 0; k < count; k++) {
        snprintf(names[k], sizeof names[k], "LREG%d", sfpu_register(k));
        known[k] = names[k];
    }
    if (field_object(top, "registers", &object, diag) || fields_known(&object, known, diag))
        return diag->code;
    for (int k = 0; k < count; k++) {
        if (field_text(&object, names[k], MAX_TEXT, &text, diag))
            return diag->code;
        if (!sfpu_number_parse(text, most, &words[k]))
            return field_refuse(&object, names[k], diag, "a number from 0 to 0x%x", most);
    }
    sfpu_words_take(words, table);
    return EXIT_DONE;
}

static int read_error(const struct fields *object, const char *unit, struct sfpu_error *error, struct diag *diag)
{
    char max[16], at[16], mean[16];
    int64_t code;
    snprintf(max, sizeof max, "max_%s", unit);
    snprintf(at, sizeof at, "max_%s_at", unit);
    snprintf(mean, sizeof mean, "mean_%s", unit);
    if (field_real(object, max, 0, DBL_MAX, &error->largest, diag) ||
        field_integer(object, at, 0, SFPU_CODES - 1, &code, diag) ||
        field_real(object, mean, 0, DBL_MAX, &error->mean, diag))
        return diag->code;
    error->at = (uint16_t)code;
    return EXIT_DONE;
}

static int read_certificate(const struct fields *top, struct sfpu_document *of, struct diag *diag)
{
    static const char *const known[] = {"codes",    "max_ulp",  "max_ulp_at", "mean_ulp",   "max_abs", "max_abs_at",
                                        "mean_abs", "monotone", "optimal",    "least_mean", NULL};
    struct sfpu_errors *const errors = &of->errors;
    struct fields object;
    int64_t codes;
    if (json_read_standing(top, &of->standing, diag) || of->standing == CERTIFICATE_ABSENT)
        return diag->code;
    if (field_object(top, "certificate", &object, diag) || fields_known(&object, known, diag) ||
        field_integer(&object, "codes", 1, SFPU_CODES, &codes, diag) ||
        read_error(&object, "ulp", &errors->ulp, diag) || read_error(&object, "abs", &errors->abs, diag) ||
        field_boolean(&object, "monotone", &errors->monotone, diag) ||
        field_boolean(&object, "optimal", &of->is_optimal, diag) ||
        field_boolean(&object, "least_mean", &of->is_least_mean, diag))
        return diag->code;
    errors->codes = (int)codes;
    return EXIT_DONE;
}

static int read_document(const struct fields *top, struct sfpu_document *of, struct diag *diag)
{
    static const char *const known[] = {"pwl_sfpu",  "function",  "parameters",  "layout", "chip", "sign",
                                        "add",       "store",     "measure",     "range",  "hash", "keep_zero",
                                        "keep_ends", "registers", "certificate", NULL};
    int64_t version;
    if (field_integer(top, "pwl_sfpu", 1, INT64_MAX, &version, diag))
        return diag->code;
    if (version != 1)
        return field_refuse(top, "pwl_sfpu", diag, "1, the version that this pwlc reads");
    return fields_known(top, known, diag) || read_function(top, &of->function, diag) ||
           read_kernel(top, &of->table.kernel, diag) || read_demand(top, &of->demand, diag) ||
           read_registers(top, &of->table, diag) || read_certificate(top, of, diag);
}

int sfpu_document_parse(const char *bytes, size_t size, struct sfpu_document *of, struct diag *diag)
{
    struct fields top = {0};
    *of = (struct sfpu_document){0};
    if (fields_parse(bytes, size, &limits, &top.json, diag))
        return diag->code;
    if (!json_is_object(top.json))
        diag_set(diag, EXIT_USAGE, "must be a JSON object with \"pwl_sfpu\"");
    else
        read_document(&top, of, diag);
    json_decref(top.json);
    return diag->code;
}

int sfpu_document_read(const char *path, struct sfpu_document *of, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    if (file_read(path, MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    sfpu_document_parse((const char *)bytes, size, of, diag);
    free(bytes);
    return diag->code == EXIT_DONE ? EXIT_DONE : diag_prefix(diag, path);
}
