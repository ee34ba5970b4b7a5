/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The body of a module: a ramp, and a ROM of what lacks to it, half as long as that of all outputs. */
#ifndef PWLC_RTL_RESIDUAL_H
#define PWLC_RTL_RESIDUAL_H

#include "module.h"

/*
 * With d the code's distance from the zero point,
 *
 *   y = ramp(d) - g(|d|)        ramp(d) = d * 2^shift where d > 0, else 0
 *
 * |d| counts from 0 on both sides, or, where it is inverted, -1 - d where d < 0. A pattern beyond the codes has the
 * output of the nearest one.
 */
struct residual {
    int shift;
    bool is_inverted;
    int entries, index_bits;
    wide *g; /* of each |d|; malloc'd */
    wide low, high;
};

/* Whether every output of the table is such a difference; g is then to be freed. Exit 1 when memory ran out. */
int residual_of(const struct table *table, const struct packed_table *packed, bool *is_one, struct residual *residual,
                struct diag *diag);

int module_of_residual(struct module *m, struct diag *diag);

#endif
