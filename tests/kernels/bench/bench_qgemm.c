/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qgemm JSON: every kernel of pwl_cuda_qgemm(), at M = 512, N = 4096 and K = 4096 and 14336, fp16 in and out; in
 * W4A8 and W8A8 with the making of the blocks. Launches take turns among at least 400 MB of weights: in graphs of one
 * round each, or, of kernels that take more than a millisecond, one by one. Beside them, where the library is found,
 * cuBLASLt's product of fp16. Numbers are uniform at random. Two rows of Y are compared with the reference afterwards.
 * ladder.sh makes the table of it.
 */
#define BENCH_REPETITIONS 21

#include <math.h>
#include <string.h>

#include <pwl/cublaslt.h>
#include <pwl/cuda_qgemm.h>
#include <pwl/half.h>

#include "../need.h"
#include "bench.h"

enum { M = 512, N = 4096, MOST_COPIES = 64, ROWS = 2 /* compared */ };

#define COLD 400000000 /* bytes */

/* Arrays of one K: weights and outputs to take turns among, with what they were packed from. */
struct arrays {
    size_t k;
    float *w;
    uint16_t *x;
    pwl_qgemm_weights weights, copies[MOST_COPIES];
    void *y[MOST_COPIES];
    const void *device_x;
    int count;
};

struct work {
    const struct arrays *arrays;
    pwl_qgemm_product product;
    pwl_qgemm_kernel kernel;
    void *workspace;
    size_t bytes;
};

static void launch(const void *of, int turn)
{
    const struct work *const work = of;
    pwl_qgemm_product product = work->product;
    product.weights = &work->arrays->copies[turn % work->arrays->count];
    product.y.data = work->arrays->y[turn % work->arrays->count];
    setenv("PWL_QGEMM_KERNEL", pwl_qgemm_kernel_name(work->kernel), 1);
    bench_need_ok((int)pwl_cuda_qgemm(&product, work->workspace, work->bytes, NULL, bench_stream), "product");
    unsetenv("PWL_QGEMM_KERNEL");
}

static float draw(uint64_t *state)
{
    return (float)random_in(state, -8192, 8191) / 8192;
}

static void draw_arrays(struct arrays *a, size_t k)
{
    uint64_t state = k;
    memset(a, 0, sizeof *a);
    a->k = k;
    a->w = need(sizeof *a->w * N * k);
    a->x = need(sizeof *a->x * M * k);
    for (size_t i = 0; i < N * k; i++)
        a->w[i] = draw(&state);
    for (size_t i = 0; i < M * k; i++)
        a->x[i] = pwl_f16_from_f32(draw(&state));
    void *const x = bench_memory(sizeof *a->x * M * k);
    CUDA(cudaMemcpy(x, a->x, sizeof *a->x * M * k, cudaMemcpyHostToDevice));
    a->device_x = x;
}

static void free_arrays(struct arrays *a)
{
    CUDA(cudaFree((void *)(uintptr_t)a->device_x));
    free(a->w);
    free(a->x);
}

/* The copies that COLD takes, each `bytes` long, and outputs. */
static void copy_weights(struct arrays *a, const void *weights, size_t bytes)
{
    a->count = (int)(COLD / bytes) + 1;
    for (int i = 0; i < a->count; i++) {
        void *const memory = bench_memory(bytes);
        CUDA(cudaMemcpy(memory, weights, bytes, cudaMemcpyHostToDevice));
        a->copies[i] = a->weights;
        a->copies[i].memory = memory;
        a->y[i] = bench_memory((size_t)2 * M * N);
    }
}

static void free_copies(struct arrays *a)
{
    for (int i = 0; i < a->count; i++) {
        CUDA(cudaFree((void *)(uintptr_t)a->copies[i].memory));
        CUDA(cudaFree(a->y[i]));
    }
}

static void record(const char *scheme, size_t k, const char *kernel, const pwl_timing *time, float naive)
{
    const double us = (double)time->median, teraflops = 2e-6 * M * N * (double)k / us;
    fprintf(bench_json, "{\"bench\": \"qgemm\", \"device\": \"%s\", \"scheme\": \"%s\", \"m\": %d, \"n\": %d",
            bench_device.name, scheme, M, N);
    fprintf(bench_json, ", \"k\": %zu, \"kernel\": \"%s\"", k, kernel);
    bench_print_time("time", time);
    fprintf(bench_json, ", \"teraflops\": %.2f", teraflops);
    if (naive > 0)
        fprintf(bench_json, ", \"times_naive\": %.2f", (double)naive / us);
    fprintf(bench_json, "}\n");
}

/* The first rows of Y, by how much kernels may be off, and where A8 may be multiplied in halves. */
struct expected {
    double value[ROWS * N], bound[ROWS * N];
};

static void expect(const struct work *work, struct expected *expected)
{
    static uint16_t y[ROWS * N]; /* not written */
    pwl_qgemm_product product = work->product;
    product.m = ROWS;
    product.weights = &work->arrays->weights;
    product.x.data = work->arrays->x;
    product.y.data = y;
    if (pwl_qgemm_bound(&product, 1, expected->value, expected->bound) != PWL_QGEMM_OK)
        bench_need_ok((int)pwl_qgemm_bound(&product, 0, expected->value, expected->bound), "bound");
}

static void check(const struct work *work, const struct expected *expected)
{
    static uint16_t y[ROWS * N];
    launch(work, 0);
    CUDA(cudaStreamSynchronize(bench_stream));
    CUDA(cudaMemcpy(y, work->arrays->y[0], sizeof y, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ROWS * N; i++) {
        const double v = expected->value[i], off = expected->bound[i];
        if (!(fabs(pwl_f32_from_f16(y[i]) - v) <= off + (fabs(v) + off) * 0x1p-11 + 0x1p-25)) {
            fprintf(stderr, "bench_qgemm: %s: %g, not %g\n", pwl_qgemm_kernel_name(work->kernel),
                    (double)pwl_f32_from_f16(y[i]), v);
            exit(1);
        }
    }
}

/* All kernels that have the scheme; those that take more than a millisecond apart. */
static void bench(const char *name, pwl_qgemm_scheme scheme, const struct arrays *arrays)
{
    struct work work = {arrays,
                        {scheme,
                         PWL_QGEMM_SUMS_EXACT,
                         M,
                         &arrays->copies[0],
                         {arrays->device_x, arrays->k, PWL_QGEMM_F16, 0, NULL, NULL},
                         NULL,
                         {arrays->y[0], N, PWL_QGEMM_F16, 0, 0, NULL, 0},
                         NULL},
                        PWL_QGEMM_NAIVE,
                        NULL,
                        0};
    struct work works[2][BENCH_WORKS];
    struct bench_work launches[2][BENCH_WORKS];
    pwl_timing times[2][BENCH_WORKS];
    static struct expected expected;
    int counts[2] = {0, 0};
    expect(&work, &expected);
    for (; pwl_qgemm_kernel_name(work.kernel); work.kernel = (pwl_qgemm_kernel)(work.kernel + 1)) {
        setenv("PWL_QGEMM_KERNEL", pwl_qgemm_kernel_name(work.kernel), 1);
        if (pwl_cuda_qgemm_workspace(&work.product, &work.bytes) != PWL_QGEMM_OK)
            continue;
        work.workspace = bench_memory(work.bytes + 1);
        launch(&work, 0);
        CUDA(cudaEventRecord(bench_begin, bench_stream));
        launch(&work, 1);
        const int fast = bench_elapsed_us() < 1000;
        works[fast][counts[fast]] = work;
        launches[fast][counts[fast]] = (struct bench_work){launch, &works[fast][counts[fast]]};
        counts[fast]++;
    }
    bench_measure(launches[0], counts[0], 0, times[0]);
    bench_measure(launches[1], counts[1], arrays->count, times[1]);
    for (int fast = 0; fast < 2; fast++) {
        for (int i = 0; i < counts[fast]; i++) {
            const struct work *const done = &works[fast][i];
            check(done, &expected);
            record(name, arrays->k, pwl_qgemm_kernel_name(done->kernel), &times[fast][i], times[0][0].median);
            CUDA(cudaFree(done->workspace));
        }
    }
}

static void bench_format(pwl_qgemm_format format, struct arrays *arrays, const char *name, pwl_qgemm_scheme scheme,
                         const char *other_name, pwl_qgemm_scheme other)
{
    size_t bytes;
    bench_need_ok((int)pwl_qgemm_weights_bytes(format, N, arrays->k, &bytes), "weights");
    void *const packed = need(bytes);
    bench_need_ok((int)pwl_qgemm_pack(pwl_qgemm_of_floats(format, PWL_RULE_DEFAULT, arrays->w, N, arrays->k), packed,
                                      bytes, &arrays->weights, NULL),
                  "packing");
    copy_weights(arrays, packed, arrays->weights.bytes);
    bench(name, scheme, arrays);
    if (other_name)
        bench(other_name, other, arrays);
    free_copies(arrays);
    free(packed);
}

struct work_cublaslt {
    const struct arrays *arrays;
    pwl_cublaslt *plan;
};

static void launch_cublaslt(const void *of, int turn)
{
    const struct work_cublaslt *const work = of;
    const struct arrays *const a = work->arrays;
    bench_need(pwl_cublaslt_launch(work->plan, a->copies[turn % a->count].memory, a->device_x, a->y[turn % a->count],
                                   bench_stream));
}

/* Nothing where the library is missing. */
static void bench_cublaslt(struct arrays *a)
{
    const size_t bytes = (size_t)2 * N * a->k;
    uint16_t *const w = need(bytes);
    struct work_cublaslt work = {a, NULL};
    const struct bench_work launches = {launch_cublaslt, &work};
    pwl_timing time;
    for (size_t i = 0; i < N * a->k; i++)
        w[i] = pwl_f16_from_f32(a->w[i]);
    copy_weights(a, w, bytes);
    bench_need(pwl_cublaslt_plan(PWL_CUBLASLT_F16, M, N, a->k, a->copies[0].memory, a->device_x, a->y[0], bench_stream,
                                 &work.plan));
    if (work.plan) {
        bench_measure(&launches, 1, a->count, &time);
        record("fp16", a->k, "cuBLASLt", &time, 0);
    }
    pwl_cublaslt_free(work.plan);
    free_copies(a);
    free(w);
}

int main(int argc, char **argv)
{
    struct arrays arrays;
    bench_open(argc, argv);
    for (size_t k = 4096; k <= 14336; k += 10240) {
        draw_arrays(&arrays, k);
        bench_format(PWL_QGEMM_Q4_0, &arrays, "W4A16", PWL_QGEMM_W4A16, "W4A8", PWL_QGEMM_W4A8);
        bench_format(PWL_QGEMM_Q8_0, &arrays, "W8A16", PWL_QGEMM_W8A16, "W8A8", PWL_QGEMM_W8A8);
        bench_format(PWL_QGEMM_MXFP4, &arrays, "MXFP4 x A16", PWL_QGEMM_MXFP4_A16, NULL, PWL_QGEMM_MXFP4_A16);
        bench_cublaslt(&arrays);
        free_arrays(&arrays);
    }
    return bench_close();
}
