/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two readers of GGUF files, that of pwlc and that of the examples, which share no code since their licences
 * differ: in a file that pwlc takes both find the same tensors, and what the examples' finds in any file lies inside
 * it. */
#include "fuzz.h"

#include <string.h>

#include "io/gguf.h"

#define GGUF_H /* of the examples: the same name is another function there */
#include <pwl/qgemm.h>
#define gguf_find example_find
const char *gguf_find(const void *bytes, size_t size, const char *name, pwl_qgemm_tensor *tensor);
#include "../../examples/gguf.c"
#undef gguf_find

static void require_inside(const uint8_t *data, size_t size, const pwl_qgemm_tensor *tensor)
{
    const uint8_t *const at = tensor->data;
    REQUIRE(tensor->bytes > 0 && at >= data && at <= data + size && tensor->bytes <= (size_t)(data + size - at));
}

/* Where the examples take no such tensor. */
static int is_taken(const struct gguf_tensor *tensor)
{
    return tensor->known && tensor->elements > 0 && tensor->elements <= (uint64_t)1 << 56 &&
           memchr(tensor->name.text, 0, tensor->name.size) == NULL;
}

static void require_same(const uint8_t *data, size_t size, const struct gguf_tensor *tensor)
{
    pwl_qgemm_tensor other;
    char *const name = malloc(tensor->name.size + 1);
    REQUIRE(name != NULL);
    memcpy(name, tensor->name.text, tensor->name.size);
    name[tensor->name.size] = 0;
    REQUIRE(example_find(data, size, name, &other) == NULL);
    require_inside(data, size, &other);
    REQUIRE(other.data == data + tensor->at && other.bytes == tensor->bytes && other.type == tensor->type);
    for (int d = 0; d < GGUF_MAX_DIMENSIONS; d++)
        REQUIRE(other.shape[d] == tensor->shape[d]);
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"t", "f32", "w", ""};
    struct gguf gguf;
    struct diag diag = {0};
    pwl_qgemm_tensor found;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (example_find(data, size, names[i], &found) == NULL)
            require_inside(data, size, &found);
    if (gguf_parse(data, size, size, &gguf, &diag) != EXIT_DONE)
        return 0;
    size_t at = gguf.tensors_at;
    for (uint64_t i = 0; i < gguf.tensor_count && i < 64; i++) {
        struct gguf_tensor tensor;
        gguf_next_tensor(&gguf, &at, &tensor);
        if (is_taken(&tensor))
            require_same(data, size, &tensor);
    }
    return 0;
}
