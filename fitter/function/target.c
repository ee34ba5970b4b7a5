/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target.h"

#include "samples.h"

/* Ends of the domain as real numbers, and whether they belong to it. */
struct real_domain {
    double min, max;
    bool open_min, open_max, punctured;
};

static struct real_domain real_domain_of(const struct function *function)
{
    if (function->samples) {
        const struct samples *samples = function->samples;
        return (struct real_domain){.min = samples->x[0], .max = samples->x[samples->count - 1]};
    }
    const struct function_info *info = function->info;
    return (struct real_domain){.min = info->domain_min,
                                .max = info->domain_max,
                                .open_min = info->open_min,
                                .open_max = info->open_max,
                                .punctured = info->punctured};
}

static bool below(const struct real_domain *domain, struct dd x)
{
    const struct dd min = dd_of(domain->min);
    return dd_less(x, min) || (domain->open_min && !dd_less(min, x));
}

static bool above(const struct real_domain *domain, struct dd x)
{
    const struct dd max = dd_of(domain->max);
    return dd_less(max, x) || (domain->open_max && !dd_less(x, max));
}

/* x grows with the code, so both ends are found by bisection. */
struct code_domain code_domain_find(const struct function *function, const struct tensor *in)
{
    const struct real_domain domain = real_domain_of(function);
    struct code_domain codes = {0};

    int64_t low = in->qmin, high = in->qmax + 1; /* the first code that is not below lies in [low, high] */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (below(&domain, tensor_at(in, middle)))
            low = middle + 1;
        else
            high = middle;
    }
    codes.first = low;

    high = in->qmax + 1; /* the first code that is above lies in [low, high] */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (above(&domain, tensor_at(in, middle)))
            high = middle;
        else
            low = middle + 1;
    }
    codes.last = low - 1;

    if (domain.punctured && codes.first <= in->zero_point && in->zero_point <= codes.last) {
        codes.has_hole = true;
        codes.hole = in->zero_point;
        if (codes.hole < codes.last)
            codes.hole_stands = codes.hole + 1;
        else if (codes.hole > codes.first)
            codes.hole_stands = codes.hole - 1;
        else
            codes.last = codes.first - 1;
    }
    return codes;
}

int64_t code_domain_nearest(const struct code_domain *domain, int64_t q)
{
    if (q < domain->first)
        q = domain->first;
    if (q > domain->last)
        q = domain->last;
    return domain->has_hole && q == domain->hole ? domain->hole_stands : q;
}

struct dd target_unclipped(const struct function *function, const struct tensor *in, const struct tensor *out,
                           enum outside outside, int64_t q_x)
{
    struct dd x = tensor_at(in, q_x);
    if (outside == OUTSIDE_CLAMP && !function_defined_at(function, x)) {
        const struct code_domain domain = code_domain_find(function, in);
        if (domain.first <= domain.last)
            x = tensor_at(in, code_domain_nearest(&domain, q_x));
    }
    return target_of_value(out, function_at(function, x));
}

struct dd target_of_value(const struct tensor *out, struct dd value)
{
    const struct dd steps = out->scale.power_of_two ? dd_scaled(value, 1 / out->scale.value) /* exactly, and sooner */
                                                    : dd_div(value, dd_of(out->scale.value));
    return dd_add(steps, dd_of_integer(out->zero_point));
}

struct dd target_clipped(const struct tensor *out, struct dd target)
{
    const struct dd low = dd_of((double)out->qmin), high = dd_of((double)out->qmax);
    return dd_less(target, low) ? low : dd_less(high, target) ? high : target;
}

struct dd target_missed(struct dd target, int64_t q_y)
{
    return dd_plus(dd_neg(target), (double)q_y);
}
