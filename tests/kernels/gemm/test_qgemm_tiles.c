/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of wgmma: what suits a product can serve it, takes least time by the model, and is what was measured as best.
 */
#include <string.h>

#include "../tap.h"
#include "gemm/tiles.h"

static const uint32_t sizes[] = {
#define TOKENS(tokens, ...) tokens,
    PWL_QGEMM_TILE_SIZES(TOKENS)
#undef TOKENS
};

static const uint32_t byte_sizes[] = {
#define TOKENS(tokens, ...) tokens,
    PWL_QGEMM_BYTE_TILE_SIZES(TOKENS)
#undef TOKENS
};

static const uint32_t e4m3_sizes[] = {
#define TOKENS(tokens, ...) tokens,
    PWL_QGEMM_E4M3_TILE_SIZES(TOKENS)
#undef TOKENS
};

static const uint32_t sparse_sizes[] = {
#define TOKENS(tokens, ...) tokens,
    PWL_QGEMM_SPARSE_TILE_SIZES(TOKENS)
#undef TOKENS
};

enum { SIZES = sizeof sizes / sizeof sizes[0], BYTE_SIZES = sizeof byte_sizes / sizeof byte_sizes[0], BLOCKS = 132 };

static uint16_t y[8] __attribute__((aligned(16)));

static pwl_qgemm_weights weights_of(pwl_qgemm_format format, size_t n, size_t k)
{
    const pwl_qgemm_weights weights = {y, n, k, 0, format, 0};
    return weights;
}

static pwl_qgemm_product product_of(size_t m, size_t n)
{
    pwl_qgemm_product product;
    memset(&product, 0, sizeof product);
    product.m = m;
    product.y = (pwl_qgemm_output){y, (n + 7) / 8 * 8, PWL_QGEMM_F16, 0, 0, NULL, 0};
    return product;
}

static pwl_qgemm_tile tile_of(pwl_qgemm_format format, size_t m, size_t n, size_t k)
{
    const pwl_qgemm_weights weights = weights_of(format, n, k);
    const pwl_qgemm_product product = product_of(m, n);
    return pwl_qgemm_tile_of(&product, &weights, BLOCKS);
}

/* Whether a tile can serve a product at all. */
static int serves(const pwl_qgemm_tile *tile, size_t m, size_t n)
{
    const size_t left = ((m - 1) / tile->tokens + 1) * ((n - 1) / 128 + 1) % tile->blocks;
    int listed = 0;
    for (size_t i = 0; i < SIZES; i++)
        listed |= sizes[i] == tile->tokens;
    return listed && (tile->direct || tile->tokens == PWL_QGEMM_ANY_TOKENS) &&
           (tile->split == 1 || (tile->split == 2 && left > 0 && left * 2 <= tile->blocks));
}

static void test_least(void)
{
    static const size_t ms[] = {1, 65, 128, 129, 300, 512, 513, 1024, 4096, 100000}, ns[] = {8, 1000, 4096, 14336};
    int serve = 1, least = 1;
    for (size_t i = 0; i < 3 * 10 * 4; i++) {
        const pwl_qgemm_format format = (pwl_qgemm_format)(i % 3);
        const size_t m = ms[i / 3 % 10], n = ns[i / 30], k = i % 2 ? 4096 : 96;
        const pwl_qgemm_weights weights = weights_of(format, n, k);
        const pwl_qgemm_tile tile = tile_of(format, m, n, k);
        serve &= serves(&tile, m, n) && tile.blocks == BLOCKS;
        for (size_t j = 0; j < 2 * SIZES; j++) {
            const pwl_qgemm_tile other = {sizes[j / 2], 1 + (uint32_t)j % 2, BLOCKS, 1};
            if (serves(&other, m, n))
                least &= pwl_qgemm_tile_time(m, &weights, &tile) <= pwl_qgemm_tile_time(m, &weights, &other);
        }
    }
    tap(serve, "a tile serves the product that it is for");
    tap(least, "no other one takes less time");
}

static void test_measured(void)
{
    static const struct {
        size_t m, n, k;
        uint32_t tokens, split;
    } best[] = {{65, 4096, 4096, 48, 2},     {96, 4096, 14336, 48, 2},   {128, 4096, 4096, 64, 2},
                {128, 4096, 14336, 64, 2},   {256, 4096, 4096, 128, 2},  {256, 4096, 14336, 128, 2},
                {512, 4096, 4096, 128, 1},   {512, 4096, 14336, 128, 1}, {1024, 4096, 4096, 256, 1},
                {1024, 4096, 14336, 256, 1}, {4096, 4096, 4096, 256, 1}, {4096, 4096, 14336, 256, 1},
                {128, 14336, 4096, 128, 1},  {256, 14336, 4096, 256, 1}, {512, 8192, 4096, 256, 1},
                {257, 4096, 14336, 144, 2}};
    for (size_t i = 0; i < sizeof best / sizeof best[0]; i++) {
        const pwl_qgemm_tile tile = tile_of(PWL_QGEMM_Q4_0, best[i].m, best[i].n, best[i].k);
        tap(tile.tokens == best[i].tokens && tile.split == best[i].split, "M = %zu, N = %zu, K = %zu: %u by %u",
            best[i].m, best[i].n, best[i].k, tile.tokens, tile.split);
    }
}

struct measured {
    size_t m, n, k;
    uint32_t tokens, split;
};

static void test_best(pwl_qgemm_format format, const struct measured *best, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const pwl_qgemm_tile tile = tile_of(format, best[i].m, best[i].n, best[i].k);
        tap(tile.tokens == best[i].tokens && tile.split == best[i].split,
            "INT8, %d bits, M = %zu, N = %zu, K = %zu: %u by %u", format == PWL_QGEMM_ROWS8 ? 8 : 4, best[i].m,
            best[i].n, best[i].k, tile.tokens, tile.split);
    }
}

/* INT8: tiles that are compiled, of which the smallest is for no more rows than its own; and what was measured as best.
 */
static void test_bytes(pwl_qgemm_format format)
{
    static const size_t ms[] = {1, 32, 33, 64, 65, 128, 129, 300, 512, 513, 1024, 4096}, ns[] = {1, 8, 4096, 14336};
    static const struct measured best8[] = {
        {1, 4096, 4096, 32, 2},     {32, 4096, 14336, 32, 2},   {64, 4096, 4096, 64, 2},   {96, 4096, 4096, 96, 2},
        {128, 4096, 4096, 64, 2},   {192, 4096, 4096, 96, 2},   {256, 4096, 4096, 128, 2}, {256, 4096, 14336, 128, 2},
        {384, 4096, 4096, 192, 2},  {512, 4096, 4096, 128, 1},  {768, 4096, 4096, 192, 1}, {1024, 4096, 4096, 256, 1},
        {1536, 4096, 4096, 192, 1}, {4096, 4096, 4096, 256, 1}, {64, 14336, 4096, 64, 1},  {128, 14336, 4096, 128, 1},
        {768, 14336, 4096, 192, 2}, {1024, 14336, 4096, 256, 2}};
    static const struct measured best4[] = {
        {16, 4096, 4096, 32, 2},    {64, 4096, 4096, 64, 2},     {128, 4096, 4096, 64, 2},
        {128, 4096, 14336, 64, 2},  {256, 4096, 4096, 128, 2},   {512, 4096, 4096, 128, 1},
        {512, 4096, 14336, 128, 1}, {1024, 4096, 4096, 256, 1},  {4096, 4096, 14336, 256, 1},
        {128, 14336, 4096, 128, 1}, {1024, 14336, 4096, 256, 2}, {4096, 14336, 4096, 256, 1}};
    int serve = 1;
    for (size_t i = 0; i < 12 * 4; i++) {
        const size_t m = ms[i % 12], n = ns[i / 12], k = i % 2 ? 4096 : 96;
        const pwl_qgemm_tile tile = tile_of(format, m, n, k);
        const size_t left = ((m - 1) / tile.tokens + 1) * ((n - 1) / 128 + 1) % tile.blocks;
        int listed = 0;
        for (size_t j = 0; j < BYTE_SIZES; j++)
            listed |= byte_sizes[j] == tile.tokens;
        serve &= listed && tile.blocks == BLOCKS &&
                 (tile.split == 1 || (tile.split == 2 && left > 0 && left * 2 <= tile.blocks));
    }
    tap(serve, "INT8: a tile serves the product that it is for");
    if (format == PWL_QGEMM_ROWS8)
        test_best(format, best8, sizeof best8 / sizeof best8[0]);
    else
        test_best(format, best4, sizeof best4 / sizeof best4[0]);
}

/* SPARSE4, by an H200. */
static void test_sparse(void)
{
    static const size_t ms[] = {1, 32, 64, 65, 128, 129, 300, 512, 513, 1024, 4096}, ns[] = {1, 8, 4096, 14336};
    static const struct {
        size_t m, n, k;
        uint32_t tokens, split;
    } best[] = {{128, 4096, 14336, 64, 2},   {128, 4096, 4096, 64, 2},   {256, 4096, 14336, 128, 2},
                {256, 4096, 4096, 128, 2},   {512, 4096, 14336, 256, 2}, {512, 4096, 4096, 128, 1},
                {1024, 4096, 14336, 256, 1}, {1024, 4096, 4096, 256, 1}, {4096, 4096, 14336, 256, 1},
                {1024, 14336, 4096, 256, 2}, {4096, 8192, 8192, 256, 1}};
    int serve = 1;
    for (size_t i = 0; i < 11 * 4; i++) {
        const size_t m = ms[i % 11], n = ns[i / 11];
        const pwl_qgemm_tile tile = tile_of(PWL_QGEMM_SPARSE4, m, n, i % 2 ? 4096 : 64);
        int listed = 0;
        for (size_t j = 0; j < sizeof sparse_sizes / sizeof *sparse_sizes; j++)
            listed |= sparse_sizes[j] == tile.tokens;
        serve &= listed && tile.blocks == BLOCKS && (tile.direct || tile.tokens == PWL_QGEMM_ANY_TOKENS);
    }
    tap(serve, "SPARSE4: a tile serves the product that it is for");
    for (size_t i = 0; i < sizeof best / sizeof best[0]; i++) {
        const pwl_qgemm_tile tile = tile_of(PWL_QGEMM_SPARSE4, best[i].m, best[i].n, best[i].k);
        tap(tile.tokens == best[i].tokens && tile.split == best[i].split,
            "SPARSE4, M = %zu, N = %zu, K = %zu: %u by %u", best[i].m, best[i].n, best[i].k, tile.tokens, tile.split);
    }
}

/* Of both formats, whose sums are added in fp32 now and then; by an H200. */
static void test_e4m3(void)
{
    static const size_t ms[] = {1, 32, 33, 64, 65, 128, 129, 300, 512, 513, 1024, 4096}, ns[] = {1, 8, 4096, 14336};
    static const struct {
        size_t m, n, k;
        uint32_t tokens, split;
    } best[] = {{16, 4096, 4096, 32, 2},   {128, 4096, 4096, 64, 2},   {256, 4096, 4096, 128, 2},
                {512, 4096, 4096, 128, 1}, {512, 4096, 14336, 256, 2}, {1024, 4096, 4096, 256, 1},
                {4096, 4096, 4096, 256, 1}};
    int serve = 1, short_runs = 1;
    for (size_t i = 0; i < 12 * 4 * 2; i++) {
        const size_t m = ms[i / 2 % 12], n = ns[i / 24], k = i % 3 ? 4096 : 96;
        const pwl_qgemm_weights weights = weights_of(i % 2 ? PWL_QGEMM_ROWS_E4M3 : PWL_QGEMM_MXFP4_E4M3, n, k);
        pwl_qgemm_product product = product_of(m, n);
        for (int sums = PWL_QGEMM_SUMS_EXACT; sums <= PWL_QGEMM_SUMS_OF_128; sums += 1 + (sums == 0)) {
            product.sums = (pwl_qgemm_sums)sums;
            const pwl_qgemm_tile tile = pwl_qgemm_tile_of(&product, &weights, BLOCKS);
            int listed = 0;
            for (size_t j = 0; j < sizeof e4m3_sizes / sizeof e4m3_sizes[0]; j++)
                listed |= e4m3_sizes[j] == tile.tokens;
            serve &= listed && tile.blocks == BLOCKS && (tile.direct || tile.tokens == PWL_QGEMM_ANY_TOKENS);
            short_runs &= sums == PWL_QGEMM_SUMS_EXACT || tile.tokens <= PWL_QGEMM_RUN_TOKENS;
        }
    }
    tap(serve, "E4M3: a tile serves the product that it is for");
    tap(short_runs, "E4M3: in tiles that have room for two sums, where there are");
    for (size_t i = 0; i < sizeof best / sizeof best[0]; i++) {
        const pwl_qgemm_tile tile = tile_of(PWL_QGEMM_MXFP4_E4M3, best[i].m, best[i].n, best[i].k);
        tap(tile.tokens == best[i].tokens && tile.split == best[i].split, "E4M3, M = %zu, N = %zu, K = %zu: %u by %u",
            best[i].m, best[i].n, best[i].k, tile.tokens, tile.split);
    }
}

/* A few rows more never cost much more, nor less, by the model. */
static void test_steps(void)
{
    static const size_t ms[] = {65,  80,  96,  128,  129,  192,  256,  257,  384,
                                512, 513, 768, 1024, 1025, 1536, 2048, 2049, 4096};
    int good = 1;
    for (size_t k = 4096; k <= 14336; k += 10240) {
        const pwl_qgemm_weights weights = weights_of(PWL_QGEMM_Q4_0, 4096, k);
        double before = 0;
        for (size_t i = 0; i < sizeof ms / sizeof ms[0]; i++) {
            const pwl_qgemm_tile tile = tile_of(PWL_QGEMM_Q4_0, ms[i], 4096, k);
            const double time = pwl_qgemm_tile_time(ms[i], &weights, &tile);
            const double rows = i > 0 ? (double)ms[i] / (double)ms[i - 1] : 1;
            if (i > 0 && (time < before * 0.95 || time > before * (rows > 1.3 ? 1.1 * rows : 1.3))) {
                printf("# M = %zu, K = %zu: %.1f us after %.1f\n", ms[i], k, time, before);
                good = 0;
            }
            before = time;
        }
    }
    tap(good, "time grows with M, and by no leaps");
}

static void test_direct(void)
{
    static const pwl_qgemm_activation gelu;
    pwl_qgemm_weights weights = weights_of(PWL_QGEMM_Q4_0, 4096, 4096);
    pwl_qgemm_product product = product_of(1024, 4096);
    tap(pwl_qgemm_is_direct(&product, &weights), "halves, aligned to 16 bytes");
    product.y.type = PWL_QGEMM_BF16;
    tap(pwl_qgemm_is_direct(&product, &weights), "bf16, too");
    product.y.type = PWL_QGEMM_F32;
    tap(!pwl_qgemm_is_direct(&product, &weights), "not floats");
    const pwl_qgemm_tile tile = pwl_qgemm_tile_of(&product, &weights, BLOCKS);
    tap(tile.tokens == PWL_QGEMM_ANY_TOKENS && !tile.direct, "which get the one size for all");
    product = product_of(1024, 4096);
    product.activation = &gelu;
    tap(!pwl_qgemm_is_direct(&product, &weights), "not with an activation");
    product = product_of(1024, 4096);
    product.y.data = y + 4;
    tap(!pwl_qgemm_is_direct(&product, &weights), "not aligned to 8 bytes");
    product = product_of(1024, 4096);
    product.y.stride += 4;
    tap(!pwl_qgemm_is_direct(&product, &weights), "not rows apart by 4 halves more");
    product = product_of(1024, 4096);
    weights.n = 4092;
    tap(!pwl_qgemm_is_direct(&product, &weights), "not rows that end within 16 bytes");
    weights.n = 4096;
    weights.row_data = 1;
    tap(!pwl_qgemm_is_direct(&product, &weights), "not of weights with exponents");
}

int main(void)
{
    test_least();
    test_measured();
    test_bytes(PWL_QGEMM_ROWS8);
    test_bytes(PWL_QGEMM_ROWS4);
    test_sparse();
    test_e4m3();
    test_steps();
    test_direct();
    return tap_end();
}
