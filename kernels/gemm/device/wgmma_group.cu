/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of products of halves, on devices of 9.0: wgmma.cu's, in the tiles of wgmma_experts.cuh. */
#include "wgmma_sums.cuh"

namespace
{

using namespace pwl;
using namespace pwl::wgmma;

template <class variant, unsigned tokens, bool direct>
int launch_as(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return launch_halves<grouped<shape<variant, tokens, direct>>>(call, 0, stream);
}

template <class variant, bool direct> int launch_variant(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    switch (call->tile.tokens) {
#define LAUNCH(tokens, ...)                                                                                            \
    case tokens:                                                                                                       \
        if constexpr (direct || tokens <= PWL_QGEMM_ANY_TOKENS)                                                        \
            return launch_as<variant, tokens, direct>(call, stream);                                                   \
        break;
        PWL_QGEMM_GROUP_TILE_SIZES(LAUNCH)
#undef LAUNCH
    }
    return cudaErrorInvalidConfiguration;
}

} // namespace

int pwl_cuda_launch_qgemm_group_halves(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return mma::variant_of(call, [&](auto v) {
        using variant = decltype(v);
        if constexpr (variant::exponents)
            return launch_as<variant, PWL_QGEMM_GROUP_ANY_TOKENS, false>(call, stream);
        else
            return call->tile.direct ? launch_variant<variant, true>(call, stream)
                                     : launch_variant<variant, false>(call, stream);
    });
}
