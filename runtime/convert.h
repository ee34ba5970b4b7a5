/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of other types than a way's kernel maps: codes are converted on the way in, values on the way out. */
#ifndef PWL_CONVERT_H
#define PWL_CONVERT_H

#include <pwl/plan.h>

/* As pwl_run(), through blocks in the types of plan->kernel. */
void pwl_run_converted(const pwl_plan *plan, const void *x, void *y, size_t count);

/* The same where plan->kernel maps bytes to bytes and plan->memory has 256 of them for each byte of a value, those of
 * the lowest byte first: all bytes are mapped for themselves and joined. */
void pwl_run_joined(const pwl_plan *plan, const void *x, void *y, size_t count);

#ifdef PWL_HAVE_AVX2
/* The same in AVX2's vectors. */
void pwl_run_converted_avx2(const pwl_plan *plan, const void *x, void *y, size_t count);
void pwl_run_joined_avx2(const pwl_plan *plan, const void *x, void *y, size_t count);
#endif

#endif
