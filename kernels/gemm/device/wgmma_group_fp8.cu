/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of products of E4M3, on devices of 9.0: wgmma_fp8.cu's, in the tiles of wgmma_experts.cuh. */
#include "wgmma_e4m3_shape.cuh"
#include "wgmma_sums.cuh"

namespace
{

using namespace pwl;
using namespace pwl::wgmma;

template <class shape> int launch_shape(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const pwl_qgemm_input &from = call->product.x;
    return launch_sums<grouped<shape>>(
        call, 0,
        [&](CUtensorMap *x, unsigned rows) {
            return describe_matrix<uint8_t>(x, from.data, call->product.m, call->weights.k, from.stride, row_bytes,
                                            rows);
        },
        stream);
}

template <pwl_qgemm_format format, bool direct, bool in_runs>
int launch_as(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    /* Of Y that is not direct, one slab: for two there are no registers left at 128 rows of X. */
    constexpr bool of_one = !direct || in_runs;
    switch (call->tile.tokens) {
#define LAUNCH(tokens, ...)                                                                                            \
    case tokens:                                                                                                       \
        if constexpr (tokens <= (direct && !in_runs ? 256 : PWL_QGEMM_RUN_TOKENS))                                     \
            return launch_shape<e4m3_shape<format, tokens, direct, in_runs, slabs_of_e4m3(format, tokens, of_one)>>(   \
                call, stream);                                                                                         \
        break;
        PWL_QGEMM_GROUP_BYTE_TILE_SIZES(LAUNCH)
#undef LAUNCH
    }
    return cudaErrorInvalidConfiguration;
}

template <pwl_qgemm_format format> int launch_format(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    if (call->product.sums == PWL_QGEMM_SUMS_EXACT)
        return call->tile.direct ? launch_as<format, true, false>(call, stream)
                                 : launch_as<format, false, false>(call, stream);
    return call->tile.direct ? launch_as<format, true, true>(call, stream)
                             : launch_as<format, false, true>(call, stream);
}

} // namespace

int pwl_cuda_launch_qgemm_group_fp8(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->weights.format == PWL_QGEMM_ROWS_E4M3 ? launch_format<PWL_QGEMM_ROWS_E4M3>(call, stream)
                                                       : launch_format<PWL_QGEMM_MXFP4_E4M3>(call, stream);
}
