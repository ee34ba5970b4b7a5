/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The largest error of any row, by the formulas of docs/operators.md and every entry of the tables. */
#include <math.h>

#include "base/number.h"
#include "operator.h"

/* Of what a core gives, over each of its cells: 1/m and 1/sqrt(m) are monotone, so that the ends suffice. */
static long double core_delta0(const pwl_table *core, bool is_root)
{
    const int first = is_root ? 16384 : 32768;
    long double worst = 0;
    for (int cell = first; cell < 65536; cell++) {
        const long double r = (long double)pwl_eval(core, cell - first) / 65536;
        for (int end = 0; end < 2; end++) {
            const long double m = (long double)(cell + end) / first;
            worst = fmaxl(worst, fabsl(r * (is_root ? sqrtl(m) : m) - 1));
        }
    }
    return worst;
}

/* delta: the Newton step squares the error; the rest is what shifts cut off. */
static long double core_delta(long double delta0, bool is_root)
{
    if (is_root)
        return 1.5L * delta0 * delta0 + 0.5L * delta0 * delta0 * delta0 + 0x1p-30L + 0x1p-29L;
    return delta0 * delta0 + 0x1p-31L + 0x1p-30L + 0x1p-31L;
}

/* lambda: what the logarithm may be off by. */
static long double log_error(const struct row_operator *of)
{
    long double z_max = 0;
    for (int j = 0; j < PWL_LOG_CELLS; j++) {
        const long double factor = of->log_factor[j] / 65536.0L;
        for (int end = 0; end < 2; end++)
            z_max = fmaxl(z_max, fabsl((128 + j + end) / 128.0L * factor - 1));
    }
    long double value = 0; /* of an entry */
    for (int j = 0; j < PWL_LOG_CELLS; j++)
        value = fmaxl(value, fabsl(of->log_value[j] * 0x1p-30L + logl(of->log_factor[j] / 65536.0L)));
    return value + 16 * 0x1p-31L + (z_max * z_max * z_max / 3 + 0x1p-30L + 0x1p-30L + 0x1p-31L) / (1 - z_max);
}

/* Weighted sums, in output LSB: rho of the weights, delta of their sum's reciprocal, two cuts and roundings; then
 * requantisation. */
static void bound_weigh(const struct row_operator *of, struct operator_certificate *certificate, long double rho,
                        long double delta)
{
    const long double apart = (long double)(of->in_b.qmax - of->in_b.qmin), step = ldexpl(1, of->in_b.bits - 30);
    const long double sum = (apart * rho + (long double)element_farthest(&of->in_b) * delta + step * (1 + delta)) *
                            element_ratio(of, &of->in_b);
    const long double factor = element_error(of);
    certificate->sum = number_rounded_up(sum);
    certificate->factor = number_rounded_up(factor);
    certificate->bound_lsb = number_rounded_up(0.5L + factor + sum);
}

static void bound_softmax(const struct row_operator *of, const pwl_softmax *softmax,
                          struct operator_certificate *certificate, long double delta)
{
    const uint32_t codes = (uint32_t)1 << of->in.bits;
    const long double others = of->length - 1;
    long double rho = 0, largest = 0;
    for (uint32_t c = 0; c < codes; c++) {
        const long double e = expl(-(long double)of->in.scale.value * c);
        const long double got = ldexpl(pwl_softmax_exp(softmax, c), -of->fraction);
        rho = fmaxl(rho, others * fabsl(got - e) / (1 + others * fminl(e, got)));
    }
    for (uint32_t c = 0; c < codes; c++) {
        const long double e = expl(-(long double)of->in.scale.value * c);
        const long double got = ldexpl(pwl_softmax_exp(softmax, c), -of->fraction);
        largest = fmaxl(largest, fabsl(got - e) / (1 + fminl(e, got)) + rho * e / (1 + e));
    }
    largest = fmaxl(largest, rho);
    certificate->rho = number_rounded_up(rho);
    if (of->kind == OPERATOR_WEIGH) {
        bound_weigh(of, certificate, rho, delta);
        return;
    }
    if (of->kind == OPERATOR_SOFTMAX) {
        certificate->largest = number_rounded_up(largest);
        certificate->bound_lsb =
            number_rounded_up(0.5L + ldexpl(largest + delta * (1 + largest), of->out.scale.shift_bits));
        return;
    }
    const long double lambda = log_error(of), scale = (long double)of->out.scale.value;
    const long double step = fabsl(ldexpl(of->step, -of->step_shift) - (long double)of->in.scale.value / scale);
    const long double unit = fabsl(ldexpl(of->log_unit, 30 - of->step_shift - of->log_shift) - 1 / scale);
    certificate->largest = number_rounded_up(lambda);
    certificate->bound_lsb =
        number_rounded_up(0.5L + (rho + lambda) / scale + (codes - 1) * step +
                          (logl(of->length) + rho + lambda) * unit + ldexpl(1, -of->step_shift - 1));
}

/* What one channel may be off by beyond its rounding, where normalised values are at most `reach`. */
struct channel_error {
    long double root, gamma, rest;
};

/* Of channel c, whose gamma is so many LSB; d is the root's share. */
static struct channel_error channel_error(const struct row_operator *of, uint32_t c, long double d, long double reach)
{
    const int g = of->gamma_shift, T = of->fraction;
    const long double gamma = operator_gamma(of, c) / (long double)of->out.scale.value;
    const long double beta = operator_beta(of, c) / (long double)of->out.scale.value, half = ldexpl(1, -T - 1);
    const long double beta_code = of->beta_codes ? (long double)of->beta_codes[c] : 0;
    return (struct channel_error){fabsl(gamma) * reach * d,
                                  fabsl(ldexpl(of->gamma_codes[c], -g) - gamma) * (reach * (1 + d) + half),
                                  fabsl(gamma) * half + fabsl(ldexpl(beta_code, -g - T) - beta)};
}

static long double sum_of(struct channel_error error)
{
    return error.root + error.gamma + error.rest;
}

/* The share that the rounding of E0 may change the root by. */
static long double eps_share(const struct row_operator *of, long double least)
{
    const long double n = of->length, scale = (long double)of->in.scale.value;
    const long double eps = ldexpl(n * n * operator_eps(of) / scale / scale, of->variance_shift);
    const long double smallest = ldexpl(least, of->variance_shift) + (long double)of->eps_code;
    const long double off = fabsl((long double)of->eps_code - eps);
    return least == 0 ? 0 : off >= smallest ? 1 : 1 - sqrtl(1 - off / smallest);
}

static void bound_norm(const struct row_operator *of, struct operator_certificate *certificate, long double delta)
{
    const bool is_layer = of->kind == OPERATOR_LAYER_NORM;
    const long double least = (long double)of->length - is_layer, scale = (long double)of->out.scale.value;
    const long double d =
        (1 + delta) * (1 + eps_share(of, least)) * (1 + (of->drop ? ldexpl(1, of->drop - 30) : 0)) - 1;
    const long double reach = fmaxl(fabsl((long double)(of->out.qmin - of->out.zero_point)),
                                    fabsl((long double)(of->out.qmax - of->out.zero_point)));
    struct channel_error worst = {0, 0, 0};
    for (uint32_t c = 0; c < of->length; c++) {
        const long double gamma = fabsl(operator_gamma(of, c) / scale), beta = fabsl(operator_beta(of, c) / scale);
        const long double all = sqrtl(least), some = gamma > 0 ? fminl(all, (reach + 1 + beta) / gamma) : all;
        struct channel_error error = channel_error(of, c, d, some);
        if (sum_of(error) >= 0.5L)
            error = channel_error(of, c, d, all);
        if (sum_of(error) > sum_of(worst))
            worst = error;
    }
    certificate->root = number_rounded_up(worst.root);
    certificate->gamma = number_rounded_up(worst.gamma);
    certificate->beta = number_rounded_up(worst.rest);
    certificate->bound_lsb = number_rounded_up(0.5L + sum_of(worst));
}

int operator_bound(const struct row_operator *of, struct operator_certificate *certificate, struct diag *diag)
{
    struct packed_operator packed;
    const bool is_norm = operator_is_norm(of->kind);
    if (operator_pack(of, EXIT_USAGE, &packed, diag) == EXIT_DONE && operator_is_element(of->kind)) {
        const long double factor = element_error(of);
        certificate->factor = number_rounded_up(factor);
        certificate->bound_lsb = number_rounded_up(0.5L + factor);
    } else if (diag->code == EXIT_DONE) {
        const long double delta0 = core_delta0(&packed.core.table, is_norm), delta = core_delta(delta0, is_norm);
        certificate->delta0 = number_rounded_up(delta0);
        certificate->delta = number_rounded_up(delta);
        if (is_norm)
            bound_norm(of, certificate, delta);
        else
            bound_softmax(of, &packed.softmax, certificate, delta);
    }
    packed_operator_free(&packed);
    return diag->code;
}

int operator_parts(enum operator_kind kind, struct operator_certificate *certificate,
                   struct operator_part parts[OPERATOR_PARTS])
{
    const struct operator_part rho = {"rho", &certificate->rho}, factor = {"factor_lsb", &certificate->factor};
    int count = 0;
    switch (operator_family(kind)) {
    case FAMILY_ELEMENT:
        parts[count++] = factor;
        return count;
    case FAMILY_NORM:
        parts[count++] = (struct operator_part){"root_lsb", &certificate->root};
        parts[count++] = (struct operator_part){"gamma_lsb", &certificate->gamma};
        parts[count++] = (struct operator_part){"rest_lsb", &certificate->beta};
        break;
    case FAMILY_WEIGH:
        parts[count++] = rho;
        parts[count++] = (struct operator_part){"sum_lsb", &certificate->sum};
        parts[count++] = factor;
        break;
    case FAMILY_SOFTMAX:
        parts[count++] = rho;
        parts[count++] =
            (struct operator_part){kind == OPERATOR_LOG_SOFTMAX ? "lambda" : "largest", &certificate->largest};
    }
    parts[count++] = (struct operator_part){"delta0", &certificate->delta0};
    parts[count++] = (struct operator_part){"delta", &certificate->delta};
    return count;
}

/* A part of the bound may be claimed a sixth digit less, as the long double of another processor may have made it. */
static bool claims_parts(enum operator_kind kind, struct operator_certificate says,
                         struct operator_certificate true_one)
{
    struct operator_part claimed[OPERATOR_PARTS], parts[OPERATOR_PARTS];
    const int count = operator_parts(kind, &true_one, parts);
    operator_parts(kind, &says, claimed);
    for (int k = 0; k < count; k++)
        if (*parts[k].value * (1 - 2e-5) > *claimed[k].value)
            return false;
    return true;
}

int operator_check_claim(const struct row_operator *of, struct diag *diag)
{
    struct operator_certificate true_one = {0};
    if (of->standing != CERTIFICATE_OWN)
        return EXIT_DONE;
    if (operator_bound(of, &true_one, diag))
        return diag->code;
    if (!number_written_within(true_one.bound_lsb, of->certificate.bound_lsb) ||
        of->certificate.max_err_lsb > of->certificate.bound_lsb)
        return diag_set(diag, EXIT_USAGE,
                        "certificate: bound_lsb %.6g and max_err_lsb %.6g, must be %.6g and no more than that; pwlc "
                        "certify gives a true one",
                        of->certificate.bound_lsb, of->certificate.max_err_lsb, true_one.bound_lsb);
    if (!claims_parts(of->kind, of->certificate, true_one))
        return diag_set(diag, EXIT_USAGE,
                        "certificate: a part of the bound is less than it is; pwlc certify gives a true one");
    return EXIT_DONE;
}
