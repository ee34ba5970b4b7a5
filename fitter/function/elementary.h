/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The elementary functions, to more digits than any `long double` libm gives and the same everywhere (base/dd.h):
 * what targets, and so tables and certificates, are made of.
 *
 * Errors are below 2^-65 of the result, for arguments of 106 bits, as elementary.c derives for each function; only
 * - erfc from 8 on, where it is less than 2^-96, errs by 2^-49 of it: no scale is less than 2^-64;
 * - sin and cos err by 2^-78 of the result and 2^-158 |x|, from 2^50 on 2^-153 |x|. So they are good to 2^-65 of 1 up
 * to 2^88, where waves have fewer codes than one, and to 2^-26 up to 2^127, as far as codes reach; from 2^200 on they
 * are 0.
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
