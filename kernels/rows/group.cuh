/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of threads, each of which has one row: how many they are, what they put together, how they are launched. */
#ifndef PWL_GROUP_CUH
#define PWL_GROUP_CUH

#include <cuda_runtime.h>

#include "arch/overlap.cuh"
#include "packs.h"

namespace pwl
{

/* Threads of a block by groups of 2^log2_width; a group of more than a warp consists of whole ones. */
struct group {
    uint32_t log2_width, width, me, of_block;

    __device__ explicit group(uint32_t log2)
        : log2_width(log2), width(1u << log2_width), me(threadIdx.x & (width - 1)), of_block(threadIdx.x >> log2_width)
    {
    }

    /* What `put` makes of the values of all threads of the group, where all threads of the block call it. The space has
     * a value for each warp, and is free again once the threads have been through another call with another space.
     * Groups wait for themselves `alone`, by barriers of which a multiprocessor has 16 for each of four blocks. */
    template <bool alone = true, class function, class value>
    __device__ value all(value v, function put, value *space) const
    {
        if (width >= 32)
            v = put.of_warp(v);
        else
            for (uint32_t apart = width / 2; apart; apart /= 2)
                v = put(v, __shfl_xor_sync(0xffffffff, v, apart));
        if (width > 32) {
            const uint32_t warps = width / 32, lane = threadIdx.x % 32;
            if (lane == 0)
                space[threadIdx.x / 32] = v;
            if constexpr (alone)
                asm volatile("bar.sync %0, %1;" ::"r"(of_block + 1), "r"(width) : "memory");
            else
                __syncthreads();
            v = space[of_block * warps + lane % warps];
            for (uint32_t apart = warps / 2; apart; apart /= 2)
                v = put(v, __shfl_xor_sync(0xffffffff, v, apart));
        }
        return v;
    }
};

struct larger {
    template <class value> __device__ value operator()(value a, value b) const
    {
        return max(a, b);
    }
    __device__ uint32_t of_warp(uint32_t v) const
    {
        return __reduce_max_sync(0xffffffff, v);
    }
    __device__ int32_t of_warp(int32_t v) const
    {
        return __reduce_max_sync(0xffffffff, v);
    }
};

struct plus {
    template <class value> __device__ value operator()(value a, value b) const
    {
        return a + b;
    }

    /* By parts that have 5 bits to spare in a word each. The sum has 64 bits, and so has what they make, modulo 2^64.
     */
    __device__ uint64_t of_warp(uint64_t v) const
    {
        const uint32_t part = (1u << 27) - 1;
        const uint64_t low = __reduce_add_sync(0xffffffff, static_cast<uint32_t>(v) & part);
        const uint64_t middle = __reduce_add_sync(0xffffffff, static_cast<uint32_t>(v >> 27) & part);
        return low + (middle << 27) +
               (static_cast<uint64_t>(__reduce_add_sync(0xffffffff, static_cast<uint32_t>(v >> 54))) << 54);
    }

    __device__ int64_t of_warp(int64_t v) const
    {
        return static_cast<int64_t>(of_warp(static_cast<uint64_t>(v)));
    }
};

/* The packs of a row that a thread has: `me`, me + width ... of of_row. */
struct held_packs {
    size_t row;
    uint32_t of_row; /* 0 beyond the last row */

    template <class task>
    __device__ held_packs(const group &mine, const task &rows, size_t at)
        : row(at), of_row(at < rows.count ? rows.of_row : 0)
    {
    }

    __device__ bool has(const group &mine, int k) const
    {
        return k * mine.width + mine.me < of_row;
    }

    __device__ uint32_t count(const group &mine) const
    {
        return of_row > mine.me ? (of_row - mine.me + mine.width - 1) >> mine.log2_width : 0;
    }

    /* Packs that there are not are 0. */
    template <int packs>
    __device__ void load(const void *x, const group &mine, uint32_t flip, pwl_pack (&to)[packs]) const
    {
        const uint4 *const from = static_cast<const uint4 *>(x) + (row * of_row + mine.me);
#pragma unroll
        for (int k = 0; k < packs; k++) {
            to[k] = {};
            if (has(mine, k)) {
                const uint4 v = __ldcs(from + k * mine.width); /* nobody reads it again soon */
                to[k] = {{v.x ^ flip, v.y ^ flip, v.z ^ flip, v.w ^ flip}};
            }
        }
    }

    /* 2, 4 or 8 words of its pack k. */
    template <int words> __device__ void store(void *y, const group &mine, int k, const uint32_t *codes) const
    {
        static_assert(words == 2 || words == 4 || words == 8, "");
        const size_t at = row * of_row + mine.me + k * mine.width;
        if constexpr (words == 2) {
            __stcs(static_cast<uint2 *>(y) + at, make_uint2(codes[0], codes[1]));
        } else {
            uint4 *const to = static_cast<uint4 *>(y) + at * (words / 4);
            for (int w = 0; w < words / 4; w++)
                __stcs(to + w, make_uint4(codes[4 * w], codes[4 * w + 1], codes[4 * w + 2], codes[4 * w + 3]));
        }
    }
};

/* From here on the compiler does not know what packs hold: it computes anew what it would otherwise keep in more
 * registers than there are. */
template <int count> __device__ void forget_what_came_of(pwl_pack (&packs)[count])
{
#pragma unroll
    for (int k = 0; k < count * PWL_PACK_WORDS; k++)
        asm volatile("" : "+r"(packs[k / PWL_PACK_WORDS].word[k % PWL_PACK_WORDS]));
}

/* By type: flips codes so that they count from the lowest, or, of 2 bytes in each half, of 1 in each byte, from the
 * middle. */
inline uint32_t flip_of(int type, bool if_signed)
{
    const bool is_signed = type == PWL_S8 || type == PWL_S16;
    return is_signed != if_signed ? 0 : type <= PWL_U8 ? 0x80808080u : 0x80008000u;
}

/* The least log2 of a width such that each thread has at most `most` of `count`. */
inline uint32_t log2_width_for(size_t count, size_t most)
{
    uint32_t log2_width = 0;
    while ((most << log2_width) < count)
        log2_width++;
    return log2_width;
}

/* Launches rows.count rows, so many to a block; a task tells its part of them by first_row. */
template <class task>
cudaError_t launch_rows(bool overlaps, void (*kernel)(task), task rows, uint32_t threads, size_t of_block,
                        size_t shared, cudaStream_t stream)
{
    const size_t all = rows.count, most = INT32_MAX * of_block;
    for (rows.first_row = 0; rows.first_row < all; rows.first_row += most) {
        const size_t part = all - rows.first_row < most ? all - rows.first_row : most;
        const cudaError_t error =
            launch_overlapped(overlaps, kernel, dim3(static_cast<unsigned>((part + of_block - 1) / of_block)), threads,
                              shared, stream, rows);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

} // namespace pwl

#endif
