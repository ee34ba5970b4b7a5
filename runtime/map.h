/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When pwl_map_*() makes a plan for one call. A plan costs as much as so many codes by blocks, and pays beyond them. A
 * code by blocks takes 8 to 14 ns where a plan costs (Zen 3, gcc 12 -O2, 16 to 144 lines)
 *
 *   values of 8 bits          0.7 us and 20 ns a line
 *   lines held in registers   60 to 90 ns each
 *   lines held in memory      50 to 400 ns each
 *
 * and less of both on other machines. The lengths below are those from which it pays, rounded up.
 */
#ifndef PWL_MAP_H
#define PWL_MAP_H

#include <pwl/pwl.h>

/*
 * Bytes of stack for the plan of one call. 256 values of 8 bits, or 16 lines of 16 bits in memory, need less than 1024;
 * all that is held in registers, less than 2048; and 200 lines of 16 bits or 100 of 32 bits in memory, less than 6144.
 * 0 leaves plans out: map.c is then all that pwl_map_*() needs.
 */
#ifndef PWL_MAP_STACK
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define PWL_MAP_STACK 1024
#else
#define PWL_MAP_STACK 6144
#endif
#endif

/* Elements from which a plan for one call pays. Lines in memory take 16 bytes each, or more: what the stack cannot hold
 * is not tried. */
static inline size_t pwl_map_pays(const pwl_table *table, pwl_type in)
{
    enum { BYTES_PAY = 128, FEW_LINES = 32, LINE_PAYS = 12, MEMORY_LINE_PAYS = 64, LEAST_LINE = 16 };
    const size_t lines = (size_t)table->segments << (table->flags & PWL_FLAG_FOLD ? 1 : 0);
    if (in <= PWL_U8)
        return BYTES_PAY + lines;
    if (lines > PWL_MAP_STACK / LEAST_LINE)
        return SIZE_MAX;
    return BYTES_PAY + lines * (lines <= FEW_LINES ? LINE_PAYS : MEMORY_LINE_PAYS);
}

#endif
