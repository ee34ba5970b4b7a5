/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of two tables of one spec is taken. */
#ifndef PWLC_JUDGEMENT_H
#define PWLC_JUDGEMENT_H

#include <stdbool.h>

#include "table/table.h"

/* Whether a table has a smaller error than the best one so far, by the objective that this was searched by. */
bool is_better(const struct certificate *candidate, const struct certificate *best);

/* Exchanges the best table for another one, which it frees. What the search knew of all tables stays, and the spec's
 * name for them; the new one is not optimal where the old one was better. */
void take_table(struct table *best, struct table *candidate);

#endif
