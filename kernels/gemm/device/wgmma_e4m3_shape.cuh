/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of E4M3: what the main loop is compiled for. */
#ifndef PWL_QGEMM_WGMMA_E4M3_SHAPE_CUH
#define PWL_QGEMM_WGMMA_E4M3_SHAPE_CUH

#include "launch.cuh"
#include "wgmma_loop.cuh"

namespace pwl
{
namespace wgmma
{

/* Slabs of a stage: two where they are multiplied in less than what a step takes besides, and for weights that are not
 * decoded, where their copies are small. */
constexpr unsigned slabs_of_e4m3(pwl_qgemm_format format, unsigned count, bool in_runs)
{
    const unsigned most = format == PWL_QGEMM_MXFP4_E4M3 ? 128 : 64;
    return in_runs || count > most ? 1 : 2;
}

/* What the main loop is compiled for; `in_runs`: sums are added in fp32 every so many columns. */
template <pwl_qgemm_format of, unsigned count, bool is_direct, bool in_runs,
          unsigned slabs_of_stage = slabs_of_e4m3(of, count, in_runs)>
struct e4m3_shape : stage_shape<mma::variant<of, false, false>, count, slabs_of_stage> {
    static constexpr bool direct = is_direct, strips = false, meets_early = false, sends_parts = false, pairs = false;
    static constexpr loop way = in_runs                                     ? loop::in_runs
                                : of == PWL_QGEMM_MXFP4_E4M3 && count > 128 ? loop::ahead
                                                                            : loop::behind;
    /* Y waits to be copied by so many rows at a time, so that there is room for a stage more. */
    static constexpr unsigned y_rows = count >= 128 ? 32 : count;
};

} // namespace wgmma
} // namespace pwl

#endif
