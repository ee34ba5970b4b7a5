/* SPDX-License-Identifier: Apache-2.0 */
/* The examples' reader of GGUF files: what it finds, and that no file, cut off or damaged, leads it astray. */
#include <stdio.h>

#include "../../examples/gguf.h"
#include "../kernels/tap.h"
#include "gguf_model.h"

enum { D = 32, FF = 64 };

/* 1 when a tensor that is found lies in the file. */
static int is_sound(const unsigned char *bytes, size_t size, const char *name)
{
    pwl_qgemm_tensor tensor;
    if (gguf_find(bytes, size, name, &tensor))
        return 1;
    const size_t at = (size_t)((const unsigned char *)tensor.data - bytes);
    return at <= size && tensor.bytes <= size - at && tensor.bytes > 0;
}

static void test_found(const model_file *model)
{
    static const char *const names[] = {MODEL_GATE, MODEL_UP, MODEL_DOWN};
    for (size_t i = 0; i < 3; i++) {
        const size_t k = i < 2 ? D : FF, n = i < 2 ? FF : D;
        pwl_qgemm_tensor tensor;
        const char *const what = gguf_find(model->bytes, model->size, names[i], &tensor);
        tap(!what && tensor.type == 0 && tensor.shape[0] == k && tensor.shape[1] == n && tensor.shape[2] == 1 &&
                tensor.shape[3] == 1 && tensor.bytes == D * FF * 4 &&
                tensor.data == model->bytes + model->header + i * D * FF * 4,
            "%s is found", names[i]);
    }
    pwl_qgemm_tensor tensor;
    const char *const none = gguf_find(model->bytes, model->size, "blk.0.ffn_gat", &tensor);
    tap(none && strcmp(none, "has no such tensor") == 0, "a part of a name is none");
}

/* In memory of just that size, for tools that watch it. */
static int is_refused(const model_file *model, size_t size, const char *name)
{
    unsigned char *const part = malloc(size + (size == 0));
    pwl_qgemm_tensor tensor;
    if (!part)
        abort();
    memcpy(part, model->bytes, size);
    const int refused = gguf_find(part, size, name, &tensor) != NULL;
    free(part);
    return refused;
}

static void test_cut_off(const model_file *model)
{
    size_t refused = 0;
    for (size_t size = 0; size < model->header + 64; size++)
        refused += (size_t)is_refused(model, size, MODEL_DOWN);
    tap(refused == model->header + 64, "a file that is cut off in its header is refused");
    tap(is_refused(model, model->size - 1, MODEL_DOWN) && !is_refused(model, model->size - 1, MODEL_UP),
        "a tensor that is cut off is refused, the one before it is not");
}

static void test_damaged(const model_file *model)
{
    static const unsigned char values[] = {0, 1, 9, 127, 128, 255};
    size_t sound = 0, count = 0;
    for (size_t at = 0; at < model->header; at++) {
        const unsigned char kept = model->bytes[at];
        for (size_t i = 0; i < sizeof values; i++, count++) {
            model->bytes[at] = values[i];
            sound += (size_t)(is_sound(model->bytes, model->size, MODEL_UP) &&
                              is_sound(model->bytes, model->size, MODEL_DOWN));
        }
        model->bytes[at] = kept;
    }
    tap(sound == count, "with any byte of the header changed, what is found lies in the file");
}

/* The header's last occurrence of a text becomes another one of the same length. */
static void rename_last(const model_file *model, const char *from, const char *to)
{
    const size_t length = strlen(from);
    for (size_t at = model->header - length; at > 0; at--) {
        if (memcmp(model->bytes + at, from, length) == 0) {
            memcpy(model->bytes + at, to, length);
            return;
        }
    }
    abort();
}

/* Which of two would be meant, readers would not agree on. */
static void test_twice(const model_file *model)
{
    pwl_qgemm_tensor tensor;
    rename_last(model, MODEL_DOWN, MODEL_GATE);
    const char *what = gguf_find(model->bytes, model->size, MODEL_GATE, &tensor);
    tap(what && strcmp(what, "has more than one tensor of that name") == 0, "a name that is there twice is refused");
    tap(!gguf_find(model->bytes, model->size, MODEL_UP, &tensor), "and other names are found");
}

/* A file that says how it is aligned, so many times, in a kind of 4 bytes; what is wrong with it. */
static const char *find_aligned(uint64_t alignment, unsigned kind, unsigned times)
{
    model_file file = {NULL, 0, 0, 0};
    pwl_qgemm_tensor tensor;
    model_put(&file, "GGUF", 4);
    model_put_integer(&file, 3, 4);
    model_put_integer(&file, 1, 8);
    model_put_integer(&file, times, 8);
    for (unsigned i = 0; i < times; i++) {
        model_put_key(&file, "general.alignment", kind);
        model_put_integer(&file, alignment, 4);
    }
    model_put_string(&file, "t");
    model_put_integer(&file, 1, 4);
    model_put_integer(&file, 1, 8);
    model_put_integer(&file, 0, 4);
    model_put_integer(&file, 0, 8);
    while (file.size < 256)
        model_put(&file, "", 1);
    const char *const what = gguf_find(file.bytes, file.size, "t", &tensor);
    free(file.bytes);
    return what;
}

static void test_alignment(void)
{
    enum { U32 = 4, I32 = 5 };
    tap(!find_aligned(32, U32, 0) && !find_aligned(64, U32, 1), "one alignment, or none, is taken");
    tap(find_aligned(64, U32, 2) && find_aligned(0, U32, 1) && find_aligned(24, U32, 1) && find_aligned(64, I32, 1),
        "two, 0, 24, and one that is signed are refused");
}

int main(void)
{
    const model_file model = make_model(D, FF);
    test_found(&model);
    test_cut_off(&model);
    test_damaged(&model);
    test_twice(&model);
    test_alignment();
    free(model.bytes);
    return tap_end();
}
