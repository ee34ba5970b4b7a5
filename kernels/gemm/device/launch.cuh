/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels: the variants that are compiled, and a thread block for each tile of Y. */
#ifndef PWL_QGEMM_LAUNCH_CUH
#define PWL_QGEMM_LAUNCH_CUH

#include "arch/attributes.cuh"
#include "gemm/input.h"
#include "gemm/launch.h"
#include "tile.cuh"

namespace pwl
{

/* A thread block for each tile of so many columns and rows of Y; beyond 65535 along M, each goes on further down.
 * `more` is what else the kernel takes. */
template <class... more_types>
int launch_grid(void (*kernel)(pwl_qgemm_call call, more_types... more), const pwl_qgemm_call *call, size_t columns,
                size_t across, size_t down, dim3 threads, struct CUstream_st *stream, more_types... more)
{
    const size_t width = (columns - 1) / across + 1, height = (call->product.m - 1) / down + 1;
    if (width > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const dim3 grid(static_cast<unsigned>(width), static_cast<unsigned>(height < 65535 ? height : 65535));
    kernel<<<grid, threads, 0, stream>>>(*call, more...);
    return cudaGetLastError();
}

namespace mma
{

/* On tensor cores: a thread block for each tile of 128 rows of weights and 8 * groups of X; `more` is what else the
 * kernel takes. */
template <unsigned groups, class... more_types>
int launch(void (*kernel)(pwl_qgemm_call call, uint32_t across, more_types... more), unsigned bytes,
           const pwl_qgemm_call *call, struct CUstream_st *stream, more_types... more)
{
    const size_t across = (call->weights.n - 1) / PWL_QGEMM_ROWS + 1, down = (call->product.m - 1) / (groups * 8) + 1;
    if (across > INT32_MAX || down > INT32_MAX / across)
        return cudaErrorInvalidConfiguration;
    const cudaError_t error = use_shared(kernel, bytes, true);
    if (error != cudaSuccess)
        return error;
    kernel<<<static_cast<unsigned>(across * down), threads, bytes, stream>>>(*call, static_cast<uint32_t>(across),
                                                                             more...);
    return cudaGetLastError();
}

/* What a kernel is compiled for. */
template <pwl_qgemm_format of, bool in_bf16, bool with_exponents> struct variant {
    static constexpr pwl_qgemm_format format = of;
    static constexpr bool bf16 = in_bf16, exponents = with_exponents;
};

/* f(variant<...>()) of a product; exponents are nothing to bf16, but in MXFP4. */
template <pwl_qgemm_format format, typename function> auto variant_of(const pwl_qgemm_call *call, function f)
{
    const bool exponents = call->weights.row_data;
    if (call->product.x.type == PWL_QGEMM_BF16 && !pwl_qgemm_is_a8(&call->product))
        return exponents ? f(variant<format, true, format == PWL_QGEMM_MXFP4>()) : f(variant<format, true, false>());
    return exponents ? f(variant<format, false, true>()) : f(variant<format, false, false>());
}

template <typename function> auto variant_of(const pwl_qgemm_call *call, function f)
{
    return call->weights.format == PWL_QGEMM_Q4_0   ? variant_of<PWL_QGEMM_Q4_0>(call, f)
           : call->weights.format == PWL_QGEMM_Q8_0 ? variant_of<PWL_QGEMM_Q8_0>(call, f)
                                                    : variant_of<PWL_QGEMM_MXFP4>(call, f);
}

} // namespace mma
} // namespace pwl

#endif
