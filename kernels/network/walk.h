/* SPDX-License-Identifier: Apache-2.0 */
/* The launches of a network at certain sizes, in their order. */
#ifndef PWL_NETWORK_WALK_H
#define PWL_NETWORK_WALK_H

#include "prepare.h"
#include "task.h"

/* Does what the work says; 0, or an error that ends the walk. */
typedef int pwl_work_launch(void *context, const pwl_work *work);

/* Bytes of memory: places of edges, and what the loop that needs most has beside. */
uint64_t pwl_cuda_network_bytes(const pwl_network *network, const uint32_t *sizes);

/* Every launch of a call that was checked; what `launch` gave last. */
int pwl_cuda_network_walk(const pwl_network *network, const pwl_cuda_node *nodes, const pwl_network_call *call,
                          pwl_work_launch *launch, void *context);

#endif
