/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What pwlc eval does: words, lines of standard input and arrays through a table. */
#ifndef PWLC_EVALUATION_H
#define PWLC_EVALUATION_H

#include <stdbool.h>

#include "base/diag.h"
#include "table/table.h"

struct evaluation_request {
    const char *table_path;
    const char **inputs; /* in argv's order */
    int input_count;
    bool real, trace, line_buffered;
    const char *samples, *output;
};

/* Whether an argument is an array, by its name. */
bool evaluation_takes_array(const char *input);

/* Prints or writes the results of all inputs. packed is table, proven. */
int evaluate(const struct evaluation_request *request, const struct table *table, const struct packed_table *packed,
             struct diag *diag);

#endif
