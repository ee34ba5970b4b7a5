/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qgemm JSON: the ladder of kernels of pwl_cuda_qgemm(), at M = 512, N = 4096 and K = 4096 and 14336, fp16 in and
 * out: single launches that take turns among at least 400 MB of weights. Gaussian numbers would not be faster or
 * slower: the numbers are uniform at random. Kernels are compared with the naive one afterwards.
 */
#define BENCH_REPETITIONS 21

#include <math.h>
#include <pwl/cuda_qgemm.h>
#include <string.h>

#include "../../kernels/half.h"
#include "bench.h"

enum { M = 512, N = 4096, MOST_COPIES = 64 };

static const pwl_qgemm_kernel kernels[] = {PWL_QGEMM_NAIVE, PWL_QGEMM_TILED, PWL_QGEMM_VECTORISED, PWL_QGEMM_DP4A,
                                           PWL_QGEMM_MMA};

#define KERNELS (sizeof kernels / sizeof kernels[0])

/* A product by one kernel, with several copies of its weights. */
struct work {
    pwl_qgemm_product product;
    pwl_qgemm_weights weights[MOST_COPIES];
    int copies;
    pwl_qgemm_kernel kernel;
    void *workspace;
    size_t workspace_bytes;
};

static void choose(pwl_qgemm_kernel kernel)
{
    setenv("PWL_QGEMM_KERNEL", pwl_qgemm_kernel_name(kernel), 1);
}

static void launch(const void *of, int turn)
{
    const struct work *const work = of;
    pwl_qgemm_product product = work->product;
    pwl_qgemm_kernel ran;
    product.weights = &work->weights[turn % work->copies];
    choose(work->kernel);
    const pwl_qgemm_status status =
        pwl_cuda_qgemm(&product, work->workspace, work->workspace_bytes, &ran, bench_stream);
    if (status != PWL_QGEMM_OK || ran != work->kernel) {
        fprintf(stderr, "bench_qgemm: %s\n", pwl_qgemm_status_text(status));
        exit(1);
    }
}

/* Fills in the kernel and its workspace; 0 where it does not have the scheme. */
static int prepare(struct work *work, pwl_qgemm_kernel kernel)
{
    pwl_qgemm_product product = work->product;
    product.weights = &work->weights[0];
    work->kernel = kernel;
    choose(kernel);
    const pwl_qgemm_status status = pwl_cuda_qgemm_workspace(&product, &work->workspace_bytes);
    if (status != PWL_QGEMM_OK && status != PWL_QGEMM_ERR_KERNEL) {
        fprintf(stderr, "bench_qgemm: %s\n", pwl_qgemm_status_text(status));
        exit(1);
    }
    if (status == PWL_QGEMM_OK)
        work->workspace = bench_memory(work->workspace_bytes + 1);
    return status == PWL_QGEMM_OK;
}

static float draw(uint64_t *state)
{
    return (float)random_in(state, -8192, 8191) / 8192;
}

/* Largest difference from the naive kernel's Y, over the largest number there. */
static double difference(const struct work *work, const uint16_t *naive, uint16_t *y)
{
    double most = 0, largest = 0;
    launch(work, 0);
    CUDA(cudaStreamSynchronize(bench_stream));
    CUDA(cudaMemcpy(y, work->product.y.data, (size_t)2 * M * N, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < (size_t)M * N; i++) {
        const double v = pwl_f32_from_f16(naive[i]);
        most = fmax(most, fabs(pwl_f32_from_f16(y[i]) - v));
        largest = fmax(largest, fabs(v));
    }
    return most / largest;
}

static void bench(const char *name, pwl_qgemm_scheme scheme, pwl_qgemm_format format, size_t k)
{
    static struct work works[KERNELS];
    struct bench_work launches[KERNELS];
    struct bench_time times[KERNELS];
    uint64_t state = k;
    size_t bytes;
    int count = 0;
    pwl_qgemm_weights weights;
    float *const w = malloc(sizeof *w * N * k);
    uint16_t *const x = malloc(sizeof *x * M * k), *const naive = malloc((size_t)2 * M * N),
                    *const y = malloc((size_t)2 * M * N);
    if (!w || !x || !naive || !y || pwl_qgemm_weights_bytes(format, N, k, &bytes) != PWL_QGEMM_OK)
        exit(1);
    void *const packed = aligned_alloc(16, (bytes + 15) / 16 * 16);
    for (size_t i = 0; i < N * k; i++)
        w[i] = draw(&state);
    for (size_t i = 0; i < M * k; i++)
        x[i] = pwl_f16_from_f32(draw(&state));
    if (!packed || pwl_qgemm_pack_f32(format, PWL_RULE_DEFAULT, w, N, k, packed, bytes, &weights, NULL) != PWL_QGEMM_OK)
        exit(1);
    void *const device_x = bench_memory(sizeof *x * M * k), *const device_y = bench_memory((size_t)2 * M * N);
    CUDA(cudaMemcpy(device_x, x, sizeof *x * M * k, cudaMemcpyHostToDevice));
    struct work work = {{scheme,
                         PWL_QGEMM_SUMS_EXACT,
                         M,
                         NULL,
                         {device_x, k, PWL_QGEMM_F16, 0, NULL},
                         NULL,
                         {device_y, N, PWL_QGEMM_F16, 0, 0}},
                        {weights},
                        (int)(400000000 / weights.bytes) + 1,
                        PWL_QGEMM_NAIVE,
                        NULL,
                        0};
    for (int i = 0; i < work.copies; i++) {
        void *const memory = bench_memory(weights.bytes);
        CUDA(cudaMemcpy(memory, packed, weights.bytes, cudaMemcpyHostToDevice));
        work.weights[i] = weights;
        work.weights[i].memory = memory;
    }
    for (size_t i = 0; i < KERNELS; i++) {
        works[count] = work;
        launches[count] = (struct bench_work){launch, &works[count]};
        count += prepare(&works[count], kernels[i]);
    }
    bench_measure(launches, count, 0, times);
    launch(&works[0], 0);
    CUDA(cudaStreamSynchronize(bench_stream));
    CUDA(cudaMemcpy(naive, device_y, (size_t)2 * M * N, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++) {
        const char *const kernel = pwl_qgemm_kernel_name(works[i].kernel);
        const double teraflops = 2e-6 * M * N * (double)k / (double)times[i].median;
        const double times_naive = (double)times[0].median / (double)times[i].median;
        /* Sums in another order, fp16 at the end: an ulp of the largest number at most is far more than that. */
        if (difference(&works[i], naive, y) > 0x1p-9) {
            fprintf(stderr, "bench_qgemm: %s differs from naive\n", kernel);
            exit(1);
        }
        printf("| %s | %zu | %s | %.1f | %.1f to %.1f | %.1f | %.1f |\n", name, k, kernel, (double)times[i].median,
               (double)times[i].p10, (double)times[i].p90, teraflops, times_naive);
        fprintf(bench_json,
                "{\"bench\": \"qgemm\", \"device\": \"%s\", \"scheme\": \"%s\", \"m\": %d, \"n\": %d, \"k\": %zu",
                bench_device.name, name, M, N, k);
        fprintf(bench_json, ", \"kernel\": \"%s\"", kernel);
        bench_print_time("time", &times[i]);
        fprintf(bench_json, ", \"teraflops\": %.2f, \"times_naive\": %.2f}\n", teraflops, times_naive);
        CUDA(cudaFree(works[i].workspace));
    }
    for (int i = 0; i < work.copies; i++)
        CUDA(cudaFree((void *)(uintptr_t)work.weights[i].memory));
    CUDA(cudaFree(device_x));
    CUDA(cudaFree(device_y));
    free(w);
    free(x);
    free(naive);
    free(y);
    free(packed);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    printf("| scheme | K | kernel | us | percentiles | TFLOP/s | times naive |\n|---|---:|---|---:|---:|---:|---:|\n");
    for (size_t k = 4096; k <= 14336; k += 10240) {
        bench("W4A16", PWL_QGEMM_W4A16, PWL_QGEMM_Q4_0, k);
        bench("W8A16", PWL_QGEMM_W8A16, PWL_QGEMM_Q8_0, k);
        bench("MXFP4 x A16", PWL_QGEMM_MXFP4_A16, PWL_QGEMM_MXFP4, k);
        bench("W4A8", PWL_QGEMM_W4A8, PWL_QGEMM_Q4_0, k);
        bench("W8A8", PWL_QGEMM_W8A8, PWL_QGEMM_Q8_0, k);
    }
    return bench_close();
}
