/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W4A8, W8A8 and INT8 by tensor cores that multiply bytes, mma.m16n8k32. A thread block has 128 rows of weights and up
 * to 64 of X; each of its four warps 32 rows of weights and all of X, as in qgemm_mma.cuh. X lies in the order of
 * qgemm_layout.h: a lane's 16 bytes are operand B of 64 columns and 8 rows. Sums of A8 are in the order of the naive
 * kernel, and have its bits.
 */
#include "qgemm_mma.cuh"

namespace
{

using namespace pwl;
using mma::codes;
using mma::piece_bytes;
using mma::stages;
using mma::threads;
using mma::tiles;

constexpr unsigned many = 8, few = 1; /* groups of 8 rows of X */

/* What a stage has of a row of X: codes, and of A8 d and sum of two blocks. */
constexpr unsigned code_bytes = PWL_QGEMM_COLUMNS, scale_bytes = code_bytes / 8;

__host__ __device__ constexpr unsigned stage_bytes(pwl_qgemm_format format, unsigned groups)
{
    return groups * 8 * (code_bytes + scale_bytes) + piece_bytes(format);
}

__host__ __device__ constexpr unsigned shared_bytes(pwl_qgemm_format format, unsigned groups)
{
    const unsigned sums = groups * 8 * mma::pitch * sizeof(float), all = stages * stage_bytes(format, groups);
    return all > sums ? all : sums;
}

static_assert(2 * shared_bytes(PWL_QGEMM_Q8_0, many) <= 163 << 10, "two blocks in a multiprocessor of 8.0");

/* c + a * b */
__device__ void multiply_add(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, const int32_t (&c)[4])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " /* d = c + a * b */
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

/* Starts to copy `bytes` that lie together, zeros in place of those from `present` on. Both are multiples of 16. */
template <unsigned bytes> __device__ void copy_run(uint32_t to, const uint8_t *from, size_t present)
{
#pragma unroll
    for (unsigned i = 0; i < bytes; i += threads * 16) {
        const unsigned at = i + threadIdx.x * 16;
        if (i + threads * 16 <= bytes || at < bytes)
            copy_async_if(at < present, to + at, from + at);
    }
}

/* Fills a stage with a piece, if there is such; a group of copies in any case. */
template <pwl_qgemm_format format, unsigned groups>
__device__ void load(const pwl_qgemm_call &call, size_t m, size_t n, uint32_t piece, uint32_t stage)
{
    const size_t m_all = call.product.m, k = call.weights.k, column = size_t{piece} * PWL_QGEMM_COLUMNS;
    const size_t rows = pwl_qgemm_round_up(m_all, PWL_QGEMM_TOKENS) - m;
    if (column < k) {
        copy_run<groups * 8 * code_bytes>(stage, call.bytes + pwl_qgemm_input_at(m_all, m, column), rows * code_bytes);
        stage += groups * 8 * code_bytes;
        if (format != PWL_QGEMM_ROWS8)
            copy_run<groups * 8 * scale_bytes>(stage, call.bytes + pwl_qgemm_input_scale_at(m_all, k, m, column),
                                               rows * scale_bytes);
        stage += groups * 8 * scale_bytes;
        copy_run<piece_bytes(format)>(
            stage, static_cast<const uint8_t *>(call.weights.memory) + pwl_qgemm_piece_at(format, k, n, column),
            piece_bytes(format));
    }
    close_group();
}

/* Operands A of a piece: its two blocks of 32 columns, and of A8 the scales of rows g and g + 8. */
template <pwl_qgemm_format format> struct operand {
    uint32_t a[tiles][2][4];
    float d[tiles][2][2];

    __device__ void load(const uint8_t *piece)
    {
        codes<format> of;
        of.load(piece);
#pragma unroll
        for (unsigned t = 0; t < tiles; t++) {
#pragma unroll
            for (unsigned step = 0; step < 4; step++) {
                constexpr unsigned each = codes<format>::is_wide ? 2 : 1;
                const uint32_t *const words = of.words[t] + step * each;
                const pwl_bytes8 rows = pwl_fragment_bytes(format, 0, words[0], words[each - 1]);
                a[t][step / 2][step % 2 * 2] = rows.w[0];
                a[t][step / 2][step % 2 * 2 + 1] = rows.w[1];
            }
            for (unsigned i = 0; i < 4 && format != PWL_QGEMM_ROWS8; i++)
                d[t][i / 2][i % 2] = pwl_f32_from_f16(static_cast<uint16_t>(of.scales[t][i / 2] >> i % 2 * 16));
        }
    }
};

/* A piece of INT8 into sums over the whole of K. */
template <pwl_qgemm_format format, unsigned groups>
__device__ void add(const operand<format> &w, const uint8_t *x, int32_t (&sums)[tiles][groups][4])
{
#pragma unroll
    for (unsigned g = 0; g < groups; g++) {
        const uint4 b = reinterpret_cast<const uint4 *>(x + g * 8 * code_bytes)[threadIdx.x % 32];
#pragma unroll
        for (unsigned t = 0; t < tiles; t++) {
            multiply_add(sums[t][g], w.a[t][0], b.x, b.y, sums[t][g]);
            multiply_add(sums[t][g], w.a[t][1], b.z, b.w, sums[t][g]);
        }
    }
}

/*
 * A piece of A8, block by block into sums in floats. A block's sum, at most 2^19, is counted from the bits of 1.5 *
 * 2^23, whose units they are: taken for a float, less that number, it needs no conversion.
 */
template <pwl_qgemm_format format, unsigned groups>
__device__ void add(const operand<format> &w, const uint8_t *x, float (&sums)[tiles][groups][4])
{
    const int32_t zero[4] = {0x4b400000, 0x4b400000, 0x4b400000, 0x4b400000};
    const uint8_t *const scales = x + groups * 8 * code_bytes;
#pragma unroll
    for (unsigned g = 0; g < groups; g++) {
        const uint4 b = reinterpret_cast<const uint4 *>(x + g * 8 * code_bytes)[threadIdx.x % 32];
        /* d and sum of both blocks of rows 2t and 2t + 1. */
        const uint4 s = reinterpret_cast<const uint4 *>(scales + g * 8 * scale_bytes)[threadIdx.x % 4];
        const float d[2][2] = {
            {pwl_f32_from_f16(static_cast<uint16_t>(s.x)), pwl_f32_from_f16(static_cast<uint16_t>(s.z))},
            {pwl_f32_from_f16(static_cast<uint16_t>(s.y)), pwl_f32_from_f16(static_cast<uint16_t>(s.w))}};
#pragma unroll
        for (unsigned t = 0; t < tiles; t++) {
#pragma unroll
            for (unsigned block = 0; block < 2; block++) {
                int32_t sum[4];
                multiply_add(sum, w.a[t][block], block ? b.z : b.x, block ? b.w : b.y, zero);
#pragma unroll
                for (unsigned c = 0; c < 4; c++)
                    sums[t][g][c] = fmaf(__fmul_rn(w.d[t][block][c / 2], d[block][c % 2]),
                                         __int_as_float(sum[c]) - 12582912, sums[t][g][c]);
            }
        }
    }
}

template <pwl_qgemm_format format, unsigned groups>
__global__ void __launch_bounds__(threads, 2) product(const __grid_constant__ pwl_qgemm_call call, uint32_t across)
{
    typedef std::conditional_t<format == PWL_QGEMM_ROWS8, int32_t, float> number;
    constexpr unsigned bytes = stage_bytes(format, groups), piece_at = groups * 8 * (code_bytes + scale_bytes);
    extern __shared__ uint4 shared[];
    uint8_t *const memory = reinterpret_cast<uint8_t *>(shared);
    const uint32_t first = shared_address(memory), depth = static_cast<uint32_t>(pwl_qgemm_depth(call.weights.k));
    const size_t n = size_t{blockIdx.x % across} * PWL_QGEMM_ROWS, m = size_t{blockIdx.x / across} * groups * 8;
    number sums[tiles][groups][4] = {};
    operand<format> weights;

#pragma unroll
    for (unsigned i = 0; i < stages - 1; i++)
        load<format, groups>(call, m, n, i, first + i * bytes);
    for (uint32_t piece = 0, at = 0; piece < depth; piece++, at = at + 1 == stages ? 0 : at + 1) {
        wait_for_all_but<stages - 2>();
        __syncthreads(); /* the piece is there, and the one before it was used */
        load<format, groups>(call, m, n, piece + stages - 1, first + (at == 0 ? stages - 1 : at - 1) * bytes);
        weights.load(memory + at * bytes + piece_at);
        add<format, groups>(weights, memory + at * bytes, sums);
    }
    wait_for_all_but<0>();
    __syncthreads();

    const number *const y = mma::turn<number, groups>(memory, sums);
    const size_t column = n + threadIdx.x;
    const unsigned count = mma::rows_from<groups>(call, m);
    if (column >= call.weights.n)
        return;
    if (format == PWL_QGEMM_ROWS8 || call.table.memory)
        mma::store_activated<false>(call, m, column, y, count);
    else if constexpr (format != PWL_QGEMM_ROWS8)
        mma::store_column(call, m, column, 0, y, count);
}

template <pwl_qgemm_format format, unsigned groups> int launch(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    constexpr unsigned bytes = shared_bytes(format, groups);
    return mma::launch<groups>(product<format, groups>, bytes, call, stream);
}

template <pwl_qgemm_format format> int launch(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->product.m > few * 8 ? launch<format, many>(call, stream) : launch<format, few>(call, stream);
}

} // namespace

int pwl_cuda_launch_qgemm_mma_bytes(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->weights.format == PWL_QGEMM_Q4_0   ? launch<PWL_QGEMM_Q4_0>(call, stream)
           : call->weights.format == PWL_QGEMM_Q8_0 ? launch<PWL_QGEMM_Q8_0>(call, stream)
                                                    : launch<PWL_QGEMM_ROWS8>(call, stream);
}
