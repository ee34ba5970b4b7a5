/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention of pwl/attention.h on devices of 9.0. A thread block has 64 rows of queries for each of its warpgroups but
 * the last, one warp of which copies tiles of 128 keys and of their values, turned so that keys lie together. It goes
 * over the keys twice: first for the largest product of each row, which no later tile changes then, so that
 * exponentials need no rescaling and sums are the same integers in any order.
 *
 *   first     A = Q K^T of a tile, 64 x 128 in registers -> largest
 *   then      A = Q K^T of half a tile, 64 x 64
 *             d, the top byte of a product
 *             E[d] from shared memory, where each lane has a copy in its own bank
 *             low and high bytes of E[d] are operand A of the next product: W_low, W_high += E V
 *
 * A lane's columns of A are not those that it has of operand A, as it has columns 2 t, 2 t + 1, 8 + 2 t and 9 + 2 t of
 * 16, and is to have 4 t to 4 t + 3. So values are turned to this order of keys.
 *
 * While a warpgroup finds exponentials, others multiply: they take turns, each starts W += E V of its last half tile
 * and A = Q K^T of its next when it has its turn.
 */
#include "arch/overlap.cuh"
#include "arch/wgmma.cuh"
#include "arch/tensor.cuh"
#include "finish.h"
#include "launch.h"

namespace
{

using namespace pwl;

constexpr uint32_t tile = PWL_ATTENTION_TILE; /* keys */
constexpr uint32_t group_threads = 128, group_rows = 64;
constexpr uint32_t entry_bytes = 256, table_bytes = 256 * entry_bytes; /* a word for each lane, and as many unused */

template <uint32_t channels_> struct shape {
    static constexpr uint32_t channels = channels_, groups = channels == 64 ? 3 : 2;
    static constexpr uint32_t threads = (groups + 1) * group_threads, rows = groups * group_rows;
    static constexpr uint32_t slot = tile * channels, slots = channels == 64 ? 16 : 9;
    static constexpr uint32_t slots_at = 1024, table_at = slots_at + slots * slot;
    static constexpr uint32_t bytes = table_at + table_bytes + 1024; /* with what alignment takes */
};

struct attention_task {
    const int8_t *q;
    const uint8_t *values;
    uint8_t *y;
    const uint32_t *exp;
    const uint16_t *core;
    pwl_requantise requantise;
    int32_t step, zp_v;
    uint32_t share, queries, keys, tiles; /* tiles of a head's keys */
    uint32_t blocks;                      /* of a head's queries */
    uint32_t is_causal, first;
};

/* Where key 16 h + 8 j + 2 t + b of a tile lies in it: 16 h + 4 t + 2 j + b. */
struct turned_task {
    const int8_t *v;
    uint32_t *to;
    uint32_t keys, tiles;
};

/* Bytes i of a[0] to a[3] as word i. */
__device__ void transpose_bytes(const uint32_t (&a)[4], uint32_t (&to)[4])
{
    const uint32_t low01 = __byte_perm(a[0], a[1], 0x5140), high01 = __byte_perm(a[0], a[1], 0x7362);
    const uint32_t low23 = __byte_perm(a[2], a[3], 0x5140), high23 = __byte_perm(a[2], a[3], 0x7362);
    to[0] = __byte_perm(low01, low23, 0x5410);
    to[1] = __byte_perm(low01, low23, 0x7632);
    to[2] = __byte_perm(high01, high23, 0x5410);
    to[3] = __byte_perm(high01, high23, 0x7632);
}

/* A block turns a tile of a head: rows of channels to rows of keys of a channel, 128 bytes each, whose chunks of 16 lie
 * as matrix_at() has them. Values of keys that are not there are zeros. */
template <uint32_t channels> __global__ void __launch_bounds__(256) turn_values(const turned_task task)
{
    constexpr uint32_t words = channels / 4, row_words = tile / 4;
    __shared__ __align__(16) uint32_t turned[channels * row_words];
    const uint32_t head = blockIdx.x / task.tiles, first = (blockIdx.x - head * task.tiles) * tile;
    const uint32_t *const from =
        reinterpret_cast<const uint32_t *>(task.v) + static_cast<size_t>(head) * task.keys * words;

    for (uint32_t k = threadIdx.x; k < words * row_words; k += 256) {
        /* lanes: 4 t, then 8 words of channels */
        const uint32_t t = k % 4, word = k / 4 % words, h = k / 4 / words;
        uint32_t read[4], made[4];
#pragma unroll
        for (uint32_t e = 0; e < 4; e++) {
            const uint32_t key = first + 16 * h + 8 * (e / 2) + 2 * t + e % 2;
            read[e] = key < task.keys ? __ldg(from + static_cast<size_t>(key) * words + word) : 0;
        }
        transpose_bytes(read, made);
#pragma unroll
        for (uint32_t e = 0; e < 4; e++) {
            const uint32_t channel = 4 * word + e;
            turned[channel * row_words + ((h ^ (channel & 7)) * 4 + t)] = made[e];
        }
    }
    __syncthreads();
    uint4 *const to = reinterpret_cast<uint4 *>(task.to) + static_cast<size_t>(blockIdx.x) * (channels * row_words / 4);
    for (uint32_t k = threadIdx.x; k < channels * row_words / 4; k += 256)
        to[k] = reinterpret_cast<const uint4 *>(turned)[k];
}

#if PWL_IS_HOPPER

using namespace pwl::hopper;

constexpr uint32_t half = 64; /* keys */

/* What a thread of those that multiply has room for, and of those that copy. */
template <class shape> constexpr int registers = shape::channels == 64 ? 160 : 240;
template <class shape> constexpr int copier_registers = shape::channels == 64 ? 32 : 24;

/* Multiplications of 32 channels of a head, and eights of them. */
template <class shape> constexpr uint32_t steps = shape::channels / 32;
template <class shape> constexpr uint32_t eights = shape::channels / 8;

/* Lanes of a warp that tell that it is through with a slot: one will do, but for racecheck (wgmma_loop.cuh). */
#ifdef PWL_QGEMM_EACH_LANE_TELLS
constexpr uint32_t tellers = 32;
#else
constexpr uint32_t tellers = 1;
#endif

__device__ inline void leave(uint32_t empty)
{
    if (threadIdx.x % 32 < tellers)
        arrive(empty);
}

/* Keys that row r of a head sees. */
__device__ uint32_t reach_of(const attention_task &task, uint32_t r)
{
    return task.is_causal ? min(task.keys, task.first + r + 1) : task.keys;
}

/* Which rows a block has: the last of a head first, which see most where rows are causal. */
template <class shape> struct block_place {
    uint32_t head, first; /* of queries */
    uint32_t tiles;       /* of keys that any row sees */

    __device__ explicit block_place(const attention_task &task)
    {
        head = blockIdx.x / task.blocks;
        first = (task.blocks - 1 - (blockIdx.x - head * task.blocks)) * shape::rows;
        tiles = (reach_of(task, min(first + shape::rows, task.queries) - 1) + tile - 1) / tile;
    }
};

/* Slots in their order, of keys or values, with their barriers: full, and empty behind it. */
template <class shape> struct ring {
    uint32_t memory, slot = 0;
    bool odd;

    __device__ ring(uint32_t memory, bool odd) : memory(memory), odd(odd)
    {
    }

    __device__ uint32_t full() const
    {
        return memory + slot * 16;
    }

    __device__ uint32_t empty() const
    {
        return full() + 8;
    }

    __device__ uint32_t at() const
    {
        return memory + shape::slots_at + slot * shape::slot;
    }

    __device__ void advance()
    {
        if (++slot == shape::slots) {
            slot = 0;
            odd = !odd;
        }
    }
};

/* One thread: keys of all tiles, then keys and values of all. */
template <class shape>
__device__ void copy_tiles(const attention_task &task, const CUtensorMap &keys, const block_place<shape> &here,
                           uint32_t memory)
{
    ring<shape> to(memory, true);
    const uint32_t head = here.head / task.share;
    const uint8_t *values = task.values + static_cast<size_t>(head) * task.tiles * shape::slot;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < here.tiles; k++) {
            wait_for(to.empty(), to.odd);
            arrive_and_expect(to.full(), shape::slot);
            copy_tensor(to.at(), &keys, 0, static_cast<int32_t>(head * task.keys + k * tile), to.full());
            to.advance();
            if (pass == 0)
                continue;
            wait_for(to.empty(), to.odd);
            arrive_and_expect(to.full(), shape::slot);
            copy_bytes(to.at(), values + static_cast<size_t>(k) * shape::slot, shape::slot, to.full());
            to.advance();
        }
}

template <class shape> __device__ uint64_t keys_at(uint32_t address)
{
    return shape::channels == 128 ? matrix_at(address) : narrow_matrix_at(address);
}

/* What a thread has of its warpgroup's rows: two of them, 8 apart, and their codes as operand A. */
template <class shape> struct queries {
    uint32_t row[2], reach[2]; /* of the head */
    uint32_t codes[steps<shape>][4];

    __device__ queries(const attention_task &task, const block_place<shape> &here)
    {
        const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const size_t head = static_cast<size_t>(here.head) * task.queries;
        const char *from[2];
#pragma unroll
        for (uint32_t r = 0; r < 2; r++) {
            row[r] = here.first + warp * 16 + lane / 4 + 8 * r;
            const uint32_t read = min(row[r], task.queries - 1);
            reach[r] = reach_of(task, read);
            from[r] = reinterpret_cast<const char *>(task.q) + (head + read) * shape::channels + lane % 4 * 4;
        }
#pragma unroll
        for (uint32_t s = 0; s < steps<shape>; s++)
#pragma unroll
            for (uint32_t k = 0; k < 4; k++)
                codes[s][k] = __ldg(reinterpret_cast<const uint32_t *>(from[k % 2] + 32 * s + k / 2 * 16));
    }

    /* The first tile of which some row of the warpgroup does not see all. */
    __device__ uint32_t seen_tiles(const attention_task &task, const block_place<shape> &here) const
    {
        return reach_of(task, here.first + threadIdx.x / group_threads * group_rows) / tile;
    }
};

/* A = Q K^T; goes on until it is waited for. */
template <class shape, unsigned columns>
__device__ void multiply_keys(int32_t (&a)[columns][4], const queries<shape> &q, uint32_t keys)
{
    const uint64_t matrix = keys_at<shape>(keys);
    multiply(a, q.codes[0], matrix);
#pragma unroll
    for (uint32_t s = 1; s < steps<shape>; s++)
        multiply_add<elements::s8>(a, q.codes[s], matrix_beyond(matrix, 32 * s));
}

/* Of keys from `first` on, of which a row sees those below its reach; the largest of even keys and of odd ones. */
template <bool all, class shape>
__device__ void take_largest(const int32_t (&a)[16][4], const queries<shape> &q, uint32_t first, int32_t (&largest)[4])
{
#pragma unroll
    for (uint32_t n = 0; n < 16; n++)
#pragma unroll
        for (uint32_t k = 0; k < 4; k++)
            if (all || first + 8 * n + threadIdx.x % 4 * 2 + k % 2 < q.reach[k / 2])
                largest[k] = max(largest[k], a[n][k]);
}

/* The largest A of each of a thread's rows. */
template <class shape>
__device__ void find_largest(const queries<shape> &q, uint32_t tiles, uint32_t seen, ring<shape> &from,
                             int32_t (&largest)[2])
{
    int32_t a[16][4], of_four[4] = {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN};
    for (uint32_t k = 0; k < tiles; k++) {
        wait_for(from.full(), from.odd);
        begin_multiplications();
        multiply_keys(a, q, from.at());
        close_multiplications();
        wait_for_multiplications<0>();
        hold(a);
        leave(from.empty());
        from.advance();
        if (k < seen)
            take_largest<true>(a, q, k * tile, of_four);
        else
            take_largest<false>(a, q, k * tile, of_four);
    }
#pragma unroll
    for (uint32_t r = 0; r < 2; r++) {
        largest[r] = max(of_four[2 * r], of_four[2 * r + 1]);
        largest[r] = max(largest[r], __shfl_xor_sync(~0u, largest[r], 1));
        largest[r] = max(largest[r], __shfl_xor_sync(~0u, largest[r], 2));
    }
}

/* Low and high bytes of 64 exponentials of each row, as operands A. */
struct weights {
    uint32_t low[2][4], high[2][4];
};

/* What turns products into exponentials, and the sums of their bytes. */
struct exponentials {
    int32_t least[2];            /* of each row: smaller A count as this one, so that 32 bits hold what follows */
    uint32_t added[2];           /* a times the row's largest, and what rounds */
    uint32_t minus, lane, table; /* - a */
    uint32_t low[2], high[2];

    __device__ exponentials(const attention_task &task, const int32_t (&largest)[2], uint32_t table)
        : minus(0u - static_cast<uint32_t>(task.step)), lane(threadIdx.x % 32 * 4), table(table), low{}, high{}
    {
        const uint32_t step = static_cast<uint32_t>(task.step), rounds = 1 << 23;
        const uint32_t most =
            min((~0u - rounds) / step, 1u << 24); /* that A lies below the largest: products of 22 bits */
#pragma unroll
        for (uint32_t r = 0; r < 2; r++) {
            least[r] = largest[r] - static_cast<int32_t>(most);
            added[r] = static_cast<uint32_t>(largest[r]) * step + rounds;
        }
    }

    /* low + 2^16 high of E[d]; of an A above the largest, which its row does not see, of any d. */
    __device__ uint32_t at(int32_t a, uint32_t r) const
    {
        const uint32_t scaled = added[r] + static_cast<uint32_t>(max(a, least[r])) * minus;
        uint32_t word;
        asm volatile("ld.shared.u32 %0, [%1];" /* word = table[scaled >> 24], of this lane */
                     : "=r"(word)
                     : "r"(table + __byte_perm(scaled, lane, 0x7734)));
        return word;
    }

    /* Of keys from `first` on, of which a row sees those below its reach. */
    template <bool all, class shape>
    __device__ void find(const int32_t (&a)[8][4], const queries<shape> &q, uint32_t first, weights &made)
    {
        const uint32_t t = threadIdx.x % 4;
#pragma unroll
        for (uint32_t k = 0; k < 8; k++) {
            const uint32_t s = k / 4, j = k / 2 % 2, r = k % 2;
            uint32_t e[4];
#pragma unroll
            for (uint32_t i = 0; i < 4; i++) {
                const uint32_t n = 4 * s + 2 * j + i / 2;
                e[i] = at(a[n][2 * r + i % 2], r);
                if (!all && first + 8 * n + 2 * t + i % 2 >= q.reach[r])
                    e[i] = 0;
            }
            const uint32_t front = e[1] * 256 + e[0], back = e[3] * 256 + e[2];
            made.low[s][2 * j + r] = __byte_perm(front, back, 0x5410);
            made.high[s][2 * j + r] = __byte_perm(front, back, 0x7632);
            low[r] = __dp4a(made.low[s][2 * j + r], 0x01010101u, low[r]);
            high[r] = __dp4a(made.high[s][2 * j + r], 0x01010101u, high[r]);
        }
    }
};

/* W of a warpgroup's rows. */
template <class shape> struct sums {
    int32_t low[eights<shape>][4], high[eights<shape>][4];

    __device__ void add(const weights &of, uint32_t values)
    {
        const uint64_t matrix = matrix_at(values);
#pragma unroll
        for (uint32_t s = 0; s < 2; s++) {
            multiply_add<elements::u8>(low, of.low[s], matrix_beyond(matrix, 32 * s));
            multiply_add<elements::u8>(high, of.high[s], matrix_beyond(matrix, 32 * s));
        }
    }
};

/* Turns among the warpgroups that multiply. */
template <class shape> struct turns {
    const uint32_t group;

    __device__ explicit turns(uint32_t group) : group(group)
    {
        if (group == shape::groups - 1)
            arrive_to_meet(1, 2 * group_threads);
    }

    __device__ void take() const
    {
        meet(1 + group, 2 * group_threads);
    }

    __device__ void pass() const
    {
        arrive_to_meet(1 + (group + 1) % shape::groups, 2 * group_threads);
    }

    __device__ void end() const
    {
        if (group != shape::groups - 1)
            pass();
    }
};

template <class shape>
__device__ void store(const attention_task &task, const block_place<shape> &here, const queries<shape> &q,
                      const sums<shape> &of, const exponentials &e)
{
#pragma unroll
    for (uint32_t r = 0; r < 2; r++) {
        uint32_t sum = 256 * e.high[r] + e.low[r];
        sum += __shfl_xor_sync(~0u, sum, 1);
        sum += __shfl_xor_sync(~0u, sum, 2);
        if (q.row[r] >= task.queries)
            continue;
        const pwl_row_cell cell = pwl_reciprocal_cell(sum);
        const pwl_attention_finish finish =
            pwl_attention_finish_of(task.zp_v, sum, pwl_reciprocal_factor(cell, __ldg(task.core + cell.code)));
        uint8_t *const y =
            task.y + (static_cast<size_t>(here.head) * task.queries + q.row[r]) * shape::channels + threadIdx.x % 4 * 2;
#pragma unroll
        for (uint32_t n = 0; n < eights<shape>; n++) {
            int32_t code[2];
#pragma unroll
            for (uint32_t k = 0; k < 2; k++)
                code[k] = pwl_attention_code(&task.requantise, &finish, of.high[n][2 * r + k], of.low[n][2 * r + k]);
            *reinterpret_cast<uint16_t *>(y + 8 * n) = static_cast<uint16_t>(__byte_perm(code[0], code[1], 0x40));
        }
    }
}

template <class shape>
__device__ void attend(const attention_task &task, const block_place<shape> &here, uint32_t memory)
{
    const queries<shape> q(task, here);
    const uint32_t seen = q.seen_tiles(task, here);
    const turns<shape> turn(threadIdx.x / group_threads);
    ring<shape> keys(memory, false);
    int32_t largest[2];
    find_largest(q, here.tiles, seen, keys, largest);

    exponentials e(task, largest, memory + shape::table_at);
    sums<shape> w = {};
    weights made = {}; /* the first time, 0 is added of whatever values */
    int32_t a[8][4];
    ring<shape> values = keys;
    for (uint32_t k = 0; k < here.tiles; k++) {
        wait_for(keys.full(), keys.odd);
#pragma unroll
        for (uint32_t part = 0; part < 2; part++) {
            turn.take();
            begin_multiplications();
            w.add(made, values.at() + (part ^ 1) * half);
            multiply_keys(a, q, keys.at() + part * half * shape::channels);
            close_multiplications();
            turn.pass();
            wait_for_multiplications<0>();
            hold(a);
            if (part == 0) {
                if (k > 0)
                    leave(values.empty());
                values = keys;
                values.advance();
            } else {
                leave(keys.empty());
            }
            if (k < seen)
                e.template find<true>(a, q, k * tile + part * half, made);
            else
                e.template find<false>(a, q, k * tile + part * half, made);
            if (part == 0)
                wait_for(values.full(), values.odd);
        }
        keys.advance();
        keys.advance();
    }
    turn.take();
    begin_multiplications();
    w.add(made, values.at() + half);
    close_multiplications();
    turn.end();
    wait_for_multiplications<0>();
    hold(w.low);
    hold(w.high);
    store(task, here, q, w, e);
}

#endif

template <class shape>
__global__ void __launch_bounds__(shape::threads, 1)
    attention(const attention_task task, const __grid_constant__ CUtensorMap keys)
{
#if PWL_IS_HOPPER
    extern __shared__ __align__(16) unsigned char any_shared[];
    const uint32_t any = static_cast<uint32_t>(__cvta_generic_to_shared(any_shared));
    const uint32_t memory = (any + 1023) / 1024 * 1024;
    uint32_t *const table = reinterpret_cast<uint32_t *>(any_shared + (memory - any) + shape::table_at);
    const block_place<shape> here(task);
    if (threadIdx.x == 0) {
        for (uint32_t k = 0; k < shape::slots; k++) {
            init_barrier(memory + k * 16, 1);
            init_barrier(memory + k * 16 + 8, shape::groups * group_threads / 32 * tellers);
        }
        show_barriers();
    }
    for (uint32_t k = threadIdx.x; k < 256 * 8; k += shape::threads) {
        const uint32_t d = k / 8, e = __ldg(task.exp + d), word = (e & 255) | (e >> 8) << 16;
        reinterpret_cast<uint4 *>(table)[d * (entry_bytes / 16) + k % 8] = make_uint4(word, word, word, word);
    }
    __syncthreads();
    if (threadIdx.x >= shape::groups * group_threads) {
        leave_registers<copier_registers<shape>>();
        if (threadIdx.x == shape::groups * group_threads)
            copy_tiles(task, keys, here, memory);
    } else {
        take_registers<registers<shape>>();
        attend<shape>(task, here, memory);
    }
#endif
}

template <uint32_t channels>
cudaError_t launch(const pwl_cuda_attention *uploaded, const pwl_attention_call *call, void *workspace,
                   cudaStream_t stream)
{
    using of = shape<channels>;
    attention_task task = {};
    CUtensorMap keys;
    task.q = call->q;
    task.values = static_cast<const uint8_t *>(workspace);
    task.y = static_cast<uint8_t *>(call->y);
    task.exp = uploaded->softmax.softmax.exp;
    task.core = uploaded->softmax.core;
    task.requantise = uploaded->attention.requantise;
    task.step = uploaded->attention.step;
    task.zp_v = uploaded->attention.zp_v;
    task.share = static_cast<uint32_t>(call->share);
    task.queries = static_cast<uint32_t>(call->queries);
    task.keys = static_cast<uint32_t>(call->keys);
    task.tiles = (task.keys + tile - 1) / tile;
    task.blocks = (task.queries + of::rows - 1) / of::rows;
    task.is_causal = call->is_causal != 0 && call->first < call->keys;
    task.first = task.is_causal ? static_cast<uint32_t>(call->first) : 0;
    if (!describe_matrix<uint8_t>(&keys, call->k, call->heads * call->keys, channels, channels, channels, tile))
        return cudaErrorInvalidValue;
    const uint32_t heads = static_cast<uint32_t>(call->heads);
    const turned_task values = {call->v, static_cast<uint32_t *>(workspace), task.keys, task.tiles};
    const cudaError_t error =
        launch_overlapped(false, turn_values<channels>, dim3(heads * task.tiles), 256, 0, stream, values);
    if (error != cudaSuccess)
        return error;
    return launch_overlapped(false, attention<of>, dim3(heads * task.share * task.blocks), of::threads, of::bytes,
                             stream, task, keys);
}

} // namespace

int pwl_cuda_attention_serves(int *serves)
{
    int threads, ptx;
    const cudaError_t error = attributes_of(reinterpret_cast<const void *>(attention<shape<128>>), &threads, &ptx);
    *serves = error == cudaSuccess && ptx >= 90 && threads >= static_cast<int>(shape<128>::threads);
    return error;
}

int pwl_cuda_launch_attention(const pwl_cuda_attention *uploaded, const pwl_attention_call *call, void *workspace,
                              struct CUstream_st *stream)
{
    return call->channels == 64 ? launch<64>(uploaded, call, workspace, stream)
                                : launch<128>(uploaded, call, workspace, stream);
}
