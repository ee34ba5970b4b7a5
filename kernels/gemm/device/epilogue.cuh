/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the sums of a tile to Y, for the kernels whose sums are fragments of mma. Sums go through shared memory, a row
 * for each of X, so that Y is written along its rows; a thread has four neighbouring columns of every fourth row, and
 * several rows at a time. What a table needs comes to shared memory behind the sums meanwhile, unless it is there.
 *
 * The fast ways (gemm/fast.h) are for y that is not NaN. A thread that meets one which is not finite goes over its
 * rows once more, element by element; so do threads where Y is not aligned to four elements or ends within them.
 */
#ifndef PWL_QGEMM_EPILOGUE_CUH
#define PWL_QGEMM_EPILOGUE_CUH

#include <type_traits>

#include "arch/async.cuh"
#include "numbers.cuh"
#include "store.cuh"
#include "tile.cuh"
#include "values.cuh"

namespace pwl
{
namespace mma
{

/* y without exponents of rows of weights: one rounding, the product with 2^f being exact. */
__device__ inline float y_of(float sum, float unit, float bias)
{
    return fmaf(sum, unit, bias);
}

/* y or v of a row of weights, from the row of its sums. */
template <bool exponents>
__device__ float y_of(const pwl_qgemm_call &call, size_t m, size_t n, const float *sums, unsigned column)
{
    if (exponents)
        return pwl_device_y(call, n, sums[column], pwl_qgemm_row_exponent(&call.weights, n) + (call.f ? call.f[m] : 0));
    return y_of(sums[column], sums[unit_at], pwl_qgemm_bias_f32(&call.product, &call.epilogue.as, n));
}

template <bool exponents>
__device__ int64_t y_of(const pwl_qgemm_call &call, size_t, size_t n, const int32_t *sums, unsigned column)
{
    return pwl_device_y(call, n, sums[column]);
}

/* Some elements of a tile's Y, at row m and row n of the weights: rows from `row` on, `step` apart, below `rows`. */
struct share {
    size_t m, n;
    unsigned rows, row, step, column, columns; /* columns of Y */
};

/* Element by element. */
template <bool exponents, class number>
__device__ void store_plainly(const pwl_qgemm_call &call, const share &of, const number *sums)
{
    const bool gated = call.epilogue.as.gated;
#pragma unroll 1
    for (unsigned row = of.row; row < of.rows; row += of.step) {
#pragma unroll 1
        for (unsigned k = of.column; k < of.column + of.columns; k++) {
            const unsigned column = gated ? static_cast<unsigned>(pwl_qgemm_gate_row(k)) : k;
            const size_t m = of.m + row, n = of.n + column;
            const number *const from = sums + row * pitch;
            if (n >= call.weights.n)
                break;
            const auto y = y_of<exponents>(call, m, n, from, column);
            pwl_device_store<false>(call, m, n, y,
                                    gated ? y_of<exponents>(call, m, n + 8, from, column + 8) : decltype(y){});
        }
    }
}

/* A column of Y in floats. */
template <bool exponents, pwl_qgemm_type type>
__device__ void store_column(const pwl_qgemm_call &call, size_t m, size_t n, unsigned rows, const float *sums)
{
    const pwl_qgemm_output &y = call.product.y;
    const unsigned column = thread_here();
    size_t at = m * y.stride + n + column;
    if (n + column >= call.weights.n)
        return;
#pragma unroll 4
    for (unsigned i = 0; i < rows; i++, at += y.stride)
        pwl_qgemm_store(type, y.data, at, y_of<exponents>(call, m + i, n + column, sums + i * pitch, column));
}

/* Four columns of Y, as a thread goes down them. */
struct four {
    const float *sums, *units; /* of the row */
    char *to;
    size_t to_apart; /* bytes from row to row of the share */
    unsigned row, rows;
    float bias[2][4]; /* up's are the second */
    float other;      /* finite while every y was, and none beyond 10^18 */

    __device__ four(const pwl_qgemm_call &call, const share &of, const float *tile)
    {
        const pwl_qgemm_product &p = call.product;
        const bool gated = call.epilogue.as.gated;
        const size_t first = pwl_qgemm_columns(of.n, gated) + of.column, bytes = call.fast.y_bytes;
        sums = tile + of.row * pitch + (gated ? pwl_qgemm_gate_row(of.column) : of.column);
        units = tile + of.row * pitch + unit_at;
        to = static_cast<char *>(p.y.data) + ((of.m + of.row) * p.y.stride + first) * bytes;
        to_apart = of.step * p.y.stride * bytes;
        row = of.row;
        rows = of.rows;
        other = 0;
        load_bias(p.bias, first, bias[0]);
        load_bias(gated ? call.epilogue.as.bias_up : nullptr, first, bias[1]);
    }

    static __device__ void load_bias(const void *from, size_t first, float (&to)[4])
    {
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
            to[k] = from ? static_cast<const float *>(from)[first + k] : 0;
    }
};

/* `count` rows of a share at once. */
template <int count, class way> __device__ void store_some(four &at, const way &by)
{
    constexpr unsigned step = way::gated ? 2 * warps : warps;
    float y[count][2][4];
    uint32_t words[count][4];
#pragma unroll
    for (int i = 0; i < count; i++) {
        /* A row that is not there would be anything, and not finite, or beyond the memory: the first one in its place.
         */
        const unsigned row = at.row + i * step < at.rows ? i * step * pitch : 0;
        const float unit = at.units[row];
#pragma unroll
        for (int which = 0; which <= way::gated; which++) {
            const float4 sum = *reinterpret_cast<const float4 *>(at.sums + row + which * 8);
            y[i][which][0] = y_of(sum.x, unit, at.bias[which][0]);
            y[i][which][1] = y_of(sum.y, unit, at.bias[which][1]);
            y[i][which][2] = y_of(sum.z, unit, at.bias[which][2]);
            y[i][which][3] = y_of(sum.w, unit, at.bias[which][3]);
#pragma unroll
            for (int k = 0; k < 4 && way::finite; k += 2)
                at.other = fmaf(y[i][which][k], y[i][which][k + 1], at.other);
        }
    }
#pragma unroll
    for (int i = 0; i < count; i++)
        by.find(y[i][0], y[i][way::gated], words[i]);
    destination<count> to = {at.to, at.to_apart, at.units + (inverse_at - unit_at), step * pitch, {}};
#pragma unroll
    for (int i = 0; i < count; i++)
        to.there[i] = at.row + i * step < at.rows;
    by.store(to, words);
    at.sums += count * step * pitch;
    at.units += count * step * pitch;
    at.to += count * at.to_apart;
    at.row += count * step;
}

/* All rows. */
template <unsigned groups, class way> __device__ void store_rows(four &at, const way &by)
{
    constexpr int each = groups * 8 / (way::gated ? 2 * warps : warps), most = way::rows; /* of a thread, at once */
#pragma unroll 1
    while (at.row < at.rows)
        store_some<(each < most ? each : most)>(at, by);
}

/* Four columns of some rows, where Y's rows are aligned to them; false where some y was not finite. */
template <unsigned groups>
__device__ bool store_fours(const pwl_qgemm_call &call, const share &of, const float *sums, const char *table)
{
    const bool by_value = call.fast.way == PWL_QGEMM_BY_VALUE;
    const pwl_qgemm_type type = call.product.y.type;
    four at(call, of, sums);
    if (!call.table.memory)
        type == PWL_QGEMM_F32    ? store_rows<groups>(at, as_floats<PWL_QGEMM_F32>())
        : type == PWL_QGEMM_F16  ? store_rows<groups>(at, as_floats<PWL_QGEMM_F16>())
        : type == PWL_QGEMM_BF16 ? store_rows<groups>(at, as_floats<PWL_QGEMM_BF16>())
                                 : store_rows<groups>(at, as_floats<PWL_QGEMM_E4M3>());
    else if (call.epilogue.as.gated)
        by_value ? store_rows<groups>(at, as_products<by_entry>(call, table))
                 : store_rows<groups>(at, as_products<by_line>(call, table));
    else if (by_value && type == PWL_QGEMM_E4M3)
        store_rows<groups>(at, as_reals<by_entry>(call, table));
    else if (by_value)
        call.fast.y_bytes == 1 ? store_rows<groups>(at, as_words<by_entry, 1>(call, table))
                               : store_rows<groups>(at, as_words<by_entry, 0>(call, table));
    else if (!pwl_qgemm_is_integer(type))
        store_rows<groups>(at, as_reals<by_line>(call, table));
    else if (type == PWL_QGEMM_S16 && call.fast.all16)
        store_rows<groups>(at, as_pairs<fit::all_signed>(call, table));
    else if (call.fast.all16)
        store_rows<groups>(at, as_pairs<fit::all_unsigned>(call, table));
    else
        store_rows<groups>(at, as_words<by_line, 0>(call, table));
    return at.other * 0 == 0;
}

/* Four columns of every fourth row, or, gated, of every eighth. */
__device__ inline share four_columns(size_t m, size_t n, unsigned rows, bool gated)
{
    const unsigned thread = thread_here(), lane = thread % 32, warp = thread / 32;
    if (gated)
        return {m, n, rows, warp * 2 + lane / 16, 2 * warps, lane % 16 * 4, 4};
    return {m, n, rows, warp, warps, lane * 4, 4};
}

/* A column, or, gated, every second row of one. */
__device__ inline share one_column(size_t m, size_t n, unsigned rows, bool gated)
{
    const unsigned thread = thread_here(), across = gated ? threads / 2 : threads;
    return {m, n, rows, thread / across, threads / across, thread % across, 1};
}

/* The sums of a tile, `rows` of them in Y. */
template <bool exponents, unsigned groups, class number>
__device__ void store_sums(const pwl_qgemm_call &call, size_t m, size_t n, unsigned rows, const number *sums,
                           const char *table)
{
    constexpr bool floats = std::is_same<number, float>::value;
    const bool gated = call.epilogue.as.gated, activates = call.table.memory;
    const pwl_qgemm_type type = call.product.y.type;
    share of = one_column(m, n, rows, gated);
    bool done = false;
    if constexpr (floats && !exponents) {
        if (call.fast.aligned && (!activates || call.fast.way != PWL_QGEMM_BY_SEARCH)) {
            of = four_columns(m, n, rows, gated);
            if (pwl_qgemm_columns(n, gated) + of.column + 4 <= pwl_qgemm_columns(call.weights.n, gated))
                done = store_fours<groups>(call, of, sums, table);
        }
    }
    if constexpr (floats) {
        if (!done && !activates && of.columns == 1 && type != PWL_QGEMM_E4M3) {
            type == PWL_QGEMM_F32   ? store_column<exponents, PWL_QGEMM_F32>(call, m, n, rows, sums)
            : type == PWL_QGEMM_F16 ? store_column<exponents, PWL_QGEMM_F16>(call, m, n, rows, sums)
                                    : store_column<exponents, PWL_QGEMM_BF16>(call, m, n, rows, sums);
            done = true;
        }
    }
    if (!done)
        store_plainly<exponents>(call, of, sums);
}

/* Of row m of Y in E4M3. */
__device__ inline float inverse_of(const pwl_qgemm_call &call, size_t m)
{
    return pwl_e4m3_inverse(call.product.y.scale[m]);
}

/* Sums into shared memory, 2^f of the rows, and inverses of their scales. */
template <class number, unsigned groups>
__device__ void put_sums(const pwl_qgemm_call &call, size_t m, unsigned rows, const sums_in<number, groups> &sums,
                         number *to)
{
    const unsigned thread = thread_here(), lane = thread % 32;
    const unsigned row = thread / 32 * tiles * 16 + row_of_sums<number>(lane), pair = lane % 4 * 2;
#pragma unroll
    for (unsigned t = 0; t < tiles; t++)
        put_fragments<pitch>(sums[t], to, pair, row + t * 16);
    if (std::is_same<number, float>::value && thread < groups * 8)
        to[thread * pitch + unit_at] = call.f && thread < rows ? pwl_device_power(call.f[m + thread]) : 1;
    if (std::is_same<number, float>::value && call.product.y.type == PWL_QGEMM_E4M3 && thread < rows)
        to[thread * pitch + inverse_at] = inverse_of(call, m + thread);
}

/*
 * Y of a tile, from where the stages were; some e of the weights are not 0 where there are exponents. What the table
 * takes is there already, table_at bytes on, unless that is 0.
 */
template <bool exponents, class number, unsigned groups>
__device__ void store_tile(const pwl_qgemm_call &call, size_t m, size_t n, uint8_t *memory, uint32_t table_at,
                           const sums_in<number, groups> &sums)
{
    constexpr bool fast = !exponents && std::is_same<number, float>::value;
    const unsigned rows = static_cast<unsigned>(min(size_t{groups * 8}, call.product.m - m));
    number *const at = reinterpret_cast<number *>(memory);
    char *const table = reinterpret_cast<char *>(memory) + (table_at ? table_at : sums_bytes(groups));
    table_loader loads;
    if (fast && !table_at) {
        loads.load(call);
        loads.copy(call, table);
        close_group();
    }
    put_sums<number, groups>(call, m, rows, sums, at);
    if (fast && !table_at)
        loads.put(call, table);
    wait_for_all_but<0>();
    __syncthreads();
    store_sums<exponents, groups>(call, m, n, rows, at, table);
    __syncthreads();
}

} // namespace mma
} // namespace pwl

#endif
