/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GGUF files, those of the fuzz corpus, which make_corpus.py explains: what is in them, and why others are refused. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pwl/qgemm.h>

#include "io/gguf_file.h"

#include "../../support/suite.h"

struct file {
    unsigned char *bytes;
    size_t size;
};

/* In memory of exactly its size, so that the address sanitizer sees any byte read behind it. */
static struct file load(const char *name)
{
    char path[512];
    struct diag diag = {0};
    struct file file = {0};
    unsigned char *bytes;
    snprintf(path, sizeof path, SOURCE_ROOT "/tests/fuzz/corpus/gguf/%s", name);
    ck_assert_msg(file_read(path, 1 << 20, &bytes, &file.size, &diag) == EXIT_DONE, "%s", diag.text);
    file.bytes = malloc(file.size);
    ck_assert_ptr_nonnull(file.bytes);
    memcpy(file.bytes, bytes, file.size);
    free(bytes);
    return file;
}

static struct gguf parse(const struct file *file)
{
    struct gguf gguf;
    struct diag diag = {0};
    ck_assert_msg(gguf_parse(file->bytes, file->size, file->size, &gguf, &diag) == EXIT_DONE, "%s", diag.text);
    return gguf;
}

/* Each tensor of every_type: its bytes in the file, and its first values. */
START_TEST(reads_every_type)
{
    static const struct {
        const char *name, *type;
        int dimensions;
        uint64_t elements;
        size_t bytes;
        float values[6];
    } tensors[] = {
        {"f32", "F32", 2, 6, 24, {1, -2, 0.5f, 3e38f, 0, -0.0f}},
        {"f16", "F16", 3, 4, 8, {1, 2, -3, 65504}},
        {"bf16", "BF16", 1, 4, 8, {1, -2, INFINITY, 0x1p-133f}},
        {"q4_0", "Q4_0", 2, 32, 18, {-8, -7, -6, -5, -4, -3}},
        {"q8_0", "Q8_0", 1, 32, 34, {-32, -30, -28, -26, -24, -22}},
        {"mxfp4", "MXFP4", 4, 32, 17, {0, 0, 0, 0, 0, 0}},
        {"q4_k", "Q4_K", 2, 256, 144, {-8, -8, -8, -8, -8, -8}}, /* scale 0, least 4 */
        {"q5_k", "Q5_K", 1, 256, 176, {-8, -8, -8, -8, -8, -8}},
        {"q6_k", "Q6_K", 1, 256, 210, {128, 60, -8, -76, 112, 44}}, /* -8 * 0.5 * (q - 32) */
    };
    const struct file file = load("every_type");
    const struct gguf gguf = parse(&file);
    struct gguf_tensor tensor;
    ck_assert_uint_eq(gguf.tensor_count, 10);
    ck_assert_uint_eq(gguf.version, 3);
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        struct diag diag = {0};
        float *values;
        ck_assert(gguf_find(&gguf, tensors[i].name, &tensor));
        ck_assert_str_eq(tensor.known->name, tensors[i].type);
        ck_assert_int_eq(tensor.dimensions, tensors[i].dimensions);
        ck_assert_uint_eq(tensor.elements, tensors[i].elements);
        ck_assert_uint_eq(tensor.bytes, tensors[i].bytes);
        ck_assert_int_eq(gguf_dequantise(&tensor, file.bytes + tensor.at, &values, &diag), EXIT_DONE);
        for (size_t k = 0; k < 6 && k < tensors[i].elements; k++)
            ck_assert_msg(memcmp(&values[k], &tensors[i].values[k], sizeof values[k]) == 0, "%s: %zu is %a",
                          tensors[i].name, k, (double)values[k]);
        /* The high halves of bytes 0, 16, ... 240: every E2M1 code. */
        if (strcmp(tensors[i].name, "mxfp4") == 0)
            ck_assert(values[16] == 0 && values[17] == 0.5f && values[23] == 6 && signbit(values[24]) &&
                      values[31] == -6);
        free(values);
    }
    ck_assert(gguf_find(&gguf, "q2_k", &tensor) && !tensor.known && tensor.type == 10 && tensor.bytes == 0);
    ck_assert(!gguf_find(&gguf, "f3", &tensor) && !gguf_find(&gguf, "f321", &tensor));
    free(file.bytes);
}
END_TEST

START_TEST(reads_every_kind_of_metadata)
{
    static const char *const expected[] = {"u8 = 255",
                                           "i8 = -1",
                                           "u16 = 65535",
                                           "i16 = -1",
                                           "u32 = 4294967295",
                                           "i32 = -1",
                                           "f32 = 0.5",
                                           "bool = true",
                                           "string = a\\x5cb\\x0a\\xff",
                                           "u64 = 18446744073709551615",
                                           "i64 = -9223372036854775808",
                                           "f64 = 0.10000000000000001",
                                           "array = i16[9] -4, -3, -2, -1, 0, 1, 2, 3, ...",
                                           "strings = string[2] one, "};
    const struct file file = load("metadata");
    const struct gguf gguf = parse(&file);
    size_t at = gguf.metadata_at;
    ck_assert_uint_eq(gguf.metadata_count, sizeof expected / sizeof expected[0]);
    for (uint64_t i = 0; i < gguf.metadata_count; i++) {
        struct gguf_value value;
        struct text text = {0};
        gguf_next_value(&gguf, &at, &value);
        gguf_string_text(value.key, &text);
        text_add(&text, " = ");
        gguf_value_text(&value, &text);
        ck_assert_str_eq(text.bytes, expected[i]);
        text_free(&text);
    }
    free(file.bytes);
}
END_TEST

START_TEST(follows_the_alignment)
{
    const struct file file = load("aligned_64");
    const struct gguf gguf = parse(&file);
    struct gguf_tensor tensor;
    ck_assert_uint_eq(gguf.alignment, 64);
    ck_assert_uint_eq(gguf.data_at, 128);
    ck_assert(gguf_find(&gguf, "t", &tensor) && tensor.at == 192);
    free(file.bytes);
    const struct file packed = load("aligned_1");
    const struct gguf tight = parse(&packed);
    ck_assert_uint_eq(tight.alignment, 1);
    ck_assert(gguf_find(&tight, "t", &tensor) && tensor.at == tight.data_at + 3 && tensor.at + 8 == packed.size);
    free(packed.bytes);
}
END_TEST

START_TEST(takes_tensors_without_dimensions_or_elements)
{
    const struct file scalar = load("version_2"), empty = load("empty_tensor");
    struct gguf gguf = parse(&scalar);
    struct gguf_tensor tensor;
    ck_assert_uint_eq(gguf.version, 2);
    ck_assert(gguf_find(&gguf, "scalar", &tensor) && tensor.dimensions == 0 && tensor.elements == 1 &&
              tensor.bytes == 4);
    gguf = parse(&empty);
    ck_assert(gguf_find(&gguf, "t", &tensor) && tensor.elements == 0 && tensor.bytes == 0);
    free(scalar.bytes);
    free(empty.bytes);
}
END_TEST

/* Names are told apart where a hash does not. */
START_TEST(takes_names_of_one_hash)
{
    const struct file file = load("one_hash");
    ck_assert_uint_eq(parse(&file).tensor_count, 4);
    free(file.bytes);
}
END_TEST

START_TEST(refuses)
{
    static const char *const refusals[][2] = {
        {"data_missing", "tensor 0 (\"t\") has data beyond the end of the file"},
        {"offset_beyond", "tensor 0 (\"t\") has data beyond the end of the file"},
        {"offset_unaligned", "tensor 0 (\"t\") has an offset that is not a multiple of general.alignment"},
        {"size_overflow", "tensor 0 (\"t\") has 2^63 elements or more"},
        {"rows_of_33", "tensor 0 (\"t\") has rows that are no multiple of 32 elements"},
        {"rows_of_288", "tensor 0 (\"t\") has rows that are no multiple of 256 elements"},
        {"dimensions_5", "tensor 0 (\"t\") has more than 4 dimensions"},
        {"many_tensors", "more than the file has room for"},
        {"many_entries", "more than the file has room for"},
        {"array_of_arrays", "metadata entry 0 (\"k\") has a value of an unknown kind, or an array of arrays"},
        {"long_array", "metadata entry 0 (\"k\") reaches beyond the end of the file"},
        {"long_string", "metadata entry 0 (\"k\") reaches beyond the end of the file"},
        {"alignment_24", "metadata entry 0 (\"general.alignment\") is not a power of two of kind u32"},
        {"alignment_twice", "metadata entry 2 (\"general.alignment\") is there already"},
        {"name_twice", "tensor 2 (\"a\") has the name of another one"},
        {"one_hash_twice", "tensor 4 (\"\\xd5k\\xb9SB\\x87\\x086\") has the name of another one"},
        {"big_endian", "version 50331648; little-endian files of version 2 or 3 can be read"},
        {"not_gguf", "does not start with GGUF"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct file file = load(refusals[i][0]);
        struct gguf gguf;
        struct diag diag = {0};
        ck_assert_int_eq(gguf_parse(file.bytes, file.size, file.size, &gguf, &diag), EXIT_USAGE);
        ck_assert_msg(strstr(diag.text, refusals[i][1]) != NULL, "%s: %s", refusals[i][0], diag.text);
        free(file.bytes);
    }
}
END_TEST

/* Cut anywhere, a file is refused, unless the last tensor still lies in it. */
START_TEST(refuses_every_cut)
{
    static const char *const names[] = {"metadata", "every_type", "aligned_64"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct file file = load(names[i]);
        const struct gguf whole = parse(&file);
        struct gguf_tensor tensor;
        size_t at = whole.tensors_at, needed = 0;
        for (uint64_t k = 0; k < whole.tensor_count; k++) {
            gguf_next_tensor(&whole, &at, &tensor);
            const size_t end = (size_t)(tensor.at + tensor.bytes);
            needed = end > needed ? end : needed;
        }
        needed = needed > at ? needed : at;
        for (size_t size = 0; size <= file.size; size++) {
            unsigned char *const cut = malloc(size + 1);
            struct gguf gguf;
            struct diag diag = {0};
            ck_assert_ptr_nonnull(cut);
            memcpy(cut + 1, file.bytes, size); /* at an odd address, and the heap's end */
            ck_assert_int_eq(gguf_parse(cut + 1, size, size, &gguf, &diag), size < needed ? EXIT_USAGE : EXIT_DONE);
            free(cut);
        }
        free(file.bytes);
    }
}
END_TEST

/* With only a part of the file at hand the entries are the same once they are all there, and before that more of the
 * file is asked for. */
START_TEST(needs_the_entries_alone)
{
    static const char *const names[] = {"metadata", "every_type", "aligned_64", "empty_tensor"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct file file = load(names[i]);
        const struct gguf whole = parse(&file);
        struct gguf_tensor tensor;
        size_t at = whole.tensors_at;
        for (uint64_t k = 0; k < whole.tensor_count; k++)
            gguf_next_tensor(&whole, &at, &tensor);
        for (size_t held = 0; held <= file.size; held++) {
            unsigned char *const head = malloc(held + 1);
            struct gguf gguf;
            struct diag diag = {0};
            ck_assert_ptr_nonnull(head);
            memcpy(head + 1, file.bytes, held);
            ck_assert_int_eq(gguf_parse(head + 1, held, file.size, &gguf, &diag), held < at ? GGUF_LACKS : EXIT_DONE);
            ck_assert(held < at || (gguf.data_at == whole.data_at && gguf.tensors_at == whole.tensors_at));
            free(head);
        }
        free(file.bytes);
    }
}
END_TEST

/* On disk: the entries are read, in pieces where they are many, and the data of one tensor; a file that is cut off in
 * between is a failed read, not a fault of memory. */
START_TEST(reads_from_files)
{
    enum { TENSORS = 5000 };
    char path[] = "/tmp/test_gguf_XXXXXX";
    struct text text = {0};
    struct gguf_file file;
    struct gguf_tensor tensor;
    struct diag diag = {0};
    unsigned char *data;
    FILE *const stream = fdopen(mkstemp(path), "w");
    ck_assert_ptr_nonnull(stream);
    const uint64_t head[] = {TENSORS, 0};
    fwrite("GGUF\3\0\0\0", 1, 8, stream);
    fwrite(head, sizeof head, 1, stream); /* on a little-endian machine */
    for (uint64_t i = 0; i < TENSORS; i++) {
        const uint64_t name = 5, shape = 1, offset = 32 * i;
        const uint32_t dimensions = 1, type = 0;
        fwrite(&name, sizeof name, 1, stream);
        fprintf(stream, "%05d", (int)i);
        fwrite(&dimensions, sizeof dimensions, 1, stream);
        fwrite(&shape, sizeof shape, 1, stream);
        fwrite(&type, sizeof type, 1, stream);
        fwrite(&offset, sizeof offset, 1, stream);
    }
    while (ftell(stream) % 32)
        fputc(0, stream);
    const long data_at = ftell(stream);
    for (int i = 0; i < TENSORS; i++) {
        const float values[8] = {(float)i};
        fwrite(values, sizeof values, 1, stream);
    }
    ck_assert_int_eq(fclose(stream), 0);

    ck_assert_msg(gguf_open(path, &file, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert(file.gguf.held < file.gguf.size && file.gguf.data_at == (uint64_t)data_at);
    for (int i = 0; i < TENSORS; i += 1249) {
        char name[8];
        float value;
        snprintf(name, sizeof name, "%05d", i);
        ck_assert(gguf_find(&file.gguf, name, &tensor) && tensor.bytes == sizeof value);
        ck_assert_int_eq(gguf_load(&file, &tensor, &data, &diag), EXIT_DONE);
        memcpy(&value, data, sizeof value);
        ck_assert(value == (float)i);
        free(data);
    }
    ck_assert_int_eq(truncate(path, data_at), 0);
    ck_assert_int_eq(gguf_load(&file, &tensor, &data, &diag), EXIT_IO);
    ck_assert_ptr_null(data);
    text_add(&text, "%s: became shorter while it was read", path);
    ck_assert_str_eq(diag.text, text.bytes);
    gguf_close(&file);
    ck_assert_int_eq(gguf_open(path, &file, &diag), EXIT_USAGE);
    ck_assert_msg(strncmp(diag.text, path, strlen(path)) == 0, "%s", diag.text);
    text_free(&text);
    unlink(path);
}
END_TEST

/* What is found in a file goes to pwl_qgemm_pack() as it is, and its blocks come back. */
START_TEST(packs_weights)
{
    static const struct {
        const char *name;
        pwl_qgemm_format format;
        pwl_qgemm_status status;
    } cases[] = {
        {"q4_0", PWL_QGEMM_Q4_0, PWL_QGEMM_OK},         {"q8_0", PWL_QGEMM_Q8_0, PWL_QGEMM_OK},
        {"mxfp4", PWL_QGEMM_MXFP4, PWL_QGEMM_OK},       {"q8_0", PWL_QGEMM_Q4_0, PWL_QGEMM_ERR_FORMAT},
        {"q4_k", PWL_QGEMM_Q4_K, PWL_QGEMM_OK},         {"q5_k", PWL_QGEMM_Q5_K, PWL_QGEMM_OK},
        {"q6_k", PWL_QGEMM_Q6_K, PWL_QGEMM_OK},         {"q6_k", PWL_QGEMM_Q4_0, PWL_QGEMM_ERR_FORMAT},
        {"q2_k", PWL_QGEMM_Q4_0, PWL_QGEMM_ERR_TYPE},   {"f32", PWL_QGEMM_Q4_0, PWL_QGEMM_ERR_SHAPE},
        {"bf16", PWL_QGEMM_ROWS8, PWL_QGEMM_ERR_SHAPE},
    };
    static _Alignas(16) uint8_t memory[8832];
    const struct file file = load("every_type");
    const struct gguf gguf = parse(&file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gguf_tensor found;
        _Alignas(4) uint8_t blocks[256];
        pwl_qgemm_weights weights;
        ck_assert(gguf_find(&gguf, cases[i].name, &found));
        pwl_qgemm_tensor tensor = {found.type, {1, 1, 1, 1}, file.bytes + found.at, found.bytes};
        memcpy(tensor.shape, found.shape, sizeof tensor.shape);
        ck_assert_int_eq(pwl_qgemm_pack(pwl_qgemm_of_tensor(cases[i].format, PWL_RULE_DEFAULT, &tensor), memory,
                                        sizeof memory, &weights, NULL),
                         cases[i].status);
        if (cases[i].status != PWL_QGEMM_OK)
            continue;
        ck_assert_int_eq(pwl_qgemm_unpack(&weights, blocks), PWL_QGEMM_OK);
        ck_assert_mem_eq(blocks, file.bytes + found.at, found.bytes);
    }
    free(file.bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gguf");
    TCase *cases = tcase_create("gguf");
    tcase_add_test(cases, reads_every_type);
    tcase_add_test(cases, reads_every_kind_of_metadata);
    tcase_add_test(cases, follows_the_alignment);
    tcase_add_test(cases, takes_tensors_without_dimensions_or_elements);
    tcase_add_test(cases, takes_names_of_one_hash);
    tcase_add_test(cases, refuses);
    tcase_add_test(cases, refuses_every_cut);
    tcase_add_test(cases, needs_the_entries_alone);
    tcase_add_test(cases, reads_from_files);
    tcase_add_test(cases, packs_weights);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
