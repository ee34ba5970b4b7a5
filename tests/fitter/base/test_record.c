/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records: what is written is read, to the last bit, and nothing beyond what is there. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/record.h"

#include "../../support/suite.h"

static struct record record_of(const struct text *text)
{
    return (struct record){(const unsigned char *)text->bytes, text->size, false};
}

START_TEST(reals_to_the_last_bit)
{
    const double third = 1.0 / 3;
    const double values[] = {0.0,     -0.0,    1.0,          -third,           INFINITY,        -INFINITY,
                             DBL_MAX, DBL_MIN, DBL_TRUE_MIN, third * 0x1p-900, third * 0x1p900, 1.0 + DBL_EPSILON};
    struct text text = {0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        record_add_real(&text, values[i]);
        record_add_dd(&text, (struct dd){values[i], values[i] * 0x1p-53});
    }
    record_add_real(&text, NAN);
    struct record record = record_of(&text);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const double read = record_real(&record);
        const struct dd both = record_dd(&record);
        ck_assert(read == values[i] && signbit(read) == signbit(values[i]));
        ck_assert(both.hi == values[i] && both.lo == values[i] * 0x1p-53);
    }
    ck_assert(isnan(record_real(&record)));
    ck_assert(record_is_read(&record));
    text_free(&text);
}
END_TEST

START_TEST(integers_strings_and_messages)
{
    const int64_t values[] = {0, 1, -1, INT64_MAX, INT64_MIN};
    const struct diag why = {.code = EXIT_REQUIREMENT, .text = "in: no table"};
    struct diag read = {.code = EXIT_DONE};
    struct text text = {0};
    size_t size;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        record_add_integer(&text, values[i]);
    record_add_string(&text, "a\0b", 3);
    record_add_diag(&text, &why);
    struct record record = record_of(&text);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        ck_assert_int_eq(record_integer(&record), values[i]);
    char *const string = record_string(&record, &size);
    ck_assert(string && size == 3 && memcmp(string, "a\0b", 4) == 0);
    free(string);
    record_diag(&record, &read);
    ck_assert_int_eq(read.code, why.code);
    ck_assert_str_eq(read.text, why.text);
    ck_assert(record_is_read(&record));
    text_free(&text);
}
END_TEST

/* Of a record that ends at any byte, and of lengths that are no lengths, nothing beyond the end is read: sanitizers
 * look on. */
START_TEST(nothing_beyond_the_end)
{
    const struct diag why = {.code = EXIT_REQUIREMENT, .text = "in: no table"};
    struct text text = {0};
    record_add_real(&text, 1.0 / 3);
    record_add_diag(&text, &why);
    for (size_t size = 0; size < text.size; size++) {
        unsigned char *const part = malloc(size + 1);
        struct diag read = {.code = EXIT_DONE};
        memcpy(part, text.bytes, size);
        struct record record = {part, size, false};
        record_real(&record);
        record_diag(&record, &read);
        ck_assert(record.failed && !record_is_read(&record));
        free(part);
    }
    text_free(&text);
    for (int64_t length = -1; length <= INT64_MAX / 2; length = length < 1 ? length + 1 : length * 2) {
        size_t size;
        record_add_integer(&text, length);
        struct record record = record_of(&text);
        char *const string = record_string(&record, &size);
        ck_assert((length == 0) == (string != NULL) && size == 0);
        free(string);
        text_free(&text);
    }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("record");
    TCase *const tests = tcase_create("record");
    tcase_add_test(tests, reals_to_the_last_bit);
    tcase_add_test(tests, integers_strings_and_messages);
    tcase_add_test(tests, nothing_beyond_the_end);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
