/* SPDX-License-Identifier: Apache-2.0 */
/* What the words of pwl/qgemm_kernels.h say of a kernel: the products that it serves, and how it takes X. */
#ifndef PWL_QGEMM_WORDS_H
#define PWL_QGEMM_WORDS_H

#include "input.h"
#include "launch.h"
#include "layout.h"

/* -- What serves a product -------------------------------------------------------------------------------------------
 */

static inline int serves_all(const pwl_qgemm_product *product)
{
    (void)product;
    return 1;
}

static inline int serves_a16(const pwl_qgemm_product *product)
{
    return pwl_qgemm_is_a16(product) && product->scheme != PWL_QGEMM_SPARSE4_A16;
}

static inline int serves_sparse(const pwl_qgemm_product *product)
{
    return product->scheme == PWL_QGEMM_SPARSE4_A16;
}

static inline int serves_bytes(const pwl_qgemm_product *product)
{
    return pwl_qgemm_is_a8(product) || product->scheme == PWL_QGEMM_INT8;
}

static inline int serves_exact_bytes(const pwl_qgemm_product *product)
{
    return serves_bytes(product) && product->sums == PWL_QGEMM_SUMS_EXACT;
}

static inline int serves_integers(const pwl_qgemm_product *product)
{
    return product->scheme == PWL_QGEMM_INT8;
}

static inline int serves_fp8(const pwl_qgemm_product *product)
{
    return pwl_qgemm_is_fp8(product);
}

static inline int serves_halves(const pwl_qgemm_product *product)
{
    return serves_a16(product) ||
           (pwl_qgemm_is_a8(product) && product->m >= PWL_QGEMM_HALVES_FROM && product->sums == PWL_QGEMM_SUMS_EXACT);
}

static inline int serves_few(const pwl_qgemm_product *product)
{
    return product->m <= PWL_QGEMM_FEW_ROWS && product->sums == PWL_QGEMM_SUMS_EXACT && !pwl_qgemm_is_fp8(product) &&
           !serves_sparse(product);
}

/* -- How a kernel takes X --------------------------------------------------------------------------------------------
 */

enum operand {
    PLAIN,  /* as it is, A8 in blocks */
    ROWS,   /* as it is, in rows that are aligned to 16 bytes */
    HALVES, /* as h */
    STRIPS, /* as h, which may be made while it multiplies */
    BYTES,  /* as bytes of the call */
    FLOATS
};

static inline enum operand x_plain(const pwl_qgemm_product *product)
{
    (void)product;
    return PLAIN;
}

static inline enum operand x_rows(const pwl_qgemm_product *product)
{
    return (uintptr_t)product->x.data % 16 == 0 && product->x.stride % 16 == 0 ? PLAIN : ROWS;
}

static inline enum operand x_halves(const pwl_qgemm_product *product)
{
    (void)product;
    return HALVES;
}

/* Halves that lie as tensor cores' kernels load them, 16 bytes at a time. */
static inline int is_aligned_halves(const pwl_qgemm_input *x)
{
    return (x->type == PWL_QGEMM_F16 || x->type == PWL_QGEMM_BF16) && (uintptr_t)x->data % 16 == 0 &&
           x->stride % 8 == 0;
}

static inline enum operand x_strips(const pwl_qgemm_product *product)
{
    const int halves = product->x.type == PWL_QGEMM_F16 && is_aligned_halves(&product->x);
    return pwl_qgemm_is_a8(product) && halves && product->m >= PWL_QGEMM_STRIPS_FROM ? STRIPS : HALVES;
}

static inline enum operand x_bytes(const pwl_qgemm_product *product)
{
    (void)product;
    return BYTES;
}

/* As h in A16; in A8 and INT8 as bytes, but one row of floats, aligned to 16 bytes, as it is where splitk makes bytes
 * of it sooner than a launch of its own would. */
static inline enum operand x_splitk(const pwl_qgemm_product *product)
{
    const int floats = pwl_qgemm_is_a8(product) && product->x.type != PWL_QGEMM_BLOCKS_Q8_1;
    const int soon = product->scheme == PWL_QGEMM_W8A8 || pwl_qgemm_depth(product->weights->k) <= PWL_QGEMM_OWN_PIECES;
    if (pwl_qgemm_is_a16(product))
        return HALVES;
    return floats && product->m == 1 && (uintptr_t)product->x.data % 16 == 0 && soon ? FLOATS : BYTES;
}

#endif
