/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block formats on a device against the host, bit for bit; test_blocks.c proves the host's.
 *
 * test_blocks_cuda        everything, on one device; exits 77 where there is none
 * test_blocks_cuda small  some of it, for compute-sanitizer
 */
#include <pwl/cuda.h>

#include "../device.h"
#include "../tap.h"
#include "inputs.h"

#define MOST_VALUES ((size_t)1 << 22)
#define MOST_BYTES (MOST_VALUES / 32 * 36 + 64)
#define POISON 0xa5

static int small;
static float *x, *y, *expected_y;
static uint8_t *blocks, *expected;
static char *device_x, *device_y, *device_blocks;

/* A matrix, and how far its values lie from an aligned address, in elements. */
struct shape {
    size_t rows, k, padded, offset;
};

static int bytes_agree(const void *got, const void *wanted, size_t bytes, const char *what, const struct shape *shape)
{
    for (size_t i = 0; i < bytes; i++) {
        if (((const uint8_t *)got)[i] != ((const uint8_t *)wanted)[i]) {
            printf("# %s, %zu rows of %zu in %zu at %zu: byte %zu of %zu is %02x, not %02x\n", what, shape->rows,
                   shape->k, shape->padded, shape->offset, i, bytes, ((const uint8_t *)got)[i],
                   ((const uint8_t *)wanted)[i]);
            return 0;
        }
    }
    return 1;
}

/* The arrays on the device are poisoned; 64 bytes beyond the blocks, and beyond the values, must stay so. */
static int quantise_agrees(const struct block_kind *kind, const struct shape *shape)
{
    const size_t values = shape->rows * shape->k;
    float *const from = (float *)(void *)device_x + shape->offset;
    size_t bytes;
    PWL(pwl_blocks_bytes(kind->format, shape->rows, shape->padded, &bytes));
    memset(expected, POISON, bytes + 64);
    PWL(pwl_quantise(kind->format, kind->rule, x, shape->rows, shape->k, shape->padded, expected));
    CUDA(cudaMemcpy(from, x, values * sizeof *x, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(device_blocks, POISON, bytes + 64));
    PWL(pwl_cuda_quantise(kind->format, kind->rule, from, shape->rows, shape->k, shape->padded, device_blocks, NULL));
    CUDA(cudaMemcpy(blocks, device_blocks, bytes + 64, cudaMemcpyDeviceToHost));
    return bytes_agree(blocks, expected, bytes + 64, kind->name, shape);
}

/* Of the blocks that quantise_agrees() left. */
static int dequantise_agrees(const struct block_kind *kind, const struct shape *shape, size_t value_bytes)
{
    const size_t bytes = shape->rows * shape->k * value_bytes;
    char *const to = device_y + shape->offset * value_bytes;
    memset(expected_y, POISON, bytes + 64);
    CUDA(cudaMemset(device_y, POISON, bytes + 64 + 64));
    if (value_bytes == 4) {
        PWL(pwl_dequantise(kind->format, blocks, shape->rows, shape->k, shape->padded, expected_y));
        PWL(pwl_cuda_dequantise(kind->format, device_blocks, shape->rows, shape->k, shape->padded, (float *)(void *)to,
                                NULL));
    } else {
        PWL(pwl_dequantise_f16(kind->format, blocks, shape->rows, shape->k, shape->padded,
                               (uint16_t *)(void *)expected_y));
        PWL(pwl_cuda_dequantise_f16(kind->format, device_blocks, shape->rows, shape->k, shape->padded,
                                    (uint16_t *)(void *)to, NULL));
    }
    CUDA(cudaMemcpy(y, to, bytes + 64, cudaMemcpyDeviceToHost));
    return bytes_agree(y, expected_y, bytes + 64, kind->name, shape);
}

static int shape_agrees(const struct block_kind *kind, const struct shape *shape)
{
    return quantise_agrees(kind, shape) && dequantise_agrees(kind, shape, 4) && dequantise_agrees(kind, shape, 2);
}

static void test_large(const struct block_kind *kind)
{
    const struct shape shape = {small ? 8 : 512, small ? 256 : 8192, small ? 256 : 8192, 0};
    uint64_t state = 1;
    draw_values(x, shape.rows * shape.k, &state);
    tap(shape_agrees(kind, &shape), "%s: %zu values of all kinds", kind->name, shape.rows * shape.k);
}

/* Rows of every length up to 4 blocks, padding up to 2 blocks, aligned or not; more rows than a grid is high. */
static void test_shapes(const struct block_kind *kind)
{
    uint64_t state = 2;
    int good = 1;
    for (size_t k = 0; k <= 128 && good; k += small ? 19 : 1) {
        for (size_t offset = 0; offset < 4; offset += small ? 3 : 1) {
            const struct shape shape = {1 + k % 5, k, (k + 31) / 32 * 32 + 32 * (k % 3), offset};
            draw_values(x, shape.rows * k, &state);
            good &= shape_agrees(kind, &shape);
        }
    }
    tap(good, "%s: rows of 0 to 128 elements at 4 offsets", kind->name);
    if (!small) {
        const struct shape shape = {65535 + 1, 33, 64, 0};
        draw_values(x, shape.rows * shape.k, &state);
        tap(shape_agrees(kind, &shape), "%s: %zu rows", kind->name, shape.rows);
    }
}

/* Every scale, and every code in every place, which no quantiser makes. */
static void test_codes(pwl_format format, const char *name)
{
    const struct block_kind kind = {name, format, PWL_RULE_DEFAULT};
    const size_t bytes = pwl_format_bytes(format), count = small ? 300 : 65536;
    const struct shape shape = {1, 32 * count, 32 * count, 0};
    uint64_t state = 3;
    for (size_t i = 0; i < count * bytes; i++)
        blocks[i] = (uint8_t)random_bits(&state);
    for (size_t i = 0; i < count; i++) {
        blocks[i * bytes] = (uint8_t)i;
        if (format != PWL_MXFP4)
            blocks[i * bytes + 1] = (uint8_t)(i >> 8);
    }
    CUDA(cudaMemcpy(device_blocks, blocks, count * bytes, cudaMemcpyHostToDevice));
    tap(dequantise_agrees(&kind, &shape, 4) && dequantise_agrees(&kind, &shape, 2), "%s: every scale", name);
}

/* What a graph replays is what the calls do. */
static void test_graph(void)
{
    const struct shape shape = {16, 256, 256, 0};
    const size_t values = shape.rows * shape.k;
    uint64_t state = 4;
    size_t bytes;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    draw_values(x, values, &state);
    PWL(pwl_blocks_bytes(PWL_Q8_1, shape.rows, shape.padded, &bytes));
    PWL(pwl_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, x, shape.rows, shape.k, shape.padded, expected));
    PWL(pwl_dequantise(PWL_Q8_1, expected, shape.rows, shape.k, shape.padded, expected_y));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    PWL(pwl_cuda_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, (float *)(void *)device_x, shape.rows, shape.k, shape.padded,
                          device_blocks, stream));
    PWL(pwl_cuda_dequantise(PWL_Q8_1, device_blocks, shape.rows, shape.k, shape.padded, (float *)(void *)device_y,
                            stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    CUDA(cudaMemcpy(device_x, x, values * sizeof *x, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaGraphLaunch(replay, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(y, device_y, values * sizeof *y, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphExecDestroy(replay));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    tap(bytes_agree(y, expected_y, values * sizeof *y, "graph", &shape), "there and back, captured into a graph");
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"Q4_0", "Q8_0", "Q8_1", "MXFP4"};
    const size_t bytes = MOST_VALUES * sizeof *x + 256;
    small = test_is_small(argc, argv);
    x = malloc(bytes);
    y = malloc(bytes);
    expected_y = malloc(bytes);
    blocks = malloc(MOST_BYTES);
    expected = malloc(MOST_BYTES);
    if (!x || !y || !expected_y || !blocks || !expected)
        return 1;
    CUDA(cudaMalloc((void **)&device_x, bytes));
    CUDA(cudaMalloc((void **)&device_y, bytes));
    CUDA(cudaMalloc((void **)&device_blocks, MOST_BYTES));
    for (size_t i = 0; i < BLOCK_KINDS; i++) {
        test_large(&block_kinds[i]);
        test_shapes(&block_kinds[i]);
    }
    for (int format = PWL_Q4_0; format <= PWL_MXFP4; format++)
        test_codes((pwl_format)format, names[format]);
    test_graph();
    CUDA(cudaFree(device_x));
    CUDA(cudaFree(device_y));
    CUDA(cudaFree(device_blocks));
    free(x);
    free(y);
    free(expected_y);
    free(blocks);
    free(expected);
    return tap_end();
}
