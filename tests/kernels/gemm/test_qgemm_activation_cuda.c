/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with an activation on a device: bit for bit what the same kernel stores in F32 or S32, quantised and mapped
 * on the host; for every scheme, kernel, kind of table and type of Y, plain and gated, in arrays that are aligned to
 * their elements alone, poisoned. And against pwl_cuda_map_from_real() of the same kernel's Y.
 *
 * test_qgemm_activation_cuda        everything, on one device; exits 77 where there is none
 * test_qgemm_activation_cuda small  some of it, for compute-sanitizer
 */
#define OF_DEVICE
#include "../tap.h"
#include "activations.h"
#include "problems.h"

static int small;
static struct made_table made;

/* A table on both sides. */
struct table {
    const pwl_table *host;
    pwl_cuda_table device;
};

static struct table new_table(int kind, int fewest, uint64_t *state)
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

static struct pair_bias split_bias(const struct weights *w)
{
    const size_t n = w->host.n;
    struct pair_bias pair = {need(4 * n + 32), need(4 * n + 32), NULL, NULL};
    for (size_t row = 0; row < n; row++)
        (row / 8 % 2 ? pair.up : pair.gate)[row / 16 * 8 + row % 8] = w->bias[row];
    pair.device_gate = on_device(pair.gate, 2 * n);
    pair.device_up = on_device(pair.up, 2 * n);
    return pair;
}

static void free_bias(struct pair_bias *pair)
{
    free(pair->gate);
    free(pair->up);
    CUDA(cudaFree(pair->device_gate));
    CUDA(cudaFree(pair->device_up));
}

/* Y of another type and row length in the same memory, which is large enough. */
static void set_y(struct problem *p, const struct y_kind *y, size_t columns, size_t offset, size_t gap)
{
    p->y_offset = GUARD + offset * y->bytes;
    p->y_bytes = p->product.m * (columns + gap) * y->bytes;
    p->product.y = (pwl_qgemm_output){p->expected, columns + gap, y->type, 1000, 1000}; /* neither is used */
    p->on_device.y = p->product.y;
    p->on_device.y.data = p->device_y + p->y_offset;
}

/* What the kernel stores in F32 or S32. */
static void compute_values(struct problem *p, pwl_qgemm_kernel kernel, void *values)
{
    const size_t bytes = 4 * p->product.m * p->product.weights->n;
    const struct y_kind *const y = &y_kinds[p->product.scheme == PWL_QGEMM_INT8 ? 4 : Y_INTEGERS];
    set_y(p, y, p->product.weights->n, 0, 0);
    compute(p, kernel, p->y);
    memcpy(values, p->y + p->y_offset, bytes);
}

/* Fused and unfused by one kernel, in a type of Y. */
static int kernel_agrees(struct problem *p, pwl_qgemm_kernel kernel, const struct y_kind *y,
                         const pwl_qgemm_activation *as, const pwl_qgemm_activation *device_as, const void *values,
                         const int8_t *n_w, size_t offset, size_t gap)
{
    const size_t n = p->product.weights->n;
    set_y(p, y, as->gated ? n / 2 : n, offset, gap);
    p->product.activation = as;
    p->on_device.activation = device_as;
    compute(p, kernel, p->y);
    uint8_t *const expected = need(p->y_bytes + 2 * p->y_offset);
    memset(expected, POISON, p->y_bytes + 2 * p->y_offset);
    activate(&p->product, y, values, n_w, expected + p->y_offset, p->product.y.stride);
    const int good = memcmp(p->y, expected, p->y_bytes + 2 * p->y_offset) == 0;
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

/* Every kernel, with `rounds` types of Y of one table. */
static int agrees(const struct scheme *scheme, const size_t shape[3], const struct table *table, int gated, int rounds,
                  int odd, uint64_t *state)
{
    const int int8 = scheme->format == PWL_QGEMM_ROWS8, has_bias = random_bits(state) % 4 != 0;
    const size_t n = gated ? shape[1] / 16 * 16 : shape[1], k = shape[2];
    struct weights w = new_weights(scheme->format, n, k, random_bits(state) % 3 ? -2 : 15, state);
    struct pair_bias pair = split_bias(&w);
    const pwl_qgemm_type x = int8 ? PWL_QGEMM_S8 : (pwl_qgemm_type)(random_bits(state) % (scheme->a8 ? 4 : 3));
    const pwl_qgemm_sums sums = scheme - schemes == PWL_QGEMM_W4A8 && random_bits(state) % 5 == 0
                                    ? PWL_QGEMM_SUMS_STORED
                                    : PWL_QGEMM_SUMS_EXACT;
    /* Room for the widest rows of Y. */
    struct problem p =
        new_problem(scheme, &w, shape[0], x, int8 ? PWL_QGEMM_S32 : PWL_QGEMM_F32, sums, 8, 8, odd, state);
    void *const values = need(4 * shape[0] * n);
    int8_t *const q_w = need(n * k), *const n_w = need(n);
    int good = 1;
    if (int8)
        PWL(pwl_qgemm_unpack_s8(&w.host, q_w, n_w));
    for (size_t i = 0; i < KERNELS && good; i++) {
        if (!serves(kernels[i], &p.product))
            continue;
        p.product.bias = has_bias ? w.bias : NULL;
        p.on_device.bias = has_bias ? w.device_bias : NULL;
        compute_values(&p, kernels[i], values);
        p.product.bias = has_bias && gated ? pair.gate : p.product.bias;
        p.on_device.bias = has_bias && gated ? pair.device_gate : p.on_device.bias;
        for (int round = 0; round < rounds && good; round++) {
            const struct y_kind *const y = draw_y_kind(table->host, int8, gated, state);
            pwl_qgemm_activation as =
                draw_activation(table->host, int8, gated, half_of_most(&p.product, values, 0x1p-13), y, state);
            pwl_qgemm_activation device_as = as;
            const int aligned = random_bits(state) % 2;
            as.bias_up = has_bias && gated ? pair.up : NULL;
            device_as.bias_up = has_bias && gated ? pair.device_up : NULL;
            device_as.table = NULL;
            device_as.uploaded = &table->device;
            good = kernel_agrees(&p, kernels[i], y, &as, &device_as, values, n_w, aligned ? 0 : random_bits(state) % 4,
                                 aligned ? 4 * (random_bits(state) % 2) : random_bits(state) % 8);
        }
    }
    free(values);
    free(q_w);
    free(n_w);
    free_problem(&p);
    free_bias(&pair);
    release(&w);
    return good;
}

/* Every kind of table, of 1 to 64 segments, with small products. */
static void test_tables(const struct scheme *scheme, int gated)
{
    static const int segments[] = {1, 2, 16, 63, 64};
    uint64_t state = 71;
    int good = 1;
    for (int kind = 0; kind < 72 && good; kind += small ? 31 : 1) {
        const int fewest = segments[kind % 5] > 16 && kind % 3 == PWL_INT8 ? 16 : segments[kind % 5];
        struct table table = new_table(kind, fewest, &state);
        const size_t shape[3] = {(size_t)random_in(&state, 1, small ? 20 : 140),
                                 (size_t)random_in(&state, 16, small ? 40 : 300), 32 * (size_t)random_in(&state, 1, 5)};
        good = agrees(scheme, shape, &table, gated, small ? 1 : 3, kind % 4 == 0, &state);
        PWL(pwl_cuda_release(&table.device));
    }
    tap(good, "%s%s: every kind of table", scheme->name, gated ? ", gated" : "");
}

/* Shapes that fill tiles, that end within them, and that are cut along K; tables of 8, 16 and 32 bits. */
static void test_shapes(const struct scheme *scheme, int gated)
{
    static const size_t shapes[][3] = {{1, 16, 32},     {8, 128, 64},     {9, 129, 96},    {64, 256, 160},
                                       {65, 144, 1056}, {128, 128, 1024}, {129, 387, 160}, {300, 512, 992},
                                       {512, 640, 96},  {7, 4096, 1024}};
    uint64_t state = 72;
    int good = 1;
    for (size_t i = 0; i < (small ? 2 : sizeof shapes / sizeof shapes[0]) && good; i++) {
        for (int kind = 0; kind < 3 && good; kind++) { /* absolute, floor */
            struct table table = new_table(kind, kind == PWL_INT8 ? 8 : 64, &state);
            good = agrees(scheme, shapes[i], &table, gated, small ? 1 : 4, i % 3 == 1, &state);
            PWL(pwl_cuda_release(&table.device));
        }
    }
    tap(good, "%s%s: every shape", scheme->name, gated ? ", gated" : "");
}

/* Zero points far from the table's codes, scales at their ends: nothing lies within the table, or all in one code. */
static void test_extremes(const struct scheme *scheme)
{
    static const float scales[] = {0x1p-126f, 0x1p-30f, 1, 0x1p60f, 0x1p126f};
    static const int64_t zero_points[] = {0, 1 << 30, -(1 << 30), 1 << 22, -(1 << 22)};
    const size_t m = 70, n = 144, k = 64;
    const int int8 = scheme->format == PWL_QGEMM_ROWS8;
    const struct y_kind *const y = &y_kinds[4];
    uint64_t state = 73;
    int good = 1;
    for (int kind = 0; kind < 2; kind++) {
        struct table table = new_table(kind, 4, &state);
        struct weights w = new_weights(scheme->format, n, k, -2, &state);
        struct problem p = new_problem(scheme, &w, m, int8 ? PWL_QGEMM_S8 : PWL_QGEMM_F32,
                                       int8 ? PWL_QGEMM_S32 : PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 1, 8, 1, &state);
        void *const values = need(4 * m * n);
        int8_t *const q_w = need(n * k), *const n_w = need(n);
        if (int8)
            PWL(pwl_qgemm_unpack_s8(&w.host, q_w, n_w));
        for (size_t i = 0; i < KERNELS && good; i++) {
            if (!serves(kernels[i], &p.product))
                continue;
            compute_values(&p, kernels[i], values);
            for (size_t c = 0; c < 25 && good; c += small ? 9 : 1) {
                pwl_qgemm_activation as = {
                    .table = table.host, .of_x = {scales[c % 5], zero_points[c / 5]}, .of_y = {1, 0}};
                pwl_qgemm_activation device_as = as;
                device_as.table = NULL;
                device_as.uploaded = &table.device;
                good = kernel_agrees(&p, kernels[i], y, &as, &device_as, values, n_w, 0, 0);
            }
        }
        free(values);
        free(q_w);
        free(n_w);
        free_problem(&p);
        release(&w);
        PWL(pwl_cuda_release(&table.device));
    }
    tap(good, "%s: scales and zero points at their ends", scheme->name);
}

/* A pass of pwl_cuda_map_from_real() over Y gives what the fused product does. */
static void test_two_passes(void)
{
    const size_t m = 130, n = 256, count = m * n;
    uint64_t state = 74;
    int good = 1;
    for (int kind = 0; kind < 2; kind++) {
        struct table table = new_table(kind, 16, &state);
        struct weights w = new_weights(PWL_QGEMM_Q4_0, n, 128, -2, &state);
        struct problem p =
            new_problem(&schemes[0], &w, m, PWL_QGEMM_F16, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, 0, 0, &state);
        float *const values = need(4 * count);
        int32_t *const mapped = need(4 * count), *device_mapped;
        compute_values(&p, PWL_QGEMM_MMA, values);
        pwl_qgemm_activation as =
            draw_activation(table.host, 0, 0, half_of_most(&p.product, values, 0x1p-13), &y_kinds[4], &state);
        as.table = NULL;
        as.uploaded = &table.device;
        CUDA(cudaMalloc((void **)&device_mapped, 4 * count));
        PWL(pwl_cuda_map_from_real(&table.device, as.of_x, PWL_F32, p.on_device.y.data, PWL_S32, device_mapped, count,
                                   NULL));
        CUDA(cudaMemcpy(mapped, device_mapped, 4 * count, cudaMemcpyDeviceToHost));
        set_y(&p, &y_kinds[4], n, 0, 0);
        p.on_device.activation = &as;
        compute(&p, PWL_QGEMM_MMA, p.y);
        good &= memcmp(p.y + p.y_offset, mapped, 4 * count) == 0;
        CUDA(cudaFree(device_mapped));
        free(values);
        free(mapped);
        free_problem(&p);
        release(&w);
        PWL(pwl_cuda_release(&table.device));
    }
    tap(good, "fused is a product and pwl_cuda_map_from_real()");
}

/* A released table is refused, nothing is written. */
static void test_released(void)
{
    uint64_t state = 75;
    struct table table = new_table(0, 4, &state);
    struct weights w = new_weights(PWL_QGEMM_Q4_0, 16, 32, -2, &state);
    struct problem p =
        new_problem(&schemes[0], &w, 2, PWL_QGEMM_F16, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, 0, 0, &state);
    const pwl_qgemm_activation as = {.uploaded = &table.device, .of_x = {1, 0}, .of_y = {1, 0}};
    size_t bytes;
    p.on_device.activation = &as;
    tap(pwl_cuda_qgemm_workspace(&p.on_device, &bytes) == PWL_QGEMM_OK, "a table that is there");
    PWL(pwl_cuda_release(&table.device));
    tap(pwl_cuda_qgemm_workspace(&p.on_device, &bytes) == PWL_QGEMM_ERR_TABLE &&
            pwl_cuda_qgemm(&p.on_device, NULL, 0, NULL, NULL) == PWL_QGEMM_ERR_TABLE,
        "a released table is refused");
    free_problem(&p);
    release(&w);
}

int main(int argc, char **argv)
{
    small = test_is_small(argc, argv);
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        for (int gated = 0; gated < 2; gated++) {
            test_tables(&schemes[i], gated);
            test_shapes(&schemes[i], gated);
        }
        test_extremes(&schemes[i]);
    }
    test_two_passes();
    test_released();
    return tap_end();
}
