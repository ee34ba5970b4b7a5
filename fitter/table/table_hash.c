/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a certificate belongs to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "json_parts.h"

static bool is_real(const char *name)
{
    static const char *const names[] = {"parameters", "eps", "gamma", "beta", "certificate"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found |= strcmp(name, names[i]) == 0;
    return found;
}

/* A copy that is spelled in one way: JSON writers have many for a real number, which counts as the bits of its double.
 * Null when memory is short. */
static json_t *spelled(json_t *value, bool has_reals)
{
    char hex[17];
    uint64_t bits;
    size_t i;
    const char *name;
    json_t *part, *made;
    bool complete = true;
    if (json_is_array(value)) {
        made = json_array();
        json_array_foreach(value, i, part) complete &= json_array_append_new(made, spelled(part, has_reals)) == 0;
    } else if (json_is_object(value)) {
        made = json_object();
        json_object_foreach(value, name, part) complete &=
            json_object_set_new(made, name, spelled(part, has_reals || is_real(name))) == 0;
    } else if (json_is_number(value) && has_reals) {
        const double real = json_number_value(value);
        memcpy(&bits, &real, sizeof bits);
        snprintf(hex, sizeof hex, "%016" PRIx64, bits);
        made = json_string(hex);
    } else
        made = json_incref(value);
    if (!complete)
        json_decref(made);
    return complete ? made : NULL;
}

/* False when memory is short. */
static bool find_hash(json_t *root, char hex[SHA256_LENGTH + 1])
{
    json_t *fields = spelled(root, false);
    json_object_del(fields, "hash");
    char *text = fields ? json_dumps(fields, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII) : NULL;
    if (text)
        sha256_hex(text, strlen(text), hex);
    free(text);
    json_decref(fields);
    return text != NULL;
}

void json_add_certified(struct text *out, const struct text *claims)
{
    char hex[SHA256_LENGTH + 1];
    struct text whole = {0};
    text_add(&whole, "%s,\n%s}", out->bytes ? out->bytes : "", claims->bytes ? claims->bytes : "");
    json_t *root = claims->failed || whole.failed ? NULL : json_loads(whole.bytes, 0, NULL);
    out->failed = out->failed || !root || !find_hash(root, hex);
    if (!out->failed)
        text_add(out, ",\n  \"hash\": \"%s\",\n%s", hex, claims->bytes);
    json_decref(root);
    text_free(&whole);
}

int json_read_standing(const struct fields *top, enum standing *standing, struct diag *diag)
{
    char says[SHA256_LENGTH + 1], hash[SHA256_LENGTH + 1];
    if (json_read_sha256(top, "hash", says, diag))
        return diag->code;
    if (!field_present(top, "certificate"))
        return says[0] ? field_refuse(top, "hash", diag, "left out without a certificate") : EXIT_DONE;
    if (!find_hash(top->json, hash))
        return diag_set(diag, EXIT_IO, "out of memory for the hash");
    *standing = strcmp(says, hash) == 0 ? CERTIFICATE_OWN : CERTIFICATE_OTHER;
    return EXIT_DONE;
}
