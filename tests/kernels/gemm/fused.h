/* SPDX-License-Identifier: Apache-2.0 */
/* Products with an activation on a device, against what the same kernel stores in F32 or S32, mapped on the host. */
#ifndef QGEMM_FUSED_H
#define QGEMM_FUSED_H

#define OF_DEVICE
#include "activations.h"
#include "problems.h"

static struct made_table made; /* of the last new table */

/* A table on both sides. */
struct table {
    const pwl_table *host;
    pwl_cuda_table device;
};

static inline struct table new_table(int kind, int fewest, uint64_t *state)
{
    struct table table;
    table.host = draw_activation_table(&made, state, kind, fewest);
    PWL(pwl_cuda_upload(table.host, &table.device));
    return table;
}

/* The bias of packed weights as two arrays, of gate and up. */
struct pair_bias {
    int32_t *gate, *up, *device_gate, *device_up;
};

static inline struct pair_bias split_bias(const struct weights *w)
{
    const size_t n = w->host.n;
    struct pair_bias pair = {need(4 * n + 32), need(4 * n + 32), NULL, NULL};
    for (size_t row = 0; row < n; row++)
        (row / 8 % 2 ? pair.up : pair.gate)[row / 16 * 8 + row % 8] = w->bias[row];
    pair.device_gate = on_device(pair.gate, 2 * n);
    pair.device_up = on_device(pair.up, 2 * n);
    return pair;
}

static inline void free_bias(struct pair_bias *pair)
{
    free(pair->gate);
    free(pair->up);
    CUDA(cudaFree(pair->device_gate));
    CUDA(cudaFree(pair->device_up));
}

/* Where the scales of Y are on the device; they are copied there. */
static inline float *device_scales(void)
{
    static float *there; /* for all problems */
    if (!there)
        CUDA(cudaMalloc((void **)&there, sizeof y_scales));
    CUDA(cudaMemcpy(there, y_scales, sizeof y_scales, cudaMemcpyHostToDevice));
    return there;
}

/* Whether they are as they are to be. */
static inline int scales_agree(const struct problem *p)
{
    CUDA(cudaMemcpy(y_scales, p->on_device.y.scale, sizeof y_scales, cudaMemcpyDeviceToHost));
    return memcmp(y_scales, expected_scales, sizeof y_scales) == 0;
}

/* Y of another type and row length in the same memory, which is large enough. */
static inline void set_y(struct problem *p, const struct y_kind *y, size_t columns, size_t offset, size_t gap)
{
    p->y_offset = GUARD + offset * y->bytes;
    p->y_bytes = p->product.m * (columns + gap) * y->bytes;
    p->product.y = y_of(y, p->expected, columns + gap);
    p->on_device.y = p->product.y;
    p->on_device.y.data = p->device_y + p->y_offset;
    p->on_device.y.scale = device_scales();
}

/* What the kernel stores in F32 or S32. */
static inline void compute_values(struct problem *p, pwl_qgemm_kernel kernel, void *values)
{
    const size_t bytes = 4 * p->product.m * p->product.weights->n;
    const struct y_kind *const y = &y_kinds[p->product.scheme == PWL_QGEMM_INT8 ? 4 : Y_INTEGERS];
    set_y(p, y, p->product.weights->n, 0, 0);
    compute(p, kernel, p->y);
    memcpy(values, p->y + p->y_offset, bytes);
}

/* In E4M3 without an activation, what the kernel stores in F32 being known. */
static inline int e4m3_agrees(struct problem *p, pwl_qgemm_kernel kernel, int dynamic, const float *values,
                              size_t offset, size_t gap)
{
    const size_t n = p->product.weights->n;
    set_y(p, &y_kinds[dynamic ? Y_DYNAMIC : Y_E4M3], n, offset, gap);
    compute(p, kernel, p->y);
    uint8_t *const expected = need(p->y_bytes + 2 * p->y_offset);
    memset(expected, POISON, p->y_bytes + 2 * p->y_offset);
    for (size_t m = 0; m < p->product.m; m++)
        put_e4m3(&p->product.y, m, values + m * n, n, expected + p->y_offset + m * p->product.y.stride);
    const int good = memcmp(p->y, expected, p->y_bytes + 2 * p->y_offset) == 0 && scales_agree(p);
    if (!good)
        printf("# %s, e4m3 + %zu, gap %zu, dynamic %d, M = %zu, N = %zu, K = %zu\n", pwl_qgemm_kernel_name(kernel),
               offset, gap, dynamic, p->product.m, n, p->product.weights->k);
    free(expected);
    return good;
}

/* Fused and unfused by one kernel, in a type of Y. */
static inline int fused_agrees(struct problem *p, pwl_qgemm_kernel kernel, const struct y_kind *y,
                               const pwl_qgemm_activation *as, const pwl_qgemm_activation *device_as,
                               const void *values, const int8_t *n_w, size_t offset, size_t gap)
{
    const size_t n = p->product.weights->n;
    set_y(p, y, as->gated ? n / 2 : n, offset, gap);
    p->product.activation = as;
    p->on_device.activation = device_as;
    compute(p, kernel, p->y);
    uint8_t *const expected = need(p->y_bytes + 2 * p->y_offset);
    memset(expected, POISON, p->y_bytes + 2 * p->y_offset);
    activate(&p->product, y, values, n_w, expected + p->y_offset, p->product.y.stride);
    const int good = memcmp(p->y, expected, p->y_bytes + 2 * p->y_offset) == 0 && scales_agree(p);
    for (size_t i = 0; !good && i < p->y_bytes + 2 * p->y_offset; i++) {
        if (p->y[i] == expected[i])
            continue;
        const ptrdiff_t at = ((ptrdiff_t)i - (ptrdiff_t)p->y_offset) / (ptrdiff_t)y->bytes;
        printf("# row %td, column %td\n", at / (ptrdiff_t)p->product.y.stride, at % (ptrdiff_t)p->product.y.stride);
        break;
    }
    if (!good)
        printf("# %s, %s + %zu, gap %zu, gated %d, M = %zu, N = %zu, K = %zu; storage %d form %d rounding %d flags %d, "
               "%d segments\n",
               pwl_qgemm_kernel_name(kernel), y->name, offset, gap, as->gated, p->product.m, n, p->product.weights->k,
               as->table->storage, as->table->form, as->table->rounding, as->table->flags, as->table->segments);
    p->product.activation = p->on_device.activation = NULL;
    free(expected);
    return good;
}

#endif
