/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best of all pairs of coefficients for a segment. README.md of this room tells how. */
#ifndef PWLC_SFPU_SEARCH_H
#define PWLC_SFPU_SEARCH_H

#include "base/diag.h"
#include "kernel.h"
#include "targets.h"

/* Coefficients by rising value, each once: of the codes of zero one. */
struct sfpu_coefficients {
    int count;
    uint16_t *codes;
    uint32_t *bits; /* in fp32 */
};

/* All that a layout has. To be freed, also after a failure. */
int sfpu_coefficients_make(const struct sfpu_layout *layout, struct sfpu_coefficients *coefficients, struct diag *diag);
void sfpu_coefficients_free(struct sfpu_coefficients *coefficients);

struct sfpu_point {
    uint16_t x;
    struct sfpu_target target;
};

/* What a pair costs at the points of its segment. Infinite: no pair meets what must be met exactly. */
struct sfpu_cost {
    double largest, sum; /* of its errors */
    bool is_least;       /* all pairs were seen or excluded; false when the second aim took too long */
};

/* What is asked of all pairs there are: the least largest error, or the least sum of those whose errors are at most
 * `most`. */
enum sfpu_aim { SFPU_LEAST_LARGEST, SFPU_LEAST_SUM };

/* *pair has no better, *cost is its own; both stay as they were where no pair has finite errors of at most `most`,
 * which is infinite for the first aim. Exit 1 when memory runs out. */
int sfpu_search(const struct sfpu_kernel *kernel, const struct sfpu_coefficients *coefficients,
                const struct sfpu_point *points, int count, enum sfpu_aim aim, double most, struct sfpu_pair *pair,
                struct sfpu_cost *cost, struct diag *diag);

#endif
