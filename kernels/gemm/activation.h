/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_QGEMM_ACTIVATION_H
#define PWL_QGEMM_ACTIVATION_H

#include <pwl/qgemm.h>

#include "store.h"

/* Of a table what products depend on, wherever it lies. */
typedef struct pwl_qgemm_codes {
    int64_t qmin_x, qmax_x, qmin_y, qmax_y;
    int wide; /* storage INT32 */
} pwl_qgemm_codes;

/* Whether an activation with such a table can be applied, the product being good without it. */
pwl_qgemm_status pwl_qgemm_check_activation(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes);

/* Of a product that was checked. */
pwl_qgemm_epilogue pwl_qgemm_epilogue_of(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes);

/* *codes of the activation's `table`, checked; without an activation they stay as they are. */
pwl_qgemm_status pwl_qgemm_host_codes(const pwl_qgemm_product *product, pwl_qgemm_codes *codes);

#endif
