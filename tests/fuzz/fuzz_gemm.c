/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pwlc gemm on the CPU: a GGUF file, X and a bias, in every scheme. What is accepted gives a Y of the shape of X, the
 * same when it is computed again, and each row of it as if it were alone, but for int8 with a table, whose rows share
 * an exponent.
 *
 * An input: a byte for the scheme, one for the elements of Y, the lengths of the GGUF file and of X in 4 bytes each,
 * lowest first, those two, and to the end the bias, or nothing. */
#include "fuzz.h"

#include <string.h>

#include "device/gemm.h"
#include "device/gemm_device.h"

#define HEAD 10
#define MOST_MULTIPLICATIONS 65536

struct input {
    const struct gemm_scheme *scheme; /* null: the tensor's own */
    enum gemm_out out;
    const uint8_t *gguf, *x, *bias;
    size_t gguf_size, x_size, bias_size;
};

static size_t length_at(const uint8_t *data)
{
    return (size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16 | (size_t)data[3] << 24;
}

static int take_input(const uint8_t *data, size_t size, struct input *input)
{
    int schemes = 0;
    if (size < HEAD)
        return 0;
    while (gemm_schemes[schemes].name)
        schemes++;
    const int scheme = data[0] % (schemes + 1);
    input->scheme = scheme == schemes ? NULL : &gemm_schemes[scheme];
    input->out = data[1] % 2 ? GEMM_F16 : GEMM_F32;
    input->gguf_size = length_at(data + 2);
    input->x_size = length_at(data + 6);
    if (input->gguf_size > size - HEAD || input->x_size > size - HEAD - input->gguf_size)
        return 0;
    input->gguf = data + HEAD;
    input->x = input->gguf + input->gguf_size;
    input->bias = input->x + input->x_size;
    input->bias_size = size - HEAD - input->gguf_size - input->x_size;
    return 1;
}

/* The first tensor that can be read. */
static int find_tensor(const struct input *input, struct gguf *gguf, struct gguf_tensor *tensor)
{
    struct diag diag = {0};
    if (gguf_parse(input->gguf, input->gguf_size, input->gguf_size, gguf, &diag) != EXIT_DONE)
        return 0;
    size_t at = gguf->tensors_at;
    for (uint64_t i = 0; i < gguf->tensor_count; i++) {
        gguf_next_tensor(gguf, &at, tensor);
        if (tensor->known)
            return 1;
    }
    return 0;
}

/* Y, malloc'd, and its elements; null for what is refused. rows: of X, 0 for all */
static void *multiply(const struct input *input, const struct gguf_tensor *tensor, size_t rows, struct npy *y)
{
    struct gemm gemm = {.out = input->out};
    struct npy x, bias;
    struct diag diag = {0};
    pwl_qgemm_tensor from = {tensor->type, {0}, input->gguf + tensor->at, (size_t)tensor->bytes};
    void *copy = NULL;
    memcpy(from.shape, tensor->shape, sizeof from.shape);
    int code = gemm_take_weights(&gemm, "m.gguf", tensor, input->scheme, &diag);
    if (code == EXIT_DONE && input->bias_size > 0)
        code = npy_parse(input->bias, input->bias_size, &bias, &diag);
    if (code == EXIT_DONE && input->bias_size > 0)
        code = gemm_take_bias(&gemm, &bias, &diag);
    if (code == EXIT_DONE)
        code = npy_parse(input->x, input->x_size, &x, &diag);
    if (code == EXIT_DONE && rows > 0)
        x = (struct npy){x.kind, x.item_size, 2, {rows, gemm.weights.k}, rows * gemm.weights.k, x.data};
    if (code == EXIT_DONE)
        code = gemm_take_input(&gemm, &x, &diag);
    if (code == EXIT_DONE && gemm.product.m > MOST_MULTIPLICATIONS / gemm.weights.n / gemm.weights.k) {
        gemm_free(&gemm);
        return NULL;
    }
    if (code == EXIT_DONE)
        code = gemm_prepare(&gemm, &from, &diag);
    if (code == EXIT_DONE) {
        gemm_multiply(&gemm);
        gemm_finish(&gemm, y);
        REQUIRE(y->kind == 'f' && y->count == gemm.product.m * gemm.weights.n);
        REQUIRE(y->dimensions == x.dimensions && y->shape[y->dimensions - 1] == gemm.weights.n);
        copy = malloc(y->count * (size_t)y->item_size);
        REQUIRE(copy != NULL);
        memcpy(copy, y->data, y->count * (size_t)y->item_size);
    } else {
        REQUIRE_REFUSAL(code, diag);
    }
    gemm_free(&gemm);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input;
    struct gguf gguf;
    struct gguf_tensor tensor;
    struct npy y, again, row;
    if (!take_input(data, size, &input) || !find_tensor(&input, &gguf, &tensor))
        return 0;
    void *const first = multiply(&input, &tensor, 0, &y);
    if (!first)
        return 0;
    void *const second = multiply(&input, &tensor, 0, &again), *const alone = multiply(&input, &tensor, 1, &row);
    REQUIRE(second && alone);
    REQUIRE(memcmp(first, second, y.count * (size_t)y.item_size) == 0);
    REQUIRE(memcmp(first, alone, row.count * (size_t)row.item_size) == 0);
    free(first);
    free(second);
    free(alone);
    return 0;
}
