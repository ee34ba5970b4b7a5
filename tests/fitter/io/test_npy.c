/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NumPy files: bytes as numpy writes them, each refusal, and mutations that must not read outside the file. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"

#include "../../support/suite.h"

/* A file in memory of exactly its size, so that the address sanitizer sees any byte read behind it. */
struct file {
    unsigned char *bytes;
    size_t size;
};

static struct file make(int major, const char *header, const void *data, size_t data_size)
{
    const size_t length = strlen(header), start = major == 1 ? 10 : 12;
    struct file file = {malloc(start + length + data_size), start + length + data_size};
    ck_assert_ptr_nonnull(file.bytes);
    memcpy(file.bytes, "\x93NUMPY", 6);
    file.bytes[6] = (unsigned char)major;
    file.bytes[7] = 0;
    for (size_t i = 8; i < start; i++)
        file.bytes[i] = (unsigned char)(length >> 8 * (i - 8) & 0xff);
    memcpy(file.bytes + start, header, length);
    if (data_size > 0)
        memcpy(file.bytes + start + length, data, data_size);
    return file;
}

/* As numpy 2.4.6 writes np.save(file, np.array([[1, -2.5], [1e300, 0.1], [-0.0, 3]])), padding included. */
static const char numpy_header[] =
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }                                                    "
    "      \n";
static const unsigned char numpy_data[] = {0,    0,    0,    0,    0,    0,    0xf0, 0x3f, 0,    0,    0,    0,
                                           0,    0,    0x04, 0xc0, 0x9c, 0x75, 0,    0x88, 0x3c, 0xe4, 0x37, 0x7e,
                                           0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f, 0,    0,    0,    0,
                                           0,    0,    0,    0x80, 0,    0,    0,    0,    0,    0,    0x08, 0x40};

START_TEST(reads_what_numpy_wrote)
{
    static const double expected[] = {1, -2.5, 1e300, 0.1, -0.0, 3};
    ck_assert_uint_eq(strlen(numpy_header), 118);
    for (int major = 1; major <= 3; major++) {
        const struct file file = make(major, numpy_header, numpy_data, sizeof numpy_data);
        struct npy npy;
        struct diag diag = {0};
        ck_assert_msg(npy_parse(file.bytes, file.size, &npy, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert_int_eq(npy.kind, 'f');
        ck_assert_int_eq(npy.item_size, 8);
        ck_assert_int_eq(npy.dimensions, 2);
        ck_assert_uint_eq(npy.shape[0], 3);
        ck_assert_uint_eq(npy.shape[1], 2);
        ck_assert_uint_eq(npy.count, 6);
        for (size_t i = 0; i < 6; i++)
            ck_assert(npy_real(&npy, i) == expected[i]);
        ck_assert(signbit(npy_real(&npy, 4)));
        free(file.bytes);
    }
}
END_TEST

START_TEST(reads_every_element_type)
{
    static const struct {
        const char *descr;
        char kind;
        int size;
        int64_t first, second;
    } types[] = {
        {"|i1", 'i', 1, 0x01, -2},
        {"<i1", 'i', 1, 0x01, -2},
        {"|u1", 'u', 1, 0x01, 0xfe},
        {"<u1", 'u', 1, 0x01, 0xfe},
        {"<i2", 'i', 2, 0x0201, -259},
        {"<u2", 'u', 2, 0x0201, 0xfefd},
        {"<i4", 'i', 4, 0x04030201, -67305986},
        {"<u4", 'u', 4, 0x04030201, 0xfbfcfdfe},
        {"<i8", 'i', 8, 0x0807060504030201, -578437695752307202},
        {"<u8", 'u', 8, 0x0807060504030201, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        unsigned char data[16];
        char header[100];
        for (int byte = 0; byte < types[i].size && byte < 8; byte++) {
            data[byte] = (unsigned char)(byte + 1);
            data[types[i].size + byte] = (unsigned char)(types[i].size == 2 ? (byte == 0 ? 0xfd : 0xfe) : 0xfe - byte);
        }
        snprintf(header, sizeof header, "{'descr':'%s','fortran_order':False,'shape':(2,)}", types[i].descr);
        const struct file file = make(1, header, data, 2 * (size_t)types[i].size);
        struct npy npy;
        struct diag diag = {0};
        ck_assert_msg(npy_parse(file.bytes, file.size, &npy, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert_int_eq(npy.kind, types[i].kind);
        ck_assert_int_eq(npy.item_size, types[i].size);
        ck_assert_int_eq(npy_integer(&npy, 0), types[i].first);
        ck_assert_int_eq(npy_integer(&npy, 1), types[i].second);
        ck_assert(npy_real(&npy, 0) == (double)types[i].first);
        if (strcmp(types[i].descr, "<u8") == 0)
            ck_assert(npy_real(&npy, 1) == (double)0xf7f8f9fafbfcfdfe); /* beyond int64, and not clipped */
        else
            ck_assert(npy_real(&npy, 1) == (double)types[i].second);
        free(file.bytes);
    }
}
END_TEST

START_TEST(extreme_elements_convert)
{
    static const float floats[] = {1.5f, -3e38f, INFINITY, -INFINITY, NAN, 1e10f, 0x1p63f, -0x1p63f};
    static const int64_t integers[] = {1, INT64_MIN, INT64_MAX, INT64_MIN, 0, 10000000000, INT64_MAX, INT64_MIN};
    static const char header[] = "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (8,), }\n";
    const struct file file = make(1, header, floats, sizeof floats);
    struct npy npy;
    struct diag diag = {0};
    ck_assert_msg(npy_parse(file.bytes, file.size, &npy, &diag) == EXIT_DONE, "%s", diag.text);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        ck_assert_int_eq(npy_integer(&npy, i), integers[i]);
    ck_assert(npy_real(&npy, 0) == 1.5 && isinf(npy_real(&npy, 2)) && isnan(npy_real(&npy, 4)));
    free(file.bytes);

    static const unsigned char halves[] = {0, 0x3e, 0xff, 0xfb, 1, 0x80, 0, 0x7c, 1, 0x7e};
    const struct file small = make(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (5,)}", halves, sizeof halves);
    ck_assert_msg(npy_parse(small.bytes, small.size, &npy, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert(npy_real(&npy, 0) == 1.5 && npy_real(&npy, 1) == -65504 && npy_real(&npy, 2) == -0x1p-24);
    ck_assert(isinf(npy_real(&npy, 3)) && isnan(npy_real(&npy, 4)));
    ck_assert_int_eq(npy_integer(&npy, 1), -65504);
    free(small.bytes);

    static const unsigned char least[] = {0, 0, 0, 0, 0, 0, 0, 0x80};
    const struct file edge = make(1, "{'descr': '<i8', 'fortran_order': False, 'shape': ()}", least, sizeof least);
    ck_assert_msg(npy_parse(edge.bytes, edge.size, &npy, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert_int_eq(npy.dimensions, 0);
    ck_assert_uint_eq(npy.count, 1);
    ck_assert_int_eq(npy_integer(&npy, 0), INT64_MIN);
    free(edge.bytes);
}
END_TEST

#define DICTIONARY(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

START_TEST(headers_that_are_refused)
{
    static const char *const bad[][2] = {
        {"", "not a Python dictionary"},
        {"[]", "not a Python dictionary"},
        {"{", "must follow each other"},
        {"{}", "'descr' is missing"},
        {"{'descr': '<f8', 'fortran_order': False}", "'shape' is missing"},
        {"{'descr': '<f8', 'shape': (1,)}", "'fortran_order' is missing"},
        {"{'fortran_order': False, 'shape': (1,)}", "'descr' is missing"},
        {"{'descr': '<f8' 'fortran_order': False}", "must follow each other"},
        {"{'descr' '<f8'}", "must follow each other"},
        {"{'descr': '<f8',, }", "must follow each other"},
        {"{'descr", "must follow each other"},
        {"{'des\\x63r': '<f8'}", "must follow each other"},
        {"{'descr': '<f8', 'descr': '<f8'}", "'descr' appears twice"},
        {"{'color': 3}", "unknown key 'color'"},
        {DICTIONARY("'<f8'", "False", "(1,)") "x", "only blanks may follow"},
        {DICTIONARY("'>f8'", "False", "(1,)"), "'>f8' is big-endian"},
        {DICTIONARY("'>i1'", "False", "(1,)"), "is big-endian"},
        {DICTIONARY("'=f8'", "False", "(1,)"), "'=f8' is not supported"},
        {DICTIONARY("'f8'", "False", "(1,)"), "'f8' is not supported"},
        {DICTIONARY("'<f1'", "False", "(1,)"), "'<f1' is not supported"},
        {DICTIONARY("'<f16'", "False", "(1,)"), "'<f16' is not supported"},
        {DICTIONARY("'<i3'", "False", "(1,)"), "'<i3' is not supported"},
        {DICTIONARY("'<c8'", "False", "(1,)"), "'<c8' is not supported"},
        {DICTIONARY("'|b1'", "False", "(1,)"), "'|b1' is not supported"},
        {DICTIONARY("'|f8'", "False", "(1,)"), "'|f8' is not supported"},
        {DICTIONARY("'|i2'", "False", "(1,)"), "'|i2' is not supported"},
        {DICTIONARY("'|O'", "False", "(1,)"), "'|O' is not supported"},
        {DICTIONARY("''", "False", "(1,)"), "'' is not supported"},
        {DICTIONARY("[('x', '<f8')]", "False", "(1,)"), "one simple type"},
        {DICTIONARY("'<f8<f8<f8<f8<f8<f8<f8<f8'", "False", "(1,)"), "one simple type"},
        {DICTIONARY("'<f8'", "True", "(1,)"), "fortran_order is True"},
        {DICTIONARY("'<f8'", "0", "(1,)"), "fortran_order must be False"},
        {DICTIONARY("'<f8'", "'False'", "(1,)"), "fortran_order must be False"},
        {DICTIONARY("'<f8'", "False", "1"), "is not a tuple"},
        {DICTIONARY("'<f8'", "False", "[1]"), "is not a tuple"},
        {DICTIONARY("'<f8'", "False", "(1)"), "a number in brackets"},
        {DICTIONARY("'<f8'", "False", "(,)"), "not a whole number"},
        {DICTIONARY("'<f8'", "False", "(1.0,)"), "is not closed"},
        {DICTIONARY("'<f8'", "False", "(1 1)"), "is not closed"},
        {DICTIONARY("'<f8'", "False", "(1L,)"), "is not closed"},
        {DICTIONARY("'<f8'", "False", "(x,)"), "not a whole number"},
        {DICTIONARY("'<f8'", "False", "(-1,)"), "a negative size"},
        {DICTIONARY("'<f8'", "False", "(1, -1)"), "a negative size"},
        {DICTIONARY("'<f8'", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "more than 8 dimensions"},
        {DICTIONARY("'<f8'", "False", "(99999999999999999999,)"), "a size too large"},
        {DICTIONARY("'<f8'", "False", "(18446744073709551616,)"), "a size too large"},
        {DICTIONARY("'<f8'", "False", "(18446744073709551615,)"), "is too large for memory"},
        {DICTIONARY("'<f8'", "False", "(2305843009213693953,)"), "is too large for memory"}, /* 8 bytes, wrapped */
        {DICTIONARY("'<f8'", "False", "(4294967296, 4294967297)"), "is too large for memory"},
        {DICTIONARY("'<f8'", "False", "(2,)"), "8 bytes; the header's shape and type need 16"},
        {DICTIONARY("'<f8'", "False", "(0, 18446744073709551615)"), "8 bytes; the header's shape and type need 0"},
        {DICTIONARY("'<f4'", "False", "(1,)"), "8 bytes; the header's shape and type need 4"},
    };
    static const unsigned char data[8] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct file file = make(1, bad[i][0], data, sizeof data);
        struct npy npy;
        struct diag diag = {0};
        ck_assert_msg(npy_parse(file.bytes, file.size, &npy, &diag) == EXIT_USAGE, "%s was taken", bad[i][0]);
        ck_assert_msg(strstr(diag.text, bad[i][1]) != NULL, "'%s' lacks '%s'", diag.text, bad[i][1]);
        free(file.bytes);
    }
}
END_TEST

START_TEST(files_that_are_refused)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *text;
    } bad[] = {
        {"", 0, "not an npy file"},
        {"\x93NUMPY\x01", 7, "not an npy file"},
        {"\x93NUMPX\x01\x00\x02\x00{}", 12, "not an npy file"},
        {"\x93NUMPY\x00\x00\x02\x00{}", 12, "version 0.0"},
        {"\x93NUMPY\x04\x00\x02\x00{}", 12, "version 4.0"},
        {"\x93NUMPY\x01\x01\x02\x00{}", 12, "version 1.1"},
        {"\x93NUMPY\x01\x00\x02", 9, "inside its header length"},
        {"\x93NUMPY\x02\x00\x02\x00{", 11, "inside its header length"},
        {"\x93NUMPY\x01\x00\x03\x00{}", 12, "header length 3 exceeds the 2 bytes"},
        {"\x93NUMPY\x01\x00\xff\xff{}", 12, "header length 65535 exceeds"},
        {"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14, "header length 4294967295 exceeds"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct npy npy;
        struct diag diag = {0};
        unsigned char *copy = malloc(bad[i].size + 1);
        memcpy(copy + 1, bad[i].bytes, bad[i].size);
        ck_assert_int_eq(npy_parse(copy + 1, bad[i].size, &npy, &diag), EXIT_USAGE);
        ck_assert_msg(strstr(diag.text, bad[i].text) != NULL, "'%s' lacks '%s'", diag.text, bad[i].text);
        free(copy);
    }
    /* every shorter file is refused too */
    const struct file file = make(2, numpy_header, numpy_data, sizeof numpy_data);
    for (size_t size = 0; size < file.size; size++) {
        struct npy npy;
        struct diag diag;
        unsigned char *copy = malloc(size + 1);
        memcpy(copy + 1, file.bytes, size);
        ck_assert_int_eq(npy_parse(copy + 1, size, &npy, &diag), EXIT_USAGE);
        free(copy);
    }
    free(file.bytes);
}
END_TEST

START_TEST(writes_what_numpy_reads)
{
    const struct npy npy = {'f', 8, 2, {3, 2}, 6, numpy_data};
    unsigned char *bytes;
    size_t size;
    struct diag diag = {0};
    ck_assert_msg(npy_build(&npy, &bytes, &size, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert_uint_eq(size, 128 + sizeof numpy_data);
    const struct file file = make(1, numpy_header, numpy_data, sizeof numpy_data);
    ck_assert_uint_eq(file.size, size);
    ck_assert_mem_eq(bytes, file.bytes, size);
    free(file.bytes);
    free(bytes);

    static const struct {
        struct npy npy;
        const char *header;
    } shapes[] = {
        {{'i', 1, 1, {5}, 5, numpy_data}, "{'descr': '|i1', 'fortran_order': False, 'shape': (5,), }"},
        {{'u', 1, 0, {0}, 1, numpy_data}, "{'descr': '|u1', 'fortran_order': False, 'shape': (), }"},
        {{'f', 2, 1, {2}, 2, numpy_data}, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }"},
        {{'u', 4, 2, {0, 7}, 0, NULL}, "{'descr': '<u4', 'fortran_order': False, 'shape': (0, 7), }"},
        {{'i', 2, 8, {1, 2, 1, 2, 1, 2, 1, 3}, 24, numpy_data},
         "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 2, 1, 2, 1, 2, 1, 3), }"},
        {{'i', 8, 8, {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, 0}, 0, NULL},
         "{'descr': '<i8', 'fortran_order': False, 'shape': (18446744073709551615, 18446744073709551615, "},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct npy back;
        const struct npy *in = &shapes[i].npy;
        ck_assert_msg(npy_build(in, &bytes, &size, &diag) == EXIT_DONE, "%s", diag.text);
        const size_t data_start = size - in->count * (size_t)in->item_size;
        ck_assert_uint_eq(data_start % 64, 0);
        ck_assert_int_eq(bytes[data_start - 1], '\n');
        ck_assert_mem_eq(bytes + 10, shapes[i].header, strlen(shapes[i].header));
        ck_assert_msg(npy_parse(bytes, size, &back, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert(back.kind == in->kind && back.item_size == in->item_size && back.dimensions == in->dimensions);
        ck_assert_mem_eq(back.shape, in->shape, (size_t)in->dimensions * sizeof in->shape[0]);
        ck_assert_uint_eq(back.count, in->count);
        if (in->count > 0)
            ck_assert_mem_eq(back.data, in->data, in->count * (size_t)in->item_size);
        free(bytes);
    }
}
END_TEST

/* Dictionaries of every length modulo 64: the padding never eats the closing brace. */
START_TEST(headers_of_every_length_read_back)
{
    struct npy npy = {.kind = 'u', .item_size = 1, .dimensions = NPY_MAX_DIMENSIONS};
    for (int digits = 8; digits < 8 + 64; digits++) { /* the first size is 0, so that any others make an empty array */
        unsigned char *bytes;
        size_t size;
        struct npy back;
        struct diag diag = {0};
        int left = digits - 1;
        for (int i = 1; i < NPY_MAX_DIMENSIONS; i++) {
            int here = left - (NPY_MAX_DIMENSIONS - 1 - i);
            here = here > 18 ? 18 : here;
            left -= here;
            npy.shape[i] = 1;
            while (--here > 0)
                npy.shape[i] *= 10;
        }
        ck_assert_int_eq(left, 0);
        ck_assert_msg(npy_build(&npy, &bytes, &size, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert_uint_eq(size % 64, 0);
        ck_assert_msg(npy_parse(bytes, size, &back, &diag) == EXIT_DONE, "%d: %s", digits, diag.text);
        ck_assert_mem_eq(back.shape, npy.shape, sizeof npy.shape);
        free(bytes);
    }
}
END_TEST

START_TEST(arrays_that_cannot_be_written)
{
    static const struct npy bad[] = {
        {'f', 1, 1, {4}, 4, numpy_data},         {'c', 8, 1, {4}, 4, numpy_data},
        {'i', 0, 1, {4}, 4, numpy_data},         {'i', 3, 1, {4}, 4, numpy_data},
        {'i', 16, 1, {4}, 4, numpy_data},        {'i', 1, 9, {1}, 1, numpy_data},
        {'i', 1, -1, {1}, 1, numpy_data},        {'i', 1, 1, {4}, 5, numpy_data},
        {'i', 8, 1, {SIZE_MAX}, SIZE_MAX, NULL}, {'i', 1, 2, {SIZE_MAX, 2}, SIZE_MAX - 1, NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        unsigned char *bytes;
        size_t size;
        struct diag diag = {0};
        ck_assert_int_eq(npy_build(&bad[i], &bytes, &size, &diag), EXIT_IO);
        ck_assert_ptr_nonnull(strstr(diag.text, "cannot be written"));
        ck_assert_ptr_null(bytes);
    }
}
END_TEST

/* Fixed seed. What parses must be readable to its last element. */
START_TEST(mutated_files_are_read_safely)
{
    uint64_t state = 20240229;
    int taken = 0, refused = 0;
    for (int round = 0; round < 60000; round++) {
        const struct file file = make(1 + round % 3, numpy_header, numpy_data, sizeof numpy_data);
        for (int change = 0; change <= round % 4; change++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            /* mostly where the meaning is: magic, lengths and dictionary */
            const size_t range = change % 2 == 1 ? 72 : file.size;
            file.bytes[(state >> 40) % range] = (unsigned char)(state >> 32);
        }
        const size_t size = round % 5 == 0 ? (size_t)(state >> 20) % file.size : file.size;
        unsigned char *exact = malloc(size + 1);
        memcpy(exact + 1, file.bytes, size);
        struct npy npy;
        struct diag diag;
        if (npy_parse(exact + 1, size, &npy, &diag) == EXIT_DONE) {
            taken++;
            for (size_t i = 0; i < npy.count; i++) {
                volatile double real = npy_real(&npy, i);
                volatile int64_t integer = npy_integer(&npy, i);
                (void)real;
                (void)integer;
            }
        } else {
            refused++;
            ck_assert_int_eq(diag.code, EXIT_USAGE);
            ck_assert_ptr_null(strchr(diag.text, '\n'));
        }
        free(exact);
        free(file.bytes);
    }
    ck_assert(taken > 1000 && refused > 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("npy");
    TCase *npy = tcase_create("npy");
    tcase_add_test(npy, reads_what_numpy_wrote);
    tcase_add_test(npy, reads_every_element_type);
    tcase_add_test(npy, extreme_elements_convert);
    tcase_add_test(npy, headers_that_are_refused);
    tcase_add_test(npy, files_that_are_refused);
    tcase_add_test(npy, writes_what_numpy_reads);
    tcase_add_test(npy, headers_of_every_length_read_back);
    tcase_add_test(npy, arrays_that_cannot_be_written);
    tcase_add_test(npy, mutated_files_are_read_safely);
    suite_add_tcase(suite, npy);
    return run_suite(suite);
}
