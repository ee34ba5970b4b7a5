/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table JSON: its exact text, and that what is written is read back the same. */
#include <stdio.h>
#include <unistd.h>

#include <pwl/fixed.h>

#include "io/fields.h"
#include "table_fixture.h"

#include "../../support/suite.h"

#ifndef SOURCE_ROOT
#define SOURCE_ROOT "."
#endif
#define GOLDEN SOURCE_ROOT "/tests/golden/document_002_segment_8.json"

/* Writes, reads, compares, writes again: the same bytes. Frees the table. */
static void assert_round_trip(struct table table)
{
    struct diag diag = {0};
    char *text, *twice, *again;
    ck_assert_msg(table_to_json(&table, &text, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert_int_eq(table_to_json(&table, &twice, &diag), EXIT_DONE);
    ck_assert_str_eq(text, twice);
    struct table read = read_good(text);
    assert_same_table(&table, &read);
    ck_assert_int_eq(table_to_json(&read, &again, &diag), EXIT_DONE);
    ck_assert_str_eq(text, again);
    free(text);
    free(twice);
    free(again);
    table_free(&read);
    table_free(&table);
}

START_TEST(layout_is_canonical)
{
    static const char expected[] =
        "{\n"
        "  \"pwl_table\": 1,\n"
        "  \"spec\": \"sigmoid --note \\\"a\\\\b\\\"\",\n"
        "  \"function\": \"sigmoid\",\n"
        "  \"parameters\": {},\n"
        "  \"method\": \"lsq\",\n"
        "  \"form\": \"absolute\",\n"
        "  \"rounding\": \"floor\",\n"
        "  \"case\": \"int8\",\n"
        "  \"in\": {\"bits\": 8, \"signed\": true, \"scale\": \"0.0472\", \"zero_point\": -3, \"qmin\": -128, "
        "\"qmax\": 127},\n"
        "  \"out\": {\"bits\": 6, \"signed\": false, \"scale\": \"2^-8\", \"zero_point\": 0, \"qmin\": 0, "
        "\"qmax\": 63},\n"
        "  \"segments\": [\n"
        "    {\"start\": -128, \"q_b\": 0, \"n_BX_total\": 0, \"term_c\": -7},\n"
        "    {\"start\": 10, \"q_b\": 3, \"n_BX_total\": 4, \"term_c\": 9},\n"
        "    {\"start\": 100, \"q_b\": -5, \"n_BX_total\": -1, \"term_c\": 11}\n"
        "  ],\n"
        "  \"hash\": \"d6e76160ebd9de8876ade29c2250c8bb44b96c7d0a195ca0695f5ff3dfaf498c\",\n"
        "  \"certificate\": {\"checked\": 256, \"exhaustive\": true, \"max_err_lsb\": 0.333333, \"max_err_at\": 12, "
        "\"rms_err_lsb\": 1.5e-9, \"mean_abs_err_lsb\": 1.23457e8, \"correctly_rounded\": 1.0, "
        "\"saturated_codes\": 0, \"monotone\": true, \"acc_bits\": 17, \"objective\": \"max\", "
        "\"lower_bound_lsb\": 0.25, \"optimal\": true}\n"
        "}\n";
    char *const text = fixture_json(fixture_plain());
    ck_assert_str_eq(text, expected);
    free(text);
}
END_TEST

START_TEST(optional_fields_are_written)
{
    static const struct {
        int fixture;
        const char *text;
    } expected[] = {
        {UNFUSED, "\"term_c\": -12, \"unfused\": {\"q_c\": -3, \"n_bx\": -3, \"n_yb\": 2, \"n_yc\": -2}}\n"},
        {FOLD, "},\n  \"fold\": {\"sum\": -40},\n  \"segments\": [\n"},
        {SAMPLES, "},\n  \"samples_sha256\": \"aaaa"},
        {SAMPLES, "\",\n  \"weights_sha256\": \"0000"},
        {SAMPLES, "\"n_BX_total\": 4, \"bias\": 9}"},
        {PARAMETER, "\"parameters\": {\"alpha\": 0.1},\n"},
        {PARAMETER, "},\n  \"outside\": \"clamp\",\n  \"segments\": [\n"},
        {PARAMETER, "\"n_BX_total\": 4, \"y\": 9}"},
        {PARAMETER, "\"objective\": \"rms\", \"lower_bound_lsb\": null, \"optimal\": null, \"bound_lsb\": 4.0}\n"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char *const text = fixture_json(fixtures[expected[i].fixture]());
        ck_assert_msg(strstr(text, expected[i].text) != NULL, "no %s in\n%s", expected[i].text, text);
        free(text);
    }
}
END_TEST

START_TEST(reals_have_one_spelling)
{
    static const struct {
        double value;
        const char *text;
    } reals[] = {{0, "0.0"},
                 {1, "1.0"},
                 {0.5, "0.5"},
                 {41.17612345, "41.1761"},
                 {2.0 / 3, "0.666667"},
                 {1e-5, "0.00001"},
                 {1.25e-5, "0.0000125"},
                 {9.99999e-6, "9.99999e-6"},
                 {9.999996e-6, "0.00001"},
                 {100000, "100000.0"},
                 {123456, "123456.0"},
                 {999999.4, "999999.0"},
                 {999999.6, "1.0e6"},
                 {65535.25, "65535.2"},
                 {1.7976931348623157e308, "1.79769e308"},
                 {5e-324, "4.94066e-324"}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        char wanted[64];
        struct table table = fixture_plain();
        table.certificate.rms_err_lsb = reals[i].value;
        snprintf(wanted, sizeof wanted, "\"rms_err_lsb\": %s,", reals[i].text);
        char *const text = fixture_json(table);
        ck_assert_msg(strstr(text, wanted) != NULL, "no %s in\n%s", wanted, text);
        struct table read = read_good(text);
        char *const again = fixture_json(read);
        ck_assert_str_eq(text, again);
        free(text);
        free(again);
    }
}
END_TEST

START_TEST(parameters_keep_every_bit)
{
    static const double values[] = {0, 1, -1, 0.1, 1.0 / 3, -999.99999999999989, 1e-300, 5e-324, 1000};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct table table = fixture_parameter();
        table.parameters[0].value = values[i];
        assert_round_trip(table);
    }
}
END_TEST

START_TEST(negative_zero_is_zero)
{
    struct table minus = fixture_parameter(), plus = fixture_parameter();
    minus.parameters[0].value = -0.0;
    plus.parameters[0].value = 0.0;
    char *const a = fixture_json(minus), *const b = fixture_json(plus);
    ck_assert_str_eq(a, b);
    free(a);
    free(b);
}
END_TEST

START_TEST(round_trip_of_every_form_rounding_and_case)
{
    for (int form = 0; form < 3; form++)
        for (int rounding = 0; rounding < 4; rounding++)
            for (int storage = 0; storage < 3; storage++)
                assert_round_trip(fixture_table((pwl_form)form, (pwl_rounding)rounding, (pwl_storage)storage));
}
END_TEST

START_TEST(round_trip_of_every_option)
{
    for (int i = 0; i < FIXTURES; i++)
        assert_round_trip(fixtures[i]());
    struct table table = fixture_plain();
    table.certificate.optimal = 0;
    assert_round_trip(table);
}
END_TEST

START_TEST(round_trip_at_the_ends_of_the_types)
{
    struct table table = fixture_table(PWL_ABSOLUTE, PWL_FLOOR, PWL_INT32);
    table.in = fixture_tensor("u32:2^-20:4294967295");
    table.out = fixture_tensor("s32:2^64:-9223372036854775808");
    table.segments[0] = (struct segment){.start = 0, .q_b = INT32_MIN, .n = 63, .offset = INT64_MAX >> 16};
    table.segments[1] = (struct segment){.start = UINT32_MAX - 1, .q_b = INT32_MAX, .n = 63, .offset = 0};
    table.segments[2] = (struct segment){.start = UINT32_MAX, .q_b = 0, .n = -63, .offset = INT64_MIN >> 16};
    table.certificate.checked = INT64_MAX;
    table.certificate.max_err_at = UINT32_MAX;
    assert_round_trip(table);

    table = fixture_table(PWL_BIASED, PWL_FLOOR, PWL_INT32);
    table.segments[0].offset = INT64_MIN;
    assert_round_trip(table);
}
END_TEST

START_TEST(four_thousand_and_ninety_six_segments)
{
    struct table table = fixture_table(PWL_ABSOLUTE, PWL_FLOOR, PWL_INT16);
    free(table.segments);
    table.segments = calloc(PWL_MAX_SEGMENTS + 1, sizeof *table.segments);
    ck_assert(table.segments != NULL);
    for (int i = 0; i <= PWL_MAX_SEGMENTS; i++)
        table.segments[i].start = i;
    table.segment_count = PWL_MAX_SEGMENTS + 1;
    char *text;
    struct diag diag = {0};
    ck_assert_int_eq(table_to_json(&table, &text, &diag), EXIT_DONE);
    assert_refused(text, strlen(text), "segments: an array of 4097 elements, must be an array of 1 to 4096 elements");
    free(text);
    table.segment_count = PWL_MAX_SEGMENTS;
    assert_round_trip(table);
}
END_TEST

START_TEST(writing_refuses_what_json_cannot_spell)
{
    struct table table = fixture_parameter();
    struct diag diag = {0};
    char *text;
    table.certificate.rms_err_lsb = (double)NAN;
    ck_assert_int_eq(table_to_json(&table, &text, &diag), EXIT_IO);
    ck_assert(text == NULL && strstr(diag.text, "certificate") != NULL);
    table.certificate.rms_err_lsb = 0;
    table.certificate.bound_lsb = (double)INFINITY;
    ck_assert_int_eq(table_to_json(&table, &text, &diag), EXIT_IO);
    table.certificate.bound_lsb = 0;
    table.parameters[0].value = (double)INFINITY;
    ck_assert_int_eq(table_to_json(&table, &text, &diag), EXIT_IO);
    ck_assert(strstr(diag.text, "parameters.alpha") != NULL);
    table_free(&table);
}
END_TEST

START_TEST(order_and_blanks_do_not_matter)
{
    char *const good = fixture_json(fixture_parameter());
    struct diag diag = {0};
    json_t *root;
    ck_assert_int_eq(fields_parse(good, strlen(good), &fixture_limits, &root, &diag), EXIT_DONE);
    char *const shuffled = json_dumps(root, JSON_SORT_KEYS | JSON_COMPACT);
    ck_assert_str_ne(good, shuffled);
    char *const again = fixture_json(read_good(shuffled));
    ck_assert_str_eq(good, again);
    json_decref(root);
    free(good);
    free(shuffled);
    free(again);
}
END_TEST

START_TEST(files_are_read_and_named)
{
    char path[] = "/tmp/pwl_table_json_XXXXXX", expected[64];
    struct table table;
    struct diag diag = {0};
    char *const good = fixture_json(fixture_unfused());
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, good, strlen(good)), (ssize_t)strlen(good));
    ck_assert_msg(table_read(path, &table, &diag) == EXIT_DONE, "%s", diag.text);
    char *const again = fixture_json(table);
    ck_assert_str_eq(good, again);

    ck_assert_int_eq(ftruncate(file, 100), 0);
    ck_assert_int_eq(table_read(path, &table, &diag), EXIT_USAGE);
    snprintf(expected, sizeof expected, "%s: line ", path);
    ck_assert_msg(strstr(diag.text, expected) == diag.text, "%s", diag.text);
    ck_assert_int_eq(ftruncate(file, (off_t)TABLE_MAX_BYTES + 1), 0);
    ck_assert_int_eq(table_read(path, &table, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, path) == diag.text, "%s", diag.text);
    close(file);
    unlink(path);
    ck_assert_int_eq(table_read(path, &table, &diag), EXIT_IO);
    ck_assert_msg(strstr(diag.text, path) != NULL, "%s", diag.text);
    ck_assert(table.spec == NULL && table.segments == NULL);
    free(good);
    free(again);
}
END_TEST

START_TEST(huge_files_are_refused)
{
    const size_t size = TABLE_MAX_BYTES + 1;
    char *const text = calloc(size, 1);
    ck_assert(text != NULL);
    assert_refused(text, size, "4194305 bytes, must be at most 4194304");
    memset(text, ' ', size);
    assert_refused(text, size - 1, "not valid JSON"); /* one byte less gets as far as the parser */
    free(text);
}
END_TEST

/* Small files that would make large trees: elements are counted before any is made. */
START_TEST(trees_beyond_any_table_are_refused)
{
    static const struct {
        const char *element, *words;
        size_t count;
    } cases[] = {{"{},", "line 1: more than 8256 objects and lists, must be fewer", 8256},
                 {"\n[],", "line 8257: more than 8256 objects and lists, must be fewer", 8256},
                 {"1,", "line 1: more than 49216 values, must be fewer", 49217}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t length = strlen(cases[i].element), size = 1 + cases[i].count * length;
        char *const text = malloc(size);
        ck_assert(text != NULL);
        text[0] = '[';
        for (size_t k = 0; k < cases[i].count; k++)
            memcpy(text + 1 + k * length, cases[i].element, length);
        text[size - 1] = ']'; /* for the last comma */
        assert_refused(text, size, cases[i].words);
        memset(text + 1, ' ', length); /* one less gets as far as the parser */
        assert_refused(text, size, "must be an object");
        /* in a text they are none */
        memset(text, '[', size);
        memcpy(text, "[\"\\\"", 4);
        memcpy(text + size - 2, "\"]", 2);
        assert_refused(text, size, "must be an object");
        free(text);
    }
}
END_TEST

/* What the golden file's certificate must say, in plain long double arithmetic straight from the formula. */
static struct certificate measured(const struct table *table, int acc_bits)
{
    struct certificate c = {.exhaustive = true, .monotone = true, .acc_bits = acc_bits, .optimal = -1};
    long double max = -1, sum = 0, squares = 0;
    int64_t nearest = 0, before = INT64_MIN;
    for (int64_t q_x = 0; q_x <= 65535; q_x++) {
        const struct segment *s = &table->segments[table->segment_count - 1];
        while (s->start > q_x)
            s--;
        const int64_t product = s->q_b * (q_x - 24576);
        const int64_t raw = (int64_t)floorl((long double)product / 8192) + s->offset;
        const int64_t q_y = raw < 0 ? 0 : raw > 65535 ? 65535 : raw;
        const long double real = 65536 / (1 + expl(-(long double)(q_x - 24576) / 4096)) - 1;
        const long double clipped = fminl(fmaxl(real, 0), 65535);
        const long double error = fabsl((long double)q_y - clipped);
        if (error > max) {
            max = error;
            c.max_err_at = q_x;
        }
        sum += error;
        squares += error * error;
        nearest += error <= 0.5L;
        c.saturated_codes += clipped != real;
        c.monotone = c.monotone && q_y >= before;
        before = q_y;
    }
    c.checked = 65536;
    c.max_err_lsb = (double)max;
    c.rms_err_lsb = (double)sqrtl(squares / 65536);
    c.mean_abs_err_lsb = (double)(sum / 65536);
    c.correctly_rounded = (double)nearest / 65536;
    return c;
}

START_TEST(a_certificate_belongs_to_the_table_and_claims_of_its_hash)
{
    static const struct {
        const char *from, *to;
        enum standing standing;
    } edits[] = {{"", "", CERTIFICATE_OWN},
                 {"\"correctly_rounded\": 1.0", "\"correctly_rounded\": 1", CERTIFICATE_OWN}, /* the same number */
                 {"0.333333", "0.3333330", CERTIFICATE_OWN},
                 {"1.23457e8", "123457000", CERTIFICATE_OWN},
                 {"0.333333", "0.333334", CERTIFICATE_OTHER},
                 {"1.5e-9", "1.5000000000000002e-9", CERTIFICATE_OTHER},
                 {"\"max_err_at\": 12", "\"max_err_at\": 13", CERTIFICATE_OTHER},
                 {"\"acc_bits\": 17", "\"acc_bits\": 9", CERTIFICATE_OTHER},
                 {"\"objective\": \"max\"", "\"objective\": \"rms\"", CERTIFICATE_OTHER},
                 {"\"lower_bound_lsb\": 0.25", "\"lower_bound_lsb\": null", CERTIFICATE_OTHER},
                 {"\"optimal\": true", "\"optimal\": null", CERTIFICATE_OTHER},
                 {"\"optimal\": true", "\"optimal\": true, \"bound_lsb\": 1.0", CERTIFICATE_OTHER},
                 {"\"exhaustive\": true", "\"exhaustive\": false", CERTIFICATE_OTHER},
                 {"sigmoid --note", "sigmoid --other", CERTIFICATE_OTHER},
                 {"\"lsq\"", "\"lut\"", CERTIFICATE_OTHER},
                 {"\"sigmoid\",", "\"tanh\",", CERTIFICATE_OTHER},
                 {"\"q_b\": 3", "\"q_b\": 2", CERTIFICATE_OTHER},
                 {"\"term_c\": 9", "\"term_c\": 8", CERTIFICATE_OTHER},
                 {"\"start\": 10,", "\"start\": 11,", CERTIFICATE_OTHER},
                 {"\"floor\"", "\"half_up\"", CERTIFICATE_OTHER},
                 {"2^-8", "2^-7", CERTIFICATE_OTHER},
                 {"\"zero_point\": -3", "\"zero_point\": -4", CERTIFICATE_OTHER},
                 {"\"hash\": \"d6e76160", "\"hash\": \"06e76160", CERTIFICATE_OTHER}};
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *const text = fixture_json(fixture_plain());
        char *const edited = replaced(text, edits[i].from, edits[i].to);
        struct table table;
        struct diag diag = {0};
        ck_assert_msg(table_from_json(edited, strlen(edited), &table, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert_msg(table.standing == edits[i].standing, "%s -> %s", edits[i].from, edits[i].to);
        table_free(&table);
        free(edited);
        free(text);
    }
}
END_TEST

START_TEST(golden_segment_8_of_document_002)
{
    struct table table;
    struct packed_table packed;
    pwl_proof proof;
    struct diag diag = {0};
    ck_assert_msg(table_read(GOLDEN, &table, &diag) == EXIT_DONE, "%s", diag.text);
    char *text;
    ck_assert_int_eq(table_to_json(&table, &text, &diag), EXIT_DONE);

    const struct segment *const s = &table.segments[1];
    ck_assert_int_eq(s->start, 24576 - 24); /* the lowest code with x >= -0.006 */
    ck_assert_int_eq(s->q_b, 32619);
    ck_assert_int_eq(s->n, 13);
    ck_assert_int_eq(s->offset, 32770);
    ck_assert_int_eq(s->unfused.q_c, 16385);
    ck_assert_int_eq(s->unfused.n_bx, 9);
    ck_assert_int_eq(s->unfused.n_yb, 4);
    ck_assert_int_eq(s->unfused.n_yc, -1);
    ck_assert_int_eq(table.segments[2].start, 24576 + 1008); /* the lowest code with x > 0.246 */

    const int64_t q_x = (int64_t)roundl(0.1L / table.in.scale.value) + table.in.zero_point;
    ck_assert_int_eq(q_x, 24986);
    const int64_t x_offset = q_x - table.in.zero_point;
    ck_assert_int_eq(x_offset, 410);
    ck_assert_int_eq(s->q_b * x_offset, 13373790);
    ck_assert_int_eq(13373790 >> s->unfused.n_bx, 26120);
    ck_assert_int_eq(26120 >> s->unfused.n_yb, 1632);
    ck_assert_int_eq(1632 + s->offset, 34402);

    ck_assert_msg(table_prove(&table, EXIT_USAGE, &packed, &proof, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert_int_eq(pwl_segment(&packed.table, q_x), 1);
    ck_assert_int_eq(pwl_eval(&packed.table, q_x), 34402);
    ck_assert(fabsl(tensor_real(&table.out, 34402) - 34403 * 0x1p-16L) == 0);

    /* the file states what is measured here, byte for byte */
    table.certificate = measured(&table, proof.acc_bits);
    char *const honest = fixture_json(table);
    ck_assert_str_eq(text, honest);
    free(text);
    free(honest);
    packed_table_free(&packed);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("table_json");
    TCase *const writing = tcase_create("writing"), *const reading = tcase_create("reading");
    tcase_add_test(writing, layout_is_canonical);
    tcase_add_test(writing, optional_fields_are_written);
    tcase_add_test(writing, reals_have_one_spelling);
    tcase_add_test(writing, parameters_keep_every_bit);
    tcase_add_test(writing, negative_zero_is_zero);
    tcase_add_test(writing, round_trip_of_every_form_rounding_and_case);
    tcase_add_test(writing, round_trip_of_every_option);
    tcase_add_test(writing, round_trip_at_the_ends_of_the_types);
    tcase_add_test(writing, four_thousand_and_ninety_six_segments);
    tcase_add_test(writing, writing_refuses_what_json_cannot_spell);
    tcase_add_test(reading, order_and_blanks_do_not_matter);
    tcase_add_test(reading, files_are_read_and_named);
    tcase_add_test(reading, a_certificate_belongs_to_the_table_and_claims_of_its_hash);
    tcase_add_test(reading, golden_segment_8_of_document_002);
    tcase_add_test(reading, huge_files_are_refused);
    tcase_add_test(reading, trees_beyond_any_table_are_refused);
    suite_add_tcase(suite, writing);
    suite_add_tcase(suite, reading);
    return run_suite(suite);
}
