/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of the built-in functions: sigmoid, gelu, gelu_tanh and erf, with the first two derivatives of the latter three. As
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
long double error_function(long double x, const double *p);
long double error_function_d1(long double x, const double *p);
long double error_function_d2(long double x, const double *p);

#endif
