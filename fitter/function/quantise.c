/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quantise.h"

#include <math.h>

int64_t quantise(const struct tensor *tensor, long double x)
{
    const long double limit = 4611686018427387904.0L;
    const long double q = rintl(x / tensor->scale.value) + (long double)tensor->zero_point;
    return (int64_t)fminl(fmaxl(q, -limit), limit);
}

/*
 * In double, where that leaves no doubt: scale and quotient are each rounded once, so that `steps` is within 2^-51 of
 * itself of what quantise() rounds, in its long double or exactly; two numbers that near have one nearest integer, but
 * for those that lie near a tie. From 2^50 on, the limits of clamping among them, nothing is without doubt.
 */
size_t quantise_all(const struct tensor *tensor, const double *x, size_t count, uint32_t *q, int64_t *first)
{
    const double scale = (double)tensor->scale.value, zero = (double)tensor->zero_point;
    const double low = (double)tensor->qmin - zero - 1, high = (double)tensor->qmax - zero + 1; /* are clamped */
    size_t outside = 0;
    for (size_t k = 0; k < count; k++) {
        const double quotient = x[k] / scale;
        const double steps = quotient < low ? low : quotient > high ? high : quotient;
        const double whole = rint(steps);
        int64_t code;
        if (fabs(steps - whole) < 0.5 - fabs(steps) * 0x1p-51)
            code = (int64_t)whole + tensor->zero_point;
        else
            code = quantise(tensor, x[k]);
        const int64_t clamped = code < tensor->qmin ? tensor->qmin : code > tensor->qmax ? tensor->qmax : code;
        if (code != clamped && outside++ == 0)
            *first = quantise(tensor, x[k]);
        q[k] = (uint32_t)clamped;
    }
    return outside;
}
