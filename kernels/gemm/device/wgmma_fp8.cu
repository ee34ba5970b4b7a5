/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FP8 and MXFP4 x FP8, on devices of 9.0: E4M3 by wgmma, as wgmma_loop.cuh draws it and wgmma_product.cuh launches it;
 * Y is stored by wgmma_store.cuh, after sums were multiplied by the scales of the weights' rows. X lies as it is.
 */
#include "wgmma_e4m3_shape.cuh"
#include "wgmma_sums.cuh"

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
