/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"

int image_count(const struct image *image, int field)
{
    const int count = image->layout->fields[field].count;
    return count ? count : image->entries;
}

int image_make(const struct layout *layout, int entries, struct image *image, struct diag *diag)
{
    *image = (struct image){.layout = layout, .entries = entries, .shift = -1, .step_bits = -1};
    for (int f = 0; layout->fields[f].name; f++) {
        image->values[f] = calloc((size_t)image_count(image, f), sizeof *image->values[f]);
        if (!image->values[f]) {
            image_free(image);
            return diag_set(diag, EXIT_IO, "out of memory for a table of %d entries", entries);
        }
    }
    return EXIT_DONE;
}

void image_free(struct image *image)
{
    for (int f = 0; f < LAYOUT_MAX_FIELDS; f++) {
        free(image->values[f]);
        image->values[f] = NULL;
    }
}

int64_t *image_field(const struct image *image, const char *name)
{
    int f = 0;
    while (strcmp(image->layout->fields[f].name, name) != 0)
        f++;
    return image->values[f];
}

static struct integers field_range(const struct layout_field *field)
{
    if (field->bits == 64)
        return (struct integers){INT64_MIN, INT64_MAX}; /* unsigned ones are taken modulo 2^64 */
    if (!field->is_signed)
        return (struct integers){0, (int64_t)(UINT64_MAX >> (64 - field->bits))};
    const int64_t high = INT64_MAX >> (64 - field->bits);
    return (struct integers){-high - 1, field->any_sign ? 2 * high + 1 : high};
}

int image_check(const struct image *image, struct diag *diag)
{
    for (int f = 0; image->layout->fields[f].name; f++) {
        const struct layout_field *field = &image->layout->fields[f];
        const struct integers range = field_range(field);
        for (int k = 0; k < image_count(image, f); k++)
            if (image->values[f][k] < range.low || image->values[f][k] > range.high)
                return diag_set(diag, EXIT_REQUIREMENT,
                                "%s[%d] would be %" PRId64 "; the layout has %d bits for it, %" PRId64 " to %" PRId64,
                                field->name, k, image->values[f][k], field->bits, range.low, range.high);
    }
    return EXIT_DONE;
}

static size_t element_at(const struct layout_field *field, int k)
{
    const size_t gaps = field->group ? (size_t)(k / field->group) * field->gap : 0;
    return field->at + (size_t)k * field->step + gaps;
}

static void put_bits(unsigned char *bytes, size_t at, int bits, int64_t value)
{
    for (int b = 0; b < bits; b++)
        if ((uint64_t)value >> b & 1)
            bytes[(at + (size_t)b) / 8] |= (unsigned char)(1u << (at + (size_t)b) % 8);
}

static int64_t get_bits(const unsigned char *bytes, size_t at, int bits, bool is_signed)
{
    uint64_t value = 0;
    for (int b = 0; b < bits; b++)
        value |= (uint64_t)(bytes[(at + (size_t)b) / 8] >> (at + (size_t)b) % 8 & 1) << b;
    if (is_signed && bits < 64 && value >> (bits - 1) & 1)
        value |= UINT64_MAX << bits;
    int64_t number;
    memcpy(&number, &value, sizeof number);
    return number;
}

static size_t image_size(const struct image *image)
{
    const struct layout *layout = image->layout;
    return layout->bytes ? layout->bytes : (size_t)image->entries * layout->entry_bytes;
}

void image_write(const struct image *image, struct text *out)
{
    const struct layout *layout = image->layout;
    const size_t size = image_size(image);
    unsigned char *bytes = calloc(size, 1);
    if (!bytes) {
        out->failed = true;
        return;
    }
    for (int f = 0; layout->fields[f].name; f++) {
        const struct layout_field *field = &layout->fields[f];
        for (int k = 0; k < image_count(image, f); k++) {
            put_bits(bytes, element_at(field, k), field->bits, image->values[f][k]);
            if (field->copy)
                put_bits(bytes, element_at(field, k) + field->copy, field->bits, image->values[f][k]);
        }
    }
    text_add_bytes(out, bytes, size);
    free(bytes);
}

int image_check_entries(const struct layout *layout, size_t count, struct diag *diag)
{
    const size_t power = count - (size_t)layout->and_more;
    if (count >= (size_t)layout->min_entries && count <= (size_t)layout->max_entries &&
        (!layout->of_powers || (power & (power - 1)) == 0))
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "has %zu numbers; must have %s%d to %d", count,
                    !layout->of_powers  ? ""
                    : !layout->and_more ? "a power of two, "
                                        : "a power of two and one more, ",
                    layout->min_entries, layout->max_entries);
}

static int count_entries(const struct layout *layout, size_t size, int *entries, struct diag *diag)
{
    *entries = 0;
    if (layout->bytes)
        return size == layout->bytes
                   ? EXIT_DONE
                   : diag_set(diag, EXIT_USAGE, "has %zu bytes; a table has %zu", size, layout->bytes);
    const size_t count = size / layout->entry_bytes;
    if (size % layout->entry_bytes != 0 || count < (size_t)layout->min_entries || count > (size_t)layout->max_entries)
        return diag_set(diag, EXIT_USAGE, "has %zu bytes; a table has %zu for each of %d to %d entries", size,
                        layout->entry_bytes, layout->min_entries, layout->max_entries);
    if (image_check_entries(layout, count, diag))
        return diag->code;
    for (int f = 0; layout->fields[f].name; f++)
        if (layout->fields[f].group && count % (size_t)layout->fields[f].group != 0)
            return diag_set(diag, EXIT_USAGE, "has %zu bytes, so %zu entries; must have a multiple of %d", size, count,
                            layout->fields[f].group);
    *entries = (int)count;
    return EXIT_DONE;
}

/* That the numbers give the bytes again. */
static int check_padding(const struct image *image, const unsigned char *bytes, struct diag *diag)
{
    struct text again = {0};
    size_t at = 0;
    image_write(image, &again);
    if (again.failed)
        diag_set(diag, EXIT_IO, "out of memory for a table of %d entries", image->entries);
    while (!again.failed && at < again.size && (unsigned char)again.bytes[at] == bytes[at])
        at++;
    if (!again.failed && at < again.size)
        diag_set(diag, EXIT_USAGE, "byte %zu is 0x%02x; bits of no field must be 0, and it would be 0x%02x", at,
                 bytes[at], (unsigned char)again.bytes[at]);
    const bool good = !again.failed && at == again.size;
    text_free(&again);
    return good ? EXIT_DONE : diag->code;
}

int image_read(const struct layout *layout, const unsigned char *bytes, size_t size, struct image *image,
               struct diag *diag)
{
    int entries;
    *image = (struct image){.layout = layout, .shift = -1, .step_bits = -1};
    if (count_entries(layout, size, &entries, diag) || image_make(layout, entries, image, diag))
        return diag->code;
    image->from_bytes = true;
    for (int f = 0; layout->fields[f].name; f++) {
        const struct layout_field *field = &layout->fields[f];
        for (int k = 0; k < image_count(image, f); k++) {
            const size_t at = element_at(field, k);
            image->values[f][k] = get_bits(bytes, at, field->bits, field->is_signed);
            if (field->copy &&
                get_bits(bytes, at + field->copy, field->bits, field->is_signed) != image->values[f][k]) {
                diag_set(diag, EXIT_USAGE, "%s[%d]: its copy at byte %zu differs", field->name, k,
                         (at + field->copy) / 8);
                image_free(image);
                return diag->code;
            }
        }
    }
    if (check_padding(image, bytes, diag)) {
        image_free(image);
        return diag->code;
    }
    return EXIT_DONE;
}
