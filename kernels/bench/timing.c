/* SPDX-License-Identifier: Apache-2.0 */
#include <pwl/timing.h>

#include <stdlib.h>
#include <time.h>

#include <cuda_runtime_api.h>

enum { WARMING = 3 };

typedef struct stopwatch {
    cudaStream_t stream;
    cudaEvent_t begin, end;
} stopwatch;

static const char *text_of(cudaError_t error)
{
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

static const char *capture(const pwl_timing_work *work, int launches, cudaStream_t stream, cudaGraphExec_t *graph)
{
    cudaGraph_t captured;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    const char *failed = text_of(error);
    if (failed)
        return failed;
    for (int k = 0; k < launches && !failed; k++)
        failed = work->launch(work->work, k, stream);
    error = cudaStreamEndCapture(stream, &captured);
    if (failed || error != cudaSuccess)
        return failed ? failed : text_of(error);
    error = cudaGraphInstantiate(graph, captured, 0);
    (void)cudaGraphDestroy(captured);
    return text_of(error);
}

static const char *measure_once(const pwl_timing_work *work, cudaGraphExec_t graph, int turn, const stopwatch *watch,
                                float *us)
{
    float ms = 0;
    const char *failed = text_of(cudaEventRecord(watch->begin, watch->stream));
    if (!failed)
        failed = graph ? text_of(cudaGraphLaunch(graph, watch->stream)) : work->launch(work->work, turn, watch->stream);
    if (!failed)
        failed = text_of(cudaEventRecord(watch->end, watch->stream));
    if (!failed)
        failed = text_of(cudaEventSynchronize(watch->end));
    if (!failed)
        failed = text_of(cudaEventElapsedTime(&ms, watch->begin, watch->end));
    *us = 1000 * ms;
    return failed;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* us: of each work, as many as there are repetitions. */
static const char *measure_all(const pwl_timing_work *works, int count, int repetitions, unsigned rest,
                               const cudaGraphExec_t *graphs, const stopwatch *watch, float *us)
{
    const struct timespec pause = {rest / 1000000, (long)(rest % 1000000) * 1000};
    const char *failed = NULL;
    for (int r = -WARMING; r < repetitions; r++) {
        for (int w = 0; w < count && !failed; w++) {
            if (rest)
                nanosleep(&pause, NULL);
            failed = measure_once(&works[w], graphs[w], r + WARMING, watch, &us[w * repetitions + (r < 0 ? 0 : r)]);
        }
    }
    return failed;
}

static void sum_up(float *us, int repetitions, int launches, pwl_timing *time)
{
    const float each = launches ? (float)launches : 1;
    qsort(us, (size_t)repetitions, sizeof *us, by_size);
    time->median = us[repetitions / 2] / each;
    time->p10 = us[repetitions / 10] / each;
    time->p90 = us[repetitions - 1 - repetitions / 10] / each;
}

const char *pwl_timing_measure(const pwl_timing_work *works, int count, int launches, int repetitions,
                               pwl_timing *times, struct CUstream_st *stream)
{
    return pwl_timing_measure_rested(works, count, launches, repetitions, 0, times, stream);
}

const char *pwl_timing_measure_rested(const pwl_timing_work *works, int count, int launches, int repetitions,
                                      unsigned rest, pwl_timing *times, struct CUstream_st *stream)
{
    cudaGraphExec_t *const graphs = calloc((size_t)count, sizeof *graphs);
    float *const us = calloc((size_t)count * (size_t)repetitions, sizeof *us);
    stopwatch watch = {stream, NULL, NULL};
    const char *failed = graphs && us ? NULL : "out of host memory";
    if (!failed)
        failed = text_of(cudaEventCreate(&watch.begin));
    if (!failed)
        failed = text_of(cudaEventCreate(&watch.end));
    for (int w = 0; w < count && launches && !failed; w++)
        failed = capture(&works[w], launches, stream, &graphs[w]);
    if (!failed)
        failed = measure_all(works, count, repetitions, rest, graphs, &watch, us);
    for (int w = 0; w < count && !failed; w++)
        sum_up(us + w * repetitions, repetitions, launches, &times[w]);
    for (int w = 0; w < count && graphs; w++) {
        if (graphs[w])
            (void)cudaGraphExecDestroy(graphs[w]);
    }
    if (watch.begin)
        (void)cudaEventDestroy(watch.begin);
    if (watch.end)
        (void)cudaEventDestroy(watch.end);
    free(us);
    free(graphs);
    return failed;
}
