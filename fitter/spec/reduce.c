/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reduce.h"

#include <float.h>
#include <math.h>

#include "base/numbers.h"
#include "base/real.h"
#include "function/elementary.h"
#include "table/reduction.h"

/* The core's value in its largest: room for its line's steps in a 32-bit accumulator, or what the fit searches. */
#define PEAK_INT16 0x1p26
#define PEAK_INT32 0x1p34
/* Bits of the value below an output LSB, where results are largest: its own rounding is then a 512th of an LSB. */
#define VALUE_BITS 8
/* Values saturate for good from 2^-10 of the codes beyond their end, more than a table of some segments is off. */
#define NEAR_BITS 10
/* More than leading zeros can tell apart, and than a result of 32 bits has. */
#define MOST_OCTAVES 70

pwl_storage spec_storage(const struct spec *spec)
{
    return spec->reduce ? reduction_storage(spec->in.bits, spec->out.bits) : storage_for(spec->in.bits, spec->out.bits);
}

/* f in output LSB at r = 0, where leading zeros leave a word as it is. */
static real unit_value(const struct spec *spec, const pwl_reduction *reduction, const struct tensor *words,
                       int64_t word)
{
    if (reduction->kind == PWL_EXPONENT)
        return real_of(dd_exp2(dd_of(ldexp((double)word, -words->bits)))) / spec->out.scale.value;
    return real_of(function_at(&spec->function, dd_product(spec->in.scale.value, (double)word))) /
           spec->out.scale.value;
}

/* What does not go with a reduction. */
static int check_choices(const struct spec *spec, const pwl_reduction *reduction, struct diag *diag)
{
    if (spec->method == METHOD_DOCUMENT || method_is_of_codes(spec->method))
        return diag_set(diag, EXIT_USAGE, "--reduce on with --method %s: must be lsq, minimax or uniform",
                        method_name(spec->method));
    if (spec->fold)
        return diag_set(diag, EXIT_USAGE, "--reduce on with --symmetry fold: %s has no such symmetry; leave it out",
                        function_name(&spec->function));
    if (spec->fix_count > 0)
        return diag_set(diag, EXIT_USAGE,
                        "--reduce on with --fix: a segment serves every octave, so no code stands alone; leave it out");
    if (constraints_tie(&spec->constraints))
        return diag_set(diag, EXIT_USAGE,
                        "--reduce on with --%s: it ties neighbouring segments, but the first follows the last in the "
                        "next octave; leave one out",
                        spec->constraints.monotone ? "monotone" : "continuous");
    if (reduction->kind == PWL_LEADING_ZEROS && spec->in.qmax <= spec->in.zero_point)
        return diag_set(diag, EXIT_USAGE,
                        "--reduce on: no code of --in lies above its zero point %lld, so there are no octaves",
                        (long long)spec->in.zero_point);
    /* The logarithm's domain ends at 0 and the square roots' too: their codes below are --outside's. */
    if (reduction->kind == PWL_LEADING_ZEROS && spec->in.qmin < spec->in.zero_point &&
        function_defined_at(&spec->function, tensor_at(&spec->in, spec->in.qmin)))
        return diag_set(diag, EXIT_USAGE,
                        "--reduce on: %s of negative values has no leading zeros to count; --in must have no code "
                        "below its zero point %lld",
                        function_name(&spec->function), (long long)spec->in.zero_point);
    return EXIT_DONE;
}

/* factor = log2(e) scale_x, with as many fraction bits as (q_x - zp_x) * factor leaves in 62 bits. Its error moves the
 * exponent by at most 2^-(fraction + 1) for each code of x. */
static int plan_exponent(const struct spec *spec, const struct tensor *words, pwl_reduction *reduction,
                         struct diag *diag)
{
    const struct tensor *in = &spec->in;
    const uint64_t low = pwl_abs64(in->qmin - in->zero_point), high = pwl_abs64(in->qmax - in->zero_point);
    const int free_bits = 62 - pwl_bit_length(low > high ? low : high);
    const struct dd factor = dd_times(dd_log2_e, in->scale.value);
    int exponent; /* factor < 2^exponent, also after rounding, since the significand is not all ones */
    frexp(factor.hi, &exponent);
    const int fraction = free_bits - exponent < 62 ? free_bits - exponent : 62;
    if (fraction < words->bits)
        return diag_set(diag, EXIT_USAGE,
                        "--reduce on: exp over %Lg to %Lg leaves the exponent %d fraction bits, and needs %d; the "
                        "scale of --in must be smaller, or its zero point nearer to the codes",
                        tensor_real(in, in->qmin), tensor_real(in, in->qmax), fraction, words->bits);
    reduction->fraction = (uint8_t)fraction;
    reduction->factor = (int64_t)real_nearest(real_scaled(real_of(factor), fraction));
    return EXIT_DONE;
}

/* The octaves from the first code that is evaluated to the last: r there. */
static void octaves(const struct spec *spec, const pwl_reduction *reduction, const struct tensor *words, int64_t *first,
                    int64_t *last)
{
    const int64_t d_first = spec->in.qmin - spec->in.zero_point, d_last = spec->in.qmax - spec->in.zero_point;
    const bool positive = reduction->kind == PWL_EXPONENT || d_first > 0;
    *first = pwl_reduce(reduction, words->bits, positive ? d_first : 1).r;
    *last = pwl_reduce(reduction, words->bits, d_last).r;
}

/* The largest number of doublings, over a word's own octave, that does not saturate all of it. */
static int64_t largest_octave(const struct spec *spec, const pwl_reduction *reduction, const struct tensor *words,
                              real least)
{
    int64_t first, last;
    octaves(spec, reduction, words, &first, &last);
    const int64_t a = -reduction->direction * first, b = -reduction->direction * last;
    int64_t doublings = a > b ? a : b;
    const real most = (real)(spec->out.qmax - spec->out.zero_point);
    /* exp over a wide range of positive x has as many octaves as x has codes; the values of all these saturate. */
    const double room = floor_log2((double)(real_larger(most, 1) / least));
    if (doublings > room)
        doublings = (int64_t)room;
    return doublings;
}

static int plan_shift(const struct spec *spec, struct reduced_core *core, real peak, struct diag *diag)
{
    pwl_reduction *reduction = &core->reduction;
    const real at_first = real_abs(unit_value(spec, reduction, &core->words, core->words.qmin));
    const real at_last = real_abs(unit_value(spec, reduction, &core->words, core->words.qmax));
    const real most = real_larger(real_larger(at_first, at_last), DBL_MIN), least = real_smaller(at_first, at_last);
    const int64_t room =
        (int64_t)floor_log2((double)(peak / most)); /* largest shift that keeps the value below the peak */
    int64_t doublings = 0, shift = room;
    if (reduction->direction != 0) {
        doublings = largest_octave(spec, reduction, &core->words, least);
        shift = doublings + VALUE_BITS < room ? doublings + VALUE_BITS : room;
    }
    if (shift < doublings || shift < -1000 || shift > 1000)
        return diag_set(diag, EXIT_USAGE,
                        "--reduce on: the values of %s do not fit the core's %d-bit words; the scale of --out must be "
                        "larger, or its zero point nearer to the codes",
                        function_name(&spec->function), core->words.bits);
    reduction->shift = (int16_t)shift;
    core->lsb = ldexp(1, (int)(shift - doublings));
    core->doublings = doublings;
    if (reduction->direction == 0)
        reduction->addend = (int64_t)real_nearest(real_scaled(real_of(dd_ln2) / spec->out.scale.value, (int)shift));
    return EXIT_DONE;
}

int reduce_plan(const struct spec *spec, struct reduced_core *core, struct diag *diag)
{
    const pwl_storage storage = spec_storage(spec);
    pwl_reduction *reduction = &core->reduction;
    if (!spec->function.info || !reduction_law(spec->function.info->name, reduction))
        return diag_set(diag, EXIT_USAGE,
                        "--reduce on: %s does not repeat itself from octave to octave; sqrt, rsqrt, reciprocal, log "
                        "and exp do",
                        function_name(&spec->function));
    core->words = reduction_words(reduction, storage);
    if (check_choices(spec, reduction, diag) ||
        (reduction->kind == PWL_EXPONENT && plan_exponent(spec, &core->words, reduction, diag)) ||
        plan_shift(spec, core, storage == PWL_INT32 ? PEAK_INT32 : PEAK_INT16, diag))
        return diag->code;
    if (reduction->kind == PWL_LEADING_ZEROS) {
        const struct dd t = target_unclipped(&spec->function, &spec->in, &spec->out, OUTSIDE_CLAMP, spec->in.qmin);
        reduction->below = (int64_t)real_floor(real_of(target_clipped(&spec->out, dd_plus(t, 0.5))));
    }
    return EXIT_DONE;
}

struct spec reduce_core_spec(const struct spec *spec, const struct reduced_core *core)
{
    struct spec inner = *spec;
    real least = INFINITY, most = -INFINITY;
    for (int end = 0; end < 2; end++) {
        const real value =
            real_scaled(unit_value(spec, &core->reduction, &core->words, end ? core->words.qmax : core->words.qmin),
                        core->reduction.shift);
        least = real_smaller(least, value);
        most = real_larger(most, value);
    }
    inner.whole = spec;
    inner.core = core;
    inner.in = core->words;
    inner.out.bits = core->words.bits;
    inner.out.zero_point = 0;
    /* Wider than the values, so that nothing saturates. */
    const real margin = most - least + 1;
    inner.out.qmin = (int64_t)real_floor(least - margin);
    inner.out.qmax = (int64_t)real_ceil(most + margin);
    return inner;
}

real reduce_target(const struct spec *core_spec, int64_t word)
{
    const struct reduced_core *core = core_spec->core;
    return real_scaled(unit_value(core_spec->whole, &core->reduction, &core->words, word), core->reduction.shift);
}

/* Output LSB at a word in an octave, not clipped, and the shift n there. */
static real result_at(const struct spec *core_spec, int64_t word, int64_t r, int *n)
{
    const pwl_reduction *reduction = &core_spec->core->reduction;
    *n = (int)pwl_sat(reduction->shift + reduction->direction * r, -2000, 2000);
    const real value = reduce_target(core_spec, word) - (real)r * (real)reduction->addend;
    return real_scaled(value, -*n) + (real)core_spec->whole->out.zero_point;
}

/* A value just beyond the codes may come out just inside, and counts as if it were. */
static bool saturates(const struct tensor *out, real y)
{
    const real near = real_scaled((real)(out->qmax - out->qmin), -NEAR_BITS);
    return y < (real)out->qmin - near || y > (real)out->qmax + near;
}

double reduce_units(const struct spec *core_spec, int64_t code, int64_t *word)
{
    const struct spec *spec = core_spec->whole;
    const pwl_reduction *reduction = &core_spec->core->reduction;
    const int64_t d = code - spec->in.zero_point;
    int n;
    if (reduction->kind == PWL_LEADING_ZEROS && d <= 0)
        return INFINITY;
    const pwl_reduced_code at = pwl_reduce(reduction, core_spec->in.bits, d);
    *word = at.m;
    return saturates(&spec->out, result_at(core_spec, at.m, at.r, &n)) ? INFINITY : ldexp(1, n);
}

/* d of a word in an octave. */
static real difference_at(const struct spec *core_spec, int64_t word, int64_t r)
{
    const pwl_reduction *reduction = &core_spec->core->reduction;
    if (reduction->kind == PWL_LEADING_ZEROS)
        return real_scaled((real)word, -(int)r * (1 << reduction->log2_step));
    return real_scaled((real)r + real_scaled((real)word, -core_spec->in.bits), reduction->fraction) /
           (real)reduction->factor;
}

double reduce_word_units(const struct spec *core_spec, int64_t first, int64_t last)
{
    const struct spec *spec = core_spec->whole;
    const pwl_reduction *reduction = &core_spec->core->reduction;
    const real d_first = (real)(spec->in.qmin - spec->in.zero_point),
               d_last = (real)(spec->in.qmax - spec->in.zero_point);
    int64_t r, end;
    octaves(spec, reduction, &core_spec->core->words, &r, &end);
    /* From the octave of the largest results on; the logarithm's are all alike. */
    if ((reduction->direction < 0 && r < end) || (reduction->direction > 0 && r > end)) {
        const int64_t swapped = r;
        r = end;
        end = swapped;
    }
    const int64_t step = end > r ? 1 : -1;
    /* Further octaves saturate whole, and not just so. */
    const int64_t most = core_spec->core->doublings + 1;
    if (reduction->direction != 0 && -reduction->direction * r > most)
        r = -reduction->direction * most;
    for (int tries = 0; tries < MOST_OCTAVES && (end - r) * step >= 0; tries++, r += step) {
        int n;
        if (difference_at(core_spec, last, r) < d_first - 0.5 || difference_at(core_spec, first, r) > d_last + 0.5)
            continue;
        if (!saturates(&spec->out, result_at(core_spec, first, r, &n)) ||
            !saturates(&spec->out, result_at(core_spec, last, r, &n)))
            return ldexp(1, n);
    }
    return INFINITY;
}
