/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays read piece by piece: every element once, from any header, and files that change meanwhile. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/npy_pieces.h"

#include "../../support/suite.h"

#define ELEMENTS 100001 /* of 4 bytes: three pieces and a part */

static char path[] = "/tmp/test_npy_pieces.XXXXXX";

/* An array of 0, 1, 2, ... behind a header of `padding` more blanks than it needs. */
static void write_array(int major, size_t padding)
{
    char header[80];
    const size_t text_size =
        (size_t)snprintf(header, sizeof header, "{'descr': '<u4', 'fortran_order': False, 'shape': (%d,), }", ELEMENTS);
    const size_t length = text_size + padding;
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "\x93NUMPY%c%c%c%c", major, 0, (int)(length & 0xff), (int)(length >> 8 & 0xff));
    if (major > 1)
        fprintf(file, "%c%c", (int)(length >> 16), 0);
    fprintf(file, "%s%*s", header, (int)padding, "");
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        unsigned char bytes[4];
        npy_store(bytes, i, 4);
        fwrite(bytes, 1, 4, file);
    }
    ck_assert_int_eq(fclose(file), 0);
}

static void make_file(void)
{
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void remove_file(void)
{
    unlink(path);
}

static void expect_all(struct npy_pieces *pieces)
{
    struct diag diag = {0};
    struct npy piece;
    uint32_t next = 0;
    for (;;) {
        ck_assert_msg(npy_next(pieces, &piece, &diag) == EXIT_DONE, "%s", diag.text);
        if (piece.count == 0)
            break;
        ck_assert_ptr_eq(piece.data, pieces->buffer);
        ck_assert_uint_le(piece.count, NPY_PIECE_BYTES / 4);
        for (size_t i = 0; i < piece.count; i++)
            ck_assert_int_eq(npy_integer(&piece, i), next++);
        memset(pieces->buffer, 0xff, piece.count * 4); /* the piece is the caller's */
    }
    ck_assert_uint_eq(next, ELEMENTS);
}

START_TEST(every_element_comes_once)
{
    static const size_t paddings[] = {0, 1, 2, 3, 5, 63, 1000, 65535 - 62};
    for (size_t i = 0; i < 2 * sizeof paddings / sizeof *paddings; i++) {
        struct npy_pieces pieces;
        struct npy piece;
        struct diag diag = {0};
        write_array(1 + (int)(i % 2), paddings[i / 2]);
        ck_assert_msg(npy_open(path, &pieces, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert_uint_eq(pieces.npy.count, ELEMENTS);
        expect_all(&pieces);
        ck_assert_int_eq(npy_rewind(&pieces, &diag), EXIT_DONE);
        ck_assert_int_eq(npy_next(&pieces, &piece, &diag), EXIT_DONE); /* and in the middle */
        ck_assert_int_eq(npy_rewind(&pieces, &diag), EXIT_DONE);
        expect_all(&pieces);
        npy_close(&pieces);
    }
}
END_TEST

START_TEST(a_header_may_not_be_larger_than_version_1_allows)
{
    struct npy_pieces pieces;
    struct diag diag = {0};
    write_array(2, 65600);
    ck_assert_int_eq(npy_open(path, &pieces, &diag), EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "must be at most 65535") != NULL, "%s", diag.text);
    npy_close(&pieces);
}
END_TEST

/* Reading, unlike a mapping, survives a file that loses what was not read yet. */
START_TEST(a_file_that_shrinks_is_refused)
{
    struct npy_pieces pieces;
    struct diag diag = {0};
    struct npy piece;
    write_array(1, 0);
    ck_assert_int_eq(npy_open(path, &pieces, &diag), EXIT_DONE);
    ck_assert_int_eq(npy_next(&pieces, &piece, &diag), EXIT_DONE);
    ck_assert_int_eq(truncate(path, 262144), 0);
    int code = EXIT_DONE;
    while (code == EXIT_DONE && piece.count > 0)
        code = npy_next(&pieces, &piece, &diag);
    ck_assert_int_eq(code, EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "the header's shape and type need 400004") != NULL, "%s", diag.text);
    npy_close(&pieces);
}
END_TEST

START_TEST(a_file_that_grows_is_refused)
{
    struct npy_pieces pieces;
    struct diag diag = {0};
    struct npy piece = {.count = 1};
    write_array(1, 0);
    ck_assert_int_eq(npy_open(path, &pieces, &diag), EXIT_DONE);
    FILE *file = fopen(path, "ab");
    fputc('x', file);
    fclose(file);
    int code = EXIT_DONE;
    while (code == EXIT_DONE && piece.count > 0)
        code = npy_next(&pieces, &piece, &diag);
    ck_assert_int_eq(code, EXIT_USAGE);
    ck_assert_msg(strstr(diag.text, "npy data is 400005 bytes") != NULL, "%s", diag.text);
    npy_close(&pieces);
    ck_assert_int_eq(npy_open(path, &pieces, &diag), EXIT_USAGE);
    npy_close(&pieces);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("npy_pieces");
    TCase *pieces = tcase_create("npy_pieces");
    tcase_add_unchecked_fixture(pieces, make_file, remove_file);
    tcase_add_test(pieces, every_element_comes_once);
    tcase_add_test(pieces, a_header_may_not_be_larger_than_version_1_allows);
    tcase_add_test(pieces, a_file_that_shrinks_is_refused);
    tcase_add_test(pieces, a_file_that_grows_is_refused);
    suite_add_tcase(suite, pieces);
    return run_suite(suite);
}
