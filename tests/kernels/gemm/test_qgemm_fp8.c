/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FP8 and MXFP4_FP8 on the host: packing, which rows are exact and how others are rounded; the words that kernels turn
 * to E4M3; activations; and the reference against plain sums, with its bound against sums in 14 bits, as Hopper's
 * tensor cores add them, on numbers that these like and dislike.
 */
#include <float.h>
#include <math.h>

#include "../tap.h"
#include "fp8_cases.h"
#include "gemm/device/fragment.cuh"
#include "gemm/fp8.h"

enum { N = 130, K = 96, BLOCKS = K / PWL_BLOCK };

static const double e2m1[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

/* -- Packing ------------------------------------------------------------------------------------------------------- */

static double value_of_code(unsigned code)
{
    return code & 8 ? -e2m1[code & 7] : e2m1[code & 7];
}

static double value_in(const pwl_block_mxfp4 *row, size_t c)
{
    return ldexp(value_of_code(row[c / 32].qs[c % 16] >> c % 32 / 16 * 4 & 15), row[c / 32].e - 127);
}

static double largest_in(const pwl_block_mxfp4 *row, size_t k)
{
    double largest = 0;
    for (size_t c = 0; c < k; c++)
        largest = fmax(largest, fabs(value_in(row, c)));
    return largest;
}

/* v in a row of this largest magnitude, as packing rounds it: to multiples of 2^(p - 14), which beyond 2^(p - 13) it
 * is. */
static double rounded(double v, double largest)
{
    const int unit = largest == 0 ? 0 : ilogb(largest) - 14;
    const double at_least = ldexp(nearbyint(ldexp(v, -unit)), unit);
    return fabs(at_least - v) <= 0x1p-15 * largest ? at_least : NAN;
}

/* Whether packed weights have the values of blocks, exactly, or rounded. */
static int agrees(const pwl_qgemm_weights *weights, const pwl_block_mxfp4 *blocks, int is_rounded)
{
    const size_t n = weights->n, k = weights->k;
    uint8_t *const w = need(n * k);
    float *const s = need(n * sizeof *s);
    int good = pwl_qgemm_unpack_e4m3(weights, w, s) == PWL_QGEMM_OK;
    for (size_t i = 0; i < n * k && good; i++) {
        const pwl_block_mxfp4 *const row = blocks + i / k * (k / 32);
        const double v = value_in(row, i % k), largest = largest_in(row, k), scale = (double)s[i / k];
        good = (double)pwl_f32_from_e4m3(w[i]) * scale == (is_rounded ? rounded(v, largest) : v);
        /* The row's largest is 256 or more, but where its scale is the least that there is. */
        good = good && (largest == 0 || scale == 0x1p-126 || floor(largest / scale / 256) == 1);
    }
    free(w);
    free(s);
    return good;
}

static uint8_t memory[1 << 17] __attribute__((aligned(16)));

static pwl_qgemm_status pack(const pwl_block_mxfp4 *blocks, size_t n, size_t k, pwl_qgemm_spread spread,
                             pwl_qgemm_weights *weights, int32_t *apart, pwl_qgemm_place *bad)
{
    pwl_qgemm_source from = pwl_qgemm_of_blocks(PWL_QGEMM_MXFP4_E4M3, blocks, n, k);
    pwl_qgemm_place found = bad ? *bad : (pwl_qgemm_place){0, 0, 0};
    from.spread = spread;
    const pwl_qgemm_status status = pwl_qgemm_pack(from, memory, sizeof memory, weights, &found);
    if (apart)
        *apart = found.apart;
    if (bad)
        *bad = found;
    return status;
}

/* Weights beyond N and K are 0, and so are scales of rows beyond N. */
static int is_padded(const pwl_qgemm_weights *weights)
{
    int good = 1;
    for (size_t r = 0; r < (weights->n + 127) / 128 * 128; r++) {
        for (size_t c = 0; c < (weights->k + 63) / 64 * 64; c++)
            good &= (r < weights->n && c < weights->k) || pwl_qgemm_weight_e4m3(weights, r, c) == 0;
        good &= r < weights->n || pwl_qgemm_row_scale(weights, r) == 0;
    }
    return good;
}

static void test_exact(void)
{
    static pwl_block_mxfp4 blocks[N * BLOCKS];
    uint64_t state = 1;
    int good = 1, padded = 1;
    for (int base = -127; base <= 254 - 127 - 11; base += 7) {
        pwl_qgemm_weights weights;
        int32_t apart;
        draw_fp8_blocks(FP8_ANY, blocks, N, K, base, &state);
        memset(memory, 0xa5, sizeof memory);
        good &= pack(blocks, N, K, PWL_QGEMM_SPREAD_EXACT, &weights, &apart, NULL) == PWL_QGEMM_OK && apart <= 13 &&
                agrees(&weights, blocks, 0) && weights.row_data == 1;
        padded &= is_padded(&weights);
    }
    tap(good, "MXFP4: rows of blocks up to 11 powers of two apart are exact");
    tap(padded, "what is beyond N and K is 0");
}

/* A row of one block with this largest code, and another so far below it. */
static void set_row(pwl_block_mxfp4 row[2], unsigned most, int e, int below)
{
    memset(row, 0, 2 * sizeof *row);
    row[0].e = (uint8_t)e;
    row[0].qs[3] = (uint8_t)(most << 4);
    row[1].e = (uint8_t)(e - below);
    for (unsigned j = 0; j < 16; j++)
        row[1].qs[j] = (uint8_t)(j << 4 | (15 - j));
}

/* *apart is 13 and less where every code is exact: a largest of 2^p over blocks of 2^(p - 13). */
static void test_spread(void)
{
    int exact = 1, told = 1, rounded = 1;
    for (unsigned most = 1; most < 8; most++) {
        const int p = (int)(most / 2) - 1; /* of the largest code */
        for (int below = 0; below < 40; below++) {
            pwl_block_mxfp4 row[4];
            pwl_qgemm_weights weights;
            pwl_qgemm_place bad = {77, 77, 0};
            int32_t apart = -1;
            set_row(row, 7, 100, 0); /* a row that is exact before it */
            set_row(row + 2, most, 200, below);
            const int fits = below + p <= 13;
            const pwl_qgemm_status status = pack(row, 2, 64, PWL_QGEMM_SPREAD_EXACT, &weights, &apart, &bad);
            exact &= fits ? status == PWL_QGEMM_OK && agrees(&weights, row, 0)
                          : status == PWL_QGEMM_ERR_SPREAD && bad.row == 1 && bad.block == 1;
            const int other = below == 0 ? 2 - 0 : below + p; /* of two blocks of one power, codes reach to 6 */
            told &= apart == (other > 2 ? other : 2);
            rounded &= pack(row, 2, 64, PWL_QGEMM_SPREAD_ROUNDED, &weights, NULL, NULL) == PWL_QGEMM_OK &&
                       agrees(&weights, row, 1);
        }
    }
    tap(exact, "MXFP4: rows are refused where a code is not exact, and only there");
    tap(told, "how far apart is told");
    tap(rounded, "MXFP4: rounded to 2^-15 of the row's largest");
}

static void test_extremes(void)
{
    pwl_block_mxfp4 row[2];
    pwl_qgemm_weights weights;
    pwl_qgemm_place bad = {77, 77, 0};
    memset(row, 0, sizeof row);
    tap(pack(row, 1, 64, PWL_QGEMM_SPREAD_EXACT, &weights, NULL, NULL) == PWL_QGEMM_OK && agrees(&weights, row, 0) &&
            pwl_qgemm_row_scale(&weights, 0) == 1,
        "MXFP4: zeros have a scale of 1, whatever their exponents");
    row[1].e = 255;
    tap(pack(row, 1, 64, PWL_QGEMM_SPREAD_ROUNDED, &weights, NULL, &bad) == PWL_QGEMM_ERR_SCALE && bad.row == 0 &&
            bad.block == 1,
        "MXFP4: a scale of NaN is refused");
    int good = 1;
    for (int e = 0; e < 255; e++) {
        set_row(row, 1, e, 0);
        good &= pack(row, 1, 64, PWL_QGEMM_SPREAD_EXACT, &weights, NULL, NULL) == PWL_QGEMM_OK &&
                agrees(&weights, row, 0) && isnormal(pwl_qgemm_row_scale(&weights, 0));
    }
    tap(good, "MXFP4: rows of every exponent");
}

/* Rows of gate and up in turns, 8 of each. */
static void in_turns(void *to, const void *gate, const void *up, size_t row_bytes)
{
    for (size_t row = 0; row < 2 * 16; row++)
        memcpy((uint8_t *)to + row * row_bytes,
               (const uint8_t *)(row / 8 % 2 ? up : gate) + (row / 16 * 8 + row % 8) * row_bytes, row_bytes);
}

static void test_pairs(void)
{
    static pwl_block_mxfp4 blocks[2][16 * 2], all_blocks[32 * 2];
    static uint8_t w[2][16 * 64], all_w[32 * 64], other[1 << 14] __attribute__((aligned(16)));
    static float s[2][16], all_s[32];
    pwl_qgemm_weights pair, one;
    pwl_qgemm_place bad = {77, 77, 0};
    uint64_t state = 9;
    for (int i = 0; i < 2; i++) {
        draw_fp8_blocks(FP8_ANY, blocks[i], 16, 64, -3, &state);
        draw_fp8_w(FP8_ANY, w[i], 16, 64, &state);
        for (size_t row = 0; row < 16; row++)
            s[i][row] = (float)random_in(&state, 1, 1000) / 7;
    }
    in_turns(all_blocks, blocks[0], blocks[1], sizeof *blocks[0] * 2);
    in_turns(all_w, w[0], w[1], 64);
    in_turns(all_s, s[0], s[1], sizeof *all_s);
    tap(pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_blocks(PWL_QGEMM_MXFP4_E4M3, blocks[0], 16, 64),
                                         pwl_qgemm_of_blocks(PWL_QGEMM_MXFP4_E4M3, blocks[1], 16, 64)),
                       memory, sizeof memory, &pair, NULL) == PWL_QGEMM_OK &&
            pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_MXFP4_E4M3, all_blocks, 32, 64), other, sizeof other, &one,
                           NULL) == PWL_QGEMM_OK &&
            pair.n == 32 && pair.bytes == one.bytes && memcmp(memory, other, pair.bytes) == 0,
        "MXFP4: a pair's rows take turns");
    const pwl_qgemm_source rows = pwl_qgemm_of_pair(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, w[0], s[0], 16, 64),
                                                    pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, w[1], s[1], 16, 64));
    tap(pwl_qgemm_pack(rows, memory, sizeof memory, &pair, NULL) == PWL_QGEMM_OK &&
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, all_w, all_s, 32, 64), other, sizeof other, &one,
                           NULL) == PWL_QGEMM_OK &&
            pair.n == 32 && pair.bytes == one.bytes && memcmp(memory, other, pair.bytes) == 0,
        "E4M3: a pair's rows take turns");
    w[1][9 * 64 + 40] = 0x7f;
    tap(pwl_qgemm_pack(rows, memory, sizeof memory, &pair, &bad) == PWL_QGEMM_ERR_SCALE && bad.row == 25 &&
            bad.block == 1,
        "E4M3: rows of up are numbered on from the gate's");
}

static void test_rows(void)
{
    static uint8_t w[N * K], again[N * K];
    static float s[N], s_again[N];
    pwl_qgemm_weights weights;
    pwl_qgemm_place bad;
    uint64_t state = 3;
    draw_fp8_w(FP8_ANY, w, N, K, &state);
    for (size_t i = 0; i < N; i++)
        s[i] = (float)random_in(&state, -1000, 1000) / 7;
    memset(memory, 0xa5, sizeof memory);
    tap(pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, w, s, N, K), memory, sizeof memory, &weights, NULL) ==
                PWL_QGEMM_OK &&
            pwl_qgemm_unpack_e4m3(&weights, again, s_again) == PWL_QGEMM_OK && memcmp(w, again, sizeof w) == 0 &&
            memcmp(s, s_again, sizeof s) == 0 && is_padded(&weights),
        "E4M3: rows come back as they were");
    w[5 * K + 70] = 0xff;
    tap(pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, w, s, N, K), memory, sizeof memory, &weights, &bad) ==
                PWL_QGEMM_ERR_SCALE &&
            bad.row == 5 && bad.block == 2,
        "E4M3: NaN is refused");
    s[4] = INFINITY;
    tap(pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, w, s, N, K), memory, sizeof memory, &weights, &bad) ==
                PWL_QGEMM_ERR_SCALE &&
            bad.row == 4,
        "E4M3: an infinite scale is refused");
}

/* What lanes make of the words of a tile is what unpacking says, all codes at all scales. */
static void test_fragments(void)
{
    static pwl_block_mxfp4 blocks[16 * 2];
    uint64_t state = 4;
    int good = 1;
    for (int turn = 0; turn < 200; turn++) {
        pwl_qgemm_weights weights;
        draw_fp8_blocks(FP8_ANY, blocks, 16, 64, turn % 20, &state);
        if (pack(blocks, 16, 64, PWL_QGEMM_SPREAD_EXACT, &weights, NULL, NULL) != PWL_QGEMM_OK)
            good = 0;
        for (unsigned lane = 0; lane < 32; lane++) {
            const unsigned g = lane / 4, t = lane % 4;
            uint32_t words[4], scales;
            memcpy(words, memory + lane * 16, sizeof words);
            memcpy(&scales, memory + 8 * 512 + g * 4, sizeof scales);
            for (unsigned i = 0; i < 2 * 4 * 4; i++) {
                const unsigned step = i / 16, of = i / 4 % 4, byte = i % 4;
                const pwl_fragment a = pwl_fragment_mxfp4_e4m3(words[step * 2], words[step * 2 + 1], scales, step);
                good &= (a.r[of] >> 8 * byte & 0xff) ==
                        pwl_qgemm_weight_e4m3(&weights, g + of % 2 * 8, step * 32 + of / 2 * 16 + 4 * t + byte);
            }
        }
    }
    tap(good, "MXFP4: operands of the tensor cores out of packed words");
}

/* -- Activations --------------------------------------------------------------------------------------------------- */

static void test_quantise(void)
{
    enum { M = 5, WIDE = 37, STRIDE = 40 };
    float x[M * STRIDE], scale[M];
    uint8_t q[M * WIDE + 1];
    uint64_t state = 5;
    int good = 1;
    for (size_t i = 0; i < M * STRIDE; i++)
        x[i] = i % STRIDE < WIDE ? (float)random_in(&state, -1000, 1000) / 77 : NAN;
    x[3] = 14;
    x[STRIDE + 7] = NAN;
    x[STRIDE + 8] = -INFINITY;
    for (size_t c = 0; c < WIDE; c++)
        x[2 * STRIDE + c] = 0;
    x[3 * STRIDE] = FLT_MAX;
    q[M * WIDE] = 0xa5;
    good = pwl_qgemm_quantise_e4m3(x, M, WIDE, STRIDE, q, scale) == PWL_QGEMM_OK && q[M * WIDE] == 0xa5;
    for (size_t i = 0; i < M * WIDE && good; i++) {
        const float v = x[i / WIDE * STRIDE + i % WIDE];
        const double got = (double)pwl_f32_from_e4m3(q[i]) * (double)scale[i / WIDE];
        if (isfinite(v)) /* half a step of 2^-3, or of 2^-9 of the scale; and two roundings of floats */
            good = fabs(got - (double)v) <= (0x1p-4 + 0x1p-22) * fabs((double)v) + 0x1p-10 * (double)scale[i / WIDE];
    }
    tap(good, "E4M3 of floats is as near as its steps are");
    tap(scale[0] == 14.0f / 448 && q[3] == 0x7e, "the largest has the code of 448");
    tap(q[WIDE + 7] == 0x7f && q[WIDE + 8] == 0xfe && isfinite(scale[1]), "NaN, an infinity");
    tap(scale[2] == 0x1p-126f && q[2 * WIDE] == 0, "a row of zeros");
    tap(scale[3] == FLT_MAX / 448 && q[3 * WIDE] == 0x7e, "the largest float");
    tap(pwl_qgemm_quantise_e4m3(x, M, STRIDE, WIDE, q, scale) == PWL_QGEMM_ERR_STRIDE &&
            pwl_qgemm_quantise_e4m3(NULL, M, WIDE, STRIDE, q, scale) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_quantise_e4m3(x, 0, WIDE, STRIDE, q, scale) == PWL_QGEMM_ERR_SHAPE,
        "E4M3 of floats: errors");
}

/* -- Products ------------------------------------------------------------------------------------------------------ */

/* A product, and its numbers once more. */
struct problem {
    pwl_qgemm_product product;
    pwl_qgemm_weights weights;
    size_t m, n, k;
    uint8_t *x, *w;
    float *t, *s, *bias, *y;
    double *value, *bound;
};

static struct problem new_problem(pwl_qgemm_scheme scheme, enum fp8_kind kind, size_t m, size_t n, size_t k,
                                  uint64_t *state)
{
    struct problem p = {.m = m, .n = n, .k = k};
    p.x = need(m * k);
    p.w = need(n * k);
    p.t = need(m * 4);
    p.s = need(n * 4);
    p.bias = need(n * 4);
    p.y = need(m * n * 4);
    p.value = need(m * n * 8);
    p.bound = need(m * n * 8);
    draw_fp8_x(kind, p.x, m, k, state);
    for (size_t i = 0; i < m; i++)
        p.t[i] = (float)random_in(state, 1, 1000) / 512;
    for (size_t i = 0; i < n; i++)
        p.bias[i] = (float)random_in(state, -1000, 1000);
    p.weights =
        new_fp8_weights(scheme == PWL_QGEMM_FP8 ? PWL_QGEMM_ROWS_E4M3 : PWL_QGEMM_MXFP4_E4M3, kind, n, k, state);
    if (pwl_qgemm_unpack_e4m3(&p.weights, p.w, p.s) != PWL_QGEMM_OK)
        abort();
    p.product = (pwl_qgemm_product){.scheme = scheme, .m = m, .bias = p.bias};
    p.product.x = (pwl_qgemm_input){p.x, k, PWL_QGEMM_E4M3, 0, NULL, p.t};
    p.product.y = (pwl_qgemm_output){p.y, n, PWL_QGEMM_F32, 0, 0, NULL, 0};
    return p;
}

static void free_problem(struct problem *p)
{
    void *const all[] = {p->x, p->w, p->t, p->s, p->bias, p->y, p->value, p->bound};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    free((void *)(uintptr_t)p->weights.memory);
}

static double power_of(double v)
{
    return v == 0 ? -1000 : ilogb(v);
}

/* v towards 0, to multiples of 2^unit. */
static double cut(double v, int unit)
{
    return ldexp(trunc(ldexp(v, -unit)), unit);
}

/* 32 products and a sum, as tensor cores add them. */
static double add_in_14_bits(double sum, const uint8_t *x, const uint8_t *w)
{
    double most = power_of(sum), all;
    for (size_t k = 0; k < PWL_BLOCK; k++) {
        const double a = fmax(fabs((double)pwl_f32_from_e4m3(x[k])), 0x1p-6);
        const double b = fmax(fabs((double)pwl_f32_from_e4m3(w[k])), 0x1p-6);
        most = fmax(most, power_of(a) + power_of(b));
    }
    all = cut(sum, (int)most - 13);
    for (size_t k = 0; k < PWL_BLOCK; k++)
        all += cut((double)pwl_f32_from_e4m3(x[k]) * (double)pwl_f32_from_e4m3(w[k]), (int)most - 13);
    return all == 0 ? 0 : cut(all, ilogb(all) - 13);
}

/* y as a kernel makes it that adds `run` blocks in 14 bits, and has K in so many parts. */
static double y_in_14_bits(const struct problem *p, size_t m, size_t n, size_t run, size_t parts)
{
    const size_t blocks = p->k / PWL_BLOCK;
    float total = 0;
    for (size_t part = 0; part < parts; part++) {
        const size_t end = blocks * (part + 1) / parts;
        float of_part = 0;
        for (size_t first = blocks * part / parts; first < end; first += run) {
            double sum = 0;
            for (size_t b = first; b < end && b < first + run; b++)
                sum = add_in_14_bits(sum, p->x + m * p->k + b * 32, p->w + n * p->k + b * 32);
            of_part += (float)sum;
        }
        total += of_part;
    }
    return total * p->s[n] * p->t[m] + p->bias[n];
}

static void test_products(pwl_qgemm_scheme scheme, enum fp8_kind kind)
{
    static const size_t runs[] = {
        [PWL_QGEMM_SUMS_EXACT] = SIZE_MAX / 2, [PWL_QGEMM_SUMS_OF_512] = 16, [PWL_QGEMM_SUMS_OF_128] = 4};
    static const size_t depths[] = {32, 96, 512, 1056, 4096};
    uint64_t state = 6 + kind;
    int right = 1, within = 1;
    double furthest = 0;
    for (size_t i = 0; i < 5 * 3; i++) {
        const pwl_qgemm_sums sums = i % 3 == 0 ? PWL_QGEMM_SUMS_EXACT : (pwl_qgemm_sums)(i % 3 + 1);
        struct problem p = new_problem(scheme, kind, 3, 18, depths[i / 3], &state);
        p.product.weights = &p.weights;
        p.product.sums = sums;
        if (pwl_qgemm_bound(&p.product, 0, p.value, p.bound) != PWL_QGEMM_OK ||
            pwl_qgemm_reference(&p.product) != PWL_QGEMM_OK)
            right = 0;
        for (size_t at = 0; at < p.m * p.n && right; at++) {
            const size_t m = at / p.n, n = at % p.n;
            double sum = 0;
            for (size_t k = 0; k < p.k; k++)
                sum += (double)pwl_f32_from_e4m3(p.x[m * p.k + k]) * (double)pwl_f32_from_e4m3(p.w[n * p.k + k]);
            right &= p.value[at] == sum * ((double)p.s[n] * (double)p.t[m]) + (double)p.bias[n] &&
                     p.y[at] == (float)p.value[at];
            for (size_t parts = 1; parts <= 2; parts++) {
                const double off = fabs(y_in_14_bits(&p, m, n, runs[sums], parts) - p.value[at]);
                within &= off <= p.bound[at];
                furthest = fmax(furthest, off / p.bound[at]);
            }
            if (kind == FP8_EXACT) /* nothing but s, t and bias, and what all kernels may lose at most */
                within &= fabs(y_in_14_bits(&p, m, n, runs[sums], 1) - p.value[at]) <=
                          4 * 0x1p-24 * (fabs(p.value[at] - (double)p.bias[n]) + fabs((double)p.bias[n]));
        }
        free_problem(&p);
    }
    const char *const name = scheme == PWL_QGEMM_FP8 ? "FP8" : "MXFP4 x FP8";
    tap(right, "%s, %s: the reference is the formula", name, fp8_kind_names[kind]);
    tap(within, "%s, %s: sums in 14 bits are within the bound, at most at %.2f", name, fp8_kind_names[kind], furthest);
}

/* X of floats is what quantising makes of it; NaN stays in its row. */
static void test_floats(void)
{
    uint64_t state = 9;
    struct problem p = new_problem(PWL_QGEMM_MXFP4_FP8, FP8_ANY, 4, 20, 160, &state);
    float *const x = need(p.m * p.k * 4), *const y = need(p.m * p.n * 4);
    int good = 1;
    p.product.weights = &p.weights;
    for (size_t i = 0; i < p.m * p.k; i++)
        x[i] = (float)random_in(&state, -1000, 1000) / 3;
    x[p.k + 5] = NAN;
    good &= pwl_qgemm_quantise_e4m3(x, p.m, p.k, p.k, p.x, p.t) == PWL_QGEMM_OK &&
            pwl_qgemm_reference(&p.product) == PWL_QGEMM_OK;
    memcpy(y, p.y, p.m * p.n * 4);
    p.product.x = (pwl_qgemm_input){x, p.k, PWL_QGEMM_F32, 0, NULL, NULL};
    good &= pwl_qgemm_reference(&p.product) == PWL_QGEMM_OK;
    for (size_t i = 0; i < p.m * p.n; i++)
        good &= i / p.n == 1 ? isnan(y[i]) && isnan(p.y[i]) : y[i] == p.y[i];
    tap(good, "X of floats is multiplied as it is quantised");
    free(x);
    free(y);
    free_problem(&p);
}

/* Y in E4M3 is the code of what is stored in F32; dynamic, what quantising makes of that. Two products chain. */
static void test_e4m3(void)
{
    enum { M = 5, FIRST = 64, SECOND = 20, GAP = 3 };
    static uint8_t codes[M * (FIRST + GAP)], made[M * FIRST];
    static float scale[M], made_scale[M], chained[M * SECOND];
    uint64_t state = 11;
    struct problem p = new_problem(PWL_QGEMM_FP8, FP8_ANY, M, FIRST, 96, &state);
    struct problem next = new_problem(PWL_QGEMM_FP8, FP8_ANY, M, SECOND, FIRST, &state);
    int given = 1, dynamic = 1;
    p.product.weights = &p.weights;
    next.product.weights = &next.weights;
    p.t[1] = 0x1p-140f; /* the scale is the least that there is, with biases of 0 */
    p.t[2] = 0x1p127f;  /* infinities */
    p.x[3 * 96] = 0x7f;
    memset(p.bias, 0, FIRST * sizeof *p.bias);
    memset(p.y, 0, M * FIRST * sizeof *p.y);
    given &= pwl_qgemm_reference(&p.product) == PWL_QGEMM_OK;
    for (size_t m = 0; m < M; m++)
        scale[m] = (float)random_in(&state, 1, 4000);
    memset(codes, 0xa5, sizeof codes);
    p.product.y = (pwl_qgemm_output){codes, FIRST + GAP, PWL_QGEMM_E4M3, 0, 0, scale, 0};
    given &= pwl_qgemm_reference(&p.product) == PWL_QGEMM_OK;
    for (size_t i = 0; i < sizeof codes; i++) {
        const size_t m = i / (FIRST + GAP), n = i % (FIRST + GAP);
        given &= codes[i] == (n < FIRST ? pwl_e4m3_from_f32(p.y[m * FIRST + n] * (1 / scale[m])) : 0xa5);
    }
    tap(given && codes[3 * (FIRST + GAP)] == 0x7f && (codes[2 * (FIRST + GAP)] & 0x7f) == 0x7e,
        "Y in E4M3 by given scales, of NaN and infinities too");
    p.product.y.dynamic = 1;
    dynamic &= pwl_qgemm_reference(&p.product) == PWL_QGEMM_OK &&
               pwl_qgemm_quantise_e4m3(p.y, M, FIRST, FIRST, made, made_scale) == PWL_QGEMM_OK &&
               memcmp(scale, made_scale, sizeof scale) == 0;
    for (size_t m = 0; m < M; m++)
        dynamic &= memcmp(codes + m * (FIRST + GAP), made + m * FIRST, FIRST) == 0;
    tap(dynamic && scale[1] == 0x1p-126f, "Y in E4M3 by dynamic scales is Y in F32, quantised");
    next.product.x = (pwl_qgemm_input){codes, FIRST + GAP, PWL_QGEMM_E4M3, 0, NULL, scale};
    dynamic = pwl_qgemm_reference(&next.product) == PWL_QGEMM_OK;
    memcpy(chained, next.y, sizeof chained);
    next.product.x = (pwl_qgemm_input){p.y, FIRST, PWL_QGEMM_F32, 0, NULL, NULL};
    dynamic &= pwl_qgemm_reference(&next.product) == PWL_QGEMM_OK;
    for (size_t i = 0; i < M * SECOND; i++)
        dynamic &= isnan(chained[i]) ? isnan(next.y[i]) : chained[i] == next.y[i];
    tap(dynamic && isnan(chained[3 * SECOND]) && !isnan(chained[4 * SECOND]), "it is the next product's X");
    free_problem(&p);
    free_problem(&next);
}

static void test_errors(void)
{
    uint64_t state = 10;
    struct problem p = new_problem(PWL_QGEMM_FP8, FP8_ANY, 2, 16, 32, &state);
    const pwl_qgemm_product good = p.product;
    pwl_qgemm_product product;
    pwl_qgemm_weights weights;
    p.product.weights = &p.weights;
#define REFUSED(change, expected, name)                                                                                \
    product = good;                                                                                                    \
    product.weights = &p.weights;                                                                                      \
    change;                                                                                                            \
    tap(pwl_qgemm_check(&product) == (expected), "%s", name)
    REFUSED((void)0, PWL_QGEMM_OK, "a good product");
    REFUSED(product.x.scale = NULL, PWL_QGEMM_ERR_NULL, "no scales");
    REFUSED(product.x.scale = (const float *)(const void *)((const char *)p.t + 1), PWL_QGEMM_ERR_ALIGN,
            "scales are not aligned");
    REFUSED(product.x.type = PWL_QGEMM_S8, PWL_QGEMM_ERR_TYPE, "X of int8");
#define E4M3(change, expected, name)                                                                                   \
    REFUSED((product.y.type = PWL_QGEMM_E4M3, product.y.scale = (float *)p.value, change), expected, name)
    E4M3((void)0, PWL_QGEMM_OK, "Y of E4M3");
    E4M3(product.y.scale = NULL, PWL_QGEMM_ERR_NULL, "Y of E4M3 without scales");
    E4M3(product.y.scale = (float *)((char *)p.value + 2), PWL_QGEMM_ERR_ALIGN, "scales of Y are not aligned");
    E4M3(product.y.scale = (float *)p.y + 7, PWL_QGEMM_ERR_OVERLAP, "Y over its scales");
    E4M3(product.y.scale = p.t, PWL_QGEMM_OK, "scales of Y that are those of X");
    E4M3((product.y.scale = p.t, product.y.dynamic = 1), PWL_QGEMM_ERR_OVERLAP, "such that would be written");
    E4M3((product.y.scale = p.bias, product.y.dynamic = 1), PWL_QGEMM_ERR_OVERLAP, "dynamic scales over the bias");
    E4M3(product.y.type = (pwl_qgemm_type)(PWL_QGEMM_E4M3 + 1), PWL_QGEMM_ERR_TYPE, "Y of no type");
    REFUSED(product.scheme = PWL_QGEMM_MXFP4_FP8, PWL_QGEMM_ERR_SCHEME, "weights of the other scheme");
    REFUSED(product.sums = PWL_QGEMM_SUMS_STORED, PWL_QGEMM_ERR_SCHEME, "stored sums");
    REFUSED(product.y.data = p.t, PWL_QGEMM_ERR_OVERLAP, "Y over the scales");
    tap(pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, p.w, p.s, 16, 33), memory, sizeof memory, &weights,
                       NULL) == PWL_QGEMM_ERR_SHAPE &&
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, p.w, p.s, 16, 32), memory, 100, &weights, NULL) ==
                PWL_QGEMM_ERR_SPACE &&
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, p.w, p.s, 16, 32), memory + 1, sizeof memory - 1,
                           &weights, NULL) == PWL_QGEMM_ERR_ALIGN &&
            pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, NULL, p.s, 16, 32), memory, sizeof memory, &weights,
                           NULL) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_ROWS_E4M3, PWL_RULE_DEFAULT, p.s, 1, 32), memory,
                           sizeof memory, &weights, NULL) == PWL_QGEMM_ERR_FORMAT,
        "packing: errors");
    free_problem(&p);
}

int main(void)
{
    test_exact();
    test_spread();
    test_extremes();
    test_rows();
    test_pairs();
    test_fragments();
    test_quantise();
    for (int kind = 0; kind < FP8_KINDS; kind++) {
        test_products(PWL_QGEMM_FP8, (enum fp8_kind)kind);
        test_products(PWL_QGEMM_MXFP4_FP8, (enum fp8_kind)kind);
    }
    test_floats();
    test_e4m3();
    test_errors();
    return tap_end();
}
