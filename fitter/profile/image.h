/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A consumer's table as numbers, and its bytes. A layout says where each number stands; one pair of functions writes
 * and reads every layout.
 *
 *     field.at        field.step     field.step
 *        |<--- bits --->|  |<--- bits --->|  |<--- bits --->|      all in bits from the start of the image,
 *        element 0         element 1         element 2             lowest bit of a byte first, little-endian
 */
#ifndef PWLC_PROFILE_IMAGE_H
#define PWLC_PROFILE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/file.h"

#define LAYOUT_MAX_FIELDS 16

struct layout_field {
    const char *name;
    int bits; /* 1 to 64 */
    bool is_signed;
    bool any_sign; /* numbers of either sign are read, and unpack says which; bytes give signed ones */
    int count;     /* elements; 0: one for each entry of the image */
    unsigned at;   /* of element 0 */
    unsigned step; /* from an element to the next */
    int group; /* so many elements stand together, and `gap` more bits lie before the next ones; 0: no such groups */
    unsigned gap;
    unsigned copy; /* each element stands a second time, so many bits further on; 0: once */
};

/* Bits that no field covers are 0. */
struct layout {
    const struct layout_field *fields; /* up to LAYOUT_MAX_FIELDS; end with a null name */
    size_t bytes;                      /* of the image; 0: entry_bytes for each entry */
    size_t entry_bytes;
    int min_entries, max_entries;
    bool of_powers; /* entries are a power of two and `and_more` */
    int and_more;
};

/* Numbers in the order of a layout's fields. */
struct image {
    const struct layout *layout;
    int entries; /* 0 where the layout has none */
    int64_t *values[LAYOUT_MAX_FIELDS];
    bool from_bytes; /* which do not tell the sign of a field of any sign */
    int shift;       /* of layouts whose reader brings it, as aie: the bits that it drops; -1: not told */
    int step_bits;   /* of aie, the bits of the codes that an entry serves; -1: not told */
    bool has_bias;   /* of finn, whether the file has the lowest output */
    int64_t bias;
};

/* Numbers that are 0. Exit 1 when memory is short. image_free is right after any of these functions. */
int image_make(const struct layout *layout, int entries, struct image *image, struct diag *diag);
void image_free(struct image *image);

/* Elements of a field. */
int image_count(const struct image *image, int field);

/* The index of the field of a name, which the layout has. */
int64_t *image_field(const struct image *image, const char *name);

/* Exit 2 unless a layout, which has entries, has so many. */
int image_check_entries(const struct layout *layout, size_t count, struct diag *diag);

/* Exit 3, naming field and element, when a number does not fit its field. */
int image_check(const struct image *image, struct diag *diag);

/* Appends the bytes of numbers that fit. */
void image_write(const struct image *image, struct text *out);

/* Exit 2 when the size is none that the layout has, copies differ, or a bit that no field covers is not 0. */
int image_read(const struct layout *layout, const unsigned char *bytes, size_t size, struct image *image,
               struct diag *diag);

#endif
