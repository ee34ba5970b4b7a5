/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fields.h"

#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

/* Messages are one line of plain text, whatever the file holds. */
static void copy_printable(char *to, size_t size, const char *from)
{
    size_t i = 0;
    for (; from[i] && i + 1 < size; i++)
        to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
    to[i] = '\0';
    if (from[i] && size > 4)
        memcpy(to + size - 4, "...", 4);
}

static void describe(const json_t *value, char *text, size_t size)
{
    char string[48];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        snprintf(text, size, "an object");
        break;
    case JSON_ARRAY:
        snprintf(text, size, "an array of %zu elements", json_array_size(value));
        break;
    case JSON_STRING:
        copy_printable(string, sizeof string, json_string_value(value));
        snprintf(text, size, "\"%s\"", string);
        break;
    case JSON_INTEGER:
        snprintf(text, size, "%lld", (long long)json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(text, size, "the real number %.9g", json_real_value(value));
        break;
    default:
        snprintf(text, size, "%s", json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
        break;
    }
}

static const char *separator(const struct fields *fields)
{
    return fields->path[0] ? "." : "";
}

/* Counts what the parser would make of the bytes; what is no JSON is its to refuse. Each value follows a bracket, a
 * brace, a comma or, after its key, a colon. */
static int check_limits(const char *bytes, size_t size, const struct fields_limits *limits, struct diag *diag)
{
    size_t containers = 0, values = 0, line = 1;
    bool quoted = false;
    if (size > limits->bytes)
        return diag_set(diag, EXIT_USAGE, "%zu bytes, must be at most %zu", size, limits->bytes);
    if (size <= limits->containers && size <= limits->values) /* a byte makes one of each at most */
        return EXIT_DONE;
    for (size_t i = 0; i < size && containers <= limits->containers && values <= limits->values; i++) {
        const char c = bytes[i];
        line += c == '\n';
        if (c == '"')
            quoted = !quoted;
        else if (quoted && c == '\\')
            i++;
        else if (!quoted && (c == '{' || c == '['))
            containers++, values++;
        else if (!quoted && c == ',')
            values++;
    }
    if (containers > limits->containers)
        return diag_set(diag, EXIT_USAGE, "line %zu: more than %zu objects and lists, must be fewer", line,
                        limits->containers);
    if (values > limits->values)
        return diag_set(diag, EXIT_USAGE, "line %zu: more than %zu values, must be fewer", line, limits->values);
    return EXIT_DONE;
}

/* What programs that write a file for another system, or do not end, leave of it. */
static int check_beginning(const char *bytes, size_t size, struct diag *diag)
{
    static const char *const marks[] = {"\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF"}; /* of UTF-8 and UTF-16 */
    if (size == 0)
        return diag_set(diag, EXIT_USAGE, "is empty; must be JSON");
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (size >= strlen(marks[k]) && memcmp(bytes, marks[k], strlen(marks[k])) == 0)
            return diag_set(diag, EXIT_USAGE, "begins with a byte order mark; save it as UTF-8 without one");
    return EXIT_DONE;
}

int fields_parse(const char *bytes, size_t size, const struct fields_limits *limits, json_t **root, struct diag *diag)
{
    json_error_t error;
    char reason[JSON_ERROR_TEXT_LENGTH];
    *root = NULL;
    if (check_limits(bytes, size, limits, diag) != EXIT_DONE || check_beginning(bytes, size, diag) != EXIT_DONE)
        return diag->code;
    *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (*root)
        return EXIT_DONE;
    if (json_error_code(&error) == json_error_out_of_memory)
        return diag_set(diag, EXIT_IO, "out of memory for %zu bytes of JSON", size);
    copy_printable(reason, sizeof reason, error.text);
    return diag_set(diag, EXIT_USAGE, "line %d, column %d: not valid JSON: %s", error.line, error.column, reason);
}

int fields_known(const struct fields *fields, const char *const *known, struct diag *diag)
{
    const char *name;
    json_t *value;
    json_object_foreach(fields->json, name, value)
    {
        const char *const *match = known;
        while (*match && strcmp(*match, name) != 0)
            match++;
        if (!*match) {
            char text[48], meant[SUGGESTION_SIZE];
            copy_printable(text, sizeof text, name);
            return diag_set(diag, EXIT_USAGE, "%s%s%s: unknown field, must be left out%s", fields->path,
                            separator(fields), text, suggestion(text, known, "", meant));
        }
    }
    return EXIT_DONE;
}

bool field_present(const struct fields *fields, const char *name)
{
    return json_object_get(fields->json, name) != NULL;
}

int field_refuse(const struct fields *fields, const char *name, struct diag *diag, const char *format, ...)
{
    const json_t *const value = json_object_get(fields->json, name);
    char found[96] = "missing", wanted[256];
    va_list args;
    if (value)
        describe(value, found, sizeof found);
    va_start(args, format);
    vsnprintf(wanted, sizeof wanted, format, args);
    va_end(args);
    return diag_set(diag, EXIT_USAGE, "%s%s%s: %s, must be %s", fields->path, separator(fields), name, found, wanted);
}

int field_integer(const struct fields *fields, const char *name, int64_t min, int64_t max, int64_t *value,
                  struct diag *diag)
{
    const json_t *const json = json_object_get(fields->json, name);
    if (json_is_integer(json)) {
        *value = json_integer_value(json);
        if (*value >= min && *value <= max)
            return EXIT_DONE;
    }
    return field_refuse(fields, name, diag, "an integer in %" PRId64 "..%" PRId64, min, max);
}

int field_real(const struct fields *fields, const char *name, double min, double max, double *value, struct diag *diag)
{
    const json_t *const json = json_object_get(fields->json, name);
    if (json_is_number(json)) {
        *value = json_number_value(json);
        if (*value >= min && *value <= max)
            return EXIT_DONE;
    }
    if (max >= DBL_MAX)
        return field_refuse(fields, name, diag, "a number of at least %g", min);
    return field_refuse(fields, name, diag, "a number in %g..%g", min, max);
}

int field_boolean(const struct fields *fields, const char *name, bool *value, struct diag *diag)
{
    const json_t *const json = json_object_get(fields->json, name);
    if (!json_is_boolean(json))
        return field_refuse(fields, name, diag, "true or false");
    *value = json_is_true(json);
    return EXIT_DONE;
}

int field_text(const struct fields *fields, const char *name, size_t max_length, const char **value, struct diag *diag)
{
    const json_t *const json = json_object_get(fields->json, name);
    if (json_is_string(json)) {
        const char *const text = json_string_value(json);
        size_t length = 0;
        while (text[length] >= ' ' && text[length] <= '~')
            length++;
        *value = text;
        if (!text[length] && length <= max_length)
            return EXIT_DONE;
    }
    return field_refuse(fields, name, diag, "a string of at most %zu printable ASCII characters", max_length);
}

int field_object(const struct fields *fields, const char *name, struct fields *object, struct diag *diag)
{
    object->json = json_object_get(fields->json, name);
    if (!json_is_object(object->json))
        return field_refuse(fields, name, diag, "an object");
    snprintf(object->path, sizeof object->path, "%.60s%s%.30s", fields->path, separator(fields), name);
    return EXIT_DONE;
}

int field_array(const struct fields *fields, const char *name, size_t max_count, json_t **array, struct diag *diag)
{
    *array = json_object_get(fields->json, name);
    if (!json_is_array(*array) || json_array_size(*array) < 1 || json_array_size(*array) > max_count)
        return field_refuse(fields, name, diag, "an array of 1 to %zu elements", max_count);
    return EXIT_DONE;
}

int field_element(const struct fields *fields, const char *name, const json_t *array, size_t index,
                  struct fields *object, struct diag *diag)
{
    char found[96];
    snprintf(object->path, sizeof object->path, "%.40s%s%.30s[%zu]", fields->path, separator(fields), name, index);
    object->json = json_array_get(array, index);
    if (json_is_object(object->json))
        return EXIT_DONE;
    describe(object->json, found, sizeof found);
    return diag_set(diag, EXIT_USAGE, "%s: %s, must be an object", object->path, found);
}
