/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the errors of a table's codes are distributed, and where the largest are. */
#ifndef PWLC_DISTRIBUTION_H
#define PWLC_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define DISTRIBUTION_SHARES 4
#define DISTRIBUTION_WORST 10

extern const double distribution_share[DISTRIBUTION_SHARES]; /* 0.5, 0.9, 0.99, 0.999 */

struct code_error {
    int64_t code;
    double err; /* q_y - t */
};

struct distribution {
    double within[DISTRIBUTION_SHARES]; /* the least |q_y - t| that this share of the codes does not exceed, in LSB */
    int count;                          /* of the worst codes: fewer than DISTRIBUTION_WORST where there are fewer */
    struct code_error worst[DISTRIBUTION_WORST]; /* by falling |q_y - t|; of equal ones the lowest code first */
};

/* Of count ascending codes, at least one, and their finite errors. `witness` has the largest error of all codes: it
 * stands among the worst even where it is none of these. */
int distribution_make(const int64_t *code, const double *err, size_t count, struct code_error witness,
                      struct distribution *distribution, struct diag *diag);

#endif
