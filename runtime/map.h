/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When pwl_map_*() makes a plan for one call. A plan costs as much as so many codes by blocks, and pays beyond them. A
 * code by blocks takes 6 to 12 ns where a plan costs (Zen 3, gcc 12 -O2, 8 to 256 lines)
 *
 *   values of 8 bits          0.7 us and 20 ns a line
 *   lines held in registers   30 to 130 ns each
 *   lines held in memory      40 to 200 ns each
 *
 * and less of both on other machines. The lengths below are those from which it pays, rounded up.
 */
#ifndef PWL_MAP_H
#define PWL_MAP_H

#include <pwl/pwl.h>

/*
 * Bytes of stack for the plan of one call. 256 values of 8 bits, or 16 lines of 16 bits in memory, need less than 1024;
 * all that is held in registers, less than 2048; 200 lines of 16 bits or 100 of 32 bits in memory, less than 6144; and
 * 512 lines of 16 bits or 256 of 32 bits, less than 14336.
 * 0 leaves plans out: map.c is then all that pwl_map_*() needs.
 */
#ifndef PWL_MAP_STACK
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define PWL_MAP_STACK 1024
#elif UINTPTR_MAX > UINT32_MAX
#define PWL_MAP_STACK 14336
#else
#define PWL_MAP_STACK 6144
#endif
#endif

/* Elements from which a plan for one call pays. What the stack cannot hold is not tried: lines in memory take so many
 * bytes each, or more. Lines of 16 bits may need cells of which only their search tells how many, and that pays late.
 */
static inline size_t pwl_map_pays(const pwl_table *table, pwl_type in)
{
    enum { BYTES_PAY = 128, FEW_LINES = 32, LINE_PAYS = 12 };
    enum { SHORT_LINE_PAYS = 48, LONG_LINE_PAYS = 16, SHORT_LINE = 16, LONG_LINE = 40 };
    const size_t lines = (size_t)table->segments << (table->flags & PWL_FLAG_FOLD ? 1 : 0);
    const int is_long = table->storage == PWL_INT32;
    if (in <= PWL_U8)
        return BYTES_PAY + lines;
    if (lines > (size_t)(PWL_MAP_STACK / (is_long ? LONG_LINE : SHORT_LINE)))
        return SIZE_MAX;
    return BYTES_PAY + lines * (lines <= FEW_LINES ? LINE_PAYS : is_long ? LONG_LINE_PAYS : SHORT_LINE_PAYS);
}

#endif
