/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flatbuffer.h"

static uint64_t number(struct flatbuffer *buffer, uint64_t at, size_t bytes)
{
    uint64_t value;
    if (!buffer->broken && !window_number(buffer->window, at, bytes, &value))
        buffer->broken = true;
    return buffer->broken ? 0 : value;
}

/* The table at a place: its first four bytes are how far before it the vtable lies, as a signed number, and the vtable
 * begins with its own size and that of the table. */
static struct flatbuffer_table table_at(struct flatbuffer *buffer, uint64_t at)
{
    const struct flatbuffer_table none = {0};
    const int64_t back = (int32_t)(uint32_t)number(buffer, at, 4);
    const int64_t vtable = (int64_t)at - back; /* at is at most the size of a file and 2^32 */
    if (vtable < 0)
        buffer->broken = true;
    if (buffer->broken)
        return none;
    struct flatbuffer_table table = {.at = at, .vtable = (uint64_t)vtable};
    table.vtable_bytes = (size_t)number(buffer, table.vtable, 2);
    table.bytes = (size_t)number(buffer, table.vtable + 2, 2);
    if (table.vtable_bytes < 4 || table.vtable_bytes > buffer->window->size - table.vtable || table.bytes < 4 ||
        table.bytes > buffer->window->size - table.at)
        buffer->broken = true;
    return buffer->broken ? none : table;
}

/* What the offset at a place refers to; 0 when broken. */
static uint64_t follow(struct flatbuffer *buffer, uint64_t at)
{
    const uint64_t offset = number(buffer, at, 4);
    return buffer->broken ? 0 : at + offset;
}

struct flatbuffer_table flatbuffer_root(struct flatbuffer *buffer)
{
    const uint64_t at = follow(buffer, 0);
    return buffer->broken ? (struct flatbuffer_table){0} : table_at(buffer, at);
}

/* Where a field of a table is; 0 when it is absent, also where the vtable ends before it. */
static uint64_t field_at(struct flatbuffer *buffer, struct flatbuffer_table table, int field, size_t bytes)
{
    const size_t entry = 4 + 2 * (size_t)field;
    if (table.at == 0 || entry + 2 > table.vtable_bytes)
        return 0;
    const size_t offset = (size_t)number(buffer, table.vtable + entry, 2);
    if (offset == 0)
        return 0;
    if (offset < 4 || offset > table.bytes || bytes > table.bytes - offset)
        buffer->broken = true;
    return buffer->broken ? 0 : table.at + offset;
}

uint64_t flatbuffer_scalar(struct flatbuffer *buffer, struct flatbuffer_table table, int field, size_t bytes)
{
    const uint64_t at = field_at(buffer, table, field, bytes);
    return at ? number(buffer, at, bytes) : 0;
}

struct flatbuffer_table flatbuffer_child(struct flatbuffer *buffer, struct flatbuffer_table table, int field)
{
    const uint64_t at = field_at(buffer, table, field, 4), child = at ? follow(buffer, at) : 0;
    return child ? table_at(buffer, child) : (struct flatbuffer_table){0};
}

struct flatbuffer_vector flatbuffer_list(struct flatbuffer *buffer, struct flatbuffer_table table, int field,
                                         size_t element_bytes)
{
    const struct flatbuffer_vector none = {0};
    const uint64_t at = field_at(buffer, table, field, 4), start = at ? follow(buffer, at) : 0;
    if (!start)
        return none;
    const struct flatbuffer_vector vector = {start + 4, (uint32_t)number(buffer, start, 4)};
    if (!buffer->broken && vector.count > (buffer->window->size - vector.at) / element_bytes)
        buffer->broken = true;
    return buffer->broken ? none : vector;
}

struct flatbuffer_table flatbuffer_item(struct flatbuffer *buffer, struct flatbuffer_vector vector, uint32_t index)
{
    const uint64_t at = follow(buffer, vector.at + 4 * (uint64_t)index);
    return at ? table_at(buffer, at) : (struct flatbuffer_table){0};
}

uint64_t flatbuffer_element(struct flatbuffer *buffer, struct flatbuffer_vector vector, uint32_t index, size_t bytes)
{
    return number(buffer, vector.at + (uint64_t)index * bytes, bytes);
}
