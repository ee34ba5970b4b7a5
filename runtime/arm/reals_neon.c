/* SPDX-License-Identifier: Apache-2.0 */
/* 16 floats at a time to codes, 8 back. */
#include <arm_neon.h>

#include "../loop.h"
#include "../reals.h"

/* Codes of 4 floats, in words of 32 bits. The conversion rounds to nearest with ties to even, saturates, and makes 0 of
 * NaN. */
INLINE int32x4_t code(const pwl_scaling *of, const float *x)
{
    const int32x4_t whole = vcvtnq_s32_f32(vmulq_f32(vld1q_f32(x), vdupq_n_f32(of->inverse)));
    const int32x4_t clamped = vminq_s32(vmaxq_s32(whole, vdupq_n_s32(of->least)), vdupq_n_s32(of->most));
    return vaddq_s32(clamped, vdupq_n_s32(of->zero));
}

INLINE int16x8_t low_halves(int32x4_t a, int32x4_t b)
{
    return vcombine_s16(vmovn_s32(a), vmovn_s32(b));
}

size_t pwl_codes_neon(const pwl_scaling *of, const float *x, pwl_type type, void *codes, size_t count)
{
    const int log2_bytes = (int)type >> 1;
    size_t k;
    for (k = 0; k + 16 <= count; k += 16) {
        const int32x4_t a = code(of, x + k), b = code(of, x + k + 4), c = code(of, x + k + 8), d = code(of, x + k + 12);
        if (log2_bytes == 0) {
            int8_t *const to = (int8_t *)codes + k;
            vst1q_s8(to, vcombine_s8(vmovn_s16(low_halves(a, b)), vmovn_s16(low_halves(c, d))));
        } else if (log2_bytes == 1) {
            int16_t *const to = (int16_t *)codes + k;
            vst1q_s16(to, low_halves(a, b));
            vst1q_s16(to + 8, low_halves(c, d));
        } else {
            int32_t *const to = (int32_t *)codes + k;
            vst1q_s32(to, a);
            vst1q_s32(to + 4, b);
            vst1q_s32(to + 8, c);
            vst1q_s32(to + 12, d);
        }
    }
    return k;
}

/* 8 codes in words of 32 bits. */
INLINE int32x4x2_t load(pwl_type type, const void *codes, size_t k)
{
    int32x4x2_t of;
    if (type == PWL_S8 || type == PWL_S16) {
        const int16x8_t v =
            type == PWL_S8 ? vmovl_s8(vld1_s8((const int8_t *)codes + k)) : vld1q_s16((const int16_t *)codes + k);
        of.val[0] = vmovl_s16(vget_low_s16(v));
        of.val[1] = vmovl_s16(vget_high_s16(v));
    } else if (type == PWL_U8 || type == PWL_U16) {
        const uint16x8_t v =
            type == PWL_U8 ? vmovl_u8(vld1_u8((const uint8_t *)codes + k)) : vld1q_u16((const uint16_t *)codes + k);
        of.val[0] = vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(v)));
        of.val[1] = vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(v)));
    } else {
        of.val[0] = vld1q_s32((const int32_t *)codes + k);
        of.val[1] = vld1q_s32((const int32_t *)codes + k + 4);
    }
    return of;
}

size_t pwl_reals_neon(const pwl_scaling *of, pwl_type type, const void *codes, float *y, size_t count, int streamed)
{
    const int32x4_t zero = vdupq_n_s32(of->zero_y);
    size_t k;
    (void)streamed;
    for (k = 0; k + 8 <= count; k += 8) {
        const int32x4x2_t v = load(type, codes, k);
        vst1q_f32(y + k, vmulq_n_f32(vcvtq_f32_s32(vsubq_s32(v.val[0], zero)), of->scale));
        vst1q_f32(y + k + 4, vmulq_n_f32(vcvtq_f32_s32(vsubq_s32(v.val[1], zero)), of->scale));
    }
    return k;
}
