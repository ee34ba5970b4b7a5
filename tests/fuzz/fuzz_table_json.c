/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Table JSON: an accepted table is written back to bytes that read back the same, evaluates as the definition says,
 * and goes through every emitter; those that visit every code or make hardware, on one input in some. */
#include "fuzz.h"

#include <string.h>

#include "emit/emit.h"
#include "evaluate.h"
#include "table/table.h"

#define RANDOM_CODES 64
#define KNOT_CODES 64
#define ALL_CODES 1024 /* inputs of up to this many codes are evaluated whole, so that ties are met, */
#define FEW_CODES 64   /* and where that takes too long up to so many */

/* xorshift64: the codes depend on the input alone, so that a crash reproduces. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

struct reading {
    struct table table;
    struct packed_table packed;
};

static void require_same_at(const struct reading *first, const struct reading *second, int64_t q_x)
{
    const int64_t q_y = packed_eval(&first->packed, q_x);
    REQUIRE(q_y == wide_evaluate(&first->table, q_x));
    REQUIRE(q_y == packed_eval(&second->packed, q_x));
    REQUIRE(q_y >= first->table.out.qmin && q_y <= first->table.out.qmax);
}

static void require_same_evaluation(const struct reading *first, const struct reading *second, uint64_t seed,
                                    int is_long)
{
    const struct tensor *in = &first->table.in;
    const uint64_t span = (uint64_t)(in->qmax - in->qmin) + 1;
    uint64_t state = seed | 1;
    for (int64_t q_x = in->qmin; span <= (is_long ? ALL_CODES : FEW_CODES) && q_x <= in->qmax; q_x++)
        require_same_at(first, second, q_x);
    for (int i = 0; i < (is_long ? RANDOM_CODES : RANDOM_CODES / 8); i++)
        require_same_at(first, second, in->qmin + (int64_t)(random_next(&state) % span));
    for (int i = 0; i < first->table.segment_count && i < (is_long ? KNOT_CODES : KNOT_CODES / 8); i++)
        for (int64_t step = -1; step <= 1; step++)
            require_same_at(first, second, first->table.segments[i].start + step);
    for (int bit = 0; first->table.has_reduction && bit < 33; bit++)
        for (int64_t step = -1; step <= 1; step++)
            require_same_at(first, second, in->zero_point + ((int64_t)1 << bit) + step);
    const int64_t ends[] = {INT64_MIN, in->qmin - 1, in->qmin, in->zero_point, in->qmax, in->qmax + 1, INT64_MAX};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        require_same_at(first, second, ends[i]);
}

static void require_emitters(const struct table *table, const char *json, int is_long)
{
    for (const struct emitter *emitter = emitters; emitter->name != NULL; emitter++) {
        if (!is_long && (emitter->takes & EMIT_NAMES)) /* C, CUDA and hardware */
            continue;
        for (int standalone = 0; standalone <= 1; standalone++) {
            const struct emit_options options = {.prefix = "pwl_", .standalone = standalone != 0};
            struct text out = {0};
            struct diag diag = {0};
            const int code = emitter->emit(&table, 1, &options, &out, &diag);
            if (code != EXIT_DONE) {
                REQUIRE_REFUSAL(code, diag);
            } else {
                REQUIRE(!out.failed && out.size > 0);
                if (strcmp(emitter->name, "json") == 0)
                    REQUIRE(strcmp(out.bytes, json) == 0);
            }
            text_free(&out);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading first = {0}, second = {0};
    struct diag diag = {0};
    int code = table_from_json((const char *)data, size, &first.table, &diag);
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
        return 0;
    }

    char *text = NULL, *again = NULL;
    REQUIRE(table_to_json(&first.table, &text, &diag) == EXIT_DONE);
    REQUIRE(table_from_json(text, strlen(text), &second.table, &diag) == EXIT_DONE);
    REQUIRE(table_to_json(&second.table, &again, &diag) == EXIT_DONE);
    REQUIRE(strcmp(text, again) == 0);

    pwl_proof proof;
    REQUIRE(table_prove(&first.table, EXIT_USAGE, &first.packed, &proof, &diag) == EXIT_DONE);
    REQUIRE(table_prove(&second.table, EXIT_USAGE, &second.packed, &proof, &diag) == EXIT_DONE);
    uint64_t seed = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        seed = (seed ^ data[i]) * 1099511628211u;
    const int is_long = takes_long(data, size);
    require_same_evaluation(&first, &second, seed, is_long);
    require_emitters(&first.table, text, is_long);

    free(again);
    free(text);
    packed_table_free(&second.packed);
    packed_table_free(&first.packed);
    table_free(&second.table);
    table_free(&first.table);
    return 0;
}
