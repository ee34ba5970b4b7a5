/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qgemm_group JSON: products of a mixture's experts by pwl_cuda_qgemm_group(), in gpt-oss's shapes:
 * 32 or 128 experts of 5760 x 2880 and 2880 x 2880, four of them a token, as drawn. Beside them what the products of
 * each expert alone take by pwl_cuda_qgemm(), one after the other in a graph. All take turns, in graphs of eight
 * launches, each with other experts, so that weights are cold where few tokens touch few of them; with 4 ms of rest
 * before each graph. bench_group_torch.py does the same by PyTorch.
 */
#define BENCH_REPETITIONS 11

#include <string.h>

#include <pwl/cuda_qgemm.h>
#include <pwl/half.h>

#include "../need.h"
#include "bench.h"
#include "tables.h"

enum { MOST_EXPERTS = 128, EACH = 4, ROUTES = 8, REST = 4000 /* us */, MOST_TOKENS = 8192, K = 2880, MOST_N = 5760 };

/* Which rows experts have, in each launch of a graph. */
static int32_t offsets[ROUTES][MOST_EXPERTS + 1];
static int32_t *offsets_there;

static const struct kind {
    const char *name;
    pwl_qgemm_scheme scheme;
    pwl_qgemm_format format;
    pwl_qgemm_type x, y;
    int gated, alone;
} kinds[] = {
    {"MXFP4 x A16", PWL_QGEMM_MXFP4_A16, PWL_QGEMM_MXFP4, PWL_QGEMM_BF16, PWL_QGEMM_BF16, 0, 0},
    {"each alone", PWL_QGEMM_MXFP4_A16, PWL_QGEMM_MXFP4, PWL_QGEMM_BF16, PWL_QGEMM_BF16, 0, 1},
    {"gated", PWL_QGEMM_MXFP4_A16, PWL_QGEMM_MXFP4, PWL_QGEMM_BF16, PWL_QGEMM_BF16, 1, 0},
    {"each alone", PWL_QGEMM_MXFP4_A16, PWL_QGEMM_MXFP4, PWL_QGEMM_BF16, PWL_QGEMM_BF16, 1, 1},
    {"W4A16", PWL_QGEMM_W4A16, PWL_QGEMM_Q4_0, PWL_QGEMM_F16, PWL_QGEMM_F16, 0, 0},
    {"MXFP4 x FP8", PWL_QGEMM_MXFP4_FP8, PWL_QGEMM_MXFP4_E4M3, PWL_QGEMM_E4M3, PWL_QGEMM_BF16, 0, 0},
    {"each alone", PWL_QGEMM_MXFP4_FP8, PWL_QGEMM_MXFP4_E4M3, PWL_QGEMM_E4M3, PWL_QGEMM_BF16, 0, 1},
    {"INT8", PWL_QGEMM_INT8, PWL_QGEMM_ROWS8, PWL_QGEMM_S8, PWL_QGEMM_S8, 0, 0},
    {"each alone", PWL_QGEMM_INT8, PWL_QGEMM_ROWS8, PWL_QGEMM_S8, PWL_QGEMM_S8, 0, 1},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* On the device. */
static struct {
    pwl_qgemm_weights weights[PWL_QGEMM_Q6_K + 1]; /* the first expert's, by format */
    void *x[PWL_QGEMM_E4M3 + 1], *y, *workspace;   /* X by type */
    float *scale;
    int8_t *n_x;
    pwl_cuda_table table;
} device;

enum { WORKSPACE = 256 << 20 };

struct work {
    const struct kind *kind;
    size_t experts, m, n;
    pwl_qgemm_activation as;
};

static pwl_qgemm_product product_of(const struct work *work)
{
    const struct kind *const kind = work->kind;
    pwl_qgemm_product product = {.scheme = kind->scheme, .m = work->m, .weights = &device.weights[kind->format]};
    product.x = (pwl_qgemm_input){device.x[kind->x], K, kind->x, 0, device.n_x, device.scale};
    product.y = (pwl_qgemm_output){device.y, kind->gated ? work->n / 2 : work->n, kind->y, 0, 0, NULL, 0};
    product.activation = kind->gated ? &work->as : NULL;
    return product;
}

/* The products of all experts that have rows. */
static void launch_alone(const struct work *work, const int32_t *rows, size_t apart, struct CUstream_st *stream)
{
    const pwl_qgemm_product all = product_of(work);
    const size_t x_bytes = all.x.type == PWL_QGEMM_BF16 ? 2 : 1, y_bytes = all.y.type == PWL_QGEMM_BF16 ? 2 : 1;
    for (size_t e = 0; e < work->experts; e++) {
        pwl_qgemm_product one = all;
        pwl_qgemm_weights own = *all.weights;
        const size_t begin = (size_t)rows[e];
        own.memory = (const char *)own.memory + e * apart;
        one.weights = &own;
        one.m = (size_t)rows[e + 1] - begin;
        one.x.data = (const char *)all.x.data + begin * K * x_bytes;
        one.x.n_x += begin;
        one.x.scale += begin;
        one.y.data = (char *)all.y.data + begin * all.y.stride * y_bytes;
        if (one.m)
            bench_need_ok((int)pwl_cuda_qgemm(&one, device.workspace, WORKSPACE, NULL, stream), "an expert");
    }
}

static const char *launch(const void *of, int turn, struct CUstream_st *stream)
{
    const struct work *const work = of;
    const pwl_qgemm_product product = product_of(work);
    const size_t apart = (product.weights->bytes + 15) / 16 * 16, at = (size_t)turn % ROUTES;
    const pwl_qgemm_group group = {work->experts, apart, offsets_there + at * (MOST_EXPERTS + 1)};
    if (work->kind->alone)
        launch_alone(work, offsets[at], apart, stream);
    else
        bench_need_ok((int)pwl_cuda_qgemm_group(&product, &group, device.workspace, WORKSPACE, stream), "a group");
    return NULL;
}

/* Four different experts a token; then where each expert's rows begin. */
static void draw_routes(size_t tokens, size_t experts)
{
    for (size_t route = 0; route < ROUTES; route++) {
        uint64_t state = 1000 * tokens + route;
        int32_t *const rows = offsets[route];
        memset(rows, 0, sizeof offsets[route]);
        for (size_t token = 0; token < tokens; token++) {
            uint64_t chosen[EACH];
            for (size_t i = 0; i < EACH; i++) {
                int again;
                do {
                    again = 0;
                    chosen[i] = random_bits(&state) % experts;
                    for (size_t j = 0; j < i; j++)
                        again |= chosen[j] == chosen[i];
                } while (again);
                rows[chosen[i] + 1]++;
            }
        }
        for (size_t e = 0; e < experts; e++)
            rows[e + 1] += rows[e];
    }
    CUDA(cudaMemcpy(offsets_there, offsets, sizeof offsets, cudaMemcpyHostToDevice));
}

/* One expert's weights, as many times as there are experts: uniform numbers. */
static void make_weights(pwl_qgemm_format format, const float *w, size_t experts, size_t n)
{
    pwl_qgemm_weights *const made = &device.weights[format];
    pwl_block_mxfp4 *const blocks = need(n * K / PWL_BLOCK * sizeof *blocks);
    size_t bytes;
    bench_need_ok((int)pwl_qgemm_weights_bytes(format, n, K, &bytes), "weights");
    void *const memory = need(bytes);
    pwl_qgemm_source source = pwl_qgemm_of_floats(format, PWL_RULE_DEFAULT, w, n, K);
    if (format == PWL_QGEMM_MXFP4_E4M3) {
        bench_need_ok((int)pwl_quantise(PWL_MXFP4, PWL_RULE_DEFAULT, w, n, K, K, blocks), "quantising");
        source = pwl_qgemm_of_blocks(format, blocks, n, K);
        source.spread = PWL_QGEMM_SPREAD_ROUNDED;
    }
    bench_need_ok((int)pwl_qgemm_pack(source, memory, bytes, made, NULL), "packing");
    const size_t apart = (made->bytes + 15) / 16 * 16;
    char *const there = bench_memory(experts * apart);
    for (size_t e = 0; e < experts; e++)
        CUDA(cudaMemcpy(there + e * apart, e ? there : memory, made->bytes,
                        e ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice));
    made->memory = there;
    free(memory);
    free(blocks);
}

static void make_all_weights(size_t experts, size_t n)
{
    float *const w = need(n * K * sizeof *w);
    uint64_t state = n;
    for (size_t i = 0; i < n * K; i++)
        w[i] = (float)random_in(&state, -8192, 8191) / 8192;
    make_weights(PWL_QGEMM_Q4_0, w, experts, n);
    make_weights(PWL_QGEMM_MXFP4, w, experts, n);
    make_weights(PWL_QGEMM_ROWS8, w, experts, n);
    make_weights(PWL_QGEMM_MXFP4_E4M3, w, experts, n);
    free(w);
}

static void free_all_weights(void)
{
    for (size_t i = 0; i <= PWL_QGEMM_Q6_K; i++) {
        CUDA(cudaFree((void *)(uintptr_t)device.weights[i].memory));
        device.weights[i].memory = NULL;
    }
}

static void make_inputs(void)
{
    const size_t m = MOST_TOKENS * EACH, count = m * K;
    uint16_t *const f16 = need(count * 2), *const bf16 = need(count * 2);
    int8_t *const s8 = need(count);
    uint64_t state = 5;
    for (size_t i = 0; i < count; i++) {
        const float v = (float)random_in(&state, -8192, 8191) / 8192;
        f16[i] = pwl_f16_from_f32(v);
        bf16[i] = pwl_bf16_from_f32(v);
        s8[i] = (int8_t)random_bits(&state);
    }
    device.x[PWL_QGEMM_F16] = bench_memory(count * 2);
    device.x[PWL_QGEMM_BF16] = bench_memory(count * 2);
    device.x[PWL_QGEMM_S8] = bench_memory(count);
    device.x[PWL_QGEMM_E4M3] = bench_memory(count);
    device.scale = bench_memory(m * sizeof *device.scale);
    device.n_x = bench_memory(m);
    device.y = bench_memory(m * MOST_N * 2);
    device.workspace = bench_memory(WORKSPACE);
    offsets_there = bench_memory(sizeof offsets);
    CUDA(cudaMemcpy(device.x[PWL_QGEMM_F16], f16, count * 2, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(device.x[PWL_QGEMM_BF16], bf16, count * 2, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(device.x[PWL_QGEMM_S8], s8, count, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(device.n_x, 7, m));
    bench_need_ok((int)pwl_cuda_qgemm_quantise_e4m3(PWL_QGEMM_F16, device.x[PWL_QGEMM_F16], m, K, K,
                                                    device.x[PWL_QGEMM_E4M3], device.scale, NULL),
                  "quantising");
    CUDA(cudaDeviceSynchronize());
    bench_need_ok((int)pwl_cuda_upload(shipped("pwl_silu_s16"), &device.table), "upload");
    free(f16);
    free(bf16);
    free(s8);
}

static void bench(size_t experts, size_t n, size_t tokens)
{
    struct work works[KINDS];
    pwl_timing_work launches[KINDS];
    pwl_timing times[KINDS];
    size_t active = 0;
    draw_routes(tokens, experts);
    for (size_t e = 0; e < experts; e++)
        active += offsets[0][e + 1] > offsets[0][e];
    for (int i = 0; i < KINDS; i++) {
        works[i] = (struct work){&kinds[i], experts, tokens * EACH, n, {.uploaded = &device.table, .gated = 1}};
        works[i].as.of_x = works[i].as.of_y = (pwl_affine){0x1p-12f, 0};
        works[i].as.up_limit = 7;
        works[i].as.up_plus = 1;
        launches[i] = (pwl_timing_work){launch, &works[i]};
    }
    bench_need(pwl_timing_measure_rested(launches, KINDS, ROUTES, BENCH_REPETITIONS, REST, times, bench_stream));
    printf("| %zu | %zu | %zu | %zu |", experts, n, tokens, active);
    for (int i = 0; i < KINDS; i++) {
        printf(" %.1f |", (double)times[i].median);
        fprintf(bench_json, "{\"bench\": \"qgemm_group\", \"device\": \"%s\", \"experts\": %zu, \"n\": %zu, \"k\": %d",
                bench_device.name, experts, n, (int)K);
        fprintf(bench_json, ", \"tokens\": %zu, \"scheme\": \"%s\", \"kind\": \"%s\"", tokens,
                kinds[i - kinds[i].alone].name, kinds[i].name);
        bench_print_time("rested", &times[i]);
        fprintf(bench_json, "}\n");
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t all[] = {1, 8, 32, 128, 512, 2048, MOST_TOKENS};
    bench_open(argc, argv);
    make_inputs();
    printf("us, rested\n\n| experts | N | tokens | experts with rows |");
    for (int i = 0; i < KINDS; i++)
        printf(" %s |", kinds[i].name);
    printf("\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t experts = 32; experts <= MOST_EXPERTS; experts *= 4) {
        for (size_t n = MOST_N; n >= K; n /= 2) {
            make_all_weights(experts, n);
            for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
                bench(experts, n, all[i]);
            free_all_weights();
        }
    }
    return bench_close();
}
