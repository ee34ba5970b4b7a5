/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qgemm_int8 JSON [rows8|rows4 [N,K[,M...]]]: products in INT8, of weights of 8 bits and then of 4, by the kernel
 * that pwl_cuda_qgemm() chooses, beside cuBLASLt's of int8, which multiplies Y by one number; with exponents of rows
 * and tokens, a zero point, a bias, and several kinds of Y. All take turns, among at least 400 MB of weights, in graphs
 * of one round each: with 4 ms of rest before each, then without. Without a shape: those of the tables in
 * kernels/RESULTS.md.
 */
#define BENCH_REPETITIONS 21

#include <pwl/cublaslt.h>
#include <pwl/cuda_qgemm.h>

#include "../need.h"
#include "bench.h"
#include "shapes.h"
#include "tables.h"

enum { MOST_COPIES = 64, OUTPUTS = 4, REST = 4000 /* us */, KINDS = 6 };

#define COLD 400000000 /* bytes */

#define TABLE                                                                                                          \
    {                                                                                                                  \
        64, 128, 256, 512, 1024, 4096                                                                                  \
    }

static const struct shape tables[] = {{4096, 4096, TABLE},
                                      {4096, 14336, TABLE},
                                      {14336, 4096, TABLE},
                                      {4096, 4096, {1, 16, 32, 33, 96, 192, 384, 513, 768, 1536, 2048}},
                                      {4096, 14336, {1, 16, 32}}};

/* On the device: what all works share. */
static int8_t *x, *n_x;
static int32_t *bias;
static void *y[OUTPUTS];
static pwl_qgemm_weights weights[MOST_COPIES]; /* packed */
static void *matrices[MOST_COPIES];            /* as they are, for cuBLASLt */
static int copies;
static const struct weights_kind {
    const char *name;
    pwl_qgemm_format format;
} weights_kinds[] = {{"rows8", PWL_QGEMM_ROWS8}, {"rows4", PWL_QGEMM_ROWS4}};

/* Kinds of Y, the first of cuBLASLt. */
struct kind {
    const char *name;
    pwl_qgemm_type type;
    pwl_cuda_table table; /* where there is one */
};

struct work {
    const struct kind *kind;
    pwl_cublaslt *cublaslt; /* or null */
    pwl_qgemm_activation activation;
    pwl_qgemm_product product;
    void *workspace;
    size_t bytes;
};

static const char *launch(const void *of, int turn, struct CUstream_st *stream)
{
    const struct work *const work = of;
    pwl_qgemm_product product = work->product;
    if (work->cublaslt)
        return pwl_cublaslt_launch(work->cublaslt, matrices[turn % copies], x, y[turn % OUTPUTS], stream);
    product.weights = &weights[turn % copies];
    product.y.data = y[turn % OUTPUTS];
    product.activation = work->kind->table.memory ? &work->activation : NULL;
    bench_need_ok((int)pwl_cuda_qgemm(&product, work->workspace, work->bytes, NULL, stream), "product");
    return NULL;
}

/* In ROWS4 the codes of cuBLASLt's matrices are others, of as many bits. */
static void make_weights(pwl_qgemm_format format, size_t n, size_t k, uint64_t *state)
{
    int8_t *const q = need(n * k), *const n_w = need(n), *device_n_w = bench_memory(n);
    size_t bytes;
    for (size_t i = 0; i < n * k; i++)
        q[i] = (int8_t)random_in(state, -127, 127);
    for (size_t i = 0; i < n; i++)
        n_w[i] = (int8_t)random_in(state, 5, 8);
    CUDA(cudaMemcpy(device_n_w, n_w, n, cudaMemcpyHostToDevice));
    bench_need_ok((int)pwl_qgemm_weights_bytes(format, n, k, &bytes), "weights");
    copies = (int)(COLD / bytes) + 1;
    for (int i = 0; i < copies; i++) {
        matrices[i] = bench_memory(n * k);
        CUDA(cudaMemcpy(matrices[i], q, n * k, cudaMemcpyHostToDevice));
        bench_need_ok(
            (int)(format == PWL_QGEMM_ROWS8
                      ? pwl_cuda_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, matrices[i], device_n_w, n, k),
                                            bench_memory(bytes), bytes, &weights[i], NULL, NULL)
                      : pwl_cuda_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS4, matrices[i], device_n_w, n, k),
                                            bench_memory(bytes), bytes, &weights[i], NULL, NULL)),
            "packing");
    }
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(device_n_w));
    free(q);
    free(n_w);
}

static void free_weights(void)
{
    for (int i = 0; i < copies; i++) {
        CUDA(cudaFree(matrices[i]));
        CUDA(cudaFree((void *)(uintptr_t)weights[i].memory));
    }
}

static void *random_bytes(size_t count, int least, int most, uint64_t *state)
{
    int8_t *const bytes = need(count);
    void *const there = bench_memory(count);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (int8_t)random_in(state, least, most);
    CUDA(cudaMemcpy(there, bytes, count, cudaMemcpyHostToDevice));
    free(bytes);
    return there;
}

/* Sums of K products are about 5400 * sqrt(K), so codes of 8 bits are made by some 13 bits less, of 16 by 5. */
static struct work work_of(const struct kind *kind, size_t m, size_t n, size_t k)
{
    const int codes16 = kind->table.memory && strcmp(kind->name, "256 bytes") != 0;
    struct work work = {.kind = kind};
    work.product = (pwl_qgemm_product){.scheme = PWL_QGEMM_INT8, .m = m, .weights = &weights[0], .bias = bias};
    work.product.x = (pwl_qgemm_input){x, k, PWL_QGEMM_S8, 3, n_x, NULL};
    work.product.y = (pwl_qgemm_output){y[0], n, kind->type, 5, -1, NULL, 0};
    work.activation = (pwl_qgemm_activation){.uploaded = &kind->table, .of_x = {codes16 ? 0x1p-7f : 2, 0}};
    work.product.activation = kind->table.memory ? &work.activation : NULL;
    bench_need_ok((int)pwl_cuda_qgemm_workspace(&work.product, &work.bytes), "workspace");
    work.workspace = bench_memory(work.bytes + 16);
    return work;
}

static void print(const char *of, const struct work *works, pwl_timing (*times)[KINDS], size_t m, size_t n, size_t k)
{
    printf("| %zu | %zu | %zu |", m, n, k);
    for (int i = 0; i < KINDS; i++) {
        const double rested = (double)times[0][i].median, sustained = (double)times[1][i].median;
        printf(" %.1f/%.1f", rested, sustained);
        if (i && works[0].cublaslt)
            printf(" (%.2f/%.2f)", (double)times[0][0].median / rested, (double)times[1][0].median / sustained);
        printf(" |");
        fprintf(bench_json, "{\"bench\": \"qgemm_int8\", \"device\": \"%s\", \"weights\": \"%s\", \"y\": \"%s\"",
                bench_device.name, of, works[i].kind->name);
        fprintf(bench_json, ", \"m\": %zu, \"n\": %zu", m, n);
        fprintf(bench_json, ", \"k\": %zu", k);
        bench_print_time("rested", &times[0][i]);
        bench_print_time("sustained", &times[1][i]);
        fprintf(bench_json, "}\n");
    }
    printf("\n");
    fflush(stdout);
}

static void bench(const struct weights_kind *of, const struct shape *shape, const struct kind kinds[KINDS])
{
    const size_t n = shape->n, k = shape->k;
    uint64_t state = k;
    make_weights(of->format, n, k, &state);
    x = random_bytes(MOST_M * k, -127, 127, &state);
    n_x = random_bytes(MOST_M, 4, 7, &state);
    bias = random_bytes(4 * n, 0, 0, &state);
    for (int i = 0; i < OUTPUTS; i++)
        y[i] = bench_memory(4 * MOST_M * n);
    for (size_t i = 0; i < MOST_ROWS && shape->m[i]; i++) {
        const size_t m = shape->m[i];
        struct work works[KINDS] = {{.kind = &kinds[0]}};
        pwl_timing_work launches[KINDS] = {{launch, &works[0]}};
        pwl_timing times[2][KINDS] = {{{0, 0, 0}}};
        bench_need(
            pwl_cublaslt_plan(PWL_CUBLASLT_S8_TO_S8, m, n, k, matrices[0], x, y[0], bench_stream, &works[0].cublaslt));
        const int first = works[0].cublaslt ? 0 : 1;
        for (int kind = 1; kind < KINDS; kind++) {
            works[kind] = work_of(&kinds[kind], m, n, k);
            launches[kind] = (pwl_timing_work){launch, &works[kind]};
        }
        for (int rests = 1; rests >= 0; rests--)
            bench_need(pwl_timing_measure_rested(launches + first, KINDS - first, copies, BENCH_REPETITIONS,
                                                 rests ? REST : 0, times[1 - rests] + first, bench_stream));
        print(of->name, works, times, m, n, k);
        for (int kind = 1; kind < KINDS; kind++)
            CUDA(cudaFree(works[kind].workspace));
        pwl_cublaslt_free(works[0].cublaslt);
    }
    for (int i = 0; i < OUTPUTS; i++)
        CUDA(cudaFree(y[i]));
    CUDA(cudaFree(bias));
    CUDA(cudaFree(n_x));
    CUDA(cudaFree(x));
    free_weights();
}

static pwl_cuda_table upload(const pwl_table *table)
{
    pwl_cuda_table uploaded;
    bench_need_ok((int)pwl_cuda_upload(table, &uploaded), "upload");
    return uploaded;
}

int main(int argc, char **argv)
{
    static struct made_table made;
    struct kind kinds[KINDS] = {
        {.name = "cuBLASLt s8", .type = PWL_QGEMM_S8}, {.name = "s8", .type = PWL_QGEMM_S8},
        {.name = "s32", .type = PWL_QGEMM_S32},        {.name = "256 bytes", .type = PWL_QGEMM_S8},
        {.name = "lines s8", .type = PWL_QGEMM_S8},    {.name = "lines s16", .type = PWL_QGEMM_S16}};
    uint64_t state = 1;
    bench_open(argc > 2 ? 2 : argc, argv);
    kinds[3].table = upload(shipped("pwl_gelu_s8"));
    draw_segments(&made, 16, INT8_MAX, &state);
    kinds[4].table = upload(&made.table);
    draw_segments(&made, 16, INT16_MAX, &state);
    kinds[5].table = upload(&made.table);
    for (size_t i = 0; i < sizeof weights_kinds / sizeof weights_kinds[0]; i++) {
        if (argc > 2 && strcmp(argv[2], weights_kinds[i].name) != 0)
            continue;
        printf("%s: us rested/sustained (times cuBLASLt's speed)\n\n| M | N | K |", weights_kinds[i].name);
        for (int kind = 0; kind < KINDS; kind++)
            printf(" %s |", kinds[kind].name);
        printf("\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
        if (argc > 3) {
            const struct shape shape = shape_of(argv[3], (struct shape){0, 0, TABLE});
            bench(&weights_kinds[i], &shape, kinds);
            continue;
        }
        for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
            bench(&weights_kinds[i], &tables[t], kinds);
    }
    return bench_close();
}
