/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "integers.h"

#define INTEGER_BYTES 8

void record_add_integer(struct text *record, int64_t value)
{
    unsigned char bytes[INTEGER_BYTES];
    for (int i = 0; i < INTEGER_BYTES; i++)
        bytes[i] = (unsigned char)((uint64_t)value >> 8 * i);
    text_add_bytes(record, bytes, sizeof bytes);
}

void record_add_real(struct text *record, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    record_add_integer(record, bits);
}

void record_add_dd(struct text *record, struct dd value)
{
    record_add_real(record, value.hi);
    record_add_real(record, value.lo);
}

void record_add_string(struct text *record, const char *bytes, size_t size)
{
    record_add_integer(record, (int64_t)size);
    text_add_bytes(record, bytes, size);
}

void record_add_diag(struct text *record, const struct diag *diag)
{
    record_add_integer(record, diag->code);
    record_add_string(record, diag->text, diag->code ? strlen(diag->text) : 0);
}

int64_t record_integer(struct record *record)
{
    if (record->failed || record->size < INTEGER_BYTES) {
        record->failed = true;
        return 0;
    }
    const uint64_t value = little_endian(record->bytes, INTEGER_BYTES);
    record->bytes += INTEGER_BYTES;
    record->size -= INTEGER_BYTES;
    return (int64_t)value;
}

double record_real(struct record *record)
{
    const int64_t bits = record_integer(record);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

struct dd record_dd(struct record *record)
{
    const double hi = record_real(record);
    return (struct dd){hi, record_real(record)};
}

char *record_string(struct record *record, size_t *size)
{
    const int64_t length = record_integer(record);
    *size = 0;
    if (record->failed || length < 0 || (uint64_t)length > record->size) {
        record->failed = true;
        return NULL;
    }
    char *const copy = malloc((size_t)length + 1);
    if (!copy) {
        record->failed = true;
        return NULL;
    }
    memcpy(copy, record->bytes, (size_t)length);
    copy[length] = '\0';
    record->bytes += length;
    record->size -= (size_t)length;
    *size = (size_t)length;
    return copy;
}

void record_diag(struct record *record, struct diag *diag)
{
    size_t size;
    diag->code = (int)record_integer(record);
    char *const text = record_string(record, &size);
    if (size >= sizeof diag->text)
        record->failed = true;
    else if (text)
        memcpy(diag->text, text, size + 1);
    free(text);
}

bool record_is_read(const struct record *record)
{
    return !record->failed && record->size == 0;
}
