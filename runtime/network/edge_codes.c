/* SPDX-License-Identifier: Apache-2.0 */
/* Codes of any type as integers of 64 bits, and back; constants and multipliers of nodes. */
#include "step.h"

#define LOAD(type)                                                                                                     \
    for (k = 0; k < count; k++)                                                                                        \
    to[k] = ((const type *)array)[at + k * stride] - zero_point

void pwl_network_load(pwl_type type, const void *array, size_t at, size_t stride, size_t count, int64_t zero_point,
                      int64_t *to)
{
    size_t k;
    switch (type) {
    case PWL_S8:
        LOAD(int8_t);
        break;
    case PWL_U8:
        LOAD(uint8_t);
        break;
    case PWL_S16:
        LOAD(int16_t);
        break;
    case PWL_U16:
        LOAD(uint16_t);
        break;
    case PWL_S32:
        LOAD(int32_t);
        break;
    default:
        LOAD(uint32_t);
    }
}

void pwl_network_store(const pwl_network_edge *edge, void *array, size_t at, size_t count, const int64_t *values)
{
    const int64_t zero_point = edge->zero_point, low = edge->qmin, high = edge->qmax;
    size_t k;
    switch (pwl_type_bytes_log2((pwl_type)edge->type)) {
    case 0:
        for (k = 0; k < count; k++)
            ((uint8_t *)array)[at + k] = (uint8_t)pwl_sat(values[k] + zero_point, low, high);
        break;
    case 1:
        for (k = 0; k < count; k++)
            ((uint16_t *)array)[at + k] = (uint16_t)pwl_sat(values[k] + zero_point, low, high);
        break;
    default:
        for (k = 0; k < count; k++)
            ((uint32_t *)array)[at + k] = (uint32_t)pwl_sat(values[k] + zero_point, low, high);
    }
}

void pwl_network_copy(void *to, size_t to_at, const void *from, size_t from_at, size_t stride, size_t count,
                      size_t bytes)
{
    size_t k;
    switch (bytes) {
    case 1:
        for (k = 0; k < count; k++)
            ((uint8_t *)to)[to_at + k] = ((const uint8_t *)from)[from_at + k * stride];
        break;
    case 2:
        for (k = 0; k < count; k++)
            ((uint16_t *)to)[to_at + k] = ((const uint16_t *)from)[from_at + k * stride];
        break;
    default:
        for (k = 0; k < count; k++)
            ((uint32_t *)to)[to_at + k] = ((const uint32_t *)from)[from_at + k * stride];
    }
}

uint64_t pwl_network_offset(const pwl_network_edge *edge)
{
    const int64_t above = edge->qmax - edge->zero_point, below = edge->zero_point - edge->qmin;
    return (uint64_t)(above > below ? above : below);
}

pwl_status pwl_network_check_factors(const pwl_network_factors *factors, int bits, size_t count)
{
    const int width = 62 - bits < 31 ? 62 - bits : 31;
    uint32_t k;
    if (!factors->factor || !factors->shift)
        return PWL_ERR_NULL;
    if (factors->count != 1 && factors->count != count)
        return PWL_ERR_SHAPE;
    if (bits > PWL_NETWORK_SUM_BITS)
        return PWL_ERR_SUM_BITS;
    for (k = 0; k < factors->count; k++) {
        if (!is_within(factors->factor[k], 0, ((int64_t)1 << width) - 1))
            return PWL_ERR_CONSTANT;
        if (!is_within(factors->shift[k], 1, 62))
            return PWL_ERR_SHIFT;
    }
    return PWL_OK;
}

pwl_status pwl_network_check_codes(const pwl_network_edge *edge, const int16_t *codes, size_t count)
{
    size_t k;
    if (!codes)
        return PWL_ERR_NULL;
    for (k = 0; k < count; k++)
        if (!is_within(codes[k], edge->qmin, edge->qmax))
            return PWL_ERR_CONSTANT;
    return PWL_OK;
}
