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

/* The words of the module's ROM. Exit 2 where it has none. */
int emit_mem(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);
int emit_coe(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);
int emit_mif(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);

int emit_core(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
              struct diag *diag);
int emit_sdc(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);

/* What a module of segments consists of, in bits. */
struct datapath {
    int compared;           /* by comparisons with starts */
    int looked_up;          /* of the search's own ROMs */
    int x_bits, slope_bits; /* of the multiplier; 0: slopes are shifts */
    int added, folded;      /* by adders; by those of the fold */
    int saturated;          /* by the choice of a limit */
    int longest;            /* between two registers, in tenths of a nanosecond as README.md counts them */
    bool addressed;         /* a register lies before or behind the words, so that they can be a RAM */
};

/* What a module of this table is: its style, and the words of its ROM with the bits of each field, as
 * "offset[36:22], slope[21:0]". The datapath is 0 where outputs are looked up. */
struct hardware {
    const char *style;
    int words, word_bits;
    char fields[256];
    struct datapath datapath;
};
int hardware_of(const struct table *table, const struct rtl_options *rtl, struct hardware *hardware, struct diag *diag);

#endif
