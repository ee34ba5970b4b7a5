/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two shifts of the documents' flow, which --method document keeps beside the one that the table has. */
#ifndef PWLC_UNFUSED_H
#define PWLC_UNFUSED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "table.h"

/* Whether q_c shifted right by n_yc, or left by -n_yc, is term_c. */
bool unfused_gives(int64_t q_c, int n_yc, int64_t term_c);

/* The proof of a table covers its one shift; whoever shows the two needs them to stay in the accumulator too. The table
 * is proven, so that each product fits. Exit 2 with the segment in the message. */
int unfused_prove(const struct table *table, struct diag *diag);

#endif
