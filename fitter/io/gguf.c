/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/blocks.h>
#include <pwl/half.h>

#include "base/escape.h"
#include "base/integers.h"

static const struct gguf_type types[] = {
    {GGUF_F32, "F32", 1, 4},
    {GGUF_F16, "F16", 1, 2},
    {GGUF_Q4_0, "Q4_0", PWL_BLOCK, sizeof(pwl_block_q4_0)},
    {GGUF_Q8_0, "Q8_0", PWL_BLOCK, sizeof(pwl_block_q8_0)},
    {GGUF_BF16, "BF16", 1, 2},
    {GGUF_MXFP4, "MXFP4", PWL_BLOCK, sizeof(pwl_block_mxfp4)},
    {GGUF_Q4_K, "Q4_K", PWL_SUPER_BLOCK, sizeof(pwl_block_q4_k)},
    {GGUF_Q5_K, "Q5_K", PWL_SUPER_BLOCK, sizeof(pwl_block_q5_k)},
    {GGUF_Q6_K, "Q6_K", PWL_SUPER_BLOCK, sizeof(pwl_block_q6_k)},
};

/* The types of ggml by number; null for numbers that were never used, or are no longer. */
static const char *const type_names[] = {
    "F32",        "F16",        "Q4_0",       "Q4_1",  NULL,       NULL,       "Q5_0",     "Q5_1",    "Q8_0",
    "Q8_1",       "Q2_K",       "Q3_K",       "Q4_K",  "Q5_K",     "Q6_K",     "Q8_K",     "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS",    "IQ1_S",      "IQ4_NL",     "IQ3_S", "IQ2_S",    "IQ4_XS",   "I8",       "I16",     "I32",
    "I64",        "F64",        "IQ1_M",      "BF16",  "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",   "TQ2_0",
    "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4", "NVFP4",    "Q1_0",
};

const char *gguf_type_name(uint32_t type, char text[GGUF_TYPE_NAME_SIZE])
{
    if (type < sizeof type_names / sizeof *type_names && type_names[type])
        return type_names[type];
    snprintf(text, GGUF_TYPE_NAME_SIZE, "unknown type %" PRIu32, type);
    return text;
}

/* Bytes of an element; 0 for strings and arrays. */
static const size_t kind_bytes[GGUF_KINDS] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
static const char *const kind_names[GGUF_KINDS] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                   "bool", "string", "array", "u64", "i64", "f64"};

/* The least that an entry takes: a key of no bytes, its kind and one byte; a name of no bytes, no dimensions. */
#define LEAST_VALUE_BYTES 13
#define LEAST_TENSOR_BYTES 24

/* -- Reading: at <= held <= size always; failed once anything was not there -------------------------------------------
 */

struct reader {
    const unsigned char *bytes;
    size_t held, at;
    uint64_t size; /* of the file, of which `held` bytes are there */
    bool failed;
    bool lacks; /* it failed for want of bytes that the file has */
};

static const unsigned char *take(struct reader *reader, uint64_t count)
{
    const unsigned char *const found = reader->bytes + reader->at;
    if (count > reader->held - reader->at) {
        reader->failed = true;
        reader->lacks |= count <= reader->size - reader->at;
        reader->at = reader->held;
        return NULL;
    }
    reader->at += (size_t)count;
    return found;
}

static uint64_t take_integer(struct reader *reader, size_t count)
{
    const unsigned char *const bytes = take(reader, count);
    return bytes ? little_endian(bytes, count) : 0;
}

static struct gguf_string take_string(struct reader *reader)
{
    const uint64_t size = take_integer(reader, 8);
    const struct gguf_string string = {take(reader, size), (size_t)size};
    const struct gguf_string none = {(const unsigned char *)"", 0};
    return reader->failed ? none : string;
}

static void skip_elements(struct reader *reader, enum gguf_kind kind, uint64_t count)
{
    if (kind != GGUF_STRING) {
        if (count > reader->size / kind_bytes[kind])
            reader->failed = true;
        else
            (void)take(reader, count * kind_bytes[kind]);
        return;
    }
    /* Each takes 8 bytes at least, so that the file bounds the loop. */
    for (uint64_t i = 0; i < count && !reader->failed; i++)
        (void)take_string(reader);
}

/* `what` is set to what is wrong, and null when the file just ends too early. */
static bool read_value(struct reader *reader, struct gguf_value *value, const char **what)
{
    uint64_t kind;
    *what = NULL;
    value->key = take_string(reader);
    kind = take_integer(reader, 4);
    value->is_array = kind == GGUF_ARRAY;
    value->count = 1;
    if (value->is_array) {
        kind = take_integer(reader, 4);
        value->count = take_integer(reader, 8);
    }
    if (reader->failed)
        return false;
    if (kind >= GGUF_KINDS || kind == GGUF_ARRAY) {
        *what = "has a value of an unknown kind, or an array of arrays";
        return false;
    }
    value->kind = (enum gguf_kind)kind;
    value->payload = reader->bytes + reader->at;
    skip_elements(reader, value->kind, value->count);
    value->bytes = (size_t)(reader->bytes + reader->at - value->payload);
    return !reader->failed;
}

static const struct gguf_type *find_type(uint32_t id)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].id == id)
            return &types[i];
    }
    return NULL;
}

/* The entry alone; the data's place is left as an offset. */
static bool read_tensor(struct reader *reader, struct gguf_tensor *tensor, uint64_t *offset, const char **what)
{
    uint64_t dimensions;
    *what = NULL;
    tensor->name = take_string(reader);
    dimensions = take_integer(reader, 4);
    if (dimensions > GGUF_MAX_DIMENSIONS) {
        *what = "has more than 4 dimensions";
        return false;
    }
    tensor->dimensions = (int)dimensions;
    tensor->elements = 1;
    for (int d = 0; d < GGUF_MAX_DIMENSIONS; d++) {
        const uint64_t length = d < tensor->dimensions ? take_integer(reader, 8) : 1;
        tensor->shape[d] = length;
        /* Not above 2^63, so that no intermediate product wraps around, whatever the order of a 0. */
        if (length != 0 && tensor->elements > INT64_MAX / length) {
            *what = "has 2^63 elements or more";
            return false;
        }
        tensor->elements *= length;
    }
    tensor->type = (uint32_t)take_integer(reader, 4);
    *offset = take_integer(reader, 8);
    if (reader->failed)
        return false;
    tensor->known = find_type(tensor->type);
    if (tensor->known && tensor->shape[0] % tensor->known->block) {
        *what = tensor->known->block == PWL_BLOCK ? "has rows that are no multiple of 32 elements"
                                                  : "has rows that are no multiple of 256 elements";
        return false;
    }
    return true;
}

/* -- Checking ---------------------------------------------------------------------------------------------------------
 */

/* Or GGUF_LACKS, where the reader just has too little of the file. */
static int refuse(const struct reader *reader, struct diag *diag, const char *entry, uint64_t index,
                  struct gguf_string name, const char *what)
{
    struct text text = {0};
    if (reader->lacks)
        return GGUF_LACKS;
    gguf_string_text(name, &text);
    diag_set(diag, EXIT_USAGE, "gguf: %s %" PRIu64 " (\"%s\") %s", entry, index, text.bytes ? text.bytes : "",
             what ? what : "reaches beyond the end of the file");
    text_free(&text);
    return diag->code;
}

static bool key_is(struct gguf_string key, const char *name)
{
    return key.size == strlen(name) && memcmp(key.text, name, key.size) == 0;
}

static int check_metadata(struct gguf *gguf, struct reader *reader, struct diag *diag)
{
    bool aligned = false;
    gguf->metadata_at = reader->at;
    for (uint64_t i = 0; i < gguf->metadata_count; i++) {
        struct gguf_value value;
        const char *what;
        if (!read_value(reader, &value, &what))
            return refuse(reader, diag, "metadata entry", i, value.key, what);
        if (!key_is(value.key, "general.alignment"))
            continue;
        if (aligned)
            return refuse(reader, diag, "metadata entry", i, value.key, "is there already; it must be there once");
        aligned = true;
        gguf->alignment = value.kind == GGUF_UINT32 && !value.is_array ? little_endian(value.payload, 4) : 0;
        if (gguf->alignment == 0 || (gguf->alignment & (gguf->alignment - 1)) != 0)
            return refuse(reader, diag, "metadata entry", i, value.key, "is not a power of two of kind u32");
    }
    return EXIT_DONE;
}

/* The tensor's data lies in the file. */
static bool place(const struct gguf *gguf, struct gguf_tensor *tensor, uint64_t offset, const char **what)
{
    const uint64_t room = gguf->size - gguf->data_at;
    tensor->at = tensor->bytes = 0;
    *what = "has an offset that is not a multiple of general.alignment";
    if (offset % gguf->alignment)
        return false;
    *what = "has data beyond the end of the file";
    if (offset > room)
        return false;
    tensor->at = gguf->data_at + offset;
    if (!tensor->known)
        return true;
    if (tensor->elements / tensor->known->block > (room - offset) / tensor->known->block_bytes)
        return false;
    tensor->bytes = tensor->elements / tensor->known->block * tensor->known->block_bytes;
    return true;
}

/* An entry by a hash of its name, so that millions are sorted without a look at most names. */
struct named {
    uint64_t hash;
    const unsigned char *entry; /* begins with the name */
};

static struct gguf_string name_of(const struct named *named)
{
    return (struct gguf_string){named->entry + 8, (size_t)little_endian(named->entry, 8)};
}

/* FNV-1a. Names that are made to have one hash cost a comparison, not more. */
static uint64_t hash_of(struct gguf_string name)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ name.text[i]) * 0x100000001b3;
    return hash;
}

static int compare_strings(struct gguf_string a, struct gguf_string b)
{
    const int order = memcmp(a.text, b.text, a.size < b.size ? a.size : b.size);
    return order != 0 || a.size == b.size ? order : a.size < b.size ? -1 : 1;
}

static int compare_names(const void *left, const void *right)
{
    const struct named *const a = left, *const b = right;
    const int order = a->hash != b->hash ? (a->hash < b->hash ? -1 : 1) : compare_strings(name_of(a), name_of(b));
    return order != 0 ? order : a->entry < b->entry ? -1 : 1;
}

/* The number of an entry that is there. */
static uint64_t index_of(const struct gguf *gguf, const unsigned char *entry)
{
    struct reader reader = {.bytes = gguf->bytes, .held = gguf->held, .size = gguf->size, .at = gguf->tensors_at};
    uint64_t index = 0, offset;
    for (; reader.bytes + reader.at < entry; index++) {
        struct gguf_tensor tensor;
        const char *what;
        (void)read_tensor(&reader, &tensor, &offset, &what);
    }
    return index;
}

/* A name that two tensors have would mean the one to some readers and the other to others. */
static int check_names(const struct gguf *gguf, const struct reader *reader, struct named *names, struct diag *diag)
{
    const size_t count = (size_t)gguf->tensor_count;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++)
        if (names[i].hash == names[i - 1].hash && compare_strings(name_of(&names[i]), name_of(&names[i - 1])) == 0)
            return refuse(reader, diag, "tensor", index_of(gguf, names[i].entry), name_of(&names[i]),
                          "has the name of another one");
    return EXIT_DONE;
}

static int check_places(const struct gguf *gguf, struct reader *reader, struct named *names, struct diag *diag)
{
    struct gguf_tensor tensor;
    uint64_t offset;
    const char *what;
    for (uint64_t i = 0; i < gguf->tensor_count; i++) {
        const unsigned char *const entry = reader->bytes + reader->at;
        if (!read_tensor(reader, &tensor, &offset, &what) || !place(gguf, &tensor, offset, &what))
            return refuse(reader, diag, "tensor", i, tensor.name, what);
        names[i] = (struct named){hash_of(tensor.name), entry};
    }
    return check_names(gguf, reader, names, diag);
}

static int check_tensors(struct gguf *gguf, struct reader *reader, struct diag *diag)
{
    struct gguf_tensor tensor;
    uint64_t offset, padding;
    const char *what;
    gguf->tensors_at = reader->at;
    for (uint64_t i = 0; i < gguf->tensor_count; i++) {
        if (!read_tensor(reader, &tensor, &offset, &what))
            return refuse(reader, diag, "tensor", i, tensor.name, what);
    }
    padding = -(uint64_t)reader->at & (gguf->alignment - 1);
    gguf->data_at = padding > gguf->size - reader->at ? gguf->size : reader->at + padding;
    reader->at = gguf->tensors_at;
    /* Each has taken LEAST_TENSOR_BYTES of what is held. */
    struct named *const names = calloc((size_t)gguf->tensor_count + 1, sizeof *names);
    const int code =
        names ? check_places(gguf, reader, names, diag)
              : diag_set(diag, EXIT_IO, "gguf: out of memory for the names of %" PRIu64 " tensors", gguf->tensor_count);
    free(names);
    return code;
}

int gguf_parse(const void *bytes, size_t held, uint64_t size, struct gguf *gguf, struct diag *diag)
{
    struct reader reader = {.bytes = bytes, .held = held, .size = size};
    const unsigned char *const magic = take(&reader, 4);
    memset(gguf, 0, sizeof *gguf);
    if (reader.lacks)
        return GGUF_LACKS;
    if (!magic || memcmp(magic, "GGUF", 4) != 0)
        return diag_set(diag, EXIT_USAGE, "gguf: the file does not start with GGUF");
    gguf->bytes = bytes;
    gguf->held = held;
    gguf->size = size;
    gguf->alignment = 32;
    gguf->version = (uint32_t)take_integer(&reader, 4);
    gguf->tensor_count = take_integer(&reader, 8);
    gguf->metadata_count = take_integer(&reader, 8);
    if (reader.failed)
        return reader.lacks ? GGUF_LACKS
                            : diag_set(diag, EXIT_USAGE, "gguf: the file ends in its header, which has 24 bytes");
    if (gguf->version != 2 && gguf->version != 3)
        return diag_set(diag, EXIT_USAGE,
                        "gguf: version %" PRIu32 "; little-endian files of version 2 or 3 can be read", gguf->version);
    if (gguf->metadata_count > size / LEAST_VALUE_BYTES || gguf->tensor_count > size / LEAST_TENSOR_BYTES)
        return diag_set(diag, EXIT_USAGE,
                        "gguf: %" PRIu64 " metadata entries and %" PRIu64
                        " tensors are more than the file has room for",
                        gguf->metadata_count, gguf->tensor_count);
    const int code = check_metadata(gguf, &reader, diag);
    return code == EXIT_DONE ? check_tensors(gguf, &reader, diag) : code;
}

/* -- What is in a checked file ----------------------------------------------------------------------------------------
 */

void gguf_next_value(const struct gguf *gguf, size_t *at, struct gguf_value *value)
{
    struct reader reader = {.bytes = gguf->bytes, .held = gguf->held, .size = gguf->size, .at = *at};
    const char *what;
    (void)read_value(&reader, value, &what);
    *at = reader.at;
}

void gguf_next_tensor(const struct gguf *gguf, size_t *at, struct gguf_tensor *tensor)
{
    struct reader reader = {.bytes = gguf->bytes, .held = gguf->held, .size = gguf->size, .at = *at};
    uint64_t offset = 0;
    const char *what;
    (void)read_tensor(&reader, tensor, &offset, &what);
    (void)place(gguf, tensor, offset, &what);
    *at = reader.at;
}

bool gguf_find(const struct gguf *gguf, const char *name, struct gguf_tensor *tensor)
{
    size_t at = gguf->tensors_at;
    for (uint64_t i = 0; i < gguf->tensor_count; i++) {
        gguf_next_tensor(gguf, &at, tensor);
        if (key_is(tensor->name, name))
            return true;
    }
    return false;
}

int gguf_need(const struct gguf *gguf, const char *name, struct gguf_tensor *tensor, struct diag *diag)
{
    char text[GGUF_TYPE_NAME_SIZE];
    if (!gguf_find(gguf, name, tensor))
        return diag_set(diag, EXIT_USAGE, "no tensor \"%s\"; `pwlc gguf list` shows those that there are", name);
    if (!tensor->known)
        return diag_set(
            diag, EXIT_USAGE,
            "tensor \"%s\" is of type %s, which is not supported; F32, F16, BF16, Q4_0, Q8_0, MXFP4, Q4_K, Q5_K "
            "and Q6_K can be read",
            name, gguf_type_name(tensor->type, text));
    return EXIT_DONE;
}

/* -- Text -------------------------------------------------------------------------------------------------------------
 */

#define MOST_TEXT_BYTES 200
#define MOST_TEXT_ELEMENTS 8

void gguf_string_text(struct gguf_string string, struct text *text)
{
    escape_bytes(text, string.text, string.size, MOST_TEXT_BYTES);
}

static int64_t sign_extended(uint64_t bits, size_t bytes)
{
    const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    if (!(bits & sign))
        return (int64_t)bits;
    return -(int64_t)(sign - 1 - (bits & (sign - 1))) - 1;
}

static void element_text(enum gguf_kind kind, uint64_t bits, struct text *text)
{
    switch (kind) {
    case GGUF_INT8:
    case GGUF_INT16:
    case GGUF_INT32:
    case GGUF_INT64:
        text_add(text, "%" PRId64, sign_extended(bits, kind_bytes[kind]));
        break;
    case GGUF_FLOAT32:
        text_add(text, "%.9g", (double)pwl_f32_of_bits((uint32_t)bits));
        break;
    case GGUF_FLOAT64:
        text_add(text, "%.17g", pwl_f64_of_bits(bits));
        break;
    case GGUF_BOOL:
        text_add(text, "%s", bits ? "true" : "false");
        break;
    default:
        text_add(text, "%" PRIu64, bits);
    }
}

void gguf_value_text(const struct gguf_value *value, struct text *text)
{
    const uint64_t shown = value->count < MOST_TEXT_ELEMENTS ? value->count : MOST_TEXT_ELEMENTS;
    struct reader reader = {.bytes = value->payload, .held = value->bytes, .size = value->bytes};
    if (value->is_array)
        text_add(text, "%s[%" PRIu64 "] ", kind_names[value->kind], value->count);
    for (uint64_t i = 0; i < shown; i++) {
        if (i > 0)
            text_add(text, ", ");
        if (value->kind == GGUF_STRING)
            gguf_string_text(take_string(&reader), text);
        else
            element_text(value->kind, take_integer(&reader, kind_bytes[value->kind]), text);
    }
    if (shown < value->count)
        text_add(text, ", ...");
}
