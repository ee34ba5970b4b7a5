/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wire format of protobuf messages, field by field. What a field takes lies in its message, or the file is broken.
 */
#ifndef PWLC_PROTOBUF_H
#define PWLC_PROTOBUF_H

#include "window.h"

struct protobuf {
    struct window *window;
    bool broken;    /* nothing more is read then */
    uint64_t where; /* the field that broke it */
};

/* The part [at, end) of the file. */
struct protobuf_span {
    uint64_t at, end;
};

enum protobuf_wire { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

struct protobuf_field {
    uint64_t number;
    enum protobuf_wire wire;
    uint64_t value;            /* unless PROTOBUF_BYTES */
    struct protobuf_span span; /* of PROTOBUF_BYTES: a string, a message, or packed elements */
};

/* The next field of a message, whose `at` then is after it; false at its end, and when it is broken. */
bool protobuf_next(struct protobuf *buffer, struct protobuf_span *message, struct protobuf_field *field);

/* The next element of packed varints. */
bool protobuf_varint(struct protobuf *buffer, struct protobuf_span *packed, uint64_t *value);

#endif
