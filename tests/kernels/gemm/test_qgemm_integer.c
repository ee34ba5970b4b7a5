/* SPDX-License-Identifier: Apache-2.0 */
/* Products of integers, bit for bit, at their ends too; and every product that is refused. */
#include "../tap.h"
#include "cases.h"

/* Rows of both operands, and the product of them. */
struct problem {
    pwl_qgemm_product product;
    pwl_qgemm_weights weights;
    int8_t *w, *x, *n_w, *n_x;
    int32_t *bias;
    uint8_t *y;
};

enum { GAP = 5 };

static struct problem new_problem(size_t m, size_t n, size_t k, pwl_qgemm_type type, uint64_t *state)
{
    struct problem p = {.w = need(n * k),
                        .x = need(m * (k + GAP)),
                        .n_w = need(n),
                        .n_x = need(m),
                        .bias = need(4 * n),
                        .y = need(4 * m * (n + GAP))};
    for (size_t i = 0; i < n * k; i++)
        p.w[i] = (int8_t)random_bits(state);
    for (size_t i = 0; i < m * (k + GAP); i++)
        p.x[i] = (int8_t)random_bits(state);
    for (size_t i = 0; i < n; i++) {
        p.n_w[i] = (int8_t)random_in(state, -3, 9);
        p.bias[i] = (int32_t)random_in(state, -20000, 20000);
    }
    for (size_t i = 0; i < m; i++)
        p.n_x[i] = (int8_t)random_in(state, -3, 9);
    memset(p.y, 0xa5, 4 * m * (n + GAP));
    p.product = (pwl_qgemm_product){PWL_QGEMM_INT8,
                                    PWL_QGEMM_SUMS_EXACT,
                                    m,
                                    NULL,
                                    {p.x, k + GAP, PWL_QGEMM_S8, (int32_t)random_in(state, -128, 127), p.n_x, NULL},
                                    p.bias,
                                    {p.y, n + GAP, type, (int32_t)random_in(state, -128, 127), -4, NULL, 0},
                                    NULL};
    return p;
}

static pwl_qgemm_format format; /* of all weights */

/* To be called once the operands are as they should be. */
static void pack(struct problem *p, size_t n, size_t k)
{
    size_t bytes;
    if (pwl_qgemm_weights_bytes(format, n, k, &bytes) != PWL_QGEMM_OK ||
        pack_codes(format, p->w, p->n_w, n, k, need(bytes), bytes, &p->weights) != PWL_QGEMM_OK)
        abort();
    p->product.weights = &p->weights;
    if (format == PWL_QGEMM_ROWS4) { /* what the nibbles count */
        int8_t *const codes = need(n * k);
        for (size_t i = 0; i < n * k; i++)
            codes[i] = code_of(format, p->w, k, i / k, i % k);
        free(p->w);
        p->w = codes;
    }
}

static void free_problem(struct problem *p)
{
    if (p->weights.memory)
        free_weights(&p->weights);
    free(p->w);
    free(p->x);
    free(p->n_w);
    free(p->n_x);
    free(p->bias);
    free(p->y);
}

/* floor(v / 2^n + 1/2), clipped to 2^20 in magnitude; v has at most 33 bits. */
static int64_t shifted(int64_t v, int n)
{
    const double exact = floor(ldexp((double)v, -n) + 0.5);
    return exact > 0x1p20 ? 1 << 20 : exact < -0x1p20 ? -(1 << 20) : (int64_t)exact;
}

static int64_t clipped(int64_t v, int64_t min, int64_t max)
{
    return v < min ? min : v > max ? max : v;
}

/* Every element by the definition, with (q_x - z) multiplied out, and nothing written between the rows. */
static int agrees(const struct problem *p)
{
    const pwl_qgemm_product *const product = &p->product;
    const size_t n = p->weights.n, k = p->weights.k, stride = product->y.stride;
    const size_t element = product->y.type == PWL_QGEMM_S8 ? 1 : 4;
    if (pwl_qgemm_reference(product) != PWL_QGEMM_OK)
        return 0;
    for (size_t i = 0; i < product->m; i++) {
        for (size_t j = 0; j < n; j++) {
            int64_t v = product->bias ? p->bias[j] : 0, got, expected;
            for (size_t c = 0; c < k; c++)
                v += (int64_t)p->w[j * k + c] * (p->x[i * product->x.stride + c] - product->x.zero_point);
            if (element == 1) {
                const int64_t shift = (int64_t)p->n_w[j] + p->n_x[i] - product->y.n_y;
                got = ((int8_t *)p->y)[i * stride + j];
                expected = clipped(shifted(v, (int)clipped(shift, -500, 500)) + product->y.zero_point, -128, 127);
            } else {
                got = ((int32_t *)(void *)p->y)[i * stride + j];
                expected = clipped(v, INT32_MIN, INT32_MAX);
            }
            if (got != expected) {
                printf("# row %zu, column %zu: %lld, not %lld\n", i, j, (long long)got, (long long)expected);
                return 0;
            }
        }
        for (size_t at = n * element; at < stride * element; at++) {
            if (p->y[i * stride * element + at] != 0xa5)
                return 0;
        }
    }
    return 1;
}

static void test_products(pwl_qgemm_type type, const char *name)
{
    static const size_t shapes[][3] = {{1, 1, 32}, {2, 129, 96}, {16, 16, 64}, {17, 130, 160}, {33, 7, 4064}};
    uint64_t state = 21;
    int good = 1;
    for (int i = 0; i < 20; i++) {
        const size_t *const shape = shapes[i % 5];
        struct problem p = new_problem(shape[0], shape[1], shape[2], type, &state);
        if (i % 3 == 0)
            p.product.bias = NULL;
        pack(&p, shape[1], shape[2]);
        good &= agrees(&p);
        free_problem(&p);
    }
    tap(good, "%s by the definition", name);
}

/* Shifts of every size, small sums among them: ties, and what neither leaves anything nor fits. */
static void test_shifts(void)
{
    enum { N = 40, K = 32 };
    static const int32_t n_y[] = {0, 1, -1, 7, 200, -200, INT32_MAX, INT32_MIN};
    uint64_t state = 22;
    int good = 1;
    for (size_t i = 0; i < 64; i++) {
        struct problem p = new_problem(8, N, K, PWL_QGEMM_S8, &state);
        for (size_t j = 0; j < N; j++) {
            p.n_w[j] = (int8_t)(i < 32 ? random_bits(&state) : j / 2);
            p.bias[j] = (int32_t)(i < 8 ? random_bits(&state) : random_bits(&state) % 5 - 2);
        }
        for (size_t j = 0; j < 8; j++)
            p.n_x[j] = (int8_t)(i < 32 ? random_bits(&state) : 0);
        if (i % 2)
            memset(p.w, 0, N * K); /* v is the bias */
        p.product.y.n_y = n_y[i % 8];
        pack(&p, N, K);
        good &= agrees(&p);
        free_problem(&p);
    }
    tap(good, "shifts from -300 to 300 and far beyond, rounded half up");
}

/* The longest rows of the largest numbers: 65792 * 128 * 255 needs all of 32 bits, and bias one more. */
static void test_extremes(void)
{
    enum { M = 4, N = 4, K = 65792 };
    static const int8_t ends[] = {-128, 127};
    static const int32_t biases[] = {INT32_MIN, INT32_MAX, 0, -1};
    uint64_t state = 23;
    int good = 1;
    for (int zero_point = -128; zero_point <= 127; zero_point += 255) {
        for (int type = PWL_QGEMM_S8; type <= PWL_QGEMM_S32; type++) {
            struct problem p = new_problem(M, N, K, (pwl_qgemm_type)type, &state);
            for (size_t i = 0; i < M; i++) {
                memset(p.x + i * (K + GAP), ends[i % 2], K);
                memset(p.w + i * K, ends[i / 2 % 2], K);
                p.bias[i] = biases[i];
                p.n_x[i] = 31 - 7;
                p.n_w[i] = (int8_t)(i - 2);
            }
            p.product.y.n_y = 0;
            p.product.x.zero_point = zero_point;
            if (type == PWL_QGEMM_S8)
                p.product.bias = zero_point < 0 ? p.bias : NULL;
            pack(&p, N, K);
            good &= agrees(&p);
            free_problem(&p);
        }
    }
    tap(good, "sums of 32 bits, and of 33 with the bias");
}

/* -- Errors ---------------------------------------------------------------------------------------------------------
 */

static pwl_qgemm_product product; /* a good one, of which each test spoils something */
static pwl_qgemm_weights weights;
static float y[8];

static void refused(pwl_qgemm_status expected, const char *name)
{
    float before[8];
    memset(y, 0xa5, sizeof y);
    memcpy(before, y, sizeof y);
    const pwl_qgemm_status check = pwl_qgemm_check(&product), reference = pwl_qgemm_reference(&product);
    if (check != expected)
        printf("# %s\n", pwl_qgemm_status_text(check));
    tap(check == expected && reference == expected && memcmp(y, before, sizeof y) == 0, "%s", name);
}

static void test_errors(void)
{
    static uint8_t memory[8704 + 640] __attribute__((aligned(16)));
    static float x[64];
    static int8_t n_x[4];
    double value, bound;
    const pwl_qgemm_weights q4 = {memory, 1, 32, 4608, PWL_QGEMM_Q4_0, 0},
                            rows = {memory, 1, 32, 8192 + 640, PWL_QGEMM_ROWS8, 1};
    const pwl_qgemm_product good = {PWL_QGEMM_W4A16,
                                    PWL_QGEMM_SUMS_EXACT,
                                    2,
                                    &weights,
                                    {x, 32, PWL_QGEMM_F32, 0, NULL, NULL},
                                    NULL,
                                    {y, 1, PWL_QGEMM_F32, 0, 0, NULL, 0},
                                    NULL};
    pwl_qgemm_product int8 = good;
    int8.scheme = PWL_QGEMM_INT8;
    int8.x.type = int8.y.type = PWL_QGEMM_S8;
    int8.x.n_x = n_x;
#define SPOILT(from, from_weights, what, expected, name)                                                               \
    do {                                                                                                               \
        product = from;                                                                                                \
        weights = from_weights;                                                                                        \
        what;                                                                                                          \
        refused(expected, name);                                                                                       \
    } while (0)
#define Q4(what, expected, name) SPOILT(good, q4, what, expected, name)
#define INT8(what, expected, name) SPOILT(int8, rows, what, expected, name)
    product = good;
    weights = q4;
    tap(pwl_qgemm_check(&product) == PWL_QGEMM_OK, "a product to spoil");
    product = int8;
    weights = rows;
    tap(pwl_qgemm_check(&product) == PWL_QGEMM_OK, "another, of integers");
    tap(pwl_qgemm_check(NULL) == PWL_QGEMM_ERR_NULL && pwl_qgemm_reference(NULL) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_bound(NULL, 0, &value, &bound) == PWL_QGEMM_ERR_NULL,
        "no product");
    Q4(product.weights = NULL, PWL_QGEMM_ERR_NULL, "no weights");
    Q4(weights.memory = NULL, PWL_QGEMM_ERR_NULL, "no memory of weights");
    Q4(weights.memory = memory + 8, PWL_QGEMM_ERR_ALIGN, "memory of weights aligned to 8");
    Q4(weights.format = (pwl_qgemm_format)-1, PWL_QGEMM_ERR_FORMAT, "weights of no format");
    Q4(weights.k = 48, PWL_QGEMM_ERR_SHAPE, "K of 48");
    Q4(weights.n = 0, PWL_QGEMM_ERR_SHAPE, "N of 0");
    Q4(weights.n = 129, PWL_QGEMM_ERR_SPACE, "more rows than the memory has");
    Q4(weights.row_data = 1, PWL_QGEMM_ERR_SPACE, "row exponents that the memory does not have");
    Q4(product.scheme = (pwl_qgemm_scheme)64, PWL_QGEMM_ERR_SCHEME, "no scheme");
    Q4(product.scheme = PWL_QGEMM_W8A16, PWL_QGEMM_ERR_SCHEME, "weights of another scheme");
    Q4(product.sums = PWL_QGEMM_SUMS_STORED, PWL_QGEMM_ERR_SCHEME, "stored sums in W4A16");
    Q4(product.sums = (pwl_qgemm_sums)2, PWL_QGEMM_ERR_SCHEME, "no kind of sums");
    Q4(product.x.type = (pwl_qgemm_type)10, PWL_QGEMM_ERR_TYPE, "X of no type");
    Q4(product.x.type = PWL_QGEMM_BLOCKS_Q8_1, PWL_QGEMM_ERR_TYPE, "W4A16 of blocks");
    Q4(product.x.type = PWL_QGEMM_S8, PWL_QGEMM_ERR_TYPE, "W4A16 of integers");
    Q4(product.y.type = (pwl_qgemm_type)-1, PWL_QGEMM_ERR_TYPE, "Y of no type");
    Q4(product.y.type = PWL_QGEMM_S8, PWL_QGEMM_ERR_TYPE, "W4A16 to integers");
    Q4(product.m = 0, PWL_QGEMM_ERR_SHAPE, "M of 0");
    Q4(product.m = SIZE_MAX / 64, PWL_QGEMM_ERR_SHAPE, "X beyond size_t");
    Q4((product.y.stride = SIZE_MAX / 4, product.m = 2), PWL_QGEMM_ERR_SHAPE, "Y beyond size_t");
    Q4(product.x.stride = 31, PWL_QGEMM_ERR_STRIDE, "rows of X overlap");
    Q4(product.y.stride = 0, PWL_QGEMM_ERR_STRIDE, "rows of Y overlap");
    Q4(product.x.data = NULL, PWL_QGEMM_ERR_NULL, "no X");
    Q4(product.y.data = NULL, PWL_QGEMM_ERR_NULL, "no Y");
    Q4(product.x.data = (char *)x + 2, PWL_QGEMM_ERR_ALIGN, "X at half a float");
    Q4(product.y.data = (char *)y + 1, PWL_QGEMM_ERR_ALIGN, "Y at a quarter of a float");
    Q4(product.bias = (char *)x + 2, PWL_QGEMM_ERR_ALIGN, "bias at half a float");
    Q4((product.scheme = PWL_QGEMM_W4A8, product.x.type = PWL_QGEMM_BLOCKS_Q8_1, product.x.stride = 0),
       PWL_QGEMM_ERR_STRIDE, "rows of blocks overlap");
    Q4((product.scheme = PWL_QGEMM_W4A8, product.y.type = PWL_QGEMM_S32), PWL_QGEMM_ERR_TYPE, "W4A8 to integers");
    INT8(product.x.n_x = NULL, PWL_QGEMM_ERR_NULL, "INT8: no exponents of X");
    INT8(product.x.zero_point = 128, PWL_QGEMM_ERR_RANGE, "INT8: a zero point of 128");
    INT8(product.y.zero_point = -129, PWL_QGEMM_ERR_RANGE, "INT8: a zero point of Y of -129");
    INT8(product.x.type = PWL_QGEMM_F32, PWL_QGEMM_ERR_TYPE, "INT8 of floats");
    INT8(product.y.type = PWL_QGEMM_F32, PWL_QGEMM_ERR_TYPE, "INT8 to floats");
    INT8(weights.k = 65824, PWL_QGEMM_ERR_DEPTH, "INT8: K of 65824");
    INT8(weights.bytes--, PWL_QGEMM_ERR_SPACE, "INT8: memory without a byte of the rows'");
    Q4(product.y.data = memory + 4604, PWL_QGEMM_ERR_OVERLAP, "Y in the weights");
    Q4((product.bias = y + 4, product.y.stride = 4), PWL_QGEMM_ERR_OVERLAP, "Y in the bias");
    INT8(product.y.data = n_x + 1, PWL_QGEMM_ERR_OVERLAP, "INT8: Y in the exponents of X");
    product = good;
    product.bias = y + 1;
    product.y.stride = 4;
    product.x.n_x = (const int8_t *)y;
    weights = q4;
    tap(pwl_qgemm_check(&product) == PWL_QGEMM_OK, "bias between rows of Y, and exponents that are not read");
    product = int8;
    weights = rows;
    tap(pwl_qgemm_bound(&product, 0, &value, &bound) == PWL_QGEMM_ERR_SCHEME, "INT8 has no bound");
    product = good;
    weights = q4;
    tap(pwl_qgemm_bound(&product, 0, NULL, &bound) == PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_bound(&product, 0, &value, NULL) == PWL_QGEMM_ERR_NULL,
        "a bound needs two arrays");
    tap(pwl_qgemm_bound(&product, 1, &value, &bound) == PWL_QGEMM_ERR_SCHEME, "W4A16 has no other halves");
    product.scheme = PWL_QGEMM_W4A8;
    product.sums = PWL_QGEMM_SUMS_STORED;
    tap(pwl_qgemm_bound(&product, 1, &value, &bound) == PWL_QGEMM_ERR_SCHEME, "stored sums have no halves");
}

/* Marks the bytes of a matrix; whether any was marked. */
static int mark(uint8_t *marks, size_t at, size_t rows, size_t row, size_t stride)
{
    int any = 0;
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < row; i++)
            any |= marks[at + r * stride + i]++;
    }
    return any;
}

/* X and Y anywhere in one array, with rows of any length: refused where they share a byte, and only there. */
static void test_overlaps(void)
{
    enum { BYTES = 700, ROUNDS = 20000 };
    static int8_t bytes[BYTES], n_x[4];
    static uint8_t memory[8704 + 640] __attribute__((aligned(16)));
    uint64_t state = 24;
    int good = 1, shared = 0, between = 0;
    for (int i = 0; i < ROUNDS && good; i++) {
        uint8_t marks[BYTES] = {0};
        const size_t m = (size_t)random_in(&state, 1, 4), n = (size_t)random_in(&state, 1, 40), k = 32;
        const size_t x_stride = k + random_bits(&state) % 60;
        const size_t y_stride = random_bits(&state) % 2 && x_stride >= n ? x_stride : n + random_bits(&state) % 60;
        const size_t x_bytes = (m - 1) * x_stride + k, y_bytes = (m - 1) * y_stride + n;
        const size_t x_at = random_bits(&state) % (BYTES - x_bytes), y_at = random_bits(&state) % (BYTES - y_bytes);
        weights = (pwl_qgemm_weights){memory, n, k, 8192 + 640, PWL_QGEMM_ROWS8, 1};
        product = (pwl_qgemm_product){PWL_QGEMM_INT8,
                                      PWL_QGEMM_SUMS_EXACT,
                                      m,
                                      &weights,
                                      {bytes + x_at, x_stride, PWL_QGEMM_S8, 0, n_x, NULL},
                                      NULL,
                                      {bytes + y_at, y_stride, PWL_QGEMM_S8, 0, 0, NULL, 0},
                                      NULL};
        (void)mark(marks, x_at, m, k, x_stride);
        const int overlap = mark(marks, y_at, m, n, y_stride);
        good = pwl_qgemm_check(&product) == (overlap ? PWL_QGEMM_ERR_OVERLAP : PWL_QGEMM_OK);
        if (!good)
            printf("# %zu rows: X at %zu by %zu, Y, of %zu, at %zu by %zu\n", m, x_at, x_stride, n, y_at, y_stride);
        shared += overlap;
        between += !overlap && x_at < y_at + y_bytes && y_at < x_at + x_bytes;
    }
    tap(good && shared > ROUNDS / 10 && between > ROUNDS / 100, "Y may lie between rows of X, not in them");
}

int main(void)
{
    for (int is_4 = 0; is_4 < 2; is_4++) {
        format = is_4 ? PWL_QGEMM_ROWS4 : PWL_QGEMM_ROWS8;
        printf("# weights of %d bits\n", is_4 ? 4 : 8);
        test_products(PWL_QGEMM_S32, "INT8 to s32");
        test_products(PWL_QGEMM_S8, "INT8 to s8");
        test_shifts();
        test_extremes();
    }
    test_errors();
    test_overlaps();
    return tap_end();
}
