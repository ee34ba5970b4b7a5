/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of values weighted by the softmax of a row, which are divided once, at their end. */
#include <pwl/rows.h>

#include "../element.h"
#include "../within.h"
#include "codes.h"
#include "softmax_row.h"

pwl_status pwl_row_values_check(const pwl_row_values *values)
{
    if (!values)
        return PWL_ERR_NULL;
    if (values->type > PWL_U16)
        return PWL_ERR_FIELD;
    if (!is_within(values->zero_point, pwl_type_lowest((pwl_type)values->type),
                   pwl_type_highest((pwl_type)values->type)))
        return PWL_ERR_ZERO_POINT;
    return PWL_OK;
}

/* sums[c] += e (v - zero point), for `count` channels of a place from `at` on. A value less its zero point has at most
 * 16 bits, e 31, and a row 2^16 places: below 2^62. */
static void add_place(const pwl_row_values *values, size_t at, size_t count, int64_t e, int64_t *sums)
{
    int32_t codes[PWL_PIECE];
    size_t c;
    pwl_codes_load((pwl_type)values->type, values->v, at, count, codes);
    for (c = 0; c < count; c++)
        sums[c] += e * (codes[c] - values->zero_point);
}

/* Of one row, channels [from, from + count). */
static void weigh_channels(const pwl_softmax_row *of, const pwl_softmax_share *all, const pwl_row_values *values,
                           size_t from, size_t count, int64_t *sums)
{
    int32_t codes[PWL_PIECE];
    size_t at, k, c, piece;
    for (c = 0; c < count; c++)
        sums[c] = 0;
    for (at = 0; at < of->length; at += piece) {
        piece = pwl_piece_of(of->length - at);
        pwl_codes_load((pwl_type)of->softmax->in, of->x, of->at + at, piece, codes);
        for (k = 0; k < piece; k++)
            if (!pwl_softmax_masks(of, at + k)) /* a masked code may be above the largest */
                add_place(values, (at + k) * values->stride + from, count,
                          pwl_softmax_exp(of->softmax, (uint32_t)(all->largest - codes[k])), sums);
    }
}

static void weigh_row(const pwl_softmax_row *of, const pwl_row_values *values, int32_t *y)
{
    const int32_t largest = pwl_softmax_row_largest(of);
    int64_t sums[PWL_PIECE];
    size_t from, c, piece;
    pwl_softmax_share all = {0, {0, 0}, 0};
    uint64_t sum;
    if (largest == INT32_MIN) {
        for (c = 0; c < values->channels; c++)
            y[c] = 0;
        return;
    }
    all.largest = largest;
    sum = pwl_softmax_row_sum(of, largest);
    all.reciprocal = pwl_row_reciprocal(of->softmax->reciprocal, sum);
    for (from = 0; from < values->channels; from += piece) {
        piece = pwl_piece_of(values->channels - from);
        weigh_channels(of, &all, values, from, piece, sums);
        for (c = 0; c < piece; c++)
            y[from + c] = pwl_row_mean((pwl_type)values->type, sums[c], sum, all.reciprocal);
    }
}

void pwl_softmax_weigh(const pwl_softmax *softmax, const pwl_rows *rows, const pwl_row_values *values, int32_t *y)
{
    pwl_softmax_row of = {softmax, rows->x, NULL, rows->mask, 0, rows->length};
    size_t r;
    for (r = 0; r < rows->count; r++, of.at += rows->length) {
        of.length = pwl_rows_reach(rows, r);
        weigh_row(&of, values, y + r * values->channels);
        of.mask = of.mask ? of.mask + rows->mask_stride : NULL;
    }
}
