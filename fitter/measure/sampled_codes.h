/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs of too many codes to compare each. */
#ifndef PWLC_SAMPLED_CODES_H
#define PWLC_SAMPLED_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "comparison.h"

/* The codes that stand for an input too wide to visit whole. An item is (q - qmin_x) * 2 + 1 for a
 * code of the evenly spaced sample, + 0 for the others; ascending, each code once. *items is malloc'd. */
#define EVEN_SAMPLES ((int64_t)1 << 20)
int wide_codes(const struct subject *subject, uint64_t **items, size_t *count, struct diag *diag);

#endif
