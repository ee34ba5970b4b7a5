/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with many rows of X, on devices of 9.0: halves by wgmma, as wgmma_loop.cuh draws it and wgmma_product.cuh
 * launches it; Y is stored by wgmma_store.cuh.
 */
#include "wgmma_product.cuh"
#include "wgmma_store.cuh"

namespace
{

using namespace pwl;
using namespace pwl::wgmma;

/* What Y of a tile, or of some of its rows, takes in shared memory before it is stored. */
template <class shape> constexpr unsigned out_bytes()
{
    return shape::direct ? shape::tokens * PWL_QGEMM_ROWS * 2 : chunk_bytes;
}

constexpr unsigned units_bytes = groups * most_tokens;

template <class shape> int launch_shape(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    const size_t m = call->product.m, n = call->weights.n;
    CUtensorMap x, y = {};
    work of = {};
    if (!share_work<shape>(of, call, n))
        return cudaErrorInvalidConfiguration;
    of.copies_y = shape::direct && of.whole;
    if (of.copies_y &&
        !describe_matrix<uint16_t>(&y, call->product.y.data, m, n, call->product.y.stride, row_bytes, of.rows))
        return cudaErrorInvalidConfiguration;
    if (!describe_matrix<uint16_t>(&x, call->h, m, call->weights.k, call->h_stride, row_bytes, of.rows))
        return cudaErrorInvalidConfiguration;
    const room behind = {of.alone ? 0 : out_bytes<shape>(), 0, shape::exponents ? 0 : mma::table_bytes(call),
                         units_bytes};
    const unsigned bytes = share_out<shape>(of, behind);
    return launch<shape, storing_halves<shape>>(call, x, y, of, bytes, stream);
}

template <class variant, unsigned tokens, bool direct>
int launch_as(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    using of = shape<variant, tokens, direct>;
    constexpr unsigned room = most_shared - units_bytes - alignment - (direct ? 0 : PWL_PLAN_IMAGE);
    constexpr unsigned parts = mma::sums_bytes(tokens / 8), out = out_bytes<of>();
    static_assert(fewest_stages * of::bytes + out <= room, "stages beside Y");
    static_assert(multiplying * registers_multiplying<of> + (threads - multiplying) * registers_else<of> <= 65536,
                  "registers of 9.0");
    static_assert(parts <= room / of::bytes * of::bytes && parts <= (room - out) / of::bytes * of::bytes + out,
                  "parts lie where stages were, and Y of tiles before");
    return launch_shape<of>(call, stream);
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
