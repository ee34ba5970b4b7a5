/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best of all tables of a kernel. */
#ifndef PWLC_SFPU_FIT_H
#define PWLC_SFPU_FIT_H

#include "search.h"

struct sfpu_optimum {
    double largest;     /* the largest error; that of no table is smaller */
    bool is_least_mean; /* of all tables that attain it this one has the least mean error, subnormal codes left out */
};

/* Fills the pairs. Exit 3 when a segment has no pair that meets the demands, 1 when memory runs out. */
int sfpu_fit(struct sfpu_table *table, const struct sfpu_target targets[SFPU_CODES], struct sfpu_optimum *optimum,
             struct diag *diag);

#endif
