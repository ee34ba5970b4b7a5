/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When pwl_map_*() makes a plan for one call. A plan costs as much as so many codes by what needs none, and pays beyond
 * them. A code by blocks takes 5 to 12 ns; by the table's own arrays in registers (direct.h) 0.3 ns with 16 segments,
 * 0.4 with 64 and 0.8 with 256. A plan costs (Zen 5, gcc 12 -O3)
 *
 *   values of 8 bits          0.9 us
 *   lines held in registers   0.9 us for 16, 2.4 us for 64, 5 us for 144
 *   lines held in memory      25 to 60 ns each
 *
 * and up to twice as much on older machines. The lengths below are those from which it pays, rounded up.
 */
#ifndef PWL_MAP_H
#define PWL_MAP_H

#include <pwl/eval.h>
#include <pwl/plan.h>

#include "direct.h"
#include "pieces.h"

/* What lies on the stack for one call: a plan, or no more than the values of arrays of 8 bits. */
#define PWL_MAP_VALUES 256
#define PWL_MAP_PLANS 1024

/*
 * Bytes of it. 256 values of 8 bits, or 16 lines of 16 bits in memory, need less than 1024; all that is held in
 * registers, less than 2048; 200 lines of 16 bits or 100 of 32 bits in memory, less than 6144; and 512 lines of 16 bits
 * or 256 of 32 bits, less than 14336. 0 leaves both out.
 */
#ifndef PWL_MAP_STACK
#if UINTPTR_MAX > UINT32_MAX
#define PWL_MAP_STACK 14336
#else
#define PWL_MAP_STACK PWL_MAP_VALUES
#endif
#endif

/* Whether short arrays, on this machine, are mapped by the table's own arrays (direct.h). */
static inline int pwl_map_is_direct(const pwl_table *table)
{
#ifdef PWL_HAVE_AVX512
    return pwl_storage_of(table) != PWL_INT32 && table->segments <= PWL_DIRECT_SEGMENTS &&
           pwl_levels() & PWL_LEVEL_AVX512;
#else
    (void)table;
    return 0;
#endif
}

/* Elements from which a plan for one call pays. What the stack cannot hold is not tried: lines in memory take so many
 * bytes each, or more; nor are they where registers hold the table's own arrays. */
static inline size_t pwl_map_pays(const pwl_table *table, pwl_type in)
{
    enum { DIRECT_BYTES_PAY = 3072, DIRECT_PAYS = 2048, DIRECT_LINE_PAYS = 64 };
    enum { BYTES_PAY = 128, LINE_PAYS = 12, LONG_LINE_PAYS = 16, SHORT_LINE = 16, LONG_LINE = 40 };
    const size_t lines = (size_t)table->segments << (table->flags & PWL_FLAG_FOLD ? 1 : 0);
    const int is_long = pwl_storage_of(table) == PWL_INT32, is_direct = pwl_map_is_direct(table);
    if (in <= PWL_U8)
        return is_direct ? DIRECT_BYTES_PAY : BYTES_PAY + lines;
    if (is_direct)
        return lines <= PWL_PIECES ? DIRECT_PAYS + lines * DIRECT_LINE_PAYS : SIZE_MAX;
    if (lines > (is_long ? (size_t)PWL_MAP_STACK / LONG_LINE : (size_t)PWL_MAP_STACK / SHORT_LINE))
        return SIZE_MAX;
    return BYTES_PAY + lines * (is_long ? LONG_LINE_PAYS : LINE_PAYS);
}

/* pwl_map_<in>_<out>(). */
void pwl_map_typed(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count);

#endif
