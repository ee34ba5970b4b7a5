/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with many rows of X, on devices of 9.0: halves by wgmma, as wgmma_loop.cuh draws it and wgmma_product.cuh
 * launches it; Y is stored by wgmma_store.cuh.
 */
#include "wgmma_sums.cuh"

namespace
{

using namespace pwl;
using namespace pwl::wgmma;

template <class variant, unsigned tokens, bool direct>
int launch_as(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return launch_halves<shape<variant, tokens, direct>>(call, call->weights.n, stream);
}

template <class variant> int launch_variant(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    if (!call->tile.direct)
        return launch_as<variant, PWL_QGEMM_ANY_TOKENS, false>(call, stream);
    if constexpr (!variant::exponents) {
        switch (call->tile.tokens) {
#define LAUNCH(tokens, ...)                                                                                            \
    case tokens:                                                                                                       \
        return launch_as<variant, tokens, true>(call, stream);
            PWL_QGEMM_TILE_SIZES(LAUNCH)
#undef LAUNCH
        }
    }
    return cudaErrorInvalidConfiguration;
}

} // namespace

int pwl_cuda_qgemm_wgmma_runs(void)
{
    using of = shape<mma::variant<PWL_QGEMM_Q4_0, false, false>, PWL_QGEMM_ANY_TOKENS, false>;
    int most_threads, ptx;
    return attributes_of(reinterpret_cast<const void *>(product<of, storing_halves<of>>), &most_threads, &ptx) ==
               cudaSuccess &&
           most_threads >= static_cast<int>(threads);
}

int pwl_cuda_launch_qgemm_wgmma(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return mma::variant_of(call, [&](auto v) { return launch_variant<decltype(v)>(call, stream); });
}
