/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * AIMET's PE: a ROM of 16 segments, of the absolute form, halves up.
 *
 *     0x00 term_c int32[16]   0x40 n int8[16]   0x50 q_b int16[16]   0x70 start, 17 bits each, lowest bit first
 *
 * Zero points and the range of the output are in a head that the ROM does not hold; the JSON file has them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "base/number.h"
#include "families.h"
#include "function/tensor.h"
#include "io/fields.h"
#include "notation.h"
#include "segments.h"

#define SEGMENTS 16
#define FARTHEST 32767 /* of a code from the zero point, which is held in 16 bits */
#define SHIFT_BITS 6

enum { TERM_C, N, Q_B, START };

static const struct layout_field fields[] = {
    [TERM_C] = {.name = "term_c", .bits = 32, .is_signed = true, .count = SEGMENTS, .at = 0, .step = 32},
    [N] = {.name = "n", .bits = 8, .is_signed = true, .count = SEGMENTS, .at = 8 * 0x40, .step = 8},
    [Q_B] = {.name = "q_b", .bits = 16, .is_signed = true, .count = SEGMENTS, .at = 8 * 0x50, .step = 16},
    [START] = {.name = "start", .bits = 17, .is_signed = true, .count = SEGMENTS, .at = 8 * 0x70, .step = 17},
    {.name = NULL}};
static const struct layout layout = {.fields = fields, .bytes = 146};

static int need_types(const struct table *table, struct diag *diag)
{
    const struct tensor *in = &table->in;
    if (need_type(in, "input", 2, 16, ANY_SIGN, diag) || need_type(&table->out, "output", 2, 16, ANY_SIGN, diag))
        return diag->code;
    if (in->qmax - in->zero_point > FARTHEST || in->zero_point - in->qmin > FARTHEST + 1)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "codes lie up to %" PRId64 " from the input's zero point; must lie within %d",
                        larger_integer(in->qmax - in->zero_point, in->zero_point - in->qmin), FARTHEST);
    return EXIT_DONE;
}

static int pack(const struct table *table, struct image *image, struct diag *diag)
{
    if (need_types(table, diag) || need_lines(table, PWL_ABSOLUTE, PWL_HALF_UP, SEGMENTS, diag) ||
        need_32_bits(table, diag) || image_make(&layout, 0, image, diag))
        return diag->code;
    for (int i = 0; i < SEGMENTS; i++) { /* the last one again where there are fewer */
        const struct segment *segment = &table->segments[smaller_integer(i, table->segment_count - 1)];
        image->values[TERM_C][i] = segment->offset;
        image->values[N][i] = segment->n;
        image->values[Q_B][i] = segment->q_b;
        image->values[START][i] = segment->start;
    }
    return EXIT_DONE;
}

static int unpack(const struct image *image, struct table *table, struct diag *diag)
{
    if (need_types(table, diag))
        return diag->code;
    segments_begin(table, PWL_ABSOLUTE, PWL_HALF_UP);
    for (int i = 0; i < SEGMENTS; i++) {
        const int64_t n = image->values[N][i];
        if (n < -(1 << (SHIFT_BITS - 1)) || n >= 1 << (SHIFT_BITS - 1))
            return diag_set(diag, EXIT_USAGE, "n[%d] is %" PRId64 "; must have %d bits", i, n, SHIFT_BITS);
        if (segments_add(table, image->values[START][i], image->values[Q_B][i], (int)n, image->values[TERM_C][i], diag))
            return diag->code;
    }
    return need_32_bits(table, diag);
}

static void add_type(const char *name, const struct tensor *type, struct text *out)
{
    text_add(out,
             "      \"%s\": {\"scale\": %.17g, \"zero_point\": %" PRId64 ", \"qmin\": %" PRId64 ", \"qmax\": %" PRId64
             ", \"fmin\": %.17Lg, \"fmax\": %.17Lg},\n",
             name, type->scale.value, type->zero_point, type->qmin, type->qmax, tensor_real(type, type->qmin),
             tensor_real(type, type->qmax));
}

static int write_json(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    (void)image;
    (void)diag;
    text_add(out, "{\n  \"%s\": {\n    \"quantization\": {\n", table->function);
    add_type("input", &table->in, out);
    add_type("output", &table->out, out);
    text_add(out,
             "      \"coeff_b_bit_width\": 16,\n      \"term_c_bit_width\": 32,\n"
             "      \"internal_accumulator_bit_width\": 32\n    },\n    \"num_segments\": %d,\n    \"segments\": [\n",
             table->segment_count);
    for (int i = 0; i < table->segment_count; i++) {
        const bool is_last = i + 1 == table->segment_count;
        text_add(out,
                 "      {\"segment_id\": %d, \"threshold_quantized\": [%" PRId64 ", %" PRId64
                 "], \"coefficients_quantized\": {\"q_b\": %" PRId64
                 ", \"q_c\": 0}, \"shift_bits\": {\"n_bx_total\": %d}, "
                 "\"term_c_precomputed\": %" PRId64 "}%s\n",
                 i, table->segments[i].start, is_last ? table->in.qmax : table->segments[i + 1].start,
                 table->segments[i].q_b, table->segments[i].n, table->segments[i].offset, is_last ? "" : ",");
    }
    text_add(out, "    ]\n  }\n}\n");
    return EXIT_DONE;
}

/* A type as the command line has it, and its last code. */
static int read_type(const struct fields *quantization, const char *name, char *text, size_t size, int64_t *last,
                     struct diag *diag)
{
    struct fields object;
    int64_t zero_point, qmin, qmax;
    double scale;
    char value[NUMBER_TEXT_SIZE];
    if (field_object(quantization, name, &object, diag) || field_real(&object, "scale", 0, 1e30, &scale, diag) ||
        field_integer(&object, "zero_point", -((int64_t)1 << 40), (int64_t)1 << 40, &zero_point, diag) ||
        field_integer(&object, "qmin", INT32_MIN, INT32_MAX, &qmin, diag) ||
        field_integer(&object, "qmax", INT32_MIN, UINT32_MAX, &qmax, diag))
        return diag->code;
    const bool is_signed = qmin < 0;
    int bits = 2;
    while (bits < 32 && code_max(bits, is_signed) < qmax)
        bits++;
    if (code_min(bits, is_signed) != qmin || code_max(bits, is_signed) != qmax)
        return field_refuse(&object, "qmin", diag, "the lowest, and qmax the highest code of a type of 2 to 32 bits");
    *last = qmax;
    number_format(scale, value);
    snprintf(text, size, "%c%d:%s:%" PRId64, is_signed ? 's' : 'u', bits, value, zero_point);
    return EXIT_DONE;
}

/* Widths that the file tells are those of the ROM. */
static int check_widths(const struct fields *quantization, struct diag *diag)
{
    static const struct {
        const char *name;
        int bits;
    } widths[] = {{"coeff_b_bit_width", 16}, {"term_c_bit_width", 32}, {"internal_accumulator_bit_width", 32}};
    int64_t bits;
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
        if (field_present(quantization, widths[k].name) &&
            field_integer(quantization, widths[k].name, widths[k].bits, widths[k].bits, &bits, diag))
            return diag->code;
    return EXIT_DONE;
}

/* `after` is where the segment before ended, of all but the first; then where this one ends. */
static int read_segment(const struct fields *segment, int i, int64_t *after, struct image *image, struct diag *diag)
{
    struct fields coefficients, shifts;
    json_t *threshold;
    int64_t zero;
    if (field_object(segment, "coefficients_quantized", &coefficients, diag) ||
        field_object(segment, "shift_bits", &shifts, diag) ||
        field_array(segment, "threshold_quantized", 2, &threshold, diag) ||
        field_integer(&coefficients, "q_b", INT16_MIN, INT16_MAX, &image->values[Q_B][i], diag) ||
        (field_present(&coefficients, "q_c") && field_integer(&coefficients, "q_c", 0, 0, &zero, diag)) ||
        field_integer(&shifts, "n_bx_total", INT8_MIN, INT8_MAX, &image->values[N][i], diag) ||
        field_integer(segment, "term_c_precomputed", INT32_MIN, INT32_MAX, &image->values[TERM_C][i], diag))
        return diag->code;
    const json_t *start = json_array_get(threshold, 0), *end = json_array_get(threshold, 1);
    if (!json_is_integer(start) || !json_is_integer(end) || json_integer_value(start) < -65536 ||
        json_integer_value(start) > 65535)
        return field_refuse(segment, "threshold_quantized", diag, "the segment's first code and the next one's");
    image->values[START][i] = json_integer_value(start);
    if (i > 0 && image->values[START][i] != *after)
        return field_refuse(segment, "threshold_quantized", diag, "%" PRId64 " first, where the one before ends",
                            *after);
    *after = json_integer_value(end);
    return EXIT_DONE;
}

static int read_object(const json_t *root, struct image *image, struct origin *origin, struct diag *diag)
{
    const struct fields top = {.json = (json_t *)root};
    struct fields body, quantization, element;
    json_t *segments;
    int64_t last_in, last_out, after = 0, number;
    const char *name = json_object_iter_key(json_object_iter((json_t *)root));
    if (!name || json_object_size(root) != 1 || strlen(name) >= sizeof origin->function)
        return diag_set(diag, EXIT_USAGE, "must be a JSON object with one function in it");
    strcpy(origin->function, name);
    if (field_object(&top, name, &body, diag) || field_object(&body, "quantization", &quantization, diag) ||
        read_type(&quantization, "input", origin->in, sizeof origin->in, &last_in, diag) ||
        read_type(&quantization, "output", origin->out, sizeof origin->out, &last_out, diag) ||
        check_widths(&quantization, diag) || field_array(&body, "segments", SEGMENTS, &segments, diag))
        return diag->code;
    const int count = (int)json_array_size(segments);
    if (field_present(&body, "num_segments") && field_integer(&body, "num_segments", count, count, &number, diag))
        return diag->code;
    for (int i = 0; i < count; i++)
        if (field_element(&body, "segments", segments, (size_t)i, &element, diag) ||
            read_segment(&element, i, &after, image, diag))
            return diag->code;
    if (after != last_in)
        return field_refuse(&element, "threshold_quantized", diag, "%" PRId64 " last, the input's last code", last_in);
    for (int i = count; i < SEGMENTS; i++)
        for (int f = TERM_C; f <= START; f++)
            image->values[f][i] = image->values[f][count - 1];
    return EXIT_DONE;
}

static int read_json(const struct layout *wanted, const char *bytes, size_t size, struct image *image,
                     struct origin *origin, struct diag *diag)
{
    static const struct fields_limits limits = {1 << 20, 128, 1024};
    json_t *root;
    if (fields_parse(bytes, size, &limits, &root, diag))
        return diag->code;
    if (!json_is_object(root))
        diag_set(diag, EXIT_USAGE, "must be a JSON object with one function in it");
    else if (!image_make(wanted, 0, image, diag))
        read_object(root, image, origin, diag);
    json_decref(root);
    return diag->code;
}

static const struct notation notation_json = {"json", "the segments, with the types", write_json, read_json, NULL};

const struct profile profile_aimet_pe = {
    .name = "aimet-pe",
    .reader = "AIMET's PE: a ROM of 146 bytes, or its JSON",
    .limits = "16 segments of the absolute form, halves rounded up, codes within 32767 of the zero point",
    .flags = "--method minimax --segments 16 --form absolute --rounding half_up --pow2-scales --in s16:2^-12:0 --out "
             "s16:auto:0",
    .layout = &layout,
    .notations = {&notation_json, &notation_bytes},
    .pack = pack,
    .unpack = unpack,
};
