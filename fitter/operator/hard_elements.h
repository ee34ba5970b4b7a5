/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Codes that are hard for operators of elements: every one where they are few, else those next to where roundings meet,
 * and drawn ones. */
#ifndef PWLC_HARD_ELEMENTS_H
#define PWLC_HARD_ELEMENTS_H

#include "operator.h"

enum { HARD_ELEMENTS = 65536 }; /* places of the longest row */

/* One row of codes, as struct measured_row names it. */
struct element_row {
    const char *shape;
    uint32_t part, length;
};

/* Row k, and its codes into x and, of add, b; false past the last. `drawn` rows are the last of them, or none where the
 * rows before hold every code, or every two. */
bool hard_elements_row(const struct row_operator *of, int64_t k, int64_t drawn, void *x, void *b,
                       struct element_row *row);

#endif
