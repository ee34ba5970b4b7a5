/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rounding can drop from a line over a run of codes. */
#ifndef PWLC_RESIDUES_H
#define PWLC_RESIDUES_H

#include <stdint.h>

/* The extremes of some residues, and the lowest k of each. */
struct residues {
    uint64_t least, most;
    int64_t least_at, most_at;
};

/* Of first + step * k modulo 2^n, 0 <= k <= last; 0 < n < 64, 0 <= last < 2^62. In O(n) steps, as Euclid's algorithm.
 */
struct residues residues_over(uint64_t first, uint64_t step, int n, int64_t last);

#endif
