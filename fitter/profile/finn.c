/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * FINN's thresholds: an output of N bits is the lowest code plus the number of thresholds that the input reaches.
 *
 *     y = bias + #{k : T[k] <= x},   k = 0 .. 2^N - 2,   bias = lowest output code
 *
 * T[k] is the lowest input code whose output is bias + k + 1 or more; the code behind the last where there is none.
 * The .dat files hold a binary search: stage s of N has T[(j << (N - s)) + 2^(N - s - 1) - 1] for j = 0 .. 2^s - 1, so
 * that the j-th threshold of a stage is met after the bits of j.
 *
 * Source: qonnx's MultiThreshold and finn-rtllib's thresholding.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "io/fields.h"
#include "notation.h"
#include "segments.h"

#define MOST_BITS 8
#define MOST_THRESHOLDS 255
#define THRESHOLDS 0
#define INPUT_BITS 20 /* every code is evaluated */

static const struct layout_field fields[] = {{.name = "thresholds", .bits = 32, .is_signed = true, .step = 32},
                                             {.name = NULL}};
static const struct layout layout = {
    .fields = fields, .entry_bytes = 4, .min_entries = 3, .max_entries = MOST_THRESHOLDS};

static int64_t bias_of(const struct tensor *out)
{
    return code_min(out->bits, out->is_signed);
}

static int need_types(const struct table *table, struct diag *diag)
{
    return need_type(&table->in, "input", 2, INPUT_BITS, ANY_SIGN, diag) ||
                   need_type(&table->out, "output", 2, MOST_BITS, ANY_SIGN, diag)
               ? diag->code
               : EXIT_DONE;
}

static int pack(const struct table *table, struct image *image, struct diag *diag)
{
    struct packed_table packed;
    const int64_t bias = bias_of(&table->out);
    if (need_types(table, diag))
        return diag->code;
    const int count = (1 << table->out.bits) - 1;
    if (image_make(&layout, count, image, diag) || table_pack(table, &packed, diag))
        return diag->code;
    int reached = 0; /* thresholds found */
    int64_t before = INT64_MIN;
    for (int64_t q_x = table->in.qmin; q_x <= table->in.qmax && !diag->code; q_x++) {
        const int64_t q_y = packed_eval(&packed, q_x);
        if (q_y < before)
            diag_set(diag, EXIT_REQUIREMENT,
                     "the output falls from %" PRId64 " to %" PRId64 " at code %" PRId64
                     "; must rise throughout: fit a rising function, with --method minimax and --monotone",
                     before, q_y, q_x);
        for (; reached < q_y - bias; reached++)
            image->values[THRESHOLDS][reached] = q_x;
        before = q_y;
    }
    packed_table_free(&packed);
    for (; reached < count; reached++)
        image->values[THRESHOLDS][reached] = table->in.qmax + 1;
    return diag->code;
}

static int unpack(const struct image *image, struct table *table, struct diag *diag)
{
    const int64_t *thresholds = image->values[THRESHOLDS], qmin = table->in.qmin;
    int64_t q_y = bias_of(&table->out);
    if (need_types(table, diag))
        return diag->code;
    if (image->entries != (1 << table->out.bits) - 1)
        return diag_set(diag, EXIT_USAGE, "has %d thresholds; --out of %d bits must have %d", image->entries,
                        table->out.bits, (1 << table->out.bits) - 1);
    segments_begin(table, PWL_ABSOLUTE, PWL_FLOOR);
    if (segments_add(table, qmin, 0, 0, q_y, diag))
        return diag->code;
    if (image->has_bias && image->bias != q_y)
        return diag_set(diag, EXIT_USAGE, "out_bias is %" PRId64 "; must be %" PRId64 ", the lowest code of --out",
                        image->bias, q_y);
    for (int k = 0; k < image->entries; k++) {
        const int64_t codes = (int64_t)1 << table->in.bits; /* thresholds have one bit more than codes */
        if (thresholds[k] < (qmin < 0 ? -codes : 0) || thresholds[k] > (qmin < 0 ? codes : 2 * codes) - 1)
            return diag_set(diag, EXIT_USAGE, "thresholds[%d] is %" PRId64 "; must have at most %d bits", k,
                            thresholds[k], table->in.bits + 1);
        if (k > 0 && thresholds[k] < thresholds[k - 1])
            return diag_set(diag, EXIT_USAGE, "thresholds[%d] is below thresholds[%d]; must ascend", k, k - 1);
        if (segments_add(table, thresholds[k] < qmin ? qmin : thresholds[k], 0, 0, ++q_y, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

static int write_json(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    (void)diag;
    text_add(out, "{\n  \"out_scale\": 1,\n  \"out_bias\": %" PRId64 ",\n  \"thresholds\": [", bias_of(&table->out));
    for (int k = 0; k < image->entries; k++)
        text_add(out, "%s%" PRId64, k ? ", " : "", image->values[THRESHOLDS][k]);
    text_add(out, "]\n}\n");
    return EXIT_DONE;
}

static int read_json(const struct layout *wanted, const char *bytes, size_t size, struct image *image,
                     struct origin *origin, struct diag *diag)
{
    static const struct fields_limits limits = {1 << 16, 16, 1024};
    static const char *const known[] = {"out_scale", "out_bias", "thresholds", NULL};
    json_t *root, *array;
    double one;
    (void)origin;
    if (fields_parse(bytes, size, &limits, &root, diag))
        return diag->code;
    const struct fields top = {.json = root};
    if (!json_is_object(root))
        diag_set(diag, EXIT_USAGE, "must be a JSON object with out_scale, out_bias and thresholds");
    else if (!fields_known(&top, known, diag) && !field_real(&top, "out_scale", 1, 1, &one, diag) &&
             !field_array(&top, "thresholds", MOST_THRESHOLDS, &array, diag) &&
             !image_make(wanted, (int)json_array_size(array), image, diag))
        for (int k = 0; k < image->entries && !diag->code; k++) {
            const json_t *number = json_array_get(array, (size_t)k);
            image->values[THRESHOLDS][k] = json_integer_value(number);
            if (!json_is_integer(number))
                field_refuse(&top, "thresholds", diag, "a list of integers");
        }
    if (!diag->code && field_present(&top, "out_bias")) {
        image->has_bias = true;
        field_integer(&top, "out_bias", INT32_MIN, INT32_MAX, &image->bias, diag);
    }
    json_decref(root);
    return diag->code;
}

/* Bits of a threshold: one more than the input's where one lies behind its last code. */
static int threshold_bits(const struct tensor *in, int64_t highest)
{
    return in->bits + (highest > in->qmax);
}

static void part_name(int stage, char name[PART_NAME_SIZE])
{
    snprintf(name, PART_NAME_SIZE, "threshs_0_%d.dat", stage);
}

/* The threshold that stage `stage` of N holds as its j-th. */
static int place(int stages, int stage, int j)
{
    return (j << (stages - stage)) + (1 << (stages - stage - 1)) - 1;
}

static int write_dat(const struct image *image, const struct table *table, struct text parts[FOLDER_MAX_PARTS],
                     int *count, struct diag *diag)
{
    const int64_t *thresholds = image->values[THRESHOLDS];
    const int bits = threshold_bits(&table->in, thresholds[image->entries - 1]), digits = (bits + 3) / 4;
    (void)diag;
    *count = table->out.bits;
    for (int stage = 0; stage < *count; stage++)
        for (int j = 0; j < 1 << stage; j++)
            text_add(&parts[stage], "%0*" PRIx64 "\n", digits,
                     (uint64_t)thresholds[place(*count, stage, j)] & (UINT64_MAX >> (64 - bits)));
    return EXIT_DONE;
}

/* The numbers of a file, one a line. */
static int read_stage(const struct text *text, int stages, int stage, struct image *image, int *digits,
                      struct diag *diag)
{
    const char *at = text->bytes;
    char name[PART_NAME_SIZE];
    part_name(stage, name);
    for (int j = 0; j < 1 << stage; j++) {
        const size_t length = strspn(at, "0123456789abcdefABCDEF");
        if (length == 0 || length > 8 || (*digits && (size_t)*digits != length))
            return diag_set(diag, EXIT_USAGE, "%s: line %d: must be %s", name, j + 1,
                            *digits ? "as many hexadecimal digits as the first" : "1 to 8 hexadecimal digits");
        *digits = (int)length;
        image->values[THRESHOLDS][place(stages, stage, j)] = (int64_t)strtoul(at, NULL, 16);
        at += length;
        at += strspn(at, " \t\r\n");
    }
    return *at == '\0' ? EXIT_DONE
                       : diag_set(diag, EXIT_USAGE, "%s: line %d: must be the end, after %d numbers", name,
                                  (1 << stage) + 1, 1 << stage);
}

/* Whether numbers of so many bits ascend, of two's complement where the input is signed; they become those. */
static bool take_bits(struct image *image, const struct tensor *in, int bits, bool store)
{
    int64_t before = INT64_MIN;
    for (int k = 0; k < image->entries; k++) {
        int64_t number = image->values[THRESHOLDS][k];
        if (number >> bits)
            return false;
        if (in->is_signed && number >> (bits - 1))
            number -= (int64_t)1 << bits;
        if (number < before)
            return false;
        before = number;
        if (store)
            image->values[THRESHOLDS][k] = number;
    }
    return true;
}

static int read_dat(const struct layout *wanted, const struct tensor *in, const struct text parts[FOLDER_MAX_PARTS],
                    int count, struct image *image, struct diag *diag)
{
    int digits = 0;
    if (count < 2)
        return diag_set(diag, EXIT_USAGE, "has one file threshs_0_*.dat; must have 2 to %d", FOLDER_MAX_PARTS);
    if (image_make(wanted, (1 << count) - 1, image, diag))
        return diag->code;
    for (int stage = 0; stage < count; stage++)
        if (read_stage(&parts[stage], count, stage, image, &digits, diag))
            return diag->code;
    for (int bits = in->bits; bits <= in->bits + 1; bits++)
        if ((bits + 3) / 4 == digits && take_bits(image, in, bits, false)) {
            take_bits(image, in, bits, true);
            return EXIT_DONE;
        }
    return diag_set(diag, EXIT_USAGE,
                    "the thresholds, of %d hexadecimal digits, do not ascend as numbers of %d or %d bits", digits,
                    in->bits, in->bits + 1);
}

static const struct folder_notation dat = {part_name, write_dat, read_dat};
static const struct notation notation_dat = {
    .name = "dat", .summary = "threshs_0_<stage>.dat in a folder", .folder = &dat};
static const struct notation notation_json = {"json", "the attributes of a MultiThreshold node", write_json, read_json,
                                              NULL};

const struct profile profile_finn = {
    .name = "finn",
    .reader = "FINN and qonnx: a MultiThreshold node",
    .limits = "a rising table to 2 to 8 bits, a threshold for each output code but the lowest",
    .flags = "--method lut --in s8:2^-4:0 --out s4",
    .layout = &layout,
    .notations = {&notation_json, &notation_npy, &notation_dat},
    .pack = pack,
    .unpack = unpack,
};
