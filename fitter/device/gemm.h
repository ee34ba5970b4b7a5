/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of activations with the weights of a GGUF file, Y[M,N] = X[M,K] * W[N,K]^T + bias[N], in the schemes of
 * pwl/qgemm.h. */
#ifndef PWLC_GEMM_H
#define PWLC_GEMM_H

#include <stdbool.h>

#include <pwl/qgemm_host.h>

#include "cuda_library.h"
#include "io/gguf.h"
#include "io/npy.h"
#include "table/table.h"

#define GEMM_SCHEMES "w4a16|w8a16|mxfp4a16|w4a8|w8a8|mxfp4a8|q4ka8|q5ka8|q6ka8|int8|w4int8"

struct gemm_scheme {
    const char *name;
    pwl_qgemm_scheme scheme;
    pwl_qgemm_format format;
    const char *blocks; /* the type of tensor whose blocks it takes as they are; null where it takes floats alone */
};

/* Ends with a null name. */
extern const struct gemm_scheme gemm_schemes[];

/* Whether a device multiplies by it. */
bool gemm_has_kernels(const struct gemm_scheme *scheme);

/* Exit 2 where it does not, and a device is named. */
int gemm_need_kernels(const struct gemm_scheme *scheme, enum device device, struct diag *diag);

/* The scheme of that name; exit 2 when there is none. */
int gemm_scheme_parse(const char *name, size_t length, const struct gemm_scheme **scheme, struct diag *diag);

enum gemm_out { GEMM_F32, GEMM_F16, GEMM_CODES };

/* A product, in arrays on the host. Starts as zeros but for out, and ends with gemm_free(). */
struct gemm {
    enum gemm_out out; /* elements of Y; codes are the table's */
    const struct gemm_scheme *scheme;
    char weights_text[400]; /* for messages: the tensor, its file and its shape */
    pwl_qgemm_weights weights;
    void *packed, *x, *y;
    int8_t *n_x, *n_w; /* int8: the exponents of the rows */
    float *bias;
    int32_t *integer_bias; /* int8 with a table */
    bool has_table;
    struct table table;
    struct packed_table pwl;
    pwl_qgemm_activation activation;
    struct npy shape;          /* of Y */
    pwl_qgemm_product product; /* of these */
    pwl_qgemm_panels panels;   /* of gemm_arrange(), as is the rest */
    void *panels_memory, *workspace;
    size_t workspace_bytes;
};
void gemm_free(struct gemm *gemm);

/* `count` elements, aligned to 16 bytes; null without memory, or where they exceed it. And the message. */
void *gemm_array(size_t count, size_t element);
int gemm_out_of_memory(const char *what, struct diag *diag);

/* Checks a tensor and chooses how it is multiplied: `wanted`, or where that is null what the tensor's blocks are made
 * for, with 16-bit activations but for super-blocks, and w8a16 for floats. Exit 2. */
int gemm_take_weights(struct gemm *gemm, const char *path, const struct gguf_tensor *tensor,
                      const struct gemm_scheme *wanted, struct diag *diag);

/* After that: the table of which Y holds values. */
int gemm_read_table(struct gemm *gemm, const char *path, struct diag *diag);

/* After these: bias, (N,), and then X of floats, (M, K), (K,) or (..., K). Exit 2 for what they are not; 1 without
 * memory or file. */
int gemm_take_bias(struct gemm *gemm, const struct npy *npy, struct diag *diag);
int gemm_read_bias(struct gemm *gemm, const char *path, struct diag *diag);
int gemm_take_input(struct gemm *gemm, const struct npy *npy, struct diag *diag);
int gemm_read_input(struct gemm *gemm, const char *path, struct diag *diag);

/* Last: packs the weights, whose data may lie at any address, and makes room for Y. */
int gemm_prepare(struct gemm *gemm, const pwl_qgemm_tensor *tensor, struct diag *diag);

/* Then, for products on the CPU: arranges the weights for it, where it has a way for the scheme. Exit 1 without memory.
 */
int gemm_arrange(struct gemm *gemm, struct diag *diag);

/* Computes the product on all cores, by arranged weights as pwl/qgemm_host.h says, else by the reference. */
void gemm_multiply(struct gemm *gemm);

/* What .npy holds of Y, where it was computed, by whatever way. *npy points into gemm. */
void gemm_finish(struct gemm *gemm, struct npy *npy);

#endif
