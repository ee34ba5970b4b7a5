/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPARSE4: blocks packed and unpacked, floats pruned or refused by the columns that are too many, and wgmma.sp on the
 * host: a warp's registers and words of positions, read as the PTX manual says, give each weight in its column.
 */
#include <math.h>

#include "../tap.h"
#include "draw_matrix.h"
#include "gemm/weight.h"
#include "lanes.h"
#include "padding.h"

#define GUARD 0x5a

static int all_are(const void *memory, size_t bytes, uint8_t value)
{
    for (size_t i = 0; i < bytes; i++) {
        if (((const uint8_t *)memory)[i] != value)
            return 0;
    }
    return 1;
}

static pwl_qgemm_weights pack_sparse(const pwl_block_sparse4 *blocks, size_t n, size_t k)
{
    pwl_qgemm_weights weights;
    size_t bytes;
    if (pwl_qgemm_weights_bytes(PWL_QGEMM_SPARSE4, n, k, &bytes) != PWL_QGEMM_OK ||
        pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_SPARSE4, blocks, n, k), need(bytes), bytes, &weights, NULL) !=
            PWL_QGEMM_OK)
        abort();
    return weights;
}

/* Weight (row, column) of blocks: its code, 8 where it is left out. */
static int code_in(const pwl_block_sparse4 *blocks, size_t k, size_t row, size_t column)
{
    const pwl_block_sparse4 *const block = &blocks[row * (k / 64) + column / 64];
    const unsigned c = column % 64, positions = block->positions[c / 8] >> c / 4 % 2 * 4 & 15;
    for (unsigned i = 0; i < 2; i++) {
        const unsigned j = c / 4 * 2 + i;
        if ((positions >> 2 * i & 3) == c % 4)
            return block->qs[j % 16] >> j / 16 * 4 & 15;
    }
    return 8;
}

static void test_round_trip(void)
{
    static const size_t sizes[][2] = {{1, 64}, {1, 192}, {16, 64}, {127, 64}, {128, 128}, {129, 192}, {130, 1088}};
    uint64_t state = 61;
    int good = 1, any = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i][0], k = sizes[i][1], count = n * k / 64;
        pwl_block_sparse4 *const blocks = need(count * sizeof *blocks), *const back = need(count * sizeof *back);
        draw_sparse_blocks(blocks, count, -9, i % 2 ? 15 : 3, &state);
        pwl_qgemm_weights weights = pack_sparse(blocks, n, k);
        any |= weights.row_data;
        good &= weights.bytes == (n + 127) / 128 * (k / 64) * 3328 + (weights.row_data ? (n + 127) / 128 * 128 : 0);
        good &= pwl_qgemm_unpack(&weights, back) == PWL_QGEMM_OK && memcmp(blocks, back, count * sizeof *back) == 0;
        good &= padding_is_zero(&weights);
        for (size_t j = 0; j < n * k; j++)
            good &= pwl_qgemm_code(&weights, j / k, j % k) == code_in(blocks, k, j / k, j % k);
        free_weights(&weights);
        free(blocks);
        free(back);
    }
    tap(good && any, "blocks, packed and unpacked, and each code of packed weights");
}

/* Each byte of a piece has a use of its own. */
static void test_places(void)
{
    uint8_t nibbles[6144] = {0}, scales[PWL_QGEMM_ROWS] = {0};
    int good = pwl_qgemm_piece_bytes(PWL_QGEMM_SPARSE4) == 3328;
    for (unsigned r = 0; r < PWL_QGEMM_ROWS; r++) {
        for (unsigned c = 0; c < 32; c++)
            good &= !nibbles[pwl_qgemm_code_at(PWL_QGEMM_SPARSE4, r, c)]++;
        for (unsigned c = 0; c < PWL_QGEMM_COLUMNS; c += 4)
            good &= !nibbles[pwl_qgemm_positions_at(r, c) * 2 + c / 4 % 2]++;
        good &= !scales[pwl_qgemm_scale_at(PWL_QGEMM_SPARSE4, r, 0)]++;
    }
    tap(good && all_are(nibbles, sizeof nibbles, 1) && all_are(scales, sizeof scales, 1),
        "codes, positions and scales fill a piece");
}

/* -- wgmma.sp on the host --------------------------------------------------------------------------------------------
 */

/*
 * A of 16 rows and 32 columns, as a warp of wgmma.m64nNk32 with halves has it: register i of lane 4 g + t holds what is
 * kept of row g + 8 (i % 2), in columns 4 t to 4 t + 3 and, of registers 2 and 3, 16 more. The selector names the pair
 * of lanes whose words tell positions: its first lane those of columns 0 to 15, its second one those of the others;
 * four bits for each four columns, row g in the lower half and row g + 8 in the upper one.
 */
static void expand(uint32_t (*const a)[4], const uint32_t *words, unsigned selector, uint16_t dense[16][32],
                   int *ascending)
{
    memset(dense, 0, 16 * sizeof *dense);
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < 4; i++) {
            const unsigned g = lane / 4, four = lane % 4 + i / 2 * 4, row = g + i % 2 * 8;
            const uint32_t word = words[4 * g + 2 * selector + four / 4];
            const unsigned positions = word >> (i % 2 * 16 + four % 4 * 4) & 15;
            *ascending &= (positions & 3) < positions >> 2;
            dense[row][four * 4 + (positions & 3)] = (uint16_t)a[lane][i];
            dense[row][four * 4 + (positions >> 2)] = (uint16_t)(a[lane][i] >> 16);
        }
    }
}

/* What lanes load of a tile in a piece. */
static void load_tile(const pwl_qgemm_weights *weights, size_t row, size_t column, int bf16, unsigned step,
                      uint32_t (*a)[4], uint32_t *words)
{
    const tile_view view = view_of(weights, row, column);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint32_t codes = word_at(view.codes + lane * 8 + step * 4);
        const uint32_t scales =
            word_at(view.codes + PWL_QGEMM_TILES * 384 - row % 128 / 16 * 384 + row % 128 / 16 * 32 + lane / 4 * 4);
        const pwl_fragment of =
            pwl_fragment_halves(weights->format, bf16, weights->row_data, codes, 0, scales, load_units(&view, lane));
        memcpy(a[lane], of.r, sizeof of.r);
        words[lane] = word_at(view.codes + 256 + lane * 4);
    }
}

static void test_instruction(int bf16, const char *name)
{
    enum { N = 144, K = 192 };
    static pwl_block_sparse4 blocks[N * K / 64];
    uint64_t state = 62;
    int good = 1, ascending = 1;
    for (int high = -1; high < 16; high += 16) { /* without exponents of rows and with them */
        draw_sparse_blocks(blocks, N * K / 64, high - 12, high, &state);
        pwl_qgemm_weights weights = pack_sparse(blocks, N, K);
        for (size_t row = 0; row < N; row += 16) {
            for (size_t column = 0; column < K; column += 32) {
                const unsigned step = column / 32 % 2;
                uint32_t a[LANES][4], words[LANES];
                uint16_t dense[16][32];
                load_tile(&weights, row, column, bf16, step, a, words);
                expand(a, words, step, dense, &ascending);
                for (size_t i = 0; i < 16 * 32 && good; i++) {
                    const size_t n = row + i / 32, k = column + i % 32;
                    const int e = bf16 ? 0 : pwl_qgemm_row_exponent(&weights, n);
                    const uint16_t expected = pwl_qgemm_weight(weights.format, code_in(blocks, K, n, k),
                                                               pwl_qgemm_scale(&weights, n, k / PWL_BLOCK), e, bf16);
                    /* 0 has a sign where it is kept. */
                    good = dense[i / 32][i % 32] == expected || ((dense[i / 32][i % 32] | expected) & 0x7fff) == 0;
                    if (!good)
                        printf("# row %zu, column %zu: %04x, not %04x\n", n, k, dense[i / 32][i % 32], expected);
                }
            }
        }
        free_weights(&weights);
    }
    tap(good && ascending, "wgmma.sp of %s sees each weight in its column", name);
}

/* -- Floats ----------------------------------------------------------------------------------------------------------
 */

static int is_kept(const pwl_block_sparse4 *blocks, size_t k, size_t row, size_t column)
{
    const pwl_block_sparse4 *const block = &blocks[row * (k / 64) + column / 64];
    const unsigned positions = block->positions[column % 64 / 8] >> column / 4 % 2 * 4 & 15;
    return (positions & 3) == column % 4 || positions >> 2 == column % 4;
}

/* Of each four the two that are kept are the larger ones; of equals the first. */
static int keeps_largest(const pwl_block_sparse4 *blocks, const float *w, size_t k, size_t row, size_t four)
{
    const float *const v = w + row * k + four * 4;
    int good = 1, kept = 0;
    for (size_t i = 0; i < 4; i++) {
        kept += is_kept(blocks, k, row, four * 4 + i);
        for (size_t j = 0; j < 4; j++) {
            const int before = fabsf(v[i]) > fabsf(v[j]) || (fabsf(v[i]) == fabsf(v[j]) && i < j);
            good &= !(before && is_kept(blocks, k, row, four * 4 + j)) || is_kept(blocks, k, row, four * 4 + i);
        }
    }
    return good && kept == 2;
}

static void test_pruning(void)
{
    enum { N = 37, K = 320, COUNT = N * K / 64 };
    static float w[N * K];
    static pwl_block_sparse4 made[COUNT];
    static uint8_t memory[3328 * (K / 64) + 128] __attribute__((aligned(16)));
    uint64_t state = 63;
    int good = 1, same = 1;
    draw_matrix(w, N * K, 1, &state);
    for (size_t i = 0; i < N * K; i += 3)
        w[i] = (float)random_in(&state, -2, 2) / 2; /* some are equal, or 0 */
    for (int rule = PWL_RULE_DEFAULT; rule <= PWL_RULE_DOCUMENT; rule++) {
        pwl_qgemm_source source = pwl_qgemm_of_floats(PWL_QGEMM_SPARSE4, (pwl_rule)rule, w, N, K);
        pwl_qgemm_weights weights;
        source.spread = PWL_QGEMM_SPREAD_PRUNED;
        good &= pwl_qgemm_pack(source, memory, sizeof memory, &weights, NULL) == PWL_QGEMM_OK &&
                pwl_qgemm_unpack(&weights, made) == PWL_QGEMM_OK;
        for (size_t i = 0; i < N * K / 4 && good; i++)
            good = keeps_largest(made, w, K, i / (K / 4), i % (K / 4));
        for (size_t i = 0; i < COUNT && good; i++) {
            float kept[PWL_BLOCK];
            size_t count = 0;
            pwl_block_q4_0 expected;
            for (size_t c = 0; c < 64; c++) {
                if (is_kept(made, K, i / (K / 64), i % (K / 64) * 64 + c))
                    kept[count++] = w[i * 64 + c];
            }
            good = count == PWL_BLOCK &&
                   pwl_quantise(PWL_Q4_0, (pwl_rule)rule, kept, 1, PWL_BLOCK, PWL_BLOCK, &expected) == PWL_BLOCKS_OK;
            good = good && expected.d == made[i].d && memcmp(expected.qs, made[i].qs, sizeof expected.qs) == 0;
        }
        /* Without what was left out, they are taken as they are, from halves too. */
        static float pruned[N * K];
        static uint16_t halves[N * K];
        static pwl_block_sparse4 again[COUNT];
        for (size_t i = 0; i < N * K; i++) {
            pruned[i] = is_kept(made, K, i / K, i % K) ? w[i] : 0;
            halves[i] = pwl_f16_from_f32(pruned[i]);
        }
        source = pwl_qgemm_of_floats(PWL_QGEMM_SPARSE4, (pwl_rule)rule, pruned, N, K);
        same &= pwl_qgemm_pack(source, memory, sizeof memory, &weights, NULL) == PWL_QGEMM_OK &&
                pwl_qgemm_unpack(&weights, again) == PWL_QGEMM_OK && memcmp(made, again, sizeof made) == 0;
        source.type = PWL_QGEMM_F16;
        source.data[0] = halves;
        same &= pwl_qgemm_pack(source, memory, sizeof memory, &weights, NULL) == PWL_QGEMM_OK;
        /* A tensor of all of them. */
        const pwl_qgemm_tensor tensor = {0, {K, N, 1, 1}, w, sizeof w};
        source = pwl_qgemm_of_tensor(PWL_QGEMM_SPARSE4, (pwl_rule)rule, &tensor);
        same &= pwl_qgemm_pack(source, memory, sizeof memory, &weights, NULL) == PWL_QGEMM_ERR_SPARSE;
        source.spread = PWL_QGEMM_SPREAD_PRUNED;
        same &= pwl_qgemm_pack(source, memory, sizeof memory, &weights, NULL) == PWL_QGEMM_OK &&
                pwl_qgemm_unpack(&weights, again) == PWL_QGEMM_OK && memcmp(made, again, sizeof made) == 0;
    }
    tap(good, "the largest two of four, quantised as Q4_0 quantises them");
    tap(same, "weights that have two of four already, and tensors");
}

/* -- Products --------------------------------------------------------------------------------------------------------
 */

/* Against the same weights, not sparse, as Q4_0: the codes of 32 columns have the scale of 64. */
static void test_reference(void)
{
    enum { M = 5, N = 40, K = 256 };
    static pwl_block_sparse4 blocks[N * K / 64];
    static pwl_block_q4_0 dense[N * K / PWL_BLOCK];
    static float x[M * K], y[2][M * N], bias[N];
    static double value[2][M * N], bound[2][M * N];
    uint64_t state = 64;
    int good = 1;
    draw_sparse_blocks(blocks, N * K / 64, -9, 15, &state);
    draw_matrix(x, M * K, 1, &state);
    draw_matrix(bias, N, 1, &state);
    memset(dense, 0, sizeof dense);
    for (size_t i = 0; i < N * K; i++) {
        pwl_block_q4_0 *const block = &dense[i / PWL_BLOCK];
        block->d = blocks[i / 64].d;
        block->qs[i % 16] |= (uint8_t)(code_in(blocks, K, i / K, i % K) << i / 16 % 2 * 4);
    }
    pwl_qgemm_weights weights[2] = {pack_sparse(blocks, N, K), pack_new(&qgemm_kinds[0], dense, N, K)};
    for (int i = 0; i < 2; i++) {
        const pwl_qgemm_product product = {i ? PWL_QGEMM_W4A16 : PWL_QGEMM_SPARSE4_A16,
                                           PWL_QGEMM_SUMS_EXACT,
                                           M,
                                           &weights[i],
                                           {x, K, PWL_QGEMM_F32, 0, NULL, NULL},
                                           bias,
                                           {y[i], N, PWL_QGEMM_F32, 0, 0, NULL, 0},
                                           NULL};
        good &= pwl_qgemm_reference(&product) == PWL_QGEMM_OK &&
                pwl_qgemm_bound(&product, 0, value[i], bound[i]) == PWL_QGEMM_OK;
        free_weights(&weights[i]);
    }
    tap(good && weights[0].row_data && weights[1].row_data && memcmp(y[0], y[1], sizeof y[0]) == 0 &&
            memcmp(value[0], value[1], sizeof value[0]) == 0 && memcmp(bound[0], bound[1], sizeof bound[0]) == 0,
        "the reference and its bound are those of W4A16 of the same weights");
}

/* -- Errors ----------------------------------------------------------------------------------------------------------
 */

#define REFUSED(expected, call, name) tap((call) == (expected), "%s", name)

static void test_refused_floats(void)
{
    enum { N = 18, K = 192, BYTES = 3328 * (K / 64) + 128 };
    static float w[N * K];
    static uint8_t memory[BYTES] __attribute__((aligned(16)));
    pwl_qgemm_weights weights = {NULL, 7, 0, 0, PWL_QGEMM_Q8_0, 0};
    pwl_qgemm_place bad = {99, 99, 0};
    memset(memory, GUARD, BYTES);
    pwl_qgemm_source source = pwl_qgemm_of_floats(PWL_QGEMM_SPARSE4, PWL_RULE_DEFAULT, w, N, K);
    w[5 * K + 137] = w[5 * K + 138] = -1e-30F, w[5 * K + 139] = 2;
    REFUSED(PWL_QGEMM_ERR_SPARSE, pwl_qgemm_pack(source, memory, BYTES, &weights, &bad), "three of four");
    tap(bad.row == 5 && bad.block == 34, "by their columns");
    REFUSED(PWL_QGEMM_ERR_SPARSE, pwl_qgemm_pack(source, memory, BYTES, &weights, NULL), "which need not be told");
    source = pwl_qgemm_of_pair(pwl_qgemm_of_floats(PWL_QGEMM_SPARSE4, PWL_RULE_DEFAULT, w + 8 * K, 8, K),
                               pwl_qgemm_of_floats(PWL_QGEMM_SPARSE4, PWL_RULE_DEFAULT, w, 8, K));
    REFUSED(PWL_QGEMM_ERR_SPARSE, pwl_qgemm_pack(source, memory, BYTES, &weights, &bad), "three of four, of up");
    tap(bad.row == 13 && bad.block == 34, "by their row of a pair");
    source = pwl_qgemm_of_floats(PWL_QGEMM_SPARSE4, PWL_RULE_DEFAULT, w, N, K);
    source.spread = PWL_QGEMM_SPREAD_ROUNDED;
    REFUSED(PWL_QGEMM_ERR_RULE, pwl_qgemm_pack(source, memory, BYTES, &weights, NULL), "no way of leaving weights out");
    source.spread = PWL_QGEMM_SPREAD_PRUNED;
    for (size_t i = 0; i < 3; i++) { /* an infinity or a NaN is never what is left out */
        static const float odd[] = {NAN, INFINITY, -INFINITY};
        w[5 * K + 136] = odd[i];
        bad = (pwl_qgemm_place){99, 99, 0};
        REFUSED(PWL_QGEMM_ERR_SCALE, pwl_qgemm_pack(source, memory, BYTES, &weights, &bad), "no number");
        tap(bad.row == 5 && bad.block == 2, "by its block");
    }
    w[5 * K + 136] = 1;
    tap(all_are(memory, BYTES, GUARD) && weights.n == 7, "nothing was written");
    REFUSED(PWL_QGEMM_OK, pwl_qgemm_pack(source, memory, BYTES, &weights, NULL), "four of four, pruned");
}

static void test_refused_blocks(void)
{
    enum { N = 3, K = 128, BYTES = 3328 * (K / 64) + 128 };
    static uint8_t memory[BYTES] __attribute__((aligned(16)));
    pwl_block_sparse4 blocks[N * K / 64];
    pwl_qgemm_weights weights = {NULL, 7, 0, 0, PWL_QGEMM_Q8_0, 0};
    const pwl_qgemm_source source = pwl_qgemm_of_blocks(PWL_QGEMM_SPARSE4, blocks, N, K);
    uint64_t state = 65;
    int good = 1, legal = 0;
    memset(memory, GUARD, BYTES);
    draw_sparse_blocks(blocks, N * K / 64, -3, 3, &state);
    for (unsigned positions = 0; positions < 16; positions++) {
        pwl_qgemm_place bad = {99, 99, 0};
        blocks[5].positions[3] = (uint8_t)((blocks[5].positions[3] & 15) | positions << 4);
        const pwl_qgemm_status status = pwl_qgemm_pack(source, memory, BYTES, &weights, &bad);
        legal += status == PWL_QGEMM_OK;
        good &= memchr(two_of_four, (int)positions, 6)
                    ? status == PWL_QGEMM_OK
                    : status == PWL_QGEMM_ERR_SPARSE && bad.row == 2 && bad.block == 16 + 7;
    }
    tap(good && legal == 6, "blocks whose positions do not ascend are refused by their columns");
    blocks[5].positions[3] = 0x44;
    for (size_t i = 0; i < N * K / 64; i++) {
        pwl_qgemm_place bad = {99, 99, 0};
        const uint16_t d = blocks[i].d;
        blocks[i].d = 0x7c00;
        good &= pwl_qgemm_pack(source, memory, BYTES, &weights, &bad) == PWL_QGEMM_ERR_SCALE && bad.row == i / 2 &&
                bad.block == i % 2;
        blocks[i].d = d;
    }
    tap(good, "so are infinite scales");
}

static void test_errors(void)
{
    static uint8_t memory[3328 + 128] __attribute__((aligned(16)));
    static float x[64], y[1];
    static int8_t n_x[1];
    pwl_block_sparse4 blocks[2];
    pwl_qgemm_weights weights;
    uint64_t state = 66;
    size_t bytes = 77;
    draw_sparse_blocks(blocks, 2, -3, 3, &state);
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_weights_bytes(PWL_QGEMM_SPARSE4, 1, 96, &bytes), "K of 96");
    tap(bytes == 77, "no size is told then");
    REFUSED(PWL_QGEMM_ERR_FORMAT, pwl_qgemm_weights_bytes((pwl_qgemm_format)(PWL_QGEMM_SPARSE4 + 1), 1, 64, &bytes),
            "no format");
    REFUSED(PWL_QGEMM_ERR_SPACE,
            pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_SPARSE4, blocks, 1, 64), memory, 3327, &weights, NULL),
            "a byte too few");
    REFUSED(PWL_QGEMM_ERR_ALIGN,
            pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_SPARSE4, (uint8_t *)blocks + 1, 1, 64), memory, 3328, &weights,
                           NULL),
            "blocks at an odd address");
    REFUSED(PWL_QGEMM_ERR_FORMAT,
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_SPARSE4, blocks, n_x, 1, 64), memory, 3328, &weights, NULL),
            "codes of rows");
    REFUSED(PWL_QGEMM_OK,
            pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_SPARSE4, blocks, 1, 64), memory, 3328, &weights, NULL),
            "weights of one row");
    pwl_qgemm_product product = {PWL_QGEMM_W4A16,
                                 PWL_QGEMM_SUMS_EXACT,
                                 1,
                                 &weights,
                                 {x, 64, PWL_QGEMM_F32, 0, NULL, NULL},
                                 NULL,
                                 {y, 1, PWL_QGEMM_F32, 0, 0, NULL, 0},
                                 NULL};
    REFUSED(PWL_QGEMM_ERR_SCHEME, pwl_qgemm_check(&product), "they are not W4A16's");
    product.scheme = PWL_QGEMM_SPARSE4_A16;
    REFUSED(PWL_QGEMM_OK, pwl_qgemm_check(&product), "they are SPARSE4_A16's");
    product.x.type = PWL_QGEMM_S8;
    product.x.n_x = n_x;
    REFUSED(PWL_QGEMM_ERR_TYPE, pwl_qgemm_check(&product), "whose X is none of integers");
    product.x.type = PWL_QGEMM_F32;
    product.sums = PWL_QGEMM_SUMS_STORED;
    REFUSED(PWL_QGEMM_ERR_SCHEME, pwl_qgemm_check(&product), "whose sums are not stored");
}

int main(void)
{
    test_places();
    test_round_trip();
    test_instruction(0, "fp16");
    test_instruction(1, "bf16");
    test_pruning();
    test_reference();
    test_refused_floats();
    test_refused_blocks();
    test_errors();
    return tap_end();
}
