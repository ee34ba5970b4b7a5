/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activations of products on the host: Y is what a user would make of the same product in F32 or S32, for every way,
 * scheme, type of Y and kind of table, gated or not.
 */
#include <pwl/plan.h>

#include "gemm/host/ways.h"

#include "../activations.h"
#include "products.h"

static struct made_table made;

/* By a way, with the guards around Y. */
static void compute(const pwl_qgemm_way *way, const pwl_qgemm_product *product, const pwl_qgemm_panels *panels,
                    uint64_t *state)
{
    const struct workspace work = new_workspace(product, panels, state);
    must(pwl_qgemm_by(way, product, panels, work.at, work.bytes));
    if (!is_guarded(&work))
        abort();
    free(work.memory);
}

/* A float's bits, but that a NaN is one; other types as they are. */
static uint32_t element(const struct y_kind *y, const void *data, size_t at)
{
    uint32_t bits = 0;
    float v;
    memcpy(&bits, (const uint8_t *)data + at * y->bytes, y->bytes);
    if (y->type > PWL_QGEMM_BF16)
        return bits;
    v = y->type == PWL_QGEMM_F32   ? pwl_f32_of_bits(bits)
        : y->type == PWL_QGEMM_F16 ? pwl_f32_from_f16((uint16_t)bits)
                                   : pwl_f32_from_bf16((uint16_t)bits);
    return isnan(v) ? 0x7fffffff : bits;
}

static int agrees(const struct scheme *scheme, const pwl_qgemm_way *way, const pwl_table *table, int gated,
                  uint64_t *state)
{
    const int int8 = scheme->scheme == PWL_QGEMM_INT8;
    const size_t m = (size_t)random_in(state, 1, 20), k = step_of(scheme) * (size_t)random_in(state, 1, 3);
    const size_t n = gated ? 16 * (size_t)random_in(state, 1, 6) : (size_t)random_in(state, 1, 96);
    struct operand w = draw_operand(scheme, n, k, -4, 3, state);
    struct problem p = draw_problem(scheme, &w, m, state);
    uint32_t *const values = need(m * n * 4), *const packed_bias = need(n * 4);
    pwl_qgemm_product product = p.product;
    int good = 1;
    interleave_bias(w.bias, w.bias_up, n, packed_bias);
    product.bias = gated ? (const void *)packed_bias : w.bias;
    product.y = (pwl_qgemm_output){values, n, int8 ? PWL_QGEMM_S32 : PWL_QGEMM_F32, 0, 0, NULL, 0};
    compute(way, &product, &w.panels, state);
    product.weights = &w.packed;
    const struct y_kind *const y = draw_y_kind(table, int8, gated, Y_DYNAMIC, state);
    pwl_qgemm_activation as = draw_activation(table, int8, gated, half_of_most(&product, values, 0x1p-6), y, state);
    const size_t columns = gated ? n / 2 : n, stride = columns + random_bits(state) % 4, bytes = m * stride * y->bytes;
    uint8_t *const expected = need(bytes + GUARD), *const got = need(bytes + GUARD);
    as.bias_up = w.bias_up;
    product.activation = &as;
    product.bias = w.bias;
    memset(expected, POISON, bytes + GUARD);
    memset(got, POISON, bytes + GUARD);
    product.y = y_of(y, got, stride);
    activate(&product, y, values, w.n_w, expected, stride);
    compute(way, &product, &w.panels, state);
    for (size_t i = 0; i < (bytes + GUARD) / y->bytes && good; i++) {
        good = element(y, got, i) == element(y, expected, i);
        if (!good)
            printf("# %s, %s, Y %s, gated %d, %zu x %zu x %zu: row %zu, column %zu: %x, not %x\n", scheme->name,
                   way->name, y->name, gated, m, n, k, i / stride, i % stride, element(y, got, i),
                   element(y, expected, i));
    }
    free(expected);
    free(got);
    free(values);
    free(packed_bias);
    free_problem(&p);
    free_operand(&w);
    return good;
}

static void test_activations(const struct scheme *scheme, const pwl_qgemm_way *way, int gated)
{
    static const int segments[] = {1, 2, 16, 63, 64};
    uint64_t state = 85;
    int good = 1;
    for (int kind = 0; kind < 72 && good; kind++) {
        const int fewest = segments[kind % 5] > 16 && kind % 3 == PWL_INT8 ? 16 : segments[kind % 5];
        const pwl_table *const table = draw_activation_table(&made, &state, kind, fewest);
        for (int i = 0; i < 3 && good; i++)
            good = agrees(scheme, way, table, gated, &state);
    }
    tap(good, "%s, %s%s", scheme->name, way->name, gated ? ", gated" : "");
}

int main(void)
{
    for (int i = 0; i < SCHEMES; i++) {
        for (size_t v = 0; v < pwl_qgemm_way_count; v++) {
            if ((pwl_qgemm_ways[v].level & pwl_levels()) != pwl_qgemm_ways[v].level)
                continue;
            test_activations(&schemes[i], &pwl_qgemm_ways[v], 0);
            test_activations(&schemes[i], &pwl_qgemm_ways[v], 1);
        }
    }
    return tap_end();
}
