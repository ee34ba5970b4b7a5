/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What quantisation costs a product of random matrices, through packing and the reference: NMSE = sum (C' - C)^2 /
 * sum C^2. The figures are those that the formats' sources publish; 128 x 128 outputs scatter by about 1 %.
 */
#include "../tap.h"
#include "cases.h"
#include "draw_matrix.h"

enum { ROWS = 128, K = 4096 };

static float x[ROWS * K], w[ROWS * K], y[ROWS * ROWS];
static double exact[ROWS * ROWS];

#define ROWS4_UNIFORM ((31.0 / 32 * 0x1p-6 / 12 + (0x1p-9 - 0x1p-12) / 6) * 3 + 0x1p-12 / 12 * 3)

static const struct figure {
    const char *name;
    int gaussian;
    pwl_qgemm_scheme scheme;
    pwl_qgemm_format format;
    pwl_rule rule;
    pwl_qgemm_sums sums;
    double low, high;
} figures[] = {
    /* within 3 % of 4.6e-3, 1.4e-5, 4.7e-3 */
    {"W4A16, amax / 7, uniform", 0, PWL_QGEMM_W4A16, PWL_QGEMM_Q4_0, PWL_RULE_DOCUMENT, PWL_QGEMM_SUMS_EXACT,
     4.6e-3 * 0.97, 4.6e-3 * 1.03},
    {"W8A16, uniform", 0, PWL_QGEMM_W8A16, PWL_QGEMM_Q8_0, PWL_RULE_DEFAULT, PWL_QGEMM_SUMS_EXACT, 1.4e-5 * 0.97,
     1.4e-5 * 1.03},
    {"W4A8, amax / 7, stored sums, uniform", 0, PWL_QGEMM_W4A8, PWL_QGEMM_Q4_0, PWL_RULE_DOCUMENT,
     PWL_QGEMM_SUMS_STORED, 4.7e-3 * 0.97, 4.7e-3 * 1.03},
    /* at least 3 % below 7.29e-3, 2.83e-5, 5.78e-5 */
    {"W4A16, ggml's rule, Gaussian", 1, PWL_QGEMM_W4A16, PWL_QGEMM_Q4_0, PWL_RULE_GGML, PWL_QGEMM_SUMS_EXACT,
     7.29e-3 * 0.97, 7.4e-3},
    {"W8A16, Gaussian", 1, PWL_QGEMM_W8A16, PWL_QGEMM_Q8_0, PWL_RULE_DEFAULT, PWL_QGEMM_SUMS_EXACT, 2.83e-5 * 0.97,
     2.9e-5},
    {"W8A8, Gaussian", 1, PWL_QGEMM_W8A8, PWL_QGEMM_Q8_0, PWL_RULE_DEFAULT, PWL_QGEMM_SUMS_EXACT, 5.78e-5 * 0.97,
     5.9e-5},
    /* amax is nearly 1, so steps are 2^-6: errors of mean square 2^-12 / 12 in numbers of 1 / 3, on both sides. */
    {"INT8, uniform", 0, PWL_QGEMM_INT8, PWL_QGEMM_ROWS8, PWL_RULE_DEFAULT, PWL_QGEMM_SUMS_EXACT,
     2 * 0x1p-12 / 12 * 3 * 0.97, 2 * 0x1p-12 / 12 * 3 * 1.03},
    /* Steps of weights are 2^-3, -8 to 7 of them: beyond 15/16, 1/32 of all, errors are from 2^-4 to 2^-3. X as above.
     */
    {"INT8 with rows of 4 bits, uniform", 0, PWL_QGEMM_INT8, PWL_QGEMM_ROWS4, PWL_RULE_DEFAULT, PWL_QGEMM_SUMS_EXACT,
     0.97 * ROWS4_UNIFORM, 1.03 * ROWS4_UNIFORM},
    /* In steps of 1/2 of the standard deviation, up to 3.5 or 4 of them. */
    {"INT8 with rows of 4 bits, Gaussian", 1, PWL_QGEMM_INT8, PWL_QGEMM_ROWS4, PWL_RULE_DEFAULT, PWL_QGEMM_SUMS_EXACT,
     0x1p-2 / 12 * 0.97, 0x1p-2 / 12 * 1.03},
};

static void multiply_exactly(void)
{
    for (size_t at = 0; at < ROWS * ROWS; at++) {
        exact[at] = 0;
        for (size_t k = 0; k < K; k++)
            exact[at] += (double)x[at / ROWS * K + k] * (double)w[at % ROWS * K + k];
    }
}

/* C' into y, in INT8 out of s32. */
static int multiply(const struct figure *figure, const pwl_qgemm_weights *weights)
{
    static int8_t q_x[ROWS * K], n_x[ROWS], q_w[ROWS * K], n_w[ROWS];
    static int32_t sums[ROWS * ROWS];
    pwl_qgemm_product product = {figure->scheme,
                                 figure->sums,
                                 ROWS,
                                 weights,
                                 {x, K, PWL_QGEMM_F32, 0, NULL, NULL},
                                 NULL,
                                 {y, ROWS, PWL_QGEMM_F32, 0, 0, NULL, 0},
                                 NULL};
    if (figure->scheme != PWL_QGEMM_INT8)
        return pwl_qgemm_reference(&product) == PWL_QGEMM_OK;
    product.x = (pwl_qgemm_input){q_x, K, PWL_QGEMM_S8, 0, n_x, NULL};
    product.y = (pwl_qgemm_output){sums, ROWS, PWL_QGEMM_S32, 0, 0, NULL, 0};
    if (pwl_qgemm_quantise_s8(x, ROWS, K, K, q_x, n_x) != PWL_QGEMM_OK ||
        pwl_qgemm_unpack_s8(weights, q_w, n_w) != PWL_QGEMM_OK || pwl_qgemm_reference(&product) != PWL_QGEMM_OK)
        return 0;
    for (size_t at = 0; at < ROWS * ROWS; at++)
        y[at] = ldexpf((float)sums[at], -n_x[at / ROWS] - n_w[at % ROWS]);
    return 1;
}

static void test_figure(const struct figure *figure)
{
    pwl_qgemm_weights weights;
    double error = 0, square = 0;
    size_t bytes;
    if (pwl_qgemm_weights_bytes(figure->format, ROWS, K, &bytes) != PWL_QGEMM_OK)
        abort();
    void *const memory = need(bytes);
    int good = pwl_qgemm_pack(pwl_qgemm_of_floats(figure->format, figure->rule, w, ROWS, K), memory, bytes, &weights,
                              NULL) == PWL_QGEMM_OK;
    good = good && multiply(figure, &weights);
    for (size_t at = 0; at < ROWS * ROWS && good; at++) {
        error += ((double)y[at] - exact[at]) * ((double)y[at] - exact[at]);
        square += exact[at] * exact[at];
    }
    printf("# NMSE %.3e\n", error / square);
    tap(good && error / square >= figure->low && error / square <= figure->high, "%s: %.3g to %.3g", figure->name,
        figure->low, figure->high);
    free(memory);
}

/*
 * W4A8 with nibbles that count from 0 and nothing taken off again: off by 8 * sum_b d_w * (the sum of x in b), of mean
 * square 64 * K * E d_w^2 * E x^2 in a product of K * E w^2 * E x^2. Sums of x are the same for all rows of w: 128
 * independent ones, whose squares have a mean within 12.5 % as a rule.
 */
static void test_no_compensation(void)
{
    static pwl_block_q4_0 blocks[ROWS][K / PWL_BLOCK];
    static pwl_block_q8_1 q[ROWS][K / PWL_BLOCK];
    double error = 0, square = 0, d_square = 0;
    if (pwl_quantise(PWL_Q4_0, PWL_RULE_DOCUMENT, w, ROWS, K, K, blocks) != PWL_BLOCKS_OK ||
        pwl_quantise(PWL_Q8_1, PWL_RULE_DOCUMENT, x, ROWS, K, K, q) != PWL_BLOCKS_OK)
        abort();
    for (size_t at = 0; at < ROWS * ROWS; at++) {
        const size_t m = at / ROWS, n = at % ROWS;
        double sum = 0;
        for (size_t b = 0; b < K / PWL_BLOCK; b++) {
            int raw = 0;
            for (int j = 0; j < PWL_BLOCK; j++)
                raw += (blocks[n][b].qs[j % 16] >> j / 16 * 4 & 15) * q[m][b].qs[j];
            const double d = pwl_f32_from_f16(blocks[n][b].d);
            sum += d * (double)pwl_f32_from_f16(q[m][b].d) * raw;
            d_square += d * d / (ROWS * ROWS * K / PWL_BLOCK);
        }
        error += (sum - exact[at]) * (sum - exact[at]);
        square += exact[at] * exact[at];
    }
    const double expected = 64 * d_square / (1.0 / 3);
    printf("# NMSE %.3f, expected %.3f\n", error / square, expected);
    tap(fabs(error / square / expected - 1) < 4 * 0.125, "W4A8 without compensation, uniform: an NMSE above 1");
}

int main(void)
{
    uint64_t state = 1;
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        draw_matrix(x, ROWS * K, gaussian, &state);
        draw_matrix(w, ROWS * K, gaussian, &state);
        multiply_exactly();
        for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
            if (figures[i].gaussian == gaussian)
                test_figure(&figures[i]);
        }
        if (!gaussian)
            test_no_compensation();
    }
    return tap_end();
}
