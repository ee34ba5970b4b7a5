/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What quantised weights and activations cost a matrix product: C = A W^T of random matrices, as a Markdown table.
 *
 * NMSE = sum (C' - C)^2 / sum C^2 over the elements of C, sums and products in double, so that it holds the error of
 * the formats alone. C is either the product of the original matrices, or that of the original activations with the
 * dequantised weights: what quantising the activations adds.
 */
#include <stdio.h>
#include <stdlib.h>

#include <pwl/blocks.h>
#include <pwl/half.h>

#include "../gemm/draw_matrix.h"

enum { ROWS = 128, K = 4096, BLOCKS = K / PWL_BLOCK };

/* One matrix, A or W, with what a format makes of it. */
struct matrix {
    float x[ROWS][K], values[ROWS][K];
    double extra[ROWS][BLOCKS]; /* see sum_terms() */
};

static struct matrix a, w;
static uint8_t blocks[ROWS * BLOCKS * sizeof(pwl_block_q8_1)];

/* What the stored sums of activations say beyond those of their codes, and what it is multiplied by: with s for
 * d * sum q, a product is off by 8 * d_w * (d * sum q - s) in each block. */
static void sum_terms(struct matrix *matrix, pwl_format format)
{
    for (int r = 0; r < ROWS; r++) {
        for (int b = 0; b < BLOCKS; b++) {
            if (format == PWL_Q8_1) {
                const pwl_block_q8_1 *const block = (const pwl_block_q8_1 *)(const void *)blocks + r * BLOCKS + b;
                int sum = 0;
                for (int j = 0; j < PWL_BLOCK; j++)
                    sum += block->qs[j];
                matrix->extra[r][b] = (double)pwl_f32_from_f16(block->d) * sum - (double)pwl_f32_from_f16(block->s);
            } else {
                const pwl_block_q4_0 *const block = (const pwl_block_q4_0 *)(const void *)blocks + r * BLOCKS + b;
                matrix->extra[r][b] = 8 * (double)pwl_f32_from_f16(block->d);
            }
        }
    }
}

static int round_trip(struct matrix *matrix, pwl_format format, pwl_rule rule)
{
    if (pwl_quantise(format, rule, matrix->x[0], ROWS, K, K, blocks) != PWL_BLOCKS_OK ||
        pwl_dequantise(format, blocks, ROWS, K, K, matrix->values[0]) != PWL_BLOCKS_OK)
        return 0;
    if (format == PWL_Q8_1 || format == PWL_Q4_0)
        sum_terms(matrix, format);
    return 1;
}

static double dot(const float *x, const float *y)
{
    double sum = 0;
    for (int k = 0; k < K; k++)
        sum += (double)x[k] * (double)y[k];
    return sum;
}

static double dot_extra(int row, int column)
{
    double sum = 0;
    for (int b = 0; b < BLOCKS; b++)
        sum += a.extra[row][b] * w.extra[column][b];
    return sum;
}

/* A way to multiply. */
static const struct scheme {
    const char *name;
    pwl_format weights;
    pwl_rule weights_rule;
    int quantise_activations;
    pwl_rule activations_rule;
    int stored_sums;       /* by the s of Q8_1 */
    const char *published; /* by the sources of the formats: uniform, Gaussian */
} schemes[] = {
    {"W4A16: Q4_0, ggml's rule", PWL_Q4_0, PWL_RULE_GGML, 0, PWL_RULE_DEFAULT, 0, "-, 7.29e-03"},
    {"W4A16: Q4_0, amax / 7", PWL_Q4_0, PWL_RULE_DOCUMENT, 0, PWL_RULE_DEFAULT, 0, "4.6e-03, 9.41e-03"},
    {"W4A16: MXFP4", PWL_MXFP4, PWL_RULE_DEFAULT, 0, PWL_RULE_DEFAULT, 0, "-"},
    {"W8A16: Q8_0", PWL_Q8_0, PWL_RULE_DEFAULT, 0, PWL_RULE_DEFAULT, 0, "1.4e-05, 2.83e-05"},
    {"W4A8: Q4_0, ggml's rule; Q8_1, integer sum", PWL_Q4_0, PWL_RULE_GGML, 1, PWL_RULE_DEFAULT, 0, "-"},
    {"W4A8: the same, that sum rounded to fp16", PWL_Q4_0, PWL_RULE_GGML, 1, PWL_RULE_DEFAULT, 1, "-"},
    {"W4A8: Q4_0, ggml's rule; Q8_1, float sum", PWL_Q4_0, PWL_RULE_GGML, 1, PWL_RULE_DOCUMENT, 1, "-"},
    {"W4A8: Q4_0, amax / 7; Q8_1, float sum", PWL_Q4_0, PWL_RULE_DOCUMENT, 1, PWL_RULE_DOCUMENT, 1, "4.7e-03, -"},
    {"W8A8: Q8_0, Q8_1", PWL_Q8_0, PWL_RULE_DEFAULT, 1, PWL_RULE_DEFAULT, 0, "-, 5.78e-05"},
};

struct errors {
    double original, dequantised;
};

static struct errors errors_of(const struct scheme *scheme)
{
    double square = 0, dequantised_square = 0, error = 0, dequantised_error = 0;
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < ROWS; c++) {
            const double exact = dot(a.x[r], w.x[c]), weights_alone = dot(a.x[r], w.values[c]);
            double product = scheme->quantise_activations ? dot(a.values[r], w.values[c]) : weights_alone;
            if (scheme->stored_sums)
                product += dot_extra(r, c);
            square += exact * exact;
            error += (product - exact) * (product - exact);
            dequantised_square += weights_alone * weights_alone;
            dequantised_error += (product - weights_alone) * (product - weights_alone);
        }
    }
    const struct errors errors = {error / square, dequantised_error / dequantised_square};
    return errors;
}

int main(void)
{
    struct errors errors[2][sizeof schemes / sizeof schemes[0]];
    uint64_t state = 1;
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        draw_matrix(a.x[0], (size_t)ROWS * K, gaussian, &state);
        draw_matrix(w.x[0], (size_t)ROWS * K, gaussian, &state);
        for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
            if (!round_trip(&w, schemes[i].weights, schemes[i].weights_rule) ||
                !round_trip(&a, PWL_Q8_1, schemes[i].activations_rule))
                return 1;
            errors[gaussian][i] = errors_of(&schemes[i]);
        }
    }
    printf("| %d x %d x %d | published | uniform | Gaussian | uniform, dequantised weights | Gaussian |\n", ROWS, ROWS,
           K);
    printf("|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        printf("| %s | %s | %.2e | %.2e |", schemes[i].name, schemes[i].published, errors[0][i].original,
               errors[1][i].original);
        if (schemes[i].quantise_activations)
            printf(" %.2e | %.2e |\n", errors[0][i].dequantised, errors[1][i].dequantised);
        else
            printf(" - | - |\n");
    }
    return 0;
}
