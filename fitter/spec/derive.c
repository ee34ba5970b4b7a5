/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a spec leaves to be found: scales and zero points from a real range or from data, and the form of points. */
#include <math.h>
#include <stdlib.h>

#include "base/real.h"
#include "function/target.h"
#include "spec.h"

#define EVEN_CODES 65536 /* up to so many, every code is evaluated */

/* Smallest and largest value of f. */
struct extremes {
    struct dd low, high;
    int64_t low_at, high_at;
    bool any;
};

static void extremes_add(struct extremes *extremes, const struct spec *spec, int64_t q)
{
    const struct dd value = function_at(&spec->function, tensor_at(&spec->in, q));
    if (!isfinite(value.hi))
        return;
    if (!extremes->any || dd_less(value, extremes->low)) {
        extremes->low = value;
        extremes->low_at = q;
    }
    if (!extremes->any || dd_less(extremes->high, value)) {
        extremes->high = value;
        extremes->high_at = q;
    }
    extremes->any = true;
}

/* Around the best of the evenly spaced codes f has one extreme: thirds of [first, last] are dropped until it is found.
 */
static void extremes_refine(struct extremes *extremes, const struct spec *spec, int64_t first, int64_t last, int sign)
{
    while (last - first > 2) {
        const int64_t third = (last - first) / 3, left = first + third, right = last - third;
        const struct dd f_left = function_at(&spec->function, tensor_at(&spec->in, left));
        const struct dd f_right = function_at(&spec->function, tensor_at(&spec->in, right));
        extremes_add(extremes, spec, left);
        extremes_add(extremes, spec, right);
        if (sign > 0 ? dd_less(f_left, f_right) : dd_less(f_right, f_left))
            first = left + 1;
        else
            last = right - 1;
    }
    for (int64_t q = first; q <= last; q++)
        extremes_add(extremes, spec, q);
}

/* Over the codes of --in from first to last where f is defined. */
static struct extremes find_extremes(const struct spec *spec, int64_t first, int64_t last)
{
    const struct code_domain domain = code_domain_find(&spec->function, &spec->in);
    struct extremes extremes = {.any = false};
    if (first < domain.first)
        first = domain.first;
    if (last > domain.last)
        last = domain.last;
    const int64_t steps = last - first < EVEN_CODES ? last - first : EVEN_CODES;
    for (int64_t k = 0; k <= steps; k++) { /* (last - first) * k < 2^49 */
        const int64_t q = steps > 0 ? first + (last - first) * k / steps : first;
        if (!domain.has_hole || q != domain.hole)
            extremes_add(&extremes, spec, q);
    }
    if (domain.has_hole && first < domain.hole && domain.hole < last) {
        extremes_add(&extremes, spec, domain.hole - 1);
        extremes_add(&extremes, spec, domain.hole + 1);
    }
    if (extremes.any && last - first > EVEN_CODES) {
        const int64_t reach = (last - first) / EVEN_CODES + 1, low = extremes.low_at, high = extremes.high_at;
        extremes_refine(&extremes, spec, low - reach < first ? first : low - reach,
                        low + reach > last ? last : low + reach, -1);
        extremes_refine(&extremes, spec, high - reach < first ? first : high - reach,
                        high + reach > last ? last : high + reach, 1);
    }
    return extremes;
}

/* The code of the type that is nearest to x. */
static int64_t nearest_code(const struct tensor *tensor, double x)
{
    const double code = rint(x / tensor->scale.value) + (double)tensor->zero_point;
    return code <= (double)tensor->qmin ? tensor->qmin : code >= (double)tensor->qmax ? tensor->qmax : (int64_t)code;
}

/* Powers of two that a profile or a zero point of 0 asks for are as in Q formats: the end of the range may lie one code
 * beyond the last one, as 1 of s16:2^-15:0 does. With 0 kept, signed codes are symmetric; a symmetric range keeps 0. */
static int set_range(const struct calibration *calibration, bool keeps_zero, real low, real high, struct tensor *tensor,
                     const char *flag, struct diag *diag)
{
    const bool is_q = calibration->powers_of_two && (keeps_zero || calibration->is_implied);
    if (keeps_zero) {
        high = tensor->is_signed ? real_larger(-low, high) : high;
        low = tensor->is_signed ? -high : 0;
        if (!(high > 0))
            return diag_set(diag, EXIT_USAGE,
                            "%s: the function has no value above 0, which is all that unsigned codes "
                            "with the zero point 0 hold",
                            flag);
    }
    if (is_q) {
        const bool symmetric = tensor->is_signed && low == -high;
        const real steps = (real)(symmetric ? tensor->qmax : tensor->qmax - tensor->qmin);
        const real share = steps / (steps + 1);
        high = symmetric ? high * share : low + (high - low) * share;
        low = symmetric ? -high : low;
    }
    return tensor_set_range(tensor, low, high, calibration->powers_of_two, flag, diag);
}

static int derive_out(struct spec *spec, bool ranged, double low, double high, struct diag *diag)
{
    const struct tensor *in = &spec->in;
    const struct extremes extremes =
        find_extremes(spec, ranged ? nearest_code(in, low) : in->qmin, ranged ? nearest_code(in, high) : in->qmax);
    char type[16], domain[80];
    tensor_type_name(&spec->out, type, sizeof type);
    function_domain_text(&spec->function, domain, sizeof domain);
    if (!extremes.any)
        return diag_set(diag, EXIT_USAGE, "--out %s: %s has no finite value over the range of --in (its domain is %s)",
                        type, function_name(&spec->function), domain);
    if (!dd_less(extremes.low, extremes.high))
        return diag_set(diag, EXIT_USAGE,
                        "--out %s: %s is %.9Lg everywhere over the range of --in, which gives no scale; write one, as "
                        "in %s:2^-4:0",
                        type, function_name(&spec->function), dd_long(extremes.low), type);
    return set_range(&spec->calibration, spec->out_keeps_zero, real_of(extremes.low), real_of(extremes.high),
                     &spec->out, "--out", diag);
}

static int check_calibration(const struct spec *spec, struct diag *diag)
{
    const struct calibration *calibration = &spec->calibration;
    if (calibration->has_range && calibration->values)
        return diag_set(diag, EXIT_USAGE, "--range with --calibrate: both give the input's range; give one");
    if (calibration->has_by && !calibration->values)
        return diag_set(diag, EXIT_USAGE, "--calibrate-by: only with --calibrate");
    if (spec->in_lacks_scale || spec->out_lacks_scale)
        return EXIT_DONE;
    const char *flag = calibration->has_range                                   ? "--range"
                       : calibration->values                                    ? "--calibrate"
                       : calibration->powers_of_two && !calibration->is_implied ? "--pow2-scales"
                                                                                : NULL;
    if (!flag)
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "%s: --in and --out have scales already; leave one out, as in --out s8", flag);
}

int spec_resolve(struct spec *spec, struct diag *diag)
{
    struct calibration *calibration = &spec->calibration;
    double low = calibration->low, high = calibration->high;
    if (spec_check_given(spec, diag) || check_calibration(spec, diag) ||
        (spec->weights_path && weights_read(spec->weights_path, (uint64_t)1 << spec->in.bits, &spec->weights, diag)))
        return diag->code;
    const bool ranged = calibration->has_range || calibration->values;
    if (spec->in_lacks_scale && !ranged)
        return spec_check_scales(spec, diag);
    if (calibration->values && calibrate(calibration->values, calibration->count, calibration->by, calibration->percent,
                                         &spec->in, calibration->powers_of_two, "--calibrate", &low, &high, diag))
        return diag->code;
    if (spec->in_lacks_scale && set_range(calibration, spec->in_keeps_zero, low, high, &spec->in, "--in", diag))
        return diag->code;
    spec->in_lacks_scale = false;
    if (spec->out_lacks_scale && derive_out(spec, ranged, low, high, diag))
        return diag->code;
    spec->out_is_derived = spec->out_lacks_scale;
    spec->out_lacks_scale = false;
    spec_settle_form(spec);
    free(calibration->values);
    *calibration = (struct calibration){0};
    return EXIT_DONE;
}
