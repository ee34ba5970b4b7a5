/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: every way that this machine can run gives pwl_eval's codes for every table it serves, reads and writes nothing
 * outside [0, count), and works in place. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#define MADE_MAX_SEGMENTS 600
#include "../support/drawn_table.h"
#include "../support/suite.h"
#include "check_ways.h"

static struct made_table made;

/* One run for each storage and pair of types. */
START_TEST(every_way_gives_the_runtimes_codes)
{
    const pwl_type in = (pwl_type)(_i / 6 % 6), out = (pwl_type)(_i % 6);
    const int storage = _i / 36, longest[] = {6, 16, 32, 64, 200, 600};
    uint64_t state = 77 + (uint64_t)_i;
    for (int round = 0; round < 8; round++) {
        draw_table(&made, &state, (pwl_storage)storage, limits[out], longest[round % 6]);
        check_ways(&made.table, &state, in, out, round == 0 ? EVERY_LENGTH : EVERY_CODE);
    }
}
END_TEST

/* One segment of 16 bits that rounds halves to even. */
static const pwl_table *one_line(pwl_form form, int64_t q_b, int64_t n, int64_t offset, unsigned flags, int64_t zp_x)
{
    const int unsigned_x = (flags & PWL_FLAG_UNSIGNED_X) != 0, fold = (flags & PWL_FLAG_FOLD) != 0;
    made = (struct made_table){.table = {.version = PWL_TABLE_VERSION,
                                         .storage = PWL_INT16,
                                         .form = (uint8_t)form,
                                         .rounding = PWL_HALF_EVEN,
                                         .flags = (uint16_t)flags,
                                         .segments = 1,
                                         .zp_x = zp_x,
                                         .qmin_x = unsigned_x ? 0 : INT16_MIN,
                                         .qmax_x = unsigned_x ? UINT16_MAX : INT16_MAX,
                                         .qmin_y = INT16_MIN,
                                         .qmax_y = INT16_MAX}};
    made.start[0] = fold ? zp_x : made.table.qmin_x;
    made.q_b[0] = q_b;
    made.n[0] = n;
    made.offset[0] = offset;
    ck_assert_int_eq(pwl_table_check(made_pack(&made), NULL), PWL_OK);
    return &made.table;
}

/* Where a way that keeps 32 bits of a sum, or moves it by 2^31, would round a tie to the odd neighbour, negate what has
 * no opposite, or lose the top bit of a negated sum and its addend: -2^30 / 2^31 at code 32768, the mirror image of
 * code -32768, whose sum is -2^31, and that of -32000, whose sum is -2147474614. */
START_TEST(ties_at_the_ends_of_the_accumulator_are_even)
{
    uint64_t state = 9;
    const pwl_table *table = one_line(PWL_ABSOLUTE, -32768, 31, 100, PWL_FLAG_UNSIGNED_X, 0);
    ck_assert_int_eq(pwl_eval(table, 32768), 100);
    ck_assert_int_eq(pwl_eval(table, 32769), 99);
    check_ways(table, &state, PWL_U16, PWL_S16, EVERY_CODE);
    table = one_line(PWL_BIASED, -32767, 20, -98303, PWL_FLAG_FOLD, 32767);
    ck_assert_int_eq(pwl_eval(table, -32768), 2048);
    check_ways(table, &state, PWL_S16, PWL_S16, EVERY_CODE);
    table = one_line(PWL_BIASED, -1, 22, -2147442614, PWL_FLAG_FOLD, 0);
    ck_assert_int_eq(pwl_eval(table, -32000), 512);
    check_ways(table, &state, PWL_S16, PWL_S16, EVERY_CODE);
}
END_TEST

/* A table of the storage that a way serves. */
static void draw_for(const pwl_way *way, uint64_t *state, int storage, pwl_type type)
{
    int tries = 0;
    pwl_source source;
    do {
        ck_assert_int_lt(tries++, 1000);
        draw_table(&made, state, (pwl_storage)storage, limits[type], 12);
        source = pwl_source_of(&made.table);
    } while (!pwl_way_bytes(way, &source, type, type));
}

/* Long enough that no cache holds it: ways may store in another manner then. */
START_TEST(long_arrays_are_mapped_whole)
{
    enum { PERIOD = 1 << 16, LONG = (32 << 20) + 3 * PERIOD + 128 };
    static const pwl_type types[] = {PWL_S8, PWL_S16, PWL_S32};
    unsigned char *const x = malloc(LONG + 64), *const y = malloc(LONG + 64), *const expected = malloc(PERIOD);
    const struct arena of = arena();
    uint64_t state = 5;
    ck_assert(x && y && expected);
    for (size_t k = 0; k < PERIOD; k++)
        x[k] = (unsigned char)random_bits(&state);
    for (size_t k = PERIOD; k < LONG; k++)
        x[k] = x[k - PERIOD];
    for (size_t w = 0; w < pwl_way_count; w++) {
        const pwl_way *const way = &pwl_ways[w];
        const int storage = way->kind == &pwl_kind_wide ? 2 : way->kind == &pwl_kind_bytes ? 0 : 1;
        const pwl_type type = types[storage];
        const size_t count = LONG / BYTES(type);
        pwl_plan plan;
        if ((way->level & pwl_levels()) != way->level || !(way->kind->serves & PWL_TABLES))
            continue;
        draw_for(way, &state, storage, type);
        const pwl_source source = pwl_source_of(&made.table);
        pwl_way_prepare(way, &plan, of.memory, &source, type, type);
        for (size_t k = 0; k < PERIOD / BYTES(type); k++)
            pwl_set_element_of(type, expected, k, pwl_eval(&made.table, pwl_element_of(type, x, k)));
        memset(y, 0x5a, LONG + 64);
        pwl_run(&plan, x, y + BYTES(type), count);
        ck_assert_uint_eq(y[0], 0x5a);
        for (size_t k = 0; k < LONG; k += PERIOD)
            if (memcmp(y + BYTES(type) + k, expected, LONG - k < PERIOD ? LONG - k : PERIOD))
                ck_abort_msg("%s: bytes from %zu on", way->name, k);
        for (size_t k = BYTES(type) + LONG; k < LONG + 64; k++)
            ck_assert_uint_eq(y[k], 0x5a);
    }
    free(x);
    free(y);
    free(expected);
}
END_TEST

/* 2^24 random codes, signed and unsigned. */
START_TEST(many_codes_of_32_bits_are_mapped_alike)
{
    enum { CHUNK = 1 << 16, CHUNKS = 1 << 8 };
    static const pwl_type types[] = {PWL_S32, PWL_U32};
    static uint32_t x[CHUNK], y[CHUNK], expected[CHUNK];
    const pwl_type type = types[_i];
    uint64_t state = 8 + (uint64_t)_i;
    pwl_plan plans[32];
    void *memories[32];
    int count = 0;
    const pwl_way *strictest = &pwl_ways[pwl_way_count - 1];
    for (size_t w = pwl_way_count; w-- > 0;)
        if (pwl_ways[w].kind == &pwl_kind_wide && (pwl_ways[w].level & pwl_levels()) == pwl_ways[w].level)
            strictest = &pwl_ways[w];
    draw_for(strictest, &state, PWL_INT32, type);
    const pwl_source source = pwl_source_of(&made.table);
    for (size_t w = 0; w < pwl_way_count; w++) {
        const size_t bytes = pwl_way_bytes(&pwl_ways[w], &source, type, type);
        if (!bytes || (pwl_ways[w].level & pwl_levels()) != pwl_ways[w].level)
            continue;
        ck_assert_int_lt(count, 32);
        ck_assert_ptr_nonnull(memories[count] = malloc(bytes));
        pwl_way_prepare(&pwl_ways[w], &plans[count], memories[count], &source, type, type);
        count++;
    }
    ck_assert_int_gt(count, 0);
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        for (size_t k = 0; k < CHUNK; k++) {
            pwl_set_element_of(type, x, k, random_in(&state, limits[type].min, limits[type].max));
            pwl_set_element_of(type, expected, k, pwl_eval(&made.table, pwl_element_of(type, x, k)));
        }
        for (int p = 0; p < count; p++) {
            pwl_run(&plans[p], x, y, CHUNK);
            if (memcmp(y, expected, sizeof y))
                ck_abort_msg("%s: chunk %d", pwl_plan_way(&plans[p]), chunk);
        }
    }
    while (count)
        free(memories[--count]);
}
END_TEST

/* Of the ways that serve and need no other levels and no more memory, the first that costs least; null for none. */
static const pwl_way *cheapest(const pwl_source *source, pwl_type in, pwl_type out, uint32_t levels, size_t most)
{
    const pwl_way *best = NULL;
    for (size_t w = pwl_way_count; w-- > 0;) {
        const pwl_way *const way = &pwl_ways[w];
        const size_t bytes = pwl_way_bytes(way, source, in, out);
        if (bytes && bytes <= most && (way->level & levels & pwl_levels()) == way->level &&
            (!best || pwl_way_cost(way, source, in, out) <= pwl_way_cost(best, source, in, out)))
            best = way;
    }
    return best;
}

START_TEST(the_way_that_costs_least_and_finds_room_is_taken)
{
    static const uint32_t levels[] = {
        0, PWL_LEVEL_SSE41, PWL_LEVEL_AVX2, PWL_LEVEL_AVX512, PWL_LEVEL_NEON, PWL_LEVEL_SVE2, PWL_LEVELS_ALL};
    static const int longest[] = {16, 32, 64, 128, 600};
    const struct arena of = arena();
    uint64_t state = 6;
    for (int round = 0; round < 3 * 7 * 12; round++) {
        const int storage = round % 3;
        const pwl_type in = (pwl_type)(random_bits(&state) % 6), out = (pwl_type)(random_bits(&state) % 6);
        const uint32_t level = levels[round / 3 % 7];
        draw_table(&made, &state, (pwl_storage)storage, limits[out], longest[random_bits(&state) % 5]);
        const pwl_source source = pwl_source_of(&made.table);
        size_t most = pwl_plan_size(&made.table, in, out, level);
        const pwl_way *way = cheapest(&source, in, out, level, SIZE_MAX);
        ck_assert_uint_eq(most, way ? pwl_way_bytes(way, &source, in, out) : 0);
        for (;;) {
            pwl_plan plan;
            ck_assert_int_eq(pwl_plan_init(&plan, of.memory, most, &made.table, in, out, level), PWL_OK);
            ck_assert_str_eq(pwl_plan_way(&plan), way ? way->name : "map");
            int64_t codes[100], expected[100];
            for (int k = 0; k < 100; k++) {
                codes[k] = random_code(&state, &made.table, in);
                expected[k] = pwl_eval(&made.table, codes[k]);
            }
            check_run(&plan, &made.table, 100, 0, 0, codes, expected);
            if (!way)
                break;
            most = pwl_way_bytes(way, &source, in, out) - 1;
            way = cheapest(&source, in, out, level, most);
        }
    }
}
END_TEST

START_TEST(what_cannot_be_planned_is_refused)
{
    uint64_t state = 7;
    unsigned char memory[64];
    pwl_plan plan;
    draw_table(&made, &state, PWL_INT16, limits[PWL_S16], 16);
    made.table.qmin_y = INT16_MIN;
    const pwl_table *const table = &made.table;
    ck_assert_int_eq(pwl_plan_init(NULL, memory, 64, table, PWL_S16, PWL_S16, 0), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_plan_init(&plan, memory, 64, NULL, PWL_S16, PWL_S16, 0), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_plan_init(&plan, NULL, 64, table, PWL_S16, PWL_S16, 0), PWL_ERR_NULL);
    ck_assert_int_eq(pwl_plan_init(&plan, NULL, 0, table, (pwl_type)6, PWL_S16, 0), PWL_ERR_FIELD);
    ck_assert_int_eq(pwl_plan_init(&plan, NULL, 0, table, PWL_S16, (pwl_type)6, 0), PWL_ERR_FIELD);
    ck_assert_int_eq(pwl_plan_init(&plan, NULL, 0, table, PWL_S16, PWL_U16, 0), PWL_ERR_RANGE_Y);
    ck_assert_int_eq(pwl_plan_init(&plan, NULL, 0, table, PWL_S16, PWL_S16, 0), PWL_OK);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime plan");
    TCase *const tcase = tcase_create("ways");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, every_way_gives_the_runtimes_codes, 0, 108);
    tcase_add_test(tcase, ties_at_the_ends_of_the_accumulator_are_even);
    tcase_add_test(tcase, long_arrays_are_mapped_whole);
    tcase_add_loop_test(tcase, many_codes_of_32_bits_are_mapped_alike, 0, 2);
    tcase_add_test(tcase, the_way_that_costs_least_and_finds_room_is_taken);
    tcase_add_test(tcase, what_cannot_be_planned_is_refused);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
