/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify.h"

#include <inttypes.h>
#include <math.h>

#include "function/samples.h"
#include "measure.h"

/* Ends of the domain as real numbers, and whether they belong to it. */
struct real_domain {
    long double min, max;
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

static bool below(const struct real_domain *domain, long double x)
{
    return x < domain->min || (domain->open_min && x == domain->min);
}

static bool above(const struct real_domain *domain, long double x)
{
    return x > domain->max || (domain->open_max && x == domain->max);
}

/* x grows with the code, so both ends are found by bisection. */
struct code_domain code_domain_find(const struct function *function, const struct tensor *in)
{
    const struct real_domain domain = real_domain_of(function);
    struct code_domain codes = {0};

    int64_t low = in->qmin, high = in->qmax + 1; /* the first code that is not below lies in [low, high] */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (below(&domain, tensor_real(in, middle)))
            low = middle + 1;
        else
            high = middle;
    }
    codes.first = low;

    high = in->qmax + 1; /* the first code that is above lies in [low, high] */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (above(&domain, tensor_real(in, middle)))
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

int64_t subject_defined_code(const struct subject *subject, int64_t q)
{
    const struct code_domain *domain = &subject->domain;
    if (q < domain->first)
        q = domain->first;
    if (q > domain->last)
        q = domain->last;
    return domain->has_hole && q == domain->hole ? domain->hole_stands : q;
}

long double subject_value(const struct subject *subject, int64_t q)
{
    return function_value(subject->function, tensor_real(&subject->table->in, subject_defined_code(subject, q)));
}

long double subject_target(const struct subject *subject, long double value)
{
    const struct tensor *out = &subject->table->out;
    return value / out->scale.value + (long double)out->zero_point;
}

long double target_unclipped(const struct function *function, const struct tensor *in, const struct tensor *out,
                             enum outside outside, int64_t q_x)
{
    long double x = tensor_real(in, q_x);
    if (outside == OUTSIDE_CLAMP && !function_defined(function, x)) {
        const struct subject subject = {.domain = code_domain_find(function, in)};
        if (subject.domain.first <= subject.domain.last)
            x = tensor_real(in, subject_defined_code(&subject, q_x));
    }
    return function_value(function, x) / out->scale.value + (long double)out->zero_point;
}

int measure_weighted(const struct table *table, const struct packed_table *packed, const struct function *function,
                     const struct weights *weights, struct weighted_stats *stats, struct diag *diag)
{
    const struct subject subject = {table, packed, function, code_domain_find(function, &table->in)};
    const long double low = (long double)table->out.qmin, high = (long double)table->out.qmax;
    long double sum = 0, sum_of_squares = 0, correct = 0, total = 0;
    if (weights_check(weights, &table->in, diag) != EXIT_DONE)
        return diag->code;
    for (size_t k = 0; k < weights->count; k++) {
        const long double weight = weights->value[k];
        if (weights->value[k] <= 0)
            continue;
        const int64_t q = weights_code(weights, &table->in, k);
        const long double target = subject_target(&subject, subject_value(&subject, q));
        const long double distance = fabsl((long double)packed_eval(packed, q) - (target < low    ? low
                                                                                  : target > high ? high
                                                                                                  : target));
        if (isnan(distance))
            return diag_set(diag, EXIT_USAGE, "%s has no value at code %" PRId64 " (x = %Lg)", function_name(function),
                            q, tensor_real(&table->in, q));
        sum += weight * distance;
        sum_of_squares += weight * distance * distance;
        correct += distance <= 0.5L ? weight : 0;
        total += weight;
    }
    *stats = (struct weighted_stats){
        .rms = (double)sqrtl(sum_of_squares / total),
        .mean_abs = (double)(sum / total),
        .correctly_rounded = (double)(correct / total),
    };
    return EXIT_DONE;
}

void certificate_fill(struct certificate *certificate, const struct error_stats *stats, const pwl_proof *proof)
{
    certificate->checked = stats->checked;
    certificate->exhaustive = stats->exhaustive;
    certificate->max_err_lsb = stats->max_err;
    certificate->max_err_at = stats->max_err_at;
    certificate->rms_err_lsb = stats->rms;
    certificate->mean_abs_err_lsb = stats->mean_abs;
    certificate->correctly_rounded = stats->correctly_rounded;
    certificate->saturated_codes = stats->saturated_codes;
    certificate->monotone = stats->monotone;
    certificate->acc_bits = proof->acc_bits;
}

void certificate_weigh(struct certificate *certificate, const struct weighted_stats *weighted)
{
    certificate->rms_err_lsb = weighted->rms;
    certificate->mean_abs_err_lsb = weighted->mean_abs;
    certificate->correctly_rounded = weighted->correctly_rounded;
}
