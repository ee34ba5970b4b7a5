/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with few rows of X, which take about as long as reading the weights once. K is cut into eight parts; a warp
 * has one of them of 32 rows of weights, whose pieces it loads, decodes and multiplies as in mma_halves.cuh and
 * mma_bytes.cuh.
 *
 * Up to 32 rows of X, of bytes 40, a thread block has 32 rows of weights, each of its eight warps a part, and X of that
 * to itself. The sums of the parts are added when all are done.
 *
 * With more, devices of 9.0 multiply halves as in splitk_wgmma.cu. Else a thread block has 128 rows of weights and two
 * parts, of each of which four warps share X: else all multiprocessors would have to read all of X, which is more than
 * the weights. The sums of two parts go to the workspace, and a launch after this one adds those of all.
 *
 * Weights are no launch's output, so the first of them are loaded while the launch before this one still runs: of what
 * a warp has room for, four pieces, or all where copies of X do not have to follow them. A thread block has a
 * multiprocessor to itself: where the next launch's blocks wait beside it, some multiprocessors get two blocks of one
 * launch and others none (M = 1: 5.9 us for 4.4 on an H200, N = K = 4096).
 *
 * Up to M = 40, each warp has X of its part to itself; to share it took 12.1 us for bytes at M = 40, 29.4 at K = 14336.
 * From M = 33 on, the time of bytes goes to the two operations on floats for each block's sum.
 */
#include "arch/overlap.cuh"
#include "launch.cuh"
#include "splitk.h"
#include "splitk_parts.cuh"

namespace
{

using namespace pwl;
using namespace splitk;

template <pwl_qgemm_format format, class way, unsigned groups>
__global__ void __launch_bounds__(threads, 1) product(const __grid_constant__ pwl_qgemm_call call)
{
    extern __shared__ uint4 shared[];
    start_next_launch();
    multiply<format, way, groups>(call, reinterpret_cast<uint8_t *>(shared));
}

/* Adds what the blocks of a row left, in the order of K. */
template <class way> __global__ void __launch_bounds__(threads) add_ranks(const __grid_constant__ pwl_qgemm_call call)
{
    using number = typename way::number;
    start_next_launch();
    wait_for_last_launch();
    const size_t n = size_t{blockIdx.x} * threads + threadIdx.x;
    number sum = 0;
    if (n < call.weights.n) {
#pragma unroll
        for (unsigned rank = 0; rank < shape<most>::blocks; rank++)
            sum += sums_at<number>(call, rank, blockIdx.y)[n];
    }
    store<way>(call, blockIdx.y, n, sum);
}

/* What a product is launched as. */
struct launched {
    void (*multiply)(pwl_qgemm_call call);
    unsigned rows, blocks, bytes;     /* of weights, of thread blocks for these, of shared memory */
    void (*add)(pwl_qgemm_call call); /* where there are several blocks */
};

template <pwl_qgemm_format format, class way, unsigned groups> launched launched_as()
{
    using block = shape<groups>;
    launched as = {product<format, way, groups>, block::rows, block::blocks, ring<format, way, groups>::shared,
                   nullptr};
    if constexpr (block::blocks > 1)
        as.add = add_ranks<way>;
    return as;
}

template <pwl_qgemm_type type> launched launched_as_floats(const pwl_qgemm_call *call)
{
    return call->product.scheme == PWL_QGEMM_W4A8 ? launched_as<PWL_QGEMM_Q4_0, by_floats<PWL_QGEMM_Q4_0, type>, few>()
                                                  : launched_as<PWL_QGEMM_Q8_0, by_floats<PWL_QGEMM_Q8_0, type>, few>();
}

launched launched_as_floats(const pwl_qgemm_call *call)
{
    const pwl_qgemm_type type = call->product.x.type;
    return type == PWL_QGEMM_F32   ? launched_as_floats<PWL_QGEMM_F32>(call)
           : type == PWL_QGEMM_F16 ? launched_as_floats<PWL_QGEMM_F16>(call)
                                   : launched_as_floats<PWL_QGEMM_BF16>(call);
}

template <unsigned groups> launched launched_as_bytes(const pwl_qgemm_call *call)
{
    const pwl_qgemm_format format = call->weights.format;
    return format == PWL_QGEMM_ROWS8   ? launched_as<PWL_QGEMM_ROWS8, by_bytes<PWL_QGEMM_ROWS8, groups>, groups>()
           : format == PWL_QGEMM_ROWS4 ? launched_as<PWL_QGEMM_ROWS4, by_bytes<PWL_QGEMM_ROWS4, groups>, groups>()
           : format == PWL_QGEMM_Q4_0  ? launched_as<PWL_QGEMM_Q4_0, by_bytes<PWL_QGEMM_Q4_0, groups>, groups>()
                                       : launched_as<PWL_QGEMM_Q8_0, by_bytes<PWL_QGEMM_Q8_0, groups>, groups>();
}

template <unsigned groups> launched launched_as_halves(const pwl_qgemm_call *call)
{
    return mma::variant_of(call, [&](auto v) {
        using variant = decltype(v);
        using way = by_halves<variant::format, variant::bf16, variant::exponents, groups>;
        return launched_as<variant::format, way, groups>();
    });
}

template <unsigned groups> launched launched_as(const pwl_qgemm_call *call)
{
    return pwl_qgemm_is_a16(&call->product) ? launched_as_halves<groups>(call) : launched_as_bytes<groups>(call);
}

/* Where a thread block has no room for many groups, its shape for the most of them serves fewer. Bytes have more
 * shapes: their time depends on the groups more than on the weights. */
launched launched_for(const pwl_qgemm_call *call, unsigned room)
{
    const size_t groups = (call->product.m + 7) / 8;
    const bool is_bytes = !pwl_qgemm_is_a16(&call->product);
    launched large = {};
    if (is_bytes && !call->bytes)
        return launched_as_floats(call);
    if (groups <= some)
        return groups > few ? launched_as<some>(call) : launched_as<few>(call);
    if (is_bytes && groups <= several)
        return launched_as_bytes<several>(call);
    if (groups <= many)
        large = launched_as<many>(call);
    else if (is_bytes && groups <= alone)
        large = launched_as_bytes<alone>(call);
    return large.multiply && large.bytes <= room ? large : launched_as<most>(call);
}

struct device {
    int multiprocessors, shared, room; /* shared memory of a multiprocessor, and a thread block's at most */
};

cudaError_t ask(device *of)
{
    int current;
    cudaError_t error = cudaGetDevice(&current);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&of->multiprocessors, cudaDevAttrMultiProcessorCount, current);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&of->shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, current);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&of->room, cudaDevAttrMaxSharedMemoryPerBlockOptin, current);
    return error;
}

/*
 * With how many bytes of shared memory so many thread blocks are launched that need `bytes`: where each can have a
 * multiprocessor to itself, with so many that it has. The next launch's blocks, which wait, must not take the place of
 * this one's.
 */
unsigned bytes_for(const device &on, size_t blocks, unsigned bytes)
{
    const unsigned alone = static_cast<unsigned>(on.shared / 2 < on.room ? on.shared / 2 : on.room);
    return blocks <= static_cast<size_t>(on.multiprocessors) && bytes < alone ? alone : bytes;
}

} // namespace

size_t pwl_cuda_qgemm_splitk_bytes(size_t m, size_t n)
{
    return m > some * 8 ? shape<most>::blocks * m * pwl_qgemm_round_up(n, PWL_QGEMM_ROWS) * sizeof(float) : 0;
}

int pwl_cuda_launch_qgemm_splitk(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    device on = {};
    bool waits = false;
    cudaError_t error;
    if (call->product.m > many * 8 && pwl_qgemm_is_a16(&call->product)) {
        error = static_cast<cudaError_t>(pwl_cuda_launch_qgemm_splitk_wgmma(call, stream));
        if (error != cudaErrorNotSupported)
            return error;
    }
    error = ask(&on);
    if (error != cudaSuccess)
        return error;
    const launched as = launched_for(call, static_cast<unsigned>(on.room));
    const size_t n = call->weights.n, blocks = ((n - 1) / as.rows + 1) * as.blocks;
    const unsigned bytes = bytes_for(on, blocks, as.bytes);
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    error = waits_by_itself(reinterpret_cast<const void *>(as.multiply), &waits);
    if (error == cudaSuccess)
        error =
            launch_overlapped(waits, as.multiply, dim3(static_cast<unsigned>(blocks)), threads, bytes, stream, *call);
    if (error != cudaSuccess || !as.add)
        return error;
    const dim3 grid(static_cast<unsigned>((n - 1) / threads + 1), static_cast<unsigned>(call->product.m));
    return launch_overlapped(waits, as.add, grid, threads, 0, stream, *call);
}
