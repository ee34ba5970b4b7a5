/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_QGEMM_CHECK_H
#define PWL_QGEMM_CHECK_H

#include <pwl/qgemm.h>

/* Whether n * k weights can be packed, and every size computed in size_t. */
pwl_qgemm_status pwl_qgemm_check_shape(pwl_qgemm_format format, size_t n, size_t k);

/* Whether these are packed weights, as far as the description tells. */
pwl_qgemm_status pwl_qgemm_check_weights(const pwl_qgemm_weights *weights);

#endif
