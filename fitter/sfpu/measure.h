/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a table is from its function, over all codes of bf16. */
#ifndef PWLC_SFPU_MEASURE_H
#define PWLC_SFPU_MEASURE_H

#include "kernel.h"
#include "targets.h"

struct sfpu_error {
    double largest, mean;
    uint16_t at; /* the lowest code that has the largest */
};

struct sfpu_errors {
    int codes; /* that count */
    struct sfpu_error ulp, abs;
    double largest[SFPU_MAX_SEGMENTS]; /* of each segment, in the demand's measure */
    bool monotone;                     /* results never fall, or never rise, from code to code that counts */
};

/* targets are those of a demand, whose measure is given. */
void sfpu_measure_table(const struct sfpu_table *table, const struct sfpu_target targets[SFPU_CODES],
                        enum sfpu_measure measure, struct sfpu_errors *errors);

#endif
