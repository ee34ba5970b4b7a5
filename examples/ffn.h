/* SPDX-License-Identifier: 0BSD */
/*
 * The feed-forward block of a transformer, of tensors as a GGUF file has them:
 *
 *   y = W_down f(W_up x)                         two matrices
 *   y = W_down (f(W_gate x) * (W_up x))          three: a gated one
 *
 * As two products of pwl/qgemm.h: the first applies f, a table, and the gate to its sums before they are stored.
 */
#ifndef FFN_H
#define FFN_H

#include <stddef.h>

#include <pwl/qgemm.h>

/* A standard table, and its scales. */
typedef struct ffn_table {
    const char *name;
    const pwl_table *table;
    pwl_affine of_x, of_y;
} ffn_table;

enum { FFN_TABLES = 3 };

/* A function, and its tables in luts/. */
typedef struct ffn_function {
    const char *name;
    double (*exact)(double x);
    ffn_table tables[FFN_TABLES];
} ffn_function;

extern const ffn_function ffn_gelu, ffn_silu;

typedef struct ffn_block {
    size_t d, ff;                    /* elements of x and y, and in between */
    pwl_qgemm_tensor gate, up, down; /* gate.data is null where there are two */
    const ffn_function *f;
} ffn_block;

/* Shapes of the block, taken from its tensors. Null when they go together, else why not, for messages. */
const char *ffn_shape(ffn_block *block);

/* What of a block is quantised; the rest is in floats, and sums in double. */
typedef struct ffn_choice {
    int weights;     /* as pwl_qgemm_of_tensor() says: floats to Q4_0; blocks are what they are */
    int activations; /* x, and what goes into W_down, to Q8_1 */
    const ffn_table *table;
} ffn_choice;

/* y[m][d] of x[m][d]. 1 when it is done. */
int ffn_compute(const ffn_block *block, ffn_choice choice, const float *x, size_t m, float *y);

/* All of it at once, W4A8 (W8A8 for tensors in Q8_0), by the reference; and on the current CUDA device. PWL_QGEMM_OK
 * when it is done, PWL_QGEMM_ERR_SPACE without memory. */
pwl_qgemm_status ffn_fused(const ffn_block *block, const ffn_table *table, const float *x, size_t m, float *y);
pwl_qgemm_status ffn_fused_cuda(const ffn_block *block, const ffn_table *table, const float *x, size_t m, float *y);

/* Weights of the two products, in memory to be freed by free(). */
pwl_qgemm_status ffn_pack(const ffn_block *block, pwl_qgemm_weights weights[2]);

/*
 * The two products, but for where weights, x, hidden (float[m][ff]), y and the table lie: pointers are the host's or a
 * device's, table of pwl_qgemm_activation being set for one or the other.
 */
void ffn_products(const ffn_block *block, const ffn_table *table, const pwl_qgemm_weights weights[2], size_t m,
                  const float *x, float *hidden, float *y, pwl_qgemm_activation *activation,
                  pwl_qgemm_product products[2]);

/* sum (y - exact)^2 / sum exact^2 */
double ffn_nmse(const float *y, const float *exact, size_t count);

#endif
