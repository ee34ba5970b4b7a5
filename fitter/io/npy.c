/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The format: numpy/lib/format.py's documentation, "NPY format version 1.0" to 3.0. */
#include "npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/half.h>

#include "base/integers.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6
#define ALIGNMENT 64 /* of the data, as numpy writes it */

/* The rest of the header, a Python dictionary literal. */
struct cursor {
    const char *at, *end;
};

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && strchr(" \t\r\n", *cursor->at) != NULL && *cursor->at != '\0')
        cursor->at++;
}

/* Takes c, after blanks, if it comes next. */
static bool take(struct cursor *cursor, char c)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

/* A string in single or double quotes without escapes, cut to size - 1 characters never: longer ones are refused. */
static bool take_string(struct cursor *cursor, char *text, size_t size)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || (*cursor->at != '\'' && *cursor->at != '"'))
        return false;
    const char quote = *cursor->at;
    const char *start = cursor->at + 1;
    const char *close = memchr(start, quote, (size_t)(cursor->end - start));
    if (close == NULL || (size_t)(close - start) >= size || memchr(start, '\\', (size_t)(close - start)) != NULL)
        return false;
    memcpy(text, start, (size_t)(close - start));
    text[close - start] = '\0';
    cursor->at = close + 1;
    return true;
}

static bool take_word(struct cursor *cursor, const char *word)
{
    const size_t length = strlen(word);
    skip_blanks(cursor);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static int parse_descr(const char *descr, struct npy *npy, struct diag *diag)
{
    static const char supported[] = "<f2, <f4, <f8, |i1, |u1, <i2, <u2, <i4, <u4, <i8 or <u8";
    const char order = descr[0];
    if (order == '>')
        return diag_set(diag, EXIT_USAGE, "npy header: descr '%s' is big-endian; write little-endian data, %s", descr,
                        supported);
    const bool shaped = (order == '<' || order == '|') && strlen(descr) == 3;
    const char kind = shaped ? descr[1] : '\0';
    const int item_size = shaped ? descr[2] - '0' : 0;
    const bool known_size = item_size == 1 || item_size == 2 || item_size == 4 || item_size == 8;
    const bool integer = (kind == 'i' || kind == 'u') && known_size;
    const bool real = kind == 'f' && known_size && item_size != 1;
    if ((!integer && !real) || (order == '|' && item_size != 1))
        return diag_set(diag, EXIT_USAGE, "npy header: descr '%s' is not supported; use %s", descr, supported);
    npy->kind = kind;
    npy->item_size = item_size;
    return EXIT_DONE;
}

static int shape_error(const char *why, struct diag *diag)
{
    return diag_set(diag, EXIT_USAGE, "npy header: shape %s; it is a tuple of sizes such as (100, 2)", why);
}

static int parse_shape(struct cursor *cursor, struct npy *npy, struct diag *diag)
{
    npy->dimensions = 0;
    if (!take(cursor, '('))
        return shape_error("is not a tuple", diag);
    while (!take(cursor, ')')) {
        if (npy->dimensions == NPY_MAX_DIMENSIONS)
            return diag_set(diag, EXIT_USAGE, "npy header: shape has more than %d dimensions", NPY_MAX_DIMENSIONS);
        skip_blanks(cursor);
        if (cursor->at < cursor->end && *cursor->at == '-')
            return shape_error("has a negative size", diag);
        const char *start = cursor->at;
        size_t size = 0;
        for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
            const size_t digit = (size_t)(*cursor->at - '0');
            if (size > (SIZE_MAX - digit) / 10)
                return shape_error("has a size too large for memory", diag);
            size = size * 10 + digit;
        }
        if (cursor->at == start)
            return shape_error("has a size that is not a whole number", diag);
        npy->shape[npy->dimensions++] = size;
        const bool comma = take(cursor, ',');
        skip_blanks(cursor);
        const bool closed = cursor->at < cursor->end && *cursor->at == ')';
        if (!closed && !comma)
            return shape_error("is not closed", diag);
        if (closed && !comma && npy->dimensions == 1)
            return shape_error("is a number in brackets", diag);
    }
    return EXIT_DONE;
}

static int parse_header(struct cursor cursor, struct npy *npy, struct diag *diag)
{
    bool has_descr = false, has_order = false, has_shape = false;
    bool more = true;
    if (!take(&cursor, '{'))
        return diag_set(diag, EXIT_USAGE, "npy header: not a Python dictionary with descr, fortran_order and shape");
    while (!take(&cursor, '}')) {
        char key[24];
        if (!more || !take_string(&cursor, key, sizeof key) || !take(&cursor, ':'))
            return diag_set(diag, EXIT_USAGE, "npy header: a key in quotes, ':' and a value must follow each other");
        bool *seen;
        int code = EXIT_DONE;
        if (strcmp(key, "descr") == 0) {
            char descr[24];
            seen = &has_descr;
            if (!take_string(&cursor, descr, sizeof descr))
                return diag_set(diag, EXIT_USAGE, "npy header: descr must be one simple type such as '<f8'");
            code = parse_descr(descr, npy, diag);
        } else if (strcmp(key, "fortran_order") == 0) {
            seen = &has_order;
            if (take_word(&cursor, "True"))
                return diag_set(diag, EXIT_USAGE,
                                "npy header: fortran_order is True; save the array in C order (False)");
            if (!take_word(&cursor, "False"))
                return diag_set(diag, EXIT_USAGE, "npy header: fortran_order must be False");
        } else if (strcmp(key, "shape") == 0) {
            seen = &has_shape;
            code = parse_shape(&cursor, npy, diag);
        } else {
            return diag_set(diag, EXIT_USAGE, "npy header: unknown key '%s'; only descr, fortran_order and shape", key);
        }
        if (code != EXIT_DONE)
            return code;
        if (*seen)
            return diag_set(diag, EXIT_USAGE, "npy header: key '%s' appears twice", key);
        *seen = true;
        more = take(&cursor, ',');
    }
    skip_blanks(&cursor);
    if (cursor.at != cursor.end)
        return diag_set(diag, EXIT_USAGE, "npy header: only blanks may follow the dictionary");
    if (!has_descr || !has_order || !has_shape)
        return diag_set(diag, EXIT_USAGE, "npy header: key '%s' is missing",
                        !has_descr   ? "descr"
                        : !has_order ? "fortran_order"
                                     : "shape");
    return EXIT_DONE;
}

/* count = product of shape; false when it leaves size_t. A zero size makes it 0 whatever the others are. */
static bool multiply_shape(struct npy *npy)
{
    npy->count = 1;
    for (int i = 0; i < npy->dimensions; i++)
        if (npy->shape[i] == 0)
            npy->count = 0;
    for (int i = 0; i < npy->dimensions && npy->count != 0; i++) {
        if (npy->count > SIZE_MAX / npy->shape[i])
            return false;
        npy->count *= npy->shape[i];
    }
    return true;
}

bool npy_recognise(const char *path, const void *bytes, size_t size)
{
    const size_t length = strlen(path);
    return (length >= 4 && strcmp(path + length - 4, ".npy") == 0) ||
           (size >= MAGIC_SIZE && memcmp(bytes, MAGIC, MAGIC_SIZE) == 0);
}

int npy_parse_header(const void *bytes, size_t size, struct npy *npy, size_t *data_start, struct diag *diag)
{
    const unsigned char *file = bytes;
    memset(npy, 0, sizeof *npy);
    if (size < MAGIC_SIZE + 2 || memcmp(file, MAGIC, MAGIC_SIZE) != 0)
        return diag_set(diag, EXIT_USAGE, "not an npy file: it does not start with \\x93NUMPY and a version");
    const int major = file[MAGIC_SIZE], minor = file[MAGIC_SIZE + 1];
    if (major < 1 || major > 3 || minor != 0)
        return diag_set(diag, EXIT_USAGE, "npy version %d.%d is not supported; use 1.0, 2.0 or 3.0", major, minor);
    const size_t start = MAGIC_SIZE + 2 + (major == 1 ? 2 : 4);
    if (size < start)
        return diag_set(diag, EXIT_USAGE, "npy file ends inside its header length");
    const uint64_t header_size = little_endian(file + MAGIC_SIZE + 2, major == 1 ? 2 : 4);
    if (size >= NPY_MAX_START && header_size > NPY_MAX_START - start)
        return diag_set(diag, EXIT_USAGE, "npy header length is %" PRIu64 ", must be at most %zu", header_size,
                        NPY_MAX_START - start);
    if (header_size > size - start)
        return diag_set(diag, EXIT_USAGE, "npy header length %" PRIu64 " exceeds the %zu bytes that follow it",
                        header_size, size - start);
    const char *header = (const char *)file + start;
    const int code = parse_header((struct cursor){header, header + header_size}, npy, diag);
    if (code != EXIT_DONE)
        return code;
    if (!multiply_shape(npy) || npy->count > SIZE_MAX / (size_t)npy->item_size)
        return shape_error("is too large for memory", diag);
    *data_start = start + (size_t)header_size;
    return EXIT_DONE;
}

int npy_check_size(const struct npy *npy, uint64_t data_size, struct diag *diag)
{
    const size_t needed = npy->count * (size_t)npy->item_size;
    if (needed == data_size)
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "npy data is %" PRIu64 " bytes; the header's shape and type need %zu", data_size,
                    needed);
}

int npy_parse(const void *bytes, size_t size, struct npy *npy, struct diag *diag)
{
    size_t start;
    if (npy_parse_header(bytes, size, npy, &start, diag) != EXIT_DONE)
        return diag->code;
    npy->data = (const unsigned char *)bytes + start;
    return npy_check_size(npy, size - start, diag);
}

static double element_real(const struct npy *npy, uint64_t bits)
{
    if (npy->item_size == 2)
        return (double)pwl_f32_from_f16((uint16_t)bits);
    return npy->item_size == 4 ? (double)pwl_f32_of_bits((uint32_t)bits) : pwl_f64_of_bits(bits);
}

/* Two's complement of 8 * item_size bits, widened. */
static int64_t element_signed(const struct npy *npy, uint64_t bits)
{
    const uint64_t sign = (uint64_t)1 << (8 * npy->item_size - 1);
    if ((bits & sign) == 0)
        return (int64_t)bits;
    const uint64_t below = sign - 1 - (bits & (sign - 1)); /* -value - 1, at most INT64_MAX */
    return -(int64_t)below - 1;
}

int64_t npy_integer(const struct npy *npy, size_t index)
{
    const uint64_t bits = little_endian(npy->data + index * (size_t)npy->item_size, (size_t)npy->item_size);
    if (npy->kind == 'i')
        return element_signed(npy, bits);
    if (npy->kind == 'u')
        return bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
    const double value = element_real(npy, bits);
    if (isnan(value))
        return 0;
    return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

double npy_real(const struct npy *npy, size_t index)
{
    const uint64_t bits = little_endian(npy->data + index * (size_t)npy->item_size, (size_t)npy->item_size);
    if (npy->kind == 'i')
        return (double)element_signed(npy, bits);
    return npy->kind == 'u' ? (double)bits : element_real(npy, bits);
}

void npy_reals(const struct npy *npy, size_t from, size_t count, double *reals)
{
    /* Elements of 4 and 8 bytes are put in order behind the room for what is made of them before. */
    const size_t size = (size_t)npy->item_size;
    unsigned char *const elements = (unsigned char *)reals + count * (sizeof *reals - size);
    if (npy->kind != 'f' || size == 2) {
        for (size_t i = 0; i < count; i++)
            reals[i] = npy_real(npy, from + i);
        return;
    }
    memcpy(elements, npy->data + from * size, count * size);
    npy_swap_order(elements, count, npy->item_size);
    for (size_t i = 0; size == 4 && i < count; i++) {
        float real;
        memcpy(&real, elements + 4 * i, sizeof real);
        reals[i] = (double)real;
    }
}

void npy_store(unsigned char *to, uint64_t bits, int item_size)
{
    for (int i = 0; i < item_size; i++)
        to[i] = (unsigned char)(bits >> (8 * i));
}

void npy_swap_order(void *elements, size_t count, int item_size)
{
    unsigned char *bytes = elements;
    const uint16_t one = 1;
    if (*(const unsigned char *)&one == 1 || item_size == 1)
        return;
    for (; count > 0; count--, bytes += item_size) {
        for (int i = 0; i < item_size / 2; i++) {
            const unsigned char byte = bytes[i];
            bytes[i] = bytes[item_size - 1 - i];
            bytes[item_size - 1 - i] = byte;
        }
    }
}

void npy_shape_text(const struct npy *npy, char text[NPY_SHAPE_SIZE])
{
    size_t used = (size_t)snprintf(text, NPY_SHAPE_SIZE, "(");
    for (int i = 0; i < npy->dimensions; i++)
        used += (size_t)snprintf(text + used, NPY_SHAPE_SIZE - used, "%s%zu", i == 0 ? "" : ", ", npy->shape[i]);
    snprintf(text + used, NPY_SHAPE_SIZE - used, npy->dimensions == 1 ? ",)" : ")");
}

int npy_build_header(const struct npy *npy, unsigned char header[NPY_HEADER_SIZE], size_t *size, struct diag *diag)
{
    char descr[4] = {npy->item_size == 1 ? '|' : '<', npy->kind, (char)('0' + npy->item_size), '\0'};
    struct npy copy = *npy;
    if (npy->dimensions < 0 || npy->dimensions > NPY_MAX_DIMENSIONS || npy->item_size < 1 || npy->item_size > 8 ||
        parse_descr(descr, &copy, diag) != EXIT_DONE || !multiply_shape(&copy) || copy.count != npy->count ||
        npy->count > (SIZE_MAX - NPY_HEADER_SIZE) / (size_t)npy->item_size)
        return diag_set(diag, EXIT_IO, "npy: an array of type '%s', %d dimensions and %zu elements cannot be written",
                        descr, npy->dimensions, npy->count);

    char shape[NPY_SHAPE_SIZE];
    char text[sizeof shape + 128];
    npy_shape_text(npy, shape);
    const size_t text_size =
        (size_t)snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    const size_t start = MAGIC_SIZE + 4;
    *size = (start + text_size + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(header, ' ', *size);
    memcpy(header, MAGIC "\x01\x00", MAGIC_SIZE + 2);
    npy_store(header + MAGIC_SIZE + 2, *size - start, 2);
    memcpy(header + start, text, text_size);
    header[*size - 1] = '\n';
    return EXIT_DONE;
}

int npy_build(const struct npy *npy, unsigned char **bytes, size_t *size, struct diag *diag)
{
    unsigned char header[NPY_HEADER_SIZE];
    size_t start;
    *bytes = NULL;
    *size = 0;
    if (npy_build_header(npy, header, &start, diag) != EXIT_DONE)
        return diag->code;
    const size_t data_size = npy->count * (size_t)npy->item_size;
    unsigned char *file = malloc(start + data_size);
    if (file == NULL)
        return diag_set(diag, EXIT_IO, "out of memory for an npy file of %zu bytes", start + data_size);
    memcpy(file, header, start);
    if (data_size > 0)
        memcpy(file + start, npy->data, data_size);
    *bytes = file;
    *size = start + data_size;
    return EXIT_DONE;
}
