/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of products of INT8, on devices of 9.0: wgmma_bytes.cu's, in the tiles of wgmma_experts.cuh. */
#include "wgmma_integers.cuh"

namespace
{

using namespace pwl;
using namespace pwl::wgmma;

template <pwl_qgemm_format format> int launch_format(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    switch (call->tile.tokens) {
#define LAUNCH(tokens, ...)                                                                                            \
    case tokens:                                                                                                       \
        return launch_integers<grouped<byte_shape<format, tokens>>>(call, stream);
        PWL_QGEMM_GROUP_BYTE_TILE_SIZES(LAUNCH)
#undef LAUNCH
    }
    return cudaErrorInvalidConfiguration;
}

} // namespace

int pwl_cuda_launch_qgemm_group_bytes(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return call->weights.format == PWL_QGEMM_ROWS4 ? launch_format<PWL_QGEMM_ROWS4>(call, stream)
                                                   : launch_format<PWL_QGEMM_ROWS8>(call, stream);
}
