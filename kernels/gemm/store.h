/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a sum once it is complete, for the host and for devices. With an activation a table's value of a code
 * comes in between, which either side has its own way to find.
 */
#ifndef PWL_QGEMM_STORE_H
#define PWL_QGEMM_STORE_H

#include <math.h>
#include <stdint.h>

#include <pwl/e4m3.h>
#include <pwl/fixed.h>
#include <pwl/half.h>
#include <pwl/qgemm.h>

/* v * 2^exponent, e + f: -254 to 239. Rounded once, where the result is a subnormal number. */
PWL_FN float pwl_qgemm_scaled(float v, int exponent)
{
    if (exponent < -126 || exponent > 127)
        return ldexpf(v, exponent);
#ifdef __CUDA_ARCH__
    return __fmul_rn(v, pwl_f32_of_bits((uint32_t)(127 + exponent) << 23));
#else
    return v * pwl_f32_of_bits((uint32_t)(127 + exponent) << 23);
#endif
}

/* y[m,n] of a sum in fp32 */
PWL_FN float pwl_qgemm_finish(float sum, int exponent, float bias)
{
    return pwl_qgemm_scaled(sum, exponent) + bias;
}

PWL_FN int pwl_qgemm_is_integer(pwl_qgemm_type type)
{
    return type >= PWL_QGEMM_S8 && type <= PWL_QGEMM_U32;
}

/* Element `at` of Y, of a type of floats. */
PWL_FN void pwl_qgemm_store(pwl_qgemm_type type, void *y, size_t at, float v)
{
    if (type == PWL_QGEMM_F32)
        ((float *)y)[at] = v;
    else
        ((uint16_t *)y)[at] = type == PWL_QGEMM_F16 ? pwl_f16_from_f32(v) : pwl_bf16_from_f32(v);
}

/* Element `at` of Y, in row m, of a type of floats or of E4M3, whose scales are given. */
PWL_FN void pwl_qgemm_store_real(const pwl_qgemm_output *y, size_t m, size_t at, float v)
{
    if (y->type == PWL_QGEMM_E4M3)
        ((uint8_t *)y->data)[at] = pwl_e4m3_code(v, pwl_e4m3_inverse(y->scale[m]));
    else
        pwl_qgemm_store(y->type, y->data, at, v);
}

/*
 * S8 of a sum v, |v| <= 2^32: sat(shr(v, n) + zero_point). Beyond 40 a shift leaves 0 (rounded half up, as v / 2^n >
 * -1/2), beyond -31 what is not 0 saturates; so n may be any sum of three exponents.
 */
PWL_FN int8_t pwl_qgemm_store_s8(int64_t v, int64_t n, int32_t zero_point)
{
    const int shift = (int)pwl_sat(n, -31, 40);
    return (int8_t)pwl_sat(pwl_shr64(v, shift, PWL_HALF_UP) + zero_point, -128, 127);
}

PWL_FN int32_t pwl_qgemm_store_s32(int64_t v)
{
    return (int32_t)pwl_sat(v, INT32_MIN, INT32_MAX);
}

/* Codes that a type of Y holds; of others than integers none, 0 to 0. */
typedef struct pwl_qgemm_range {
    int64_t min, max;
} pwl_qgemm_range;

PWL_FN pwl_qgemm_range pwl_qgemm_range_of(pwl_qgemm_type type)
{
    pwl_qgemm_range range = {0, 0};
    if (type == PWL_QGEMM_S8 || type == PWL_QGEMM_S16 || type == PWL_QGEMM_S32) {
        range.max = type == PWL_QGEMM_S8 ? INT8_MAX : type == PWL_QGEMM_S16 ? INT16_MAX : INT32_MAX;
        range.min = -range.max - 1;
    } else if (pwl_qgemm_is_integer(type)) {
        range.max = type == PWL_QGEMM_U8 ? UINT8_MAX : type == PWL_QGEMM_U16 ? UINT16_MAX : UINT32_MAX;
    }
    return range;
}

/* An activation that was checked, as those who compute it need it. */
typedef struct pwl_qgemm_epilogue {
    pwl_qgemm_activation as;
    int64_t qmin_x, qmax_x;       /* of the table */
    pwl_qgemm_range codes;        /* of Y */
    float x_inverse, out_inverse; /* RN(1 / scale) */
    int32_t n_x, n_up, n_out;     /* INT8: the scales as 2^-n, and n of the product */
} pwl_qgemm_epilogue;

/* Columns of Y of a product with n rows of weights. */
PWL_FN size_t pwl_qgemm_columns(size_t n, int gated)
{
    return gated ? n / 2 : n;
}

/* The row of the gate's weights for a column of Y; that of up is 8 further on. */
PWL_FN size_t pwl_qgemm_gate_row(size_t column)
{
    return column / 8 * 16 + column % 8;
}

/* Where the bias of a row of weights lies, or null. */
PWL_FN const void *pwl_qgemm_bias_at(const pwl_qgemm_product *product, const pwl_qgemm_activation *as, size_t row)
{
    const int gated = as && as->gated;
    const void *const from = gated && row / 8 % 2 ? as->bias_up : product->bias;
    return from ? (const char *)from + 4 * (gated ? row / 16 * 8 + row % 8 : row) : NULL;
}

PWL_FN float pwl_qgemm_bias_f32(const pwl_qgemm_product *product, const pwl_qgemm_activation *as, size_t row)
{
    const void *const at = pwl_qgemm_bias_at(product, as, row);
    return at ? *(const float *)at : 0;
}

PWL_FN int32_t pwl_qgemm_bias_s32(const pwl_qgemm_product *product, const pwl_qgemm_activation *as, size_t row)
{
    const void *const at = pwl_qgemm_bias_at(product, as, row);
    return at ? *(const int32_t *)at : 0;
}

/* v of a row of weights in INT8, of its sum, from which the zero point is taken. */
PWL_FN int64_t pwl_qgemm_with_bias(const pwl_qgemm_product *product, const pwl_qgemm_activation *as, size_t row,
                                   int64_t sum)
{
    return sum + pwl_qgemm_bias_s32(product, as, row);
}

/* Element `at` of Y, of a type of integers. */
PWL_FN void pwl_qgemm_store_code(pwl_qgemm_type type, void *y, size_t at, int64_t q)
{
    if (type == PWL_QGEMM_S8 || type == PWL_QGEMM_U8)
        ((uint8_t *)y)[at] = (uint8_t)q;
    else if (type == PWL_QGEMM_S16 || type == PWL_QGEMM_U16)
        ((uint16_t *)y)[at] = (uint16_t)q;
    else
        ((uint32_t *)y)[at] = (uint32_t)q;
}

/* The code that the table takes of y; of v, which INT8 makes with n = n_w + n_x. */
PWL_FN int64_t pwl_qgemm_code_of_f32(const pwl_qgemm_epilogue *e, float y)
{
    return pwl_code_of_real(y, e->x_inverse, e->as.of_x.zero_point, e->qmin_x, e->qmax_x);
}

PWL_FN int64_t pwl_qgemm_code_of_sum(const pwl_qgemm_epilogue *e, int64_t v, int32_t n)
{
    return pwl_code_of_integer(pwl_qgemm_store_s32(v), n - e->n_x, e->as.of_x.zero_point, e->qmin_x, e->qmax_x);
}

/* What the gate's factor is multiplied by, of an up. */
PWL_FN float pwl_qgemm_up(const pwl_qgemm_activation *as, float up)
{
    const float limit = as->up_limit;
    if (limit > 0 && (up > limit || up < -limit)) /* a NaN is neither */
        up = up > 0 ? limit : -limit;
    return as->up_plus == 0 ? up : up + as->up_plus; /* -0 stays what it is */
}

/* The real number that becomes Y, q being the table's value and up another y. */
PWL_FN float pwl_qgemm_activated(const pwl_qgemm_epilogue *e, int64_t q, float up)
{
    const float v = pwl_real_of_code(q, e->as.of_y);
    return e->as.gated ? v * pwl_qgemm_up(&e->as, up) : v;
}

/* Element `at` of Y, in row m, likewise. */
PWL_FN void pwl_qgemm_store_activated(const pwl_qgemm_epilogue *e, const pwl_qgemm_output *y, size_t m, size_t at,
                                      int64_t q, float up)
{
    if (!pwl_qgemm_is_integer(y->type))
        pwl_qgemm_store_real(y, m, at, pwl_qgemm_activated(e, q, up));
    else if (!e->as.gated)
        pwl_qgemm_store_code(y->type, y->data, at, q);
    else
        pwl_qgemm_store_code(y->type, y->data, at,
                             pwl_code_of_real(pwl_qgemm_activated(e, q, up), e->out_inverse, e->as.of_out.zero_point,
                                              e->codes.min, e->codes.max));
}

/* INT8; up is v of a row whose n_w + n_x is n. The product has at most 35 + 17 bits. */
PWL_FN void pwl_qgemm_store_activated_sum(const pwl_qgemm_epilogue *e, pwl_qgemm_type type, void *y, size_t at,
                                          int64_t q, int64_t up, int32_t n)
{
    if (e->as.gated) {
        const int64_t zero = e->as.of_up.zero_point;
        const int64_t q_u = pwl_code_of_integer(pwl_qgemm_store_s32(up), n - e->n_up, zero, INT16_MIN, INT16_MAX);
        q = pwl_code_of_integer((q - e->as.of_y.zero_point) * (q_u - zero), e->n_out, e->as.of_out.zero_point,
                                e->codes.min, e->codes.max);
    }
    pwl_qgemm_store_code(type, y, at, q);
}

#endif
