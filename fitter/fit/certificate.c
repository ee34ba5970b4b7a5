/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a fitted table. */
#include <math.h>
#include <string.h>

#include "measure/claim.h"
#include "workspace.h"

/* Ties and fixes of a folded table are searched by outputs that saturate where those of both halves do. Where one half
 * saturates before, a table may keep to them by that alone, and be better than the search says. */
static bool is_kept_by_saturation(const struct workspace *work, const struct certificate *certificate)
{
    const struct points *points = &work->points;
    bool limited = certificate->saturated_codes > 0 && constraints_tie(&work->spec->constraints);
    for (int k = 0; points->served && points->fixed && k < points->count; k++)
        for (int i = 0; points->fixed[k] != POINT_FREE && i < 2; i++) {
            const struct served *served = &points->served[k][i];
            const double q_y = (double)points->fixed[k];
            limited |= served->low < served->high && (q_y <= served->low || q_y >= served->high);
        }
    return points->served && limited;
}

/* That of all points; masses are such that their mean over the codes is 1. */
static double total_mass(const struct points *points)
{
    return (double)(points->cell[points->count] - points->cell[0]);
}

bool costs_as_searched(const struct workspace *work, const struct certificate *certificate)
{
    const double rms = certificate->rms_err_lsb, mass = total_mass(&work->points);
    return !work->points.served || rms * rms * mass <= work->exact.cost * (1 + 1e-9) + 1e-18 * mass;
}

/* What the search knows of all other tables. */
static void certify_bounds(const struct workspace *work, const struct table *table, struct certificate *certificate)
{
    const struct minimax *minimax = &work->minimax;
    certificate->objective = work->objective;
    certificate->has_second_objective = work->objective != OBJECTIVE_RMS && !constraints_tie(&work->spec->constraints);
    if (is_kept_by_saturation(work, certificate))
        return;
    if (work->objective == OBJECTIVE_SEGMENTS) {
        if (!table->has_reduction)
            certificate->optimal = work->is_fewest;
        return;
    }
    switch (work->spec->method) {
    case METHOD_MINIMAX: {
        /* The core's error is bounded, in its own units; what rounding makes of it is not. */
        if (table->has_reduction)
            break;
        certificate->has_lower_bound = true;
        certificate->lower_bound_lsb = minimax->lower_bound;
        /* Points are codes, so what no table reaches at them none reaches. Over 2^32 codes, slopes and targets of up to
         * 33 bits, the doubles that say so are off by up to 2^-20 LSB. */
        if (!work->points.exhaustive)
            certificate->lower_bound_lsb = fmax(0, minimax->lower_bound * (1 - 1e-6) - 0x1p-20);
        certificate->optimal =
            minimax->optimal && certificate->max_err_lsb <= minimax->max_err + 4 * MINIMAX_RESOLUTION;
        break;
    }
    case METHOD_LSQ:
        if (work->exact.segments) {
            const struct exact *exact = &work->exact;
            certificate->has_lower_bound = true;
            certificate->optimal = exact->optimal && !work->moved_by_ties && costs_as_searched(work, certificate);
            certificate->lower_bound_lsb =
                certificate->optimal ? certificate->rms_err_lsb : sqrt(exact->lower_bound / total_mass(&work->points));
            certificate->has_rms_any_shift =
                work->rules.one_shift && certificate->optimal && isfinite(exact->any_shift);
            if (certificate->has_rms_any_shift)
                certificate->rms_any_shift_lsb = sqrt(exact->any_shift / total_mass(&work->points));
        }
        break;
    case METHOD_LUT:
        certificate->optimal = 1; /* no output code is nearer than the nearest one */
        break;
    default:
        break;
    }
}

int certify(struct workspace *work, struct table *table, struct diag *diag)
{
    memcpy(table->segments, work->segments, (size_t)work->count * sizeof *table->segments);
    table->segment_count = work->count;
    if (!certificate_make(table, &work->spec->function, work->spec->weights, false, diag))
        certify_bounds(work, table, &table->certificate);
    return diag->code;
}
