/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of single elements, by integers alone: requantisation, and the addition of two tensors that have scales of
 * their own. docs/operators.md is their specification, with the bound on what they compute.
 *
 * An operator is a constant of integers, made by `pwlc fit`; it can live in ROM. It is checked once, and then run on
 * any number of arrays by any number of threads: running neither allocates nor keeps anything.
 *
 *   if (pwl_add_check(&residual) == PWL_OK)
 *       pwl_add_run(&residual, a, b, y, count);
 *
 * The inline functions below are the arithmetic of one element, for those who run it elsewhere.
 */
#ifndef PWL_ELEMENTS_H
#define PWL_ELEMENTS_H

#include "fixed.h"
#include "pwl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PWL_ELEMENTS_VERSION 1 /* layout and meaning of pwl_requantise and pwl_add */

/* y = clip(zp_y + shr(a (x - zp_x), n)) */
typedef struct pwl_requantise {
    uint8_t version;    /* PWL_ELEMENTS_VERSION */
    uint8_t in;         /* pwl_type of codes, of 8 or 16 bits or PWL_S32 */
    uint8_t out;        /* pwl_type of codes, of 8 or 16 bits */
    uint8_t shift;      /* n, 1..62 */
    int32_t multiplier; /* a, 2^30..2^31 - 1 */
    int32_t qmin_y, qmax_y;
    int64_t zp_x; /* a code */
    int64_t zp_y; /* within 33 bits */
} pwl_requantise;

/* y = clip(zp_y + shr(F a + G b + C, n)) */
typedef struct pwl_add {
    uint8_t version;            /* PWL_ELEMENTS_VERSION */
    uint8_t in_a, in_b, out;    /* pwl_type of codes, of 8 or 16 bits */
    uint8_t shift;              /* n, 1..62 */
    int32_t factor_a, factor_b; /* F and G, not negative */
    int32_t qmin_y, qmax_y;
    int64_t constant; /* C, within 2^62 of 0 */
    int64_t zp_y;     /* within 33 bits */
} pwl_add;

/*
 * Proves an operator safe for every code, as docs/operators.md says under "What a check proves". PWL_ERR_NULL,
 * PWL_ERR_VERSION, PWL_ERR_FIELD (the types), PWL_ERR_RANGE_Y, PWL_ERR_ZERO_POINT, PWL_ERR_SHIFT, PWL_ERR_CONSTANT (a
 * multiplier, a factor, the constant, or what they make of the largest codes).
 */
PWL_API PWL_NODISCARD pwl_status pwl_requantise_check(const pwl_requantise *requantise);
PWL_API PWL_NODISCARD pwl_status pwl_add_check(const pwl_add *add);

/*
 * Each of `count` elements, of the operator's types. The operator has passed its check. Reads the inputs in [0, count),
 * writes y there, nothing else. y may be an input whose elements have its size; else it lies apart from both.
 */
PWL_API void pwl_requantise_run(const pwl_requantise *requantise, const void *x, void *y, size_t count);
PWL_API void pwl_add_run(const pwl_add *add, const void *a, const void *b, void *y, size_t count);

/* One element. */
PWL_FN int64_t pwl_requantise_element(const pwl_requantise *requantise, int64_t x)
{
    const int64_t v = requantise->multiplier * (x - requantise->zp_x);
    return pwl_sat(requantise->zp_y + pwl_shr64(v, requantise->shift, PWL_HALF_UP), requantise->qmin_y,
                   requantise->qmax_y);
}

PWL_FN int64_t pwl_add_element(const pwl_add *add, int64_t a, int64_t b)
{
    const int64_t v = add->factor_a * a + add->factor_b * b + add->constant;
    return pwl_sat(add->zp_y + pwl_shr64(v, add->shift, PWL_HALF_UP), add->qmin_y, add->qmax_y);
}

#ifdef __cplusplus
}
#endif
#endif
