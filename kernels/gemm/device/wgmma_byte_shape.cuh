/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of wgmma_bytes: what the main loop is compiled for, and what their sums take in shared memory. */
#ifndef PWL_QGEMM_WGMMA_BYTE_SHAPE_CUH
#define PWL_QGEMM_WGMMA_BYTE_SHAPE_CUH

#include "launch.cuh"
#include "wgmma_loop.cuh"

namespace pwl
{
namespace wgmma
{

/* The largest multiple of 8 up to `most` that divides `rows`. */
__host__ __device__ constexpr unsigned box_of(unsigned rows, unsigned most)
{
    return most % 8 == 0 && rows % most == 0 ? most : box_of(rows, most - 8);
}

/* What the main loop is compiled for in bytes. A block of a cluster may write to the other one's memory before that is
 * through, where there is room for what it writes beside the stages. */
template <pwl_qgemm_format format, unsigned count, bool in_pairs = false>
struct byte_shape : stage_shape<mma::variant<format, false, false>, count, (count > 64 ? 1 : 2)> {
    static constexpr bool direct = true, strips = false, meets_early = count <= 128 && !in_pairs, sends_parts = true,
                          pairs = in_pairs;
    static constexpr unsigned half = count / 2, parts_bytes = half * PWL_QGEMM_ROWS * sizeof(int32_t);
    /* Y that waits to be copied, of a warpgroup: two buffers, which take turns, larger where stages are small. */
    static constexpr unsigned out_buffer = format == PWL_QGEMM_ROWS4 && count > 128 ? 8192 : 4096,
                              out_group = 2 * out_buffer;
    /* Of a warpgroup: exponents of rows of X, and what warps find about theirs and the weights', in turns, since a warp
     * may be a tile behind another one. */
    static constexpr unsigned units_bytes = count * sizeof(int2) + 2 * group_threads / 32 * sizeof(int4);
    /* Rows of X in a box of Y whose elements have so many bytes: halves are of whole boxes. */
    template <unsigned y_bytes> static constexpr unsigned box_rows = box_of(half, out_buffer / group_rows / y_bytes);
};

} // namespace wgmma
} // namespace pwl

#endif
