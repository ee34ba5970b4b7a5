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

} // namespace pwl

#endif
