/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products by tensor cores, with the pieces of all tiles of Y shared out evenly among the thread blocks that the device
 * has room for (gemm/schedule.h). A block that begins within a tile leaves its sums of it in the workspace; the block
 * that has the tile's first pieces waits for those of the others, adds them in the order of K, and stores the tile.
 *
 * Shares are drawn, the last one first. So a block waits for blocks that drew before it, which run, and have left what
 * it waits for before they wait themselves: there is always one that need not wait, however few run at a time.
 */
#include "gemm/input.h"
#include "mma.cuh"

namespace
{

using namespace pwl;

/* Groups of 8 rows of X in a tile. */
constexpr unsigned many = 16, few = 4;

static_assert(mma::shared_bytes(PWL_QGEMM_Q8_0, many, PWL_PLAN_IMAGE) + 128 <= 99 << 10,
              "a place is in shared memory as well");

/* Where a block is in its share; in shared memory, since multiplications need the registers. */
struct place {
    size_t share, at, end; /* pieces, over all tiles */
    pwl_qgemm_part part;
    size_t m, n; /* of the part's tile */
};

/* call.marks: how many shares were drawn, then of each share whether its sums were left. */
__device__ void draw_share(const pwl_qgemm_call &call, place &here)
{
    if (threadIdx.x == 0) {
        here.share = call.schedule.shares - 1 - atomicAdd(call.marks, 1u);
        here.at = pwl_qgemm_share_at(&call.schedule, here.share);
        here.end = pwl_qgemm_share_at(&call.schedule, here.share + 1);
        here.part.count = 0;
    }
}

/* To the next part of the share; false at its end. */
template <unsigned groups> __device__ bool advance(const pwl_qgemm_call &call, place &here)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const size_t across = (call.weights.n - 1) / PWL_QGEMM_ROWS + 1;
        here.at += here.part.count;
        here.part = pwl_qgemm_part_from(&call.schedule, here.at, here.end);
        here.m = here.part.tile / across * groups * 8;
        here.n = here.part.tile % across * PWL_QGEMM_ROWS;
    }
    __syncthreads();
    return here.part.count;
}

/* Where this thread's first four sums of a share lie; the next are so many further on as there are threads. */
template <unsigned groups> __device__ float4 *sums_at(const pwl_qgemm_call &call, size_t share)
{
    return static_cast<float4 *>(call.sums) + share * mma::tiles * groups * mma::threads + threadIdx.x;
}

template <unsigned groups>
__device__ void leave_sums(const pwl_qgemm_call &call, size_t share, const mma::sums_of<groups> &sums)
{
    float4 *to = sums_at<groups>(call, share);
#pragma unroll
    for (unsigned t = 0; t < mma::tiles; t++) {
#pragma unroll
        for (unsigned g = 0; g < groups; g++, to += mma::threads)
            __stcg(to, make_float4(sums[t][g][0], sums[t][g][1], sums[t][g][2], sums[t][g][3]));
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicExch(call.marks + 1 + share, 1u);
}

/* Adds what the shares from `first` to `last` leave; past the L1 cache, which may hold what lay there before. */
template <unsigned groups>
__device__ void add_sums(const pwl_qgemm_call &call, size_t first, size_t last, mma::sums_of<groups> &sums)
{
    for (size_t share = first + threadIdx.x; share <= last; share += mma::threads) {
        const volatile uint32_t *const left = call.marks + 1 + share;
        while (!*left)
            __nanosleep(64);
    }
    __threadfence();
    __syncthreads();
    for (size_t share = first; share <= last; share++) {
        const float4 *from = sums_at<groups>(call, share);
#pragma unroll
        for (unsigned t = 0; t < mma::tiles; t++) {
#pragma unroll
            for (unsigned g = 0; g < groups; g++, from += mma::threads) {
                const float4 v = __ldcg(from);
                sums[t][g][0] += v.x;
                sums[t][g][1] += v.y;
                sums[t][g][2] += v.z;
                sums[t][g][3] += v.w;
            }
        }
    }
}

template <pwl_qgemm_format format, bool bf16, bool exponents, unsigned groups>
__global__ void __launch_bounds__(mma::threads, mma::residents(groups))
    product(const __grid_constant__ pwl_qgemm_call call)
{
    extern __shared__ uint4 shared[];
    __shared__ place here;
    uint8_t *const memory = reinterpret_cast<uint8_t *>(shared);
    draw_share(call, here);
    while (advance<groups>(call, here)) {
        mma::sums_of<groups> sums = {};
        mma::add_pieces<format, bf16, exponents, groups>(call, here.m, here.n, static_cast<uint32_t>(here.part.piece),
                                                         static_cast<uint32_t>(here.part.count), memory, sums, [] {});
        if (here.part.piece) {
            leave_sums<groups>(call, here.share, sums);
        } else {
            if (here.part.count < call.schedule.depth)
                add_sums<groups>(call, here.share + 1, pwl_qgemm_last_share(&call.schedule, here.part.tile), sums);
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
