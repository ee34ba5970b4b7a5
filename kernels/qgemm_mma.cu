/* SPDX-License-Identifier: Apache-2.0 */
/* Products by tensor cores, a thread block for each tile of Y. */
#include "qgemm_mma.cuh"

namespace
{

using namespace pwl;

/* Groups of 8 rows of X in a tile: many where there are many, since each decodes the weights anew. */
constexpr unsigned many = 16, some = 8, few = 2;

/* The image of a table is copied while pieces are multiplied where a block may have so much shared memory, else after
 * them; image_at is 0 then. */
template <pwl_qgemm_format format, bool bf16, bool exponents, unsigned groups>
__global__ void __launch_bounds__(mma::threads, mma::residents(groups))
    product(const __grid_constant__ pwl_qgemm_call call, uint32_t across, uint32_t image_at)
{
    extern __shared__ uint4 shared[];
    uint8_t *const memory = reinterpret_cast<uint8_t *>(shared);
    const size_t n = size_t{blockIdx.x % across} * PWL_QGEMM_ROWS, m = size_t{blockIdx.x / across} * groups * 8;
    mma::sums_of<groups> sums = {};
    const auto copy = [&] {
        if (image_at) {
            copy_image(call.table, reinterpret_cast<char *>(memory) + image_at, mma::thread_here());
            close_group();
        }
    };
    mma::add_pieces<format, bf16, exponents, groups>(
        call, m, n, 0, static_cast<uint32_t>(pwl_qgemm_depth(call.weights.k)), memory, sums, copy);
    mma::store_tile<exponents, float, groups>(call, m, n, memory, image_at, sums);
}

/* Where the image lies beside the stages; 0 where that is too much for the device, or would leave room for one block
 * where there were two. */
template <unsigned groups> uint32_t image_beside(const pwl_qgemm_call *call, unsigned stages)
{
    int device, most = 0;
    if (call->fast.way != PWL_QGEMM_BY_IMAGE || mma::residents(groups) > 1)
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
    const uint32_t image_at = image_beside<groups>(call, stages);
    const unsigned bytes = image_at ? image_at + table : mma::shared_bytes(call->weights.format, groups, table);
    return mma::launch<groups>(kernel, bytes, call, stream, image_at);
}

} // namespace

int pwl_cuda_launch_qgemm_mma(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->product.m > some * 8  ? launch<many>(call, stream)
           : call->product.m > few * 8 ? launch<some>(call, stream)
                                       : launch<few>(call, stream);
}
