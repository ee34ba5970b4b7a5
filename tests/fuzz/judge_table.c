/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared library for fuzz_pwl_loader.py: what pwlc eval says of a table, in the process of the caller, which has
 * thousands of tables a second. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "table/table.h"

int judge_table(const char *json, size_t size, const int64_t *codes, size_t count, int64_t *outputs, char *message,
                size_t message_size);

/* The exit status of pwlc eval, with its message where that is not 0, and else the outputs of codes. A zero byte
 * follows json. */
int judge_table(const char *json, size_t size, const int64_t *codes, size_t count, int64_t *outputs, char *message,
                size_t message_size)
{
    struct table table = {0};
    struct packed_table packed = {0};
    struct diag diag = {0};
    pwl_proof proof;
    int code = table_from_json(json, size, &table, &diag);
    if (code == EXIT_DONE)
        code = table_prove(&table, EXIT_USAGE, &packed, &proof, &diag);
    for (size_t i = 0; i < count && code == EXIT_DONE; i++) {
        const int64_t low = table.in.qmin, high = table.in.qmax;
        outputs[i] = packed_eval(&packed, codes[i] < low ? low : codes[i] > high ? high : codes[i]);
    }
    snprintf(message, message_size, "%s", diag.text);
    packed_table_free(&packed);
    table_free(&table);
    return code;
}
