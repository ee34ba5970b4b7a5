/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The constants of requantisation and addition, and what they may be off by. Weigh's sums are requantised. */
#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "operator.h"

long double element_ratio(const struct row_operator *of, const struct tensor *in)
{
    return (long double)in->scale.value / (long double)of->out.scale.value;
}

long double weigh_ratio(const struct row_operator *of)
{
    return ldexpl(element_ratio(of, &of->in_b), of->in_b.bits - 30);
}

int64_t element_farthest(const struct tensor *in)
{
    const int64_t below = in->zero_point - in->qmin, above = in->qmax - in->zero_point;
    return below > above ? below : above;
}

/* What F 2^-n for a ratio adds at the farthest code. */
static long double factor_error(const struct row_operator *of, const struct tensor *in, int64_t factor)
{
    return fabsl(ldexpl(factor, -of->shift) - element_ratio(of, in)) * element_farthest(in);
}

static int check_zero_point(const char *name, const struct tensor *in, struct diag *diag)
{
    if (in->qmin <= in->zero_point && in->zero_point <= in->qmax)
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "%s: the zero point %" PRId64 ", must be a code, %" PRId64 "..%" PRId64, name,
                    in->zero_point, in->qmin, in->qmax);
}

int element_check_zero_points(const struct row_operator *of, const char *in, const char *in_b, struct diag *diag)
{
    return (operator_is_element(of->kind) && check_zero_point(in, &of->in, diag)) ||
           (operator_has_in_b(of->kind) && check_zero_point(in_b, &of->in_b, diag));
}

/* A factor below 2^31 that has 31 bits, and its shift: 2^30 <= ratio 2^n < 2^31. */
static void take_wide(struct row_operator *of, long double ratio)
{
    int exponent;
    frexpl(ratio, &exponent);
    of->shift = 31 - exponent;
    if (roundl(ldexpl(ratio, of->shift)) >= 0x1p31L)
        of->shift--;
}

/* What the input of the first factor is in output LSB. */
static long double first_ratio(const struct row_operator *of)
{
    return of->kind == OPERATOR_WEIGH ? weigh_ratio(of) : element_ratio(of, &of->in);
}

static void take_factors(struct row_operator *of)
{
    of->factor_a = (int64_t)roundl(ldexpl(first_ratio(of), of->shift));
    if (of->kind == OPERATOR_ADD)
        of->factor_b = (int64_t)roundl(ldexpl(element_ratio(of, &of->in_b), of->shift));
}

bool element_is_narrow(const struct row_operator *of)
{
    const int64_t half = (int64_t)1 << (of->shift - 1);
    if (of->shift > 31)
        return false;
    const int64_t least =
        of->factor_a * (of->in.qmin - of->in.zero_point) + of->factor_b * (of->in_b.qmin - of->in_b.zero_point);
    const int64_t most =
        of->factor_a * (of->in.qmax - of->in.zero_point) + of->factor_b * (of->in_b.qmax - of->in_b.zero_point);
    return least >= INT32_MIN && most <= INT32_MAX - half;
}

/* Sums of 32 bits for two inputs of 8, where the largest shift costs at most 2^-10 LSB. */
static bool take_narrow(struct row_operator *of)
{
    for (of->shift = 30; of->shift >= 1; of->shift--) {
        if (ldexpl(fmaxl(element_ratio(of, &of->in), element_ratio(of, &of->in_b)), of->shift) >= 0x1p31L)
            continue;
        take_factors(of);
        if (element_is_narrow(of))
            return factor_error(of, &of->in, of->factor_a) + factor_error(of, &of->in_b, of->factor_b) <= 0x1p-10L;
    }
    return false;
}

int element_make(struct row_operator *of, struct diag *diag)
{
    const bool is_sum = of->kind == OPERATOR_ADD;
    const long double a = first_ratio(of), b = is_sum ? element_ratio(of, &of->in_b) : 0;
    if (element_check_zero_points(of, "--in", "--in-b", diag))
        return diag->code;
    if (is_sum && of->in.bits == 8 && of->in_b.bits == 8 && take_narrow(of))
        return EXIT_DONE;
    take_wide(of, fmaxl(a, b));
    if (is_sum && of->shift > 62)
        of->shift = 62;
    if (of->shift < 1 || of->shift > 62)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "--out: no provable operator with the scale %s beside %s of %s; take one nearer to it",
                        of->out.scale.text, of->kind == OPERATOR_WEIGH ? of->in_b.scale.text : of->in.scale.text,
                        of->kind == OPERATOR_WEIGH ? "--in-b" : "--in");
    take_factors(of);
    return EXIT_DONE;
}

/* Of codes further from the zero point than `reach`, output and real value are clipped alike, as long as the factor
 * adds less than half an LSB up to there. Weigh's sums are within 2^30 of theirs. */
static long double requantise_error(const struct row_operator *of)
{
    const long double ratio = first_ratio(of), off = fabsl(ldexpl(of->factor_a, -of->shift) - ratio);
    const long double all = of->kind == OPERATOR_WEIGH ? 0x1p30L : (long double)element_farthest(&of->in);
    const long double reach = fmaxl(fabsl((long double)(of->out.qmin - of->out.zero_point)),
                                    fabsl((long double)(of->out.qmax - of->out.zero_point)));
    const long double some = fminl(all, (reach + 1) / ratio);
    return off * some < 0.5L ? off * some : off * all;
}

long double element_error(const struct row_operator *of)
{
    if (of->kind == OPERATOR_ADD)
        return factor_error(of, &of->in, of->factor_a) + factor_error(of, &of->in_b, of->factor_b);
    return requantise_error(of);
}
