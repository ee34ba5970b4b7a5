/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of products by vectors of any instructions: codes less their zero points as int16_t, MOST rows of a by COLUMNS
 * of b at once, whose sums are in registers.
 *
 *        k ->   LANES
 *   a  | . . . . . . |  codes of 16 bits without a zero point as they lie, others widened
 *   b  | . . . . . . |  as a, and codes of 8 bits without a zero point widened as they are read
 *
 * The file that includes this has before
 *
 *   vector, sums      of LANES int16_t; of int32_t
 *   MOST              rows at once
 *   load(p), widen(p) a vector of int16_t, of int8_t
 *   store(p, v)       to int16_t
 *   dot(s, a, b)      s + products of a and b, modulo 2^32
 *   none()            sums of 0
 *   add_up(s, to)     to[j] = sum of all lanes of s[j], of COLUMNS
 */
#include "../loop.h"
#include "sum_codes.h"

enum { COLUMNS = 4, PIECE = 512 };

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 4")
#endif

/* One of the arrays, and how its lines are read. */
typedef struct operand {
    const void *array;
    uint8_t type;
    enum { WIDENED, HALVES, BYTES } lies;
    size_t stride, step;
    int64_t zero;
} operand;

/* `rows`, and whether b is of int8_t, are known where this is compiled. count is a multiple of LANES. */
INLINE void dots(const int16_t *const *a, const void *const *b, int is_bytes, size_t rows, size_t count,
                 int32_t to[MOST][COLUMNS])
{
    sums s[MOST][COLUMNS];
    size_t i, j, k;
    UNROLL for (i = 0; i < rows; i++)
    {
        UNROLL for (j = 0; j < COLUMNS; j++) s[i][j] = none();
    }
    for (k = 0; k < count; k += LANES) {
        vector w[COLUMNS];
        UNROLL for (j = 0; j < COLUMNS; j++) w[j] =
            is_bytes ? widen((const int8_t *)b[j] + k) : load((const int16_t *)b[j] + k);
        UNROLL for (i = 0; i < rows; i++)
        {
            const vector v = load(a[i] + k);
            UNROLL for (j = 0; j < COLUMNS; j++) s[i][j] = dot(s[i][j], v, w[j]);
        }
    }
    UNROLL for (i = 0; i < rows; i++) add_up(s[i], to[i]);
}

static void dots_of(const int16_t *const *a, const void *const *b, int is_bytes, size_t rows, size_t count,
                    int32_t to[MOST][COLUMNS])
{
    if (is_bytes && rows > 1)
        dots(a, b, 1, MOST, count, to);
    else if (is_bytes)
        dots(a, b, 1, 1, count, to);
    else if (rows > 1)
        dots(a, b, 0, MOST, count, to);
    else
        dots(a, b, 0, 1, count, to);
}

/* Codes of 8 bits, with zeros behind them to whole vectors. */
static void widen_line(const operand *of, size_t from, size_t count, int16_t *room)
{
    size_t k = 0;
    if (of->type == PWL_S8 && !of->zero && of->step == 1)
        for (; k + LANES <= count; k += LANES)
            store(room + k, widen((const int8_t *)of->array + from + k));
    if (k < count)
        pwl_sum_widen(of->type, of->array, from + k * of->step, of->step, count - k, (int)of->zero, room + k);
    for (; count % LANES; count++)
        room[count] = 0;
}

/* Where codes [at, at + count) of a line lie; in `room`, with zeros behind them to whole vectors, where they do not. */
static const void *line_of(const operand *of, size_t line, size_t at, size_t count, int16_t *room)
{
    const size_t from = line * of->stride + at * of->step;
    if (count >= LANES && of->lies == HALVES)
        return (const int16_t *)of->array + from;
    if (count >= LANES && of->lies == BYTES)
        return (const int8_t *)of->array + from;
    widen_line(of, from, count, room);
    return room;
}

/* to += found - less, and what the row has less. */
INLINE void add_row(int64_t *to, const int32_t *found, const int64_t *less, int64_t row_less, size_t columns)
{
    size_t w;
    if (columns == COLUMNS)
        for (w = 0; w < COLUMNS; w++)
            to[w] += found[w] - less[w] - row_less;
    else
        for (w = 0; w < columns; w++)
            to[w] += found[w] - less[w] - row_less;
}

/* Products [at, at + count), whole vectors of them or fewer than one. */
static void sum_piece(const pwl_network_sums *of, const operand *a, const operand *b, size_t at, size_t count)
{
    int16_t a_room[PWL_NETWORK_ROWS][PIECE], b_room[COLUMNS][PIECE];
    const int is_bytes = count >= LANES && b->lies == BYTES;
    const size_t padded = count < LANES ? LANES : count;
    const int16_t *rows[PWL_NETWORK_ROWS + MOST];
    const int64_t nothing[COLUMNS] = {0};
    size_t i, j, v, w;
    for (i = 0; i < of->rows; i++)
        rows[i] = line_of(a, i, at, count, a_room[i]);
    for (; i < of->rows + MOST; i++) /* which are summed, and left */
        rows[i] = rows[of->rows - 1];
    for (j = 0; j < of->columns; j += COLUMNS) {
        const size_t columns = of->columns - j < COLUMNS ? of->columns - j : COLUMNS;
        const void *lines[COLUMNS];
        for (w = 0; w < COLUMNS; w++)
            lines[w] = w < columns ? line_of(b, j + w, at, count, b_room[w]) : lines[0];
        for (i = 0; i < of->rows; i += MOST) {
            const size_t left = of->rows - i < MOST ? of->rows - i : MOST;
            int32_t found[MOST][COLUMNS];
            dots_of(rows + i, lines, is_bytes, left, padded, found);
            for (v = 0; v < left; v++)
                add_row(of->sums + (i + v) * of->columns + j, found[v], nothing, 0, columns);
        }
    }
}

/* What 32 bits cannot sum by vectors is left to plain C. */
static void sum_halves(const pwl_network_sums *of)
{
    const operand a = {of->a,        of->a_type, of->a_type == PWL_S16 && !of->a_zero ? HALVES : WIDENED,
                       of->a_stride, 1,          of->a_zero};
    const operand b = {of->b,
                       of->b_type,
                       of->b_zero || of->b_step != 1 ? WIDENED
                       : of->b_type == PWL_S8        ? BYTES
                       : of->b_type == PWL_S16       ? HALVES
                                                     : WIDENED,
                       of->b_stride,
                       of->b_step,
                       of->b_zero};
    const size_t held = pwl_sum_most(of), room = a.lies == WIDENED || b.lies == WIDENED ? PIECE : SIZE_MAX;
    const size_t most = held < room ? held : room;
    size_t at, k, count;
    if (held < LANES) {
        pwl_network_sum(of);
        return;
    }
    for (k = 0; k < of->rows * of->columns; k++)
        of->sums[k] = 0;
    for (at = 0; at < of->length; at += count) {
        count = of->length - at < most ? of->length - at : most;
        count = count < LANES ? count : count - count % LANES;
        sum_piece(of, &a, &b, at, count);
    }
}
