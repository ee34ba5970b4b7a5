/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference of products with floats against plain sums over dequantised blocks, and its bound against sums in fp32
 * in several orders, truncated as tensor cores do.
 */
#include <float.h>

#include "../tap.h"
#include "cases.h"
#include "gemm/layout.h"
#include "gemm/store.h"

enum { MOST_M = 80, MOST_N = 130, MOST_K = 192, GAP = 3 };

/* A product, and its operands once more in the plainest form. */
struct problem {
    pwl_qgemm_product product;
    pwl_qgemm_weights weights;
    size_t n, k;
    float w[MOST_N][MOST_K], x[MOST_M][MOST_K], bias[MOST_N];
    pwl_block_q8_1 q[MOST_M][MOST_K / PWL_BLOCK];
    pwl_block_q4_0 q4[MOST_N][MOST_K / PWL_BLOCK];
    int e[MOST_N], f[MOST_M], h[MOST_M]; /* h: f of W4A8 and W8A8 in halves */
    uint8_t x_memory[MOST_M * (MOST_K + GAP) * 4], y_memory[MOST_M * (MOST_N + GAP) * 4];
};

static struct problem p;
static double value[MOST_M * MOST_N], bound[MOST_M * MOST_N];

static const struct scheme {
    const char *name;
    size_t kind;
    int a8;
} schemes[] = {{"W4A16", 0, 0}, {"W8A16", 1, 0}, {"MXFP4 x A16", 2, 0}, {"W4A8", 0, 1}, {"W8A8", 1, 1}};
static const char *const types[] = {"fp32", "fp16", "bf16", "Q8_1"};

/* v to `digits` bits, none below 2^least, infinite beyond `most`. */
static double rounded(double v, int digits, int least, double most)
{
    int exponent;
    if (!isfinite(v) || v == 0)
        return v;
    (void)frexp(v, &exponent);
    const int quantum = exponent - digits > least ? exponent - digits : least;
    v = ldexp(nearbyint(ldexp(v, -quantum)), quantum);
    return fabs(v) > most ? copysign(INFINITY, v) : v;
}

static double to_type(pwl_qgemm_type type, double v)
{
    if (type == PWL_QGEMM_F16)
        return rounded(v, 11, -24, 65504);
    return type == PWL_QGEMM_BF16 ? rounded(v, 8, -133, 0x1.fep127) : rounded(v, 24, -149, FLT_MAX);
}

static double get(pwl_qgemm_type type, const void *data, size_t at)
{
    if (type == PWL_QGEMM_F32)
        return ((const float *)data)[at];
    const uint16_t half = ((const uint16_t *)data)[at];
    return type == PWL_QGEMM_F16 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
}

static size_t bytes_of(pwl_qgemm_type type)
{
    return type == PWL_QGEMM_F32 ? 4 : type == PWL_QGEMM_BLOCKS_Q8_1 ? sizeof(pwl_block_q8_1) : 2;
}

/* X of the problem from p.x, which takes on what the type makes of it. */
static void store_x(size_t m, pwl_qgemm_type type, pwl_rule rule)
{
    const size_t stride = p.product.x.stride;
    memset(p.x_memory, 0x7f, sizeof p.x_memory); /* NaN between the rows */
    for (size_t i = 0; i < m; i++) {
        for (size_t c = 0; c < p.k && type != PWL_QGEMM_BLOCKS_Q8_1; c++) {
            const uint16_t half = type == PWL_QGEMM_F16 ? pwl_f16_from_f32(p.x[i][c]) : pwl_bf16_from_f32(p.x[i][c]);
            if (type == PWL_QGEMM_F32) {
                ((float *)p.x_memory)[i * stride + c] = p.x[i][c];
                continue;
            }
            ((uint16_t *)p.x_memory)[i * stride + c] = half;
            p.x[i][c] = type == PWL_QGEMM_F16 ? pwl_f32_from_f16(half) : pwl_f32_from_bf16(half);
        }
        if (pwl_quantise(PWL_Q8_1, rule, p.x[i], 1, p.k, p.k, p.q[i]) != PWL_BLOCKS_OK)
            abort();
        if (type == PWL_QGEMM_BLOCKS_Q8_1)
            memcpy(p.x_memory + i * stride * sizeof **p.q, p.q[i], p.k / PWL_BLOCK * sizeof **p.q);
        /* floor(log2 amax) - 14 */
        double amax = 0;
        int exponent = 0;
        for (size_t c = 0; c < p.k; c++)
            amax = isfinite(p.x[i][c]) ? fmax(amax, fabs((double)p.x[i][c])) : amax;
        (void)frexp(amax, &exponent);
        p.f[i] = type == PWL_QGEMM_F32 && amax > 0 ? exponent - 15 : 0;
        p.f[i] = p.f[i] < -126 ? -126 : p.f[i];
        /* The least that makes 128 d an fp16 number. */
        amax = 0;
        for (size_t b = 0; b < p.k / PWL_BLOCK; b++) {
            const double d = fabs((double)pwl_f32_from_f16(p.q[i][b].d));
            amax = isfinite(d) ? fmax(amax, d) : amax;
        }
        for (p.h[i] = 0; ldexp(128 * amax, -p.h[i]) > 65504; p.h[i]++)
            ;
    }
}

/* Operands at random; high is the largest exponent of a block's scale. */
static void draw(const struct scheme *scheme, size_t m, size_t n, size_t k, pwl_qgemm_type x, pwl_qgemm_type y,
                 pwl_qgemm_sums sums, int biased, int high, uint64_t *state)
{
    const struct qgemm_kind *const kind = &qgemm_kinds[scheme->kind];
    uint8_t *const blocks = need(blocks_bytes(kind, n, k));
    const int exponent = (int)random_in(state, -8, 8);
    memset(&p, 0, sizeof p);
    p.n = n;
    p.k = k;
    draw_blocks(kind, blocks, n * k / PWL_BLOCK, high - 8, high, state);
    p.weights = pack_new(kind, blocks, n, k);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *const row = blocks + i * (k / PWL_BLOCK) * pwl_format_bytes(kind->blocks);
        if (pwl_dequantise(kind->blocks, row, 1, k, k, p.w[i]) != PWL_BLOCKS_OK)
            abort();
        if (kind->blocks == PWL_Q4_0)
            memcpy(p.q4[i], row, k / PWL_BLOCK * sizeof **p.q4);
        p.e[i] = pwl_qgemm_row_exponent(&p.weights, i);
        p.bias[i] = (float)ldexp((double)random_in(state, -1000, 1000), exponent);
    }
    for (size_t i = 0; i < m * MOST_K; i++)
        p.x[i / MOST_K][i % MOST_K] = (float)ldexp((double)random_in(state, -(1 << 20), 1 << 20), exponent - 20);
    p.product =
        (pwl_qgemm_product){(pwl_qgemm_scheme)(scheme - schemes),
                            sums,
                            m,
                            &p.weights,
                            {p.x_memory, (x == PWL_QGEMM_BLOCKS_Q8_1 ? k / PWL_BLOCK : k) + GAP, x, 0, NULL, NULL},
                            biased ? p.bias : NULL,
                            {p.y_memory, n + GAP, y, 0, 0, NULL, 0},
                            NULL};
    store_x(m, x, sums == PWL_QGEMM_SUMS_STORED ? PWL_RULE_DOCUMENT : PWL_RULE_DEFAULT);
    memset(p.y_memory, 0xa5, sizeof p.y_memory);
    free(blocks);
}

/* The addends of an element of Y, K or K / 32 of them, with what they are all multiplied by taken out. */
static size_t addends(const struct scheme *scheme, size_t m, size_t n, double to[MOST_K])
{
    const pwl_qgemm_type half = p.product.x.type == PWL_QGEMM_BF16 ? PWL_QGEMM_BF16 : PWL_QGEMM_F16;
    for (size_t c = 0; c < p.k && !scheme->a8; c++) {
        const double x = (double)p.x[m][c];
        to[c] = to_type(half, ldexp((double)p.w[n][c], -p.e[n])) *
                (p.product.x.type == PWL_QGEMM_F32 ? to_type(PWL_QGEMM_F16, ldexp(x, -p.f[m])) : x);
    }
    for (size_t b = 0; b < p.k / PWL_BLOCK && scheme->a8; b++) {
        const pwl_block_q8_1 *const q = &p.q[m][b];
        const double d = pwl_f32_from_f16(q->d);
        double sum = 0;
        int32_t raw = 0;
        for (size_t j = 0; j < PWL_BLOCK; j++) {
            sum += (double)p.w[n][b * PWL_BLOCK + j] * d * q->qs[j];
            raw += q->qs[j] * (p.q4[n][b].qs[j % 16] >> j / 16 * 4 & 15);
        }
        if (p.product.sums == PWL_QGEMM_SUMS_STORED)
            sum = pwl_f32_from_f16(p.q4[n][b].d) * (d * raw - 8 * (double)pwl_f32_from_f16(q->s));
        to[b] = sum;
    }
    return scheme->a8 ? p.k / PWL_BLOCK : p.k;
}

static int exponent_of(const struct scheme *scheme, size_t m, size_t n)
{
    return scheme->a8 ? 0 : p.e[n] + p.f[m];
}

/* -- Against plain sums ---------------------------------------------------------------------------------------------
 */

/* Rounding is monotone: `got` is between the ends of exact +- off, rounded. */
static int is_between(pwl_qgemm_type type, double got, double exact, double off)
{
    if (isnan(exact) || isinf(exact))
        return isnan(exact) ? isnan(got) : got == exact;
    return to_type(type, exact - off) <= got && got <= to_type(type, exact + off);
}

static int agrees(const struct scheme *scheme)
{
    const pwl_qgemm_output *const y = &p.product.y;
    int good = pwl_qgemm_reference(&p.product) == PWL_QGEMM_OK;
    for (size_t m = 0; m < p.product.m && good; m++) {
        for (size_t n = 0; n < p.n && good; n++) {
            double terms[MOST_K], sum = 0, magnitude = 0;
            const size_t count = addends(scheme, m, n, terms);
            for (size_t i = 0; i < count; i++) {
                sum += terms[i];
                magnitude += fabs(terms[i]);
            }
            const double bias = p.product.bias ? p.bias[n] : 0, scale = ldexp(1, exponent_of(scheme, m, n));
            /* Two sums in double of at most K + 32 addends, the sums within blocks of W4A8 being exact. */
            const double off = 2 * (double)(p.k + 32) * 0x1p-53 * (magnitude * scale + fabs(bias));
            const double got = get(y->type, y->data, m * y->stride + n);
            good = is_between(y->type, got, sum * scale + bias, off);
            if (!good)
                printf("# row %zu, column %zu: %a, not %a\n", m, n, got, sum * scale + bias);
        }
        for (size_t i = p.n * bytes_of(y->type); i < y->stride * bytes_of(y->type) && m < p.product.m; i++)
            good &= p.y_memory[m * y->stride * bytes_of(y->type) + i] == 0xa5;
    }
    return good;
}

static void test_reference(const struct scheme *scheme)
{
    static const size_t shapes[][3] = {{1, 1, 32}, {3, 19, 96}, {17, 130, 64}, {65, 33, 160}};
    uint64_t state = 11;
    for (int x = PWL_QGEMM_F32; x <= (scheme->a8 ? PWL_QGEMM_BLOCKS_Q8_1 : PWL_QGEMM_BF16); x++) {
        int good = 1;
        for (int y = PWL_QGEMM_F32; y <= PWL_QGEMM_BF16; y++) {
            for (size_t i = 0; i < 4; i++) {
                draw(scheme, shapes[i][0], shapes[i][1], shapes[i][2], (pwl_qgemm_type)x, (pwl_qgemm_type)y,
                     PWL_QGEMM_SUMS_EXACT, i % 2 == 1, i == 3 ? 15 : -4, &state);
                good &= agrees(scheme);
                free_weights(&p.weights);
            }
        }
        tap(good, "%s of %s", scheme->name, types[x]);
    }
}

static void test_stored_sums(void)
{
    uint64_t state = 12;
    int good = 1;
    for (int x = PWL_QGEMM_F32; x <= PWL_QGEMM_BLOCKS_Q8_1; x++) {
        draw(&schemes[3], 5, 20, 96, (pwl_qgemm_type)x, PWL_QGEMM_F32, PWL_QGEMM_SUMS_STORED, 1, -4, &state);
        good &= agrees(&schemes[3]);
        free_weights(&p.weights);
    }
    tap(good, "W4A8 by the stored sums");
}

/* A row of X with something that is not finite, then rows of every magnitude. */
static void test_rows(const struct scheme *scheme)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    uint64_t state = 13;
    int good = 1, finite = 1;
    for (size_t i = 0; i < 3; i++) {
        draw(scheme, 4, 20, 64, PWL_QGEMM_F32, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, -4, &state);
        p.x[2][i * 31] = odd[i];
        store_x(4, PWL_QGEMM_F32, PWL_RULE_DEFAULT);
        good &= agrees(scheme);
        for (size_t m = 0; m < 4; m++) {
            for (size_t n = 0; n < p.n; n++)
                good &= (isfinite(((float *)p.y_memory)[m * p.product.y.stride + n]) != 0) == (m != 2);
        }
        free_weights(&p.weights);
    }
    tap(good, "%s: what is not finite stays in its row", scheme->name);
    if (scheme->a8)
        return;
    draw(scheme, 30, 5, 64, PWL_QGEMM_F32, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, -4, &state);
    for (int m = 0; m < 30; m++) {
        for (size_t c = 0; c < p.k; c++)
            p.x[m][c] = ldexpf(p.x[m][c], m == 29 ? -400 : m * 9 - 148);
    }
    store_x(30, PWL_QGEMM_F32, PWL_RULE_DEFAULT);
    good = agrees(scheme);
    for (size_t i = 0; i < 30; i++)
        finite &= isfinite(((float *)p.y_memory)[i * p.product.y.stride]) != 0;
    tap(good && finite, "%s: fp32 of every magnitude", scheme->name);
    free_weights(&p.weights);
}

/* -- The bound ------------------------------------------------------------------------------------------------------
 */

/* v without what lies below 2^quantum. */
static double cut(double v, int quantum)
{
    return ldexp(trunc(ldexp(v, -quantum)), quantum);
}

static int exponent(double v)
{
    int e = -1000;
    if (v != 0)
        (void)frexp(v, &e);
    return e;
}

/* As a tensor core: 16 addends and the sum are cut at 24 bits of the largest of them, added, and cut again. */
static double add_cut(double sum, const double *terms, size_t count)
{
    for (size_t i = 0; i < count; i += 16) {
        int most = exponent(sum);
        double next;
        for (size_t j = i; j < i + 16 && j < count; j++)
            most = exponent(terms[j]) > most ? exponent(terms[j]) : most;
        next = cut(sum, most - 24);
        for (size_t j = i; j < i + 16 && j < count; j++)
            next += cut(terms[j], most - 24);
        sum = cut(next, exponent(next) - 24);
    }
    return sum;
}

enum way { IN_ORDER, BACKWARDS, ONE_BY_ONE_CUT, TENSOR, TENSOR_SPLIT, WAYS };

static double added(enum way way, const double *terms, size_t count)
{
    float sum = 0;
    double cut_sum = 0;
    switch (way) {
    case IN_ORDER:
        for (size_t i = 0; i < count; i++)
            sum += (float)terms[i];
        return sum;
    case BACKWARDS:
        for (size_t i = count; i > 0; i--)
            sum += (float)terms[i - 1];
        return sum;
    case ONE_BY_ONE_CUT:
        for (size_t i = 0; i < count; i++)
            cut_sum = add_cut(cut_sum, terms + i, 1);
        return cut_sum;
    case TENSOR:
        return add_cut(0, terms, count);
    default: /* a part for every two tensor operations */
        for (size_t i = 0; i < count; i += 32)
            sum += (float)add_cut(0, terms + i, count - i < 32 ? count - i : 32);
        return sum;
    }
}

/* The products of codes whose values were rounded to fp16, over 2^e and 2^f. */
static size_t rounded_products(size_t m, size_t n, double to[MOST_K])
{
    for (size_t c = 0; c < p.k; c++) {
        const pwl_block_q8_1 *const q = &p.q[m][c / PWL_BLOCK];
        const double x = (double)pwl_f32_from_f16(q->d) * q->qs[c % PWL_BLOCK];
        to[c] = to_type(PWL_QGEMM_F16, ldexp((double)p.w[n][c], -p.e[n])) * to_type(PWL_QGEMM_F16, ldexp(x, -p.h[m]));
    }
    return p.k;
}

/* The formula of the header, from the addends. */
static double bound_of(const struct scheme *scheme, int by_blocks, size_t m, size_t n)
{
    double terms[MOST_K], a = 0, raw = 0, lost = 0;
    const double o_w = p.e[n] ? ldexp(1, p.e[n] - 25) : 0, o_x = p.h[m] ? ldexp(1, p.h[m] - 25) : 0;
    const double bias = p.product.bias ? fabs((double)p.bias[n]) : 0;
    const int e = scheme->a8 ? 0 : p.e[n];
    double adds = (double)(p.k + p.k / 32 + 4), b;
    const size_t count = addends(scheme, m, n, terms);
    for (size_t i = 0; i < count; i++)
        a += fabs(terms[i]) * ldexp(1, exponent_of(scheme, m, n));
    for (size_t c = 0; c < p.k && scheme->a8; c++) {
        const pwl_block_q8_1 *const q = &p.q[m][c / PWL_BLOCK];
        const double x = fabs((double)pwl_f32_from_f16(q->d) * q->qs[c % PWL_BLOCK]), w = fabs((double)p.w[n][c]);
        raw += w * x;
        lost += o_w * x + w * o_x + o_w * o_x;
    }
    if (scheme->a8 && by_blocks)
        adds = (double)(5 * (p.k / 32) + 4);
    else if (scheme->a8)
        a = raw;
    b = adds * 0x1p-23 * (a + bias) + adds * 0x1p-149 * (1 + ldexp(1, e));
    if (!scheme->a8 || by_blocks)
        return b;
    return b * (1 + 0x1p-9) + (2 * 0x1p-11 + 0x1p-22) * a + lost * (1 + 0x1p-9 + adds * 0x1p-23);
}

/* Rows of fp32 with a large block, of d up to 2^15, before those of d about 2^-16. */
static void draw_apart(size_t m_all, uint64_t *state)
{
    for (size_t m = 0; m < m_all; m++) {
        const int large = (int)random_in(state, 14, 21);
        for (size_t c = 0; c < p.k; c++)
            p.x[m][c] = (float)ldexp((double)random_in(state, -(1 << 20), 1 << 20), (c < PWL_BLOCK ? large : -9) - 20);
    }
    store_x(m_all, PWL_QGEMM_F32, PWL_RULE_DEFAULT);
}

static void test_bound(const struct scheme *scheme, size_t m_all, int rounds)
{
    const char *const halves = rounds ? " in halves" : "";
    uint64_t state = 14;
    int good = 1, formula = 1;
    double closest = 0;
    for (int i = 0; i < 6; i++) {
        draw(scheme, m_all, 21, 192, PWL_QGEMM_F32, PWL_QGEMM_F16, PWL_QGEMM_SUMS_EXACT, i % 2, i < 4 ? -4 : 15,
             &state);
        if (rounds && i % 3 == 2) /* a block that makes the others subnormal in halves */
            draw_apart(m_all, &state);
        good &= pwl_qgemm_bound(&p.product, rounds, value, bound) == PWL_QGEMM_OK;
        for (size_t at = 0; at < m_all * p.n; at++) {
            const size_t m = at / p.n, n = at % p.n;
            for (enum way way = IN_ORDER; way < WAYS; way++) {
                double terms[MOST_K];
                const size_t count = rounds ? rounded_products(m, n, terms) : addends(scheme, m, n, terms);
                const float bias = p.product.bias ? p.bias[n] : 0;
                const int scale = rounds ? p.e[n] + p.h[m] : exponent_of(scheme, m, n);
                const float got = pwl_qgemm_finish((float)added(way, terms, count), scale, bias);
                const double share = fabs((double)got - value[at]) / bound[at];
                closest = fmax(closest, share);
            }
            formula &= fabs(bound_of(scheme, !rounds, m, n) / bound[at] - 1) < 1e-9;
        }
        free_weights(&p.weights);
    }
    printf("# at most %.3f of the bound\n", closest);
    tap(good && closest > 0 && closest <= 1, "%s%s: sums in fp32 stay within the bound", scheme->name, halves);
    tap(formula, "%s%s: the bound is its formula", scheme->name, halves);
}

/* All addends of one sign and size: a truncated sum loses something each time. The bound must be of that order. */
static void test_bound_is_close(void)
{
    uint64_t state = 15;
    double terms[MOST_K], share;
    draw(&schemes[1], 1, 1, 192, PWL_QGEMM_F16, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, -4, &state);
    pwl_qgemm_weights weights;
    size_t bytes;
    float w[192];
    for (int i = 0; i < 192; i++) {
        w[i] = 1.0f / 3;
        p.x[0][i] = 0x1.ffcp-3f;
    }
    if (pwl_qgemm_weights_bytes(PWL_QGEMM_Q8_0, 1, 192, &bytes) != PWL_QGEMM_OK ||
        pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_Q8_0, PWL_RULE_DEFAULT, w, 1, 192), need(bytes), bytes, &weights,
                       NULL) != PWL_QGEMM_OK)
        abort();
    store_x(1, PWL_QGEMM_F16, PWL_RULE_DEFAULT);
    free_weights(&p.weights);
    p.weights = weights;
    for (size_t c = 0; c < p.k; c++)
        p.w[0][c] =
            (float)(pwl_qgemm_code(&weights, 0, c) * (double)pwl_f32_from_f16(pwl_qgemm_scale(&weights, 0, c / 32)));
    const size_t count = addends(&schemes[1], 0, 0, terms);
    int good = pwl_qgemm_bound(&p.product, 0, value, bound) == PWL_QGEMM_OK;
    share = fabs(added(ONE_BY_ONE_CUT, terms, count) - value[0]) / bound[0];
    printf("# %.3f of the bound\n", share);
    tap(good && share > 0.1 && share <= 1, "a sum truncated at each addition takes a tenth of the bound or more");
    free_weights(&p.weights);
}

int main(void)
{
    for (size_t i = 0; i < 5; i++) {
        test_reference(&schemes[i]);
        test_rows(&schemes[i]);
        test_bound(&schemes[i], 9, 0);
        if (schemes[i].a8)
            test_bound(&schemes[i], 64, 1);
    }
    test_stored_sums();
    test_bound_is_close();
    return tap_end();
}
