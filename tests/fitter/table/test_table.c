/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables in memory: names, storage rules, packing, the proof, the function behind a table. */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "table/runs.h"
#include "table/size.h"
#include "table_fixture.h"

#include "../../support/suite.h"

START_TEST(names_are_those_of_the_file)
{
    static const char *const forms[] = {"absolute", "biased", "anchored"}, *const offsets[] = {"term_c", "bias", "y"},
                             *const roundings[] = {"floor", "half_up", "half_away", "half_even"},
                             *const storages[] = {"int8", "int16", "int32"};
    pwl_form form;
    pwl_rounding rounding;
    pwl_storage storage;
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(form_name((pwl_form)i), forms[i]);
        ck_assert_str_eq(offset_name((pwl_form)i), offsets[i]);
        ck_assert_str_eq(storage_name((pwl_storage)i), storages[i]);
        ck_assert(form_parse(forms[i], &form) && form == (pwl_form)i);
        ck_assert(storage_parse(storages[i], &storage) && storage == (pwl_storage)i);
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(rounding_name((pwl_rounding)i), roundings[i]);
        ck_assert(rounding_parse(roundings[i], &rounding) && rounding == (pwl_rounding)i);
    }
    ck_assert(!form_parse("Absolute", &form) && !form_parse("", &form));
    ck_assert(!rounding_parse("half", &rounding) && !storage_parse("int64", &storage));
}
END_TEST

START_TEST(storage_rules_are_those_of_the_document)
{
    static const struct {
        int in, out;
        pwl_storage storage;
    } cases[] = {{2, 2, PWL_INT8},   {8, 8, PWL_INT8},   {9, 8, PWL_INT16},  {8, 9, PWL_INT16},
                 {16, 2, PWL_INT16}, {2, 17, PWL_INT32}, {17, 2, PWL_INT32}, {32, 32, PWL_INT32}};
    static const int bytes[3][3] = {{5, 7, 5}, {9, 9, 9}, {17, 17, 17}}; /* absolute, biased, anchored */
    static const int offset[3][3] = {{16, 32, 16}, {32, 32, 32}, {48, 64, 48}};
    static const int accumulator[] = {32, 32, 64}, bits[] = {8, 16, 32};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_int_eq(storage_for(cases[i].in, cases[i].out), cases[i].storage);
    for (int s = 0; s < 3; s++) {
        ck_assert_int_eq(storage_bits((pwl_storage)s), bits[s]);
        ck_assert_int_eq(accumulator_bits((pwl_storage)s), accumulator[s]);
        for (int f = 0; f < 3; f++) {
            ck_assert_int_eq(packed_segment_bytes((pwl_storage)s, (pwl_form)f), bytes[s][f]);
            ck_assert_int_eq(offset_bits((pwl_storage)s, (pwl_form)f), offset[s][f]);
        }
    }
}
END_TEST

/* Element i of an array of the runtime's layout. */
static int64_t element(const void *array, int bytes, bool is_signed, int i)
{
    switch (bytes) {
    case 1:
        return is_signed ? ((const int8_t *)array)[i] : ((const uint8_t *)array)[i];
    case 2:
        return is_signed ? ((const int16_t *)array)[i] : ((const uint16_t *)array)[i];
    case 4:
        return is_signed ? ((const int32_t *)array)[i] : (int64_t)((const uint32_t *)array)[i];
    default:
        return ((const int64_t *)array)[i];
    }
}

static void assert_packed(const struct table *table)
{
    struct packed_table packed;
    struct diag diag = {0};
    const int start_bytes = storage_bits(table->storage) / 8;
    const int wide = packed_segment_bytes(table->storage, table->form) - 2 * start_bytes - 1;
    ck_assert_msg(table_pack(table, &packed, &diag) == EXIT_DONE, "%s", diag.text);
    const pwl_table *const t = &packed.table;
    ck_assert_int_eq(t->version, PWL_TABLE_VERSION);
    ck_assert_int_eq(t->storage, table->storage);
    ck_assert_int_eq(t->form, table->form);
    ck_assert_int_eq(t->rounding, table->rounding);
    ck_assert_int_eq((t->flags & PWL_FLAG_UNSIGNED_X) == 0, table->in.is_signed);
    ck_assert_int_eq((t->flags & PWL_FLAG_FOLD) != 0, table->has_fold);
    ck_assert_int_eq(t->fold_sum, table->has_fold ? table->fold_sum : 0);
    ck_assert_int_eq(t->segments, table->segment_count);
    ck_assert_int_eq(t->zp_x, table->in.zero_point);
    ck_assert_int_eq(t->qmin_x, table->in.qmin);
    ck_assert_int_eq(t->qmax_x, table->in.qmax);
    ck_assert_int_eq(t->qmin_y, table->out.qmin);
    ck_assert_int_eq(t->qmax_y, table->out.qmax);
    ck_assert_uint_eq((uintptr_t)t->offset % (uintptr_t)wide, 0);
    ck_assert_uint_eq((uintptr_t)t->start % (uintptr_t)start_bytes, 0);
    ck_assert_uint_eq((uintptr_t)t->q_b % (uintptr_t)start_bytes, 0);
    for (int i = 0; i < table->segment_count; i++) {
        ck_assert_int_eq(element(t->start, start_bytes, table->in.is_signed, i), table->segments[i].start);
        ck_assert_int_eq(element(t->q_b, start_bytes, true, i), table->segments[i].q_b);
        ck_assert_int_eq(t->n[i], table->segments[i].n);
        ck_assert_int_eq(element(t->offset, wide, true, i), table->segments[i].offset);
    }
    packed_table_free(&packed);
    ck_assert(packed.memory == NULL);
}

START_TEST(packing_keeps_every_value)
{
    for (int i = 0; i < FIXTURES; i++) {
        struct table table = fixtures[i]();
        assert_packed(&table);
        table_free(&table);
    }
    for (int storage = 0; storage < 3; storage++)
        for (int form = 0; form < 3; form++)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                struct table table = fixture_table((pwl_form)form, PWL_FLOOR, (pwl_storage)storage);
                const int bits = storage_bits((pwl_storage)storage);
                table.in.is_signed = is_signed != 0;
                table.segments[0].start = code_min(bits, table.in.is_signed);
                table.segments[2].start = code_max(bits, table.in.is_signed);
                table.segments[0].q_b = code_min(bits, true);
                table.segments[2].q_b = code_max(bits, true);
                table.segments[0].n = INT8_MIN;
                table.segments[2].n = INT8_MAX;
                const int offset = offset_bits((pwl_storage)storage, (pwl_form)form);
                table.segments[0].offset = -(INT64_MAX >> (64 - offset)) - 1;
                table.segments[2].offset = INT64_MAX >> (64 - offset);
                assert_packed(&table);
                table_free(&table);
            }
}
END_TEST

/* Exit 2 from packing, `refusal` from proving, the same message from both. */
static void assert_not_packed(const struct table *table, const char *expected)
{
    struct packed_table packed;
    pwl_proof proof;
    struct diag diag = {0};
    ck_assert_int_eq(table_pack(table, &packed, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, expected) != NULL, "message: %s\nwanted: %s", diag.text, expected);
    ck_assert(packed.memory == NULL);
    ck_assert_int_eq(table_prove(table, EXIT_REQUIREMENT, &packed, &proof, &diag), EXIT_REQUIREMENT);
    ck_assert_int_eq(diag.code, EXIT_REQUIREMENT);
    ck_assert_msg(strstr(diag.text, expected) != NULL, "message: %s\nwanted: %s", diag.text, expected);
}

START_TEST(packing_refuses_what_does_not_fit)
{
    static const struct {
        pwl_storage storage;
        pwl_form form;
        int64_t start, q_b;
        int n;
        int64_t offset;
        const char *expected;
    } cases[] = {
        {PWL_INT8, PWL_ABSOLUTE, 128, 0, 0, 0, "segments[1].start: 128, must fit -128..127"},
        {PWL_INT8, PWL_ABSOLUTE, -129, 0, 0, 0, "segments[1].start: -129, must fit"},
        {PWL_INT16, PWL_ABSOLUTE, 65536, 0, 0, 0, "segments[1].start: 65536, must fit 0..65535"},
        {PWL_INT16, PWL_ABSOLUTE, -1, 0, 0, 0, "segments[1].start: -1, must fit 0..65535"},
        {PWL_INT8, PWL_ABSOLUTE, 0, 128, 0, 0, "segments[1].q_b: 128, must fit -128..127"},
        {PWL_INT16, PWL_ABSOLUTE, 0, -32769, 0, 0, "segments[1].q_b: -32769, must fit -32768..32767"},
        {PWL_INT32, PWL_ABSOLUTE, 0, 2147483648, 0, 0, "segments[1].q_b: 2147483648, must fit -2147483648..2147483647"},
        {PWL_INT8, PWL_ABSOLUTE, 0, 0, 128, 0, "segments[1].n_BX_total: 128, must fit -128..127"},
        {PWL_INT8, PWL_ABSOLUTE, 0, 0, 0, 32768, "segments[1].term_c: 32768, must fit -32768..32767"},
        {PWL_INT8, PWL_ANCHORED, 0, 0, 0, -32769, "segments[1].y: -32769, must fit -32768..32767"},
        {PWL_INT8, PWL_BIASED, 0, 0, 0, 2147483648, "segments[1].bias: 2147483648, must fit -2147483648..2147483647"},
        {PWL_INT16, PWL_ABSOLUTE, 0, 0, 0, -2147483649, "segments[1].term_c: -2147483649, must fit -2147483648"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table table = fixture_table(cases[i].form, PWL_FLOOR, cases[i].storage);
        table.segments[1] =
            (struct segment){.start = cases[i].start, .q_b = cases[i].q_b, .n = cases[i].n, .offset = cases[i].offset};
        assert_not_packed(&table, cases[i].expected);
        table_free(&table);
    }
    struct table table = fixture_plain();
    table.in.zero_point = 32768;
    assert_not_packed(&table, "in.zero_point: 32768, must fit -32768..32767 in an int8 table");
    table.in.zero_point = 0;
    table.segment_count = 0;
    assert_not_packed(&table, "segments: 0 of them, must be 1..4096");
    table.segment_count = 4097;
    assert_not_packed(&table, "segments: 4097 of them, must be 1..4096");
    table_free(&table);
}
END_TEST

static void assert_not_proven(struct table table, pwl_status status, const char *expected)
{
    struct packed_table packed;
    pwl_proof proof;
    struct diag diag = {0};
    ck_assert_int_eq(table_prove(&table, EXIT_REQUIREMENT, &packed, &proof, &diag), EXIT_REQUIREMENT);
    ck_assert_int_eq(proof.status, status);
    ck_assert_msg(strstr(diag.text, expected) == diag.text, "message: %s\nwanted: %s", diag.text, expected);
    ck_assert_msg(strstr(diag.text, pwl_status_text(status)) != NULL, "message: %s", diag.text);
    ck_assert(packed.memory == NULL);
    ck_assert_int_eq(table_prove(&table, EXIT_USAGE, &packed, NULL, &diag), EXIT_USAGE);
    table_free(&table);
}

START_TEST(the_proof_names_the_limit_and_the_segment)
{
    struct table table = fixture_plain();
    table.segments[1].start = -128;
    assert_not_proven(table, PWL_ERR_START, "segments[1]: ");

    table = fixture_plain();
    table.segments[2].n = 32;
    assert_not_proven(table, PWL_ERR_SHIFT, "segments[2]: ");

    table = fixture_plain();
    table.segments[2].n = -31;
    assert_not_proven(table, PWL_ERR_LEFT_SHIFT, "segments[2]: ");

    table = fixture_table(PWL_ABSOLUTE, PWL_FLOOR, PWL_INT32);
    table.segments[1].offset = INT64_C(1) << 47;
    assert_not_proven(table, PWL_ERR_OFFSET, "segments[1]: ");

    table = fixture_table(PWL_BIASED, PWL_FLOOR, PWL_INT8);
    table.segments[1].offset = INT32_MAX;
    assert_not_proven(table, PWL_ERR_BIAS, "segments[1]: ");

    table = fixture_plain();
    table.in.qmax = 200;
    assert_not_proven(table, PWL_ERR_RANGE_X, "no proof that the table is safe: ");
}
END_TEST

START_TEST(a_proven_table_runs)
{
    for (int i = 0; i < FIXTURES; i++) {
        struct table table = fixtures[i]();
        struct packed_table packed;
        pwl_proof proof;
        struct diag diag = {0};
        ck_assert_msg(table_prove(&table, EXIT_REQUIREMENT, &packed, &proof, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert_int_eq(proof.status, PWL_OK);
        packed_table_free(&packed);
        table_free(&table);
    }
    /* -5 * (105 + 3) << 1, plus 11: below 0, so 0; 3 * (10 + 3) >> 4, plus 9 */
    struct table table = fixture_plain();
    struct packed_table packed;
    struct diag diag = {0};
    ck_assert_int_eq(table_prove(&table, EXIT_REQUIREMENT, &packed, NULL, &diag), EXIT_DONE);
    ck_assert_int_eq(pwl_eval(&packed.table, 10), 11);
    ck_assert_int_eq(pwl_eval(&packed.table, 105), 0);
    ck_assert_int_eq(pwl_eval_unclamped(&packed.table, 105), -1069);
    packed_table_free(&packed);
    table_free(&table);
}
END_TEST

START_TEST(the_function_of_a_table_has_its_parameters)
{
    struct table table = fixture_parameter();
    struct function function;
    struct diag diag = {0};
    ck_assert_msg(table_function(&table, NULL, &function, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert_str_eq(function_name(&function), "leaky_relu");
    ck_assert(function.parameters[0] == 0.1);
    ck_assert(fabsl(function_value(&function, -2) + 0.2L) < 1e-16L);
    function_free(&function);

    ck_assert_int_eq(table_function(&table, "points.csv", &function, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "--samples") != NULL, "%s", diag.text);
    strcpy(table.parameters[0].name, "beta");
    ck_assert_int_eq(table_function(&table, NULL, &function, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "parameters.beta") != NULL, "%s", diag.text);
    strcpy(table.function, "sigmoit");
    ck_assert_int_eq(table_function(&table, NULL, &function, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "sigmoit") != NULL, "%s", diag.text);
    table_free(&table);
}
END_TEST

START_TEST(the_samples_of_a_table_are_the_same_bytes)
{
    static const char csv[] = "0,1\n2,5\n";
    char path[] = "/tmp/pwl_table_samples_XXXXXX";
    struct table table = fixture_samples();
    struct function function;
    struct diag diag = {0};
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, csv, strlen(csv)), (ssize_t)strlen(csv));
    close(file);

    ck_assert_int_eq(table_function(&table, NULL, &function, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "--samples: missing") == diag.text, "%s", diag.text);
    ck_assert_int_eq(table_function(&table, path, &function, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, path) == diag.text && strstr(diag.text, table.samples_sha256), "%s", diag.text);

    sha256_hex(csv, strlen(csv), table.samples_sha256);
    ck_assert_msg(table_function(&table, path, &function, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert_str_eq(function_name(&function), "samples");
    ck_assert(function_value(&function, 0.5L) == 2);
    function_free(&function);
    unlink(path);
    ck_assert_int_ne(table_function(&table, path, &function, &diag), EXIT_DONE);
    ck_assert(function.samples == NULL);
    table_free(&table);
}
END_TEST

/* The width of a field by its definition: the fewest bits that tell all values. */
static bool holds(struct field_width width, int64_t value)
{
    const int64_t low = width.is_signed ? -((int64_t)1 << (width.bits - 1)) : 0;
    return value >= low && value <= low + (int64_t)(((uint64_t)1 << width.bits) - 1);
}

START_TEST(fields_are_as_narrow_as_their_values)
{
    static const int64_t values[][3] = {{0, 0, 0},    {-7, 9, 11},       {5, 5, 5},        {0, 1, 1},
                                        {-1, 0, 0},   {-128, 0, 127},    {-129, 0, 0},     {0, 0, 128},
                                        {-2, -1, -2}, {0, 1, INT32_MAX}, {INT32_MIN, 0, 1}};
    static const int bits[] = {0, 5, 0, 1, 1, 8, 9, 8, 2, 31, 32};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct table table = fixture_table(PWL_BIASED, PWL_FLOOR, PWL_INT32);
        for (int k = 0; k < 3; k++)
            table.segments[k].offset = values[i][k];
        const struct field_widths widths = table_field_widths(&table);
        ck_assert_int_eq(widths.offset.bits, bits[i]);
        for (int k = 0; k < 3 && bits[i]; k++)
            ck_assert(holds(widths.offset, values[i][k]));
        ck_assert_int_eq(widths.rom_bits, 3 * (widths.start.bits + widths.q_b.bits + widths.n.bits + bits[i]));
        ck_assert_int_eq(table_bytes(&table), 3 * 17);
        table_free(&table);
    }
    struct table table = fixture_plain(); /* starts -128, 10, 100; slopes 0, 3, -5; shifts 0, 4, -1; term_c -7, 9, 11 */
    const struct field_widths widths = table_field_widths(&table);
    ck_assert(widths.start.bits == 8 && widths.q_b.bits == 4 && widths.n.bits == 4 && widths.offset.bits == 5);
    ck_assert_int_eq(widths.rom_bits, 3 * (8 + 4 + 4 + 5));
    table_free(&table);
}
END_TEST

START_TEST(a_full_table_takes_one_output_a_code)
{
    struct table table = fixture_table(PWL_ABSOLUTE, PWL_FLOOR, PWL_INT8);
    table.segments = realloc(table.segments, 256 * sizeof *table.segments);
    ck_assert_ptr_nonnull(table.segments);
    table.segment_count = 256;
    for (int i = 0; i < 256; i++) /* outputs 0 to 63 by saturation */
        table.segments[i] = (struct segment){.start = i - 128, .offset = i - 100};
    ck_assert(table_is_full(&table));
    ck_assert_int_eq(table_bytes(&table), 256);
    const struct field_widths widths = table_field_widths(&table);
    ck_assert(widths.value.bits == 6 && widths.rom_bits == 256 * 6);
    ck_assert(widths.start.bits == 0 && widths.q_b.bits == 0 && widths.n.bits == 0 && widths.offset.bits == 0);
    table.out.bits = 9;
    ck_assert_int_eq(table_bytes(&table), 512);
    table.segments[3].q_b = 1;
    ck_assert(!table_is_full(&table));
    ck_assert_int_eq(table_bytes(&table), 5 * 256);
    table.segments[3].q_b = 0;
    table.has_fold = true;
    ck_assert(!table_is_full(&table));
    table_free(&table);
}
END_TEST

static bool has_run(const struct runs *runs, int64_t code)
{
    for (size_t k = 0; k < runs->count; k++)
        if (code >= runs->list[k].first && code < runs->list[k].first + runs->list[k].count)
            return true;
    return false;
}

/* Knots, their mirror images, and the codes just before them. */
START_TEST(edges_are_those_of_both_sides)
{
    struct table table = fixture_table(PWL_ABSOLUTE, PWL_HALF_UP, PWL_INT32);
    struct packed_table packed;
    struct runs runs;
    struct diag diag;
    table.has_fold = true;
    table.segments[0].start = table.in.zero_point;
    ck_assert_int_eq(table_pack(&table, &packed, &diag), EXIT_DONE);
    ck_assert_int_eq(runs_of_edges(&table, &packed, 24, &runs, &diag), EXIT_DONE);
    for (int i = 0; i < table.segment_count; i++)
        for (int before = 0; before < 2; before++) {
            const int64_t code = table.segments[i].start - before;
            ck_assert_msg(has_run(&runs, code), "no code %lld", (long long)code);
            ck_assert_msg(has_run(&runs, 2 * table.in.zero_point - code), "no mirror image of %lld", (long long)code);
        }
    runs_free(&runs);
    packed_table_free(&packed);
    table_free(&table);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("table");
    TCase *const tests = tcase_create("table");
    tcase_add_test(tests, names_are_those_of_the_file);
    tcase_add_test(tests, storage_rules_are_those_of_the_document);
    tcase_add_test(tests, packing_keeps_every_value);
    tcase_add_test(tests, packing_refuses_what_does_not_fit);
    tcase_add_test(tests, the_proof_names_the_limit_and_the_segment);
    tcase_add_test(tests, a_proven_table_runs);
    tcase_add_test(tests, the_function_of_a_table_has_its_parameters);
    tcase_add_test(tests, the_samples_of_a_table_are_the_same_bytes);
    tcase_add_test(tests, fields_are_as_narrow_as_their_values);
    tcase_add_test(tests, a_full_table_takes_one_output_a_code);
    tcase_add_test(tests, edges_are_those_of_both_sides);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
