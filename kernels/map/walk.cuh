/* SPDX-License-Identifier: Apache-2.0 */
/* How the threads of a launch walk its arrays, by the shape of the launch (shape.h). */
#ifndef PWL_WALK_CUH
#define PWL_WALK_CUH

#include <stddef.h>
#include <stdint.h>

#include "arch/async.cuh"
#include "elements.cuh"
#include "shape.h"
#include "task.cuh"

namespace pwl
{

/* The block's shared memory. Places in it are offsets: a pointer that was computed with would be read through the
 * slower generic loads. */
__device__ inline char *shared_memory()
{
    extern __shared__ uint4 memory[];
    return reinterpret_cast<char *>(memory);
}

/* Loads from an address in shared memory. Volatile, so that none moves before a barrier. */
template <class T> __device__ T load_shared(uint32_t address);

template <> __device__ inline uint32_t load_shared<uint32_t>(uint32_t address)
{
    uint32_t v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address)); /* v = *address */
    return v;
}

template <> __device__ inline uint64_t load_shared<uint64_t>(uint32_t address)
{
    uint64_t v;
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(v) : "r"(address)); /* v = *address */
    return v;
}

template <> __device__ inline uint2 load_shared<uint2>(uint32_t address)
{
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address)); /* v = *address */
    return v;
}

template <> __device__ inline uint4 load_shared<uint4>(uint32_t address)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" /* v = *address */
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(address));
    return v;
}

/*
 * y[k] = value of x[k] for k in [0, count). x and y may be one array where elements have one size: a thread writes what
 * it alone has read. Loads arrive in the thread's own places in shared memory, so that some are always under way
 * without taking registers: worth 0.03 of the speed of a copy.
 */
template <class in_t, class out_t> struct walk {
    static constexpr int together = together_of(sizeof(in_t), sizeof(out_t)), depth = PWL_SHAPE_DEPTH;
    using in_pack = pack<in_t, together>;
    using out_pack = pack<out_t, together>;

    const in_pack *from;
    out_pack *to;
    size_t first, end; /* packs: of this thread, and of all */
    int rounds;
    uint32_t step, place;

    /* The grid is a wave wide and as many waves high: waves start one after another. */
    __device__ walk(const task &task, const void *x, void *y)
        : from(reinterpret_cast<const in_pack *>(static_cast<const in_t *>(x) + task.head)),
          to(reinterpret_cast<out_pack *>(static_cast<out_t *>(y) + task.head)),
          first(pwl_shape_piece(&task.shape, pwl_shape_round(&task.shape, blockIdx.y), blockIdx.x, threadIdx.x)),
          end(task.packs),
          rounds(pwl_shape_round(&task.shape, blockIdx.y + 1) - pwl_shape_round(&task.shape, blockIdx.y)),
          step(task.shape.step), place(task.ring + threadIdx.x * sizeof(in_pack))
    {
    }

    /* Where the pack arrives that is taken when `left` rounds are left. */
    __device__ char *arrival(int left) const
    {
        return shared_memory() + place + left % depth * blockDim.x * sizeof(in_pack);
    }

    /* A group of its own even where nothing is left, so that groups can be counted. */
    __device__ void load(int left, size_t i) const
    {
        if (left > 0 && i < end)
            copy_async<sizeof(in_pack)>(arrival(left), from + i);
        close_group();
    }

    __device__ void begin() const
    {
#pragma unroll
        for (int d = 0; d < depth; d++)
            load(rounds - d, first + size_t{step} * d);
    }

    /* `map` gives the values of a pack. */
    template <class map_type> __device__ void run(const map_type &map) const
    {
        size_t i = first;
        for (int left = rounds; left > 0 && i < end; left--) {
            wait_for_all_but<depth - 1>();
            const in_pack elements = *reinterpret_cast<const in_pack *>(arrival(left));
            to[i] = map(elements);
            load(left - depth, i + size_t{step} * depth);
            i += step;
        }
    }
};

/* The elements beside the packs, one by one: `map_one` gives the value of each. */
template <class in_t, class out_t, class map_type>
__device__ void walk_rest(const task &task, const void *x, void *y, const map_type &map)
{
    const size_t tail = task.head + walk<in_t, out_t>::together * task.packs, rest = task.head + (task.count - tail);
    const size_t block = size_t{blockIdx.y} * gridDim.x + blockIdx.x;
    const size_t threads = size_t{gridDim.y} * gridDim.x * blockDim.x;
    for (size_t k = block * blockDim.x + threadIdx.x; k < rest; k += threads) {
        const size_t at = k < task.head ? k : tail + (k - task.head);
        static_cast<out_t *>(y)[at] = map(static_cast<const in_t *>(x)[at]);
    }
}

} // namespace pwl

#endif
