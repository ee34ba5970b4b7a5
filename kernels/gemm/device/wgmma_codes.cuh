/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the sums of wgmma to codes of 8 or 16 bits, or to halves that a table gives, without a turn through floats in
 * shared memory: what the table gives of a lane's sums goes there, and from there to Y, 16 bytes a thread.
 *
 * Matrices of 8 x 8 16-bit elements are stored transposed, so that rows of X become rows of shared memory. An element
 * is a value of 16 bits, or two codes of 8 bits, those of rows r and r + 8 of the weights' 16, which a lane has
 * together.
 *
 * Only for y that are finite: a thread that meets another says so, and all of Y of the tile is made anew elsewhere.
 */
#ifndef PWL_QGEMM_WGMMA_CODES_CUH
#define PWL_QGEMM_WGMMA_CODES_CUH

#include "epilogue.cuh"
#include "wgmma_sums.cuh"

namespace pwl
{
namespace wgmma
{

/* Whether Y is such, in rows that begin and end with whole 16 bytes. */
inline bool makes_codes(const pwl_qgemm_call *call)
{
    const pwl_qgemm_output &y = call->product.y;
    const unsigned bytes = call->fast.y_bytes, together = 16 / bytes;
    return call->table.memory && call->fast.way != PWL_QGEMM_BY_SEARCH && !call->epilogue.as.gated && bytes <= 2 &&
           reinterpret_cast<uintptr_t>(y.data) % 16 == 0 && y.stride % together == 0 && call->weights.n % together == 0;
}

#if PWL_IS_HOPPER

/* Two values of 16 bits in a word: what a table gives, codes or halves. */
template <class table_type> struct pairs_of_words {
    static constexpr bool finite = true;
    table_type table;

    __device__ uint32_t operator()(float first, float second) const
    {
        return __byte_perm(table.word(first), table.word(second), 0x5410);
    }
};

/* By the lines of a table from all codes of 16 bits to all codes of 16 bits. */
template <fit all> struct pairs_of_codes {
    static constexpr bool finite = false;
    mma::by_line table;

    __device__ uint32_t operator()(float first, float second) const
    {
        return saturate_pair<all>(table.value16(first), table.value16(second));
    }
};

/* Real numbers by the lines of a table. */
template <pwl_qgemm_type type> struct pairs_of_reals {
    static constexpr bool finite = true;
    mma::by_line table;

    __device__ uint32_t operator()(float first, float second) const
    {
        return mma::halves_of<type>(table.real(first), table.real(second));
    }
};

/* y of 16 rows of weights and 8 of X, as a lane has its four sums, and whether all were finite. */
struct lane_values {
    const int8_t *units; /* of this lane's first row of X, a byte each */
    float bias[2];
    float other = 0; /* finite while every y was, and none beyond 10^18 */

    __device__ lane_values(const pwl_qgemm_call &call, size_t n, const int8_t *units_at)
        : units(units_at + threadIdx.x % 4 * 2)
    {
        const size_t first = n + row_of_lane();
#pragma unroll
        for (unsigned i = 0; i < 2; i++)
            bias[i] = first + i * 8 < call.weights.n
                          ? pwl_qgemm_bias_f32(&call.product, &call.epilogue.as, first + i * 8)
                          : 0;
    }

    /* Rows of X first[0], next; then the same of 8 rows of weights on. */
    template <bool finite> __device__ void find(const float (&sums)[4], unsigned group, float (&y)[4])
    {
        const char2 f = *reinterpret_cast<const char2 *>(units + group * 8);
        const float unit[2] = {pwl_device_power(f.x), pwl_device_power(f.y)};
#pragma unroll
        for (unsigned c = 0; c < 4; c++)
            y[c] = mma::y_of(sums[c], unit[c % 2], bias[c / 2]);
        if (finite)
            other = fmaf(y[0], y[1], fmaf(y[2], y[3], other));
    }
};

constexpr unsigned chunks_of_row = 8; /* of 16 bytes, in 128 */

/* 16-byte chunk c of row r of rows of 128 bytes: no two of 8 rows, nor of 8 chunks, in the same banks. */
__device__ inline uint32_t chunk_at(uint32_t rows, unsigned r, unsigned c)
{
    return rows + r * 128 + (c ^ r % 8) * 16;
}

/* 8 bits: rows of shared memory are 128 rows of weights, a chunk is a warp's 16 of them, those of r and r + 8 together.
 */
struct as_bytes {
    static constexpr unsigned bytes = 1, tokens = 128; /* rows of X at a time */

    template <class way, unsigned all>
    static __device__ void put(const way &by, lane_values &lane, const float (&sums)[all][4], unsigned first,
                               uint32_t to)
    {
        const unsigned l = threadIdx.x % 32, warp = threadIdx.x / 32;
        const auto word = [&](float y) { return by.table.word(y); };
#pragma unroll
        for (unsigned g = 0; g < tokens / 8; g += 4) {
            uint32_t r[4];
#pragma unroll
            for (unsigned i = 0; i < 4; i++) {
                float y[4];
                lane.find<way::finite>(sums[first + g + i], first + g + i, y);
                r[i] = __byte_perm(__byte_perm(word(y[0]), word(y[2]), 0x0040),
                                   __byte_perm(word(y[1]), word(y[3]), 0x0040), 0x5410);
            }
            store_matrices_transposed(chunk_at(to, g * 8 + l, warp), r);
        }
    }

    static __device__ uint4 get(const uint8_t *memory, unsigned row, unsigned chunk)
    {
        const uint4 v = *reinterpret_cast<const uint4 *>(memory + chunk_at(0, row, chunk));
        return make_uint4(__byte_perm(v.x, v.y, 0x6420), __byte_perm(v.z, v.w, 0x6420), __byte_perm(v.x, v.y, 0x7531),
                          __byte_perm(v.z, v.w, 0x7531));
    }
};

/* 16 bits: each warpgroup has rows of its own, of its 64 rows of weights. */
struct as_halves {
    static constexpr unsigned bytes = 2, tokens = 64;

    template <class way, unsigned all>
    static __device__ void put(const way &by, lane_values &lane, const float (&sums)[all][4], unsigned first,
                               uint32_t to)
    {
        const unsigned l = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
        const uint32_t own = to + threadIdx.x / group_threads * tokens * 128;
#pragma unroll
        for (unsigned g = 0; g < tokens / 8; g += 2) {
            uint32_t r[4];
#pragma unroll
            for (unsigned i = 0; i < 2; i++) {
                float y[4];
                lane.find<way::finite>(sums[first + g + i], first + g + i, y);
                r[i * 2] = by(y[0], y[1]);
                r[i * 2 + 1] = by(y[2], y[3]);
            }
            store_matrices_transposed(chunk_at(own, g * 8 + l / 16 * 8 + l % 8, warp * 2 + l / 8 % 2), r);
        }
    }

    static __device__ uint4 get(const uint8_t *memory, unsigned row, unsigned chunk)
    {
        return *reinterpret_cast<const uint4 *>(memory + chunk / chunks_of_row * tokens * 128 +
                                                chunk_at(0, row, chunk % chunks_of_row));
    }
};

/* A tile, by way of shared memory at `memory`, some rows of X at a time; false where some y was not finite. */
template <class shape, class as, class way>
__device__ bool store_codes(const pwl_qgemm_call &call, size_t m, size_t n, const int8_t *units, uint8_t *memory,
                            const way &by, const float (&sums)[shape::tokens / 8][4])
{
    constexpr unsigned across = chunks_of_row * as::bytes, together = 16 / as::bytes;
    const pwl_qgemm_output &y = call.product.y;
    const unsigned rows = static_cast<unsigned>(min(size_t{shape::tokens}, call.product.m - m));
    lane_values lane(call, n, units);
#pragma unroll
    for (unsigned first = 0; first < shape::tokens; first += as::tokens) {
        meet(meet_all, multiplying); /* all are through with what was here */
        as::put(by, lane, sums, first / 8, shared_address(memory));
        meet(meet_all, multiplying);
#pragma unroll
        for (unsigned i = 0; i < as::tokens * across / multiplying; i++) {
            const unsigned at = i * multiplying + threadIdx.x, row = at / across, chunk = at % across;
            const size_t column = n + chunk * together;
            if (first + row < rows && column < call.weights.n)
                *reinterpret_cast<uint4 *>(static_cast<uint8_t *>(y.data) +
                                           ((m + first + row) * y.stride + column) * as::bytes) =
                    as::get(memory, row, chunk);
        }
    }
    return !way::finite || !meet_if_any(meet_all, multiplying, !(lane.other * 0 == 0));
}

/* In the way that suits Y and the table. */
template <class shape>
__device__ bool store_codes(const pwl_qgemm_call &call, size_t m, size_t n, const int8_t *units, uint8_t *memory,
                            const char *table, const float (&sums)[shape::tokens / 8][4])
{
    const pwl_qgemm_type type = call.product.y.type;
    const auto store = [&](auto as, auto by) {
        return store_codes<shape, decltype(as)>(call, m, n, units, memory, by, sums);
    };
    if (call.fast.way == PWL_QGEMM_BY_VALUE) {
        const pairs_of_words<mma::by_entry> entries = {mma::by_entry(call, table)};
        return call.fast.y_bytes == 1 ? store(as_bytes(), entries) : store(as_halves(), entries);
    }
    const mma::by_line lines(call, table);
    return call.fast.y_bytes == 1   ? store(as_bytes(), pairs_of_words<mma::by_line>{lines})
           : type == PWL_QGEMM_F16  ? store(as_halves(), pairs_of_reals<PWL_QGEMM_F16>{lines})
           : type == PWL_QGEMM_BF16 ? store(as_halves(), pairs_of_reals<PWL_QGEMM_BF16>{lines})
           : !call.fast.all16       ? store(as_halves(), pairs_of_words<mma::by_line>{lines})
           : type == PWL_QGEMM_S16  ? store(as_halves(), pairs_of_codes<fit::all_signed>{lines})
                                    : store(as_halves(), pairs_of_codes<fit::all_unsigned>{lines});
}

#endif

} // namespace wgmma
} // namespace pwl

#endif
