/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: each of the 36 type pairs gives pwl_eval's codes, reads and writes nothing outside [0, count), and works in
 * place. */
#define _POSIX_C_SOURCE 200809L
#define MADE_MAX_SEGMENTS 300
#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pwl/eval.h>

#include "../../runtime/map.h"
#include "../support/drawn_table.h"
#include "../support/suite.h"
#include "../support/typed_array.h"

#define GUARD 16
#define MAX_COUNT 20480
/* Every short length, and those around the ends of whole blocks. */
static const size_t counts[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,  12,  13,  14,  15, 16,
                                17, 31, 32, 33, 63, 64, 65, 66, 95, 96, 97, 127, 128, 129, 193, 200};
#define COUNTS ((int)(sizeof counts / sizeof *counts))

/* A proven table of the storage whose output codes are of the type. */
static void table_for(struct made_table *made, uint64_t *state, int storage, struct type_limits out)
{
    const int64_t half = (int64_t)1 << ((8 << storage) - 1);
    do {
        const uint64_t choice = random_bits(state);
        made_random(made, state, (pwl_storage)storage, (pwl_form)(choice % 3), (pwl_rounding)(choice / 3 % 4),
                    (int)(choice / 12 % 2), 2000);
        made->table.qmin_y = out.min < -half ? -half : out.min;
        made->table.qmax_y = made->table.qmin_y < 0 ? half - 1 : 2 * half - 1;
        if (made->table.qmax_y > out.max)
            made->table.qmax_y = out.max;
    } while (pwl_table_check(&made->table, NULL) != PWL_OK);
}

/* A code in the table's range, just outside it, around a start or its mirror image, or anywhere in the type. */
static int64_t random_code(uint64_t *state, const pwl_table *table, struct type_limits in)
{
    const uint64_t choice = random_bits(state) % 8;
    int64_t q = choice == 0 ? in.min : choice == 1 ? in.max : random_in(state, in.min, in.max);
    if (choice >= 5)
        q = pwl_element_start(table, (int32_t)(random_bits(state) % table->segments)) + random_in(state, -1, 1);
    else if (choice >= 3)
        q = random_in(state, table->qmin_x - 2, table->qmax_x + 2);
    if (choice == 7)
        q = (int64_t)(2 * (uint64_t)table->zp_x - (uint64_t)q); /* modulo 2^64: a zero point may lie far away */
    return q < in.min || q > in.max ? in.max : q;
}

/* The input lies in memory of exactly its size, so that ASan sees a read outside; the output between guards. */
#define DEFINE_TESTS(in, in_t, out, out_t)                                                                             \
    static void check_##in##_##out(const pwl_table *table, uint64_t *state, size_t count, struct type_limits range)    \
    {                                                                                                                  \
        in_t *const x = calloc(count ? count * sizeof *x : 1, 1);                                                      \
        out_t y[GUARD + MAX_COUNT + GUARD];                                                                            \
        unsigned char guard = (unsigned char)random_bits(state);                                                       \
        ck_assert_ptr_nonnull(x);                                                                                      \
        for (size_t k = 0; k < count; k++)                                                                             \
            x[k] = (in_t)random_code(state, table, range);                                                             \
        memset(y, guard, sizeof y);                                                                                    \
        pwl_map_##in##_##out(table, x, y + GUARD, count);                                                              \
        for (size_t k = 0; k < count; k++)                                                                             \
            ck_assert_int_eq(y[GUARD + k], pwl_eval(table, x[k]));                                                     \
        memset(y + GUARD, guard, count * sizeof *y);                                                                   \
        for (size_t k = 0; k < sizeof y; k++)                                                                          \
            ck_assert_int_eq(((const unsigned char *)y)[k], guard);                                                    \
        if (sizeof *x == sizeof *y) {                                                                                  \
            in_t *const kept = malloc(count ? count * sizeof *x : 1);                                                  \
            ck_assert_ptr_nonnull(kept);                                                                               \
            memcpy(kept, x, count * sizeof *x);                                                                        \
            pwl_map_##in##_##out(table, x, (out_t *)(void *)x, count);                                                 \
            for (size_t k = 0; k < count; k++)                                                                         \
                ck_assert_int_eq(((const out_t *)(const void *)x)[k], pwl_eval(table, kept[k]));                       \
            free(kept);                                                                                                \
        }                                                                                                              \
        free(x);                                                                                                       \
    }
PWL_MAP_PAIRS(DEFINE_TESTS)

typedef void check_map(const pwl_table *table, uint64_t *state, size_t count, struct type_limits range);
#define POINTER(in, in_t, out, out_t) check_##in##_##out,
static check_map *const checks[] = {PWL_MAP_PAIRS(POINTER)};
#define PAIRS ((int)(sizeof checks / sizeof *checks))

/* One run for each pair, outputs of one input side by side as in PWL_MAP_PAIRS. */
START_TEST(every_pair_of_types_maps_as_eval_inside_its_array)
{
    const struct type_limits in = limits[_i / 6], out = limits[_i % 6];
    uint64_t state = 20 + (uint64_t)_i;
    for (int storage = 0; storage <= 2; storage++) {
        for (int round = 0; round < 12; round++) {
            struct made_table made;
            table_for(&made, &state, storage, out);
            ck_assert_int_eq(pwl_fits(&made.table, (pwl_type)(_i % 6)), 1);
            for (int k = 0; k < COUNTS; k++)
                checks[_i](&made.table, &state, counts[k], in);
            /* Where plans begin. */
            const size_t pays = pwl_map_pays(&made.table, (pwl_type)(_i / 6));
            for (size_t count = pays - 1; count <= pays + 1; count++)
                if (count <= MAX_COUNT)
                    checks[_i](&made.table, &state, count, in);
        }
    }
}
END_TEST

/* Short arrays by registers of 16 and 32, 64, 128 and 256 segments, and by blocks beyond. */
START_TEST(tables_of_every_size_map_as_eval)
{
    static const int most[] = {24, 40, 64, 100, 128, 200, 256, 600};
    static struct made_table made;
    uint64_t state = 400 + (uint64_t)_i;
    for (int storage = PWL_INT8; storage <= PWL_INT32; storage++)
        for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
            draw_table(&made, &state, (pwl_storage)storage, limits[_i % 6], most[k]);
            for (size_t count = 0; count <= 600; count += 1 + count / 4)
                checks[_i](&made.table, &state, count, limits[_i / 6]);
            const size_t pays = pwl_map_pays(&made.table, (pwl_type)(_i / 6));
            if (pays < MAX_COUNT)
                checks[_i](&made.table, &state, pays, limits[_i / 6]);
        }
}
END_TEST

/* How the runtime, and tests with it, read and write elements of a type known at run time alone. */
#define CHECK_ELEMENTS(name, type, min, max)                                                                           \
    for (size_t v = 0; v < sizeof codes / sizeof *codes; v++) {                                                        \
        type array[3] = {7, 7, 7};                                                                                     \
        ck_assert_int_eq(1 << pwl_type_bytes_log2(of), sizeof *array);                                                 \
        pwl_set_element_of(of, array, 1, codes[v]);                                                                    \
        ck_assert(array[0] == 7 && array[1] == (type)codes[v] && array[2] == 7);                                       \
        ck_assert_int_eq(pwl_element_of(of, array, 1), (type)codes[v]);                                                \
    }                                                                                                                  \
    of = (pwl_type)(of + 1);

START_TEST(elements_are_those_of_their_type)
{
    static const int64_t codes[] = {INT64_MIN, INT32_MIN, INT16_MIN, INT8_MIN,   -1,        0,         1,
                                    INT8_MAX,  UINT8_MAX, INT16_MAX, UINT16_MAX, INT32_MAX, UINT32_MAX};
    pwl_type of = PWL_S8;
    PWL_MAP_TYPES(CHECK_ELEMENTS)
    ck_assert_int_eq(of, PWL_U32 + 1);
}
END_TEST

/* Beside every short length of real arrays, which the tests of pairs have: null pointers, which nothing may look
 * behind. In a process of its own, so that a fault there is this test's failure. */
#define MAP_NOTHING(in, in_t, out, out_t) pwl_map_##in##_##out(&made.table, NULL, NULL, 0);
START_TEST(empty_arrays_may_be_null)
{
    struct made_table made;
    uint64_t state = 5;
    for (int storage = 0; storage <= 2; storage++) {
        int status = 0;
        table_for(&made, &state, storage, limits[PWL_S8]);
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            PWL_MAP_PAIRS(MAP_NOTHING)
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "storage %d: an empty array is looked at",
                      storage);
    }
}
END_TEST

/* Every code of a full 8-bit table, at exact arrays. */
START_TEST(tables_are_read_within_their_arrays)
{
    int8_t *const start = malloc(3), *const q_b = malloc(3), *const n = malloc(3);
    int16_t *const term_c = malloc(3 * sizeof *term_c);
    ck_assert(start && q_b && n && term_c);
    for (int i = 0; i < 3; i++) {
        start[i] = (int8_t)(-128 + 100 * i);
        q_b[i] = (int8_t)(i + 1);
        n[i] = 1;
        term_c[i] = (int16_t)(i - 7);
    }
    const pwl_table table = {.version = PWL_TABLE_VERSION,
                             .storage = PWL_INT8,
                             .segments = 3,
                             .start = start,
                             .q_b = q_b,
                             .n = n,
                             .offset = term_c,
                             .qmin_x = -128,
                             .qmax_x = 127,
                             .qmin_y = -128,
                             .qmax_y = 127};
    int8_t x[256], y[256];
    ck_assert_int_eq(pwl_table_check(&table, NULL), PWL_OK);
    for (int k = 0; k < 256; k++)
        x[k] = (int8_t)(k - 128);
    pwl_map_s8_s8(&table, x, y, 256);
    for (int k = 0; k < 256; k++)
        ck_assert_int_eq(y[k], pwl_eval(&table, x[k]));
    free(start);
    free(q_b);
    free(n);
    free(term_c);
}
END_TEST

START_TEST(a_range_fits_a_type_up_to_its_ends)
{
    for (int type = PWL_S8; type <= PWL_U32; type++) {
        pwl_table table = {.qmin_y = limits[type].min, .qmax_y = limits[type].max};
        ck_assert_int_eq(pwl_fits(&table, (pwl_type)type), 1);
        table.qmin_y--;
        ck_assert_int_eq(pwl_fits(&table, (pwl_type)type), 0);
        table.qmin_y++;
        table.qmax_y++;
        ck_assert_int_eq(pwl_fits(&table, (pwl_type)type), 0);
    }
    const pwl_table table = {.qmax_y = 1};
    ck_assert_int_eq(pwl_fits(&table, (pwl_type)(PWL_U32 + 1)), 0);
    ck_assert_int_eq(pwl_fits(&table, (pwl_type)-1), 0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("map");
    TCase *const maps = tcase_create("maps");
    tcase_add_loop_test(maps, every_pair_of_types_maps_as_eval_inside_its_array, 0, PAIRS);
    tcase_add_loop_test(maps, tables_of_every_size_map_as_eval, 0, PAIRS);
    tcase_add_test(maps, elements_are_those_of_their_type);
    tcase_add_test(maps, empty_arrays_may_be_null);
    tcase_add_test(maps, tables_are_read_within_their_arrays);
    tcase_add_test(maps, a_range_fits_a_type_up_to_its_ends);
    suite_add_tcase(suite, maps);
    return run_suite(suite);
}
