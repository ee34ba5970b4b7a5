/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FP8 and MXFP4 x FP8 on a device, a thousand products of each at random, M from 1 to 700: rows of Y within the
 * reference's bound, and its bits where sums are exact in the tensor cores' few bits, which no wrong place of a weight
 * survives; every row twice with the same bits, nothing written around them; with an activation, the bits of what the
 * kernel stores in F32, mapped on the host. And activations as the host quantises them; and errors of random numbers.
 *
 * test_qgemm_fp8_cuda         everything, on one device; exits 77 where there is none
 * test_qgemm_fp8_cuda small   some of it, for compute-sanitizer
 */
#include "../tap.h"
#include "draw_matrix.h"
#include "expected.h"
#include "fp8_cases.h"
#include "fused.h"

enum { PRODUCTS = 1000 /* of a scheme */, MOST_M = 700, MOST_N = 1100 };

static int small;

static const struct fp8_scheme {
    const char *name;
    pwl_qgemm_scheme scheme;
    pwl_qgemm_format format;
} fp8_schemes[] = {{"FP8", PWL_QGEMM_FP8, PWL_QGEMM_ROWS_E4M3},
                   {"MXFP4 x FP8", PWL_QGEMM_MXFP4_FP8, PWL_QGEMM_MXFP4_E4M3}};

static struct weights draw_weights(const struct fp8_scheme *scheme, enum fp8_kind kind, size_t n, size_t k,
                                   uint64_t *state)
{
    struct weights w;
    w.host = new_fp8_weights(scheme->format, kind, n, k, state);
    w.bias = need(4 * n);
    for (size_t i = 0; i < n; i++)
        ((float *)(void *)w.bias)[i] = (float)random_in(state, -1000, 1000) / 64;
    w.device = w.host;
    w.device.memory = on_device(w.host.memory, w.host.bytes);
    w.device_bias = on_device(w.bias, 4 * n);
    return w;
}

/* Codes and scales, or floats that have such; one NaN now and then, NaN between the rows. The scales of exact sums are
 * powers of two. */
static void draw_input(struct problem *p, enum fp8_kind kind, int odd, uint64_t *state)
{
    const pwl_qgemm_input *const x = &p->product.x;
    const size_t m = p->product.m, k = p->product.weights->k;
    float *const scale = (float *)(void *)p->n_x;
    uint8_t *const codes = need(m * k);
    draw_fp8_x(kind, codes, m, k, state);
    if (odd)
        codes[random_bits(state) % k] = 0x7f;
    memset(p->x, 0xff, p->x_bytes);
    for (size_t row = 0; row < m; row++) {
        scale[row] = kind == FP8_EXACT ? pwl_f32_of_bits((uint32_t)random_in(state, 120, 132) << 23)
                                       : (float)random_in(state, 1, 1000) / 512;
        for (size_t c = 0; c < k; c++) {
            if (x->type == PWL_QGEMM_E4M3)
                p->x[row * x->stride + c] = codes[row * k + c];
            else
                put_x(x->type, p->x, row * x->stride + c, pwl_f32_from_e4m3(codes[row * k + c]));
        }
    }
    free(codes);
}

static size_t bytes_of_x(pwl_qgemm_type type)
{
    return type == PWL_QGEMM_E4M3 ? 1 : element_bytes[type];
}

static struct problem draw_problem(const struct fp8_scheme *scheme, const struct weights *w, enum fp8_kind kind,
                                   size_t m, pwl_qgemm_type y, size_t offset, size_t gap, uint64_t *state)
{
    static const pwl_qgemm_sums kinds[] = {PWL_QGEMM_SUMS_EXACT, PWL_QGEMM_SUMS_OF_512, PWL_QGEMM_SUMS_OF_128};
    const int is_float = kind != FP8_EXACT && random_bits(state) % 4 == 0;
    const pwl_qgemm_type x = is_float ? (pwl_qgemm_type)(random_bits(state) % 3) : PWL_QGEMM_E4M3;
    const size_t x_stride = w->host.k + gap, element = bytes_of_x(x), n = w->host.n;
    struct problem p;
    p.x_bytes = m * x_stride * element;
    p.y_bytes = m * (n + gap) * element_bytes[y];
    p.y_offset = GUARD + offset * element_bytes[y];
    p.x = need(p.x_bytes);
    p.y = need(p.y_bytes + 2 * p.y_offset);
    p.again = need(p.y_bytes + 2 * p.y_offset);
    p.expected = need(p.y_bytes);
    p.n_x = need(m * sizeof(float));
    const int has_bias = (int)(random_bits(state) % 2);
    p.product = (pwl_qgemm_product){.scheme = scheme->scheme, .sums = kinds[random_bits(state) % 3], .m = m};
    p.product.weights = &w->host;
    p.product.x = (pwl_qgemm_input){p.x, x_stride, x, 0, NULL, (const float *)(const void *)p.n_x};
    p.product.bias = has_bias ? w->bias : NULL;
    p.product.y = (pwl_qgemm_output){p.expected, n + gap, y, 0, 0, NULL, 0};
    draw_input(&p, kind, kind == FP8_ANY && random_bits(state) % 5 == 0, state);
    CUDA(cudaMalloc((void **)&p.device_x, p.x_bytes + offset * element));
    CUDA(cudaMalloc((void **)&p.device_y, p.y_bytes + 2 * p.y_offset));
    CUDA(cudaMemcpy(p.device_x + offset * element, p.x, p.x_bytes, cudaMemcpyHostToDevice));
    p.device_n_x = on_device(p.n_x, m * sizeof(float));
    p.on_device = p.product;
    p.on_device.weights = &w->device;
    p.on_device.x.data = p.device_x + offset * element;
    p.on_device.x.scale = (const float *)(void *)p.device_n_x;
    p.on_device.bias = has_bias ? w->device_bias : NULL;
    p.on_device.y.data = p.device_y + p.y_offset;
    return p;
}

/* Some rows by the reference. */
static struct expected expect(const struct problem *p, const size_t *rows, size_t count)
{
    const pwl_qgemm_input *const x = &p->product.x;
    const size_t row = x->stride * bytes_of_x(x->type), results = count * p->product.weights->n * sizeof(double);
    const struct expected expected = {rows, count, need(results), {need(results), need(8)}};
    uint8_t *const some = need(count * row);
    float *const scale = need(count * sizeof *scale);
    pwl_qgemm_product product = p->product;
    for (size_t i = 0; i < count; i++) {
        const size_t last = x->type == PWL_QGEMM_E4M3 ? p->product.weights->k : row; /* no gap behind the last row */
        memcpy(some + i * row, p->x + rows[i] * row, last);
        scale[i] = x->scale[rows[i]];
    }
    product.m = count;
    product.x.data = some;
    product.x.scale = scale;
    PWL(pwl_qgemm_bound(&product, 0, expected.value, expected.bound[0]));
    free(some);
    free(scale);
    return expected;
}

/* Sums were exact, and the rest is rounded once: fp32, then the type of Y. */
static int is_exact(const struct problem *p, const struct expected *expected)
{
    const pwl_qgemm_output *const y = &p->product.y;
    const size_t n = p->product.weights->n;
    for (size_t i = 0; i < expected->count * n; i++) {
        const double got = get(y->type, p->y + p->y_offset, expected->rows[i / n] * y->stride + i % n);
        if (got == rounded(y->type, (double)(float)expected->value[i]))
            continue;
        printf("# row %zu, column %zu: %a, not %a\n", expected->rows[i / n], i % n, got, expected->value[i]);
        return 0;
    }
    return 1;
}

static int agrees(const struct problem *p, pwl_qgemm_kernel kernel, enum fp8_kind kind, const struct expected *expected)
{
    compute(p, kernel, p->y);
    compute(p, kernel, p->again);
    int good = is_guarded(p) && memcmp(p->y, p->again, p->y_bytes + 2 * p->y_offset) == 0;
    for (size_t i = 0; i < expected->count && good; i++)
        good = row_agrees(p, expected, 0, i);
    if (kind == FP8_EXACT)
        good = good && is_exact(p, expected);
    if (!good)
        printf("# %s, %s, M = %zu, N = %zu, K = %zu, sums %d, X of type %d + %zu, Y %s + %zu\n",
               pwl_qgemm_kernel_name(kernel), fp8_kind_names[kind], p->product.m, p->product.weights->n,
               p->product.weights->k, (int)p->product.sums, (int)p->product.x.type, p->product.x.stride,
               types[p->product.y.type], p->product.y.stride);
    return good;
}

static size_t draw_m(uint64_t *state)
{
    const size_t near = (size_t)(16 * random_in(state, 1, MOST_M / 16 - 1) + random_in(state, -1, 1));
    if (small)
        return (size_t)random_in(state, 1, 70);
    return random_bits(state) % 3 == 0 ? (size_t)random_in(state, 1, 64)
           : random_bits(state) % 2    ? near
                                       : (size_t)random_in(state, 1, MOST_M);
}

static size_t draw_n(uint64_t *state)
{
    const size_t kind = random_bits(state) % 3;
    if (small)
        return (size_t)random_in(state, 1, 40);
    return kind == 0   ? (size_t)random_in(state, 1, MOST_N)
           : kind == 1 ? 8 * (size_t)random_in(state, 1, MOST_N / 8)
                       : (size_t)random_in(state, 1, 260);
}

static size_t draw_k(uint64_t *state)
{
    return 32 * (size_t)random_in(state, 1, small ? 10 : random_bits(state) % 10 ? 36 : 160);
}

static int plain_agrees(const struct fp8_scheme *scheme, const struct weights *w, enum fp8_kind kind, uint64_t *state)
{
    const int is_aligned = random_bits(state) % 2; /* to 16 bytes, rows too, for some types and N */
    const size_t m = draw_m(state), offset = is_aligned ? 0 : random_bits(state) % 4;
    const size_t gap = is_aligned ? 16 * (random_bits(state) % 3) : random_bits(state) % 8;
    struct problem p = draw_problem(scheme, w, kind, m, (pwl_qgemm_type)(random_bits(state) % 3), offset, gap, state);
    const size_t apart = (m - 1) / 4, first = random_bits(state) % (m - 4 * apart);
    const size_t rows[] = {first, first + apart, first + 2 * apart, first + 3 * apart, first + 4 * apart};
    struct expected expected = expect(&p, rows, apart ? 5 : 1);
    int good = !runs_here(PWL_QGEMM_WGMMA_FP8) || agrees(&p, PWL_QGEMM_WGMMA_FP8, kind, &expected);
    if (random_bits(state) % 8 == 0)
        good = good && agrees(&p, PWL_QGEMM_NAIVE, kind, &expected) && agrees(&p, PWL_QGEMM_TILED, kind, &expected);
    free_expected(&expected);
    free_problem(&p);
    return good;
}

/* All of Y against the same product without an activation. */
static int fused_product_agrees(const struct fp8_scheme *scheme, const struct weights *w, enum fp8_kind kind,
                                uint64_t *state)
{
    const pwl_qgemm_kernel kernel = runs_here(PWL_QGEMM_WGMMA_FP8) ? PWL_QGEMM_WGMMA_FP8 : PWL_QGEMM_TILED;
    const int gated = w->host.n % 16 == 0 && random_bits(state) % 2, table_kind = (int)(random_bits(state) % 72);
    const size_t m = draw_m(state), n = w->host.n, is_aligned = random_bits(state) % 2;
    struct table table = new_table(table_kind, table_kind % 3 == PWL_INT8 ? 16 : 64, state);
    struct pair_bias pair = split_bias(w);
    struct problem p = draw_problem(scheme, w, kind, m, PWL_QGEMM_F32, 8, 8, state); /* room for the widest rows of Y */
    void *const values = need(4 * m * n);
    const int has_bias = p.product.bias != NULL;
    compute_values(&p, kernel, values);
    const size_t any = random_bits(state);
    const int is_e4m3 = e4m3_agrees(&p, kernel, any % 2, values, is_aligned ? 0 : any % 4, is_aligned ? 4 : any % 8);
    p.product.bias = has_bias && gated ? pair.gate : p.product.bias;
    p.on_device.bias = has_bias && gated ? pair.device_gate : p.on_device.bias;
    const struct y_kind *const y = draw_y_kind(table.host, 0, gated, Y_KINDS, state);
    pwl_qgemm_activation as = draw_activation(table.host, 0, gated, half_of_most(&p.product, values, 1), y, state);
    pwl_qgemm_activation device_as = as;
    as.bias_up = has_bias && gated ? pair.up : NULL;
    device_as.bias_up = has_bias && gated ? pair.device_up : NULL;
    device_as.table = NULL;
    device_as.uploaded = &table.device;
    const int good =
        is_e4m3 && fused_agrees(&p, kernel, y, &as, &device_as, values, NULL, is_aligned ? 0 : random_bits(state) % 4,
                                is_aligned ? 4 * (random_bits(state) % 2) : random_bits(state) % 8);
    free(values);
    free_problem(&p);
    free_bias(&pair);
    PWL(pwl_cuda_release(&table.device));
    return good;
}

static void test_drawn(const struct fp8_scheme *scheme)
{
    uint64_t state = 82;
    int good = 1;
    for (int i = 0; i < (small ? 4 : PRODUCTS) && good; i++) {
        const int fused = i % 4 == 3;
        const enum fp8_kind kind = i % 2 ? FP8_EXACT : (enum fp8_kind)(random_bits(&state) % FP8_KINDS);
        const size_t n = draw_n(&state), multiple = (n + 15) / 16 * 16;
        struct weights w =
            draw_weights(scheme, kind, fused && random_bits(&state) % 2 ? multiple : n, draw_k(&state), &state);
        good = (fused ? fused_product_agrees : plain_agrees)(scheme, &w, kind, &state);
        if (!good)
            printf("# product %d\n", i);
        release(&w);
    }
    tap(good, "%s: products at random", scheme->name);
}

/* Floats of a type on both sides, as the host quantises them; NaN between the rows. */
static int quantises(pwl_qgemm_type type, size_t m, size_t k, size_t stride, size_t offset, uint64_t *state)
{
    const size_t element = element_bytes[type], bytes = m * stride * element;
    uint8_t *const x = need(bytes), *const q = need(m * k), *const got = need(m * k + GUARD);
    float *const v = need(m * k * sizeof *v), *const scale = need(m * 4), *const got_scale = need(m * 4);
    char *device_x, *device_q, *device_scale;
    memset(x, 0xff, bytes);
    for (size_t i = 0; i < m * k; i++) {
        const uint32_t bits = (uint32_t)random_bits(state) & 0xbfffffff;
        const size_t at = i / k * stride + i % k;
        put_x(type, x, at, random_bits(state) % 2 ? pwl_f32_of_bits(bits) : (float)random_in(state, -4480, 4480) / 10);
        if (random_bits(state) % 997 == 0)
            put_x(type, x, at, random_bits(state) % 2 ? NAN : -INFINITY);
        v[i] = type == PWL_QGEMM_F32   ? ((const float *)(const void *)x)[at]
               : type == PWL_QGEMM_F16 ? pwl_f32_from_f16(((const uint16_t *)(const void *)x)[at])
                                       : pwl_f32_from_bf16(((const uint16_t *)(const void *)x)[at]);
    }
    PWL(pwl_qgemm_quantise_e4m3(v, m, k, k, q, scale));
    CUDA(cudaMalloc((void **)&device_x, bytes + offset * element));
    CUDA(cudaMalloc((void **)&device_q, m * k + GUARD));
    CUDA(cudaMalloc((void **)&device_scale, m * 4));
    CUDA(cudaMemset(device_q, POISON, m * k + GUARD));
    CUDA(cudaMemcpy(device_x + offset * element, x, bytes, cudaMemcpyHostToDevice));
    PWL(pwl_cuda_qgemm_quantise_e4m3(type, device_x + offset * element, m, k, stride, (uint8_t *)device_q,
                                     (float *)(void *)device_scale, NULL));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(got, device_q, m * k + GUARD, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(got_scale, device_scale, m * 4, cudaMemcpyDeviceToHost));
    int good = memcmp(got, q, m * k) == 0 && memcmp(got_scale, scale, m * 4) == 0;
    for (size_t i = 0; i < GUARD; i++)
        good &= got[m * k + i] == POISON;
    if (!good)
        printf("# %s, %zu x %zu of %zu\n", types[type], m, k, stride);
    void *const all[] = {x, q, got, v, scale, got_scale};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    CUDA(cudaFree(device_x));
    CUDA(cudaFree(device_q));
    CUDA(cudaFree(device_scale));
    return good;
}

static void test_quantise(void)
{
    uint64_t state = 83;
    int good = 1;
    for (int i = 0; i < (small ? 12 : 300) && good; i++) {
        const int is_aligned = (int)(random_bits(&state) % 2);
        const size_t m = (size_t)random_in(&state, 1, small ? 3 : 70), any = (size_t)random_in(&state, 1, 5000);
        const size_t k = is_aligned ? (any + 15) / 16 * 16 : any;
        good = quantises((pwl_qgemm_type)(i % 3), m, k, k + (is_aligned ? 8 * (any % 3) : any % 7),
                         is_aligned ? 0 : any % 4, &state);
    }
    tap(good, "E4M3 of floats has the host's bits");
}

/* Error of Y of random numbers over Y itself, both as root mean squares. */
static double error_of(const struct weights *w, pwl_qgemm_sums sums, uint64_t *state)
{
    const struct fp8_scheme *const scheme = &fp8_schemes[w->host.format == PWL_QGEMM_MXFP4_E4M3];
    struct problem p = draw_problem(scheme, w, FP8_ANY, 16, PWL_QGEMM_F32, 0, 0, state);
    const size_t n = w->host.n, k = w->host.k;
    double *const value = need(p.product.m * n * 8), *const bound = need(p.product.m * n * 8), off = 0, all = 0;
    float *const x = need(p.product.m * k * sizeof *x);
    draw_matrix(x, p.product.m * k, 1, state);
    PWL(pwl_qgemm_quantise_e4m3(x, p.product.m, k, k, p.x, (float *)(void *)p.n_x));
    CUDA(cudaMemcpy(p.device_x, p.x, p.product.m * k, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(p.device_n_x, p.n_x, p.product.m * 4, cudaMemcpyHostToDevice));
    p.product.x.type = p.on_device.x.type = PWL_QGEMM_E4M3;
    p.product.x.stride = p.on_device.x.stride = k;
    p.product.sums = p.on_device.sums = sums;
    p.product.bias = p.on_device.bias = NULL;
    PWL(pwl_qgemm_bound(&p.product, 0, value, bound));
    compute(&p, PWL_QGEMM_WGMMA_FP8, p.y);
    for (size_t i = 0; i < p.product.m * n; i++) {
        const double v = value[i], got = get(PWL_QGEMM_F32, p.y + p.y_offset, i);
        off += (got - v) * (got - v);
        all += v * v;
    }
    free(value);
    free(bound);
    free(x);
    free_problem(&p);
    return sqrt(off / all);
}

/* The fewer columns are added in few bits, the better; what pwl/qgemm.h tells of it. */
static void test_sums(const struct fp8_scheme *scheme)
{
    enum { WIDE = 256, DEEP = 4096 };
    uint64_t state = 84;
    float *const v = need(WIDE * DEEP * sizeof *v), *const s = need(WIDE * sizeof *s);
    void *const packed = need(WIDE * DEEP * 2);
    struct weights w = draw_weights(scheme, FP8_ANY, WIDE, DEEP, &state);
    const size_t bytes = w.host.bytes;
    draw_matrix(v, WIDE * DEEP, 1, &state);
    if (scheme->format == PWL_QGEMM_MXFP4_E4M3) {
        PWL((int)pwl_quantise(PWL_MXFP4, PWL_RULE_DEFAULT, v, WIDE, DEEP, DEEP, packed));
        PWL(pwl_qgemm_pack(pwl_qgemm_of_blocks(PWL_QGEMM_MXFP4_E4M3, packed, WIDE, DEEP),
                           (void *)(uintptr_t)w.host.memory, bytes, &w.host, NULL));
    } else {
        PWL(pwl_qgemm_quantise_e4m3(v, WIDE, DEEP, DEEP, packed, s));
        PWL(pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, packed, s, WIDE, DEEP),
                           (void *)(uintptr_t)w.host.memory, bytes, &w.host, NULL));
    }
    CUDA(cudaMemcpy((void *)(uintptr_t)w.device.memory, w.host.memory, bytes, cudaMemcpyHostToDevice));
    const double all = error_of(&w, PWL_QGEMM_SUMS_EXACT, &state), of512 = error_of(&w, PWL_QGEMM_SUMS_OF_512, &state);
    const double of128 = error_of(&w, PWL_QGEMM_SUMS_OF_128, &state);
    tap(of128 < of512 && of512 < all, "%s: errors of %.2e, of 512 columns %.2e, of 128 %.2e", scheme->name, all, of512,
        of128);
    release(&w);
    free(packed);
    free(s);
    free(v);
}

int main(int argc, char **argv)
{
    small = test_is_small(argc, argv);
    test_quantise();
    for (size_t i = 0; i < sizeof fp8_schemes / sizeof *fp8_schemes; i++)
        test_drawn(&fp8_schemes[i]);
    for (size_t i = 0; i < sizeof fp8_schemes / sizeof *fp8_schemes && !small && runs_here(PWL_QGEMM_WGMMA_FP8); i++)
        test_sums(&fp8_schemes[i]);
    return tap_end();
}
