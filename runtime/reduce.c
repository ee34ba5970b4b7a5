/* SPDX-License-Identifier: Apache-2.0 */
/* Reduced tables: the proof, one code, arrays. */
#include <pwl/reduce.h>

#include "element.h"
#include "within.h"

#define ZERO_POINT_LIMIT ((int64_t)1 << 60)

/* Whether |a * b| < 2^bits, as far as their lengths tell. */
static int product_fits(int64_t a, int64_t b, int bits)
{
    return pwl_bit_length(pwl_abs64(a)) + pwl_bit_length(pwl_abs64(b)) <= bits;
}

/* The fields, without what depends on the codes. */
static pwl_status check_fields(const pwl_reduced *reduced)
{
    const pwl_reduction *reduction = &reduced->reduction;
    const pwl_table *core = &reduced->core;
    const int word_bits = 8 << core->storage;
    if (reduction->version != PWL_REDUCTION_VERSION)
        return PWL_ERR_VERSION;
    if (reduction->direction < -1 || reduction->direction > 1 || (core->flags & PWL_FLAG_FOLD))
        return PWL_ERR_REDUCTION;
    if (reduction->kind == PWL_LEADING_ZEROS) {
        if (reduction->log2_step > 1 || reduction->fraction || reduction->factor ||
            !is_within(reduction->below, core->qmin_y, core->qmax_y))
            return PWL_ERR_REDUCTION;
    } else if (reduction->kind == PWL_EXPONENT) {
        if (reduction->log2_step || !is_within(reduction->fraction, word_bits, 62) || reduction->below)
            return PWL_ERR_REDUCTION;
    } else {
        return PWL_ERR_REDUCTION;
    }
    if (!is_within(reduction->qmin_x, INT32_MIN, reduction->qmax_x) || reduction->qmax_x > UINT32_MAX)
        return PWL_ERR_RANGE_X;
    /* So that d has at most 62 bits, and zp_y may be added to 62 others. */
    if (!is_within(reduction->zp_x, -ZERO_POINT_LIMIT, ZERO_POINT_LIMIT) ||
        !is_within(reduction->zp_y, -ZERO_POINT_LIMIT, ZERO_POINT_LIMIT))
        return PWL_ERR_ZERO_POINT;
    return PWL_OK;
}

/* What happens to one d. r, and z before it, are monotone in d, so that the ends of a range speak for all of it. */
static pwl_status check_difference(const pwl_reduced *reduced, int64_t d)
{
    const pwl_reduction *reduction = &reduced->reduction;
    pwl_reduced_code code;
    if (reduction->kind == PWL_EXPONENT && !product_fits(d, reduction->factor, 62))
        return PWL_ERR_REDUCED_CODE;
    code = pwl_reduce(reduction, 8 << reduced->core.storage, d);
    return product_fits(code.r, reduction->addend, 60) ? PWL_OK : PWL_ERR_REDUCED_VALUE;
}

static pwl_status check_differences(const pwl_reduced *reduced)
{
    const pwl_reduction *reduction = &reduced->reduction;
    int64_t first = reduction->qmin_x - reduction->zp_x;
    const int64_t last = reduction->qmax_x - reduction->zp_x;
    pwl_status status;
    if (reduction->kind == PWL_LEADING_ZEROS && first < 1)
        first = 1;
    if (first > last) /* every code gives `below` */
        return PWL_OK;
    status = check_difference(reduced, first);
    return status == PWL_OK ? check_difference(reduced, last) : status;
}

/* |raw| < 2^60. A segment's value is monotone in the code, as the core's proof says. */
static pwl_status check_values(const pwl_table *core, int32_t *segment)
{
    const int32_t count = core->segments;
    int32_t i;
    for (i = 0; i < count; i++) {
        const int64_t first = pwl_element_start(core, i);
        const int64_t last = i + 1 < count ? pwl_element_start(core, i + 1) - 1 : core->qmax_x;
        *segment = i;
        if (!product_fits(pwl_eval_unclamped(core, first), 1, 61) ||
            !product_fits(pwl_eval_unclamped(core, last), 1, 61))
            return PWL_ERR_REDUCED_VALUE;
    }
    *segment = -1;
    return PWL_OK;
}

pwl_status pwl_reduced_check(const pwl_reduced *reduced, pwl_proof *proof)
{
    pwl_proof own;
    pwl_status status;
    if (!proof)
        proof = &own;
    status = pwl_table_check(reduced ? &reduced->core : 0, proof);
    if (status != PWL_OK)
        return status;
    status = check_fields(reduced);
    if (status == PWL_OK)
        status = check_differences(reduced);
    if (status == PWL_OK)
        status = check_values(&reduced->core, &proof->segment);
    proof->status = status;
    if (status != PWL_OK)
        proof->acc_bits = 0;
    return status;
}

int64_t pwl_reduced_eval(const pwl_reduced *reduced, int64_t q_x)
{
    return pwl_reduced_eval_inline(reduced, q_x);
}

void pwl_reduced_map(const pwl_reduced *reduced, pwl_type in, const void *x, pwl_type out, void *y, size_t count)
{
    size_t k;
    for (k = 0; k < count; k++)
        pwl_set_element_of(out, y, k, pwl_reduced_eval(reduced, pwl_element_of(in, x, k)));
}
