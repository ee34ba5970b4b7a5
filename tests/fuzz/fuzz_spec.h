/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of accepted specs, whether they came as flags or as jobs. */
#ifndef FUZZ_SPEC_H
#define FUZZ_SPEC_H

#include <string.h>

#include "fuzz.h"
#include "spec/spec.h"

/* Gives "FUNCTION --flag value ... --switch" to spec_set word by word. */
static inline void spec_set_flags(struct spec *spec, char *flags)
{
    struct diag diag = {0};
    char *rest = NULL, *word = strtok_r(flags, " ", &rest);
    REQUIRE(word != NULL && spec_set(spec, "FUNCTION", word, &diag) == EXIT_DONE);
    word = strtok_r(NULL, " ", &rest);
    while (word != NULL) {
        REQUIRE(spec_has_flag(word));
        char *value = strtok_r(NULL, " ", &rest), *next = value;
        if (value != NULL && strncmp(value, "--", 2) == 0)
            value = NULL;
        else if (value != NULL)
            next = strtok_r(NULL, " ", &rest);
        REQUIRE(spec_set(spec, word, value, &diag) == EXIT_DONE);
        word = next;
    }
    REQUIRE(spec_check(spec, &diag) == EXIT_DONE);
}

static inline void spec_require_round_trip(const struct spec *spec)
{
    struct spec again;
    char *flags = spec_canonical(spec), *words = flags == NULL ? NULL : strdup(flags);
    REQUIRE(words != NULL);
    spec_init(&again);
    spec_set_flags(&again, words);
    char *second = spec_canonical(&again);
    REQUIRE(second != NULL && strcmp(flags, second) == 0);
    REQUIRE(again.method == spec->method && again.form == spec->form && again.rounding == spec->rounding);
    REQUIRE(again.outside == spec->outside);
    REQUIRE(again.in.scale.value == spec->in.scale.value && again.in.zero_point == spec->in.zero_point);
    REQUIRE(again.out.scale.value == spec->out.scale.value && again.out.zero_point == spec->out.zero_point);
    free(second);
    free(words);
    free(flags);
    spec_free(&again);
}

#endif
