/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "targets.h"

#include <math.h>

const char *const sfpu_measures[] = {"ulp", "abs", NULL};

double sfpu_ulp(double value)
{
    int exponent;
    if (value == 0)
        return 0x1p-126;
    frexp(value, &exponent);
    return fmax(ldexp(1, exponent - 8), 0x1p-126);
}

static struct sfpu_target target_at(const struct function *function, const struct sfpu_demand *demand, uint16_t code)
{
    const bool is_subnormal = (code & 0x7f80) == 0;
    const double x = is_subnormal ? 0 : sfpu_real(code);
    struct sfpu_target target = {.unit = 1};
    target.counts = (code & 0x7fff) <= SFPU_LARGEST && x >= demand->low && x <= demand->high &&
                    function_defined_at(function, dd_of(x));
    if (!target.counts)
        return target;
    target.value = function_at(function, dd_of(x)).hi;
    if ((demand->keep_zero && x == 0) || (demand->keep_ends && (code & 0x7fff) == SFPU_LARGEST))
        target.unit = 0;
    else if (demand->measure == SFPU_ULP)
        target.unit = sfpu_ulp(target.value);
    return target;
}

int sfpu_targets_make(const struct function *function, const struct sfpu_demand *demand,
                      struct sfpu_target targets[SFPU_CODES], struct diag *diag)
{
    bool any = false;
    for (int code = 0; code < SFPU_CODES; code++) {
        struct sfpu_target *const target = &targets[code];
        *target = target_at(function, demand, (uint16_t)code);
        any |= target->counts;
        if (target->counts && !(fabs(target->value) < 0x1p128))
            return diag_set(diag, EXIT_USAGE, "%s(%g) is %g, and bf16 ends at 3.4e38: --range must leave it out",
                            function_name(function), sfpu_real((uint16_t)code), target->value);
    }
    if (!any)
        return diag_set(diag, EXIT_USAGE, "--range: no bf16 number in %g:%g at which %s is defined", demand->low,
                        demand->high, function_name(function));
    return EXIT_DONE;
}

double sfpu_missed(const struct sfpu_target *target, uint16_t y)
{
    const double missed = fabs(sfpu_real(y) - target->value);
    if (target->unit == 0)
        return missed == 0 ? 0 : INFINITY;
    return (y & 0x7fff) <= SFPU_LARGEST ? missed / target->unit : INFINITY;
}

/* Whether f(x) is factor f(-x) + share x + constant at a few x, but for noise. */
static bool holds(const struct function *function, double factor, double share, double constant)
{
    static const double points[] = {0.25, 0.75, 1, 1.625, 2.5, 3};
    for (int k = 0; k < 6; k++) {
        const struct dd x = dd_of(points[k]), mirrored = dd_of(-points[k]);
        if (!function_defined_at(function, x) || !function_defined_at(function, mirrored))
            return false;
        const double there = function_at(function, x).hi, here = function_at(function, mirrored).hi;
        if (!(fabs(there - (factor * here + share * points[k] + constant)) <= 0x1p-45 * (fabs(there) + fabs(here) + 1)))
            return false;
    }
    return true;
}

bool sfpu_kernel_suits(const struct function *function, struct sfpu_kernel *kernel)
{
    const bool is_odd = holds(function, -1, 0, 0), is_complement = holds(function, -1, 0, 1);
    kernel->sign = is_odd || is_complement ? SFPU_RETAIN : SFPU_UPDATE;
    kernel->constant = is_complement ? 0x3f00 : 0;
    kernel->add = SFPU_ADD_NOTHING;
    if (is_complement)
        kernel->add = SFPU_ADD_CONSTANT;
    else if (!is_odd && holds(function, 1, 1, 0))
        kernel->add = SFPU_ADD_HALF_X;
    return kernel->sign == SFPU_RETAIN || kernel->add == SFPU_ADD_HALF_X || holds(function, 1, 0, 0);
}
