/* SPDX-License-Identifier: 0BSD */
#include <stdint.h>
#include <string.h>

#include "gguf.h"

/* at <= size always; failed once anything was not there, and what is read then is 0. */
struct reader {
    const unsigned char *bytes;
    size_t size, at;
    int failed;
};

static const unsigned char *take(struct reader *reader, uint64_t count)
{
    const unsigned char *const found = reader->bytes + reader->at;
    if (reader->failed || count > reader->size - reader->at) {
        reader->failed = 1;
        return NULL;
    }
    reader->at += (size_t)count;
    return found;
}

static uint64_t take_integer(struct reader *reader, size_t count)
{
    const unsigned char *const bytes = take(reader, count);
    uint64_t value = 0;
    for (size_t i = 0; i < count && bytes; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* A string, and whether it is `text`. */
static int take_string(struct reader *reader, const char *text)
{
    const uint64_t size = take_integer(reader, 8);
    const unsigned char *const bytes = take(reader, size);
    return bytes && size == strlen(text) && memcmp(bytes, text, (size_t)size) == 0;
}

enum { KIND_U32 = 4, KIND_STRING = 8, KIND_ARRAY = 9, KINDS = 13 };

/* count values of a kind; an array in an array, which nobody writes, is refused. */
static void skip_values(struct reader *reader, uint64_t kind, uint64_t count)
{
    static const uint8_t bytes[KINDS] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (kind >= KINDS || kind == KIND_ARRAY || count > reader->size)
        reader->failed = 1;
    else if (kind == KIND_STRING)
        for (uint64_t i = 0; i < count && !reader->failed; i++)
            (void)take_string(reader, "");
    else
        (void)take(reader, count * bytes[kind]);
}

/* The metadata; what matters is how tensors are aligned. */
static uint64_t take_metadata(struct reader *reader, uint64_t count)
{
    uint64_t alignment = 0;
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        const int aligns = take_string(reader, "general.alignment");
        uint64_t kind = take_integer(reader, 4), values = 1;
        if (kind == KIND_ARRAY) {
            kind = take_integer(reader, 4);
            values = take_integer(reader, 8);
        }
        if (!aligns)
            skip_values(reader, kind, values);
        else if (kind != KIND_U32 || values != 1 || alignment != 0 || (alignment = take_integer(reader, 4)) == 0)
            reader->failed = 1; /* of another kind, there already, or 0 */
    }
    return alignment == 0 ? 32 : alignment;
}

/* Bytes of a tensor; 0 for a type that pwl/qgemm.h does not take, for no elements, or for more than 2^56. */
static uint64_t bytes_of(const pwl_qgemm_tensor *tensor)
{
    static const struct {
        uint16_t type, block, bytes;
    } types[] = {{0, 1, 4},      {1, 1, 2},      {2, 32, 18}, {8, 32, 34}, {12, 256, 144},
                 {13, 256, 176}, {14, 256, 210}, {30, 1, 2},  {39, 32, 17}};
    uint64_t elements = 1;
    for (int d = 0; d < 4; d++) {
        if (tensor->shape[d] == 0 || elements > (UINT64_C(1) << 56) / tensor->shape[d])
            return 0;
        elements *= tensor->shape[d];
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type == tensor->type)
            return tensor->shape[0] % types[i].block ? 0 : elements / types[i].block * types[i].bytes;
    }
    return 0;
}

/* An entry, and whether it is of that name; *offset is that of the data. */
static int take_tensor(struct reader *reader, const char *name, pwl_qgemm_tensor *tensor, uint64_t *offset)
{
    const int is_it = take_string(reader, name);
    const uint64_t dimensions = take_integer(reader, 4);
    if (dimensions > 4)
        reader->failed = 1;
    for (unsigned d = 0; d < 4; d++)
        tensor->shape[d] = d < dimensions ? take_integer(reader, 8) : 1;
    tensor->type = (uint32_t)take_integer(reader, 4);
    *offset = take_integer(reader, 8);
    return is_it;
}

const char *gguf_find(const void *bytes, size_t size, const char *name, pwl_qgemm_tensor *tensor)
{
    struct reader reader = {bytes, size, 0, 0};
    const unsigned char *const magic = take(&reader, 4);
    const uint64_t version = take_integer(&reader, 4), tensors = take_integer(&reader, 8);
    const uint64_t entries = take_integer(&reader, 8), alignment = take_metadata(&reader, entries);
    uint64_t offset = 0, data_bytes;
    int found = 0;
    if (!magic || memcmp(magic, "GGUF", 4) != 0 || (version != 2 && version != 3))
        return "is not a GGUF file of version 2 or 3";
    for (uint64_t i = 0; i < tensors && !reader.failed; i++) {
        pwl_qgemm_tensor entry;
        uint64_t at;
        if (take_tensor(&reader, name, &entry, &at)) {
            found++;
            *tensor = entry;
            offset = at;
        }
    }
    if (reader.failed || (alignment & (alignment - 1)) != 0)
        return "is cut off or damaged";
    if (found != 1)
        return found == 0 ? "has no such tensor" : "has more than one tensor of that name";
    /* The data begin behind the entries, aligned. */
    (void)take(&reader, -(uint64_t)reader.at & (alignment - 1));
    data_bytes = bytes_of(tensor);
    if (data_bytes == 0)
        return "has that tensor in a type or shape that is not taken here";
    (void)take(&reader, offset);
    tensor->data = take(&reader, data_bytes);
    tensor->bytes = (size_t)data_bytes;
    return reader.failed ? "ends before that tensor does" : NULL;
}
