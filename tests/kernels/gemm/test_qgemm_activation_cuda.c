/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with an activation on a device: bit for bit what the same kernel stores in F32 or S32, quantised and mapped
 * on the host; for every scheme, kernel, kind of table and type of Y, plain and gated, in arrays that are aligned to
 * their elements alone, poisoned. And against pwl_cuda_map_from_real() of the same kernel's Y.
 *
 * test_qgemm_activation_cuda        everything, on one device; exits 77 where there is none
 * test_qgemm_activation_cuda small  some of it, for compute-sanitizer
 */
#include "../tap.h"
#include "fused.h"

static int small;

/* Every kernel, with `rounds` types of Y of one table. */
static int agrees(const struct scheme *scheme, const size_t shape[3], const struct table *table, int gated, int rounds,
                  int odd, uint64_t *state)
{
    const int int8 = scheme->scheme == PWL_QGEMM_INT8, has_bias = random_bits(state) % 4 != 0;
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
        if (!int8 && !gated) {
            const size_t any = random_bits(state), is_aligned = any / 8 % 2;
            good =
                e4m3_agrees(&p, kernels[i], any / 16 % 2, values, is_aligned ? 0 : any % 4, is_aligned ? 4 : any % 8);
        }
        p.product.bias = has_bias && gated ? pair.gate : p.product.bias;
        p.on_device.bias = has_bias && gated ? pair.device_gate : p.on_device.bias;
        for (int round = 0; round < rounds && good; round++) {
            const struct y_kind *const y = draw_y_kind(table->host, int8, gated, Y_KINDS, state);
            pwl_qgemm_activation as =
                draw_activation(table->host, int8, gated, half_of_most(&p.product, values, 0x1p-13), y, state);
            pwl_qgemm_activation device_as = as;
            const int aligned = random_bits(state) % 2;
            as.bias_up = has_bias && gated ? pair.up : NULL;
            device_as.bias_up = has_bias && gated ? pair.device_up : NULL;
            device_as.table = NULL;
            device_as.uploaded = &table->device;
            good = fused_agrees(&p, kernels[i], y, &as, &device_as, values, n_w, aligned ? 0 : random_bits(state) % 4,
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
    const int int8 = scheme->scheme == PWL_QGEMM_INT8;
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
                good = fused_agrees(&p, kernels[i], y, &as, &device_as, values, n_w, 0, 0);
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
