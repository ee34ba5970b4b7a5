/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways of kind "cells" share once a source has defined its loop,
 *
 *   INLINE void run(const pwl_cells_table *made, const uint32_t *x, uint32_t *y, size_t count, int steps, int even);
 *
 * run_plan() calls it with steps and even as constants. Products with slopes of more than 32 bits are left to plain C.
 */
INLINE void run_rounded(const pwl_cells_table *made, const uint32_t *x, uint32_t *y, size_t count, int steps)
{
    if (made->even)
        run(made, x, y, count, steps, 1);
    else
        run(made, x, y, count, steps, 0);
}

INLINE void run_plan(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const pwl_cells_table *const made = (const pwl_cells_table *)plan->memory;
    if (made->is_long)
        pwl_cells(plan, x, y, count);
    else if (made->steps == 1)
        run_rounded(made, (const uint32_t *)x, (uint32_t *)y, count, 1);
    else if (made->steps == 2)
        run_rounded(made, (const uint32_t *)x, (uint32_t *)y, count, 2);
    else
        run_rounded(made, (const uint32_t *)x, (uint32_t *)y, count, made->steps);
}
