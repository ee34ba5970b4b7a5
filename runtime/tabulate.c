/* SPDX-License-Identifier: Apache-2.0 */
#include "tabulate.h"

#include <pwl/eval.h>
#include <pwl/plain.h>

#include "element.h"
#include "loop.h"

#if PWL_MOST_BITS > 16
/* Codes in order need no search: each plain line is evaluated over the codes that it serves, one after another. By (1)
 * and (3) of span.h it gives the values of pwl_eval(). */

/* Values of codes of one plain line and one storage, in order; `count` of them. */
INLINE void tabulate_codes(const pwl_table *table, const pwl_plain64 *line, uint32_t u, size_t count, uint32_t k,
                           uint32_t mask, pwl_type out, void *values, int is_wide, int rounding)
{
    const int64_t qmin_y = table->qmin_y, qmax_y = table->qmax_y;
    const pwl_plain64 of = {line->slope, line->pre, line->post, line->n};
    const pwl_plain32 cut = pwl_plain_cut(&of);
    for (; count; count--, u++, k++) {
        const int64_t raw = is_wide ? pwl_plain_eval64(&of, u, rounding) : pwl_plain_eval32(&cut, u, rounding);
        pwl_set_element_of(out, values, k & mask, pwl_sat(raw, qmin_y, qmax_y));
    }
}

/* Codes q_first to q_last of the table's range, on one line. */
static void tabulate_line(const pwl_table *table, const pwl_plain64 *line, int64_t q_first, int64_t q_last,
                          uint32_t mask, pwl_type out, void *values)
{
    const int rounding = (int)pwl_plain_rounding_of(table);
    const uint32_t u = (uint32_t)(q_first - table->qmin_x), k = (uint32_t)q_first;
    const size_t count = q_last < q_first ? 0 : (size_t)(q_last - q_first) + 1;
    if (pwl_storage_of(table) == PWL_INT32)
        tabulate_codes(table, line, u, count, k, mask, out, values, 1, rounding);
    else if (rounding == PWL_PLAIN_DOWN)
        tabulate_codes(table, line, u, count, k, mask, out, values, 0, PWL_PLAIN_DOWN);
    else
        tabulate_codes(table, line, u, count, k, mask, out, values, 0, rounding);
}

/* Codes q_first to q_last, beyond the table's range, have the value of its end. */
static void tabulate_end(const pwl_table *table, int64_t end, int64_t q_first, int64_t q_last, uint32_t mask,
                         pwl_type out, void *values)
{
    int64_t q;
    if (q_first > q_last)
        return;
    end = pwl_eval(table, end);
    for (q = q_first; q <= q_last; q++)
        pwl_set_element_of(out, values, (uint32_t)q & mask, end);
}

void pwl_tabulate(const pwl_table *table, int64_t lowest, int64_t highest, pwl_type out, void *values)
{
    const uint32_t mask = (uint32_t)(highest - lowest);
    const int64_t first = pwl_sat(table->qmin_x, lowest, highest + 1),
                  last = pwl_sat(table->qmax_x, lowest - 1, highest);
    pwl_plain_walk walk;
    pwl_plain_line line[2]; /* one, and the one after it, in turn */
    int turn = 0, more;
    tabulate_end(table, table->qmin_x, lowest, first - 1, mask, out, values);
    tabulate_end(table, table->qmax_x, last + 1, highest, mask, out, values);
    pwl_plain_begin(&walk, table);
    more = pwl_plain_next(&walk, &line[turn]);
    while (more) {
        const pwl_plain_line *const of = &line[turn];
        int64_t from = (int64_t)of->start + table->qmin_x, to = table->qmax_x;
        turn ^= 1;
        more = pwl_plain_next(&walk, &line[turn]);
        if (more)
            to = (int64_t)line[turn].start - 1 + table->qmin_x;
        tabulate_line(table, &of->of, from < first ? first : from, to > last ? last : to, mask, out, values);
    }
}
#else
/* Small chips have less room than time. */
void pwl_tabulate(const pwl_table *table, int64_t lowest, int64_t highest, pwl_type out, void *values)
{
    int64_t q;
    for (q = lowest; q <= highest; q++)
        pwl_set_element_of(out, values, (uint32_t)q & (uint32_t)(highest - lowest), pwl_eval(table, q));
}
#endif
