/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PWLC_CHOICE_COSTS_H
#define PWLC_CHOICE_COSTS_H

#include "spec/spec.h"
#include "table/table.h"

/* Notes what each choice of relax.h costs a table: the error, or the number of segments, of a table
 * without. */
void print_choice_costs(const struct spec *spec, const struct table *table);

#endif
