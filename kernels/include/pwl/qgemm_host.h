/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The products of pwl/qgemm.h on the processor that calls: libpwl-qgemm. Weights are packed as for every device, then
 * arranged once as processors read them.
 *
 *   pwl_qgemm_panels panels;
 *   pwl_qgemm_panels_bytes(&packed, &bytes);
 *   pwl_qgemm_arrange(&packed, memory, bytes, &panels);    the packed weights may go now
 *
 *   pwl_qgemm_workspace(&product, &panels, &bytes);
 *   pwl_qgemm(&product, &panels, workspace, bytes);
 *
 * The product's own `weights` are not looked at: panels take their place. It has all schemes but for FP8's, and Y in
 * E4M3 by given scales (PWL_QGEMM_ERR_TYPE where they are dynamic).
 *
 * Bits are the same on every processor, whatever its instructions, the number of threads and the shape: INT8 is exact,
 * and A8 is added with the block index b ascending, each operation rounded to fp32 by itself:
 *     y := RN(y + RN(RN(S * d_x) * d_w))    from y = 0 on; S: the block's sum of q_w * q_x; then bias is added
 *     y := RN(y + RN(RN(RN(S * d_x) - 8 s) * d_w))    stored sums, where q_w counts from 0
 *     Q4_K, Q5_K: y := RN(y + RN(RN(S * d_x) * d_w)), then y := RN(y - RN(RN(Q * d_x) * l_w))    Q: the sum of q_x,
 *                 d_w = d * scale and l_w = dmin * least, both exact in fp32
 *     Q6_K: y := RN(y + RN(RN(S * d_x) * d_w)) for its two sub-blocks of 16 columns, d_w = d * scale, exact
 * That is within pwl_qgemm_bound(): no more than four roundings a block, in super-blocks six. NaNs may differ in sign
 * and payload. An activation has the bits of pwl_qgemm_reference()'s formulas on what would be stored in F32 or S32.
 *
 * A16 is added in fp32, within pwl_qgemm_bound(), in an order of its own on every processor, and for one row of X; it
 * does not depend on how a product is cut into parts of N.
 *
 * Threads are the caller's: all rows of X first, then all columns of Y, both cut as he likes.
 *
 *   pwl_qgemm_rows(&product, &panels, first, count, workspace, bytes)    parts of [0, M), each thread its own
 *   -- every part is done --
 *   pwl_qgemm_part(&product, &panels, first, count, workspace, bytes)    parts of [0, N), each thread its own
 *
 * No function here prints, keeps state or allocates; when one fails it has written nothing.
 */
#ifndef PWL_QGEMM_HOST_H
#define PWL_QGEMM_HOST_H

#include <pwl/qgemm.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PWL_QGEMM_PANEL 32 /* rows of weights that are multiplied together */

/*
 * Weights in panels of 32 rows. memory points into what the caller gave, at a multiple of 64, and has `bytes`: 4.5 bits
 * a weight (Q4_0, MXFP4), 8.5 (Q8_0), 4.625 (Q4_K), 5.625 (Q5_K), 6.5625 (Q6_K), or 8 and 5 bytes a row (ROWS8, which
 * ROWS4 becomes), with N up to a multiple of 32; and a byte a row where rows of Q4_0, Q8_0 or MXFP4 have exponents.
 */
typedef struct pwl_qgemm_panels {
    const void *memory;
    size_t n, k, bytes;
    pwl_qgemm_format format;
} pwl_qgemm_panels;

/* *bytes = what pwl_qgemm_arrange() wants, room to align it included. */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_panels_bytes(const pwl_qgemm_weights *packed, size_t *bytes);

/* Arranges packed weights (on the host) in memory of any alignment, which must not overlap them. */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_arrange(const pwl_qgemm_weights *packed, void *memory, size_t bytes,
                                                 pwl_qgemm_panels *panels);

/*
 * *bytes = what the product wants of a workspace, for X as it is multiplied and an activation's plan: K / 32 * 40 bytes
 * a row of X; 4 in INT8, 4 K + 64 in A16. Returns what is wrong with the product, as the functions below do; reads
 * nothing but the descriptions and the table.
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_workspace(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels,
                                                   size_t *bytes);

/*
 * Y. The workspace, of any alignment, overlaps neither X nor Y (PWL_QGEMM_ERR_OVERLAP) nor the panels, and holds
 * nothing between calls.
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels,
                                         void *workspace, size_t bytes);

/*
 * Prepares rows [first, first + count) of X in the workspace, and with row 0 what belongs to all of them; another range
 * than one within [0, M) is PWL_QGEMM_ERR_SHAPE.
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_rows(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels,
                                              size_t first, size_t count, void *workspace, size_t bytes);

/*
 * Columns of Y: those of rows [first, first + count) of the weights, half as many where the activation is gated. Both
 * are multiples of 32, but where the range ends at N; another range within [0, N] is PWL_QGEMM_ERR_SHAPE. Every row of
 * X has been prepared, by the same product but for the biases and where its Y lies.
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_part(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels,
                                              size_t first, size_t count, void *workspace, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
