/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with many rows of X, on devices of 9.0: halves by wgmma, as wgmma_loop.cuh draws it. A thread block has a
 * multiprocessor to itself and goes from tile to tile; the copies for the next one start while Y of the last is stored
 * (wgmma_store.cuh). Where the tiles left over at last are few, a cluster of two blocks shares each:
 *
 *     block 0 | tile 0 | tile 4 | tile 8, first half of K
 *     block 1 | tile 1 | tile 5 | tile 8, second half
 *     block 2 | tile 2 | tile 6 |
 *     block 3 | tile 3 | tile 7 |
 */
#include "launch.cuh"
#include "tensor.cuh"
#include "wgmma_store.cuh"

namespace
{

using namespace pwl;
using namespace pwl::wgmma;

constexpr unsigned most_shared = 227 << 10; /* that 9.0 grants a block */

/* Of a thread that multiplies, and of one that does something else: to make strips takes more. */
template <class shape> constexpr int registers_multiplying = shape::strips ? 216 : 232;
template <class shape> constexpr int registers_else = shape::strips ? 72 : 40;

#if PWL_IS_HOPPER

/* The warps that do not multiply: one thread copies X, one the weights, and two warps make X where it is not there. */
template <class shape>
__device__ void copy(const pwl_qgemm_call &call, const CUtensorMap &x, const work &of, uint32_t memory)
{
    const unsigned warp = (threadIdx.x - multiplying) / 32, lane = threadIdx.x % 32;
    if (warp == 0 && (lane == 0 || (shape::strips && call.strips.count)))
        copy_x<shape>(call, of, x, memory);
    else if (warp == 1 && lane == 0)
        copy_weights<shape>(call, of, memory);
    else if (shape::strips && warp > 1 && call.strips.count)
        make_strips(call);
    __syncwarp();
    if (of.whole + blockIdx.x < of.turns && of.split > 1) { /* as the others do in add_parts() */
        arrive_at_cluster();
        wait_for_cluster();
        arrive_at_cluster();
        wait_for_cluster();
    }
}

template <class shape>
__device__ void multiply_and_store(const pwl_qgemm_call &call, const CUtensorMap &y, const work &of, uint8_t *memory_at)
{
    const uint32_t memory = shared_address(memory_at);
    const unsigned row = __shfl_sync(0xffffffff, threadIdx.x / 32, 0) * PWL_QGEMM_TILE_ROWS;
    char *const table = reinterpret_cast<char *>(memory_at) + of.table_at;
    int8_t *const units =
        reinterpret_cast<int8_t *>(memory_at + of.units_at) + threadIdx.x / group_threads * most_tokens;
    place<shape> from(of, memory, false);
    wait_for_last_launch();
    if constexpr (!shape::direct && !shape::exponents) {
        if (of.table_at && threadIdx.x < mma::threads) {
            mma::table_loader loads;
            loads.load(call);
            loads.copy(call, table);
            close_group();
            loads.put(call, table);
            wait_for_all_but<0>();
        }
    }
    for (tile_place here(of); here.is_there(of); here.advance(of)) {
        const size_t m = here.m(of, shape::tokens), n = size_t{here.across(of)} * PWL_QGEMM_ROWS;
        float sums[shape::tokens / 8][4] = {};
        if constexpr (shape::direct)
            put_units<shape::tokens>(call, m, units);
        multiply<shape>(call, memory_at, n + row, row, here.end - here.first, from, sums);
        if constexpr (!shape::direct)
            store_through_floats<shape>(call, of, here, m, n, memory_at, table, sums);
        else if (here.shared)
            store_parts<shape>(call, here, m, n, units, memory_at, sums);
        else
            store_by_copies<shape>(call, of, y, m, n, units, memory, sums);
    }
    if (threadIdx.x % group_threads == 0) /* shared memory must stay until then */
        wait_for_copies_to_read();
}

#endif

/* Bounded to a single thread where it has no code: the host asks for that. */
template <class shape>
__global__ void __launch_bounds__(PWL_IS_HOPPER ? threads : 1, 1)
    product(const __grid_constant__ pwl_qgemm_call call, const __grid_constant__ CUtensorMap x,
            const __grid_constant__ CUtensorMap y, const __grid_constant__ work of)
{
#if PWL_IS_HOPPER
    extern __shared__ __align__(1024) uint8_t shared[];
    const uint32_t memory = shared_address(shared);
    start_next_launch();
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < of.stages; i++) {
            init_barrier(memory + of.barriers_at + i * 16, 2);
            init_barrier(memory + of.barriers_at + i * 16 + 8, multiplying / 32 * tellers);
        }
        show_barriers();
        prefetch_tensor(&x);
        if (shape::direct && of.whole)
            prefetch_tensor(&y);
    }
    __syncthreads();
    if (threadIdx.x >= multiplying) {
        leave_registers<registers_else<shape>>();
        copy<shape>(call, x, of, memory);
    } else {
        take_registers<registers_multiplying<shape>>();
        multiply_and_store<shape>(call, y, of, shared);
    }
#endif
}

/* What Y of a tile, or of some of its rows, takes in shared memory before it is stored. */
template <class shape> constexpr unsigned out_bytes()
{
    return shape::direct ? shape::tokens * PWL_QGEMM_ROWS * 2 : chunk_bytes;
}

/* Gives shared memory to as many stages as leave room for `out` bytes of Y and `table`; the bytes of all. */
template <class shape> unsigned share_out(work &of, unsigned out, unsigned table)
{
    unsigned bytes;
    of.stages = most_stages + 1;
    do {
        of.stages--;
        const unsigned end = of.stages * (shape::x_bytes + shape::w_bytes);
        const unsigned behind = (end + alignment - 1) / alignment * alignment;
        of.w_at = of.stages * shape::x_bytes;
        of.out_at = of.alone ? 0 : behind;
        of.table_at = table ? behind + out : 0;
        of.units_at = behind + out + table;
        of.barriers_at = of.units_at + groups * most_tokens;
        bytes = of.barriers_at + of.stages * 16;
    } while (bytes > most_shared);
    return bytes;
}

template <class shape> int launch(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const unsigned table = shape::exponents ? 0 : mma::table_bytes(call);
    const size_t m = call->product.m, n = call->weights.n, k = call->weights.k;
    const size_t depth = pwl_qgemm_depth(k), across = (n - 1) / PWL_QGEMM_ROWS + 1;
    const size_t down = (m - 1) / shape::tokens + 1, steps = (depth - 1) / shape::slabs + 1;
    const size_t tiles = across * down;
    CUtensorMap x, y = {};
    work of = {};
    if (steps > INT32_MAX / shape::slabs / PWL_QGEMM_COLUMNS || across > INT32_MAX / 2 / down)
        return cudaErrorInvalidConfiguration;
    of.split = steps > 1 && tiles % call->tile.blocks <= call->tile.blocks / 2 ? call->tile.split : 1;
    of.across = static_cast<uint32_t>(across);
    of.whole = static_cast<uint32_t>(of.split > 1 ? tiles / call->tile.blocks * call->tile.blocks : tiles);
    of.turns = of.whole + static_cast<uint32_t>(tiles - of.whole) * of.split;
    of.m_last = static_cast<uint32_t>(m > shape::tokens ? m - shape::tokens : 0);
    of.rows = static_cast<uint32_t>(m < shape::tokens ? m : shape::tokens);
    of.depth = static_cast<uint32_t>(depth);
    of.steps = static_cast<uint32_t>(steps);
    if (shape::direct && of.whole && !describe_matrix(&y, call->product.y.data, m, n, call->product.y.stride, of.rows))
        return cudaErrorInvalidConfiguration;
    if (!describe_matrix(&x, call->h, m, k, call->h_stride, of.rows))
        return cudaErrorInvalidConfiguration;
    of.alone = of.turns <= call->tile.blocks;
    const unsigned out = of.alone ? 0 : out_bytes<shape>();
    const unsigned bytes = share_out<shape>(of, out, table);
    const unsigned blocks = of.alone ? of.turns : call->tile.blocks;
    const auto kernel = product<shape>;
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (error != cudaSuccess)
        return error;
    return launch_overlapped(true, of.split, kernel, dim3(blocks), threads, bytes, stream, *call, x, y, of);
}

template <class variant, unsigned tokens, bool direct>
int launch_as(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    using of = shape<variant, tokens, direct>;
    constexpr unsigned room = most_shared - groups * most_tokens - alignment - (direct ? 0 : PWL_PLAN_IMAGE);
    constexpr unsigned parts = mma::sums_bytes(tokens / 8), out = out_bytes<of>();
    static_assert(fewest_stages * of::bytes + out <= room, "stages beside Y");
    static_assert(multiplying * registers_multiplying<of> + (threads - multiplying) * registers_else<of> <= 65536,
                  "registers of 9.0");
    static_assert(parts <= room / of::bytes * of::bytes && parts <= (room - out) / of::bytes * of::bytes + out,
                  "parts lie where stages were, and Y of tiles before");
    return launch<of>(call, stream);
}

template <class variant> int launch_variant(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    if (!call->tile.direct)
        return launch_as<variant, PWL_QGEMM_ANY_TOKENS, false>(call, stream);
    if constexpr (!variant::exponents) {
        switch (call->tile.tokens) {
#define LAUNCH(tokens, ...)                                                                                            \
    case tokens:                                                                                                       \
        return launch_as<variant, tokens, true>(call, stream);
            PWL_QGEMM_TILE_SIZES(LAUNCH)
#undef LAUNCH
        }
    }
    return cudaErrorInvalidConfiguration;
}

} // namespace

int pwl_cuda_qgemm_wgmma_runs(void)
{
    using variant = mma::variant<PWL_QGEMM_Q4_0, false, false>;
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, product<shape<variant, PWL_QGEMM_ANY_TOKENS, false>>) == cudaSuccess &&
           attributes.maxThreadsPerBlock >= static_cast<int>(threads);
}

int pwl_cuda_launch_qgemm_wgmma(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return mma::variant_of(call, [&](auto v) { return launch_variant<decltype(v)>(call, stream); });
}
