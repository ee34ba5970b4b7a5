/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batch specs: the canonical flags of an accepted job, given as flags, mean the same job. */
#include "fuzz.h"

#include <string.h>

#include "spec/spec.h"

/* Gives "FUNCTION --flag value ... --switch" to spec_set word by word. */
static void set_flags(struct spec *spec, char *flags)
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

static void require_round_trip(const struct spec *spec)
{
    struct spec again;
    char *flags = spec_canonical(spec), *words = flags == NULL ? NULL : strdup(flags);
    REQUIRE(words != NULL);
    spec_init(&again);
    set_flags(&again, words);
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

/* A job may name files of sample points, of data or of weights: what is fuzzed must not read files. Expressions, which have blanks
 * and quotes, have a target of their own. */
static int names_others(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {"samples", "calibrate", "weights", "expr"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const size_t length = strlen(keys[k]);
        for (size_t i = 0; i + length <= size; i++)
            if (memcmp(data + i, keys[k], length) == 0)
                return 1;
    }
    return memchr(data, '\\', size) != NULL; /* an escape could spell one */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || names_others(data, size))
        return 0;
    struct job *jobs = NULL;
    int count = 0;
    struct diag diag = {0};
    const int code = spec_list_parse((const char *)data, size, &jobs, &count, &diag);
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
        REQUIRE(jobs == NULL && count == 0);
        return 0;
    }
    REQUIRE(count >= 1 && count <= SPEC_MAX_JOBS);
    for (int i = 0; i < count; i++)
        require_round_trip(&jobs[i].spec);
    spec_list_free(jobs, count);
    return 0;
}
