/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of splitk with 33 to 64 rows of X in halves, on devices of 9.0: by wgmma, which takes operand B from shared
 * memory for four warps at once, and by clusters of two thread blocks, which add their sums in shared memory.
 *
 * A cluster has 64 rows of weights, and K in four parts, of which each block has two, one to a warpgroup. A warp
 * decodes its 16 rows right into the registers of operand A, a piece while the one before it is multiplied. One more
 * warp for each part keeps its stages filled.
 *
 * On an H200, N = 4096, M = 64 takes 8.7 us at K = 4096 and 19.6 at 14336; by mma.sync, with a launch that adds the
 * parts, 11.9 and 30.7; by wgmma, with copies that all threads start and fence, 11.1 and 26.4; 6.5 and 17.6 are left
 * when the sums are neither added nor stored. A box of X that reaches beyond its last row takes longer to copy.
 */
#include "arch/overlap.cuh"
#include "arch/wgmma.cuh"
#include "launch.cuh"
#include "splitk.h"
#include "store.cuh"
#include "arch/tensor.cuh"
#include "tile.cuh"
#include "weights.cuh"

namespace
{

using namespace pwl;

constexpr unsigned groups = PWL_QGEMM_FEW_ROWS / 8, ranks = 2, parts = 2; /* blocks of a cluster, and parts of each */
constexpr unsigned part_warps = 4, multiplying = parts * part_warps * 32, threads = multiplying + parts * 32;
constexpr unsigned rows = part_warps * 16; /* of weights */
constexpr unsigned stages = 8;
constexpr unsigned x_bytes = mma::x_bytes(groups); /* of a stage */

/* Sums: a row for each of X, so far apart that no banks collide. */
constexpr unsigned pitch = rows + 4, sums_bytes = groups * 8 * pitch * sizeof(float);

__host__ __device__ constexpr unsigned codes_bytes(pwl_qgemm_format format)
{
    return part_warps * mma::code_bytes(format);
}

__host__ __device__ constexpr unsigned w_bytes(pwl_qgemm_format format)
{
    return codes_bytes(format) + part_warps * mma::scale_bytes(format);
}

/* Shared memory: X in the stages of each part, and later its sums; weights in these; the sums of the cluster's other
 * block; barriers. */
constexpr unsigned w_at = parts * stages * x_bytes;

__host__ __device__ constexpr unsigned others_at(pwl_qgemm_format format)
{
    return w_at + parts * stages * w_bytes(format);
}

__host__ __device__ constexpr unsigned barriers_at(pwl_qgemm_format format)
{
    return others_at(format) + sums_bytes / ranks;
}

__host__ __device__ constexpr unsigned shared_bytes(pwl_qgemm_format format)
{
    return barriers_at(format) + parts * stages * 2 * 8;
}

static_assert(shared_bytes(PWL_QGEMM_Q8_0) <= 227 << 10, "what 9.0 grants a block");
static_assert(parts * sums_bytes <= w_at, "sums lie where X was");

#if PWL_IS_HOPPER

using namespace pwl::hopper;

/* Stages of a part, and the pieces that go through them. */
struct ring {
    uint32_t x, w, full, empty;
    size_t first; /* piece */
    int count;
};

template <pwl_qgemm_format format>
__device__ ring ring_of(const pwl_qgemm_call &call, uint32_t memory, unsigned rank, unsigned part)
{
    const size_t pieces = pwl_qgemm_depth(call.weights.k), in_all = rank * parts + part;
    ring r;
    r.x = memory + part * stages * x_bytes;
    r.w = memory + w_at + part * stages * w_bytes(format);
    r.full = memory + barriers_at(format) + part * stages * 16;
    r.empty = r.full + stages * 8;
    r.first = pieces * in_all / (ranks * parts);
    r.count = static_cast<int>(pieces * (in_all + 1) / (ranks * parts) - r.first);
    return r;
}

/* One thread fills a part's stages: weights, which are no launch's output, before it waits for the last one. */
template <pwl_qgemm_format format>
__device__ void fill(const pwl_qgemm_call &call, const CUtensorMap &x, const ring &of, size_t n)
{
    const unsigned tile = static_cast<unsigned>(n % PWL_QGEMM_ROWS) / PWL_QGEMM_TILE_ROWS;
    const uint32_t bytes = w_bytes(format) + static_cast<uint32_t>(call.product.m) * PWL_QGEMM_COLUMNS * 2;
    const uint8_t *const piece = static_cast<const uint8_t *>(call.weights.memory) +
                                 pwl_qgemm_piece_at(format, call.weights.k, n, of.first * PWL_QGEMM_COLUMNS);
    const uint8_t *codes = piece + tile * mma::code_bytes(format);
    const uint8_t *scales = piece + PWL_QGEMM_TILES * mma::code_bytes(format) + tile * mma::scale_bytes(format);
    int32_t column = static_cast<int32_t>(of.first) * PWL_QGEMM_COLUMNS;
    const auto copy_weights = [&](unsigned stage) {
        const uint32_t to = of.w + stage * w_bytes(format), full = of.full + stage * 8;
        arrive_and_expect(full, bytes);
        copy_bytes(to, codes, codes_bytes(format), full);
        copy_bytes(to + codes_bytes(format), scales, w_bytes(format) - codes_bytes(format), full);
        codes += mma::piece_bytes(format);
        scales += mma::piece_bytes(format);
    };
    const auto copy_x = [&](unsigned stage) {
        copy_tensor(of.x + stage * x_bytes, &x, column, 0, of.full + stage * 8);
        column += PWL_QGEMM_COLUMNS;
    };
    prefetch_tensor(&x);
    const int early = min(of.count, static_cast<int>(stages));
    for (int i = 0; i < early; i++)
        copy_weights(i);
    wait_for_last_launch();
    for (int i = 0; i < early; i++)
        copy_x(i);
    unsigned stage = 0;
    bool odd = false;
    for (int i = early; i < of.count; i++) {
        wait_for(of.empty + stage * 8, odd);
        copy_weights(stage);
        copy_x(stage);
        stage = (stage + 1) % stages;
        odd ^= stage == 0;
    }
}

/* A warpgroup multiplies its part. */
template <pwl_qgemm_format format, bool bf16, bool exponents>
__device__ void multiply(const pwl_qgemm_call &call, const ring &of, const uint8_t *memory, uint32_t here,
                         unsigned warp, size_t n, float (&sums)[groups][4])
{
    const mma::decoder<format, bf16, exponents, 1> weights(call, n + warp * 16);
    const bool first_lane = threadIdx.x % 32 == 0;
    const uint8_t *const codes_at = memory + (of.w - here) + warp * mma::code_bytes(format);
    const uint8_t *const scales_at = memory + (of.w - here) + codes_bytes(format) + warp * mma::scale_bytes(format);
    pwl_fragment a[2][mma::steps];
    unsigned stage = 0;
    bool odd = false;
    const auto add = [&](int i, pwl_fragment(&a)[mma::steps]) {
        wait_for_multiplications<1>();
        if (i >= 2 && first_lane)
            arrive(of.empty + (stage + stages - 2) % stages * 8); /* two pieces ago */
        wait_for(of.full + stage * 8, odd);
        mma::codes<format, 1> codes;
        codes.load(codes_at + stage * w_bytes(format), scales_at + stage * w_bytes(format));
#pragma unroll
        for (unsigned step = 0; step < mma::steps; step++)
            a[step] = weights.fragment(codes, 0, step);
        begin_multiplications();
#pragma unroll
        for (unsigned step = 0; step < mma::steps; step++)
            multiply_add<bf16 ? hopper::elements::bf16 : hopper::elements::f16>(
                sums, a[step].r, matrix_at(of.x + stage * x_bytes + step * 32));
        close_multiplications();
        stage = (stage + 1) % stages;
        odd ^= stage == 0;
    };
    hold(sums);
    int i = 0;
    for (; i + 1 < of.count; i += 2) { /* operands of neighbouring pieces are in different registers */
        add(i, a[0]);
        add(i + 1, a[1]);
    }
    if (i < of.count)
        add(i, a[0]);
    wait_for_multiplications<0>();
    hold(sums);
}

/*
 * Adds the parts of both blocks and puts Y where it belongs, each block every second row of X. What it has of the other
 * rows, it puts in the other's shared memory first. A thread has a row of weights and every eighth row of X.
 */
template <bool exponents>
__device__ void store(const pwl_qgemm_call &call, size_t n, unsigned rank, const float *sums, const float *others)
{
    constexpr unsigned at_once = multiplying / rows, count = groups * 8 / ranks / at_once;
    const unsigned column = threadIdx.x % rows, first = threadIdx.x / rows;
    const bool works = threadIdx.x < multiplying;
    const auto own = [&](unsigned m) {
        float sum = 0;
#pragma unroll
        for (unsigned part = 0; part < parts; part++)
            sum += sums[(part * groups * 8 + m) * pitch + column];
        return sum;
    };
    if (works) {
        const uint32_t there = address_in(1 - rank, shared_address(others + first * pitch + column));
#pragma unroll
        for (unsigned i = 0; i < count; i++)
            store_in_cluster(there + i * at_once * pitch * sizeof(float),
                             own((first + i * at_once) * ranks + 1 - rank));
    }
    const size_t row = n + column;
    const bool inside = works && row < call.weights.n;
    const float bias = inside ? pwl_qgemm_bias_f32(&call.product, &call.epilogue.as, row) : 0;
    const int e = exponents && inside ? pwl_qgemm_row_exponent(&call.weights, row) : 0;
    arrive_at_cluster();
    wait_for_cluster();
    if (!works)
        return;
    float complete[count];
#pragma unroll
    for (unsigned i = 0; i < count; i++) {
        const unsigned j = first + i * at_once;
        complete[i] = own(j * ranks + rank) + others[j * pitch + column];
    }
#pragma unroll
    for (unsigned i = 0; i < count; i++) {
        const unsigned m = (first + i * at_once) * ranks + rank;
        if (m >= call.product.m)
            break;
        const float y = pwl_qgemm_finish(complete[i], e + (call.f ? call.f[m] : 0), bias);
        pwl_device_store_lanes(call, inside, m, row, y);
    }
}

#endif

/* Bounded to a single thread where it has no code: the host asks for that. */
template <pwl_qgemm_format format, bool bf16, bool exponents>
__global__ void __launch_bounds__(PWL_IS_HOPPER ? threads : 1, 1)
    product(const __grid_constant__ pwl_qgemm_call call, const __grid_constant__ CUtensorMap x)
{
#if PWL_IS_HOPPER
    extern __shared__ __align__(1024) uint8_t memory[]; /* as X's eight rows of 128 bytes are */
    const uint32_t here = shared_address(memory);
    const unsigned rank = blockIdx.x % ranks, warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
    const bool multiplies = warp < parts * part_warps;
    const unsigned part = multiplies ? warp / part_warps : warp - parts * part_warps;
    const size_t n = size_t{blockIdx.x / ranks} * rows;
    const ring of = ring_of<format>(call, here, rank, part);
    float *const sums_at = reinterpret_cast<float *>(memory);
    arrive_at_cluster();
    start_next_launch();
    if (!multiplies && threadIdx.x % 32 == 0) {
        for (unsigned i = 0; i < stages; i++) {
            init_barrier(of.full + i * 8, 1);
            init_barrier(of.empty + i * 8, part_warps);
        }
        show_barriers();
    }
    __syncthreads();
    float sums[groups][4] = {};
    if (multiplies)
        multiply<format, bf16, exponents>(call, of, memory, here, warp % part_warps, n, sums);
    else if (threadIdx.x % 32 == 0)
        fill<format>(call, x, of, n);
    __syncthreads();
    if (multiplies) {
        const unsigned lane = threadIdx.x % 32;
        mma::put_fragments<pitch>(sums, sums_at + part * groups * 8 * pitch, lane % 4 * 2,
                                  warp % part_warps * 16 + lane / 4);
    }
    __syncthreads();
    wait_for_cluster(); /* the other block has begun */
    store<exponents>(call, n, rank, sums_at, reinterpret_cast<const float *>(memory + others_at(format)));
#endif
}

} // namespace

int pwl_cuda_launch_qgemm_splitk_wgmma(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const size_t blocks = ((call->weights.n - 1) / rows + 1) * ranks;
    int most_threads, ptx;
    CUtensorMap x;
    const cudaError_t error =
        attributes_of(reinterpret_cast<const void *>(product<PWL_QGEMM_Q4_0, false, false>), &most_threads, &ptx);
    if (error != cudaSuccess)
        return error;
    if (most_threads < static_cast<int>(threads) || blocks > INT32_MAX ||
        !describe_matrix<uint16_t>(&x, call->h, call->product.m, call->weights.k, call->h_stride, 128,
                                   static_cast<unsigned>(call->product.m)))
        return cudaErrorNotSupported;
    return mma::variant_of(call, [&](auto v) -> int {
        using variant = decltype(v);
        constexpr unsigned bytes = shared_bytes(variant::format);
        void (*const kernel)(pwl_qgemm_call, CUtensorMap) = product<variant::format, variant::bf16, variant::exponents>;
        return launch_overlapped(true, ranks, kernel, dim3(static_cast<unsigned>(blocks)), threads, bytes, stream,
                                 *call, x);
    });
}
