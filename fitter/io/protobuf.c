/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protobuf.h"

#define MOST_VARINT_BYTES 10

static bool broken(struct protobuf *buffer, uint64_t where)
{
    buffer->broken = true;
    buffer->where = where;
    return false;
}

/* Seven bits a byte, the lowest first; the last byte alone is below 128. */
static bool take_varint(struct protobuf *buffer, struct protobuf_span *span, uint64_t *value)
{
    const uint64_t start = span->at;
    *value = 0;
    for (int i = 0; i < MOST_VARINT_BYTES && span->at < span->end; i++) {
        const unsigned char *const byte = window_see(buffer->window, span->at, 1);
        if (!byte)
            break;
        *value |= i < 9 ? (uint64_t)(*byte & 127) << 7 * i : (uint64_t)(*byte & 1) << 63;
        span->at++;
        if (*byte < 128)
            return true;
    }
    return broken(buffer, start);
}

static bool take_fixed(struct protobuf *buffer, struct protobuf_span *span, size_t bytes, uint64_t *value)
{
    if (span->end - span->at < bytes || !window_number(buffer->window, span->at, bytes, value))
        return broken(buffer, span->at);
    span->at += bytes;
    return true;
}

bool protobuf_varint(struct protobuf *buffer, struct protobuf_span *packed, uint64_t *value)
{
    return !buffer->broken && packed->at < packed->end && take_varint(buffer, packed, value);
}

bool protobuf_next(struct protobuf *buffer, struct protobuf_span *message, struct protobuf_field *field)
{
    const uint64_t start = message->at;
    uint64_t tag, size;
    *field = (struct protobuf_field){0};
    if (buffer->broken || start == message->end || !take_varint(buffer, message, &tag))
        return false;
    field->number = tag >> 3;
    field->wire = (enum protobuf_wire)(tag & 7);
    if (field->number == 0)
        return broken(buffer, start);
    switch (field->wire) {
    case PROTOBUF_VARINT:
        return take_varint(buffer, message, &field->value);
    case PROTOBUF_FIXED64:
        return take_fixed(buffer, message, 8, &field->value);
    case PROTOBUF_FIXED32:
        return take_fixed(buffer, message, 4, &field->value);
    case PROTOBUF_BYTES:
        if (!take_varint(buffer, message, &size))
            return false;
        if (size > message->end - message->at)
            return broken(buffer, start);
        field->span = (struct protobuf_span){message->at, message->at + size};
        message->at += size;
        return true;
    }
    return broken(buffer, start); /* groups, which nobody writes any more, and what never was */
}
