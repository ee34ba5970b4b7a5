/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of real numbers on the device: quantised, mapped, and stored as codes or as real numbers, in one pass. */
#include <stddef.h>
#include <stdint.h>

#include "launch.cuh"
#include "launch.h"

namespace
{

using namespace pwl;

/*
 * By an image of compact lines where the plan has one, to outputs near their zero point, and faster where neither codes
 * nor values have to be clamped; else by the arrays, which serve every table.
 */
template <class kind, class output> kernel *kernel_of(const task &task, bool is_near)
{
    using input = reals<kind>;
    using near = typename output::near;
    if (task.plan.wide)
        return map_arrays<by_lines<input, output, by_search<wide>, fit::range>>;
    if (!task.plan.image_bytes || !is_near)
        return map_arrays<by_lines<input, output, by_search<narrow>, fit::range>>;
    if (task.plan.even)
        return map_arrays<by_lines<input, near, by_image<compact_lines<true>>, fit::range>>;
    if (!pwl_is_all16(0, task.first, task.last))
        return map_arrays<by_lines<input, near, by_image<compact>, fit::range>>;
    return task.plan.within ? map_arrays<by_lines<reals16<kind>, near, by_image<compact>, fit::within>>
                            : map_arrays<by_lines<reals16<kind>, near, by_image<compact>, fit::range>>;
}

template <class kind> kernel *to_codes(const task &task, size_t out_bytes)
{
    return out_bytes == 1   ? kernel_of<kind, codes<uint8_t>>(task, true)
           : out_bytes == 2 ? kernel_of<kind, codes<uint16_t>>(task, true)
                            : kernel_of<kind, codes<uint32_t>>(task, true);
}

template <class kind> kernel *to_reals(const task &task, pwl_real out, bool is_near)
{
    return out == PWL_F32   ? kernel_of<kind, reals<f32>>(task, is_near)
           : out == PWL_F16 ? kernel_of<kind, reals<f16>>(task, is_near)
                            : kernel_of<kind, reals<bf16>>(task, is_near);
}

task task_from_reals(const pwl_cuda_table *uploaded, pwl_affine of_x)
{
    task task = task_of(uploaded);
    task.inverse = 1.0f / of_x.scale;
    task.first = task.plan.qmin_x - of_x.zero_point;
    task.last = task.plan.qmax_x - of_x.zero_point;
    return task;
}

} // namespace

int pwl_cuda_launch_map_from_real(const pwl_cuda_table *uploaded, pwl_affine of_x, pwl_real in, const void *x,
                                  pwl_type out, void *y, size_t count, struct CUstream_st *stream)
{
    task task = task_from_reals(uploaded, of_x);
    const size_t out_bytes = pwl_type_bytes(out);
    kernel *const map = in == PWL_F32   ? to_codes<f32>(task, out_bytes)
                        : in == PWL_F16 ? to_codes<f16>(task, out_bytes)
                                        : to_codes<bf16>(task, out_bytes);
    return launch(uploaded, map, &task, task.plan.image_bytes, in != PWL_F32, pwl_real_bytes(in), x, out_bytes, y,
                  count, stream);
}

int pwl_cuda_launch_map_real(const pwl_cuda_table *uploaded, pwl_affine of_x, pwl_real in, const void *x,
                             pwl_affine of_y, pwl_real out, void *y, size_t count, struct CUstream_st *stream)
{
    task task = task_from_reals(uploaded, of_x);
    task.scale = of_y.scale;
    task.zero = of_y.zero_point;
    task.near_zero = static_cast<uint32_t>(of_y.zero_point) - PWL_PRESET;
    const bool is_near = pwl_is_near(of_y.zero_point, task.plan.qmin_y, task.plan.qmax_y);
    kernel *const map = in == PWL_F32   ? to_reals<f32>(task, out, is_near)
                        : in == PWL_F16 ? to_reals<f16>(task, out, is_near)
                                        : to_reals<bf16>(task, out, is_near);
    return launch(uploaded, map, &task, task.plan.image_bytes, in != PWL_F32, pwl_real_bytes(in), x,
                  pwl_real_bytes(out), y, count, stream);
}
