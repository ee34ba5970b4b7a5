/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folded tables: the half from zp_x on serves the other half by symmetry about x = 0. */
#include <math.h>

#include "function/target.h"
#include "spec.h"

int spec_fold_sum(const struct spec *spec, int64_t *sum, struct diag *diag)
{
    const enum symmetry symmetry = spec->function.info ? spec->function.info->symmetry : SYMMETRY_NONE;
    const struct tensor *in = &spec->in, *out = &spec->out;
    if (symmetry != SYMMETRY_ODD && symmetry != SYMMETRY_COMPLEMENT)
        return diag_set(diag, EXIT_USAGE,
                        "--symmetry fold: %s is neither odd nor f(-x) = 1 - f(x), see `pwlc list functions`",
                        function_name(&spec->function));
    if (in->zero_point < in->qmin || in->zero_point > in->qmax)
        return diag_set(diag, EXIT_USAGE,
                        "--symmetry fold: the zero point %lld of --in must be one of its codes, %lld to %lld",
                        (long long)in->zero_point, (long long)in->qmin, (long long)in->qmax);
    /* No segment starts at a mirrored code beyond the last one; one such code, as of -32768, needs none. */
    if (2 * in->zero_point - in->qmin > in->qmax + 1)
        return diag_set(diag, EXIT_USAGE,
                        "--symmetry fold: the zero point %lld of --in must be at most %lld, the middle of the codes",
                        (long long)in->zero_point, (long long)((in->qmin + in->qmax + 1) / 2));
    if (out->zero_point < -((int64_t)1 << 40) || out->zero_point > (int64_t)1 << 40)
        return diag_set(diag, EXIT_USAGE, "--symmetry fold: the zero point %lld of --out must lie within 2^40 of 0",
                        (long long)out->zero_point);
    /* f(-x) = 1 - f(x): the codes of f(x) and f(-x) add up to 1/scale and two zero points. */
    const int64_t one = symmetry == SYMMETRY_ODD ? 0 : (int64_t)rint(1 / out->scale.value);
    *sum = one + 2 * out->zero_point;
    return EXIT_DONE;
}

struct spec spec_fold_half(const struct spec *spec, int64_t sum)
{
    struct spec half = *spec;
    const int64_t last = 2 * spec->in.zero_point - spec->in.qmin;
    half.is_half = true;
    half.fold_sum = sum;
    half.in.qmin = spec->in.zero_point;
    if (last > half.in.qmax)
        half.in.qmax = last;
    const struct integers outputs = spec_fold_outputs(&half);
    half.out.qmin = outputs.low;
    half.out.qmax = outputs.high;
    return half;
}

struct integers spec_fold_outputs(const struct spec *half)
{
    const int64_t qmin = code_min(half->out.bits, half->out.is_signed),
                  qmax = code_max(half->out.bits, half->out.is_signed), sum = half->fold_sum;
    return (struct integers){smaller_integer(qmin, sum - qmax), larger_integer(qmax, sum - qmin)};
}

/* Whether no fix of a half is cut off by a range that ends at low and high, nor at its new ends, where lines beyond
 * keep to it. */
static bool keeps_fixes(const struct spec *half, int64_t low, int64_t high)
{
    struct spec whole = *half;
    whole.in.qmin = code_min(half->in.bits, half->in.is_signed);
    for (int k = 0; k < half->fix_count; k++) {
        struct diag refusal;
        int64_t q_x, q_y;
        if (spec_fix_codes(&whole, &half->fixes[k], &q_x, &q_y, &refusal))
            return false;
        const int64_t stored = q_x < half->in.zero_point ? half->fold_sum - q_y : q_y;
        if ((stored <= low && low > half->out.qmin) || (stored >= high && high < half->out.qmax))
            return false;
    }
    return true;
}

bool spec_fold_narrow(struct spec *half)
{
    const struct tensor *in = &half->in;
    const int64_t qmin = code_min(half->out.bits, half->out.is_signed),
                  qmax = code_max(half->out.bits, half->out.is_signed), sum = half->fold_sum;
    const int64_t low = larger_integer(qmin, sum - qmax) - 1, high = smaller_integer(qmax, sum - qmin) + 1;
    const struct tensor whole = {.qmin = qmin, .qmax = qmax};
    if (in->bits > SPEC_EXHAUSTIVE_BITS || !keeps_fixes(half, low, high))
        return false;
    for (int64_t code = code_min(in->bits, in->is_signed); code <= code_max(in->bits, in->is_signed); code++) {
        const struct dd t =
            target_clipped(&whole, target_unclipped(&half->function, in, &half->out, half->outside, code));
        const struct dd stored = code < in->zero_point ? target_missed(t, sum) : t;
        if (dd_less(stored, dd_of((double)low)) || dd_less(dd_of((double)high), stored))
            return false;
    }
    if (low > half->out.qmin)
        half->out.qmin = low;
    if (high < half->out.qmax)
        half->out.qmax = high;
    return true;
}
