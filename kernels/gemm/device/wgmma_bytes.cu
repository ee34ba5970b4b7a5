/* SPDX-License-Identifier: Apache-2.0 */
/*
 * INT8 with more than a few rows of X, on devices of 9.0: bytes by wgmma, as wgmma_loop.cuh draws it and
 * wgmma_product.cuh launches it; Y is stored by wgmma_codes.cuh. X lies as it is, so that there is one launch.
 */
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
        return launch_integers<byte_shape<format, tokens>>(call, stream);
        PWL_QGEMM_BYTE_TILE_SIZES(LAUNCH)
#undef LAUNCH
    }
    return cudaErrorInvalidConfiguration;
}

} // namespace

int pwl_cuda_launch_qgemm_wgmma_bytes(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    if (call->weights.format == PWL_QGEMM_ROWS4)
        return launch_format<PWL_QGEMM_ROWS4>(call, stream);
    /* Such tiles are bound by their copies, of which a pair of them needs fewer. */
    if (call->tile.tokens == 128 && call->tile.split == 1 && call->product.m > 128)
        return launch_integers<byte_shape<PWL_QGEMM_ROWS8, 128, true>>(call, stream);
    return launch_format<PWL_QGEMM_ROWS8>(call, stream);
}
