/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A module whose table is written at run time, or read from a file that a parameter names. */
#ifndef PWLC_RTL_LOADABLE_H
#define PWLC_RTL_LOADABLE_H

#include "module.h"

#define LOADABLE_STAGES 3

/* Bits of the fields of a word, from the highest, and of what is computed with them. */
struct loadable_layout {
    int below, slope, shift, offset;
    int acc;
};
struct loadable_layout loadable_layout(const struct table *table);

/* The words of the table, as many as options ask for, become the module's ROM. */
int module_of_words(struct module *m, struct diag *diag);

/* From `module` to `endmodule`. */
void loadable_add(struct text *out, const struct module *m);

#endif
