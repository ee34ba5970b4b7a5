/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FP8 and MXFP4 x FP8, on devices of 9.0: E4M3 by wgmma, as wgmma_loop.cuh draws it and wgmma_product.cuh launches it;
 * Y is stored by wgmma_store.cuh, after sums were multiplied by the scales of the weights' rows. X lies as it is.
 */
#include "wgmma_sums.cuh"

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
template <pwl_qgemm_format of, unsigned count, bool is_direct, bool in_runs>
struct e4m3_shape : stage_shape<mma::variant<of, false, false>, count, slabs_of_e4m3(of, count, in_runs)> {
    static constexpr bool direct = is_direct, strips = false, meets_early = false, sends_parts = false, pairs = false;
    static constexpr loop way = in_runs                                     ? loop::in_runs
                                : of == PWL_QGEMM_MXFP4_E4M3 && count > 128 ? loop::ahead
                                                                            : loop::behind;
    /* Y waits to be copied by so many rows at a time, so that there is room for a stage more. */
    static constexpr unsigned y_rows = count >= 128 ? 32 : count;
};

} // namespace wgmma
} // namespace pwl

namespace
{

using namespace pwl;
using namespace pwl::wgmma;

template <class shape> int launch_shape(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const pwl_qgemm_input &from = call->product.x;
    const size_t m = call->product.m;
    return launch_sums<shape>(
        call, panel_of((m - 1) / shape::tokens + 1, call->tile.blocks),
        [&](CUtensorMap *x, unsigned rows) {
            return describe_matrix<uint8_t>(x, from.data, m, call->weights.k, from.stride, row_bytes, rows);
        },
        stream);
}

template <pwl_qgemm_format format, bool in_runs>
int launch_format(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    if (!call->tile.direct)
        return launch_shape<e4m3_shape<format, PWL_QGEMM_ANY_TOKENS, false, in_runs>>(call, stream);
    switch (call->tile.tokens) {
#define LAUNCH(tokens, ...)                                                                                            \
    case tokens:                                                                                                       \
        if constexpr (!in_runs || tokens <= PWL_QGEMM_RUN_TOKENS)                                                      \
            return launch_shape<e4m3_shape<format, tokens, true, in_runs>>(call, stream);                              \
        break;
        PWL_QGEMM_E4M3_TILE_SIZES(LAUNCH)
#undef LAUNCH
    }
    return cudaErrorInvalidConfiguration;
}

template <pwl_qgemm_format format> int launch_format(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->product.sums == PWL_QGEMM_SUMS_EXACT ? launch_format<format, false>(call, stream)
                                                      : launch_format<format, true>(call, stream);
}

} // namespace

int pwl_cuda_launch_qgemm_wgmma_fp8(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->weights.format == PWL_QGEMM_ROWS_E4M3 ? launch_format<PWL_QGEMM_ROWS_E4M3>(call, stream)
                                                       : launch_format<PWL_QGEMM_MXFP4_E4M3>(call, stream);
}
