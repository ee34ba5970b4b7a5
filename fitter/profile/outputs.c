/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of outputs: 256 bytes, one for each code of 8 bits.
 *
 *     tosa8, ethosu8, executorch8   byte x - lowest code       -128, -127, ..., 127    or 0 ... 255
 *     tflm8, xnnpack8               byte x mod 256             0, ..., 127, -128, ..., -1
 *
 * Sources: TOSA 1.0 TABLE; Vela's lookup tables of Ethos-U; TensorFlow Lite Micro's LUTPopulate for int8; ExecuTorch's
 * quantized_activation for Cortex-M; ESP-DL's lut_s8; XNNPACK's x8-lut.
 */
#include <inttypes.h>

#include "families.h"
#include "mlir.h"
#include "notation.h"
#include "segments.h"

#define CODES 256

#define FIELDS(...)                                                                                                    \
    {                                                                                                                  \
        {.name = "table", .bits = 8, .count = CODES, .step = 8, __VA_ARGS__}, {.name = NULL},                          \
    }
static const struct layout_field signed_fields[] = FIELDS(.is_signed = true),
                                 unsigned_fields[] = FIELDS(.is_signed = false),
                                 read_fields[] = FIELDS(.is_signed = true, .any_sign = true);
static const struct layout signed_layout = {.fields = signed_fields, .bytes = CODES};
static const struct layout unsigned_layout = {.fields = unsigned_fields, .bytes = CODES};
static const struct layout read_layout = {.fields = read_fields, .bytes = CODES};

/* The byte of an input code of up to 8 bits. */
static int from_lowest(const struct tensor *in, int64_t q_x)
{
    return (int)(q_x - code_min(8, in->is_signed));
}

static int modulo_256(const struct tensor *in, int64_t q_x)
{
    (void)in;
    return (int)(q_x & 0xff);
}

/* The number that a byte is as an output code. */
static int64_t code_of_byte(const struct tensor *out, int64_t byte)
{
    return out->is_signed && byte & 0x80 ? (byte & 0xff) - CODES : byte & 0xff;
}

/* Codes of narrower types that no input reaches take the value of the nearest one. */
static int pack(const struct table *table, int (*place)(const struct tensor *in, int64_t q_x), struct image *image,
                struct diag *diag)
{
    struct packed_table packed;
    if (need_type(&table->in, "input", 2, 8, ANY_SIGN, diag) ||
        need_type(&table->out, "output", 2, 8, ANY_SIGN, diag) ||
        image_make(table->out.is_signed ? &signed_layout : &unsigned_layout, 0, image, diag) ||
        table_pack(table, &packed, diag))
        return diag->code;
    const int64_t low = code_min(8, table->in.is_signed);
    for (int64_t q_x = low; q_x < low + CODES; q_x++)
        image->values[0][place(&table->in, q_x)] = packed_eval(&packed, q_x);
    packed_table_free(&packed);
    return EXIT_DONE;
}

static int unpack(const struct image *image, struct table *table, int (*place)(const struct tensor *in, int64_t q_x),
                  struct diag *diag)
{
    const struct tensor *in = &table->in, *out = &table->out;
    if (need_type(in, "input", 2, 8, ANY_SIGN, diag) || need_type(out, "output", 2, 8, ANY_SIGN, diag))
        return diag->code;
    segments_begin(table, PWL_ABSOLUTE, PWL_FLOOR);
    for (int64_t q_x = in->qmin; q_x <= in->qmax; q_x++) {
        const int at = place(in, q_x);
        int64_t q_y = image->values[0][at];
        if (image->from_bytes)
            q_y = code_of_byte(out, q_y);
        if (q_y < out->qmin || q_y > out->qmax)
            return diag_set(diag, EXIT_USAGE,
                            "table[%d] is %" PRId64 ", no code of --out, which are %" PRId64 " to %" PRId64, at, q_y,
                            out->qmin, out->qmax);
        if (segments_add(table, q_x, 0, 0, q_y, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

static int pack_from_lowest(const struct table *table, struct image *image, struct diag *diag)
{
    return pack(table, from_lowest, image, diag);
}

static int unpack_from_lowest(const struct image *image, struct table *table, struct diag *diag)
{
    return unpack(image, table, from_lowest, diag);
}

/* The same of signed codes alone. */
static int pack_signed(const struct table *table, struct image *image, struct diag *diag)
{
    return need_type(&table->in, "input", 2, 8, SIGNED, diag) || need_type(&table->out, "output", 2, 8, SIGNED, diag)
               ? diag->code
               : pack(table, from_lowest, image, diag);
}

static int unpack_signed(const struct image *image, struct table *table, struct diag *diag)
{
    return need_type(&table->in, "input", 2, 8, SIGNED, diag) || need_type(&table->out, "output", 2, 8, SIGNED, diag)
               ? diag->code
               : unpack_from_lowest(image, table, diag);
}

static int pack_modulo(const struct table *table, struct image *image, struct diag *diag)
{
    return pack(table, modulo_256, image, diag);
}

static int unpack_modulo(const struct image *image, struct table *table, struct diag *diag)
{
    return unpack(image, table, modulo_256, diag);
}

/* Of unsigned bytes, whatever the codes are. */
static int pack_modulo_bytes(const struct table *table, struct image *image, struct diag *diag)
{
    if (pack_modulo(table, image, diag))
        return diag->code;
    image->layout = &unsigned_layout;
    for (int i = 0; i < CODES; i++)
        image->values[0][i] &= 0xff;
    return EXIT_DONE;
}

static int unpack_modulo_bytes(const struct image *image, struct table *table, struct diag *diag)
{
    struct image as_bytes = *image;
    as_bytes.from_bytes = true;
    return unpack_modulo(&as_bytes, table, diag);
}

#define FLAGS "--method lut --in s8:2^-4:0 --out s8"

const struct profile profile_tosa8 = {
    .name = "tosa8",
    .reader = "TOSA's TABLE: Ethos-U by Vela, ExecuTorch's Arm backend",
    .limits = "signed codes of up to 8 bits, a byte for each of 256",
    .flags = FLAGS,
    .layout = &read_layout,
    .notations = {&notation_bytes, &notation_mlir_table, &notation_c, &notation_npy},
    .pack = pack_signed,
    .unpack = unpack_signed,
};

const struct profile profile_ethosu8 = {
    .name = "ethosu8",
    .reader = "Ethos-U's table memory, from a command stream",
    .limits = "codes of up to 8 bits, a byte for each of 256",
    .flags = FLAGS,
    .layout = &read_layout,
    .notations = {&notation_bytes, &notation_c, &notation_npy},
    .pack = pack_from_lowest,
    .unpack = unpack_from_lowest,
};

const struct profile profile_tflm8 = {
    .name = "tflm8",
    .reader = "kernels for TensorFlow Lite Micro, ESP-NN's logistic, hls4ml's UnaryLUT",
    .limits = "codes of up to 8 bits, a byte for each of 256, in the order 0 to 127, -128 to -1",
    .flags = FLAGS,
    .layout = &read_layout,
    .notations = {&notation_c, &notation_bytes, &notation_npy},
    .pack = pack_modulo,
    .unpack = unpack_modulo,
};

const struct profile profile_executorch8 = {
    .name = "executorch8",
    .reader = "ExecuTorch's Cortex-M backend: the lut of quantized_activation; ESP-DL's LUT of s8",
    .limits = "signed codes of up to 8 bits, a byte for each of 256",
    .flags = FLAGS,
    .layout = &read_layout,
    .notations = {&notation_npy, &notation_c, &notation_bytes},
    .pack = pack_signed,
    .unpack = unpack_signed,
};

const struct profile profile_xnnpack8 = {
    .name = "xnnpack8",
    .reader = "XNNPACK's x8-lut",
    .limits = "codes of up to 8 bits, an unsigned byte for each of 256, in the order 0 to 127, -128 to -1",
    .flags = FLAGS,
    .layout = &unsigned_layout,
    .notations = {&notation_c, &notation_bytes, &notation_npy},
    .pack = pack_modulo_bytes,
    .unpack = unpack_modulo_bytes,
};
