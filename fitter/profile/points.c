/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points T on an even grid of 2^K codes, and straight lines between them:
 *
 *     T[i]      T[i+1]         y = round((T[i] (2^K - f) + T[i+1] f) / 2^K),   f = x - (lowest code + i 2^K)
 *      o---------o---------o
 *      |<- 2^K ->|
 *
 * tosa16 and tflm16 have 513 points for K = 7, and halves are rounded up; ethosu16 has each point beside the slope to
 * the next. The last point belongs to the code behind the last, which no input reaches.
 *
 * Sources: TOSA 1.0 TABLE and RESCALE; Vela's lookup tables of Ethos-U; TensorFlow Lite Micro's lut_interpolation for
 * int16.
 */
#include "families.h"
#include "mlir.h"
#include "notation.h"
#include "segments.h"

#define INTERVALS 512
#define SHIFT 7

static const struct layout_field points_fields[] = {
    {.name = "points", .bits = 16, .is_signed = true, .count = INTERVALS + 1, .step = 16}, {.name = NULL}};
static const struct layout points_layout = {.fields = points_fields, .bytes = 2 * (INTERVALS + 1)};

static const struct layout_field ethosu_fields[] = {
    {.name = "base", .bits = 16, .is_signed = true, .count = INTERVALS, .at = 0, .step = 32},
    {.name = "slope", .bits = 16, .is_signed = true, .count = INTERVALS, .at = 16, .step = 32},
    {.name = NULL}};
static const struct layout ethosu_layout = {.fields = ethosu_fields, .bytes = 4 * INTERVALS};

static int need_types(const struct table *table, struct diag *diag)
{
    return need_type(&table->in, "input", 16, 16, SIGNED, diag) ||
                   need_type(&table->out, "output", 16, 16, SIGNED, diag)
               ? diag->code
               : EXIT_DONE;
}

/* The values at count points, 2^shift codes apart. */
static int find_points(const struct table *table, int shift, int count, int64_t *points, struct diag *diag)
{
    struct packed_table packed;
    if (table_pack(table, &packed, diag))
        return diag->code;
    for (int i = 0; i < count; i++)
        points[i] = raw_value(table, &packed, table->in.qmin + ((int64_t)i << shift));
    packed_table_free(&packed);
    return EXIT_DONE;
}

static int pack_points(const struct table *table, struct image *image, struct diag *diag)
{
    if (need_types(table, diag) || image_make(&points_layout, 0, image, diag) ||
        find_points(table, SHIFT, INTERVALS + 1, image->values[0], diag))
        return diag->code;
    for (int i = 0; i < INTERVALS; i++)
        if (need_slope(i, image->values[0][i + 1] - image->values[0][i], diag))
            return diag->code;
    return EXIT_DONE;
}

static int unpack_points(const struct image *image, struct table *table, struct diag *diag)
{
    const int64_t *points = image->values[0];
    if (need_types(table, diag))
        return diag->code;
    segments_begin(table, PWL_ANCHORED, PWL_HALF_UP);
    for (int i = 0; i < INTERVALS; i++)
        if (need_slope(i, points[i + 1] - points[i], diag) ||
            segments_add(table, table->in.qmin + ((int64_t)i << SHIFT), points[i + 1] - points[i], SHIFT, points[i],
                         diag))
            return diag->code;
    return EXIT_DONE;
}

static int pack_ethosu(const struct table *table, struct image *image, struct diag *diag)
{
    int64_t points[INTERVALS + 1];
    if (need_types(table, diag) || image_make(&ethosu_layout, 0, image, diag) ||
        find_points(table, SHIFT, INTERVALS + 1, points, diag))
        return diag->code;
    for (int i = 0; i < INTERVALS; i++) {
        image->values[0][i] = points[i];
        image->values[1][i] = points[i + 1] - points[i];
        if (need_slope(i, image->values[1][i], diag))
            return diag->code;
    }
    return EXIT_DONE;
}

static int unpack_ethosu(const struct image *image, struct table *table, struct diag *diag)
{
    if (need_types(table, diag))
        return diag->code;
    segments_begin(table, PWL_ANCHORED, PWL_HALF_UP);
    for (int i = 0; i < INTERVALS; i++)
        if (segments_add(table, table->in.qmin + ((int64_t)i << SHIFT), image->values[1][i], SHIFT, image->values[0][i],
                         diag))
            return diag->code;
    return EXIT_DONE;
}

#define FLAGS                                                                                                          \
    "--method minimax --knots points:7 --offset-type s16 --rounding half_up --pow2-scales --in s16:2^-12:0 --out "     \
    "s16:auto:0"
#define LIMITS "signed codes of 16 bits, lines between points 128 codes apart"

const struct profile profile_tosa16 = {
    .name = "tosa16",
    .reader = "TOSA's TABLE and a RESCALE by 2^-7: Ethos-U by Vela, ExecuTorch's Arm backend",
    .limits = LIMITS,
    .flags = FLAGS,
    .layout = &points_layout,
    .notations = {&notation_bytes, &notation_mlir_points, &notation_c, &notation_npy},
    .pack = pack_points,
    .unpack = unpack_points,
};

const struct profile profile_ethosu16 = {
    .name = "ethosu16",
    .reader = "Ethos-U's table memory, from a command stream",
    .limits = LIMITS,
    .flags = FLAGS,
    .layout = &ethosu_layout,
    .notations = {&notation_bytes, &notation_c},
    .pack = pack_ethosu,
    .unpack = unpack_ethosu,
};

const struct profile profile_tflm16 = {
    .name = "tflm16",
    .reader = "kernels for TensorFlow Lite Micro, which look up int16",
    .limits = LIMITS,
    .flags = FLAGS,
    .layout = &points_layout,
    .notations = {&notation_c, &notation_bytes, &notation_npy},
    .pack = pack_points,
    .unpack = unpack_points,
};
