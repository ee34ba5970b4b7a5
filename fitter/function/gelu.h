/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of the built-in functions: sigmoid, and gelu, gelu_tanh, quick_gelu and erf with their first two derivatives. As
 * function_info has them: p are parameters, of which they have none. */
#ifndef PWLC_GELU_H
#define PWLC_GELU_H

long double sigmoid(long double x, const double *p);
long double gelu(long double x, const double *p);
long double gelu_d1(long double x, const double *p);
long double gelu_d2(long double x, const double *p);
long double gelu_tanh(long double x, const double *p);
long double gelu_tanh_d1(long double x, const double *p);
long double gelu_tanh_d2(long double x, const double *p);
long double quick_gelu(long double x, const double *p);
long double quick_gelu_d1(long double x, const double *p);
long double quick_gelu_d2(long double x, const double *p);
long double error_function(long double x, const double *p);
long double error_function_d1(long double x, const double *p);
long double error_function_d2(long double x, const double *p);

#endif
