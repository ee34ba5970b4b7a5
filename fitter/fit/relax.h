/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a spec asks for that costs accuracy or may be too much, one choice at a time. */
#ifndef PWLC_RELAX_H
#define PWLC_RELAX_H

#include <stdbool.h>

#include "base/file.h"
#include "spec/spec.h"
#include "table/table.h"

/* The k-th such choice, from 0: its flag and value as text, and the spec without it, which shares what the spec owns.
 * False after the last. Choices: --slope-bits, --shift, --slope-terms, --knots, --monotone, --continuous, --fix (all),
 * --symmetry; of --knots points, which is a layout, neither it nor --shift. */
bool relax(const struct spec *spec, int k, struct spec *relaxed, struct text *choice);

/* As fit_as_asked; where no table is found, the message also tells the choices without which, each left out alone,
 * there is one. */
int fit(const struct spec *spec, struct table *table, struct diag *diag);

/* Prints to standard error what each choice costs a table: the error, or the number of segments, of a table without. */
void relax_print_costs(const struct spec *spec, const struct table *table);

#endif
