/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/half.h>

#include "base/file.h"
#include "jobs/jobs.h"
#include "base/suggest.h"
#include "gemm_device.h"

#define FOR_FLOATS 1 /* the scheme for tensors of floats: the one that loses least */
#define ROWS 16      /* of X that a job multiplies: the reference unpacks a weight once for as many */

const struct gemm_scheme gemm_schemes[] = {
    {"w4a16", PWL_QGEMM_W4A16, PWL_QGEMM_Q4_0, "Q4_0"},
    {"w8a16", PWL_QGEMM_W8A16, PWL_QGEMM_Q8_0, "Q8_0"},
    {"mxfp4a16", PWL_QGEMM_MXFP4_A16, PWL_QGEMM_MXFP4, "MXFP4"},
    {"w4a8", PWL_QGEMM_W4A8, PWL_QGEMM_Q4_0, "Q4_0"},
    {"w8a8", PWL_QGEMM_W8A8, PWL_QGEMM_Q8_0, "Q8_0"},
    {"mxfp4a8", PWL_QGEMM_MXFP4_A8, PWL_QGEMM_MXFP4, "MXFP4"},
    {"q4ka8", PWL_QGEMM_Q4_K_A8, PWL_QGEMM_Q4_K, "Q4_K"},
    {"q5ka8", PWL_QGEMM_Q5_K_A8, PWL_QGEMM_Q5_K, "Q5_K"},
    {"q6ka8", PWL_QGEMM_Q6_K_A8, PWL_QGEMM_Q6_K, "Q6_K"},
    {"int8", PWL_QGEMM_INT8, PWL_QGEMM_ROWS8, NULL},
    {"w4int8", PWL_QGEMM_INT8, PWL_QGEMM_ROWS4, "Q4_0"},
    {NULL, PWL_QGEMM_W4A16, PWL_QGEMM_Q4_0, NULL},
};

bool gemm_has_kernels(const struct gemm_scheme *scheme)
{
    return scheme->scheme != PWL_QGEMM_MXFP4_A8 && scheme->scheme < PWL_QGEMM_Q4_K_A8;
}

int gemm_need_kernels(const struct gemm_scheme *scheme, enum device device, struct diag *diag)
{
    if (device != DEVICE_CUDA || gemm_has_kernels(scheme))
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "--scheme %s has no kernel; must be with --device cpu", scheme->name);
}

int gemm_scheme_parse(const char *name, size_t length, const struct gemm_scheme **scheme, struct diag *diag)
{
    for (*scheme = gemm_schemes; (*scheme)->name; ++*scheme)
        if (strlen((*scheme)->name) == length && memcmp((*scheme)->name, name, length) == 0)
            return EXIT_DONE;
    char word[40];
    snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : (int)sizeof word - 1, name);
    return choice_check("--scheme", GEMM_SCHEMES, word, diag);
}

void *gemm_array(size_t count, size_t element)
{
    return count < (SIZE_MAX - 16) / element ? aligned_alloc(16, (count * element + 16) / 16 * 16) : NULL;
}

int gemm_out_of_memory(const char *what, struct diag *diag)
{
    return diag_set(diag, EXIT_IO, "out of memory for %s", what);
}

void gemm_free(struct gemm *gemm)
{
    free(gemm->packed);
    free(gemm->panels_memory);
    free(gemm->workspace);
    free(gemm->x);
    free(gemm->y);
    free(gemm->n_x);
    free(gemm->n_w);
    free(gemm->bias);
    free(gemm->integer_bias);
    packed_table_free(&gemm->pwl);
    table_free(&gemm->table);
}

/* -- Weights ----------------------------------------------------------------------------------------------------------
 */

static bool is_floats(const struct gguf_tensor *tensor)
{
    return tensor->known->block == 1;
}

/* Super-blocks are not made of floats. */
static bool takes(const struct gemm_scheme *scheme, const struct gguf_tensor *tensor)
{
    return (is_floats(tensor) && scheme->format < PWL_QGEMM_Q4_K) ||
           (scheme->blocks && strcmp(scheme->blocks, tensor->known->name) == 0);
}

static int choose_scheme(struct gemm *gemm, const struct gguf_tensor *tensor, const struct gemm_scheme *wanted,
                         struct diag *diag)
{
    struct text names = {0};
    if (!wanted) {
        wanted = is_floats(tensor) ? &gemm_schemes[FOR_FLOATS] : gemm_schemes;
        while (!takes(wanted, tensor))
            wanted++;
    }
    gemm->scheme = wanted;
    if (takes(wanted, tensor))
        return EXIT_DONE;
    for (const struct gemm_scheme *scheme = gemm_schemes; scheme->name; scheme++)
        if (takes(scheme, tensor))
            text_add(&names, "%s%s", names.size ? " or " : "", scheme->name);
    diag_set(diag, EXIT_USAGE, "--scheme %s does not take %s tensors; must be %s for %s", wanted->name,
             tensor->known->name, names.bytes ? names.bytes : "another", gemm->weights_text);
    text_free(&names);
    return diag->code;
}

/* tensor "w" of m.gguf, Q4_0, 64 x 128 (N x K) */
static void describe(struct gemm *gemm, const char *path, const struct gguf_tensor *tensor)
{
    struct text name = {0};
    gguf_string_text(tensor->name, &name);
    snprintf(gemm->weights_text, sizeof gemm->weights_text,
             "tensor \"%.100s\" of %.200s, %s %" PRIu64 " x %" PRIu64 " (N x K)", name.bytes ? name.bytes : "", path,
             tensor->known->name, tensor->shape[1], tensor->shape[0]);
    text_free(&name);
}

int gemm_take_weights(struct gemm *gemm, const char *path, const struct gguf_tensor *tensor,
                      const struct gemm_scheme *wanted, struct diag *diag)
{
    describe(gemm, path, tensor);
    if (tensor->shape[2] != 1 || tensor->shape[3] != 1)
        return diag_set(diag, EXIT_USAGE, "%s has %d dimensions; must be a matrix", gemm->weights_text,
                        tensor->dimensions);
    if (choose_scheme(gemm, tensor, wanted, diag) != EXIT_DONE)
        return diag->code;
    if (tensor->elements == 0 || tensor->shape[0] % PWL_BLOCK)
        return diag_set(diag, EXIT_USAGE, "%s: N must be 1 or more, and K a multiple of 32", gemm->weights_text);
    if (gemm->scheme->scheme == PWL_QGEMM_INT8 && tensor->shape[0] > PWL_QGEMM_MAX_K_INT8)
        return diag_set(diag, EXIT_USAGE, "%s: K must be at most %d for --scheme %s", gemm->weights_text,
                        PWL_QGEMM_MAX_K_INT8, gemm->scheme->name);
    /* Its data are in memory, so that both fit. */
    gemm->weights.n = (size_t)tensor->shape[1];
    gemm->weights.k = (size_t)tensor->shape[0];
    return EXIT_DONE;
}

/* The exponents of the rows, which are packed with them. */
static int take_exponents(struct gemm *gemm, struct diag *diag)
{
    int8_t *const q_w = gemm_array(gemm->weights.n * gemm->weights.k, 1);
    gemm->n_w = gemm_array(gemm->weights.n, 1);
    if (!q_w || !gemm->n_w) {
        free(q_w);
        return gemm_out_of_memory("weights", diag);
    }
    const pwl_qgemm_status status = pwl_qgemm_unpack_s8(&gemm->weights, q_w, gemm->n_w);
    free(q_w);
    return status == PWL_QGEMM_OK ? EXIT_DONE : diag_set(diag, EXIT_IO, "weights: %s", pwl_qgemm_status_text(status));
}

static int pack(struct gemm *gemm, const pwl_qgemm_tensor *tensor, struct diag *diag)
{
    pwl_qgemm_place bad = {0, 0, 0};
    size_t bytes;
    pwl_qgemm_status status = pwl_qgemm_weights_bytes(gemm->scheme->format, gemm->weights.n, gemm->weights.k, &bytes);
    if (status == PWL_QGEMM_OK) {
        gemm->packed = gemm_array(bytes, 1);
        if (!gemm->packed)
            return gemm_out_of_memory("weights", diag);
        status = pwl_qgemm_pack(pwl_qgemm_of_tensor(gemm->scheme->format, PWL_RULE_DEFAULT, tensor), gemm->packed,
                                bytes, &gemm->weights, &bad);
    }
    if (status == PWL_QGEMM_ERR_SCALE)
        return diag_set(diag, EXIT_USAGE, "%s: row %zu, columns %zu to %zu: a scale or a weight is infinite or NaN",
                        gemm->weights_text, bad.row, bad.block * PWL_BLOCK, (bad.block + 1) * PWL_BLOCK - 1);
    if (status != PWL_QGEMM_OK)
        return diag_set(diag, EXIT_USAGE, "%s: %s", gemm->weights_text, pwl_qgemm_status_text(status));
    return gemm->scheme->scheme == PWL_QGEMM_INT8 ? take_exponents(gemm, diag) : EXIT_DONE;
}

/* By way of a copy where the data are not aligned to their elements. */
static int pack_aligned(struct gemm *gemm, const pwl_qgemm_tensor *tensor, struct diag *diag)
{
    pwl_qgemm_tensor from = *tensor;
    void *copy = NULL;
    if ((uintptr_t)tensor->data % sizeof(float)) {
        copy = gemm_array(tensor->bytes, 1);
        if (!copy)
            return gemm_out_of_memory("weights", diag);
        from.data = memcpy(copy, tensor->data, tensor->bytes);
    }
    const int code = pack(gemm, &from, diag);
    free(copy);
    return code;
}

/* -- The product ------------------------------------------------------------------------------------------------------
 */

/* int8 without a table gives sums, which gemm_finish() scales and adds the bias to. */
static bool gives_sums(const struct gemm *gemm)
{
    return gemm->scheme->scheme == PWL_QGEMM_INT8 && !gemm->has_table;
}

/* int8 with a table: in units of the sums, since all rows of X have one exponent. */
static int make_integer_bias(struct gemm *gemm, struct diag *diag)
{
    gemm->integer_bias = gemm_array(gemm->weights.n, sizeof *gemm->integer_bias);
    if (!gemm->integer_bias)
        return gemm_out_of_memory("the bias", diag);
    for (size_t i = 0; i < gemm->weights.n; i++) {
        const double units = rint(ldexp((double)gemm->bias[i], gemm->n_x[0] + gemm->n_w[i]));
        if (!(fabs(units) <= INT32_MAX))
            return diag_set(diag, EXIT_USAGE,
                            "--bias: element %zu is %g; must be below 2^31 units of its sums, 2^%d each, for "
                            "--scheme %s with a table",
                            i, (double)gemm->bias[i], -(gemm->n_x[0] + gemm->n_w[i]), gemm->scheme->name);
        gemm->integer_bias[i] = (int32_t)units;
    }
    return EXIT_DONE;
}

static pwl_qgemm_type type_of_y(const struct gemm *gemm)
{
    static const pwl_qgemm_type types[][2] = {[PWL_INT8] = {PWL_QGEMM_U8, PWL_QGEMM_S8},
                                              [PWL_INT16] = {PWL_QGEMM_U16, PWL_QGEMM_S16},
                                              [PWL_INT32] = {PWL_QGEMM_U32, PWL_QGEMM_S32}};
    const struct tensor *const codes = &gemm->table.out;
    if (gives_sums(gemm))
        return PWL_QGEMM_S32;
    if (gemm->out == GEMM_CODES)
        return types[storage_for(codes->bits, codes->bits)][codes->is_signed];
    return gemm->out == GEMM_F16 ? PWL_QGEMM_F16 : PWL_QGEMM_F32;
}

int gemm_prepare(struct gemm *gemm, const pwl_qgemm_tensor *tensor, struct diag *diag)
{
    pwl_qgemm_product *const product = &gemm->product;
    const bool integers = gemm->scheme->scheme == PWL_QGEMM_INT8;
    const size_t m = product->m, n = gemm->weights.n;
    if (m > SIZE_MAX / n)
        return gemm_out_of_memory("Y", diag);
    if (pack_aligned(gemm, tensor, diag) != EXIT_DONE)
        return diag->code;
    if (integers && gemm->has_table && gemm->bias && make_integer_bias(gemm, diag) != EXIT_DONE)
        return diag->code;
    product->scheme = gemm->scheme->scheme;
    product->weights = &gemm->weights;
    product->x.data = gemm->x;
    product->bias = integers ? (const void *)gemm->integer_bias : gemm->bias;
    product->activation = gemm->has_table ? &gemm->activation : NULL;
    product->y.type = type_of_y(gemm);
    product->y.stride = n;
    gemm->y = gemm_array(m * n, gemm_element_bytes(product->y.type));
    if (!gemm->y)
        return gemm_out_of_memory("Y", diag);
    product->y.data = gemm->y;
    gemm->shape.count = m * n;
    const pwl_qgemm_status status = pwl_qgemm_check(product);
    return status == PWL_QGEMM_OK ? EXIT_DONE
                                  : diag_set(diag, EXIT_USAGE, "the product: %s", pwl_qgemm_status_text(status));
}

int gemm_arrange(struct gemm *gemm, struct diag *diag)
{
    size_t bytes;
    pwl_qgemm_status status = pwl_qgemm_panels_bytes(&gemm->weights, &bytes);
    if (status == PWL_QGEMM_OK) {
        gemm->panels_memory = malloc(bytes);
        if (!gemm->panels_memory)
            return gemm_out_of_memory("weights", diag);
        status = pwl_qgemm_arrange(&gemm->weights, gemm->panels_memory, bytes, &gemm->panels);
    }
    if (status == PWL_QGEMM_OK)
        status = pwl_qgemm_workspace(&gemm->product, &gemm->panels, &gemm->workspace_bytes);
    if (status == PWL_QGEMM_ERR_SCHEME) { /* the reference has all */
        gemm->panels.memory = NULL;
        return EXIT_DONE;
    }
    if (status != PWL_QGEMM_OK)
        return diag_set(diag, EXIT_IO, "the product: %s", pwl_qgemm_status_text(status));
    gemm->workspace = malloc(gemm->workspace_bytes);
    return gemm->workspace ? EXIT_DONE : gemm_out_of_memory("X", diag);
}

static void prepare_rows(void *context, int job)
{
    const struct gemm *const gemm = context;
    const size_t first = (size_t)job * ROWS, left = gemm->product.m - first;
    /* Of a product that was checked, as below: it cannot fail. */
    (void)!pwl_qgemm_rows(&gemm->product, &gemm->panels, first, left < ROWS ? left : ROWS, gemm->workspace,
                          gemm->workspace_bytes);
}

static void multiply_panel(void *context, int job)
{
    const struct gemm *const gemm = context;
    const size_t first = (size_t)job * PWL_QGEMM_PANEL, left = gemm->weights.n - first;
    (void)!pwl_qgemm_part(&gemm->product, &gemm->panels, first, left < PWL_QGEMM_PANEL ? left : PWL_QGEMM_PANEL,
                          gemm->workspace, gemm->workspace_bytes);
}

static void multiply_rows(void *context, int job)
{
    const struct gemm *const gemm = context;
    pwl_qgemm_product part = gemm->product;
    const size_t first = (size_t)job * ROWS, left = part.m - first;
    part.m = left < ROWS ? left : ROWS;
    part.x.data = (const char *)part.x.data + first * part.x.stride * gemm_element_bytes(part.x.type);
    part.y.data = (char *)part.y.data + first * part.y.stride * gemm_element_bytes(part.y.type);
    if (part.x.n_x)
        part.x.n_x += first;
    (void)!pwl_qgemm_reference(&part); /* part of a product that was checked: it cannot fail */
}

void gemm_multiply(struct gemm *gemm)
{
    /* A file has at most 2^30 bytes, and so 2^24 rows. */
    const int rows = (int)((gemm->product.m + ROWS - 1) / ROWS);
    if (!gemm->panels.memory) {
        jobs_run(rows, jobs_default(), multiply_rows, gemm, "parts of Y");
        return;
    }
    jobs_run(rows, jobs_default(), prepare_rows, gemm, NULL);
    jobs_run((int)((gemm->weights.n + PWL_QGEMM_PANEL - 1) / PWL_QGEMM_PANEL), jobs_default(), multiply_panel, gemm,
             "parts of Y");
}

/* int8: the sum, scaled and with the bias, rounded once. */
static double value_of_sum(const struct gemm *gemm, size_t i)
{
    const size_t n = gemm->weights.n, column = i % n;
    const double scaled = ldexp((double)((const int32_t *)gemm->y)[i], -(gemm->n_x[i / n] + gemm->n_w[column]));
    return scaled + (gemm->bias ? (double)gemm->bias[column] : 0);
}

static uint32_t bits_of(const struct gemm *gemm, size_t i)
{
    const size_t bytes = gemm_element_bytes(gemm->product.y.type);
    const unsigned char *const element = (const unsigned char *)gemm->y + i * bytes;
    uint16_t half;
    uint32_t word;
    if (gives_sums(gemm)) {
        const double value = value_of_sum(gemm, i);
        return gemm->out == GEMM_F16 ? pwl_round_f64(value, 10, 5) : pwl_bits_of_f32((float)value);
    }
    if (bytes == sizeof *element)
        return *element;
    if (bytes == sizeof half) {
        memcpy(&half, element, sizeof half);
        return half;
    }
    memcpy(&word, element, sizeof word);
    return word;
}

void gemm_finish(struct gemm *gemm, struct npy *npy)
{
    *npy = gemm->shape;
    npy->kind = 'f';
    npy->item_size = gemm->out == GEMM_F16 ? 2 : 4;
    if (gemm->out == GEMM_CODES) {
        npy->kind = gemm->table.out.is_signed ? 'i' : 'u';
        npy->item_size = (int)gemm_element_bytes(gemm->product.y.type);
    }
    npy->data = gemm->y;
    /* An element is not longer than what it is made from. */
    for (size_t i = 0; i < npy->count; i++)
        npy_store((unsigned char *)gemm->y + i * (size_t)npy->item_size, bits_of(gemm, i), npy->item_size);
}
