/* SPDX-License-Identifier: Apache-2.0 */
/* Products to compute on a device: operands on both sides, and Y poisoned and guarded. */
#ifndef QGEMM_PROBLEMS_H
#define QGEMM_PROBLEMS_H

#include <pwl/cuda_qgemm.h>

#include "../device.h"
#include "cases.h"

enum { GUARD = 64 };

#define POISON 0xa5

static const pwl_qgemm_kernel kernels[] = {
#define KERNEL(NAME, ...) PWL_QGEMM_##NAME,
    PWL_QGEMM_KERNELS(KERNEL)
#undef KERNEL
};

#define KERNELS (sizeof kernels / sizeof kernels[0])

static const struct scheme {
    const char *name;
    pwl_qgemm_format format;
    int a8;
    pwl_qgemm_scheme scheme;
} schemes[] = {{"W4A16", PWL_QGEMM_Q4_0, 0, PWL_QGEMM_W4A16},
               {"W8A16", PWL_QGEMM_Q8_0, 0, PWL_QGEMM_W8A16},
               {"MXFP4 x A16", PWL_QGEMM_MXFP4, 0, PWL_QGEMM_MXFP4_A16},
               {"W4A8", PWL_QGEMM_Q4_0, 1, PWL_QGEMM_W4A8},
               {"W8A8", PWL_QGEMM_Q8_0, 1, PWL_QGEMM_W8A8},
               {"INT8", PWL_QGEMM_ROWS8, 0, PWL_QGEMM_INT8},
               {"INT8 of 4 bits", PWL_QGEMM_ROWS4, 0, PWL_QGEMM_INT8}};
static const struct scheme sparse_scheme = {"SPARSE4 x A16", PWL_QGEMM_SPARSE4, 0, PWL_QGEMM_SPARSE4_A16};
static const size_t element_bytes[] = {4, 2, 2, sizeof(pwl_block_q8_1), 1, 4};
static const char *const types[] = {"fp32", "fp16", "bf16", "Q8_1", "s8", "s32"};

/* Weights on both sides, with what belongs to their rows. */
struct weights {
    pwl_qgemm_weights host, device;
    int32_t *bias, *device_bias; /* float but for INT8 */
};

/* One product: what it is, its operands on both sides, and Y with guards around it. */
struct problem {
    pwl_qgemm_product product, on_device;
    uint8_t *x, *y, *again, *expected;
    char *device_x, *device_y, *device_n_x;
    int8_t *n_x;
    size_t x_bytes, y_bytes, y_offset;
};

static inline void *on_device(const void *host, size_t bytes)
{
    void *memory;
    CUDA(cudaMalloc(&memory, bytes));
    CUDA(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
    return memory;
}

/* Scales up to 2^high; formats of rows of any codes. */
static inline struct weights new_weights(pwl_qgemm_format format, size_t n, size_t k, int high, uint64_t *state)
{
    struct weights w;
    size_t bytes;
    PWL(pwl_qgemm_weights_bytes(format, n, k, &bytes));
    void *const memory = need(bytes);
    w.bias = need(4 * n);
    if (is_rows(format)) {
        int8_t *const q = need(n * k), *const n_w = need(n);
        for (size_t i = 0; i < n * k; i++)
            q[i] = (int8_t)random_bits(state);
        for (size_t i = 0; i < n; i++)
            n_w[i] = (int8_t)random_in(state, 5, 8);
        PWL(pack_codes(format, q, n_w, n, k, memory, bytes, &w.host));
        free(q);
        free(n_w);
    } else if (format == PWL_QGEMM_SPARSE4) {
        pwl_block_sparse4 *const blocks = need(n * k / 64 * sizeof *blocks);
        draw_sparse_blocks(blocks, n * k / 64, high - 12, high, state);
        PWL(pwl_qgemm_pack(pwl_qgemm_of_blocks(format, blocks, n, k), memory, bytes, &w.host, NULL));
        free(blocks);
    } else {
        const struct qgemm_kind *const kind = &qgemm_kinds[format];
        uint8_t *const blocks = need(blocks_bytes(kind, n, k));
        draw_blocks(kind, blocks, n * k / PWL_BLOCK, high - 12, high, state);
        PWL(pwl_qgemm_pack(pwl_qgemm_of_blocks(format, blocks, n, k), memory, bytes, &w.host, NULL));
        free(blocks);
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t bias = (int32_t)random_in(state, -1000, 1000);
        if (is_rows(format))
            w.bias[i] = bias;
        else
            ((float *)w.bias)[i] = (float)bias / 64;
    }
    w.device = w.host;
    w.device.memory = on_device(memory, w.host.bytes);
    w.device_bias = on_device(w.bias, 4 * n);
    return w;
}

static inline void release(struct weights *w)
{
    CUDA(cudaFree((void *)(uintptr_t)w->device.memory));
    CUDA(cudaFree(w->device_bias));
    free_weights(&w->host);
    free(w->bias);
}

static inline void put_x(pwl_qgemm_type type, uint8_t *x, size_t at, float v)
{
    const uint16_t half = type == PWL_QGEMM_F16 ? pwl_f16_from_f32(v) : pwl_bf16_from_f32(v);
    if (type == PWL_QGEMM_F32)
        ((float *)(void *)x)[at] = v;
    else if (type == PWL_QGEMM_S8)
        ((int8_t *)x)[at] = (int8_t)(int)(v * 32);
    else
        ((uint16_t *)(void *)x)[at] = half;
}

/* -4 to 4, or rows of which one has a NaN and one an infinity; NaN between the rows. */
static inline void draw_x(struct problem *p, int odd, uint64_t *state)
{
    const pwl_qgemm_input *const x = &p->product.x;
    const size_t k = p->product.weights->k;
    float row[8192];
    memset(p->x, 0xff, p->x_bytes);
    for (size_t m = 0; m < p->product.m; m++) {
        for (size_t c = 0; c < k; c++)
            row[c] = (float)random_in(state, -4096, 4095) / 1024;
        if (odd && m < 2)
            row[random_bits(state) % k] = m ? INFINITY : NAN;
        if (x->type == PWL_QGEMM_BLOCKS_Q8_1)
            PWL((int)pwl_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, row, 1, k, k,
                                  (pwl_block_q8_1 *)(void *)p->x + m * x->stride));
        for (size_t c = 0; c < k && x->type != PWL_QGEMM_BLOCKS_Q8_1; c++)
            put_x(x->type, p->x, m * x->stride + c, row[c]);
        p->n_x[m] = (int8_t)random_in(state, 5, 8);
    }
}

/* `offset` elements from an aligned address, `gap` between rows. */
static inline struct problem new_problem(const struct scheme *scheme, const struct weights *w, size_t m,
                                         pwl_qgemm_type x, pwl_qgemm_type y, pwl_qgemm_sums sums, size_t offset,
                                         size_t gap, int odd, uint64_t *state)
{
    struct problem p;
    const size_t x_stride = (x == PWL_QGEMM_BLOCKS_Q8_1 ? w->host.k / PWL_BLOCK : w->host.k) + gap;
    p.x_bytes = m * x_stride * element_bytes[x];
    p.y_bytes = m * (w->host.n + gap) * element_bytes[y];
    p.y_offset = GUARD + offset * element_bytes[y];
    p.x = need(p.x_bytes);
    p.y = need(p.y_bytes + 2 * p.y_offset);
    p.again = need(p.y_bytes + 2 * p.y_offset);
    p.expected = need(p.y_bytes + 4 * (w->host.n + gap) * element_bytes[y]); /* four rows, where Y has fewer */
    p.n_x = need(m);
    p.product = (pwl_qgemm_product){scheme->scheme,
                                    sums,
                                    m,
                                    &w->host,
                                    {p.x, x_stride, x, -7, p.n_x, NULL},
                                    offset % 2 ? w->bias : NULL,
                                    {p.expected, w->host.n + gap, y, 3, 9, NULL, 0},
                                    NULL};
    draw_x(&p, odd, state);
    CUDA(cudaMalloc((void **)&p.device_x, p.x_bytes + offset * element_bytes[x]));
    CUDA(cudaMalloc((void **)&p.device_y, p.y_bytes + 2 * p.y_offset));
    CUDA(cudaMemcpy(p.device_x + offset * element_bytes[x], p.x, p.x_bytes, cudaMemcpyHostToDevice));
    p.device_n_x = on_device(p.n_x, m);
    p.on_device = p.product;
    p.on_device.weights = &w->device;
    p.on_device.x.data = p.device_x + offset * element_bytes[x];
    p.on_device.x.n_x = (const int8_t *)p.device_n_x;
    p.on_device.bias = p.product.bias ? w->device_bias : NULL;
    p.on_device.y.data = p.device_y + p.y_offset;
    return p;
}

static inline void free_problem(struct problem *p)
{
    CUDA(cudaFree(p->device_x));
    CUDA(cudaFree(p->device_y));
    CUDA(cudaFree(p->device_n_x));
    free(p->x);
    free(p->y);
    free(p->again);
    free(p->expected);
    free(p->n_x);
}

/* Runs the kernel; everything that Y lies in comes back. */
static inline void compute(const struct problem *p, pwl_qgemm_kernel kernel, uint8_t *to)
{
    pwl_qgemm_kernel ran;
    size_t bytes;
    void *workspace;
    setenv("PWL_QGEMM_KERNEL", pwl_qgemm_kernel_name(kernel), 1);
    PWL(pwl_cuda_qgemm_workspace(&p->on_device, &bytes));
    CUDA(cudaMalloc(&workspace, bytes + 16));
    CUDA(cudaMemset(workspace, POISON, bytes + 16));
    CUDA(cudaMemset(p->device_y, POISON, p->y_bytes + 2 * p->y_offset));
    PWL(pwl_cuda_qgemm(&p->on_device, workspace, bytes, &ran, NULL));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(to, p->device_y, p->y_bytes + 2 * p->y_offset, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(workspace));
    unsetenv("PWL_QGEMM_KERNEL");
    if (ran != kernel) {
        printf("Bail out! another kernel ran\n");
        exit(1);
    }
}

static inline int is_a8(const pwl_qgemm_product *product)
{
    return product->scheme == PWL_QGEMM_W4A8 || product->scheme == PWL_QGEMM_W8A8;
}

/* What a kernel is for, as the list's words are meant. */
enum served {
    SERVES_all,
    SERVES_a16,
    SERVES_bytes,
    SERVES_exact_bytes,
    SERVES_integers,
    SERVES_sparse,
    SERVES_fp8,
    SERVES_halves,
    SERVES_few
};

static inline enum served served_by(pwl_qgemm_kernel kernel)
{
    switch (kernel) {
#define CASE(NAME, value, name, serves, ...)                                                                           \
    case PWL_QGEMM_##NAME:                                                                                             \
        return SERVES_##serves;
        PWL_QGEMM_KERNELS(CASE)
#undef CASE
    }
    return SERVES_all;
}

/* Whether a kernel runs on this device: those of `hopper`, where they were compiled for 9.0a, which QGEMM_PTX in the
 * environment denies. */
static inline int runs_here(pwl_qgemm_kernel kernel)
{
    enum { ON_any, ON_hopper };
    int major = 0;
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    switch (kernel) {
#define CASE(NAME, value, name, serves, rows, x, cut, bits, on)                                                        \
    case PWL_QGEMM_##NAME:                                                                                             \
        return ON_##on == ON_any || (major == 9 && !getenv("QGEMM_PTX"));
        PWL_QGEMM_KERNELS(CASE)
#undef CASE
    }
    return 0;
}

static inline int serves(pwl_qgemm_kernel kernel, const pwl_qgemm_product *product)
{
    const int sparse = product->scheme == PWL_QGEMM_SPARSE4_A16;
    const int a16 = product->scheme <= PWL_QGEMM_MXFP4_A16, exact = product->sums == PWL_QGEMM_SUMS_EXACT;
    if (!runs_here(kernel))
        return 0;
    switch (served_by(kernel)) {
    case SERVES_all:
        return 1;
    case SERVES_a16:
        return a16;
    case SERVES_sparse:
        return sparse;
    case SERVES_bytes:
        return !a16 && !sparse;
    case SERVES_exact_bytes:
        return !a16 && !sparse && exact;
    case SERVES_integers:
        return product->scheme == PWL_QGEMM_INT8;
    case SERVES_fp8:
        return product->scheme == PWL_QGEMM_FP8 || product->scheme == PWL_QGEMM_MXFP4_FP8;
    case SERVES_halves:
        return a16 || (is_a8(product) && product->m >= PWL_QGEMM_HALVES_FROM && exact);
    case SERVES_few:
        return exact && !sparse && product->m <= 64;
    }
    return 0;
}

/* A8 in halves. */
static inline int is_halved(pwl_qgemm_kernel kernel, const pwl_qgemm_product *product)
{
    return served_by(kernel) == SERVES_halves && is_a8(product);
}

/* Whether a kernel gives naive's bits. */
static inline int has_same_bits(pwl_qgemm_kernel kernel)
{
    enum { BITS_own, BITS_same };
    switch (kernel) {
#define CASE(NAME, value, name, serves, rows, x, cut, bits, on)                                                        \
    case PWL_QGEMM_##NAME:                                                                                             \
        return BITS_##bits;
        PWL_QGEMM_KERNELS(CASE)
#undef CASE
    }
    return 0;
}

/* Nothing but the rows of Y was written. */
static inline int is_guarded(const struct problem *p)
{
    const size_t element = element_bytes[p->product.y.type], row = p->product.y.stride * element;
    const size_t used = p->product.weights->n * element;
    for (size_t i = 0; i < p->y_bytes + 2 * p->y_offset; i++) {
        const int inside = i >= p->y_offset && i < p->y_offset + p->y_bytes && (i - p->y_offset) % row < used;
        if (!inside && p->y[i] != POISON) {
            printf("# byte %zu of Y was written\n", i);
            return 0;
        }
    }
    return 1;
}

#endif
