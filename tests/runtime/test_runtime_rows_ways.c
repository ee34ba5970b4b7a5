/* SPDX-License-Identifier: Apache-2.0 */
/* Every way of row operators against plain C, bit for bit: types, lengths around whole vectors, alignments, several
 * rows, in place, and what lies around the rows. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/rows/row_ways.h"
#include "../support/made_rows.h"
#include "../support/random.h"
#include "../support/suite.h"

enum { ROWS = 3, MOST = 300, GUARD = 96 };

static const pwl_type types[] = {PWL_S8, PWL_U8, PWL_S16, PWL_U16};

/* Rows at an odd element of memory, with bytes that nobody may write around them. */
typedef struct memory {
    _Alignas(64) unsigned char bytes[GUARD + 2 * ROWS * MOST + GUARD];
} memory;

static void *start_of(memory *of, pwl_type type, int offset)
{
    return of->bytes + GUARD / 2 + offset * type_bits(type) / 8;
}

static void draw(pwl_type type, void *x, size_t count, uint64_t *state)
{
    const int kind = (int)(random_bits(state) % 4);
    const int32_t low = type_lowest(type), high = type_highest(type), middle = low + (high - low) / 2;
    for (size_t k = 0; k < count; k++) {
        const int64_t all = random_in(state, low, high);
        set_code_at(type, x, k,
                    (int32_t)(kind == 0   ? all
                              : kind == 1 ? middle + all % 3
                              : kind == 2 ? (all & 1 ? low : high)
                                          : middle));
    }
}

/* Near the codes, or any of the 33 bits that there may be. */
static int64_t any_zero_point(uint64_t *state)
{
    const int64_t most = (int64_t)1 << 32;
    const uint64_t choice = random_bits(state) % 16;
    return choice == 0   ? -most
           : choice == 1 ? most
                         : random_in(state, choice < 4 ? -most : -200, choice < 4 ? most : 200);
}

/* Levels that lead to a way of the list. */
static uint32_t own_levels(void)
{
    uint32_t levels = 0;
    for (const pwl_softmax_way *way = pwl_softmax_ways; way->name; way++)
        levels |= way->level;
    for (const pwl_norm_way *way = pwl_norm_ways; way->name; way++)
        levels |= way->level;
    return levels & pwl_levels();
}

/* For run_ways.sh: the ways that the tests go through. */
static void say_ways(void)
{
    printf("# ways:");
    for (const pwl_softmax_way *way = pwl_softmax_ways; way->name; way++)
        printf(" %s%s", way->name, (way->level & pwl_levels()) == way->level ? "" : " (not here)");
    for (const pwl_norm_way *way = pwl_norm_ways; way->name; way++)
        printf(" %s%s", way->name, (way->level & pwl_levels()) == way->level ? "" : " (not here)");
    printf("\n");
}

/* Runs both, by no level and by one, from the same codes. */
static void compare(const pwl_softmax *softmax, const pwl_norm *norm, size_t length, int offset, int is_causal,
                    uint32_t level, uint64_t *state)
{
    static memory x, plain, other;
    const pwl_type in = (pwl_type)(softmax ? softmax->in : norm->in),
                   out = (pwl_type)(softmax ? softmax->out : norm->out);
    const int is_in_place = type_bits(in) == type_bits(out) && random_bits(state) % 2;
    memset(&plain, 0x5a, sizeof plain);
    memset(&other, 0x5a, sizeof other);
    draw(in, start_of(&x, in, offset), ROWS * length, state);
    if (is_in_place)
        memcpy(start_of(&other, out, offset), start_of(&x, in, offset), ROWS * length * (size_t)type_bits(in) / 8);
    void *const from = is_in_place ? start_of(&other, out, offset) : start_of(&x, in, offset);
    if (softmax) {
        pwl_rows rows = {.x = start_of(&x, in, offset),
                         .y = start_of(&plain, out, offset),
                         .count = ROWS,
                         .length = length,
                         .is_causal = is_causal,
                         .first = length / 2};
        pwl_softmax_run(softmax, &rows, 0);
        rows.x = from;
        rows.y = start_of(&other, out, offset);
        pwl_softmax_run(softmax, &rows, level);
    } else {
        pwl_norm_run(norm, start_of(&x, in, offset), start_of(&plain, out, offset), ROWS, 0);
        pwl_norm_run(norm, from, start_of(&other, out, offset), ROWS, level);
    }
    if (memcmp(&plain, &other, sizeof plain) != 0)
        ck_abort_msg("level %u, types %d %d, rows of %zu: another way gives other codes", level, in, out, length);
}

/* Every length up to some vectors, then some. */
static size_t next_length(size_t length)
{
    return length < 70 ? length + 1 : length + 53;
}

START_TEST(softmax_ways)
{
    const pwl_type in = types[_i % 4], out = types[_i / 4];
    uint64_t state = 0x3a15 + (uint64_t)_i;
    made_softmax made;
    for (uint32_t level = 1; level; level <<= 1)
        for (size_t length = 1; level & own_levels() && length <= MOST; length = next_length(length)) {
            make_softmax(&made, in, 0.002L + (long double)(random_bits(&state) % 100) / 1000, out,
                         1 + (int)(random_bits(&state) % 16), any_zero_point(&state), MOST);
            make_exp(&made, 8 + (int)(random_bits(&state) % 23));
            ck_assert_int_eq(pwl_softmax_check(&made.softmax), PWL_OK);
            compare(&made.softmax, NULL, length, (int)(length % 7), 0, level, &state);
            compare(&made.softmax, NULL, length, (int)(length % 7), 1, level, &state);
        }
}
END_TEST

/* Rows whose sums are so large that every result is 0, and those that are not. */
START_TEST(softmax_of_flat_rows)
{
    static uint8_t x[65536], plain[65536], other[65536];
    made_softmax made;
    make_softmax(&made, PWL_U8, 0.01L, PWL_U8, 8, 3, 65536);
    memset(x, 200, sizeof x);
    for (uint32_t level = 1; level; level <<= 1)
        for (size_t length = 128; level & own_levels() && length <= 65536; length = length * 2 - (length & 1)) {
            pwl_softmax_run(&made.softmax, &(pwl_rows){.x = x, .y = plain, .count = 1, .length = length}, 0);
            pwl_softmax_run(&made.softmax, &(pwl_rows){.x = x, .y = other, .count = 1, .length = length}, level);
            ck_assert_mem_eq(plain, other, length);
        }
}
END_TEST

/* Many places of an exponential that is next to nothing: its shift is around 62, beyond which it is 0. */
START_TEST(softmax_of_least_exponentials)
{
    static uint16_t x[MOST], plain[MOST], other[MOST];
    made_softmax made;
    make_softmax(&made, PWL_U16, 0.0011L, PWL_U16, 16, 0, MOST);
    make_exp(&made, 8 + _i);
    ck_assert_int_eq(pwl_softmax_check(&made.softmax), PWL_OK);
    for (uint32_t level = 1; level; level <<= 1)
        for (uint32_t d = 0; level & own_levels() && d < 65536; d += d % 256 == 1 ? 127 : d % 256 == 128 ? 127 : 1) {
            for (size_t k = 0; k < MOST; k++)
                x[k] = (uint16_t)(k == 77 ? 65535 : 65535 - d);
            pwl_softmax_run(&made.softmax, &(pwl_rows){.x = x, .y = plain, .count = 1, .length = MOST}, 0);
            pwl_softmax_run(&made.softmax, &(pwl_rows){.x = x, .y = other, .count = 1, .length = MOST}, level);
            ck_assert_mem_eq(plain, other, sizeof plain);
        }
}
END_TEST

/* Longer than what ways keep of a row, in place where they can be. */
START_TEST(softmax_of_long_rows)
{
    enum { LONGEST = 65536 };
    static const size_t lengths[] = {4095, 4096, 4097, 4200, 8193, LONGEST};
    static uint16_t x[LONGEST], plain[LONGEST + 1], other[LONGEST + 1];
    const pwl_type in = types[2 + _i % 2], out = types[_i / 2];
    uint64_t state = 0x10a6;
    made_softmax made;
    make_softmax(&made, in, _i % 3 ? 0.0002L : 0.00002L, out, type_bits(out), 5, LONGEST);
    ck_assert_int_eq(pwl_softmax_check(&made.softmax), PWL_OK);
    for (uint32_t level = 1; level; level <<= 1)
        for (size_t l = 0; level & own_levels() && l < sizeof lengths / sizeof *lengths; l++) {
            const size_t length = lengths[l], bytes = length * (size_t)type_bits(out) / 8;
            pwl_rows rows = {.x = x, .y = plain, .count = 1, .length = length};
            draw(in, x, length, &state);
            memset(plain, 0x5a, sizeof plain);
            memset(other, 0x5a, sizeof other);
            pwl_softmax_run(&made.softmax, &rows, 0);
            if (type_bits(out) == 16) {
                memcpy(other, x, bytes);
                rows.x = other;
            }
            rows.y = other;
            pwl_softmax_run(&made.softmax, &rows, level);
            ck_assert_mem_eq(plain, other, bytes + 1);
        }
}
END_TEST

START_TEST(norm_ways)
{
    const pwl_type in = types[_i % 4], out = types[_i / 4 % 4];
    const pwl_norm_kind kind = (pwl_norm_kind)(_i / 16);
    static double gamma[MOST], beta[MOST];
    static int32_t gamma_codes[MOST];
    static int64_t beta_codes[MOST];
    uint64_t state = 0x4035 + (uint64_t)_i;
    for (uint32_t level = 1; level; level <<= 1)
        for (size_t length = 1; level & own_levels() && length <= MOST; length = next_length(length)) {
            made_norm made = {.gamma = gamma,
                              .beta = random_bits(&state) % 2 ? beta : NULL,
                              .gamma_codes = gamma_codes,
                              .beta_codes = beta_codes};
            for (size_t c = 0; c < length; c++) {
                gamma[c] = (double)random_in(&state, -2000, 2000) / 1000;
                beta[c] = (double)random_in(&state, -2000, 2000) / 1000;
            }
            make_norm(&made, kind, in, 0.01L, random_in(&state, type_lowest(in), type_highest(in)), out,
                      type_bits(out) == 8 ? 0.03L : 0.0002L, any_zero_point(&state), (uint32_t)length,
                      random_bits(&state) % 2 ? 1e-5L : 0);
            ck_assert_int_eq(pwl_norm_check(&made.norm), PWL_OK);
            compare(NULL, &made.norm, length, (int)(length % 7), 0, level, &state);
        }
}
END_TEST

/* The longest rows: sums at their largest, where 31 bits do not hold what 63 do. */
START_TEST(longest_norms)
{
    enum { LONGEST = 65536 };
    static uint16_t x[LONGEST], plain[LONGEST], other[LONGEST];
    static double ones[LONGEST];
    static int32_t gamma_codes[LONGEST];
    const pwl_type in = types[2 + _i % 2];
    uint64_t state = 0x1093;
    for (size_t c = 0; c < LONGEST; c++)
        ones[c] = 1 + (double)(c % 5);
    for (uint32_t level = 1; level; level <<= 1)
        for (uint32_t length = 8000; level & own_levels() && length <= LONGEST;
             length = length * 2 < LONGEST ? length * 2 + 1536 : length + 1000000)
            for (int shape = 0; shape < 4; shape++) {
                made_norm made = {.gamma = ones, .gamma_codes = gamma_codes};
                make_norm(&made, (pwl_norm_kind)(_i / 2), in, 0.001L, in == PWL_U16 ? 32768 : 0, PWL_S16, 0.001L, 0,
                          length, 1e-5L);
                ck_assert_int_eq(pwl_norm_check(&made.norm), PWL_OK);
                for (uint32_t c = 0; c < length; c++)
                    set_code_at(in, x, c,
                                shape == 0   ? type_lowest(in)
                                : shape == 1 ? (c == 77 ? type_highest(in) : type_lowest(in))
                                : shape == 2 ? (c & 1 ? type_highest(in) : type_lowest(in))
                                             : (int32_t)random_in(&state, type_lowest(in), type_highest(in)));
                pwl_norm_run(&made.norm, x, plain, 1, 0);
                pwl_norm_run(&made.norm, x, other, 1, level);
                ck_assert_mem_eq(plain, other, 2 * length);
            }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime_rows_ways");
    TCase *const ways = tcase_create("ways");
    say_ways();
    tcase_set_timeout(ways, 0);
    tcase_add_loop_test(ways, softmax_ways, 0, 16);
    tcase_add_test(ways, softmax_of_flat_rows);
    tcase_add_loop_test(ways, softmax_of_least_exponentials, 0, 4);
    tcase_add_loop_test(ways, softmax_of_long_rows, 0, 8);
    tcase_add_loop_test(ways, norm_ways, 0, 32);
    tcase_add_loop_test(ways, longest_norms, 0, 4);
    suite_add_tcase(suite, ways);
    return run_suite(suite);
}
