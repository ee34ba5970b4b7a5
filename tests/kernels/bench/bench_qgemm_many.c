/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qgemm_many JSON: products with many rows of X by the kernel that pwl_cuda_qgemm() chooses, M from 128 to 4096,
 * N = 4096 and K = 4096 and 14336, fp16 in and out; in W4A8 and W8A8 with the making of halves. Launches take turns
 * among at least 400 MB of weights, in graphs of one round each, with 4 ms of rest before each. Beside them, where the
 * library is found, cuBLASLt's product of fp16. Numbers are uniform at random.
 */
#define BENCH_REPETITIONS 21

#include <string.h>

#include <pwl/cublaslt.h>
#include <pwl/cuda_qgemm.h>
#include <pwl/half.h>

#include "../need.h"
#include "bench.h"

enum { N = 4096, MOST_M = 4096, MOST_K = 14336, MOST_COPIES = 64, OUTPUTS = 8, REST = 4000 /* us */ };

#define COLD 400000000 /* bytes */

static const size_t ms[] = {128, 256, 512, 1024, 2048, 4096};

enum { ROWS = sizeof ms / sizeof ms[0] };

/* On the device: what all works share. */
static float *floats;          /* [N][K] */
static void *x, *y[OUTPUTS];   /* halves */
static pwl_cublaslt *cublaslt; /* of this M and K */

struct copies {
    pwl_qgemm_weights of[MOST_COPIES];
    int count;
};

struct work {
    const struct copies *weights; /* or, where the product has no scheme, halves */
    pwl_qgemm_product product;
    void *workspace;
    size_t bytes;
};

static const char *launch(const void *of, int turn, struct CUstream_st *stream)
{
    const struct work *const work = of;
    const pwl_qgemm_weights *const w = &work->weights->of[turn % work->weights->count];
    pwl_qgemm_product product = work->product;
    if (!work->bytes)
        return pwl_cublaslt_launch(cublaslt, w->memory, x, y[turn % OUTPUTS], stream);
    product.weights = w;
    product.y.data = y[turn % OUTPUTS];
    bench_need_ok((int)pwl_cuda_qgemm(&product, work->workspace, work->bytes, NULL, stream), "product");
    return NULL;
}

/* As many copies of `first` as COLD takes. */
static void copy(struct copies *c, const pwl_qgemm_weights *first)
{
    c->count = (int)(COLD / first->bytes) + 1;
    for (int i = 0; i < c->count; i++) {
        void *const memory = bench_memory(first->bytes);
        CUDA(cudaMemcpy(memory, first->memory, first->bytes, cudaMemcpyDeviceToDevice));
        c->of[i] = *first;
        c->of[i].memory = memory;
    }
}

static void free_copies(struct copies *c)
{
    for (int i = 0; i < c->count; i++)
        CUDA(cudaFree((void *)(uintptr_t)c->of[i].memory));
}

static void make(struct copies *c, pwl_qgemm_format format, size_t k)
{
    pwl_qgemm_weights made;
    size_t bytes;
    bench_need_ok((int)pwl_qgemm_weights_bytes(format, N, k, &bytes), "weights");
    void *const memory = bench_memory(bytes);
    bench_need_ok(
        (int)pwl_cuda_qgemm_pack_f32(format, PWL_RULE_DEFAULT, floats, N, k, memory, bytes, &made, NULL, NULL),
        "packing");
    CUDA(cudaDeviceSynchronize());
    copy(c, &made);
    CUDA(cudaFree(memory));
}

/* Microseconds, and the row of a table of its own. */
static float measure(const struct work *work, const char *scheme, size_t m, size_t k, float fp16)
{
    const pwl_timing_work launches = {launch, work};
    pwl_timing time;
    bench_need(
        pwl_timing_measure_rested(&launches, 1, work->weights->count, BENCH_REPETITIONS, REST, &time, bench_stream));
    fprintf(bench_json, "{\"bench\": \"qgemm_many\", \"device\": \"%s\", \"scheme\": \"%s\", \"m\": %zu, \"n\": %d",
            bench_device.name, scheme, m, N);
    fprintf(bench_json, ", \"k\": %zu", k);
    bench_print_time("time", &time);
    if (fp16 > 0)
        fprintf(bench_json, ", \"times_cublaslt\": %.3f", (double)fp16 / (double)time.median);
    fprintf(bench_json, "}\n");
    printf("| %s | %zu | %zu | %.1f | ", scheme, m, k, (double)time.median);
    printf(fp16 > 0 ? "%.2f |\n" : "- |\n", (double)fp16 / (double)time.median);
    fflush(stdout);
    return time.median;
}

static void bench_scheme(const char *name, pwl_qgemm_scheme scheme, const struct copies *weights, size_t k,
                         const float fp16[ROWS])
{
    for (size_t i = 0; i < ROWS; i++) {
        struct work work = {weights, {.scheme = scheme, .m = ms[i], .weights = &weights->of[0]}, NULL, 0};
        work.product.x = (pwl_qgemm_input){x, k, PWL_QGEMM_F16, 0, NULL};
        work.product.y = (pwl_qgemm_output){y[0], N, PWL_QGEMM_F16, 0, 0};
        bench_need_ok((int)pwl_cuda_qgemm_workspace(&work.product, &work.bytes), "workspace");
        work.bytes += 16; /* none would be cuBLASLt's */
        work.workspace = bench_memory(work.bytes);
        measure(&work, name, ms[i], k, fp16[i]);
        CUDA(cudaFree(work.workspace));
    }
}

/* cuBLASLt's times, 0 where the library is missing. */
static void bench_fp16(const uint16_t *w, size_t k, float times[ROWS])
{
    static struct copies halves;
    const struct work work = {&halves, {.m = 0}, NULL, 0};
    const pwl_qgemm_weights first = {.memory = w, .bytes = (size_t)2 * N * k};
    copy(&halves, &first);
    for (size_t i = 0; i < ROWS; i++) {
        times[i] = 0;
        bench_need(pwl_cublaslt_plan(ms[i], N, k, halves.of[0].memory, x, y[0], bench_stream, &cublaslt));
        if (cublaslt)
            times[i] = measure(&work, "fp16, cuBLASLt", ms[i], k, 0);
        pwl_cublaslt_free(cublaslt);
    }
    free_copies(&halves);
}

static void bench(size_t k)
{
    static struct copies q4_0, q8_0, mxfp4;
    float *const w = need(sizeof *w * N * k), times[ROWS];
    uint16_t *const halves = need(sizeof *halves * N * k);
    uint64_t state = k;
    void *device_halves;
    for (size_t i = 0; i < N * k; i++) {
        w[i] = (float)random_in(&state, -8192, 8191) / 8192;
        halves[i] = pwl_f16_from_f32(w[i]);
    }
    floats = bench_memory(sizeof *w * N * k);
    device_halves = bench_memory(sizeof *halves * N * k);
    x = bench_memory(sizeof *halves * MOST_M * k); /* as many numbers as W has */
    CUDA(cudaMemcpy(floats, w, sizeof *w * N * k, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(device_halves, halves, sizeof *halves * N * k, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(x, halves, sizeof *halves * MOST_M * k, cudaMemcpyHostToDevice));
    bench_fp16(device_halves, k, times);
    make(&q4_0, PWL_QGEMM_Q4_0, k);
    make(&q8_0, PWL_QGEMM_Q8_0, k);
    make(&mxfp4, PWL_QGEMM_MXFP4, k);
    bench_scheme("W4A16", PWL_QGEMM_W4A16, &q4_0, k, times);
    bench_scheme("W8A16", PWL_QGEMM_W8A16, &q8_0, k, times);
    bench_scheme("MXFP4 x A16", PWL_QGEMM_MXFP4_A16, &mxfp4, k, times);
    bench_scheme("W4A8", PWL_QGEMM_W4A8, &q4_0, k, times);
    bench_scheme("W8A8", PWL_QGEMM_W8A8, &q8_0, k, times);
    free_copies(&q4_0);
    free_copies(&q8_0);
    free_copies(&mxfp4);
    CUDA(cudaFree(x));
    CUDA(cudaFree(device_halves));
    CUDA(cudaFree(floats));
    free(halves);
    free(w);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    for (int i = 0; i < OUTPUTS; i++)
        y[i] = bench_memory((size_t)2 * MOST_M * N);
    printf("| scheme | M | K | us | times cuBLASLt's speed |\n|---|---:|---:|---:|---:|\n");
    bench(4096);
    bench(MOST_K);
    return bench_close();
}
