/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of devices of 9.0 alone, in code that is compiled for 9.0a: multiplications of a warpgroup, copies of
 * tensors that tell a barrier in shared memory when they have arrived, and clusters of thread blocks.
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
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
}

/* Arrives, and lets the phase wait for so many bytes. */
__device__ inline void arrive_and_expect(uint32_t barrier, uint32_t bytes)
{
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
}

/* Reads what describes a tensor ahead of its use. */
__device__ inline void prefetch_tensor(const CUtensorMap *tensor)
{
    asm volatile("prefetch.tensormap [%0];" : : "l"(tensor) : "memory");
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

/* Before the first multiplication, and after registers that one takes were written. */
__device__ inline void begin_multiplications()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void close_multiplications()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); /* group++ */
}

/* Until all but the last `groups` groups have ended. */
template <int groups> __device__ void wait_for_multiplications()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(groups) : "memory"); /* while (pending > groups); */
}

/*
 * Operand B at an address: rows of 128 bytes, K innermost, eight of them 1024 bytes on, which is what the address of
 * the first is aligned to; 16-byte chunk c of row r lies at c ^ r % 8.
 */
__device__ inline uint64_t matrix_at(uint32_t address)
{
    return uint64_t{1} << 62 | uint64_t{1024 >> 4} << 32 | 1 << 16 | (address & 0x3ffff) >> 4;
}

/* Sums of a warp, 16 rows of A and 64 of B: for every 8 of B as mma.m16n8 has them. */
typedef float sums64[8][4];

#define PWL_SUMS                                                                                                       \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "  \
    "%24, %25, %26, %27, %28, %29, %30, %31}"
#define PWL_FOUR(d) "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])
#define PWL_SUMS_OF(d)                                                                                                 \
    PWL_FOUR((d)[0]), PWL_FOUR((d)[1]), PWL_FOUR((d)[2]), PWL_FOUR((d)[3]), PWL_FOUR((d)[4]), PWL_FOUR((d)[5]),        \
        PWL_FOUR((d)[6]), PWL_FOUR((d)[7])

/* d += a * b, 16 columns of each; a is in the registers of this lane, as mma.m16n8k16 has them. Goes on until it is
 * waited for. */
template <bool bf16> __device__ void multiply_add(sums64 &d, const uint32_t (&a)[4], uint64_t b)
{
    if constexpr (bf16)
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " /* d += a * b */
                     PWL_SUMS ", {%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
                     : PWL_SUMS_OF(d)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    else
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " /* d += a * b */
                     PWL_SUMS ", {%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
                     : PWL_SUMS_OF(d)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/* Keeps other instructions on sums where they are: before the multiplications, or after. */
__device__ inline void hold(sums64 &d)
{
    asm volatile("" : PWL_SUMS_OF(d)::"memory"); /* d may have changed */
}

#undef PWL_SUMS_OF
#undef PWL_FOUR
#undef PWL_SUMS

/* All threads of the cluster: what they wrote before they arrived is there after the wait. */
__device__ inline void arrive_at_cluster()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
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

} // namespace hopper
} // namespace pwl

#endif
#endif
