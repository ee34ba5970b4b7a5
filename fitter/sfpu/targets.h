/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table is to give at each code of bf16, and what a miss counts. */
#ifndef PWLC_SFPU_TARGETS_H
#define PWLC_SFPU_TARGETS_H

#include <stdbool.h>

#include "base/diag.h"
#include "function/function.h"
#include "kernel.h"

enum sfpu_measure {
    SFPU_ULP, /* distances of bf16 numbers where f(x) lies */
    SFPU_ABS
};
extern const char *const sfpu_measures[];
#define SFPU_MEASURES "ulp|abs"

/* Inputs that count, where f is defined, and what they ask for. */
struct sfpu_demand {
    enum sfpu_measure measure;
    double low, high; /* of x */
    bool keep_zero;   /* f(0) is to be met exactly */
    bool keep_ends;   /* f at the largest finite |x|, which bf16 must have, too: results saturate at f's limits */
};

/* f(x) to 2^-53 of itself, the errors' unit, and whether x counts. x is what the unit reads: subnormal codes are 0. */
struct sfpu_target {
    double value;
    double unit; /* 0: the value is to be met exactly */
    bool counts;
};

/* All codes of bf16. Exit 2 when none of them counts, or f is infinite at one that does. */
int sfpu_targets_make(const struct function *function, const struct sfpu_demand *demand,
                      struct sfpu_target targets[SFPU_CODES], struct diag *diag);

/* How far a code is from a target, in its unit; infinite for infinities and NaN. */
double sfpu_missed(const struct sfpu_target *target, uint16_t y);

/* The distance of the bf16 numbers where a value lies, but at least the least of them, 2^-126: what is below becomes 0,
 * and misses by no more than one. */
double sfpu_ulp(double value);

/* The kernel's sign and addend that suit the function, by its values at a few x: odd functions and f(-x) = 1 - f(x)
 * retain the sign, the latter with 0.5 added; even ones and f(x) - f(-x) = x do not, the latter with x/2 added. False
 * when it is none of these. */
bool sfpu_kernel_suits(const struct function *function, struct sfpu_kernel *kernel);

#endif
