/* SPDX-License-Identifier: Apache-2.0 */
/* Weights and activations of integers with a power of two a row: packed, unpacked, and made of floats by definition. */
#include "../tap.h"
#include "cases.h"
#include "padding.h"

static void test_rows(pwl_qgemm_format format, const char *name)
{
    uint64_t state = 5;
    int good = 1, padding = 1;
    for (size_t i = 0; i < SHAPES; i++) {
        const size_t n = shapes[i][0], k = shapes[i][1];
        int8_t *const q = need(n * k), *const back = need(n * k), shift[130], shift_back[130];
        pwl_qgemm_weights weights;
        size_t bytes;
        for (size_t j = 0; j < n * k; j++)
            q[j] = (int8_t)random_bits(&state);
        for (size_t j = 0; j < n; j++)
            shift[j] = (int8_t)random_bits(&state);
        good &= pwl_qgemm_weights_bytes(format, n, k, &bytes) == PWL_QGEMM_OK;
        uint8_t *const memory = need(bytes);
        good &= pack_codes(format, q, shift, n, k, memory, bytes - 1, &weights) == PWL_QGEMM_ERR_SPACE;
        good &= pack_codes(format, q, shift, n, k, memory, bytes, &weights) == PWL_QGEMM_OK && weights.bytes == bytes;
        good &= pwl_qgemm_unpack_s8(&weights, back, shift_back) == PWL_QGEMM_OK;
        good &= memcmp(shift, shift_back, n) == 0;
        for (size_t r = 0; r < n; r++) {
            int32_t sum = 0;
            for (size_t c = 0; c < k; c++) {
                good &= back[r * k + c] == code_of(format, q, k, r, c);
                sum += back[r * k + c];
            }
            good &= pwl_qgemm_row_sum(&weights, r) == sum;
        }
        padding &= padding_is_zero(&weights);
        free(q);
        free(back);
        free(memory);
    }
    tap(good, "%s: packed and unpacked, with their sums", name);
    tap(padding, "%s: the padding is 0", name);
}

/* By the definition: from the largest n down. */
static int shift_by_definition(const float *x, size_t k)
{
    double amax = 0;
    for (size_t i = 0; i < k; i++)
        amax = isfinite(x[i]) && fabs((double)x[i]) > amax ? fabs((double)x[i]) : amax;
    for (int n = 126; n > -126 && amax > 0; n--) {
        if (ldexp(amax, n) <= 127)
            return n;
    }
    return amax > 0 ? -126 : 0;
}

static void test_quantise_s8(void)
{
    enum { M = 600, K = 40, STRIDE = 43 };
    static float x[M][STRIDE];
    static int8_t q[M][K], n[M];
    uint64_t state = 6;
    int good = 1;
    for (int m = 0; m < M; m++) {
        const int exponent = m < 300 ? m - 148 : (int)random_in(&state, -12, 12);
        for (int i = 0; i < STRIDE; i++)
            x[m][i] = ldexpf((float)random_in(&state, -(1 << 24), 1 << 24), (exponent > 127 ? 127 : exponent) - 24);
        if (m % 7 == 1) { /* just at and just above 127, and ties */
            for (int i = 0; i < STRIDE; i++)
                x[m][i] = (float)random_in(&state, -254, 254) / 2;
            x[m][3] = m % 2 ? 127 : 0x1.fc0002p6f;
        }
        if (m % 7 == 2)
            x[m][m % K] = m % 2 ? NAN : m % 4 ? INFINITY : -INFINITY;
        if (m % 70 == 3)
            memset(x[m], 0, sizeof x[m]);
    }
    good &= pwl_qgemm_quantise_s8(x[0], M, K, STRIDE, q[0], n) == PWL_QGEMM_OK;
    for (int m = 0; m < M && good; m++) {
        good &= n[m] == shift_by_definition(x[m], K);
        for (int i = 0; i < K; i++) {
            double code = isnan(x[m][i]) ? 0 : round(ldexp(x[m][i], n[m]));
            code = code > 127 ? 127 : code < -127 ? -127 : code;
            good &= q[m][i] == (int)code;
        }
        if (!good)
            printf("# row %d, n = %d, not %d\n", m, n[m], shift_by_definition(x[m], K));
    }
    tap(good, "int8 activations by their formula");

    enum { N = 6, DEEP = 64 };
    float w[N * DEEP];
    int8_t expected[N][DEEP], expected_n[N], got[N][DEEP], got_n[N];
    pwl_qgemm_weights weights;
    size_t bytes;
    for (int i = 0; i < N * DEEP; i++)
        w[i] = (float)random_in(&state, -1000, 1000) / 777;
    good = pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS8, N, DEEP, &bytes) == PWL_QGEMM_OK;
    void *const memory = need(bytes);
    good &= pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_ROWS8, PWL_RULE_DEFAULT, w, N, DEEP), memory, bytes, &weights,
                           NULL) == PWL_QGEMM_OK;
    good &= pwl_qgemm_quantise_s8(w, N, DEEP, DEEP, expected[0], expected_n) == PWL_QGEMM_OK;
    good = good && pwl_qgemm_unpack_s8(&weights, got[0], got_n) == PWL_QGEMM_OK &&
           memcmp(got, expected, sizeof got) == 0 && memcmp(got_n, expected_n, sizeof got_n) == 0;
    tap(good, "int8 weights from floats alike");
    free(memory);
}

/* By the definition: of the five n_w the least of those whose squared errors, in whole 2^-(n + 6), have the least sum.
 */
static int shift4_by_definition(const float *x, size_t k)
{
    const int n = shift_by_definition(x, k);
    double least = INFINITY;
    int best = 0;
    for (int n_w = n - 1; n_w <= n + 3 && n_w <= 126; n_w++) {
        double sum = 0; /* below 2^53 */
        for (size_t i = 0; i < k; i++) {
            const double u = floor(ldexp(x[i], n + 6) + 0.5), step = ldexp(1, n + 10 - n_w);
            const double code = fmax(-8, fmin(7, floor(u / step + 0.5)));
            sum += (u - code * step) * (u - code * step);
        }
        best = sum < least ? n_w : best;
        least = sum < least ? sum : least;
    }
    return best;
}

/* Rows of every size and kind, ties and ends among them; each choice of n_w comes up. */
static void test_floats_rows4(void)
{
    enum { N = 300, K = 4096 };
    static float w[N][K];
    static int8_t q[N][K], n_w[N];
    pwl_qgemm_weights weights;
    uint64_t state = 8;
    size_t bytes;
    int good = 1, seen[5] = {0};
    for (int row = 0; row < N; row++) {
        const int exponent = row < 260 ? row - 130 : (int)random_in(&state, -12, 12), outliers = row % 5;
        for (int c = 0; c < K; c++) {
            w[row][c] = ldexpf((float)random_in(&state, -(1 << 24), 1 << 24), (exponent > 126 ? 126 : exponent) - 24);
            if (outliers && c > outliers * outliers)
                w[row][c] /= (float)(1 << outliers);
            if (row % 7 == 1)
                w[row][c] = (float)random_in(&state, -254, 254) / (row % 2 ? 2 : 16);
        }
        if (row % 70 == 3)
            memset(w[row], 0, sizeof w[row]);
    }
    good &= pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS4, N, K, &bytes) == PWL_QGEMM_OK;
    void *const memory = need(bytes);
    good &= pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_ROWS4, PWL_RULE_DEFAULT, w[0], N, K), memory, bytes, &weights,
                           NULL) == PWL_QGEMM_OK;
    good = good && pwl_qgemm_unpack_s8(&weights, q[0], n_w) == PWL_QGEMM_OK;
    for (int row = 0; row < N && good; row++) {
        const int zero = row % 70 == 3, expected = zero ? 0 : shift4_by_definition(w[row], K);
        good &= n_w[row] == expected;
        for (int c = 0; c < K && good; c++)
            good &= q[row][c] == 16 * fmax(-8, fmin(7, round(ldexp(w[row][c], expected - 4))));
        if (!good)
            printf("# row %d, n_w = %d, not %d\n", row, n_w[row], expected);
        else if (!zero)
            seen[n_w[row] - shift_by_definition(w[row], K) + 1]++;
    }
    printf("# -1 to 3 beside the n_w of int8: %d, %d, %d, %d, %d times\n", seen[0], seen[1], seen[2], seen[3], seen[4]);
    tap(good, "rows of 4 bits from floats by their formula");
    tap(seen[0] && seen[1] && seen[2] && seen[3] && seen[4], "each n_w is taken now and then");
    free(memory);
}

/* Q4_0 gives what the floats give that it stands for. */
static void test_q4_0_rows4(void)
{
    enum { N = 19, K = 96 };
    static float w[N][K];
    uint16_t blocks[N * K / PWL_BLOCK * sizeof(pwl_block_q4_0) / 2];
    const pwl_qgemm_tensor tensor = {2, {K, N, 1, 1}, blocks, sizeof blocks};
    pwl_qgemm_weights from_floats, from_blocks;
    pwl_qgemm_place bad = {9, 9, 0};
    uint64_t state = 9;
    size_t bytes = 1;
    draw_blocks(&qgemm_kinds[0], (uint8_t *)blocks, N * K / PWL_BLOCK, -4, -1, &state);
    int good = pwl_dequantise(PWL_Q4_0, blocks, N, K, K, w[0]) == PWL_BLOCKS_OK &&
               pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS4, N, K, &bytes) == PWL_QGEMM_OK;
    void *const a = need(bytes), *const b = need(bytes);
    good = good &&
           pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_ROWS4, PWL_RULE_DEFAULT, w[0], N, K), a, bytes, &from_floats,
                          NULL) == PWL_QGEMM_OK &&
           pwl_qgemm_pack(pwl_qgemm_of_tensor(PWL_QGEMM_ROWS4, PWL_RULE_DEFAULT, &tensor), b, bytes, &from_blocks,
                          NULL) == PWL_QGEMM_OK &&
           from_floats.bytes == from_blocks.bytes && memcmp(a, b, bytes) == 0;
    blocks[4 * 9] = 0x7c00; /* row 1, block 1 */
    good = good &&
           pwl_qgemm_pack(pwl_qgemm_of_tensor(PWL_QGEMM_ROWS4, PWL_RULE_DEFAULT, &tensor), b, bytes, &from_blocks,
                          &bad) == PWL_QGEMM_ERR_SCALE &&
           bad.row == 1 && bad.block == 1 && memcmp(a, b, bytes) == 0;
    tap(good, "rows of 4 bits from Q4_0");
    free(a);
    free(b);
}

int main(void)
{
    test_rows(PWL_QGEMM_ROWS8, "int8 rows");
    test_rows(PWL_QGEMM_ROWS4, "rows of 4 bits");
    test_quantise_s8();
    test_floats_rows4();
    test_q4_0_rows4();
    return tap_end();
}
