/* SPDX-License-Identifier: Apache-2.0 */
/* Packed weights: sizes, the order, round trips, row exponents, and every error, after which nothing was written. */
#include "../tap.h"
#include "cases.h"
#include "padding.h"

#define GUARD 0xa5

static int all_are(const uint8_t *bytes, size_t count, uint8_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != value)
            return 0;
    }
    return 1;
}

static void test_sizes(void)
{
    static const double bits[] = {4.5, 8.5, 4.25, 8, 4};
    size_t bytes;
    int good = 1;
    for (int format = PWL_QGEMM_Q4_0; format <= PWL_QGEMM_ROWS4; format++) {
        const size_t rows = is_rows((pwl_qgemm_format)format) ? 5 : 1;
        good &= pwl_qgemm_weights_bytes((pwl_qgemm_format)format, 4096, 14336, &bytes) == PWL_QGEMM_OK;
        good &= (double)(bytes - 4096 * rows) * 8 == bits[format] * 4096 * 14336;
        good &= pwl_qgemm_weights_bytes((pwl_qgemm_format)format, 129, 96, &bytes) == PWL_QGEMM_OK;
        good &= (double)(bytes - 256 * rows) * 8 == bits[format] * 256 * 128;
    }
    tap(good, "4.5, 8.5, 4.25, 8 and 4 bits a weight, after padding to 128 rows and 64 columns");
}

/* Each place exactly once. */
static void test_places(void)
{
    int good = 1;
    for (int format = PWL_QGEMM_Q4_0; format <= PWL_QGEMM_ROWS4; format++) {
        uint8_t seen[PWL_QGEMM_ROWS * PWL_QGEMM_COLUMNS] = {0};
        for (unsigned r = 0; r < PWL_QGEMM_ROWS; r++) {
            for (unsigned c = 0; c < PWL_QGEMM_COLUMNS; c++) {
                const unsigned at = pwl_qgemm_code_at((pwl_qgemm_format)format, r, c);
                good &= at < sizeof seen && !seen[at % sizeof seen]++;
            }
        }
    }
    tap(good, "codes of a piece have places of their own");
    uint8_t scales[2 * PWL_QGEMM_ROWS] = {0}, bytes[2][PWL_QGEMM_COLUMNS] = {{0}};
    good = 1;
    for (unsigned r = 0; r < PWL_QGEMM_ROWS; r++) {
        for (unsigned b = 0; b < 2; b++)
            good &= pwl_qgemm_scale_at(PWL_QGEMM_Q4_0, r, b) < sizeof scales &&
                    !scales[pwl_qgemm_scale_at(PWL_QGEMM_Q4_0, r, b)]++;
    }
    for (unsigned i = 0; i < 2 * PWL_QGEMM_COLUMNS; i++) {
        const unsigned at = pwl_qgemm_byte_at(i % 2 ? PWL_QGEMM_ROWS8 : PWL_QGEMM_Q8_0, i / 2);
        good &= at < PWL_QGEMM_COLUMNS && !bytes[i % 2][at]++;
    }
    tap(good, "so have scales, and bytes of activations");
}

static void test_round_trip(const struct qgemm_kind *kind)
{
    uint64_t state = 3;
    int good = 1, padding = 1, guarded = 1;
    for (size_t i = 0; i < SHAPES; i++) {
        const size_t n = shapes[i][0], k = shapes[i][1], size = blocks_bytes(kind, n, k);
        uint8_t *const blocks = need(size), *const back = need(size + 1);
        pwl_qgemm_weights weights;
        size_t bytes;
        /* Every other shape has rows with exponents. */
        draw_blocks(kind, blocks, n * k / PWL_BLOCK, -14, i % 2 ? 15 : 1, &state);
        if (i % 2)
            draw_blocks(kind, blocks, 1, 15, 15, &state);
        good &= pwl_qgemm_weights_bytes(kind->format, n, k, &bytes) == PWL_QGEMM_OK;
        uint8_t *const memory = need(bytes + 64);
        memset(memory, GUARD, bytes + 64);
        memset(back, GUARD, size + 1);
        good &= pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, n, k), memory, bytes, &weights, NULL) ==
                PWL_QGEMM_OK;
        good &= weights.row_data == (int32_t)(i % 2) && weights.n == n && weights.k == k;
        good &= weights.bytes == bytes - (i % 2 ? 0 : pwl_qgemm_round_up(n, 128));
        guarded &= all_are(memory + weights.bytes, bytes + 64 - weights.bytes, GUARD);
        padding &= padding_is_zero(&weights);
        good &= pwl_qgemm_unpack(&weights, back) == PWL_QGEMM_OK;
        good &= memcmp(blocks, back, size) == 0;
        guarded &= back[size] == GUARD;
        /* The memory may be just what is used, and not a byte less. */
        good &= pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, n, k), memory, weights.bytes, &weights,
                               NULL) == PWL_QGEMM_OK;
        good &= pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, n, k), memory, weights.bytes - 1, &weights,
                               NULL) == PWL_QGEMM_ERR_SPACE;
        free(blocks);
        free(back);
        free(memory);
    }
    tap(good, "%s: packed and unpacked bit for bit", kind->name);
    tap(padding, "%s: the padding is 0", kind->name);
    tap(guarded, "%s: nothing is written beyond the ends", kind->name);
}

static void test_floats(const struct qgemm_kind *kind, pwl_rule rule, const char *name)
{
    enum { N = 19, K = 96 };
    float w[N * K];
    uint8_t blocks[N * K / PWL_BLOCK * sizeof(pwl_block_q8_0)];
    pwl_qgemm_weights from_floats, from_blocks;
    uint64_t state = 4;
    size_t bytes = 0;
    for (int i = 0; i < N * K; i++)
        w[i] = (float)random_in(&state, -1000, 1000) / 1024;
    int good = pwl_quantise(kind->blocks, rule, w, N, K, K, blocks) == PWL_BLOCKS_OK &&
               pwl_qgemm_weights_bytes(kind->format, N, K, &bytes) == PWL_QGEMM_OK;
    from_blocks = pack_new(kind, blocks, N, K);
    good &= pwl_qgemm_pack(pwl_qgemm_of_floats(kind->format, rule, w, N, K), need(bytes), bytes, &from_floats, NULL) ==
            PWL_QGEMM_OK;
    good = good && from_floats.bytes == from_blocks.bytes &&
           memcmp(from_floats.memory, from_blocks.memory, from_blocks.bytes) == 0;
    tap(good, "%s from floats, %s", kind->name, name);
    free_weights(&from_floats);
    free_weights(&from_blocks);
}

/* -- Row exponents --------------------------------------------------------------------------------------------------
 */

/* A row of two blocks of one code throughout. */
static pwl_qgemm_weights pack_two(const struct qgemm_kind *kind, const uint16_t scale[2], const int code[2])
{
    const size_t bytes = pwl_format_bytes(kind->blocks), head = kind->blocks == PWL_MXFP4 ? 1 : 2;
    uint16_t blocks[2 * sizeof(pwl_block_q8_0) / 2];
    for (int i = 0; i < 2; i++) {
        uint8_t *const block = (uint8_t *)blocks + (size_t)i * bytes;
        memset(block, kind->blocks == PWL_Q8_0 ? code[i] : code[i] * 17, bytes);
        if (kind->blocks == PWL_MXFP4)
            block[0] = (uint8_t)scale[i];
        else
            memcpy(block, &scale[i], head);
    }
    return pack_new(kind, blocks, 1, 64);
}

static const struct exponent_case {
    size_t kind;
    uint16_t scale[2];
    int code[2], e;
    const char *name;
} exponent_cases[] = {
    {0, {0x3c00, 0xbc00}, {0, 15}, 0, "Q4_0: scales of 1 and -1"},
    {0, {0x7bff, 0x7bff}, {15, 15}, 3, "Q4_0: 7 * 65504"},
    {0, {0xfbff, 0}, {0, 0}, 3, "Q4_0: -8 * -65504"},
    {0, {0x7bff, 0x0001}, {9, 0}, 0, "Q4_0: 1 * 65504"},
    {0, {0x6fff, 0x8000}, {0, 8}, 0, "Q4_0: -8 * 8188, 65504"},
    {0, {0x7000, 0x3c00}, {0, 8}, 1, "Q4_0: -8 * 8192, 65536"},
    {0, {0x3c00, 0x7bff}, {0, 8}, 0, "Q4_0: zeros of a scale of 65504"},
    {1, {0x7bff, 0x3c00}, {-128, 1}, 7, "Q8_0: -128 * 65504"},
    {1, {0x3c00, 0x7bff}, {1, 127}, 7, "Q8_0: 127 * 65504"},
    {1, {0x6008, 0x0001}, {127, 127}, 1, "Q8_0: 127 * 516"},
    {1, {0x6007, 0x0001}, {127, 127}, 0, "Q8_0: 127 * 515.5"},
    {1, {0x8000, 0x7bff}, {-128, 0}, 0, "Q8_0: zeros"},
    {2, {127, 128}, {7, 15}, 0, "MXFP4: 1 and 2"},
    {2, {127, 129}, {7, 1}, 1, "MXFP4: 1 and 4"},
    {2, {254, 0}, {7, 7}, 126, "MXFP4: 2^127 and 2^-127"},
    {2, {104, 104}, {1, 1}, 0, "MXFP4: 2^-23"},
    {2, {103, 127}, {1, 1}, -1, "MXFP4: 2^-24 and 1"},
    {2, {128, 100}, {1, 1}, 0, "MXFP4: 2 and 2^-27"},
    {2, {0, 0}, {15, 15}, -128, "MXFP4: 2^-127"},
    {2, {127, 254}, {3, 0}, 0, "MXFP4: zeros of a scale of 2^127"},
    {2, {0, 254}, {8, 0}, 0, "MXFP4: zeros alone"},
};

static void test_exponents(void)
{
    for (size_t i = 0; i < sizeof exponent_cases / sizeof exponent_cases[0]; i++) {
        const struct exponent_case *const it = &exponent_cases[i];
        pwl_qgemm_weights weights = pack_two(&qgemm_kinds[it->kind], it->scale, it->code);
        const int e = pwl_qgemm_row_exponent(&weights, 0);
        if (e != it->e)
            printf("# e = %d\n", e);
        tap(e == it->e && weights.row_data == (e != 0), "%s: e = %d", it->name, it->e);
        free_weights(&weights);
    }
}

/* -- Errors ---------------------------------------------------------------------------------------------------------
 */

static void test_bad_scales(const struct qgemm_kind *kind)
{
    enum { N = 3, K = 96, BLOCKS = K / PWL_BLOCK };
    static const uint16_t nan_and_infinities[] = {0x7e01, 0xfc00, 0x7c00};
    uint16_t storage[N * BLOCKS * sizeof(pwl_block_q8_0) / 2];
    uint8_t *const blocks = (uint8_t *)storage;
    uint64_t state = 7;
    size_t bytes;
    int good = pwl_qgemm_weights_bytes(kind->format, N, K, &bytes) == PWL_QGEMM_OK;
    uint8_t *const memory = need(bytes);
    memset(memory, GUARD, bytes);
    for (size_t i = 0; i < N * BLOCKS; i++) {
        pwl_qgemm_weights weights = {NULL, 1, 2, 3, PWL_QGEMM_Q8_0, 4};
        pwl_qgemm_place bad = {99, 99, 0};
        uint8_t *const block = blocks + i * pwl_format_bytes(kind->blocks);
        draw_blocks(kind, blocks, N * BLOCKS, -3, 15, &state);
        if (kind->blocks == PWL_MXFP4)
            block[0] = 255;
        else
            memcpy(block, &nan_and_infinities[i % 3], 2);
        good &= pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, N, K), memory, bytes, &weights, &bad) ==
                PWL_QGEMM_ERR_SCALE;
        good &= bad.row == i / BLOCKS && bad.block == i % BLOCKS;
        good &= pwl_qgemm_pack(pwl_qgemm_of_blocks(kind->format, blocks, N, K), memory, bytes, &weights, NULL) ==
                PWL_QGEMM_ERR_SCALE;
        good &= !weights.memory && weights.n == 1 && weights.bytes == 3 && all_are(memory, bytes, GUARD);
    }
    tap(good, "%s: an infinite scale or a NaN is refused by its place", kind->name);
    free(memory);
}

static void test_bad_floats(void)
{
    enum { N = 3, K = 96 };
    static const float bad_values[] = {NAN, INFINITY, -INFINITY};
    float w[N][K] = {{0}};
    uint8_t memory[128 * 64 * 4] __attribute__((aligned(16)));
    pwl_qgemm_weights weights = {0};
    int good = 1;
    memset(memory, GUARD, sizeof memory);
    for (int format = PWL_QGEMM_Q4_0; format <= PWL_QGEMM_ROWS4; format++) {
        for (int i = 0; i < 3; i++) {
            pwl_qgemm_place bad = {99, 99, 0};
            w[i][40 + i] = bad_values[i];
            good &= pwl_qgemm_pack(pwl_qgemm_of_floats((pwl_qgemm_format)format, PWL_RULE_DEFAULT, w[0], N, K), memory,
                                   sizeof memory, &weights, &bad) == PWL_QGEMM_ERR_SCALE;
            good &= bad.row == (size_t)i && bad.block == 1;
            good &= pwl_qgemm_pack(pwl_qgemm_of_floats((pwl_qgemm_format)format, PWL_RULE_DEFAULT, w[0], N, K), memory,
                                   sizeof memory, &weights, NULL) == PWL_QGEMM_ERR_SCALE;
            w[i][40 + i] = 0;
        }
    }
    w[2][70] = 3e38f; /* a d beyond fp16 */
    good &= pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_Q4_0, PWL_RULE_DEFAULT, w[0], N, K), memory, sizeof memory,
                           &weights, NULL) == PWL_QGEMM_ERR_SCALE;
    good &= !weights.memory && all_are(memory, sizeof memory, GUARD);
    tap(good, "floats that are infinite, NaN or too large for a scale are refused by their block");
}

/* Sources that differ from another in one thing each make no pair with it. */
static void test_unlike_pairs(void)
{
    static const float w[16 * 64];
    static uint8_t memory[1 << 16] __attribute__((aligned(16)));
    const pwl_qgemm_source one = pwl_qgemm_of_floats(PWL_QGEMM_Q4_0, PWL_RULE_DEFAULT, w, 8, 32);
    pwl_qgemm_source others[] = {one, one, one, one, one, one, one, pwl_qgemm_of_pair(one, one)};
    pwl_qgemm_weights weights;
    others[0].format = PWL_QGEMM_Q8_0;
    others[1].from = PWL_QGEMM_FROM_CODES;
    others[2].type = PWL_QGEMM_F16;
    others[3].rule = PWL_RULE_GGML;
    others[4].spread = PWL_QGEMM_SPREAD_ROUNDED;
    others[5].n = 16;
    others[6].k = 64;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        tap(pwl_qgemm_pack(pwl_qgemm_of_pair(one, others[i]), memory, sizeof memory, &weights, NULL) ==
                PWL_QGEMM_ERR_PAIR,
            "a pair of unlike sources, number %zu", i);
}

static void test_errors(void)
{
    enum { BYTES = 8192 + 640 };
    static uint8_t memory[BYTES] __attribute__((aligned(16)));
    static uint8_t blocks[36] __attribute__((aligned(16)));
    static float w[32];
    int8_t q[32] = {0}, n = 0;
    pwl_qgemm_weights weights = {0};
    const pwl_qgemm_weights none = {0};
    size_t bytes = 77;
    const pwl_qgemm_format q4 = PWL_QGEMM_Q4_0, unknown = (pwl_qgemm_format)64;
    memset(memory, GUARD, BYTES);
#define REFUSED(expected, call, name) tap((call) == (expected), "%s", name)
    REFUSED(PWL_QGEMM_ERR_FORMAT, pwl_qgemm_weights_bytes(unknown, 1, 32, &bytes), "size: no format");
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_weights_bytes(q4, 1, 33, &bytes), "size: K of 33");
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_weights_bytes(q4, 1, 0, &bytes), "size: K of 0");
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_weights_bytes(q4, 0, 32, &bytes), "size: N of 0");
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_weights_bytes(q4, SIZE_MAX, 32, &bytes), "size: too many rows");
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_weights_bytes(q4, 1, SIZE_MAX / 32 * 32, &bytes), "size: too long a row");
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_weights_bytes(q4, SIZE_MAX / 4096, 4096, &bytes),
            "size: too large a matrix");
    REFUSED(PWL_QGEMM_ERR_DEPTH, pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS8, 1, 65824, &bytes),
            "size: K of 65824 in int8");
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_weights_bytes(q4, 1, 32, NULL), "size: nowhere to put it");
    tap(bytes == 77, "a size is not written then");
    REFUSED(PWL_QGEMM_OK, pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS8, 1, 65792, &bytes), "size: K of 65792 in int8");

    REFUSED(PWL_QGEMM_ERR_FORMAT,
            pwl_qgemm_pack(pwl_qgemm_of_blocks(unknown, blocks, 1, 32), memory, BYTES, &weights, NULL), "no format");
    REFUSED(PWL_QGEMM_ERR_FORMAT,
            pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_ROWS8, blocks, 1, 32), memory, BYTES, &weights, NULL),
            "int8 rows have no blocks");
    REFUSED(PWL_QGEMM_ERR_FORMAT,
            pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_ROWS4, blocks, 1, 32), memory, BYTES, &weights, NULL),
            "nor have rows of 4 bits");
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_pack(pwl_qgemm_of_blocks(q4, blocks, 1, 40), memory, BYTES, &weights, NULL),
            "K of 40");
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_pack(pwl_qgemm_of_blocks(q4, NULL, 1, 32), memory, BYTES, &weights, NULL),
            "no blocks");
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_pack(pwl_qgemm_of_blocks(q4, blocks, 1, 32), NULL, BYTES, &weights, NULL),
            "no memory");
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_pack(pwl_qgemm_of_blocks(q4, blocks, 1, 32), memory, BYTES, NULL, NULL),
            "no weights");
    REFUSED(PWL_QGEMM_ERR_ALIGN,
            pwl_qgemm_pack(pwl_qgemm_of_blocks(q4, blocks + 1, 1, 32), memory, BYTES, &weights, NULL),
            "blocks at an odd address");
    REFUSED(PWL_QGEMM_ERR_ALIGN,
            pwl_qgemm_pack(pwl_qgemm_of_blocks(q4, blocks, 1, 32), memory + 8, BYTES - 8, &weights, NULL),
            "memory aligned to 8");
    REFUSED(PWL_QGEMM_ERR_SPACE, pwl_qgemm_pack(pwl_qgemm_of_blocks(q4, blocks, 1, 32), memory, 4607, &weights, NULL),
            "a byte too few");

    REFUSED(PWL_QGEMM_ERR_FORMAT,
            pwl_qgemm_pack(pwl_qgemm_of_floats(unknown, PWL_RULE_DEFAULT, w, 1, 32), memory, BYTES, &weights, NULL),
            "floats: no format");
    REFUSED(PWL_QGEMM_ERR_RULE,
            pwl_qgemm_pack(pwl_qgemm_of_floats(q4, (pwl_rule)3, w, 1, 32), memory, BYTES, &weights, NULL),
            "floats: no rule");
    REFUSED(PWL_QGEMM_ERR_RULE,
            pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_MXFP4, PWL_RULE_DOCUMENT, w, 1, 32), memory, BYTES, &weights,
                           NULL),
            "floats: not MXFP4's rule");
    REFUSED(
        PWL_QGEMM_ERR_RULE,
        pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_ROWS8, PWL_RULE_GGML, w, 1, 32), memory, BYTES, &weights, NULL),
        "floats: not int8's rule");
    REFUSED(PWL_QGEMM_ERR_NULL,
            pwl_qgemm_pack(pwl_qgemm_of_floats(q4, PWL_RULE_DEFAULT, NULL, 1, 32), memory, BYTES, &weights, NULL),
            "no floats");
    REFUSED(PWL_QGEMM_ERR_ALIGN,
            pwl_qgemm_pack(pwl_qgemm_of_floats(q4, PWL_RULE_DEFAULT, (float *)(void *)(blocks + 2), 1, 32), memory,
                           BYTES, &weights, NULL),
            "floats at half a float");
    REFUSED(PWL_QGEMM_ERR_DEPTH,
            pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_ROWS8, PWL_RULE_DEFAULT, w, 1, 65824), memory, BYTES, &weights,
                           NULL),
            "int8 rows of 65824");
    pwl_qgemm_source odd = pwl_qgemm_of_floats(q4, PWL_RULE_DEFAULT, w, 1, 32);
    odd.type = PWL_QGEMM_S8;
    REFUSED(PWL_QGEMM_ERR_TYPE, pwl_qgemm_pack(odd, memory, BYTES, &weights, NULL), "floats that are none");
    odd.from = (pwl_qgemm_from)5;
    REFUSED(PWL_QGEMM_ERR_TYPE, pwl_qgemm_pack(odd, memory, BYTES, &weights, NULL), "from nothing that there is");
    odd.from = PWL_QGEMM_FROM_Q4_0;
    REFUSED(PWL_QGEMM_ERR_FORMAT, pwl_qgemm_pack(odd, memory, BYTES, &weights, NULL), "Q4_0's numbers in blocks of it");
    REFUSED(PWL_QGEMM_ERR_NULL,
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, NULL, &n, 1, 32), memory, BYTES, &weights, NULL),
            "no int8 weights");
    REFUSED(PWL_QGEMM_ERR_NULL,
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, NULL, 1, 32), memory, BYTES, &weights, NULL),
            "no shifts");
    REFUSED(PWL_QGEMM_ERR_SHAPE,
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, &n, 1, 31), memory, BYTES, &weights, NULL),
            "int8 rows of 31");
    REFUSED(
        PWL_QGEMM_ERR_RULE,
        pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_ROWS4, PWL_RULE_GGML, w, 1, 32), memory, BYTES, &weights, NULL),
        "floats: not the rule of rows of 4 bits");
    REFUSED(PWL_QGEMM_ERR_DEPTH,
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS4, blocks, &n, 1, 65824), memory, BYTES, &weights, NULL),
            "rows of 4 bits of 65824");
    REFUSED(PWL_QGEMM_ERR_NULL,
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS4, NULL, &n, 1, 32), memory, BYTES, &weights, NULL),
            "no weights of 4 bits");
    REFUSED(PWL_QGEMM_ERR_NULL,
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS4, blocks, NULL, 1, 32), memory, BYTES, &weights, NULL),
            "nor shifts of them");
    REFUSED(PWL_QGEMM_ERR_ALIGN,
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q, &n, 1, 32), memory + 4, BYTES - 4, &weights, NULL),
            "int8 rows in memory aligned to 4");
    tap(all_are(memory, BYTES, GUARD) && memcmp(&weights, &none, sizeof none) == 0, "nothing was written");

    memset(blocks, 0, sizeof blocks);
    REFUSED(PWL_QGEMM_OK, pwl_qgemm_pack(pwl_qgemm_of_blocks(q4, blocks, 1, 32), memory, BYTES, &weights, NULL),
            "weights to unpack");
    pwl_qgemm_weights bad = weights;
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_unpack(NULL, blocks), "unpack: no weights");
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_unpack(&weights, NULL), "unpack: nowhere to put them");
    REFUSED(PWL_QGEMM_ERR_ALIGN, pwl_qgemm_unpack(&weights, blocks + 1), "unpack: blocks at an odd address");
    REFUSED(PWL_QGEMM_ERR_FORMAT, pwl_qgemm_unpack_s8(&weights, q, &n), "unpack: no int8 rows");
    bad.memory = NULL;
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_unpack(&bad, blocks), "unpack: no memory");
    bad = weights;
    bad.format = PWL_QGEMM_Q8_0;
    REFUSED(PWL_QGEMM_ERR_SPACE, pwl_qgemm_unpack(&bad, blocks), "unpack: memory of another format");
    bad.format = PWL_QGEMM_ROWS8;
    bad.bytes = 8192 + 640;
    REFUSED(PWL_QGEMM_ERR_FORMAT, pwl_qgemm_unpack(&bad, blocks), "unpack: int8 rows");
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_unpack_s8(&bad, q, NULL), "unpack: nowhere to put shifts");
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_unpack_s8(NULL, q, &n), "unpack: no int8 weights");
    bad = weights;
    bad.k = 33;
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_unpack(&bad, blocks), "unpack: K of 33");
    bad = weights;
    bad.memory = memory + 2;
    REFUSED(PWL_QGEMM_ERR_ALIGN, pwl_qgemm_unpack(&bad, blocks), "unpack: memory aligned to 2");

    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_quantise_s8(NULL, 1, 32, 32, q, &n), "int8: no floats");
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_quantise_s8(w, 1, 32, 32, NULL, &n), "int8: nowhere to put codes");
    REFUSED(PWL_QGEMM_ERR_NULL, pwl_qgemm_quantise_s8(w, 1, 32, 32, q, NULL), "int8: nowhere to put shifts");
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_quantise_s8(w, 0, 32, 32, q, &n), "int8: no rows");
    REFUSED(PWL_QGEMM_ERR_SHAPE, pwl_qgemm_quantise_s8(w, SIZE_MAX / 64, 32, 32, q, &n), "int8: too many rows");
    REFUSED(PWL_QGEMM_ERR_STRIDE, pwl_qgemm_quantise_s8(w, 1, 32, 31, q, &n), "int8: rows overlap");
    REFUSED(PWL_QGEMM_ERR_ALIGN, pwl_qgemm_quantise_s8((float *)(void *)(blocks + 2), 1, 1, 1, q, &n),
            "int8: floats at half a float");
}

static void test_texts(void)
{
    int distinct = 1;
    for (int a = PWL_QGEMM_OK; a <= PWL_QGEMM_ERR_OVERLAP + 1; a++) {
        for (int b = PWL_QGEMM_OK; b < a; b++)
            distinct &=
                strcmp(pwl_qgemm_status_text((pwl_qgemm_status)a), pwl_qgemm_status_text((pwl_qgemm_status)b)) != 0;
    }
    tap(distinct && strcmp(pwl_qgemm_status_text((pwl_qgemm_status)99), "unknown status") == 0,
        "each status has a text of its own");
    tap(strcmp(pwl_qgemm_status_text((pwl_qgemm_status)(PWL_QGEMM_ERR_CUDA + 2)), "an error of CUDA") == 0,
        "so have CUDA's together");
}

int main(void)
{
    static const char *const rules[] = {"the default rule", "ggml's rule", "the document's rule"};
    test_sizes();
    test_places();
    for (size_t i = 0; i < QGEMM_KINDS; i++) {
        test_round_trip(&qgemm_kinds[i]);
        for (int rule = PWL_RULE_DEFAULT; rule <= (i == 2 ? PWL_RULE_GGML : PWL_RULE_DOCUMENT); rule++)
            test_floats(&qgemm_kinds[i], (pwl_rule)rule, rules[rule]);
        test_bad_scales(&qgemm_kinds[i]);
    }
    test_exponents();
    test_bad_floats();
    test_errors();
    test_unlike_pairs();
    test_texts();
    return tap_end();
}
