/* SPDX-License-Identifier: Apache-2.0 */
/* In place of runtime/levels.c: a machine that has AVX-512, by intrinsics in plain C, and nothing else. */
#include <pwl/plan.h>

uint32_t pwl_levels(void)
{
    return PWL_LEVEL_AVX512 | PWL_LEVEL_AVX512VBMI;
}
