/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of products by wgmma whose sums are integers (wgmma_product.cuh), and whose Y wgmma_codes.cuh stores. */
#ifndef PWL_QGEMM_WGMMA_INTEGERS_CUH
#define PWL_QGEMM_WGMMA_INTEGERS_CUH

#include <utility>

#include "wgmma_codes.cuh"
#include "wgmma_product.cuh"

namespace pwl
{
namespace wgmma
{

/* Y as a tensor, in the boxes that storing_codes copies. */
template <class shape> bool describe_y(CUtensorMap *y, const pwl_qgemm_call *call)
{
    const pwl_qgemm_output &to = call->product.y;
    const size_t m = call->product.m, n = call->weights.n;
    if (call->narrow.y_bytes == 1)
        return describe_matrix<uint8_t>(y, to.data, m, n, to.stride, group_rows, shape::template box_rows<1>);
    return describe_matrix<uint16_t>(y, to.data, m, n, to.stride, 2 * group_rows, shape::template box_rows<2>);
}

template <class shape> static int launch_integers(const pwl_qgemm_call *call, struct CUstream_st *stream)
{
    static_assert(fewest_stages * shape::bytes + alignment + groups * (shape::out_group + shape::units_bytes) +
                          (shape::meets_early ? shape::parts_bytes : 0) + PWL_QGEMM_NARROW_TABLE +
                          most_group_bytes<shape> <=
                      most_shared,
                  "stages beside Y");
    static_assert(shape::meets_early || shape::parts_bytes <= fewest_stages * (shape::x_bytes + shape::w_bytes),
                  "parts lie where stages were");
    const pwl_qgemm_input &from = call->product.x;
    const size_t m = call->product.m;
    CUtensorMap x, y = {};
    work of = {};
    if (!share_work<shape>(of, call, panel_of((m - 1) / shape::tokens + 1, call->tile.blocks)))
        return cudaErrorInvalidConfiguration;
    of.copies_y = call->narrow.copied && call->narrow.way >= PWL_QGEMM_CODES;
    if (of.copies_y && !describe_y<shape>(&y, call))
        return cudaErrorInvalidConfiguration;
    if (!describe_matrix<int8_t>(&x, from.data, m, call->weights.k, from.stride, row_bytes, of.rows))
        return cudaErrorInvalidConfiguration;
    const room behind = {groups * shape::out_group, shape::meets_early && of.split > 1 ? shape::parts_bytes : 0,
                         call->narrow.table_bytes, groups * shape::units_bytes};
    const unsigned bytes = share_out<shape>(of, behind);
    return launch<shape, storing_codes<shape>>(call, x, y, of, bytes, stream);
}

/* The tiles' rows of X, of a list of gemm/tiles.h. */
#define PWL_QGEMM_COMMA_TOKENS(tokens, ...) , tokens
#define PWL_QGEMM_TOKENS_OF(LIST) std::integer_sequence<unsigned LIST(PWL_QGEMM_COMMA_TOKENS)>

/* In the tile that was chosen, of a format and of sizes that are compiled for it; `as` makes a shape of bytes that of a
 * product or of a group. */
template <pwl_qgemm_format format, template <class> class as, unsigned... tokens>
int launch_size(const pwl_qgemm_call *call, std::integer_sequence<unsigned, tokens...>, struct CUstream_st *stream)
{
    int error = cudaErrorInvalidConfiguration;
    const auto take = [&](auto shape) { error = launch_integers<decltype(shape)>(call, stream); };
    (void)((call->tile.tokens == tokens && (take(as<byte_shape<format, tokens>>()), true)) || ...);
    return error;
}

template <template <class> class as, class sizes>
int launch_bytes(const pwl_qgemm_call *call, sizes all, struct CUstream_st *stream)
{
    return call->weights.format == PWL_QGEMM_ROWS4 ? launch_size<PWL_QGEMM_ROWS4, as>(call, all, stream)
                                                   : launch_size<PWL_QGEMM_ROWS8, as>(call, all, stream);
}

} // namespace wgmma
} // namespace pwl

#endif
