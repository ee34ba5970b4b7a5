/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kinds of C header share: names, types, literals, arrays, banner. */
#ifndef PWLC_EMIT_C_H
#define PWLC_EMIT_C_H

#include <stdbool.h>
#include <stdint.h>

#include "emit/options.h"

enum c_kind {
    C_RUNTIME,    /* const tables for the runtime */
    C_STANDALONE, /* with an evaluation of its own */
    C_CUDA        /* the same for host and device: a device reads no array of the host's file scope */
};

/* A table with what its header is written from. */
struct c_table {
    const struct table *table;
    enum c_kind kind;
    struct packed_table packed;
    char name[EMIT_NAME_SIZE];  /* of objects and functions */
    char upper[EMIT_NAME_SIZE]; /* of macros: name in upper case */
    const char *attribute;      /* of arrays; "" for none */
    const char *indent;         /* of arrays and their assertions */
    int64_t *column;            /* scratch for one array: segment_count values */
};

/* The integer type of a width: "uint16_t". bits is rounded up to 8, 16, 32 or 64. */
const char *c_type(int bits, bool is_signed);

/* Valid C11 and C++11 for any int64, the minima of int32 and int64 included; negative ones in parentheses. */
#define C_LITERAL_SIZE 48
const char *c_literal(int64_t value, char text[C_LITERAL_SIZE]);

/* `static const TYPE NAME_SUFFIX = {`, with the attribute where it belongs: an address space before the type, others
 * behind the name. The suffix ends with the brackets. */
void c_add_array_head(struct text *out, const char *attribute, const char *type, const char *name, const char *suffix);

/* `static const TYPE NAME_SUFFIX[] = {...};` of the column, in aligned rows. */
void c_add_array(struct text *out, const struct c_table *c, const char *type, const char *suffix);

/* The arrays of a table in the element types of its storage case. */
void c_add_start(struct text *out, const struct c_table *c);
void c_add_slope(struct text *out, const struct c_table *c);
void c_add_shift(struct text *out, const struct c_table *c);
void c_add_offset(struct text *out, const struct c_table *c);

/* Assertions, between begin and end. They fail the user's build when an array was edited to another length. */
void c_add_assert_begin(struct text *out, const struct c_table *c);
void c_add_count_assert(struct text *out, const struct c_table *c, const char *suffix);
void c_add_assert_end(struct text *out, const struct c_table *c);

/* The quantisation constants as macros. */
void c_add_constants(struct text *out, const struct c_table *c);

/* Of a reduced table: the initialiser of its pwl_reduction; the statements that turn the clamped `code` into the word q
 * of octave r, or return; those that turn the core's value v into y, not yet saturated. */
void c_add_runtime_reduction(struct text *out, const struct c_table *c);
void c_add_word(struct text *out, const struct c_table *c, const char *acc);
void c_add_restored(struct text *out, const struct c_table *c);

/* The part of a header that belongs to one table. */
void c_add_runtime_table(struct text *out, const struct c_table *c);
void c_add_standalone_table(struct text *out, const struct c_table *c);

int emit_c(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
           struct diag *diag);
int emit_cuda(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
              struct diag *diag);

#endif
