/* SPDX-License-Identifier: Apache-2.0 */
#include "codes.h"

#include "../element.h"

#define LOAD(type)                                                                                                     \
    for (k = 0; k < count; k++)                                                                                        \
    codes[k] = ((const type *)array)[at + k]

void pwl_codes_load(pwl_type type, const void *array, size_t at, size_t count, int32_t *codes)
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
    case PWL_S32:
        LOAD(int32_t);
        break;
    default:
        LOAD(uint16_t);
    }
}

void pwl_codes_store(pwl_type type, void *array, size_t at, size_t count, const int32_t *codes)
{
    size_t k;
    if (pwl_type_bytes_log2(type) == 0)
        for (k = 0; k < count; k++)
            ((uint8_t *)array)[at + k] = (uint8_t)codes[k];
    else
        for (k = 0; k < count; k++)
            ((uint16_t *)array)[at + k] = (uint16_t)codes[k];
}

void pwl_codes_fill(pwl_type type, void *array, size_t at, size_t count, int32_t code)
{
    for (; count; count--, at++)
        pwl_set_element_of(type, array, at, code);
}
