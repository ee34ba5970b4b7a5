/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of codes on the device: each block stages the table's arrays in its shared memory, then each thread evaluates
 * four codes at a time, a grid's width apart, with the function that the runtime itself is made of.
 */
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

#include <pwl/cuda.h>
#include <pwl/eval.h>

#include "launch.h"
#include "layout.h"

namespace
{

/* Four neighbours in an array, moved by one load or store of 4, 8 or 16 bytes. */
template <class T> struct alignas(4 * sizeof(T)) four {
    T v[4];
};

/* Where the arrays of a table are read: the widest tables (INT32 from 2892 segments on) leave shared memory to its
 * other use, the L1 cache. */
enum class arrays_in { shared, global };

/*
 * y[k] = pwl_eval(table, x[k]) for k in [0, count); the first 4 * fours codes are aligned and go by fours.
 *
 * x     in_t[count]
 * y     out_t[count]; may be x where the types have one size, since a thread writes what it alone has read. out_t is
 *         unsigned: the low bits of a signed value are those of its own type
 *
 * The storage is known at compile time and the rest of the table is the same for every thread: only the search for the
 * segment and the clamps depend on the code.
 */
template <class in_t, class out_t, pwl_storage storage, arrays_in place>
__global__ void __launch_bounds__(PWL_MAP_THREADS, PWL_MAP_BLOCKS)
    map_codes(const __grid_constant__ pwl_cuda_table uploaded, const void *x, void *y, size_t fours, size_t count)
{
    pwl_table table = uploaded.table;
    table.storage = storage;
    if (place == arrays_in::shared) {
        extern __shared__ uint4 staged[];
        const uint4 *const arrays = static_cast<const uint4 *>(uploaded.memory);
        for (uint32_t i = threadIdx.x; i < uploaded.shared_bytes / sizeof(uint4); i += PWL_MAP_THREADS)
            staged[i] = arrays[i];
        __syncthreads();

        const char *const from = static_cast<const char *>(uploaded.memory);
        const char *const to = reinterpret_cast<const char *>(staged);
        table.offset = to;
        table.start = to + (static_cast<const char *>(table.start) - from);
        table.q_b = to + (static_cast<const char *>(table.q_b) - from);
        table.n = reinterpret_cast<const int8_t *>(to + (reinterpret_cast<const char *>(table.n) - from));
    }

    const size_t thread = size_t{blockIdx.x} * PWL_MAP_THREADS + threadIdx.x;
    const size_t threads = size_t{gridDim.x} * PWL_MAP_THREADS;
    for (size_t i = thread; i < fours; i += threads) {
        const four<in_t> codes = static_cast<const four<in_t> *>(x)[i];
        four<out_t> values;
#pragma unroll
        for (int k = 0; k < 4; k++)
            values.v[k] = static_cast<out_t>(pwl_eval_inline(&table, codes.v[k]));
        static_cast<four<out_t> *>(y)[i] = values;
    }
    for (size_t k = 4 * fours + thread; k < count; k += threads) {
        const in_t code = static_cast<const in_t *>(x)[k];
        static_cast<out_t *>(y)[k] = static_cast<out_t>(pwl_eval_inline(&table, code));
    }
}

typedef void map_kernel(const pwl_cuda_table uploaded, const void *x, void *y, size_t fours, size_t count);

/* One kernel for each input type and output width: signed and unsigned values are stored by the same bits. */
#define KERNELS(name, in_t, min, max)                                                                                  \
    {map_codes<in_t, uint8_t, storage, place>, map_codes<in_t, uint16_t, storage, place>,                              \
     map_codes<in_t, uint32_t, storage, place>},
template <pwl_storage storage, arrays_in place> map_kernel *const kernels[][3] = {PWL_MAP_TYPES(KERNELS)};
#undef KERNELS

/* Tables of INT8 have at most 256 segments, those of INT16 at most 36 KiB: both always fit shared memory. */
map_kernel *kernel_for(const pwl_cuda_table *uploaded, pwl_type in, pwl_type out)
{
    const int width = out >> 1;
    if (uploaded->table.storage == PWL_INT8)
        return kernels<PWL_INT8, arrays_in::shared>[in][width];
    if (uploaded->table.storage == PWL_INT16)
        return kernels<PWL_INT16, arrays_in::shared>[in][width];
    if (uploaded->shared_bytes)
        return kernels<PWL_INT32, arrays_in::shared>[in][width];
    return kernels<PWL_INT32, arrays_in::global>[in][width];
}

bool is_aligned(const void *array, size_t bytes)
{
    return reinterpret_cast<uintptr_t>(array) % bytes == 0;
}

} // namespace

int pwl_cuda_launch_map(const pwl_cuda_table *uploaded, pwl_type in, const void *x, pwl_type out, void *y, size_t count,
                        struct CUstream_st *stream)
{
    const bool by_fours = is_aligned(x, 4 * pwl_type_bytes(in)) && is_aligned(y, 4 * pwl_type_bytes(out));
    size_t fours = by_fours ? count / 4 : 0;
    const size_t tail = count - 4 * fours, work = fours > tail ? fours : tail;
    const size_t wanted = (work - 1) / PWL_MAP_THREADS + 1;
    const unsigned blocks = wanted < uploaded->blocks ? static_cast<unsigned>(wanted) : uploaded->blocks;

    pwl_cuda_table table = *uploaded;
    void *arguments[] = {&table, &x, &y, &fours, &count};
    /* Its own result, not cudaGetLastError(), which may be that of someone else's call. */
    return cudaLaunchKernel(kernel_for(uploaded, in, out), dim3(blocks), dim3(PWL_MAP_THREADS), arguments,
                            uploaded->shared_bytes, stream);
}
