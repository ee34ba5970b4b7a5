/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hardware: a module of a table in SystemVerilog or Verilog-2005, a bench that checks it, and what tools want beside.
 */
#ifndef PWLC_EMIT_RTL_H
#define PWLC_EMIT_RTL_H

#include "emit/options.h"

int emit_sv(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
            struct diag *diag);
int emit_v(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
           struct diag *diag);
int emit_sv_bench(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                  struct diag *diag);

#endif
