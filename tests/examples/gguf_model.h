/* SPDX-License-Identifier: Apache-2.0 */
/* A GGUF file with the feed-forward block of a small transformer in it, in F32: Gaussian weights that keep the size of
 * what they are applied to. */
#ifndef GGUF_MODEL_H
#define GGUF_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "../kernels/gemm/draw_matrix.h"

#define MODEL_GATE "blk.0.ffn_gate.weight"
#define MODEL_UP "blk.0.ffn_up.weight"
#define MODEL_DOWN "blk.0.ffn_down.weight"

typedef struct model_file {
    unsigned char *bytes;      /* malloc'd */
    size_t size, room, header; /* header: where the tensors' data begin */
} model_file;

static inline void model_put(model_file *file, const void *bytes, size_t count)
{
    if (file->size + count > file->room) {
        file->room = 2 * (file->size + count);
        file->bytes = realloc(file->bytes, file->room);
        if (!file->bytes)
            abort();
    }
    memcpy(file->bytes + file->size, bytes, count);
    file->size += count;
}

static inline void model_put_integer(model_file *file, uint64_t value, int count)
{
    for (int i = 0; i < count; i++) {
        const unsigned char byte = (unsigned char)(value >> 8 * i);
        model_put(file, &byte, 1);
    }
}

static inline void model_put_string(model_file *file, const char *text)
{
    model_put_integer(file, strlen(text), 8);
    model_put(file, text, strlen(text));
}

/* A key and its kind: 4 u32, 8 string, 9 array. */
static inline void model_put_key(model_file *file, const char *key, unsigned kind)
{
    model_put_string(file, key);
    model_put_integer(file, kind, 4);
}

static inline void model_pad(model_file *file)
{
    while (file->size % 32)
        model_put(file, "", 1);
}

/* d and ff as in ffn.h */
static inline model_file make_model(size_t d, size_t ff)
{
    static const char *const names[] = {MODEL_GATE, MODEL_UP, MODEL_DOWN};
    model_file file = {NULL, 0, 0, 0};
    uint64_t state = 1, offset = 0;
    model_put(&file, "GGUF", 4);
    model_put_integer(&file, 3, 4);
    model_put_integer(&file, 3, 8); /* tensors */
    model_put_integer(&file, 3, 8); /* metadata */
    model_put_key(&file, "general.architecture", 8);
    model_put_string(&file, "llama");
    model_put_key(&file, "tokenizer.ggml.tokens", 9);
    model_put_integer(&file, 8, 4);
    model_put_integer(&file, 2, 8);
    model_put_string(&file, "a");
    model_put_string(&file, "");
    model_put_key(&file, "general.alignment", 4);
    model_put_integer(&file, 32, 4);
    for (int i = 0; i < 3; i++) {
        model_put_string(&file, names[i]);
        model_put_integer(&file, 2, 4);
        model_put_integer(&file, i < 2 ? d : ff, 8);
        model_put_integer(&file, i < 2 ? ff : d, 8);
        model_put_integer(&file, 0, 4); /* F32 */
        model_put_integer(&file, offset, 8);
        offset += d * ff * 4;
    }
    model_pad(&file);
    file.header = file.size;
    for (size_t i = 0; i < 3 * d * ff; i++) {
        float w;
        uint32_t bits;
        draw_matrix(&w, 1, 1, &state);
        w /= sqrtf((float)(i < 2 * d * ff ? d : ff));
        memcpy(&bits, &w, sizeof bits);
        model_put_integer(&file, bits, 4);
    }
    return file;
}

#endif
