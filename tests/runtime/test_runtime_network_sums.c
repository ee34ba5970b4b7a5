/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to sum products and to bring sums to codes, against plain C, bit for bit: types, zero points, lengths
 * around whole vectors and pieces, strides, rows and columns, codes at their ends, and what lies around the arrays. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "../../runtime/network/step.h"
#include "../../runtime/network/sum_codes.h"
#include "../support/random.h"
#include "../support/suite.h"
#include "../support/typed_array.h"

enum { LONGEST = 1300, CODES = 1 << 18, GUARD = 64 };

static unsigned char a_memory[CODES], b_memory[CODES];

static int is_here(const pwl_sum_way *way)
{
    return (way->level & pwl_levels()) == way->level;
}

static void draw(uint8_t type, unsigned char *memory, uint64_t *state)
{
    const struct type_limits of = limits[type];
    const int at_ends = random_bits(state) % 3 == 0;
    for (size_t k = 0; k < CODES / BYTES((pwl_type)type); k++)
        pwl_set_element_of((pwl_type)type, memory, k,
                           at_ends ? (random_bits(state) & 1 ? of.min : of.max) : random_in(state, of.min, of.max));
}

static int64_t draw_zero(uint8_t type, uint64_t *state)
{
    const struct type_limits of = limits[type];
    switch (random_bits(state) % 4) {
    case 0:
        return random_in(state, of.min, of.max);
    case 1:
        return random_in(state, -40000, 40000);
    default:
        return 0;
    }
}

static uint64_t offset_of(uint8_t type, int64_t zero)
{
    const int64_t above = limits[type].max - zero, below = zero - limits[type].min;
    return (uint64_t)(above > below ? above : below);
}

/* Any tile within the memory. */
static void draw_sums(pwl_network_sums *of, uint64_t *state)
{
    static const size_t lengths[] = {1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 384, 511, 512, 513, 1024, LONGEST};
    const size_t length = lengths[random_bits(state) % (sizeof lengths / sizeof *lengths)];
    const int is_across = random_bits(state) % 3 == 0; /* columns of b lie beside each other */
    of->a = a_memory;
    of->b = b_memory;
    of->rows = 1 + random_bits(state) % PWL_NETWORK_ROWS;
    of->columns = 1 + random_bits(state) % (is_across ? 20 : PWL_NETWORK_COLUMNS);
    of->length = length;
    of->a_stride = length + random_bits(state) % 9;
    of->b_stride = is_across ? 1 : length + random_bits(state) % 3;
    of->b_step = is_across ? of->columns + random_bits(state) % 3 : 1;
    of->a_zero = draw_zero(of->a_type, state);
    of->b_zero = draw_zero(of->b_type, state);
    const uint64_t product = offset_of(of->a_type, of->a_zero) * offset_of(of->b_type, of->b_zero);
    of->is_narrow = product < (uint64_t)1 << 40 && product * length <= INT32_MAX;
}

START_TEST(sums_are_those_of_plain_c)
{
    static int64_t wanted[PWL_NETWORK_TILE], found[PWL_NETWORK_TILE + 1];
    uint64_t state = 51;
    for (const pwl_sum_way *way = pwl_sum_ways; way->level; way++) {
        if (!is_here(way))
            continue;
        ck_assert(pwl_sum_way_of(way->level) == way);
        for (int run = 0; run < 20000; run += quick_step(5)) {
            pwl_network_sums of = {.a_type = (uint8_t)(random_bits(&state) % 5),
                                   .b_type = (uint8_t)(random_bits(&state) % 5)};
            if (of.a_type == PWL_S32 && of.b_type == PWL_S32)
                of.b_type = PWL_S16; /* a sum has 62 bits at most */
            if (run % 200 == 0) {
                draw(PWL_U8, a_memory, &state);
                draw(PWL_U8, b_memory, &state);
            }
            draw_sums(&of, &state);
            ck_assert(((of.columns - 1) * of.b_stride + of.length * of.b_step) * BYTES((pwl_type)of.b_type) <= CODES);
            of.sums = wanted;
            pwl_network_sum(&of);
            found[of.rows * of.columns] = -51;
            of.sums = found;
            way->sum(&of);
            for (size_t k = 0; k < of.rows * of.columns; k++)
                ck_assert_msg(found[k] == wanted[k],
                              "%s, types %d (zero %lld) and %d (%lld), length %zu, tile %zu x %zu, step %zu: sum %zu "
                              "is %lld, not %lld",
                              way->name, of.a_type, (long long)of.a_zero, of.b_type, (long long)of.b_zero, of.length,
                              of.rows, of.columns, of.b_step, k, (long long)found[k], (long long)wanted[k]);
            ck_assert(found[of.rows * of.columns] == -51);
        }
    }
}
END_TEST

START_TEST(taps_are_those_of_the_definition)
{
    enum { KERNEL = 9, STRIDE = 3, APART = 4, SPAN = PWL_NETWORK_COLUMNS * STRIDE + KERNEL * APART };
    uint64_t state = 53;
    for (const pwl_sum_way *way = pwl_sum_ways;; way++) {
        for (int run = 0; is_here(way) && run < 2000; run += quick_step(5)) {
            int16_t codes[SPAN];
            int8_t weights[KERNEL];
            int32_t sums[PWL_NETWORK_COLUMNS];
            const pwl_network_taps of = {codes,
                                         weights,
                                         1 + random_bits(&state) % KERNEL,
                                         1 + random_bits(&state) % PWL_NETWORK_COLUMNS,
                                         1 + random_bits(&state) % STRIDE,
                                         1 + random_bits(&state) % APART,
                                         sums};
            int64_t wanted[PWL_NETWORK_COLUMNS];
            for (size_t k = 0; k < SPAN; k++)
                codes[k] = (int16_t)(run % 3 ? random_in(&state, INT16_MIN, INT16_MAX) : INT16_MIN);
            for (size_t k = 0; k < KERNEL; k++)
                weights[k] = (int8_t)(run % 3 ? random_in(&state, INT8_MIN, INT8_MAX) : INT8_MIN);
            for (size_t k = 0; k < PWL_NETWORK_COLUMNS; k++) {
                wanted[k] = sums[k] = (int32_t)random_in(&state, -(1 << 30), 1 << 30);
                for (size_t j = 0; j < of.count; j++)
                    wanted[k] += weights[j] * (int64_t)codes[k * of.stride + j * of.apart];
            }
            way->taps(&of);
            for (size_t k = 0; k < of.columns; k++)
                ck_assert_msg(sums[k] == wanted[k], "%s, %zu taps %zu apart, stride %zu: sum %zu is %d, not %lld",
                              way->name, of.count, of.apart, of.stride, k, sums[k], (long long)wanted[k]);
        }
        if (!way->level)
            break;
    }
}
END_TEST

static pwl_network_edge draw_edge(uint64_t *state)
{
    const uint8_t type = (uint8_t)(random_bits(state) % 6);
    const struct type_limits of = limits[type];
    int64_t low = random_bits(state) & 1 ? of.min : random_in(state, of.min, of.max);
    int64_t high = random_bits(state) & 1 ? of.max : random_in(state, low, of.max);
    const int64_t most = (int64_t)1 << 32;
    return (pwl_network_edge){type, 0, 0, random_bits(state) & 1 ? 0 : random_in(state, -most, most), low, high, NULL};
}

START_TEST(codes_of_sums_are_those_of_plain_c)
{
    enum { MOST = 40 };
    uint64_t state = 52;
    for (const pwl_sum_way *way = pwl_sum_ways; way->level; way++) {
        if (!is_here(way))
            continue;
        ck_assert(pwl_sum_way_of(way->level) == way);
        for (int run = 0; run < 20000; run += quick_step(5)) {
            int64_t sums[MOST], bias[MOST];
            int32_t factor[MOST];
            uint8_t shift[MOST];
            unsigned char wanted[GUARD + 4 * MOST], found[GUARD + 4 * MOST];
            const pwl_network_edge edge = draw_edge(&state);
            const size_t count = 1 + random_bits(&state) % MOST, at = random_bits(&state) % 5;
            const int bits = (int)random_in(&state, 1, PWL_NETWORK_SUM_BITS);
            const int width = 62 - bits < 31 ? 62 - bits : 31;
            pwl_network_rounding by = {random_bits(&state) % 3 ? bias : NULL, factor, shift,
                                       (uint8_t)(random_bits(&state) & 1), (uint8_t)(random_bits(&state) & 1)};
            by.bias_each = by.bias && by.bias_each;
            for (size_t k = 0; k < MOST; k++) { /* sums and their biases are of at most that many bits */
                const int64_t most = ((int64_t)1 << bits) - 1, total = random_in(&state, -most, most);
                bias[k] = by.bias ? random_in(&state, -most, most) : 0;
                sums[k] = (k % 5 ? total : total < 0 ? -most : most) - bias[by.bias_each ? k : 0];
                factor[k] = (int32_t)random_in(&state, 0, ((int64_t)1 << width) - 1);
                shift[k] = (uint8_t)random_in(&state, 1, 62);
            }
            memset(wanted, 85, sizeof wanted);
            memset(found, 85, sizeof found);
            pwl_network_round(&edge, wanted + GUARD / 2, at, sums, count, &by);
            way->round(&edge, found + GUARD / 2, at, sums, count, &by);
            ck_assert_msg(!memcmp(wanted, found, sizeof found), "%s, type %d, %zu codes at %zu, run %d", way->name,
                          edge.type, count, at, run);
        }
    }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime_network_sums");
    TCase *const sums = tcase_create("sums");
    printf("# ways:");
    for (const pwl_sum_way *way = pwl_sum_ways; way->level; way++)
        printf(" sum_%s%s", way->name, is_here(way) ? "" : " (not here)");
    printf("\n");
    tcase_set_timeout(sums, 600);
    tcase_add_test(sums, sums_are_those_of_plain_c);
    tcase_add_test(sums, codes_of_sums_are_those_of_plain_c);
    tcase_add_test(sums, taps_are_those_of_the_definition);
    suite_add_tcase(suite, sums);
    return run_suite(suite);
}
