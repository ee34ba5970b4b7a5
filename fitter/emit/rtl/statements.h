/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What parts of a module say, line by line, for languages other than Verilog: declarations, comments, assignments. */
#ifndef PWLC_RTL_STATEMENTS_H
#define PWLC_RTL_STATEMENTS_H

#include <stddef.h>

#include "formula.h"
#include "module.h"

enum statement_kind {
    STATEMENT_BLANK,
    STATEMENT_COMMENT,
    STATEMENT_ASSIGNMENT,
    STATEMENT_UNUSED, /* bits of a signal, right->first->signal, are of no use */
    STATEMENT_UNKNOWN
};

struct statement {
    enum statement_kind kind;
    const char *text; /* the line; of a comment what is behind the slashes */
    int length;
    const struct declared *target;
    int bit; /* of the target; -1: all of it */
    const struct formula *right;
};

/* The ports x_i and y_o, then what the parts and their registers declare, in order. Exit 1 when memory runs out. The
 * caller frees all->list. */
int statements_declare(const struct module *m, struct declarations *all, struct diag *diag);

/* The next line of a text that is not empty, without blanks in front; null behind the last. */
const char *line_next(const char **rest, size_t *length);

/* The next statement of *rest; false behind the last. */
bool statement_next(const char **rest, const struct declarations *all, struct formulas *formulas, struct statement *s);

/* Exit 1: a language has no counterpart of it. */
int statement_refuse(const char *format, const struct statement *statement, struct diag *diag);

#endif
