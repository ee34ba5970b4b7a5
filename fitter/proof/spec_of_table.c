/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the canonical flags of a table, whose values hold no blanks but that of --expr. */
#include <stdlib.h>
#include <string.h>

#include "proof.h"

/* Whether a spec is one of such tables: of the same types, form and rounding. */
static bool agrees(const struct spec *spec, const struct table *table)
{
    char asked[2][80], has[2][80];
    tensor_format(&spec->in, asked[0], sizeof asked[0]);
    tensor_format(&spec->out, asked[1], sizeof asked[1]);
    tensor_format(&table->in, has[0], sizeof has[0]);
    tensor_format(&table->out, has[1], sizeof has[1]);
    return !strcmp(function_name(&spec->function), table->function) && !strcmp(asked[0], has[0]) &&
           !strcmp(asked[1], has[1]) && spec->form == table->form && spec->rounding == table->rounding &&
           spec->fold == table->has_fold && spec->outside == table->outside;
}

/* Sets one flag, or the function. */
static int set_word(struct spec *spec, const char *word, char **rest, struct diag *diag)
{
    if (word[0] != '-')
        return spec_set(spec, "FUNCTION", word, diag);
    return spec_set_word(spec, word, rest, diag);
}

int proof_spec(const struct table *table, struct spec *spec, struct diag *diag)
{
    char *rest = NULL, *const words = strdup(table->spec);
    spec_init(spec);
    diag->code = EXIT_DONE;
    if (!words)
        return diag_set(diag, EXIT_IO, "out of memory");
    for (const char *word = strtok_r(words, " ", &rest); word && !diag->code; word = strtok_r(NULL, " ", &rest))
        set_word(spec, word, &rest, diag);
    free(words);
    if (!diag->code && !agrees(spec, table))
        diag_set(diag, EXIT_USAGE, "spec: these flags make no such table");
    if (diag->code)
        spec_free(spec);
    return diag->code;
}
