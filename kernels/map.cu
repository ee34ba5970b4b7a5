/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays on the device, by the plan of a table (plan.h).
 *
 * Each block stages cells and lines in its shared memory, in copies side by side: neighbouring lanes read different
 * copies and thus different banks, so that random codes cost what equal ones do. Then each thread moves 16 bytes of
 * input at a time. Codes of 8 bits have a table of all their values instead. Where the cells of a plan need a search,
 * or do not fit, its arrays are read from global memory through the L1 cache.
 */
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

#include <pwl/cuda.h>

#include "launch.h"
#include "plan.h"

namespace
{

/* Blocks of lines stay while there is work, since staging takes time; those of bytes come and go, which evens out how
 * long each takes. */
constexpr unsigned line_threads = 384, line_blocks = 3;
constexpr unsigned byte_threads = 256, byte_blocks = 6, byte_rounds = 16;

/* Shared memory of a block: at most what every device grants unasked. */
constexpr uint32_t shared_limit = 48 * 1024;

/* What a kernel needs beside the arrays. */
struct task {
    pwl_plan plan;
    const char *memory;                             /* the plan's arrays */
    uint32_t flip, low, high, add;                  /* codes: u = clamp(code ^ flip, low, high) + add */
    uint32_t head_copies, tail_copies, cell_copies; /* in shared memory, as powers of two */
    uint32_t flip_pair;                             /* flip in both halves of a word */
};

/* How the line of a code is found and rounded. */
enum class way { down, away, even, search };

/* How values are saturated: to the table's range, or to all codes of the output's type. */
enum class fit { range, all_signed, all_unsigned };

/* As many elements as move together: 16 bytes of the wider type. */
__host__ __device__ constexpr int together_of(size_t in_bytes, size_t out_bytes)
{
    return static_cast<int>(16 / (in_bytes > out_bytes ? in_bytes : out_bytes));
}

/* Elements that move together, by one load or store. They stay in words: arrays of bytes would be taken
 * apart in registers. */
template <class T, int count> struct alignas(sizeof(T) * count) pack {
    static constexpr int per_word = 4 / sizeof(T);
    uint32_t word[count / per_word];

    __device__ T get(int k) const
    {
        return static_cast<T>(word[k / per_word] >> (8 * sizeof(T) * (k % per_word)));
    }

    /* `value(k)` is element k, in the low bits. */
    template <class function> __device__ void set_all(const function &value)
    {
#pragma unroll
        for (int w = 0; w < count / per_word; w++) {
            if (sizeof(T) == 4)
                word[w] = value(w);
            else if (sizeof(T) == 2)
                word[w] = __byte_perm(value(2 * w), value(2 * w + 1), 0x5410);
            else
                word[w] = __byte_perm(__byte_perm(value(4 * w), value(4 * w + 1), 0x0040),
                                      __byte_perm(value(4 * w + 2), value(4 * w + 3), 0x0040), 0x5410);
        }
    }
};

/* Inputs: u of a raw element. */
template <class T> struct codes {
    using element = T;
    static __device__ uint32_t u(const task &task, T raw)
    {
        const uint32_t code = raw ^ task.flip;
        return min(max(code, task.low), task.high) + task.add;
    }
};

/* Outputs: an element of a saturated value. Signed and unsigned codes are stored by the same bits. */
template <class T> struct to_codes {
    using element = T;
    template <class V> static __device__ T from(const task &, V q)
    {
        return static_cast<T>(q);
    }
};

/*
 * A line in shared memory is one load of 16 bytes, or two of 16 and 4, and a cell 4 or 8 bytes: as little as holds
 * them, since what is read there limits the speed. pwl_plan.compact says that they do hold.
 */

/* 32-bit accumulators. The cell is line * 2^16 + 65535 - last, so that adding u carries into the line where u lies
 * beyond last; both have 16 bits. */
struct narrow {
    using value = int32_t;
    using line = pwl_plan32;
    using head = uint4;
    using cell = uint32_t;
    static constexpr bool has_tail = false;
    static __device__ cell cell_of(pwl_cell c)
    {
        return (c.line << 16) + 65535 - min(c.last, 65535);
    }
    static __device__ uint32_t pick(cell c, uint32_t u)
    {
        return (c + u) >> 16;
    }
    static __device__ head head_of(const line &of)
    {
        return make_uint4(of.slope, of.pre, of.post, of.n);
    }
    static __device__ uint32_t tail_of(const line &)
    {
        return 0;
    }
    static __device__ value eval(head head, uint32_t, uint32_t u, int rounding)
    {
        const line of = {head.x, head.y, head.z, head.w};
        return pwl_plan_eval32(&of, u, rounding);
    }
};

/* 64-bit accumulators. The slope has 32 bits, `post` 54 and n, with PWL_PLAN_NEGATED, 10. */
struct wide {
    using value = int64_t;
    using line = pwl_plan64;
    using head = uint4;
    using cell = uint2;
    static constexpr bool has_tail = true;
    static __device__ cell cell_of(pwl_cell c)
    {
        return make_uint2(c.last, c.line);
    }
    static __device__ uint32_t pick(cell c, uint32_t u)
    {
        return c.y + (u > c.x);
    }
    static __device__ head head_of(const line &of)
    {
        return make_uint4(static_cast<uint32_t>(of.pre), static_cast<uint32_t>(of.pre >> 32),
                          static_cast<uint32_t>(of.slope), static_cast<uint32_t>(of.post));
    }
    static __device__ uint32_t tail_of(const line &of)
    {
        return static_cast<uint32_t>(of.post >> 32) << 10 | static_cast<uint32_t>(of.n);
    }
    static __device__ value eval(head head, uint32_t tail, uint32_t u, int rounding)
    {
        const int32_t post_high = static_cast<int32_t>(tail) >> 10;
        const line of = {static_cast<uint64_t>(int64_t{static_cast<int32_t>(head.z)}), uint64_t{head.y} << 32 | head.x,
                         static_cast<uint64_t>(static_cast<uint32_t>(post_high)) << 32 | head.w, tail & 1023};
        return pwl_plan_eval64(&of, u, rounding);
    }
};

/* The block's shared memory. Places in it are offsets: a pointer that was computed with would be read through the
 * slower generic loads. */
__device__ char *shared_memory()
{
    extern __shared__ uint4 memory[];
    return reinterpret_cast<char *>(memory);
}

/* Copies of one array side by side in shared memory, element after element: 2^copies of each, of which a lane reads its
 * own. Places are products, since multiplications have units of their own while shifts and sums share those that are
 * busiest. */
template <class T> struct copied {
    uint32_t stride, mine, offset, count;

    __device__ copied(uint32_t offset, uint32_t count, uint32_t copies)
        : stride(sizeof(T) << copies), mine(offset + (threadIdx.x & ((1u << copies) - 1)) * sizeof(T)), offset(offset),
          count(count)
    {
    }

    __device__ T operator[](uint32_t k) const
    {
        return *reinterpret_cast<const T *>(shared_memory() + (k * stride + mine));
    }

    /* The offset behind it, a multiple of 16. */
    __device__ uint32_t end() const
    {
        return (offset + count * stride + 15) & ~15u;
    }

    template <class function> __device__ void fill(uint32_t copies, const function &element)
    {
        for (uint32_t i = threadIdx.x; i < count << copies; i += line_threads)
            reinterpret_cast<T *>(shared_memory() + offset)[i] = element(i >> copies);
    }
};

template <class width> struct staged {
    copied<typename width::head> heads;
    copied<uint32_t> tails;
    copied<typename width::cell> cells;

    __device__ explicit staged(const task &task)
        : heads(0, task.plan.lines, task.head_copies),
          tails(heads.end(), width::has_tail ? task.plan.lines : 0, task.tail_copies),
          cells(tails.end(), task.plan.cells, task.cell_copies)
    {
    }

    __device__ void fill(const task &task)
    {
        const auto *const line = reinterpret_cast<const typename width::line *>(task.memory + task.plan.line_offset);
        const pwl_cell *const cell = reinterpret_cast<const pwl_cell *>(task.memory + task.plan.cell_offset);
        heads.fill(task.head_copies, [&](uint32_t k) { return width::head_of(line[k]); });
        tails.fill(task.tail_copies, [&](uint32_t k) { return width::tail_of(line[k]); });
        cells.fill(task.cell_copies, [&](uint32_t k) { return width::cell_of(cell[k]); });
        __syncthreads();
    }

    __device__ typename width::value value_at(const task &task, uint32_t u, int rounding) const
    {
        const uint32_t i = width::pick(cells[u >> task.plan.cell_shift], u);
        return width::eval(heads[i], width::has_tail ? tails[i] : 0, u, rounding);
    }
};

__device__ int32_t plan_eval(const pwl_plan32 *line, uint32_t u, int rounding)
{
    return pwl_plan_eval32(line, u, rounding);
}

__device__ int64_t plan_eval(const pwl_plan64 *line, uint32_t u, int rounding)
{
    return pwl_plan_eval64(line, u, rounding);
}

/* Before saturation. */
template <class width, way by>
__device__ typename width::value raw_value(const task &task, const staged<width> &arrays, uint32_t u)
{
    if constexpr (by == way::search) {
        const pwl_cell *const cell = reinterpret_cast<const pwl_cell *>(task.memory + task.plan.cell_offset);
        const uint32_t *const start = reinterpret_cast<const uint32_t *>(task.memory + task.plan.start_offset);
        const uint32_t i = pwl_plan_search(cell + (u >> task.plan.cell_shift), start, u);
        const auto *const line =
            reinterpret_cast<const typename width::line *>(task.memory + task.plan.line_offset) + i;
        return plan_eval(line, u, task.plan.rounding);
    } else {
        return arrays.value_at(task, u, static_cast<int>(by));
    }
}

template <class width, way by>
__device__ typename width::value value_of(const task &task, const staged<width> &arrays, uint32_t u)
{
    using value = typename width::value;
    const value v = raw_value<width, by>(task, arrays, u);
    return min(max(v, static_cast<value>(task.plan.qmin_y)), static_cast<value>(task.plan.qmax_y));
}

/* Saturation to all of a type of 16 bits: two values in one word. */
template <fit to> __device__ uint32_t saturate_pair(int32_t first, int32_t second)
{
    uint32_t pair;
    if (to == fit::all_signed)
        asm("cvt.pack.sat.s16.s32 %0, %1, %2;"
            : "=r"(pair)
            : "r"(second), "r"(first)); /* sat(second) << 16 | sat(first) */
    else
        asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(pair) : "r"(second), "r"(first));
    return pair;
}

/* Saturation to all of a type of 32 bits. */
template <fit to> __device__ uint32_t saturate(int64_t v)
{
    const uint32_t flip = to == fit::all_signed ? UINT32_C(1) << 31 : 0;
    const int32_t high = static_cast<int32_t>(v >> 32);
    const uint32_t low = static_cast<uint32_t>(v);
    const int32_t inside = to == fit::all_signed ? static_cast<int32_t>(low) >> 31 : 0;
    return high == inside ? low : static_cast<uint32_t>(~(high >> 31)) ^ flip;
}

/* A pack of values. */
template <class input, class output, class width, way by, fit to, int together>
__device__ auto map_pack(const task &task, const staged<width> &arrays,
                         const pack<typename input::element, together> &elements)
{
    pack<typename output::element, together> values;
    if constexpr (to == fit::range) {
        values.set_all([&](int k) -> uint32_t {
            return output::from(task, value_of<width, by>(task, arrays, input::u(task, elements.get(k))));
        });
    } else if constexpr (sizeof(typename output::element) == 2) {
#pragma unroll
        for (int w = 0; w < together / 2; w++) {
            const uint32_t pair = elements.word[w] ^ task.flip_pair;
            values.word[w] = saturate_pair<to>(raw_value<width, by>(task, arrays, pair & 0xffff),
                                               raw_value<width, by>(task, arrays, pair >> 16));
        }
    } else {
        values.set_all([&](int k) -> uint32_t {
            return saturate<to>(raw_value<width, by>(task, arrays, elements.word[k] ^ task.flip));
        });
    }
    return values;
}

/*
 * The arrays of one launch as a thread walks them: packs a grid's width apart, the next `depth` of them always under
 * way, since a load takes longer than what is done with it.
 */
template <class in_t, class out_t, int together, int depth> struct stream_of {
    using in_pack = pack<in_t, together>;
    using out_pack = pack<out_t, together>;
    const in_t *from;
    out_t *to;
    size_t head, packs, count, thread, threads;
    in_pack ahead[depth];

    __device__ stream_of(const void *x, void *y, size_t head, size_t packs, size_t count)
        : from(static_cast<const in_t *>(x)), to(static_cast<out_t *>(y)), head(head), packs(packs), count(count),
          thread(size_t{blockIdx.x} * blockDim.x + threadIdx.x), threads(size_t{gridDim.x} * blockDim.x)
    {
#pragma unroll
        for (int d = 0; d < depth; d++)
            load(d, thread + d * threads);
    }

    __device__ void load(int d, size_t i)
    {
        if (i < packs)
            ahead[d] = reinterpret_cast<const in_pack *>(from + head)[i];
    }

    /* `map` gives the pack of values of a pack, `map_one` the value of an element. */
    template <class map_type, class map_one_type> __device__ void run(const map_type &map, const map_one_type &map_one)
    {
        for (size_t i = thread; i < packs; i += depth * threads) {
#pragma unroll
            for (int d = 0; d < depth; d++) {
                if (i + d * threads < packs) {
                    const in_pack elements = ahead[d];
                    load(d, i + (d + depth) * threads);
                    reinterpret_cast<out_pack *>(to + head)[i + d * threads] = map(elements);
                }
            }
        }
        const size_t tail = head + together * packs;
        for (size_t k = thread; k < head + (count - tail); k += threads) {
            const size_t at = k < head ? k : tail + (k - head);
            to[at] = map_one(from[at]);
        }
    }
};

/*
 * y[k] = value of x[k] for k in [0, count). The elements from `head` on are aligned to packs, `packs` of them; the rest
 * goes one by one. x and y may be one array where elements have one size: a thread writes what it alone has read.
 */
template <class input, class output, class width, way by, fit to>
__global__ void __launch_bounds__(line_threads, line_blocks)
    map_lines(const __grid_constant__ task task, const void *x, void *y, size_t head, size_t packs, size_t count)
{
    using in_t = typename input::element;
    using out_t = typename output::element;
    constexpr int together = together_of(sizeof(in_t), sizeof(out_t));
    stream_of<in_t, out_t, together, 1> stream(x, y, head, packs, count);
    staged<width> arrays(task);
    if (by != way::search)
        arrays.fill(task);
    stream.run(
        [&](const pack<in_t, together> &elements) {
            return map_pack<input, output, width, by, to, together>(task, arrays, elements);
        },
        [&](in_t element) { return output::from(task, value_of<width, by>(task, arrays, input::u(task, element))); });
}

/* As map_lines for arrays of 8-bit codes, from a table of all their values. */
template <class out_t>
__global__ void __launch_bounds__(byte_threads, byte_blocks)
    map_bytes(const __grid_constant__ task task, const void *x, void *y, size_t head, size_t packs, size_t count)
{
    constexpr int together = together_of(1, sizeof(out_t));
    __shared__ out_t value[256];
    stream_of<uint8_t, out_t, together, 2> stream(x, y, head, packs, count);
    for (unsigned raw = threadIdx.x; raw < 256; raw += byte_threads) {
        /* flip is 128 for signed codes: 128 to 255 are -128 to -1. */
        const int code = static_cast<int>(raw ^ task.flip) - static_cast<int>(task.flip);
        value[raw] = static_cast<out_t>(reinterpret_cast<const int32_t *>(task.memory)[code - PWL_PLAN_BYTE_FIRST]);
    }
    __syncthreads();
    stream.run(
        [&](const pack<uint8_t, together> &elements) {
            pack<out_t, together> values;
            values.set_all([&](int k) -> uint32_t { return value[elements.get(k)]; });
            return values;
        },
        [&](uint8_t element) { return value[element]; });
}

typedef void kernel(const task task, const void *x, void *y, size_t head, size_t packs, size_t count);

/* Kernels by the way, for one input, output and width. */
template <class input, class output, class width>
kernel *const ways[] = {
    map_lines<input, output, width, way::down, fit::range>, map_lines<input, output, width, way::away, fit::range>,
    map_lines<input, output, width, way::even, fit::range>, map_lines<input, output, width, way::search, fit::range>};

/* The kernel of a pair of element types; log2 of their bytes. */
template <class input, class width> kernel *to_width(int out, way by)
{
    const int k = static_cast<int>(by);
    return out == 0   ? ways<input, to_codes<uint8_t>, width>[k]
           : out == 1 ? ways<input, to_codes<uint16_t>, width>[k]
                      : ways<input, to_codes<uint32_t>, width>[k];
}

/* With another fit than the range the table takes all codes of its input's type, too. */
kernel *kernel_of(const pwl_plan &plan, int in, int out, way by, fit to)
{
    using narrow_in = codes<uint16_t>;
    using narrow_out = to_codes<uint16_t>;
    using wide_in = codes<uint32_t>;
    using wide_out = to_codes<uint32_t>;
    if (in == 0)
        return out == 0 ? map_bytes<uint8_t> : out == 1 ? map_bytes<uint16_t> : map_bytes<uint32_t>;
    if (to != fit::range && by == way::down && in == out && plan.wide == (in == 2)) {
        const bool is_signed = to == fit::all_signed;
        if (plan.wide)
            return is_signed ? map_lines<wide_in, wide_out, wide, way::down, fit::all_signed>
                             : map_lines<wide_in, wide_out, wide, way::down, fit::all_unsigned>;
        return is_signed ? map_lines<narrow_in, narrow_out, narrow, way::down, fit::all_signed>
                         : map_lines<narrow_in, narrow_out, narrow, way::down, fit::all_unsigned>;
    }
    if (plan.wide)
        return in == 1 ? to_width<codes<uint16_t>, wide>(out, by) : to_width<codes<uint32_t>, wide>(out, by);
    return in == 1 ? to_width<codes<uint16_t>, narrow>(out, by) : to_width<codes<uint32_t>, narrow>(out, by);
}

int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Codes of `bytes` bytes become u: code ^ flip counts from the type's lowest value, which lies `base` above qmin_x. */
void take_codes(task *task, int bytes, bool is_signed)
{
    const int64_t most = (INT64_C(1) << (8 * bytes)) - 1, range = task->plan.qmax_x - task->plan.qmin_x;
    const int64_t flip = is_signed ? INT64_C(1) << (8 * bytes - 1) : 0;
    int64_t base = -flip - task->plan.qmin_x;
    task->flip = static_cast<uint32_t>(flip);
    task->low = static_cast<uint32_t>(clamp(-base, 0, most));
    task->high = static_cast<uint32_t>(clamp(range - base, 0, most));
    /* All codes of the type beyond one end of the table's. */
    if (-base > most)
        base = -most;
    if (base > range)
        base = range;
    task->add = static_cast<uint32_t>(base);
}

/* Copies in shared memory, as many as pay off; returns the bytes, 0 when not even one of each fits. A bank for each
 * lane of a transaction, of 128 bytes, is all that helps; more than two bytes for each element of a block cost more
 * than they save. */
uint32_t choose_copies(task *task, size_t elements_per_block)
{
    const pwl_plan &plan = task->plan;
    const uint32_t cell_bytes = plan.wide ? sizeof(wide::cell) : sizeof(narrow::cell);
    const uint32_t budget = 2 * elements_per_block < shared_limit ? 2 * elements_per_block : shared_limit;
    uint32_t *const copies[] = {&task->head_copies, &task->tail_copies, &task->cell_copies};
    const uint32_t most[] = {3, plan.wide ? 5u : 0, plan.wide ? 4u : 5};
    const auto bytes = [&] { /* and what makes each a multiple of 16 */
                             return (plan.lines * 16 << task->head_copies) +
                                    (plan.wide ? plan.lines * 4 << task->tail_copies : 0) + 32 +
                                    (plan.cells * cell_bytes << task->cell_copies);
    };
    task->head_copies = task->tail_copies = task->cell_copies = 0;
    if (!plan.compact || bytes() > shared_limit)
        return 0;
    for (bool more = true; more;) {
        more = false;
        for (int k = 0; k < 3; k++) {
            if (*copies[k] == most[k])
                continue;
            ++*copies[k];
            if (bytes() <= budget)
                more = true;
            else
                --*copies[k];
        }
    }
    return bytes();
}

int log2_bytes(pwl_type type)
{
    return type >> 1;
}

} // namespace

int pwl_cuda_launch_map(const pwl_cuda_table *uploaded, pwl_type in, const void *x, pwl_type out, void *y, size_t count,
                        struct CUstream_st *stream)
{
    task task = {};
    task.plan = uploaded->plan;
    task.memory = static_cast<const char *>(uploaded->memory);
    const size_t in_bytes = size_t{1} << log2_bytes(in), out_bytes = size_t{1} << log2_bytes(out);
    const size_t together = together_of(in_bytes, out_bytes);
    const size_t in_align = together * in_bytes, out_align = together * out_bytes;
    take_codes(&task, static_cast<int>(in_bytes), !(in & 1));

    /* Packs from the first aligned input on, where the output is aligned as well. */
    size_t head = (in_align - reinterpret_cast<uintptr_t>(x) % in_align) % in_align / in_bytes;
    const bool aligned = (reinterpret_cast<uintptr_t>(y) + head * out_bytes) % out_align == 0 && head < count;
    head = aligned ? head : 0;
    size_t packs = aligned ? (count - head) / together : 0;

    const unsigned threads = in_bytes == 1 ? byte_threads : line_threads;
    const size_t work = packs ? packs : count;
    const size_t wanted = (work - 1) / threads + 1;
    const size_t most = (in_bytes == 1 ? byte_blocks * byte_rounds : line_blocks) * uploaded->multiprocessors;
    const unsigned blocks = static_cast<unsigned>(wanted < most ? wanted : most);
    const int64_t codes_in = INT64_C(1) << (8 * in_bytes), codes_out = INT64_C(1) << (8 * out_bytes);
    const bool full = task.plan.qmax_x - task.plan.qmin_x + 1 == codes_in && task.low == 0 && task.add == 0 &&
                      task.plan.qmax_y - task.plan.qmin_y + 1 == codes_out;
    const fit to = !full ? fit::range : out & 1 ? fit::all_unsigned : fit::all_signed;
    uint32_t shared = 0;
    way by = static_cast<way>(task.plan.rounding);
    if (in_bytes > 1) {
        shared = choose_copies(&task, count / blocks);
        if (shared == 0)
            by = way::search;
    }
    task.flip_pair = task.flip << 16 | task.flip;
    void *arguments[] = {&task, &x, &y, &head, &packs, &count};
    /* Its own result, not cudaGetLastError(), which may be that of someone else's call. */
    return cudaLaunchKernel(kernel_of(task.plan, log2_bytes(in), log2_bytes(out), by, to), dim3(blocks), dim3(threads),
                            arguments, shared, stream);
}
