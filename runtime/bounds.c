/* SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"

/* What is shifted at u. */
static int64_t sum_at(const pwl_table *table, const pwl_plain64 *line, uint32_t u)
{
    const uint64_t sum = line->slope * u + line->pre;
    return table->storage == PWL_INT32 ? (int64_t)sum : (int32_t)(uint32_t)sum;
}

static int64_t value_at(const pwl_table *table, const pwl_plain64 *line, uint32_t u)
{
    const int rounding = pwl_plain_rounding_of(table);
    const pwl_plain32 cut = pwl_plain_cut(line);
    return table->storage == PWL_INT32 ? pwl_plain_eval64(line, u, rounding) : pwl_plain_eval32(&cut, u, rounding);
}

pwl_bounds pwl_bounds_of(const pwl_table *table, const pwl_plain64 *line, uint32_t first, uint32_t last)
{
    const int64_t sum[2] = {sum_at(table, line, first), sum_at(table, line, last)};
    const int64_t value[2] = {value_at(table, line, first), value_at(table, line, last)};
    const int sum_falls = sum[1] < sum[0], value_falls = value[1] < value[0];
    pwl_bounds of;
    of.least_sum = sum[sum_falls];
    of.greatest_sum = sum[!sum_falls];
    of.least_value = value[value_falls];
    of.greatest_value = value[!value_falls];
    return of;
}
