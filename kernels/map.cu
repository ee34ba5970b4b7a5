/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of codes on the device: codes in, codes out. */
#include <stddef.h>
#include <stdint.h>

#include "launch.h"
#include "map.cuh"

namespace
{

using namespace pwl;

/* Kernels by the rounding, for one input, output and width; the last for tables without an image. */
template <class input, class output, class width>
kernel *const ways[] = {map_arrays<by_lines<input, output, by_image<width, PWL_PLAIN_DOWN>, fit::range>>,
                        map_arrays<by_lines<input, output, by_image<width, PWL_PLAIN_AWAY>, fit::range>>,
                        map_arrays<by_lines<input, output, by_image<width, PWL_PLAIN_EVEN>, fit::range>>,
                        map_arrays<by_lines<input, output, by_search<width>, fit::range>>};

/* With all codes of one type, as input and as output. */
template <class T, class width, fit to>
kernel *const all_codes = map_arrays<by_lines<codes<T>, codes<T>, by_image<width, PWL_PLAIN_DOWN>, to>>;

/* The kernel of an output type, by log2 of its bytes. */
template <class input, class width> kernel *to_output(int out, int way)
{
    return out == 0   ? ways<input, codes<uint8_t>, width>[way]
           : out == 1 ? ways<input, codes<uint16_t>, width>[way]
                      : ways<input, codes<uint32_t>, width>[way];
}

/* With another fit than the range the table takes all codes of its input's type, too. */
kernel *kernel_of(const pwl_cuda_plan &plan, int in, int out, fit to)
{
    const int way = plan.image_bytes ? plan.rounding : 3;
    if (in == 0)
        return out == 0   ? map_arrays<by_value<uint8_t>>
               : out == 1 ? map_arrays<by_value<uint16_t>>
                          : map_arrays<by_value<uint32_t>>;
    if (to != fit::range && way == PWL_PLAIN_DOWN && in == out && plan.wide == (in == 2)) {
        const bool is_signed = to == fit::all_signed;
        if (plan.wide)
            return is_signed ? all_codes<uint32_t, wide, fit::all_signed>
                             : all_codes<uint32_t, wide, fit::all_unsigned>;
        return is_signed ? all_codes<uint16_t, narrow, fit::all_signed>
                         : all_codes<uint16_t, narrow, fit::all_unsigned>;
    }
    if (plan.wide)
        return in == 1 ? to_output<codes<uint16_t>, wide>(out, way) : to_output<codes<uint32_t>, wide>(out, way);
    return in == 1 ? to_output<codes<uint16_t>, narrow>(out, way) : to_output<codes<uint32_t>, narrow>(out, way);
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
