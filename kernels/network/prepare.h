/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes of a network need on a device, prepared on the host as one piece of memory. */
#ifndef PWL_NETWORK_PREPARE_H
#define PWL_NETWORK_PREPARE_H

#include <stddef.h>

#include <pwl/cuda_network.h>

#include "tail.h"
#include "task.h"

/* A node on the device: where its arrays are. */
typedef struct pwl_cuda_node {
    const void *array;           /* gather: its table, constant: its codes, both of the output's type; weights */
    uint32_t stride;             /* bytes from a channel's weights to the next, a multiple of 16; zeros between them */
    const void *packed;          /* product: null, or the same weights as wide.h packs them */
    const int64_t *bias;         /* product, convolution */
    pwl_network_factors factors; /* product, convolution, matmul, mean */
    const pwl_work_channel *channels; /* product: of each; matmul: one; null where 32 bits do not do */
    const void *values;               /* null, or what the table behind the node makes of each of its codes */
    pwl_cuda_tail tail;               /* the nodes behind it that are not launched */
    uint32_t body;                    /* loop: the number of its body's first node */
    union {
        pwl_cuda_table table;
        pwl_reduced reduced;
        pwl_cuda_softmax softmax;
        pwl_cuda_norm norm;
    } of;
} pwl_cuda_node;

/* The nodes of a checked network and its bodies. */
uint32_t pwl_cuda_network_nodes(const pwl_network *network);

/* The first node that devices do not serve, or whose body has one; -1: none. */
int32_t pwl_cuda_network_unserved(const pwl_network *network);

/*
 * Fills `nodes`, and an image of all arrays as they are once it lies at `memory`; both aligned to 256. Its bytes are
 * returned; a null image is not written, nor are nodes then of use. With `packs` weights are there as wide.h has them,
 * too. Of tables and operators, what tells of the device is left to the caller.
 */
size_t pwl_cuda_network_prepare(const pwl_network *network, int packs, void *image, void *memory, pwl_cuda_node *nodes);

#endif
