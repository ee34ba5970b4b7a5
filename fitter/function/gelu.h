/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of the built-in functions: sigmoid, and gelu, gelu_tanh, quick_gelu and erf with their first two derivatives. As
 * function_info has them: p are parameters, of which they have none. */
#ifndef PWLC_GELU_H
#define PWLC_GELU_H

#include "base/dd.h"

struct dd sigmoid(struct dd x, const double *p);
struct dd gelu(struct dd x, const double *p);
struct dd gelu_d1(struct dd x, const double *p);
struct dd gelu_d2(struct dd x, const double *p);
struct dd gelu_tanh(struct dd x, const double *p);
struct dd gelu_tanh_d1(struct dd x, const double *p);
struct dd gelu_tanh_d2(struct dd x, const double *p);
struct dd quick_gelu(struct dd x, const double *p);
struct dd quick_gelu_d1(struct dd x, const double *p);
struct dd quick_gelu_d2(struct dd x, const double *p);
struct dd error_function(struct dd x, const double *p);
struct dd error_function_d1(struct dd x, const double *p);
struct dd error_function_d2(struct dd x, const double *p);

#endif
