/* SPDX-License-Identifier: Apache-2.0 */
/* Kind "cells16", as many codes at a time as two registers hold, in words of 32 bits. */
#include "../cells16.h"
#include "../loop.h"
#include "../ways.h"
#include "vector.h"

INLINE vuint32m4_t as_unsigned(vint32m4_t v)
{
    return RVV(vreinterpret_v_i32m4_u32m4)(v);
}

INLINE vint32m4_t as_signed(vuint32m4_t v)
{
    return RVV(vreinterpret_v_u32m4_i32m4)(v);
}

/* The lower half of each word, signed. */
INLINE vint32m4_t lower(vuint32m4_t v, size_t vl)
{
    return RVV(vsra_vx_i32m4)(as_signed(RVV(vsll_vx_u32m4)(v, 16, vl)), 16, vl);
}

/* Words so many bytes, 1 << bytes_log2, apart. */
INLINE vuint32m4_t gather(const void *words, vuint32m4_t i, size_t bytes_log2, size_t vl)
{
    return RVV(vluxei32_v_u32m4)((const uint32_t *)words, RVV(vsll_vx_u32m4)(i, bytes_log2, vl), vl);
}

INLINE vuint32m4_t find(const pwl_packed_arrays *of, vint32m4_t s, size_t cell_bits, uint32_t step, size_t vl)
{
    const vuint32m4_t from_lowest = as_unsigned(RVV(vadd_vx_i32m4)(s, -INT16_MIN, vl));
    const vuint32m4_t cell = gather(of->cells, RVV(vsrl_vx_u32m4)(from_lowest, cell_bits, vl), 2, vl);
    vuint32m4_t i = RVV(vsrl_vx_u32m4)(cell, 16, vl);
    vint32m4_t last = lower(cell, vl);
    for (;;) {
        i = RVV_KEEP(vadd_vx_u32m4)(RVV(vmsgt_vv_i32m4_b8)(s, last, vl), i, i, step, vl);
        if (!(step >>= 1))
            return i;
        last = as_signed(gather(of->lasts + step - 1, i, 2, vl));
    }
}

/* p >> n, ties to even values as span.h tells. A shift takes the low five bits of n, and of -n. */
INLINE vint32m4_t shift(vint32m4_t p, vuint32m4_t n, int even, size_t vl)
{
    const vint32m4_t shifted = RVV(vsra_vv_i32m4)(p, n, vl);
    vuint32m4_t rest;
    if (!even)
        return shifted;
    rest = RVV(vsll_vv_u32m4)(as_unsigned(p), RVV(vrsub_vx_u32m4)(n, 0, vl), vl);
    return RVV_KEEP(vand_vx_i32m4)(RVV(vmseq_vx_u32m4_b8)(rest, 0, vl), shifted, shifted, ~1, vl);
}

/* Values before saturation. */
INLINE vint32m4_t evaluate(const pwl_packed_arrays *of, vint32m4_t s, size_t cell_bits, uint32_t step, int even,
                           int has_post, size_t vl)
{
    const vuint32m4_t i = find(of, s, cell_bits, step, vl);
    const vuint32m4_t slope_n = gather(&of->lines->slope_n, i, 3, vl);
    const vint32m4_t pre = as_signed(gather(&of->lines->pre, i, 3, vl));
    const vint32m4_t p = RVV(vmacc_vv_i32m4)(pre, s, lower(slope_n, vl), vl);
    const vint32m4_t v = shift(p, RVV(vsrl_vx_u32m4)(slope_n, 16, vl), even, vl);
    return has_post ? RVV(vadd_vv_i32m4)(v, as_signed(gather(of->posts, i, 2, vl)), vl) : v;
}

INLINE void run(const pwl_packed *made, const uint16_t *x, uint16_t *y, size_t count, int even, int has_post)
{
    const pwl_packed_arrays of = pwl_packed_arrays_of(made);
    const int16_t low = made->low, high = made->high, min_y = made->min_y, max_y = made->max_y;
    const uint16_t flip_x = made->flip_x, flip_y = made->flip_y;
    const uint32_t step = 1u << (made->steps - 1);
    const size_t cell_bits = made->cell_bits;
    size_t vl;
    for (; count; count -= vl, x += vl, y += vl) {
        vuint16m2_t bits;
        vint16m2_t code;
        vint32m4_t v;
        vl = RVV(vsetvl_e16m2)(count);
        bits = RVV(vxor_vx_u16m2)(RVV(vle16_v_u16m2)(x, vl), flip_x, vl);
        code = RVV(vmax_vx_i16m2)(RVV(vreinterpret_v_u16m2_i16m2)(bits), low, vl);
        code = RVV(vmin_vx_i16m2)(code, high, vl);
        v = evaluate(&of, RVV(vsext_vf2_i32m4)(code, vl), cell_bits, step, even, has_post, vl);
        v = RVV(vmin_vx_i32m4)(RVV(vmax_vx_i32m4)(v, min_y, vl), max_y, vl);
        bits = RVV(vnsrl_wx_u16m2)(as_unsigned(v), 0, vl);
        RVV(vse16_v_u16m2)(y, RVV(vxor_vx_u16m2)(bits, flip_y, vl), vl);
    }
}

void pwl_cells16_rvv(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_packed *const made = (const pwl_packed *)plan->memory;
    const uint16_t *const from = (const uint16_t *)x;
    uint16_t *const to = (uint16_t *)y;
    PWL_RUN_ROUNDED(made->even, made->has_post, run, made, from, to, count);
}
