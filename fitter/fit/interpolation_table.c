/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "interpolation_table.h"

#include <math.h>

#include "certificate.h"
#include "max_err.h"
#include "problem.h"
#include "search/interpolation/interpolation.h"

static void take_values(struct workspace *work, const struct interpolation *found)
{
    work->count = found->intervals;
    for (int i = 0; i < found->intervals; i++) {
        const struct line line = interpolation_line(found, i, found->value[i], found->value[i + 1]);
        work->segments[i] = line_segment(&line, work->points.cell[i * found->width]);
    }
}

static int begin(struct workspace *work, int shift, struct interpolation *search, struct diag *diag)
{
    line_rules_init(&work->rules, work->spec);
    work->rules.slopes = line_slopes(&work->rules, shift); /* there is no other shift */
    return interpolation_init(search, &work->points, &work->rules, interpolation_values(work->spec, &work->rules),
                              work->ties.inside, shift, interpolation_addends(work->spec, shift), diag);
}

static int finish(struct workspace *work, struct interpolation *search, struct diag *diag)
{
    if (!diag->code)
        take_values(work, search);
    interpolation_free(search);
    return diag->code;
}

/* Of the tables that are within a largest error as the present one is, one of little squared error. */
static int improve_within(struct interpolation *search, double max_err, struct diag *diag)
{
    double cost, lower_bound;
    if (interpolation_improve(search, max_err, diag))
        return diag->code;
    return interpolation_least_squares(search, max_err, INTERPOLATION_STEPS / 8, &cost, &lower_bound, diag);
}

static int fit_by_method(struct workspace *work, int shift, struct diag *diag)
{
    struct interpolation search;
    struct minimax *minimax = &work->minimax;
    struct exact *exact = &work->exact;
    const bool by_max = work->spec->method == METHOD_MINIMAX;
    work->objective = by_max ? OBJECTIVE_MAX : OBJECTIVE_RMS;
    if (begin(work, shift, &search, diag))
        return diag->code;
    if (by_max) {
        if (!interpolation_least_error(&search, &minimax->max_err, &minimax->lower_bound, diag))
            improve_within(&search, minimax->max_err + MINIMAX_RESOLUTION, diag);
    } else {
        *exact = (struct exact){.segments = search.intervals, .any_shift = NAN};
        if (!interpolation_any(&search, diag) && !interpolation_improve(&search, INFINITY, diag))
            interpolation_least_squares(&search, INFINITY, INTERPOLATION_STEPS, &exact->cost, &exact->lower_bound,
                                        diag);
    }
    return finish(work, &search, diag);
}

static int fit_within(struct workspace *work, int shift, bool *found, bool *decided, struct diag *diag)
{
    struct interpolation search;
    work->objective = OBJECTIVE_SEGMENTS;
    if (begin(work, shift, &search, diag))
        return diag->code;
    if (!interpolation_within(&search, work->spec->max_err, found, decided, diag) && *found)
        improve_within(&search, work->spec->max_err, diag);
    if (*found)
        return finish(work, &search, diag);
    interpolation_free(&search);
    return diag->code;
}

/* The widest intervals that do. */
static int fit_fewest(struct workspace *work, struct table *table, struct diag *diag)
{
    const int bits = work->spec->in.bits;
    work->is_fewest = true;
    for (int shift = bits - 1; shift >= CONSTRAINTS_LEAST_SHIFT(bits); shift--) {
        bool found, decided;
        if (fit_within(work, shift, &found, &decided, diag))
            return diag->code;
        if (found)
            return certify(work, table, diag);
        work->is_fewest &= decided;
    }
    /* How near the most segments come. */
    return fit_by_method(work, CONSTRAINTS_LEAST_SHIFT(bits), diag) ? diag->code : certify(work, table, diag);
}

int fit_interpolation(struct workspace *work, struct table *table, struct diag *diag)
{
    const struct spec *spec = work->spec;
    const int shift = spec_points_shift(spec);
    if (shift == 0)
        return fit_fewest(work, table, diag) ? diag->code : check_max_err(spec, table, diag);
    if (fit_by_method(work, shift, diag) || certify(work, table, diag) || !check_max_err(spec, table, diag) ||
        spec->method == METHOD_MINIMAX)
        return diag->code;
    /* Another objective misses tables that keep to --max-err. */
    bool found, decided;
    const struct diag missed = *diag;
    if (fit_within(work, shift, &found, &decided, diag) || !found) {
        *diag = diag->code == EXIT_IO ? *diag : missed;
        return diag->code;
    }
    work->is_fewest = true; /* of one number */
    return certify(work, table, diag) ? diag->code : check_max_err(spec, table, diag);
}
