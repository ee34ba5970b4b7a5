/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a spec asks for that costs accuracy or may be too much, one choice at a time. */
#ifndef PWLC_RELAX_H
#define PWLC_RELAX_H

#include <stdbool.h>

#include "base/file.h"
#include "spec/spec.h"

/* The k-th such choice, from 0: its flag and value as text, and the spec without it, which shares what the spec owns.
 * False after the last. Choices: --slope-bits, --shift, --slope-terms, --knots, --monotone, --continuous, --fix (all),
 * --symmetry. */
bool relax(const struct spec *spec, int k, struct spec *relaxed, struct text *choice);

/* Adds to the message of a failed fit the choices without which, each left out alone, there is a table. */
void relax_explain(const struct spec *spec, struct diag *diag);

/* Prints to standard error what each choice costs a table: the error, or the number of segments, of a table without. */
void relax_print_costs(const struct spec *spec, const struct table *table);

#endif
