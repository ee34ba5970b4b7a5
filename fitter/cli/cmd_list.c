/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/suggest.h"
#include "command.h"
#include "emit/emit.h"
#include "io/columns.h"
#include "profile/profile.h"
#include "spec/spec.h"

static const struct option_info options[] = {
    {"--format", "md|json", "aligned Markdown tables (default) or JSON"},
    {NULL, NULL, NULL},
};

enum section {
    SECTION_FUNCTIONS = 1,
    SECTION_FORMATS = 2,
    SECTION_METHODS = 4,
    SECTION_PROFILES = 8,
    SECTION_ALL = 15
};

static const char *const section_names[] = {"functions", "formats", "methods", "profiles", NULL};

struct named_text {
    const char *name, *text;
};

static const struct named_text tensor_types[] = {
    {"u16:2^-12:24576", "unsigned 16 bits, scale 2^-12, zero point 24576; real = scale * (q - zero point)"},
    {"s8:0.0472:-3", "signed 8 bits, any positive scale, zero point -3; widths are 2 to 32"},
    {"s16:2^-8", "zero point 0"},
    {"s8", "of fit: scale and zero point are found from --range, --calibrate or the function"},
    {"s16:auto:0", "of fit: the zero point is 0, the scale is found in the same way"},
    {"i8, int8:2^-5, uint8", "the same as s8, s8:2^-5, u8"},
    {"q3.12", "short for s16:2^-12:0: sign, 3 integer and 12 fraction bits; q4.12, 17 bits here, is refused"},
    {"uq0.16", "short for u16:2^-16:0: 0 integer and 16 fraction bits"},
    {NULL, NULL},
};

#define FORM_TEXT(name, offset, text) {name, text},
#define ROUNDING_TEXT(name, text) {name, text},
static const struct named_text forms[] = {FORMS(FORM_TEXT){NULL, NULL}};
static const struct named_text roundings[] = {ROUNDINGS(ROUNDING_TEXT){NULL, NULL}};

static const pwl_storage storages[] = {PWL_INT8, PWL_INT16, PWL_INT32};
static const pwl_form storage_forms[] = {PWL_ABSOLUTE, PWL_BIASED, PWL_ANCHORED};

#define STORAGE_COUNT (sizeof storages / sizeof *storages)
#define FORM_COUNT (sizeof storage_forms / sizeof *storage_forms)

static const char *symmetry_text(enum symmetry symmetry)
{
    switch (symmetry) {
    case SYMMETRY_ODD:
        return "odd";
    case SYMMETRY_EVEN:
        return "even";
    case SYMMETRY_COMPLEMENT:
        return "f(-x) = 1 - f(x)";
    case SYMMETRY_NONE:
        break;
    }
    return "none";
}

static void domain_text(const struct function_info *info, char *text, size_t size)
{
    const struct function function = {.info = info};
    function_domain_text(&function, text, size);
}

static void parameters_text(const struct function_info *info, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const struct parameter_info *p = info->parameters; p->name && used < size; p++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%g in [%g, %g]", used ? ", " : "", p->name, p->initial,
                                 p->min, p->max);
}

static void aliases_text(const struct function_info *info, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; info->aliases[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", info->aliases[i]);
}

static bool print_functions(void)
{
    static const char *const titles[] = {"function", "formula",    "domain",      "symmetry", "at min",
                                         "at max",   "parameters", "also called", NULL};
    struct columns columns;
    columns_start(&columns, titles);
    for (const struct function_info *info = function_table; info->name; info++) {
        char domain[80], parameters[160], aliases[160];
        domain_text(info, domain, sizeof domain);
        parameters_text(info, parameters, sizeof parameters);
        aliases_text(info, aliases, sizeof aliases);
        columns_cell(&columns, "%s", info->name);
        columns_cell(&columns, "%s", info->formula);
        columns_cell(&columns, "%s", domain);
        columns_cell(&columns, "%s", symmetry_text(info->symmetry));
        columns_cell(&columns, "%s", info->limit_min);
        columns_cell(&columns, "%s", info->limit_max);
        columns_cell(&columns, "%s", parameters);
        columns_cell(&columns, "%s", aliases);
    }
    return columns_print(&columns);
}

static bool print_named(const char *title, const char *text_title, const struct named_text *rows)
{
    const char *const titles[] = {title, text_title, NULL};
    struct columns columns;
    columns_start(&columns, titles);
    for (; rows->name; rows++) {
        columns_cell(&columns, "%s", rows->name);
        columns_cell(&columns, "%s", rows->text);
    }
    return columns_print(&columns);
}

static bool print_storages(void)
{
    static const char *const titles[] = {"case",       ">start, q_b bits", ">term_c, y bits",
                                         ">bias bits", ">accumulator",     ">bytes a segment, absolute",
                                         ">biased",    ">anchored",        NULL};
    struct columns columns;
    columns_start(&columns, titles);
    for (size_t i = 0; i < STORAGE_COUNT; i++) {
        columns_cell(&columns, "%s", storage_name(storages[i]));
        columns_cell(&columns, "%d", storage_bits(storages[i]));
        columns_cell(&columns, "%d", offset_bits(storages[i], PWL_ABSOLUTE));
        columns_cell(&columns, "%d", offset_bits(storages[i], PWL_BIASED));
        columns_cell(&columns, "%d", accumulator_bits(storages[i]));
        for (size_t j = 0; j < FORM_COUNT; j++)
            columns_cell(&columns, "%d", packed_segment_bytes(storages[i], storage_forms[j]));
    }
    return columns_print(&columns);
}

static bool print_emitters(void)
{
    static const char *const titles[] = {"emit --format", "writes", NULL};
    struct columns columns;
    columns_start(&columns, titles);
    for (const struct emitter *emitter = emitters; emitter->name; emitter++) {
        columns_cell(&columns, "%s", emitter->name);
        columns_cell(&columns, "%s", emitter->summary);
    }
    return columns_print(&columns);
}

static bool print_formats(void)
{
    bool done = print_named("tensor type", "meaning", tensor_types);
    printf("\n");
    done = print_named("form", "value of a code", forms) && done;
    printf("\n");
    done = print_named("rounding", "of the right shift", roundings) && done;
    printf("\n");
    done = print_storages() && done;
    printf("\n");
    return print_emitters() && done;
}

static bool print_methods(void)
{
    static const char *const titles[] = {"method", "meaning", NULL};
    struct columns columns;
    columns_start(&columns, titles);
    for (int i = 0; i < METHOD_COUNT; i++) {
        columns_cell(&columns, "%s", method_name((enum method)i));
        columns_cell(&columns, "%s", method_summary((enum method)i));
    }
    return columns_print(&columns);
}

static void notations_text(const struct profile *profile, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; profile->notations[k] && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", k ? ", " : "", profile->notations[k]->name);
}

static bool print_profiles(void)
{
    static const char *const titles[] = {"profile", "read by", "holds", "written as", "fit is asked for", NULL};
    struct columns columns;
    columns_start(&columns, titles);
    for (int i = 0; profiles[i]; i++) {
        char notations[80];
        notations_text(profiles[i], notations, sizeof notations);
        columns_cell(&columns, "%s", profiles[i]->name);
        columns_cell(&columns, "%s", profiles[i]->reader);
        columns_cell(&columns, "%s", profiles[i]->limits);
        columns_cell(&columns, "%s", notations);
        columns_cell(&columns, "%s", profiles[i]->flags);
    }
    return columns_print(&columns);
}

static bool print_markdown(unsigned sections)
{
    bool done = true;
    if (sections & SECTION_FUNCTIONS) {
        printf("Functions\n\n");
        done = print_functions();
    }
    if (sections & SECTION_FORMATS) {
        printf("%sFormats\n\n", sections & SECTION_FUNCTIONS ? "\n" : "");
        done = print_formats() && done;
    }
    if (sections & SECTION_METHODS) {
        printf("%sMethods\n\n", sections & SECTION_FORMATS ? "\n" : "");
        done = print_methods() && done;
    }
    if (sections & SECTION_PROFILES) {
        printf("%sProfiles\n\n", sections & SECTION_METHODS ? "\n" : "");
        done = print_profiles() && done;
    }
    return done;
}

/* JSON has no infinity: an end that is not bounded is null. */
static json_t *bound_json(double bound)
{
    return isfinite(bound) ? json_real(bound) : json_null();
}

static json_t *functions_json(void)
{
    json_t *array = json_array();
    for (const struct function_info *info = function_table; info->name; info++) {
        json_t *parameters = json_array();
        for (const struct parameter_info *p = info->parameters; p->name; p++)
            json_array_append_new(parameters, json_pack("{s:s, s:f, s:f, s:f}", "name", p->name, "initial", p->initial,
                                                        "min", p->min, "max", p->max));
        json_t *aliases = json_array();
        for (size_t i = 0; info->aliases[i]; i++)
            json_array_append_new(aliases, json_string(info->aliases[i]));
        char domain[80];
        domain_text(info, domain, sizeof domain);
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:o, s:o}", "name", info->name,
                                        "formula", info->formula, "domain", domain, "domain_min",
                                        bound_json(info->domain_min), "domain_max", bound_json(info->domain_max),
                                        "symmetry", symmetry_text(info->symmetry), "limit_min", info->limit_min,
                                        "limit_max", info->limit_max, "parameters", parameters, "aliases", aliases));
    }
    return array;
}

static json_t *pair_json(const char *name, const char *summary)
{
    return json_pack("{s:s, s:s}", "name", name, "summary", summary);
}

static json_t *named_json(const struct named_text *rows)
{
    json_t *array = json_array();
    for (; rows->name; rows++)
        json_array_append_new(array, pair_json(rows->name, rows->text));
    return array;
}

static json_t *storages_json(void)
{
    json_t *array = json_array();
    for (size_t i = 0; i < STORAGE_COUNT; i++) {
        json_t *bytes = json_object();
        for (size_t j = 0; j < FORM_COUNT; j++)
            json_object_set_new(bytes, form_name(storage_forms[j]),
                                json_integer(packed_segment_bytes(storages[i], storage_forms[j])));
        json_array_append_new(array, json_pack("{s:s, s:i, s:i, s:i, s:i, s:o}", "name", storage_name(storages[i]),
                                               "bits", storage_bits(storages[i]), "offset_bits",
                                               offset_bits(storages[i], PWL_ABSOLUTE), "bias_bits",
                                               offset_bits(storages[i], PWL_BIASED), "accumulator_bits",
                                               accumulator_bits(storages[i]), "segment_bytes", bytes));
    }
    return array;
}

static json_t *emitters_json(void)
{
    json_t *array = json_array();
    for (const struct emitter *emitter = emitters; emitter->name; emitter++)
        json_array_append_new(array, pair_json(emitter->name, emitter->summary));
    return array;
}

static json_t *methods_json(void)
{
    json_t *array = json_array();
    for (int i = 0; i < METHOD_COUNT; i++)
        json_array_append_new(array, pair_json(method_name((enum method)i), method_summary((enum method)i)));
    return array;
}

static json_t *profiles_json(void)
{
    json_t *array = json_array();
    for (int i = 0; profiles[i]; i++) {
        const struct profile *profile = profiles[i];
        json_t *notations = json_array();
        for (int k = 0; profile->notations[k]; k++)
            json_array_append_new(notations, pair_json(profile->notations[k]->name, profile->notations[k]->summary));
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", profile->name, "reader", profile->reader,
                                        "limits", profile->limits, "flags", profile->flags, "notations", notations));
    }
    return array;
}

static bool print_json(unsigned sections)
{
    json_t *root = json_object();
    if (sections & SECTION_FUNCTIONS)
        json_object_set_new(root, "functions", functions_json());
    if (sections & SECTION_FORMATS)
        json_object_set_new(root, "formats",
                            json_pack("{s:o, s:o, s:o, s:o, s:o}", "tensor_types", named_json(tensor_types), "forms",
                                      named_json(forms), "roundings", named_json(roundings), "cases", storages_json(),
                                      "emit", emitters_json()));
    if (sections & SECTION_METHODS)
        json_object_set_new(root, "methods", methods_json());
    if (sections & SECTION_PROFILES)
        json_object_set_new(root, "profiles", profiles_json());
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    if (text)
        printf("%s\n", text);
    json_decref(root);
    free(text);
    return text != NULL;
}

static int parse_section(const char *name, unsigned *sections, struct diag *diag)
{
    for (unsigned i = 0; section_names[i]; i++) {
        if (strcmp(section_names[i], name) == 0) {
            *sections |= 1u << i;
            return EXIT_DONE;
        }
    }
    char meant[SUGGESTION_SIZE];
    return diag_set(diag, EXIT_USAGE, "\"%s\" is not a section%s", name,
                    suggestion(name, section_names, "; the sections are functions, formats, methods, profiles", meant));
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_list, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value;
    unsigned sections = 0;
    bool json = false;
    int next;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (!option) {
            if (parse_section(value, &sections, diag) != EXIT_DONE)
                return diag->code;
        } else {
            json = strcmp(value, "json") == 0;
        }
    }
    if (next < 0)
        return diag->code;
    if (!sections)
        sections = SECTION_ALL;
    if (json ? print_json(sections) : print_markdown(sections))
        return EXIT_DONE;
    return diag_set(diag, EXIT_IO, "out of memory");
}

const struct command command_list = {
    .name = "list",
    .synopsis = "pwlc list [functions] [formats] [methods] [profiles] [--format md|json]",
    .summary = "Show the functions, formats, methods and profiles that can be asked for.",
    .example = "pwlc list functions",
    .options = options,
    .run = run,
};
