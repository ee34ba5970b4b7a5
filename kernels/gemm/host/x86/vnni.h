/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums by dot products of four unsigned and four signed bytes (VPDPBUSD), for vectors of any length. The file that
 * includes this has before, beside what loops.h wants,
 *
 *   load(p), spread(p)     LANES * 4 bytes; the 4 bytes at p in each lane
 *   dot(s, u, q)           s + the four products, in each lane
 *   low(q), high(q)        halves of bytes
 *   value(c)               twice E2M1's value and 12, of each byte
 *   right(v, n), only(v, mask), join(a, b)    see codes.h
 */
#include "gemm/host/codes.h"

#define FEWEST 1
#define START_LAST 0
#define SUMS(rows) (rows)
#define settle(s, vectors, rows) ((void)0)

INLINE int is_shifted(pwl_qgemm_kind kind)
{
    (void)kind;
    return 1;
}

/* Sums of a group of columns: sums of all rows take turns, so that none waits for itself. */
INLINE void add_group(const integers *w, size_t vectors, const int8_t *q, size_t stride, size_t rows,
                      integers s[MOST][ALL])
{
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        const integers x = spread(q + i * stride);
        UNROLL for (size_t v = 0; v < vectors; v++) s[i][v] = dot(s[i][v], w[v], x);
    }
}

INLINE void add_dots(pwl_qgemm_kind kind, const uint8_t *tile, size_t row, size_t vectors, const int8_t *q,
                     size_t stride, size_t rows, integers s[MOST][ALL])
{
    const size_t groups = is_bytes(kind) ? 8 : 4;
    UNROLL for (size_t g = 0; g < groups; g++)
    {
        integers first[ALL], second[ALL];
        UNROLL for (size_t v = 0; v < vectors; v++)
        {
            const integers both = load(tile + pwl_qgemm_panel_row(groups, row + v * LANES) + g * PWL_QGEMM_GROUP);
            first[v] = is_bytes(kind) ? both : kind == PWL_QGEMM_E2M1 ? value(low(both)) : low(both);
            second[v] = kind == PWL_QGEMM_E2M1 ? value(high(both)) : high(both);
        }
        add_group(first, vectors, q + g * 4, stride, rows, s);
        if (!is_bytes(kind))
            add_group(second, vectors, q + 16 + g * 4, stride, rows, s);
    }
}

INLINE void add_half_dots(pwl_qgemm_kind kind, const uint8_t *tile, size_t half, size_t row, size_t vectors,
                          const int8_t *q, size_t stride, size_t rows, integers s[MOST][ALL])
{
    integers c[ALL][4];
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        if (kind == PWL_QGEMM_SUPER5)
            fives(tile, row + v * LANES, half, c[v]);
        else
            sixes(tile, row + v * LANES, half, c[v]);
    }
    UNROLL for (size_t j = 0; j < 4; j++)
    {
        integers w[ALL];
        UNROLL for (size_t v = 0; v < vectors; v++) w[v] = c[v][j];
        add_group(w, vectors, q + j * 4, stride, rows, s);
    }
}

#include "gemm/host/loops.h"
