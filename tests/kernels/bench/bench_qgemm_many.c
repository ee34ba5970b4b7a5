/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qgemm_many JSON [N,K[,M...] [SCHEME]]: products with many rows of X by the kernel that pwl_cuda_qgemm()
 * chooses, fp16 in and out; in W4A8 and W8A8 with the making of halves, of SPARSE4 the largest two of four. Launches
 * take turns among at least 400 MB of weights, in graphs of one round each, with 4 ms of rest before each. Beside them,
 * where the library is found, cuBLASLt's product of fp16. Numbers are uniform at random. Without a shape: those of the
 * tables in kernels/RESULTS.md.
 */
#define BENCH_REPETITIONS 21

#include <pwl/cublaslt.h>
#include <pwl/cuda_qgemm.h>
#include <pwl/half.h>

#include "../need.h"
#include "bench.h"
#include "shapes.h"

enum { MOST_COPIES = 64, OUTPUTS = 8, REST = 4000 /* us */ };

#define COLD 400000000 /* bytes */

#define TABLE                                                                                                          \
    {                                                                                                                  \
        128, 256, 512, 1024, 2048, 4096                                                                                \
    }
#define STEPS                                                                                                          \
    {                                                                                                                  \
        64, 65, 80, 96, 129, 192, 257, 384, 513, 768, 1025, 1536, 2049                                                 \
    }

static const struct {
    struct shape shape;
    const char *scheme; /* null: all */
} tables[] = {{{4096, 4096, TABLE}, NULL},    {{4096, 14336, TABLE}, NULL},   {{14336, 4096, TABLE}, "W4A16"},
              {{5120, 5120, TABLE}, "W4A16"}, {{8192, 8192, TABLE}, "W4A16"}, {{4096, 4096, STEPS}, "W4A16"},
              {{4096, 14336, STEPS}, "W4A16"}};

/* What all works share, on the device but for host_floats. */
static float *floats; /* [N][K] */
static const float *host_floats;
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

static void make(struct copies *c, pwl_qgemm_format format, size_t n, size_t k)
{
    pwl_qgemm_weights made;
    size_t bytes;
    bench_need_ok((int)pwl_qgemm_weights_bytes(format, n, k, &bytes), "weights");
    void *const memory = bench_memory(bytes);
    pwl_qgemm_source source = pwl_qgemm_of_floats(format, PWL_RULE_DEFAULT, floats, n, k);
    if (format == PWL_QGEMM_SPARSE4) { /* which the host packs */
        void *const packed = need(bytes);
        source.spread = PWL_QGEMM_SPREAD_PRUNED;
        source.data[0] = host_floats;
        bench_need_ok((int)pwl_qgemm_pack(source, packed, bytes, &made, NULL), "packing");
        CUDA(cudaMemcpy(memory, packed, made.bytes, cudaMemcpyHostToDevice));
        made.memory = memory;
        free(packed);
    } else {
        bench_need_ok((int)pwl_cuda_qgemm_pack(source, memory, bytes, &made, NULL, NULL), "packing");
    }
    CUDA(cudaDeviceSynchronize());
    copy(c, &made);
    CUDA(cudaFree(memory));
}

/* Microseconds, and the row of a table of its own. */
static float measure(const struct work *work, const char *scheme, size_t m, size_t n, size_t k, float fp16)
{
    const pwl_timing_work launches = {launch, work};
    pwl_timing time;
    bench_need(
        pwl_timing_measure_rested(&launches, 1, work->weights->count, BENCH_REPETITIONS, REST, &time, bench_stream));
    fprintf(bench_json, "{\"bench\": \"qgemm_many\", \"device\": \"%s\", \"scheme\": \"%s\", \"m\": %zu, \"n\": %zu",
            bench_device.name, scheme, m, n);
    fprintf(bench_json, ", \"k\": %zu", k);
    bench_print_time("time", &time);
    if (fp16 > 0)
        fprintf(bench_json, ", \"times_cublaslt\": %.3f", (double)fp16 / (double)time.median);
    fprintf(bench_json, "}\n");
    printf("| %s | %zu | %zu | %zu | %.1f | ", scheme, m, n, k, (double)time.median);
    printf(fp16 > 0 ? "%.2f |\n" : "- |\n", (double)fp16 / (double)time.median);
    fflush(stdout);
    return time.median;
}

static void bench_scheme(const struct shape *shape, const char *name, pwl_qgemm_scheme scheme, pwl_qgemm_format format,
                         const float fp16[MOST_ROWS])
{
    static struct copies weights;
    const size_t n = shape->n, k = shape->k;
    make(&weights, format, n, k);
    for (size_t i = 0; i < MOST_ROWS && shape->m[i]; i++) {
        struct work work = {&weights, {.scheme = scheme, .m = shape->m[i], .weights = &weights.of[0]}, NULL, 0};
        work.product.x = (pwl_qgemm_input){x, k, PWL_QGEMM_F16, 0, NULL, NULL};
        work.product.y = (pwl_qgemm_output){y[0], n, PWL_QGEMM_F16, 0, 0, NULL, 0};
        bench_need_ok((int)pwl_cuda_qgemm_workspace(&work.product, &work.bytes), "workspace");
        work.bytes += 16; /* none would be cuBLASLt's */
        work.workspace = bench_memory(work.bytes);
        measure(&work, name, shape->m[i], n, k, fp16[i]);
        CUDA(cudaFree(work.workspace));
    }
    free_copies(&weights);
}

/* cuBLASLt's times, 0 where the library is missing. */
static void bench_fp16(const struct shape *shape, const uint16_t *w, float times[MOST_ROWS])
{
    static struct copies halves;
    const struct work work = {&halves, {.m = 0}, NULL, 0};
    const pwl_qgemm_weights first = {.memory = w, .bytes = (size_t)2 * shape->n * shape->k};
    copy(&halves, &first);
    for (size_t i = 0; i < MOST_ROWS && shape->m[i]; i++) {
        times[i] = 0;
        bench_need(pwl_cublaslt_plan(PWL_CUBLASLT_F16, shape->m[i], shape->n, shape->k, halves.of[0].memory, x, y[0],
                                     bench_stream, &cublaslt));
        if (cublaslt)
            times[i] = measure(&work, "fp16, cuBLASLt", shape->m[i], shape->n, shape->k, 0);
        pwl_cublaslt_free(cublaslt);
    }
    free_copies(&halves);
}

static void bench(const struct shape *shape, const char *only)
{
    static const struct {
        const char *name;
        pwl_qgemm_scheme scheme;
        pwl_qgemm_format format;
    } schemes[] = {
        {"W4A16", PWL_QGEMM_W4A16, PWL_QGEMM_Q4_0}, {"SPARSE4 x A16", PWL_QGEMM_SPARSE4_A16, PWL_QGEMM_SPARSE4},
        {"W8A16", PWL_QGEMM_W8A16, PWL_QGEMM_Q8_0}, {"MXFP4 x A16", PWL_QGEMM_MXFP4_A16, PWL_QGEMM_MXFP4},
        {"W4A8", PWL_QGEMM_W4A8, PWL_QGEMM_Q4_0},   {"W8A8", PWL_QGEMM_W8A8, PWL_QGEMM_Q8_0}};
    const size_t weights = shape->n * shape->k, inputs = MOST_M * shape->k, most = weights > inputs ? weights : inputs;
    float *const w = need(sizeof *w * most), times[MOST_ROWS];
    uint16_t *const halves = need(sizeof *halves * most);
    uint64_t state = shape->k;
    void *device_halves;
    for (size_t i = 0; i < most; i++) {
        w[i] = (float)random_in(&state, -8192, 8191) / 8192;
        halves[i] = pwl_f16_from_f32(w[i]);
    }
    host_floats = w;
    floats = bench_memory(sizeof *w * weights);
    device_halves = bench_memory(sizeof *halves * weights);
    x = bench_memory(sizeof *halves * inputs);
    for (int i = 0; i < OUTPUTS; i++)
        y[i] = bench_memory(sizeof *halves * MOST_M * shape->n);
    CUDA(cudaMemcpy(floats, w, sizeof *w * weights, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(device_halves, halves, sizeof *halves * weights, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(x, halves, sizeof *halves * inputs, cudaMemcpyHostToDevice));
    bench_fp16(shape, device_halves, times);
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        if (!only || strcmp(only, schemes[i].name) == 0)
            bench_scheme(shape, schemes[i].name, schemes[i].scheme, schemes[i].format, times);
    }
    for (int i = 0; i < OUTPUTS; i++)
        CUDA(cudaFree(y[i]));
    CUDA(cudaFree(x));
    CUDA(cudaFree(device_halves));
    CUDA(cudaFree(floats));
    free(halves);
    free(w);
}

int main(int argc, char **argv)
{
    bench_open(argc > 2 ? 2 : argc, argv);
    printf("| scheme | M | N | K | us | times cuBLASLt's speed |\n|---|---:|---:|---:|---:|---:|\n");
    if (argc > 2) {
        const struct shape shape = shape_of(argv[2], (struct shape){0, 0, TABLE});
        bench(&shape, argc > 3 ? argv[3] : NULL);
        return bench_close();
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        bench(&tables[i].shape, tables[i].scheme);
    return bench_close();
}
