/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types from models: the TFLite and ONNX files of the fuzz corpus, which tests/fuzz/model_seeds.py writes, and models
 * that are built here. What each tensor has, how it is found, and why others are refused. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "function/model_type.h"
#include "io/model_file.h"

#include "../../support/suite.h"

#define CORPUS SOURCE_ROOT "/tests/fuzz/corpus/"

static struct model read_model(const char *path)
{
    struct model model;
    struct diag diag = {0};
    ck_assert_msg(model_read(path, &model, &diag) == EXIT_DONE, "%s", diag.text);
    return model;
}

/* The type of a tensor, or what it has instead. */
static const char *text_of(const struct model_tensor *tensor)
{
    static char written[200];
    struct tensor type;
    struct text instead = {0};
    if (model_type_of(tensor, &type, &instead))
        tensor_format(&type, written, sizeof written);
    else
        snprintf(written, sizeof written, "%s", instead.bytes);
    text_free(&instead);
    return written;
}

struct expected {
    const char *name, *text;
};

/* The tensors of a file of the corpus, in their order. */
static void expect_tensors(const char *file, const struct expected *expected, size_t count)
{
    char path[300];
    snprintf(path, sizeof path, CORPUS "%s", file);
    struct model model = read_model(path);
    ck_assert_msg(model.count == count, "%s: %zu tensors, not %zu", file, model.count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(model_name(&model, model.tensors[i].name), expected[i].name);
        ck_assert_uint_eq(model.tensors[i].name.size, strlen(expected[i].name));
        const char *const text = text_of(&model.tensors[i]);
        ck_assert_msg(strcmp(text, expected[i].text) == 0, "%s: %s: %s", file, expected[i].name, text);
    }
    model_free(&model);
}

#define EXPECT_TENSORS(file, expected) expect_tensors(file, expected, sizeof expected / sizeof *expected)

/* -- What a tensor has ------------------------------------------------------------------------------------------------
 */

START_TEST(reads_tflite)
{
    static const struct expected every[] = {
        {"power of two", "s8:2^-4:-3"},
        {"decimal", "u8:0.047200001776218414:128"}, /* the float next to 0.0472 */
        {"wide", "s16:3.051800013054162e-5:0"},
        {"sum", "s32:0.001230000052601099:0"},
        {"channels", "int8, 3 scales"},
        {"real", "float32, not quantised"},
        {"half", "float16, not quantised"},
        {"plain", "int8, not quantised"},
        {"empty", "int8, not quantised"},
        {"four", "s4:0.75:-1"},
        {"two", "s2:2^0:0"},
        {"unsigned", "u16:9.999999747378752e-6:65535"},
        {"32 bits", "u32:2^1:2147483648"},
        {"long", "int64, scale 0.5"},
        {"future", "unknown type, scale 0.5"},
        {"uneven", "int8, 1 scale but another number of zero points"},
        {"no zero points", "u8:2^-3:0"},
        {"zero", "int8, scale 0"},
        {"negative", "int8, scale -0.5"},
        {"nan", "int8, scale nan"},
        {"infinite", "int8, scale inf"},
        {"tiny", "int8, scale 1.40129846e-45"},
        {"colon:0", "s8:2^-7:-128"},
        {"3", "s8:2^-1:33"},
        {"", "s8:2^-1:25"},
        {"bars | and \\ and \n", "s8:2^-1:26"},
        {"\xcf\x83(x)", "u8:2^-8:0"},
        {"auto:0", "s8:2^-1:27"},
        {"fewer", "int8, 3 scales but another number of zero points"},
    };
    static const struct expected subgraphs[] = {
        {"x", "s8:2^-1:1"}, {"y", "s8:2^-1:1"}, {"x", "s8:2^-2:1"}, {"y", "s8:2^-1:1"}};
    EXPECT_TENSORS("tflite/every_tensor", every);
    EXPECT_TENSORS("tflite/subgraphs", subgraphs);
    expect_tensors("tflite/no_tensors", NULL, 0);
    expect_tensors("tflite/no_subgraphs", NULL, 0);
}
END_TEST

START_TEST(reads_onnx)
{
    static const struct expected qdq[] = {
        {"x", "s8:0.047200001776218414:-3"},
        {"x_q", "s8:0.047200001776218414:-3"},
        {"x_d", "s8:0.047200001776218414:-3"},
        {"y", "u8:2^-8:0"},
        {"y_q", "u8:2^-8:0"},
        {"y_d", "u8:2^-8:0"},
    };
    static const struct expected defaults[] = {
        {"x", "u8:0.047200001776218414:0"},    {"a", "s16:0.047200001776218414:0"},
        {"x_q", "u8:0.047200001776218414:0"},  {"x_d", "u8:0.047200001776218414:0"},
        {"a_q", "s16:0.047200001776218414:0"}, {"a_d", "s16:0.047200001776218414:0"},
        {"w_d", "s4:0.047200001776218414:0"},  {"b_d", "u16:0.047200001776218414:0"},
        {"w", "s4:0.047200001776218414:0"},
    };
    static const struct expected constants[] = {
        {"x", "u8:2^-3:9"},   {"a", "uint8, scale without a value"},   {"x_q", "u8:2^-3:9"},
        {"x_d", "u8:2^-3:9"}, {"a_q", "uint8, scale without a value"}, {"a_d", "uint8, scale without a value"},
    };
    static const struct expected twice[] = {
        {"x", "s8:0.047200001776218414:-3"},
        {"x_q", "s8:0.047200001776218414:-3"},
        {"x_d", "s8:0.047200001776218414:-3"},
        {"x_e", "s8:0.047200001776218414:-3"},
    };
    static const struct expected packed[] = {
        {"x", "int8, 6 scales but another number of zero points"},
        {"x_q", "int8, 6 scales but another number of zero points"},
        {"x_d", "int8, 6 scales but another number of zero points"},
    };
    EXPECT_TENSORS("onnx/qdq", qdq);
    EXPECT_TENSORS("onnx/defaults", defaults);
    EXPECT_TENSORS("onnx/constants", constants);
    EXPECT_TENSORS("onnx/shared_twice", twice);
    expect_tensors("onnx/inputs_too", twice, 3);
    expect_tensors("onnx/weights_first", twice, 3);
    EXPECT_TENSORS("onnx/dims_packed", packed);
    expect_tensors("onnx/empty_graph", NULL, 0);
    expect_tensors("onnx/no_output", NULL, 0);
}
END_TEST

/* Every type of codes, and every way to store a scale and a zero point. */
START_TEST(reads_numbers_of_onnx)
{
    static const struct expected stored[] = {
        {"uint8", "u8:0.047200001776218414:200"},
        {"int8", "s8:0.047200001776218414:-3"},
        {"uint16", "u16:0.047200001776218414:40000"},
        {"int16", "s16:0.047200001776218414:-30000"},
        {"int32", "s32:0.047200001776218414:0"},
        {"uint4", "u4:0.047200001776218414:15"},
        {"int4", "s4:0.047200001776218414:-8"},
        {"uint2", "u2:0.047200001776218414:3"},
        {"int2", "s2:0.047200001776218414:-2"},
        {"uint8_raw", "u8:2^-7:201"},
        {"int8_raw", "s8:2^-7:-4"},
        {"uint16_raw", "u16:2^-7:40001"},
        {"int16_raw", "s16:2^-7:-30001"},
        {"int32_raw", "s32:2^-7:-70000"},
        {"uint4_raw", "u4:2^-7:14"},
        {"int4_raw", "s4:2^-7:-7"},
        {"int2_raw", "s2:2^-7:-2"},
        {"unpacked", "s8:0.75:-5"},
        {"half", "s8:0.0999755859375:1"},
        {"half_int", "s8:0.0999755859375:1"},
        {"bfloat", "s8:0.10009765625:2"},
    };
    struct model model = read_model(CORPUS "onnx/every_quantised");
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++)
        for (int k = 0; k < 2; k++) {
            char name[40];
            size_t index;
            struct diag diag = {0};
            snprintf(name, sizeof name, "%s%s", stored[i].name, k == 0 ? "_q" : "_d");
            ck_assert_msg(model_find(&model, name, &index, &diag) == EXIT_DONE, "%s", diag.text);
            ck_assert_str_eq(text_of(&model.tensors[index]), stored[i].text);
        }
    model_free(&model);
}
END_TEST

START_TEST(reads_operators_of_onnx)
{
    static const char *const first[] = {"QLinearSigmoid_x",
                                        "QLinearLeakyRelu_x",
                                        "QLinearSoftmax_x",
                                        "QLinearAveragePool_x",
                                        "QLinearReduceMean_x",
                                        "QLinearAdd_a",
                                        "QLinearGlobalAveragePool_x",
                                        "QLinearMul_a",
                                        "QLinearMatMul_a",
                                        "QLinearConv_a",
                                        "QGemm_a"};
    static const char *const second[] = {"QLinearSigmoid_y",
                                         "QLinearLeakyRelu_y",
                                         "QLinearSoftmax_y",
                                         "QLinearAveragePool_y",
                                         "QLinearReduceMean_y",
                                         "QLinearGlobalAveragePool_y",
                                         "QLinearAdd_b",
                                         "QLinearMul_b",
                                         "QLinearMatMul_b",
                                         "QLinearConv_b",
                                         "QGemm_b",
                                         "QLinearConcat_y"};
    static const char *const third[] = {"QLinearAdd_y", "QLinearMul_y", "QLinearMatMul_y", "QLinearConv_y", "QGemm_y"};
    static const struct {
        const char *const *names;
        size_t count;
        const char *text;
    } groups[] = {{first, sizeof first / sizeof *first, "s8:2^-1:1"},
                  {second, sizeof second / sizeof *second, "s8:2^-2:2"},
                  {third, sizeof third / sizeof *third, "s8:2^-3:3"}};
    struct model model = read_model(CORPUS "onnx/every_operator");
    size_t seen = 0;
    for (size_t g = 0; g < 3; g++)
        for (size_t i = 0; i < groups[g].count; i++, seen++) {
            size_t index;
            struct diag diag = {0};
            ck_assert_msg(model_find(&model, groups[g].names[i], &index, &diag) == EXIT_DONE, "%s", diag.text);
            const char *const text = text_of(&model.tensors[index]);
            ck_assert_msg(strcmp(text, groups[g].text) == 0, "%s: %s", groups[g].names[i], text);
        }
    ck_assert_uint_eq(seen, model.count);
    model_free(&model);
}
END_TEST

/* -- Finding ----------------------------------------------------------------------------------------------------------
 */

/* What model_type_read() makes of FILE:TENSOR: a type, or a message without the flag and the file. */
static const char *type_of(const char *file, const char *tensor)
{
    static char result[700];
    char text[400];
    struct tensor type;
    struct diag diag = {0};
    snprintf(text, sizeof text, "%s:%s", file, tensor);
    ck_assert(model_type_is_meant(text));
    if (model_type_read(text, "--in", &type, &diag) == EXIT_DONE) {
        ck_assert(type.qmin == code_min(type.bits, type.is_signed) && type.qmax == code_max(type.bits, type.is_signed));
        tensor_format(&type, result, sizeof result);
        return result;
    }
    ck_assert_int_eq(diag.code, EXIT_USAGE);
    snprintf(text, sizeof text, "--in: %s: ", file);
    ck_assert_msg(strncmp(diag.text, text, strlen(text)) == 0, "%s", diag.text);
    snprintf(result, sizeof result, "%s", diag.text + strlen(text));
    return result;
}

START_TEST(finds_by_name_and_index)
{
    static const char tflite[] = CORPUS "tflite/every_tensor", onnx[] = CORPUS "onnx/qdq";
    static const char subgraphs[] = CORPUS "tflite/subgraphs";
    ck_assert_str_eq(type_of(tflite, "power of two"), "s8:2^-4:-3");
    ck_assert_str_eq(type_of(tflite, "0"), "s8:2^-4:-3");
    ck_assert_str_eq(type_of(tflite, "000"), "s8:2^-4:-3");
    ck_assert_str_eq(type_of(tflite, "26"), "u8:2^-8:0");
    ck_assert_str_eq(type_of(tflite, "3"), "s8:2^-1:33"); /* a name, though there is a tensor 3 */
    ck_assert_str_eq(type_of(tflite, "03"), "s32:0.001230000052601099:0");
    ck_assert_str_eq(type_of(tflite, "colon:0"), "s8:2^-7:-128"); /* the file ends at the first colon */
    ck_assert_str_eq(type_of(onnx, "y_d"), "u8:2^-8:0");
    ck_assert_str_eq(type_of(onnx, "3"), "u8:2^-8:0");
    /* Names of several tensors. */
    ck_assert_str_eq(type_of(subgraphs, "y"), "s8:2^-1:1");
    ck_assert_str_eq(type_of(subgraphs, "2"), "s8:2^-2:1");
    ck_assert_str_eq(type_of(subgraphs, "x"),
                     "tensors 0 and 2 both have the name \"x\"; give the index of the one that is meant");
    /* Nothing there. */
    ck_assert_str_eq(type_of(tflite, "29"), "no tensor 29; there are 29, counted from 0");
    ck_assert_str_eq(type_of(tflite, "99999999999999999999"),
                     "no tensor 99999999999999999999; there are 29, counted from 0");
    ck_assert_str_eq(type_of(tflite, "-1"), "no tensor \"-1\"; `pwlc tensors` lists the 29 that there are");
    ck_assert_str_eq(type_of(tflite, "decimals"), "no tensor \"decimals\"; did you mean decimal?");
    ck_assert_str_eq(type_of(onnx, "sigmoid/out"),
                     "no tensor \"sigmoid/out\"; `pwlc tensors` lists the 6 that there are");
    ck_assert_str_eq(type_of(onnx, ""), "a tensor of the file is needed, FILE:TENSOR; `pwlc tensors` lists them");
}
END_TEST

/* Each refusal says what to do. */
START_TEST(refuses_what_has_no_type)
{
    static const char tflite[] = CORPUS "tflite/every_tensor", onnx[] = CORPUS "onnx/refused";
    static const char name_quantised[] =
        "; name a quantised one (`pwlc tensors` lists them), or give the codes alone, as s8, "
        "with --range or --calibrate";
    static const char take_one[] =
        "; one for each channel or block, where a table takes one: quantise the tensor as a whole, "
        "or write the type of one channel, which is ";
    static const char write_it[] = "; write the type, as s8:0.0472:-3", range[] = "; a scale lies in 2^-64 to 2^64";
    static const char integers[] = "; codes must be integers of 2 to 32 bits";
    static const char calibrate[] = "; quantise the model with calibration data, statically, or write the type, as "
                                    "s8:0.0472:-3";
    const struct {
        const char *file, *tensor, *why, *advice, *more;
    } cases[] = {
        {tflite, "real", "float32, not quantised", name_quantised, ""},
        {tflite, "plain", "int8, not quantised", name_quantised, ""},
        {tflite, "channels", "int8, 3 scales", take_one, "s8:2^-1:0 for the first"},
        {tflite, "uneven", "int8, 1 scale but another number of zero points", write_it, ""},
        {tflite, "zero", "int8, scale 0", range, ""},
        {tflite, "nan", "int8, scale nan", range, ""},
        {tflite, "long", "int64, scale 0.5", integers, ""},
        {onnx, "x", "float32, not quantised", name_quantised, ""},
        {onnx, "channels", "int8, 3 scales", take_one, "s8:2^-1:1 for the first"},
        {onnx, "w", "int8, 3 scales", take_one, "s8:2^-1:1 for the first"},
        {onnx, "uneven_d", "int8, 1 scale but another number of zero points", write_it, ""},
        {onnx, "no_elements", "int8, scale without a value", write_it, ""},
        {onnx, "no_value_q", "int8, scale without a value", write_it, ""},
        {onnx, "no_zero_value", "int8, scale without a value", write_it, ""},
        {onnx, "float8", "float8e4m3fn, scale 0.5", integers, ""},
        {onnx, "real_zero_point", "float32, scale 0.5", integers, ""},
        {onnx, "untyped_d", "unknown type, scale 0.5", integers, ""},
        {onnx, "external", "int8, scale in another file",
         "; save the model so that small tensors stay in it (size_threshold of onnx), or write the type, as "
         "s8:0.0472:-3",
         ""},
        {onnx, "scale_zero", "int8, scale 0", range, ""},
        {onnx, "computed", "int8, scale computed at run time", calibrate, ""},
        {onnx, "computed_zero_point", "float32, scale computed at run time", calibrate, ""},
        {onnx, "unheard_of", "int8, scale computed at run time", calibrate, ""},
        {onnx, "twice", "several scales, by the nodes that take it",
         "; name the codes between QuantizeLinear and DequantizeLinear that are meant", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[700];
        snprintf(wanted, sizeof wanted, "%s: %s%s%s", cases[i].tensor, cases[i].why, cases[i].advice, cases[i].more);
        ck_assert_str_eq(type_of(cases[i].file, cases[i].tensor), wanted);
    }
    ck_assert_str_eq(type_of(onnx, "twice_1"), "s8:2^-1:0");
    ck_assert_str_eq(type_of(onnx, "twice_2"), "s8:2^-2:0");
}
END_TEST

START_TEST(tells_types_from_files)
{
    static const char *const types[] = {
        "s8:2^-4:0",  "s8",     "u16:0.5", "q3.12", "uq0.16", "int8:1:0", "uint8",
        "i16:x.onnx", "s8:abc", "q3.12:1", "",      "s",      "x",        "no_file:x",
        "/tmp:x",     ":",      "s33:1",   "q.12",  "2^-4:0", "x.gguf:y", "u8:2^-3:m.tflite:x"};
    static const char *const models[] = {"m.tflite:x",      "m.onnx:a:0",   "M.ONNX:1", "s8.tflite:0",  "q4.onnx:x",
                                         "int8_net.onnx:y", "q3.12.onnx:y", "m.tflite", "C:\\m.onnx:x", "u8x.onnx:0"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        ck_assert_msg(!model_type_is_meant(types[i]), "%s", types[i]);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        ck_assert_msg(model_type_is_meant(models[i]), "%s", models[i]);
}
END_TEST

/* The name of the file is that of a file, wherever it has colons, and whatever its ending. */
START_TEST(cuts_at_the_file)
{
    char folder[] = "/tmp/test_model_XXXXXX", path[100], longer[120], text[160];
    struct tensor type;
    struct diag diag = {0};
    unsigned char *bytes;
    size_t size;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(file_read(CORPUS "tflite/every_tensor", 1 << 20, &bytes, &size, &diag), EXIT_DONE);
    snprintf(path, sizeof path, "%s/model:colon", folder);
    snprintf(longer, sizeof longer, "%s:0", path);
    for (int files = 1; files <= 2; files++) {
        FILE *const stream = fopen(files == 1 ? path : longer, "w");
        ck_assert_ptr_nonnull(stream);
        ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
        ck_assert_int_eq(fclose(stream), 0);
        snprintf(text, sizeof text, "%s:0", longer); /* tensor "0:0" of the first, or 0 of the second */
        ck_assert(model_type_is_meant(text));
        ck_assert_int_eq(model_type_read(text, "--in", &type, &diag), files == 1 ? EXIT_USAGE : EXIT_DONE);
    }
    ck_assert(type.scale.power_of_two && type.scale.shift_bits == 4 && type.zero_point == -3 && type.bits == 8);
    snprintf(text, sizeof text, "%s:colon:0", path);
    ck_assert_int_eq(model_type_read(text, "--in", &type, &diag), EXIT_DONE);
    ck_assert(type.scale.shift_bits == 7 && type.zero_point == -128);
    unlink(path);
    unlink(longer);
    ck_assert(!model_type_is_meant(text));
    snprintf(text, sizeof text, "%s/missing.onnx:a:0", folder);
    ck_assert_int_eq(model_type_read(text, "--in", &type, &diag), EXIT_IO);
    snprintf(text, sizeof text, "--in: %s/missing.onnx: cannot open: No such file or directory", folder);
    ck_assert_str_eq(diag.text, text);
    rmdir(folder);
    free(bytes);
}
END_TEST

/* -- Broken files -----------------------------------------------------------------------------------------------------
 */

/* A copy at the end of a piece of memory is read without a fault, or refused by one line. */
static int try_bytes(const unsigned char *bytes, size_t size)
{
    unsigned char *const copy = malloc(size + 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy + 1, bytes, size);
    struct window window = window_of_bytes(copy + 1, size);
    struct model model;
    struct diag diag = {0};
    const int code = model_parse(&window, &model, &diag);
    if (code == EXIT_DONE)
        model_free(&model);
    else
        ck_assert_msg(code == EXIT_USAGE && diag.text[0] != '\0' && !strchr(diag.text, '\n'), "%d: %s", code,
                      diag.text);
    free(copy);
    return code;
}

START_TEST(takes_any_part_of_a_file)
{
    static const char *const files[] = {"tflite/small", "tflite/subgraphs", "onnx/qdq", "onnx/defaults",
                                        "onnx/constants"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[300];
        unsigned char *bytes;
        size_t size;
        struct diag diag = {0};
        snprintf(path, sizeof path, CORPUS "%s", files[i]);
        ck_assert_int_eq(file_read(path, 1 << 20, &bytes, &size, &diag), EXIT_DONE);
        ck_assert_int_eq(try_bytes(bytes, size), EXIT_DONE);
        for (size_t cut = 0; cut < size; cut++)
            (void)try_bytes(bytes, cut);
        ck_assert_int_eq(try_bytes(bytes, size / 2), EXIT_USAGE);
        for (size_t at = 0; at < size; at++) {
            static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
            const unsigned char was = bytes[at];
            for (size_t k = 0; k < sizeof values; k++) {
                bytes[at] = values[k];
                (void)try_bytes(bytes, size);
            }
            bytes[at] = was;
        }
        free(bytes);
    }
}
END_TEST

START_TEST(says_what_is_broken)
{
    static const struct {
        const char *file, *message;
    } cases[] = {
        {"tflite/header", "tflite: the list of subgraphs reaches beyond the end of the file"},
        {"tflite/many_subgraphs", "tflite: the list of subgraphs reaches beyond the end of the file"},
        {"tflite/subgraph_beyond", "tflite: tensor 0 of subgraph 0 reaches beyond the end of the file"},
        {"tflite/half", "tflite: tensor 0 of subgraph 0 reaches beyond the end of the file"},
        {"tflite/longer_name", "the name at byte 152 has 4097 bytes; names of 4096 can be read"},
        {"onnx/longer_name", "the name at byte 22 has 4097 bytes; names of 4096 can be read"},
        {"onnx/text", "neither a TFLite model, with TFL3 at byte 4, nor an ONNX model, with a whole graph"},
        {"onnx/truncated", "neither a TFLite model, with TFL3 at byte 4, nor an ONNX model, with a whole graph"},
        {"onnx/no_graph", "neither a TFLite model, with TFL3 at byte 4, nor an ONNX model, with a whole graph"},
        {"onnx/inner_beyond", "onnx: the field at byte 4 is broken, or reaches beyond what it is in"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[300], wanted[500];
        struct model model;
        struct diag diag = {0};
        snprintf(path, sizeof path, CORPUS "%s", cases[i].file);
        snprintf(wanted, sizeof wanted, "%s: %s", path, cases[i].message);
        ck_assert_int_eq(model_read(path, &model, &diag), EXIT_USAGE);
        ck_assert_str_eq(diag.text, wanted);
    }
}
END_TEST

/* A vector of a table that is always the same one: small files that would be long lists are refused. */
START_TEST(limits_what_small_files_can_make)
{
    enum { TENSORS = MODEL_MOST_TENSORS + 1, VECTOR = 64, BYTES = VECTOR + 4 + 4 * TENSORS };
    /* Model at 24 with its vtable at 8, field 2 a vector of one subgraph at 40; whose vtable is at 44, its table at 52
     * and its tensors at VECTOR; each of these is the table without fields at the end. */
    static const unsigned char head[VECTOR] = {
        24, 0, 0, 0, 'T', 'F', 'L', '3', 10, 0, 8,  0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 8, 0,
        0,  0, 0, 0, 0,   0,   1,   0,   0,  0, 12, 0, 0, 0, 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0,  0, 8, 0, 0, 0,
    };
    unsigned char *const bytes = calloc(1, BYTES + 8);
    struct model model;
    struct diag diag = {0};
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, head, sizeof head);
    for (uint32_t i = 0; i <= TENSORS; i++) {
        const uint32_t at = VECTOR + 4 * i, value = i == 0 ? TENSORS : BYTES + 4 - at;
        for (int k = 0; k < 4; k++)
            bytes[at + (uint32_t)k] = (unsigned char)(value >> 8 * k);
    }
    memcpy(bytes + BYTES, "\4\0\4\0\4\0\0\0", 8);
    struct window window = window_of_bytes(bytes, BYTES + 8);
    ck_assert_int_eq(model_parse(&window, &model, &diag), EXIT_USAGE);
    ck_assert_str_eq(diag.text, "more than 1048576 tensors, which are as many as can be read");
    bytes[VECTOR] -= 1;
    ck_assert_msg(model_parse(&window, &model, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert_uint_eq(model.count, MODEL_MOST_TENSORS);
    model_free(&model);
    free(bytes);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("model types");
    TCase *const tensors = tcase_create("tensors"), *const finding = tcase_create("finding");
    TCase *const broken = tcase_create("broken files");
    tcase_add_test(tensors, reads_tflite);
    tcase_add_test(tensors, reads_onnx);
    tcase_add_test(tensors, reads_numbers_of_onnx);
    tcase_add_test(tensors, reads_operators_of_onnx);
    tcase_add_test(finding, finds_by_name_and_index);
    tcase_add_test(finding, refuses_what_has_no_type);
    tcase_add_test(finding, tells_types_from_files);
    tcase_add_test(finding, cuts_at_the_file);
    tcase_add_test(broken, takes_any_part_of_a_file);
    tcase_add_test(broken, says_what_is_broken);
    tcase_add_test(broken, limits_what_small_files_can_make);
    suite_add_tcase(suite, tensors);
    suite_add_tcase(suite, finding);
    suite_add_tcase(suite, broken);
    return run_suite(suite);
}
