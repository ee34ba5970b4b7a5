/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certificate.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "measure/claim.h"
#include "segments.h"

/* Fixes of a folded table are searched by outputs that saturate where those of both halves do. Where one half saturates
 * before, a table may keep to them by that alone, and be better than the search says. */
static bool is_kept_by_saturation(const struct workspace *work)
{
    const struct points *points = &work->points;
    bool limited = false;
    for (int k = 0; points->served && points->fixed && k < points->count; k++)
        for (int i = 0; points->fixed[k] != POINT_FREE && i < 2; i++) {
            const struct served *served = &points->served[k][i];
            const double q_y = (double)points->fixed[k];
            limited |= served->low < served->high && (q_y <= served->low || q_y >= served->high);
        }
    return limited;
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

/* The searches that look at every table, or show those that they leave out to be no better. */
enum complete_search {
    SEARCH_NONE,
    SEARCH_COVERS,     /* search/minimax/minimax.h: each segment as long as the error allows, of all integer lines */
    SEARCH_POINTS,     /* search/interpolation/interpolation.h: all values at the points of a grid */
    SEARCH_JOINTS,     /* search/ties/joint_exact.h: all segments that may follow each other */
    SEARCH_LINES,      /* search/squares/complete_search.h: all integer lines by dynamic programming */
    SEARCH_REAL_LINES, /* search/squares/real_bound.h: no table of real lines is better by more than rounding gains */
    SEARCH_CODES       /* none is needed: no output code is nearer than the nearest one */
};

/* The one that was complete, and found no table better than this one by the objective. */
static enum complete_search search_completed(const struct workspace *work, const struct certificate *certificate)
{
    const struct minimax *minimax = &work->minimax;
    const bool few = work->points.count <= EXACT_POINTS;
    const enum complete_search covers = has_points(work->spec) ? SEARCH_POINTS : SEARCH_COVERS;
    if (work->objective == OBJECTIVE_SEGMENTS)
        return work->is_fewest ? covers : SEARCH_NONE;
    switch (work->spec->method) {
    case METHOD_MINIMAX:
        if (!work->points.exhaustive || !minimax_is_optimal(minimax) ||
            certificate->max_err_lsb > minimax->max_err + 4 * MINIMAX_RESOLUTION)
            return SEARCH_NONE;
        return work->moved_by_ties ? SEARCH_JOINTS : covers;
    case METHOD_LSQ:
        if (!exact_is_optimal(&work->exact) || work->moved_by_ties || !costs_as_searched(work, certificate))
            return SEARCH_NONE;
        return has_points(work->spec) ? SEARCH_POINTS : few ? SEARCH_LINES : SEARCH_REAL_LINES;
    case METHOD_LUT:
        return SEARCH_CODES;
    default:
        return SEARCH_NONE;
    }
}

/* Whether --offset-type leaves out tables that the searches do not look at. Those for squares and for tied segments
 * take no line that is steeper than it takes to pass from limit to limit: what is beyond a limit all along comes out as
 * the limit, and so may be flat. But where no offset gives that output to a flat line, a steep one may; and with a
 * shift for all an offset that is added before it has many bits. */
static bool has_hidden_lines(const struct workspace *work)
{
    const struct spec *spec = work->spec;
    const struct line_rules *rules = &work->rules;
    const bool one_shift = rules->form == PWL_BIASED && rules->one_shift;
    return spec->has_offset_type && !has_values(spec) && (one_shift || !line_flat_gives_outputs(rules)) &&
           (one_shift || spec->method == METHOD_LSQ || constraints_tie(&spec->constraints));
}

/* Whether something is known of all tables. Of a core it is, in its own units; what rounding makes of it is not. */
static bool is_judged(const struct workspace *work, const struct table *table)
{
    const enum method method = work->spec->method;
    if (is_kept_by_saturation(work) || has_hidden_lines(work))
        return false;
    if (work->objective == OBJECTIVE_SEGMENTS || method == METHOD_MINIMAX)
        return !table->has_reduction;
    return method == METHOD_LUT || work->exact.segments > 0;
}

/* What no table has less than, by the search of a largest error. Points are codes, so what no table reaches at them
 * none reaches. Over 2^32 codes, slopes and targets of up to 33 bits, the doubles that say so are off by up to 2^-20
 * LSB. */
static double least_max_err(const struct workspace *work)
{
    const double bound = work->minimax.lower_bound;
    return work->points.exhaustive ? bound : fmax(0, bound * (1 - 1e-6) - 0x1p-20);
}

/* What the search knows of all other tables. */
static void certify_bounds(const struct workspace *work, const struct table *table, struct certificate *certificate)
{
    const struct exact *exact = &work->exact;
    certificate->objective = work->objective;
    certificate->has_second_objective =
        work->objective != OBJECTIVE_RMS && (has_points(work->spec) || !constraints_tie(&work->spec->constraints));
    if (!is_judged(work, table))
        return;
    certificate->optimal = search_completed(work, certificate) != SEARCH_NONE;
    certificate->has_lower_bound = work->objective != OBJECTIVE_SEGMENTS && work->spec->method != METHOD_LUT;
    if (!certificate->has_lower_bound)
        return;
    const double error = work->objective == OBJECTIVE_MAX ? certificate->max_err_lsb : certificate->rms_err_lsb;
    const double bound =
        work->objective == OBJECTIVE_MAX ? least_max_err(work) : sqrt(exact->lower_bound / total_mass(&work->points));
    certificate->lower_bound_lsb = certificate->optimal ? error : number_rounded_down(bound);
    if (work->objective == OBJECTIVE_MAX)
        return;
    certificate->has_rms_any_shift = work->rules.one_shift && certificate->optimal && isfinite(exact->any_shift);
    if (certificate->has_rms_any_shift)
        certificate->rms_any_shift_lsb = sqrt(exact->any_shift / total_mass(&work->points));
}

int certify(struct workspace *work, struct table *table, struct diag *diag)
{
    memcpy(table->segments, work->segments, (size_t)work->count * sizeof *table->segments);
    table->segment_count = work->count;
    if (!certificate_make(table, &work->spec->function, work->spec->weights, false, diag))
        certify_bounds(work, table, &table->certificate);
    return diag->code;
}

int fit_and_certify(struct workspace *work, int count, struct table *table, struct diag *diag)
{
    return fit_segments(work, count, diag) ? diag->code : certify(work, table, diag);
}
