/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few primitives of FlatBuffers files that readers need: tables, whose fields a vtable places, vectors, strings and
 * scalars, each found by an offset that is checked before use. */
#ifndef PWLC_FLATBUFFER_H
#define PWLC_FLATBUFFER_H

#include "window.h"

struct flatbuffer {
    struct window *window;
    bool broken; /* something was not where it should be; what is read from then on is 0 or absent */
};

/* Where a table is in the file, and its vtable; at is 0 where it is absent. */
struct flatbuffer_table {
    uint64_t at, vtable;
    size_t vtable_bytes, bytes; /* of the vtable; of the table's own fields */
};

/* A vector or a string: `count` elements from `at` on, all in the file; none where it is absent. */
struct flatbuffer_vector {
    uint64_t at;
    uint32_t count;
};

/* The table that a file begins with. */
struct flatbuffer_table flatbuffer_root(struct flatbuffer *buffer);

/* Fields of a table, by their number in the schema. A scalar of 1 to 8 bytes is 0 where it is absent; the schemas read
 * here have no other default. */
uint64_t flatbuffer_scalar(struct flatbuffer *buffer, struct flatbuffer_table table, int field, size_t bytes);
struct flatbuffer_table flatbuffer_child(struct flatbuffer *buffer, struct flatbuffer_table table, int field);
struct flatbuffer_vector flatbuffer_list(struct flatbuffer *buffer, struct flatbuffer_table table, int field,
                                         size_t element_bytes);

/* The element of a vector of tables, which has elements of 4 bytes; of one of scalars. index < count. */
struct flatbuffer_table flatbuffer_item(struct flatbuffer *buffer, struct flatbuffer_vector vector, uint32_t index);
uint64_t flatbuffer_element(struct flatbuffer *buffer, struct flatbuffer_vector vector, uint32_t index, size_t bytes);

#endif
