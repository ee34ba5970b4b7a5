/* SPDX-License-Identifier: Apache-2.0 */
/*
 * INT8 with more than a few rows of X, on devices of 9.0: bytes by wgmma, as wgmma_loop.cuh draws it and
 * wgmma_product.cuh launches it; Y is stored by wgmma_codes.cuh. X lies as it is, so that there is one launch.
 */
#include "wgmma_integers.cuh"

namespace
{

template <class shape> using alone = shape;

} // namespace

int pwl_cuda_launch_qgemm_wgmma_bytes(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    using namespace pwl::wgmma;
    /* Such tiles are bound by their copies, of which a pair of them needs fewer. */
    if (call->weights.format == PWL_QGEMM_ROWS8 && call->tile.tokens == 128 && call->tile.split == 1 &&
        call->product.m > 128)
        return launch_integers<byte_shape<PWL_QGEMM_ROWS8, 128, true>>(call, stream);
    return launch_bytes<alone>(call, PWL_QGEMM_TOKENS_OF(PWL_QGEMM_BYTE_TILE_SIZES)(), stream);
}
