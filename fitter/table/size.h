/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table takes: bytes of its arrays in C, bits of its fields in hardware. */
#ifndef PWLC_SIZE_H
#define PWLC_SIZE_H

#include <stdbool.h>

#include "table.h"

/* Whether every input code has a segment of its own, without a slope: code that is written for the table alone, and
 * hardware, store the outputs and nothing else. */
bool table_is_full(const struct table *table);

/* Bytes of the stored arrays: packed_segment_bytes() a segment, of a full table those of an output code. */
int table_bytes(const struct table *table);

/* The narrowest field that holds a table's values: two's complement where one is negative. */
struct field_width {
    int bits;
    bool is_signed;
};

/* The fields of a segment. A field that is the same in all segments takes 0 bits, since it is a constant. Of a full
 * table `value` alone, its outputs. */
struct field_widths {
    struct field_width start, q_b, n, offset, value;
    int rom_bits; /* of all segments together */
};

struct field_widths table_field_widths(const struct table *table);

#endif
