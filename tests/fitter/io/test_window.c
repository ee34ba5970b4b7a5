/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What readers of models stand on: pieces of files, the fields of protobuf and the tables of FlatBuffers. Whatever is
 * not there is noticed; the address sanitizer sees any byte that is read beside the file. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/flatbuffer.h"
#include "io/protobuf.h"

#include "../../support/random.h"
#include "../../support/suite.h"

/* -- Windows ----------------------------------------------------------------------------------------------------------
 */

#define FILE_BYTES 100003

static unsigned char content[FILE_BYTES];
static char path[64];

static void write_file(void)
{
    uint64_t state = 1;
    for (size_t i = 0; i < FILE_BYTES; i++)
        content[i] = (unsigned char)random_bits(&state);
    snprintf(path, sizeof path, "/tmp/test_window_XXXXXX");
    FILE *const stream = fdopen(mkstemp(path), "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(content, 1, FILE_BYTES, stream), FILE_BYTES);
    ck_assert_int_eq(fclose(stream), 0);
}

START_TEST(sees_what_the_file_has)
{
    struct window window;
    struct diag diag = {0};
    uint64_t state = 2;
    write_file();
    ck_assert_msg(window_open(path, &window, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert_uint_eq(window.size, FILE_BYTES);
    for (int i = 0; i < 20000; i++) {
        const uint64_t at = random_bits(&state) % FILE_BYTES;
        const size_t count = (size_t)(random_bits(&state) % (WINDOW_MOST_BYTES + 1));
        const unsigned char *const seen = window_see(&window, at, count);
        if (count > FILE_BYTES - at)
            ck_assert_ptr_null(seen);
        else
            ck_assert_msg(seen && memcmp(seen, content + at, count) == 0, "%zu at %llu", count, (unsigned long long)at);
    }
    for (size_t at = WINDOW_MOST_BYTES - 1; at + WINDOW_MOST_BYTES <= FILE_BYTES; at += WINDOW_MOST_BYTES) {
        const unsigned char *const seen = window_see(&window, at, WINDOW_MOST_BYTES); /* as much as a piece can have */
        ck_assert(seen && memcmp(seen, content + at, WINDOW_MOST_BYTES) == 0);
    }
    ck_assert_ptr_null(window_see(&window, 0, WINDOW_MOST_BYTES + 1));
    ck_assert_ptr_nonnull(window_see(&window, FILE_BYTES, 0));
    ck_assert_ptr_null(window_see(&window, FILE_BYTES, 1));
    ck_assert_ptr_null(window_see(&window, UINT64_MAX, 2));
    ck_assert(!window.failed);
    window_close(&window);
    unlink(path);
}
END_TEST

START_TEST(tells_of_a_failed_read)
{
    struct window window;
    struct diag diag = {0};
    char message[160];
    uint64_t number;
    write_file();
    ck_assert_int_eq(window_open(path, &window, &diag), EXIT_DONE);
    ck_assert_ptr_nonnull(window_see(&window, 0, 8));
    ck_assert_int_eq(truncate(path, 50000), 0);
    ck_assert(!window_number(&window, 60000, 4, &number));
    ck_assert(window.failed && diag.code == EXIT_IO);
    snprintf(message, sizeof message, "%s: became shorter while it was read", path);
    ck_assert_str_eq(diag.text, message);
    ck_assert_ptr_null(window_see(&window, 0, 8)); /* nothing after that */
    window_close(&window);
    unlink(path);
    ck_assert_int_eq(window_open(path, &window, &diag), EXIT_IO);
    ck_assert_int_eq(window_open("/dev/null", &window, &diag), EXIT_USAGE);
}
END_TEST

START_TEST(reads_numbers)
{
    static const unsigned char bytes[] = {0x01, 0x82, 0x03, 0x84, 0x05, 0x86, 0x07, 0x88};
    struct window window = window_of_bytes(bytes, sizeof bytes);
    uint64_t number;
    ck_assert(window_number(&window, 0, 8, &number) && number == 0x8807860584038201);
    ck_assert(window_number(&window, 1, 2, &number) && number == 0x0382);
    ck_assert(window_number(&window, 7, 1, &number) && number == 0x88);
    ck_assert(!window_number(&window, 7, 2, &number) && number == 0);
}
END_TEST

/* -- Protobuf ---------------------------------------------------------------------------------------------------------
 */

struct bytes {
    unsigned char at[256];
    size_t count;
};

static void put(struct bytes *bytes, const void *from, size_t count)
{
    memcpy(bytes->at + bytes->count, from, count);
    bytes->count += count;
}

static void put_varint(struct bytes *bytes, uint64_t value)
{
    for (; value > 127; value >>= 7)
        bytes->at[bytes->count++] = (unsigned char)(value | 128);
    bytes->at[bytes->count++] = (unsigned char)value;
}

/* A window on exactly these bytes, at the end of a piece of memory. */
static struct window exact(const struct bytes *bytes, unsigned char **memory)
{
    *memory = malloc(bytes->count + 1);
    ck_assert_ptr_nonnull(*memory);
    memcpy(*memory + 1, bytes->at, bytes->count);
    return window_of_bytes(*memory + 1, bytes->count);
}

START_TEST(reads_every_kind_of_field)
{
    static const uint64_t values[] = {0, 1, 127, 128, 300, UINT32_MAX, (uint64_t)1 << 63, UINT64_MAX};
    struct bytes bytes = {0};
    unsigned char *memory;
    for (size_t i = 0; i < 8; i++) {
        put_varint(&bytes, (i + 1) << 3);
        put_varint(&bytes, values[i]);
    }
    put_varint(&bytes, 1000 << 3 | 1);
    put(&bytes, "\1\2\3\4\5\6\7\x88", 8);
    put_varint(&bytes, ((uint64_t)1 << 40) << 3 | 5);
    put(&bytes, "\1\2\3\x84", 4);
    put_varint(&bytes, 5 << 3 | 2);
    put_varint(&bytes, 3);
    put(&bytes, "\x80\1\5", 3);
    struct window window = exact(&bytes, &memory);
    struct protobuf buffer = {.window = &window};
    struct protobuf_span message = {0, window.size};
    struct protobuf_field field;
    for (size_t i = 0; i < 8; i++) {
        ck_assert(protobuf_next(&buffer, &message, &field));
        ck_assert(field.number == i + 1 && field.wire == PROTOBUF_VARINT && field.value == values[i]);
    }
    ck_assert(protobuf_next(&buffer, &message, &field));
    ck_assert(field.number == 1000 && field.wire == PROTOBUF_FIXED64 && field.value == 0x8807060504030201);
    ck_assert(protobuf_next(&buffer, &message, &field));
    ck_assert(field.number == (uint64_t)1 << 40 && field.wire == PROTOBUF_FIXED32 && field.value == 0x84030201);
    ck_assert(protobuf_next(&buffer, &message, &field));
    ck_assert(field.number == 5 && field.wire == PROTOBUF_BYTES && field.span.end == bytes.count);
    uint64_t value;
    ck_assert(protobuf_varint(&buffer, &field.span, &value) && value == 128);
    ck_assert(protobuf_varint(&buffer, &field.span, &value) && value == 5);
    ck_assert(!protobuf_varint(&buffer, &field.span, &value));
    ck_assert(!protobuf_next(&buffer, &message, &field) && !buffer.broken);

    /* Every part of it: a field that is cut off breaks it. */
    for (size_t size = 0; size < bytes.count; size++) {
        struct protobuf cut = {.window = &window};
        struct protobuf_span part = {0, size};
        while (protobuf_next(&cut, &part, &field))
            ck_assert_uint_le(part.at, size);
        ck_assert(cut.broken || part.at == size);
    }
    free(memory);
}
END_TEST

START_TEST(refuses_what_is_no_field)
{
    static const struct {
        const char *bytes;
        size_t count;
        uint64_t where;
    } cases[] = {
        {"\x08\x01\x0b", 3, 2},                                      /* a group */
        {"\x08\x01\x0c", 3, 2},                                      /* its end */
        {"\x08\x01\x0e", 3, 2},                                      /* no wire type at all */
        {"\x00\x01", 2, 0},                                          /* number 0 */
        {"\x08", 1, 1},                                              /* no value */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, 1}, /* of 11 bytes */
        {"\x0a\x02x", 3, 0},                                         /* longer than the message */
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", 12, 0},    /* of 2^64 - 1 bytes */
        {"\x0d\x01\x02\x03", 4, 1},                                  /* three of four bytes */
        {"\x09\x01\x02\x03\x04\x05\x06\x07", 8, 1},                  /* seven of eight */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct window window = window_of_bytes(cases[i].bytes, cases[i].count);
        struct protobuf buffer = {.window = &window};
        struct protobuf_span message = {0, window.size};
        struct protobuf_field field;
        while (protobuf_next(&buffer, &message, &field))
            continue;
        ck_assert_msg(buffer.broken && buffer.where == cases[i].where, "case %zu: %d at %d", i, buffer.broken,
                      (int)buffer.where);
        ck_assert(!protobuf_next(&buffer, &message, &field));
    }
    /* A message ends where it says, and not where the file does. */
    struct window window = window_of_bytes("\x0a\x02\x0a\x01xyz", 7);
    struct protobuf buffer = {.window = &window};
    struct protobuf_span message = {2, 4};
    struct protobuf_field field;
    ck_assert(!protobuf_next(&buffer, &message, &field) && buffer.broken);
}
END_TEST

/* -- FlatBuffers ------------------------------------------------------------------------------------------------------
 */

/* A table of a byte, a table without fields, a vector of two 16-bit numbers, and a vector of one table, itself. */
static const unsigned char flat[] = {
    20,  0, 0,  0,                     /*  0: the root's place */
    14,  0, 24, 0,                     /*  4: vtable: its size, the table's, and fields 0 to 4: */
    4,   0, 8,  0, 12, 0, 0, 0, 16, 0, /*  8 */
    0,   0,                            /* 18 */
    16,  0, 0,  0,                     /* 20: the table: its vtable is 16 before it; */
    200, 0, 0,  0,                     /* 24: field 0 */
    24,  0, 0,  0,                     /* 28: field 1, to 52 */
    28,  0, 0,  0,                     /* 32: field 2, to 60 */
    32,  0, 0,  0,                     /* 36: field 4, to 68 */
    0,   0, 0,  0,                     /* 40 */
    0,   0, 0,  0,                     /* 44 */
    4,   0, 4,  0,                     /* 48: a vtable without fields */
    4,   0, 0,  0,                     /* 52: its table */
    0,   0, 0,  0,                     /* 56 */
    2,   0, 0,  0, 1,  2, 3, 4,        /* 60: two numbers */
    1,   0, 0,  0, 8,  0, 0, 0,        /* 68: one table, at 80 */
    4,   0, 4,  0,                     /* 76: a vtable without fields */
    4,   0, 0,  0,                     /* 80: its table */
};

START_TEST(follows_tables)
{
    struct window window = window_of_bytes(flat, sizeof flat);
    struct flatbuffer buffer = {.window = &window};
    const struct flatbuffer_table root = flatbuffer_root(&buffer);
    ck_assert_uint_eq(root.at, 20);
    ck_assert_uint_eq(flatbuffer_scalar(&buffer, root, 0, 1), 200);
    ck_assert_uint_eq(flatbuffer_scalar(&buffer, root, 3, 8), 0); /* absent */
    ck_assert_uint_eq(flatbuffer_scalar(&buffer, root, 5, 8), 0); /* behind the vtable */
    const struct flatbuffer_table child = flatbuffer_child(&buffer, root, 1);
    ck_assert_uint_eq(child.at, 52);
    ck_assert_uint_eq(flatbuffer_child(&buffer, child, 0).at, 0);
    ck_assert_uint_eq(flatbuffer_list(&buffer, child, 3, 1).count, 0);
    const struct flatbuffer_vector numbers = flatbuffer_list(&buffer, root, 2, 2);
    ck_assert(numbers.count == 2 && flatbuffer_element(&buffer, numbers, 0, 2) == 0x0201 &&
              flatbuffer_element(&buffer, numbers, 1, 2) == 0x0403);
    const struct flatbuffer_vector list = flatbuffer_list(&buffer, root, 4, 4);
    ck_assert(list.count == 1 && flatbuffer_item(&buffer, list, 0).at == 80);
    ck_assert(!buffer.broken);
}
END_TEST

START_TEST(refuses_offsets_that_lead_away)
{
    static const struct {
        size_t at;
        unsigned char byte;
    } changes[] = {
        {0, 0},    {0, 200},  {3, 255},  /* the root: itself, beyond, far beyond */
        {20, 30},  {20, 17},  {23, 127}, /* its vtable: before the file, of another size, behind the table */
        {23, 255},                       /* far behind */
        {4, 3},    {5, 255},             /* the vtable's size: less than 4, beyond the file */
        {6, 3},    {7, 255},             /* the table's */
        {8, 3},    {8, 24},              /* field 0: in the table's first four bytes, behind the table */
        {10, 22},                        /* field 1: its last bytes are behind the table */
        {28, 0},   {29, 255},            /* its child: itself, beyond */
        {52, 60},                        /* the child's vtable: before the file */
        {60, 30},  {63, 255},            /* the vector: longer than the file */
        {72, 0},   {72, 12},             /* the vector's table: itself, where none is left */
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        unsigned char copy[sizeof flat];
        memcpy(copy, flat, sizeof flat);
        copy[changes[i].at] = changes[i].byte;
        struct window window = window_of_bytes(copy, sizeof copy);
        struct flatbuffer buffer = {.window = &window};
        const struct flatbuffer_table root = flatbuffer_root(&buffer);
        (void)flatbuffer_scalar(&buffer, root, 0, 1);
        (void)flatbuffer_child(&buffer, root, 1);
        (void)flatbuffer_list(&buffer, root, 2, 2);
        const struct flatbuffer_vector list = flatbuffer_list(&buffer, root, 4, 4);
        if (list.count > 0)
            (void)flatbuffer_item(&buffer, list, 0);
        ck_assert_msg(buffer.broken, "%d at %zu was taken", changes[i].byte, changes[i].at);
    }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("window");
    TCase *const windows = tcase_create("windows"), *const protobuf = tcase_create("protobuf");
    TCase *const flatbuffer = tcase_create("flatbuffer");
    tcase_add_test(windows, sees_what_the_file_has);
    tcase_add_test(windows, tells_of_a_failed_read);
    tcase_add_test(windows, reads_numbers);
    tcase_add_test(protobuf, reads_every_kind_of_field);
    tcase_add_test(protobuf, refuses_what_is_no_field);
    tcase_add_test(flatbuffer, follows_tables);
    tcase_add_test(flatbuffer, refuses_offsets_that_lead_away);
    suite_add_tcase(suite, windows);
    suite_add_tcase(suite, protobuf);
    suite_add_tcase(suite, flatbuffer);
    return run_suite(suite);
}
