/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GGUF files (versions 2 and 3, little-endian): metadata and tensors. Every size is 64 bits wide and checked against
 * the file before use; nothing is copied, all that is found points into the file's bytes. */
#ifndef PWLC_GGUF_H
#define PWLC_GGUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/file.h"

#define GGUF_MAX_DIMENSIONS 4

struct gguf {
    const unsigned char *bytes; /* the first `held` of the file, all entries among them */
    size_t held;
    uint64_t size; /* of the file */
    uint32_t version;
    uint64_t metadata_count, tensor_count;
    uint64_t alignment;             /* of each tensor's data; a power of two */
    size_t metadata_at, tensors_at; /* where their entries start; a walk starts there */
    uint64_t data_at;               /* where offset 0 is, at most size where there are tensors */
};

/* Any bytes, not zero-terminated. */
struct gguf_string {
    const unsigned char *text;
    size_t size;
};

enum gguf_kind {
    GGUF_UINT8,
    GGUF_INT8,
    GGUF_UINT16,
    GGUF_INT16,
    GGUF_UINT32,
    GGUF_INT32,
    GGUF_FLOAT32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_UINT64,
    GGUF_INT64,
    GGUF_FLOAT64,
    GGUF_KINDS
};

struct gguf_value {
    struct gguf_string key;
    enum gguf_kind kind; /* of the elements where is_array */
    bool is_array;
    uint64_t count;               /* 1 unless is_array */
    const unsigned char *payload; /* the elements, one after the other */
    size_t bytes;
};

struct gguf_tensor {
    struct gguf_string name;
    int dimensions;
    uint64_t shape[GGUF_MAX_DIMENSIONS]; /* as in the file: the first is that of neighbours; 1 beyond dimensions */
    uint64_t elements;
    uint32_t type;
    const struct gguf_type *known; /* null where the type is not one of ours: bytes is 0 then */
    uint64_t at, bytes;            /* where in the file its data are */
};

/* A tensor type that can be read, by its number. */
enum {
    GGUF_F32 = 0,
    GGUF_F16 = 1,
    GGUF_Q4_0 = 2,
    GGUF_Q8_0 = 8,
    GGUF_Q4_K = 12,
    GGUF_Q5_K = 13,
    GGUF_Q6_K = 14,
    GGUF_BF16 = 30,
    GGUF_MXFP4 = 39
};
struct gguf_type {
    uint32_t id;
    const char *name;
    size_t block, block_bytes; /* elements, and their bytes */
};

/* "Q2_K", of types that cannot be read too; "unknown type 99", in text, of others. */
#define GGUF_TYPE_NAME_SIZE 32
const char *gguf_type_name(uint32_t type, char text[GGUF_TYPE_NAME_SIZE]);

/* Checks all entries in bytes[0..held), the first of a file of `size`, so that the walks below cannot fail. Exit 2,
 * also for two tensors of one name; 1 without memory; GGUF_LACKS, without a message, where more of the file is needed.
 */
#define GGUF_LACKS (-1)
int gguf_parse(const void *bytes, size_t held, uint64_t size, struct gguf *gguf, struct diag *diag);

/* The entry at *at, which then is that of the next; *at starts as metadata_at or tensors_at, and the caller counts. */
void gguf_next_value(const struct gguf *gguf, size_t *at, struct gguf_value *value);
void gguf_next_tensor(const struct gguf *gguf, size_t *at, struct gguf_tensor *tensor);

/* The tensor of that name; false when there is none. */
bool gguf_find(const struct gguf *gguf, const char *name, struct gguf_tensor *tensor);

/* The same, of a type that can be read. Exit 2. */
int gguf_need(const struct gguf *gguf, const char *name, struct gguf_tensor *tensor, struct diag *diag);

/* The data of a tensor of a known type as floats: malloc'd, tensor->elements of them. Exit 1 without memory. */
int gguf_dequantise(const struct gguf_tensor *tensor, const unsigned char *data, float **values, struct diag *diag);

/* Text of a string, of a value, of a shape: control characters, what is no UTF-8, and a backslash as \xNN; long ones
 * are cut. */
void gguf_string_text(struct gguf_string string, struct text *text);
void gguf_value_text(const struct gguf_value *value, struct text *text);

#endif
