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
int emit_vhdl(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
              struct diag *diag);
int emit_vhdl_bench(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                    struct diag *diag);
int emit_cocotb(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                struct diag *diag);
int emit_sv_bench(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                  struct diag *diag);

/* The words of the module's ROM. Exit 2 where it has none. */
int emit_mem(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);
int emit_coe(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);
int emit_mif(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);

/* The C side of --loadable. */
int emit_loader(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                struct diag *diag);

int emit_core(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
              struct diag *diag);
int emit_sdc(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);

/* What a module of this table is by default: its style, and the words of its ROM with the bits of each field, as
 * "offset[36:22], slope[21:0]". */
struct hardware {
    const char *style;
    int words, word_bits;
    char fields[256];
};
int hardware_of(const struct table *table, struct hardware *hardware, struct diag *diag);

#endif
