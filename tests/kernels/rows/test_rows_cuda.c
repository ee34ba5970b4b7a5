/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row operators on the GPU against the CPU, bit for bit: structured and drawn rows of every pair of types and of every
 * way to hold a row, masks, causal rows, places that are not aligned, in place, streams and graphs.
 *
 * test_rows_cuda        everything, on one device; exits 77 where there is none
 * test_rows_cuda small  few rows of every kind, for compute-sanitizer
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/cuda_rows.h>

#include "../../support/row_shapes.h"
#include "../device.h"
#include "../need.h"
#include "../tap.h"

enum { LONGEST = 65536, GUARD = 64, POISON = 0xa5 };
#define ROOM ((size_t)1 << 21) /* places of an array */

static const pwl_type types[] = {PWL_S8, PWL_U8, PWL_S16, PWL_U16};
static int small;

/* Codes on both sides, and what both compute of them. */
static struct {
    uint8_t *x, *expected, *y, *mask;
    uint8_t *device_x, *device_y, *device_mask;
} arrays;

static size_t bytes_of(pwl_type type)
{
    return (size_t)type_bits(type) / 8;
}

/* Rows of `length` places from element `at` on. */
typedef struct layout {
    size_t length, count, at;
    int is_in_place;
} layout;

static void draw_rows(pwl_type in, const layout *of, uint64_t *state)
{
    for (size_t r = 0; r < of->count; r++)
        fill_row(in, arrays.x + (of->at + r * of->length) * bytes_of(in), of->length,
                 shapes[random_bits(state) % SHAPES], part_of(in, (int)(random_bits(state) % 28)), state);
}

/* Brings x to the device, y poisoned; *x and *y are where rows begin there. */
static void bring(pwl_type in, pwl_type out, const layout *of, const void **x, void **y)
{
    const size_t places = of->at + of->length * of->count, bytes = places * bytes_of(in);
    CUDA(cudaMemset(arrays.device_y, POISON, places * bytes_of(out) + GUARD));
    CUDA(cudaMemcpy(of->is_in_place ? arrays.device_y : arrays.device_x, arrays.x, bytes, cudaMemcpyHostToDevice));
    if (of->is_in_place)
        CUDA(cudaMemset(arrays.device_y, POISON, of->at * bytes_of(in)));
    *x = (of->is_in_place ? arrays.device_y : arrays.device_x) + of->at * bytes_of(in);
    *y = arrays.device_y + of->at * bytes_of(out);
}

/* Whether the device has what arrays.expected has, and nothing around it. */
static int same_rows(pwl_type out, const layout *of)
{
    const size_t before = of->at * bytes_of(out), bytes = of->length * of->count * bytes_of(out);
    CUDA(cudaMemcpy(arrays.y, arrays.device_y, before + bytes + GUARD, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < before; k++)
        if (arrays.y[k] != POISON)
            return 0;
    for (size_t k = 0; k < GUARD; k++)
        if (arrays.y[before + bytes + k] != POISON)
            return 0;
    if (memcmp(arrays.y + before, arrays.expected, bytes) == 0)
        return 1;
    for (size_t k = 0; k < of->length * of->count; k++)
        if (code_at(out, arrays.y + before, k) != code_at(out, arrays.expected, k)) {
            printf("# rows of %zu from element %zu: place %zu of row %zu is %d, not %d\n", of->length, of->at,
                   k % of->length, k / of->length, code_at(out, arrays.y + before, k),
                   code_at(out, arrays.expected, k));
            break;
        }
    return 0;
}

/* `rows` says what is masked, by arrays.mask, and which rows are causal. */
static int softmax_agrees(const pwl_softmax *softmax, const pwl_cuda_softmax *uploaded, const layout *of, pwl_rows rows,
                          uint64_t *state)
{
    const pwl_type in = (pwl_type)softmax->in, out = (pwl_type)softmax->out;
    draw_rows(in, of, state);
    rows.count = of->count;
    rows.length = of->length;
    rows.x = arrays.x + of->at * bytes_of(in);
    rows.y = arrays.expected;
    pwl_softmax_run(softmax, &rows, PWL_LEVELS_ALL);
    bring(in, out, of, &rows.x, &rows.y);
    if (rows.mask) {
        CUDA(cudaMemcpy(arrays.device_mask, arrays.mask, of->length * of->count, cudaMemcpyHostToDevice));
        rows.mask = arrays.device_mask;
    }
    PWL(pwl_cuda_softmax_run(uploaded, &rows, NULL));
    return same_rows(out, of);
}

/* Lengths of each way to hold a row, just under and over what changes it. */
static const size_t lengths[] = {1,    2,    3,    7,    16,   31,    32,    33,    48,    64,
                                 127,  128,  129,  197,  256,  512,   520,   768,   1000,  1024,
                                 1040, 2048, 4096, 4112, 8192, 16384, 16400, 32768, 32784, 65536};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Rows for some 100,000 places, and at least three. */
static size_t rows_of(size_t length)
{
    const size_t places = small ? 2000 : 120000;
    return 3 + places / length / (1 + (length < 100));
}

static layout layout_of(size_t length, pwl_type in, pwl_type out, uint64_t *state)
{
    const size_t offsets[] = {0, 0, 16, 1, 3, 8};
    layout of = {length, rows_of(length), offsets[random_bits(state) % 6], 0};
    of.is_in_place = type_bits(in) == type_bits(out) && random_bits(state) % 2;
    return of;
}

static void test_softmax(pwl_type in, pwl_type out, int is_log)
{
    uint64_t state = 0x50f7u + in * 4u + out;
    int good = 1;
    for (int l = 0; l < LENGTHS; l += small && lengths[l] > 200 ? 7 : 1) {
        const long double scale = (0.001L + (long double)(random_bits(&state) % 100) / 300) / (in >= PWL_S16 ? 256 : 1);
        made_softmax made;
        pwl_cuda_softmax uploaded;
        if (is_log)
            make_log_softmax(&made, in, scale, out, type_bits(out) == 8 ? 0.05L : 0.0005L, type_highest(out), LONGEST);
        else
            make_softmax(&made, in, scale, out, 1 + (int)(random_bits(&state) % 16), random_in(&state, -200, 200),
                         LONGEST);
        if (!is_log && l % 3 == 0)
            make_exp(&made, 8 + (int)(random_bits(&state) % 23));
        PWL(pwl_cuda_softmax_upload(&made.softmax, &uploaded));
        for (int pass = 0; pass < 4; pass++) {
            const layout of = layout_of(lengths[l], in, out, &state);
            pwl_rows rows = {.is_causal = pass & 1, .first = random_bits(&state) % lengths[l]};
            if (pass & 2) {
                for (size_t k = 0; k < of.length * of.count; k++)
                    arrays.mask[k] = k / of.length % 5 == 3 ? 0 : (uint8_t)(random_bits(&state) & 6);
                rows.mask = arrays.mask;
                rows.mask_stride = l & 1 ? of.length : 0;
            }
            good &= softmax_agrees(&made.softmax, &uploaded, &of, rows, &state);
        }
        PWL(pwl_cuda_softmax_release(&uploaded));
    }
    tap(good, "%s, types %d to %d", is_log ? "log-softmax" : "softmax", in, out);
}

static double gamma_values[LONGEST], beta_values[LONGEST];
static int32_t gamma_codes[LONGEST];
static int64_t beta_codes[LONGEST];

static void draw_norm(made_norm *made, pwl_norm_kind kind, pwl_type in, pwl_type out, uint32_t length, uint64_t *state)
{
    *made = (made_norm){.gamma = gamma_values,
                        .beta = random_bits(state) % 2 ? beta_values : NULL,
                        .gamma_codes = gamma_codes,
                        .beta_codes = beta_codes};
    for (size_t c = 0; c < length; c++) {
        gamma_values[c] = (double)random_in(state, -2000, 2000) / 1000;
        beta_values[c] = (double)random_in(state, -2000, 2000) / 1000;
    }
    /* a zero point in the middle, where 63 bits hold the squares of long rows */
    const int64_t middle = type_lowest(in) + (1 << (type_bits(in) - 1));
    make_norm(made, kind, in, 0.01L, length > 4096 ? middle : random_in(state, type_lowest(in), type_highest(in)), out,
              type_bits(out) == 8 ? 0.03L : 0.0002L, random_in(state, -200, 200), length,
              random_bits(state) % 2 ? 1e-5L : 0);
}

static void test_norm(pwl_norm_kind kind, pwl_type in, pwl_type out)
{
    uint64_t state = 0x4035u + in * 4u + out;
    int good = 1;
    for (int l = 0; l < LENGTHS; l += small && lengths[l] > 200 ? 7 : 1) {
        made_norm made;
        pwl_cuda_norm uploaded;
        draw_norm(&made, kind, in, out, (uint32_t)lengths[l], &state);
        PWL(pwl_cuda_norm_upload(&made.norm, &uploaded));
        for (int pass = 0; pass < 3; pass++) {
            const layout of = layout_of(lengths[l], in, out, &state);
            const void *x;
            void *y;
            draw_rows(in, &of, &state);
            pwl_norm_run(&made.norm, arrays.x + of.at * bytes_of(in), arrays.expected, of.count, PWL_LEVELS_ALL);
            bring(in, out, &of, &x, &y);
            PWL(pwl_cuda_norm_run(&uploaded, x, y, of.count, NULL));
            good &= same_rows(out, &of);
        }
        PWL(pwl_cuda_norm_release(&uploaded));
    }
    tap(good, "%s, types %d to %d", kind == PWL_RMS_NORM ? "RMSNorm" : "LayerNorm", in, out);
}

/* Rows of which 31 bits do not hold R': one code that is not 0, so that V is n 2^f or a little more. */
static void test_large_roots(pwl_type in)
{
    enum { LENGTH = 4096, ROWS = 64 };
    const layout of = {LENGTH, ROWS, 0, 0};
    made_norm made = {.gamma = gamma_values, .gamma_codes = gamma_codes};
    pwl_cuda_norm uploaded;
    const void *x;
    void *y;
    int large = 0;
    for (size_t c = 0; c < LENGTH; c++)
        gamma_values[c] = 1;
    make_norm(&made, PWL_RMS_NORM, in, 0.01L, in == PWL_U8 ? 128 : 0, PWL_S8, 0.5L, 0, LENGTH, 0);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t k = 0; k < LENGTH; k++)
            set_code_at(in, arrays.x, r * LENGTH + k, (int32_t)made.norm.zp_x + (k == r ? 1 << r % 7 : 0));
    for (int r = 0; r < 7; r++)
        large += pwl_norm_row_of(&made.norm, 0, (int64_t)1 << 2 * r).factor > INT32_MAX;
    pwl_norm_run(&made.norm, arrays.x, arrays.expected, ROWS, PWL_LEVELS_ALL);
    PWL(pwl_cuda_norm_upload(&made.norm, &uploaded));
    bring(in, PWL_S8, &of, &x, &y);
    PWL(pwl_cuda_norm_run(&uploaded, x, y, ROWS, NULL));
    tap(same_rows(PWL_S8, &of), "RMSNorm of type %d with large roots, %d of 7 beyond 31 bits", in, large);
    PWL(pwl_cuda_norm_release(&uploaded));
}

/* Many rows, of which a grid has several waves. */
static void test_many_rows(void)
{
    const layout of = {128, small ? 300 : ROOM / 128 - 5, 0, 0};
    uint64_t state = 77;
    made_softmax made;
    pwl_cuda_softmax uploaded;
    make_softmax(&made, PWL_S8, 0.0472L, PWL_U8, 8, 0, 128);
    PWL(pwl_cuda_softmax_upload(&made.softmax, &uploaded));
    tap(softmax_agrees(&made.softmax, &uploaded, &of, (pwl_rows){0}, &state), "%zu rows", of.count);
    PWL(pwl_cuda_softmax_release(&uploaded));
}

/* A softmax and a norm of its codes, one after the other on a stream, then in a graph. */
static void test_stream_and_graph(void)
{
    const layout of = {512, 64, 0, 0};
    uint64_t state = 5;
    made_softmax made;
    made_norm norm;
    pwl_cuda_softmax softmax;
    pwl_cuda_norm uploaded;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    pwl_rows rows = {.x = arrays.x, .y = arrays.y, .count = of.count, .length = of.length};
    make_softmax(&made, PWL_S8, 0.0472L, PWL_U8, 8, 0, 512);
    draw_norm(&norm, PWL_LAYER_NORM, PWL_U8, PWL_S8, 512, &state);
    draw_rows(PWL_S8, &of, &state);
    pwl_softmax_run(&made.softmax, &rows, PWL_LEVELS_ALL);
    pwl_norm_run(&norm.norm, arrays.y, arrays.expected, of.count, PWL_LEVELS_ALL);
    PWL(pwl_cuda_softmax_upload(&made.softmax, &softmax));
    PWL(pwl_cuda_norm_upload(&norm.norm, &uploaded));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int is_graph = 0; is_graph < 2; is_graph++) {
        bring(PWL_S8, PWL_S8, &of, &rows.x, &rows.y);
        CUDA(cudaDeviceSynchronize());
        if (is_graph)
            CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        PWL(pwl_cuda_softmax_run(&softmax, &rows, stream));
        PWL(pwl_cuda_norm_run(&uploaded, rows.y, rows.y, of.count, stream));
        if (is_graph) {
            CUDA(cudaStreamEndCapture(stream, &graph));
            CUDA(cudaGraphInstantiate(&run, graph, 0));
            CUDA(cudaGraphLaunch(run, stream));
        }
        CUDA(cudaStreamSynchronize(stream));
        tap(same_rows(PWL_S8, &of), "softmax and LayerNorm %s", is_graph ? "in a graph" : "on a stream");
    }
    CUDA(cudaGraphExecDestroy(run));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    PWL(pwl_cuda_softmax_release(&softmax));
    PWL(pwl_cuda_norm_release(&uploaded));
}

int main(int argc, char **argv)
{
    small = test_is_small(argc, argv);
    arrays.x = need(2 * ROOM);
    arrays.expected = need(2 * ROOM);
    arrays.y = need(2 * ROOM);
    arrays.mask = need(ROOM);
    CUDA(cudaMalloc((void **)&arrays.device_x, 2 * ROOM));
    CUDA(cudaMalloc((void **)&arrays.device_y, 2 * ROOM));
    CUDA(cudaMalloc((void **)&arrays.device_mask, ROOM));
    for (int in = 0; in < 4; in++)
        for (int out = 0; out < 4; out++) {
            test_softmax(types[in], types[out], 0);
            test_softmax(types[in], types[out], 1);
            test_norm(PWL_LAYER_NORM, types[in], types[out]);
            test_norm(PWL_RMS_NORM, types[in], types[out]);
        }
    test_large_roots(PWL_S8);
    test_large_roots(PWL_U8);
    test_large_roots(PWL_S16);
    test_many_rows();
    test_stream_and_graph();
    CUDA(cudaFree(arrays.device_x));
    CUDA(cudaFree(arrays.device_y));
    CUDA(cudaFree(arrays.device_mask));
    free(arrays.x);
    free(arrays.expected);
    free(arrays.y);
    free(arrays.mask);
    return tap_end();
}
