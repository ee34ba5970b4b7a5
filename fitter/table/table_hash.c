/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a certificate belongs to. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "table.h"

/* All that the outputs and the function depend on and that is spelled in one way: parameters are real numbers. */
static const char *const hashed_fields[] = {
    "function", "expression", "samples_sha256", "weights_sha256", "form",    "rounding",
    "in",       "out",        "fold",           "reduction",      "outside", "segments"};

bool table_hash(const json_t *root, char hex[65])
{
    json_t *fields = json_object();
    bool complete = fields != NULL;
    for (size_t i = 0; i < sizeof hashed_fields / sizeof *hashed_fields; i++) {
        json_t *value = json_object_get(root, hashed_fields[i]);
        complete = complete && (!value || json_object_set(fields, hashed_fields[i], value) == 0);
    }
    char *text = complete ? json_dumps(fields, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII) : NULL;
    if (text)
        sha256_hex(text, strlen(text), hex);
    free(text);
    json_decref(fields);
    return text != NULL;
}
