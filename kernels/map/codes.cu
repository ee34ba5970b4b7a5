/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of codes on the device: codes in, codes out. */
#include <stddef.h>
#include <stdint.h>

#include "launch.cuh"
#include "launch.h"

namespace
{

using namespace pwl;

template <class input, class output, class raw>
constexpr kernel *in_range = map_arrays<by_lines<input, output, raw, fit::range>>;

/* With all codes of one type, as input and as output. */
template <class T, class lines, fit to>
constexpr kernel *all_codes = map_arrays<by_lines<codes<T>, codes<T>, by_image<lines>, to>>;

/* By the plan's image where it has one; else by its arrays, which serve every table. */
template <class input, class output> kernel *to_range(const pwl_cuda_plan &plan)
{
    if (!plan.image_bytes)
        return plan.wide ? in_range<input, output, by_search<wide>> : in_range<input, output, by_search<narrow>>;
    if (!plan.wide)
        return plan.even ? in_range<input, output, by_image<compact_lines<true>>>
                         : in_range<input, output, by_image<compact>>;
    return plan.rounding == PWL_PLAIN_DOWN   ? in_range<input, output, by_image<wide_rounded<PWL_PLAIN_DOWN>>>
           : plan.rounding == PWL_PLAIN_AWAY ? in_range<input, output, by_image<wide_rounded<PWL_PLAIN_AWAY>>>
                                             : in_range<input, output, by_image<wide_rounded<PWL_PLAIN_EVEN>>>;
}

template <class input> kernel *to_range(const pwl_cuda_plan &plan, int out)
{
    return out == 0   ? to_range<input, codes<uint8_t>>(plan)
           : out == 1 ? to_range<input, codes<uint16_t>>(plan)
                      : to_range<input, codes<uint32_t>>(plan);
}

/* Types by log2 of their bytes. With another fit than the range the table takes all codes of its input's type, too. */
kernel *kernel_of(const pwl_cuda_plan &plan, int in, int out, fit to)
{
    using wide_down = wide_rounded<PWL_PLAIN_DOWN>;
    const bool is_signed = to == fit::all_signed, fills = to != fit::range && in == out && plan.image_bytes;
    if (in == 0)
        return out == 0   ? map_arrays<by_value<uint8_t>>
               : out == 1 ? map_arrays<by_value<uint16_t>>
                          : map_arrays<by_value<uint32_t>>;
    if (fills && in == 2 && plan.wide && plan.rounding == PWL_PLAIN_DOWN)
        return is_signed ? all_codes<uint32_t, wide_down, fit::all_signed>
                         : all_codes<uint32_t, wide_down, fit::all_unsigned>;
    if (fills && in == 1 && !plan.wide && !plan.even)
        return is_signed ? all_codes<uint16_t, compact, fit::all_signed>
                         : all_codes<uint16_t, compact, fit::all_unsigned>;
    return in == 1 ? to_range<codes<uint16_t>>(plan, out) : to_range<codes<uint32_t>>(plan, out);
}

int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Codes of `bytes` bytes become u: code ^ flip counts from the type's lowest value, which lies `base` above qmin_x. */
void take_codes(task *task, size_t bytes, bool is_signed)
{
    const int64_t most = (INT64_C(1) << (8 * bytes)) - 1, range = task->plan.qmax_x - task->plan.qmin_x;
    const int64_t flip = is_signed ? INT64_C(1) << (8 * bytes - 1) : 0;
    int64_t base = -flip - task->plan.qmin_x;
    task->flip = static_cast<uint32_t>(flip);
    task->flip_pair = task->flip << 16 | task->flip;
    task->low = static_cast<uint32_t>(clamp(-base, 0, most));
    task->high = static_cast<uint32_t>(clamp(range - base, 0, most));
    /* All codes of the type beyond one end of the table's. */
    if (-base > most)
        base = -most;
    if (base > range)
        base = range;
    task->add = static_cast<uint32_t>(base);
}

} // namespace

int pwl_cuda_launch_map(const pwl_cuda_table *uploaded, pwl_type in, const void *x, pwl_type out, void *y, size_t count,
                        struct CUstream_st *stream)
{
    task task = task_of(uploaded);
    const pwl_cuda_plan &plan = task.plan;
    const size_t in_bytes = pwl_type_bytes(in), out_bytes = pwl_type_bytes(out);
    take_codes(&task, in_bytes, !(in & 1));
    const int64_t codes_in = INT64_C(1) << (8 * in_bytes), codes_out = INT64_C(1) << (8 * out_bytes);
    const bool full = plan.qmax_x - plan.qmin_x + 1 == codes_in && task.low == 0 && task.add == 0 &&
                      plan.qmax_y - plan.qmin_y + 1 == codes_out;
    const fit to = !full ? fit::range : out & 1 ? fit::all_unsigned : fit::all_signed;
    const uint32_t values = in_bytes == 1 ? 256 * static_cast<uint32_t>(out_bytes) : plan.image_bytes;
    return launch(uploaded, kernel_of(plan, in >> 1, out >> 1, to), &task, values, 0, in_bytes, x, out_bytes, y, count,
                  stream);
}

int pwl_cuda_launches_overlap(int *overlap)
{
    bool waits;
    const cudaError_t error = waits_by_itself(reinterpret_cast<const void *>(map_arrays<by_value<uint8_t>>), &waits);
    *overlap = waits;
    return error;
}
