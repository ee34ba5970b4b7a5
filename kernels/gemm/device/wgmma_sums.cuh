/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of products by wgmma whose sums are floats (wgmma_product.cuh), and whose Y wgmma_store.cuh stores. */
#ifndef PWL_QGEMM_WGMMA_SUMS_CUH
#define PWL_QGEMM_WGMMA_SUMS_CUH

#include "wgmma_product.cuh"
#include "wgmma_store.cuh"

namespace pwl
{
namespace wgmma
{

/* What Y of a tile, or of some of its rows, takes in shared memory before it is stored. */
template <class shape> constexpr unsigned out_bytes()
{
    return shape::direct ? groups * y_group<shape> : chunk_bytes;
}

template <class shape> constexpr unsigned units_bytes = groups *most_tokens * sizeof(unit_type<shape>);

/* With tiles along N in panels of so many; describe_x(tensor, rows) describes X in boxes of so many rows. Static, so
 * that only names of pwl_ leave the library. */
template <class shape, class describe>
static int launch_sums(const pwl_qgemm_call *call, size_t panel, describe describe_x, struct CUstream_st *stream)
{
    constexpr unsigned left =
        most_shared - units_bytes<shape> - alignment - (shape::direct ? 0 : PWL_PLAN_IMAGE) - most_group_bytes<shape>;
    constexpr unsigned parts = mma::sums_bytes(shape::tokens / 8), out = out_bytes<shape>();
    static_assert(fewest_stages * shape::bytes + out <= left, "stages beside Y");
    static_assert(multiplying * registers_multiplying<shape> + (threads - multiplying) * registers_else<shape> <= 65536,
                  "registers of 9.0");
    static_assert(shape::pairs || (parts <= left / shape::bytes * shape::bytes &&
                                   parts <= (left - out) / shape::bytes * shape::bytes + out),
                  "parts lie where stages were, and Y of tiles before");
    const pwl_qgemm_output &to = call->product.y;
    const size_t m = call->product.m, n = call->weights.n;
    CUtensorMap x, y = {};
    work of = {};
    if (!share_work<shape>(of, call, panel))
        return cudaErrorInvalidConfiguration;
    of.copies_y = shape::direct && of.whole;
    if (of.copies_y && !describe_matrix<uint16_t>(&y, to.data, m, n, to.stride, row_bytes,
                                                  of.rows < shape::y_rows ? of.rows : shape::y_rows))
        return cudaErrorInvalidConfiguration;
    if (!describe_x(&x, of.rows))
        return cudaErrorInvalidConfiguration;
    const room behind = {of.alone ? 0 : out, 0, shape::exponents ? 0 : mma::table_bytes(call), units_bytes<shape>};
    const unsigned bytes = share_out<shape>(of, behind);
    return launch<shape, storing_halves<shape>>(call, x, y, of, bytes, stream);
}

/* Of X in halves. */
template <class shape> static int launch_halves(const pwl_qgemm_call *call, size_t panel, struct CUstream_st *stream)
{
    return launch_sums<shape>(
        call, panel,
        [call](CUtensorMap *x, unsigned rows) {
            return describe_matrix<uint16_t>(x, call->h, call->product.m, call->weights.k, call->h_stride, row_bytes,
                                             rows);
        },
        stream);
}

} // namespace wgmma
} // namespace pwl

#endif
