/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qgemm_pack JSON: packing weights on a device, from blocks, floats and integers, beside a copy that reads and
 * writes as many bytes in all, measured in turn in one run. A time is that of a whole call, with its wait for what is
 * found about the weights. Launches take turns among arrays of more bytes in all than any cache holds, 400 MB at least.
 * The first rows of what comes out are compared with what the CPU packs, afterwards.
 */
#define BENCH_REPETITIONS 51

#include <string.h>

#include <pwl/cuda_qgemm.h>
#include <pwl/half.h>

#include "../need.h"
#include "bench.h"

enum { CHECKED_ROWS = 128, MOST_SETS = 8 };

#define COLD_BYTES 400e6

static const size_t shapes[][2] = {{14336, 4096}, {28672, 8192}}; /* N, K: a layer of a model of 8e9 weights, of 70e9 */

typedef enum kind { BLOCKS, FLOATS, HALVES, INTEGERS } kind;

static const struct source {
    const char *name;
    kind kind;
    pwl_qgemm_format format;
    size_t block_bytes; /* of 32 weights, before they are packed */
    int exponent;       /* whether the last row needs one */
} sources[] = {
    {"Q4_0 blocks", BLOCKS, PWL_QGEMM_Q4_0, sizeof(pwl_block_q4_0), 0},
    {"Q8_0 blocks", BLOCKS, PWL_QGEMM_Q8_0, sizeof(pwl_block_q8_0), 0},
    {"MXFP4 blocks", BLOCKS, PWL_QGEMM_MXFP4, sizeof(pwl_block_mxfp4), 0},
    {"Q4_0 blocks, a row with an exponent", BLOCKS, PWL_QGEMM_Q4_0, sizeof(pwl_block_q4_0), 1},
    {"fp32 to Q4_0", FLOATS, PWL_QGEMM_Q4_0, 128, 0},
    {"fp32 to Q8_0", FLOATS, PWL_QGEMM_Q8_0, 128, 0},
    {"fp32 to MXFP4", FLOATS, PWL_QGEMM_MXFP4, 128, 0},
    {"fp16 to Q4_0", HALVES, PWL_QGEMM_Q4_0, 64, 0},
    {"fp16 to Q8_0", HALVES, PWL_QGEMM_Q8_0, 64, 0},
    {"fp16 to MXFP4", HALVES, PWL_QGEMM_MXFP4, 64, 0},
    {"int8 rows", INTEGERS, PWL_QGEMM_ROWS8, 32, 0},
    {"fp32 to int8 rows", FLOATS, PWL_QGEMM_ROWS8, 128, 0},
};

/* A source, and a copy that moves as many bytes; arrays for each turn. */
struct work {
    const struct source *source;
    size_t n, k, data_bytes, room, copied; /* copied: half of the bytes */
    int sets;
    void *data[MOST_SETS], *memory[MOST_SETS], *n_w;
    void *from[MOST_SETS], *to[MOST_SETS]; /* of the copy */
};

static void launch(const void *of, int turn)
{
    const struct work *const work = of;
    const pwl_qgemm_format format = work->source->format;
    const size_t n = work->n, k = work->k, room = work->room;
    void *const data = work->data[turn % work->sets], *const memory = work->memory[turn % work->sets];
    const pwl_qgemm_tensor halves = {1, {k, n, 1, 1}, data, work->data_bytes};
    pwl_qgemm_weights made;
    pwl_qgemm_status status;
    if (work->source->kind == BLOCKS)
        status = pwl_cuda_qgemm_pack(pwl_qgemm_of_blocks(format, data, n, k), memory, room, &made, NULL, bench_stream);
    else if (work->source->kind == FLOATS)
        status = pwl_cuda_qgemm_pack(pwl_qgemm_of_floats(format, PWL_RULE_DEFAULT, data, n, k), memory, room, &made,
                                     NULL, bench_stream);
    else if (work->source->kind == HALVES)
        status = pwl_cuda_qgemm_pack(pwl_qgemm_of_tensor(format, PWL_RULE_DEFAULT, &halves), memory, room, &made, NULL,
                                     bench_stream);
    else
        status = pwl_cuda_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, data, work->n_w, n, k), memory, room, &made,
                                     NULL, bench_stream);
    bench_need_ok((int)status, work->source->name);
    bench_need_ok(made.row_data != (format == PWL_QGEMM_ROWS8 || work->source->exponent), "data of rows");
}

static void launch_copy(const void *of, int turn)
{
    const struct work *const work = of;
    const int set = turn % work->sets;
    CUDA(cudaMemcpyAsync(work->to[set], work->from[set], work->copied, cudaMemcpyDeviceToDevice, bench_stream));
}

/* Any codes, scales of 2^-4 to 2^-3 or of 2^-7 to 2^0, numbers from -1 to 1. */
static void draw(const struct work *work, uint8_t *data)
{
    const struct source *const source = work->source;
    const size_t blocks = work->data_bytes / source->block_bytes;
    uint64_t state = 32;
    for (size_t i = 0; i < work->data_bytes; i += sizeof state) {
        const uint64_t bits = random_bits(&state);
        memcpy(data + i, &bits, work->data_bytes - i < sizeof bits ? work->data_bytes - i : sizeof bits);
    }
    for (size_t i = 0; i < blocks && source->kind == BLOCKS; i++) {
        uint8_t *const block = data + i * source->block_bytes;
        const uint16_t d =
            (uint16_t)(source->exponent && i == blocks - 1 ? 0x7bff : 0x2c00 | random_bits(&state) >> 54);
        if (source->format == PWL_QGEMM_MXFP4)
            block[0] = (uint8_t)(120 + block[0] % 8);
        else
            memcpy(block, &d, sizeof d);
    }
    for (size_t i = 0; i < work->n * work->k && (source->kind == FLOATS || source->kind == HALVES); i++) {
        const float v = (float)((double)(random_bits(&state) >> 11) * 0x1p-52 - 1);
        const uint16_t half = pwl_f16_from_f32(v);
        if (source->kind == FLOATS)
            memcpy(data + i * sizeof v, &v, sizeof v);
        else
            memcpy(data + i * sizeof half, &half, sizeof half);
    }
}

/* Exits unless the first rows of all weights are those that the CPU packs; of int8, without data of rows. */
static void check(const struct work *work, const uint8_t *data, const int8_t *n_w)
{
    const struct source *const source = work->source;
    const size_t k = work->k, data_bytes = CHECKED_ROWS * (k / PWL_BLOCK) * source->block_bytes;
    const pwl_qgemm_tensor halves = {1, {k, CHECKED_ROWS, 1, 1}, data, data_bytes};
    pwl_qgemm_weights made;
    pwl_qgemm_status status = PWL_QGEMM_OK;
    size_t room;
    bench_need_ok((int)pwl_qgemm_weights_bytes(source->format, CHECKED_ROWS, k, &room), "weights");
    uint8_t *const expected = need(room), *const got = need(room);
    if (source->kind == BLOCKS)
        status =
            pwl_qgemm_pack(pwl_qgemm_of_blocks(source->format, data, CHECKED_ROWS, k), expected, room, &made, NULL);
    else if (source->kind == FLOATS)
        status = pwl_qgemm_pack(
            pwl_qgemm_of_floats(source->format, PWL_RULE_DEFAULT, (const float *)(const void *)data, CHECKED_ROWS, k),
            expected, room, &made, NULL);
    else if (source->kind == HALVES)
        status =
            pwl_qgemm_pack(pwl_qgemm_of_tensor(source->format, PWL_RULE_DEFAULT, &halves), expected, room, &made, NULL);
    else
        status = pwl_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, (const int8_t *)data, n_w, CHECKED_ROWS, k),
                                expected, room, &made, NULL);
    bench_need_ok((int)status, source->name);
    const size_t pieces = made.bytes - (source->format == PWL_QGEMM_ROWS8 ? 5 * CHECKED_ROWS : 0);
    for (int set = 0; set < work->sets; set++) {
        CUDA(cudaMemcpy(got, work->memory[set], pieces, cudaMemcpyDeviceToHost));
        if (memcmp(got, expected, pieces) != 0) {
            fprintf(stderr, "%s: not what the CPU packs\n", source->name);
            exit(1);
        }
    }
    free(expected);
    free(got);
}

static void print(const struct work *work, double bytes, const pwl_timing times[2])
{
    const double gb = bytes / 1000 / (double)times[0].median, share = (double)(times[1].median / times[0].median);
    printf("| %s | %zu x %zu | %.1f | %.1f to %.1f | %.0f | %.1f | %.3f |\n", work->source->name, work->n, work->k,
           (double)times[0].median, (double)times[0].p10, (double)times[0].p90, gb, (double)times[1].median, share);
    fprintf(
        bench_json,
        "{\"bench\": \"qgemm_pack\", \"device\": \"%s\", \"source\": \"%s\", \"n\": %zu, \"k\": %zu, \"bytes\": %.0f",
        bench_device.name, work->source->name, work->n, work->k, bytes);
    bench_print_time("time", &times[0]);
    bench_print_time("copy", &times[1]);
    fprintf(bench_json, ", \"gb_per_s\": %.1f, \"share_of_copy\": %.4f}\n", gb, share);
    fflush(stdout);
}

static void run(const struct source *source, size_t n, size_t k)
{
    struct work work = {.source = source, .n = n, .k = k, .data_bytes = n * (k / PWL_BLOCK) * source->block_bytes};
    bench_need_ok((int)pwl_qgemm_weights_bytes(source->format, n, k, &work.room), "weights");
    const double bytes = (double)work.data_bytes + (double)work.room;
    const struct bench_work works[] = {{launch, &work}, {launch_copy, &work}};
    pwl_timing times[2];
    uint8_t *const data = need(work.data_bytes);
    int8_t *const n_w = need(n);
    memset(n_w, 7, n);
    draw(&work, data);
    work.copied = (work.data_bytes + work.room) / 2;
    work.sets = 1 + (int)(COLD_BYTES / bytes);
    work.n_w = bench_memory(n);
    CUDA(cudaMemcpy(work.n_w, n_w, n, cudaMemcpyHostToDevice));
    for (int set = 0; set < work.sets; set++) {
        work.data[set] = bench_memory(work.data_bytes);
        work.memory[set] = bench_memory(work.room);
        work.from[set] = bench_memory(work.copied);
        work.to[set] = bench_memory(work.copied);
        CUDA(cudaMemcpy(work.data[set], data, work.data_bytes, cudaMemcpyHostToDevice));
    }
    bench_measure(works, 2, 0, times);
    check(&work, data, n_w);
    print(&work, bytes, times);
    for (int set = 0; set < work.sets; set++) {
        CUDA(cudaFree(work.data[set]));
        CUDA(cudaFree(work.memory[set]));
        CUDA(cudaFree(work.from[set]));
        CUDA(cudaFree(work.to[set]));
    }
    CUDA(cudaFree(work.n_w));
    free(data);
    free(n_w);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    printf("| from | N x K | us | percentiles | GB/s | copy of as many bytes, us | share of the copy's speed "
           "|\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        for (size_t j = 0; j < sizeof shapes / sizeof shapes[0]; j++)
            run(&sources[i], shapes[j][0], shapes[j][1]);
    return bench_close();
}
