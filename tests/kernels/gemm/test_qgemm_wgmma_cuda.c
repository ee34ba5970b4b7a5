/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every tile of wgmma and wgmma_sparse, whichever the model of time would take: within the reference's bound, twice
 * with the same bits, for every type of Y, tiles that Y ends in, K that ends within a stage, one thread block to a tile
 * or two. X of one 1 gives weights back bit for bit.
 *
 * test_qgemm_wgmma_cuda        everything; exits 77 where there is no device
 * test_qgemm_wgmma_cuda small  some of it, for compute-sanitizer
 */
#include "../tap.h"
#include "gemm/activation.h"
#include "gemm/launch.h"
#include "expected.h"
#include "luts.h"

static const uint32_t sizes[] = {
#define TOKENS(count, ...) count,
    PWL_QGEMM_TILE_SIZES(TOKENS)
#undef TOKENS
};

static const uint32_t sparse_sizes[] = {
#define TOKENS(count, ...) count,
    PWL_QGEMM_SPARSE_TILE_SIZES(TOKENS)
#undef TOKENS
};

enum { N_MOST = 304, M_MOST = 530 };

static int small;

static int is_sparse(const struct scheme *scheme)
{
    return scheme->format == PWL_QGEMM_SPARSE4;
}

static size_t count_sizes(const struct scheme *scheme)
{
    return is_sparse(scheme) ? sizeof sparse_sizes / sizeof *sparse_sizes : sizeof sizes / sizeof *sizes;
}

static uint32_t size_of(const struct scheme *scheme, size_t i)
{
    return (is_sparse(scheme) ? sparse_sizes : sizes)[i];
}

/* Runs a product of halves in a tile, or in the size that serves every product where it must, their rows without gaps,
 * and brings everything back that Y lies in. */
static void run(const struct problem *p, const pwl_qgemm_tile *tile, uint8_t *to)
{
    const pwl_qgemm_input *const x = &p->on_device.x;
    const size_t row = 2 * p->on_device.weights->k;
    pwl_qgemm_call call;
    void *halves;
    CUDA(cudaMalloc(&halves, p->product.m * row));
    CUDA(cudaMemcpy2D(halves, row, x->data, 2 * x->stride, row, p->product.m, cudaMemcpyDeviceToDevice));
    memset(&call, 0, sizeof call);
    call.product = p->on_device;
    call.weights = *p->on_device.weights;
    if (p->on_device.activation) {
        const pwl_cuda_table *const uploaded = p->on_device.activation->uploaded;
        pwl_qgemm_codes codes;
        PWL(pwl_qgemm_host_codes(&p->on_device, &codes));
        call.epilogue = pwl_qgemm_epilogue_of(&p->on_device, &codes);
        call.table = (pwl_planned){pwl_cuda_plan_of(uploaded), uploaded->memory};
    }
    call.fast = pwl_qgemm_fast_of(&p->on_device, &call.epilogue, &call.table);
    call.h = halves;
    call.h_stride = p->on_device.weights->k;
    call.tile = *tile;
    call.tile.direct = (uint32_t)pwl_qgemm_is_direct(&p->on_device, p->on_device.weights);
    if (!call.tile.direct)
        call.tile.tokens = PWL_QGEMM_ANY_TOKENS;
    CUDA(cudaMemset(p->device_y, POISON, p->y_bytes + 2 * p->y_offset));
    CUDA((cudaError_t)(call.weights.format == PWL_QGEMM_SPARSE4 ? pwl_cuda_launch_qgemm_wgmma_sparse
                                                                : pwl_cuda_launch_qgemm_wgmma)(&call, NULL));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(to, p->device_y, p->y_bytes + 2 * p->y_offset, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(halves));
}

static int is_within(const struct problem *p, const double *value, const double *bound)
{
    const pwl_qgemm_output *const y = &p->product.y;
    const size_t n = p->product.weights->n;
    for (size_t i = 0; i < p->product.m * n; i++) {
        const double got = get(y->type, p->y + p->y_offset, i / n * y->stride + i % n);
        const double least = rounded(y->type, value[i] - bound[i]), most = rounded(y->type, value[i] + bound[i]);
        if (isnan(value[i]) ? isnan(got) : isinf(value[i]) ? got == value[i] : got >= least && got <= most)
            continue;
        printf("# row %zu, column %zu: %a, not %a +- %a\n", i / n, i % n, got, value[i], bound[i]);
        return 0;
    }
    return 1;
}

/* One product in every tile and on few thread blocks, so that each has several tiles, and on many. */
static int tiles_agree(const struct scheme *scheme, const struct weights *w, size_t m, pwl_qgemm_type x,
                       pwl_qgemm_type y, size_t gap, uint64_t *state)
{
    const size_t n = w->host.n;
    double *const value = need(m * n * sizeof *value), *const bound = need(m * n * sizeof *bound);
    struct problem p = new_problem(scheme, w, m, x, y, PWL_QGEMM_SUMS_EXACT, 0, gap,
                                   random_bits(state) % 4 == 0 && !is_sparse(scheme), state);
    int good = 1;
    p.product.bias = w->bias;
    p.on_device.bias = w->device_bias;
    PWL(pwl_qgemm_bound(&p.product, 0, value, bound));
    for (size_t i = 0; i < count_sizes(scheme) && good; i++) {
        const uint32_t size = size_of(scheme, i);
        for (uint32_t split = 1; split <= 2 && good; split++) {
            const pwl_qgemm_tile few = {size, split, 4, 0}, many = {size, split, 132, 0};
            for (int which = 0; which < 2 && good; which++) { /* once whole tiles, once shared, where there are both */
                run(&p, which ? &many : &few, p.y);
                run(&p, which || split == 1 ? &many : &few, p.again);
                good = is_guarded(&p) && memcmp(p.y, p.again, p.y_bytes + 2 * p.y_offset) == 0 &&
                       is_within(&p, value, bound);
            }
            if (!good)
                printf("# tile of %u, split %u, M = %zu, N = %zu, K = %zu, X %s, Y %s + %zu\n", size, split, m, n,
                       w->host.k, types[x], types[y], gap);
        }
    }
    free_problem(&p);
    free(value);
    free(bound);
    return good;
}

static void test_tiles(const struct scheme *scheme)
{
    static const size_t ks[] = {32, 96, 160, 1056}, ns[] = {1, 129, N_MOST, 256}, gaps[] = {0, 8, 11};
    uint64_t state = 51;
    int good = 1;
    for (size_t i = 0; i < (small ? 2 : 16) && good; i++) {
        const size_t m = i % 4 == 3 ? M_MOST : (size_t)random_in(&state, 1, small ? 70 : 300);
        const size_t k = ks[(i + i / 4) % 4] * (is_sparse(scheme) ? 2 : 1);
        struct weights w = new_weights(scheme->format, ns[i % 4], k, i % 3 ? -2 : 15, &state);
        for (int y = PWL_QGEMM_F32; y <= PWL_QGEMM_BF16 && good; y++)
            good = tiles_agree(scheme, &w, m, i % 2 ? PWL_QGEMM_F16 : PWL_QGEMM_BF16, (pwl_qgemm_type)y,
                               gaps[random_bits(&state) % 3], &state);
        release(&w);
    }
    tap(good, "%s: every tile", scheme->name);
}

/* Whether Y in F32 has the reference's bits. */
static int gives_back(const struct problem *p, const pwl_qgemm_tile *tile)
{
    const size_t n = p->product.weights->n;
    for (size_t i = 0; i < p->product.m * n; i++) {
        const double got = get(PWL_QGEMM_F32, p->y + p->y_offset, i), expected = get(PWL_QGEMM_F32, p->expected, i);
        if (memcmp(p->y + p->y_offset + 4 * i, p->expected + 4 * i, 4) == 0)
            continue;
        printf("# tile of %u, split %u: weight of row %zu, column %zu: %a, not %a\n", tile->tokens, tile->split, i % n,
               i / n, got, expected);
        return 0;
    }
    return 1;
}

/* Row m of X has its 1 in column m: the reference is exact. */
static void test_one_hot(const struct scheme *scheme)
{
    const size_t k = is_sparse(scheme) ? 320 : small ? 96 : 352;
    uint64_t state = 52;
    int good = 1;
    for (int type = PWL_QGEMM_F16; type <= PWL_QGEMM_BF16; type++) {
        struct weights w = new_weights(scheme->format, 200, k, type == PWL_QGEMM_F16 ? 15 : -2, &state);
        struct problem p =
            new_problem(scheme, &w, k, (pwl_qgemm_type)type, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, 0, 0, &state);
        memset(p.x, 0, p.x_bytes);
        for (size_t m = 0; m < k; m++)
            put_x((pwl_qgemm_type)type, p.x, m * k + m, 1);
        CUDA(cudaMemcpy(p.device_x, p.x, p.x_bytes, cudaMemcpyHostToDevice));
        PWL(pwl_qgemm_reference(&p.product));
        for (size_t i = 0; i < 2 * count_sizes(scheme); i++) {
            const pwl_qgemm_tile tile = {size_of(scheme, i / 2), 1 + i % 2, 132, 0};
            run(&p, &tile, p.y);
            good = good && gives_back(&p, &tile);
        }
        free_problem(&p);
        release(&w);
    }
    tap(good, "%s: a 1 in X gives each weight back", scheme->name);
}

/* Activations of blocks with several tiles, whose Y is stored some rows at a time, have the bits of those with one. */
static void test_activations(const struct scheme *scheme)
{
    static const struct {
        const pwl_table *table;
        pwl_qgemm_type y;
        size_t bytes;
        int gated;
    } cases[] = {{&pwl_gelu_s8, PWL_QGEMM_S8, 1, 0},
                 {&pwl_gelu_s16, PWL_QGEMM_S16, 2, 0},
                 {&pwl_gelu_s16, PWL_QGEMM_F16, 2, 0},
                 {&pwl_silu_s8, PWL_QGEMM_F32, 4, 1},
                 {&pwl_silu_s16, PWL_QGEMM_S8, 1, 1}};
    const size_t n = small ? 144 : 400, m = small ? 140 : M_MOST;
    const pwl_qgemm_tile few = {PWL_QGEMM_ANY_TOKENS, 1, 1, 0}, many = {PWL_QGEMM_ANY_TOKENS, 1, 132, 0};
    uint64_t state = 53;
    int good = 1;
    struct weights w = new_weights(scheme->format, n, is_sparse(scheme) ? 192 : 160, -2, &state);
    struct problem p = new_problem(scheme, &w, m, PWL_QGEMM_F16, PWL_QGEMM_F32, PWL_QGEMM_SUMS_EXACT, 0, 8, 1, &state);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pwl_cuda_table uploaded;
        PWL(pwl_cuda_upload(cases[i].table, &uploaded));
        const pwl_qgemm_activation as = {.table = cases[i].table,
                                         .uploaded = &uploaded,
                                         .of_x = {0.0625f, 0},
                                         .of_y = {0.0625f, 0},
                                         .gated = cases[i].gated,
                                         .of_out = {0.0625f, 0}};
        p.on_device.activation = &as;
        p.on_device.y.type = cases[i].y;
        p.on_device.y.stride = (cases[i].gated ? n / 2 : n) + 8;
        p.y_bytes = m * p.on_device.y.stride * cases[i].bytes;
        run(&p, &few, p.y);
        run(&p, &many, p.again);
        good &= memcmp(p.y, p.again, p.y_bytes + 2 * p.y_offset) == 0;
        p.on_device.activation = NULL;
        PWL(pwl_cuda_release(&uploaded));
    }
    free_problem(&p);
    release(&w);
    tap(good, "%s: activations of a block's first tile and of those after it", scheme->name);
}

/* X made halves in strips, meanwhile, gives the bits of X made before: as it is where it begins two bytes on. */
static void test_strips(pwl_qgemm_scheme scheme, pwl_qgemm_format format, const char *name)
{
    const size_t m = 1024, n = 4096, k = 4064, x_count = m * k, y_bytes = m * n * sizeof(uint16_t);
    uint64_t state = 57;
    struct weights w = new_weights(format, n, k, -2, &state);
    uint16_t *const x = need(x_count * sizeof *x), *const y = need(2 * y_bytes);
    char *device_x, *device_y, *workspace;
    size_t bytes;
    for (size_t i = 0; i < x_count; i++) /* some of it up to where f would not be 0 */
        x[i] = (uint16_t)(random_bits(&state) % (i / k % 8 ? 0x4800 : 0x7be0) | random_bits(&state) % 2 << 15);
    CUDA(cudaMalloc((void **)&device_x, x_count * sizeof *x + 2));
    CUDA(cudaMalloc((void **)&device_y, y_bytes));
    for (int shift = 0; shift < 2; shift++) {
        pwl_qgemm_product product = {.scheme = scheme, .m = m, .weights = &w.device};
        pwl_qgemm_kernel ran;
        product.x = (pwl_qgemm_input){device_x + 2 * shift, k, PWL_QGEMM_F16, 0, NULL, NULL};
        product.y = (pwl_qgemm_output){device_y, n, PWL_QGEMM_F16, 0, 0, NULL, 0};
        CUDA(cudaMemcpy(device_x + 2 * shift, x, x_count * sizeof *x, cudaMemcpyHostToDevice));
        CUDA(cudaMemset(device_y, POISON, y_bytes));
        PWL(pwl_cuda_qgemm_workspace(&product, &bytes));
        CUDA(cudaMalloc((void **)&workspace, bytes));
        CUDA(cudaMemset(workspace, POISON, bytes));
        PWL(pwl_cuda_qgemm(&product, workspace, bytes, &ran, NULL));
        CUDA(cudaMemcpy((char *)y + (size_t)shift * y_bytes, device_y, y_bytes, cudaMemcpyDeviceToHost));
        CUDA(cudaFree(workspace));
        tap(ran == PWL_QGEMM_WGMMA, "%s: wgmma", name);
    }
    tap(memcmp(y, (char *)y + y_bytes, y_bytes) == 0, "%s: X in strips", name);
    CUDA(cudaFree(device_x));
    CUDA(cudaFree(device_y));
    free(x);
    free(y);
    release(&w);
}

int main(int argc, char **argv)
{
    small = test_is_small(argc, argv);
    tap(pwl_cuda_qgemm_wgmma_runs() == runs_here(PWL_QGEMM_WGMMA), "wgmma runs on 9.0 where it has code for it");
    for (size_t i = 0; i < 4 && runs_here(PWL_QGEMM_WGMMA); i++) {
        const struct scheme *const scheme = i < 3 ? &schemes[i] : &sparse_scheme;
        test_tiles(scheme);
        test_one_hot(scheme);
        test_activations(scheme);
    }
    if (!small && runs_here(PWL_QGEMM_WGMMA)) {
        test_strips(PWL_QGEMM_W4A8, PWL_QGEMM_Q4_0, "W4A8");
        test_strips(PWL_QGEMM_W8A8, PWL_QGEMM_Q8_0, "W8A8");
    }
    return tap_end();
}
