/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of products on a device, drawn: rows of Y within the reference's bound, INT8 its bits; twice with the same
 * bits; nothing written but the rows that an expert has. With an activation, plain and gated, the bits of what the same
 * kernels store in F32 or S32, mapped on the host. Up to 128 experts, with none to all of the rows, and offsets that
 * are none. And rows gathered and combined, bit for bit.
 *
 * test_qgemm_group_cuda        everything, on one device; exits 77 where there is none
 * test_qgemm_group_cuda small  some of it, for compute-sanitizer
 */
#include <stdbool.h>

#include "../tap.h"
#include "expected.h"
#include "fp8_cases.h"
#include "fused.h"
#include "gemm/expert.h"
#include "gemm/group.h"

enum { GROUPS = 150 /* of a scheme */, MOST_EXPERTS = 128, SAMPLES = 6 };

static int small;

static const struct scheme group_schemes[] = {{"W4A16", PWL_QGEMM_Q4_0, 0, PWL_QGEMM_W4A16},
                                              {"W8A16", PWL_QGEMM_Q8_0, 0, PWL_QGEMM_W8A16},
                                              {"MXFP4 x A16", PWL_QGEMM_MXFP4, 0, PWL_QGEMM_MXFP4_A16},
                                              {"INT8", PWL_QGEMM_ROWS8, 0, PWL_QGEMM_INT8},
                                              {"INT8 of 4 bits", PWL_QGEMM_ROWS4, 0, PWL_QGEMM_INT8},
                                              {"FP8", PWL_QGEMM_ROWS_E4M3, 0, PWL_QGEMM_FP8},
                                              {"MXFP4 x FP8", PWL_QGEMM_MXFP4_E4M3, 0, PWL_QGEMM_MXFP4_FP8}};

enum { SCHEMES = sizeof group_schemes / sizeof group_schemes[0] };

static bool is_int8(const struct scheme *scheme)
{
    return scheme->scheme == PWL_QGEMM_INT8;
}

static bool is_fp8(const struct scheme *scheme)
{
    return scheme->scheme >= PWL_QGEMM_FP8;
}

/* -- Operands ------------------------------------------------------------------------------------------------------ */

/* A group on both sides; the rows of experts by offsets as the header defines them, on the host. */
struct group {
    struct weights w; /* the first expert's; bias of all */
    pwl_qgemm_group host, device;
    int32_t offsets[MOST_EXPERTS + 1];
};

/* One expert's weights, to be freed; row_data only as they need it. */
static pwl_qgemm_weights draw_expert(const struct scheme *scheme, size_t n, size_t k, int high, uint64_t *state)
{
    struct weights one;
    if (is_fp8(scheme))
        return new_fp8_weights(scheme->format, FP8_ANY, n, k, state);
    one = new_weights(scheme->format, n, k, high, state);
    CUDA(cudaFree((void *)(uintptr_t)one.device.memory));
    CUDA(cudaFree(one.device_bias));
    free(one.bias);
    return one.host;
}

static void draw_weights(struct group *g, const struct scheme *scheme, size_t n, size_t k, uint64_t *state)
{
    const size_t experts = g->host.experts;
    const int high = random_bits(state) % 4 ? -2 : 15;
    size_t bytes;
    PWL(pwl_qgemm_weights_bytes(scheme->format, n, k, &bytes));
    g->host.apart = (bytes + 15) / 16 * 16 + 16 * (random_bits(state) % 3);
    uint8_t *const memory = need(experts * g->host.apart);
    memset(memory, 0, experts * g->host.apart); /* exponents of those that have none */
    int32_t row_data = 0;
    for (size_t e = 0; e < experts; e++) {
        pwl_qgemm_weights one = draw_expert(scheme, n, k, high, state);
        memcpy(memory + e * g->host.apart, one.memory, one.bytes);
        row_data = row_data || one.row_data;
        g->w.host = one;
        free_weights(&one);
    }
    g->w.host.memory = memory;
    g->w.host.row_data = row_data;
    if (row_data)
        g->w.host.bytes = bytes;
    g->w.bias = need(4 * n * experts);
    for (size_t i = 0; i < n * experts; i++) {
        const int32_t bias = (int32_t)random_in(state, -1000, 1000);
        if (is_int8(scheme))
            g->w.bias[i] = bias;
        else
            ((float *)g->w.bias)[i] = (float)bias / 64;
    }
    g->w.device = g->w.host;
    g->w.device.memory = on_device(memory, experts * g->host.apart);
    g->w.device_bias = on_device(g->w.bias, 4 * n * experts);
}

/* Rows of experts: alike, as they fall, all of one, of few, or of offsets at random. */
static void draw_offsets(struct group *g, size_t m, uint64_t *state)
{
    const size_t experts = g->host.experts, kind = random_bits(state) % 5, one = random_bits(state) % experts;
    int32_t *const offsets = g->offsets;
    offsets[0] = 0;
    for (size_t e = 0; e < experts; e++)
        offsets[e + 1] = kind == 0   ? (int32_t)(m * (e + 1) / experts)
                         : kind == 1 ? (int32_t)random_in(state, 0, (int64_t)m)
                         : kind == 2 ? (e >= one ? (int32_t)m : 0)
                         : kind == 3 ? (int32_t)(e / 4 * 4 * m / experts)
                                     : (int32_t)random_in(state, -5, (int64_t)m + 5);
    for (size_t e = 1; e <= experts && kind == 1; e++) { /* sorted */
        for (size_t i = e; i > 0 && offsets[i - 1] > offsets[i]; i--) {
            const int32_t before = offsets[i - 1];
            offsets[i - 1] = offsets[i];
            offsets[i] = before;
        }
    }
}

static struct group *new_group(const struct scheme *scheme, size_t experts, size_t m, size_t n, size_t k,
                               uint64_t *state)
{
    struct group *const g = need(sizeof *g);
    g->host.experts = experts;
    draw_weights(g, scheme, n, k, state);
    draw_offsets(g, m, state);
    g->host.offsets = g->offsets;
    g->device = g->host;
    g->device.offsets = on_device(g->offsets, (experts + 1) * sizeof *g->offsets);
    return g;
}

static void free_group(struct group *g)
{
    CUDA(cudaFree((void *)(uintptr_t)g->device.offsets));
    release(&g->w);
    free(g);
}

/* The expert that has a row, or the number of experts. */
static size_t expert_of_row(const struct group *g, size_t m, size_t row)
{
    int32_t highest = 0;
    for (size_t e = 0; e < g->host.experts; e++) {
        const int32_t begin = g->offsets[e], end = g->offsets[e + 1];
        const uint32_t rows = pwl_qgemm_expert_rows(begin, end, highest, m);
        if (row - (size_t)begin < rows)
            return e;
        highest = begin > highest ? begin : highest;
    }
    return g->host.experts;
}

/* -- Results ------------------------------------------------------------------------------------------------------- */

static void compute_group(const struct problem *p, const struct group *g, uint8_t *to)
{
    size_t bytes;
    void *workspace;
    PWL(pwl_cuda_qgemm_group_workspace(&p->on_device, &g->device, &bytes));
    CUDA(cudaMalloc(&workspace, bytes + 16));
    CUDA(cudaMemset(workspace, POISON, bytes + 16));
    CUDA(cudaMemset(p->device_y, POISON, p->y_bytes + 2 * p->y_offset));
    PWL(pwl_cuda_qgemm_group(&p->on_device, &g->device, workspace, bytes, NULL));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(to, p->device_y, p->y_bytes + 2 * p->y_offset, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(workspace));
}

/* Nothing but rows of experts was written. */
static bool is_guarded_group(const struct problem *p, const struct group *g)
{
    const size_t row = p->product.y.stride * element_bytes[p->product.y.type];
    if (!is_guarded(p))
        return false;
    for (size_t m = 0; m < p->product.m; m++) {
        const uint8_t *const at = p->y + p->y_offset + m * row;
        const bool is_any = expert_of_row(g, p->product.m, m) < g->host.experts;
        for (size_t i = 0; i < row && !is_any; i++) {
            if (at[i] != POISON)
                return false;
        }
    }
    return true;
}

/* A row of Y by the reference; INT8 and all else. */
static bool one_row_agrees(const struct problem *p, const struct group *g, size_t row)
{
    const pwl_qgemm_output *const y = &p->product.y;
    const size_t n = p->product.weights->n, element = element_bytes[y->type], e = expert_of_row(g, p->product.m, row);
    const uint8_t *const got_row = p->y + p->y_offset + row * y->stride * element;
    pwl_qgemm_expert expert;
    bool good = true;
    if (e == g->host.experts)
        return true;
    pwl_qgemm_expert_of_group(&p->product, &g->host, e, row, 1, &expert);
    if (p->product.scheme == PWL_QGEMM_INT8) {
        PWL(pwl_qgemm_reference(&expert.product));
        return memcmp(expert.product.y.data, got_row, n * element) == 0;
    }
    double *const value = need(n * sizeof *value), *const bound = need(n * sizeof *bound);
    PWL(pwl_qgemm_bound(&expert.product, 0, value, bound));
    for (size_t i = 0; i < n && good; i++) {
        const double got = get(y->type, got_row, i), v = value[i], off = bound[i];
        good = isnan(v)   ? isnan(got)
               : isinf(v) ? got == v
                          : got >= rounded(y->type, v - off) && got <= rounded(y->type, v + off);
        if (!good)
            printf("# row %zu, expert %zu, column %zu: %a, not %a +- %a\n", row, e, i, got, v, off);
    }
    free(value);
    free(bound);
    return good;
}

static bool group_agrees(const struct problem *p, const struct group *g, uint64_t *state)
{
    compute_group(p, g, p->y);
    compute_group(p, g, p->again);
    bool good = is_guarded_group(p, g) && memcmp(p->y, p->again, p->y_bytes + 2 * p->y_offset) == 0;
    if (!good)
        printf("# guards, or other bits\n");
    for (size_t i = 0; i < SAMPLES && good; i++)
        good = one_row_agrees(p, g, random_bits(state) % p->product.m);
    for (size_t i = 0; i < 4 && good; i++) { /* first and last rows of an expert */
        const int64_t row = g->offsets[random_bits(state) % (g->host.experts + 1)] - (int64_t)(i % 2);
        good = row < 0 || (size_t)row >= p->product.m || one_row_agrees(p, g, (size_t)row);
    }
    if (!good)
        printf("# scheme %d, %zu experts, M = %zu, N = %zu, K = %zu, X of type %d + %zu, Y %s + %zu, row data %d\n",
               (int)p->product.scheme, g->host.experts, p->product.m, p->product.weights->n, p->product.weights->k,
               (int)p->product.x.type, p->product.x.stride, types[p->product.y.type], p->product.y.stride,
               (int)p->product.weights->row_data);
    return good;
}

static struct problem draw_problem(const struct scheme *scheme, struct group *g, size_t m, pwl_qgemm_type y,
                                   size_t offset, size_t gap, uint64_t *state)
{
    static const pwl_qgemm_sums kinds[] = {PWL_QGEMM_SUMS_EXACT, PWL_QGEMM_SUMS_OF_512, PWL_QGEMM_SUMS_OF_128};
    const pwl_qgemm_sums sums = is_fp8(scheme) ? kinds[random_bits(state) % 3] : PWL_QGEMM_SUMS_EXACT;
    const pwl_qgemm_type x = is_int8(scheme) ? PWL_QGEMM_S8 : (pwl_qgemm_type)(random_bits(state) % 3);
    struct problem p = new_problem(scheme, &g->w, m, x, y, sums, offset, gap, random_bits(state) % 4 == 0, state);
    const int has_bias = (int)(random_bits(state) % 2);
    p.product.bias = has_bias ? g->w.bias : NULL;
    p.on_device.bias = has_bias ? g->w.device_bias : NULL;
    return p;
}

static size_t draw_experts(uint64_t *state)
{
    static const size_t counts[] = {1, 2, 3, 8, 31, 32, 33, 64, 100, MOST_EXPERTS};
    return counts[random_bits(state) % (small ? 4 : sizeof counts / sizeof counts[0])];
}

static size_t draw_m(uint64_t *state)
{
    static const int64_t mosts[] = {1, 20, 130, 900, 2500};
    return (size_t)random_in(state, 1, mosts[random_bits(state) % (small ? 3 : 5)]);
}

/* Few products are wide or deep, since all experts' weights are packed for each. */
static size_t draw_n(size_t experts, int gated, uint64_t *state)
{
    const size_t most = small ? 70 : experts > 8 ? 140 : 600, n = (size_t)random_in(state, 1, (int64_t)most);
    return gated ? (n + 15) / 16 * 16 : random_bits(state) % 2 ? (n + 7) / 8 * 8 : n;
}

static size_t draw_k(size_t experts, uint64_t *state)
{
    return 32 * (size_t)random_in(state, 1, small ? 6 : experts > 8 ? 12 : 40);
}

/* -- Products ------------------------------------------------------------------------------------------------------ */

static bool plain_group_agrees(const struct scheme *scheme, uint64_t *state)
{
    const size_t experts = draw_experts(state), m = draw_m(state), is_aligned = random_bits(state) % 2;
    struct group *const g = new_group(scheme, experts, m, draw_n(experts, 0, state), draw_k(experts, state), state);
    const size_t offset = is_aligned ? 0 : random_bits(state) % 4;
    const size_t gap = is_aligned ? (16 - g->w.host.n % 16) % 16 : random_bits(state) % 8;
    struct problem p = draw_problem(scheme, g, m, draw_type_y(scheme, state), offset, gap, state);
    const bool good = group_agrees(&p, g, state);
    free_problem(&p);
    free_group(g);
    return good;
}

/* What the group's kernels store in F32 or S32; rows that no expert has are 0. */
static void compute_group_values(struct problem *p, const struct group *g, void *values)
{
    const size_t n = p->product.weights->n;
    set_y(p, &y_kinds[p->product.scheme == PWL_QGEMM_INT8 ? 4 : Y_INTEGERS], n, 0, 0);
    compute_group(p, g, p->y);
    memcpy(values, p->y + p->y_offset, 4 * p->product.m * n);
    for (size_t m = 0; m < p->product.m; m++) {
        if (expert_of_row(g, p->product.m, m) == g->host.experts)
            memset((char *)values + 4 * m * n, 0, 4 * n);
    }
}

/* Y with an activation, which is the product's, of all rows that have an expert. */
static void map_values(const struct problem *p, const struct group *g, const struct y_kind *y, const void *values,
                       uint8_t *expected)
{
    const size_t n = p->product.weights->n, k = p->product.weights->k;
    int8_t *const q_w = need(n * k), *const n_w = need(n);
    for (size_t m = 0; m < p->product.m; m++) {
        const size_t e = expert_of_row(g, p->product.m, m);
        pwl_qgemm_expert expert;
        if (e == g->host.experts)
            continue;
        pwl_qgemm_expert_of_group(&p->product, &g->host, e, m, 1, &expert);
        if (p->product.scheme == PWL_QGEMM_INT8)
            PWL(pwl_qgemm_unpack_s8(&expert.weights, q_w, n_w));
        activate(&expert.product, y, (const char *)values + 4 * m * n, n_w,
                 expected + p->y_offset + m * p->product.y.stride * y->bytes, p->product.y.stride);
    }
    free(q_w);
    free(n_w);
}

/* In E4M3, what is stored in F32 being known. */
static bool e4m3_group_agrees(struct problem *p, const struct group *g, const float *values, size_t offset, size_t gap)
{
    const size_t n = p->product.weights->n;
    set_y(p, &y_kinds[Y_E4M3], n, offset, gap);
    compute_group(p, g, p->y);
    uint8_t *const expected = need(p->y_bytes + 2 * p->y_offset);
    memset(expected, POISON, p->y_bytes + 2 * p->y_offset);
    for (size_t m = 0; m < p->product.m; m++) {
        if (expert_of_row(g, p->product.m, m) != g->host.experts)
            put_e4m3(&p->product.y, m, values + m * n, n, expected + p->y_offset + m * p->product.y.stride);
    }
    const bool good = memcmp(p->y, expected, p->y_bytes + 2 * p->y_offset) == 0 && scales_agree(p);
    if (!good)
        printf("# E4M3: %zu experts, M = %zu, N = %zu, K = %zu, gap %zu\n", g->host.experts, p->product.m, n,
               p->product.weights->k, gap);
    free(expected);
    return good;
}

static bool fused_group_agrees(const struct scheme *scheme, uint64_t *state)
{
    const size_t experts = draw_experts(state) % 40 + 1, m = draw_m(state) % 400 + 1, kind = random_bits(state) % 72;
    const int gated = (int)(random_bits(state) % 2), has_bias = (int)(random_bits(state) % 2);
    const size_t n = draw_n(experts, gated, state), all = experts * n;
    struct group *const g = new_group(scheme, experts, m, n, draw_k(experts, state), state);
    struct table table = new_table((int)kind, kind % 3 == PWL_INT8 ? 16 : 64, state);
    struct problem p = draw_problem(scheme, g, m, is_int8(scheme) ? PWL_QGEMM_S32 : PWL_QGEMM_F32, 8, 8, state);
    struct weights bias = {.host = {.n = all}, .bias = g->w.bias}; /* N is a multiple of 16, so experts' are in turns */
    struct pair_bias pair = split_bias(&bias);
    void *const values = need(4 * m * n);
    p.product.bias = has_bias ? g->w.bias : NULL;
    p.on_device.bias = has_bias ? g->w.device_bias : NULL;
    compute_group_values(&p, g, values);
    const size_t any = random_bits(state);
    const bool is_e4m3 = is_int8(scheme) || e4m3_group_agrees(&p, g, values, any % 3, any % 2 ? any / 2 % 8 : 0);
    const struct y_kind *const y = draw_y_kind(table.host, is_int8(scheme), gated, Y_DYNAMIC, state);
    pwl_qgemm_activation as =
        draw_activation(table.host, is_int8(scheme), gated, half_of_most(&p.product, values, 0x1p-13), y, state);
    const size_t is_aligned = random_bits(state) % 2;
    set_y(&p, y, gated ? n / 2 : n, is_aligned ? 0 : random_bits(state) % 4,
          is_aligned ? 4 * (random_bits(state) % 2) : random_bits(state) % 8);
    pwl_qgemm_activation device_as = as;
    p.product.bias = has_bias && gated ? pair.gate : p.product.bias;
    p.on_device.bias = has_bias && gated ? pair.device_gate : p.on_device.bias;
    as.bias_up = has_bias && gated ? pair.up : NULL;
    device_as.bias_up = has_bias && gated ? pair.device_up : NULL;
    device_as.table = NULL;
    device_as.uploaded = &table.device;
    p.product.activation = &as;
    p.on_device.activation = &device_as;
    compute_group(&p, g, p.y);
    uint8_t *const expected = need(p.y_bytes + 2 * p.y_offset);
    memset(expected, POISON, p.y_bytes + 2 * p.y_offset);
    map_values(&p, g, y, values, expected);
    const bool good = is_e4m3 && memcmp(p.y, expected, p.y_bytes + 2 * p.y_offset) == 0 && scales_agree(&p);
    if (!good)
        printf("# %zu experts, M = %zu, N = %zu, K = %zu, X of type %d, Y %s + %zu, gated %d, limit %g, plus %g, table "
               "%zu\n",
               experts, m, n, p.product.weights->k, (int)p.product.x.type, y->name, p.product.y.stride, gated,
               (double)as.up_limit, (double)as.up_plus, kind);
    p.product.activation = p.on_device.activation = NULL;
    free(expected);
    free(values);
    free_bias(&pair);
    free_problem(&p);
    PWL(pwl_cuda_release(&table.device));
    free_group(g);
    return good;
}

static void test_drawn(const struct scheme *scheme)
{
    uint64_t state = 91;
    bool plain = true, fused = true;
    for (int i = 0; i < (small ? 6 : GROUPS) && plain; i++)
        plain = plain_group_agrees(scheme, &state);
    tap(plain, "%s: groups", scheme->name);
    for (int i = 0; i < (small ? 6 : GROUPS) && fused; i++)
        fused = fused_group_agrees(scheme, &state);
    tap(fused, "%s: groups with an activation", scheme->name);
}

/* Many rows, so that each size of tiles is seen, whole ones too. */
static void test_sizes(const struct scheme *scheme)
{
    static const size_t ms[] = {4, 40, 100, 200, 500, 1100, 2600};
    uint64_t state = 92;
    bool good = true;
    for (size_t i = 0; i < sizeof ms / sizeof ms[0] && good; i++) {
        struct group *const g = new_group(scheme, 4, ms[i], 264, 320, &state);
        struct problem p = draw_problem(scheme, g, ms[i], is_int8(scheme) ? PWL_QGEMM_S8 : PWL_QGEMM_F16, 0,
                                        is_int8(scheme) ? 8 : 0, &state);
        good = group_agrees(&p, g, &state);
        free_problem(&p);
        free_group(g);
    }
    tap(good, "%s: every size of tiles", scheme->name);
}

/* -- Rows ---------------------------------------------------------------------------------------------------------- */

static void test_gather(void)
{
    uint64_t state = 93;
    bool good = true;
    for (int i = 0; i < (small ? 4 : 60) && good; i++) {
        const size_t aligned = random_bits(&state) % 2 ? 16 : 1, rows = (size_t)random_in(&state, 1, 50);
        const size_t bytes = aligned * (size_t)random_in(&state, 1, 200), count = (size_t)random_in(&state, 1, 90);
        const size_t x_stride = bytes + aligned * (random_bits(&state) % 3), y_stride = bytes + aligned;
        uint8_t *const x = need(rows * x_stride), *const y = need(count * y_stride),
                       *const got = need(count * y_stride);
        int32_t *const index = need(count * sizeof *index);
        for (size_t k = 0; k < rows * x_stride; k++)
            x[k] = (uint8_t)random_bits(&state);
        memset(y, POISON, count * y_stride);
        void *const to = on_device(y, count * y_stride), *const from = on_device(x, rows * x_stride);
        for (size_t k = 0; k < count; k++) {
            index[k] = (int32_t)random_in(&state, -1, (int64_t)rows);
            memset(y + k * y_stride, 0, bytes);
            if (index[k] >= 0 && (size_t)index[k] < rows)
                memcpy(y + k * y_stride, x + (size_t)index[k] * x_stride, bytes);
        }
        int32_t *const there = on_device(index, count * sizeof *index);
        PWL(pwl_cuda_qgemm_gather(from, rows, x_stride, there, count, bytes, to, y_stride, NULL));
        CUDA(cudaMemcpy(got, to, count * y_stride, cudaMemcpyDeviceToHost));
        good = memcmp(got, y, count * y_stride) == 0;
        CUDA(cudaFree(to));
        CUDA(cudaFree(from));
        CUDA(cudaFree(there));
        free(x);
        free(y);
        free(got);
        free(index);
    }
    tap(good, "rows gathered");
}

static void test_combine(void)
{
    uint64_t state = 94;
    bool good = true;
    for (int i = 0; i < (small ? 4 : 60) && good; i++) {
        const pwl_qgemm_type type = (pwl_qgemm_type)(random_bits(&state) % 3);
        const size_t rows = (size_t)random_in(&state, 1, 50), columns = (size_t)random_in(&state, 1, 300);
        const size_t tokens = (size_t)random_in(&state, 1, 40), each = (size_t)random_in(&state, 1, 5);
        const size_t element = element_bytes[type], bytes = rows * columns * element,
                     out_bytes = tokens * columns * element;
        uint8_t *const y = need(bytes), *const out = need(out_bytes), *const got = need(out_bytes);
        int32_t *const index = need(tokens * each * sizeof *index);
        float *const weight = need(tokens * each * sizeof *weight);
        for (size_t k = 0; k < rows * columns; k++)
            put_x(type, y, k, (float)random_in(&state, -4096, 4095) / 1000);
        for (size_t k = 0; k < tokens * each; k++) {
            index[k] = (int32_t)random_in(&state, -1, (int64_t)rows);
            weight[k] = (float)random_in(&state, 0, 1000) / 999;
        }
        for (size_t k = 0; k < tokens * columns; k++) {
            float sum = 0;
            for (size_t j = 0; j < each; j++) {
                const int32_t row = index[k / columns * each + j];
                if (row >= 0 && (size_t)row < rows)
                    sum = fmaf(weight[k / columns * each + j], (float)get(type, y, (size_t)row * columns + k % columns),
                               sum);
            }
            put_x(type, out, k, sum);
        }
        void *const from = on_device(y, bytes), *const to = on_device(out, out_bytes);
        void *const there = on_device(index, tokens * each * sizeof *index);
        void *const weights = on_device(weight, tokens * each * sizeof *weight);
        CUDA(cudaMemset(to, POISON, out_bytes));
        PWL(pwl_cuda_qgemm_combine(type, from, rows, columns, columns, there, weights, tokens, each, to, columns,
                                   NULL));
        CUDA(cudaMemcpy(got, to, out_bytes, cudaMemcpyDeviceToHost));
        good = memcmp(got, out, out_bytes) == 0;
        CUDA(cudaFree(from));
        CUDA(cudaFree(to));
        CUDA(cudaFree(there));
        CUDA(cudaFree(weights));
        free(y);
        free(out);
        free(got);
        free(index);
        free(weight);
    }
    tap(good, "rows combined");
}

/* Elsewhere the kernels are not there, and say so. */
static void test_refused(void)
{
    uint64_t state = 95;
    size_t bytes;
    struct group *const g = new_group(&group_schemes[0], 2, 8, 64, 64, &state);
    struct problem p = draw_problem(&group_schemes[0], g, 8, PWL_QGEMM_F16, 0, 0, &state);
    tap(pwl_cuda_qgemm_group_workspace(&p.on_device, &g->device, &bytes) == PWL_QGEMM_ERR_KERNEL,
        "groups are refused on this device");
    free_problem(&p);
    free_group(g);
}

int main(int argc, char **argv)
{
    small = test_is_small(argc, argv);
    test_gather();
    test_combine();
    if (!runs_here(PWL_QGEMM_WGMMA)) {
        test_refused();
        return tap_end();
    }
    for (size_t i = 0; i < SCHEMES; i++) {
        test_drawn(&group_schemes[i]);
        if (!small)
            test_sizes(&group_schemes[i]);
    }
    return tap_end();
}
