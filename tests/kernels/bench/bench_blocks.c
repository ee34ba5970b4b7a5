/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_blocks JSON: speed of the block formats on a device, to and from matrices of 16384 x 4096 values, beside a copy
 * that moves the same bytes, measured in turn in one run. Launches take turns among arrays of more bytes in all than
 * any cache holds, 400 MB at least. What comes out is compared with pwl/blocks.h, which the CPU computes, afterwards.
 */
#include <pwl/blocks.h>
#include <pwl/cuda.h>
#include <string.h>

#include "bench.h"

enum { ROWS = 16384, COLUMNS = 4096, CHECKED_ROWS = 64, MOST_SETS = 4 };

#define COLD_BYTES 400e6

typedef enum operation { QUANTISE, TO_F32, TO_F16 } operation;

static const char *const operations[] = {"quantise", "dequantise to float", "dequantise to fp16"};
static const char *const formats[] = {"Q4_0", "Q8_0", "Q8_1", "MXFP4"};

/* An operation, and a copy that reads and writes as many bytes in all; arrays for each turn. */
struct work {
    pwl_format format;
    operation what;
    int sets;
    size_t copied; /* half of the bytes */
    void *values[MOST_SETS], *blocks[MOST_SETS];
    void *from[MOST_SETS], *to[MOST_SETS]; /* of the copy */
};

static pwl_cuda_status operate(const struct work *work, void *values, void *blocks)
{
    if (work->what == QUANTISE)
        return pwl_cuda_quantise(work->format, PWL_RULE_DEFAULT, values, ROWS, COLUMNS, COLUMNS, blocks, bench_stream);
    if (work->what == TO_F32)
        return pwl_cuda_dequantise(work->format, blocks, ROWS, COLUMNS, COLUMNS, values, bench_stream);
    return pwl_cuda_dequantise_f16(work->format, blocks, ROWS, COLUMNS, COLUMNS, values, bench_stream);
}

static void launch(const void *of, int turn)
{
    const struct work *const work = of;
    const int set = turn % work->sets;
    const pwl_cuda_status status = operate(work, work->values[set], work->blocks[set]);
    if (status != PWL_CUDA_OK) {
        fprintf(stderr, "%s, %s: %s\n", formats[work->format], operations[work->what], pwl_cuda_status_text(status));
        exit(1);
    }
}

static void launch_copy(const void *of, int turn)
{
    const struct work *const work = of;
    const int set = turn % work->sets;
    CUDA(cudaMemcpyAsync(work->to[set], work->from[set], work->copied, cudaMemcpyDeviceToDevice, bench_stream));
}

static void *host_memory(size_t bytes)
{
    void *const memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "bench_blocks: out of memory\n");
        exit(1);
    }
    return memory;
}

/* Exits unless the first rows of every array that was written are those of the CPU. */
static void check(const struct work *work, size_t value_bytes, size_t row_blocks)
{
    const size_t block_bytes = CHECKED_ROWS * row_blocks, all = CHECKED_ROWS * COLUMNS * value_bytes;
    void *const values = host_memory(all), *const blocks = host_memory(block_bytes);
    void *const expected = host_memory(all > block_bytes ? all : block_bytes);
    for (int set = 0; set < work->sets; set++) {
        pwl_blocks_status status;
        CUDA(cudaMemcpy(values, work->values[set], all, cudaMemcpyDeviceToHost));
        CUDA(cudaMemcpy(blocks, work->blocks[set], block_bytes, cudaMemcpyDeviceToHost));
        if (work->what == QUANTISE)
            status = pwl_quantise(work->format, PWL_RULE_DEFAULT, values, CHECKED_ROWS, COLUMNS, COLUMNS, expected);
        else if (work->what == TO_F32)
            status = pwl_dequantise(work->format, blocks, CHECKED_ROWS, COLUMNS, COLUMNS, expected);
        else
            status = pwl_dequantise_f16(work->format, blocks, CHECKED_ROWS, COLUMNS, COLUMNS, expected);
        const int quantised = work->what == QUANTISE;
        if (status != PWL_BLOCKS_OK || memcmp(expected, quantised ? blocks : values, quantised ? block_bytes : all)) {
            fprintf(stderr, "%s, %s: not what the CPU gives\n", formats[work->format], operations[work->what]);
            exit(1);
        }
    }
    free(values);
    free(blocks);
    free(expected);
}

static void print(const struct work *work, double bytes, const pwl_timing times[2])
{
    const double gb = bytes / 1000 / (double)times[0].median, share = (double)(times[1].median / times[0].median);
    printf("| %s, %s | %.1f | %.1f to %.1f | %.0f | %.1f | %.3f |\n", formats[work->format], operations[work->what],
           (double)times[0].median, (double)times[0].p10, (double)times[0].p90, gb, (double)times[1].median, share);
    fprintf(bench_json,
            "{\"bench\": \"blocks\", \"device\": \"%s\", \"format\": \"%s\", \"operation\": \"%s\", \"bytes\": %.0f",
            bench_device.name, formats[work->format], operations[work->what], bytes);
    bench_print_time("time", &times[0]);
    bench_print_time("copy", &times[1]);
    fprintf(bench_json, ", \"gb_per_s\": %.1f, \"share_of_copy\": %.4f}\n", gb, share);
}

/* The arrays of a turn; random: ROWS * COLUMNS floats. */
static void fill(struct work *work, int set, size_t value_bytes, size_t block_bytes, const float *random)
{
    const size_t count = (size_t)ROWS * COLUMNS, random_bytes = count * sizeof *random;
    void *const floats = bench_memory(random_bytes);
    CUDA(cudaMemcpy(floats, random, random_bytes, cudaMemcpyHostToDevice));
    work->blocks[set] = bench_memory(block_bytes);
    work->from[set] = bench_memory(work->copied);
    work->to[set] = bench_memory(work->copied);
    if (work->what == QUANTISE) {
        work->values[set] = floats;
        return;
    }
    struct work quantise = *work;
    quantise.what = QUANTISE;
    if (operate(&quantise, floats, work->blocks[set]) != PWL_CUDA_OK)
        exit(1);
    CUDA(cudaStreamSynchronize(bench_stream));
    CUDA(cudaFree(floats));
    work->values[set] = bench_memory(count * value_bytes);
}

static void run(pwl_format format, operation what, const float *random)
{
    const size_t value_bytes = what == TO_F16 ? 2 : 4;
    const size_t row_blocks = COLUMNS / PWL_BLOCK * pwl_format_bytes(format), block_bytes = ROWS * row_blocks;
    const size_t bytes = (size_t)ROWS * COLUMNS * value_bytes + block_bytes;
    struct work work = {
        .format = format, .what = what, .sets = 1 + (int)(COLD_BYTES / (double)bytes), .copied = bytes / 2};
    const struct bench_work works[] = {{launch, &work}, {launch_copy, &work}};
    pwl_timing times[2];
    for (int set = 0; set < work.sets; set++)
        fill(&work, set, value_bytes, block_bytes, random);
    bench_measure(works, 2, 0, times);
    check(&work, value_bytes, row_blocks);
    print(&work, (double)bytes, times);
    for (int set = 0; set < work.sets; set++) {
        CUDA(cudaFree(work.values[set]));
        CUDA(cudaFree(work.blocks[set]));
        CUDA(cudaFree(work.from[set]));
        CUDA(cudaFree(work.to[set]));
    }
}

int main(int argc, char **argv)
{
    uint64_t state = 32;
    bench_open(argc, argv);
    float *const random = host_memory((size_t)ROWS * COLUMNS * sizeof *random);
    for (size_t k = 0; k < (size_t)ROWS * COLUMNS; k++)
        random[k] = (float)((double)(random_bits(&state) >> 11) * 0x1p-52 - 1);
    printf("| format and operation | us | percentiles | GB/s | copy of as many bytes, us | share of the copy's speed "
           "|\n|---|---:|---:|---:|---:|---:|\n");
    for (int format = PWL_Q4_0; format <= PWL_MXFP4; format++)
        for (int what = QUANTISE; what <= TO_F16; what++)
            run((pwl_format)format, (operation)what, random);
    free(random);
    return bench_close();
}
