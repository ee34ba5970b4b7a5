/* SPDX-License-Identifier: Apache-2.0 */
/* What cuda.py asks about devices, in the library that it loads. */
#include <stddef.h>

#include <cuda_runtime_api.h>

#include <pwl/cuda.h>
#include <pwl/cuda_network.h>
#include <pwl/cuda_rows.h>

int pwl_device_of(const void *pointer);
int pwl_device_current(void);
size_t pwl_device_table_size(void);
size_t pwl_device_softmax_size(void);
size_t pwl_device_norm_size(void);
size_t pwl_device_network_size(void);
void *pwl_device_copy(const void *bytes, size_t size);
void pwl_device_free(void *memory);

/* The device whose memory this is; -1 where it is none's. */
int pwl_device_of(const void *pointer)
{
    struct cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    if (error == cudaSuccess && (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged))
        return attributes.device;
    (void)cudaGetLastError(); /* asking is no error */
    return -1;
}

size_t pwl_device_table_size(void)
{
    return sizeof(pwl_cuda_table);
}

size_t pwl_device_softmax_size(void)
{
    return sizeof(pwl_cuda_softmax);
}

size_t pwl_device_norm_size(void)
{
    return sizeof(pwl_cuda_norm);
}

size_t pwl_device_network_size(void)
{
    return sizeof(pwl_cuda_network);
}

/* This thread's device; -1 where there is none. */
int pwl_device_current(void)
{
    int device;
    if (cudaGetDevice(&device) == cudaSuccess)
        return device;
    (void)cudaGetLastError();
    return -1;
}

/* So much of this thread's device, with a copy of `bytes` where that is not null; null where it fails. */
void *pwl_device_copy(const void *bytes, size_t size)
{
    void *memory;
    if (cudaMalloc(&memory, size) == cudaSuccess) {
        /* A copy of pageable memory may return before it has arrived. */
        if (!bytes || (cudaMemcpy(memory, bytes, size, cudaMemcpyHostToDevice) == cudaSuccess &&
                       cudaStreamSynchronize(cudaStreamLegacy) == cudaSuccess))
            return memory;
        (void)cudaFree(memory);
    }
    (void)cudaGetLastError(); /* the caller is told */
    return NULL;
}

void pwl_device_free(void *memory)
{
    (void)cudaFree(memory);
}
