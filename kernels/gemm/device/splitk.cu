/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with few rows of X, which take about as long as reading the weights once. K is cut into eight parts; a warp
 * has one of them of 32 rows of weights, whose pieces it loads, decodes and multiplies as in mma.cuh and
 * bytes.cuh.
 *
 * Up to 32 rows of X, of bytes 40, a thread block has 32 rows of weights, each of its eight warps a part, and X of that
 * to itself. The sums of the parts are added when all are done.
 *
 * With more, devices of 9.0 multiply halves as in splitk_wgmma.cu. Else a thread block has 128 rows of weights
 * and two parts, of each of which four warps share X: else all multiprocessors would have to read all of X, which is
 * more than the weights. The sums of two parts go to the workspace, and a launch after this one adds those of all.
 *
 * Weights are no launch's output, so the first of them are loaded while the launch before this one still runs: of what
 * a warp has room for, four pieces, or all where copies of X do not have to follow them.
 */
#include "arch/overlap.cuh"
#include "splitk.h"
#include "splitk_input.cuh"

namespace
{

using namespace pwl;
using namespace splitk;

/* Puts a complete sum where it belongs; for all lanes of a warp, of which some may be outside. */
template <class way> __device__ void store(const pwl_qgemm_call &call, size_t m, size_t n, typename way::number sum)
{
    const bool inside = n < call.weights.n;
    decltype(way::y(call, m, n, sum)) y = 0;
    if (inside)
        y = way::y(call, m, n, sum);
    pwl_device_store_lanes(call, inside, m, n, y);
}

/* Stages of a part: of each warp that shares it codes of its tiles and their scales; then X. Where the sums lie
 * afterwards, no stage does. */
template <pwl_qgemm_format format, class way, unsigned groups> struct ring {
    using block = shape<groups>;
    static constexpr unsigned code_bytes = tiles * mma::code_bytes(format),
                              scale_bytes = tiles * mma::scale_bytes(format), w_bytes = code_bytes + scale_bytes,
                              x_at = block::sharers * w_bytes, bytes = x_at + way::x_bytes;
    /* What every device from 8.0 on has, and for many groups 8.0 and 9.0. */
    static constexpr bool is_large = groups >= many && block::sharers == 1;
    static constexpr unsigned room = (is_large ? 163 : 99) << 10,
                              fitting = (room / block::parts - way::own_bytes) / bytes, enough = is_large ? 3 : 12,
                              stages = fitting < enough ? fitting : enough;
    static constexpr unsigned sums = block::parts * groups * 8 * block::pitch * sizeof(float),
                              own_at = block::parts * stages * bytes, all = own_at + block::parts * way::own_bytes,
                              shared = all > sums ? all : sums;
    static_assert(stages >= 3, "one to read, one to fill, one on its way");
};

/* Sums of a row of X, of a rank of a block of rows, in the workspace; rows of weights up to a multiple of a piece's. */
template <class number> __device__ number *sums_at(const pwl_qgemm_call &call, size_t rank, size_t m)
{
    return static_cast<number *>(call.sums) +
           (rank * call.product.m + m) * pwl_qgemm_round_up(call.weights.n, PWL_QGEMM_ROWS);
}

template <pwl_qgemm_format format, class way, unsigned groups>
__device__ void multiply(const pwl_qgemm_call &call, uint8_t *shared)
{
    using number = typename way::number;
    using ring = ring<format, way, groups>;
    constexpr int stages = ring::stages, room = stages - 1;
    constexpr int early = way::x_bytes > 0 && room > 4 ? 4 : room; /* weights that are loaded before X */
    using block = shape<groups>;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned part = warp / block::sharers, sharer = warp % block::sharers, rank = blockIdx.x % block::blocks;
    const unsigned in_all = rank * block::parts + part;
    const unsigned present = static_cast<unsigned>(call.product.m + 7) / 8;
    uint8_t *const memory = shared + part * stages * ring::bytes;
    const uint32_t stage = shared_address(memory);
    const size_t n = size_t{blockIdx.x / block::blocks} * block::rows, own = n + sharer * warp_rows;
    const size_t pieces = pwl_qgemm_depth(call.weights.k), first = pieces * in_all / all_parts;
    const int count = static_cast<int>(pieces * (in_all + 1) / all_parts - first);
    const int rounds = block::sharers == 1 ? count : static_cast<int>((pieces - 1) / all_parts + 1); /* of every part */

    /* The next piece of the weights. */
    const unsigned tile = static_cast<unsigned>(own % PWL_QGEMM_ROWS) / PWL_QGEMM_TILE_ROWS;
    const uint8_t *const piece = static_cast<const uint8_t *>(call.weights.memory) +
                                 pwl_qgemm_piece_at(format, call.weights.k, own, first * PWL_QGEMM_COLUMNS);
    const uint8_t *codes_at = piece + tile * mma::code_bytes(format) + lane * 16;
    const uint8_t *scales_at =
        piece + PWL_QGEMM_TILES * mma::code_bytes(format) + tile * mma::scale_bytes(format) + lane * 16;
    const auto load_weights = [&](int i, bool is_piece) {
        const uint32_t to = stage + static_cast<uint32_t>(i) * ring::bytes + sharer * ring::w_bytes + lane * 16;
#pragma unroll
        for (unsigned at = 0; at < ring::code_bytes; at += 512)
            copy_async_if(is_piece, to + at, codes_at + at);
        if constexpr (ring::scale_bytes > 0) {
            if (lane * 16 < ring::scale_bytes)
                copy_async_if(is_piece, to + ring::code_bytes, scales_at);
        }
        codes_at += mma::piece_bytes(format);
        scales_at += mma::piece_bytes(format);
    };

    /* Groups of copies: the early weights; then X of a piece, beside the weights of a later one while stages are free.
     */
#pragma unroll
    for (int i = 0; i < early; i++)
        load_weights(i, i < count);
    close_group();
    wait_for_last_launch();
    way with(call, own, first, shared + ring::own_at + part * way::own_bytes);
#pragma unroll
    for (int i = 0; i < room; i++) {
        with.load(stage + i * ring::bytes + ring::x_at, i < count);
        if (i + early < room)
            load_weights(i + early, i + early < count);
        close_group();
    }

    number sums[tiles][groups][4] = {};
    for (int i = 0, at = 0, before = stages - 1; i < rounds; i++) {
        wait_for_all_but<stages - 2>();
        /* The piece is there, and the stage of the one before it was read. */
        if constexpr (block::sharers == 1)
            __syncwarp();
        else
            __syncthreads();
        const bool is_piece = i + stages - 1 < count;
        load_weights(before, is_piece);
        with.load(stage + static_cast<uint32_t>(before) * ring::bytes + ring::x_at, is_piece);
        close_group();
        if (i < count) {
            mma::codes<format> codes;
            const uint8_t *const here = memory + at * ring::bytes, *const mine = here + sharer * ring::w_bytes;
            codes.load(mine, mine + ring::code_bytes);
            with.add(codes, with.of(call, here + ring::x_at, i, count), present, sums);
        }
        before = at;
        at = at + 1 == stages ? 0 : at + 1;
    }
    wait_for_all_but<0>();
    __syncthreads();

    number *const parts = reinterpret_cast<number *>(shared);
    number *const to = parts + (part * groups * 8 + lane % 4 * 2) * block::pitch + sharer * warp_rows + lane / 4;
#pragma unroll
    for (unsigned t = 0; t < tiles; t++)
        mma::put_fragments<block::pitch>(sums[t], to, 0, t * 16);
    __syncthreads();

    constexpr unsigned at_once = threads / block::rows;
    const unsigned row = threadIdx.x % block::rows, m = threadIdx.x / block::rows;
    number complete[groups * 8 / at_once];
#pragma unroll
    for (unsigned i = 0; i < groups * 8 / at_once; i++) {
        complete[i] = 0;
#pragma unroll
        for (unsigned p = 0; p < block::parts; p++)
            complete[i] += parts[(p * groups * 8 + m + i * at_once) * block::pitch + row];
    }
#pragma unroll
    for (unsigned i = 0; i < groups * 8 / at_once; i++) {
        if (m + i * at_once >= call.product.m)
            break;
        if constexpr (block::blocks > 1)
            sums_at<number>(call, rank, m + i * at_once)[n + row] = complete[i];
        else
            store<way>(call, m + i * at_once, n + row, complete[i]);
    }
}

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
    const pwl_qgemm_scheme scheme = call->product.scheme;
    return scheme == PWL_QGEMM_INT8   ? launched_as<PWL_QGEMM_ROWS8, by_bytes<PWL_QGEMM_ROWS8, groups>, groups>()
           : scheme == PWL_QGEMM_W4A8 ? launched_as<PWL_QGEMM_Q4_0, by_bytes<PWL_QGEMM_Q4_0, groups>, groups>()
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
    error = cudaFuncSetAttribute(as.multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (error == cudaSuccess)
        error = waits_by_itself(reinterpret_cast<const void *>(as.multiply), &waits);
    if (error == cudaSuccess)
        error =
            launch_overlapped(waits, as.multiply, dim3(static_cast<unsigned>(blocks)), threads, bytes, stream, *call);
    if (error != cudaSuccess || !as.add)
        return error;
    const dim3 grid(static_cast<unsigned>((n - 1) / threads + 1), static_cast<unsigned>(call->product.m));
    return launch_overlapped(waits, as.add, grid, threads, 0, stream, *call);
}
