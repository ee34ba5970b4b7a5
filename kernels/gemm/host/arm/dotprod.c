/* SPDX-License-Identifier: Apache-2.0 */
/* NEON: dot products of four signed bytes (SDOT), 4 rows of weights to a vector. */
#include <arm_neon.h>

#include "gemm/host/ways.h"

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

typedef int32x4_t integers;
typedef float32x4_t floats;

#define MOST 4
enum { LANES = 4, VECTORS = 2, GROUPS = PWL_BLOCK / 4 };

/* Of 8 bits alone codes are signed again, and not shifted. */
#define SHIFTED (kind != PWL_QGEMM_BYTES && kind != PWL_QGEMM_INTEGERS)

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

typedef struct weights {
    int8x16_t c[GROUPS];
    floats d;
} weights;

INLINE int8x16_t value(uint8x16_t c)
{
    static const uint8_t values[16] = {PWL_QGEMM_E2M1_SHIFTED};
    return vreinterpretq_s8_u8(vqtbl1q_u8(vld1q_u8(values), c));
}

INLINE floats scales_at(pwl_qgemm_kind kind, const uint8_t *p)
{
    const uint16x4_t bits = vreinterpret_u16_u8(vld1_u8(p));
    if (kind == PWL_QGEMM_E2M1)
        return vreinterpretq_f32_u32(vshll_n_u16(bits, 16));
    return vcvt_f32_f16(vreinterpret_f16_u16(bits));
}

INLINE weights unpack(pwl_qgemm_kind kind, const uint8_t *tile, size_t row)
{
    const int bytes = kind == PWL_QGEMM_BYTES || kind == PWL_QGEMM_INTEGERS, groups = bytes ? GROUPS : GROUPS / 2;
    const uint8_t *const codes = tile + pwl_qgemm_panel_row((size_t)groups, row);
    const uint8_t *const scales = tile + groups * 2 * PWL_QGEMM_GROUP + row * sizeof(uint16_t);
    weights w;
    UNROLL for (int g = 0; g < groups; g++)
    {
        const uint8x16_t both = vld1q_u8(codes + g * PWL_QGEMM_GROUP);
        if (bytes) {
            w.c[g] = vreinterpretq_s8_u8(veorq_u8(both, vdupq_n_u8(0x80)));
        } else {
            const uint8x16_t low = vandq_u8(both, vdupq_n_u8(15)), high = vshrq_n_u8(both, 4);
            w.c[g] = kind == PWL_QGEMM_E2M1 ? value(low) : vreinterpretq_s8_u8(low);
            w.c[g + GROUPS / 2] = kind == PWL_QGEMM_E2M1 ? value(high) : vreinterpretq_s8_u8(high);
        }
    }
    w.d = kind == PWL_QGEMM_INTEGERS ? zeros() : scales_at(kind, scales);
    return w;
}

INLINE void add_dots(pwl_qgemm_kind kind, const weights *w, int vectors, const int8_t *q, integers *s)
{
    const int8x16_t x = vld1q_s8(q), y = vld1q_s8(q + 16);
    (void)kind;
    UNROLL for (int v = 0; v < vectors; v++)
    {
        s[v] = vdotq_laneq_s32(s[v], w[v].c[0], x, 0);
        s[v] = vdotq_laneq_s32(s[v], w[v].c[1], x, 1);
        s[v] = vdotq_laneq_s32(s[v], w[v].c[2], x, 2);
        s[v] = vdotq_laneq_s32(s[v], w[v].c[3], x, 3);
        s[v] = vdotq_laneq_s32(s[v], w[v].c[4], y, 0);
        s[v] = vdotq_laneq_s32(s[v], w[v].c[5], y, 1);
        s[v] = vdotq_laneq_s32(s[v], w[v].c[6], y, 2);
        s[v] = vdotq_laneq_s32(s[v], w[v].c[7], y, 3);
    }
}

#include "gemm/host/loops.h"

void pwl_qgemm_dotprod(const pwl_qgemm_pass *pass)
{
    multiply(pass);
}
