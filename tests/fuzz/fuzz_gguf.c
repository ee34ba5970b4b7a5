/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GGUF files: all that is found in an accepted file lies inside it, can be written as text, and has as many values as
 * its shape says. */
#include "fuzz.h"

#include <string.h>

#include "io/gguf.h"

/* Dequantising more is only slow. */
#define MOST_ELEMENTS 65536

static void require_inside(const struct gguf *gguf, const unsigned char *at, size_t count)
{
    REQUIRE(at >= gguf->bytes && at <= gguf->bytes + gguf->size);
    REQUIRE(count <= (size_t)(gguf->bytes + gguf->size - at));
}

static void require_value(const struct gguf *gguf, const struct gguf_value *value)
{
    struct text text = {0};
    require_inside(gguf, value->key.text, value->key.size);
    require_inside(gguf, value->payload, value->bytes);
    gguf_string_text(value->key, &text);
    gguf_value_text(value, &text);
    REQUIRE(text.failed || !text.bytes || one_line(text.bytes) || text.size == 0);
    text_free(&text);
}

static void require_tensor(const struct gguf *gguf, const struct gguf_tensor *tensor)
{
    uint64_t elements = 1;
    REQUIRE(tensor->dimensions >= 0 && tensor->dimensions <= GGUF_MAX_DIMENSIONS);
    for (int d = 0; d < GGUF_MAX_DIMENSIONS; d++)
        REQUIRE(!__builtin_mul_overflow(elements, tensor->shape[d], &elements));
    REQUIRE(elements == tensor->elements);
    require_inside(gguf, tensor->name.text, tensor->name.size);
    require_inside(gguf, tensor->data, tensor->bytes);
    REQUIRE((uint64_t)(tensor->data - gguf->bytes - gguf->data_at) % gguf->alignment == 0);
    if (tensor->known) {
        float *values;
        struct diag diag = {0};
        REQUIRE(tensor->bytes / tensor->known->block_bytes * tensor->known->block == elements);
        if (elements <= MOST_ELEMENTS && gguf_dequantise(tensor, &values, &diag) == EXIT_DONE)
            free(values);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gguf gguf;
    struct diag diag = {0};
    const int code = gguf_parse(data, size, &gguf, &diag);
    size_t at = gguf.metadata_at;
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
        return 0;
    }
    for (uint64_t i = 0; i < gguf.metadata_count; i++) {
        struct gguf_value value;
        gguf_next_value(&gguf, &at, &value);
        require_value(&gguf, &value);
    }
    REQUIRE(at == gguf.tensors_at);
    for (uint64_t i = 0; i < gguf.tensor_count; i++) {
        struct gguf_tensor tensor;
        gguf_next_tensor(&gguf, &at, &tensor);
        require_tensor(&gguf, &tensor);
    }
    REQUIRE(at <= gguf.data_at);
    return 0;
}
