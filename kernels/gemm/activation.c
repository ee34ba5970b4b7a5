/* SPDX-License-Identifier: Apache-2.0 */
/* Activations of products: which there are, and what their scales come to. */
#include "activation.h"

#include <float.h>
#include <math.h>

/* Whether a = 2^n * b. */
static int is_power(float a, float b, int32_t *n)
{
    int a_exponent, b_exponent;
    const int same = frexpf(a, &a_exponent) == frexpf(b, &b_exponent);
    *n = a_exponent - b_exponent;
    return same;
}

/* n of INT8; 0 where a scale does not allow any. */
static int find_shifts(const pwl_qgemm_activation *as, int32_t *n_x, int32_t *n_up, int32_t *n_out)
{
    *n_up = *n_out = 0;
    if (!is_power(1, as->of_x.scale, n_x))
        return 0;
    if (!as->gated)
        return 1;
    if (!is_power(1, as->of_up.scale, n_up) || !is_power(as->of_out.scale, as->of_y.scale, n_out))
        return 0;
    *n_out += *n_up;
    return 1;
}

static pwl_qgemm_status check_affines(const pwl_qgemm_product *product, int wide)
{
    const pwl_qgemm_activation *const as = product->activation;
    const int int8 = product->scheme == PWL_QGEMM_INT8, codes = pwl_qgemm_is_integer(product->y.type);
    const int wide_y = product->y.type == PWL_QGEMM_S32 || product->y.type == PWL_QGEMM_U32;
    int32_t n[3];
    if (!(as->up_limit >= 0 && as->up_limit <= FLT_MAX && as->up_plus >= -FLT_MAX && as->up_plus <= FLT_MAX) ||
        ((!as->gated || int8) && (as->up_limit != 0 || as->up_plus != 0)))
        return PWL_QGEMM_ERR_AFFINE;
    if (!pwl_affine_serves(as->of_x, wide))
        return PWL_QGEMM_ERR_AFFINE;
    if ((as->gated || !codes) && !pwl_affine_serves(as->of_y, wide))
        return PWL_QGEMM_ERR_AFFINE;
    if (as->gated && codes && !pwl_affine_serves(as->of_out, wide_y))
        return PWL_QGEMM_ERR_AFFINE;
    if (!int8)
        return PWL_QGEMM_OK;
    if (as->gated &&
        (!pwl_affine_serves(as->of_up, 0) || as->of_up.zero_point < INT16_MIN || as->of_up.zero_point > INT16_MAX))
        return PWL_QGEMM_ERR_AFFINE;
    return find_shifts(as, &n[0], &n[1], &n[2]) ? PWL_QGEMM_OK : PWL_QGEMM_ERR_AFFINE;
}

pwl_qgemm_status pwl_qgemm_check_activation(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes)
{
    const pwl_qgemm_activation *const as = product->activation;
    const pwl_qgemm_type type = product->y.type;
    const pwl_qgemm_range range = pwl_qgemm_range_of(type);
    if (as->gated && product->weights->n % 16)
        return PWL_QGEMM_ERR_SHAPE;
    if (as->gated && (uintptr_t)as->bias_up % 4)
        return PWL_QGEMM_ERR_ALIGN;
    if (!as->gated && pwl_qgemm_is_integer(type) && (codes->qmin_y < range.min || codes->qmax_y > range.max))
        return PWL_QGEMM_ERR_FIT;
    return check_affines(product, codes->wide);
}

pwl_qgemm_epilogue pwl_qgemm_epilogue_of(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes)
{
    pwl_qgemm_epilogue e = {.as = *product->activation, .qmin_x = codes->qmin_x, .qmax_x = codes->qmax_x};
    e.codes = pwl_qgemm_range_of(product->y.type);
    e.x_inverse = 1.0f / e.as.of_x.scale;
    if (e.as.gated && pwl_qgemm_is_integer(product->y.type))
        e.out_inverse = 1.0f / e.as.of_out.scale;
    if (product->scheme == PWL_QGEMM_INT8)
        (void)find_shifts(&e.as, &e.n_x, &e.n_up, &e.n_out);
    return e;
}

pwl_qgemm_status pwl_qgemm_host_codes(const pwl_qgemm_product *product, pwl_qgemm_codes *codes)
{
    const pwl_table *table;
    if (!product)
        return PWL_QGEMM_ERR_NULL;
    if (!product->activation)
        return PWL_QGEMM_OK;
    table = product->activation->table;
    if (!table)
        return PWL_QGEMM_ERR_NULL;
    if (pwl_table_check(table, NULL) != PWL_OK)
        return PWL_QGEMM_ERR_TABLE;
    *codes = (pwl_qgemm_codes){table->qmin_x, table->qmax_x, table->qmin_y, table->qmax_y, table->storage == PWL_INT32};
    return PWL_QGEMM_OK;
}
