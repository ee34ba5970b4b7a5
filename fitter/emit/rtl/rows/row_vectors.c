/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "row_vectors.h"

#include <stdlib.h>
#include <string.h>

#include "operator/draw.h"

enum { SHAPES = 6 };

int row_vector_make(const struct row_operator *of, struct row_vector *row, struct diag *diag)
{
    *row = (struct row_vector){
        .x = malloc(2 * (size_t)of->length), .y = malloc(2 * (size_t)of->length), .mask = malloc(of->length)};
    return row->x && row->y && row->mask ? EXIT_DONE
                                         : diag_set(diag, EXIT_IO, "out of memory for a row of %u places", of->length);
}

void row_vector_free(struct row_vector *row)
{
    free(row->x);
    free(row->y);
    free(row->mask);
}

/* Code i of the row, from 0 to `top`; `part` codes of these are what the shape is about. */
static uint32_t code_of(int shape, uint32_t i, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    switch (shape) {
    case 0: /* all */
        return (uint32_t)(draw(state) % (top + 1));
    case 1: /* the upper ones */
        return top - (uint32_t)(draw(state) % (part + 1));
    case 2: /* one against many */
        return i == length / 2 ? top : top - part;
    case 3: /* two values */
        return 2 * i < length ? top : top - part;
    case 4: /* all alike */
        return top - part;
    default: /* the ends */
        return i & 1 ? top : 0;
    }
}

static uint32_t length_of(const struct row_operator *of, int64_t k, uint64_t *state)
{
    const uint32_t drawn = 1 + (uint32_t)(draw(state) % of->length);
    if (operator_is_norm(of->kind) || k == 0 || k > of->length)
        return k == 0 || operator_is_norm(of->kind) ? of->length : drawn;
    return k <= 2 ? (uint32_t)k : drawn;
}

static void mask_places(const struct row_operator *of, int64_t k, struct row_vector *row)
{
    const uint64_t most = draw(&row->state) % 8;
    const bool is_masked = !operator_is_norm(of->kind) && k % 5 == 4;
    for (uint32_t i = 0; i < row->length; i++)
        row->mask[i] = !is_masked || (k % 40 != 39 && draw(&row->state) % 8 > most);
}

void row_vector_next(const struct packed_operator *packed, const struct row_operator *of, int64_t k,
                     struct row_vector *row)
{
    const uint32_t top = (uint32_t)(of->in.qmax - of->in.qmin);
    const uint64_t any = draw(&row->state), narrower = draw(&row->state) % 8;
    const uint32_t part = (uint32_t)(any % (top >> narrower)) + 1;
    row->length = length_of(of, k, &row->state);
    for (uint32_t i = 0; i < row->length; i++)
        operator_set_code(&of->in, row->x, i,
                          of->in.qmin + code_of((int)(k % SHAPES), i, row->length, top, part, &row->state));
    mask_places(of, k, row);
    if (operator_is_norm(of->kind))
        pwl_norm_run(&packed->norm, row->x, row->y, 1, PWL_LEVELS_ALL);
    else
        pwl_softmax_run(&packed->softmax,
                        &(pwl_rows){.x = row->x, .y = row->y, .count = 1, .length = row->length, .mask = row->mask},
                        PWL_LEVELS_ALL);
}

uint64_t row_vector_word(const struct row_operator *of, const struct row_vector *row, uint32_t k)
{
    const uint64_t x = (uint64_t)operator_code(&of->in, row->x, k) & 0xffff;
    const uint64_t y = (uint64_t)operator_code(&of->out, row->y, k) & 0xffff;
    return (uint64_t)(k + 1 == row->length) << 33 | (uint64_t)(row->mask[k] != 0) << 32 | y << 16 | x;
}
