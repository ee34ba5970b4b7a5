/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operator JSON: an accepted operator is written back to bytes that read back the same, runs on any codes to codes
 * within its output's limits, of elements those of the formula of one,
 * and goes through the C emitter. */
#include "fuzz.h"

#include <string.h>

#include "emit/c/row_operator.h"
#include "operator/operator.h"

#define MOST_PLACES 4096 /* longer rows take long and tell no more */
#define CHANNELS 3       /* of weigh's values */

/* xorshift64: the codes depend on the input alone, so that a crash reproduces. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Codes from all of the type, or its ends alone. */
static void draw_codes(const struct tensor *tensor, void *array, uint32_t count, uint64_t *state)
{
    const int ends = random_next(state) % 2 != 0;
    const uint64_t span = (uint64_t)(tensor->qmax - tensor->qmin);
    for (uint32_t k = 0; k < count; k++) {
        const uint64_t drawn = random_next(state) >> 16;
        operator_set_code(tensor, array, k, tensor->qmin + (int64_t)(ends ? drawn % 2 * span : drawn % (span + 1)));
    }
}

static int64_t element_of(const struct packed_operator *packed, int64_t a, int64_t b)
{
    return packed->kind == OPERATOR_ADD ? pwl_add_element(&packed->add, a, b)
                                        : pwl_requantise_element(&packed->requantise, a);
}

/* What both readings make of the same rows. */
static void require_same_rows(const struct row_operator *of, const struct packed_operator *first,
                              const struct packed_operator *second, uint64_t seed)
{
    static uint32_t x[MOST_PLACES], b[MOST_PLACES * CHANNELS], y[MOST_PLACES], again[MOST_PLACES];
    const bool is_element = operator_is_element(of->kind), is_weigh = of->kind == OPERATOR_WEIGH;
    const bool is_shorter = operator_has_exp(of->kind) && of->length > MOST_PLACES;
    const uint32_t length = is_element ? 300 : is_shorter ? MOST_PLACES : of->length;
    uint64_t state = seed | 1;
    for (int row = 0; row < 4 && length <= MOST_PLACES; row++) {
        draw_codes(&of->in, x, length, &state);
        if (operator_has_in_b(of->kind))
            draw_codes(&of->in_b, b, length * (is_weigh ? CHANNELS : 1), &state);
        packed_operator_run(first, &(struct operator_row){x, b, y, length, CHANNELS});
        packed_operator_run(second, &(struct operator_row){x, b, again, length, CHANNELS});
        for (uint32_t k = 0; k < (is_weigh ? CHANNELS : length); k++) {
            const int64_t code = operator_code(&of->out, y, k);
            REQUIRE(code >= of->out.qmin && code <= of->out.qmax && code == operator_code(&of->out, again, k));
            if (is_element)
                REQUIRE(code == element_of(first, operator_code(&of->in, x, k),
                                           of->kind == OPERATOR_ADD ? operator_code(&of->in_b, b, k) : 0));
        }
    }
}

static void require_emitted(const struct row_operator *of)
{
    for (int standalone = 0; standalone <= 1; standalone++) {
        const struct emit_options options = {.prefix = "pwl_", .standalone = standalone != 0};
        struct text out = {0};
        struct diag diag = {0};
        REQUIRE(emit_operator_c(of, &options, &out, &diag) == EXIT_DONE && out.size > 0);
        text_free(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct row_operator first = {0}, second = {0};
    struct packed_operator packed, again;
    struct diag diag = {0};
    int code = operator_from_json((const char *)data, size, &first, &diag);
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
        return 0;
    }
    char *text = NULL, *other = NULL;
    REQUIRE(operator_to_json(&first, &text, &diag) == EXIT_DONE);
    REQUIRE(operator_from_json(text, strlen(text), &second, &diag) == EXIT_DONE);
    REQUIRE(operator_to_json(&second, &other, &diag) == EXIT_DONE);
    REQUIRE(strcmp(text, other) == 0);
    REQUIRE(operator_pack(&first, EXIT_USAGE, &packed, &diag) == EXIT_DONE);
    REQUIRE(operator_pack(&second, EXIT_USAGE, &again, &diag) == EXIT_DONE);
    uint64_t seed = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        seed = (seed ^ data[i]) * 1099511628211u;
    require_same_rows(&first, &packed, &again, seed);
    if (takes_long(data, size)) {
        require_emitted(&first);
        code = operator_check_claim(&first, &diag);
        if (code != EXIT_DONE)
            REQUIRE_REFUSAL(code, diag);
    }
    free(other);
    free(text);
    packed_operator_free(&again);
    packed_operator_free(&packed);
    operator_free(&second);
    operator_free(&first);
    return 0;
}
