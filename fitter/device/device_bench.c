/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libpwlc-cuda: how long products take, and cuBLASLt's of fp16 beside them in the same run. Launches are in a graph,
 * and take turns among copies of the weights and of Y, so that they come from memory; or are of one copy, which stays
 * in the L2 cache where it fits. Functions return null, or what went wrong.
 */
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include <pwl/cublaslt.h>
#include <pwl/cuda_qgemm.h>
#include <pwl/half.h>
#include <pwl/timing.h>

#include "device_report.h"
#include "gemm_device.h"

EXPORTED pwlc_cuda_bench_gemm_function pwlc_cuda_bench_gemm;

enum { REPETITIONS = 51, MOST_TURNS = 256, F16 = 1 /* of a tensor's types */ };

#define COLD 400000000 /* bytes, more than caches hold */

struct turns {
    int count;
    void *w[MOST_TURNS], *y[MOST_TURNS];
};

struct bench {
    const struct gemm_case *what;
    cudaStream_t stream;
    void *halves, *x, *n_x, *packed, *workspace; /* on the device; halves are the weights in fp16 */
    void *x_halves;                              /* cuBLASLt's X */
    size_t workspace_bytes;
    pwl_qgemm_weights weights;
    pwl_qgemm_product product;
    struct turns own, fp16;
    pwl_cublaslt *cublaslt; /* null where it is missing */
};

static const char *text_of(cudaError_t error)
{
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

static const char *make_turns(const void *w, size_t w_bytes, size_t y_bytes, struct turns *turns)
{
    const size_t wanted = COLD / (w_bytes + y_bytes) + 1;
    const char *failed = NULL;
    turns->count = wanted < MOST_TURNS ? (int)wanted : MOST_TURNS;
    for (int i = 0; i < turns->count && !failed; i++) {
        failed = text_of(cudaMalloc(&turns->w[i], w_bytes));
        if (!failed)
            failed = text_of(cudaMemcpy(turns->w[i], w, w_bytes, cudaMemcpyDeviceToDevice));
        if (!failed)
            failed = text_of(cudaMalloc(&turns->y[i], y_bytes));
    }
    return failed;
}

static void free_turns(struct turns *turns)
{
    for (int i = 0; i < turns->count; i++) {
        (void)cudaFree(turns->w[i]);
        (void)cudaFree(turns->y[i]);
    }
}

/* xorshift64 */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* 12 bits of each number choose from -1, -2047/2048, ... */
static void draw_halves(uint16_t *to, size_t count, uint64_t *state)
{
    uint16_t values[4096];
    for (int i = 0; i < 4096; i++)
        values[i] = pwl_f16_from_f32((float)(i - 2048) / 2048);
    for (size_t i = 0; i < count; i++)
        to[i] = values[next(state) >> 20 & 4095];
}

/* As many random elements of fp16, or bytes, on the device. */
static const char *draw(size_t count, int is_bytes, void **there)
{
    const size_t bytes = is_bytes ? count : count * sizeof(uint16_t);
    uint16_t *const here = malloc(bytes + 1);
    uint64_t state = count;
    const char *failed = here ? text_of(cudaMalloc(there, bytes)) : "out of host memory";
    if (!failed && !is_bytes)
        draw_halves(here, count, &state);
    for (size_t i = 0; !failed && is_bytes && i < count; i++)
        ((uint8_t *)here)[i] = (uint8_t)(next(&state) >> 20);
    if (!failed)
        failed = text_of(cudaMemcpy(*there, here, bytes, cudaMemcpyHostToDevice));
    free(here);
    return failed;
}

static const char *pack_weights(struct bench *b)
{
    const size_t n = b->what->n, k = b->what->k;
    const pwl_qgemm_tensor tensor = {F16, {k, n, 1, 1}, b->halves, 2 * n * k};
    size_t bytes = 0;
    const char *failed = device_status_text(pwl_qgemm_weights_bytes(b->what->format, n, k, &bytes));
    if (!failed)
        failed = text_of(cudaMalloc(&b->packed, bytes));
    if (!failed)
        failed = device_status_text(pwl_cuda_qgemm_pack(pwl_qgemm_of_tensor(b->what->format, PWL_RULE_DEFAULT, &tensor),
                                                        b->packed, bytes, &b->weights, NULL, b->stream));
    return failed ? failed : text_of(cudaStreamSynchronize(b->stream));
}

/* INT8: exponents of 0, and codes of Y that few sums saturate. */
static const char *make_product(struct bench *b)
{
    const struct gemm_case *const what = b->what;
    const int integers = what->scheme == PWL_QGEMM_INT8;
    const pwl_qgemm_type type = integers ? PWL_QGEMM_S8 : PWL_QGEMM_F16;
    const char *failed = draw(what->n * what->k, 0, &b->halves);
    if (!failed)
        failed = pack_weights(b);
    if (!failed)
        failed = draw(what->m * what->k, integers, &b->x);
    if (!failed && integers)
        failed = text_of(cudaMalloc(&b->n_x, what->m));
    if (!failed && integers)
        failed = text_of(cudaMemset(b->n_x, 0, what->m));
    if (!failed)
        failed = make_turns(b->packed, b->weights.bytes, what->m * what->n * (integers ? 1 : 2), &b->own);
    if (failed)
        return failed;
    b->product = (pwl_qgemm_product){.scheme = what->scheme,
                                     .m = what->m,
                                     .weights = &b->weights,
                                     .x = {.data = b->x, .stride = what->k, .type = type, .n_x = b->n_x},
                                     .y = {.data = b->own.y[0], .stride = what->n, .type = type, .n_y = -6}};
    failed = device_status_text(pwl_cuda_qgemm_workspace(&b->product, &b->workspace_bytes));
    return failed ? failed : text_of(cudaMalloc(&b->workspace, b->workspace_bytes + 1));
}

static const char *make_cublaslt(struct bench *b)
{
    const struct gemm_case *const what = b->what;
    const char *failed = draw(what->m * what->k, 0, &b->x_halves);
    if (!failed)
        failed = make_turns(b->halves, 2 * what->n * what->k, 2 * what->m * what->n, &b->fp16);
    return failed ? failed
                  : pwl_cublaslt_plan(PWL_CUBLASLT_F16, what->m, what->n, what->k, b->fp16.w[0], b->x_halves,
                                      b->fp16.y[0], b->stream, &b->cublaslt);
}

/* A product's, or cuBLASLt's, launches. */
struct work {
    const struct bench *bench;
    int among; /* copies */
};

static const char *launch_product(const void *of, int turn, struct CUstream_st *stream)
{
    const struct work *const work = of;
    const struct bench *const b = work->bench;
    pwl_qgemm_weights weights = b->weights;
    pwl_qgemm_product product = b->product;
    weights.memory = b->own.w[turn % work->among];
    product.weights = &weights;
    product.y.data = b->own.y[turn % work->among];
    return device_status_text(pwl_cuda_qgemm(&product, b->workspace, b->workspace_bytes, NULL, stream));
}

static const char *launch_cublaslt(const void *of, int turn, struct CUstream_st *stream)
{
    const struct work *const work = of;
    const struct bench *const b = work->bench;
    const int i = turn % work->among;
    return pwl_cublaslt_launch(b->cublaslt, b->fp16.w[i], b->x_halves, b->fp16.y[i], stream);
}

static struct gemm_time time_of(const pwl_timing *time)
{
    return (struct gemm_time){(double)time->median, (double)time->p10, (double)time->p90};
}

static const char *measure(struct bench *b, struct gemm_times *times)
{
    const struct work own = {b, b->own.count}, own_warm = {b, 1}, fp16 = {b, b->fp16.count}, fp16_warm = {b, 1};
    const pwl_timing_work works[] = {
        {launch_product, &own}, {launch_product, &own_warm}, {launch_cublaslt, &fp16}, {launch_cublaslt, &fp16_warm}};
    const int count = b->cublaslt ? 4 : 2, launches = b->own.count;
    pwl_timing measured[4];
    pwl_qgemm_kernel ran = PWL_QGEMM_NAIVE;
    const char *failed =
        device_status_text(pwl_cuda_qgemm(&b->product, b->workspace, b->workspace_bytes, &ran, b->stream));
    if (!failed)
        failed = pwl_timing_measure(works, count, launches, REPETITIONS, measured, b->stream);
    if (failed)
        return failed;
    snprintf(times->ran.kernel, sizeof times->ran.kernel, "%s", pwl_qgemm_kernel_name(ran));
    times->repetitions = REPETITIONS;
    times->launches = launches;
    times->cold = time_of(&measured[0]);
    times->warm = time_of(&measured[1]);
    times->has_cublaslt = b->cublaslt != NULL;
    if (b->cublaslt) {
        times->cublaslt_cold = time_of(&measured[2]);
        times->cublaslt_warm = time_of(&measured[3]);
    }
    return NULL;
}

static void release(struct bench *b)
{
    void *const arrays[] = {b->halves, b->x, b->n_x, b->packed, b->workspace, b->x_halves};
    pwl_cublaslt_free(b->cublaslt);
    free_turns(&b->own);
    free_turns(&b->fp16);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        (void)cudaFree(arrays[i]);
    if (b->stream)
        (void)cudaStreamDestroy(b->stream);
}

int pwlc_cuda_bench_gemm(const struct gemm_case *what, struct gemm_times *times, char *message, size_t size)
{
    const struct device_report to = {message, size};
    struct bench b = {.what = what};
    const char *failed;
    int code = device_find(&to);
    if (code == DEVICE_DONE)
        code = device_name(&to, times->ran.device, sizeof times->ran.device);
    if (code != DEVICE_DONE)
        return code;
    failed = text_of(cudaStreamCreate(&b.stream));
    if (!failed)
        failed = make_product(&b);
    if (!failed)
        failed = make_cublaslt(&b);
    if (!failed)
        failed = measure(&b, times);
    release(&b);
    return failed ? device_fail(&to, DEVICE_FAILED, "%s", failed) : DEVICE_DONE;
}
