/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kind "cells16", as many codes at a time as a register holds. Codes, lines and values are words of 16 bits; what is
 * loaded from where these say has 32, and is in two vectors, of the even codes (bottom halves) and of the odd ones (top
 * halves). Beyond the end nothing is read or written: lanes there have code 0.
 */
#include <arm_sve.h>

#include "../cells16.h"
#include "../loop.h"
#include "../ways.h"

/* The lower halves of the even codes' words and the odd codes', in order. */
INLINE svuint16_t lower(svuint32_t even, svuint32_t odd)
{
    return svtrn1_u16(svreinterpret_u16_u32(even), svreinterpret_u16_u32(odd));
}

INLINE svuint16_t upper(svuint32_t even, svuint32_t odd)
{
    return svtrn2_u16(svreinterpret_u16_u32(even), svreinterpret_u16_u32(odd));
}

/* The lines of codes. */
INLINE svuint16_t find(const pwl_packed_arrays *of, svint16_t s, uint16_t cell_bits, int steps)
{
    const svbool_t all = svptrue_b8();
    const svuint16_t from_lowest = sveor_n_u16_x(all, svreinterpret_u16_s16(s), 0x8000);
    const svuint16_t cell = svlsr_n_u16_x(all, from_lowest, cell_bits);
    svuint32_t even = svld1_gather_u32index_u32(all, of->cells, svmovlb_u32(cell));
    svuint32_t odd = svld1_gather_u32index_u32(all, of->cells, svmovlt_u32(cell));
    svuint16_t i = upper(even, odd);
    while (steps--) {
        const svbool_t beyond = svcmpgt_s16(all, s, svreinterpret_s16_u16(lower(even, odd)));
        i = svadd_n_u16_m(beyond, i, (uint16_t)(1u << steps));
        if (steps) {
            const uint32_t *const lasts = (const uint32_t *)of->lasts + (1 << (steps - 1)) - 1;
            even = svld1_gather_u32index_u32(all, lasts, svmovlb_u32(i));
            odd = svld1_gather_u32index_u32(all, lasts, svmovlt_u32(i));
        }
    }
    return i;
}

/* p >> n, ties to even values as span.h tells. */
INLINE svint32_t shift(svint32_t p, svuint32_t n, int even)
{
    const svbool_t all = svptrue_b8();
    const svint32_t shifted = svasr_s32_x(all, p, n);
    svint32_t rest;
    if (!even)
        return shifted;
    rest = svlsl_s32_x(all, p, svand_n_u32_x(all, svsubr_n_u32_x(all, n, 0), 31));
    return svbic_n_s32_m(svcmpeq_n_s32(all, rest, 0), shifted, 1);
}

/* Values, before saturation, of the codes s in bottom halves, on lines so many bytes from the first. */
INLINE svint32_t evaluate(const pwl_packed_arrays *of, svint16_t s, svuint32_t at, int even, int has_post)
{
    const svbool_t all = svptrue_b8();
    const svuint32_t slope_n = svld1_gather_u32offset_u32(all, &of->lines->slope_n, at);
    const svuint32_t pre = svld1_gather_u32offset_u32(all, &of->lines->pre, at);
    const svint32_t p = svmlalb_s32(svreinterpret_s32_u32(pre), s, svreinterpret_s16_u32(slope_n));
    const svint32_t v = shift(p, svlsr_n_u32_x(all, slope_n, 16), even);
    svuint32_t post;
    if (!has_post)
        return v;
    post = svld1_gather_u32offset_u32(all, of->posts, svlsr_n_u32_x(all, at, 1));
    return svadd_s32_x(all, v, svreinterpret_s32_u32(post));
}

INLINE void run(const pwl_packed *made, const uint16_t *x, uint16_t *y, size_t count, int steps, int even, int has_post)
{
    const pwl_packed_arrays of = pwl_packed_arrays_of(made);
    const int16_t low = made->low, high = made->high, min_y = made->min_y, max_y = made->max_y;
    const uint16_t flip_x = made->flip_x, flip_y = made->flip_y, cell_bits = made->cell_bits;
    const svbool_t all = svptrue_b8();
    svbool_t lanes;
    size_t k;
    for (k = 0; svptest_first(svptrue_b16(), lanes = svwhilelt_b16_u64(k, count)); k += svcnth()) {
        const svint16_t code = svreinterpret_s16_u16(sveor_n_u16_x(all, svld1_u16(lanes, x + k), flip_x));
        const svint16_t s = svmin_n_s16_x(all, svmax_n_s16_x(all, code, low), high);
        const svint16_t odd_s = svreinterpret_s16_u32(svlsr_n_u32_x(all, svreinterpret_u32_s16(s), 16));
        /* A line has 8 bytes. */
        const svuint16_t i = find(&of, s, cell_bits, steps);
        const svint32_t first = evaluate(&of, s, svshllb_n_u32(i, 3), even, has_post);
        const svint32_t second = evaluate(&of, odd_s, svshllt_n_u32(i, 3), even, has_post);
        const svint16_t v = svqxtnt_s32(svqxtnb_s32(first), second);
        const svint16_t clipped = svmin_n_s16_x(all, svmax_n_s16_x(all, v, min_y), max_y);
        svst1_u16(lanes, y + k, sveor_n_u16_x(all, svreinterpret_u16_s16(clipped), flip_y));
    }
}

void pwl_cells16_sve2(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_packed *const made = (const pwl_packed *)plan->memory;
    const uint16_t *const from = (const uint16_t *)x;
    uint16_t *const to = (uint16_t *)y;
    if (made->steps == 1)
        PWL_RUN_ROUNDED(made->even, made->has_post, run, made, from, to, count, 1);
    else
        PWL_RUN_ROUNDED(made->even, made->has_post, run, made, from, to, count, made->steps);
}
