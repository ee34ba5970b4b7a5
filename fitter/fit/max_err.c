/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "max_err.h"

#include <math.h>

#include "base/number.h"
#include "certificate.h"
#include "segments.h"

enum { ATTEMPTS = 10 }; /* at a limit that the certificate bears out */
enum { EACH = 16 };     /* numbers of equal segments that are tried one by one whatever they take */

/* What --max-err is held against: proven where not every code was visited, if it can be. */
static double held_error(const struct table *table)
{
    const struct certificate *certificate = &table->certificate;
    return certificate->has_bound ? certificate->bound_lsb : certificate->max_err_lsb;
}

static bool holds_max_err(const struct spec *spec, const struct table *table)
{
    return number_written_within(held_error(table), spec->max_err);
}

static int miss_max_err(const struct spec *spec, const struct table *table, struct diag *diag)
{
    const struct certificate *certificate = &table->certificate;
    if (certificate->has_bound && certificate->max_err_lsb <= spec->max_err)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "--max-err %.6g: of the table of %d segments it is proven only that it is off by at most %.6g "
                        "LSB; the largest error found is %.6g LSB at code %lld",
                        spec->max_err, table->segment_count, certificate->bound_lsb, certificate->max_err_lsb,
                        (long long)certificate->max_err_at);
    return diag_set(diag, EXIT_REQUIREMENT, "--max-err %.6g: the table of %d segments is off by %.6g LSB at code %lld",
                    spec->max_err, table->segment_count, certificate->max_err_lsb, (long long)certificate->max_err_at);
}

/* The next limit at the points where the present one has let a code between them exceed --max-err: less by as much, and
 * by steps that grow, as the next table exceeds it elsewhere. */
static double narrower_limit(double limit, const struct spec *spec, const struct table *table, int attempt)
{
    return limit - fmax(1.02 * (held_error(table) - spec->max_err), ldexp(1e-4 * spec->max_err, attempt));
}

/* Whether a table of so many segments is one that was asked for, which is then kept. */
static int try_count(struct workspace *work, int count, struct table *table, bool *good, struct diag *diag)
{
    work->ties.stops_at_max_err = true;
    *good = !fit_and_certify(work, count, table, diag) && holds_max_err(work->spec, table);
    if (*good)
        keep_table(&work->kept, table);
    return diag->code == EXIT_REQUIREMENT ? EXIT_DONE : diag->code;
}

/* The table that was kept; of tied segments, the one of as many and of least error at the points, unless it has a
 * larger one at codes between them, or too much has been looked at: a table of every code is soon found once more. */
static int better_kept_table(struct workspace *work, struct table *table, struct diag *diag)
{
    const struct effort *effort = work->points.effort;
    const bool ends = work->points.exhaustive ? effort_overdrawn(effort) : effort_spent(effort);
    work->ties.stops_at_max_err = false;
    if (constraints_tie(&work->spec->constraints) && !ends) {
        if (!fit_and_certify(work, work->kept.count, table, diag) && holds_max_err(work->spec, table))
            return EXIT_DONE;
        if (diag->code && diag->code != EXIT_REQUIREMENT)
            return diag->code;
    }
    take_kept_table(&work->kept, table);
    return diag->code = EXIT_DONE;
}

/* Few segments for a given error, `least` or more, where a search knows only how to fit a number of them: steps that
 * double, then bisection. */
static int fit_max_err_by_count(struct workspace *work, int least, int most, struct table *table, struct diag *diag)
{
    int bad = least - 1, good = least;
    bool met;
    for (int step = 1;; step *= 2) {
        if (try_count(work, good, table, &met, diag))
            return diag->code;
        if (met)
            break;
        if (good == most || effort_overdrawn(work->points.effort))
            return diag->code ? diag->code : miss_max_err(work->spec, table, diag);
        bad = good;
        good = step < most - good ? good + step : most;
    }
    while (bad + 1 < good && !effort_spent(work->points.effort)) {
        const int middle = bad + (good - bad) / 2;
        if (try_count(work, middle, table, &met, diag))
            return diag->code;
        if (met)
            good = middle;
        else
            bad = middle;
    }
    return better_kept_table(work, table, diag);
}

/* Fewest segments for a given error. It is held at the points only; where they are not all codes the certificate may
 * find or prove no more than a larger one, and the limit is narrowed. */
static int fit_max_err_by_cover(struct workspace *work, int most, struct table *table, struct diag *diag)
{
    const double max_err = work->spec->max_err;
    /* A reduced table rounds once more, by half an LSB at most. */
    double limit = table->has_reduction && max_err > 0.75 ? max_err - 0.5 : max_err;
    for (int attempt = 0; attempt < ATTEMPTS && limit > 0; attempt++) {
        if (fit_segments_within(work, limit, most, diag)) {
            if (attempt > 0 && diag->code == EXIT_REQUIREMENT) /* the limit is too narrow by now */
                break;
            return diag->code;
        }
        if (certify(work, table, diag))
            return diag->code;
        if (holds_max_err(work->spec, table))
            return EXIT_DONE;
        limit = narrower_limit(limit, work->spec, table, attempt);
    }
    return miss_max_err(work->spec, table, diag);
}

/* Few segments found at little cost; 0 where none are. The limit at the points is narrowed as above. */
static int find_few(struct workspace *work, int most, struct table *table, int *few, struct diag *diag)
{
    const double max_err = work->spec->max_err;
    double limit = max_err;
    *few = 0;
    for (int attempt = 0; attempt < ATTEMPTS && limit > 0 && !*few && !effort_overdrawn(work->points.effort);
         attempt++) {
        work->ties.max_err = limit;
        if (fit_few_segments(work, most, diag))
            return diag->code;
        if (work->count == 0)
            break;
        if (certify(work, table, diag))
            return diag->code;
        if (holds_max_err(work->spec, table)) {
            *few = work->count;
            keep_table(&work->kept, table);
        }
        limit = narrower_limit(limit, work->spec, table, attempt);
    }
    work->ties.max_err = max_err;
    work->ties.few = *few;
    return EXIT_DONE;
}

/* Fewer segments than the few found, but more than `bad`: steps down that double, then bisection. */
static int fit_fewer(struct workspace *work, int bad, int few, struct table *table, struct diag *diag)
{
    bool met = true;
    int good = few;
    for (int step = 1; bad + 1 < good && !effort_spent(work->points.effort); step = met ? 2 * step : few) {
        const int probe = good - step > bad ? good - step : bad + (good - bad) / 2;
        if (try_count(work, probe, table, &met, diag))
            return diag->code;
        *(met ? &good : &bad) = probe;
    }
    return better_kept_table(work, table, diag);
}

/* Of equal segments, `least` or more; of widths that are powers of two alone, or of any. Once half
 * of what is given has been looked at, many numbers are left out. */
static int fit_equal_ties(struct workspace *work, int least, int most, bool of_powers, struct table *table,
                          struct diag *diag)
{
    const struct spec *spec = work->spec;
    int step = 1, few = 0;
    bool met = false;
    diag_set(diag, EXIT_REQUIREMENT, "--max-err %.6g: no width of equal segments is a power of two", spec->max_err);
    for (int count = of_powers ? points_next_of_powers(&work->points, least - 1) : least; count > 0 && count <= most;) {
        const int next = of_powers             ? points_next_of_powers(&work->points, count)
                         : step < most - count ? count + step
                         : count < most        ? most
                                               : 0;
        if (points_grid_uniform(&work->points, count, diag))
            return diag->code;
        const int code =
            minimax_cover(&work->points, &work->rules, spec->max_err, count, &work->minimax, &work->is_fewest, diag);
        if (code != EXIT_REQUIREMENT) {
            if (code || find_few(work, count, table, &few, diag))
                return diag->code;
            if (few)
                return better_kept_table(work, table, diag);
            if (try_count(work, count, table, &met, diag))
                return diag->code;
            if (met)
                return better_kept_table(work, table, diag);
            miss_max_err(spec, table, diag);
            if (effort_overdrawn(work->points.effort))
                break;
            if (count - least >= EACH && work->points.effort->left < work->points.effort->given / 2)
                step *= 2;
        }
        count = next;
    }
    return diag->code;
}

/* Segments that depend on each other are at least as many as those that do not, wherever knots may lie; a grid is that
 * of the number of segments, but for one that is given. Where one of more segments has not all the places of one of
 * fewer, each number is tried. */
static int fit_max_err_of_ties(struct workspace *work, int most, struct table *table, struct diag *diag)
{
    const struct spec *spec = work->spec;
    const struct constraints *constraints = &spec->constraints;
    const bool own_grid = constraints->knots == KNOTS_POW2 && !constraints->index_bits;
    if (constraints->knots == KNOTS_POW2 && constraints->index_bits) {
        const int bits = constraints_index_bits(constraints, most, spec->in.bits);
        if (points_grid_pow2(&work->points, spec->in.bits - bits, diag))
            return diag->code;
        most = points_places(&work->points) < most ? points_places(&work->points) : most;
    }
    if (minimax_cover(&work->points, &work->rules, spec->max_err, most, &work->minimax, &work->is_fewest, diag))
        return diag->code;
    int count = work->minimax.segments, few = 0;
    bool met = false;
    if (!has_uniform_knots(spec)) {
        /* That number often does. */
        if (try_count(work, count, table, &met, diag))
            return diag->code;
        if (met)
            return better_kept_table(work, table, diag);
        if (!own_grid && find_few(work, most, table, &few, diag))
            return diag->code;
        return few ? fit_fewer(work, count, few, table, diag)
                   : fit_max_err_by_count(work, count < most ? count + 1 : most, most, table, diag);
    }
    const int widest = points_next_of_powers(&work->points, 0);
    if (widest > count || fit_equal_ties(work, count, most, true, table, diag) == EXIT_REQUIREMENT)
        fit_equal_ties(work, count, most, false, table, diag);
    return diag->code;
}

int fit_max_err(struct workspace *work, int most, struct table *table, struct diag *diag)
{
    if (work->spec->method == METHOD_DOCUMENT)
        return fit_max_err_by_count(work, 1, most, table, diag);
    return constraints_tie(&work->spec->constraints) ? fit_max_err_of_ties(work, most, table, diag)
                                                     : fit_max_err_by_cover(work, most, table, diag);
}

int check_max_err(const struct spec *spec, const struct table *table, struct diag *diag)
{
    return isnan(spec->max_err) || holds_max_err(spec, table) ? EXIT_DONE : miss_max_err(spec, table, diag);
}
