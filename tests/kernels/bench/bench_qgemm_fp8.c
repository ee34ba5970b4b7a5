/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qgemm_fp8 JSON [N,K[,M...]]: FP8 and MXFP4 x FP8 by the kernel that pwl_cuda_qgemm() chooses, of E4M3 that is
 * there, to fp16, with sums in the tensor cores' few bits along all of K, 512 or 128 columns; quantising X of fp16 on
 * the way; and to E4M3 by given scales, by dynamic ones, which are found in Y of fp32, and to that alone. Beside
 * cuBLASLt's product of fp16, which the others' speed is told by, and of E4M3 with what it calls fast accumulation. All
 * take turns, among at least 400 MB of weights each, in graphs of one round: with 4 ms of rest before each, then
 * without. Without a shape: those of the tables in kernels/RESULTS.md.
 */
#define BENCH_REPETITIONS 21

#include <pwl/cublaslt.h>
#include <pwl/cuda_qgemm.h>
#include <pwl/half.h>

#include "../need.h"
#include "bench.h"
#include "shapes.h"

enum { MOST_COPIES = 64, OUTPUTS = 4, REST = 4000 /* us */, KINDS = 12, FIRST = 2 /* of the project's */ };

#define COLD 400000000 /* bytes */

#define TABLE                                                                                                          \
    {                                                                                                                  \
        16, 64, 128, 256, 512, 1024, 4096                                                                              \
    }

static const struct shape tables[] = {{4096, 4096, TABLE}, {4096, 14336, TABLE}, {14336, 4096, TABLE}};

/* Kinds of products, the first two of cuBLASLt. */
static const struct kind {
    const char *name;
    pwl_qgemm_scheme scheme;
    pwl_qgemm_sums sums;
    pwl_qgemm_type x, y;
    int dynamic; /* scales of Y */
} kinds[KINDS] = {
    {"cuBLASLt fp16", PWL_QGEMM_FP8, PWL_QGEMM_SUMS_EXACT, PWL_QGEMM_F16, PWL_QGEMM_F16, 0},
    {"cuBLASLt E4M3", PWL_QGEMM_FP8, PWL_QGEMM_SUMS_EXACT, PWL_QGEMM_E4M3, PWL_QGEMM_F16, 0},
    {"MXFP4 x FP8", PWL_QGEMM_MXFP4_FP8, PWL_QGEMM_SUMS_EXACT, PWL_QGEMM_E4M3, PWL_QGEMM_F16, 0},
    {"of 512", PWL_QGEMM_MXFP4_FP8, PWL_QGEMM_SUMS_OF_512, PWL_QGEMM_E4M3, PWL_QGEMM_F16, 0},
    {"of 128", PWL_QGEMM_MXFP4_FP8, PWL_QGEMM_SUMS_OF_128, PWL_QGEMM_E4M3, PWL_QGEMM_F16, 0},
    {"from fp16", PWL_QGEMM_MXFP4_FP8, PWL_QGEMM_SUMS_EXACT, PWL_QGEMM_F16, PWL_QGEMM_F16, 0},
    {"FP8", PWL_QGEMM_FP8, PWL_QGEMM_SUMS_EXACT, PWL_QGEMM_E4M3, PWL_QGEMM_F16, 0},
    {"of 512", PWL_QGEMM_FP8, PWL_QGEMM_SUMS_OF_512, PWL_QGEMM_E4M3, PWL_QGEMM_F16, 0},
    {"of 128", PWL_QGEMM_FP8, PWL_QGEMM_SUMS_OF_128, PWL_QGEMM_E4M3, PWL_QGEMM_F16, 0},
    {"to E4M3", PWL_QGEMM_FP8, PWL_QGEMM_SUMS_EXACT, PWL_QGEMM_E4M3, PWL_QGEMM_E4M3, 0},
    {"to E4M3, dynamic", PWL_QGEMM_FP8, PWL_QGEMM_SUMS_EXACT, PWL_QGEMM_E4M3, PWL_QGEMM_E4M3, 1},
    {"to fp32", PWL_QGEMM_FP8, PWL_QGEMM_SUMS_EXACT, PWL_QGEMM_E4M3, PWL_QGEMM_F32, 0},
};

/* Weights of a kind, on the device, as many as are cold in turns. */
struct copies {
    pwl_qgemm_weights of[MOST_COPIES];
    int count;
};

/* On the device: what all works share. */
static struct copies halves, rows, blocks;
static void *x16, *x8, *y[OUTPUTS];
static float *scale, *y_scale;

struct work {
    const struct kind *kind;
    const struct copies *weights;
    pwl_cublaslt *cublaslt; /* or null */
    pwl_qgemm_product product;
    void *workspace;
    size_t bytes;
};

static const char *launch(const void *of, int turn, struct CUstream_st *stream)
{
    const struct work *const work = of;
    const pwl_qgemm_weights *const w = &work->weights->of[turn % work->weights->count];
    pwl_qgemm_product product = work->product;
    if (work->cublaslt)
        return pwl_cublaslt_launch(work->cublaslt, w->memory, work->kind->x == PWL_QGEMM_F16 ? x16 : x8,
                                   y[turn % OUTPUTS], stream);
    product.weights = w;
    product.y.data = y[turn % OUTPUTS];
    bench_need_ok((int)pwl_cuda_qgemm(&product, work->workspace, work->bytes, NULL, stream), "product");
    return NULL;
}

/* As many copies as COLD takes of weights on the host, whose `memory` is freed. */
static void copy(struct copies *c, pwl_qgemm_weights made, void *memory)
{
    c->count = (int)(COLD / made.bytes) + 1;
    for (int i = 0; i < c->count; i++) {
        void *const there = bench_memory(made.bytes);
        CUDA(cudaMemcpy(there, memory, made.bytes, cudaMemcpyHostToDevice));
        c->of[i] = made;
        c->of[i].memory = there;
    }
    free(memory);
}

static void free_copies(struct copies *c)
{
    for (int i = 0; i < c->count; i++)
        CUDA(cudaFree((void *)(uintptr_t)c->of[i].memory));
}

/* Uniform numbers. */
static void make_weights(size_t n, size_t k, uint64_t *state)
{
    float *const w = need(n * k * sizeof *w), *const s = need(n * sizeof *s);
    uint16_t *const h = need(n * k * sizeof *h);
    uint8_t *const q = need(n * k);
    pwl_block_mxfp4 *const b = need(n * k / PWL_BLOCK * sizeof *b);
    pwl_qgemm_weights made;
    size_t bytes;
    void *memory;
    for (size_t i = 0; i < n * k; i++) {
        w[i] = (float)random_in(state, -8192, 8191) / 8192;
        h[i] = pwl_f16_from_f32(w[i]);
    }
    copy(&halves, (pwl_qgemm_weights){.bytes = n * k * sizeof *h}, h);
    bench_need_ok((int)pwl_qgemm_quantise_e4m3(w, n, k, k, q, s), "quantising");
    bench_need_ok((int)pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS_E4M3, n, k, &bytes), "weights");
    memory = need(bytes);
    bench_need_ok((int)pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS_E4M3, q, s, n, k), memory, bytes, &made, NULL),
                  "packing");
    copy(&rows, made, memory);
    bench_need_ok((int)pwl_quantise(PWL_MXFP4, PWL_RULE_DEFAULT, w, n, k, k, b), "quantising");
    bench_need_ok((int)pwl_qgemm_weights_bytes(PWL_QGEMM_MXFP4_E4M3, n, k, &bytes), "weights");
    memory = need(bytes);
    pwl_qgemm_source from = pwl_qgemm_of_blocks(PWL_QGEMM_MXFP4_E4M3, b, n, k);
    from.spread = PWL_QGEMM_SPREAD_ROUNDED;
    bench_need_ok((int)pwl_qgemm_pack(from, memory, bytes, &made, NULL), "packing");
    copy(&blocks, made, memory);
    free(w);
    free(s);
    free(q);
    free(b);
}

static void make_inputs(size_t k, uint64_t *state)
{
    uint16_t *const h = need(MOST_M * k * sizeof *h);
    for (size_t i = 0; i < MOST_M * k; i++)
        h[i] = pwl_f16_from_f32((float)random_in(state, -8192, 8191) / 8192);
    x16 = bench_memory(MOST_M * k * sizeof *h);
    x8 = bench_memory(MOST_M * k);
    scale = bench_memory(MOST_M * sizeof *scale);
    y_scale = bench_memory(MOST_M * sizeof *y_scale);
    CUDA(cudaMemcpy(x16, h, MOST_M * k * sizeof *h, cudaMemcpyHostToDevice));
    bench_need_ok((int)pwl_cuda_qgemm_quantise_e4m3(PWL_QGEMM_F16, x16, MOST_M, k, k, x8, scale, NULL), "quantising");
    CUDA(cudaDeviceSynchronize());
    free(h);
}

static struct work work_of(const struct kind *kind, size_t m, size_t n, size_t k)
{
    const int is_fp16 = kind->x == PWL_QGEMM_F16;
    struct work work = {.kind = kind, .weights = kind->scheme == PWL_QGEMM_FP8 ? &rows : &blocks};
    if (kind < kinds + FIRST) {
        work.weights = is_fp16 ? &halves : &rows; /* their order is nothing to their time */
        bench_need(pwl_cublaslt_plan(is_fp16 ? PWL_CUBLASLT_F16 : PWL_CUBLASLT_E4M3_TO_F16, m, n, k,
                                     work.weights->of[0].memory, is_fp16 ? x16 : x8, y[0], bench_stream,
                                     &work.cublaslt));
        return work;
    }
    work.product = (pwl_qgemm_product){.scheme = kind->scheme, .sums = kind->sums, .m = m};
    work.product.weights = &work.weights->of[0];
    work.product.x = (pwl_qgemm_input){is_fp16 ? x16 : x8, k, kind->x, 0, NULL, scale};
    work.product.y = (pwl_qgemm_output){y[0], n, kind->y, 0, 0, kind->dynamic ? y_scale : scale, kind->dynamic};
    bench_need_ok((int)pwl_cuda_qgemm_workspace(&work.product, &work.bytes), "workspace");
    work.workspace = bench_memory(work.bytes + 16);
    return work;
}

static void print(const struct work *works, pwl_timing (*times)[KINDS], size_t m, size_t n, size_t k)
{
    printf("| %zu | %zu | %zu |", m, n, k);
    for (int i = 0; i < KINDS; i++) {
        const double rested = (double)times[0][i].median, sustained = (double)times[1][i].median;
        printf(" %.1f/%.1f", rested, sustained);
        if (i && works[0].cublaslt)
            printf(" (%.2f/%.2f)", (double)times[0][0].median / rested, (double)times[1][0].median / sustained);
        printf(" |");
        fprintf(bench_json, "{\"bench\": \"qgemm_fp8\", \"device\": \"%s\", \"scheme\": \"%s\", \"m\": %zu",
                bench_device.name,
                i < FIRST                                ? kinds[i].name
                : kinds[i].scheme == PWL_QGEMM_MXFP4_FP8 ? "MXFP4 x FP8"
                                                         : "FP8",
                m);
        fprintf(bench_json, ", \"n\": %zu, \"k\": %zu, \"sums\": \"%s\"", n, k, kinds[i].name);
        bench_print_time("rested", &times[0][i]);
        bench_print_time("sustained", &times[1][i]);
        fprintf(bench_json, "}\n");
    }
    printf("\n");
    fflush(stdout);
}

static void bench(const struct shape *shape)
{
    const size_t n = shape->n, k = shape->k;
    uint64_t state = k;
    make_weights(n, k, &state);
    make_inputs(k, &state);
    for (int i = 0; i < OUTPUTS; i++)
        y[i] = bench_memory(4 * MOST_M * n);
    for (size_t i = 0; i < MOST_ROWS && shape->m[i]; i++) {
        struct work works[KINDS];
        pwl_timing_work launches[KINDS];
        pwl_timing times[2][KINDS] = {{{0, 0, 0}}};
        for (int kind = 0; kind < KINDS; kind++) {
            works[kind] = work_of(&kinds[kind], shape->m[i], n, k);
            launches[kind] = (pwl_timing_work){launch, &works[kind]};
        }
        const int first = works[0].cublaslt ? 0 : FIRST;
        for (int rests = 1; rests >= 0; rests--)
            bench_need(pwl_timing_measure_rested(launches + first, KINDS - first, blocks.count, BENCH_REPETITIONS,
                                                 rests ? REST : 0, times[1 - rests] + first, bench_stream));
        print(works, times, shape->m[i], n, k);
        for (int kind = 0; kind < KINDS; kind++) {
            CUDA(cudaFree(works[kind].workspace));
            pwl_cublaslt_free(works[kind].cublaslt);
        }
    }
    for (int i = 0; i < OUTPUTS; i++)
        CUDA(cudaFree(y[i]));
    CUDA(cudaFree(scale));
    CUDA(cudaFree(y_scale));
    CUDA(cudaFree(x16));
    CUDA(cudaFree(x8));
    free_copies(&halves);
    free_copies(&rows);
    free_copies(&blocks);
}

int main(int argc, char **argv)
{
    bench_open(argc > 2 ? 2 : argc, argv);
    printf("us rested/sustained (times the speed of cuBLASLt's fp16)\n\n| M | N | K |");
    for (int i = 0; i < KINDS; i++)
        printf(" %s |", kinds[i].name);
    printf("\n|---:|---:|---:|");
    for (int i = 0; i < KINDS; i++)
        printf("---:|");
    printf("\n");
    if (argc > 2) {
        const struct shape shape = shape_of(argv[2], (struct shape){0, 0, TABLE});
        bench(&shape);
        return bench_close();
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        bench(&tables[i]);
    return bench_close();
}
