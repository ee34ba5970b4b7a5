/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NEON: products of two rows of X and two rows of weights by 8 columns (SMMLA). Two groups of columns become rows of 8
 * columns by turns of words. Until they are settled, sums of two rows of X by 4 rows of weights lie so:
 *
 *     s[i]        x0 w0 | x0 w1 | x1 w0 | x1 w1
 *     s[i + 1]    x0 w2 | x0 w3 | x1 w2 | x1 w3
 */
#include "neon.h"

#define MOST 6
#define MOST_INTEGERS 6
#define VECTORS 2
#define FEWEST 2
#define START_LAST 1
#define SUMS(rows) (((rows) + 1) / 2 * 2)

/* Codes are what S is of. */
INLINE int is_shifted(pwl_qgemm_kind kind)
{
    (void)kind;
    return 0;
}

/* Words of both in turns: rows 0 and 1, or rows 2 and 3. */
INLINE codes lower_rows(codes a, codes b)
{
    return vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
}

INLINE codes upper_rows(codes a, codes b)
{
    return vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
}

INLINE int8x16_t first_halves(int8x16_t a, int8x16_t b)
{
    return vreinterpretq_s8_s64(vzip1q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}

INLINE int8x16_t second_halves(int8x16_t a, int8x16_t b)
{
    return vreinterpretq_s8_s64(vzip2q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}

/* 16 columns of rows i and i + 1 of X, 8 to a vector; a last row is its own neighbour. */
INLINE void load_pair(const int8_t *q, size_t stride, size_t i, size_t rows, int8x16_t x[2])
{
    const int8x16_t a = vld1q_s8(q + i * stride), b = vld1q_s8(q + (i + 1 < rows ? i + 1 : i) * stride);
    x[0] = first_halves(a, b);
    x[1] = second_halves(a, b);
}

INLINE void settle(integers s[MOST][ALL], size_t vectors, size_t rows)
{
    UNROLL for (size_t i = 0; i < rows; i += 2)
    {
        UNROLL for (size_t v = 0; v < vectors; v++)
        {
            const int8x16_t lower = vreinterpretq_s8_s32(s[i][v]), upper = vreinterpretq_s8_s32(s[i + 1][v]);
            s[i][v] = vreinterpretq_s32_s8(first_halves(lower, upper));
            s[i + 1][v] = vreinterpretq_s32_s8(second_halves(lower, upper));
        }
    }
}

/* Of 4 rows of weights; each of `steps` has 8 columns of rows 0 and 1, and of rows 2 and 3. */
INLINE void add_pairs(int8x16_t w[4][2], size_t steps, const int8_t *q, size_t stride, size_t rows, size_t v,
                      integers s[MOST][ALL])
{
    UNROLL for (size_t i = 0; i < rows; i += 2)
    {
        int8x16_t x[4];
        UNROLL for (size_t step = 0; step < steps; step += 2) load_pair(q + step * 8, stride, i, rows, x + step);
        UNROLL for (size_t step = 0; step < steps; step++)
        {
            s[i][v] = vmmlaq_s32(s[i][v], x[step], w[step][0]);
            s[i + 1][v] = vmmlaq_s32(s[i + 1][v], x[step], w[step][1]);
        }
    }
}

/* What S is of: no code is shifted. */
INLINE int8x16_t weights(pwl_qgemm_kind kind, codes c)
{
    static const int8_t values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    const int8x16_t q = vreinterpretq_s8_u8(c);
    if (kind == PWL_QGEMM_E2M1)
        return vqtbl1q_s8(vld1q_s8(values), c);
    return kind == PWL_QGEMM_NIBBLES ? vsubq_s8(q, vdupq_n_s8(8)) : q;
}

INLINE void add_dots(pwl_qgemm_kind kind, const uint8_t *tile, size_t row, size_t vectors, const int8_t *q,
                     size_t stride, size_t rows, integers s[MOST][ALL])
{
    const size_t groups = is_bytes(kind) ? 8 : 4;
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        int8x16_t w[4][2];
        UNROLL for (size_t step = 0; step < groups / 2; step++)
        {
            const codes a = group_at(tile, groups, row + v * LANES, 2 * step);
            const codes b = group_at(tile, groups, row + v * LANES, 2 * step + 1);
            const codes lower = lower_rows(a, b), upper = upper_rows(a, b), sign = vdupq_n_u8(0x80);
            if (is_bytes(kind)) {
                w[step][0] = vreinterpretq_s8_u8(veorq_u8(lower, sign));
                w[step][1] = vreinterpretq_s8_u8(veorq_u8(upper, sign));
                continue;
            }
            w[step][0] = weights(kind, vandq_u8(lower, vdupq_n_u8(15)));
            w[step][1] = weights(kind, vandq_u8(upper, vdupq_n_u8(15)));
            w[2 + step][0] = weights(kind, vshrq_n_u8(lower, 4));
            w[2 + step][1] = weights(kind, vshrq_n_u8(upper, 4));
        }
        add_pairs(w, 4, q, stride, rows, v, s);
    }
}

INLINE void add_half_dots(pwl_qgemm_kind kind, const uint8_t *tile, size_t half, size_t row, size_t vectors,
                          const int8_t *q, size_t stride, size_t rows, integers s[MOST][ALL])
{
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        int8x16_t w[4][2];
        codes c[4];
        if (kind == PWL_QGEMM_SUPER5)
            fives(tile, row + v * LANES, half, c);
        else
            sixes(tile, row + v * LANES, half, c);
        UNROLL for (size_t step = 0; step < 2; step++)
        {
            w[step][0] = vreinterpretq_s8_u8(lower_rows(c[2 * step], c[2 * step + 1]));
            w[step][1] = vreinterpretq_s8_u8(upper_rows(c[2 * step], c[2 * step + 1]));
        }
        add_pairs(w, 2, q, stride, rows, v, s);
    }
}

#include "gemm/host/loops.h"

/* One row of X has no neighbour, and takes fewer instructions by dot products. */
void pwl_qgemm_i8mm(const pwl_qgemm_pass *pass)
{
    if (pass->rows == 1)
        pwl_qgemm_dotprod(pass);
    else
        multiply(pass);
}

PWL_QGEMM_DEFINE_ROUND(i8mm)
