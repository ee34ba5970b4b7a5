/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights in super-blocks: packed and unpacked bit for bit, alone, from tensors and in pairs; the reference of their
 * products against sums over dequantised weights; and what is refused.
 */
#include "../tap.h"
#include "cases.h"

enum { N = 24, K = 512, BLOCKS = N * K / PWL_SUPER_BLOCK, MOST = BLOCKS * sizeof(pwl_block_q6_k), M = 3 };

static uint16_t blocks[MOST / 2], got[MOST / 2];
static _Alignas(16) uint8_t memory[2 * MOST], before[2 * MOST];

static const uint32_t types[] = {12, 13, 14};

static size_t bytes_of(const struct qgemm_kind *kind)
{
    return BLOCKS * pwl_format_bytes(kind->blocks);
}

static pwl_qgemm_tensor tensor_of(const struct qgemm_kind *kind, const void *data, size_t n)
{
    return (pwl_qgemm_tensor){types[kind - super_kinds], {K, n, 1, 1}, data, bytes_of(kind) / N * n};
}

static void test_round_trip(const struct qgemm_kind *kind)
{
    const pwl_qgemm_tensor whole = tensor_of(kind, blocks, N), gate = tensor_of(kind, blocks, N / 3);
    const pwl_qgemm_tensor up = tensor_of(kind, (const uint8_t *)blocks + 2 * bytes_of(kind) / 3, N / 3);
    const size_t row = bytes_of(kind) / N;
    pwl_qgemm_weights made;
    size_t bytes;
    int good = pwl_qgemm_weights_bytes(kind->format, N, K, &bytes) == PWL_QGEMM_OK && bytes == bytes_of(kind);
    good &= pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, N, K), memory, bytes, &made, NULL) == PWL_QGEMM_OK;
    good &= made.bytes == bytes && made.row_data == 0 && pwl_qgemm_unpack(&made, got) == PWL_QGEMM_OK;
    tap(good && memcmp(got, blocks, bytes) == 0, "%s: packed and unpacked", kind->name);
    memset(memory, 0, sizeof memory);
    good = pwl_qgemm_pack(pwl_qgemm_of_tensor(kind->format, PWL_RULE_DEFAULT, &whole), memory, bytes, &made, NULL) ==
               PWL_QGEMM_OK &&
           pwl_qgemm_unpack(&made, got) == PWL_QGEMM_OK;
    tap(good && memcmp(got, blocks, bytes) == 0, "%s: of a tensor", kind->name);
    good = pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_tensor(kind->format, PWL_RULE_DEFAULT, &gate),
                                            pwl_qgemm_of_tensor(kind->format, PWL_RULE_DEFAULT, &up)),
                          memory, bytes, &made, NULL) == PWL_QGEMM_OK &&
           made.n == 2 * N / 3 && pwl_qgemm_unpack(&made, got) == PWL_QGEMM_OK;
    for (size_t i = 0; i < made.n && good; i++) {
        const size_t from = (i / 8 % 2 ? 2 * N / 3 : 0) + i / 16 * 8 + i % 8;
        good = memcmp((uint8_t *)got + i * row, (uint8_t *)blocks + from * row, row) == 0;
    }
    tap(good, "%s: a pair in turns of 8 rows", kind->name);
}

/* Sums in double over values that the formats' own function gives, which are rounded once. */
static void test_reference(const struct qgemm_kind *kind, uint64_t *state)
{
    static pwl_block_q8_1 x[M][K / PWL_BLOCK];
    static float w[N][K];
    static double value[M][N], bound[M][N];
    static const pwl_qgemm_scheme schemes[] = {PWL_QGEMM_Q4_K_A8, PWL_QGEMM_Q5_K_A8, PWL_QGEMM_Q6_K_A8};
    pwl_qgemm_weights weights;
    float y[M][N];
    int good = pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, N, K), memory, sizeof memory, &weights, NULL) ==
                   PWL_QGEMM_OK &&
               pwl_dequantise(kind->blocks, blocks, N, K, K, w[0]) == PWL_BLOCKS_OK;
    for (size_t i = 0; i < M * K / PWL_BLOCK; i++) {
        pwl_block_q8_1 *const q = &x[i / (K / PWL_BLOCK)][i % (K / PWL_BLOCK)];
        q->d = (uint16_t)random_in(state, 0x2000, 0x3c00);
        for (size_t j = 0; j < PWL_BLOCK; j++)
            q->qs[j] = (int8_t)random_bits(state);
    }
    const pwl_qgemm_product product = {schemes[kind - super_kinds],
                                       PWL_QGEMM_SUMS_EXACT,
                                       M,
                                       &weights,
                                       {x, K / PWL_BLOCK, PWL_QGEMM_BLOCKS_Q8_1, 0, NULL, NULL},
                                       NULL,
                                       {y, N, PWL_QGEMM_F32, 0, 0, NULL, 0},
                                       NULL};
    good &= pwl_qgemm_reference(&product) == PWL_QGEMM_OK &&
            pwl_qgemm_bound(&product, 0, value[0], bound[0]) == PWL_QGEMM_OK;
    for (size_t m = 0; m < M; m++) {
        for (size_t n = 0; n < N; n++) {
            double sum = 0, rounded = 0;
            for (size_t k = 0; k < K; k++) {
                const double v =
                    (double)pwl_f32_from_f16(x[m][k / PWL_BLOCK].d) * x[m][k / PWL_BLOCK].qs[k % PWL_BLOCK];
                sum += v * w[n][k];
                rounded += fabs(v * w[n][k]) * 0x1p-24; /* of Q4_K's and Q5_K's values */
            }
            good &= fabs(value[m][n] - sum) <= rounded * (1 + 0x1p-20) && y[m][n] == (float)value[m][n] &&
                    bound[m][n] > 0 && bound[m][n] < 1e-4 * rounded * 0x1p24;
        }
    }
    tap(good, "%s: the reference", kind->name);
}

static void test_errors(const struct qgemm_kind *kind)
{
    const size_t bytes = bytes_of(kind), d = kind->blocks == PWL_Q6_K ? offsetof(pwl_block_q6_k, d) : 0;
    pwl_qgemm_tensor tensor = tensor_of(kind, blocks, N);
    pwl_qgemm_weights made = {NULL, 1, 2, 3, PWL_QGEMM_Q4_0, 0}, good = made;
    pwl_qgemm_place bad = {77, 77, 0};
    const float w[PWL_SUPER_BLOCK] = {0};
    uint8_t *const second = (uint8_t *)got + pwl_format_bytes(kind->blocks) * (K / PWL_SUPER_BLOCK + 1) + d;
    memset(memory, 0xa5, sizeof memory);
    memset(before, 0xa5, sizeof before);
#define REFUSED(call, status, what) tap((call) == (status), "%s: %s", kind->name, what)
    REFUSED(pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, N, 288), memory, bytes, &made, &bad),
            PWL_QGEMM_ERR_SHAPE, "K of 288");
    REFUSED(pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, N, K), memory, bytes - 1, &made, &bad),
            PWL_QGEMM_ERR_SPACE, "a byte too few");
    REFUSED(
        pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, (const char *)blocks + 1, N, K), memory, bytes, &made, &bad),
        PWL_QGEMM_ERR_ALIGN, "blocks at an odd address");
    REFUSED(pwl_qgemm_pack(pwl_qgemm_of_floats(kind->format, PWL_RULE_DEFAULT, w, 1, PWL_SUPER_BLOCK), memory, bytes,
                           &made, &bad),
            PWL_QGEMM_ERR_FORMAT, "of floats");
    REFUSED(pwl_qgemm_pack(pwl_qgemm_of_tensor(PWL_QGEMM_Q4_0, PWL_RULE_DEFAULT, &tensor), memory, bytes, &made, &bad),
            PWL_QGEMM_ERR_FORMAT, "as Q4_0");
    tensor.bytes--;
    REFUSED(pwl_qgemm_pack(pwl_qgemm_of_tensor(kind->format, PWL_RULE_DEFAULT, &tensor), memory, bytes, &made, &bad),
            PWL_QGEMM_ERR_DATA, "cut off by a byte");
    for (size_t at = 0; at <= (d ? 0 : 2); at += 2) { /* d, and dmin where there is one */
        memcpy(got, blocks, bytes);
        second[at] = 0x00;
        second[at + 1] = 0xfc;
        REFUSED(pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, got, N, K), memory, bytes, &made, &bad),
                PWL_QGEMM_ERR_SCALE, at ? "dmin an infinity" : "d an infinity");
    }
    tap(bad.row == 1 && bad.block == PWL_SUPER_BLOCK / PWL_BLOCK, "%s: told where it is", kind->name);
    tap(!made.memory && made.bytes == 3 && memcmp(memory, before, sizeof memory) == 0, "%s: nothing was written",
        kind->name);
    if (pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, N, K), memory, bytes, &good, NULL) != PWL_QGEMM_OK)
        abort();
    good.row_data = 1;
    REFUSED(pwl_qgemm_unpack(&good, got), PWL_QGEMM_ERR_SPACE, "weights with row data");
    good.row_data = 0;
    good.bytes++;
    REFUSED(pwl_qgemm_unpack(&good, got), PWL_QGEMM_ERR_SPACE, "weights of another size");
#undef REFUSED
}

int main(void)
{
    uint64_t state = 91;
    for (size_t i = 0; i < SUPER_KINDS; i++) {
        draw_super_blocks(&super_kinds[i], (uint8_t *)blocks, BLOCKS, -6, 3, &state);
        test_round_trip(&super_kinds[i]);
        test_reference(&super_kinds[i], &state);
        test_errors(&super_kinds[i]);
    }
    return tap_end();
}
