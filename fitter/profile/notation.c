/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "notation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "initialisers.h"
#include "io/npy.h"

void add_banner(const struct table *table, const char *open, const char *close, struct text *out)
{
    text_add(out, "%sSPDX-License-Identifier: 0BSD%s\n%s", open, close, open);
    escape_comment(out, table->spec);
    text_add(out, "%s\n", close);
}

static int write_bytes(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    (void)table;
    (void)diag;
    image_write(image, out);
    return EXIT_DONE;
}

static int read_bytes(const struct layout *layout, const char *bytes, size_t size, struct image *image,
                      struct origin *origin, struct diag *diag)
{
    (void)origin;
    return image_read(layout, (const unsigned char *)bytes, size, image, diag);
}

const struct notation notation_bytes = {"bytes", "the image, little-endian", write_bytes, read_bytes, NULL};

/* Of the integer that holds a number. */
static int held_bits(const struct layout_field *field)
{
    return field->bits <= 32 ? code_type_bits(field->bits) : 64;
}

/* The C type that holds a field. */
static void field_type(const struct layout_field *field, char name[16])
{
    snprintf(name, 16, "%sint%d_t", field->is_signed ? "" : "u", held_bits(field));
}

static int write_c(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    (void)diag;
    add_banner(table, "/* ", " */", out);
    text_add(out, "#include <stdint.h>\n");
    for (int f = 0; image->layout->fields[f].name; f++) {
        const struct layout_field *field = &image->layout->fields[f];
        char type[16];
        field_type(field, type);
        text_add(out, "\nstatic const %s %s[%d] = {", type, field->name, image_count(image, f));
        for (int k = 0; k < image_count(image, f); k++)
            text_add(out, "%s%" PRId64 ",", k % 12 ? " " : "\n    ", image->values[f][k]);
        text_add(out, "\n};\n");
    }
    return EXIT_DONE;
}

/* The numbers of the fields, in their order. */
static int read_c(const struct layout *layout, const char *bytes, size_t size, struct image *image,
                  struct origin *origin, struct diag *diag)
{
    struct initialiser *list;
    size_t count, next = 0, wanted = 0;
    (void)origin;
    if (initialisers_read(bytes, size, &list, &count, diag))
        return diag->code;
    if (!image_make(layout, 0, image, diag)) {
        for (int f = 0; layout->fields[f].name; f++)
            wanted += (size_t)image_count(image, f);
        if (count != wanted)
            diag_set(diag, EXIT_USAGE, "has %zu numbers; a table has %zu", count, wanted);
        for (int f = 0; !diag->code && layout->fields[f].name; f++)
            for (int k = 0; k < image_count(image, f) && !diag->code; k++, next++) {
                if (!list[next].is_integer)
                    diag_set(diag, EXIT_USAGE, "%s[%d] is %g; must be an integer", layout->fields[f].name, k,
                             list[next].real);
                image->values[f][k] = list[next].integer;
            }
    }
    free(list);
    return diag->code;
}

const struct notation notation_c = {"c", "a C array for each field", write_c, read_c, NULL};

static int write_npy(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    const struct layout_field *field = &image->layout->fields[0];
    const int item_size = held_bits(field) / 8;
    const size_t count = (size_t)image_count(image, 0);
    unsigned char *data = malloc(count * (size_t)item_size), *bytes = NULL;
    size_t size = 0;
    (void)table;
    if (!data)
        return diag_set(diag, EXIT_IO, "out of memory for an array");
    for (size_t k = 0; k < count; k++)
        npy_store(data + k * (size_t)item_size, (uint64_t)image->values[0][k], item_size);
    const struct npy npy = {.kind = field->is_signed ? 'i' : 'u',
                            .item_size = item_size,
                            .dimensions = 1,
                            .shape = {count},
                            .count = count,
                            .data = data};
    if (!npy_build(&npy, &bytes, &size, diag))
        text_add_bytes(out, bytes, size);
    free(bytes);
    free(data);
    return diag->code;
}

static int read_npy(const struct layout *layout, const char *bytes, size_t size, struct image *image,
                    struct origin *origin, struct diag *diag)
{
    struct npy npy;
    (void)origin;
    if (npy_parse(bytes, size, &npy, diag))
        return diag->code;
    const size_t wanted = (size_t)layout->fields[0].count;
    if (npy.kind == 'f' || (wanted && npy.count != wanted))
        return diag_set(diag, EXIT_USAGE, "has %zu %s; must have %zu integers", npy.count,
                        npy.kind == 'f' ? "reals" : "numbers", wanted ? wanted : (size_t)layout->max_entries);
    if (!wanted && image_check_entries(layout, npy.count, diag))
        return diag->code;
    if (image_make(layout, wanted ? 0 : (int)npy.count, image, diag))
        return diag->code;
    for (size_t k = 0; k < npy.count; k++)
        image->values[0][k] = npy_integer(&npy, k);
    return EXIT_DONE;
}

const struct notation notation_npy = {"npy", "a NumPy array", write_npy, read_npy, NULL};
