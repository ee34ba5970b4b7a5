/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include <pwl/fixed.h>

#include "tie_search.h"

/* By how much a step goes against a direction. */
static double backward(int direction, int64_t step)
{
    return direction == TURN ? fabs((double)step) : fmax(0, -direction * (double)step);
}

static inline int64_t output(const struct line_rules *rules, const struct line *line, int64_t x, int rounding)
{
    return pwl_sat(pwl_line64((int)rules->form, rounding, (int32_t)line->q_b, x, line->n, line->offset), rules->qmin_y,
                   rules->qmax_y);
}

/* The output at a code that may lie beyond the segment; false where the product would leave 63 bits. */
static bool output_at(const struct tie_search *search, const struct line *line, int64_t origin, int64_t code,
                      int64_t *q)
{
    const struct line_rules *rules = search->rules;
    int64_t product;
    if (__builtin_mul_overflow(line->q_b, code - origin, &product) ||
        (rules->form == PWL_BIASED && __builtin_add_overflow(product, line->offset, &product)) ||
        product > (INT64_MAX >> 1) || product < (INT64_MIN >> 1) || line->n < -31)
        return false;
    if (line->n < 0 && llabs(product) >= INT64_MAX >> (2 - line->n))
        return false;
    *q = output(rules, line, code - origin, (int)rules->rounding);
    return true;
}

/* Outputs at the points of an option, for one rounding each so that the compiler knows it. */
static void outputs(const struct tie_search *search, const struct option *option, int64_t *q)
{
    const struct line_rules *rules = search->rules;
    const double *code = search->points->code + option->begin;
    const int64_t origin = origin_of(search, option->begin);
    const struct line line = option->line;
    const int count = option->end - option->begin;
    switch (rules->rounding) {
    case PWL_FLOOR:
        for (int k = 0; k < count; k++)
            q[k] = output(rules, &line, (int64_t)code[k] - origin, PWL_FLOOR);
        break;
    case PWL_HALF_UP:
        for (int k = 0; k < count; k++)
            q[k] = output(rules, &line, (int64_t)code[k] - origin, PWL_HALF_UP);
        break;
    case PWL_HALF_AWAY:
        for (int k = 0; k < count; k++)
            q[k] = output(rules, &line, (int64_t)code[k] - origin, PWL_HALF_AWAY);
        break;
    case PWL_HALF_EVEN:
        for (int k = 0; k < count; k++)
            q[k] = output(rules, &line, (int64_t)code[k] - origin, PWL_HALF_EVEN);
        break;
    }
}

void tie_appraise(const struct tie_search *search, struct option *option, const struct price *enough)
{
    const struct ties *ties = search->ties;
    const struct points *points = search->points;
    const struct line *line = &option->line;
    const int64_t origin = origin_of(search, option->begin);
    const int64_t first = points->cell[option->begin], end = points->cell[option->end];
    const int64_t *q = search->outputs;
    option->price = unaffordable;
    if (!line_provable(search->rules, line, first, end - 1) ||
        !output_at(search, line, origin, first, &option->first) ||
        !output_at(search, line, origin, end - 1, &option->last) ||
        !output_at(search, line, origin, end, &option->next))
        return;
    const int count = option->end - option->begin;
    const double *target = points->target + option->begin, *mass = points->mass + option->begin;
    const int64_t *fixed = points->fixed ? points->fixed + option->begin : NULL;
    outputs(search, option, search->outputs);
    double squares = 0, most = 0;
    for (int k = 0; k < count && !points->served; k++) {
        const double e = fabs((double)q[k] - target[k]);
        squares += e * e * mass[k];
        most = e > most ? e : most;
    }
    for (int k = 0; k < count && points->served; k++) {
        squares += points_cost(points, option->begin + k, (double)q[k]);
        most = fmax(most, points_error(points, option->begin + k, (double)q[k]));
    }
    struct price price = {.error = ties->by_max_err ? most : 0, .squares = squares};
    for (int k = 0; fixed && k < count; k++)
        if (fixed[k] != POINT_FREE && fixed[k] != q[k])
            return;
    if (enough->violation <= 0 && !cheaper(&price, enough))
        return;
    if (ties->constraints.monotone) {
        price.violation += backward(ties->cell[option->begin], q[0] - option->first);
        price.violation += backward(ties->cell[option->end - 1], option->last - q[count - 1]);
        for (int k = 1; k < count; k++)
            price.violation += backward(ties->inside[option->begin + k], q[k] - q[k - 1]);
    }
    /* Where a folded table's halves meet, at the first code, the mirrored half ends with the sum minus the second. */
    if (ties->fold && option->begin == 0 && ties->constraints.continuous)
        price.violation += fmax(0, fabs((double)(2 * option->first - ties->fold_sum)) - ties->constraints.max_step);
    if (ties->fold && option->begin == 0 && option->end > 1 && ties->constraints.monotone)
        price.violation += backward(ties->joint[1], q[0] + q[1] - ties->fold_sum);
    option->price = price;
}

double tie_joint_violation(const struct ties *ties, const struct option *left, const struct option *right)
{
    double violation = 0;
    if (ties->constraints.monotone)
        violation += backward(ties->joint[right->begin], right->first - left->last);
    if (ties->constraints.monotone && ties->fold && right->begin == 1)
        violation += backward(ties->joint[1], left->first + right->first - ties->fold_sum);
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
        tie_appraise(search, &option, &unaffordable);
        sum = together(&sum, &option.price);
        if (m) {
            const struct price joint = {tie_joint_violation(search->ties, &before, &option), 0, 0};
            sum = together(&sum, &joint);
        }
        before = option;
    }
    return sum;
}
