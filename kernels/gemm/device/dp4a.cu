/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W4A8, W8A8 and INT8 by dp4a, four products of bytes at a time. A thread block has 128 rows of weights, a piece of
 * gemm/layout.h, and 64 of X; both go through shared memory as bytes, 64 columns at a time, in the order of the packed
 * words. A thread has 8 x 4 elements of Y. Sums are in the order of the naive kernel, and have its bits.
 */
#include "fragment.cuh"
#include "launch.cuh"
#include "numbers.cuh"
#include "store.cuh"

namespace
{

constexpr unsigned threads = 256, tokens = 64, apart = 16; /* a thread's elements are so far apart, both ways */
constexpr unsigned w_each = PWL_QGEMM_ROWS / apart, x_each = tokens / apart;
constexpr unsigned words = PWL_QGEMM_COLUMNS / 4; /* to a row */
constexpr unsigned pitch = words + 2;             /* so that 16 rows' pairs of words lie in 32 banks */

static_assert(PWL_QGEMM_ROWS * 2 == threads, "a thread has a lane of a tile, and a scale");

/* Words 4 t + s of a row are those of lane t and step s. */
struct stage {
    alignas(8) uint32_t w[PWL_QGEMM_ROWS][pitch];
    alignas(8) uint32_t x[tokens][pitch];
    float w_scale[2][PWL_QGEMM_ROWS], x_scale[2][tokens], x_sum[2][tokens]; /* of both blocks of 32 columns */
};

/* What becomes of bytes and of the sums of their products. A8; `stored`: with the s of Q8_1. */
template <bool stored> struct blocks {
    static constexpr bool scaled = true, from_zero = stored;

    /* The word of lane t, of 16 columns. */
    static __device__ uint32_t input(const pwl_qgemm_call &call, size_t m, size_t column, unsigned t)
    {
        const pwl_block_q8_1 &q = call.q[m * call.q_stride + column / PWL_BLOCK];
        const uint16_t *const pairs = reinterpret_cast<const uint16_t *>(&q.qs[column % PWL_BLOCK]) + t;
        return pwl_fragment_input(pairs[0], pairs[4]);
    }
    static __device__ void load_scale(const pwl_qgemm_call &call, size_t m, size_t block, unsigned row, stage *s)
    {
        const pwl_block_q8_1 &q = call.q[m * call.q_stride + block];
        s->x_scale[block % 2][row] = pwl_f32_from_f16(q.d);
        if (stored)
            s->x_sum[block % 2][row] = pwl_f32_from_f16(q.s);
    }
    static __device__ float add(const stage &s, unsigned block, unsigned m, unsigned n, int sum, float all)
    {
        const float x_sum = stored ? s.x_sum[block][m] : 0;
        return pwl_device_add_block<stored>(s.w_scale[block][n], s.x_scale[block][m], x_sum, sum, all);
    }
    static __device__ float y(const pwl_qgemm_call &call, size_t n, int, float all)
    {
        return pwl_device_y(call, n, all, 0);
    }
};

/* INT8: one sum over the whole of K. */
struct integers {
    static constexpr bool scaled = false, from_zero = false;

    static __device__ uint32_t input(const pwl_qgemm_call &call, size_t m, size_t column, unsigned t)
    {
        const uint8_t *const x = static_cast<const uint8_t *>(call.product.x.data) + m * call.product.x.stride + column;
        return pwl_qgemm_gather(PWL_QGEMM_ROWS8, x, t);
    }
    static __device__ void load_scale(const pwl_qgemm_call &, size_t, size_t, unsigned, stage *)
    {
    }
    static __device__ float add(const stage &, unsigned, unsigned, unsigned, int, float)
    {
        return 0;
    }
    static __device__ int64_t y(const pwl_qgemm_call &call, size_t n, int sum, float)
    {
        return pwl_device_y(call, n, sum);
    }
};

/* The piece of weights: a lane's words of each of the eight tiles go to its two rows. */
template <pwl_qgemm_format format, bool from_zero>
__device__ void load_weights(const pwl_qgemm_call &call, size_t n, size_t column, stage *s)
{
    constexpr bool is_wide = pwl_qgemm_bits(format) == 8;
    const unsigned tile = threadIdx.x / 32, lane = threadIdx.x % 32, word = lane % 4 * 4;
    const unsigned row = tile * 16 + pwl_qgemm_row_of_lane(format, lane / 4);
    const uint8_t *const piece =
        static_cast<const uint8_t *>(call.weights.memory) + pwl_qgemm_piece_at(format, call.weights.k, n, column);
    const uint8_t *const from = piece + tile * pwl_qgemm_tile_bytes(format) + lane * 16;
    uint32_t codes[is_wide ? 8 : 4];
    for (unsigned i = 0; i < sizeof codes / 16; i++)
        reinterpret_cast<uint4 *>(codes)[i] = *reinterpret_cast<const uint4 *>(from + i * 512);
#pragma unroll
    for (unsigned step = 0; step < 4; step++) {
        const pwl_bytes8 both = is_wide ? pwl_fragment_bytes(format, from_zero, codes[step * 2], codes[step * 2 + 1])
                                        : pwl_fragment_bytes(format, from_zero, codes[step], 0);
        s->w[row][word + step] = both.w[0];
        s->w[row + pwl_qgemm_rows_apart(format)][word + step] = both.w[1];
    }
    if (pwl_qgemm_is_rows(format))
        return;
    const uint16_t *const scales =
        reinterpret_cast<const uint16_t *>(piece + PWL_QGEMM_TILES * pwl_qgemm_tile_bytes(format));
    const unsigned r = threadIdx.x % PWL_QGEMM_ROWS, block = threadIdx.x / PWL_QGEMM_ROWS;
    s->w_scale[block][r] = pwl_f32_from_f16(scales[pwl_qgemm_scale_at(format, r, block)]);
}

/* 64 columns of X, or 32 at its end; zeros for rows that there are not. */
template <class way> __device__ void load_input(const pwl_qgemm_call &call, size_t m, size_t column, stage *s)
{
    for (unsigned i = threadIdx.x; i < tokens * words; i += threads) {
        const unsigned row = i / words, t = i % words / 4, step = i % 4;
        const bool there = m + row < call.product.m && column + step * 16 < call.weights.k;
        s->x[row][i % words] = there ? way::input(call, m + row, column + step * 16, t) : 0;
    }
    const unsigned row = threadIdx.x % tokens, block = threadIdx.x / tokens;
    if (block < 2 && m + row < call.product.m && column + block * PWL_BLOCK < call.weights.k)
        way::load_scale(call, m + row, column / PWL_BLOCK + block, row, s);
}

/* One block of 32 columns: steps 2 block and 2 block + 1 of every lane. */
__device__ void add_block(const stage &s, unsigned block, unsigned m, unsigned n, int (&sums)[x_each][w_each])
{
#pragma unroll
    for (unsigned t = 0; t < 4; t++) {
        uint2 w[w_each], x[x_each];
#pragma unroll
        for (unsigned i = 0; i < w_each; i++)
            w[i] = *reinterpret_cast<const uint2 *>(&s.w[n + i * apart][t * 4 + block * 2]);
#pragma unroll
        for (unsigned i = 0; i < x_each; i++)
            x[i] = *reinterpret_cast<const uint2 *>(&s.x[m + i * apart][t * 4 + block * 2]);
#pragma unroll
        for (unsigned i = 0; i < x_each; i++) {
#pragma unroll
            for (unsigned j = 0; j < w_each; j++)
                sums[i][j] = pwl_dp4a(w[j].y, x[i].y, pwl_dp4a(w[j].x, x[i].x, sums[i][j]));
        }
    }
}

template <pwl_qgemm_format format, class way>
__global__ void __launch_bounds__(threads, 2) dp4a(const __grid_constant__ pwl_qgemm_call call)
{
    __shared__ stage s;
    const size_t n = size_t{blockIdx.x} * PWL_QGEMM_ROWS;
    const unsigned n_mine = threadIdx.x % apart, m_mine = threadIdx.x / apart;
    for (size_t m = size_t{blockIdx.y} * tokens; m < call.product.m; m += size_t{gridDim.y} * tokens) {
        int sums[x_each][w_each] = {};
        float all[x_each][w_each] = {};
        for (size_t column = 0; column < call.weights.k; column += PWL_QGEMM_COLUMNS) {
            __syncthreads(); /* the last columns have been used */
            load_weights<format, way::from_zero>(call, n, column, &s);
            load_input<way>(call, m, column, &s);
            __syncthreads();
            for (unsigned block = 0; block < 2 && column + block * PWL_BLOCK < call.weights.k; block++) {
                add_block(s, block, m_mine, n_mine, sums);
#pragma unroll
                for (unsigned i = 0; i < x_each && way::scaled; i++) {
#pragma unroll
                    for (unsigned j = 0; j < w_each; j++) {
                        all[i][j] = way::add(s, block, m_mine + i * apart, n_mine + j * apart, sums[i][j], all[i][j]);
                        sums[i][j] = 0;
                    }
                }
            }
        }
#pragma unroll
        for (unsigned i = 0; i < x_each; i++) {
#pragma unroll
            for (unsigned j = 0; j < w_each; j++) {
                const size_t row = m + m_mine + i * apart, column = n + n_mine + j * apart;
                const bool inside = row < call.product.m && column < call.weights.n;
                decltype(way::y(call, column, 0, 0)) y = 0;
                if (inside)
                    y = way::y(call, column, sums[i][j], all[i][j]);
                pwl_device_store_lanes(call, inside, row, column, y);
            }
        }
    }
}

typedef void kernel(const pwl_qgemm_call call);

kernel *kernel_of(const pwl_qgemm_call *call)
{
    if (call->weights.format == PWL_QGEMM_ROWS8)
        return dp4a<PWL_QGEMM_ROWS8, integers>;
    if (call->weights.format == PWL_QGEMM_ROWS4)
        return dp4a<PWL_QGEMM_ROWS4, integers>;
    if (call->weights.format == PWL_QGEMM_Q8_0)
        return dp4a<PWL_QGEMM_Q8_0, blocks<false>>;
    return call->product.sums == PWL_QGEMM_SUMS_STORED ? dp4a<PWL_QGEMM_Q4_0, blocks<true>>
                                                       : dp4a<PWL_QGEMM_Q4_0, blocks<false>>;
}

} // namespace

int pwl_cuda_launch_qgemm_dp4a(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return pwl::launch_grid(kernel_of(call), call, call->weights.n, PWL_QGEMM_ROWS, tokens, dim3(threads), stream);
}
