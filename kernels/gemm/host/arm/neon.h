/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways of Arm share: NEON, 4 rows of weights to a vector. */
#ifndef PWL_QGEMM_NEON_H
#define PWL_QGEMM_NEON_H

#include <arm_neon.h>

#include "gemm/host/unroll.h"
#include "gemm/host/ways.h"

typedef int32x4_t integers;
typedef float32x4_t floats;
typedef uint8x16_t codes;

enum { LANES = 4, ALL = PWL_QGEMM_PANEL / LANES };

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

#include "gemm/host/codes.h"

#endif
