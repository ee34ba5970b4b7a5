/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qgemm_activation JSON: what an activation adds to pwl_cuda_qgemm() at M = 512, N = K = 4096, fp16 in: products
 * to fp16, the same with tables, fused and by a second pass over fp16, and gated, of which Y has half the columns. All
 * in turn, in graphs whose launches take turns among at least 400 MB of weights and as many Y. The first rows of each
 * fused Y are compared with what the host makes of the same product in fp32.
 */
#define BENCH_REPETITIONS 51

#include <math.h>
#include <string.h>

#include <pwl/cuda_qgemm.h>

#include "../gemm/activations.h"
#include "bench.h"
#include "tables.h"

enum { M = 512, N = 4096, K = 4096, COPIES = 43, ROWS = 2 /* compared */ };

/* What is common to all works. */
static struct {
    pwl_qgemm_weights weights[COPIES];
    void *y[COPIES], *mapped[COPIES], *x, *workspace;
    size_t workspace_bytes;
} device;

struct work {
    const char *what;
    pwl_qgemm_product product;
    pwl_qgemm_activation as;
    const pwl_table *table; /* null: none */
    int passes;
    pwl_type mapped; /* in the second pass */
};

static void launch(const void *of, int turn)
{
    const struct work *const work = of;
    const int at = turn % COPIES;
    pwl_qgemm_product product = work->product;
    product.weights = &device.weights[at];
    product.y.data = device.y[at];
    product.activation = work->table && work->passes == 1 ? &work->as : NULL;
    bench_need_ok((int)pwl_cuda_qgemm(&product, device.workspace, device.workspace_bytes, NULL, bench_stream),
                  work->what);
    if (work->passes == 2)
        bench_need_ok((int)pwl_cuda_map_from_real(work->as.uploaded, work->as.of_x, PWL_F16, device.y[at], work->mapped,
                                                  device.mapped[at], (size_t)M * N, bench_stream),
                      work->what);
}

/* Uniform in (-1, 1), X in (-1/16, 1/16): Y has a deviation of 1.3. */
static void draw_operands(void)
{
    uint64_t state = 1;
    size_t bytes;
    float *const w = need(sizeof *w * N * K);
    uint16_t *const x = need(sizeof *x * M * K);
    pwl_qgemm_weights packed;
    for (size_t i = 0; i < (size_t)N * K; i++)
        w[i] = (float)random_in(&state, -8192, 8191) / 8192;
    for (size_t i = 0; i < (size_t)M * K; i++)
        x[i] = pwl_f16_from_f32((float)random_in(&state, -8192, 8191) / 131072);
    bench_need_ok((int)pwl_qgemm_weights_bytes(PWL_QGEMM_Q4_0, N, K, &bytes), "weights");
    void *const memory = need(bytes);
    bench_need_ok((int)pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_Q4_0, PWL_RULE_DEFAULT, w, N, K), memory, bytes,
                                      &packed, NULL),
                  "packing");
    for (int i = 0; i < COPIES; i++) {
        void *const copy = bench_memory(packed.bytes);
        CUDA(cudaMemcpy(copy, memory, packed.bytes, cudaMemcpyHostToDevice));
        device.weights[i] = packed;
        device.weights[i].memory = copy;
        device.y[i] = bench_memory((size_t)4 * M * N);
        device.mapped[i] = bench_memory((size_t)2 * M * N);
    }
    device.x = bench_memory(sizeof *x * M * K);
    CUDA(cudaMemcpy(device.x, x, sizeof *x * M * K, cudaMemcpyHostToDevice));
    free(w);
    free(x);
    free(memory);
}

static const struct y_kind *kind_of(pwl_qgemm_type type)
{
    const struct y_kind *kind = y_kinds;
    while (kind->type != type)
        kind++;
    return kind;
}

/* Exits unless the first rows of a fused product are what the host makes of the same in fp32. */
static void check(const struct work *work)
{
    const struct y_kind *const kind = kind_of(work->product.y.type);
    const size_t columns = work->as.gated ? N / 2 : N, bytes = ROWS * columns * kind->bytes;
    struct work plain = *work;
    pwl_qgemm_activation as = work->as;
    float *const values = need((size_t)4 * ROWS * N);
    uint8_t *const expected = need(bytes), *const got = need(bytes);
    plain.table = NULL;
    plain.product.y = (pwl_qgemm_output){NULL, N, PWL_QGEMM_F32, 0, 0, NULL, 0};
    launch(&plain, 0);
    CUDA(cudaStreamSynchronize(bench_stream));
    CUDA(cudaMemcpy(values, device.y[0], (size_t)4 * ROWS * N, cudaMemcpyDeviceToHost));
    launch(work, 0);
    CUDA(cudaStreamSynchronize(bench_stream));
    CUDA(cudaMemcpy(got, device.y[0], bytes, cudaMemcpyDeviceToHost));
    as.table = work->table;
    plain.product.activation = &as;
    plain.product.weights = &device.weights[0];
    plain.product.m = ROWS;
    activate(&plain.product, kind, values, NULL, expected, columns);
    if (memcmp(got, expected, bytes) != 0) {
        fprintf(stderr, "bench_qgemm_activation: %s: wrong values\n", work->what);
        exit(1);
    }
    free(values);
    free(expected);
    free(got);
}

static void bench(const char *scheme, struct work *works, int count)
{
    struct bench_work launches[BENCH_WORKS];
    pwl_timing times[BENCH_WORKS];
    for (int i = 0; i < count; i++) {
        if (works[i].table && works[i].passes == 1)
            check(&works[i]);
        launches[i] = (struct bench_work){launch, &works[i]};
    }
    bench_measure(launches, count, COPIES, times);
    for (int i = 0; i < count; i++) {
        const double us = (double)times[i].median, more = us - (double)times[0].median;
        printf("| %s | %s | %.2f | %.2f to %.2f | %.2f |\n", scheme, works[i].what, us, (double)times[i].p10,
               (double)times[i].p90, more);
        fprintf(
            bench_json,
            "{\"bench\": \"qgemm_activation\", \"device\": \"%s\", \"scheme\": \"%s\", \"m\": %d, \"n\": %d, \"k\": "
            "%d, \"what\": \"%s\"",
            bench_device.name, scheme, M, N, K, works[i].what);
        bench_print_time("time", &times[i]);
        fprintf(bench_json, ", \"more_than_fp16_us\": %.3f}\n", more);
        fflush(stdout);
    }
}

static void bench_scheme(const char *name, pwl_qgemm_scheme scheme)
{
    static struct made_table made;
    static pwl_cuda_table on_device[4];
    uint64_t state = 2;
    draw_64_segments(&made, &state);
    const pwl_table *const tables[] = {shipped("pwl_gelu_s8"), made_pack(&made), shipped("pwl_gelu_s16"),
                                       shipped("pwl_silu_s8")};
    const pwl_affine affines[] = {{0x1p-5f, 0}, {0x1p-12f, 0}, {0x1p-12f, 0}, {0x1p-4f, 0}};
    static const struct {
        const char *what;
        int table, passes, gated;
        pwl_qgemm_type y;
    } rows[] = {{"fp16", -1, 1, 0, PWL_QGEMM_F16},
                {"GELU to s8", 0, 1, 0, PWL_QGEMM_S8},
                {"fp16, then GELU to s8", 0, 2, 0, PWL_QGEMM_F16},
                {"64 segments to s16", 1, 1, 0, PWL_QGEMM_S16},
                {"fp16, then 64 segments to s16", 1, 2, 0, PWL_QGEMM_F16},
                {"GELU of 16 bits to fp16", 2, 1, 0, PWL_QGEMM_F16},
                {"SiLU, gated, to s8", 3, 1, 1, PWL_QGEMM_S8},
                {"SiLU, gated, to fp16", 3, 1, 1, PWL_QGEMM_F16}};
    struct work works[sizeof rows / sizeof rows[0]];
    for (int i = 0; i < 4; i++)
        bench_need_ok((int)pwl_cuda_upload(tables[i], &on_device[i]), "upload");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct work *const work = &works[i];
        const int table = rows[i].table;
        memset(work, 0, sizeof *work);
        work->what = rows[i].what;
        work->passes = rows[i].passes;
        work->product = (pwl_qgemm_product){scheme,
                                            PWL_QGEMM_SUMS_EXACT,
                                            M,
                                            &device.weights[0],
                                            {device.x, K, PWL_QGEMM_F16, 0, NULL, NULL},
                                            NULL,
                                            {device.y[0], rows[i].gated ? N / 2 : N, rows[i].y, 0, 0, NULL, 0},
                                            NULL};
        if (table < 0)
            continue;
        work->table = tables[table];
        work->mapped = table == 0 ? PWL_S8 : PWL_S16;
        work->as = (pwl_qgemm_activation){.uploaded = &on_device[table],
                                          .of_x = affines[table],
                                          .of_y = affines[table],
                                          .gated = rows[i].gated,
                                          .of_out = {0x1p-3f, 0}};
    }
    bench_need_ok((int)pwl_cuda_qgemm_workspace(&works[0].product, &device.workspace_bytes), "workspace");
    device.workspace = bench_memory(device.workspace_bytes + 16);
    bench(name, works, (int)(sizeof rows / sizeof rows[0]));
    CUDA(cudaFree(device.workspace));
    for (int i = 0; i < 4; i++)
        bench_need_ok((int)pwl_cuda_release(&on_device[i]), "release");
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    draw_operands();
    printf("| scheme | Y | us | percentiles | more than fp16, us |\n|---|---|---:|---:|---:|\n");
    bench_scheme("W4A16", PWL_QGEMM_W4A16);
    bench_scheme("W4A8", PWL_QGEMM_W4A8);
    return bench_close();
}
