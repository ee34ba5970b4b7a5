/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with an activation on the host: the reference has the bits of its own F32 or S32 and what the user would do
 * with them; every table, type of Y and scheme; pairs are packed as if rows had been put in turns by hand; and what is
 * refused.
 */
#include "../tap.h"
#include "activations.h"

enum { MOST_M = 9, MOST_N = 48, MOST_K = 96, GAP = 3, POISON = 0xa5 };

static struct made_table made;

static const struct scheme {
    const char *name;
    pwl_qgemm_scheme scheme;
    pwl_qgemm_format format;
    uint32_t tensor; /* GGUF's number of the weights' blocks */
} schemes[] = {{"W4A16", PWL_QGEMM_W4A16, PWL_QGEMM_Q4_0, 2},
               {"W8A16", PWL_QGEMM_W8A16, PWL_QGEMM_Q8_0, 8},
               {"MXFP4 x A16", PWL_QGEMM_MXFP4_A16, PWL_QGEMM_MXFP4, 39},
               {"W4A8", PWL_QGEMM_W4A8, PWL_QGEMM_Q4_0, 2},
               {"W8A8", PWL_QGEMM_W8A8, PWL_QGEMM_Q8_0, 8},
               {"INT8", PWL_QGEMM_INT8, PWL_QGEMM_ROWS8, 0},
               {"INT8 of 4 bits", PWL_QGEMM_INT8, PWL_QGEMM_ROWS4, 0}};

#define SCHEMES (sizeof schemes / sizeof schemes[0])

/* Operands; weights of gate and up are rows in turns, so that any product may be gated. */
static struct {
    pwl_qgemm_weights weights;
    float x[MOST_M][MOST_K], values[MOST_M * MOST_N];
    int8_t q_x[MOST_M][MOST_K], n_x[MOST_M], n_w[MOST_N];
    int32_t bias[MOST_N], bias_up[MOST_N], packed_bias[MOST_N];
    uint8_t y[4 * MOST_M * (MOST_N + GAP)], expected[4 * MOST_M * (MOST_N + GAP)];
} p;

static void draw_weights(pwl_qgemm_format format, size_t n, size_t k, uint64_t *state)
{
    size_t bytes;
    if (!is_rows(format)) {
        const struct qgemm_kind *const kind = &qgemm_kinds[format];
        uint8_t *const blocks = need(blocks_bytes(kind, n, k));
        draw_blocks(kind, blocks, n * k / PWL_BLOCK, -4, random_bits(state) % 4 ? 1 : 15, state);
        p.weights = pack_new(kind, blocks, n, k);
        free(blocks);
        return;
    }
    int8_t *const q = need(n * k);
    for (size_t i = 0; i < n * k; i++)
        q[i] = (int8_t)random_bits(state);
    for (size_t i = 0; i < n; i++)
        p.n_w[i] = (int8_t)random_in(state, -3, 9);
    if (pwl_qgemm_weights_bytes(format, n, k, &bytes) != PWL_QGEMM_OK ||
        pack_codes(format, q, p.n_w, n, k, need(bytes), bytes, &p.weights) != PWL_QGEMM_OK)
        abort();
    free(q);
}

/* A product in F32 or S32, bias of each row of the weights, which is drawn for gate and up. */
static pwl_qgemm_product draw_product(const struct scheme *scheme, size_t m, size_t n, size_t k, uint64_t *state)
{
    const int int8 = scheme->scheme == PWL_QGEMM_INT8;
    draw_weights(scheme->format, n, k, state);
    for (size_t i = 0; i < m; i++) {
        p.n_x[i] = (int8_t)random_in(state, -3, 9);
        for (size_t c = 0; c < k; c++) {
            p.x[i][c] = (float)random_in(state, -4096, 4095) / 1024;
            p.q_x[i][c] = (int8_t)random_bits(state);
        }
    }
    if (random_bits(state) % 4 == 0)
        p.x[m - 1][random_bits(state) % k] = random_bits(state) % 2 ? NAN : INFINITY;
    for (size_t i = 0; i < n; i++) {
        const int32_t bias = (int32_t)random_in(state, -1000, 1000), up = (int32_t)random_in(state, -1000, 1000);
        const float bias_f = (float)bias / 16, up_f = (float)up / 16;
        memcpy(&p.bias[i], int8 ? (const void *)&bias : &bias_f, 4);
        memcpy(&p.bias_up[i], int8 ? (const void *)&up : &up_f, 4);
    }
    return (pwl_qgemm_product){scheme->scheme,
                               PWL_QGEMM_SUMS_EXACT,
                               m,
                               &p.weights,
                               {int8 ? (const void *)p.q_x : p.x, MOST_K, int8 ? PWL_QGEMM_S8 : PWL_QGEMM_F32,
                                int8 ? (int32_t)random_in(state, -128, 127) : 0, p.n_x, NULL},
                               p.bias,
                               {p.values, n, int8 ? PWL_QGEMM_S32 : PWL_QGEMM_F32, 0, 0, NULL, 0},
                               NULL};
}

/* One product fused and unfused. */
static int agrees(const struct scheme *scheme, const pwl_table *table, int gated, uint64_t *state)
{
    const int int8 = scheme->scheme == PWL_QGEMM_INT8;
    const size_t m = (size_t)random_in(state, 1, MOST_M), k = 32 * (size_t)random_in(state, 1, 3);
    const size_t n = gated ? 16 * (size_t)random_in(state, 1, 3) : (size_t)random_in(state, 1, MOST_N);
    pwl_qgemm_product product = draw_product(scheme, m, n, k, state);
    pwl_qgemm_activation as;
    if (gated) {
        interleave_bias(p.bias, p.bias_up, n, p.packed_bias);
        product.bias = p.packed_bias;
    }
    if (pwl_qgemm_reference(&product) != PWL_QGEMM_OK)
        return 0;
    const struct y_kind *const y = draw_y_kind(table, int8, gated, Y_KINDS, state);
    as = draw_activation(table, int8, gated, half_of_most(&product, p.values, 0x1p-6), y, state);
    as.bias_up = p.bias_up;
    product.activation = &as;
    product.bias = p.bias;
    product.y = y_of(y, p.y, (gated ? n / 2 : n) + GAP);
    memset(p.y, POISON, sizeof p.y);
    memset(p.expected, POISON, sizeof p.expected);
    activate(&product, y, p.values, p.n_w, p.expected, product.y.stride);
    const pwl_qgemm_status status = pwl_qgemm_reference(&product);
    const int good = status == PWL_QGEMM_OK && memcmp(p.y, p.expected, sizeof p.y) == 0 &&
                     memcmp(y_scales, expected_scales, m * sizeof *y_scales) == 0;
    if (!good)
        printf("# %s, %s, gated %d, %zu x %zu x %zu: %s\n", scheme->name, y->name, gated, m, n, k,
               pwl_qgemm_status_text(status));
    free_weights(&p.weights);
    return good;
}

static void test_reference(const struct scheme *scheme, int gated)
{
    static const int segments[] = {1, 2, 16, 63, 64};
    uint64_t state = 61;
    int good = 1;
    for (int kind = 0; kind < 72 && good; kind++) {
        const int fewest = segments[kind % 5] > 16 && kind % 3 == PWL_INT8 ? 16 : segments[kind % 5];
        const pwl_table *const table = draw_activation_table(&made, &state, kind, fewest);
        for (int i = 0; i < 3; i++)
            good &= agrees(scheme, table, gated, &state);
    }
    tap(good, "%s%s: fused is unfused", scheme->name, gated ? ", gated" : "");
}

/* -- Pairs ----------------------------------------------------------------------------------------------------------
 */

/* The rows of two arrays in turns, 8 of each. */
static void *interleave(const void *gate, const void *up, size_t n, size_t row_bytes)
{
    char *const all = need(2 * n * row_bytes);
    for (size_t row = 0; row < 2 * n; row++)
        memcpy(all + row * row_bytes, (const char *)(row / 8 % 2 ? up : gate) + (row / 16 * 8 + row % 8) * row_bytes,
               row_bytes);
    return all;
}

static void test_pairs(const struct tensor_kind *kind)
{
    uint64_t state = 62;
    int good = 1;
    for (int i = 0; i < 6; i++) {
        const size_t n = 8 * (size_t)random_in(&state, 1, 20), k = 32 * (size_t)random_in(&state, 1, 4);
        const pwl_qgemm_format format = kind->blocks ? kind->blocks->format : (pwl_qgemm_format)(i % 4);
        float *const w = need(sizeof *w * n * k);
        const pwl_qgemm_tensor gate = draw_tensor(kind, n, k, w, &state), up = draw_tensor(kind, n, k, w, &state);
        pwl_qgemm_tensor both = {kind->type, {k, 2 * n, 1, 1}, NULL, 2 * gate.bytes};
        pwl_qgemm_weights pair, one;
        size_t bytes;
        both.data = interleave(gate.data, up.data, n, gate.bytes / n);
        if (pwl_qgemm_weights_bytes(format, 2 * n, k, &bytes) != PWL_QGEMM_OK)
            abort();
        void *const memory[2] = {need(bytes), need(bytes)};
        good &= pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_tensor(format, PWL_RULE_DEFAULT, &gate),
                                                 pwl_qgemm_of_tensor(format, PWL_RULE_DEFAULT, &up)),
                               memory[0], bytes, &pair, NULL) == PWL_QGEMM_OK;
        good &= pwl_qgemm_pack(pwl_qgemm_of_tensor(format, PWL_RULE_DEFAULT, &both), memory[1], bytes, &one, NULL) ==
                PWL_QGEMM_OK;
        good = good && pair.n == 2 * n && pair.k == k && pair.bytes == one.bytes && pair.row_data == one.row_data &&
               memcmp(memory[0], memory[1], pair.bytes) == 0;
        free(memory[0]);
        free(memory[1]);
        free(w);
        free((void *)(uintptr_t)gate.data);
        free((void *)(uintptr_t)up.data);
        free((void *)(uintptr_t)both.data);
    }
    tap(good, "%s: a pair is packed like its rows in turns", kind->name);
}

static void test_integer_pair(void)
{
    enum { N = 24, K = 96 };
    static int8_t q[2][N * K], n_w[2][N];
    uint64_t state = 63;
    pwl_qgemm_weights pair, one;
    size_t bytes;
    for (size_t i = 0; i < sizeof q; i++)
        q[i / (N * K)][i % (N * K)] = (int8_t)random_bits(&state);
    for (size_t i = 0; i < sizeof n_w; i++)
        n_w[i / N][i % N] = (int8_t)random_bits(&state);
    int8_t *const all_q = interleave(q[0], q[1], N, K), *const all_n = interleave(n_w[0], n_w[1], N, 1);
    if (pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS8, 2 * N, K, &bytes) != PWL_QGEMM_OK)
        abort();
    void *const memory[2] = {need(bytes), need(bytes)};
    tap(pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q[0], n_w[0], N, K),
                                         pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q[1], n_w[1], N, K)),
                       memory[0], bytes, &pair, NULL) == PWL_QGEMM_OK &&
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, all_q, all_n, 2 * N, K), memory[1], bytes, &one, NULL) ==
                PWL_QGEMM_OK &&
            pair.n == one.n && pair.bytes == one.bytes && memcmp(memory[0], memory[1], bytes) == 0,
        "integers: a pair is packed like its rows in turns");
    free(all_q);
    free(all_n);
    free(memory[0]);
    free(memory[1]);
}

static void test_bad_pairs(void)
{
    static float w[2][24 * 32], elsewhere[9 * 32];
    static uint8_t memory[4608] __attribute__((aligned(16)));
    static int8_t q[24 * 32], n_w[24];
    const pwl_qgemm_tensor good = {0, {32, 24, 1, 1}, w[0], sizeof w[0]};
    pwl_qgemm_tensor up;
    pwl_qgemm_weights weights = {NULL, 1, 2, 3, PWL_QGEMM_Q8_0, 4};
    pwl_qgemm_place bad = {77, 77, 0};
#define PAIR(gate, space)                                                                                              \
    pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_tensor(PWL_QGEMM_Q4_0, PWL_RULE_DEFAULT, gate),                      \
                                     pwl_qgemm_of_tensor(PWL_QGEMM_Q4_0, PWL_RULE_DEFAULT, &up)),                      \
                   memory, space, &weights, &bad)
#define REFUSED(what, expected, name)                                                                                  \
    do {                                                                                                               \
        up = good;                                                                                                     \
        up.data = w[1];                                                                                                \
        what;                                                                                                          \
        const pwl_qgemm_status status = PAIR(&good, sizeof memory);                                                    \
        tap(status == (expected) && !weights.memory && memory[0] == 0, "pair: %s", name);                              \
    } while (0)
    REFUSED((up.shape[1] = 16, up.bytes = 16 * 32 * 4), PWL_QGEMM_ERR_PAIR, "up of fewer rows");
    REFUSED((up.shape[0] = 64, up.shape[1] = 12), PWL_QGEMM_ERR_PAIR, "up of another shape");
    REFUSED((up.type = 1, up.bytes = 24 * 32 * 2), PWL_QGEMM_ERR_PAIR, "up of another type");
    REFUSED(up.data = NULL, PWL_QGEMM_ERR_NULL, "no weights of up");
    REFUSED(up.bytes--, PWL_QGEMM_ERR_DATA, "up cut off");
    REFUSED(up.data = (char *)w[1] + 2, PWL_QGEMM_ERR_ALIGN, "up at half a float");
    w[1][9 * 32] = NAN;
    REFUSED((void)0, PWL_QGEMM_ERR_SCALE, "a NaN in up");
    tap(bad.row == 24 + 9 && bad.block == 0, "pair: its place is row 9 of up");
    w[1][9 * 32] = 0;
    tap(PAIR(NULL, sizeof memory) == PWL_QGEMM_ERR_NULL, "pair: no gate");
    tap(PAIR(&good, sizeof memory - 1) == PWL_QGEMM_ERR_SPACE, "pair: a byte too few");
    const pwl_qgemm_tensor nine = {0, {32, 9, 1, 1}, elsewhere, sizeof elsewhere};
    up = nine;
    tap(PAIR(&nine, sizeof memory) == PWL_QGEMM_ERR_PAIR, "pair: nine rows each");
    tap(pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, n_w, 24, 32),
                                         pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, NULL, n_w, 24, 32)),
                       memory, sizeof memory, &weights, NULL) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, n_w, 24, 32),
                                             pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, NULL, 24, 32)),
                           memory, sizeof memory, &weights, NULL) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, NULL, 24, 32),
                                             pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, n_w, 24, 32)),
                           memory, sizeof memory, &weights, NULL) == PWL_QGEMM_ERR_NULL,
        "pair: integers that are not there");
    tap(pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, n_w, 23, 32),
                                         pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, n_w, 23, 32)),
                       memory, sizeof memory, &weights, NULL) == PWL_QGEMM_ERR_PAIR,
        "pair: 23 rows each");
    tap(pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, n_w, SIZE_MAX / 16 * 8 + 8, 32),
                                         pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, n_w, SIZE_MAX / 16 * 8 + 8, 32)),
                       memory, sizeof memory, &weights, NULL) == PWL_QGEMM_ERR_SHAPE,
        "pair: more rows than size_t counts");
}

/* -- Errors ---------------------------------------------------------------------------------------------------------
 */

static pwl_qgemm_product product; /* a good one, of which each test spoils something */
static pwl_qgemm_activation as;
static pwl_table table;

static void refused(pwl_qgemm_status expected, const char *name)
{
    static uint8_t before[sizeof p.y];
    memset(p.y, POISON, sizeof p.y);
    memset(before, POISON, sizeof before);
    const pwl_qgemm_status check = pwl_qgemm_check(&product), reference = pwl_qgemm_reference(&product);
    if (check != expected)
        printf("# %s\n", pwl_qgemm_status_text(check));
    tap(check == expected && reference == expected && memcmp(p.y, before, sizeof before) == 0, "%s", name);
}

static void test_errors(void)
{
    uint64_t state = 64;
    pwl_qgemm_product good = draw_product(&schemes[0], 4, 32, 32, &state), int8;
    const pwl_qgemm_weights q4 = p.weights;
    int8 = draw_product(&schemes[5], 4, 32, 32, &state);
    const pwl_qgemm_weights rows = p.weights;
    const pwl_qgemm_activation one = {
        .table = &table, .of_x = {1, 0}, .of_y = {1, 0}, .of_up = {1, 0}, .of_out = {1, 0}};
    pwl_table small;
    do
        small = *draw_table(&made, &state, PWL_INT8, PWL_ABSOLUTE, PWL_FLOOR, 0, 256, 64, 4);
    while (small.qmin_y >= 0 || small.qmax_y <= 0);
    good.y = int8.y = (pwl_qgemm_output){p.y, 32, PWL_QGEMM_S8, 0, 0, NULL, 0};
    good.activation = int8.activation = &as;
    good.weights = int8.weights = &p.weights;
#define SPOILT(from, from_weights, what, expected, name)                                                               \
    do {                                                                                                               \
        product = from;                                                                                                \
        p.weights = from_weights;                                                                                      \
        as = one;                                                                                                      \
        table = small;                                                                                                 \
        what;                                                                                                          \
        refused(expected, name);                                                                                       \
    } while (0)
#define Q4(what, expected, name) SPOILT(good, q4, what, expected, name)
#define INT8(what, expected, name) SPOILT(int8, rows, what, expected, name)
#define ACCEPTED(from, from_weights, what, name)                                                                       \
    do {                                                                                                               \
        product = from;                                                                                                \
        p.weights = from_weights;                                                                                      \
        as = one;                                                                                                      \
        table = small;                                                                                                 \
        what;                                                                                                          \
        tap(pwl_qgemm_check(&product) == PWL_QGEMM_OK, "%s", name);                                                    \
    } while (0)
    ACCEPTED(good, q4, (void)0, "an activation to spoil");
    ACCEPTED(int8, rows, (void)0, "another, of integers");
    ACCEPTED(good, q4, (as.gated = 1, product.y.stride = 16), "a gated one, of half the columns");
    ACCEPTED(int8, rows, (as.gated = 1, product.y.stride = 16), "another, of integers");
    Q4(as.table = NULL, PWL_QGEMM_ERR_NULL, "no table");
    Q4(table.version = 0, PWL_QGEMM_ERR_TABLE, "a table of no version");
    Q4(table.segments = 0, PWL_QGEMM_ERR_TABLE, "a table without segments");
    Q4(product.y.type = PWL_QGEMM_U8, PWL_QGEMM_ERR_FIT, "u8 does not hold negative values");
    Q4(product.y.type = PWL_QGEMM_U32, PWL_QGEMM_ERR_FIT, "nor does u32");
    Q4(product.y.type = PWL_QGEMM_BLOCKS_Q8_1, PWL_QGEMM_ERR_TYPE, "Y of blocks");
    Q4(product.y.type = (pwl_qgemm_type)11, PWL_QGEMM_ERR_TYPE, "Y of no type");
    INT8(product.y.type = PWL_QGEMM_F16, PWL_QGEMM_ERR_TYPE, "INT8 to floats");
    Q4(as.of_x.scale = 0, PWL_QGEMM_ERR_AFFINE, "a scale of 0");
    Q4(as.of_x.scale = NAN, PWL_QGEMM_ERR_AFFINE, "a scale that is NaN");
    Q4(as.of_x.zero_point = (INT64_C(1) << 30) + 1, PWL_QGEMM_ERR_AFFINE, "a zero point beyond 2^30");
    Q4((as.of_y.scale = -1, product.y.type = PWL_QGEMM_F32), PWL_QGEMM_ERR_AFFINE, "a negative scale of Y");
    ACCEPTED(good, q4, as.of_y.scale = -1, "which does not matter to integers");
    INT8(as.of_x.scale = 3, PWL_QGEMM_ERR_AFFINE, "INT8: a scale of 3");
    Q4((as.gated = 1, as.of_y.scale = 0), PWL_QGEMM_ERR_AFFINE, "gated: a scale of 0");
    Q4((as.gated = 1, as.of_out.scale = 0x1p127f), PWL_QGEMM_ERR_AFFINE, "gated: a scale of 2^127");
    INT8((as.gated = 1, as.of_up.scale = 3), PWL_QGEMM_ERR_AFFINE, "INT8, gated: a scale of 3");
    INT8((as.gated = 1, as.of_up.zero_point = 32768), PWL_QGEMM_ERR_AFFINE, "INT8, gated: a zero point of 32768");
    INT8((as.gated = 1, as.of_out.scale = 3), PWL_QGEMM_ERR_AFFINE, "INT8, gated: scales that differ by 3");
    ACCEPTED(int8, rows, (as.gated = 1, as.of_out.scale = as.of_y.scale = 3), "scales that differ by a power of two");
    Q4((as.gated = 1, as.bias_up = (char *)p.bias_up + 2), PWL_QGEMM_ERR_ALIGN, "gated: bias at half a float");
    Q4((as.gated = 1, as.up_limit = -1), PWL_QGEMM_ERR_AFFINE, "gated: a negative limit of up");
    Q4((as.gated = 1, as.up_limit = NAN), PWL_QGEMM_ERR_AFFINE, "gated: a limit of up that is NaN");
    Q4((as.gated = 1, as.up_plus = INFINITY), PWL_QGEMM_ERR_AFFINE, "gated: up plus infinity");
    Q4(as.up_plus = 1, PWL_QGEMM_ERR_AFFINE, "up plus 1 without a gate");
    INT8((as.gated = 1, as.up_limit = 1), PWL_QGEMM_ERR_AFFINE, "INT8, gated: a limit of up");
    Q4((as.gated = 1, p.weights.n = 24), PWL_QGEMM_ERR_SHAPE, "gated: 24 rows of weights");
    Q4((as.gated = 1, product.y.stride = 15), PWL_QGEMM_ERR_STRIDE, "gated: rows of Y overlap");
    Q4((as.gated = 1, as.bias_up = p.y + 4), PWL_QGEMM_ERR_OVERLAP, "gated: Y in the bias of up");
    Q4((as.gated = 1, product.y.stride = 160, product.bias = p.y + 12), PWL_QGEMM_ERR_OVERLAP, "gated: Y in the bias");
    ACCEPTED(good, q4, (as.gated = 1, product.y.stride = 160, product.bias = p.y + 16, as.bias_up = p.y + 80),
             "gated: bias between rows of Y");
    p.weights = q4;
    free_weights(&p.weights);
    p.weights = rows;
    free_weights(&p.weights);
}

int main(void)
{
    for (size_t i = 0; i < SCHEMES; i++) {
        test_reference(&schemes[i], 0);
        test_reference(&schemes[i], 1);
    }
    for (size_t i = 0; i < TENSOR_KINDS; i++)
        test_pairs(&tensor_kinds[i]);
    test_integer_pair();
    test_bad_pairs();
    test_errors();
    return tap_end();
}
