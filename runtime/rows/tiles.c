/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and log-softmax of a row that comes in tiles. */
#include <pwl/rows.h>

#include "softmax_row.h"

void pwl_softmax_tiles_add(const pwl_softmax *softmax, pwl_softmax_tiles *row, const void *x, const uint8_t *mask,
                           size_t count)
{
    const pwl_softmax_row tile = {softmax, x, NULL, mask, 0, count};
    const int32_t largest = pwl_softmax_row_largest(&tile);
    if (largest == INT32_MIN) /* every place is masked, or there is none */
        return;
    if (row->sum == 0)
        row->largest = largest;
    if (largest > row->largest) {
        row->sum = pwl_softmax_rescaled(softmax, row->sum, (uint32_t)(largest - row->largest));
        row->largest = largest;
        row->rescalings++;
    }
    row->sum += pwl_softmax_row_sum(&tile, row->largest);
}

void pwl_softmax_tiles_write(const pwl_softmax *softmax, const pwl_softmax_tiles *row, const void *x, void *y,
                             const uint8_t *mask, size_t count)
{
    const pwl_softmax_row tile = {softmax, x, y, mask, 0, count};
    pwl_softmax_share all;
    if (row->sum == 0) {
        pwl_softmax_row_clear(&tile);
        return;
    }
    pwl_softmax_share_init(&all, softmax, row->largest, row->sum);
    pwl_softmax_row_write(&tile, &all);
}
