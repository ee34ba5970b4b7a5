/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a block of threads gets the values of packs of elements: from the plan's image in shared memory, from a table of
 * the values of all 8-bit codes, or, where a plan has no image, from its arrays in global memory through the L1 cache.
 *
 * Each way has: begin(), which starts to read the table; end<groups>(), after which its shared memory can be read,
 * `groups` groups of copies (walk.cuh) having been started in between; map() for a pack and for an element.
 */
#ifndef PWL_EVALUATE_CUH
#define PWL_EVALUATE_CUH

#include <stdint.h>

#include "arch/overlap.cuh"
#include "elements.cuh"
#include "plan.h"
#include "task.cuh"
#include "walk.cuh"

namespace pwl
{

/* How values are saturated: to the table's range, to all codes of the output's type, or not, since none has to be (a
 * SiLU of 16 bits on f16: 0.942 of the speed of a copy for 0.914). */
enum class fit { range, all_signed, all_unsigned, within };

/* 32-bit accumulators. */
struct narrow {
    static constexpr bool is_wide = false;
    using value = int32_t;
    using line = pwl_plain32;
    static __device__ value eval(const line &of, uint32_t u, int rounding)
    {
        return pwl_plain_eval32(&of, u, rounding);
    }
};

/* 64-bit accumulators. */
struct wide {
    static constexpr bool is_wide = true;
    using value = int64_t;
    using line = pwl_plain64;
    static __device__ value eval(const line &of, uint32_t u, int rounding)
    {
        return pwl_plain_eval64(&of, u, rounding);
    }
};

/* Heads and cells of an image of compact lines, which are of any rounding, `even` or not. */
template <bool even> struct compact_lines : narrow {
    using head = pwl_compact;
    using cell = uint32_t;
    static __device__ uint32_t pick(cell c, uint32_t u)
    {
        return pwl_narrow_pick(c, u);
    }
    static __device__ value eval(const pwl_cuda_plan &plan, head h, uint32_t, uint32_t u)
    {
        return pwl_compact_eval(h, u, plan.fraction, even);
    }
};

using compact = compact_lines<false>;

/* Those of an image of wide lines. */
template <int rounding> struct wide_rounded : wide {
    using head = uint4;
    using cell = uint2;
    static __device__ uint32_t pick(cell c, uint32_t u)
    {
        return pwl_wide_pick(c.x, c.y, u);
    }
    static __device__ value eval(const pwl_cuda_plan &, head h, uint32_t tail, uint32_t u)
    {
        return wide::eval(pwl_wide_line({h.x, h.y, h.z, h.w}, tail), u, rounding);
    }
};

/* An array in shared memory of an image, as this lane reads it. */
template <class T> struct copied {
    uint32_t stride, mine;

    __device__ copied(const char *array, uint32_t copies, uint32_t lane)
        : stride(sizeof(T) << copies), mine(shared_address(array) + pwl_image_at(sizeof(T), copies, 0, lane))
    {
    }

    __device__ T operator[](uint32_t k) const
    {
        return load_shared<T>(k * stride + mine);
    }
};

/* Starts to copy the image, by so many threads, to be waited for with the other copies of the group. */
__device__ inline void copy_image(const pwl_planned &of, char *image, uint32_t thread, uint32_t threads)
{
    for (uint32_t at = 16 * thread; at < of.plan.image_bytes; at += 16 * threads)
        copy_async<16>(image + at, of.memory + of.plan.image_offset + at);
}

/* Raw values by the image, whose lines are compact or wide_rounded. */
template <class lines> struct by_image {
    using value = typename lines::value;
    static constexpr bool is_wide = lines::is_wide;
    copied<typename lines::head> heads;
    copied<uint32_t> tails;
    copied<typename lines::cell> cells;

    __device__ explicit by_image(const pwl_planned &of, const char *image = shared_memory(),
                                 uint32_t lane = threadIdx.x)
        : heads(image, of.plan.head_copies, lane), tails(image + of.plan.image_tails, of.plan.tail_copies, lane),
          cells(image + of.plan.image_cells, of.plan.cell_copies, lane)
    {
    }

    __device__ void begin(const pwl_planned &of) const
    {
        copy_image(of, shared_memory(), threadIdx.x, blockDim.x);
        close_group();
    }

    template <int groups> __device__ void end() const
    {
        wait_for_all_but<groups>();
        __syncthreads();
    }

    __device__ value operator()(const pwl_planned &of, uint32_t u) const
    {
        const uint32_t i = lines::pick(cells[u >> of.plan.cell_shift], u);
        return lines::eval(of.plan, heads[i], is_wide ? tails[i] : 0, u);
    }
};

/* Raw values by the arrays, for any table. */
template <class width> struct by_search {
    using value = typename width::value;
    static constexpr bool is_wide = width::is_wide;

    __device__ explicit by_search(const pwl_planned &)
    {
    }

    __device__ void begin(const pwl_planned &) const
    {
    }

    template <int groups> __device__ void end() const
    {
    }

    __device__ value operator()(const pwl_planned &of, uint32_t u) const
    {
        const pwl_cell *const cell = reinterpret_cast<const pwl_cell *>(of.memory + of.plan.cell_offset);
        const uint32_t *const start = reinterpret_cast<const uint32_t *>(of.memory + of.plan.start_offset);
        const uint32_t i = pwl_cuda_plan_search(cell + (u >> of.plan.cell_shift), start, u);
        const auto *const line = reinterpret_cast<const typename width::line *>(of.memory + of.plan.line_offset) + i;
        return width::eval(*line, u, of.plan.rounding);
    }
};

/* Saturation to all of a type of 16 bits: two values in one word. */
template <fit to> __device__ uint32_t saturate_pair(int32_t first, int32_t second)
{
    uint32_t pair;
    if (to == fit::all_signed)
        asm("cvt.pack.sat.s16.s32 %0, %1, %2;" /* pair = sat(second) << 16 | sat(first) */
            : "=r"(pair)
            : "r"(second), "r"(first));
    else
        asm("cvt.pack.sat.u16.s32 %0, %1, %2;" /* the same, unsigned */
            : "=r"(pair)
            : "r"(second), "r"(first));
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

/* Elements by lines: `raw` gives the value of a u before saturation. Codes that are stored in all of their type need no
 * clamping, and saturate faster. */
template <class input, class output, class raw_type, fit to> struct by_lines {
    using in_t = typename input::element;
    using out_t = typename output::element;
    using value = typename raw_type::value;
    static constexpr bool many_registers = input::is_real;
    raw_type raw;

    __device__ explicit by_lines(const task &task) : raw(task)
    {
    }

    __device__ void begin(const task &task) const
    {
        raw.begin(task);
    }

    template <int groups> __device__ void end() const
    {
        raw.template end<groups>();
    }

    __device__ uint32_t map(const task &task, in_t element) const
    {
        const value v = raw(task, input::template u<raw_type::is_wide>(task, element));
        if constexpr (to == fit::within)
            return output::from(task, v);
        return output::from(task,
                            min(max(v, static_cast<value>(task.plan.qmin_y)), static_cast<value>(task.plan.qmax_y)));
    }

    template <int together>
    __device__ pack<out_t, together> map(const task &task, const pack<in_t, together> &elements) const
    {
        pack<out_t, together> values;
        if constexpr (to == fit::range || to == fit::within) {
            values.set_all([&](int k) { return map(task, elements.get(k)); });
        } else if constexpr (sizeof(out_t) == 2) {
#pragma unroll
            for (int w = 0; w < together / 2; w++) {
                const uint32_t pair = elements.word[w] ^ task.flip_pair;
                values.word[w] = saturate_pair<to>(raw(task, pair & 0xffff), raw(task, pair >> 16));
            }
        } else {
            values.set_all([&](int k) { return saturate<to>(raw(task, elements.word[k] ^ task.flip)); });
        }
        return values;
    }
};

/* Codes of 8 bits, by a table of all their values. */
template <class output> struct by_value {
    using in_t = uint8_t;
    using out_t = output;
    static constexpr bool many_registers = false;

    __device__ explicit by_value(const task &)
    {
    }

    static __device__ out_t *values()
    {
        return reinterpret_cast<out_t *>(shared_memory());
    }

    __device__ void begin(const task &task) const
    {
        for (unsigned raw = threadIdx.x; raw < 256; raw += blockDim.x) {
            /* flip is 128 for signed codes: 128 to 255 are -128 to -1. */
            const int code = static_cast<int>(raw ^ task.flip) - static_cast<int>(task.flip);
            values()[raw] =
                static_cast<out_t>(reinterpret_cast<const int32_t *>(task.memory)[code - PWL_PLAN_BYTE_FIRST]);
        }
    }

    template <int groups> __device__ void end() const
    {
        __syncthreads();
    }

    __device__ uint32_t map(const task &, in_t element) const
    {
        return values()[element];
    }

    template <int together>
    __device__ pack<out_t, together> map(const task &task, const pack<in_t, together> &elements) const
    {
        pack<out_t, together> results;
        results.set_all([&](int k) { return map(task, elements.get(k)); });
        return results;
    }
};

/* Half of the threads that a multiprocessor is to hold, which limits registers, to 56; some need 64. */
template <class way> constexpr int half_of_threads()
{
#if __CUDA_ARCH__ == 1200
    return 512;
#else
    return way::many_registers ? 512 : PWL_SHAPE_RESIDENT / 2;
#endif
}

/* One launch; `way` is by_lines or by_value. */
template <class way>
__global__ void __launch_bounds__(half_of_threads<way>(), 2)
    map_arrays(const __grid_constant__ task task, const void *x, void *y)
{
    using in_t = typename way::in_t;
    using out_t = typename way::out_t;
    using walk_type = walk<in_t, out_t>;
    start_next_launch();
    const way by(task);
    const walk_type thread(task, x, y);
    by.begin(task);
    wait_for_last_launch();
    thread.begin();
    by.template end<walk_type::depth>();
    thread.run([&](const typename walk_type::in_pack &elements) { return by.map(task, elements); });
    walk_rest<in_t, out_t>(task, x, y, [&](in_t element) { return static_cast<out_t>(by.map(task, element)); });
}

} // namespace pwl

#endif
