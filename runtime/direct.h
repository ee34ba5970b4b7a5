/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays mapped by the table's own arrays, held in registers: no plan, and nothing but these registers to prepare. For
 * arrays that are too short for a plan. Each segment becomes a line over the codes q, which are clamped and mirrored,
 *
 *   raw = shr(slope * q + pre, n) + post        modulo 2^32
 *
 * as the plain lines (plain.h) are lines over codes from the lowest, without the fold: left shifts, the origin and
 * half_up's addend are in slope and pre. Mirrored codes give fold_sum - raw.
 */
#ifndef PWL_DIRECT_H
#define PWL_DIRECT_H

#include <pwl/plan.h>

/* Segments at most: of the table's few, and of its many. */
enum { PWL_DIRECT_FEW = 32, PWL_DIRECT_SEGMENTS = 256 };

#ifdef PWL_HAVE_AVX512
/* y[k] = pwl_eval(table, x[k]), of a table of storage INT8 or INT16 with that many segments. */
void pwl_direct_avx512(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count);
void pwl_direct_many_avx512(const pwl_table *table, pwl_type in, const void *x, pwl_type out, void *y, size_t count);
#endif

#endif
