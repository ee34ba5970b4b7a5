/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of maps: what all kinds of elements have in common. */
#ifndef PWL_MAP_CUH
#define PWL_MAP_CUH

#include <cuda_runtime.h>

#include <pwl/cuda.h>

#include "arch/overlap.cuh"
#include "evaluate.cuh"

namespace pwl
{

typedef void kernel(const task task, const void *x, void *y);

/* Fills in what depends on the arrays, and launches. `values` is what the kernel keeps in shared memory;
 * for is_busy, see pwl_shape_of(). */
inline cudaError_t launch(const pwl_cuda_table *uploaded, kernel *map, task *task, uint32_t values, int is_busy,
                          size_t in_bytes, const void *x, size_t out_bytes, void *y, size_t count, cudaStream_t stream)
{
    const size_t together = static_cast<size_t>(together_of(in_bytes, out_bytes));
    const size_t in_align = together * in_bytes, out_align = together * out_bytes;

    /* Packs from the first aligned input on, where the output is aligned as well. */
    const size_t head = (in_align - reinterpret_cast<uintptr_t>(x) % in_align) % in_align / in_bytes;
    const bool aligned = (reinterpret_cast<uintptr_t>(y) + head * out_bytes) % out_align == 0 && head < count;
    task->head = aligned ? head : 0;
    task->packs = aligned ? (count - head) / together : 0;
    task->count = count;

    const pwl_shape shape = pwl_shape_of(task->packs ? task->packs : count, uploaded->multiprocessors, values, is_busy);
    task->shape = shape;
    task->ring = values;

    return launch_overlapped(uploaded->overlaps, map, dim3(shape.wave_blocks, shape.waves), shape.threads,
                             values + PWL_SHAPE_DEPTH * shape.threads * in_align, stream, *task, x, y);
}

/* A task of that table, but for the elements. */
inline task task_of(const pwl_cuda_table *uploaded)
{
    task task = {};
    task.plan = pwl_cuda_plan_of(uploaded);
    task.memory = static_cast<const char *>(uploaded->memory);
    return task;
}

} // namespace pwl

#endif
