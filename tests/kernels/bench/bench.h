/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmarks on a device share: works timed in turn, and their rows, as markdown on standard output and as
 * JSON lines in a file.
 */
#ifndef BENCH_H
#define BENCH_H

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <pwl/timing.h>

#include "../../support/random.h"

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

/* Exits where something went wrong. */
static inline void bench_need(const char *failed)
{
    if (!failed)
        return;
    fprintf(stderr, "%s\n", failed);
    exit(1);
}

/* The same by a status of the project's, 0 when all is well. */
static inline void bench_need_ok(int status, const char *what)
{
    if (status == 0)
        return;
    fprintf(stderr, "%s: status %d\n", what, status);
    exit(1);
}

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

static inline float bench_elapsed_us(void)
{
    float ms;
    CUDA(cudaEventRecord(bench_end, bench_stream));
    CUDA(cudaEventSynchronize(bench_end));
    CUDA(cudaEventElapsedTime(&ms, bench_begin, bench_end));
    return 1000 * ms;
}

static inline const char *bench_launch_work(const void *of, int turn, struct CUstream_st *stream)
{
    const struct bench_work *const work = of;
    (void)stream; /* it is bench_stream */
    work->launch(work->work, turn);
    return NULL;
}

/* At most BENCH_WORKS works, in turn: `in_graph` launches of each in a graph, or one. */
static inline void bench_measure(const struct bench_work *works, int count, int in_graph, pwl_timing *times)
{
    pwl_timing_work launches[BENCH_WORKS];
    for (int w = 0; w < count; w++)
        launches[w] = (pwl_timing_work){bench_launch_work, &works[w]};
    bench_need(pwl_timing_measure(launches, count, in_graph, BENCH_REPETITIONS, times, bench_stream));
}

/* ", "NAME": {"us": ..., "p10": ..., "p90": ...}" */
static inline void bench_print_time(const char *name, const pwl_timing *time)
{
    fprintf(bench_json, ", \"%s\": {\"us\": %.3f, \"p10\": %.3f, \"p90\": %.3f}", name, (double)time->median,
            (double)time->p10, (double)time->p90);
}

#endif
