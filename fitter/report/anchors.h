/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What others published or ship, fitted again here with as many segments and measured the same way. */
#ifndef PWLC_ANCHORS_H
#define PWLC_ANCHORS_H

#include "base/diag.h"
#include "io/rows.h"

/* Fits a table for each anchor whose source, function or types contain every one of the words (no words: for all), on
 * all cores, and prints anchor, ours, the known optimum and both ratios. Exit 2 when there is no such anchor; exit 3,
 * the rows being in *out all the same, when a row is worse than its anchor and no reason is known. */
int anchors_report(const char *const *words, int word_count, enum cells_format format, int line_width, struct text *out,
                   struct diag *diag);

#endif
