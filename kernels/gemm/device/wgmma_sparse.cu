/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with weights of which two of every four neighbouring columns are kept, on devices of 9.0: wgmma.cu's, by
 * wgmma.sp, which skips the others. X of a stage is multiplied in half the time, so that its copies bind: there are
 * fewer sizes of tiles than there are of dense weights, and any number of rows of X runs in them.
 */
#include "wgmma_sums.cuh"

namespace pwl
{
namespace wgmma
{

/* Slabs of X that are multiplied in as long as a step takes besides; and Y waits to be copied by so many rows at a
 * time, where more would leave too few stages. */
template <class variant, unsigned count, bool is_direct>
struct sparse_shape : stage_shape<variant, count,
                                  (count > 128  ? 1
                                   : count > 64 ? 2
                                                : 4)> {
    static constexpr bool direct = is_direct, strips = false, meets_early = false, sends_parts = false, pairs = false;
    static constexpr unsigned y_rows = count > 128 ? 32 : count;
};

} // namespace wgmma
} // namespace pwl

namespace
{

using namespace pwl;
using namespace pwl::wgmma;

template <class variant, unsigned tokens, bool direct>
int launch_as(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return launch_halves<sparse_shape<variant, tokens, direct>>(call, call->weights.n, stream);
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
            PWL_QGEMM_SPARSE_TILE_SIZES(LAUNCH)
#undef LAUNCH
        }
    }
    return cudaErrorInvalidConfiguration;
}

} // namespace

int pwl_cuda_launch_qgemm_wgmma_sparse(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    return mma::variant_of<PWL_QGEMM_SPARSE4>(call, [&](auto v) { return launch_variant<decltype(v)>(call, stream); });
}
