/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the other methods find, where least squares may not have found the least: a table of least largest error, and
 * one of equal parts of the codes, with as many segments. */
#ifndef PWLC_OTHER_METHODS_H
#define PWLC_OTHER_METHODS_H

#include "attempt.h"

extern const struct attempt attempt_minimax, attempt_uniform;

#endif
