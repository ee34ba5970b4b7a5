/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify.h"

#include <inttypes.h>
#include <math.h>

#include "measure.h"

long double subject_value(const struct subject *subject, int64_t q)
{
    return function_value(subject->function, tensor_real(&subject->table->in, code_domain_nearest(&subject->domain, q)));
}

long double subject_target(const struct subject *subject, long double value)
{
    const struct tensor *out = &subject->table->out;
    return value / out->scale.value + (long double)out->zero_point;
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
