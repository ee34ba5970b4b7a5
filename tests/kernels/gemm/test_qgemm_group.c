/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of products on the host: every tile of every expert once, whatever offsets are, and no more than a launch has
 * room for; tiles that suit; the reference against products of each expert alone; and what is refused.
 */
#include <stdbool.h>

#include "../tap.h"
#include "cases.h"
#include "gemm/group.h"
#include "gemm/layout.h"
#include "gemm/tiles.h"

enum { EXPERTS = 4, M = 40, N = 24, K = 64, BLOCKS = 132 };

/* -- Tiles --------------------------------------------------------------------------------------------------------- */

/* As the kernel finds them, a warp at a time. */
static void find_starts(const int32_t *offsets, uint32_t experts, size_t m, uint32_t tokens, uint32_t *starts)
{
    int32_t highest = 0;
    starts[0] = 0;
    for (uint32_t e = 0; e < experts; e++) {
        const uint32_t rows = pwl_qgemm_expert_rows(offsets[e], offsets[e + 1], highest, m);
        starts[e + 1] = starts[e] + pwl_qgemm_expert_tiles(rows, tokens);
        highest = offsets[e] > highest ? offsets[e] : highest;
    }
}

/* How often each row of X meets each column of tiles is at most once, and once where an expert has it. */
static bool covers(const int32_t *offsets, uint32_t experts, size_t m, uint32_t tokens, uint32_t across)
{
    static uint8_t seen[M + 1][8];
    uint32_t starts[EXPERTS + 1], rows = 0, found = 0;
    int32_t highest = 0;
    memset(seen, 0, sizeof seen);
    find_starts(offsets, experts, m, tokens, starts);
    if (starts[experts] > pwl_qgemm_group_most_tiles(m, experts, tokens))
        return false;
    for (uint32_t turn = 0; turn < starts[experts] * across; turn++) {
        const pwl_qgemm_group_tile tile = pwl_qgemm_group_tile_at(starts, experts, across, turn);
        const int32_t first = offsets[tile.expert] + (int32_t)(tile.down * tokens), end = offsets[tile.expert + 1];
        if (tile.expert >= experts || tile.across >= across || first < 0 || first >= end || (size_t)end > m)
            return false;
        for (int32_t row = first; row < end && row < first + (int32_t)tokens; row++) {
            if (seen[row][tile.across]++)
                return false;
            found++;
        }
    }
    for (uint32_t e = 0; e < experts; e++) {
        rows += pwl_qgemm_expert_rows(offsets[e], offsets[e + 1], highest, m);
        highest = offsets[e] > highest ? offsets[e] : highest;
    }
    return found == rows * across;
}

/* Every choice of four experts' offsets from -1 to m + 1. */
static void test_all_offsets(void)
{
    static const uint32_t sizes[] = {1, 2, 3, 8};
    bool good = true;
    for (int32_t m = 1; m <= 5 && good; m++) {
        const int32_t values = m + 3;
        int32_t all = 1;
        for (int i = 0; i <= EXPERTS; i++)
            all *= values;
        for (int32_t which = 0; which < all && good; which++) {
            int32_t offsets[EXPERTS + 1], left = which;
            for (int i = 0; i <= EXPERTS; i++, left /= values)
                offsets[i] = left % values - 1;
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && good; i++)
                good = covers(offsets, EXPERTS, (size_t)m, sizes[i], 1 + (uint32_t)which % 3);
        }
    }
    tap(good, "every row of every expert once, and no other, whatever offsets are");
}

static void test_sorted(void)
{
    bool good = true;
    uint64_t state = 81;
    for (int i = 0; i < 20000 && good; i++) {
        int32_t offsets[EXPERTS + 1] = {(int32_t)random_in(&state, 0, 3)};
        for (int e = 0; e < EXPERTS; e++)
            offsets[e + 1] = (int32_t)random_in(&state, offsets[e], M);
        good = covers(offsets, EXPERTS, M, (uint32_t)random_in(&state, 1, 20), (uint32_t)random_in(&state, 1, 8));
    }
    tap(good, "the same of more rows in order");
}

/* The bound on tiles is one that is reached. */
static void test_most(void)
{
    bool good = true;
    for (size_t m = 1; m < 60 && good; m++) {
        for (size_t experts = 1; experts < 20 && good; experts++) {
            for (size_t tokens = 1; tokens < 20 && good; tokens++) {
                const size_t most = experts < m ? experts : m; /* one row each, and the rest of one */
                const size_t tiles = most - 1 + (m - most + 1 + tokens - 1) / tokens;
                const size_t bound = pwl_qgemm_group_most_tiles(m, experts, tokens);
                good = tiles <= bound && bound <= m / tokens + experts;
            }
        }
    }
    tap(good && pwl_qgemm_group_most_tiles(32, 4, 8) == 7, "no more tiles than M / tokens + experts");
}

/* -- Sizes of tiles ------------------------------------------------------------------------------------------------ */

static uint32_t tokens_of(pwl_qgemm_format format, pwl_qgemm_type y, size_t m, size_t experts, int32_t row_data)
{
    static uint16_t to[8] __attribute__((aligned(16)));
    const pwl_qgemm_weights w = {to, 2880, 2880, 0, format, row_data};
    pwl_qgemm_product product = {.m = m, .y = {to, 2880, y, 0, 0, NULL, 0}};
    return pwl_qgemm_group_tile_of(&product, &w, experts, BLOCKS).tokens;
}

static void test_tiles(void)
{
    tap(tokens_of(PWL_QGEMM_MXFP4, PWL_QGEMM_F16, 4, 32, 0) == 16, "one row an expert: tiles of 16");
    tap(tokens_of(PWL_QGEMM_MXFP4, PWL_QGEMM_F16, 64, 32, 0) == 16, "two rows an expert: the same");
    tap(tokens_of(PWL_QGEMM_MXFP4, PWL_QGEMM_F16, 32768, 32, 0) == 256, "1024 rows an expert: tiles of 256");
    tap(tokens_of(PWL_QGEMM_MXFP4, PWL_QGEMM_F32, 32768, 32, 0) == 128, "to fp32: of 128");
    tap(tokens_of(PWL_QGEMM_Q4_0, PWL_QGEMM_F16, 4, 32, 1) == PWL_QGEMM_GROUP_ANY_TOKENS,
        "rows with exponents: one size");
    tap(tokens_of(PWL_QGEMM_ROWS8, PWL_QGEMM_S8, 4, 32, 1) == 32, "of bytes: no fewer than 32");
    tap(tokens_of(PWL_QGEMM_ROWS8, PWL_QGEMM_S8, 32768, 8, 1) == 256, "of bytes: 256 where there are many");
    tap(tokens_of(PWL_QGEMM_MXFP4_E4M3, PWL_QGEMM_F16, 32768, 8, 1) == 256, "the same of E4M3");
    uint32_t last = 0;
    bool rises = true;
    for (size_t m = 1; m < 100000; m += m / 3 + 1) {
        const uint32_t tokens = tokens_of(PWL_QGEMM_MXFP4, PWL_QGEMM_F16, m, 1, 0);
        rises = rises && tokens * 2 >= last;
        last = tokens > last ? tokens : last;
    }
    tap(rises && last == 256, "more rows, larger tiles");
}

/* -- The reference ------------------------------------------------------------------------------------------------- */

static struct {
    uint8_t *memory;
    float x[M * K], bias[EXPERTS * N], y[M * N], alone[M * N];
    int32_t offsets[EXPERTS + 1];
} p;
static pwl_qgemm_weights weights;
static pwl_qgemm_product product;
static pwl_qgemm_group group;

static void make_group(void)
{
    uint64_t state = 82;
    uint8_t blocks[N * K / 32 * sizeof(pwl_block_q4_0)];
    size_t bytes;
    if (pwl_qgemm_weights_bytes(PWL_QGEMM_Q4_0, N, K, &bytes) != PWL_QGEMM_OK)
        exit(1);
    group = (pwl_qgemm_group){EXPERTS, (bytes + 15) / 16 * 16, p.offsets};
    p.memory = need(EXPERTS * group.apart);
    for (size_t e = 0; e < EXPERTS; e++) {
        draw_blocks(&qgemm_kinds[0], blocks, N * K / 32, -8, -2, &state);
        if (pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_Q4_0, blocks, N, K), p.memory + e * group.apart, bytes,
                           &weights, NULL) != PWL_QGEMM_OK)
            exit(1);
    }
    weights.memory = p.memory;
    for (size_t i = 0; i < M * K; i++)
        p.x[i] = (float)random_in(&state, -4096, 4095) / 1024;
    for (size_t i = 0; i < EXPERTS * N; i++)
        p.bias[i] = (float)random_in(&state, -100, 100);
    memcpy(p.offsets, (int32_t[]){0, 7, 7, 20, M}, sizeof p.offsets);
    product = (pwl_qgemm_product){.scheme = PWL_QGEMM_W4A16, .m = M, .weights = &weights};
    product.x = (pwl_qgemm_input){p.x, K, PWL_QGEMM_F32, 0, NULL, NULL};
    product.bias = p.bias;
    product.y = (pwl_qgemm_output){p.y, N, PWL_QGEMM_F32, 0, 0, NULL, 0};
}

/* Rows of expert e by a product of its own. */
static void multiply_alone(size_t e, int32_t begin, int32_t end)
{
    pwl_qgemm_weights own = weights;
    pwl_qgemm_product one = product;
    if (begin == end)
        return;
    own.memory = p.memory + e * group.apart;
    one.weights = &own;
    one.m = (size_t)(end - begin);
    one.x.data = p.x + begin * K;
    one.bias = p.bias + e * N;
    one.y.data = p.alone + begin * N;
    if (pwl_qgemm_reference(&one) != PWL_QGEMM_OK)
        exit(1);
}

static void test_reference(void)
{
    make_group();
    memset(p.y, 0x55, sizeof p.y);
    memset(p.alone, 0x55, sizeof p.alone);
    for (size_t e = 0; e < EXPERTS; e++)
        multiply_alone(e, p.offsets[e], p.offsets[e + 1]);
    tap(pwl_qgemm_group_reference(&product, &group) == PWL_QGEMM_OK && memcmp(p.y, p.alone, sizeof p.y) == 0,
        "the products of all experts, of which one has no rows");
    memcpy(p.offsets, (int32_t[]){5, 9, 2, 12, M + 1}, sizeof p.offsets); /* 9 to 2, 2 below 9, beyond M */
    memset(p.y, 0x55, sizeof p.y);
    memset(p.alone, 0x55, sizeof p.alone);
    multiply_alone(0, 5, 9);
    tap(pwl_qgemm_group_reference(&product, &group) == PWL_QGEMM_OK && memcmp(p.y, p.alone, sizeof p.y) == 0,
        "offsets that decrease, or leave X, are no rows");
}

/* -- Errors -------------------------------------------------------------------------------------------------------- */

static void refused(const pwl_qgemm_product *of, const pwl_qgemm_group *in, pwl_qgemm_status expected, const char *name)
{
    memset(p.y, 0x55, sizeof p.y);
    memcpy(p.alone, p.y, sizeof p.y);
    const pwl_qgemm_status status = pwl_qgemm_group_check(of, in);
    tap(status == expected && pwl_qgemm_group_reference(of, in) == expected && memcmp(p.y, p.alone, sizeof p.y) == 0,
        "%s: %s", name, pwl_qgemm_status_text(status));
}

static void test_errors(void)
{
    pwl_qgemm_group bad = group;
    pwl_qgemm_product other = product;
    refused(NULL, &group, PWL_QGEMM_ERR_NULL, "no product");
    refused(&product, NULL, PWL_QGEMM_ERR_NULL, "no group");
    bad.offsets = NULL;
    refused(&product, &bad, PWL_QGEMM_ERR_NULL, "no offsets");
    bad.offsets = (const int32_t *)(const void *)((const char *)p.offsets + 2);
    refused(&product, &bad, PWL_QGEMM_ERR_ALIGN, "offsets at half an integer");
    bad = group;
    bad.experts = 0;
    refused(&product, &bad, PWL_QGEMM_ERR_GROUP, "no experts");
    bad.experts = PWL_QGEMM_MOST_EXPERTS + 1;
    refused(&product, &bad, PWL_QGEMM_ERR_GROUP, "too many experts");
    bad = group;
    bad.apart += 8;
    refused(&product, &bad, PWL_QGEMM_ERR_GROUP, "weights apart by half of 16 bytes");
    bad.apart = weights.bytes - 16;
    refused(&product, &bad, PWL_QGEMM_ERR_GROUP, "weights that overlap");
    bad.apart = SIZE_MAX / 16 * 16;
    refused(&product, &bad, PWL_QGEMM_ERR_GROUP, "weights further apart than memory is long");
    bad = group;
    bad.offsets = (const int32_t *)(const void *)p.y;
    refused(&product, &bad, PWL_QGEMM_ERR_OVERLAP, "offsets in Y");
    other.bias = (const char *)(const void *)p.y - EXPERTS * N * 4 + 4; /* the last expert's last one is Y's first */
    refused(&other, &group, PWL_QGEMM_ERR_OVERLAP, "the last expert's bias in Y");
    other = product;
    other.y.data = p.memory + (EXPERTS - 1) * group.apart;
    refused(&other, &group, PWL_QGEMM_ERR_OVERLAP, "Y in the last expert's weights");
    other = product;
    other.scheme = PWL_QGEMM_W8A16;
    refused(&other, &group, PWL_QGEMM_ERR_SCHEME, "what a product is refused for");
}

int main(void)
{
    test_all_offsets();
    test_sorted();
    test_most();
    test_tiles();
    test_reference();
    test_errors();
    free(p.memory);
    return tap_end();
}
