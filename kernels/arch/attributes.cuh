/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host has asked about kernels, or set for them, on each device: to do so anew takes a call longer than its
 * launch does. A device that was reset has forgotten what was set: a launch that fails sets it anew.
 */
#ifndef PWL_ATTRIBUTES_CUH
#define PWL_ATTRIBUTES_CUH

#include <atomic>
#include <cuda_runtime.h>
#include <stdint.h>

namespace pwl
{

/* Of one kernel on one device: 0 while nothing is known. */
struct kernel_facts {
    std::atomic<int> attributes; /* 1 + those that attributes_of() finds */
    std::atomic<int> shared;     /* dynamic shared memory that was asked for */
};

/* Of all kernels, which have places in the order in which they are first launched, from a hash on. */
class all_facts
{
    static constexpr unsigned kernels = 512, devices = 16;
    std::atomic<const void *> names[kernels] = {};
    kernel_facts facts[kernels][devices] = {};

  public:
    /* Null where there is no place for it. */
    kernel_facts *find(const void *kernel, int device)
    {
        const unsigned first = static_cast<unsigned>(reinterpret_cast<uintptr_t>(kernel) / 16 % kernels);
        if (device < 0 || device >= static_cast<int>(devices))
            return nullptr;
        for (unsigned i = 0; i < kernels; i++) {
            std::atomic<const void *> &name = names[(first + i) % kernels];
            const void *found = name.load(std::memory_order_relaxed);
            if (!found && name.compare_exchange_strong(found, kernel, std::memory_order_relaxed))
                found = kernel;
            if (found == kernel)
                return &facts[(first + i) % kernels][device];
        }
        return nullptr;
    }
};

} // namespace pwl

inline pwl::all_facts pwl_facts_of_kernels; /* a name of the library's, since all of its files share it */

namespace pwl
{

/* Of a kernel on the current device; null where nothing can be kept. */
inline kernel_facts *facts_of(const void *kernel)
{
    int device;
    return cudaGetDevice(&device) == cudaSuccess ? pwl_facts_of_kernels.find(kernel, device) : nullptr;
}

/* Threads that a block of a kernel may have, and the version of its PTX, as 1024 * version + threads - 1. */
inline cudaError_t attributes_of(const void *kernel, int *threads, int *ptx)
{
    kernel_facts *const facts = facts_of(kernel);
    int known = facts ? facts->attributes.load(std::memory_order_relaxed) : 0;
    if (!known) {
        cudaFuncAttributes attributes;
        const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
        if (error != cudaSuccess)
            return error;
        known = 1024 * attributes.ptxVersion + attributes.maxThreadsPerBlock;
        if (facts)
            facts->attributes.store(known, std::memory_order_relaxed);
    }
    *threads = (known - 1) % 1024 + 1;
    *ptx = (known - 1) / 1024;
    return cudaSuccess;
}

/* Lets blocks of a kernel have so much dynamic shared memory; `anew`, even if they may by what is known. */
template <class function> static cudaError_t use_shared(function *kernel, size_t bytes, bool anew = false)
{
    constexpr size_t always = 48 << 10; /* that every kernel may have */
    if (bytes <= always && !anew)
        return cudaSuccess;
    kernel_facts *const facts = facts_of(reinterpret_cast<const void *>(kernel));
    const int wanted = static_cast<int>(bytes);
    if (!anew && facts && facts->shared.load(std::memory_order_relaxed) >= wanted)
        return cudaSuccess;
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, wanted);
    if (error == cudaSuccess && facts)
        facts->shared.store(wanted, std::memory_order_relaxed);
    return error;
}

} // namespace pwl

#endif
