/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel wgmma on a thousand products at random, M from 65 to 700: rows of Y within the reference's bound, every
 * row twice with the same bits, nothing written around them; with an activation, the bits of what it stores in F32,
 * mapped on the host. Whatever its tiles are: near their borders as often as not. And wgmma_bytes on two thousand, M
 * from 1, of which rows have the reference's bits, with sums and shifts now and then that 32 bits do not hold. And
 * wgmma_sparse as wgmma, M from 1.
 *
 * test_qgemm_wgmma_drawn_cuda        everything, on one device; exits 77 where there is none
 * test_qgemm_wgmma_drawn_cuda small  some of it, for compute-sanitizer
 * test_qgemm_wgmma_drawn_cuda bits   some of it, and a hash of each Y, to compare with those of another build
 */
#include "../tap.h"
#include "expected.h"
#include "fused.h"

enum { PRODUCTS = 200 /* of a scheme */, IN_INT8 = 2000, FEWEST_M = 65, MOST_M = 700, MOST_N = 1536 };

static int small, bits;

static int is_int8(const struct scheme *scheme)
{
    return scheme->scheme == PWL_QGEMM_INT8;
}

static int is_sparse(const struct scheme *scheme)
{
    return scheme->format == PWL_QGEMM_SPARSE4;
}

static pwl_qgemm_kernel kernel_for(const struct scheme *scheme)
{
    if (is_sparse(scheme))
        return PWL_QGEMM_WGMMA_SPARSE;
    return is_int8(scheme) ? PWL_QGEMM_WGMMA_BYTES : PWL_QGEMM_WGMMA;
}

/* Sizes at random; a multiple of 16 and one less or more as often. */
static size_t draw_m(const struct scheme *scheme, uint64_t *state)
{
    const size_t near = (size_t)(16 * random_in(state, 4, MOST_M / 16 - 1) + random_in(state, -1, 1));
    if ((is_int8(scheme) || is_sparse(scheme)) && random_bits(state) % 4 == 0)
        return (size_t)random_in(state, 1, FEWEST_M);
    if (small)
        return (size_t)random_in(state, FEWEST_M, FEWEST_M + 7);
    if (random_bits(state) % 2)
        return (size_t)random_in(state, FEWEST_M, MOST_M);
    return near < FEWEST_M ? FEWEST_M : near;
}

/* Any; whole 16 bytes of halves; the fewest tiles. */
static size_t draw_n(uint64_t *state)
{
    const size_t kind = random_bits(state) % 3;
    if (small)
        return (size_t)random_in(state, 1, 5) * 8;
    if (kind == 0)
        return (size_t)random_in(state, 1, MOST_N);
    return kind == 1 ? 8 * (size_t)random_in(state, 1, MOST_N / 8) : (size_t)random_in(state, 1, 260);
}

static size_t draw_k(const struct scheme *scheme, uint64_t *state)
{
    const size_t unit = is_sparse(scheme) ? 64 : 32;
    if (small)
        return unit * (size_t)random_in(state, 1, 3);
    return unit * (size_t)random_in(state, 1, random_bits(state) % 10 ? 36 : (int64_t)(5120 / unit));
}

/* Of everything that Y lies in; FNV-1a. */
static void print_hash(const struct problem *p)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < p->y_bytes + 2 * p->y_offset; i++)
        hash = (hash ^ p->y[i]) * 0x100000001b3u;
    printf("# %016llx\n", (unsigned long long)hash);
}

static void set_bias(struct problem *p, const struct weights *w, uint64_t *state)
{
    const int is_there = random_bits(state) % 2;
    p->product.bias = is_there ? w->bias : NULL;
    p->on_device.bias = is_there ? w->device_bias : NULL;
}

/* INT8 with a zero point of X and exponents of Y, and every fourth time with exponents and bias of any size. */
static void draw_numbers(struct problem *p, const struct weights *w, uint64_t *state)
{
    const int any = random_bits(state) % 4 == 0;
    const size_t m = p->product.m, n = w->host.n;
    p->product.x.zero_point = (int32_t)random_in(state, INT8_MIN, INT8_MAX);
    p->product.y.zero_point = (int32_t)random_in(state, INT8_MIN, INT8_MAX);
    p->product.y.n_y = any ? (int32_t)random_in(state, -150, 150) : (int32_t)random_in(state, -6, 4);
    for (size_t i = 0; i < m && any; i++)
        p->n_x[i] = (int8_t)random_bits(state);
    for (size_t i = 0; i < n && any; i++)
        w->bias[i] = (int32_t)random_bits(state);
    CUDA(cudaMemcpy(p->device_n_x, p->n_x, m, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(w->device_bias, w->bias, 4 * n, cudaMemcpyHostToDevice));
    p->on_device.x.zero_point = p->product.x.zero_point;
    p->on_device.y.zero_point = p->product.y.zero_point;
    p->on_device.y.n_y = p->product.y.n_y;
}

/* Five rows, evenly apart, or as many as there are, against the reference. */
static int plain_agrees(const struct scheme *scheme, const struct weights *w, uint64_t *state)
{
    const int is_aligned = random_bits(state) % 2; /* to 16 bytes, rows too, for some types and N */
    const size_t m = draw_m(scheme, state), offset = is_aligned ? 0 : random_bits(state) % 4;
    const size_t gap = is_aligned ? 8 * (random_bits(state) % 3) : random_bits(state) % 8;
    const pwl_qgemm_type x = draw_type_x(scheme, state), y = draw_type_y(scheme, state);
    struct problem p = new_problem(scheme, w, m, x, y, PWL_QGEMM_SUMS_EXACT, offset, gap,
                                   random_bits(state) % 5 == 0 && !is_sparse(scheme), state);
    const size_t apart = (m - 1) / 4, first = random_bits(state) % (m - 4 * apart);
    const size_t rows[] = {first, first + apart, first + 2 * apart, first + 3 * apart, first + 4 * apart};
    set_bias(&p, w, state);
    if (is_int8(scheme))
        draw_numbers(&p, w, state);
    struct expected expected = expect_rows(&p, rows, apart ? 5 : 1);
    int good = agrees_with(&p, kernel_for(scheme), &expected);
    if (is_sparse(scheme)) /* those that serve any scheme, one of them */
        good = good && agrees_with(&p, m > 8 && m % 2 ? PWL_QGEMM_TILED : PWL_QGEMM_NAIVE, &expected);
    if (bits)
        print_hash(&p);
    free_expected(&expected);
    free_problem(&p);
    return good;
}

/* All of Y against the same product without an activation. */
static int fused_product_agrees(const struct scheme *scheme, const struct weights *w, uint64_t *state)
{
    const int gated = w->host.n % 16 == 0 && random_bits(state) % 2, kind = (int)(random_bits(state) % 72);
    const size_t m = draw_m(scheme, state), n = w->host.n;
    const int is_aligned = random_bits(state) % 2;
    struct table table = new_table(kind, kind % 3 == PWL_INT8 ? 16 : 64, state);
    struct pair_bias pair = split_bias(w);
    const int int8 = is_int8(scheme);
    struct problem p = new_problem(scheme, w, m, draw_type_x(scheme, state), int8 ? PWL_QGEMM_S32 : PWL_QGEMM_F32,
                                   PWL_QGEMM_SUMS_EXACT, 8, 8, random_bits(state) % 5 == 0 && !is_sparse(scheme),
                                   state); /* room for the widest rows of Y */
    void *const values = need(4 * m * n);
    int8_t *const q_w = need(n * w->host.k), *const n_w = need(n);
    if (int8)
        PWL(pwl_qgemm_unpack_s8(&w->host, q_w, n_w));
    set_bias(&p, w, state);
    const int has_bias = p.product.bias != NULL;
    compute_values(&p, kernel_for(scheme), values);
    p.product.bias = has_bias && gated ? pair.gate : p.product.bias;
    p.on_device.bias = has_bias && gated ? pair.device_gate : p.on_device.bias;
    const struct y_kind *const y = draw_y_kind(table.host, int8, gated, Y_KINDS, state);
    pwl_qgemm_activation as =
        draw_activation(table.host, int8, gated, half_of_most(&p.product, values, 0x1p-13), y, state);
    pwl_qgemm_activation device_as = as;
    as.bias_up = has_bias && gated ? pair.up : NULL;
    device_as.bias_up = has_bias && gated ? pair.device_up : NULL;
    device_as.table = NULL;
    device_as.uploaded = &table.device;
    const int good =
        fused_agrees(&p, kernel_for(scheme), y, &as, &device_as, values, n_w, is_aligned ? 0 : random_bits(state) % 4,
                     is_aligned ? 4 * (random_bits(state) % 2) : random_bits(state) % 8);
    if (bits)
        print_hash(&p);
    free(values);
    free(q_w);
    free(n_w);
    free_problem(&p);
    free_bias(&pair);
    PWL(pwl_cuda_release(&table.device));
    return good;
}

/* Every fourth product has an activation. */
static void test_drawn(const struct scheme *scheme)
{
    uint64_t state = 81;
    int good = 1;
    for (int i = 0; i < (small ? 2 : bits ? 8 : is_int8(scheme) ? IN_INT8 : PRODUCTS) && good; i++) {
        const int fused = small ? i : i % 4 == 3;
        const size_t n = draw_n(&state), multiple = (n + 15) / 16 * 16;
        struct weights w = new_weights(scheme->format, fused && random_bits(&state) % 2 ? multiple : n,
                                       draw_k(scheme, &state), (int)random_in(&state, -8, 15), &state);
        good = (fused ? fused_product_agrees : plain_agrees)(scheme, &w, &state);
        if (!good)
            printf("# product %d\n", i);
        release(&w);
    }
    tap(good, "%s: products at random", scheme->name);
}

int main(int argc, char **argv)
{
    bits = argc == 2 && strcmp(argv[1], "bits") == 0;
    small = test_is_small(bits ? 1 : argc, argv);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes && runs_here(PWL_QGEMM_WGMMA); i++)
        test_drawn(&schemes[i]);
    if (runs_here(PWL_QGEMM_WGMMA_SPARSE))
        test_drawn(&sparse_scheme);
    if (!runs_here(PWL_QGEMM_WGMMA))
        tap(1, "wgmma # SKIP it has no code for this device");
    return tap_end();
}
