/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products by tensor cores, with the pieces of all tiles of Y shared out evenly among the thread blocks that the device
 * has room for (shares.cuh).
 */
#include "epilogue.cuh"
#include "launch.cuh"
#include "mma_halves.cuh"
#include "shares.cuh"

namespace
{

using namespace pwl;

/* Groups of 8 rows of X in a tile. */
constexpr unsigned many = 16, few = 4;

static_assert(mma::shared_bytes(PWL_QGEMM_Q8_0, many, PWL_PLAN_IMAGE) + sizeof(mma::place_in_share) <= 99 << 10,
              "a place is in shared memory as well");

template <pwl_qgemm_format format, bool bf16, bool exponents, unsigned groups>
__global__ void __launch_bounds__(mma::threads, mma::residents(groups))
    product(const __grid_constant__ pwl_qgemm_call call)
{
    extern __shared__ uint4 shared[];
    __shared__ mma::place_in_share here;
    uint8_t *const memory = reinterpret_cast<uint8_t *>(shared);
    mma::draw_share(call, here);
    while (mma::advance<groups>(call, here)) {
        mma::sums_of<groups> sums = {};
        mma::add_pieces<format, bf16, exponents, groups>(call, here.m, here.n, static_cast<uint32_t>(here.part.piece),
                                                         static_cast<uint32_t>(here.part.count), memory, sums, [] {});
        if (here.part.piece) {
            mma::leave_sums<groups>(call, here.share, sums);
        } else {
            if (here.part.count < call.schedule.depth)
                mma::add_sums<groups>(call, here.share + 1, pwl_qgemm_last_share(&call.schedule, here.part.tile), sums);
            mma::store_tile<exponents, float, groups>(call, here.m, here.n, memory, 0, sums);
        }
    }
}

/* A product's kernel, with its shared memory granted. */
struct kernel_of {
    void (*kernel)(const pwl_qgemm_call);
    unsigned bytes;
    cudaError_t error;

    explicit kernel_of(const pwl_qgemm_call *call)
    {
        if (pwl_qgemm_streamk_rows(call->product.m) == many * 8)
            choose<many>(call);
        else
            choose<few>(call);
    }

    template <unsigned groups> void choose(const pwl_qgemm_call *call)
    {
        kernel = mma::variant_of(call, [](auto v) {
            using variant = decltype(v);
            return product<variant::format, variant::bf16, variant::exponents, groups>;
        });
        bytes = mma::shared_bytes(call->weights.format, groups, mma::table_bytes(call));
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    }
};

} // namespace

int pwl_cuda_qgemm_streamk_residents(const pwl_qgemm_call *call, int *blocks)
{
    const kernel_of of(call);
    cudaError_t error = of.error;
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, of.kernel, mma::threads, of.bytes);
    return error == cudaSuccess && *blocks < 1 ? cudaErrorInvalidConfiguration : error;
}

int pwl_cuda_launch_qgemm_streamk(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const kernel_of of(call);
    const unsigned shares = static_cast<unsigned>(call->schedule.shares);
    cudaError_t error = of.error;
    if (error == cudaSuccess)
        error = cudaMemsetAsync(call->marks, 0, (1 + shares) * sizeof *call->marks, stream);
    if (error != cudaSuccess)
        return error;
    of.kernel<<<shares, mma::threads, of.bytes, stream>>>(*call);
    return cudaGetLastError();
}
