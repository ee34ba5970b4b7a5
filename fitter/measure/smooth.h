/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of neighbouring codes, where f is smooth by polynomials. */
#ifndef PWLC_SMOOTH_H
#define PWLC_SMOOTH_H

#include <stdbool.h>
#include <stdint.h>

#include "comparison.h"

/* Adds the codes [first, first + count) as chunk_add_point and steps_backward would, but takes f from
 * polynomials where they are accurate enough. chunk->max_err and max_ulp must already be near the whole comparison's:
 * each code that might exceed them is decided by f itself. The sums differ from the exact ones by less than 1e-9
 * of an LSB a code, and 2^-60 of the target, to which f itself is good. */
void chunk_add_run(struct chunk *chunk, const struct subject *subject, int64_t first, int64_t count);

/* Adds the codes [first, first + count), as chunk_add_run where wide. */
void chunk_add_codes(struct chunk *chunk, const struct subject *subject, int64_t first, int64_t count, bool wide);

#endif
