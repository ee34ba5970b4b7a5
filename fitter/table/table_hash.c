/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a certificate belongs to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "table.h"

/* JSON writers spell a real number in many ways, so that it counts as the bits of its double. */
static json_t *with_bits(json_t *value)
{
    char hex[17];
    uint64_t bits;
    if (!json_is_number(value))
        return json_incref(value);
    const double real = json_number_value(value);
    memcpy(&bits, &real, sizeof bits);
    snprintf(hex, sizeof hex, "%016" PRIx64, bits);
    return json_string(hex);
}

static json_t *all_with_bits(json_t *object)
{
    const char *name;
    json_t *value, *result = json_object();
    json_object_foreach(object, name, value) if (json_object_set_new(result, name, with_bits(value)) != 0)
    {
        json_decref(result);
        return NULL;
    }
    return result;
}

/* The fields that a hash covers: all but itself. */
static json_t *hashed(json_t *root)
{
    static const char *const of_reals[] = {"parameters", "certificate"};
    json_t *fields = json_copy(root);
    json_object_del(fields, "hash");
    for (size_t i = 0; fields && i < sizeof of_reals / sizeof *of_reals; i++) {
        json_t *object = json_object_get(root, of_reals[i]);
        if (json_is_object(object) && json_object_set_new(fields, of_reals[i], all_with_bits(object)) != 0) {
            json_decref(fields);
            fields = NULL;
        }
    }
    return fields;
}

bool table_hash(json_t *root, char hex[65])
{
    json_t *fields = hashed(root);
    char *text = fields ? json_dumps(fields, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII) : NULL;
    if (text)
        sha256_hex(text, strlen(text), hex);
    free(text);
    json_decref(fields);
    return text != NULL;
}
