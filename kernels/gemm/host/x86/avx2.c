/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AVX2: products of unsigned and signed bytes, two of which are added to 16 bits (VPMADDUBSW). So each row of weights
 * has two lanes of 16 bits, and a block's 32 columns two sums, which stay below 2^15:
 *
 *   4 bits    columns 0 to 15, and the others: 8 products a lane, 8 * 15 * 128, in E2M1 8 * 24 * 128 = 24576
 *   5 bits    half a block's 16 columns: 8 products a lane, 8 * 31 * 128
 *   6 bits    8 of them: 4 products a lane, 4 * 63 * 128 = 32256
 *   8 bits    low halves of the codes, and high halves, which count 16: 16 products a lane, 16 * 15 * 128 = 30720
 */
#include "vectors256.h"
#include "gemm/host/codes.h"

#define MOST 4
#define MOST_INTEGERS 4
#define FEWEST 1
#define START_LAST 1
#define SUMS(rows) (rows)
#define settle(s, vectors, rows) ((void)0)

INLINE int is_shifted(pwl_qgemm_kind kind)
{
    (void)kind;
    return 1;
}

/* a += products of a group of columns, in 16 bits. */
INLINE void add_group(const integers *w, size_t vectors, const int8_t *q, size_t stride, size_t rows,
                      integers a[MOST][ALL])
{
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        const integers x = spread(q + i * stride);
        UNROLL for (size_t v = 0; v < vectors; v++) a[i][v] = _mm256_add_epi16(a[i][v], _mm256_maddubs_epi16(w[v], x));
    }
}

/* s += both lanes of each row, times `by`. */
INLINE void add_lanes(integers a[MOST][ALL], int by, size_t vectors, size_t rows, integers s[MOST][ALL])
{
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) s[i][v] =
            _mm256_add_epi32(s[i][v], _mm256_madd_epi16(a[i][v], _mm256_set1_epi16((short)by)));
    }
}

INLINE void add_dots(pwl_qgemm_kind kind, const uint8_t *tile, size_t row, size_t vectors, const int8_t *q,
                     size_t stride, size_t rows, integers s[MOST][ALL])
{
    const size_t groups = is_bytes(kind) ? 8 : 4;
    const int one_sum = kind == PWL_QGEMM_NIBBLES || kind == PWL_QGEMM_NIBBLES_STORED; /* 16 * 15 * 128 */
    integers first[MOST][ALL], second[MOST][ALL];
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) first[i][v] = second[i][v] = nothing();
    }
    UNROLL for (size_t g = 0; g < groups; g++)
    {
        integers w[ALL], more[ALL];
        UNROLL for (size_t v = 0; v < vectors; v++)
        {
            const integers both = load(tile + pwl_qgemm_panel_row(groups, row + v * LANES) + g * PWL_QGEMM_GROUP);
            w[v] = kind == PWL_QGEMM_E2M1 ? value(low(both)) : low(both);
            more[v] = kind == PWL_QGEMM_E2M1 ? value(high(both)) : high(both);
        }
        add_group(w, vectors, q + g * 4, stride, rows, first);
        if (one_sum)
            add_group(more, vectors, q + 16 + g * 4, stride, rows, first);
        else
            add_group(more, vectors, q + (is_bytes(kind) ? 0 : 16) + g * 4, stride, rows, second);
    }
    add_lanes(first, 1, vectors, rows, s);
    if (!one_sum)
        add_lanes(second, is_bytes(kind) ? 16 : 1, vectors, rows, s);
}

INLINE void add_half_dots(pwl_qgemm_kind kind, const uint8_t *tile, size_t half, size_t row, size_t vectors,
                          const int8_t *q, size_t stride, size_t rows, integers s[MOST][ALL])
{
    integers c[ALL][4], sums[2][MOST][ALL];
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        if (kind == PWL_QGEMM_SUPER5)
            fives(tile, row + v * LANES, half, c[v]);
        else
            sixes(tile, row + v * LANES, half, c[v]);
    }
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) sums[0][i][v] = sums[1][i][v] = nothing();
    }
    UNROLL for (size_t j = 0; j < 4; j++)
    {
        integers w[ALL];
        UNROLL for (size_t v = 0; v < vectors; v++) w[v] = c[v][j];
        add_group(w, vectors, q + j * 4, stride, rows, sums[kind == PWL_QGEMM_SUPER6 && j >= 2]);
    }
    add_lanes(sums[0], 1, vectors, rows, s);
    if (kind == PWL_QGEMM_SUPER6)
        add_lanes(sums[1], 1, vectors, rows, s);
}

#include "gemm/host/loops.h"

void pwl_qgemm_avx2(const pwl_qgemm_pass *pass)
{
    multiply(pass);
}

PWL_QGEMM_DEFINE_ROUND(avx2)
