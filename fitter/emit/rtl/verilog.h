/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A module as a whole: its style, its body, and the text around that. */
#ifndef PWLC_RTL_VERILOG_H
#define PWLC_RTL_VERILOG_H

#include "module.h"

/* Decides the style, and writes the body. module_free() follows in any case. */
int module_make(const struct table *table, const struct emit_options *options, const struct dialect *dialect,
                struct module *m, struct diag *diag);

/* One file about a module: `write` adds it to out. Exit 1 when memory runs out. */
typedef int module_write(struct text *out, const struct module *m, const struct emit_options *options,
                         struct diag *diag);
int module_emit(const struct table *table, const struct emit_options *options, const struct dialect *dialect,
                module_write *write, struct text *out, struct diag *diag);

#endif
