/* SPDX-License-Identifier: Apache-2.0 */
#include "line_avx2.h"

#include "bytes_shuffle.h"

void pwl_bytes_avx2(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    run_all((const uint8_t *)plan->memory, (const uint8_t *)x, (uint8_t *)y, count);
}
