/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of pwl/cuda_network.h: every check comes before the first call of CUDA. */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/cuda_network.h>

#include "arch/status.h"
#include "launch.h"
#include "map/launch.h"
#include "rows/launch.h"
#include "walk.h"

enum { ALIGN = 256 };

/* What is to be known of the device. */
typedef struct device {
    int number, multiprocessors, maps_overlap, rows_overlap, overlaps, runs_wide;
} device;

static cudaError_t current(device *of)
{
    cudaError_t error = cudaGetDevice(&of->number);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&of->multiprocessors, cudaDevAttrMultiProcessorCount, of->number);
    if (error == cudaSuccess)
        error = (cudaError_t)pwl_cuda_launches_overlap(&of->maps_overlap);
    if (error == cudaSuccess)
        error = (cudaError_t)pwl_cuda_rows_overlap(&of->rows_overlap);
    if (error == cudaSuccess)
        error = (cudaError_t)pwl_cuda_network_overlap(&of->overlaps);
    if (error == cudaSuccess)
        error = (cudaError_t)pwl_cuda_wide_runs(&of->runs_wide);
    return error;
}

/* What tells of the device in the operators of a network's nodes, and of its bodies'. */
static void tell(const pwl_network *network, const device *of, pwl_cuda_node *nodes, pwl_cuda_node *all)
{
    for (size_t k = 0; k < network->node_count; k++) {
        const pwl_network_node *const node = &network->nodes[k];
        const pwl_network_operator *const own = node->kind == PWL_NETWORK_OPERATOR ? node->of : NULL;
        if (node->kind == PWL_NETWORK_LOOP)
            tell(((const pwl_network_loop *)node->of)->body, of, all + nodes[k].body, all);
        if (own && own->type == PWL_NETWORK_TABLE) {
            nodes[k].of.table.device = of->number;
            nodes[k].of.table.multiprocessors = (uint32_t)of->multiprocessors;
            nodes[k].of.table.overlaps = (uint32_t)of->maps_overlap;
        } else if (own && own->type == PWL_NETWORK_SOFTMAX) {
            nodes[k].of.softmax.device = of->number;
            nodes[k].of.softmax.overlaps = (uint32_t)of->rows_overlap;
        } else if (own && own->type == PWL_NETWORK_NORM) {
            nodes[k].of.norm.device = of->number;
            nodes[k].of.norm.overlaps = (uint32_t)of->rows_overlap;
        }
    }
}

/* Nodes and their arrays, by way of an image on the host. */
static pwl_cuda_status fill(const pwl_network *network, pwl_cuda_network *made)
{
    device of = {0};
    size_t bytes;
    void *image;
    cudaError_t error = current(&of);
    if (error != cudaSuccess)
        return pwl_cuda_status_of(error);
    bytes = pwl_cuda_network_prepare(network, of.runs_wide, NULL, NULL, made->nodes);
    image = malloc(bytes + 1);
    if (!image)
        return PWL_CUDA_ERR_MEMORY;
    error = cudaMalloc(&made->memory, bytes + ALIGN);
    if (error == cudaSuccess) {
        pwl_cuda_network_prepare(network, of.runs_wide, image, made->memory, made->nodes);
        tell(network, &of, made->nodes, made->nodes);
        error = cudaMemcpy(made->memory, image, bytes, cudaMemcpyHostToDevice);
    }
    /* A copy of pageable memory may return before it has arrived, and streams that do not wait for the default one are
     * free to start. */
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamLegacy);
    free(image);
    made->device = of.number;
    made->overlaps = (uint32_t)of.overlaps;
    if (error != cudaSuccess && made->memory)
        (void)cudaFree(made->memory); /* the first error is the one to tell */
    return pwl_cuda_status_of(error);
}

pwl_cuda_status pwl_cuda_network_upload(const pwl_network *network, pwl_cuda_network *uploaded, int32_t *node)
{
    pwl_cuda_network made = {network, NULL, NULL, 0, 0};
    pwl_cuda_status status;
    int32_t unserved;
    if (node)
        *node = -1;
    if (!uploaded)
        return PWL_CUDA_ERR_NULL;
    memset(uploaded, 0, sizeof *uploaded);
    if (!network)
        return PWL_CUDA_ERR_NULL;
    if (pwl_network_check(network, NULL) != PWL_OK)
        return PWL_CUDA_ERR_NETWORK;
    unserved = pwl_cuda_network_unserved(network);
    if (node)
        *node = unserved;
    if (unserved >= 0 || network->places > PWL_CUDA_NETWORK_PLACES)
        return PWL_CUDA_ERR_NODE;
    made.nodes = malloc((pwl_cuda_network_nodes(network) + (size_t)1) * sizeof(pwl_cuda_node));
    if (!made.nodes)
        return PWL_CUDA_ERR_MEMORY;
    status = fill(network, &made);
    if (status == PWL_CUDA_OK)
        *uploaded = made;
    else
        free(made.nodes);
    return status;
}

pwl_cuda_status pwl_cuda_network_release(pwl_cuda_network *uploaded)
{
    void *memory;
    if (!uploaded)
        return PWL_CUDA_ERR_NULL;
    memory = uploaded->memory;
    free(uploaded->nodes);
    memset(uploaded, 0, sizeof *uploaded);
    return memory ? pwl_cuda_status_of(cudaFree(memory)) : PWL_CUDA_OK;
}

uint64_t pwl_cuda_network_size(const pwl_cuda_network *uploaded, const uint32_t *sizes)
{
    return uploaded && uploaded->nodes ? pwl_cuda_network_bytes(uploaded->network, sizes) : 0;
}

/* How work is queued. */
typedef struct queue {
    struct CUstream_st *stream;
    int overlaps;
} queue;

static int launch(void *context, const pwl_work *work)
{
    struct CUstream_st *const stream = ((const queue *)context)->stream;
    const int overlaps = ((const queue *)context)->overlaps;
    switch (work->kind) {
    case PWL_WORK_TABLE:
        return pwl_cuda_launch_map(work->of.table, (pwl_type)work->x[0].type, work->x[0].at, (pwl_type)work->y.type,
                                   work->y.at, work->count, stream);
    case PWL_WORK_NORM:
        return pwl_cuda_launch_norm(work->of.norm, work->x[0].at, work->y.at, work->count, stream);
    case PWL_WORK_SOFTMAX: {
        const pwl_work_softmax *const of = &work->of.softmax;
        const pwl_rows rows = {work->x[0].at, work->y.at, of->rows, of->length, NULL, 0, 0, 0};
        if (of->mask || of->second)
            return pwl_cuda_launch_masked_softmax(work, overlaps, stream);
        return pwl_cuda_launch_softmax(of->uploaded, &rows, stream);
    }
    case PWL_WORK_MATRIX:
        if (pwl_cuda_matrix_serves(work) && pwl_cuda_wide_serves(work))
            return pwl_cuda_launch_wide(work, overlaps, stream);
        if (pwl_cuda_matrix_serves(work))
            return pwl_cuda_launch_matrix(work, overlaps, stream);
        return pwl_cuda_launch_elements(work, overlaps, stream);
    default:
        return pwl_cuda_launch_elements(work, overlaps, stream);
    }
}

static pwl_cuda_status check_ends(const pwl_network *network, const uint16_t *edges, const void *const *arrays,
                                  uint8_t count)
{
    if (count && !arrays)
        return PWL_CUDA_ERR_NULL;
    for (int k = 0; k < count; k++) {
        if (!arrays[k])
            return PWL_CUDA_ERR_NULL;
        if ((uintptr_t)arrays[k] % pwl_type_bytes((pwl_type)network->edges[edges[k]].type))
            return PWL_CUDA_ERR_ALIGN;
    }
    return PWL_CUDA_OK;
}

static pwl_cuda_status check_call(const pwl_cuda_network *uploaded, const pwl_network_call *call)
{
    const pwl_network *const network = uploaded->network;
    pwl_cuda_status status;
    uint64_t wanted;
    int device = 0;
    cudaError_t error;
    if (network->sizes && !call->sizes)
        return PWL_CUDA_ERR_NULL;
    status = check_ends(network, network->input, call->inputs, network->inputs);
    if (status == PWL_CUDA_OK)
        status = check_ends(network, network->output, (const void *const *)call->outputs, network->outputs);
    if (status != PWL_CUDA_OK)
        return status;
    if (pwl_network_check_sizes(network, call->sizes) != PWL_OK)
        return PWL_CUDA_ERR_SHAPE;
    wanted = pwl_cuda_network_size(uploaded, call->sizes);
    if (wanted && !call->memory)
        return PWL_CUDA_ERR_NULL;
    if ((uintptr_t)call->memory % ALIGN)
        return PWL_CUDA_ERR_ALIGN;
    if (wanted > call->bytes)
        return PWL_CUDA_ERR_ROOM;
    error = cudaGetDevice(&device);
    if (error != cudaSuccess)
        return pwl_cuda_status_of(error);
    return device == uploaded->device ? PWL_CUDA_OK : PWL_CUDA_ERR_DEVICE;
}

pwl_cuda_status pwl_cuda_network_run(const pwl_cuda_network *uploaded, const pwl_network_call *call,
                                     struct CUstream_st *stream)
{
    pwl_cuda_status status;
    queue to;
    if (!uploaded || !uploaded->nodes || !call)
        return PWL_CUDA_ERR_NULL;
    status = check_call(uploaded, call);
    if (status != PWL_CUDA_OK)
        return status;
    to = (queue){stream, (int)uploaded->overlaps};
    return pwl_cuda_status_of(pwl_cuda_network_walk(uploaded->network, uploaded->nodes, call, launch, &to));
}
