/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of devices of 9.0 alone, in code that is compiled for 9.0a: copies of tensors that tell a barrier in
 * shared memory when they have arrived, roles of warpgroups, and clusters of thread blocks. Multiplications of a
 * warpgroup are in wgmma.cuh.
 */
#ifndef PWL_HOPPER_CUH
#define PWL_HOPPER_CUH

#include <cuda.h>
#include <stdint.h>

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define PWL_IS_HOPPER 1
#else
#define PWL_IS_HOPPER 0
#endif

#if PWL_IS_HOPPER

namespace pwl
{
namespace hopper
{

/* In a test build, lets a warp that is about to arrive, or has waited, fall behind at random: by up to 2 us, every
 * fourth time. */
__device__ inline void delay()
{
#ifdef PWL_QGEMM_DELAYS
    unsigned now; /* alone: what tells blocks and warps apart would take a register for all of the kernel */
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
    const unsigned drawn = now * 2654435761u >> 16;
    if (drawn % 4 == 0)
        __nanosleep(drawn / 4 % 2048);
#endif
}

/* Barriers in shared memory, 8 bytes each: phases, each of which ends when so many arrived and all bytes did. */
__device__ inline void init_barrier(uint32_t barrier, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(barrier), "r"(count) : "memory");
}

/* Barriers are there for copies, too. */
__device__ inline void show_barriers()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void arrive(uint32_t barrier)
{
    delay();
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
}

/* Arrives, and lets the phase wait for so many bytes. */
__device__ inline void arrive_and_expect(uint32_t barrier, uint32_t bytes)
{
    delay();
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(barrier), "r"(bytes) : "memory");
}

/* Until a phase has ended: the first, third and so on where `odd` is false. */
__device__ inline void wait_for(uint32_t barrier, bool odd)
{
    asm volatile("{\n"
                 ".reg .pred there;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\n"
                 "@!there bra again;\n"
                 "}" /* while (!there) */
                 :
                 : "r"(barrier), "r"(static_cast<uint32_t>(odd))
                 : "memory");
    delay();
}

/* Reads what describes a tensor ahead of its use. */
__device__ inline void prefetch_tensor(const CUtensorMap *tensor)
{
    asm volatile("prefetch.tensormap [%0];" : : "l"(tensor) : "memory");
}

/* Brings what lies at an address in global memory to the L2 cache. */
__device__ inline void prefetch_line(const void *from)
{
    asm volatile("prefetch.global.L2 [%0];" : : "l"(from));
}

/* Starts to copy the tensor's box at (x, y) to shared memory; its bytes arrive at the barrier. */
__device__ inline void copy_tensor(uint32_t to, const CUtensorMap *tensor, int32_t x, int32_t y, uint32_t barrier)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
        :
        : "r"(to), "l"(tensor), "r"(x), "r"(y), "r"(barrier)
        : "memory"); /* to[] = tensor[y..][x..] */
}

/* Starts to copy bytes, a multiple of 16 and aligned to it, likewise. */
__device__ inline void copy_bytes(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :
                 : "r"(to), "l"(from), "r"(bytes), "r"(barrier)
                 : "memory"); /* to[0..bytes) = from[0..bytes) */
}

/* The same to the same place in both blocks of a cluster, each of whose barriers they arrive at. */
__device__ inline void copy_bytes_to_both(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
                 "[%3], %4;"
                 :
                 : "r"(to), "l"(from), "r"(bytes), "r"(barrier), "h"(static_cast<uint16_t>(3))
                 : "memory"); /* to[0..bytes) = from[0..bytes), twice */
}

/* What was written to shared memory by ordinary stores is there for copies that start after a barrier. */
__device__ inline void show_to_copies()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* What other threads wrote to global memory, as far as this one knows of it, is there for copies that it starts. */
__device__ inline void show_memory_to_copies()
{
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

/* Tells whoever reads v here by load_acquired() of all that this thread knows to be written. */
__device__ inline void store_released(uint32_t *to, uint32_t v)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(to), "r"(v) : "memory"); /* *to = v */
}

__device__ inline uint32_t load_acquired(const uint32_t *from)
{
    uint32_t v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory"); /* v = *from */
    return v;
}

/* Starts to copy from shared memory to the tensor's box at (x, y), as far as it lies in the tensor; a group of its own.
 */
__device__ inline void copy_to_tensor(const CUtensorMap *tensor, int32_t x, int32_t y, uint32_t from)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n" /* tensor[y..][x..] = from[] */
        "cp.async.bulk.commit_group;"
        :
        : "l"(tensor), "r"(x), "r"(y), "r"(from)
        : "memory");
}

/* Until the copies that this thread started to tensors, all but the last `under_way`, have read what they copy. */
template <int under_way = 0> __device__ void wait_for_copies_to_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(under_way) : "memory");
}

/* Four matrices of 8 x 8 halves, each to eight rows of 16 bytes whose addresses eight lanes have: r[i] of lane l are
 * elements 2 * (l % 4) and the next of column l / 4 of matrix i. */
__device__ inline void store_matrices_transposed(uint32_t row, const uint32_t (&r)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(row), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}

/* The same of two, whose addresses 16 lanes have. */
__device__ inline void store_two_matrices_transposed(uint32_t row, uint32_t first, uint32_t second)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                 :
                 : "r"(row), "r"(first), "r"(second)
                 : "memory");
}

__device__ inline void store_shared(uint32_t address, uint32_t v)
{
    asm volatile("st.shared.u32 [%0], %1;" : : "r"(address), "r"(v) : "memory"); /* [address] = v */
}

/* Registers of each thread of this warpgroup from here on: more than the kernel began with, or fewer. */
template <int count> __device__ void take_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(count));
}

template <int count> __device__ void leave_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(count));
}

/* Threads of whole warps meet at one of the barriers 1 to 15; 0 is that of __syncthreads(). */
__device__ inline void meet(unsigned barrier, unsigned threads)
{
    asm volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}

/* The same without waiting for the others. */
__device__ inline void arrive_to_meet(unsigned barrier, unsigned threads)
{
    asm volatile("bar.arrive %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}

/* All threads of the cluster: what they wrote before they arrived is there after the wait. */
__device__ inline void arrive_at_cluster()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

/* The same of those who have written nothing that others are to see. */
__device__ inline void arrive_at_cluster_relaxed()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

__device__ inline void wait_for_cluster()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* The place in shared memory of the cluster's block `rank` that `address` is in this one's. */
__device__ inline uint32_t address_in(uint32_t rank, uint32_t address)
{
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank)); /* there = address in rank */
    return there;
}

__device__ inline void store_in_cluster(uint32_t address, float v)
{
    asm volatile("st.shared::cluster.f32 [%0], %1;" : : "r"(address), "f"(v) : "memory"); /* [address] = v */
}

/* At a barrier of a block of the cluster, whose address address_in() gives. */
__device__ inline void arrive_in_cluster(uint32_t barrier)
{
    delay();
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" : : "r"(barrier) : "memory");
}

/* Starts to store 16 bytes in another block's memory; they arrive at a barrier there. */
__device__ inline void send_to_cluster(uint32_t address, int4 v, uint32_t barrier)
{
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, %4}, [%5];"
                 :
                 : "r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(barrier)
                 : "memory"); /* [address] = v */
}

__device__ inline float4 load_in_cluster(uint32_t address)
{
    float4 v;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];" /* v = [address] */
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(address)
                 : "memory");
    return v;
}

} // namespace hopper
} // namespace pwl

#endif
#endif
