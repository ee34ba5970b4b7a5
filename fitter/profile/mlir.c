/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mlir.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"

#define CODES 65536 /* of the tensor that the function takes */

static void add_dense(const struct image *image, const char *type, struct text *out)
{
    text_add(out, "    %%table = \"tosa.const\"() <{values = dense<[");
    for (int k = 0; k < image_count(image, 0); k++)
        text_add(out, "%s%" PRId64, k == 0 ? "" : k % 16 ? ", " : ",\n      ", image->values[0][k]);
    text_add(out, "]> : %s}> : () -> %s\n", type, type);
}

static void add_constant(const char *name, int value, const char *type, struct text *out)
{
    text_add(out, "    %%%s = \"tosa.const\"() <{values = dense<%d> : tensor<1x%s>}> : () -> tensor<1x%s>\n", name,
             value, type, type);
}

static int write_table(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    (void)diag;
    text_add(out,
             "// SPDX-License-Identifier: 0BSD\n// %s\nmodule {\n  func.func @main(%%x: tensor<256xi8>) -> "
             "tensor<256xi8> {\n",
             table->spec);
    add_dense(image, "tensor<256xi8>", out);
    text_add(out, "    %%y = tosa.table %%x, %%table : (tensor<256xi8>, tensor<256xi8>) -> tensor<256xi8>\n"
                  "    return %%y : tensor<256xi8>\n  }\n}\n");
    return EXIT_DONE;
}

/* The table's outputs have 7 bits of fraction, which the rescale by 2^14 / 2^21 rounds away. */
static int write_points(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    (void)diag;
    text_add(out,
             "// SPDX-License-Identifier: 0BSD\n// %s\nmodule {\n  func.func @main(%%x: tensor<%dxi16>) -> "
             "tensor<%dxi16> {\n",
             table->spec, CODES, CODES);
    add_dense(image, "tensor<513xi16>", out);
    add_constant("multiplier", 1 << 14, "i16", out);
    add_constant("shift", 21, "i8", out);
    add_constant("input_zp", 0, "i32", out);
    add_constant("output_zp", 0, "i16", out);
    text_add(out,
             "    %%wide = tosa.table %%x, %%table : (tensor<%dxi16>, tensor<513xi16>) -> tensor<%dxi32>\n"
             "    %%y = tosa.rescale %%wide, %%multiplier, %%shift, %%input_zp, %%output_zp {input_unsigned = false, "
             "output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = false} : "
             "(tensor<%dxi32>, tensor<1xi16>, tensor<1xi8>, tensor<1xi32>, tensor<1xi16>) -> tensor<%dxi16>\n"
             "    return %%y : tensor<%dxi16>\n  }\n}\n",
             CODES, CODES, CODES, CODES, CODES);
    return EXIT_DONE;
}

/* The numbers of the first dense<[...]>. */
static int read_dense(const struct layout *layout, const char *bytes, size_t size, struct image *image,
                      struct origin *origin, struct diag *diag)
{
    static const char opening[] = "dense<[";
    (void)origin;
    if (image_make(layout, 0, image, diag))
        return diag->code;
    const char *at = strstr(bytes, opening), *end = at ? strchr(at, ']') : NULL;
    const int wanted = image_count(image, 0);
    int count = 0;
    if (!end || end > bytes + size) {
        diag_set(diag, EXIT_USAGE, "has no dense<[...]>; must have one of %d integers", wanted);
        at = end = NULL;
    }
    for (at = at ? at + strlen(opening) : NULL; at && at < end && !diag->code; at++) {
        at += strspn(at, " \t\r\n");
        const size_t length = strcspn(at, " \t\r\n,]");
        int64_t value;
        if (number_integer(at, length, &value) != NUMBER_OK)
            diag_set(diag, EXIT_USAGE, "dense<[...]>: number %d is \"%.*s\"; must be an integer", count,
                     length < 40 ? (int)length : 40, at);
        else if (count++ < wanted)
            image->values[0][count - 1] = value;
        at += length;
        at += strspn(at, " \t\r\n");
    }
    if (!diag->code && count != wanted)
        diag_set(diag, EXIT_USAGE, "dense<[...]> has %d numbers; must have %d", count, wanted);
    if (!diag->code && image_check(image, diag))
        diag->code = EXIT_USAGE;
    if (diag->code)
        image_free(image);
    return diag->code;
}

const struct notation notation_mlir_table = {"mlir", "text for tosa-opt", write_table, read_dense, NULL};
const struct notation notation_mlir_points = {"mlir", "text for tosa-opt", write_points, read_dense, NULL};
