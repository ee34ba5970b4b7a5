/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the integer sums of wgmma to Y. Sums begin with what belongs to their row of weights, bias less zero point times
 * the row's sum, so that they are v in the end. A lane has pairs of neighbouring columns:
 *
 *     v, in 32 bits (gemm/narrow.h)
 *        | half of the shift added by a multiplication, shifted, zero point added
 *        | a table's value, of 16 elements at a time: all cells are loaded, then all lines
 *        v
 *     bytes or pairs of bytes in shared memory, a row for each of X: 64 columns, of some rows of X at a time
 *        | tensor copies, or, where Y is not aligned to them, stores of single elements
 *        v
 *     Y
 *
 * S32 is stored from the registers. What has more than 32 bits goes through shared memory as sums, to store.cuh; a
 * warpgroup decides that for its rows of a tile. Where two thread blocks share a tile's K, each sends the sums of half
 * of its rows of X to the other one.
 */
#ifndef PWL_QGEMM_WGMMA_CODES_CUH
#define PWL_QGEMM_WGMMA_CODES_CUH

#include "gemm/narrow.h"
#include "launch.cuh"
#include "store.cuh"
#include "wgmma_byte_shape.cuh"
#include "wgmma_ways.cuh"

namespace pwl
{
namespace wgmma
{

template <class shape> struct storing_codes;

#if PWL_IS_HOPPER

constexpr unsigned meet_to_begin = 1, meet_codes = 2; /* barriers, the second one's the first warpgroup's */

/* Sums of bytes, as wgmma_product.cuh has them stored. */
template <class shape> struct storing_codes {
    static constexpr unsigned groups8 = shape::tokens / 8, lists = (shape::tokens + group_threads - 1) / group_threads;
    using sums_type = int32_t[groups8][4];
    using places = typename shape::places;

    const pwl_qgemm_call &call;
    const CUtensorMap &y;
    const work &of;
    uint8_t *const memory;
    const unsigned group, thread, lane, warp; /* of those that multiply; in the group, in its warp; of the group */
    const uint32_t out, table, units;         /* in shared memory, the group's own but for the table */
    const unsigned row;                       /* of weights, in a tile, this lane's first */
    /* Of the next tile: what memory has of the lane's rows, and of rows of X. */
    int32_t next_sum[2], next_bias[2];
    int8_t next_w[2], next_x[lists];
    /* Of the tile: whether this lane's v have 32 bits, then whether all of the warpgroup are stored by as many;
     * exponents, and those of rows of X less n. */
    bool narrow, second_turn = false;
    int32_t n_w[2], n_x[lists], lowest_w; /* of the warpgroup's n_w */
    uint32_t buffer = 0;                  /* of Y, the next one */

    __device__ storing_codes(const pwl_qgemm_call &call, const CUtensorMap &y, const work &of, uint8_t *memory,
                             const places &here)
        : call(call), y(y), of(of), memory(memory), group(threadIdx.x / group_threads),
          thread(threadIdx.x % group_threads), lane(threadIdx.x % 32), warp(thread / 32),
          out(shared_address(memory) + of.out_at + group * shape::out_group),
          table(shared_address(memory) + of.table_at),
          units(shared_address(memory) + of.units_at + group * shape::units_bytes),
          row(group * group_rows + warp * PWL_QGEMM_TILE_ROWS + pwl_qgemm_row_of_lane(shape::format, lane / 4))
    {
        if (!shape::of_group && here.is_there(of))
            ask_for_weights(here);
        if (of.table_at)
            put_table();
    }

    /* Sums and exponents of the first tile's rows, before their weights fill the queues of memory. */
    static __device__ void prefetch(const pwl_qgemm_call &call, const work &of)
    {
        constexpr unsigned line = 128, lines = PWL_QGEMM_ROWS * sizeof(int32_t) / line;
        const uint8_t *const from = static_cast<const uint8_t *>(call.weights.memory);
        if (threadIdx.x > lines)
            return;
        const size_t row = size_t{places(call, of).across} * PWL_QGEMM_ROWS;
        prefetch_line(threadIdx.x < lines ? from + pwl_qgemm_row_sum_at(&call.weights, row) + threadIdx.x * line
                                          : from + pwl_qgemm_row_exponent_at(&call.weights, row));
    }

    __device__ void ready(const places &here)
    {
        if (of.table_at)
            meet(meet_to_begin, multiplying); /* the table is there */
        if (!shape::of_group && here.is_there(of))
            ask_for_numbers(here);
        /* What stores of a tile ask of the call comes to the cache of constants now, while memory is waited for. */
        asm volatile("" : : "r"(call.narrow.way), "r"(call.narrow.n), "r"(call.narrow.zero), "r"(call.narrow.copied));
        asm volatile("" : : "l"(call.product.y.data), "l"(call.product.m), "l"(call.weights.n), "r"(of.barriers_at));
        asm volatile("" : : "r"(call.table.plan.fraction), "r"(call.table.plan.cell_shift));
    }

    /* Tables are no launch's output, either. */
    __device__ void put_table() const
    {
        const pwl_cuda_plan &plan = call.table.plan;
        const char *const image = call.table.memory + plan.image_offset;
        uint8_t *const to = memory + of.table_at;
        if (call.narrow.way == PWL_QGEMM_VALUES) {
            const int32_t *const values =
                reinterpret_cast<const int32_t *>(call.table.memory) + (plan.qmin_x - PWL_PLAN_BYTE_FIRST);
            const int32_t value = values[min(static_cast<int32_t>(threadIdx.x), call.narrow.last)];
            if (call.narrow.y_bytes == 1)
                to[threadIdx.x] = static_cast<uint8_t>(value);
            else
                reinterpret_cast<uint16_t *>(to)[threadIdx.x] = static_cast<uint16_t>(value);
            return;
        }
        uint32_t *const cells = reinterpret_cast<uint32_t *>(to + pwl_qgemm_narrow_cells_at(&plan));
        for (uint32_t i = threadIdx.x; i < max(plan.heads, plan.cells); i += multiplying) {
            pwl_compact head = 0;
            uint32_t cell = 0;
            if (i < plan.heads)
                head = reinterpret_cast<const pwl_compact *>(image)[i << plan.head_copies];
            if (i < plan.cells)
                cell = reinterpret_cast<const uint32_t *>(image + plan.image_cells)[i << plan.cell_copies];
            if (i < plan.heads)
                reinterpret_cast<pwl_compact *>(to)[i] = head;
            if (i < plan.cells)
                cells[i] = cell;
        }
    }

    /* Sums and exponents of a tile's rows of weights, which are no launch's output. */
    __device__ void ask_for_weights(const places &at)
    {
        const size_t first = size_t{at.across} * PWL_QGEMM_ROWS + row;
#pragma unroll
        for (unsigned i = 0; i < 2; i++) {
            next_sum[i] = pwl_qgemm_row_sum(&call.weights, first + i);
            next_w[i] = static_cast<int8_t>(pwl_qgemm_row_exponent(&call.weights, first + i));
        }
    }

    /* Their bias, and exponents of the rows of X that this block stores. */
    __device__ void ask_for_numbers(const places &at)
    {
        const size_t first = size_t{at.across} * PWL_QGEMM_ROWS + row, m = first_row(at);
#pragma unroll
        for (unsigned i = 0; i < 2; i++)
            next_bias[i] =
                first + i < call.weights.n ? pwl_qgemm_bias_s32(&call.product, &call.epilogue.as, first + i) : 0;
#pragma unroll
        for (unsigned i = 0; i < lists; i++)
            next_x[i] = call.product.x.n_x[min(m + thread + i * group_threads, call.product.m - 1)];
    }

    /* The first row of X that this block stores of a tile. */
    __device__ size_t first_row(const places &at) const
    {
        return at.m(of, shape::tokens) + (at.shared ? at.part * shape::half : 0);
    }

    __device__ void begin(const places &here, size_t, size_t, sums_type &sums)
    {
        int32_t start[2];
        if (shape::of_group) { /* the call is the tile's, and has not been the next one's before */
            ask_for_weights(here);
            ask_for_numbers(here);
        }
        narrow = true;
#pragma unroll
        for (unsigned i = 0; i < 2; i++) {
            const int64_t first = next_bias[i] - int64_t{call.product.x.zero_point} * next_sum[i];
            narrow = narrow && pwl_qgemm_start_is_narrow(first, call.weights.k);
            start[i] = here.part == 0 ? static_cast<int32_t>(first) : 0; /* wraps where it is not narrow */
            n_w[i] = next_w[i];
        }
#pragma unroll
        for (unsigned i = 0; i < lists; i++)
            n_x[i] = next_x[i] - call.narrow.n;
#pragma unroll
        for (unsigned g = 0; g < groups8; g++) {
#pragma unroll
            for (unsigned c = 0; c < 4; c++)
                sums[g][c] = start[c / 2];
        }
    }

    __device__ void store(const places &here, const places &next, size_t, size_t n, sums_type &sums)
    {
        const size_t first = first_row(here);
        if (!shape::of_group && next.is_there(of)) {
            ask_for_weights(next);
            ask_for_numbers(next);
        }
        if (here.shared)
            add_parts(here.part, sums);
        const size_t left = first < call.product.m ? call.product.m - first : 0;
        const unsigned rows = static_cast<unsigned>(min(size_t{here.shared ? shape::half : shape::tokens}, left));
        if (!narrow) {
            store_by_search(first, n, rows, sums);
            return;
        }
        switch (call.narrow.way) {
        case PWL_QGEMM_SUMS:
            store_sums(first, n, rows, sums);
            break;
        case PWL_QGEMM_CODES:
            store_rows<as_codes>(first, n, rows, sums);
            break;
        case PWL_QGEMM_VALUES:
            if (call.narrow.y_bytes == 1)
                store_rows<as_values<uint8_t>>(first, n, rows, sums);
            else
                store_rows<as_values<uint16_t>>(first, n, rows, sums);
            break;
        default:
            if (call.narrow.y_bytes == 1)
                call.narrow.saturates ? store_rows<as_lines<1, true>>(first, n, rows, sums)
                                      : store_rows<as_lines<1, false>>(first, n, rows, sums);
            else
                call.narrow.saturates ? store_rows<as_lines<2, true>>(first, n, rows, sums)
                                      : store_rows<as_lines<2, false>>(first, n, rows, sums);
        }
    }

    /* Half of the sums to the other block of the cluster. */
    template <unsigned first> __device__ void send(uint32_t to, uint32_t barrier, const sums_type &sums) const
    {
#pragma unroll
        for (unsigned g = 0; g < groups8 / 2; g++) {
            const int32_t(&from)[4] = sums[first + g];
            send_to_cluster(to + g * multiplying * sizeof(int4), make_int4(from[0], from[1], from[2], from[3]),
                            barrier);
        }
    }

    /* Of a tile of the cluster: the sums of this block's rows of X become the first ones, and complete. */
    __device__ void add_parts(unsigned part, sums_type &sums)
    {
        constexpr unsigned mine = groups8 / 2, apart = multiplying * sizeof(int4);
        const uint32_t here = shared_address(memory), barrier = here + of.barriers_at + of.stages * 16;
        const uint32_t parts = here + (shape::meets_early ? of.parts_at : 0) + threadIdx.x * sizeof(int4);
        if (threadIdx.x == 0)
            arrive_and_expect(barrier, mine * apart);
        if (!shape::meets_early)
            arrive_at_cluster(); /* this block's stages are free */
        wait_for_cluster();
        const uint32_t there = address_in(1 - part, parts), other_barrier = address_in(1 - part, barrier);
        if (part == 0) {
            send<mine>(there, other_barrier, sums);
        } else {
            send<0>(there, other_barrier, sums);
#pragma unroll
            for (unsigned i = 0; i < 4 * mine; i++)
                sums[i / 4][i % 4] = sums[mine + i / 4][i % 4];
        }
        wait_for(barrier, false);
#pragma unroll
        for (unsigned g = 0; g < mine; g++) {
            const uint4 other = load_shared<uint4>(parts + g * apart);
            sums[g][0] += static_cast<int32_t>(other.x);
            sums[g][1] += static_cast<int32_t>(other.y);
            sums[g][2] += static_cast<int32_t>(other.z);
            sums[g][3] += static_cast<int32_t>(other.w);
        }
    }

    /* Whether the warpgroup's part of the tile is narrow; then half of what a row of X is shifted by beside the least
     * exponent of the weights, with its exponent, in shared memory, where those of the last tile are not read any more.
     */
    __device__ void meanwhile()
    {
        int32_t least_n;
        narrow = all_is_narrow(least_n);
        second_turn = !second_turn;
        lowest_w = least_n;
        if (!narrow)
            return;
        int2 *const to = reinterpret_cast<int2 *>(memory + of.units_at + group * shape::units_bytes);
#pragma unroll
        for (unsigned i = 0; i < lists; i++) {
            if (thread + i * group_threads < shape::tokens)
                to[thread + i * group_threads] = make_int2(n_x[i], 1 << (n_x[i] + least_n - 1 & 31));
        }
    }

    __device__ bool all_is_narrow(int32_t &least_n) const
    {
        int2 *const units = reinterpret_cast<int2 *>(memory + of.units_at + group * shape::units_bytes);
        int4 *const found = reinterpret_cast<int4 *>(units + shape::tokens) + (second_turn ? group_threads / 32 : 0);
        int32_t least = n_x[0], most = n_x[0];
#pragma unroll
        for (unsigned i = 1; i < lists; i++) {
            least = min(least, n_x[i]);
            most = max(most, n_x[i]);
        }
        least = __reduce_min_sync(all_lanes, least);
        most = __reduce_max_sync(all_lanes, most);
        const int32_t least_w = __reduce_min_sync(all_lanes, min(n_w[0], n_w[1]));
        const int32_t most_w = __reduce_max_sync(all_lanes, narrow ? max(n_w[0], n_w[1]) : INT16_MAX);
        if (lane == 0)
            found[warp] = make_int4(least, most, least_w, most_w);
        meet(meet_codes + group, group_threads);
        int32_t least_x = INT16_MAX, most_x = INT16_MIN, most_n = INT16_MIN;
        least_n = INT16_MAX;
#pragma unroll
        for (unsigned i = 0; i < group_threads / 32; i++) {
            const int4 one = found[i];
            least_x = min(least_x, one.x);
            most_x = max(most_x, one.y);
            least_n = min(least_n, one.z);
            most_n = max(most_n, one.w);
        }
        if (call.narrow.way == PWL_QGEMM_SUMS)
            return most_n < INT16_MAX;
        return call.narrow.way != PWL_QGEMM_IN_64_BITS && most_n < INT16_MAX &&
               pwl_qgemm_shift_is_narrow(least_x + least_n) && pwl_qgemm_shift_is_narrow(most_x + most_n);
    }

    /* `at_once` groups of 8 rows of X, as shared memory has them before they are copied; the first is `g` of sums. */
    template <class way, unsigned at_once>
    __device__ void put_groups(const way &by, const sums_type &sums, unsigned g, unsigned in_box, uint32_t to) const
    {
        int32_t factor[2] = {1 << (n_w[0] - lowest_w), 1 << (n_w[1] - lowest_w)}, q[4 * at_once];
        asm("" : "+r"(factor[0]), "+r"(factor[1])); /* or multiplications become shifts, whose units are busier */
#pragma unroll
        for (unsigned i = 0; i < at_once; i++) {
            const uint4 n = load_shared<uint4>(units + ((g + i) * 8 + lane % 4 * 2) * 8);
            const int32_t shift[2] = {static_cast<int32_t>(n.x), static_cast<int32_t>(n.z)};
            const int32_t half[2] = {static_cast<int32_t>(n.y), static_cast<int32_t>(n.w)};
#pragma unroll
            for (unsigned k = 0; k < 4; k++)
                q[4 * i + k] =
                    pwl_qgemm_shift_narrow(sums[g + i][k], shift[k % 2] + n_w[k / 2], half[k % 2], factor[k / 2]);
        }
        by.find(q);
        if constexpr (way::bytes == 1) {
            uint32_t words[4] = {};
#pragma unroll
            for (unsigned i = 0; i < at_once; i++)
                words[i] = by.pack(q[4 * i], q[4 * i + 1], q[4 * i + 2], q[4 * i + 3]);
            const unsigned token = in_box + lane / 8 % at_once * 8 + lane % 8;
            const uint32_t at = to + token * 64 + (warp ^ token / 2 % 4) * 16;
            if constexpr (at_once == 4)
                store_matrices_transposed(at, words);
            else
                store_two_matrices_transposed(at, words[0], words[1]);
        } else {
#pragma unroll
            for (unsigned i = 0; i < 2 * at_once; i++) {
                const unsigned token = in_box + i / 2 * 8 + lane % 4 * 2 + i % 2;
                const int32_t *const pair = q + i / 2 * 4 + i % 2;
                store_shared(to + token * 128 + ((warp * 2 + lane / 16) ^ token % 8) * 16 + lane / 4 % 4 * 4,
                             by.pack(pair[0], pair[2]));
            }
        }
    }

    /* `rows` rows of Y from `m` on, by a way. */
    template <class way> __device__ void store_rows(size_t m, size_t n, unsigned rows, const sums_type &sums)
    {
        constexpr unsigned box = shape::template box_rows<way::bytes>, groups = box / 8;
        constexpr unsigned at_once = groups % 4 == 0 ? 4 : groups % 3 == 0 && way::bytes == 2 ? 3 : 2;
        const way by(call, table);
        const bool first_thread = thread == 0;
        const size_t column = n + group * group_rows;
        /* Copies write whole 16 bytes, beyond where a tensor ends within them. */
        const bool copies =
            call.narrow.copied && (column + group_rows <= call.weights.n || call.weights.n * way::bytes % 16 == 0);
#pragma unroll
        for (unsigned first = 0; first < shape::tokens; first += box) {
            if (first >= rows)
                break;
            const uint32_t to = out + buffer;
            buffer ^= shape::out_buffer;
            if (first_thread)
                wait_for_copies_to_read<1>();
            meet(meet_codes + group, group_threads);
#pragma unroll
            for (unsigned token = 0; token < box; token += 8 * at_once)
                put_groups<way, at_once>(by, sums, (first + token) / 8, token, to);
            show_to_copies();
            meet(meet_codes + group, group_threads);
            if (!copies || (shape::of_group && first + box > rows)) /* the next rows are another expert's */
                store_box<way>(m, column, first, min(first + box, rows), to);
            else if (first_thread && column < call.weights.n)
                copy_to_tensor(&y, static_cast<int32_t>(column), static_cast<int32_t>(m + first), to);
        }
    }

    /* A box of Y, rows `first` to `end` from m on, element by element. */
    template <class way>
    __device__ void store_box(size_t m, size_t n, unsigned first, unsigned end, uint32_t from) const
    {
        using element = std::conditional_t<way::bytes == 1, uint8_t, uint16_t>;
        const pwl_qgemm_output *to = &call.product.y;
        const unsigned column = thread % group_rows;
        if (n + column >= call.weights.n)
            return;
        asm volatile(""
                     : "+r"(first), "+l"(to)); /* or what all boxes need is found before the first one, and spilled */
#pragma unroll 1
        for (unsigned token = thread / group_rows; first + token < end; token += groups) {
            const unsigned chunk = column * way::bytes / 16, swapped = way::bytes == 1 ? token / 2 % 4 : token % 8;
            static_cast<element *>(to->data)[(m + first + token) * to->stride + n + column] = load_entry<element>(
                from + token * group_rows * way::bytes + (chunk ^ swapped) * 16 + column * way::bytes % 16);
        }
    }

    /* v as it is, in 32 bits. */
    __device__ void store_sums(size_t m, size_t n, unsigned rows, const sums_type &sums) const
    {
        const pwl_qgemm_output &to = call.product.y;
        const size_t column = n + row;
        const bool first = column < call.weights.n, second = column + 1 < call.weights.n;
#pragma unroll
        for (unsigned i = 0; i < 2 * groups8; i++) {
            const unsigned token = i / 2 * 8 + lane % 4 * 2 + i % 2;
            int32_t *const at = static_cast<int32_t *>(to.data) + (m + token) * to.stride + column;
            const int2 pair = make_int2(sums[i / 2][i % 2], sums[i / 2][2 + i % 2]);
            if (token >= rows)
                continue;
            if (second && call.narrow.paired) {
                *reinterpret_cast<int2 *>(at) = pair;
                continue;
            }
            if (first)
                at[0] = pair.x;
            if (second)
                at[1] = pair.y;
        }
    }

    static constexpr unsigned chunk = 16, chunk_pitch = group_rows + 4; /* rows of X, by 64 bits */
    static_assert(chunk * chunk_pitch * sizeof(int32_t) <= shape::out_group, "sums lie where Y does");

    /* Sums of a chunk, `of_chunk` being known but at run time. */
    template <unsigned g = 0> __device__ void put_sums(const sums_type &sums, unsigned of_chunk, int32_t *to) const
    {
        if (of_chunk == g) {
#pragma unroll
            for (unsigned i = 0; i < 8; i++)
                to[(i / 4 * 8 + lane % 4 * 2 + i % 2) * chunk_pitch + row % group_rows + i / 2 % 2] =
                    sums[g + i / 4][i % 4];
        } else if constexpr (g + 2 < groups8) {
            put_sums<g + 2>(sums, of_chunk, to);
        }
    }

    /* v of a row of weights, of its last 32 bits: without what sums begin with, they are below 2^31 in magnitude. */
    __device__ int64_t whole(size_t n, int32_t low) const
    {
        const int64_t first = pwl_device_y(call, n, 0);
        return first + static_cast<int32_t>(static_cast<uint32_t>(low) - static_cast<uint32_t>(first));
    }

    /* Whatever it is. */
    __device__ void store_by_search(size_t m, size_t n, unsigned rows, const sums_type &sums) const
    {
        const bool gated = call.epilogue.as.gated;
        const unsigned columns = static_cast<unsigned>(pwl_qgemm_columns(group_rows, gated));
        int32_t *const to = reinterpret_cast<int32_t *>(memory + of.out_at + group * shape::out_group);
        if (thread == 0)
            wait_for_copies_to_read();
#pragma unroll 1
        for (unsigned first = 0; first < rows; first += chunk) {
            meet(meet_codes + group, group_threads);
            put_sums(sums, first / 8, to);
            meet(meet_codes + group, group_threads);
#pragma unroll 1
            for (unsigned token = thread / columns; token < min(chunk, rows - first);
                 token += group_threads / columns) {
                const unsigned k = thread % columns;
                const unsigned column = gated ? static_cast<unsigned>(pwl_qgemm_gate_row(k)) : k;
                const size_t at = n + group * group_rows + column;
                const int32_t *const from = to + token * chunk_pitch + column;
                if (at < call.weights.n)
                    pwl_device_store<false>(call, m + first + token, at, whole(at, from[0]),
                                            gated ? whole(at + 8, from[8]) : int64_t{0});
            }
        }
        meet(meet_codes + group, group_threads);
    }
};

#endif

} // namespace wgmma
} // namespace pwl

#endif
