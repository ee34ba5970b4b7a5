/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_rows_cuda JSON: speed of row operators beside a copy that reads and writes as many bytes, measured in turn in
 * one run, over 2^27 places, which no cache holds. Codes are near to normal, a sixteenth of the type wide. The first
 * and the last rows are compared with the runtime's afterwards.
 */
#include <string.h>

#include <pwl/cuda_rows.h>

#include "../../support/made_rows.h"
#include "bench.h"

enum { LONGEST = 32768, CHECKED = 1 << 17 };
#define PLACES ((size_t)1 << 27)

static double gamma_values[LONGEST], beta_values[LONGEST];
static int32_t gamma_codes[LONGEST];
static int64_t beta_codes[LONGEST];

/* One operator over rows of `length`, or without one a copy. */
struct work {
    const pwl_cuda_softmax *softmax;
    const pwl_cuda_norm *norm;
    const void *x;
    void *y;
    size_t length, bytes;
};

static void launch(const void *of, int turn)
{
    const struct work *const work = of;
    const size_t count = work->length ? PLACES / work->length : 0;
    (void)turn;
    if (work->softmax)
        bench_need_ok(
            pwl_cuda_softmax_run(work->softmax,
                                 &(pwl_rows){.x = work->x, .y = work->y, .count = count, .length = work->length},
                                 bench_stream),
            "pwl_cuda_softmax_run");
    else if (work->norm)
        bench_need_ok(pwl_cuda_norm_run(work->norm, work->x, work->y, count, bench_stream), "pwl_cuda_norm_run");
    else
        CUDA(cudaMemcpyAsync(work->y, work->x, work->bytes, cudaMemcpyDeviceToDevice, bench_stream));
}

/* CHECKED places from `at` on; exits where they are not the runtime's. */
static void check(const struct work *work, const pwl_softmax *softmax, const pwl_norm *norm, size_t at)
{
    static uint16_t x[CHECKED], y[CHECKED], expected[CHECKED];
    const size_t in = (size_t)type_bits((pwl_type)(softmax ? softmax->in : norm->in)) / 8;
    const size_t out = (size_t)type_bits((pwl_type)(softmax ? softmax->out : norm->out)) / 8;
    CUDA(cudaMemcpy(x, (const char *)work->x + at * in, CHECKED * in, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(y, (const char *)work->y + at * out, CHECKED * out, cudaMemcpyDeviceToHost));
    if (softmax)
        pwl_softmax_run(softmax,
                        &(pwl_rows){.x = x, .y = expected, .count = CHECKED / work->length, .length = work->length},
                        PWL_LEVELS_ALL);
    else
        pwl_norm_run(norm, x, expected, CHECKED / work->length, PWL_LEVELS_ALL);
    if (memcmp(y, expected, CHECKED * out) != 0) {
        fprintf(stderr, "bench_rows_cuda: codes of rows of %zu are not the runtime's\n", work->length);
        exit(1);
    }
}

static void bench(const char *name, const pwl_softmax *softmax, const pwl_norm *norm, size_t length, void *x, void *y)
{
    const size_t bytes = (size_t)type_bits((pwl_type)(softmax ? softmax->in : norm->in)) / 8 +
                         (size_t)type_bits((pwl_type)(softmax ? softmax->out : norm->out)) / 8;
    pwl_cuda_softmax on_device;
    pwl_cuda_norm norm_on_device;
    struct work work = {.x = x, .y = y, .length = length}, copy = {.x = x, .y = y, .bytes = PLACES * bytes / 2};
    const struct bench_work works[] = {{launch, &work}, {launch, &copy}};
    pwl_timing times[2];
    if (softmax) {
        bench_need_ok(pwl_cuda_softmax_upload(softmax, &on_device), "pwl_cuda_softmax_upload");
        work.softmax = &on_device;
    } else {
        bench_need_ok(pwl_cuda_norm_upload(norm, &norm_on_device), "pwl_cuda_norm_upload");
        work.norm = &norm_on_device;
    }
    bench_measure(works, 2, 0, times);
    launch(&work, 0);
    CUDA(cudaStreamSynchronize(bench_stream));
    check(&work, softmax, norm, 0);
    check(&work, softmax, norm, PLACES - CHECKED);
    printf("| %s | %zu | %.1f | %.1f to %.1f | %.0f | %.1f | %.3f |\n", name, length, (double)times[0].median,
           (double)times[0].p10, (double)times[0].p90, (double)(PLACES * bytes) / 1000 / (double)times[0].median,
           (double)times[1].median, (double)(times[1].median / times[0].median));
    fprintf(bench_json, "{\"bench\": \"rows\", \"device\": \"%s\", \"operator\": \"%s\", \"length\": %zu",
            bench_device.name, name, length);
    bench_print_time("cold", &times[0]);
    bench_print_time("cold_copy", &times[1]);
    fprintf(bench_json, ", \"share_of_copy\": %.4f}\n", (double)(times[1].median / times[0].median));
    fflush(stdout);
    bench_need_ok(softmax ? pwl_cuda_softmax_release(&on_device) : pwl_cuda_norm_release(&norm_on_device), "release");
}

/* Fills x with codes of one type. */
static void draw(pwl_type type, void *x)
{
    const int64_t part = (int64_t)1 << (type_bits(type) - 4);
    const size_t bytes = PLACES * (size_t)type_bits(type) / 8, once = (size_t)1 << 22;
    uint64_t state = 1;
    uint16_t *const codes = malloc(2 * once);
    if (!codes)
        exit(1);
    for (size_t k = 0; k < once; k++) {
        int64_t v = 0;
        for (int j = 0; j < 4; j++)
            v += random_in(&state, -part, part);
        set_code_at(type, codes, k, (int32_t)(v < -8 * part ? -8 * part : v > 8 * part - 1 ? 8 * part - 1 : v));
    }
    const size_t step = once * (size_t)type_bits(type) / 8;
    for (size_t at = 0; at < bytes; at += step)
        CUDA(cudaMemcpy((char *)x + at, codes, step, cudaMemcpyHostToDevice));
    free(codes);
}

static const struct {
    const char *name;
    pwl_type in, out;
    int kind; /* 0 softmax, 1 LayerNorm, 2 RMSNorm */
} cases[] = {{"softmax s8 to u8", PWL_S8, PWL_U8, 0},     {"softmax s8 to u16", PWL_S8, PWL_U16, 0},
             {"RMSNorm s8 to s8", PWL_S8, PWL_S8, 2},     {"LayerNorm s8 to s8", PWL_S8, PWL_S8, 1},
             {"softmax s16 to u8", PWL_S16, PWL_U8, 0},   {"softmax s16 to u16", PWL_S16, PWL_U16, 0},
             {"RMSNorm s16 to s16", PWL_S16, PWL_S16, 2}, {"LayerNorm s16 to s16", PWL_S16, PWL_S16, 1}};

int main(int argc, char **argv)
{
    static const size_t lengths[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768};
    pwl_type drawn = PWL_U32;
    bench_open(argc, argv);
    void *const x = bench_memory(2 * PLACES), *const y = bench_memory(2 * PLACES);
    for (size_t c = 0; c < LONGEST; c++) {
        gamma_values[c] = 0.5 + (double)(c % 7) / 4;
        beta_values[c] = (double)(c % 5) / 8;
    }
    printf("| operator | places of a row | us | percentiles | GB/s | copy of as many bytes, us | share of the copy's "
           "speed "
           "|\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int is_byte = type_bits(cases[c].in) == 8;
        if (drawn != cases[c].in)
            draw(cases[c].in, x);
        drawn = cases[c].in;
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            made_softmax softmax;
            made_norm norm = {.gamma = gamma_values,
                              .beta = cases[c].kind == 1 ? beta_values : NULL,
                              .gamma_codes = gamma_codes,
                              .beta_codes = beta_codes};
            if (cases[c].kind == 0)
                make_softmax(&softmax, cases[c].in, is_byte ? 0.0472L : 0.0003L, cases[c].out, type_bits(cases[c].out),
                             0, LONGEST);
            else
                make_norm(&norm, cases[c].kind == 1 ? PWL_LAYER_NORM : PWL_RMS_NORM, cases[c].in, 0.001L, 0,
                          cases[c].out, is_byte ? 0x1p-5L : 0x1p-12L, 0, (uint32_t)lengths[l], 1e-5L);
            bench(cases[c].name, cases[c].kind ? NULL : &softmax.softmax, cases[c].kind ? &norm.norm : NULL, lengths[l],
                  x, y);
        }
    }
    return bench_close();
}
