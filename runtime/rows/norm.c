/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm and RMSNorm of rows in plain C. Every step is of docs/operators.md; the other ways give its bits. */
#include <pwl/rows.h>

#include "codes.h"
#include "row_ways.h"

/* A of a row (also where RMSNorm does not ask for it) and Q. */
static pwl_norm_row row_of(const pwl_norm *norm, const void *x, size_t at)
{
    int32_t codes[PWL_PIECE];
    int64_t sum = 0, squares = 0;
    size_t from, k, count;
    for (from = 0; from < norm->length; from += count) {
        count = pwl_piece_of(norm->length - from);
        pwl_codes_load((pwl_type)norm->in, x, at + from, count, codes);
        for (k = 0; k < count; k++) {
            const int64_t u = codes[k] - norm->zp_x;
            sum += u;
            squares += u * u;
        }
    }
    return pwl_norm_row_of(norm, sum, squares);
}

static void write_places(const pwl_norm *norm, const pwl_norm_row *row, const void *x, void *y, size_t at)
{
    int32_t codes[PWL_PIECE];
    size_t from, k, count;
    for (from = 0; from < norm->length; from += count) {
        count = pwl_piece_of(norm->length - from);
        pwl_codes_load((pwl_type)norm->in, x, at + from, count, codes);
        for (k = 0; k < count; k++)
            codes[k] = (int32_t)pwl_norm_place(norm, row, codes[k] - norm->zp_x, (uint32_t)(from + k));
        pwl_codes_store((pwl_type)norm->out, y, at + from, count, codes);
    }
}

void pwl_norm_run(const pwl_norm *norm, const void *x, void *y, size_t count, uint32_t levels)
{
    const pwl_norm_way *const way = pwl_norm_way_of(norm, levels);
    size_t k, at = 0;
    if (way) {
        way->run(norm, x, y, count);
        return;
    }
    for (k = 0; k < count; k++, at += norm->length) {
        const pwl_norm_row row = row_of(norm, x, at);
        write_places(norm, &row, x, y, at);
    }
}
