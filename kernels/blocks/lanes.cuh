/* SPDX-License-Identifier: Apache-2.0 */
/* What neighbouring lanes that share a block of 32 elements find together. All lanes of the warp take part. */
#ifndef PWL_BLOCK_LANES_CUH
#define PWL_BLOCK_LANES_CUH

#include <stdint.h>

#include "block.h"

namespace pwl
{

constexpr unsigned all_lanes = 0xffffffff; /* of a warp */

template <unsigned lanes> __device__ uint32_t largest_of_lanes(uint32_t v)
{
#pragma unroll
    for (unsigned apart = 1; apart < lanes; apart *= 2)
        v = max(v, __shfl_xor_sync(all_lanes, v, apart));
    return v;
}

template <unsigned lanes> __device__ int sum_of_lanes(int v)
{
#pragma unroll
    for (unsigned apart = 1; apart < lanes; apart *= 2)
        v += __shfl_xor_sync(all_lanes, v, apart);
    return v;
}

/* The sum of elements in their order, after `running`, which is handed from lane to lane. */
template <unsigned lanes, unsigned each> __device__ float sum_in_order(float running, const float *v)
{
    for (unsigned lane = 0; lane < lanes; lane++) {
        if (threadIdx.x % lanes == lane) {
#pragma unroll
            for (unsigned i = 0; i < each; i++)
                running += v[i];
        }
        running = __shfl_sync(all_lanes, running, lane, lanes);
    }
    return running;
}

/* Of a lane's elements and the others', but for the first of the largest magnitude, which is left 0. */
template <unsigned lanes> __device__ pwl_extent extent_of_lanes(const float (&v)[PWL_BLOCK / lanes])
{
    __syncwarp(); /* what shuffles need, and where it is known, no code is made for lanes that come one by one */
    uint32_t largest = 0; /* magnitudes are in the order of their bits, with NaN above infinity */
#pragma unroll
    for (unsigned i = 0; i < PWL_BLOCK / lanes; i++)
        largest = max(largest, pwl_bits_of_f32(pwl_magnitude(v[i])));
    const float amax = pwl_f32_of_bits(largest_of_lanes<lanes>(largest));
    const int finite = pwl_is_finite(amax);
    return {finite ? amax : 0, 0, finite};
}

/* The first of the largest magnitude, where each lane has as many elements of either half of a block, those of the
 * first half first. */
template <unsigned lanes> __device__ float first_of_halves(const float (&v)[PWL_BLOCK / lanes], float amax)
{
    constexpr int each = PWL_BLOCK / lanes / 2;
    const unsigned lane = threadIdx.x % lanes;
    unsigned at = PWL_BLOCK; /* lanes' first half, then their second */
    float first = 0;
#pragma unroll
    for (int j = 2 * each - 1; j >= 0; j--) {
        if (pwl_magnitude(v[j]) == amax) {
            at = j / each * lanes + lane;
            first = v[j];
        }
    }
#pragma unroll
    for (unsigned apart = 1; apart < lanes; apart *= 2)
        at = min(at, __shfl_xor_sync(all_lanes, at, apart));
    return __shfl_sync(all_lanes, first, at, lanes);
}

/* As pwl_extent_of() for a format; Q4_0 alone asks for the first. */
template <pwl_format format, unsigned lanes> __device__ pwl_extent extent_of_halves(const float (&v)[PWL_BLOCK / lanes])
{
    pwl_extent extent = extent_of_lanes<lanes>(v);
    if (format == PWL_Q4_0) {
        const float first = first_of_halves<lanes>(v, extent.amax);
        extent.first = extent.amax > 0 ? first : 0;
    }
    return extent;
}

} // namespace pwl

#endif
