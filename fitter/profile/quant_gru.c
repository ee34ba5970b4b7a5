/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quant-gru's struct SigmoidLUT: 16 segments in the absolute form, halves to even. A segment ends below its threshold;
 * the last one serves whatever is left. Its float fields are written only where a scale is no power of two.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "initialisers.h"
#include "notation.h"
#include "segments.h"

#define SEGMENTS 16

enum { Q_B, N, TERM_C, THRESHOLD, ZP_X, SHIFT_X, SHIFT_Y, ZP_Y, SCALE_X, SCALE_Y };

#define SEGMENT_BITS 128
static const struct layout_field fields[] = {
    [Q_B] = {.name = "q_b", .bits = 32, .is_signed = true, .count = SEGMENTS, .at = 0, .step = SEGMENT_BITS},
    [N] = {.name = "n_BX_total", .bits = 8, .is_signed = true, .count = SEGMENTS, .at = 32, .step = SEGMENT_BITS},
    [TERM_C] = {.name = "term_c_precomputed",
                .bits = 32,
                .is_signed = true,
                .count = SEGMENTS,
                .at = 64,
                .step = SEGMENT_BITS},
    [THRESHOLD] =
        {.name = "threshold", .bits = 32, .is_signed = true, .count = SEGMENTS, .at = 96, .step = SEGMENT_BITS},
    [ZP_X] = {.name = "zp_x", .bits = 32, .is_signed = true, .count = 1, .at = 8 * 256},
    [SHIFT_X] = {.name = "shift_bits_x", .bits = 8, .is_signed = true, .count = 1, .at = 8 * 260},
    [SHIFT_Y] = {.name = "shift_bits_y", .bits = 8, .is_signed = true, .count = 1, .at = 8 * 261},
    [ZP_Y] = {.name = "zp_y", .bits = 32, .is_signed = true, .count = 1, .at = 8 * 264},
    [SCALE_X] = {.name = "scale_x", .bits = 32, .count = 1, .at = 8 * 268},
    [SCALE_Y] = {.name = "scale_y", .bits = 32, .count = 1, .at = 8 * 272},
    {.name = NULL}};
static const struct layout layout = {.fields = fields, .bytes = 276};

static int64_t float_bits(long double value)
{
    const float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void pack_scale(const struct scale *scale, int64_t *shift, int64_t *bits)
{
    *shift = scale->power_of_two ? scale->shift_bits : 0;
    *bits = scale->power_of_two ? 0 : float_bits(scale->value);
}

static int pack(const struct table *table, struct image *image, struct diag *diag)
{
    if (need_lines(table, PWL_ABSOLUTE, PWL_HALF_EVEN, SEGMENTS, diag) || need_32_bits(table, diag) ||
        need_type(&table->in, "input", 2, table->in.is_signed ? 32 : 31, ANY_SIGN, diag) ||
        image_make(&layout, 0, image, diag))
        return diag->code;
    for (int i = 0; i < SEGMENTS; i++) {
        const int k = i < table->segment_count ? i : table->segment_count - 1;
        const bool is_last = k == table->segment_count - 1;
        image->values[Q_B][i] = table->segments[k].q_b;
        image->values[N][i] = table->segments[k].n;
        image->values[TERM_C][i] = table->segments[k].offset;
        image->values[THRESHOLD][i] = is_last ? table->in.qmax : table->segments[k + 1].start;
    }
    image->values[ZP_X][0] = table->in.zero_point;
    image->values[ZP_Y][0] = table->out.zero_point;
    pack_scale(&table->in.scale, image->values[SHIFT_X], image->values[SCALE_X]);
    pack_scale(&table->out.scale, image->values[SHIFT_Y], image->values[SCALE_Y]);
    return EXIT_DONE;
}

static int check_zero_point(const struct tensor *type, const char *flag, int64_t zero_point, struct diag *diag)
{
    return type->zero_point == zero_point
               ? EXIT_DONE
               : diag_set(diag, EXIT_USAGE, "%s: the zero point is %" PRId64 ", the file has %" PRId64, flag,
                          type->zero_point, zero_point);
}

static int unpack(const struct image *image, struct table *table, struct diag *diag)
{
    int64_t start = table->in.qmin;
    if (check_zero_point(&table->in, "--in", image->values[ZP_X][0], diag) ||
        check_zero_point(&table->out, "--out", image->values[ZP_Y][0], diag))
        return diag->code;
    segments_begin(table, PWL_ABSOLUTE, PWL_HALF_EVEN);
    for (int i = 0; i < SEGMENTS; i++) {
        const int64_t end = i + 1 < SEGMENTS ? image->values[THRESHOLD][i] : table->in.qmax + 1;
        if (end <= start) /* the first whose threshold is above a code serves it */
            continue;
        if (segments_add(table, start, image->values[Q_B][i], (int)image->values[N][i], image->values[TERM_C][i], diag))
            return diag->code;
        start = end;
    }
    return need_32_bits(table, diag);
}

static int write_cpp(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    (void)diag;
    add_banner(table, "// ", "", out);
    text_add(out, "const SigmoidLUT pwl_%s = {\n    .segments =\n        {\n", table->function);
    for (int i = 0; i < SEGMENTS; i++)
        text_add(out,
                 "            {.q_b = %" PRId64 ", .n_BX_total = %" PRId64 ", .term_c_precomputed = %" PRId64
                 ", .threshold = %" PRId64 "},\n",
                 image->values[Q_B][i], image->values[N][i], image->values[TERM_C][i], image->values[THRESHOLD][i]);
    text_add(out,
             "        },\n    .zp_x = %" PRId64 ",\n    .shift_bits_x = %" PRId64 ",\n    .shift_bits_y = %" PRId64
             ",\n    .zp_y = %" PRId64 ",\n};\n",
             image->values[ZP_X][0], image->values[SHIFT_X][0], image->values[SHIFT_Y][0], image->values[ZP_Y][0]);
    return EXIT_DONE;
}

/* Zero points and shifts may be left out, and are 0 then, as in C++; fields of segments may not. */
static int read_cpp(const struct layout *wanted, const char *bytes, size_t size, struct image *image,
                    struct origin *origin, struct diag *diag)
{
    struct initialiser *list;
    size_t count;
    (void)origin;
    if (initialisers_read(bytes, size, &list, &count, diag))
        return diag->code;
    image_make(wanted, 0, image, diag);
    for (int f = Q_B; f <= ZP_Y && !diag->code; f++)
        for (int k = 0; k < image_count(image, f) && !diag->code; k++) {
            const struct initialiser *found = initialisers_find(list, count, wanted->fields[f].name, (size_t)k);
            if (found && !found->is_integer)
                diag_set(diag, EXIT_USAGE, "%s[%d] is %g; must be an integer", wanted->fields[f].name, k, found->real);
            else if (found)
                image->values[f][k] = found->integer;
            else if (f <= THRESHOLD)
                diag_set(diag, EXIT_USAGE, "has %d values .%s = ...; must have %d", k, wanted->fields[f].name,
                         SEGMENTS);
        }
    for (int f = Q_B; f <= THRESHOLD && !diag->code; f++)
        if (initialisers_find(list, count, wanted->fields[f].name, SEGMENTS))
            diag_set(diag, EXIT_USAGE, "has more than %d values .%s = ...; must be one table", SEGMENTS,
                     wanted->fields[f].name);
    free(list);
    return diag->code;
}

static const struct notation notation_cpp = {"cpp", "C++ with designated fields", write_cpp, read_cpp, NULL};

const struct profile profile_quant_gru = {
    .name = "quant-gru",
    .reader = "quant-gru's piecewise_linear: struct SigmoidLUT",
    .limits = "16 segments of the absolute form, halves rounded to even, slopes and constants of 32 bits",
    .flags = "--method minimax --segments 16 --form absolute --rounding half_even --pow2-scales --in u16:2^-12:32768 "
             "--out u16",
    .layout = &layout,
    .notations = {&notation_cpp, &notation_bytes},
    .pack = pack,
    .unpack = unpack,
};
