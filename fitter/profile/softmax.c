/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The exponentials of TOSA's softmax of 8 bits, as the compilers of TensorFlow Lite write it: four TABLEs of 16 bits,
 * each with a byte of every output at all d = x - max(x), of which none is between two points.
 *
 *     128 d --> TABLE bits_31_24 -- << 17 --+
 *          \--> TABLE bits_23_16 -- <<  9 --+--> exp(d) with 31 bits behind the point
 *          \--> TABLE bits_15_8  -- <<  1 --+
 *          \--> TABLE bits_7_0   -- >>  7 --+
 *
 * An entry of TABLE comes out as 128 times itself. d is from -255 to 0, and lies at entry d + 256 of 513.
 *
 * Sources: TensorFlow's legalize_common.cc and legalize_utils.cc for TOSA; TOSA 1.0 TABLE.
 */
#include <inttypes.h>

#include "families.h"
#include "mlir.h"
#include "notation.h"
#include "segments.h"

#define ENTRIES 513
#define ZERO 256 /* the entry of d = 0 */
#define BYTES 4
#define FRACTION 31

#define TABLE(NAME, K)                                                                                                 \
    {                                                                                                                  \
        .name = NAME, .bits = 16, .is_signed = true, .count = ENTRIES, .at = 16 * ENTRIES * (K), .step = 16            \
    }
static const struct layout_field fields[] = {
    TABLE("bits_31_24", 0), TABLE("bits_23_16", 1), TABLE("bits_15_8", 2), TABLE("bits_7_0", 3), {.name = NULL}};
static const struct layout layout = {.fields = fields, .bytes = (size_t)2 * ENTRIES * BYTES};

/* Each code of the input lies at an entry, and an output has 31 bits behind the point. */
static int need_types(const struct table *table, struct diag *diag)
{
    const struct tensor *in = &table->in, *out = &table->out;
    if (need_type(in, "input", 2, 9, ANY_SIGN, diag) || need_fixed_point(out, "output", 32, 32, SIGNED, diag))
        return diag->code;
    if (out->scale.shift_bits != FRACTION)
        return diag_set(diag, EXIT_REQUIREMENT, "the output has scale %s; must have 2^-%d", out->scale.text, FRACTION);
    if (in->qmin - in->zero_point >= -ZERO && in->qmax - in->zero_point <= ZERO)
        return EXIT_DONE;
    return diag_set(diag, EXIT_REQUIREMENT,
                    "the input's codes are from %" PRId64 " to %" PRId64 " beyond its zero point; must be within %d",
                    in->qmin - in->zero_point, in->qmax - in->zero_point, ZERO);
}

/* Entries that no code leads to take the value of the nearest one. */
static int pack(const struct table *table, struct image *image, struct diag *diag)
{
    struct packed_table packed;
    if (need_types(table, diag) || image_make(&layout, 0, image, diag) || table_pack(table, &packed, diag))
        return diag->code;
    for (int i = 0; i < ENTRIES; i++) {
        const uint32_t output = (uint32_t)packed_eval(&packed, table->in.zero_point + i - ZERO);
        for (int k = 0; k < BYTES; k++)
            image->values[k][i] = output >> (8 * (BYTES - 1 - k)) & 0xff;
    }
    packed_table_free(&packed);
    return EXIT_DONE;
}

static int unpack(const struct image *image, struct table *table, struct diag *diag)
{
    const struct tensor *in = &table->in;
    if (need_types(table, diag))
        return diag->code;
    segments_begin(table, PWL_ABSOLUTE, PWL_FLOOR);
    for (int64_t q_x = in->qmin; q_x <= in->qmax; q_x++) {
        const int i = (int)(q_x - in->zero_point) + ZERO;
        uint32_t output = 0;
        for (int k = 0; k < BYTES; k++) {
            const int64_t byte = image->values[k][i];
            if (byte < 0 || byte > 0xff)
                return diag_set(diag, EXIT_USAGE, "%s[%d] is %" PRId64 "; must be a byte, 0 to 255", fields[k].name, i,
                                byte);
            output = output << 8 | (uint32_t)byte;
        }
        if (segments_add(table, q_x, 0, 0, (int32_t)output, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

const struct profile profile_tosa_softmax8 = {
    .name = "tosa-softmax8",
    .reader = "TOSA's softmax of 8 bits: the four TABLEs of its exponentials",
    .limits = "codes at most 256 from the zero point, outputs of 32 bits, 31 of them behind the point, a byte a table",
    .flags = "--method lut --in u8:2^-4:255 --out s32:2^-31:0",
    .layout = &layout,
    .notations = {&notation_c, &notation_mlir_bytes, &notation_bytes},
    .pack = pack,
    .unpack = unpack,
};
