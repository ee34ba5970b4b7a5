/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks of pwl/network.h on CUDA devices, bit for bit.
 *
 *   pwl_cuda_network uploaded;
 *   pwl_cuda_network_upload(&network, &uploaded, NULL);                                          (once)
 *   cudaMalloc(&memory, pwl_cuda_network_size(&uploaded, sizes));
 *   pwl_cuda_network_run(&uploaded, &(pwl_network_call){sizes, inputs, outputs, memory, bytes, NULL}, stream);
 *
 * A node is a launch, a loop those of its body for each place. Part of the launch of sums of products are a table behind
 * them or a sum with another edge, what transposes them, and other products of one edge. Products whose codes have 8 or
 * 16 bits run on tensor cores, codes of 16 bits as two bytes.
 *
 * What an append gives may be the array of the cache that it reads, as of pwl_network_run(). Numbers of places that a
 * cache does not have write nothing.
 */
#ifndef PWL_CUDA_NETWORK_H
#define PWL_CUDA_NETWORK_H

#include <pwl/cuda_rows.h>
#include <pwl/network.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PWL_CUDA_NETWORK_PLACES 512 /* of a network, and of a loop's body, at most */

/* A network on a device. To be passed around as one likes, by any number of threads and streams at a time. */
typedef struct pwl_cuda_network {
    const pwl_network *network; /* the host's, which is needed for as long as this is */
    void *nodes;                /* host memory: where the arrays of each node are; null once released */
    void *memory;               /* on the device, with all constants */
    int32_t device;             /* whose memory it is */
    uint32_t overlaps;          /* 1 where a launch may start while the one before it ends */
} pwl_cuda_network;

/*
 * Checks a network (PWL_CUDA_ERR_NETWORK; pwl_network_check() says why) and copies its constants to the current device,
 * as pwl_cuda_upload() does. PWL_CUDA_ERR_NODE: a node of a kind that devices do not run, or places of more than
 * PWL_CUDA_NETWORK_PLACES; *node, which may be null, is its number then, else -1.
 */
PWL_NODISCARD pwl_cuda_status pwl_cuda_network_upload(const pwl_network *network, pwl_cuda_network *uploaded,
                                                      int32_t *node);

/* As pwl_cuda_release(). */
PWL_NODISCARD pwl_cuda_status pwl_cuda_network_release(pwl_cuda_network *uploaded);

/* Bytes of device memory that a run at these sizes, each of 1 to its longest, needs; at most PWL_NETWORK_EDGE codes an
 * edge. 0 of a network that was released. */
uint64_t pwl_cuda_network_size(const pwl_cuda_network *uploaded, const uint32_t *sizes);

/*
 * As pwl_network_run(), on device arrays, queued on `stream` (null: the default stream). The call, its sizes and its
 * lists of arrays are the host's, and are not needed afterwards; its way is not read. Inputs and outputs are aligned to
 * their elements, the memory to 256 bytes (PWL_CUDA_ERR_ALIGN). PWL_CUDA_ERR_SHAPE: sizes that pwl_network_run() would
 * refuse; PWL_CUDA_ERR_ROOM: too little memory. Nothing is launched then. Inputs are not looked at: of one that is no
 * code of its edge, the outputs are any codes, and nothing outside of the arrays is read. Can be captured into a graph,
 * which then needs the uploaded network for as long as it is launched, and memory of its own.
 */
PWL_NODISCARD pwl_cuda_status pwl_cuda_network_run(const pwl_cuda_network *uploaded, const pwl_network_call *call,
                                                   struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
