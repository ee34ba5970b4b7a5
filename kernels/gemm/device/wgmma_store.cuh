/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the sums of wgmma to Y: as halves, by tensor copies out of shared memory, which go on while the next tile is
 * multiplied; else through shared memory as the kernels by mma do it (epilogue.cuh), each warpgroup as one of their
 * thread blocks, a few rows of X at a time. Where two thread blocks share a tile's K, each adds up half of its rows of
 * X.
 */
#ifndef PWL_QGEMM_WGMMA_STORE_CUH
#define PWL_QGEMM_WGMMA_STORE_CUH

#include "epilogue.cuh"
#include "gemm/fp8.h"
#include "wgmma_loop.cuh"

namespace pwl
{
namespace wgmma
{

constexpr unsigned chunk = 32, chunk_bytes = mma::sums_bytes(chunk / 8); /* rows of X, stored at a time */

template <class shape> struct storing_halves;

/* What is kept of a row of X, for each warpgroup: f, or the scale. */
template <class shape> using unit_type = std::conditional_t<shape::of_e4m3, float, int8_t>;

/* Y that waits to be copied, of a warpgroup: y_rows rows of X, in two buffers where there are more, which take turns.
 */
template <class shape> constexpr unsigned y_buffer = shape::y_rows *group_rows * 2;
template <class shape> constexpr unsigned y_group = y_buffer<shape> *(shape::y_rows < shape::tokens ? 2 : 1);

#if PWL_IS_HOPPER

/* What sums of row m of X are multiplied by: 2^f, 1 where there are none; or the row's scale. */
template <class shape> __device__ float unit_of(const pwl_qgemm_call &call, size_t m)
{
    if (shape::of_e4m3)
        return m < call.product.m ? call.product.x.scale[m] : 0;
    return call.f && m < call.product.m ? pwl_device_power(call.f[m]) : 1;
}

/* f of a tile's rows, -126 to 127, for this warpgroup; `units` is its own. Or their scales. */
template <unsigned tokens> __device__ void put_units(const pwl_qgemm_call &call, size_t m, int8_t *units)
{
    for (unsigned token = threadIdx.x % group_threads; token < tokens; token += group_threads)
        units[token] = static_cast<int8_t>(call.f && m + token < call.product.m ? call.f[m + token] : 0);
}

template <unsigned tokens> __device__ void put_units(const pwl_qgemm_call &call, size_t m, float *units)
{
    for (unsigned token = threadIdx.x % group_threads; token < tokens; token += group_threads)
        units[token] = m + token < call.product.m ? call.product.x.scale[m + token] : 0;
}

/* What sums of a row, or two rows, are multiplied by. */
__device__ inline float unit_at(const int8_t *units)
{
    return pwl_device_power(*units);
}

__device__ inline float unit_at(const float *units)
{
    return *units;
}

__device__ inline float2 units_at(const int8_t *units)
{
    const char2 f = *reinterpret_cast<const char2 *>(units);
    return make_float2(pwl_device_power(f.x), pwl_device_power(f.y));
}

__device__ inline float2 units_at(const float *units)
{
    return *reinterpret_cast<const float2 *>(units);
}

/* What the warpgroups that multiply do together, and one of them. */
constexpr unsigned meet_all = 1, meet_group = 2; /* barriers, the second one's the first warpgroup's */

/* This lane's first row of the weights' 128. */
__device__ inline unsigned row_of_lane()
{
    return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
}

/* Sums of `count` groups of 8 rows of X, from `first` on, into shared memory. */
template <unsigned first, unsigned count, unsigned all> __device__ void put(const float (&sums)[all][4], float *to)
{
    float *const at = to + threadIdx.x % 4 * 2 * mma::pitch + row_of_lane();
#pragma unroll
    for (unsigned g = 0; g < count; g++) {
#pragma unroll
        for (unsigned c = 0; c < 4; c++)
            at[(g * 8 + c % 2) * mma::pitch + c / 2 * 8] = sums[first + g][c];
    }
}

/* The chunk that begins with group `of`, which is known but at run time: registers have no addresses. */
template <unsigned all, unsigned first = 0>
__device__ void put_chunk(const float (&sums)[all][4], unsigned of, float *to)
{
    constexpr unsigned count = all - first < chunk / 8 ? all - first : chunk / 8;
    if (of == first)
        put<first, count>(sums, to);
    else if constexpr (first + count < all)
        put_chunk<all, first + count>(sums, of, to);
}

/*
 * A cluster's sums, rows of X like those of a chunk, each block its own where its stages are, which are free: this is
 * its last tile. Half of the rows are then added up here, four columns at a time: f(row, sums of four columns). The
 * other block may read what is here until it has arrived at the cluster once more.
 */
template <unsigned tokens, class function>
__device__ void add_parts(unsigned rank, float *to, const float (&sums)[tokens / 8][4], const function &f)
{
    constexpr unsigned half = tokens / 2, step = multiplying / (PWL_QGEMM_ROWS / 4), count = half / step;
    static_assert(half % step == 0, "all threads have as many rows");
    const unsigned first = rank * half + threadIdx.x / (PWL_QGEMM_ROWS / 4);
    float4 *const own = reinterpret_cast<float4 *>(to + first * mma::pitch) + threadIdx.x % (PWL_QGEMM_ROWS / 4);
    constexpr unsigned apart = step * mma::pitch / 4;
    float4 other[count];
    if (threadIdx.x % group_threads == 0)
        wait_for_copies_to_read(); /* Y of the tile before */
    meet(meet_all, multiplying);   /* the other warpgroup is through with the stages, too */
    put<0, tokens / 8>(sums, to);
    meet(meet_all, multiplying); /* the cluster's barrier would do; racecheck knows this one */
    arrive_at_cluster();
    wait_for_cluster();
    const uint32_t there = address_in(1 - rank, shared_address(own));
#pragma unroll
    for (unsigned i = 0; i < count; i++)
        other[i] = load_in_cluster(there + i * apart * sizeof(float4));
    arrive_at_cluster();
#pragma unroll
    for (unsigned i = 0; i < count; i++) {
        const float4 of = own[i * apart];
        f(first + i * step, make_float4(of.x + other[i].x, of.y + other[i].y, of.z + other[i].z, of.w + other[i].w));
    }
}

/* Parts whose Y is direct: a thread has four columns. */
template <class shape, pwl_qgemm_type type>
__device__ void store_parts(const pwl_qgemm_call &call, const typename shape::places &here, size_t m, size_t n,
                            const unit_type<shape> *units, uint8_t *memory, const float (&sums)[shape::tokens / 8][4])
{
    const pwl_qgemm_output &y = call.product.y;
    const size_t column = n + threadIdx.x % (PWL_QGEMM_ROWS / 4) * 4;
    const bool inside = column < call.weights.n;
    float bias[4];
    mma::four::load_bias(inside ? call.product.bias : nullptr, column, bias);
    add_parts<shape::tokens>(here.part, reinterpret_cast<float *>(memory), sums, [&](unsigned row, const float4 &sum) {
        const float unit = unit_at(units + row);
        uint16_t *const at = static_cast<uint16_t *>(y.data) + (m + row) * y.stride + column;
        const uint2 halves =
            make_uint2(mma::halves_of<type>(mma::y_of(sum.x, unit, bias[0]), mma::y_of(sum.y, unit, bias[1])),
                       mma::halves_of<type>(mma::y_of(sum.z, unit, bias[2]), mma::y_of(sum.w, unit, bias[3])));
        if (inside && m + row < call.product.m)
            *reinterpret_cast<uint2 *>(at) = halves;
    });
    wait_for_cluster();
}

/*
 * All that goes through floats in shared memory. Where stages are free, which is where a block has its last tile and
 * the others know it, that is all rows of the tile at once, or, where two blocks share it, the half of them that is
 * here; else chunk by chunk.
 */
template <class shape>
__device__ void store_through_floats(const pwl_qgemm_call &call, const work &of, const typename shape::places &here,
                                     size_t m, size_t n, uint8_t *memory, const char *table,
                                     const float (&sums)[shape::tokens / 8][4])
{
    constexpr unsigned half = shape::tokens / 2, by_chunk = shape::tokens < chunk ? shape::tokens : chunk;
    /* Rows that a warpgroup stores at once: of a group no more than it ever has of a chunk. */
    constexpr unsigned at_most = shape::of_group ? by_chunk / groups : chunk;
    const bool shared = here.shared, at_once = !shape::of_group && (of.alone || shared);
    const unsigned begin = here.part * half, all = shared ? half : shape::tokens;
    const unsigned rows = static_cast<unsigned>(min(size_t{begin + all}, call.product.m - m));
    const unsigned step = at_once ? all : by_chunk, own = threadIdx.x / group_threads * (step / groups);
    float *const to = reinterpret_cast<float *>(memory + (at_once ? 0 : of.out_at));
    if (shared) {
        add_parts<shape::tokens>(here.part, to, sums, [&](unsigned row, const float4 &sum) {
            *(reinterpret_cast<float4 *>(to + row * mma::pitch) + threadIdx.x % (PWL_QGEMM_ROWS / 4)) = sum;
        });
    } else if (at_once) {
        meet(meet_all, multiplying); /* the other warpgroup is through with the stages, too */
        put<0, shape::tokens / 8>(sums, to);
    }
#pragma unroll 1
    for (unsigned first = begin; first < rows; first += step) {
        float *const from = at_once ? to + first * mma::pitch : to;
        if (!at_once)
            put_chunk(sums, first / 8, from);
        if (threadIdx.x < min(step, rows - first)) {
            from[threadIdx.x * mma::pitch + mma::unit_at] = unit_of<shape>(call, m + first + threadIdx.x);
            if (call.product.y.type == PWL_QGEMM_E4M3)
                from[threadIdx.x * mma::pitch + mma::inverse_at] = mma::inverse_of(call, m + first + threadIdx.x);
        }
        meet(meet_all, multiplying);
        if (first + own < rows)
            mma::store_sums<shape::exponents, at_most / 8>(
                call, m + first + own, n, min(step / groups, rows - first - own), from + own * mma::pitch, table);
        meet(meet_all, multiplying);
    }
    if (shared)
        wait_for_cluster();
}

/* Y in halves of a type: a warpgroup's 64 columns of y_rows rows of X from `begin` on, as operand B lies. */
template <class shape, pwl_qgemm_type type, unsigned begin>
__device__ void put_halves(const pwl_qgemm_call &call, size_t n, const unit_type<shape> *units, uint32_t to,
                           const float (&sums)[shape::tokens / 8][4])
{
    const unsigned lane = threadIdx.x % 32, matrix = lane / 8,
                   chunk = threadIdx.x % group_threads / 32 * 2 + matrix % 2;
    const uint32_t row = to + (matrix / 2 * 8 + lane % 8) * 128 + (chunk ^ lane % 8) * 16;
    const size_t first = n + row_of_lane();
    float bias[2];
#pragma unroll
    for (unsigned i = 0; i < 2; i++)
        bias[i] =
            first + i * 8 < call.weights.n ? pwl_qgemm_bias_f32(&call.product, &call.epilogue.as, first + i * 8) : 0;
#pragma unroll
    for (unsigned g = begin / 8; g < (begin + shape::y_rows) / 8; g += 2) {
        uint32_t r[4];
#pragma unroll
        for (unsigned i = 0; i < 2; i++) {
            const float2 unit = units_at(units + (g + i) * 8 + lane % 4 * 2);
            const float(&of)[4] = sums[g + i];
            r[i * 2] = mma::halves_of<type>(mma::y_of(of[0], unit.x, bias[0]), mma::y_of(of[1], unit.y, bias[0]));
            r[i * 2 + 1] = mma::halves_of<type>(mma::y_of(of[2], unit.x, bias[1]), mma::y_of(of[3], unit.y, bias[1]));
        }
        store_matrices_transposed(row + (g * 8 - begin) * 128, r);
    }
}

template <class shape>
__device__ void store_parts(const pwl_qgemm_call &call, const typename shape::places &here, size_t m, size_t n,
                            const unit_type<shape> *units, uint8_t *memory, const float (&sums)[shape::tokens / 8][4])
{
    if (call.product.y.type == PWL_QGEMM_F16)
        store_parts<shape, PWL_QGEMM_F16>(call, here, m, n, units, memory, sums);
    else
        store_parts<shape, PWL_QGEMM_BF16>(call, here, m, n, units, memory, sums);
}

/* A chunk of Y that is not copied, since what is beyond its rows belongs to another expert: 16 bytes at a time. */
__device__ inline void store_box(const pwl_qgemm_call &call, size_t m, size_t column, unsigned rows, uint32_t from)
{
    const pwl_qgemm_output &y = call.product.y;
#pragma unroll 1
    for (unsigned i = threadIdx.x % group_threads; i < rows * 8; i += group_threads) {
        const unsigned token = i / 8, at = i % 8;
        if (column + at * 8 < call.weights.n)
            *reinterpret_cast<uint4 *>(static_cast<uint16_t *>(y.data) + (m + token) * y.stride + column + at * 8) =
                load_shared<uint4>(from + token * 128 + (at ^ token % 8) * 16);
    }
}

/* The chunks of Y of a tile from `begin` on, one after the other; `buffer` is where the next one waits. */
template <class shape, pwl_qgemm_type type, unsigned begin = 0>
__device__ void store_by_copies(const pwl_qgemm_call &call, const work &of, const CUtensorMap &y, size_t m, size_t n,
                                const unit_type<shape> *units, uint32_t memory, uint32_t &buffer,
                                const float (&sums)[shape::tokens / 8][4])
{
    const unsigned group = threadIdx.x / group_threads;
    const uint32_t to = memory + of.out_at + group * y_group<shape> + buffer;
    const size_t column = n + group * group_rows;
    const bool first_thread = threadIdx.x % group_threads == 0;
    buffer = y_buffer<shape> - buffer & y_group<shape> - y_buffer<shape>;
    if (first_thread)
        wait_for_copies_to_read<y_group<shape> / y_buffer<shape> - 1>();
    if (of.alone && begin == 0)
        meet(meet_all, multiplying); /* the other warpgroup is through with the stages, too */
    else
        meet(meet_group + group, group_threads);
    put_halves<shape, type, begin>(call, n, units, to, sums);
    show_to_copies();
    meet(meet_group + group, group_threads);
    const size_t end = m + begin + min(of.rows, shape::y_rows);
    if (shape::of_group && end > call.product.m)
        store_box(call, m + begin, column, static_cast<unsigned>(call.product.m - min(m + begin, call.product.m)), to);
    else if (first_thread && column < call.weights.n && begin < of.rows)
        copy_to_tensor(&y, static_cast<int32_t>(column), static_cast<int32_t>(m + begin), to);
    if constexpr (begin + shape::y_rows < shape::tokens)
        store_by_copies<shape, type, begin + shape::y_rows>(call, of, y, m, n, units, memory, buffer, sums);
}

template <class shape>
__device__ void store_by_copies(const pwl_qgemm_call &call, const work &of, const CUtensorMap &y, size_t m, size_t n,
                                const unit_type<shape> *units, uint32_t memory, uint32_t &buffer,
                                const float (&sums)[shape::tokens / 8][4])
{
    if (call.product.y.type == PWL_QGEMM_F16)
        store_by_copies<shape, PWL_QGEMM_F16>(call, of, y, m, n, units, memory, buffer, sums);
    else
        store_by_copies<shape, PWL_QGEMM_BF16>(call, of, y, m, n, units, memory, buffer, sums);
}

/* Sums of halves, as wgmma_product.cuh has them stored. */
template <class shape> struct storing_halves {
    using places = typename shape::places;
    const pwl_qgemm_call &call;
    const CUtensorMap &y;
    const work &of;
    uint8_t *const memory;
    char *const table;
    unit_type<shape> *const units;
    float scales[2];     /* of this lane's rows of weights, in E4M3 */
    uint32_t buffer = 0; /* of Y, the next one */

    __device__ storing_halves(const pwl_qgemm_call &call, const CUtensorMap &y, const work &of, uint8_t *memory,
                              const places &)
        : call(call), y(y), of(of), memory(memory), table(reinterpret_cast<char *>(memory) + of.table_at),
          units(reinterpret_cast<unit_type<shape> *>(memory + of.units_at) + threadIdx.x / group_threads * most_tokens)
    {
    }

    static __device__ void prefetch(const pwl_qgemm_call &, const work &)
    {
    }

    __device__ void ready(const places &) const
    {
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
    }

    __device__ void begin(const places &, size_t m, size_t n, float (&sums)[shape::tokens / 8][4])
    {
#pragma unroll
        for (unsigned i = 0; i < 2 && shape::of_e4m3; i++)
            scales[i] = pwl_qgemm_row_scale(&call.weights, n + row_of_lane() + i * 8);
#pragma unroll
        for (unsigned i = 0; i < shape::tokens / 2; i++)
            sums[i / 4][i % 4] = 0;
        if constexpr (shape::direct)
            put_units<shape::tokens>(call, m, units);
    }

    __device__ void meanwhile() const
    {
    }

    __device__ void store(const places &here, const places &, size_t m, size_t n, float (&sums)[shape::tokens / 8][4])
    {
#pragma unroll
        for (unsigned i = 0; i < shape::tokens / 2 && shape::of_e4m3; i++)
            sums[i / 4][i % 4] *= scales[i % 4 / 2];
        if constexpr (!shape::direct)
            store_through_floats<shape>(call, of, here, m, n, memory, table, sums);
        else if (here.shared)
            store_parts<shape>(call, here, m, n, units, memory, sums);
        else
            store_by_copies<shape>(call, of, y, m, n, units, shared_address(memory), buffer, sums);
    }
};

#endif

} // namespace wgmma
} // namespace pwl

#endif
