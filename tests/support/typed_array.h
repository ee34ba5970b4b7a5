/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of an element type that is chosen at run time. */
#ifndef TYPED_ARRAY_H
#define TYPED_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/pwl.h>

struct type_limits {
    int64_t min, max;
};
#define LIMITS(name, type, min, max) {min, max},
static const struct type_limits limits[] = {PWL_MAP_TYPES(LIMITS)};

static inline int64_t get(pwl_type type, const void *array, size_t k)
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

static inline void put(pwl_type type, void *array, size_t k, int64_t v)
{
    if (type <= PWL_U8)
        ((uint8_t *)array)[k] = (uint8_t)v;
    else if (type <= PWL_U16)
        ((uint16_t *)array)[k] = (uint16_t)v;
    else
        ((uint32_t *)array)[k] = (uint32_t)v;
}

#define BYTES(type) ((size_t)1 << ((type) >> 1))

#endif
