/* SPDX-License-Identifier: Apache-2.0 */
/* From what a pass leaves to Y: bias, rounding, activations. */
#ifndef PWL_QGEMM_RESULTS_H
#define PWL_QGEMM_RESULTS_H

#include <pwl/plan.h>

#include "gemm/activation.h"
#include "pass.h"
#include "round.h"

/* What all passes of a product have in common. */
typedef struct pwl_qgemm_results {
    const pwl_qgemm_product *product;
    pwl_qgemm_epilogue e;   /* with an activation, as are the next five */
    const pwl_plan *plan;   /* of its table */
    pwl_type codes, values; /* the plan's types */
    int64_t qmin_y, qmax_y; /* of the table */
    const int32_t *w_sums;  /* INT8, as are the next two: of rows of the weights */
    const int8_t *n_w;
    pwl_qgemm_round *round;        /* the way's */
    size_t n;                      /* rows of the weights */
    pwl_qgemm_sums_of_panel panel; /* INT8: where pwl_qgemm_begin_panel() was called last */
} pwl_qgemm_results;

/* The types of the plan, for a table with such codes. */
pwl_type pwl_qgemm_codes_type(const pwl_qgemm_codes *codes);
pwl_type pwl_qgemm_values_type(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes);

/* Before results of the panel that begins at row n of the weights. */
void pwl_qgemm_begin_panel(pwl_qgemm_results *results, size_t n);

/* Rows [m, m + rows) of Y by the panel that begins at row n of the weights; sums as a pass has them. */
void pwl_qgemm_put_results(const pwl_qgemm_results *results, const void *sums, size_t m, size_t rows, size_t n);

#endif
