/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of packed weights: shares of ranks, and products by parts against those by the whole, bit for bit: rows give
 * their own columns of Y, columns give what X gives that is 0 in all others. What is refused.
 */
#include "../tap.h"
#include "activations.h"
#include "cases.h"
#include "padding.h"

enum { N = 300, K = 1088, SUPER_K = 1024, M = 2, MOST_RANKS = 7 };

static const struct way {
    const char *name;
    pwl_qgemm_format format;
    pwl_qgemm_scheme scheme;
    pwl_qgemm_type x;
} ways[] = {
    {"Q4_0", PWL_QGEMM_Q4_0, PWL_QGEMM_W4A16, PWL_QGEMM_F16},
    {"Q8_0", PWL_QGEMM_Q8_0, PWL_QGEMM_W8A8, PWL_QGEMM_F32},
    {"MXFP4", PWL_QGEMM_MXFP4, PWL_QGEMM_MXFP4_A16, PWL_QGEMM_F16},
    {"ROWS8", PWL_QGEMM_ROWS8, PWL_QGEMM_INT8, PWL_QGEMM_S8},
    {"ROWS4", PWL_QGEMM_ROWS4, PWL_QGEMM_INT8, PWL_QGEMM_S8},
    {"ROWS_E4M3", PWL_QGEMM_ROWS_E4M3, PWL_QGEMM_FP8, PWL_QGEMM_E4M3},
    {"MXFP4_E4M3", PWL_QGEMM_MXFP4_E4M3, PWL_QGEMM_MXFP4_FP8, PWL_QGEMM_E4M3},
    {"Q4_K", PWL_QGEMM_Q4_K, PWL_QGEMM_Q4_K_A8, PWL_QGEMM_F32},
    {"Q6_K", PWL_QGEMM_Q6_K, PWL_QGEMM_Q6_K_A8, PWL_QGEMM_F32},
    {"SPARSE4", PWL_QGEMM_SPARSE4, PWL_QGEMM_SPARSE4_A16, PWL_QGEMM_F16},
};
#define WAYS (sizeof ways / sizeof ways[0])

static const float token_scales[M] = {0.5F, 3};
static const int8_t token_shifts[M] = {12, 5};
static uint64_t state = 7;

static size_t columns_of(const struct way *way)
{
    return super_kind_of(way->format) ? SUPER_K : K;
}

/* Weights of N rows. Of Q4_0 one row has an exponent. */
static pwl_qgemm_weights draw_weights(const struct way *way)
{
    const size_t k = columns_of(way);
    const struct qgemm_kind *const super = super_kind_of(way->format);
    if (super || way->format <= PWL_QGEMM_MXFP4) {
        const struct qgemm_kind *const kind = super ? super : &qgemm_kinds[way->format];
        const size_t count = super ? N * k / PWL_SUPER_BLOCK : N * k / PWL_BLOCK;
        uint8_t *const blocks = need(count * sizeof(pwl_block_q6_k));
        if (super)
            draw_super_blocks(kind, blocks, count, -3, 1, &state);
        else
            draw_blocks(kind, blocks, count, -14, way->format == PWL_QGEMM_Q4_0 ? 15 : 1, &state);
        const pwl_qgemm_weights made = pack_new(kind, blocks, N, k);
        free(blocks);
        return made;
    }
    const int sparse = way->format == PWL_QGEMM_SPARSE4, blocks = way->format == PWL_QGEMM_MXFP4_E4M3 || sparse;
    uint8_t *const codes = need(N * k);
    void *const row_data = need(N * sizeof(float));
    for (size_t i = 0; i < N * k; i++)
        codes[i] = (uint8_t)(random_bits(&state) & 0xbf); /* in E4M3 below 2, and no NaN */
    if (sparse)
        draw_sparse_blocks((pwl_block_sparse4 *)(void *)codes, N * k / 64, -14, 15, &state);
    else if (blocks)
        draw_blocks(&qgemm_kinds[2], codes, N * k / PWL_BLOCK, -5, 5, &state);
    for (size_t i = 0; i < N; i++) {
        if (way->format == PWL_QGEMM_ROWS_E4M3)
            ((float *)row_data)[i] = (float)random_in(&state, 1, 9);
        else
            ((int8_t *)row_data)[i] = (int8_t)random_in(&state, -2, 12);
    }
    pwl_qgemm_weights made;
    size_t bytes;
    if (pwl_qgemm_weights_bytes(way->format, N, k, &bytes) != PWL_QGEMM_OK ||
        pwl_qgemm_pack(blocks ? pwl_qgemm_of_blocks(way->format, codes, N, k)
                              : pwl_qgemm_of_codes(way->format, codes, row_data, N, k),
                       need(bytes), bytes, &made, NULL) != PWL_QGEMM_OK)
        abort();
    free(codes);
    free(row_data);
    return made;
}

static size_t element_bytes(pwl_qgemm_type type)
{
    return type == PWL_QGEMM_F32 ? 4 : type == PWL_QGEMM_F16 ? 2 : 1;
}

/* M rows of k elements. */
static uint8_t *draw_x(const struct way *way, size_t k)
{
    uint8_t *const x = need(M * k * element_bytes(way->x));
    for (size_t i = 0; i < M * k; i++) {
        const float value = (float)random_in(&state, -1000, 1000) / 256;
        const uint16_t half = pwl_round_f64(value, 10, 5);
        if (way->x == PWL_QGEMM_F32)
            memcpy(x + i * 4, &value, 4);
        else if (way->x == PWL_QGEMM_F16)
            memcpy(x + i * 2, &half, 2);
        else
            x[i] = (uint8_t)(random_bits(&state) & (way->x == PWL_QGEMM_E4M3 ? 0xbf : 0xff));
    }
    return x;
}

/* X where it is not in a range of columns: 0, in codes the zero point. */
static uint8_t *only(const struct way *way, const uint8_t *x, size_t k, pwl_qgemm_share columns, int zero)
{
    const size_t each = element_bytes(way->x);
    uint8_t *const made = need(M * k * each);
    for (size_t i = 0; i < M * k; i++) {
        const int inside = i % k - columns.first < columns.count && i % k >= columns.first;
        if (inside)
            memcpy(made + i * each, x + i * each, each);
        else
            memset(made + i * each, way->x == PWL_QGEMM_S8 ? zero : 0, each);
    }
    return made;
}

/* Y[M][n], of S32 or F32. */
static uint32_t *product(const struct way *way, const pwl_qgemm_weights *weights, const uint8_t *x, size_t stride,
                         const void *bias, int zero)
{
    const int integers = way->x == PWL_QGEMM_S8;
    uint32_t *const y = need(M * weights->n * sizeof *y);
    const pwl_qgemm_product of = {
        .scheme = way->scheme,
        .m = M,
        .weights = weights,
        .x = {x, stride, way->x, zero, integers ? token_shifts : NULL, way->x == PWL_QGEMM_E4M3 ? token_scales : NULL},
        .bias = bias,
        .y = {.data = y, .stride = weights->n, .type = integers ? PWL_QGEMM_S32 : PWL_QGEMM_F32}};
    if (pwl_qgemm_reference(&of) != PWL_QGEMM_OK)
        abort();
    return y;
}

static pwl_qgemm_weights cut(const pwl_qgemm_weights *whole, pwl_qgemm_share rows, pwl_qgemm_share columns)
{
    pwl_qgemm_weights part;
    size_t bytes;
    if (pwl_qgemm_weights_bytes(whole->format, rows.count, columns.count, &bytes) != PWL_QGEMM_OK ||
        pwl_qgemm_cut(whole, rows, columns, need(bytes), bytes, &part) != PWL_QGEMM_OK)
        abort();
    return part;
}

static int padding_of(const pwl_qgemm_weights *weights)
{
    return weights->format >= PWL_QGEMM_ROWS_E4M3 || padding_is_zero(weights);
}

/* Rows and columns of one rank at a time; together they are all, in order. */
static void test_way(const struct way *way)
{
    const pwl_qgemm_weights whole = draw_weights(way);
    const size_t k = whole.k, each = element_bytes(way->x);
    const int zero = way->x == PWL_QGEMM_S8 ? -11 : 0;
    const pwl_qgemm_share all_rows = {0, N}, all_columns = {0, k};
    uint8_t *const x = draw_x(way, k);
    uint32_t bias[N];
    for (size_t i = 0; i < N; i++)
        bias[i] = (uint32_t)random_in(&state, 1, 1 << 20);
    uint32_t *const y = product(way, &whole, x, k, bias, zero);
    int by_rows = 1, by_columns = 1, by_both = 1, padding = 1;
    for (size_t ranks = 1; ranks <= MOST_RANKS; ranks++) {
        size_t rows_seen = 0, columns_seen = 0;
        for (size_t rank = 0; rank < ranks; rank++) {
            const pwl_qgemm_share rows = pwl_qgemm_rows_of_rank(&whole, rank, ranks);
            const pwl_qgemm_share columns = pwl_qgemm_columns_of_rank(&whole, rank, ranks);
            by_rows &= rows.first == rows_seen;
            by_columns &= columns.first == columns_seen;
            rows_seen += rows.count;
            columns_seen += columns.count;
            if (rows.count > 0) {
                pwl_qgemm_weights part = cut(&whole, rows, all_columns);
                uint32_t *const got = product(way, &part, x, k, bias + rows.first, zero);
                for (size_t m = 0; m < M; m++)
                    by_rows &= memcmp(got + m * part.n, y + m * N + rows.first, part.n * sizeof *y) == 0;
                padding &= padding_of(&part);
                free(got);
                free_weights(&part);
            }
            for (int both = 0; both < 2 && columns.count > 0 && (!both || rows.count > 0); both++) {
                pwl_qgemm_weights part = cut(&whole, both ? rows : all_rows, columns);
                const size_t first = both ? rows.first : 0;
                uint8_t *const alone = only(way, x, k, columns, zero);
                uint32_t *const want = product(way, &whole, alone, k, NULL, zero);
                uint32_t *const got = product(way, &part, x + columns.first * each, k, NULL, zero);
                int *const good = both ? &by_both : &by_columns;
                for (size_t m = 0; m < M; m++)
                    *good &= memcmp(got + m * part.n, want + m * N + first, part.n * sizeof *y) == 0;
                padding &= padding_of(&part);
                free(alone);
                free(want);
                free(got);
                free_weights(&part);
            }
        }
        by_rows &= rows_seen == N;
        by_columns &= columns_seen == k;
    }
    tap(by_rows, "%s: parts of rows have their columns of Y", way->name);
    tap(by_columns, "%s: parts of columns have their share of Y", way->name);
    tap(by_both, "%s: parts of both", way->name);
    tap(padding, "%s: the padding of parts is 0", way->name);
    free(x);
    free(y);
    free((void *)(uintptr_t)whole.memory);
}

/* How sums become Y: `gated` only with a table. */
static const struct store {
    const char *name;
    pwl_qgemm_type type;
    int activates, gated;
} stores[] = {
    {"s32", PWL_QGEMM_S32, 0, 0},
    {"s8", PWL_QGEMM_S8, 0, 0},
    {"a table's s16", PWL_QGEMM_S16, 1, 0},
    {"a gated s8", PWL_QGEMM_S8, 1, 1},
};

/* Sums of all parts of columns are the whole product's: Y of them, with bias of all sizes, is its Y. */
static void test_sums(const struct way *way, const struct store *store)
{
    enum { RANKS = 4, STRIDE = N + 20 };
    static int32_t sums[M * STRIDE], bias[N], bias_up[N];
    static struct made_table made;
    pwl_qgemm_weights all = draw_weights(way);
    const pwl_qgemm_share columns = {0, K};
    pwl_qgemm_weights whole = cut(&all, (pwl_qgemm_share){0, store->gated ? 256 : N}, columns);
    const size_t n = whole.n, y_columns = store->gated ? n / 2 : n;
    uint8_t *const x = draw_x(way, K), *const want = need(4 * M * n), *const got = need(4 * M * n);
    for (size_t i = 0; i < N; i++) {
        bias[i] = (int32_t)random_bits(&state) >> i % 32;
        bias_up[i] = (int32_t)random_bits(&state) >> i % 29;
    }
    const pwl_qgemm_activation as = {.table = draw_activation_table(&made, &state, 1, 3),
                                     .of_x = {0x1p-4F, 3},
                                     .of_y = {0x1p-6F, -2},
                                     .gated = store->gated,
                                     .of_up = {0x1p-3F, 7},
                                     .of_out = {0x1p9F, 1},
                                     .bias_up = store->gated ? bias_up : NULL};
    pwl_qgemm_product of = {.scheme = way->scheme,
                            .m = M,
                            .weights = &whole,
                            .x = {x, K, way->x, -128, token_shifts, NULL},
                            .bias = bias,
                            .y = {.data = want, .stride = y_columns, .type = store->type, .zero_point = 5, .n_y = 1},
                            .activation = store->activates ? &as : NULL};
    memset(want, 0xa5, 4 * M * n);
    memset(got, 0xa5, 4 * M * n);
    memset(sums, 0, sizeof sums);
    int good = pwl_qgemm_reference(&of) == PWL_QGEMM_OK;
    pwl_qgemm_weights part = {0};
    for (size_t rank = 0; rank < RANKS; rank++) {
        const pwl_qgemm_share share = pwl_qgemm_columns_of_rank(&whole, rank, RANKS);
        free_weights(&part);
        part = cut(&whole, (pwl_qgemm_share){0, n}, share);
        uint32_t *const y = product(way, &part, x + share.first, K, NULL, -128);
        for (size_t i = 0; i < M * n; i++)
            sums[i / n * STRIDE + i % n] += (int32_t)y[i];
        free(y);
    }
    of.weights = &part;
    of.y.data = got;
    good &= pwl_qgemm_store_sums(&of, sums, STRIDE) == PWL_QGEMM_OK;
    tap(good && memcmp(want, got, 4 * M * n) == 0, "%s: sums of parts become %s", way->name, store->name);
    tap(pwl_qgemm_store_sums(&of, NULL, STRIDE) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_store_sums(&of, sums, n - 1) == PWL_QGEMM_ERR_STRIDE &&
            pwl_qgemm_store_sums(&of, (const int32_t *)(const void *)got, n) == PWL_QGEMM_ERR_OVERLAP &&
            pwl_qgemm_store_sums(&of, (const int32_t *)(const void *)((char *)sums + 2), n) == PWL_QGEMM_ERR_ALIGN,
        "refused: no sums, rows, places and addresses of sums");
    free(x);
    free(want);
    free(got);
    free_weights(&part);
    free_weights(&whole);
    free_weights(&all);
}

static void test_shares(void)
{
    static const size_t counts[] = {1, 127, 128, 129, 1024, 1100};
    int good = 1;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const pwl_qgemm_weights weights = {NULL, counts[i], 32, 0, PWL_QGEMM_Q4_0, 0};
        const size_t pieces = (counts[i] + 127) / 128;
        for (size_t ranks = 1; ranks < 12; ranks++) {
            for (size_t rank = 0; rank < ranks; rank++) {
                const pwl_qgemm_share range = pwl_qgemm_rows_of_rank(&weights, rank, ranks);
                const size_t has = (range.count + 127) / 128;
                good &= has == pieces / ranks || (has == pieces / ranks + 1 && rank < pieces % ranks);
            }
        }
    }
    tap(good, "shares differ by a piece at most, and the first have more");
}

static void refused(const pwl_qgemm_weights *weights, pwl_qgemm_share rows, pwl_qgemm_share columns, size_t less,
                    pwl_qgemm_status want, const char *why)
{
    static uint8_t memory[1 << 20] __attribute__((aligned(16))), before[1 << 20];
    const pwl_qgemm_weights none = {0};
    pwl_qgemm_weights part = none;
    memcpy(before, memory, sizeof memory);
    const pwl_qgemm_status got = pwl_qgemm_cut(weights, rows, columns, memory, weights->bytes - less, &part);
    tap(got == want && memcmp(before, memory, sizeof memory) == 0 && memcmp(&part, &none, sizeof part) == 0,
        "refused: %s", why);
}

static void test_refusals(void)
{
    pwl_qgemm_weights whole = draw_weights(&ways[0]), bad = whole, part;
    const pwl_qgemm_share rows = {0, N}, columns = {0, K};
    static _Alignas(16) uint8_t memory[32];
    refused(&whole, (pwl_qgemm_share){64, 128}, columns, 0, PWL_QGEMM_ERR_PART, "rows from within a piece");
    refused(&whole, (pwl_qgemm_share){0, 64}, columns, 0, PWL_QGEMM_ERR_PART, "rows to within a piece");
    refused(&whole, (pwl_qgemm_share){0, 0}, columns, 0, PWL_QGEMM_ERR_PART, "no rows");
    refused(&whole, (pwl_qgemm_share){256, 128}, columns, 0, PWL_QGEMM_ERR_PART, "rows beyond the last");
    refused(&whole, (pwl_qgemm_share){128, (size_t)-128}, columns, 0, PWL_QGEMM_ERR_PART, "more rows than numbers");
    refused(&whole, (pwl_qgemm_share){384, 0}, columns, 0, PWL_QGEMM_ERR_PART, "rows behind the last");
    refused(&whole, rows, (pwl_qgemm_share){32, 64}, 0, PWL_QGEMM_ERR_PART, "columns from within a piece");
    refused(&whole, rows, (pwl_qgemm_share){0, 96}, 0, PWL_QGEMM_ERR_PART, "columns to within a piece");
    refused(&whole, rows, columns, 1, PWL_QGEMM_ERR_SPACE, "a byte too little");
    bad.bytes--;
    tap(pwl_qgemm_cut(&bad, rows, columns, memory, sizeof memory, &part) == PWL_QGEMM_ERR_SPACE,
        "refused: weights cut");
    tap(pwl_qgemm_cut(NULL, rows, columns, memory, sizeof memory, &part) == PWL_QGEMM_ERR_NULL, "refused: no weights");
    tap(pwl_qgemm_cut(&whole, rows, columns, NULL, whole.bytes, &part) == PWL_QGEMM_ERR_NULL, "refused: no memory");
    tap(pwl_qgemm_cut(&whole, rows, columns, memory, whole.bytes, NULL) == PWL_QGEMM_ERR_NULL, "refused: no part");
    tap(pwl_qgemm_cut(&whole, rows, columns, memory + 8, whole.bytes, &part) == PWL_QGEMM_ERR_ALIGN,
        "refused: memory aligned to 8");
    free_weights(&whole);
}

int main(void)
{
    for (size_t i = 0; i < WAYS; i++)
        test_way(&ways[i]);
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        test_sums(&ways[3], &stores[i]);
        test_sums(&ways[4], &stores[i]);
    }
    test_shares();
    test_refusals();
    return tap_end();
}
