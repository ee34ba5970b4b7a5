/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of activations with quantised weights,
 *
 *     Y[M,N] = X[M,K] * W[N,K]^T + bias[N]
 *
 * in plain C: the weights' packed form, which every kernel reads, and the product as it is defined, with what a kernel
 * may differ from it. A row of X is a token; e and f below are powers of two that only keep numbers in range.
 *
 * Schemes (RN16 rounds to fp16, RNb to bf16; ties to even):
 *
 *   W4A16 (Q4_0 weights), W8A16 (Q8_0), MXFP4_A16 (MXFP4), for activations in fp32, fp16 or bf16:
 *       w[n,k] = RN16(q * d * 2^-e[n])             d: the block's scale; q - 8 for q in Q4_0; E2M1's value in MXFP4
 *       x[m,k] = RN16(X[m,k] * 2^-f[m])            fp32; fp16 as it is, with f = 0
 *       y[m,n] = sum_k w[n,k] * x[m,k] * 2^(e[n] + f[m]) + bias[n]
 *     bf16 activations are taken as they are and with RNb in place of RN16 in the weights. Products are exact; sums are
 *     in fp32, in any fixed order, as is the one rounding of the multiplication by 2^(e + f), then bias is added.
 *       e[n] = 0 for most rows. Q4_0 and Q8_0: the least e >= 0 with |q * d| * 2^-e <= 65504 in the row: at most 3, 7.
 *              MXFP4, of blocks 2^s with a code that is not 0: 0 where all have -23 <= s <= 1, else max s - 1.
 *       f[m] = floor(log2 amax) - 14, at least -126, of the row's finite numbers, 0 where they are 0: they keep fp16's
 *              relative precision down to 2^-28 of the largest.
 *
 *   SPARSE4_A16 (SPARSE4 weights, 2:4 structured sparsity): as W4A16, the weights being those of Q4_0 for two of every
 *     four neighbouring columns of a row, and 0 for the others, which an infinity or a NaN in X may make NaN or not.
 *
 *   W4A8 (Q4_0 weights), W8A8 (Q8_0), MXFP4_A8 (MXFP4): activations are Q8_1 blocks or are made such by
 *   PWL_RULE_DEFAULT:
 *       y[m,n] = sum_b d_w * d_x * (sum_{k in b} q_w * q_x) + bias[n]       q_w - 8 for q_w in Q4_0
 *     MXFP4: q_w is E2M1's value, and d_w is 2^(e - 127). Block sums are exact in s32, MXFP4's as twice their value;
 *     blocks are added in fp32, b ascending, in as many parts as the kernel splits K into, which are then added in a
 *     fixed order. The s of Q8_1 is not used. With PWL_QGEMM_SUMS_STORED, W4A8 is what its source publishes,
 *     sum_b d_w * (d_x * sum q_w * q_x - 8 * s): it errs about six times as much where s is the sum of the floats,
 *     which it then is (PWL_RULE_DOCUMENT). From M = 64 on a kernel may multiply W4A8 and W8A8 as the schemes above do,
 *     RN16(d_w * q_w * 2^-e[n]) by RN16(d_x * q_x * 2^-f[m]), and does so with sums that are exact. f[m] is the least
 *     >= 0 with 128 * |d_x| * 2^-f <= 65504 in the row: at most 7.
 *
 *   Q4_K_A8, Q5_K_A8 and Q6_K_A8, of weights in super-blocks: activations as in W4A8, on the host alone:
 *       y[m,n] = sum_i (d * scale[i]) * d_x * (sum_{k in i} (q_w - zero) * q_x)
 *                - sum_b (dmin * least[b]) * d_x * (sum_{k in b} q_x) + bias[n]
 *     i are sub-blocks, b blocks of 32; zero is 32 in Q6_K, which has no second sum, else 0. K is a multiple of 256.
 *
 *   INT8: integers alone; int8 weights of scale 2^-n_w[n], or 4-bit codes that stand for 16 times as much (ROWS4), int8
 *   activations of scale 2^-n_x[m] and one zero point z:
 *       v[m,n] = sum_k q_w * q_x - z * sum_k q_w + bias[n]
 *       S32: v, saturated.  S8: sat(shr(v, n_w[n] + n_x[m] - n_y) + z_y), rounded half up
 *     bias counts in 2^-(n_w + n_x). Without it |v| <= K * 128 * 255 < 2^31, as K <= 65793.
 *
 *   FP8 (ROWS_E4M3 weights), MXFP4_FP8 (MXFP4_E4M3): activations are E4M3 (pwl/e4m3.h) with a scale t[m] for each
 *   token, or floats that are made such as pwl_qgemm_quantise_e4m3() does; w and x are values of E4M3:
 *       y[m,n] = (sum_k w[n,k] * x[m,k]) * s[n] * t[m] + bias[n]       s: a scale for each row of W
 *     Products are exact. Tensor cores add 32 of them at a time, or twice 16, ascending in K, with 14 bits or more:
 *     what is added, the sum so far too, is cut to multiples of 2^-13 of the largest, counted from its power of two, as
 *     if numbers below 2^-6 had that one's; and the result is cut to 14 bits. pwl_qgemm_sums says how many columns are
 *     added so, before they are added to others in fp32. It matters: of Gaussian numbers, K = 4096 in two halves, Y
 *     errs by 8.7e-4 of itself where all are added so (MXFP4_FP8: 3.7e-4), by 3.4e-4 (1.4e-4) where 512 are, and by
 *     1.3e-4 (0.6e-4) where 128 are; rounding to fp16 alone is 2.1e-4. Where all are, the error grows with K.
 *
 * With an activation (pwl_qgemm_activation), what is stored is a table's value of y or v, in one pass.
 *
 * An infinity or a NaN in a row of X makes infinities and NaN in the same row of Y alone; but in FP8 and MXFP4_FP8
 * infinities become the largest number there is. Packing refuses those in
 * weights and scales. fp16 and bf16 numbers are their bits in a uint16_t. No function here prints, keeps state or
 * allocates; when one fails it has written nothing, but for what it says.
 */
#ifndef PWL_QGEMM_H
#define PWL_QGEMM_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/blocks.h>
#include <pwl/e4m3.h>
#include <pwl/pwl.h>
#include <pwl/real.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PWL_QGEMM_MAX_K_INT8 65793
#define PWL_QGEMM_MOST_EXPERTS 1024 /* of a group */
#define PWL_QGEMM_HALVES_FROM 64    /* M from which on W4A8 and W8A8 may be multiplied in halves */

typedef enum pwl_qgemm_scheme {
    PWL_QGEMM_W4A16 = 0,
    PWL_QGEMM_W8A16 = 1,
    PWL_QGEMM_MXFP4_A16 = 2,
    PWL_QGEMM_W4A8 = 3,
    PWL_QGEMM_W8A8 = 4,
    PWL_QGEMM_INT8 = 5,
    PWL_QGEMM_MXFP4_A8 = 6, /* pwl/qgemm_host.h and the reference have it, devices do not */
    PWL_QGEMM_FP8 = 7,      /* these: devices and the reference have them, pwl/qgemm_host.h does not */
    PWL_QGEMM_MXFP4_FP8 = 8,
    PWL_QGEMM_Q4_K_A8 = 9, /* these, as MXFP4_A8 */
    PWL_QGEMM_Q5_K_A8 = 10,
    PWL_QGEMM_Q6_K_A8 = 11,
    PWL_QGEMM_SPARSE4_A16 = 12 /* as FP8 */
} pwl_qgemm_scheme;

/* What weights are packed from; bits a weight once N is a multiple of 128, K of 64, and no row has an exponent. */
typedef enum pwl_qgemm_format {
    PWL_QGEMM_Q4_0 = 0,       /* 4.5 */
    PWL_QGEMM_Q8_0 = 1,       /* 8.5 */
    PWL_QGEMM_MXFP4 = 2,      /* 4.25 */
    PWL_QGEMM_ROWS8 = 3,      /* 8, and 5 bytes a row: int8 with one power of two for each row */
    PWL_QGEMM_ROWS4 = 4,      /* 4, and 5 bytes a row: int8 that are multiples of 16, likewise */
    PWL_QGEMM_ROWS_E4M3 = 5,  /* 8, and 4 bytes a row: E4M3 with a scale for each row */
    PWL_QGEMM_MXFP4_E4M3 = 6, /* 4.25, and 4 bytes a row: MXFP4 over a scale for each row, so that weights are E4M3 */
    PWL_QGEMM_Q4_K = 7,       /* 4.5, for the host, as are these; packed from blocks alone, and as they are in files */
    PWL_QGEMM_Q5_K = 8,       /* 5.5 */
    PWL_QGEMM_Q6_K = 9,       /* 6.5625 */
    PWL_QGEMM_SPARSE4 = 10    /* 3.25: of every four neighbouring columns two as in Q4_0, with their positions */
} pwl_qgemm_format;

/* Elements of X and Y. */
typedef enum pwl_qgemm_type {
    PWL_QGEMM_F32 = 0,
    PWL_QGEMM_F16 = 1,
    PWL_QGEMM_BF16 = 2,
    PWL_QGEMM_BLOCKS_Q8_1 = 3, /* X of schemes of A8: pwl_block_q8_1 */
    PWL_QGEMM_S8 = 4,          /* X and Y of INT8; with an activation, Y of every scheme */
    PWL_QGEMM_S32 = 5,         /* Y of INT8; with an activation, of every scheme */
    PWL_QGEMM_U8 = 6,          /* these: Y with an activation */
    PWL_QGEMM_S16 = 7,
    PWL_QGEMM_U16 = 8,
    PWL_QGEMM_U32 = 9,
    PWL_QGEMM_E4M3 = 10 /* X of FP8 and MXFP4_FP8; Y of every scheme but INT8 */
} pwl_qgemm_type;

/* Why a call did nothing; the values are stable. */
typedef enum pwl_qgemm_status {
    PWL_QGEMM_OK = 0,
    PWL_QGEMM_ERR_NULL = 1,   /* a null pointer */
    PWL_QGEMM_ERR_FORMAT = 2, /* not one of pwl_qgemm_format, or not one that this function takes */
    PWL_QGEMM_ERR_RULE = 3,   /* not one of pwl_rule, or none of the format's */
    PWL_QGEMM_ERR_SHAPE =
        4, /* M, N or K is 0, K is no multiple of 32 (SPARSE4: 64, super-blocks: 256), or a matrix exceeds size_t */
    PWL_QGEMM_ERR_ALIGN = 5,    /* an array is not aligned to its elements, or packed weights not to 16 bytes */
    PWL_QGEMM_ERR_SPACE = 6,    /* the memory is too small */
    PWL_QGEMM_ERR_SCALE = 7,    /* a block's scale, or a weight, is infinite or NaN */
    PWL_QGEMM_ERR_SCHEME = 8,   /* not one of pwl_qgemm_scheme, or weights, sums or halves that it does not have */
    PWL_QGEMM_ERR_TYPE = 9,     /* X, Y, a source or a tensor are of a type that is not taken here */
    PWL_QGEMM_ERR_STRIDE = 10,  /* rows of X or Y would overlap */
    PWL_QGEMM_ERR_DEPTH = 11,   /* K is above 65793 in the scheme INT8 */
    PWL_QGEMM_ERR_RANGE = 12,   /* a zero point outside the int8 range */
    PWL_QGEMM_ERR_KERNEL = 13,  /* PWL_QGEMM_KERNEL names none, see pwl/cuda_qgemm.h */
    PWL_QGEMM_ERR_OVERLAP = 14, /* Y or its scales overlap each other, X, n_x, t, a bias or the weights */
    PWL_QGEMM_ERR_DATA = 15,    /* a tensor's data are more or fewer bytes than its shape takes, as of a file cut off */
    PWL_QGEMM_ERR_TABLE = 16,   /* an activation's table is not safe to run, see pwl_table_check(), or was released */
    PWL_QGEMM_ERR_FIT = 17,     /* Y's type does not hold [qmin_y, qmax_y] */
    PWL_QGEMM_ERR_AFFINE = 18,  /* an activation's scale or zero point that pwl/real.h or the scheme does not allow; or
                                 * its up_limit or up_plus */
    PWL_QGEMM_ERR_PAIR = 19,    /* gate and up are of two kinds or shapes, or have rows that are no multiple of 8 */
    PWL_QGEMM_ERR_DEVICE = 20,  /* the current device is not the one that the table was uploaded to */
    PWL_QGEMM_ERR_SPREAD = 21,  /* a row of MXFP4 whose blocks are too far apart to be E4M3 exactly */
    PWL_QGEMM_ERR_GROUP = 22,   /* a group's number of experts, how far their weights are apart, or M above INT32_MAX */
    PWL_QGEMM_ERR_PART = 23,    /* a part of weights that is empty, reaches beyond them or cuts through a piece */
    PWL_QGEMM_ERR_SPARSE =
        24, /* SPARSE4: of four neighbouring weights more than two, or positions that do not ascend */
    PWL_QGEMM_ERR_CUDA = 65536 /* plus the cudaError_t, which is below 65536 */
} pwl_qgemm_status;

/*
 * Packed weights. memory has `bytes` and is aligned to 16, on the host or, copied there, on a device. It holds pieces
 * of 128 rows and 64 columns, K innermost, each with its scales (kernels/gemm/layout.h says in what order); then,
 * where row_data says so, what belongs to rows. Weights beyond N and K are 0. Super-blocks are [n][k / 256].
 */
typedef struct pwl_qgemm_weights {
    const void *memory;
    size_t n, k, bytes;
    pwl_qgemm_format format;
    int32_t row_data; /* ROWS8, ROWS4: sums and n_w; ROWS_E4M3, MXFP4_E4M3: s; else whether some e[n] is not 0, and
                       * they are there */
} pwl_qgemm_weights;

/* *bytes = what packed weights of this shape take with row exponents, which are 1 byte a row. */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_weights_bytes(pwl_qgemm_format format, size_t n, size_t k, size_t *bytes);

/* A tensor as a GGUF file has it. */
typedef struct pwl_qgemm_tensor {
    uint32_t type; /* the file's number: F32 0, F16 1, Q4_0 2, Q8_0 8, Q4_K 12, Q5_K 13, Q6_K 14, BF16 30, MXFP4 39 */
    uint64_t shape[4]; /* that of neighbours first: K, N, 1, 1 */
    const void *data;  /* aligned to its elements, blocks to their scales */
    size_t bytes;
} pwl_qgemm_tensor;

/* What weights lie before us as. */
typedef enum pwl_qgemm_from {
    PWL_QGEMM_FROM_BLOCKS = 0, /* of the format, which none of rows is but MXFP4_E4M3, whose are those of MXFP4 */
    PWL_QGEMM_FROM_FLOATS = 1,
    PWL_QGEMM_FROM_CODES = 2,  /* of the formats of rows */
    PWL_QGEMM_FROM_TENSOR = 3, /* which says itself what it has, and n and k */
    PWL_QGEMM_FROM_Q4_0 = 4    /* the numbers that such blocks stand for, for ROWS4 */
} pwl_qgemm_from;

/* What becomes of weights that the format has no place for. */
typedef enum pwl_qgemm_spread {
    PWL_QGEMM_SPREAD_EXACT = 0,   /* PWL_QGEMM_ERR_SPREAD where a weight would change; SPARSE4: PWL_QGEMM_ERR_SPARSE */
    PWL_QGEMM_SPREAD_ROUNDED = 1, /* MXFP4_E4M3: such weights are rounded */
    PWL_QGEMM_SPREAD_PRUNED = 2   /* SPARSE4: the smallest of four become 0 */
} pwl_qgemm_spread;

/*
 * 64 columns of a row of SPARSE4: value (q - 8) * d of the two that are kept of every four neighbouring ones. q are in
 * the order of their columns, in qs as in pwl_block_q4_0; columns 4 i to 4 i + 3 have 4 bits of `positions`, in byte
 * i / 2 the low ones for even i: p + 4 p', where 0 <= p < p' <= 3 are the columns that are kept, less 4 i. So there are
 * six: 4, 8, 9, 12, 13 and 14.
 */
typedef struct pwl_block_sparse4 {
    uint16_t d;
    uint8_t qs[PWL_BLOCK / 2];
    uint8_t positions[PWL_BLOCK / 4];
} pwl_block_sparse4;

/* What weights are packed from, into `format`. The functions below make one; two of them make a pair. */
typedef struct pwl_qgemm_source {
    pwl_qgemm_format format;
    pwl_qgemm_from from;
    pwl_qgemm_type type;     /* of floats: F32, F16 or BF16 */
    pwl_rule rule;           /* by which floats become blocks */
    pwl_qgemm_spread spread; /* of MXFP4_E4M3, and of SPARSE4 from floats */
    int32_t pair;            /* pwl_qgemm_of_pair() sets it */
    size_t n, k;             /* of the packed weights: of a pair, n / 2 rows each */
    const void *data[2];     /* of a pair two, else the first; of tensors a pwl_qgemm_tensor */
    const void *row_data[2]; /* beside codes: n_w of ROWS8 and ROWS4, s of ROWS_E4M3 */
} pwl_qgemm_source;

/*
 * Blocks: pwl_block_q4_0, pwl_block_q8_0 or pwl_block_mxfp4 [n][k / 32], pwl_block_sparse4 [n][k / 64], or
 * pwl_block_q4_k, pwl_block_q5_k or pwl_block_q6_k [n][k / 256].
 *
 * MXFP4_E4M3 is made of blocks of MXFP4. With 2^p <= largest magnitude of a row < 2^(p+1), s = 2^(p - 8), but at least
 * 2^-126. Blocks of 2^(p - 13) and more are exact; so each row is whose blocks are at most 11 powers of two apart. What
 * lies further down is PWL_QGEMM_ERR_SPREAD, for whose rows MXFP4_A16 is the way; with source.spread =
 * PWL_QGEMM_SPREAD_ROUNDED it is rounded to multiples of 2^(p - 14), ties to even, which is by at most 2^-15 of the
 * row's largest.
 */
PWL_FN pwl_qgemm_source pwl_qgemm_of_blocks(pwl_qgemm_format format, const void *blocks, size_t n, size_t k)
{
    const pwl_qgemm_source made = {
        format, PWL_QGEMM_FROM_BLOCKS, PWL_QGEMM_F32, PWL_RULE_DEFAULT, PWL_QGEMM_SPREAD_EXACT, 0, n,
        k,      {blocks, 0},           {0, 0}};
    return made;
}

/*
 * w, float[n][k], which become blocks by `rule`; with source.type halves. ROWS8 (PWL_RULE_DEFAULT alone): n_w is the
 * largest in [-126, 126] with amax * 2^n_w <= 127, 0 for a row of zeros, q_w = round(w * 2^n_w), ties away from zero.
 * ROWS4 (likewise): q_w = 16 * round(w * 2^(n_w - 4)), clipped to 16 * [-8, 7], where n_w is that of ROWS8, n, one
 * less, or one to three more: of what makes the sum of squared errors least, with u = floor(w * 2^(n + 6) + 1/2) for w,
 * the smallest. Of a Gaussian distribution it loses 1.2e-2 (steps of 0.35 of the standard deviation) to 2.1e-2 (0.25 or
 * 0.5) of the sum of squares; Q4_0 7.4e-3. SPARSE4: of every four columns two are kept, all that are not 0, else it is
 * PWL_QGEMM_ERR_SPARSE; with source.spread = PWL_QGEMM_SPREAD_PRUNED the two largest magnitudes, the first of equals.
 * The 32 that are kept of 64 become a block as in Q4_0, by its rules. Super-blocks and E4M3 are not made so:
 * PWL_QGEMM_ERR_FORMAT; of floats, pwl_qgemm_quantise_e4m3() makes codes and s.
 */
PWL_FN pwl_qgemm_source pwl_qgemm_of_floats(pwl_qgemm_format format, pwl_rule rule, const float *w, size_t n, size_t k)
{
    pwl_qgemm_source made = pwl_qgemm_of_blocks(format, w, n, k);
    made.from = PWL_QGEMM_FROM_FLOATS;
    made.rule = rule;
    return made;
}

/*
 * Codes of a format of rows, and what belongs to rows. ROWS8: int8[n][k] and n_w, int8[n]. ROWS4: two's complement of 4
 * bits, uint8[n][k / 2], 16 bytes for each 32 columns, of which column j has the low half of byte j and column j + 16
 * the high one; n_w int8[n]: a weight is q_w * 16 * 2^-n_w. ROWS_E4M3: uint8[n][k] and s, float[n]; codes of NaN and
 * scales that are not finite are PWL_QGEMM_ERR_SCALE.
 */
PWL_FN pwl_qgemm_source pwl_qgemm_of_codes(pwl_qgemm_format format, const void *codes, const void *row_data, size_t n,
                                           size_t k)
{
    pwl_qgemm_source made = pwl_qgemm_of_blocks(format, codes, n, k);
    made.from = PWL_QGEMM_FROM_CODES;
    made.row_data[0] = row_data;
    return made;
}

/*
 * A tensor. Blocks are packed as they are, into their own format and whatever `rule` is; floats become what `format`
 * and rule say, by way of fp32, and so do the numbers that Q4_0 stands for where the format is ROWS4.
 */
PWL_FN pwl_qgemm_source pwl_qgemm_of_tensor(pwl_qgemm_format format, pwl_rule rule, const pwl_qgemm_tensor *tensor)
{
    pwl_qgemm_source made = pwl_qgemm_of_blocks(format, tensor, 0, 0);
    made.from = PWL_QGEMM_FROM_TENSOR;
    made.rule = rule;
    return made;
}

/*
 * The weights of a gated activation: of two sources of one kind and shape, n rows each, n a multiple of 8
 * (PWL_QGEMM_ERR_PAIR). The packed weights have N = 2 n rows, in turns 8 of the gate's and 8 of up's, which is the
 * order that pwl_qgemm_unpack() gives them back in.
 */
PWL_FN pwl_qgemm_source pwl_qgemm_of_pair(pwl_qgemm_source gate, pwl_qgemm_source up)
{
    pwl_qgemm_source both = gate;
    const int alike = gate.format == up.format && gate.from == up.from && gate.type == up.type &&
                      gate.rule == up.rule && gate.spread == up.spread && gate.n == up.n && gate.k == up.k;
    both.pair = alike && !gate.pair && !up.pair ? 1 : -1;
    both.n = gate.n > (size_t)-1 / 2 ? 0 : 2 * gate.n;
    both.data[1] = up.data[0];
    both.row_data[1] = up.row_data[0];
    return both;
}

/* What packing found. In a pair, rows of up are numbered n and on. */
typedef struct pwl_qgemm_place {
    size_t row, block; /* the first block that is refused: columns 32 * block to 32 * block + 31, or 64 or 256 times as
                        * many; on PWL_QGEMM_ERR_SPARSE the first four, 4 * block to 4 * block + 3 */
    int32_t apart; /* MXFP4_E4M3: the largest of p less a block's power, of blocks with a code that is not 0, over all
                    * rows, so that nothing is rounded where it is 13 or less; 0 of zeros */
} pwl_qgemm_place;

/*
 * Packs a source into memory of `bytes`, of which it writes weights->bytes. *bad (may be null) tells which block it was
 * on PWL_QGEMM_ERR_SCALE and PWL_QGEMM_ERR_SPREAD.
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_pack(pwl_qgemm_source source, void *memory, size_t bytes,
                                              pwl_qgemm_weights *weights, pwl_qgemm_place *bad);

/* The weights of ROWS_E4M3 and MXFP4_E4M3, w[n][k] and s[n]. */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_unpack_e4m3(const pwl_qgemm_weights *weights, uint8_t *w, float *s);

/* The blocks that were packed, bit for bit; memory on the host. Not for ROWS_E4M3 and MXFP4_E4M3. */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_unpack(const pwl_qgemm_weights *weights, void *blocks);
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_unpack_s8(const pwl_qgemm_weights *weights, int8_t *q_w, int8_t *n_w);

/*
 * Activations of INT8: q_x[m][k] and n_x[m] of x, float[m][stride], as pwl_qgemm_of_floats() says of weights; a NaN is
 * 0, an infinity -127 or 127, and neither counts in amax. k may be anything; q_x has no gaps.
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_quantise_s8(const float *x, size_t m, size_t k, size_t stride, int8_t *q_x,
                                                     int8_t *n_x);

/*
 * Activations of FP8 and MXFP4_FP8: q[m][k] and scale[m] of x, float[m][stride]; k may be anything, q has no gaps. The
 * scale is RN(amax / 448) of the row's finite numbers, at least 2^-126, a code E4M3(RN(x * RN(1 / scale))): to nearest,
 * ties to even. Infinities have the codes of -448 and 448, a NaN is NaN (0x7f).
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_quantise_e4m3(const float *x, size_t m, size_t k, size_t stride, uint8_t *q,
                                                       float *scale);

/* Rows or columns: `count` of them, `first` being the first. */
typedef struct pwl_qgemm_share {
    size_t first, count;
} pwl_qgemm_share;

/*
 * What `rank`, of 0 to ranks - 1, has of the rows or of the columns of packed weights that `ranks` devices share: as
 * many pieces as the others, or one more, in ascending order. None, and no part of pwl_qgemm_cut(), where there are
 * more ranks than pieces. Pieces have 128 rows, of super-blocks 1, and 64 columns, of super-blocks 256.
 */
pwl_qgemm_share pwl_qgemm_rows_of_rank(const pwl_qgemm_weights *weights, size_t rank, size_t ranks);
pwl_qgemm_share pwl_qgemm_columns_of_rank(const pwl_qgemm_weights *weights, size_t rank, size_t ranks);

/*
 * Some rows and columns of packed weights, which do not cut through a piece, as weights of their own, in memory of
 * `bytes`, on the host, aligned to 16; what pwl_qgemm_weights_bytes() says is enough. Pieces are copied, not packed
 * again. A row keeps its exponent, n_w or scale, so that all parts have the weights of the whole:
 *
 *   rows      their columns of Y are bit for bit those of the whole product, by the same kernel and split of K
 *   columns   Y is the sum of the parts' Y. In INT8, the sums of Y in S32 without bias have the bits of one product's,
 *             and pwl_qgemm_store_sums() makes Y of them
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_cut(const pwl_qgemm_weights *weights, pwl_qgemm_share rows,
                                             pwl_qgemm_share columns, void *memory, size_t bytes,
                                             pwl_qgemm_weights *part);

typedef enum pwl_qgemm_sums {
    PWL_QGEMM_SUMS_EXACT = 0,  /* FP8, MXFP4_FP8: as the tensor cores add, all of K */
    PWL_QGEMM_SUMS_STORED = 1, /* W4A8: by the s of Q8_1; X of floats is made Q8_1 by PWL_RULE_DOCUMENT */
    PWL_QGEMM_SUMS_OF_512 = 2, /* FP8, MXFP4_FP8: no more than so many columns, then in fp32 */
    PWL_QGEMM_SUMS_OF_128 = 3
} pwl_qgemm_sums;

/* X. Rows are `stride` elements apart (blocks in Q8_1); aligned to the element, no more. */
typedef struct pwl_qgemm_input {
    const void *data;
    size_t stride;
    pwl_qgemm_type type;
    int32_t zero_point; /* INT8: z, -128 to 127 */
    const int8_t *n_x;  /* INT8: [M] */
    const float *scale; /* E4M3: t, [M] */
} pwl_qgemm_input;

/*
 * Y, likewise; elements between the rows are left alone. It must not overlap what is read, though rows of X may lie
 * between its own.
 *
 * In E4M3, Y and t_y are what the next product takes as X and t. Of y, being what would be stored in F32, the code is
 *     E4M3(RN32(y * RN32(1 / t_y[m])))    to nearest, ties to even
 * and -448 or 448 beyond these, of infinities too; of a NaN it is NaN (0x7f). t_y is given, or dynamic: that of row m
 * is then RN32(amax / 448) of its finite y, at least 2^-126, so that Y and t_y are what pwl_qgemm_quantise_e4m3() makes
 * of Y in F32. It may not overlap anything else.
 */
typedef struct pwl_qgemm_output {
    void *data;
    size_t stride;
    pwl_qgemm_type type;
    int32_t zero_point; /* S8: z_y, -128 to 127 */
    int32_t n_y;        /* S8 */
    float *scale;       /* E4M3: t_y, [M], read; or written, where it is */
    int32_t dynamic;    /* 1, else 0 */
} pwl_qgemm_output;

struct pwl_cuda_table; /* of pwl/cuda.h */

/*
 * What becomes of y[m,n], or of v in INT8, before it is stored. With a code's real number and the code of a real number
 * as in pwl/real.h:
 *
 *   floats   q = code of y by of_x, y being what would be stored in F32
 *   INT8     q = code of v * 2^-(n_w + n_x) by of_x, v being what would be stored in S32; of_x.scale is a power of two
 *
 *   Y = table(q) in a type of integers, which must hold [qmin_y, qmax_y]; or, but in INT8, the real number of table(q)
 *   by of_y, in F32, or from there rounded once more to F16, BF16 or E4M3
 *
 * Gated, of weights packed as pwl_qgemm_of_pair() says: y or v of gate and up make one element, so Y has N / 2 columns,
 * and bias[N / 2] is the gate's:
 *
 *   floats   p = RN32(r * u), r the real number of table(q of gate) by of_y; Y = p, or the code of p by of_out
 *            u = RN32(c + up_plus), and up itself where up_plus is 0; c is up, clamped to -up_limit to up_limit unless
 *            that is 0. With 1 and 7 and a table of min(x, 7) * sigmoid(1.702 * min(x, 7)) this is gpt-oss's.
 *   INT8     q_u = code of up by of_up, -32768 to 32767; of_up.scale is a power of two
 *            Y = code of (table(q of gate) - of_y.zero_point) * (q_u - of_up.zero_point) * 2^-n by of_out, where
 *            of_out.scale = 2^n * of_y.scale * of_up.scale with an integer n; of_up.zero_point is within 16 bits
 *
 * Codes of Y are clamped to its type, or by the table. The zero_point and n_y of Y are not used. Kernels' activations
 * are bit for bit those of what the same kernel stores in F32 or S32.
 */
typedef struct pwl_qgemm_activation {
    const pwl_table *table;                /* for the functions here; one that passes pwl_table_check() */
    const struct pwl_cuda_table *uploaded; /* for those of pwl/cuda_qgemm.h */
    pwl_affine of_x, of_y;                 /* of the table's codes; of_y where it is named above */
    int32_t gated;
    pwl_affine of_up;    /* gated, INT8 */
    pwl_affine of_out;   /* gated, Y in integers */
    const void *bias_up; /* gated: as bias, of the rows of up; or null */
    float up_limit;      /* gated, but in INT8: finite, from 0 on */
    float up_plus;       /* likewise: finite */
} pwl_qgemm_activation;

typedef struct pwl_qgemm_product {
    pwl_qgemm_scheme scheme;
    pwl_qgemm_sums sums;
    size_t m;
    const pwl_qgemm_weights *weights;
    pwl_qgemm_input x;
    const void *bias; /* float[N], in INT8 int32_t[N]; or null */
    pwl_qgemm_output y;
    const pwl_qgemm_activation *activation; /* or null */
} pwl_qgemm_product;

/* PWL_QGEMM_OK when the product can be computed; else why not. Reads nothing but the descriptions and the table. */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_check(const pwl_qgemm_product *product);

/*
 * Y by the formulas above on the host, sums in double (INT8: integers), rounded once, with an activation and for E4M3
 * to fp32. For checks, not for speed: a dynamic scale takes twice the time.
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_reference(const pwl_qgemm_product *product);

/*
 * Y of a product in INT8 whose sums are complete: sums[M][stride], on the host, is what it would store in PWL_QGEMM_S32
 * without bias and activation, as parts of the columns of its weights add up to. Codes of X and of the weights are not
 * read, so that the weights may be any part of the columns; n_x, n_w, bias, activation and Y are the product's.
 * PWL_QGEMM_ERR_SCHEME in other schemes; sums must not overlap Y.
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_store_sums(const pwl_qgemm_product *product, const int32_t *sums,
                                                    size_t stride);

/*
 * Products of a mixture's experts, which share all of a product but for weights and bias: row m of X and Y belongs to
 * expert e where offsets[e] <= m < offsets[e + 1], so that rows are sorted by expert. The product tells M, the number
 * of all rows; weights->memory, bias and bias_up are those of expert 0, and those of expert e are e * apart bytes, or e
 * times as many elements as one has, further on. weights->row_data and bytes are those of all: where rows of some
 * expert of Q4_0, Q8_0 or MXFP4 have exponents, the others have zeros there, in the last bytes of their own.
 *
 * An expert has no rows unless 0 <= offsets[e] <= offsets[e + 1] <= M, and no earlier offset is above offsets[e]; so
 * whatever offsets are, each row of Y is of one expert. Rows that are no expert's are left alone.
 */
typedef struct pwl_qgemm_group {
    size_t experts;         /* 1 to PWL_QGEMM_MOST_EXPERTS */
    size_t apart;           /* bytes, a multiple of 16, at least weights->bytes */
    const int32_t *offsets; /* [experts + 1]; on the device in pwl/cuda_qgemm.h */
} pwl_qgemm_group;

/* As pwl_qgemm_check() and pwl_qgemm_reference(); PWL_QGEMM_ERR_GROUP where the number of experts, or apart, is out of
 * range, or M is above INT32_MAX. */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_group_check(const pwl_qgemm_product *product, const pwl_qgemm_group *group);
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_group_reference(const pwl_qgemm_product *product,
                                                         const pwl_qgemm_group *group);

/*
 * value[M][N] = y[m,n] before it is rounded to the type of Y, and bound[M][N] = by how much a kernel's may differ:
 * since rounding is monotone, what a kernel stores lies between the rounded value - bound and the rounded value +
 * bound. `halves` allows for the kernels of W4A8 and W8A8 from M = 64 on that multiply halves, and must be 0 elsewhere.
 * Y itself is not written. Not for INT8, which is exact. With u = 2^-23 for an addition, twice the unit roundoff since
 * tensor cores truncate, n additions and a = sum of the addends' magnitudes, the bound is
 *     n * u * (a + |bias|) + n * 2^-149 * (1 + 2^e)
 *   A16          n = K + K / 32 + 4, for the products, the parts of a split K, e + f and bias; a = sum |w x|
 *   A8           n = 5 K / 32 + 4, four roundings a block and the parts; a = sum over blocks of what is added there
 *   super-blocks n = 6 K / 32 + 1, three roundings for each of two addends a block of 32: in Q6_K, a is of sub-blocks
 *   A8, halves   as A16, times 1 + 2^-9; (2 * 2^-11 + 2^-22) * a for the two roundings to fp16; and, as numbers over
 *                2^e or 2^f may become subnormal, times 1 + 2^-9 + n * u, the sum of o_w * |x| + |w| * o_x + o_w * o_x,
 *                where o_w is 2^(e-25), o_x 2^(f-25), or 0 where e or f is
 *   FP8, MXFP4_FP8   n = K / 128 + 8, for the sums in fp32, s, t and bias; a = s * t * sum |w x|; and s * t times what
 *                sums of 14 bits lose: for each 32 columns, with M the largest magnitude that there can be in them,
 *                4 * 2^-13 * M, for the sum so far and the result, twice, and of each product 2^-13 * M, or all of it
 *                if that is less. M is at most the sum of the products' magnitudes so far, of the last 512 or 128
 *                columns where no more are added so; where all are, also at most the largest difference of two sums so
 *                far and what they have lost; and at least the largest product, of numbers as if none was below 2^-6.
 * It holds where no partial sum leaves the range of fp32. An activation has no part in it but for its bias.
 */
PWL_NODISCARD pwl_qgemm_status pwl_qgemm_bound(const pwl_qgemm_product *product, int halves, double *value,
                                               double *bound);

/* Name of a status for messages. Never null. */
const char *pwl_qgemm_status_text(pwl_qgemm_status status);

#ifdef __cplusplus
}
#endif
#endif
