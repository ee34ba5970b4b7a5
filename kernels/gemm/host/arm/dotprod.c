/* SPDX-License-Identifier: Apache-2.0 */
/* NEON: dot products of four signed bytes (SDOT), 4 rows of weights to a vector. */
#include <arm_neon.h>

#include "gemm/host/unroll.h"
#include "gemm/host/ways.h"

typedef int32x4_t integers;
typedef float32x4_t floats;
typedef uint8x16_t codes;

#define MOST 4
#define START_LAST 0
enum { LANES = 4, VECTORS = 2, ALL = PWL_QGEMM_PANEL / LANES };

#define load(p) vld1q_u8(p)
#define right(v, n) vshrq_n_u8(v, n)
#define only(v, mask) vandq_u8(v, vdupq_n_u8(mask))
#define join(a, b) vorrq_u8(a, b)
#define word_right(v, n) vreinterpretq_u8_u32(vshrq_n_u32(vreinterpretq_u32_u8(v), n))
#define word_only(v) vreinterpretq_s32_u32(vandq_u32(vreinterpretq_u32_u8(v), vdupq_n_u32(255)))
#define load_floats(p) vld1q_f32(p)
#define exponent(p) vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(p), vdupq_n_u32(0x7f800000)))
#define larger(a, b) vmaxq_f32(a, b)
#define add_product(y, a, b) vfmaq_f32(y, a, b)
#define add(a, b) vaddq_s32(a, b)
#define integer(i) vdupq_n_s32(i)
#define real(f) vdupq_n_f32(f)
#define to_real(s) vcvtq_f32_s32(s)
#define times(a, b) vmulq_f32(a, b)
#define plus(a, b) vaddq_f32(a, b)
#define minus(a, b) vsubq_f32(a, b)
#define store_integers(p, s) vst1q_s32(p, s)
#define store(p, y) vst1q_f32(p, y)
#define nothing() vdupq_n_s32(0)
#define zeros() vdupq_n_f32(0)

/* Codes of 8 bits are signed again. */
INLINE int is_shifted(pwl_qgemm_kind kind)
{
    return !is_bytes(kind);
}

INLINE floats from_halves(const uint8_t *p)
{
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p)));
}

/* 4 bytes. */
INLINE uint8x8_t four_at(const uint8_t *p)
{
    uint32_t word;
    __builtin_memcpy(&word, p, sizeof word);
    return vreinterpret_u8_u32(vdup_n_u32(word));
}

INLINE floats from_codes(const uint8_t *p)
{
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(four_at(p)))));
}

INLINE floats from_signed(const uint8_t *p)
{
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(four_at(p))))));
}

INLINE floats scales(pwl_qgemm_kind kind, const uint8_t *tile, size_t row)
{
    const uint8_t *const at = tile + PWL_QGEMM_PANEL * (is_bytes(kind) ? 32 : 16) + row * sizeof(uint16_t);
    const uint16x4_t bits = vreinterpret_u16_u8(vld1_u8(at));
    if (kind == PWL_QGEMM_E2M1)
        return vreinterpretq_f32_u32(vshll_n_u16(bits, 16));
    return vcvt_f32_f16(vreinterpret_f16_u16(bits));
}

INLINE int8x16_t value(uint8x16_t c)
{
    static const uint8_t values[16] = {PWL_QGEMM_E2M1_SHIFTED};
    return vreinterpretq_s8_u8(vqtbl1q_u8(vld1q_u8(values), c));
}

INLINE codes value_codes(pwl_qgemm_kind kind, codes both, size_t upper)
{
    const codes c = is_bytes(kind) ? both : upper ? vshrq_n_u8(both, 4) : vandq_u8(both, vdupq_n_u8(15));
    return kind == PWL_QGEMM_E2M1 ? vreinterpretq_u8_s8(value(c)) : c;
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

#include "gemm/host/codes.h"

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
