/* SPDX-License-Identifier: 0BSD */
/*
 * A gated feed-forward block that several GPUs share, a rank each:
 *
 *        X, whole           rows of rank r of gate and up        columns of rank r of down        Y, whole
 *     ------------> H_r = f(X W_gate^T) * (X W_up^T) --------------> S_r = H_r W_down^T --------> sum of all S_r
 *
 * Floats: S_r is stored in fp16, which NCCL adds up on all ranks: nccl_all_reduce(). Integers (INT8): S_r is the s32 of
 * the product, without rounding, so that Y has the bits of one GPU's, at any number of ranks. From so many tokens on,
 * each rank adds up its share of them, makes codes of the sums, and gathers the codes: a quarter of the bytes. Fewer
 * tokens are added up on all ranks.
 *
 * The parts of the weights are pwl_qgemm_cut()'s. Functions return null, or in words what went wrong.
 */
#ifndef FFN_PARALLEL_H
#define FFN_PARALLEL_H

#include <pwl/cuda.h>
#include <pwl/cuda_qgemm.h>

#include "nccl.h"

/* The block as all ranks know it. INT8: X is int8 with exponents of 0, and H and Y are int8. */
typedef struct ffn_shared {
    pwl_qgemm_scheme scheme;
    size_t d, ff, most; /* elements of X and Y, and of H; tokens at most */
    pwl_qgemm_activation as;
    const pwl_table *table;
    int32_t n_h, n_y; /* INT8: scales of H and Y are 2^-n */
} ffn_shared;

/* One rank's part, on its device. Starts as zeros, and ends with ffn_release(). */
typedef struct ffn_part {
    const ffn_shared *of;
    nccl group; /* zeros where there is one rank */
    pwl_qgemm_weights gate_up, down;
    pwl_cuda_table table;
    pwl_qgemm_activation as;
    void *h, *sums, *own, *workspace; /* own: the rank's share of complete sums, then its codes */
    int8_t *exponents;                /* of tokens: X's, then H's */
    size_t workspace_bytes;
} ffn_part;

enum { FFN_PRODUCTS = 1, FFN_REDUCTION = 2, FFN_ALL = 3 };

/* Tokens of a rank from which on each rank makes codes of its own; elsewhere all make all. */
#define FFN_OWN_TOKENS 16

/* By an exchange between all ranks, which GPUs are of unlike kinds, in words; "" where none are. To be said, not to be
 * refused: gpus.h. */
const char *ffn_compare_gpus(const nccl *group, char *unlike, size_t size);

/* Rank r's weights, cut from packed weights on the host and copied to the current device. */
const char *ffn_cut(const pwl_qgemm_weights *gate_up, const pwl_qgemm_weights *down, int rank, int ranks,
                    ffn_part *part);

/* After the weights are there: the rest. */
const char *ffn_prepare(const ffn_shared *of, ffn_part *part);
void ffn_release(ffn_part *part);

/* Queues y[m][d] of x[m][d], fp16 or int8, on the device; `steps`, to measure, may leave some out. Y has room for as
 * many rows as ranks more, in INT8. */
const char *ffn_queue(const ffn_part *part, const void *x, size_t m, void *y, int steps, struct CUstream_st *stream);

#endif
