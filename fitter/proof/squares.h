/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What segments cost at least in squared errors: the dynamic program of a proof, by boxes of lines. docs/proofs.md
 * tells what boxes are, and why they leave no line out. */
#ifndef PWLC_SQUARES_H
#define PWLC_SQUARES_H

#include "base/file.h"
#include "statement.h"

enum squares_answer { SQUARES_PROVEN, SQUARES_REFUTED, SQUARES_TOO_MANY, SQUARES_NO_MEMORY };

/* Appends the rows of a chain for the shifts of some rules, a JSON list, where no table of such lines costs less than
 * the statement says. */
enum squares_answer squares_write(const struct statement *statement, const struct line_rules *rules, struct text *out);

#endif
