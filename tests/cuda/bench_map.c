/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of pwl_cuda_map() beside a copy of the same bytes, both measured in turn in one run: medians of single launches
 * over arrays that no cache holds, and of launches in a graph over arrays that stay in the L2 cache. Codes are uniform
 * at random. Prints rows of markdown.
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <pwl/cuda.h>

#include "luts.h"
#include "tables.h"

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                                            \
            exit(error_ == cudaErrorNoDevice || error_ == cudaErrorInsufficientDriver ? 77 : 1);                       \
        }                                                                                                              \
    } while (0)

enum { REPETITIONS = 101, LAUNCHES = 50 }; /* launches of a graph */

static cudaStream_t stream;
static cudaEvent_t begin, end;

/* One thing to time: a map, or without a table a copy. */
struct work {
    const pwl_cuda_table *table;
    pwl_type in, out;
    void *x, *y;
    size_t count, bytes;
};

static void launch(const struct work *work)
{
    if (!work->table) {
        CUDA(cudaMemcpyAsync(work->y, work->x, work->bytes, cudaMemcpyDeviceToDevice, stream));
    } else if (pwl_cuda_map(work->table, work->in, work->x, work->out, work->y, work->count, stream) != PWL_CUDA_OK) {
        fprintf(stderr, "pwl_cuda_map failed\n");
        exit(1);
    }
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float elapsed_us(void)
{
    float ms;
    CUDA(cudaEventRecord(end, stream));
    CUDA(cudaEventSynchronize(end));
    CUDA(cudaEventElapsedTime(&ms, begin, end));
    return 1000 * ms;
}

/* Medians in microseconds, each repetition measuring all works in turn. */
static void measure(const struct work *works, int count, int in_graph, float *median)
{
    static float us[8][REPETITIONS];
    cudaGraphExec_t graphs[8];
    for (int w = 0; in_graph && w < count; w++) {
        cudaGraph_t graph;
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        for (int k = 0; k < LAUNCHES; k++)
            launch(&works[w]);
        CUDA(cudaStreamEndCapture(stream, &graph));
        CUDA(cudaGraphInstantiate(&graphs[w], graph, 0));
        CUDA(cudaGraphDestroy(graph));
    }
    for (int r = -3; r < REPETITIONS; r++) /* three to warm up */
        for (int w = 0; w < count; w++) {
            CUDA(cudaEventRecord(begin, stream));
            if (in_graph)
                CUDA(cudaGraphLaunch(graphs[w], stream));
            else
                launch(&works[w]);
            const float time = elapsed_us();
            us[w][r < 0 ? 0 : r] = in_graph ? time / LAUNCHES : time;
        }
    for (int w = 0; w < count; w++) {
        qsort(us[w], REPETITIONS, sizeof us[w][0], by_size);
        median[w] = us[w][REPETITIONS / 2];
        if (in_graph)
            CUDA(cudaGraphExecDestroy(graphs[w]));
    }
}

static const pwl_table *shipped(const char *name)
{
    for (int i = 0; luts[i].table; i++)
        if (!strcmp(luts[i].name, name))
            return luts[i].table;
    fprintf(stderr, "no shipped table %s\n", name);
    exit(1);
}

/* Starts at random over all codes of s16. */
static void draw_64_segments(struct made_table *made, uint64_t *state)
{
    *made = (struct made_table){.table = {.version = PWL_TABLE_VERSION,
                                          .storage = PWL_INT16,
                                          .segments = 64,
                                          .qmin_x = INT16_MIN,
                                          .qmax_x = INT16_MAX,
                                          .qmin_y = INT16_MIN,
                                          .qmax_y = INT16_MAX}};
    for (int i = 0; i < 64; i++) {
        made->start[i] = INT16_MIN + 1024 * i + (i ? random_in(state, -400, 400) : 0);
        made->q_b[i] = random_in(state, -20000, 20000);
        made->n[i] = random_in(state, 13, 18);
        made->offset[i] = random_in(state, -20000, 20000);
    }
    if (pwl_table_check(made_pack(made), NULL) != PWL_OK)
        exit(1);
}

int main(void)
{
    static struct made_table made;
    const size_t large = (size_t)256 << 20, small = (size_t)1 << 21;
    uint64_t state = 64;
    draw_64_segments(&made, &state);
    const struct {
        const char *name;
        const pwl_table *table;
        pwl_type type;
    } cases[] = {{"s8 to s8, sigmoid, 16 segments", shipped("pwl_sigmoid_s8"), PWL_S8},
                 {"s16 to s16, sigmoid, 16 segments", shipped("pwl_sigmoid_s16"), PWL_S16},
                 {"s16 to s16, random, 64 segments", &made.table, PWL_S16},
                 {"s16 to s16, sigmoid, 142 segments", shipped("pwl_sigmoid_s16_1lsb"), PWL_S16},
                 {"s32 to s32, sigmoid, 16 segments", shipped("pwl_sigmoid_s32"), PWL_S32}};
    struct cudaDeviceProp device;
    char *x, *y;
    int driver, runtime;
    CUDA(cudaGetDeviceProperties(&device, 0));
    CUDA(cudaDriverGetVersion(&driver));
    CUDA(cudaRuntimeGetVersion(&runtime));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    CUDA(cudaMalloc((void **)&x, large));
    CUDA(cudaMalloc((void **)&y, large));
    uint64_t *const random = malloc(large);
    if (!random)
        return 1;
    for (size_t k = 0; k < large / sizeof *random; k++)
        random[k] = random_bits(&state);
    CUDA(cudaMemcpy(x, random, large, cudaMemcpyHostToDevice));
    free(random);

    printf("%s, driver %d.%d, CUDA %d.%d; medians of %d\n\n", device.name, driver / 1000, driver % 1000 / 10,
           runtime / 1000, runtime % 1000 / 10, REPETITIONS);
    printf(
        "| table | 256 MiB in and out: us | copy | share of the copy's speed | 2^21 elements, in L2: us | copy | times "
        "the copy |\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        pwl_cuda_table table;
        const size_t element = (size_t)1 << (cases[c].type >> 1);
        float cold[2], warm[2];
        if (pwl_cuda_upload(cases[c].table, &table) != PWL_CUDA_OK)
            return 1;
        const struct work cold_works[] = {{&table, cases[c].type, cases[c].type, x, y, large / element, 0},
                                          {NULL, PWL_S8, PWL_S8, x, y, 0, large}};
        const struct work warm_works[] = {{&table, cases[c].type, cases[c].type, x, y, small, 0},
                                          {NULL, PWL_S8, PWL_S8, x, y, 0, small * element}};
        measure(cold_works, 2, 0, cold);
        measure(warm_works, 2, 1, warm);
        printf("| %s | %.1f | %.1f | %.3f | %.2f | %.2f | %.2f |\n", cases[c].name, cold[0], cold[1], cold[1] / cold[0],
               warm[0], warm[1], warm[0] / warm[1]);
        if (pwl_cuda_release(&table) != PWL_CUDA_OK)
            return 1;
    }
    return 0;
}
