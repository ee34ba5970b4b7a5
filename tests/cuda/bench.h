/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmarks on a device share: works timed in turn, so that all see the same clocks, with medians and the
 * span from the 10th to the 90th percentile; and their rows, as markdown on standard output and as JSON lines in a
 * file.
 */
#ifndef BENCH_H
#define BENCH_H

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/random.h"

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                                            \
            exit(error_ == cudaErrorNoDevice || error_ == cudaErrorInsufficientDriver ? 77 : 1);                       \
        }                                                                                                              \
    } while (0)

#ifndef BENCH_REPETITIONS /* fewer, for works that take long */
#define BENCH_REPETITIONS 101
#endif

enum { BENCH_LAUNCHES = 50 /* in a graph, as a rule */, BENCH_WORKS = 8 };

static cudaStream_t bench_stream;
static cudaEvent_t bench_begin, bench_end;
static struct cudaDeviceProp bench_device;
static FILE *bench_json;

/* Queues one piece of work on bench_stream; `turn` counts the launches, for works that take turns among buffers. */
typedef void bench_launch(const void *work, int turn);

struct bench_work {
    bench_launch *launch;
    const void *work;
};

/* Of one launch, in microseconds. */
struct bench_time {
    float median, p10, p90;
};

/* The command line is the program and the file for JSON lines. */
static inline void bench_open(int argc, char **argv)
{
    int driver, runtime;
    if (argc != 2) {
        fprintf(stderr, "usage: %s JSON\n", argv[0]);
        exit(2);
    }
    CUDA(cudaGetDeviceProperties(&bench_device, 0));
    CUDA(cudaDriverGetVersion(&driver));
    CUDA(cudaRuntimeGetVersion(&runtime));
    CUDA(cudaStreamCreate(&bench_stream));
    CUDA(cudaEventCreate(&bench_begin));
    CUDA(cudaEventCreate(&bench_end));
    bench_json = fopen(argv[1], "w");
    if (!bench_json) {
        perror(argv[1]);
        exit(1);
    }
    printf("\n%s, driver %d.%d, CUDA %d.%d; medians of %d, and percentiles 10 to 90\n\n", bench_device.name,
           driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, BENCH_REPETITIONS);
}

/* main's exit status */
static inline int bench_close(void)
{
    if (fclose(bench_json) == 0)
        return 0;
    perror("JSON lines");
    return 1;
}

static inline void *bench_memory(size_t bytes)
{
    void *memory;
    CUDA(cudaMalloc(&memory, bytes));
    return memory;
}

static inline int bench_by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static inline float bench_elapsed_us(void)
{
    float ms;
    CUDA(cudaEventRecord(bench_end, bench_stream));
    CUDA(cudaEventSynchronize(bench_end));
    CUDA(cudaEventElapsedTime(&ms, bench_begin, bench_end));
    return 1000 * ms;
}

static inline cudaGraphExec_t bench_graph(const struct bench_work *work, int count)
{
    cudaGraph_t graph;
    cudaGraphExec_t launches;
    CUDA(cudaStreamBeginCapture(bench_stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < count; k++)
        work->launch(work->work, k);
    CUDA(cudaStreamEndCapture(bench_stream, &graph));
    CUDA(cudaGraphInstantiate(&launches, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return launches;
}

/* At most BENCH_WORKS works, each repetition measuring all in turn: `in_graph` launches of each in a graph, or one. */
static inline void bench_measure(const struct bench_work *works, int count, int in_graph, struct bench_time *times)
{
    static float us[BENCH_WORKS][BENCH_REPETITIONS];
    cudaGraphExec_t graphs[BENCH_WORKS] = {NULL};
    for (int w = 0; in_graph && w < count; w++)
        graphs[w] = bench_graph(&works[w], in_graph);
    for (int r = -3; r < BENCH_REPETITIONS; r++) /* three to warm up */
        for (int w = 0; w < count; w++) {
            CUDA(cudaEventRecord(bench_begin, bench_stream));
            if (in_graph)
                CUDA(cudaGraphLaunch(graphs[w], bench_stream));
            else
                works[w].launch(works[w].work, r + 3);
            const float time = bench_elapsed_us();
            us[w][r < 0 ? 0 : r] = in_graph ? time / (float)in_graph : time;
        }
    for (int w = 0; w < count; w++) {
        qsort(us[w], BENCH_REPETITIONS, sizeof us[w][0], bench_by_size);
        times[w] = (struct bench_time){us[w][BENCH_REPETITIONS / 2], us[w][BENCH_REPETITIONS / 10],
                                       us[w][BENCH_REPETITIONS - 1 - BENCH_REPETITIONS / 10]};
        if (in_graph)
            CUDA(cudaGraphExecDestroy(graphs[w]));
    }
}

/* ", "NAME": {"us": ..., "p10": ..., "p90": ...}" */
static inline void bench_print_time(const char *name, const struct bench_time *time)
{
    fprintf(bench_json, ", \"%s\": {\"us\": %.3f, \"p10\": %.3f, \"p90\": %.3f}", name, (double)time->median,
            (double)time->p10, (double)time->p90);
}

#endif
