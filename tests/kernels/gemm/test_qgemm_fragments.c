/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed weights through the fragments of matrix instructions, 32 lanes on the host: activations of one 1 give the
 * weights back bit for bit, random ones what the reference says, however the work along K is shared out.
 */
#include "../tap.h"
#include "gemm/weight.h"
#include "lanes.h"

enum { N = 144, K = 160, GAP = 1 };

static const struct scheme {
    const char *name;
    pwl_qgemm_scheme scheme;
    size_t kind;
} schemes[] = {{"W4A16", PWL_QGEMM_W4A16, 0},
               {"W8A16", PWL_QGEMM_W8A16, 1},
               {"MXFP4 x A16", PWL_QGEMM_MXFP4_A16, 2},
               {"W4A8", PWL_QGEMM_W4A8, 0},
               {"W8A8", PWL_QGEMM_W8A8, 1}};

static float w[N][K], y[K * (N + GAP)], expected[K * (N + GAP)];
static uint16_t x[K * (K + GAP)];
static pwl_block_q8_1 q[K][K / PWL_BLOCK];

static uint16_t blocks[N * K / PWL_BLOCK * sizeof(pwl_block_q8_0) / 2];

static pwl_qgemm_weights pack_blocks(size_t kind)
{
    if (pwl_dequantise(qgemm_kinds[kind].blocks, blocks, N, K, K, w[0]) != PWL_BLOCKS_OK)
        abort();
    return pack_new(&qgemm_kinds[kind], blocks, N, K);
}

static pwl_qgemm_weights draw_weights(size_t kind, int high, uint64_t *state)
{
    draw_blocks(&qgemm_kinds[kind], (uint8_t *)blocks, N * K / PWL_BLOCK, -13, high, state);
    return pack_blocks(kind);
}

/* Blocks of one code throughout, each end of the codes and of the scales with every other in some row. */
static pwl_qgemm_weights draw_extremes(size_t kind, uint64_t *state)
{
    static const uint16_t scales[] = {0, 0x8000, 1, 0x83ff, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0xfbff};
    static const uint8_t exponents[] = {0, 1, 100, 127, 128, 253, 254};
    static const uint8_t codes[] = {0x00, 0xff, 0x88, 0x77, 0x80, 0x7f};
    const size_t bytes = pwl_format_bytes(qgemm_kinds[kind].blocks);
    for (size_t i = 0; i < N * K / PWL_BLOCK; i++) {
        uint8_t *const block = (uint8_t *)blocks + i * bytes;
        const uint16_t scale = scales[random_bits(state) % (sizeof scales / sizeof *scales)];
        memset(block, codes[random_bits(state) % sizeof codes], bytes);
        if (kind == 2)
            block[0] = exponents[random_bits(state) % sizeof exponents];
        else
            memcpy(block, &scale, sizeof scale);
    }
    return pack_blocks(kind);
}

static pwl_qgemm_product product_of(const struct scheme *scheme, const pwl_qgemm_weights *weights, pwl_qgemm_type type)
{
    const int a8 = type == PWL_QGEMM_BLOCKS_Q8_1;
    const pwl_qgemm_product product = {scheme->scheme,
                                       PWL_QGEMM_SUMS_EXACT,
                                       K,
                                       weights,
                                       {a8 ? (const void *)q : x, a8 ? K / PWL_BLOCK : K + GAP, type, 0, NULL, NULL},
                                       NULL,
                                       {y, N + GAP, PWL_QGEMM_F32, 0, 0, NULL, 0},
                                       NULL};
    return product;
}

/* What weight (n, k) is to come back as. */
static float weight_of(const pwl_qgemm_weights *weights, pwl_qgemm_type type, size_t n, size_t k)
{
    const int e = pwl_qgemm_row_exponent(weights, n);
    if (type == PWL_QGEMM_BLOCKS_Q8_1)
        return w[n][k];
    const float v = ldexpf(w[n][k], -e);
    return ldexpf(
        type == PWL_QGEMM_BF16 ? pwl_f32_from_bf16(pwl_bf16_from_f32(v)) : pwl_f32_from_f16(pwl_f16_from_f32(v)), e);
}

/* Row m of X has its 1 in column m. */
static void test_one_hot(const struct scheme *scheme, pwl_qgemm_type type, const char *name)
{
    uint64_t state = 31;
    int good = 1, referred = 1, any = 0;
    memset(q, 0, sizeof q);
    memset(x, 0xff, sizeof x);
    for (size_t m = 0; m < K; m++) {
        for (size_t c = 0; c < K; c++)
            x[m * (K + GAP) + c] = m == c ? type == PWL_QGEMM_BF16 ? 0x3f80 : 0x3c00 : 0;
        for (size_t b = 0; b < K / PWL_BLOCK; b++)
            q[m][b].d = 0x3c00;
        q[m][m / PWL_BLOCK].qs[m % PWL_BLOCK] = 1;
    }
    for (size_t i = 0; i < 5; i++) {
        static const size_t shares[] = {1, 77, 180, 397, 540}; /* of 180 tiles of three pieces */
        /* Scales from 2^11 on are where rows get exponents. */
        pwl_qgemm_weights weights =
            i > 3 ? draw_extremes(scheme->kind, &state) : draw_weights(scheme->kind, i % 2 ? 1 : 15, &state);
        pwl_qgemm_product product = product_of(scheme, &weights, type);
        any |= weights.row_data;
        memset(y, 0xa5, sizeof y);
        multiply_by_lanes(&product, shares[i]);
        for (size_t m = 0; m < K && good; m++) {
            for (size_t n = 0; n < N && good; n++) {
                const float weight = weight_of(&weights, type, n, m);
                const float got = y[m * (N + GAP) + n];
                good = pwl_bits_of_f32(got) == pwl_bits_of_f32(weight + 0.0f); /* no -0: sums begin at 0 */
                if (!good)
                    printf("# row %zu, column %zu: %a, not %a\n", n, m, (double)got, (double)weight);
            }
            good &= pwl_bits_of_f32(y[m * (N + GAP) + N]) == 0xa5a5a5a5;
        }
        product.y.data = expected;
        memset(expected, 0xa5, sizeof expected);
        referred &= pwl_qgemm_reference(&product) == PWL_QGEMM_OK && memcmp(expected, y, sizeof y) == 0;
        free_weights(&weights);
    }
    tap(good && any, "%s of %s: a 1 in X gives each weight back", scheme->name, name);
    tap(referred, "%s of %s: so does the reference", scheme->name, name);
}

static void test_random(const struct scheme *scheme, pwl_qgemm_type type, const char *name)
{
    static double value[K * N], bound[K * N];
    static const size_t rows[] = {1, 7, 8, 9, 33}, shares[] = {1, 20, 9, 23, 135}; /* of 27, 27, 27, 54, 135 pieces */
    static float bias[N];
    uint64_t state = 32;
    int good = 1;
    double most = 0;
    for (size_t i = 0; i < 5; i++) {
        pwl_qgemm_weights weights = draw_weights(scheme->kind, i % 2 ? 15 : 1, &state);
        pwl_qgemm_product product = product_of(scheme, &weights, type);
        float floats[K];
        product.m = rows[i];
        product.bias = i % 2 ? bias : NULL;
        for (size_t n = 0; n < N; n++)
            bias[n] = (float)random_in(&state, -999, 999);
        memset(x, 0xff, sizeof x); /* NaN where there is no X */
        memset(q, 0xff, sizeof q);
        for (size_t m = 0; m < product.m; m++) {
            for (size_t c = 0; c < K; c++) {
                floats[c] = (float)random_in(&state, -1000, 1000) / 256;
                x[m * (K + GAP) + c] =
                    type == PWL_QGEMM_BF16 ? pwl_bf16_from_f32(floats[c]) : pwl_f16_from_f32(floats[c]);
            }
            good &= pwl_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, floats, 1, K, K, q[m]) == PWL_BLOCKS_OK;
        }
        multiply_by_lanes(&product, shares[i]);
        good &= pwl_qgemm_bound(&product, 0, value, bound) == PWL_QGEMM_OK;
        for (size_t at = 0; at < product.m * N; at++) {
            const double off = fabs((double)y[at / N * (N + GAP) + at % N] - value[at]) / bound[at];
            good &= off <= 1;
            most = off > most ? off : most;
        }
        free_weights(&weights);
    }
    printf("# at most %.3f of the bound\n", most);
    tap(good, "%s of %s: random X within the bound", scheme->name, name);
}

static void test_int8(pwl_qgemm_format format, const char *name)
{
    static int8_t q_w[N * K], q_x[33 * (K + GAP)], n_w[N], n_x[33];
    static int32_t bias[N], got[33 * (N + GAP)], reference[33 * (N + GAP)];
    uint64_t state = 33;
    int good = 1;
    for (size_t i = 0; i < 6; i++) {
        pwl_qgemm_weights weights;
        size_t bytes;
        for (size_t j = 0; j < N * K; j++)
            q_w[j] = (int8_t)random_bits(&state);
        for (size_t j = 0; j < 33 * (K + GAP); j++)
            q_x[j] = (int8_t)random_bits(&state);
        for (size_t j = 0; j < N; j++) {
            n_w[j] = (int8_t)random_in(&state, 4, 8);
            bias[j] = (int32_t)random_in(&state, -100000, 100000);
        }
        for (size_t j = 0; j < 33; j++)
            n_x[j] = (int8_t)random_in(&state, 4, 8);
        if (pwl_qgemm_weights_bytes(format, N, K, &bytes) != PWL_QGEMM_OK ||
            pack_codes(format, q_w, n_w, N, K, need(bytes), bytes, &weights) != PWL_QGEMM_OK)
            abort();
        pwl_qgemm_product product = {PWL_QGEMM_INT8,
                                     PWL_QGEMM_SUMS_EXACT,
                                     i < 3 ? 33 : 5,
                                     &weights,
                                     {q_x, K + GAP, PWL_QGEMM_S8, (int32_t)i * 40 - 100, n_x, NULL},
                                     bias,
                                     {got, N + GAP, i % 2 ? PWL_QGEMM_S32 : PWL_QGEMM_S8, 3, 1, NULL, 0},
                                     NULL};
        memset(got, 0xa5, sizeof got);
        memset(reference, 0xa5, sizeof reference);
        multiply_by_lanes(&product, 1 + 5 * i); /* of 135 pieces, or 27 */
        product.y.data = reference;
        good &= pwl_qgemm_reference(&product) == PWL_QGEMM_OK && memcmp(got, reference, sizeof got) == 0;
        free_weights(&weights);
    }
    tap(good, "%s: the reference's bits", name);
}

/* Bytes of X in the order of the weights' words, of rows that were packed from q. */
static int words_agree(const uint8_t *packed, size_t m)
{
    int good = 1;
    for (size_t row = 0; row < m; row++) {
        for (size_t c = 0; c < K; c += 16) {
            for (size_t t = 0; t < 4; t++) {
                const int8_t *const from = &q[row][c / PWL_BLOCK].qs[c % PWL_BLOCK + 2 * t];
                uint16_t pair, later;
                memcpy(&pair, from, sizeof pair);
                memcpy(&later, from + 8, sizeof later);
                good &= word_at(packed + pwl_qgemm_input_at(m, row, c) + t * 16 + c % PWL_QGEMM_COLUMNS / 4) ==
                        pwl_fragment_input(pair, later);
            }
        }
    }
    return good;
}

/* The sums beside the codes: with nibbles as they are, 8 times those less. */
static void test_sums(void)
{
    uint64_t state = 34;
    pwl_qgemm_weights weights = draw_weights(0, 1, &state);
    pwl_qgemm_product product = product_of(&schemes[3], &weights, PWL_QGEMM_BLOCKS_Q8_1);
    uint8_t *const packed = need(pwl_qgemm_input_bytes(13, K));
    const size_t codes = pwl_qgemm_input_codes(13, K);
    int good = pwl_qgemm_input_bytes(13, K) == 16 * 192 * 9 / 8;
    product.m = 13;
    for (size_t m = 0; m < 13; m++) {
        for (size_t b = 0; b < K / PWL_BLOCK; b++) {
            q[m][b].d = (uint16_t)random_bits(&state);
            for (size_t j = 0; j < PWL_BLOCK; j++)
                q[m][b].qs[j] = m == 3 ? -128 : (int8_t)random_bits(&state);
        }
    }
    memset(packed, 0xff, pwl_qgemm_input_bytes(13, K));
    pwl_qgemm_pack_input(&product, packed);
    for (size_t m = 0; m < 16; m++) {
        for (size_t b = 0; b < 6; b++) {
            const int inside = m < 13 && b < K / PWL_BLOCK;
            const size_t at = codes + ((b / 2 * 16 + m) * 2 + b % 2) * 4;
            int sum = 0;
            for (size_t j = 0; j < PWL_BLOCK && inside; j++)
                sum += q[m][b].qs[j];
            good &= word_at(packed + at) == ((inside ? q[m][b].d : 0) | (uint32_t)(sum & 0xffff) << 16);
        }
    }
    tap(good, "scales and sums of packed blocks, 0 outside of X");
    tap(words_agree(packed, 13), "their bytes, from two pairs of columns each");
    free(packed);
    free_weights(&weights);
}

/* Every scale beside exponents of all sizes, every code: one rounding. */
static void test_mxfp4(void)
{
    static const uint32_t words[] = {0x76543210, 0xfedcba98};
    int good = 1;
    for (int stored = 0; stored < 255; stored++) {
        const int exponents[] = {-128, -1, 0, 64, 126, stored - 128, stored - 127, stored - 104, stored - 88};
        for (size_t i = 0; i < 2 * sizeof exponents / sizeof exponents[0]; i++) {
            const int e = exponents[i / 2];
            const uint32_t word = words[i % 2];
            if (e < -128 || e > 126 || stored - 127 - e > 1)
                continue;
            const uint32_t half = pwl_fragment_mxfp4_scale((uint8_t)stored, e) * 0x10001u;
            const uint32_t bf16 = pwl_fragment_mxfp4_bf16_scale((uint8_t)stored, e) * 0x10001u;
            const pwl_fragment a = pwl_fragment_mxfp4(word, half), b = pwl_fragment_mxfp4_bf16(word, bf16);
            for (unsigned j = 0; j < 8; j++) {
                const int code = (int)(word >> 4 * j & 15);
                const uint16_t stored16 = (uint16_t)stored;
                good &= (uint16_t)(a.r[j % 4] >> j / 4 * 16) == pwl_qgemm_weight(PWL_QGEMM_MXFP4, code, stored16, e, 0);
                good &= (uint16_t)(b.r[j % 4] >> j / 4 * 16) == pwl_qgemm_weight(PWL_QGEMM_MXFP4, code, stored16, e, 1);
            }
        }
    }
    tap(good, "MXFP4: each code and scale, rounded once");
    good = 1;
    for (int stored = 0; stored < 255; stored++) { /* of blocks of zeros */
        const pwl_fragment a = pwl_fragment_mxfp4(0x80808080, pwl_fragment_mxfp4_scale((uint8_t)stored, -128));
        const pwl_fragment b =
            pwl_fragment_mxfp4_bf16(0x80808080, pwl_fragment_mxfp4_bf16_scale((uint8_t)stored, -128));
        for (int j = 0; j < 4; j++)
            good &= ((a.r[j] | b.r[j]) & 0x7fff7fff) == 0;
    }
    tap(good, "MXFP4: a zero is one at any scale");
}

/* A step's bytes count as the codes do, from 8 or from 0. */
static void test_bytes(void)
{
    uint64_t state = 35;
    pwl_qgemm_weights weights = draw_weights(0, 1, &state);
    const tile_view view = view_of(&weights, 0, 0);
    int good = 1;
    for (unsigned l = 0; l < LANES; l++) {
        for (unsigned step = 0; step < 4; step++) {
            uint32_t words[2];
            load_codes(&view, l, step, words);
            for (int from_zero = 0; from_zero < 2; from_zero++) {
                const pwl_bytes8 v = pwl_fragment_bytes(PWL_QGEMM_Q4_0, from_zero, words[0], words[1]);
                for (unsigned i = 0; i < 8; i++) {
                    const unsigned j = i % 4, column = step * 16 + l % 4 * 2 + j / 2 + j % 2 * 8;
                    const int code = pwl_qgemm_code(&weights, l / 4 + i / 4 * 8, column);
                    good &= (int8_t)(v.w[i / 4] >> 8 * j) == code - (from_zero ? 0 : 8);
                }
            }
        }
    }
    tap(good, "nibbles as bytes, from 8 or from 0");
    free_weights(&weights);
}

int main(void)
{
    for (size_t i = 0; i < 3; i++) {
        test_one_hot(&schemes[i], PWL_QGEMM_F16, "fp16");
        test_random(&schemes[i], PWL_QGEMM_F16, "fp16");
        test_one_hot(&schemes[i], PWL_QGEMM_BF16, "bf16");
        test_random(&schemes[i], PWL_QGEMM_BF16, "bf16");
    }
    for (size_t i = 3; i < 5; i++) {
        test_one_hot(&schemes[i], PWL_QGEMM_BLOCKS_Q8_1, "Q8_1");
        test_random(&schemes[i], PWL_QGEMM_BLOCKS_Q8_1, "Q8_1");
    }
    test_int8(PWL_QGEMM_ROWS8, "INT8");
    test_int8(PWL_QGEMM_ROWS4, "INT8 of 4 bits");
    test_sums();
    test_mxfp4();
    test_bytes();
    return tap_end();
}
