/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block formats of quantised matrices: 32 elements of a row and their scale, as GGUF files and ggml's kernels hold
 * them; and super-blocks of 256, whose scales have scales. Plain C: quantise, dequantise, sizes. On devices, with the
 * same bits, but for super-blocks: pwl/cuda.h.
 *
 * No function here prints, keeps state or allocates. fp16 numbers are their bits in a uint16_t.
 */
#ifndef PWL_BLOCKS_H
#define PWL_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/pwl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PWL_BLOCK 32        /* elements of a block */
#define PWL_SUPER_BLOCK 256 /* elements of a super-block */

/*
 * Where a byte holds two codes, byte j has element j in its low half and element j + 16 in its high half. d is fp16.
 * Elements that a format does not reach are clipped to its ends.
 */
typedef struct pwl_block_q4_0 {
    uint16_t d;
    uint8_t qs[PWL_BLOCK / 2]; /* value (q - 8) * d */
} pwl_block_q4_0;

typedef struct pwl_block_q8_0 {
    uint16_t d;
    int8_t qs[PWL_BLOCK]; /* value q * d */
} pwl_block_q8_0;

typedef struct pwl_block_q8_1 {
    uint16_t d;
    uint16_t s; /* fp16 sum of the values, see pwl_rule */
    int8_t qs[PWL_BLOCK];
} pwl_block_q8_1;

typedef struct pwl_block_mxfp4 {
    uint8_t e;                 /* E8M0: 2^(e - 127); 255 is NaN */
    uint8_t qs[PWL_BLOCK / 2]; /* E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6, from 8 on the same negative */
} pwl_block_mxfp4;

/*
 * Super-blocks: d and dmin are fp16, element j is in sub-block j / 32 in Q4_K and Q5_K, in Q6_K j / 16.
 *
 *   Q4_K, Q5_K   value d * scale * q - dmin * least, rounded once, of 8 pairs of 6 bits, scale[i] and least[i]: in the
 *                low 6 bits of bytes i and i + 4 for i < 4, else in the low and the high half of byte i + 4, below the
 *                2 high bits of bytes i - 4 and i. q has its low 4 bits in byte j / 64 * 32 + j % 32 of qs, in the high
 *                half for odd j / 32, and in Q5_K one more, bit j / 32 of byte j % 32 of qh.
 *   Q6_K         value d * scales[j / 16] * (q - 32). Of each 128 elements, j from 0 on, the low 4 bits of q are in
 *                byte j % 64 of 64, in the high half from j = 64 on, and the high 2 in byte j % 32 of 32, as its bits
 *                2 (j / 32) and up.
 */
typedef struct pwl_block_q4_k {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t qs[PWL_SUPER_BLOCK / 2];
} pwl_block_q4_k;

typedef struct pwl_block_q5_k {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t qh[PWL_SUPER_BLOCK / 8];
    uint8_t qs[PWL_SUPER_BLOCK / 2];
} pwl_block_q5_k;

typedef struct pwl_block_q6_k {
    uint8_t ql[PWL_SUPER_BLOCK / 2];
    uint8_t qh[PWL_SUPER_BLOCK / 4];
    int8_t scales[PWL_SUPER_BLOCK / 16];
    uint16_t d;
} pwl_block_q6_k;

typedef enum pwl_format {
    PWL_Q4_0 = 0,  /* 18 bytes a block, aligned to 2 */
    PWL_Q8_0 = 1,  /* 34, aligned to 2 */
    PWL_Q8_1 = 2,  /* 36, aligned to 2 */
    PWL_MXFP4 = 3, /* 17 */
    PWL_Q4_K = 4,  /* 144 bytes a super-block, aligned to 2, as are the next two; these are dequantised alone */
    PWL_Q5_K = 5,  /* 176 */
    PWL_Q6_K = 6   /* 210 */
} pwl_format;

/*
 * How codes are found; what they mean is the format's alone. RN16 rounds to fp16, amax is the largest magnitude of the
 * block, and every operation is float's own, none fused with another.
 *
 *            PWL_RULE_DEFAULT                   PWL_RULE_GGML                   PWL_RULE_DOCUMENT
 * Q4_0       as PWL_RULE_GGML                   d = m / -8, m the first value   d = amax / 7
 *                                               of magnitude amax, with its     q = round(x * (1 / d)) + 8
 *                                               sign; q = x * (1 / d) + 8.5
 *                                               without its fraction, to 15
 * Q8_0       d = amax / 127                     d = amax / 127                  as PWL_RULE_GGML
 *            q = round(x * (1 / RN16(d)))       q = round(x * (1 / d))
 * Q8_1       so too; s = RN16(RN16(d) * sum q)  so too; s = RN16(d * sum q)     s = RN16(sum x), in order
 * MXFP4      2^(e - 127) is 2^floor(log2 amax)  ties go to the smaller          none
 *            / 4; nearest, ties to even         magnitude, and no -0
 *
 * The stored d is RN16(d); round() takes ties away from zero. Q4_0's default is what GGUF files carry. In the default
 * of Q8_0 and Q8_1 the codes belong to the d that is stored; and, but for the rounding of s, the product of a Q8_1 and
 * a Q4_0 block is
 *     d_w * (d * sum(q_w * q) - 8 * s) = d_w * d * sum((q_w - 8) * q)
 *
 * A block with a NaN or an infinity has d = s = NaN (0x7fff; e = 255) and codes of 0 (8 in Q4_0), and is NaN
 * throughout. A d or s beyond fp16 is infinite, and such a block's values are infinite or NaN. Where 1 / d is no
 * number, since d is 0 or below 2^-128, codes are 0 (8 in Q4_0).
 */
typedef enum pwl_rule { PWL_RULE_DEFAULT = 0, PWL_RULE_GGML = 1, PWL_RULE_DOCUMENT = 2 } pwl_rule;

/* Why a call did nothing; the values are stable. */
typedef enum pwl_blocks_status {
    PWL_BLOCKS_OK = 0,
    PWL_BLOCKS_ERR_NULL = 1,   /* a null pointer */
    PWL_BLOCKS_ERR_FORMAT = 2, /* not one of pwl_format, or not one that this function takes */
    PWL_BLOCKS_ERR_RULE = 3,   /* not one of pwl_rule, or none of the format's */
    PWL_BLOCKS_ERR_SHAPE = 4,  /* k_padded is no multiple of the block, or below k, or the matrix exceeds size_t */
    PWL_BLOCKS_ERR_ALIGN = 5   /* an array is not aligned to its elements */
} pwl_blocks_status;

/* Bytes of a block; 0 for what is no format. */
size_t pwl_format_bytes(pwl_format format);

/* *bytes = what rows of k_padded elements take; 0 when the call fails. */
PWL_NODISCARD pwl_blocks_status pwl_blocks_bytes(pwl_format format, size_t rows, size_t k_padded, size_t *bytes);

/*
 * blocks[r][i] = elements 32 i to 32 i + 31 of row r, for i in [0, k_padded / 32). x is float[rows][k]; elements from k
 * to k_padded count as 0, in the sum too. Reads and writes nothing else; the arrays must not overlap. Super-blocks are
 * not made here.
 */
PWL_NODISCARD pwl_blocks_status pwl_quantise(pwl_format format, pwl_rule rule, const float *x, size_t rows, size_t k,
                                             size_t k_padded, void *blocks);

/*
 * y[rows][k] = the values of blocks[rows][k_padded / 32], or of super-blocks [k_padded / 256], the padding left out.
 * Exact as floats (but for the infinite values of MXFP4 from 2^128 on, and the differences of Q4_K and Q5_K); rounded
 * to fp16 from there. NaN is 0x7fc00000, or 0x7fff in fp16. The same conditions.
 */
PWL_NODISCARD pwl_blocks_status pwl_dequantise(pwl_format format, const void *blocks, size_t rows, size_t k,
                                               size_t k_padded, float *y);
PWL_NODISCARD pwl_blocks_status pwl_dequantise_f16(pwl_format format, const void *blocks, size_t rows, size_t k,
                                                   size_t k_padded, uint16_t *y);

/* Name of a status for messages. Never null. */
const char *pwl_blocks_status_text(pwl_blocks_status status);

#ifdef __cplusplus
}
#endif
#endif
