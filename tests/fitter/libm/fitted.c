/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pwlc fit of the flags in each line of standard input, built from the sources of the fitter for a C library or a
 * processor that has none of the fitter's libraries: writes the table's JSON without its hash, or what is wrong with
 * it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "spec/spec.h"
#include "table/json_parts.h"
#include "table/table.h"

#define LINE_SIZE 1024

/* In place of table/table_hash.c: a hash follows from the rest of the text. */
void json_add_certified(struct text *out, const struct text *claims)
{
    text_add(out, ",\n%s", claims->bytes);
}

/* What fits of built-in functions never call: it reads files, or knows what others' formats hold. */
#define ABSENT(name)                                                                                                   \
    void name(void);                                                                                                   \
    void name(void)                                                                                                    \
    {                                                                                                                  \
        abort();                                                                                                       \
    }
/* clang-format off */
ABSENT(csv_count_columns) ABSENT(csv_read) ABSENT(inputs_know) ABSENT(model_find) ABSENT(model_free) ABSENT(model_read)
ABSENT(npy_parse) ABSENT(npy_real) ABSENT(npy_recognise) ABSENT(profile_find)
ABSENT(sha256_digest) ABSENT(sha256_init) ABSENT(sha256_update)
    /* clang-format on */

    /* "FUNCTION --flag value --flag=value" */
    static int read_flags(char *line, struct spec *spec, struct diag *diag)
{
    char *rest = NULL;
    for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        const bool is_flag = !strncmp(word, "--", 2);
        char *equals = is_flag ? strchr(word, '=') : NULL, *value = word;
        if (equals) {
            *equals = '\0';
            value = equals + 1;
        } else if (is_flag)
            value = strtok_r(NULL, " \n", &rest);
        if (spec_set(spec, is_flag ? word : "FUNCTION", value, diag))
            return diag->code;
    }
    return spec_resolve(spec, diag);
}

static void write_table(char *line)
{
    struct spec spec;
    struct table table;
    struct diag diag = {EXIT_DONE, ""};
    char *text = NULL;
    spec_init(&spec);
    if (read_flags(line, &spec, &diag) || fit(&spec, &table, &diag))
        printf("exit %d: %s\n", diag.code, diag.text);
    else {
        printf("%s", table_to_json(&table, &text, &diag) ? diag.text : text);
        table_free(&table);
    }
    free(text);
    spec_free(&spec);
}

int main(void)
{
    char line[LINE_SIZE];
    while (fgets(line, sizeof line, stdin))
        write_table(line);
    return ferror(stdin) || fflush(stdout) ? 1 : 0;
}
