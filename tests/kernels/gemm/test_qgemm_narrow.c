/* SPDX-License-Identifier: Apache-2.0 */
/* INT8 in 32 bits as kernels compute with them: where gemm/narrow.h allows it, codes and values are those of store.h
 * and of the runtime, and no sum overflows. */
#include "../tap.h"
#include "activations.h"
#include "gemm/activation.h"
#include "gemm/narrow.h"

static struct made_table made;

/* Any, but near 0 and near both ends as often. */
static int64_t draw_sum(int64_t most, uint64_t *state)
{
    const int64_t v = random_in(state, -most, most);
    switch (random_bits(state) % 4) {
    case 0:
        return v >> random_bits(state) % 31;
    case 1:
        return v < 0 ? -most + (v & 7) : most - (v & 7);
    default:
        return v;
    }
}

/* Shifted sums, and the ends of what may be shifted. */
static void test_shifts(void)
{
    const int64_t most = INT32_MAX - (INT64_C(1) << 28);
    uint64_t state = 91;
    int good = 1, starts = 1;
    for (int i = 0; i < 200000; i++) {
        const int32_t v = (int32_t)draw_sum(most, &state);
        const int s = (int)random_in(&state, -3, 33), part = s > 1 ? (int)random_in(&state, 0, s - 1) : 0;
        if (pwl_qgemm_shift_is_narrow(s)) /* 2^(s - 1) is at most 2^28 */
            good &= pwl_qgemm_shift_narrow(v, s, 1 << part, 1 << (s - 1 - part)) == pwl_shr64(v, s, PWL_HALF_UP);
    }
    good &= pwl_qgemm_shift_is_narrow(1) && pwl_qgemm_shift_is_narrow(29) && !pwl_qgemm_shift_is_narrow(0) &&
            !pwl_qgemm_shift_is_narrow(30);
    tap(good, "sums are shifted as by pwl_shr64()");
    for (size_t k = 32; k <= PWL_QGEMM_MAX_K_INT8; k += 4111) {
        const int64_t last = most - (int64_t)k * (128 * 128);
        starts &= pwl_qgemm_start_is_narrow(last, k) && pwl_qgemm_start_is_narrow(-last, k) &&
                  !pwl_qgemm_start_is_narrow(last + 1, k) && !pwl_qgemm_start_is_narrow(-last - 1, k);
    }
    tap(starts, "sums begin where they stay below 2^31 - 2^28");
}

/* Saturated to Y's type, where that is all that values need, else to the table's range. */
static int64_t saturated(const pwl_qgemm_narrow *narrow, const pwl_cuda_plan *plan, int64_t raw)
{
    const int64_t most = narrow->y_bytes == 1 ? INT8_MAX : INT16_MAX;
    return narrow->saturates ? pwl_sat(raw, -most - 1, most) : pwl_sat(raw, plan->qmin_y, plan->qmax_y);
}

/* The value of a code, counted from the table's lowest, by what a kernel has of the table: one copy of each element. */
static int64_t value_of(const pwl_qgemm_narrow *narrow, const pwl_planned *table, uint32_t u)
{
    const pwl_cuda_plan *const plan = &table->plan;
    const char *const image = table->memory + plan->image_offset;
    const uint32_t *const cells = (const uint32_t *)(const void *)(image + plan->image_cells);
    const pwl_compact *const heads = (const pwl_compact *)(const void *)image;
    if (narrow->way == PWL_QGEMM_VALUES)
        return ((const int32_t *)(const void *)table->memory)[plan->qmin_x - PWL_PLAN_BYTE_FIRST + u];
    const uint32_t head = pwl_narrow_pick(cells[(u >> plan->cell_shift) << plan->cell_copies], u);
    return saturated(narrow, plan, pwl_compact_sum(heads[head << plan->head_copies], u) >> plan->fraction);
}

/* One activation that is not left to 64 bits. */
static int agrees(const pwl_qgemm_product *product, const pwl_qgemm_narrow *narrow, const pwl_qgemm_epilogue *e,
                  const pwl_planned *table, uint64_t *state)
{
    const pwl_qgemm_activation *const as = product->activation;
    for (int i = 0; i < 300; i++) {
        const int32_t v = (int32_t)draw_sum(INT32_MAX - (INT64_C(1) << 28), state);
        const int s = (int)random_in(state, 1, 29);
        const int64_t q = pwl_qgemm_code_of_sum(e, v, s + narrow->n), value = pwl_eval(as->table, q);
        const int32_t u =
            pwl_qgemm_narrow_code(pwl_qgemm_shift_narrow(v, s, 1, 1 << (s - 1)), narrow->zero, narrow->last);
        if (u != q - table->plan.qmin_x || value_of(narrow, table, (uint32_t)u) != value) {
            printf("# v %d, shift %d, zero point %lld: %d, not %lld\n", v, s, (long long)as->of_x.zero_point, u,
                   (long long)(q - table->plan.qmin_x));
            return 0;
        }
    }
    return 1;
}

static void test_tables(void)
{
    static const int64_t zero_points[] = {1 << 28, -(1 << 28), 1 << 30, -(1 << 30)};
    static char y[64] __attribute__((aligned(16)));
    static const pwl_qgemm_weights weights = {y, 16, 32, 8192 + 640, PWL_QGEMM_ROWS8, 1};
    uint64_t state = 92;
    int good = 1, ways[5] = {0}, saturates[2] = {0}, far = 0, gates = 1, fits = 1;
    for (int i = 0; i < 720; i++) {
        const pwl_table *const table = draw_activation_table(&made, &state, i % 72, i % 7 ? 1 : 16);
        pwl_planned planned;
        pwl_cuda_plan_init(&planned.plan, table);
        char *const memory = need(planned.plan.bytes);
        pwl_cuda_plan_fill(&planned.plan, table, memory);
        planned.memory = memory;
        for (int gated = 0; gated < 2; gated++) {
            const struct y_kind *const kind_y = draw_y_kind(table, 1, gated, Y_DYNAMIC, &state);
            pwl_qgemm_activation as = draw_activation(table, 1, gated, 1000, kind_y, &state);
            if (i % 5 == 0)
                as.of_x.zero_point = zero_points[random_bits(&state) % 4];
            const int8_t n_x[1] = {0};
            const pwl_qgemm_product product = {PWL_QGEMM_INT8,
                                               PWL_QGEMM_SUMS_EXACT,
                                               1,
                                               &weights,
                                               {y, 32, PWL_QGEMM_S8, 0, n_x, NULL},
                                               NULL,
                                               {y + 32, 16, kind_y->type, 0, 0, NULL, 0},
                                               &as};
            pwl_qgemm_codes codes;
            if (pwl_qgemm_host_codes(&product, &codes) != PWL_QGEMM_OK)
                abort();
            const pwl_qgemm_epilogue e = pwl_qgemm_epilogue_of(&product, &codes);
            const pwl_qgemm_narrow narrow = pwl_qgemm_narrow_of(&product, &e, &planned);
            ways[narrow.way]++;
            far += llabs(as.of_x.zero_point) > 1 << 29 && narrow.way != PWL_QGEMM_IN_64_BITS;
            gates &= !gated || narrow.way == PWL_QGEMM_IN_64_BITS;
            fits &= narrow.y_bytes == kind_y->bytes && narrow.table_bytes <= PWL_QGEMM_NARROW_TABLE;
            if (narrow.way == PWL_QGEMM_LINES)
                saturates[narrow.saturates]++;
            good = good && (narrow.way == PWL_QGEMM_IN_64_BITS || agrees(&product, &narrow, &e, &planned, &state));
        }
        free(memory);
    }
    tap(good, "codes and values as by store.h");
    tap(ways[PWL_QGEMM_VALUES] > 100 && ways[PWL_QGEMM_LINES] > 50, "by value %d, by lines %d, in 64 bits %d",
        ways[PWL_QGEMM_VALUES], ways[PWL_QGEMM_LINES], ways[PWL_QGEMM_IN_64_BITS]);
    tap(saturates[0] > 10 && saturates[1] > 10, "lines that saturate to Y's type %d, others %d", saturates[1],
        saturates[0]);
    tap(far == 0 && gates, "zero points far from 0, and pairs, are left to 64 bits");
    tap(fits, "tables take what shared memory has for them");
}

static void test_plain(void)
{
    static char y[64] __attribute__((aligned(16)));
    static const pwl_qgemm_weights weights = {y, 16, 32, 8192 + 640, PWL_QGEMM_ROWS8, 1};
    const pwl_planned none = {.memory = NULL};
    const pwl_qgemm_epilogue no_activation = {.n_x = 0};
    pwl_qgemm_product product = {.weights = &weights, .y = {y, 16, PWL_QGEMM_S8, -7, INT32_MIN}};
    pwl_qgemm_narrow narrow = pwl_qgemm_narrow_of(&product, &no_activation, &none);
    tap(narrow.way == PWL_QGEMM_CODES && narrow.zero == -7 && narrow.table_bytes == 0 && narrow.y_bytes == 1,
        "S8 without a table");
    tap(narrow.n + INT8_MAX + INT8_MAX < 0, "an exponent far away, as one that no other brings back");
    int copied = narrow.copied && narrow.paired;
    product.y.stride = 18;
    narrow = pwl_qgemm_narrow_of(&product, &no_activation, &none);
    copied &= !narrow.copied && narrow.paired;
    product.y = (pwl_qgemm_output){y + 1, 16, PWL_QGEMM_S8, 0, 0, NULL, 0};
    narrow = pwl_qgemm_narrow_of(&product, &no_activation, &none);
    copied &= !narrow.copied && !narrow.paired;
    product.y = (pwl_qgemm_output){y + 4, 16, PWL_QGEMM_S32, 0, 0, NULL, 0};
    narrow = pwl_qgemm_narrow_of(&product, &no_activation, &none);
    copied &= !narrow.copied && !narrow.paired && narrow.way == PWL_QGEMM_SUMS;
    tap(copied, "rows of Y are aligned to 16 bytes, or two elements, or neither");
}

int main(void)
{
    test_shifts();
    test_tables();
    test_plain();
    return tap_end();
}
