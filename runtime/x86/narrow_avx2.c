/* SPDX-License-Identifier: Apache-2.0 */
#include "line_avx2.h"

#include "narrow_shuffle.h"

void pwl_narrow_avx2(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    run_all((const pwl_narrow *)plan->memory, (const uint16_t *)x, (uint16_t *)y, count);
}
