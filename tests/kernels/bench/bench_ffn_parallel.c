/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_ffn_parallel JSON: a gated feed-forward block on 1, 2, 4, ... of the machine's GPUs (examples/ffn_parallel.h),
 * in W4A16 and in integers: the block, its products alone, and the reduction alone, each as a graph of as many blocks
 * as make 400 MB of weights on a device. The time is that of the slowest rank; medians of repetitions that all ranks
 * begin together. Exits with 77 where there are fewer than two devices.
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <string.h>

#include <pwl/half.h>

#include "../../../examples/ffn_parallel.h"
#include "../../../examples/gpus.h"
#include "../../examples/ranks.h"
#include "../../support/random.h"
#include "pwl_silu_s16.h"

enum { REPETITIONS = 21, MOST_BLOCKS = 64, MOST_TOKENS = 4096, STEPS = 3 };

#define COLD 400000000 /* bytes, more than caches hold */

static const struct {
    size_t d, ff;
} shapes[] = {{4096, 14336}, {8192, 28672}};
static const size_t tokens[] = {1, 16, 512, 4096};
enum { SHAPES = sizeof shapes / sizeof shapes[0], TOKENS = sizeof tokens / sizeof tokens[0] };

/* What is measured of a block. */
static const int steps[STEPS] = {FFN_ALL, FFN_PRODUCTS, FFN_REDUCTION};

/* One scheme and shape on so many ranks. */
struct job {
    ffn_shared shared;
    nccl_id id;
    float us[MOST_RANKS][REPETITIONS]; /* of the measurement that all ranks are at */
    float times[TOKENS][STEPS];        /* medians */
};

struct lane {
    const struct ranks *all;
    int rank, blocks;
    ffn_part parts[MOST_BLOCKS];
    void *x, *y;
    cudaStream_t stream;
    cudaEvent_t begin, end;
};

static const char *text_of(cudaError_t error)
{
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

static const char *product_text(pwl_qgemm_status status)
{
    return status == PWL_QGEMM_OK ? NULL : pwl_qgemm_status_text(status);
}

/* Random bytes in a new array: codes of int8; or fp16 and blocks' scales that are all finite, below 2. */
static const char *draw(size_t bytes, int halves, void **there)
{
    enum { PIECE = 1 << 20 };
    static _Thread_local uint16_t piece[PIECE / 2];
    uint64_t state = bytes;
    const char *failed = text_of(cudaMalloc(there, bytes));
    for (size_t i = 0; i < PIECE / 2; i++)
        piece[i] = (uint16_t)(random_bits(&state) & (halves ? 0xbbff : 0xffff));
    for (size_t at = 0; at < bytes && !failed; at += PIECE)
        failed = text_of(
            cudaMemcpy((char *)*there + at, piece, bytes - at < PIECE ? bytes - at : PIECE, cudaMemcpyHostToDevice));
    return failed;
}

/* As many rows and columns as the rank's part has, packed on the device. */
static const char *draw_weights(int integers, size_t n, size_t k, pwl_qgemm_weights *weights)
{
    const pwl_qgemm_format format = integers ? PWL_QGEMM_ROWS8 : PWL_QGEMM_Q4_0;
    void *from, *n_w = NULL, *memory;
    size_t bytes = 0;
    const char *failed = draw(integers ? n * k : n * k / 32 * 18, !integers, &from);
    if (!failed)
        failed = text_of(cudaMalloc(&n_w, n));
    if (!failed)
        failed = text_of(cudaMemset(n_w, 0, n));
    if (!failed)
        failed = product_text(pwl_qgemm_weights_bytes(format, n, k, &bytes));
    if (!failed)
        failed = text_of(cudaMalloc(&memory, bytes));
    if (!failed)
        failed = product_text(pwl_cuda_qgemm_pack(integers ? pwl_qgemm_of_codes(format, from, n_w, n, k)
                                                           : pwl_qgemm_of_blocks(format, from, n, k),
                                                  memory, bytes, weights, NULL, NULL));
    (void)cudaDeviceSynchronize();
    (void)cudaFree(from);
    (void)cudaFree(n_w);
    return failed;
}

/* Times of unlike GPUs are those of the slowest, which whoever reads them should know. */
static const char *tell_unlike(const nccl *group)
{
    char unlike[GPUS_MESSAGE];
    const char *const failed = ffn_compare_gpus(group, unlike, sizeof unlike);
    if (!failed && group->rank == 0 && unlike[0])
        fprintf(stderr, "bench_ffn_parallel: warning: %s\n", unlike);
    return failed;
}

/* The rank's blocks; all join one group. */
static const char *make_lane(struct lane *lane)
{
    struct job *const job = lane->all->of;
    const ffn_shared *const of = &job->shared;
    const int integers = of->scheme == PWL_QGEMM_INT8, ranks = lane->all->count;
    const size_t ff = of->ff / (size_t)ranks, weights = 3 * of->d * ff * (integers ? 16 : 9) / 16;
    nccl group = {NULL, 0, 0};
    const char *failed = text_of(cudaSetDevice(lane->rank));
    lane->blocks = weights > COLD ? 1 : (int)(COLD / weights) + 1;
    lane->blocks = lane->blocks < MOST_BLOCKS ? lane->blocks : MOST_BLOCKS;
    if (!failed && ranks > 1)
        failed = nccl_join(&job->id, lane->rank, ranks, &group);
    if (!failed && ranks > 1)
        failed = tell_unlike(&group);
    for (int i = 0; i < lane->blocks && !failed; i++) {
        ffn_part *const part = &lane->parts[i];
        part->group = group;
        failed = draw_weights(integers, 2 * ff, of->d, &part->gate_up);
        failed = failed ? failed : draw_weights(integers, of->d, ff, &part->down);
        failed = failed ? failed : ffn_prepare(of, part);
    }
    failed = failed ? failed : draw(MOST_TOKENS * of->d * 2, !integers, &lane->x);
    failed = failed ? failed : text_of(cudaMalloc(&lane->y, (MOST_TOKENS + MOST_RANKS) * of->d * 2));
    failed = failed ? failed : text_of(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
    failed = failed ? failed : text_of(cudaEventCreate(&lane->begin));
    return failed ? failed : text_of(cudaEventCreate(&lane->end));
}

static void free_lane(struct lane *lane)
{
    for (int i = 0; i < lane->blocks; i++) {
        if (i > 0)
            lane->parts[i].group.communicator = NULL; /* all have that of the first */
        ffn_release(&lane->parts[i]);
    }
    (void)cudaFree(lane->x);
    (void)cudaFree(lane->y);
    (void)cudaStreamDestroy(lane->stream);
    (void)cudaEventDestroy(lane->begin);
    (void)cudaEventDestroy(lane->end);
}

static const char *capture(const struct lane *lane, size_t m, int which, cudaGraphExec_t *graph)
{
    cudaGraph_t captured;
    /* Once before: NCCL connects ranks when they first meet. */
    const char *failed = ffn_queue(&lane->parts[0], lane->x, m, lane->y, which, lane->stream);
    failed = failed ? failed : text_of(cudaStreamSynchronize(lane->stream));
    meet(lane->all);
    failed = failed ? failed : text_of(cudaStreamBeginCapture(lane->stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < lane->blocks && !failed; i++)
        failed = ffn_queue(&lane->parts[i], lane->x, m, lane->y, which, lane->stream);
    const cudaError_t ended = cudaStreamEndCapture(lane->stream, &captured);
    if (failed || ended != cudaSuccess)
        return failed ? failed : text_of(ended);
    failed = text_of(cudaGraphInstantiate(graph, captured, 0));
    (void)cudaGraphDestroy(captured);
    return failed;
}

/* All ranks' graphs, begun together; the first three times do not count. */
static const char *measure(struct lane *lane, cudaGraphExec_t graph)
{
    struct job *const job = lane->all->of;
    const char *failed = NULL;
    for (int i = -3; i < REPETITIONS && !failed; i++) {
        float ms = 0;
        meet(lane->all);
        failed = text_of(cudaEventRecord(lane->begin, lane->stream));
        failed = failed ? failed : text_of(cudaGraphLaunch(graph, lane->stream));
        failed = failed ? failed : text_of(cudaEventRecord(lane->end, lane->stream));
        failed = failed ? failed : text_of(cudaEventSynchronize(lane->end));
        failed = failed ? failed : text_of(cudaEventElapsedTime(&ms, lane->begin, lane->end));
        if (i >= 0)
            job->us[lane->rank][i] = 1000 * ms / (float)lane->blocks;
    }
    meet(lane->all);
    return failed;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The median of the slowest rank's times. */
static float median_of(const struct job *job, int ranks)
{
    float slowest[REPETITIONS] = {0};
    for (int i = 0; i < REPETITIONS; i++)
        for (int rank = 0; rank < ranks; rank++)
            slowest[i] = job->us[rank][i] > slowest[i] ? job->us[rank][i] : slowest[i];
    qsort(slowest, REPETITIONS, sizeof slowest[0], by_size);
    return slowest[REPETITIONS / 2];
}

static const char *work_rank(const struct ranks *all, int rank)
{
    struct job *const job = all->of;
    struct lane *const lane = calloc(1, sizeof *lane);
    if (!lane)
        return "out of memory";
    lane->all = all;
    lane->rank = rank;
    const char *failed = make_lane(lane);
    for (int t = 0; t < TOKENS; t++) {
        for (int s = 0; s < STEPS && !failed; s++) {
            cudaGraphExec_t graph;
            failed = capture(lane, tokens[t], steps[s], &graph);
            failed = failed ? failed : measure(lane, graph);
            if (rank == 0)
                job->times[t][s] = median_of(job, all->count);
            meet(all);
            (void)cudaGraphExecDestroy(graph);
        }
    }
    free_lane(lane);
    free(lane);
    return failed;
}

static ffn_shared block_of(int integers, size_t d, size_t ff)
{
    return (ffn_shared){
        .scheme = integers ? PWL_QGEMM_INT8 : PWL_QGEMM_W4A16,
        .d = d,
        .ff = ff,
        .most = MOST_TOKENS,
        .table = &pwl_silu_s16,
        .as = {
            .of_x = {0x1p-11F, 0}, .of_y = {0x1p-11F, 0}, .gated = 1, .of_up = {0x1p-11F, 0}, .of_out = {0x1p-4F, 0}}};
}

static void print(FILE *json, const char *device, const struct job *job, int ranks, float (*one)[STEPS])
{
    const char *const scheme = job->shared.scheme == PWL_QGEMM_INT8 ? "int8" : "w4a16";
    for (int t = 0; t < TOKENS; t++) {
        const float *const us = job->times[t];
        printf("| %s | %zu, %zu | %zu | %d | %.1f | %.1f | %.1f | %.2f |\n", scheme, job->shared.d, job->shared.ff,
               tokens[t], ranks, (double)us[0], (double)us[1], (double)us[2], (double)(one[t][0] / us[0]));
        fprintf(json,
                "{\"bench\": \"ffn_parallel\", \"device\": \"%s\", \"scheme\": \"%s\", \"d\": %zu, \"ff\": %zu, \"m\": "
                "%zu, \"gpus\": %d, \"block_us\": %.2f, \"products_us\": %.2f, \"reduction_us\": %.2f, \"speedup\": "
                "%.3f, \"repetitions\": %d}\n",
                device, scheme, job->shared.d, job->shared.ff, tokens[t], ranks, (double)us[0], (double)us[1],
                (double)us[2], (double)(one[t][0] / us[0]), REPETITIONS);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct cudaDeviceProp device;
    int devices = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: %s JSON\n", argv[0]);
        return 2;
    }
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) {
        fprintf(stderr, "bench_ffn_parallel: %d CUDA devices, 2 are needed\n", devices);
        return 77;
    }
    FILE *const json = fopen(argv[1], "w");
    if (!json || cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
        perror(argv[1]);
        return 1;
    }
    printf("| scheme | d, ff | tokens | GPUs | block, us | products, us | reduction, us | times one GPU's speed |\n"
           "|---|---|---:|---:|---:|---:|---:|---:|\n");
    for (int shape = 0; shape < SHAPES; shape++) {
        for (int integers = 0; integers < 2; integers++) {
            static float one[TOKENS][STEPS];
            for (int ranks = 1; ranks <= devices && ranks <= MOST_RANKS; ranks *= 2) {
                static struct job job;
                job = (struct job){.shared = block_of(integers, shapes[shape].d, shapes[shape].ff)};
                const char *const failed = nccl_make_id(&job.id);
                if (failed) {
                    fprintf(stderr, "bench_ffn_parallel: %s\n", failed);
                    return 77;
                }
                run_ranks(ranks, work_rank, &job);
                if (ranks == 1)
                    memcpy(one, job.times, sizeof one);
                print(json, device.name, &job, ranks, one);
            }
        }
    }
    return fclose(json) == 0 ? 0 : 1;
}
