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

int main(void)
{
    const model_file model = make_model(D, FF);
    test_found(&model);
    test_cut_off(&model);
    test_damaged(&model);
    free(model.bytes);
    return tap_end();
}
