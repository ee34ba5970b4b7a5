/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_map JSON: speed of pwl_cuda_map() and pwl_cuda_map_real() beside a copy of the same bytes, both measured in
 * turn in one run: single launches over arrays that no cache holds, and launches in a graph over arrays that stay in
 * the L2 cache. Bits are uniform at random. Values are compared with the runtime's afterwards.
 */
#include <string.h>

#include <pwl/cuda.h>
#include <pwl/half.h>

#include "bench.h"
#include "tables.h"

enum { CHECKED = 1 << 20 }; /* values compared, from the start */

/* Of the 16-bit sigmoid. */
static const pwl_affine of_x = {0x1p-12f, 0}, of_y = {0x1p-15f, 0};

/* One thing to time: a map of codes of one type, or of real numbers of one kind; or without a table a copy. */
struct work {
    const pwl_cuda_table *table;
    int is_real;
    int type; /* pwl_real or pwl_type */
    void *x, *y;
    size_t count, bytes;
};

static void launch(const void *of, int turn)
{
    const struct work *const work = of;
    (void)turn; /* x and y together are more than any cache holds, or are to stay in it */
    pwl_cuda_status status = PWL_CUDA_OK;
    if (!work->table)
        CUDA(cudaMemcpyAsync(work->y, work->x, work->bytes, cudaMemcpyDeviceToDevice, bench_stream));
    else if (work->is_real)
        status = pwl_cuda_map_real(work->table, of_x, (pwl_real)work->type, work->x, of_y, (pwl_real)work->type,
                                   work->y, work->count, bench_stream);
    else
        status = pwl_cuda_map(work->table, (pwl_type)work->type, work->x, (pwl_type)work->type, work->y, work->count,
                              bench_stream);
    if (status != PWL_CUDA_OK) {
        fprintf(stderr, "bench_map: %s\n", pwl_cuda_status_text(status));
        exit(1);
    }
}

static size_t element_bytes(const struct work *work)
{
    return work->is_real ? work->type == PWL_F32 ? 4 : 2 : (size_t)1 << (work->type >> 1);
}

static int64_t code_at(int type, const void *array, size_t k)
{
    switch (type) {
    case PWL_S8:
        return ((const int8_t *)array)[k];
    case PWL_S16:
        return ((const int16_t *)array)[k];
    default:
        return ((const int32_t *)array)[k];
    }
}

static int is_right(const struct work *work, const pwl_table *table, const void *x, const void *y, size_t k)
{
    float number;
    if (!work->is_real)
        return code_at(work->type, y, k) == pwl_eval(table, code_at(work->type, x, k));
    number = work->type == PWL_F32 ? ((const float *)x)[k] : pwl_f32_from_f16(((const uint16_t *)x)[k]);
    number = pwl_real_of_code(
        pwl_eval(table, pwl_code_of_real(number, 1 / of_x.scale, of_x.zero_point, table->qmin_x, table->qmax_x)), of_y);
    return work->type == PWL_F32 ? ((const float *)y)[k] == number
                                 : ((const uint16_t *)y)[k] == pwl_f16_from_f32(number);
}

/* Exits unless the last map of a work gave the runtime's values. */
static void check(const struct work *work, const pwl_table *table)
{
    const size_t bytes = element_bytes(work) * CHECKED;
    void *const x = malloc(bytes), *const y = malloc(bytes);
    if (!x || !y)
        exit(1);
    launch(work, 0);
    CUDA(cudaStreamSynchronize(bench_stream));
    CUDA(cudaMemcpy(x, work->x, bytes, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(y, work->y, bytes, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < CHECKED; k++)
        if (!is_right(work, table, x, y, k)) {
            fprintf(stderr, "bench_map: the value of element %zu is wrong\n", k);
            exit(1);
        }
    free(x);
    free(y);
}

static void print(const char *what, int segments, const pwl_timing *cold, const pwl_timing *warm)
{
    const float share = cold[1].median / cold[0].median, times = warm[0].median / warm[1].median;
    char name[80];
    snprintf(name, sizeof name, "%s, %d segments", what, segments);
    printf("| %s | %.1f | %.1f | %.3f | %.2f | %.2f | %.2f |\n", name, (double)cold[0].median, (double)cold[1].median,
           (double)share, (double)warm[0].median, (double)warm[1].median, (double)times);
    fprintf(bench_json, "{\"bench\": \"map\", \"device\": \"%s\", \"table\": \"%s\"", bench_device.name, name);
    bench_print_time("cold", &cold[0]);
    bench_print_time("cold_copy", &cold[1]);
    bench_print_time("in_l2", &warm[0]);
    bench_print_time("in_l2_copy", &warm[1]);
    fprintf(bench_json, ", \"share_of_copy\": %.4f, \"times_the_copy\": %.4f}\n", (double)share, (double)times);
}

int main(int argc, char **argv)
{
    static struct made_table made;
    const size_t large = (size_t)256 << 20, small = (size_t)1 << 21;
    uint64_t state = 64;
    draw_64_segments(&made, &state);
    const struct {
        const char *name;
        const pwl_table *table;
        int is_real, type;
    } cases[] = {{"s8 to s8, sigmoid", shipped("pwl_sigmoid_s8"), 0, PWL_S8},
                 {"s16 to s16, sigmoid", shipped("pwl_sigmoid_s16"), 0, PWL_S16},
                 {"s16 to s16, random", &made.table, 0, PWL_S16},
                 {"s16 to s16, sigmoid", shipped("pwl_sigmoid_s16_1lsb"), 0, PWL_S16},
                 {"s32 to s32, sigmoid", shipped("pwl_sigmoid_s32"), 0, PWL_S32},
                 {"f16 to f16, sigmoid of 16 bits", shipped("pwl_sigmoid_s16"), 1, PWL_F16},
                 {"f32 to f32, sigmoid of 16 bits", shipped("pwl_sigmoid_s16"), 1, PWL_F32}};
    bench_open(argc, argv);
    void *const x = bench_memory(large), *const y = bench_memory(large);
    uint64_t *const random = malloc(large);
    if (!random)
        return 1;
    for (size_t k = 0; k < large / sizeof *random; k++)
        random[k] = random_bits(&state);
    CUDA(cudaMemcpy(x, random, large, cudaMemcpyHostToDevice));
    free(random);

    printf(
        "| table | 256 MiB in and out: us | copy | share of the copy's speed | 2^21 elements, in L2: us | copy | times "
        "the copy |\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        pwl_cuda_table table;
        struct work map = {&table, cases[c].is_real, cases[c].type, x, y, 0, 0};
        const size_t element = element_bytes(&map);
        pwl_timing cold[2], warm[2];
        if (pwl_cuda_upload(cases[c].table, &table) != PWL_CUDA_OK)
            return 1;
        struct work copy = {NULL, 0, 0, x, y, 0, 0};
        const struct bench_work works[] = {{launch, &map}, {launch, &copy}};
        map.count = large / element;
        copy.bytes = large;
        bench_measure(works, 2, 0, cold);
        check(&map, cases[c].table);
        map.count = small;
        copy.bytes = small * element;
        bench_measure(works, 2, BENCH_LAUNCHES, warm);
        print(cases[c].name, cases[c].table->segments, cold, warm);
        if (pwl_cuda_release(&table) != PWL_CUDA_OK)
            return 1;
    }
    return bench_close();
}
