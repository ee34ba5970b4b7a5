/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "joint_search.h"

/* By how much a step goes against a direction. */
static double backward(int direction, double step)
{
    const double against = -direction * step;
    return direction == TURN ? fabs(step) : against > 0 ? against : 0;
}

static int64_t saturated(const struct line_rules *rules, int64_t value)
{
    return pwl_sat(value, rules->qmin_y, rules->qmax_y);
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
    *q = saturated(rules, line_value(rules, line, origin, code));
    return true;
}

/* Of the line over the points [from, to), whose outputs are left in search->outputs; squares of `most` or more are of
 * no use. */
static struct price piece_price(const struct tie_search *search, int begin, const struct line *line, int from, int to,
                                double most)
{
    const struct ties *ties = search->ties;
    const struct points *points = search->points;
    double *const q = search->outputs;
    struct price price = {0, 0, 0};
    for (int k = from, end; k < to; k = end) {
        end = to - k > LINE_BLOCK ? k + LINE_BLOCK : to;
        line_outputs(search->rules, points, begin, k, end, line, q + k);
        price.squares += points_squares(points, k, end, q + k);
        if (!(price.squares < most))
            return unaffordable;
    }
    if (ties->by_max_err)
        price.error = points_worst(points, from, to, q + from);
    for (int k = from; points->fixed && k < to; k++)
        if (points->fixed[k] != POINT_FREE && points->fixed[k] != (int64_t)q[k])
            return unaffordable;
    for (int k = from + 1; ties->constraints.monotone && k < to; k++)
        price.violation += backward(ties->inside[k], q[k] - q[k - 1]);
    return price;
}

/* Of an option's line over all its points; unaffordable where it is of no use. */
static struct price price_of_pieces(const struct tie_search *search, struct pieces *pieces, const struct option *option,
                                    double most)
{
    const struct ties *ties = search->ties;
    const double *q = search->outputs;
    struct price sum = {0, 0, 0};
    if (!line_same(&pieces->line, &option->line) || pieces->origin != origin_of(search, option->begin))
        memset(pieces->known, 0, sizeof pieces->known);
    pieces->line = option->line;
    pieces->origin = origin_of(search, option->begin);
    for (int i = 0; i < pieces->count; i++) {
        const int from = pieces->edge[i], to = pieces->edge[i + 1];
        if (from < option->begin || to > option->end)
            continue;
        if (!pieces->known[i])
            pieces->price[i] = piece_price(search, option->begin, &option->line, from, to, most);
        pieces->known[i] = true;
        sum = together(&sum, &pieces->price[i]);
        if (!(sum.squares < most))
            return unaffordable;
        if (ties->constraints.monotone && from > option->begin)
            sum.violation += backward(ties->inside[from], q[from] - q[from - 1]);
    }
    return sum;
}

void tie_appraise(const struct tie_search *search, struct pieces *pieces, struct option *option,
                  const struct price *enough)
{
    const struct ties *ties = search->ties;
    const struct points *points = search->points;
    const struct line_rules *rules = search->rules;
    const struct line *line = &option->line;
    const int64_t origin = origin_of(search, option->begin);
    const int64_t first = points->cell[option->begin], end = points->cell[option->end];
    const double *q = search->outputs;
    option->price = unaffordable;
    if (!line_provable(rules, line, first, end - 1) ||
        (ties->constraints.continuous && !output_beyond(rules, line, origin, end, &option->next)))
        return;
    option->first = saturated(rules, line_value(rules, line, origin, first));
    option->last = saturated(rules, line_value(rules, line, origin, end - 1));
    struct price price = price_of_pieces(search, pieces, option,
                                         enough->violation <= 0 && !ties->by_max_err ? enough->squares : INFINITY);
    if (!(price.squares < INFINITY) || (enough->violation <= 0 && !cheaper(&price, enough)))
        return;
    if (ties->constraints.monotone) {
        price.violation += backward(ties->cell[option->begin], q[option->begin] - (double)option->first);
        price.violation += backward(ties->cell[option->end - 1], (double)option->last - q[option->end - 1]);
    }
    /* Where a folded table's halves meet, at the first code, the mirrored half ends with the sum minus the second. */
    if (ties->fold && option->begin == 0 && ties->constraints.continuous)
        price.violation += fmax(0, fabs((double)(2 * option->first - ties->fold_sum)) - ties->constraints.max_step);
    if (ties->fold && option->begin == 0 && option->end > 1 && ties->constraints.monotone)
        price.violation += backward(ties->joint[1], q[0] + q[1] - (double)ties->fold_sum);
    option->price = price;
}

double tie_joint_violation(const struct ties *ties, const struct option *left, const struct option *right)
{
    double violation = 0;
    if (ties->constraints.monotone)
        violation += backward(ties->joint[right->begin], (double)(right->first - left->last));
    if (ties->constraints.monotone && ties->fold && right->begin == 1)
        violation += backward(ties->joint[1], (double)(left->first + right->first - ties->fold_sum));
    if (ties->constraints.continuous)
        violation += fmax(0, fabs((double)(right->first - left->next)) - ties->constraints.max_step);
    return violation;
}

struct price tie_price(const struct tie_search *search)
{
    struct price sum = {0, 0, 0};
    struct option before = {0};
    for (int m = 0; m < search->segments; m++) {
        struct option option = {.begin = points_at(search->points, search->place[m]),
                                .end = points_at(search->points, search->place[m + 1]),
                                .line = search->lines[m]};
        struct pieces pieces = {.count = 1, .edge = {option.begin, option.end}};
        tie_appraise(search, &pieces, &option, &unaffordable);
        sum = together(&sum, &option.price);
        if (m) {
            const struct price joint = {tie_joint_violation(search->ties, &before, &option), 0, 0};
            sum = together(&sum, &joint);
        }
        before = option;
    }
    return sum;
}
