/* SPDX-License-Identifier: Apache-2.0 */
/* NEON: dot products of four signed bytes (SDOT), 4 rows of weights to a vector. */
#include "neon.h"

#define MOST 4
#define MOST_INTEGERS 4
#define FEWEST 1
#define VECTORS 2
#define START_LAST 0
#define SUMS(rows) (rows)
#define settle(s, vectors, rows) ((void)0)

/* Codes of 8 bits are signed again. */
INLINE int is_shifted(pwl_qgemm_kind kind)
{
    return !is_bytes(kind);
}

/* s += the products of a group of a vector's codes by 4 columns: a lane, which the instruction wants to be a constant.
 */
INLINE integers dot(integers s, int8x16_t w, int8x16_t x, size_t lane)
{
    switch (lane) {
    case 0:
        return vdotq_laneq_s32(s, w, x, 0);
    case 1:
        return vdotq_laneq_s32(s, w, x, 1);
    case 2:
        return vdotq_laneq_s32(s, w, x, 2);
    default:
        return vdotq_laneq_s32(s, w, x, 3);
    }
}

INLINE void add_dots(pwl_qgemm_kind kind, const uint8_t *tile, size_t row, size_t vectors, const int8_t *q,
                     size_t stride, size_t rows, integers s[MOST][ALL])
{
    const size_t groups = is_bytes(kind) ? 8 : 4;
    int8x16_t x[MOST][2];
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        x[i][0] = vld1q_s8(q + i * stride);
        x[i][1] = vld1q_s8(q + i * stride + 16);
    }
    UNROLL for (size_t g = 0; g < groups; g++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++)
        {
            const uint8x16_t both = vld1q_u8(tile + pwl_qgemm_panel_row(groups, row + v * LANES) + g * PWL_QGEMM_GROUP);
            const uint8x16_t low = vandq_u8(both, vdupq_n_u8(15)), high = vshrq_n_u8(both, 4);
            const int8x16_t byte = vreinterpretq_s8_u8(veorq_u8(both, vdupq_n_u8(0x80)));
            UNROLL for (size_t i = 0; i < rows; i++)
            {
                if (is_bytes(kind)) {
                    s[i][v] = dot(s[i][v], byte, x[i][g / 4], g % 4);
                    continue;
                }
                s[i][v] = dot(s[i][v], kind == PWL_QGEMM_E2M1 ? value(low) : vreinterpretq_s8_u8(low), x[i][0], g);
                s[i][v] = dot(s[i][v], kind == PWL_QGEMM_E2M1 ? value(high) : vreinterpretq_s8_u8(high), x[i][1], g);
            }
        }
    }
}

INLINE void add_half_dots(pwl_qgemm_kind kind, const uint8_t *tile, size_t half, size_t row, size_t vectors,
                          const int8_t *q, size_t stride, size_t rows, integers s[MOST][ALL])
{
    int8x16_t x[MOST];
    UNROLL for (size_t i = 0; i < rows; i++) x[i] = vld1q_s8(q + i * stride);
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        codes c[4];
        if (kind == PWL_QGEMM_SUPER5)
            fives(tile, row + v * LANES, half, c);
        else
            sixes(tile, row + v * LANES, half, c);
        UNROLL for (size_t j = 0; j < 4; j++)
        {
            UNROLL for (size_t i = 0; i < rows; i++) s[i][v] = dot(s[i][v], vreinterpretq_s8_u8(c[j]), x[i], j);
        }
    }
}

#include "gemm/host/loops.h"

void pwl_qgemm_dotprod(const pwl_qgemm_pass *pass)
{
    multiply(pass);
}

PWL_QGEMM_DEFINE_ROUND(dotprod)
