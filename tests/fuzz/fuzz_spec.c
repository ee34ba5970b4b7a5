/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batch specs: the canonical flags of an accepted job, given as flags, mean the same job. */
#include "fuzz.h"
#include "fuzz_spec.h"

#include "function/model_type.h"

/* Whether anything that stands between two quotes is a tensor of a model. */
static int names_models(const uint8_t *data, size_t size)
{
    int found = 0;
    char *const text = malloc(size + 1);
    REQUIRE(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    char *rest = NULL;
    for (char *word = strtok_r(text, "\"", &rest); word != NULL && !found; word = strtok_r(NULL, "\"", &rest))
        found = model_type_is_meant(word);
    free(text);
    return found;
}

/* A job may name files of sample points, of data, of weights or of models: what is fuzzed must not read files.
 * Expressions, which have blanks and quotes, have a target of their own. */
static int names_others(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {"samples", "calibrate", "weights", "expr"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const size_t length = strlen(keys[k]);
        for (size_t i = 0; i + length <= size; i++)
            if (memcmp(data + i, keys[k], length) == 0)
                return 1;
    }
    return memchr(data, '\\', size) != NULL || names_models(data, size); /* an escape could spell one */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || names_others(data, size))
        return 0;
    struct job *jobs = NULL;
    int count = 0;
    struct diag diag = {0};
    const int code = spec_list_parse((const char *)data, size, NULL, &jobs, &count, &diag);
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
        REQUIRE(jobs == NULL && count == 0);
        return 0;
    }
    REQUIRE(count >= 1 && count <= SPEC_MAX_JOBS);
    for (int i = 0; i < count; i++)
        spec_require_round_trip(&jobs[i].spec);
    spec_list_free(jobs, count);
    return 0;
}
