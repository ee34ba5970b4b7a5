/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sums at codes between two values that a largest error leaves, and so the values. */
#ifndef PWLC_SUM_BANDS_H
#define PWLC_SUM_BANDS_H

#include "interpolation.h"

/*
 * The sum at each code of an interval, a * (2^shift - f) + b * f, lies between two integers. It is a straight line over
 * f. So of the lower ends only those on their upper hull bind it, and of the upper ends those on their lower hull:
 *
 *        o--_          o   ends of a code's band
 *        |o  o         --  hull of the upper ends, of which the third is out of reach
 *        |   .--'o
 *        f
 */
struct slant_bands {
    struct integers *sums; /* of each code */
    int *low, *high;       /* codes on the hulls, counted from the first of their interval, which has room for each */
    int *lows, *highs;     /* of each interval, how many */
};

struct sum_bands {
    const struct interpolation *table;
    struct integers *own; /* of each value, by its own code alone; one more than there are intervals */
    int slants;           /* 1 where both have the same addend */
    struct slant_bands of[SLANTS];
};

/* sum_bands_init allocates; bands are those of sum_bands_set. sum_bands_free drops what it owns. */
int sum_bands_init(struct sum_bands *bands, const struct interpolation *table, struct diag *diag);
void sum_bands_set(struct sum_bands *bands, double max_err);
void sum_bands_free(struct sum_bands *bands);

/* The least sum of a line of a slant that comes out as an output or more. */
int64_t sum_of_output(const struct interpolation *table, enum slant slant, int64_t output);

/* The values at the other end of interval i that the bands of its codes allow to lines of a slant, beside one at its
 * left end, or at its right end. Where there are none, low > high; and low > high + 1 only where no real number is
 * allowed either. Whether the line between them has that slant is not looked at. Counts steps. */
struct integers sum_bands_beside(const struct sum_bands *bands, enum slant slant, int i, int64_t known, bool at_left,
                                 int64_t *steps);

/* The outputs that the codes from f = first to f = last of interval i share. */
struct integers sum_bands_shared(const struct sum_bands *bands, enum slant slant, int i, int64_t first, int64_t last);

#endif
