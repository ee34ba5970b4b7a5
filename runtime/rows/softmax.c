/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and log-softmax of rows in plain C. Every step is of docs/operators.md; the other ways give its bits. */
#include <pwl/rows.h>

#include "../element.h"
#include "codes.h"
#include "row_ways.h"
#include "softmax_row.h"

static void run_row(const pwl_softmax_row *of)
{
    const int32_t largest = pwl_softmax_row_largest(of);
    pwl_softmax_share all;
    if (largest == INT32_MIN) {
        pwl_softmax_row_clear(of);
        return;
    }
    pwl_softmax_share_init(&all, of->softmax, largest, pwl_softmax_row_sum(of, largest));
    pwl_softmax_row_write(of, &all);
}

void pwl_softmax_run(const pwl_softmax *softmax, const pwl_rows *rows, uint32_t levels)
{
    const pwl_softmax_way *const way = rows->mask ? NULL : pwl_softmax_way_of(softmax, levels);
    const size_t in_bytes = (size_t)1 << pwl_type_bytes_log2((pwl_type)softmax->in);
    const size_t out_bytes = (size_t)1 << pwl_type_bytes_log2((pwl_type)softmax->out);
    pwl_softmax_row of = {softmax, rows->x, rows->y, rows->mask, 0, rows->length};
    size_t k;
    if (way && !rows->is_causal) {
        way->run(softmax, rows->x, rows->y, rows->count, rows->length);
        return;
    }
    for (k = 0; k < rows->count; k++, of.at += rows->length) {
        of.length = pwl_rows_reach(rows, k);
        pwl_codes_fill((pwl_type)softmax->out, of.y, of.at + of.length, rows->length - of.length,
                       pwl_softmax_least(softmax));
        if (way)
            way->run(softmax, (const char *)of.x + of.at * in_bytes, (char *)of.y + of.at * out_bytes, 1, of.length);
        else
            run_row(&of);
        of.mask = of.mask ? of.mask + rows->mask_stride : NULL;
    }
}
