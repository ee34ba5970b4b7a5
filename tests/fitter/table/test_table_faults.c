/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faulty table JSON: every fault is refused with its field, and damaged files are refused or sound. */
#include <stdio.h>

#include <pwl/fixed.h>

#include "io/fields.h"
#include "table_fixture.h"

#include "../../support/suite.h"

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* One edit of a good text, and a part of the message that it must give. */
static const struct edit {
    int fixture;
    const char *find, *replacement, *expected;
} edits[] = {
    /* the file */
    {PLAIN, "{\n", "[\n", "not valid JSON"},
    {PLAIN, "\n}\n", "\n} x", "end of file expected"},
    {PLAIN, "\"sigmoid\"", "sigmoid", "line 4, column"},
    {PLAIN, "\"sigmoid\"", "\"sig\xffmoid\"", "not valid JSON"},
    {PLAIN, "\"sigmoid\"", "\"sig\\u0000moid\"", "not valid JSON"},
    {PLAIN, "\"start\": 10", "\"start\": 99999999999999999999", "too big integer"},
    {PLAIN, "0.333333", "1e999", "real number overflow"},
    {PLAIN, "0.333333", "NaN", "not valid JSON"},
    /* duplicate keys, at each level */
    {PLAIN, "\"method\"", "\"form\": \"absolute\", \"method\"", "duplicate object key"},
    {PLAIN, "\"bits\"", "\"bits\": 8, \"bits\"", "duplicate object key"},
    {PLAIN, "\"q_b\"", "\"q_b\": 0, \"q_b\"", "duplicate object key"},
    {PLAIN, "\"checked\"", "\"checked\": 1, \"checked\"", "duplicate object key"},
    /* unknown fields, at each level */
    {PLAIN, "\"method\"", "\"author\": 1, \"method\"", "author: unknown field"},
    {PLAIN, "\"method\"", "\"au\\nth\xc3\xb6r\": 1, \"method\"", "au?th??r: unknown field"},
    {PLAIN, "\"parameters\": {}", "\"parameters\": {\"alpha\": 1}", "parameters.alpha: unknown field"},
    {PLAIN, "\"bits\"", "\"width\": 8, \"bits\"", "in.width: unknown field"},
    {PLAIN, "\"bits\": 6", "\"bits\": 6, \"offset\": 1", "out.offset: unknown field"},
    {PLAIN, "\"q_b\": 3", "\"q_b\": 3, \"name\": 0", "segments[1].name: unknown field"},
    {PLAIN, "\"q_b\": 3", "\"q_b\": 3, \"bias\": 0", "segments[1].bias: unknown field"},
    {FOLD, "\"sum\"", "\"difference\": 0, \"sum\"", "fold.difference: unknown field"},
    {UNFUSED, "\"q_c\": 19", "\"q_c\": 19, \"z_b\": 1276", "segments[1].unfused.z_b: unknown field"},
    {UNFUSED, "\"q_c\": 19", "\"q_c\": 19, \"z_bx\": 140737488355328",
     "segments[1].unfused.z_bx: 140737488355328, must be an integer in -140737488355328..140737488355327"},
    {PLAIN, "\"checked\"", "\"date\": 1, \"checked\"", "certificate.date: unknown field"},
    /* version */
    {PLAIN, "\"pwl_table\": 1", "\"pwl_table\": 2", "pwl_table: 2, must be 1, the version that this pwlc reads"},
    {PLAIN, "\"pwl_table\": 1", "\"future\": 0, \"pwl_table\": 2", "pwl_table: 2, must be 1"},
    {PLAIN, "\"pwl_table\": 1", "\"pwl_table\": 0", "pwl_table: 0, must be"},
    {PLAIN, "\"pwl_table\": 1", "\"pwl_table\": \"1\"", "pwl_table: \"1\", must be an integer"},
    {PLAIN, "\"pwl_table\": 1,", "", "pwl_table: missing"},
    /* words */
    {PLAIN, "  \"spec\"", "  \"outside\": \"clamp\", \"sp\": 1, \"spec\"", "sp: unknown field"},
    {PLAIN, "\"sigmoid --note \\\"a\\\\b\\\"\"", "7", "spec: 7, must be a string"},
    {PLAIN, "\"sigmoid --note \\\"a\\\\b\\\"\"", "\"s\\n\"",
     "spec: \"s?\", must be a string of at most 8192 printable"},
    {PLAIN, "\"function\": \"sigmoid\"", "\"function\": \"sigmoit\"", "function: \"sigmoit\", must be"},
    {PLAIN, "\"function\": \"sigmoid\"", "\"function\": [1, 2]", "function: an array of 2 elements, must be"},
    {PLAIN, "\"function\": \"sigmoid\",", "", "function: missing"},
    {PLAIN, "\"parameters\": {}", "\"parameters\": []", "parameters: an array of 0 elements, must be an object"},
    {PLAIN, "\"parameters\": {},", "", "parameters: missing"},
    {PARAMETER, "\"alpha\": 0.1", "", "parameters.alpha: missing"},
    {PARAMETER, "\"alpha\": 0.1", "\"alpha\": 1e9", "parameters.alpha: the real number 1e+09, must be a number in"},
    {PARAMETER, "\"alpha\": 0.1", "\"alpha\": \"0.1\"", "parameters.alpha: \"0.1\", must be a number"},
    {PARAMETER, "\"alpha\": 0.1", "\"alpha\": 0.1, \"beta\": 1", "parameters.beta: unknown field"},
    {SAMPLES, "\"parameters\": {}", "\"parameters\": {\"alpha\": 1}", "parameters.alpha: unknown field"},
    {PLAIN, "\"method\": \"lsq\"", "\"method\": \"\"", "method: \"\", must be 1 to 15 characters of a-z and _"},
    {PLAIN, "\"method\": \"lsq\"", "\"method\": \"LSQ\"", "method: \"LSQ\", must be"},
    {PLAIN, "\"method\": \"lsq\"", "\"method\": \"abcdefghijklmnop\"", "method: \"abcdefghijklmnop\", must be"},
    {PLAIN, "\"method\": \"lsq\"", "\"method\": true", "method: true, must be"},
    {PLAIN, "\"method\": \"lsq\",", "", "method: missing"},
    {PLAIN, "\"form\": \"absolute\"", "\"form\": \"linear\"",
     "form: \"linear\", must be one of absolute|biased|anchored"},
    {PLAIN, "\"form\": \"absolute\"", "\"form\": null", "form: null, must be"},
    {PLAIN, "\"form\": \"absolute\"", "\"form\": \"biased\"", "segments[0].term_c: unknown field"},
    {PLAIN, "\"rounding\": \"floor\"", "\"rounding\": \"ceil\"",
     "rounding: \"ceil\", must be one of floor|half_up|half_away|half_even"},
    {PLAIN, "\"rounding\": \"floor\",", "", "rounding: missing"},
    {PLAIN, "\"case\": \"int8\"", "\"case\": \"int16\"",
     "case: \"int16\", must be \"int8\", the smallest that holds 8-"},
    {PLAIN, "\"case\": \"int8\"", "\"case\": \"int64\"", "case: \"int64\", must be \"int8\""},
    {PLAIN, "\"bits\": 8", "\"bits\": 9", "case: \"int8\", must be \"int16\", the smallest that holds 9-bit input"},
    {PLAIN, "\"case\": \"int8\",", "", "case: missing"},
    {PARAMETER, "\"clamp\"", "\"error\"", "outside: \"error\", must be \"clamp\", or left out"},
    {PARAMETER, "\"clamp\"", "false", "outside: false, must be"},
    {SAMPLES, "\"samples_sha256\": \"a", "\"samples_sha256\": \"", "samples_sha256: \"aaaa"},
    {SAMPLES, "\"samples_sha256\": \"a", "\"samples_sha256\": \"A", "must be 64 lower-case hexadecimal digits"},
    {SAMPLES, "\"samples_sha256\": \"a", "\"samples_sha256\": \"ab", "must be 64 lower-case hexadecimal digits"},
    {SAMPLES, "  \"samples_sha256\": \"" A64 "\",\n", "", "samples_sha256: missing"},
    {SAMPLES, "\"function\": \"samples\"", "\"function\": \"sigmoid\"", "samples_sha256: \"aaaa"},
    {SAMPLES, "\"weights_sha256\": \"0", "\"weights_sha256\": \"g", "weights_sha256: \"g000"},
    {SAMPLES, "\"weights_sha256\": \"0", "\"weights_sha256\": 1, \"x\": \"", "unknown field"},
    /* tensors */
    {PLAIN, "\"in\": {", "\"in\": 3, \"x\": {", "x: unknown field"},
    {PLAIN, "\"bits\": 8", "\"bits\": 1", "in.bits: 1, must be an integer in 2..32"},
    {PLAIN, "\"bits\": 8", "\"bits\": 33", "in.bits: 33, must be an integer in 2..32"},
    {PLAIN, "\"bits\": 8", "\"bits\": 8.0", "in.bits: the real number 8, must be an integer"},
    {PLAIN, "\"bits\": 6, ", "", "out.bits: missing"},
    {PLAIN, "\"signed\": true", "\"signed\": 1", "in.signed: 1, must be true or false"},
    {PLAIN, "\"signed\": true", "\"signed\": false", "in.qmin: -128, must be an integer in 0..255"},
    {PLAIN, "\"scale\": \"0.0472\"", "\"scale\": \"0.0472x\"", "in.scale"},
    {PLAIN, "\"scale\": \"0.0472\"", "\"scale\": \"0\"", "in.scale"},
    {PLAIN, "\"scale\": \"0.0472\"", "\"scale\": \"-1\"", "in.scale"},
    {PLAIN, "\"scale\": \"0.0472\"", "\"scale\": \"2^-9999\"", "in.scale"},
    {PLAIN, "\"scale\": \"0.0472\"", "\"scale\": \"0.25\"", "in.scale: \"0.25\", must be written \"2^-2\""},
    {PLAIN, "\"scale\": \"0.0472\"", "\"scale\": \"0.04720\"", "in.scale: \"0.04720\", must be written \"0.0472\""},
    {PLAIN, "\"scale\": \"0.0472\"", "\"scale\": 0.0472", "in.scale: the real number 0.0472, must be a string"},
    {PLAIN, "\"scale\": \"2^-8\"", "\"scale\": \"" A64 "\"", "out.scale: \"aaaa"},
    {PLAIN, "\"zero_point\": -3", "\"zero_point\": -3.5", "in.zero_point: the real number -3.5, must be an integer"},
    {PLAIN, "\"zero_point\": -3", "\"zero_point\": 32768", "in.zero_point: 32768, must fit -32768..32767"},
    {PARAMETER, "\"zero_point\": 5", "\"zero_point\": 9223372036854775807", "no proof that the table is safe"},
    {PLAIN, "\"qmin\": -128", "\"qmin\": -129", "in.qmin: -129, must be an integer in -128..127"},
    {PLAIN, "\"qmax\": 63", "\"qmax\": 64", "out.qmax: 64, must be an integer in 0..63"},
    {PLAIN, "\"qmin\": 0, \"qmax\": 63", "\"qmin\": 9, \"qmax\": 8", "out.qmax: 8, must be at least qmin, 9"},
    /* fold */
    {FOLD, "{\"sum\": -40}", "-40", "fold: -40, must be an object"},
    {FOLD, "\"sum\": -40", "", "fold.sum: missing"},
    {FOLD, "\"sum\": -40", "\"sum\": 2147483648",
     "fold.sum: 2147483648, must be an integer in -2147483648..2147483647"},
    {FOLD, "\"sum\": -40", "\"sum\": -2147483648", "segments[1]: no proof"},
    {FOLD, "\"zero_point\": 20", "\"zero_point\": 200", "in.zero_point: 200, must be in qmin..qmax"},
    {FOLD, "\"zero_point\": 20", "\"zero_point\": -129", "in.zero_point: -129, must be in qmin..qmax"},
    {FOLD, "\"zero_point\": 20", "\"zero_point\": 21",
     "segments[0].start: 20, must be the zero point, where the fold is, 21"},
    {FOLD, "\"start\": 100", "\"start\": 169", "segments[2].start: 169, must be an integer in -128..168"},
    /* segments */
    {PLAIN, "\"segments\": [", "\"segments\": {}, \"x\": [", "x: unknown field"},
    {PLAIN, "{\"start\": 10,", "[], {\"start\": 10,", "segments[1]: an array of 0 elements, must be an object"},
    {PLAIN, "\"start\": -128", "\"start\": -127", "segments[0].start: -127, must be qmin of in, -128"},
    {PLAIN, "\"start\": 10,", "\"start\": 100,", "segments[2].start: 100, must be above the start before it, 100"},
    {PLAIN, "\"start\": 10,", "\"start\": 101,", "segments[2].start: 100, must be above the start before it, 101"},
    {PLAIN, "\"start\": 10,", "\"start\": 128,", "segments[1].start: 128, must be an integer in -128..127"},
    {PLAIN, "\"start\": 10,", "\"start\": null,", "segments[1].start: null, must be an integer"},
    {PLAIN, "\"start\": 10,", "", "segments[1].start: missing"},
    {PLAIN, "\"q_b\": 3", "\"q_b\": 128", "segments[1].q_b: 128, must be an integer in -128..127"},
    {PLAIN, "\"q_b\": 3", "\"q_b\": -129", "segments[1].q_b: -129, must be an integer in -128..127"},
    {SAMPLES, "\"q_b\": 3", "\"q_b\": 32768", "segments[1].q_b: 32768, must be an integer in -32768..32767"},
    {PARAMETER, "\"q_b\": 3", "\"q_b\": 2147483648",
     "segments[1].q_b: 2147483648, must be an integer in -2147483648.."},
    {PLAIN, "\"q_b\": 3, ", "", "segments[1].q_b: missing"},
    {PLAIN, "\"n_BX_total\": 4", "\"n_BX_total\": 32", "segments[1].n_BX_total: 32, must be an integer in -31..31"},
    {PLAIN, "\"n_BX_total\": 4", "\"n_BX_total\": -32", "segments[1].n_BX_total: -32, must be an integer in -31..31"},
    {PARAMETER, "\"n_BX_total\": 4", "\"n_BX_total\": 64", "segments[1].n_BX_total: 64, must be an integer in -63..63"},
    {PARAMETER, "\"n_BX_total\": 4", "\"n_BX_total\": -64", "segments[1].n_BX_total: -64, must be an integer in -63"},
    {PLAIN, "\"n_BX_total\": 4, ", "", "segments[1].n_BX_total: missing"},
    {PLAIN, "\"term_c\": 9", "\"term_c\": 32768", "segments[1].term_c: 32768, must be an integer in -32768..32767"},
    {PLAIN, "\"term_c\": 9", "\"term_c\": true", "segments[1].term_c: true, must be an integer"},
    {PLAIN, ", \"term_c\": 9", "", "segments[1].term_c: missing"},
    {SAMPLES, "\"bias\": 9", "\"bias\": 2147483648",
     "segments[1].bias: 2147483648, must be an integer in -2147483648.."},
    {PARAMETER, "\"y\": 9", "\"y\": 140737488355328",
     "segments[1].y: 140737488355328, must be an integer in -140737488"},
    {PARAMETER, "\"y\": 9", "\"y\": -140737488355329", "segments[1].y: -140737488355329, must be"},
    /* unfused */
    {UNFUSED, ", \"unfused\": {\"q_c\": 19, \"n_bx\": 3, \"n_yb\": 1, \"n_yc\": 1}", "",
     "segments[1].unfused: missing"},
    {PLAIN, "\"term_c\": 9", "\"term_c\": 9, \"unfused\": {}",
     "segments[1].unfused: an object, must be in every segment"},
    {UNFUSED, "\"unfused\": {\"q_c\": 19,", "\"unfused\": 1, \"x\": {", "segments[1].x: unknown field"},
    {UNFUSED, "\"n_bx\": 3", "\"n_bx\": 4", "segments[1].n_BX_total: 4, must be n_bx + n_yb of unfused, 5"},
    {UNFUSED, "\"n_bx\": 3", "\"n_bx\": 32", "segments[1].unfused.n_bx: 32, must be an integer in -31..31"},
    {UNFUSED, "\"n_yb\": 1", "\"n_yb\": \"1\"", "segments[1].unfused.n_yb: \"1\", must be an integer"},
    {UNFUSED, ", \"n_yc\": 1", "", "segments[1].unfused.n_yc: missing"},
    {UNFUSED, "\"q_c\": 19", "\"q_c\": 20", "segments[1].term_c: 9, must be q_c of unfused, 20, shifted right by 1"},
    {UNFUSED, "\"q_c\": -3", "\"q_c\": -4", "segments[2].term_c: -12, must be q_c of unfused, -4, shifted left by 2"},
    {UNFUSED, "\"term_c\": -12", "\"term_c\": -11",
     "segments[2].term_c: -11, must be q_c of unfused, -3, shifted left"},
    {UNFUSED, "\"q_c\": 19", "\"q_c\": 140737488355328",
     "segments[1].unfused.q_c: 140737488355328, must be an integer"},
    {UNFUSED, "\"n_bx\": -3, \"n_yb\": 2", "\"n_bx\": -31, \"n_yb\": 30",
     "segments[2].unfused: n_bx -31 and n_yb 30, must"},
    {UNFUSED, "\"n_bx\": -3, \"n_yb\": 2", "\"n_bx\": 30, \"n_yb\": -31",
     "segments[2].unfused: n_bx 30 and n_yb -31, must"},
    /* the proof */
    {SAMPLES, "\"bias\": 9", "\"bias\": -2147483648", "segments[1]: no proof that it is safe"},
    {PLAIN, "\"n_BX_total\": -1", "\"n_BX_total\": -31", "segments[2]: no proof that it is safe"},
    /* certificate */
    {PLAIN, "\"certificate\": {", "\"certificate\": 1, \"x\": {", "x: unknown field"},
    {PLAIN, "\"checked\": 256", "\"checked\": -1",
     "certificate.checked: -1, must be an integer in 0..9223372036854775807"},
    {PLAIN, "\"checked\": 256, ", "", "certificate.checked: missing"},
    {PLAIN, "\"exhaustive\": true", "\"exhaustive\": \"yes\"",
     "certificate.exhaustive: \"yes\", must be true or false"},
    {PLAIN, "\"max_err_lsb\": 0.333333", "\"max_err_lsb\": -0.5",
     "certificate.max_err_lsb: the real number -0.5, must be"},
    {PLAIN, "\"max_err_lsb\": 0.333333", "\"max_err_lsb\": null",
     "certificate.max_err_lsb: null, must be a number of at"},
    {PLAIN, "\"max_err_at\": 12", "\"max_err_at\": 128",
     "certificate.max_err_at: 128, must be an integer in -128..127"},
    {PLAIN, "\"max_err_at\": 12", "\"max_err_at\": -129", "certificate.max_err_at: -129, must be"},
    {PLAIN, "\"rms_err_lsb\": 1.5e-9", "\"rms_err_lsb\": -1", "certificate.rms_err_lsb: -1, must be"},
    {PLAIN, "\"rms_err_lsb\": 1.5e-9, ", "", "certificate.rms_err_lsb: missing"},
    {PLAIN, "\"mean_abs_err_lsb\": 1", "\"mean_abs_err_lsb\": -1", "certificate.mean_abs_err_lsb: the real number -1"},
    {PLAIN, "\"correctly_rounded\": 1.0", "\"correctly_rounded\": 1.1",
     "certificate.correctly_rounded: the real number 1.1"},
    {PLAIN, "\"correctly_rounded\": 1.0", "\"correctly_rounded\": -0.1", "must be a number in 0..1"},
    {PLAIN, "\"saturated_codes\": 0", "\"saturated_codes\": -1", "certificate.saturated_codes: -1, must be"},
    {PLAIN, "\"monotone\": true", "\"monotone\": 1", "certificate.monotone: 1, must be true or false"},
    {PLAIN, "\"acc_bits\": 17", "\"acc_bits\": 0", "certificate.acc_bits: 0, must be an integer in 1..64"},
    {PLAIN, "\"acc_bits\": 17", "\"acc_bits\": 65", "certificate.acc_bits: 65, must be an integer in 1..64"},
    {PLAIN, "\"objective\": \"max\"", "\"objective\": \"mean\"",
     "certificate.objective: \"mean\", must be \"max\", \"rms\" or \"segments\""},
    {PLAIN, "\"objective\": \"max\", ", "", "certificate.objective: missing"},
    {PLAIN, "\"lower_bound_lsb\": 0.25", "\"lower_bound_lsb\": -1", "certificate.lower_bound_lsb: -1, must be null or"},
    {PLAIN, "\"lower_bound_lsb\": 0.25, ", "", "certificate.lower_bound_lsb: missing, must be null or a number"},
    {PLAIN, "\"optimal\": true", "\"optimal\": 0", "certificate.optimal: 0, must be true, false or null"},
    {PLAIN, ", \"optimal\": true", "", "certificate.optimal: missing"},
    {PARAMETER, "\"bound_lsb\": 4.0", "\"bound_lsb\": -4", "certificate.bound_lsb: -4, must be"},
    {PARAMETER, "\"bound_lsb\": 4.0", "\"bound_lsb\": null", "certificate.bound_lsb: null, must be"},
};

START_TEST(every_fault_is_refused_with_its_field)
{
    const struct edit *const edit = &edits[_i];
    char *const good = fixture_json(fixtures[edit->fixture]());
    struct table table = read_good(good);
    char *const bad = replaced(good, edit->find, edit->replacement);
    assert_refused(bad, strlen(bad), edit->expected);
    free(bad);
    free(good);
    table_free(&table);
}
END_TEST

/* Each top-level field and each of the tensors, segments and certificate: gone, or of another type. */
START_TEST(whole_fields_missing_or_of_wrong_type)
{
    static const struct {
        const char *name, *wrong, *without;
    } fields[] = {{"in", "3", "in: missing"},
                  {"out", "[]", "out: missing"},
                  {"segments", "{}", "segments: missing"},
                  {"certificate", "null", "hash: "}, /* of a certificate that is not there */
                  {"segments", "[]", "segments: missing"},
                  {"hash", "7", NULL}};
    char *const good = fixture_json(fixture_plain());
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct diag diag = {0};
        json_t *root;
        char expected[64];
        ck_assert_int_eq(fields_parse(good, strlen(good), &fixture_limits, &root, &diag), EXIT_DONE);
        json_object_set_new(root, fields[i].name, json_loads(fields[i].wrong, JSON_DECODE_ANY, NULL));
        char *text = json_dumps(root, 0);
        snprintf(expected, sizeof expected, "%s: ", fields[i].name);
        assert_refused(text, strlen(text), expected);
        free(text);
        json_object_del(root, fields[i].name);
        text = json_dumps(root, 0);
        if (fields[i].without)
            assert_refused(text, strlen(text), fields[i].without);
        free(text);
        json_decref(root);
    }
    free(good);
}
END_TEST

START_TEST(two_shifts_belong_to_the_absolute_form)
{
    for (int form = PWL_BIASED; form <= PWL_ANCHORED; form++) {
        struct table table = fixture_unfused();
        table.form = (pwl_form)form;
        char *const text = fixture_json(table);
        assert_refused(text, strlen(text), "segments[0].unfused: an object, must be left out");
        free(text);
    }
}
END_TEST

START_TEST(every_truncation_is_refused)
{
    char *const good = fixture_json(fixture_unfused());
    for (size_t size = 0; size + 2 < strlen(good); size++)
        assert_refused(good, size, size ? "not valid JSON" : "must be JSON");
    free(good);
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    const size_t depth = 5000;
    char *const text = malloc(depth);
    ck_assert(text != NULL);
    memset(text, '[', depth);
    assert_refused(text, depth, "maximum parsing depth");
    free(text);
}
END_TEST

START_TEST(other_json_is_refused)
{
    assert_refused("", 0, "is empty; must be JSON");
    assert_refused(" ", 1, "line 1, column 1: not valid JSON");
    assert_refused("[]", 2, "an array, must be an object with the field pwl_table");
    assert_refused("{}", 2, "pwl_table: missing");
    assert_refused("3", 1, "not valid JSON");
    assert_refused("{\0}", 3, "not valid JSON");
}
END_TEST

START_TEST(long_text_is_refused)
{
    struct table table = fixture_plain();
    struct diag diag = {0};
    char *text;
    free(table.spec);
    table.spec = calloc(8194, 1);
    ck_assert(table.spec != NULL);
    memset(table.spec, '"', 8193);
    ck_assert_int_eq(table_to_json(&table, &text, &diag), EXIT_DONE);
    assert_refused(text, strlen(text), "...\", must be a string of at most 8192 printable ASCII characters");
    free(text);
    table.spec[8192] = '\0';
    text = fixture_json(table);
    table = read_good(text); /* the longest that is accepted */
    free(text);
    table_free(&table);
}
END_TEST

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

static const char *const splices[] = {"0",
                                      "-1",
                                      "1",
                                      "31",
                                      "-31",
                                      "63",
                                      "127",
                                      "-128",
                                      "255",
                                      "32767",
                                      "-32768",
                                      "65535",
                                      "2147483647",
                                      "-2147483648",
                                      "140737488355327",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "1e308",
                                      "null",
                                      "true",
                                      "\"\"",
                                      "{}",
                                      "[]",
                                      "-",
                                      ""};

/* Damages text, which has room for twice its size and a splice more; returns the new size. */
static size_t damage(char *text, size_t size, const char *other)
{
    const size_t at = (size_t)random_below(size), other_size = strlen(other);
    switch (random_below(6)) {
    case 0: /* a bit */
        text[at] = (char)(text[at] ^ (1 << random_below(8)));
        return size;
    case 1: /* the end */
        return at;
    case 2: { /* a piece of another table */
        const size_t from = (size_t)random_below(other_size), length = (size_t)random_below(other_size - from + 1);
        const size_t kept = at + length < size ? length : size - at;
        memcpy(text + at, other + from, kept);
        return size;
    }
    case 3: { /* a digit */
        for (size_t i = at; i < size; i++)
            if (text[i] >= '0' && text[i] <= '9') {
                text[i] = (char)('0' + random_below(10));
                break;
            }
        return size;
    }
    case 4: { /* a number becomes another value */
        size_t from = at;
        while (from < size && !(text[from] == '-' || (text[from] >= '0' && text[from] <= '9')))
            from++;
        size_t to = from;
        while (to < size && strchr("-+.e0123456789", text[to]) && text[to])
            to++;
        const char *const splice = splices[random_below(sizeof splices / sizeof *splices)];
        memmove(text + from + strlen(splice), text + to, size - to);
        memcpy(text + from, splice, strlen(splice));
        return size - (to - from) + strlen(splice);
    }
    default: { /* a line goes, or is doubled */
        size_t from = at, to = at;
        while (from > 0 && text[from - 1] != '\n')
            from--;
        while (to < size && text[to++] != '\n')
            ;
        if (random_below(2)) {
            memmove(text + from, text + to, size - to);
            return size - (to - from);
        }
        memmove(text + to + (to - from), text + to, size - to);
        memcpy(text + to, text + from, to - from);
        return size + (to - from);
    }
    }
}

static void evaluate(const struct table *table)
{
    struct packed_table packed;
    struct diag diag = {0};
    ck_assert_msg(table_prove(table, EXIT_USAGE, &packed, NULL, &diag) == EXIT_DONE, "%s", diag.text);
    const uint64_t span = (uint64_t)(table->in.qmax - table->in.qmin) + 1;
    for (int i = 0; i < 32 + 3 * table->segment_count; i++) {
        const int64_t q_x = i < 32 ? table->in.qmin + (int64_t)random_below(span)
                                   : table->segments[(i - 32) / 3].start + (i - 32) % 3 - 1;
        const int64_t q_y = pwl_eval(&packed.table, q_x);
        ck_assert(q_y >= table->out.qmin && q_y <= table->out.qmax);
        const int64_t clamped = pwl_sat(q_x, table->in.qmin, table->in.qmax);
        const struct segment *const s = &table->segments[pwl_segment(&packed.table, q_x)];
        if (table->has_unfused && clamped >= s->start) {
            const int rounding = (int)table->rounding;
            const int64_t q_bx = pwl_shr64(s->q_b * (clamped - table->in.zero_point), s->unfused.n_bx, rounding);
            const int64_t sum = pwl_shr64(q_bx, s->unfused.n_yb, rounding) + s->offset;
            const int64_t limit = INT64_MAX >> (64 - accumulator_bits(table->storage));
            ck_assert(sum >= -limit - 1 && sum <= limit);
        }
    }
    packed_table_free(&packed);
}

START_TEST(damaged_files_are_refused_or_sound)
{
    char *good[FIXTURES];
    int accepted = 0, changed = 0;
    for (int i = 0; i < FIXTURES; i++)
        good[i] = fixture_json(fixtures[i]());
    random_state = 0x9e3779b97f4a7c15u;
    for (int round = 0; round < 20000; round++) {
        const char *const from = good[random_below(FIXTURES)];
        size_t size = strlen(from);
        struct table table;
        struct diag diag = {0};
        char *text = malloc(16 * size + 256);
        ck_assert(text != NULL);
        memcpy(text, from, size);
        for (uint64_t i = 0, count = 1 + random_below(3); i < count && size > 0; i++)
            size = damage(text, size, good[random_below(FIXTURES)]);
        char *const exact = malloc(size ? size : 1); /* so that a read behind the end is seen */
        ck_assert(exact != NULL);
        memcpy(exact, text, size);
        if (table_from_json(exact, size, &table, &diag) == EXIT_DONE) {
            char *first;
            accepted++;
            if (table.standing == CERTIFICATE_OTHER) { /* which is not written */
                table.standing = CERTIFICATE_ABSENT;
                table.certificate = (struct certificate){0};
            }
            ck_assert_msg(table_to_json(&table, &first, &diag) == EXIT_DONE, "%s", diag.text);
            changed += strcmp(first, from) != 0;
            struct table read = read_good(first);
            assert_same_table(&table, &read);
            evaluate(&read);
            char *const again = fixture_json(read);
            ck_assert_str_eq(first, again);
            free(first);
            free(again);
            table_free(&table);
        } else {
            ck_assert_int_eq(diag.code, EXIT_USAGE);
            ck_assert(diag.text[0] != '\0' && table.spec == NULL && table.segments == NULL);
        }
        free(exact);
        free(text);
    }
    ck_assert_msg(accepted > 1000 && changed > 500, "%d accepted, %d changed: too few to say anything", accepted,
                  changed);
    for (int i = 0; i < FIXTURES; i++)
        free(good[i]);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("table_faults");
    TCase *const faults = tcase_create("faults");
    tcase_add_loop_test(faults, every_fault_is_refused_with_its_field, 0, (int)(sizeof edits / sizeof *edits));
    tcase_add_test(faults, whole_fields_missing_or_of_wrong_type);
    tcase_add_test(faults, two_shifts_belong_to_the_absolute_form);
    tcase_add_test(faults, every_truncation_is_refused);
    tcase_add_test(faults, deep_nesting_is_refused);
    tcase_add_test(faults, other_json_is_refused);
    tcase_add_test(faults, long_text_is_refused);
    tcase_add_test(faults, damaged_files_are_refused_or_sound);
    suite_add_tcase(suite, faults);
    return run_suite(suite);
}
