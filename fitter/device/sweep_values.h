/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays of codes and values whose element type is known at run time, on hosts and devices. As runtime/element.h, which
 * is private to the runtime and not written for devices. */
#ifndef PWLC_SWEEP_VALUES_H
#define PWLC_SWEEP_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/fixed.h>
#include <pwl/pwl.h>

/* The types come in pairs of one width, the signed one first. */
PWL_FN size_t sweep_bytes(pwl_type type)
{
    return (size_t)1 << (type >> 1);
}

PWL_FN int64_t sweep_load(pwl_type type, const void *array, size_t k)
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
    case PWL_U32:
        break;
    }
    return ((const uint32_t *)array)[k];
}

/* The code fits the type; signed and unsigned ones have the same bits. */
PWL_FN void sweep_store(pwl_type type, void *array, size_t k, int64_t code)
{
    if (sweep_bytes(type) == 1)
        ((uint8_t *)array)[k] = (uint8_t)code;
    else if (sweep_bytes(type) == 2)
        ((uint16_t *)array)[k] = (uint16_t)code;
    else
        ((uint32_t *)array)[k] = (uint32_t)code;
}

#endif
