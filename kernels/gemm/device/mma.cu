/* SPDX-License-Identifier: Apache-2.0 */
/* Products by tensor cores, a thread block for each tile of Y. */
#include "epilogue.cuh"
#include "launch.cuh"
#include "mma_halves.cuh"

namespace
{

using namespace pwl;

/* Groups of 8 rows of X in a tile: many where there are many, since each decodes the weights anew. */
constexpr unsigned many = 16, some = 8, few = 2;

/* What a table takes is brought while the first pieces come where a block may have so much shared memory, table_at
 * bytes on, else after the multiplications; table_at is 0 then. */
template <pwl_qgemm_format format, bool bf16, bool exponents, unsigned groups>
__global__ void __launch_bounds__(mma::threads, mma::residents(groups))
    product(const __grid_constant__ pwl_qgemm_call call, uint32_t across, uint32_t table_at)
{
    extern __shared__ uint4 shared[];
    uint8_t *const memory = reinterpret_cast<uint8_t *>(shared);
    const size_t n = size_t{blockIdx.x % across} * PWL_QGEMM_ROWS, m = size_t{blockIdx.x / across} * groups * 8;
    const bool beside = !exponents && table_at;
    mma::sums_of<groups> sums = {};
    mma::table_loader loads;
    if (beside)
        loads.load(call);
    const auto bring = [&] {
        char *const table = reinterpret_cast<char *>(memory) + table_at;
        if (beside) {
            loads.copy(call, table);
            loads.put(call, table);
        }
    };
    mma::add_pieces<format, bf16, exponents, groups>(
        call, m, n, 0, static_cast<uint32_t>(pwl_qgemm_depth(call.weights.k)), memory, sums, bring);
    mma::store_tile<exponents, float, groups>(call, m, n, memory, table_at, sums);
}

/* Where a table's part of shared memory lies beside the stages; 0 where there is none, where that is too much for the
 * device, or where it would leave room for one block where there were two. */
template <unsigned groups> uint32_t table_beside(const pwl_qgemm_call *call, unsigned stages)
{
    int device, most = 0;
    if (!mma::table_bytes(call) || mma::residents(groups) > 1)
        return 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
        return 0;
    return stages + mma::table_bytes(call) <= static_cast<unsigned>(most) ? stages : 0;
}

template <unsigned groups> int launch(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const auto kernel = mma::variant_of(call, [](auto v) {
        using variant = decltype(v);
        return product<variant::format, variant::bf16, variant::exponents, groups>;
    });
    const unsigned table = mma::table_bytes(call), stages = mma::shared_bytes(call->weights.format, groups, 0);
    const uint32_t table_at = table_beside<groups>(call, stages);
    const unsigned bytes = table_at ? table_at + table : mma::shared_bytes(call->weights.format, groups, table);
    return mma::launch<groups>(kernel, bytes, call, stream, table_at);
}

} // namespace

int pwl_cuda_launch_qgemm_mma(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->product.m > some * 8  ? launch<many>(call, stream)
           : call->product.m > few * 8 ? launch<some>(call, stream)
                                       : launch<few>(call, stream);
}
