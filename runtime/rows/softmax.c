/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and log-softmax of rows in plain C. Every step is of docs/operators.md; the other ways give its bits. */
#include <pwl/rows.h>

#include "../element.h"
#include "codes.h"
#include "row_ways.h"

/* A row, or what a causal one has of it. */
typedef struct row {
    const pwl_softmax *softmax;
    const void *x;
    void *y;
    const uint8_t *mask; /* null: no place is masked */
    size_t at, length;   /* of the arrays: elements [at, at + length) */
} row;

/* What the places of a row share. */
typedef struct shared {
    int32_t largest; /* qmax */
    pwl_row_factor reciprocal;
    int64_t log; /* shr(L W, h) */
} shared;

static int is_masked(const row *of, size_t k)
{
    return of->mask && !of->mask[k];
}

/* INT32_MIN where every place is masked. */
static int32_t largest_code(const row *of)
{
    int32_t codes[PWL_PIECE], largest = INT32_MIN;
    size_t from, k, count;
    for (from = 0; from < of->length; from += count) {
        count = pwl_piece_of(of->length - from);
        pwl_codes_load((pwl_type)of->softmax->in, of->x, of->at + from, count, codes);
        for (k = 0; k < count; k++)
            if (codes[k] > largest && !is_masked(of, from + k))
                largest = codes[k];
    }
    return largest;
}

static uint64_t sum_of(const row *of, int32_t largest)
{
    int32_t codes[PWL_PIECE];
    uint64_t sum = 0;
    size_t from, k, count;
    for (from = 0; from < of->length; from += count) {
        count = pwl_piece_of(of->length - from);
        pwl_codes_load((pwl_type)of->softmax->in, of->x, of->at + from, count, codes);
        for (k = 0; k < count; k++)
            if (!is_masked(of, from + k))
                sum += pwl_softmax_exp(of->softmax, (uint32_t)(largest - codes[k]));
    }
    return sum;
}

static int32_t place(const pwl_softmax *softmax, const shared *all, uint32_t d)
{
    if (softmax->kind == PWL_LOG_SOFTMAX)
        return (int32_t)pwl_log_softmax_place(softmax, all->log, d);
    return (int32_t)pwl_softmax_place(softmax, all->reciprocal, d);
}

static void write_places(const row *of, const shared *all)
{
    enum { RESULTS = 256 };
    const pwl_softmax *const softmax = of->softmax;
    /* Of 8-bit codes, one result a difference: 16 bits hold those of each type. */
    const int is_tabulated = !softmax->exp_high && of->length > RESULTS;
    const int is_unsigned = pwl_type_is_unsigned((pwl_type)softmax->out);
    const int32_t least = pwl_softmax_least(softmax);
    uint16_t results[RESULTS];
    int32_t codes[PWL_PIECE];
    size_t from, k, count;
    for (k = 0; is_tabulated && k < RESULTS; k++)
        results[k] = (uint16_t)place(softmax, all, (uint32_t)k);
    for (from = 0; from < of->length; from += count) {
        count = pwl_piece_of(of->length - from);
        pwl_codes_load((pwl_type)softmax->in, of->x, of->at + from, count, codes);
        for (k = 0; k < count; k++) {
            const uint32_t d = (uint32_t)(all->largest - codes[k]);
            if (is_masked(of, from + k))
                codes[k] = least;
            else if (!is_tabulated)
                codes[k] = place(softmax, all, d);
            else
                codes[k] = is_unsigned ? results[d] : (int16_t)results[d];
        }
        pwl_codes_store((pwl_type)softmax->out, of->y, of->at + from, count, codes);
    }
}

static void run_row(const row *of)
{
    const pwl_softmax *const softmax = of->softmax;
    shared all = {largest_code(of), {0, 0}, 0};
    uint64_t sum;
    if (all.largest == INT32_MIN) {
        pwl_codes_fill((pwl_type)softmax->out, of->y, of->at, of->length, pwl_softmax_least(softmax));
        return;
    }
    sum = sum_of(of, all.largest);
    if (softmax->kind == PWL_LOG_SOFTMAX)
        all.log = pwl_log_softmax_row(softmax, sum);
    else
        all.reciprocal = pwl_row_reciprocal(softmax->reciprocal, sum);
    write_places(of, &all);
}

void pwl_softmax_run(const pwl_softmax *softmax, const pwl_rows *rows, uint32_t levels)
{
    const pwl_softmax_way *const way = rows->mask ? NULL : pwl_softmax_way_of(softmax, levels);
    const size_t in_bytes = (size_t)1 << pwl_type_bytes_log2((pwl_type)softmax->in);
    const size_t out_bytes = (size_t)1 << pwl_type_bytes_log2((pwl_type)softmax->out);
    row of = {softmax, rows->x, rows->y, rows->mask, 0, rows->length};
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
