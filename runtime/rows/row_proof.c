/* SPDX-License-Identifier: Apache-2.0 */
/* The proof that a row operator is safe to run, for every row. docs/operators.md, "What a check proves", is its plan.
 */
#include <pwl/rows.h>

#include "../element.h"
#include "../within.h"
#include "row_ways.h"

#define ZERO_POINT_LIMIT ((int64_t)1 << 32)
#define FACTOR_LIMIT (((uint64_t)1 << 31) + 1) /* of R, whatever the cores give */
#define ONE_31 ((uint32_t)1 << 31)

/* a * b, or UINT64_MAX where that is too much. */
static uint64_t product_of(uint64_t a, uint64_t b)
{
    return pwl_bit_length(a) + pwl_bit_length(b) > 64 ? UINT64_MAX : a * b;
}

/* What both operators have in common. */
static pwl_status check_types(uint8_t in, uint8_t out, int64_t qmin_y, int64_t qmax_y, int64_t zp_y, uint32_t length)
{
    if (in > PWL_U16 || out > PWL_U16)
        return PWL_ERR_FIELD;
    if (qmin_y > qmax_y || qmin_y < pwl_type_lowest((pwl_type)out) || qmax_y > pwl_type_highest((pwl_type)out))
        return PWL_ERR_RANGE_Y;
    if (!is_within(zp_y, -ZERO_POINT_LIMIT, ZERO_POINT_LIMIT))
        return PWL_ERR_ZERO_POINT;
    return is_within(length, 1, PWL_LONGEST_ROW) ? PWL_OK : PWL_ERR_ROW;
}

/* What it gives has 16 bits. A reciprocal needs no more: m r < 2 for every word, so that R is not negative. */
static pwl_status check_core(const pwl_table *core)
{
    const pwl_status status = pwl_table_check(core, NULL);
    if (status != PWL_OK)
        return status;
    return core->qmin_y >= 0 && core->qmax_y <= UINT16_MAX ? PWL_OK : PWL_ERR_CORE;
}

/* In each cell R does not grow with the word. */
static pwl_status check_rsqrt(const pwl_table *core)
{
    uint32_t cell;
    const pwl_status status = check_core(core);
    if (status != PWL_OK)
        return status;
    for (cell = 16384; cell < 65536; cell++)
        if (pwl_rsqrt_newton(cell << 16 | 65535, pwl_eval(core, (int64_t)cell - 16384)) < 0)
            return PWL_ERR_CORE;
    return PWL_OK;
}

/* From the first entry on none is above the one before. */
static int falls(const uint32_t *entries)
{
    int k;
    for (k = 1; k < 256; k++)
        if (entries[k] > entries[k - 1])
            return 0;
    return 1;
}

static pwl_status check_exp(const pwl_softmax *softmax)
{
    const uint32_t *const low = softmax->exp;
    uint32_t d;
    if (!softmax->exp_high)
        return low[0] == (uint32_t)1 << softmax->fraction && falls(low) ? PWL_OK : PWL_ERR_CONSTANT;
    /* high < 2^32 and low <= 2^31, so that 64 bits hold a product and half of 2^62, and 32 its quotient by 2^32. */
    if (low[0] != ONE_31 || softmax->exp_high[0] != ONE_31 || softmax->exp_shift[0] != 62 - softmax->fraction ||
        !falls(low))
        return PWL_ERR_CONSTANT;
    for (d = 256; d < 65536; d += 256)
        if (softmax->exp_shift[d >> 8] < 32 || pwl_softmax_exp(softmax, d - 1) < pwl_softmax_exp(softmax, d))
            return PWL_ERR_CONSTANT;
    return PWL_OK;
}

static pwl_status check_log(const pwl_softmax *softmax)
{
    const int64_t limit = (int64_t)1 << 24;
    uint32_t cell;
    if (!softmax->log_factor || !softmax->log_value)
        return PWL_ERR_NULL;
    if (!is_within(softmax->step_shift, 1, 40) || !is_within(softmax->log_shift, 1, 62))
        return PWL_ERR_SHIFT;
    if (softmax->step < 0 || !is_within(softmax->log_unit, 1, ((int64_t)1 << 28) - 1))
        return PWL_ERR_CONSTANT;
    for (cell = 0; cell < PWL_LOG_CELLS; cell++) {
        const int64_t first = (int64_t)(cell + 128) << 24, last = first + (limit - 1);
        const int64_t factor = softmax->log_factor[cell], one = (int64_t)1 << 30;
        if (!is_within(((first * factor) >> 17) - one, -limit, limit) ||
            !is_within(((last * factor) >> 17) - one, -limit, limit) || !is_within(softmax->log_value[cell], 0, one))
            return PWL_ERR_CONSTANT;
    }
    return PWL_OK;
}

/* Fields that one kind alone has. */
static pwl_status check_kind(const pwl_softmax *softmax)
{
    if (softmax->kind == PWL_LOG_SOFTMAX)
        return softmax->out_bits ? PWL_ERR_FIELD : check_log(softmax);
    if (softmax->kind != PWL_SOFTMAX || softmax->step_shift || softmax->log_shift || softmax->step ||
        softmax->log_unit || softmax->log_factor || softmax->log_value)
        return PWL_ERR_FIELD;
    return is_within(softmax->out_bits, 1, 16) ? PWL_OK : PWL_ERR_SHIFT;
}

pwl_status pwl_softmax_check(const pwl_softmax *softmax)
{
    pwl_status status;
    if (!softmax || !softmax->exp || !softmax->reciprocal)
        return PWL_ERR_NULL;
    if (softmax->version != PWL_ROWS_VERSION)
        return PWL_ERR_VERSION;
    status = check_types(softmax->in, softmax->out, softmax->qmin_y, softmax->qmax_y, softmax->zp_y, softmax->longest);
    if (status != PWL_OK)
        return status;
    if ((softmax->in >= PWL_S16) != (softmax->exp_high != NULL) ||
        (softmax->exp_high != NULL) != (softmax->exp_shift != NULL))
        return PWL_ERR_FIELD;
    if (!is_within(softmax->fraction, 8, 30))
        return PWL_ERR_SHIFT;
    status = check_kind(softmax);
    if (status == PWL_OK)
        status = check_exp(softmax);
    return status == PWL_OK ? check_core(softmax->reciprocal) : status;
}

/* The sums of a row, and V; *least is the smallest V beyond E0. */
static pwl_status check_sums(const pwl_norm *norm, uint64_t range, uint64_t *least)
{
    const int64_t lowest = pwl_type_lowest((pwl_type)norm->in), highest = pwl_type_highest((pwl_type)norm->in);
    const uint64_t n = norm->length, below = pwl_abs64(lowest - norm->zp_x), above = pwl_abs64(highest - norm->zp_x);
    const uint64_t largest = n * (below > above ? below : above);
    const int is_layer = norm->kind == PWL_LAYER_NORM;
    const uint64_t square = product_of(n * range, n * range);
    const uint64_t spread = is_layer ? square >> 2 : square;
    /* UINT64_MAX, where a product is too much, is no sum that fits either. */
    if (product_of(largest, largest) > INT64_MAX || square == UINT64_MAX)
        return PWL_ERR_ROW;
    if (spread > (uint64_t)(INT64_MAX - norm->eps) >> norm->variance_shift)
        return PWL_ERR_ROW;
    if (product_of(n * range, FACTOR_LIMIT >> norm->drop) >= (uint64_t)1 << 62)
        return PWL_ERR_ROW;
    *least = ((is_layer ? n - 1 : n) << norm->variance_shift) + (uint64_t)norm->eps;
    return PWL_OK;
}

static pwl_status check_channels(const pwl_norm *norm)
{
    const uint64_t limit = (uint64_t)1 << 62;
    const uint64_t t = pwl_norm_most(norm);
    uint64_t gamma = 0, beta = 0;
    uint32_t c;
    for (c = 0; c < norm->length; c++) {
        const uint64_t g = pwl_abs64(norm->gamma[c]), b = norm->beta ? pwl_abs64(norm->beta[c]) : 0;
        gamma = g > gamma ? g : gamma;
        beta = b > beta ? b : beta;
    }
    return beta < limit && product_of(t, gamma) < limit - beta ? PWL_OK : PWL_ERR_CONSTANT;
}

static pwl_status check_norm_fields(const pwl_norm *norm)
{
    const int64_t lowest = pwl_type_lowest((pwl_type)norm->in), highest = pwl_type_highest((pwl_type)norm->in);
    if (norm->kind > PWL_RMS_NORM)
        return PWL_ERR_FIELD;
    if (norm->variance_shift > 24 || norm->variance_shift & 1 || !is_within(norm->fraction, 1, 30) || norm->drop > 8 ||
        !is_within(norm->gamma_shift + norm->fraction, 1, 62))
        return PWL_ERR_SHIFT;
    if (norm->kind == PWL_LAYER_NORM ? norm->zp_x != (lowest + highest + 1) / 2
                                     : !is_within(norm->zp_x, lowest, highest))
        return PWL_ERR_ZERO_POINT;
    return norm->eps >= 0 ? PWL_OK : PWL_ERR_CONSTANT;
}

pwl_status pwl_norm_check(const pwl_norm *norm)
{
    uint64_t range, least;
    pwl_status status;
    if (!norm || !norm->gamma || !norm->rsqrt)
        return PWL_ERR_NULL;
    if (norm->version != PWL_ROWS_VERSION)
        return PWL_ERR_VERSION;
    status = check_types(norm->in, norm->out, norm->qmin_y, norm->qmax_y, norm->zp_y, norm->length);
    if (status == PWL_OK)
        status = check_norm_fields(norm);
    if (status != PWL_OK)
        return status;
    range = (uint64_t)(pwl_type_highest((pwl_type)norm->in) - pwl_type_lowest((pwl_type)norm->in));
    if (norm->kind == PWL_RMS_NORM) {
        const uint64_t below = (uint64_t)(norm->zp_x - pwl_type_lowest((pwl_type)norm->in));
        range = below > range - below ? below : range - below;
    }
    status = check_sums(norm, range, &least);
    if (status == PWL_OK)
        status = check_rsqrt(norm->rsqrt);
    if (status != PWL_OK)
        return status;
    /* k does not shrink with V; a row of one place has no V beyond E0 for LayerNorm. */
    if (least > (uint64_t)norm->eps &&
        pwl_row_rsqrt(norm->rsqrt, least).shift - norm->drop - norm->fraction - norm->variance_shift / 2 < 1)
        return PWL_ERR_SHIFT;
    return check_channels(norm);
}
