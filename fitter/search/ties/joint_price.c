/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "joint_search.h"

/* The effort of making a candidate and proving it, in points. */
enum { CANDIDATE_EFFORT = 16 };

/* By how much an output misses those that keep to a tie. */
static double missed(struct integers outputs, double q)
{
    return larger(0, larger((double)outputs.low - q, q - (double)outputs.high));
}

/* By how much the output q[k] goes against f after q[k - 1]. */
static double missed_inside(const struct tie_search *search, int k, const double *q)
{
    const struct ties *ties = search->ties;
    const int direction = ties->inside[k];
    if (k > 1 && direction != TURN && direction * (q[k] - q[k - 1]) >= 0)
        return 0; /* goes with f, and so does what saturation makes of it */
    return missed(tie_outputs_after(ties, search->points, k, direction, (int64_t)q[k - 1]), q[k]);
}

/* The output at the code after the last one of a provable line; false where the product would leave 63 bits. */
static bool output_beyond(const struct line_rules *rules, const struct line *line, int64_t origin, int64_t code,
                          int64_t *q)
{
    int64_t product;
    if (__builtin_mul_overflow(line->q_b, code - origin, &product) ||
        (rules->form == PWL_BIASED && __builtin_add_overflow(product, line->offset, &product)) ||
        product > (INT64_MAX >> 1) || product < (INT64_MIN >> 1) || line->n < -31)
        return false;
    if (line->n < 0 && llabs(product) >= INT64_MAX >> (2 - line->n))
        return false;
    *q = line_code(rules, line, origin, code);
    return true;
}

/* Whether nothing that costs as much or more is better than the incumbent. */
static bool is_beaten(const struct tie_cost *cost, const struct tie_cost *incumbent)
{
    return !costs_less(cost, incumbent);
}

/* By how much outputs at the points (from, to) of a line go against f. Where f does not turn, a line that goes with it
 * does so at every point. */
static double missed_between(const struct tie_search *search, const struct line *line, int from, int to,
                             const double *q)
{
    const struct ties *ties = search->ties;
    const int rises = (line->q_b > 0) - (line->q_b < 0);
    double sum = 0;
    for (int k = from + 1; k < to; k++) {
        const int direction = ties->inside[k];
        if (k > 1 && direction != TURN && direction * rises >= 0)
            k = ties->run_end[k] - 1;
        else
            sum += missed_inside(search, k, q);
    }
    return sum;
}

/* The cost of a line over the points [from, to), whose outputs are left in search->outputs; infeasible where that alone
 * is no better than the incumbent. */
static struct tie_cost piece_cost(const struct tie_search *search, int begin, const struct line *line, int from, int to,
                                  const struct tie_cost *incumbent)
{
    const struct ties *ties = search->ties;
    const struct points *points = search->points;
    double *const q = search->outputs;
    struct tie_cost cost = {0, 0, 0};
    for (int k = from, end; k < to; k = end) {
        end = to - k > LINE_BLOCK ? k + LINE_BLOCK : to;
        points_spend(points, end - k);
        line_outputs(search->rules, points, begin, k, end, line, q + k);
        cost.squares += points_squares(points, k, end, q + k);
        if (ties->by_max_err)
            cost.error = larger(cost.error, points_worst(points, k, end, q + k));
        if (is_beaten(&cost, incumbent))
            return infeasible;
    }
    for (int k = from; points->fixed && k < to; k++)
        if (points->fixed[k] != POINT_FREE && points->fixed[k] != (int64_t)q[k])
            return infeasible;
    if (ties->monotone)
        cost.violation = missed_between(search, line, from, to, q);
    return cost;
}

/* The cost of a candidate's line over all its points; infeasible as above. */
static struct tie_cost cost_of_pieces(const struct tie_search *search, struct pieces *pieces,
                                      const struct candidate *candidate, const struct tie_cost *incumbent)
{
    const struct ties *ties = search->ties;
    const double *q = search->outputs;
    struct tie_cost sum = {0, 0, 0};
    if (!line_same(&pieces->line, &candidate->line) ||
        pieces->origin != line_origin(search->rules, search->points->cell[candidate->begin]))
        memset(pieces->known, 0, sizeof pieces->known);
    pieces->line = candidate->line;
    pieces->origin = line_origin(search->rules, search->points->cell[candidate->begin]);
    for (int i = 0; i < pieces->count; i++) {
        const int from = pieces->edge[i], to = pieces->edge[i + 1];
        if (from < candidate->begin || to > candidate->end)
            continue;
        if (!pieces->known[i])
            pieces->cost[i] = piece_cost(search, candidate->begin, &candidate->line, from, to, incumbent);
        pieces->known[i] = true;
        sum = cost_sum(&sum, &pieces->cost[i]);
        if (is_beaten(&sum, incumbent))
            return infeasible;
        if (ties->monotone && from > candidate->begin)
            sum.violation += missed_inside(search, from, q);
    }
    return sum;
}

/* Whether a line is off by more than the incumbent at one of a few points, which most lines are that are at any. */
static bool is_off_at_a_glance(const struct tie_search *search, const struct candidate *candidate,
                               const struct tie_cost *incumbent)
{
    enum { GLANCES = 8, WORTH = 8 * GLANCES };
    const struct points *points = search->points;
    const int begin = candidate->begin, count = candidate->end - begin;
    if (!search->ties->by_max_err || incumbent->violation > 0 || count < WORTH)
        return false;
    points->effort->left -= GLANCES;
    for (int i = 0; i <= GLANCES; i++) {
        const int k = begin + (int)((int64_t)(count - 1) * i / GLANCES);
        const int64_t q = line_output(search->rules, points, begin, k, &candidate->line);
        if (points_error(points, k, (double)q) > incumbent->error)
            return true;
    }
    return false;
}

bool tie_is_provable(const struct tie_search *search, const struct candidate *candidate)
{
    const struct points *points = search->points;
    return line_provable(search->rules, &candidate->line, points->cell[candidate->begin],
                         points->cell[candidate->end] - 1);
}

void tie_find_cost(const struct tie_search *search, struct pieces *pieces, struct candidate *candidate,
                   const struct tie_cost *incumbent)
{
    const struct ties *ties = search->ties;
    const struct points *points = search->points;
    const struct line_rules *rules = search->rules;
    const struct line *line = &candidate->line;
    const int64_t origin = line_origin(search->rules, search->points->cell[candidate->begin]);
    const int64_t first = points->cell[candidate->begin], end = points->cell[candidate->end];
    const double *q = search->outputs;
    candidate->cost = infeasible;
    points_spend(points, CANDIDATE_EFFORT);
    if ((ties->continuous && !output_beyond(rules, line, origin, end, &candidate->next)) ||
        is_off_at_a_glance(search, candidate, incumbent))
        return;
    candidate->first = line_code(rules, line, origin, first);
    candidate->last = line_code(rules, line, origin, end - 1);
    struct tie_cost cost = cost_of_pieces(search, pieces, candidate, incumbent);
    if (is_beaten(&cost, incumbent))
        return;
    if (ties->monotone) {
        const int begin = candidate->begin, last = candidate->end - 1;
        cost.violation += missed(tie_outputs_in_cell(points, begin, ties->cell[begin], candidate->first), q[begin]);
        cost.violation +=
            missed(tie_outputs_in_cell(points, last, ties->cell[last], (int64_t)q[last]), (double)candidate->last);
    }
    if (ties->fold && candidate->begin == 0 && ties->continuous)
        cost.violation += fmax(0, (double)(tie_gap_of_halves(ties, points, candidate->first) - ties->max_step));
    candidate->cost = cost;
}

double tie_joint_violation(const struct tie_search *search, const struct candidate *left, const struct candidate *right)
{
    const struct ties *ties = search->ties;
    const int k = right->begin;
    const double first = (double)right->first;
    double violation = 0;
    if (ties->monotone)
        violation += missed(tie_outputs_after(ties, search->points, k, ties->joint[k], left->last), first);
    if (ties->continuous)
        violation += missed(tie_outputs_near(ties, search->points, k, left->next), first);
    return violation;
}

struct tie_cost tie_table_cost(const struct tie_search *search)
{
    struct tie_cost sum = {0, 0, 0};
    struct candidate before = {0};
    for (int m = 0; m < search->segments; m++) {
        struct candidate candidate = {.begin = points_at(search->points, search->position[m]),
                                      .end = points_at(search->points, search->position[m + 1]),
                                      .line = search->lines[m]};
        struct pieces pieces = {.count = 1, .edge = {candidate.begin, candidate.end}};
        if (!tie_is_provable(search, &candidate))
            return infeasible;
        tie_find_cost(search, &pieces, &candidate, &infeasible);
        sum = cost_sum(&sum, &candidate.cost);
        if (m) {
            const struct tie_cost joint = {tie_joint_violation(search, &before, &candidate), 0, 0};
            sum = cost_sum(&sum, &joint);
        }
        before = candidate;
    }
    return sum;
}
