/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of arrays whose type is known at run time alone. */
#ifndef PWL_ELEMENT_H
#define PWL_ELEMENT_H

#include <pwl/pwl.h>

static inline int pwl_type_bytes_log2(pwl_type type)
{
    return (int)type >> 1;
}

static inline int pwl_type_is_unsigned(pwl_type type)
{
    return (int)type & 1;
}

static inline int64_t pwl_type_lowest(pwl_type type)
{
    return pwl_type_is_unsigned(type) ? 0 : -(int64_t)((uint32_t)1 << ((8 << pwl_type_bytes_log2(type)) - 1));
}

static inline int64_t pwl_type_highest(pwl_type type)
{
    return pwl_type_lowest(type) + (UINT32_MAX >> (32 - (8 << pwl_type_bytes_log2(type))));
}

/* Element k of an array. */
static inline int64_t pwl_element_of(pwl_type type, const void *array, size_t k)
{
    switch (type) {
    case PWL_S8:
        return ((const int8_t *)array)[k];
    case PWL_U8:
        return ((const uint8_t *)array)[k];
    case PWL_S16:
        return ((const int16_t *)array)[k];
    case PWL_U16:
        return ((const uint16_t *)array)[k];
    case PWL_S32:
        return ((const int32_t *)array)[k];
    default:
        return ((const uint32_t *)array)[k];
    }
}

/* The bits of v that the type has. */
static inline void pwl_set_element_of(pwl_type type, void *array, size_t k, int64_t v)
{
    switch (pwl_type_bytes_log2(type)) {
    case 0:
        ((uint8_t *)array)[k] = (uint8_t)v;
        break;
    case 1:
        ((uint16_t *)array)[k] = (uint16_t)v;
        break;
    default:
        ((uint32_t *)array)[k] = (uint32_t)v;
    }
}

#endif
