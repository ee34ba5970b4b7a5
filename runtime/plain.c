/* SPDX-License-Identifier: Apache-2.0 */
#include <pwl/plain.h>

#include <pwl/eval.h>

void pwl_plain_begin(pwl_plain_walk *walk, const pwl_table *table)
{
    walk->table = table;
    walk->mirrored = (table->flags & PWL_FLAG_FOLD) && table->zp_x > table->qmin_x;
    walk->segment = walk->mirrored ? table->segments - 1 : 0;
    walk->next = 0;
}

pwl_plain_rounding pwl_plain_rounding_of(const pwl_table *table)
{
    return table->rounding == PWL_HALF_AWAY   ? PWL_PLAIN_AWAY
           : table->rounding == PWL_HALF_EVEN ? PWL_PLAIN_EVEN
                                              : PWL_PLAIN_DOWN;
}

/* All arithmetic is modulo 2^64, of which modulo 2^32 is a part. Written in place, here and elsewhere: some compilers
 * copy structures by memcpy(), which not every target has. */
static void line_of(const pwl_table *table, int32_t i, int mirrored, pwl_plain64 *of)
{
    const int n = pwl_element_shift(table, i);
    const int adds = table->rounding == PWL_HALF_UP && n > 0;
    const int biased = table->form == PWL_BIASED;
    const uint64_t origin = (uint64_t)(table->form == PWL_ANCHORED ? pwl_element_start(table, i) : table->zp_x);
    const uint64_t offset = (uint64_t)pwl_element_offset(table, i);
    of->slope = (uint64_t)(int64_t)pwl_element_slope(table, i);
    of->pre = (biased ? offset : 0) - of->slope * origin; /* of q */
    of->post = biased ? 0 : offset;
    of->n = n > 0 ? (uint64_t)n : 0;
    if (n < 0) {
        of->slope <<= -n;
        of->pre <<= -n;
    }
    if (adds)
        of->pre += UINT64_C(1) << (n - 1);
    if (mirrored) {
        of->pre += of->slope * 2 * (uint64_t)table->zp_x;
        of->slope = 0 - of->slope;
        of->post = (uint64_t)table->fold_sum - of->post;
        if (pwl_plain_rounding_of(table) == PWL_PLAIN_DOWN) {
            of->slope = 0 - of->slope;
            of->pre = ~of->pre;
            of->post++;
        } else {
            of->n |= PWL_PLAIN_NEGATED;
        }
    }
    of->pre += of->slope * (uint64_t)table->qmin_x; /* of u */
}

/* Where the next line starts, of segment *i; 0 after the last. */
static int next_start(pwl_plain_walk *walk, int32_t *i, int *mirrored, uint64_t *first)
{
    const pwl_table *const table = walk->table;
    int64_t start;
    while (walk->mirrored) {
        /* q <= 2 zp_x - start[i], and beyond what the segment after it mirrors */
        const int64_t end = 2 * table->zp_x - pwl_element_start(table, walk->segment);
        const int64_t last = end < table->zp_x ? end : table->zp_x - 1;
        *i = walk->segment;
        if (walk->segment == 0)
            walk->mirrored = 0;
        else
            walk->segment--;
        if (last < table->qmin_x || (uint64_t)(last - table->qmin_x) < walk->next)
            continue;
        *mirrored = 1;
        *first = walk->next;
        walk->next = (uint64_t)(last - table->qmin_x) + 1;
        return 1;
    }
    if (walk->segment >= table->segments)
        return 0;
    start = pwl_element_start(table, walk->segment);
    if (start > table->qmax_x)
        return 0;
    *i = walk->segment++;
    *mirrored = 0;
    *first = (uint64_t)(start - table->qmin_x);
    return 1;
}

int pwl_plain_next(pwl_plain_walk *walk, pwl_plain_line *next)
{
    int32_t i;
    int mirrored;
    if (!next_start(walk, &i, &mirrored, &next->start))
        return 0;
    line_of(walk->table, i, mirrored, &next->of);
    return 1;
}

uint32_t pwl_plain_count(const pwl_table *table)
{
    pwl_plain_walk walk;
    uint64_t start;
    uint32_t count = 0;
    int32_t i;
    int mirrored;
    pwl_plain_begin(&walk, table);
    while (next_start(&walk, &i, &mirrored, &start))
        count++;
    return count;
}
