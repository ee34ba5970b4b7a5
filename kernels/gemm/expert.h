/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_QGEMM_EXPERT_H
#define PWL_QGEMM_EXPERT_H

#include <pwl/qgemm.h>

/* An expert's product, which points to what is beside it. */
typedef struct pwl_qgemm_expert {
    pwl_qgemm_product product;
    pwl_qgemm_weights weights;
    pwl_qgemm_activation activation;
} pwl_qgemm_expert;

/* The product of expert e, with so many rows from `begin` on, of a group that was checked. */
void pwl_qgemm_expert_of_group(const pwl_qgemm_product *product, const pwl_qgemm_group *group, size_t e, size_t begin,
                               size_t rows, pwl_qgemm_expert *expert);

#endif
