/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions of bits_cases.h as kernels: element k of the output is the result of element k of the input. */
#include <stddef.h>

#include <cuda_runtime.h>

#include "arch/e4m3.cuh"
#include "bits_cases.h"
#include "bits_device.h"

namespace
{

constexpr unsigned threads = 256;

#define KERNEL(name, type, value)                                                                                      \
    __global__ void __launch_bounds__(threads) run_##name(const bits_input *in, bits_output *out, unsigned count)      \
    {                                                                                                                  \
        const unsigned k = blockIdx.x * threads + threadIdx.x;                                                         \
        if (k < count)                                                                                                 \
            out[k] = bits_##name(in[k]);                                                                               \
    }
BITS_CASES(KERNEL)
#undef KERNEL

typedef void kernel(const bits_input *in, bits_output *out, unsigned count);

kernel *const kernels[] = {
#define ENTRY(name, type, value) run_##name,
    BITS_CASES(ENTRY)
#undef ENTRY
};

/* Four floats a thread, of all whose bits are multiples of `apart`: *first is lowered to one that is another code than
 * the host's functions give. */
__global__ void __launch_bounds__(threads) visit_e4m3(uint32_t apart, unsigned long long *first)
{
    const uint64_t four = uint64_t{blockIdx.x} * threads + threadIdx.x;
    float v[4];
    for (unsigned k = 0; k < 4; k++)
        v[k] = pwl_f32_of_bits(static_cast<uint32_t>((four * 4 + k) * apart));
    const uint32_t codes = pwl_e4m3x4_from_f32(v);
    for (unsigned k = 0; k < 4; k++) {
        if ((codes >> 8 * k & 0xff) != pwl_e4m3_from_f32(v[k]))
            atomicMin(first, static_cast<unsigned long long>(pwl_bits_of_f32(v[k])));
    }
}

} // namespace

int bits_device_visit_e4m3(uint32_t apart, unsigned long long *first)
{
    const uint64_t floats = (uint64_t{1} << 32) / apart; /* apart is a power of two, up to 2^20 */
    visit_e4m3<<<static_cast<unsigned>(floats / 4 / threads), threads>>>(apart, first);
    return cudaGetLastError();
}

int bits_device_run(enum bits_case id, const bits_input *in, bits_output *out, unsigned count)
{
    void *arguments[] = {&in, &out, &count};
    return cudaLaunchKernel(kernels[id], dim3((count + threads - 1) / threads), dim3(threads), arguments, 0, nullptr);
}
