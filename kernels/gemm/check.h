/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_QGEMM_CHECK_H
#define PWL_QGEMM_CHECK_H

#include <pwl/qgemm.h>

#include "activation.h"
#include "source.h"

/* Whether n * k weights can be packed, and every size computed in size_t. */
pwl_qgemm_status pwl_qgemm_check_shape(pwl_qgemm_format format, size_t n, size_t k);

/* *from = what a tensor's weights in `format` are packed from; memory is not looked at. */
pwl_qgemm_status pwl_qgemm_source_of(const pwl_qgemm_tensor *tensor, pwl_qgemm_format format, pwl_rule rule,
                                     pwl_qgemm_source *from);

/* The same of a pair. */
pwl_qgemm_status pwl_qgemm_pair_source_of(const pwl_qgemm_tensor *gate, const pwl_qgemm_tensor *up,
                                          pwl_qgemm_format format, pwl_rule rule, pwl_qgemm_source *from);

/* And of integers, n rows each. */
pwl_qgemm_status pwl_qgemm_pair_source_of_s8(const int8_t *q_gate, const int8_t *n_gate, const int8_t *q_up,
                                             const int8_t *n_up, size_t n, size_t k, pwl_qgemm_source *from);

/* Whether weights can be packed into memory of `bytes`, as far as can be told without looking at them. */
pwl_qgemm_status pwl_qgemm_check_source(const pwl_qgemm_source *from, const void *memory, size_t bytes,
                                        const pwl_qgemm_weights *weights);

/* As pwl_qgemm_check(); of the activation's table, if there is an activation, `codes` is told. */
pwl_qgemm_status pwl_qgemm_check_with(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes);

/* Of that what does not depend on how the weights lie: they are good, and memory and bytes say where. */
pwl_qgemm_status pwl_qgemm_check_operands(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes);

/* Whether x can be m rows of k elements of so many bytes, `stride` elements apart, to be quantised. */
static inline pwl_qgemm_status pwl_qgemm_check_rows(const void *x, size_t element, size_t m, size_t k, size_t stride)
{
    if (m == 0 || k == 0)
        return PWL_QGEMM_ERR_SHAPE;
    if (stride < k)
        return PWL_QGEMM_ERR_STRIDE;
    if (m > SIZE_MAX / element / stride)
        return PWL_QGEMM_ERR_SHAPE;
    return (uintptr_t)x % element ? PWL_QGEMM_ERR_ALIGN : PWL_QGEMM_OK;
}

/* The largest of the finite magnitudes of k floats. */
float pwl_qgemm_amax_of(const float *x, size_t k);

/* Whether two arrays share a byte; whether one does with a row of X or Y. */
int pwl_qgemm_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes);
int pwl_qgemm_touches(const pwl_qgemm_product *product, const void *memory, size_t bytes);

/* Whether these are packed weights, as far as the description tells. */
pwl_qgemm_status pwl_qgemm_check_weights(const pwl_qgemm_weights *weights);

#endif
