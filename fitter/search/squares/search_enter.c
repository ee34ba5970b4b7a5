/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "line_program.h"

#include <math.h>

static const double hair = 0x1p-46; /* what rounding of sums may do */

/* Output codes that cost less than `most` at a point: those within reach of its target. */
struct codes {
    double low, high;
};

static struct codes codes_within(const struct search *search, int k, double most, double slack)
{
    const double reach = sqrt(larger(0, most) / search->points->mass[k]) + slack, t = search->points->target[k];
    return (struct codes){larger(ceil(t - reach), (double)search->rules->qmin_y),
                          smaller(floor(t + reach), (double)search->rules->qmax_y)};
}

/* What saturates to those. */
static struct codes unsaturated(const struct search *search, struct codes codes)
{
    return (struct codes){codes.low > (double)search->rules->qmin_y ? codes.low : -INFINITY,
                          codes.high < (double)search->rules->qmax_y ? codes.high : INFINITY};
}

/* What the code at i is to cost less than, and that at i - 1 no less than, of lines with any number that is of use. */
static void find_costs(const struct search *search, int i, double *here, double *before)
{
    *here = -INFINITY;
    *before = INFINITY;
    for (int m = 1; m <= search->segments; m++) {
        const double *behind = entry(search->behind, search, m - 1, 0), *upper = entry(search->upper, search, m - 1, 0),
                     paid = search->paid[m];
        if (!(paid + *entry(search->ahead, search, search->segments - m + 1, i) < search->ceiling))
            continue;
        *here = larger(*here, smaller(behind[i + 1], upper[i + 1]) - paid + hair * (1 + paid));
        *before = smaller(*before, paid - behind[i - 1] - hair * (1 + paid));
    }
    *here = search->is_knot[i + 1] ? *here : INFINITY;
    *before = search->is_knot[i - 1] ? *before : 0;
}

bool search_enter(struct search *search, int i)
{
    const double slack = 1e-9;
    const struct slopes *slopes = &search->slopes;
    double here, before;
    search->entries = 0;
    if (search->rules->form != PWL_BIASED || slopes->all || search->all_starts || search->points->served || i == 0 ||
        i + 1 == search->count)
        return true;
    find_costs(search, i, &here, &before);
    struct codes at = {-INFINITY, INFINITY}, from = {INFINITY, -INFINITY};
    if (here < INFINITY) {
        at = codes_within(search, i, here, slack);
        if (!(here > 0) || at.low > at.high)
            return false;
    }
    if (before > 0 && before < INFINITY)
        from = codes_within(search, i - 1, before, -slack);
    if (from.low > from.high) {
        search->entry[search->entries++] = (struct entry){at.low, at.high, -INFINITY, INFINITY};
        return true;
    }
    from = unsaturated(search, from);
    if (from.low > -INFINITY)
        search->entry[search->entries++] = (struct entry){at.low, at.high, -INFINITY, from.low - 1};
    if (from.high < INFINITY)
        search->entry[search->entries++] = (struct entry){at.low, at.high, from.high + 1, INFINITY};
    return search->entries > 0;
}
