/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Included before all else with -mlong-double-64: the C library's functions of long double take other types than that,
 * so that those of double stand for them. */
#include <math.h>
#include <stdlib.h>

#define ceill ceil
#define expl exp
#define fabsl fabs
#define floorl floor
#define fmaxl fmax
#define fminl fmin
#define frexpl frexp
#define ldexpl ldexp
#define logl log
#define rintl rint
#define roundl round
#define sqrtl sqrt
#define strtold strtod
