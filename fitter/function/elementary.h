/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The elementary functions, to more digits than any `long double` libm gives and the same everywhere (base/dd.h):
 * what targets, and so tables and certificates, are made of.
 *
 * Relative errors are below 2^-66, for arguments of 106 bits; of erfc from 5 to 8 below 2^-63, and beyond, where it is
 * less than 2^-96, below 2^-50: no scale is less than 2^-64. Those of sin and cos are below 2^-66 of 1 while |x| is below
 * 2^60, where waves have fewer codes than one; up to 2^127, as far as codes reach, below 2^-30, and beyond the value is 0.
 * tests/fitter/function/test_against_mpfr.c compares with MPFR.
 */
#ifndef PWLC_ELEMENTARY_H
#define PWLC_ELEMENTARY_H

#include "base/dd.h"

extern const struct dd dd_ln2, dd_log2_e, dd_two_over_sqrt_pi;

struct dd dd_exp(struct dd x);   /* INFINITY above 709 */
struct dd dd_expm1(struct dd x); /* e^x - 1 */
struct dd dd_exp2(struct dd x);
struct dd dd_log(struct dd x);   /* x > 0; -INFINITY at 0, NAN below */
struct dd dd_log1p(struct dd x); /* log(1 + x), x >= -1/4 */
struct dd dd_tanh(struct dd x);
struct dd dd_sin(struct dd x);
struct dd dd_cos(struct dd x);
struct dd dd_atan(struct dd x);
struct dd dd_erf(struct dd x);
struct dd dd_erfc(struct dd x); /* 1 - erf(x) */

#endif
