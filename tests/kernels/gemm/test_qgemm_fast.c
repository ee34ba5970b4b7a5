/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers by which kernels activate at speed, as they compute with them: codes, values and real numbers are those
 * of pwl/real.h and of the runtime, and what would not be is left to the search. */
#include "../tap.h"
#include "activations.h"
#include "gemm/activation.h"
#include "gemm/fast.h"

static struct made_table made;

/* A number about a code or half of one, or any. */
static float draw_y(pwl_affine of, int64_t qmin, int64_t qmax, uint64_t *state)
{
    const double code =
        (double)(random_in(state, qmin - 9, qmax + 9) - of.zero_point) + (random_bits(state) % 2 ? 0.5 : 0);
    float y = (float)(code * (double)of.scale);
    switch (random_bits(state) % 8) {
    case 0:
        y = pwl_f32_of_bits((uint32_t)random_bits(state));
        return y == y ? y : 0;
    case 1:
        return nextafterf(y, INFINITY);
    case 2:
        return nextafterf(y, -INFINITY);
    case 3:
        return random_bits(state) % 2 ? INFINITY : -INFINITY;
    default:
        return y;
    }
}

/* One activation, if it is not left to the search. */
static int agrees(const pwl_qgemm_product *product, const pwl_qgemm_fast *fast, const pwl_qgemm_epilogue *e,
                  const pwl_planned *table, uint64_t *state)
{
    const pwl_qgemm_activation *const as = product->activation;
    const pwl_cuda_plan *const plan = &table->plan;
    const int codes = pwl_qgemm_is_integer(product->y.type);
    const pwl_qgemm_range codes_of_y = pwl_qgemm_range_of(product->y.type);
    for (int i = 0; i < 300; i++) {
        const float y = draw_y(as->of_x, plan->qmin_x, plan->qmax_x, state);
        const int64_t q = pwl_qgemm_code_of_f32(e, y), value = pwl_eval(as->table, q);
        const uint32_t u = pwl_qgemm_round(&fast->x, y) - fast->x.zero;
        if (u != (uint32_t)(q - plan->qmin_x)) {
            printf("# y %a, scale %a, zero point %lld: %u, not %lld\n", (double)y, (double)as->of_x.scale,
                   (long long)as->of_x.zero_point, u, (long long)(q - plan->qmin_x));
            return 0;
        }
        if (fast->all16 && (pwl_round16(fast->x.inverse, y) != u ||
                            pwl_round16(fast->x.inverse, NAN) != pwl_qgemm_code_of_f32(e, NAN) - plan->qmin_x ||
                            plan->qmin_y != codes_of_y.min || plan->qmax_y != codes_of_y.max))
            return 0;
        if (fast->way == PWL_QGEMM_BY_VALUE &&
            ((const int32_t *)(const void *)table->memory)[plan->qmin_x - PWL_PLAN_BYTE_FIRST + u] != (int32_t)value)
            return 0;
        if (fast->way == PWL_QGEMM_BY_IMAGE &&
            (pwl_cuda_plan_eval(plan, table->memory, q, i) != value || value < fast->qmin_y || value > fast->qmax_y))
            return 0;
        if (fast->way == PWL_QGEMM_BY_IMAGE && (as->gated || !codes) &&
            pwl_near_real((uint32_t)value, fast->zero_y, as->of_y.scale) != pwl_real_of_code(value, as->of_y))
            return 0;
        const float up = pwl_qgemm_fast_up(fast, y), up_too = pwl_qgemm_up(as, y);
        if (as->gated && memcmp(&up, &up_too, sizeof up) != 0)
            return 0;
        if (!as->gated || !codes)
            continue;
        const float v = draw_y(as->of_out, e->codes.min, e->codes.max, state);
        const int64_t out = pwl_code_of_real(v, e->out_inverse, as->of_out.zero_point, e->codes.min, e->codes.max);
        if (pwl_qgemm_round(&fast->out, v) + fast->zero_out != (uint32_t)out)
            return 0;
    }
    return 1;
}

/* All codes of 16 bits, to all of them: of x and of y neither one fewer nor shifted by one, and no others of Y. */
static void test_all16(void)
{
    static char y[16];
    pwl_qgemm_product product = {.y = {y, 16, PWL_QGEMM_S16, 0, 0, NULL, 0}};
    pwl_qgemm_epilogue e = {.as = {.of_x = {1, 5}}, .codes = {INT16_MIN, INT16_MAX}, .x_inverse = 1};
    pwl_planned table = {.plan = {.qmin_x = INT16_MIN + 5,
                                  .qmax_x = INT16_MAX + 5,
                                  .qmin_y = INT16_MIN,
                                  .qmax_y = INT16_MAX,
                                  .image_bytes = 16},
                         .memory = y};
    int64_t *const fields[] = {&table.plan.qmin_x, &table.plan.qmax_x, &table.plan.qmin_y, &table.plan.qmax_y,
                               &e.as.of_x.zero_point};
    int good = pwl_qgemm_fast_of(&product, &e, &table).all16;
    for (int i = 0; i < 5; i++) {
        *fields[i] += i % 2 ? -1 : 1;
        good &= !pwl_qgemm_fast_of(&product, &e, &table).all16;
        *fields[i] -= i % 2 ? -1 : 1;
    }
    product.y.type = PWL_QGEMM_S32;
    good &= !pwl_qgemm_fast_of(&product, &e, &table).all16;
    tap(good, "all codes of 16 bits are told from fewer and from others");
}

int main(void)
{
    static const int64_t zero_points[] = {0, (1 << 22) - 300, -(1 << 22) + 300, 1 << 23, -(1 << 23), 1 << 30};
    static char y[16] __attribute__((aligned(16)));
    pwl_qgemm_weights weights = {y, 16, 32, 0, PWL_QGEMM_Q4_0, 0};
    uint64_t state = 81;
    int good = 1, ways[3] = {0}, far = 0, all16[2] = {0};
    for (int kind = 0; kind < 72; kind++) {
        const int fewest = kind % 3 == PWL_INT8 ? 4 : 32;
        const pwl_table *const table = draw_activation_table(&made, &state, kind, fewest);
        pwl_planned planned;
        pwl_cuda_plan_init(&planned.plan, table);
        void *const memory = need(planned.plan.bytes);
        pwl_cuda_plan_fill(&planned.plan, table, memory);
        planned.memory = memory;
        for (int i = 0; i < 70; i++) {
            const int gated = i % 2;
            const struct y_kind *const kind_y = draw_y_kind(table, 0, gated, Y_DYNAMIC, &state);
            pwl_qgemm_activation as = draw_activation(table, 0, gated, 10, kind_y, &state);
            if (i % 5 == 0)
                as.of_x.zero_point = zero_points[random_bits(&state) % 6];
            if (i % 7 == 0)
                as.of_y.zero_point = zero_points[random_bits(&state) % 6];
            if (i % 11 == 0)
                as.of_out.zero_point = zero_points[random_bits(&state) % 6];
            const pwl_qgemm_product product = {PWL_QGEMM_W4A16,
                                               PWL_QGEMM_SUMS_EXACT,
                                               1,
                                               &weights,
                                               {y, 32, PWL_QGEMM_F16, 0, NULL, NULL},
                                               NULL,
                                               {y, 16, kind_y->type, 0, 0, NULL, 0},
                                               &as};
            pwl_qgemm_codes codes;
            if (pwl_qgemm_host_codes(&product, &codes) != PWL_QGEMM_OK)
                abort();
            const pwl_qgemm_epilogue e = pwl_qgemm_epilogue_of(&product, &codes);
            const pwl_qgemm_fast fast = pwl_qgemm_fast_of(&product, &e, &planned);
            ways[fast.way]++;
            far += llabs(as.of_x.zero_point) > 1 << 23 && fast.way != PWL_QGEMM_BY_SEARCH;
            good &= fast.y_bytes == kind_y->bytes && fast.aligned;
            if (fast.way == PWL_QGEMM_BY_IMAGE)
                all16[fast.all16]++;
            good = good && (fast.way == PWL_QGEMM_BY_SEARCH || agrees(&product, &fast, &e, &planned, &state));
        }
        free(memory);
    }
    tap(good, "codes, values and real numbers as by pwl/real.h");
    tap(ways[PWL_QGEMM_BY_SEARCH] > 100 && ways[PWL_QGEMM_BY_VALUE] > 100 && ways[PWL_QGEMM_BY_IMAGE] > 100,
        "by search %d, by value %d, by image %d", ways[0], ways[1], ways[2]);
    tap(all16[0] > 100 && all16[1] > 10, "images of all codes of 16 bits, to all of them %d, others %d", all16[1],
        all16[0]);
    tap(far == 0, "zero points far from 0 are left to the search");

    const pwl_planned none = {.memory = NULL};
    pwl_qgemm_product product = {.weights = &weights, .y = {y, 16, PWL_QGEMM_F16, 0, 0, NULL, 0}};
    const pwl_qgemm_epilogue no_activation = {.n_x = 0};
    int aligned = pwl_qgemm_fast_of(&product, &no_activation, &none).aligned;
    product.y.stride = 18;
    aligned &= !pwl_qgemm_fast_of(&product, &no_activation, &none).aligned;
    product.y = (pwl_qgemm_output){y + 4, 16, PWL_QGEMM_F16, 0, 0, NULL, 0};
    aligned &= !pwl_qgemm_fast_of(&product, &no_activation, &none).aligned;
    tap(aligned, "rows of Y are aligned to four elements, or not");
    test_all16();
    return tap_end();
}
