/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judgement.h"

#include <stdio.h>

#include "base/number.h"
#include "measure/claim.h"

static double error_by(enum objective objective, const struct certificate *certificate)
{
    return objective == OBJECTIVE_RMS ? certificate->rms_err_lsb : certificate->max_err_lsb;
}

bool is_better(const struct certificate *candidate, const struct certificate *best)
{
    return error_by(best->objective, candidate) < error_by(best->objective, best);
}

void take_table(struct table *best, struct table *candidate)
{
    const struct certificate before = best->certificate;
    struct certificate *const certificate = &candidate->certificate;
    char *const text = candidate->spec;
    candidate->spec = best->spec;
    best->spec = text;
    snprintf(candidate->method, sizeof candidate->method, "%s", best->method);
    certificate_keep_judgement(certificate, &before);
    if (before.objective != OBJECTIVE_SEGMENTS && before.optimal == 1 && is_better(&before, certificate)) {
        certificate->optimal = 0;
        certificate->lower_bound_lsb = number_rounded_down(before.lower_bound_lsb);
    }
    table_free(best);
    *best = *candidate;
}
