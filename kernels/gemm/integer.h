/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_QGEMM_INTEGER_H
#define PWL_QGEMM_INTEGER_H

#include <pwl/qgemm.h>

#include "store.h"

/* Y of the scheme INT8, after the checks; e is null without an activation. */
void pwl_qgemm_integer(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e);

/* The same of sums[M][stride], as pwl_qgemm_store_sums() has them. */
void pwl_qgemm_integer_of_sums(const pwl_qgemm_product *product, const pwl_qgemm_epilogue *e, const int32_t *sums,
                               size_t stride);

#endif
