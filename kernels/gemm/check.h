/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_QGEMM_CHECK_H
#define PWL_QGEMM_CHECK_H

#include <pwl/qgemm.h>

#include "activation.h"
#include "source.h"

/* Whether n * k weights can be packed, and every size computed in size_t. */
pwl_qgemm_status pwl_qgemm_check_shape(pwl_qgemm_format format, size_t n, size_t k);

/* *from = the source itself, or what its tensors are packed from. */
pwl_qgemm_status pwl_qgemm_resolve(const pwl_qgemm_source *source, pwl_qgemm_source *from);

/* Whether weights can be packed into memory of `bytes`, as far as can be told without looking at them. */
pwl_qgemm_status pwl_qgemm_check_source(const pwl_qgemm_source *from, const void *memory, size_t bytes,
                                        const pwl_qgemm_weights *weights);

/* pwl_qgemm_pack() of the formats of E4M3, after the checks. */
pwl_qgemm_status pwl_qgemm_pack_e4m3(const pwl_qgemm_source *from, void *memory, pwl_qgemm_weights *weights,
                                     pwl_qgemm_place *bad);

/* As pwl_qgemm_check(); of the activation's table, if there is an activation, `codes` is told. */
pwl_qgemm_status pwl_qgemm_check_with(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes);

/* Of that what does not depend on how the weights lie: they are good, and memory and bytes say where. */
pwl_qgemm_status pwl_qgemm_check_operands(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes);

/* As pwl_qgemm_group_check(), codes as above. */
pwl_qgemm_status pwl_qgemm_check_group_with(const pwl_qgemm_product *product, const pwl_qgemm_group *group,
                                            const pwl_qgemm_codes *codes);

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

/* Bytes of an element of X or Y. */
size_t pwl_qgemm_type_bytes(pwl_qgemm_type type);

/* The product as pwl_qgemm_check_sums() takes it: X lies nowhere. */
static inline pwl_qgemm_product pwl_qgemm_without_x(const pwl_qgemm_product *product)
{
    pwl_qgemm_product of = *product;
    of.x.data = NULL;
    of.x.stride = 0;
    return of;
}

/* Whether Y of a product of INT8 can be made of sums[M][stride]; X itself is nothing to it, and null. */
pwl_qgemm_status pwl_qgemm_check_sums(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes,
                                      const int32_t *sums, size_t stride);

/* Whether two arrays share a byte; whether one does with a row of X or Y. */
int pwl_qgemm_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes);
int pwl_qgemm_touches(const pwl_qgemm_product *product, const void *memory, size_t bytes);

/* What packed weights take, by all of their description but its `bytes`. */
size_t pwl_qgemm_bytes_of(const pwl_qgemm_weights *weights);

/* Whether these are packed weights, as far as the description tells. */
pwl_qgemm_status pwl_qgemm_check_weights(const pwl_qgemm_weights *weights);

#endif
