/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A unit while it is written, and what units of both families have alike. */
#ifndef PWLC_EMIT_RTL_ROW_MODULE_H
#define PWLC_EMIT_RTL_ROW_MODULE_H

#include "base/integers.h"
#include "emit/options.h"
#include "operator/operator.h"

/* Of the core's words, and of its codes. */
enum { RECIPROCAL_FIRST = 32768, ROOT_FIRST = 16384 };

struct row_module {
    const struct row_operator *of;
    const struct packed_operator *packed;
    char name[EMIT_NAME_SIZE];
    int lanes;
};

/* The name, as --prefix and --name say. */
int row_module_name(const struct row_operator *of, const struct emit_options *options, char name[EMIT_NAME_SIZE],
                    struct diag *diag);

/* "  localparam integer NAME = VALUE;  // what it is" */
void row_add_number(struct text *out, const char *name, int64_t value, const char *what);

/* A text in which UNIT stands for the unit's name. */
void row_add_named(struct text *out, const struct row_module *m, const char *text);

/* `function ... clip(value)`: the output code of a value from low to high, of so many bits, less the zero point. */
void row_add_clip(struct text *out, const struct row_operator *of, int bits, bool is_signed, wide low, wide high);

/* CoreStep, the step at which core_y is that of word_q, which is there from a step on. */
int row_core_step(struct text *out, int word_step);

/* What the core gives for the upper bits of word_q, as core_y of 16 bits. */
void row_add_core(struct text *out, const struct row_module *m, int first);

/* The smallest and largest err >> 15 of a Newton step over all words. */
void row_core_errors(const struct row_module *m, int first, wide *low, wide *high);

/* Ports, the row's buffer and the order of events. */
void row_add_ports(struct text *out, const struct row_module *m);
void row_add_stream(struct text *out, const struct row_module *m);

/* Bodies. */
int row_add_softmax(struct text *out, const struct row_module *m, struct diag *diag);
int row_add_norm(struct text *out, const struct row_module *m, struct diag *diag);

#endif
