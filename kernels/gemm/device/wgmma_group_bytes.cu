/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of products of INT8, on devices of 9.0: wgmma_bytes.cu's, in the tiles of wgmma_experts.cuh. */
#include "wgmma_integers.cuh"

int pwl_cuda_launch_qgemm_group_bytes(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    using namespace pwl::wgmma;
    return launch_bytes<grouped>(call, PWL_QGEMM_TOKENS_OF(PWL_QGEMM_GROUP_BYTE_TILE_SIZES)(), stream);
}
