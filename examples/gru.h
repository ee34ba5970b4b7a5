/* SPDX-License-Identifier: 0BSD */
/* The set-up of a GRU cell and its run, on the host and on a CUDA device; gru_step.h says what a step is. */
#ifndef GRU_H
#define GRU_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/qgemm.h>

#include "gru_step.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GRU_BATCH = 2, /* sequences side by side */
    GRU_INPUTS = 128,
    GRU_STATE = GRU_BATCH * GRU_UNITS,
    GRU_STEPS = 1000,
    GRU_CALIBRATION = 100
};

/* One of the two products. */
typedef struct gru_product {
    pwl_qgemm_weights weights; /* PWL_QGEMM_ROWS8, GRU_ROWS x GRU_INPUTS or GRU_UNITS */
    int n;                     /* activations are codes of 2^-n */
    int32_t bias[GRU_ROWS];    /* codes of 2^-(n_w + n) */
    int8_t n_w[GRU_ROWS], shift[GRU_ROWS];
} gru_product;

typedef struct gru_cell {
    gru_product x, h;
    gru_gates gates;
} gru_cell;

/* Tables of luts/, the largest errors that their headers state, in 2^-15, and gru_hash() of what they lead to: from h =
 * 0 over GRU_STEPS steps of what gru_draw() draws, the first GRU_CALIBRATION of which calibrate. */
typedef struct gru_tables {
    const char *name;
    const pwl_table *sigmoid, *tanh;
    double sigmoid_error, tanh_error;
    uint64_t hash;
} gru_tables;

extern const gru_tables gru_standard[2];

/* A cell in real numbers. */
typedef struct gru_model {
    float w_x[GRU_ROWS * GRU_INPUTS], w_h[GRU_ROWS * GRU_UNITS]; /* row-major */
    float b_x[GRU_ROWS], b_h[GRU_ROWS];
} gru_model;

/* Set-up, with floats: weights and x[steps][GRU_BATCH][GRU_INPUTS] at random, the same everywhere. */
void gru_draw(gru_model *model, float *x, size_t steps);

/*
 * The cell of a model; n_x is the largest for which no x of the calibration data leaves the codes. 1 when it is done,
 * and gru_free() is to be called; 0 without memory, or when the numbers are too large or too small for the shifts.
 */
int gru_quantise(const gru_model *model, const gru_tables *tables, const float *calibration, size_t count,
                 gru_cell *cell);
void gru_free(gru_cell *cell);

/* Codes of count inputs: round(x * 2^n_x), ties away from zero, saturated. */
void gru_codes(const gru_cell *cell, const float *x, size_t count, int8_t *q_x);

/* v[m][GRU_ROWS] of q[m][.], on the host. 1 when it is done. */
int gru_multiply(const gru_product *product, const int8_t *q, size_t m, int32_t *v);

/*
 * h[1..steps] from h[0], of GRU_STATE each, and from x[steps][GRU_BATCH][GRU_INPUTS]: on the host, and on the current
 * CUDA device with the same bits. 1 when it is done.
 */
int gru_run(const gru_cell *cell, const int8_t *x, size_t steps, int16_t *h);
int gru_run_cuda(const gru_cell *cell, const int8_t *x, size_t steps, int16_t *h);

/* FNV-1a of the codes of a state, low byte first. */
uint64_t gru_hash(const int16_t *h);

#ifdef __cplusplus
}
#endif
#endif
