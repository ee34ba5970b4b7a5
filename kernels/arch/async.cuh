/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from global to shared memory that go on while a thread works. */
#ifndef PWL_ASYNC_CUH
#define PWL_ASYNC_CUH

#include <stdint.h>

namespace pwl
{

__device__ inline uint32_t shared_address(const void *place)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(place));
}

/* Starts to copy `bytes` (4, 8 or 16) to shared memory. */
template <int bytes> __device__ void copy_async(void *to, const void *from)
{
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" /* to[0..16) = from[0..16), past the L1 cache */
                     :
                     : "r"(shared_address(to)), "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" /* to[0..bytes) = from[0..bytes) */
                     :
                     : "r"(shared_address(to)), "l"(from), "n"(bytes)
                     : "memory");
}

/* As copy_async<16>(), to an address in shared memory; zeros, and nothing is read, unless `there`. */
__device__ inline void copy_async_if(bool there, uint32_t to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" /* to[0..16) = there ? from[0..16) : 0 */
                 :
                 : "r"(to), "l"(from), "r"(there ? 16 : 0)
                 : "memory");
}

/* The copies started since the last call are a group. */
__device__ inline void close_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory"); /* group++ */
}

/* Waits until all but the last `groups` groups of this thread have arrived. */
template <int groups> __device__ void wait_for_all_but()
{
    asm volatile("cp.async.wait_group %0;" : : "n"(groups) : "memory"); /* while (pending > groups); */
}

} // namespace pwl

#endif
