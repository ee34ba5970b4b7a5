/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "arrays.h"

#include <stdlib.h>
#include <string.h>

#include "io/npy.h"

#define LENGTH_BYTES 8
#define HEADER_MOST ((size_t)64 << 20)

static const struct fields_limits limits = {HEADER_MOST, (size_t)1 << 20, (size_t)1 << 23};

int arrays_parse(const unsigned char *bytes, size_t size, struct arrays *arrays, struct diag *diag)
{
    uint64_t length = 0;
    memset(arrays, 0, sizeof *arrays);
    for (int k = LENGTH_BYTES; size >= LENGTH_BYTES && k-- > 0;)
        length = length << 8 | bytes[k];
    if (size < LENGTH_BYTES || length > size - LENGTH_BYTES || length > HEADER_MOST)
        return diag_set(diag, EXIT_USAGE, "no file of arrays: safetensors begin with the length of their header");
    if (fields_parse((const char *)bytes + LENGTH_BYTES, (size_t)length, &limits, &arrays->header, diag))
        return diag_prefix(diag, "header");
    if (!json_is_object(arrays->header))
        return diag_set(diag, EXIT_USAGE, "header: must be an object of arrays");
    arrays->body = bytes + LENGTH_BYTES + length;
    arrays->size = size - LENGTH_BYTES - (size_t)length;
    return EXIT_DONE;
}

void arrays_free(struct arrays *arrays)
{
    json_decref(arrays->header);
    arrays->header = NULL;
}

static int bytes_of(const char *type)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"I8", 1}, {"U8", 1}, {"I16", 2}, {"U16", 2}, {"I32", 4}, {"U32", 4}, {"I64", 8}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (strcmp(types[k].name, type) == 0)
            return types[k].bytes;
    return 0;
}

static int read_shape(const struct fields *entry, size_t most, struct named_array *array, struct diag *diag)
{
    const json_t *const shape = json_object_get(entry->json, "shape");
    const size_t axes = json_array_size(shape);
    if (!json_is_array(shape) || axes > ARRAY_AXES)
        return field_refuse(entry, "shape", diag, "a list of at most %d sizes", ARRAY_AXES);
    array->axes = (int)axes;
    array->count = 1;
    for (size_t k = 0; k < axes; k++) {
        const json_t *const size = json_array_get(shape, k);
        const json_int_t value = json_integer_value(size);
        if (!json_is_integer(size) || value < 1 || (uint64_t)value > most / array->count)
            return field_refuse(entry, "shape", diag, "sizes of what the file holds, from 1 on");
        array->shape[k] = (size_t)value;
        array->count *= (size_t)value;
    }
    return EXIT_DONE;
}

/* The place of its bytes. */
static int read_place(const struct fields *entry, const struct arrays *arrays, struct named_array *array,
                      struct diag *diag)
{
    const json_t *const offsets = json_object_get(entry->json, "data_offsets");
    const json_t *const from = json_array_get(offsets, 0), *const to = json_array_get(offsets, 1);
    const json_int_t start = json_integer_value(from), stop = json_integer_value(to);
    if (json_array_size(offsets) != 2 || !json_is_integer(from) || !json_is_integer(to) || start < 0 || stop < start ||
        (uint64_t)stop > arrays->size || (uint64_t)(stop - start) != array->count * (size_t)array->bytes)
        return field_refuse(entry, "data_offsets", diag,
                            "the first byte and the end of %zu elements of %d bytes, within %zu", array->count,
                            array->bytes, arrays->size);
    array->data = arrays->body + start;
    return EXIT_DONE;
}

bool arrays_have(const struct arrays *arrays, const char *name)
{
    return json_object_get(arrays->header, name) != NULL;
}

int arrays_find(const struct arrays *arrays, const char *name, const char *type, struct named_array *array,
                struct diag *diag)
{
    static const char *const known[] = {"dtype", "shape", "data_offsets", NULL};
    const struct fields top = {.json = arrays->header};
    struct fields entry;
    const char *found;
    if (field_object(&top, name, &entry, diag) || fields_known(&entry, known, diag) ||
        field_text(&entry, "dtype", 8, &found, diag))
        return diag->code;
    array->bytes = bytes_of(type);
    array->type = type;
    if (strcmp(found, type) != 0)
        return field_refuse(&entry, "dtype", diag, "%s", type);
    if (read_shape(&entry, arrays->size / (size_t)array->bytes, array, diag))
        return diag->code;
    return read_place(&entry, arrays, array, diag);
}

void *array_copy(const struct named_array *array)
{
    const size_t size = array->count * (size_t)array->bytes;
    void *const copy = malloc(size ? size : 1);
    if (copy && size) {
        memcpy(copy, array->data, size);
        npy_swap_order(copy, array->count, array->bytes);
    }
    return copy;
}
