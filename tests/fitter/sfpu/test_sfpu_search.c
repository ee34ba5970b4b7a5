/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search, held against a look at all pairs: of short lists of coefficients for kernels and points at random, and of
 * all that 8 bits have for whole segments. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "sfpu/fit.h"

#include "../../support/random.h"
#include "../../support/suite.h"

static struct sfpu_target targets[SFPU_CODES];

/* What a pair costs, by the table's own results, point after point. */
static struct sfpu_cost cost_of(const struct sfpu_kernel *kernel, uint32_t a, uint32_t b,
                                const struct sfpu_point *points, int count, double most)
{
    struct sfpu_cost cost = {0};
    for (int k = 0; k < count && cost.largest <= most; k++) {
        const uint16_t y = sfpu_finish(kernel, sfpu_line(kernel, a, b, points[k].x), points[k].x);
        const double missed = sfpu_missed(&points[k].target, y);
        cost.largest = fmax(cost.largest, missed);
        cost.sum += missed;
    }
    return cost;
}

/* The least largest error of all pairs, or the least sum of those within `most`; infinite when there is none. */
static double best_of_all(const struct sfpu_kernel *kernel, const struct sfpu_coefficients *of,
                          const struct sfpu_point *points, int count, enum sfpu_aim aim, double most)
{
    double best = INFINITY;
    for (int a = 0; a < of->count; a++)
        for (int b = 0; b < of->count; b++) {
            const struct sfpu_cost cost =
                cost_of(kernel, of->bits[a], of->bits[b], points, count, aim == SFPU_LEAST_SUM ? most : best);
            if (aim == SFPU_LEAST_LARGEST)
                best = fmin(best, cost.largest);
            else if (cost.largest <= most)
                best = fmin(best, cost.sum);
        }
    return best;
}

/* Both aims, one after the other as in a fit. Sums differ by the order of their terms. */
static void compare(const struct sfpu_kernel *kernel, const struct sfpu_coefficients *of,
                    const struct sfpu_point *points, int count)
{
    struct sfpu_pair pair = {0, 0};
    struct sfpu_cost cost = {.largest = INFINITY};
    struct diag diag = {0};
    const double least = best_of_all(kernel, of, points, count, SFPU_LEAST_LARGEST, INFINITY);
    ck_assert_int_eq(sfpu_search(kernel, of, points, count, SFPU_LEAST_LARGEST, INFINITY, &pair, &cost, &diag), 0);
    ck_assert_msg(cost.largest == least, "the least largest error is %a, found %a", least, cost.largest);
    if (least == INFINITY)
        return;
    ck_assert(cost.is_least);
    const uint32_t a = sfpu_coefficient(kernel->layout, pair.a), b = sfpu_coefficient(kernel->layout, pair.b);
    ck_assert(cost_of(kernel, a, b, points, count, INFINITY).largest == least);
    const double most = least * (1 + count % 3 * 0.25),
                 sum = best_of_all(kernel, of, points, count, SFPU_LEAST_SUM, most);
    ck_assert_int_eq(sfpu_search(kernel, of, points, count, SFPU_LEAST_SUM, most, &pair, &cost, &diag), 0);
    ck_assert(cost.largest <= most && cost.is_least);
    ck_assert_msg(fabs(cost.sum - sum) <= 1e-12 * sum, "the least sum is %a, found %a", sum, cost.sum);
}

/* Coefficients of a list at random, with 0 among them and both signs of most. */
static void draw_coefficients(uint64_t *state, const struct sfpu_layout *layout, struct sfpu_coefficients *all,
                              struct sfpu_coefficients *some)
{
    const int count = (int)random_in(state, 1, 60);
    struct diag diag = {0};
    ck_assert_int_eq(sfpu_coefficients_make(layout, all, &diag), 0);
    const bool is_near = random_bits(state) % 2; /* to numbers that tables have */
    bool *const taken = calloc((size_t)all->count, sizeof *taken);
    *some = (struct sfpu_coefficients){0, malloc(64 * sizeof *some->codes), malloc(64 * sizeof *some->bits)};
    ck_assert(taken && some->codes && some->bits);
    taken[all->count / 2] = true;
    for (int k = 0; k < count; k++) {
        int at = (int)random_in(state, 0, all->count - 1);
        while (is_near && !(fabs(sfpu_real_of_bits(all->bits[at])) < 1.5 &&
                            (k % 4 == 0 || fabs(sfpu_real_of_bits(all->bits[at])) > 0.02)))
            at = (int)random_in(state, 0, all->count - 1);
        taken[at] = true;
    }
    for (int at = 0; at < all->count; at++)
        if (taken[at]) {
            some->codes[some->count] = all->codes[at];
            some->bits[some->count++] = all->bits[at];
        }
    free(taken);
}

/* Values near a line or at random, in units that differ; some must be met exactly. */
static int draw_points(uint64_t *state, const struct sfpu_kernel *kernel, struct sfpu_point *points)
{
    const int count = (int)random_in(state, 1, 40);
    const int low = (int)random_in(state, 0, 0x4200),
              high = (int)random_in(state, low, random_bits(state) % 4 ? 0x4200 : SFPU_LARGEST);
    const double a = (double)random_in(state, -64, 64) / 64, b = (double)random_in(state, -64, 64) / 64;
    for (int k = 0; k < count; k++) {
        struct sfpu_target *const target = &points[k].target;
        points[k].x = (uint16_t)(random_in(state, low, high) | (random_bits(state) & 0x8000));
        const double x = sfpu_real(points[k].x);
        *target = (struct sfpu_target){.unit = random_bits(state) % 2 ? 1 : 0x1p-8, .counts = true};
        target->value =
            (a * fabs(x) + b) * (kernel->sign == SFPU_RETAIN && x < 0 ? -1 : 1) + (double)random_in(state, -9, 9) / 128;
        if (random_bits(state) % 64 == 0)
            target->unit = 0;
        if (target->unit == 0)
            target->value = sfpu_real(sfpu_finish(kernel, sfpu_of_fp16(0x3800), points[k].x));
    }
    return count;
}

START_TEST(no_pair_of_a_short_list_is_better)
{
    uint64_t state = (uint64_t)_i;
    struct sfpu_point points[40];
    struct sfpu_coefficients all = {0}, some = {0};
    struct sfpu_kernel kernel = {
        .layout = &sfpu_layouts[_i % 2 ? 0 : 2],
        .chip = (enum sfpu_chip)(_i / 2 % 2),
        .sign = (enum sfpu_sign)(_i / 4 % 2),
        .add = (enum sfpu_add)(_i / 8 % 3),
        .store = (enum sfpu_store)(_i / 24 % 2),
    };
    kernel.constant = kernel.add == SFPU_ADD_CONSTANT ? 0x3f00 : 0;
    draw_coefficients(&state, kernel.layout, &all, &some);
    const int count = draw_points(&state, &kernel, points);
    compare(&kernel, &some, points, count);
    sfpu_coefficients_free(&all);
    sfpu_coefficients_free(&some);
}
END_TEST

static const struct {
    const char *function;
    enum sfpu_measure measure;
} whole[] = {{"tanh", SFPU_ULP}, {"tanh", SFPU_ABS}, {"sigmoid", SFPU_ABS}, {"gelu", SFPU_ABS}, {"silu", SFPU_ULP}};

/* All 65,536 pairs of 8 bits at all points of the second segment. */
START_TEST(no_pair_of_eight_bits_is_better)
{
    struct function function;
    struct diag diag = {0};
    const struct sfpu_demand demand = {.measure = whole[_i].measure, .low = -INFINITY, .high = INFINITY};
    struct sfpu_kernel kernel = {.layout = &sfpu_layouts[0]};
    struct sfpu_coefficients all = {0};
    struct sfpu_point points[256];
    int count = 0;
    ck_assert_int_eq(function_init(&function, whole[_i].function, &diag), 0);
    ck_assert(sfpu_kernel_suits(&function, &kernel));
    ck_assert_int_eq(sfpu_targets_make(&function, &demand, targets, &diag), 0);
    for (int code = 0; code < SFPU_CODES; code++)
        if (targets[code].counts && sfpu_segment(kernel.layout, (uint16_t)code) == 1)
            points[count++] = (struct sfpu_point){(uint16_t)code, targets[code]};
    ck_assert_int_eq(count, 256);
    ck_assert_int_eq(sfpu_coefficients_make(kernel.layout, &all, &diag), 0);
    ck_assert_int_eq(all.count, 256);
    compare(&kernel, &all, points, count);
    sfpu_coefficients_free(&all);
}
END_TEST

/* Coefficients rise strictly, and all that a layout has are among them. */
START_TEST(coefficients_are_sorted)
{
    struct sfpu_coefficients all = {0};
    struct diag diag = {0};
    ck_assert_int_eq(sfpu_coefficients_make(&sfpu_layouts[_i], &all, &diag), 0);
    ck_assert_int_eq(all.count, _i == 0 ? 256 : 2 * 31 * 1024 + 1);
    for (int k = 1; k < all.count; k++)
        ck_assert(sfpu_real_of_bits(all.bits[k - 1]) < sfpu_real_of_bits(all.bits[k]));
    sfpu_coefficients_free(&all);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("sfpu_search");
    TCase *const search = tcase_create("search");
    tcase_add_loop_test(search, no_pair_of_a_short_list_is_better, 0, 2000);
    tcase_add_loop_test(search, no_pair_of_eight_bits_is_better, 0, (int)(sizeof whole / sizeof *whole));
    tcase_add_loop_test(search, coefficients_are_sorted, 0, 4);
    suite_add_tcase(suite, search);
    return run_suite(suite);
}
