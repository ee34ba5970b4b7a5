/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What files of profiles are made of: fields at any bit, and the numbers in initialisers of C. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "profile/image.h"
#include "profile/initialisers.h"

#include "../../support/suite.h"

/* Five bits over a byte's border, 64 bits of either sign that begin inside a byte, and pairs in groups of two with
 * copies. */
static const struct layout_field odd_fields[] = {
    {.name = "five", .bits = 5, .is_signed = true, .count = 2, .at = 6, .step = 5},
    {.name = "wide", .bits = 64, .is_signed = true, .count = 1, .at = 20, .step = 64},
    {.name = "word", .bits = 64, .count = 1, .at = 88, .step = 64},
    {.name = NULL}};
static const struct layout odd_layout = {.fields = odd_fields, .bytes = 19};
static const struct layout_field grouped_fields[] = {
    {.name = "pair", .bits = 16, .step = 16, .group = 2, .gap = 32, .copy = 32}, {.name = NULL}};
static const struct layout grouped_layout = {
    .fields = grouped_fields, .entry_bytes = 4, .min_entries = 2, .max_entries = 8};

static void require_back(const struct image *image)
{
    struct text bytes = {0};
    struct image again;
    struct diag diag = {0};
    image_write(image, &bytes);
    ck_assert(!bytes.failed);
    ck_assert_int_eq(image_read(image->layout, (unsigned char *)bytes.bytes, bytes.size, &again, &diag), EXIT_DONE);
    for (int f = 0; image->layout->fields[f].name; f++)
        for (int k = 0; k < image_count(image, f); k++)
            ck_assert_int_eq(again.values[f][k], image->values[f][k]);
    image_free(&again);
    text_free(&bytes);
}

START_TEST(fields_at_any_bit_are_read_back)
{
    static const int64_t five[] = {-16, -1, 0, 15}, wide[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    struct image image;
    struct diag diag = {0};
    ck_assert_int_eq(image_make(&odd_layout, 0, &image, &diag), EXIT_DONE);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 5; k++) {
            image.values[0][0] = five[i];
            image.values[0][1] = five[3 - i];
            image.values[1][0] = wide[k];
            image.values[2][0] = wide[4 - k];
            ck_assert_int_eq(image_check(&image, &diag), EXIT_DONE);
            require_back(&image);
        }
    image.values[0][1] = 16;
    ck_assert_int_eq(image_check(&image, &diag), EXIT_REQUIREMENT);
    ck_assert_str_eq(diag.text, "five[1] would be 16; the layout has 5 bits for it, -16 to 15");
    image_free(&image);
}
END_TEST

START_TEST(bits_stand_lowest_first)
{
    struct image image;
    struct text bytes = {0};
    struct diag diag = {0};
    ck_assert_int_eq(image_make(&odd_layout, 0, &image, &diag), EXIT_DONE);
    image.values[0][0] = -1;
    image.values[1][0] = 1;
    image_write(&image, &bytes);
    ck_assert_mem_eq(bytes.bytes, "\xc0\x07\x10\0", 4); /* bits 6 to 10, and bit 20 */
    text_free(&bytes);
    image_free(&image);
}
END_TEST

START_TEST(bits_of_no_field_are_refused)
{
    unsigned char bytes[19] = {0};
    struct image image;
    struct diag diag = {0};
    for (int bit = 0; bit < 19 * 8; bit++) {
        const bool covered = (bit >= 6 && bit < 16) || (bit >= 20 && bit < 84) || bit >= 88;
        bytes[bit / 8] = (unsigned char)(1u << bit % 8);
        ck_assert_int_eq(image_read(&odd_layout, bytes, sizeof bytes, &image, &diag), covered ? EXIT_DONE : EXIT_USAGE);
        bytes[bit / 8] = 0;
        image_free(&image);
    }
}
END_TEST

START_TEST(groups_stand_twice)
{
    static const unsigned char wanted[] = "\1\0\2\0\1\0\2\0\3\0\4\0\3\0\4";
    struct image image;
    struct text bytes = {0};
    struct diag diag = {0};
    ck_assert_int_eq(image_make(&grouped_layout, 4, &image, &diag), EXIT_DONE);
    for (int k = 0; k < 4; k++)
        image.values[0][k] = k + 1;
    image_write(&image, &bytes);
    ck_assert_uint_eq(bytes.size, 16);
    ck_assert_mem_eq(bytes.bytes, wanted, 16);
    require_back(&image);
    image_free(&image);
    for (size_t at = 0; at < 16; at++) { /* each byte is one of a copy */
        bytes.bytes[at] ^= 1;
        ck_assert_int_eq(image_read(&grouped_layout, (unsigned char *)bytes.bytes, 16, &image, &diag), EXIT_USAGE);
        bytes.bytes[at] ^= 1;
    }
    /* Sizes of which none but 8 and 16 hold whole groups. */
    for (size_t size = 0; size <= 16; size++) {
        unsigned char *exact = malloc(size + 1);
        memcpy(exact, bytes.bytes, size);
        ck_assert_int_eq(image_read(&grouped_layout, exact, size, &image, &diag),
                         size == 8 || size == 16 ? EXIT_DONE : EXIT_USAGE);
        image_free(&image);
        free(exact);
    }
    text_free(&bytes);
}
END_TEST

static int read_one(const char *text, struct initialiser *number, struct diag *diag)
{
    struct initialiser *list;
    size_t count;
    char *exact = malloc(strlen(text)); /* so that the address sanitizer sees a byte read behind it */
    memcpy(exact, text, strlen(text));
    const int code = initialisers_read(exact, strlen(text), &list, &count, diag);
    free(exact);
    if (code == EXIT_DONE) {
        ck_assert_uint_eq(count, 1);
        *number = list[0];
        free(list);
    }
    return code;
}

START_TEST(numbers_of_c)
{
    static const struct {
        const char *text;
        bool is_integer;
        int64_t integer;
        double real;
    } numbers[] = {
        {"a=0;", true, 0, 0},
        {"a = {-12,}", true, -12, -12},
        {"int a[1] = {+7u};", true, 7, 7},
        {"a=9223372036854775807LL", true, INT64_MAX, 0x1p63},
        {"a=0x7fffffffffffffff", true, INT64_MAX, 0x1p63},
        {"a=-0xFFu", true, -255, -255},
        {"a=0xf", true, 15, 15},
        {"a=0x1F00UL", true, 0x1f00, 0x1f00},
        {"a=(int16_t)-3", true, -3, -3},
        {"a=((3))", true, 3, 3},
        {"/* 1 */ a = // 2\n 3 /**/", true, 3, 3},
        {"#define N 4\n#if 1 /*\na=5", true, 5, 5},
        {"s[3] b; a = {\"\\\"1, 2\", 6}", true, 6, 6},
        {"a=0.5f", false, 0, 0.5},
        {"a=-.25e+1F", false, 0, -2.5},
        {"a=0x1.8p-1f", false, 0, 0.75},
        {"a=-0x0p+0", false, 0, 0},
        {"a={.b = 8}", true, 8, 8},
    };
    struct initialiser number;
    struct diag diag = {0};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        ck_assert_msg(read_one(numbers[k].text, &number, &diag) == EXIT_DONE, "%s: %s", numbers[k].text, diag.text);
        ck_assert_msg(number.is_integer == numbers[k].is_integer, "%s", numbers[k].text);
        ck_assert_msg(!number.is_integer || number.integer == numbers[k].integer, "%s", numbers[k].text);
        ck_assert_msg(number.real <= numbers[k].real && number.real >= numbers[k].real, "%s", numbers[k].text);
    }
    ck_assert_int_eq(read_one("a.b = {.c = 4};", &number, &diag), EXIT_DONE);
    ck_assert_str_eq(number.name, "c");
}
END_TEST

START_TEST(what_is_no_number)
{
    static const char *const texts[][2] = {
        {"a=1 << 3", "line 1: is an expression; write the numbers themselves"},
        {"a={\n2 -1}", "line 2: is an expression; write the numbers themselves"},
        {"a=-(1)", "line 1: is an expression; write the numbers themselves"},
        {"a=N", "line 1: is a name; write the numbers themselves"},
        {"a={(N), 1}", "line 1: is a name; write the numbers themselves"},
        {"a={1, (N)};", "line 1: is a name; write the numbers themselves"},
        {"a={[2] = 1}", "line 1: is an array designator; write the numbers themselves"},
        {"a=017", "line 1: is no number in decimal or hexadecimal; write the numbers themselves"},
        {"a=0b11", "line 1: is no number in decimal or hexadecimal; write the numbers themselves"},
        {"a=0x8000000000000000", "line 1: is no number in decimal or hexadecimal; write the numbers themselves"},
        {"a=0x1p", "line 1: is no number in decimal or hexadecimal; write the numbers themselves"},
        {"a=1.2.3", "line 1: is no number in decimal or hexadecimal; write the numbers themselves"},
        {"a='1'", "line 1: is an expression; write the numbers themselves"},
        {"\n/* a=1", "line 2: a comment begins that does not end"},
        {"/*/ a=1", "line 1: a comment begins that does not end"},
        {"a=\"1", "line 1: a string begins that does not end"},
        {"a=\"\\", "line 1: a string begins that does not end"},
        {"int a;", "has no numbers behind a \"=\"; must be C or C++ with the table's initialiser"},
        {"a=;", "has no numbers behind a \"=\"; must be C or C++ with the table's initialiser"},
    };
    struct initialiser number;
    struct diag diag = {0};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        ck_assert_msg(read_one(texts[k][0], &number, &diag) == EXIT_USAGE, "%s", texts[k][0]);
        ck_assert_msg(strcmp(diag.text, texts[k][1]) == 0, "%s: %s", texts[k][0], diag.text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("profile_image");
    TCase *image = tcase_create("image");
    tcase_add_test(image, fields_at_any_bit_are_read_back);
    tcase_add_test(image, bits_stand_lowest_first);
    tcase_add_test(image, bits_of_no_field_are_refused);
    tcase_add_test(image, groups_stand_twice);
    suite_add_tcase(suite, image);
    TCase *initialisers = tcase_create("initialisers");
    tcase_add_test(initialisers, numbers_of_c);
    tcase_add_test(initialisers, what_is_no_number);
    suite_add_tcase(suite, initialisers);
    return run_suite(suite);
}
