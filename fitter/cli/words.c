/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "words.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "function/quantise.h"

static int add(struct codes *codes, int64_t value, struct diag *diag)
{
    if (codes->count == codes->capacity) {
        const size_t capacity = codes->capacity ? 2 * codes->capacity : 256;
        int64_t *values =
            capacity > SIZE_MAX / sizeof *values ? NULL : realloc(codes->values, capacity * sizeof *values);
        if (!values)
            return diag_set(diag, EXIT_IO, "out of memory for %zu codes", capacity);
        codes->values = values;
        codes->capacity = capacity;
    }
    codes->values[codes->count++] = value;
    return EXIT_DONE;
}

int codes_add_word(struct codes *codes, const char *word, size_t length, struct diag *diag)
{
    const int shown = length > 60 ? 60 : (int)length;
    if (codes->real) {
        double x;
        if (number_real(word, length, &x) != NUMBER_OK)
            return diag_set(diag, EXIT_USAGE, "\"%.*s\" is not a finite real value, such as -1.5 or 3e-2", shown, word);
        return add(codes, quantise(codes->in, x), diag);
    }
    int64_t q;
    switch (number_integer(word, length, &q)) {
    case NUMBER_OK:
        return add(codes, q, diag);
    case NUMBER_RANGE:
        return diag_set(diag, EXIT_USAGE, "\"%.*s\" does not fit 64 bits; the table's codes are %" PRId64 "..%" PRId64,
                        shown, word, codes->in->qmin, codes->in->qmax);
    default:
        return diag_set(diag, EXIT_USAGE, "\"%.*s\" is not an integer code; real values need --real", shown, word);
    }
}

static int fail_in_line(size_t line, struct diag *diag)
{
    char where[64];
    snprintf(where, sizeof where, "standard input: line %zu", line);
    return diag_prefix(diag, where);
}

int codes_add_words(struct codes *codes, const char *text, size_t size, size_t *line, struct diag *diag)
{
    for (size_t at = 0; at < size;) {
        if (isspace((unsigned char)text[at])) {
            *line += text[at++] == '\n';
            continue;
        }
        const size_t start = at;
        while (at < size && !isspace((unsigned char)text[at]))
            at++;
        if (codes_add_word(codes, text + start, at - start, diag) != EXIT_DONE)
            return fail_in_line(*line, diag);
    }
    return EXIT_DONE;
}

/* -- Standard input ---------------------------------------------------------------------------------------------------
 */

#define PIECE_BYTES 65536 /* longer than any word may be */

struct piece {
    char bytes[PIECE_BYTES];
    size_t size; /* the last word of which may be a part of one */
    size_t line; /* of its beginning */
    bool has_ended;
};

static int read_on(struct piece *piece, struct diag *diag)
{
    ssize_t got;
    while ((got = read(STDIN_FILENO, piece->bytes + piece->size, sizeof piece->bytes - piece->size)) < 0)
        if (errno != EINTR)
            return diag_set(diag, EXIT_IO, "standard input: cannot read: %s", strerror(errno));
    piece->has_ended = got == 0;
    piece->size += (size_t)got;
    return EXIT_DONE;
}

/* Bytes up to the end of the last word that is whole. */
static size_t whole_words(const struct piece *piece)
{
    size_t size = piece->size;
    while (!piece->has_ended && size > 0 && !isspace((unsigned char)piece->bytes[size - 1]))
        size--;
    return size;
}

static int add_piece(struct codes *codes, struct piece *piece, struct diag *diag)
{
    const size_t size = whole_words(piece);
    if (codes_add_words(codes, piece->bytes, size, &piece->line, diag) != EXIT_DONE)
        return diag->code;
    piece->size -= size;
    memmove(piece->bytes, piece->bytes + size, piece->size);
    if (piece->size < sizeof piece->bytes)
        return EXIT_DONE;
    diag_set(diag, EXIT_USAGE, "a word of more than %zu characters, \"%.60s...\", is no code", sizeof piece->bytes,
             piece->bytes);
    return fail_in_line(piece->line, diag);
}

int codes_read(struct codes *codes, codes_take *take, void *context, struct diag *diag)
{
    const size_t first = codes->count;
    struct piece *const piece = malloc(sizeof *piece);
    if (!piece)
        return diag_set(diag, EXIT_IO, "out of memory");
    piece->size = 0;
    piece->line = 1;
    piece->has_ended = false;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && !piece->has_ended) {
        code = read_on(piece, diag);
        if (code == EXIT_DONE)
            code = add_piece(codes, piece, diag);
        if (code != EXIT_DONE || (!piece->has_ended && codes->count - first < CODES_AT_LEAST))
            continue;
        code = take(context, codes->values + first, codes->count - first, diag);
        codes->count = first;
    }
    free(piece);
    return code;
}
