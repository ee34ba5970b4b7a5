/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes are part of the launch of a sum of products, so that what lies between is never stored:
 *
 *   product, convolution or matmul --> a table, or a sum with another edge --> reshape, transpose, reshape
 *
 * Products of one edge that follow each other so are one launch.
 */
#ifndef PWL_NETWORK_TAIL_H
#define PWL_NETWORK_TAIL_H

#include <stddef.h>

#include <pwl/network.h>

#define PWL_CUDA_BESIDE 3 /* products of a launch, at most */

typedef struct pwl_cuda_tail {
    uint16_t nodes;          /* so many behind the sum's */
    uint16_t transposes;     /* which of them does, counted from 1; 0: none */
    uint8_t has_table, adds; /* what the first of them is */
    uint8_t beside;          /* of a product: further ones of its launch, each behind the nodes of the one before */
} pwl_cuda_tail;

/* Of node k; no node of any that is no sum of products. */
pwl_cuda_tail pwl_cuda_tail_of(const pwl_network *network, size_t k);

#endif
