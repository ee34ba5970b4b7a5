/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "storage.h"

#include <string.h>

#define NAME(name, ...) name,
#define OFFSET_NAME(name, offset, text) offset,
static const char *const form_names[] = {FORMS(NAME)};
static const char *const offset_names[] = {FORMS(OFFSET_NAME)};
static const char *const rounding_names[] = {ROUNDINGS(NAME)};
static const char *const storage_names[] = {"int8", "int16", "int32"};

/* Index of a name, or -1. */
static int name_index(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *form_name(pwl_form form)
{
    return form_names[form];
}

const char *rounding_name(pwl_rounding rounding)
{
    return rounding_names[rounding];
}

const char *storage_name(pwl_storage storage)
{
    return storage_names[storage];
}

const char *offset_name(pwl_form form)
{
    return offset_names[form];
}

bool form_parse(const char *name, pwl_form *form)
{
    const int index = name_index(form_names, 3, name);
    if (index >= 0)
        *form = (pwl_form)index;
    return index >= 0;
}

bool rounding_parse(const char *name, pwl_rounding *rounding)
{
    const int index = name_index(rounding_names, 4, name);
    if (index >= 0)
        *rounding = (pwl_rounding)index;
    return index >= 0;
}

bool storage_parse(const char *name, pwl_storage *storage)
{
    const int index = name_index(storage_names, 3, name);
    if (index >= 0)
        *storage = (pwl_storage)index;
    return index >= 0;
}

pwl_storage storage_for(int in_bits, int out_bits)
{
    const int bits = in_bits > out_bits ? in_bits : out_bits;
    if (bits <= 8)
        return PWL_INT8;
    return bits <= 16 ? PWL_INT16 : PWL_INT32;
}

int storage_bits(pwl_storage storage)
{
    return 8 << storage;
}

int offset_bits(pwl_storage storage, pwl_form form)
{
    if (storage == PWL_INT32 && form != PWL_BIASED)
        return 48;
    return 8 * offset_bytes(storage, form);
}

int accumulator_bits(pwl_storage storage)
{
    return storage == PWL_INT32 ? 64 : 32;
}

int packed_segment_bytes(pwl_storage storage, pwl_form form)
{
    return 2 * storage_bits(storage) / 8 + 1 + offset_bytes(storage, form);
}

int offset_bytes(pwl_storage storage, pwl_form form)
{
    if (storage == PWL_INT32)
        return 8;
    return storage == PWL_INT16 || form == PWL_BIASED ? 4 : 2;
}
