/* SPDX-License-Identifier: Apache-2.0 */
/* Products by tensor cores, a thread block for each tile of Y. */
#include "qgemm_mma.cuh"

namespace
{

using namespace pwl;

/* Groups of 8 rows of X in a tile: many where there are many, since each decodes the weights anew. */
constexpr unsigned many = 16, some = 8, few = 2;

template <pwl_qgemm_format format, bool bf16, bool exponents, unsigned groups>
__global__ void __launch_bounds__(mma::threads, mma::residents(groups))
    product(const __grid_constant__ pwl_qgemm_call call, uint32_t across)
{
    extern __shared__ uint4 shared[];
    uint8_t *const memory = reinterpret_cast<uint8_t *>(shared);
    const size_t n = size_t{blockIdx.x % across} * PWL_QGEMM_ROWS, m = size_t{blockIdx.x / across} * groups * 8;
    mma::sums_of<groups> sums = {};
    mma::add_pieces<format, bf16, exponents, groups>(
        call, m, n, 0, static_cast<uint32_t>(pwl_qgemm_depth(call.weights.k)), memory, sums);
    mma::store_tile<exponents, float, groups>(call, m, n, memory, sums);
}

template <unsigned groups> int launch(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const auto kernel = mma::variant_of(call, [](auto v) {
        using variant = decltype(v);
        return product<variant::format, variant::bf16, variant::exponents, groups>;
    });
    return mma::launch<groups>(kernel, mma::shared_bytes(call->weights.format, groups, mma::table_bytes(call)), call,
                               stream);
}

} // namespace

int pwl_cuda_launch_qgemm_mma(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->product.m > some * 8  ? launch<many>(call, stream)
           : call->product.m > few * 8 ? launch<some>(call, stream)
                                       : launch<few>(call, stream);
}
