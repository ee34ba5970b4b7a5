/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights as text: what is accepted has the properties of fuzz_weights.h, and reads back the same when written out. */
#include "fuzz.h"
#include "fuzz_weights.h"

#include "base/file.h"

static void require_round_trip(const struct weights *weights)
{
    struct text csv = {0};
    for (size_t k = 0; k < weights->count; k++) {
        if (weights->code)
            text_add(&csv, "%lld,", (long long)weights->code[k]);
        text_add(&csv, "%.17g\n", weights->value[k]);
    }
    REQUIRE(!csv.failed);
    struct weights *again = NULL;
    struct diag diag = {0};
    REQUIRE(weights_parse(csv.bytes, csv.size, 0, MOST_WEIGHTS, &again, &diag) == EXIT_DONE);
    REQUIRE(again->count == weights->count && (again->code != NULL) == (weights->code != NULL));
    for (size_t k = 0; k < weights->count; k++) {
        REQUIRE(again->value[k] == weights->value[k]);
        REQUIRE(weights->code == NULL || again->code[k] == weights->code[k]);
    }
    weights_free(again);
    text_free(&csv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weights *weights = NULL;
    struct diag diag = {0};
    const int code = weights_parse(data, size, 0, MOST_WEIGHTS, &weights, &diag);
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
        return 0;
    }
    weights_require(weights);
    require_round_trip(weights);
    weights_free(weights);
    return 0;
}
