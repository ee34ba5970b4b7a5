/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of packed weights, for devices that share a product: whole pieces, as they lie. */
#include <string.h>

#include "check.h"
#include "layout.h"
#include "super.h"

/* What a part is made of whole ones of. */
static size_t unit_of_rows(pwl_qgemm_format format)
{
    return pwl_qgemm_is_super(format) ? 1 : PWL_QGEMM_ROWS;
}

static size_t unit_of_columns(pwl_qgemm_format format)
{
    return pwl_qgemm_is_super(format) ? PWL_SUPER_BLOCK : PWL_QGEMM_COLUMNS;
}

static pwl_qgemm_share share_of(size_t count, size_t unit, size_t rank, size_t ranks)
{
    const size_t units = count / unit + (count % unit != 0), each = units / ranks, more = units % ranks;
    const size_t first = rank * each + (rank < more ? rank : more), last = first + each + (rank < more);
    const size_t from = first < units ? first * unit : count, to = last < units ? last * unit : count;
    const pwl_qgemm_share share = {from, to - from};
    return share;
}

pwl_qgemm_share pwl_qgemm_rows_of_rank(const pwl_qgemm_weights *weights, size_t rank, size_t ranks)
{
    return share_of(weights->n, unit_of_rows(weights->format), rank, ranks);
}

pwl_qgemm_share pwl_qgemm_columns_of_rank(const pwl_qgemm_weights *weights, size_t rank, size_t ranks)
{
    return share_of(weights->k, unit_of_columns(weights->format), rank, ranks);
}

/* Whether a range has something, lies within `whole`, and begins and ends where a unit or the whole does. */
static int is_part(pwl_qgemm_share range, size_t whole, size_t unit)
{
    return range.count > 0 && range.first < whole && range.count <= whole - range.first && range.first % unit == 0 &&
           (range.count % unit == 0 || range.first + range.count == whole);
}

static void cut_super(const pwl_qgemm_weights *weights, pwl_qgemm_share rows, size_t first_column, uint8_t *to,
                      const pwl_qgemm_weights *part)
{
    const size_t row_bytes = part->bytes / part->n;
    for (size_t row = 0; row < part->n; row++)
        memcpy(to + row * row_bytes, pwl_qgemm_super_at(weights, rows.first + row, first_column), row_bytes);
}

/* Row data but for sums: a scale or an exponent of each row. */
static void cut_rows(const pwl_qgemm_weights *weights, size_t first_row, uint8_t *to, const pwl_qgemm_weights *part)
{
    const size_t each = pwl_qgemm_is_e4m3(part->format) ? sizeof(float) : 1;
    const size_t size = pwl_qgemm_round_up(part->n, PWL_QGEMM_ROWS) * each;
    const size_t all = pwl_qgemm_round_up(weights->n, PWL_QGEMM_ROWS) * each;
    memcpy(to + part->bytes - size, (const uint8_t *)weights->memory + weights->bytes - all + first_row * each, size);
}

/* Of all columns: of some, the sums are counted. */
static void cut_sums(const pwl_qgemm_weights *weights, size_t first_row, uint8_t *to, const pwl_qgemm_weights *part)
{
    for (size_t row = 0; row < pwl_qgemm_round_up(part->n, PWL_QGEMM_ROWS); row++) {
        int32_t sum = 0; /* at most 65793 * 128 */
        if (part->k == weights->k)
            sum = pwl_qgemm_row_sum(weights, first_row + row);
        for (size_t column = 0; column < part->k && part->k < weights->k && row < part->n; column++)
            sum += pwl_qgemm_code(part, row, column);
        memcpy(to + pwl_qgemm_row_sum_at(part, row), &sum, sizeof sum);
    }
}

static void cut_pieces(const pwl_qgemm_weights *weights, pwl_qgemm_share rows, size_t first_column, uint8_t *to,
                       const pwl_qgemm_weights *part)
{
    const size_t run = pwl_qgemm_depth(part->k) * pwl_qgemm_piece_bytes(part->format);
    for (size_t row = 0; row < part->n; row += PWL_QGEMM_ROWS)
        memcpy(to + row / PWL_QGEMM_ROWS * run,
               (const uint8_t *)weights->memory +
                   pwl_qgemm_piece_at(weights->format, weights->k, rows.first + row, first_column),
               run);
    if (part->row_data)
        cut_rows(weights, rows.first, to, part);
    if (pwl_qgemm_is_rows(part->format))
        cut_sums(weights, rows.first, to, part);
}

pwl_qgemm_status pwl_qgemm_cut(const pwl_qgemm_weights *weights, pwl_qgemm_share rows, pwl_qgemm_share columns,
                               void *memory, size_t bytes, pwl_qgemm_weights *part)
{
    const pwl_qgemm_status status = pwl_qgemm_check_weights(weights);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!memory || !part)
        return PWL_QGEMM_ERR_NULL;
    if (!is_part(rows, weights->n, unit_of_rows(weights->format)) ||
        !is_part(columns, weights->k, unit_of_columns(weights->format)))
        return PWL_QGEMM_ERR_PART;
    if ((uintptr_t)memory % 16)
        return PWL_QGEMM_ERR_ALIGN;
    pwl_qgemm_weights made = {memory, rows.count, columns.count, 0, weights->format, weights->row_data};
    made.bytes = pwl_qgemm_bytes_of(&made);
    if (bytes < made.bytes)
        return PWL_QGEMM_ERR_SPACE;
    if (pwl_qgemm_is_super(made.format))
        cut_super(weights, rows, columns.first, memory, &made);
    else
        cut_pieces(weights, rows, columns.first, memory, &made);
    *part = made;
    return PWL_QGEMM_OK;
}
