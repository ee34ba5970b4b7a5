/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions of bits_cases.h as kernels: element k of the output is the result of element k of the input. */
#include <stddef.h>

#include <cuda_runtime.h>

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

} // namespace

int bits_device_run(enum bits_case id, const bits_input *in, bits_output *out, unsigned count)
{
    void *arguments[] = {&in, &out, &count};
    return cudaLaunchKernel(kernels[id], dim3((count + threads - 1) / threads), dim3(threads), arguments, 0, nullptr);
}
