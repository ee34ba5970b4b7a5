/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "flags.h"
#include "io/fields.h"
#include "spec.h"

/* A job is three objects and lists at most, its parameters and what is fixed among them, and 64 values. */
static const struct fields_limits limits = {SPEC_MAX_BYTES, 3 * SPEC_MAX_JOBS + 1, 64 * SPEC_MAX_JOBS};

/* A value of the file as the text its flag would have; null for a switch that is on. */
static int value_text(const struct fields *job, const char *key, json_t *json, char *text, size_t size,
                      const char **value, struct diag *diag)
{
    *value = text;
    if (json_is_string(json))
        return field_text(job, key, size - 1, value, diag);
    if (json_is_integer(json)) {
        int64_t integer;
        if (field_integer(job, key, INT64_MIN, INT64_MAX, &integer, diag))
            return diag->code;
        snprintf(text, size, "%lld", (long long)integer);
        return EXIT_DONE;
    }
    if (json_is_real(json)) {
        char number[NUMBER_TEXT_SIZE];
        number_format(json_real_value(json), number);
        snprintf(text, size, "%s", number);
        return EXIT_DONE;
    }
    return field_refuse(job, key, diag, "a string or a number");
}

static int set_parameters(const struct fields *job, struct spec *spec, struct diag *diag)
{
    struct fields parameters;
    const char *name;
    json_t *json;
    if (!field_present(job, "param"))
        return EXIT_DONE;
    if (field_object(job, "param", &parameters, diag))
        return diag->code;
    json_object_foreach(parameters.json, name, json)
    {
        char text[NUMBER_TEXT_SIZE], assignment[96];
        const char *value;
        if (value_text(&parameters, name, json, text, sizeof text, &value, diag))
            return diag->code;
        snprintf(assignment, sizeof assignment, "%.40s=%s", name, value);
        if (spec_set(spec, "--param", assignment, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

/* "fix": one "X:Y" or a list of them. */
static int set_fixes(const struct fields *job, struct spec *spec, struct diag *diag)
{
    const json_t *json = json_object_get(job->json, "fix");
    const size_t count = json_is_array(json) ? json_array_size(json) : 1;
    for (size_t k = 0; k < count; k++) {
        const json_t *fix = json_is_array(json) ? json_array_get(json, k) : json;
        if (!json_is_string(fix))
            return field_refuse(job, "fix", diag, "a string \"X:Y\" or a list of them");
        if (spec_set(spec, "--fix", json_string_value(fix), diag))
            return diag_prefix(diag, job->path);
    }
    return EXIT_DONE;
}

#define KEY(key, name, argument, set, help) key,
#define FLAG(key, name, argument, set, help) {key, name, argument},
static const char *const known[] = {"name", "function", SPEC_FLAGS(KEY) NULL};
static const struct key {
    const char *key, *flag, *argument; /* no argument: a switch */
} keys[] = {{"function", "FUNCTION", "NAME"}, SPEC_FLAGS(FLAG)};

enum { KEY_COUNT = sizeof keys / sizeof *keys };

/* What a job says of one key, if anything. */
static int set_key(const struct fields *fields, const struct key *key, struct spec *spec, struct diag *diag)
{
    char text[4096];
    const char *value = NULL;
    json_t *json = json_object_get(fields->json, key->key);
    if (!json)
        return EXIT_DONE;
    if (!strcmp(key->key, "param"))
        return set_parameters(fields, spec, diag);
    if (!strcmp(key->key, "fix"))
        return set_fixes(fields, spec, diag);
    if (!key->argument) {
        bool on;
        if (field_boolean(fields, key->key, &on, diag) || !on)
            return diag->code;
    } else if (value_text(fields, key->key, json, text, sizeof text, &value, diag)) {
        return diag->code;
    }
    return spec_set(spec, key->flag, value, diag) ? diag_prefix(diag, fields->path) : EXIT_DONE;
}

/* A profile first, whose flags others take the place of; parameters last, which need their function. */
static int set_keys(const struct fields *fields, struct spec *spec, struct diag *diag)
{
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < KEY_COUNT; k++) {
            const int turn = !strcmp(keys[k].key, "profile") ? 0 : !strcmp(keys[k].key, "param") ? 2 : 1;
            if (turn == round && set_key(fields, &keys[k], spec, diag))
                return diag->code;
        }
    return EXIT_DONE;
}

/* "--in-b" as a key, "in_b". */
static void key_of_flag(const char *flag, char *key, size_t size)
{
    snprintf(key, size, "%s", flag + strspn(flag, "-"));
    for (char *c = key; *c; c++)
        if (*c == '-')
            *c = '_';
}

static int take_flag(const struct fields *fields, const char *key, const char *flag, struct job *job, struct diag *diag)
{
    char text[4096];
    const char *value;
    json_t *json = json_object_get(fields->json, key);
    if (!json)
        return EXIT_DONE;
    if (value_text(fields, key, json, text, sizeof text, &value, diag))
        return diag->code;
    struct given *const given = &job->given[job->given_count++];
    given->flag = flag;
    given->value = strdup(value);
    return given->value ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory for the jobs");
}

/* The flags of a job whose function is not a table's, as they stand: whether they go together is for others to tell. */
static int parse_other(const struct fields *fields, const struct other_jobs *others, struct job *job, struct diag *diag)
{
    enum { MOST = 32, KEY_SIZE = 32 };
    char keys_of_flags[MOST][KEY_SIZE];
    const char *names[MOST + 3] = {"name", "function"};
    int count = 0;
    for (; others->flags[count] && count < MOST; count++) {
        key_of_flag(others->flags[count], keys_of_flags[count], KEY_SIZE);
        names[count + 2] = keys_of_flags[count];
    }
    job->given = calloc((size_t)count + 1, sizeof *job->given);
    if (!job->given)
        return diag_set(diag, EXIT_IO, "out of memory for the jobs");
    if (fields_known(fields, names, diag) || take_flag(fields, "function", "FUNCTION", job, diag))
        return diag->code;
    for (int k = 0; k < count; k++)
        if (take_flag(fields, keys_of_flags[k], others->flags[k], job, diag))
            return diag->code;
    return EXIT_DONE;
}

static bool is_other(const struct fields *fields, const struct other_jobs *others)
{
    const json_t *const function = json_object_get(fields->json, "function");
    return others && json_is_string(function) && others->is_named(json_string_value(function));
}

static int parse_job(const struct fields *fields, const struct other_jobs *others, struct job *job, struct diag *diag)
{
    const bool is_table = !is_other(fields, others);
    const char *name;
    spec_init(&job->spec);
    if ((is_table && fields_known(fields, known, diag)) ||
        field_text(fields, "name", sizeof job->name - 1, &name, diag))
        return diag->code;
    if (!*name || *name == '-' ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != strlen(name))
        return field_refuse(fields, "name", diag, "made of letters, digits, _ and -, not - first");
    snprintf(job->name, sizeof job->name, "%s", name);

    if (!is_table)
        return parse_other(fields, others, job, diag);
    if (set_keys(fields, &job->spec, diag))
        return diag->code;
    if (spec_resolve(&job->spec, diag) || spec_check(&job->spec, diag))
        return diag_prefix(diag, fields->path);
    return EXIT_DONE;
}

int spec_list_parse(const char *bytes, size_t size, const struct other_jobs *others, struct job **jobs, int *count,
                    struct diag *diag)
{
    json_t *root;
    *jobs = NULL;
    *count = 0;
    if (fields_parse(bytes, size, &limits, &root, diag))
        return diag->code;
    diag->code = EXIT_DONE;
    const size_t length = json_array_size(root);
    if (!json_is_array(root) || length == 0 || length > SPEC_MAX_JOBS) {
        diag_set(diag, EXIT_USAGE, "must be a JSON list of 1 to %d jobs", SPEC_MAX_JOBS);
        goto done;
    }
    *jobs = calloc(length, sizeof **jobs);
    if (!*jobs) {
        diag_set(diag, EXIT_IO, "out of memory for %zu jobs", length);
        goto done;
    }
    const struct fields whole = {.json = root};
    for (size_t k = 0; k < length && !diag->code; k++) {
        struct fields fields;
        if (field_element(&whole, "", root, k, &fields, diag))
            break;
        *count = (int)k + 1;
        if (parse_job(&fields, others, &(*jobs)[k], diag))
            break;
        for (size_t other = 0; other < k; other++)
            if (!strcmp((*jobs)[other].name, (*jobs)[k].name)) {
                field_refuse(&fields, "name", diag, "different from the names of the other jobs");
                break;
            }
    }
done:
    json_decref(root);
    if (diag->code) {
        spec_list_free(*jobs, *count);
        *jobs = NULL;
        *count = 0;
    }
    return diag->code;
}

void spec_list_free(struct job *jobs, int count)
{
    for (int k = 0; k < count; k++) {
        spec_free(&jobs[k].spec);
        for (int g = 0; g < jobs[k].given_count; g++)
            free((char *)jobs[k].given[g].value);
        free(jobs[k].given);
    }
    free(jobs);
}
