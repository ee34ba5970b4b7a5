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
    REQUIRE(at >= gguf->bytes && at <= gguf->bytes + gguf->held);
    REQUIRE(count <= (size_t)(gguf->bytes + gguf->held - at));
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
    REQUIRE(tensor->at >= gguf->data_at && tensor->at <= gguf->size && tensor->bytes <= gguf->size - tensor->at);
    REQUIRE((tensor->at - gguf->data_at) % gguf->alignment == 0);
    if (tensor->known) {
        float *values;
        struct diag diag = {0};
        REQUIRE(tensor->bytes / tensor->known->block_bytes * tensor->known->block == elements);
        if (elements <= MOST_ELEMENTS && gguf_dequantise(tensor, gguf->bytes + tensor->at, &values, &diag) == EXIT_DONE)
            free(values);
    }
}

/* Half of the file is enough or not, but never says something else than the whole. */
static void require_same_of_half(const uint8_t *data, size_t size, int code, const struct diag *diag)
{
    struct gguf gguf;
    struct diag half = {0};
    uint8_t *const copy = malloc(size / 2 + 1); /* of its own, so that the address sanitizer sees its end */
    REQUIRE(copy != NULL);
    memcpy(copy, data, size / 2);
    const int got = gguf_parse(copy, size / 2, size, &gguf, &half);
    REQUIRE(got == GGUF_LACKS || (got == code && (got == EXIT_DONE || strcmp(half.text, diag->text) == 0)));
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct gguf gguf;
    struct diag diag = {0};
    const int code = gguf_parse(data, size, size, &gguf, &diag);
    require_same_of_half(data, size, code, &diag);
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
