/* SPDX-License-Identifier: Apache-2.0 */
/* Operators as they lie in one piece of device memory, prepared on the host. */
#ifndef PWL_ROWS_PREPARE_H
#define PWL_ROWS_PREPARE_H

#include <stddef.h>

#include <pwl/cuda_rows.h>

/* Bytes of a checked operator's arrays. */
size_t pwl_cuda_softmax_bytes(const pwl_softmax *softmax);
size_t pwl_cuda_norm_bytes(const pwl_norm *norm);

/* Writes the arrays to `image`, of so many bytes and aligned to 16; what *made says of them is where they are once the
 * image lies at `memory`. */
void pwl_cuda_softmax_prepare(const pwl_softmax *softmax, void *image, void *memory, pwl_cuda_softmax *made);
void pwl_cuda_norm_prepare(const pwl_norm *norm, void *image, void *memory, pwl_cuda_norm *made);

#endif
