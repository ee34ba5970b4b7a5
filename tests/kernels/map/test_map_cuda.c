/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU against the CPU, bit for bit: every code of narrow tables, knots, extremes and random codes of wide ones;
 * every pair of types at every small length and offset; streams, graphs and errors of launches.
 *
 * test_map_cuda        everything, on one device; exits 77 where there is none
 * test_map_cuda small  few codes of every kind, for compute-sanitizer
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/cuda.h>
#include <pwl/pwl.h>

#include "../../../runtime/element.h"
#include "../device.h"
#include "../tap.h"
#include "luts.h" /* made by list_luts.sh */
#include "map/plan.h"
#include "map/shape.h"
#include "tables.h"

#define MOST_CODES ((size_t)1 << 22)
#define POISON 0xa5
#define PAIR_BYTES 512

static int small;
static struct made_table made;

/* Host and device arrays of MOST_CODES elements of any type, and some more. */
static struct {
    void *x, *y;
    char *device_x, *device_y;
} arrays;

static const struct {
    const char *name;
    int64_t min, max;
    size_t bytes;
} types[] = {
#define TYPE(name, type, min, max) {#name, min, max, sizeof(type)},
    PWL_MAP_TYPES(TYPE)
#undef TYPE
};

#define TYPES (int)(sizeof types / sizeof types[0])

/* The first type that holds the table's output. */
static pwl_type output_type(const pwl_table *table)
{
    int type = PWL_S8;
    while (!pwl_fits(table, (pwl_type)type))
        type++;
    return (pwl_type)type;
}

/* 1 when y holds the table's values of x, else tells of the first that differs. */
static int values_agree(const pwl_table *table, pwl_type in, const void *x, pwl_type out, const void *y, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const int64_t code = pwl_element_of(in, x, k), expected = pwl_eval(table, code),
                      value = pwl_element_of(out, y, k);
        if (value != expected) {
            printf("# storage %d form %d rounding %d flags %d, %d segments, %s to %s, element %zu of %zu: "
                   "x = %lld gives %lld, not %lld\n",
                   table->storage, table->form, table->rounding, table->flags, table->segments, types[in].name,
                   types[out].name, k, count, (long long)code, (long long)value, (long long)expected);
            return 0;
        }
    }
    return 1;
}

/* The codes in arrays.x through the device. */
static int device_agrees(const pwl_table *table, pwl_type in, size_t count)
{
    const pwl_type out = output_type(table);
    pwl_cuda_table uploaded;
    PWL(pwl_cuda_upload(table, &uploaded));
    CUDA(cudaMemcpy(arrays.device_x, arrays.x, count * types[in].bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(arrays.device_y, POISON, count * types[out].bytes));
    PWL(pwl_cuda_map(&uploaded, in, arrays.device_x, out, arrays.device_y, count, NULL));
    CUDA(cudaMemcpy(arrays.y, arrays.device_y, count * types[out].bytes, cudaMemcpyDeviceToHost));
    PWL(pwl_cuda_release(&uploaded));
    return values_agree(table, in, arrays.x, out, arrays.y, count);
}

/* Every code of a type of 8 or 16 bits. */
static int every_code_agrees(const pwl_table *table, pwl_type in)
{
    const size_t count = (size_t)(types[in].max - types[in].min + 1);
    for (size_t k = 0; k < count; k++)
        pwl_set_element_of(in, arrays.x, k, types[in].min + (int64_t)k);
    return device_agrees(table, in, count);
}

/* Two codes either side of `code`, as far as the type goes. */
static size_t put_around(pwl_type in, size_t k, int64_t code)
{
    for (int64_t v = code - 2; v <= code + 2; v++) {
        if (types[in].min <= v && v <= types[in].max)
            pwl_set_element_of(in, arrays.x, k++, v);
    }
    return k;
}

/* Start i of a table of INT32. */
static int64_t start_of(const pwl_table *table, int i)
{
    if (table->flags & PWL_FLAG_UNSIGNED_X)
        return ((const uint32_t *)table->start)[i];
    return ((const int32_t *)table->start)[i];
}

/* A 32-bit type: knots and their mirror images, the ends of the ranges, and random codes, half of them in the table's
 * range. */
static int wide_codes_agree(const pwl_table *table, pwl_type in, uint64_t *state, size_t random_count)
{
    size_t k = 0;
    for (int i = 0; i < table->segments; i++) {
        const int64_t start = start_of(table, i);
        k = put_around(in, k, start);
        if (table->flags & PWL_FLAG_FOLD)
            k = put_around(in, k, 2 * table->zp_x - start);
    }
    k = put_around(in, k, types[in].min);
    k = put_around(in, k, types[in].max);
    k = put_around(in, k, table->qmin_x);
    k = put_around(in, k, table->qmax_x);
    while (random_count--) {
        pwl_set_element_of(in, arrays.x, k++, (int64_t)random_bits(state));
        if (random_count && random_count--)
            pwl_set_element_of(in, arrays.x, k++, random_in(state, table->qmin_x, table->qmax_x));
    }
    return device_agrees(table, in, k);
}

/* Both types of the storage's width, so that codes on either side of the table's range come too. */
static int table_agrees(const pwl_table *table, uint64_t *state, size_t random_count)
{
    if (table->storage == PWL_INT8)
        return every_code_agrees(table, PWL_S8) && every_code_agrees(table, PWL_U8);
    if (table->storage == PWL_INT16)
        return every_code_agrees(table, PWL_S16) && every_code_agrees(table, PWL_U16);
    return wide_codes_agree(table, PWL_S32, state, random_count) &&
           wide_codes_agree(table, PWL_U32, state, random_count);
}

/* A handful of segments, some dozens, some hundreds. */
static void test_random_tables(pwl_storage storage, pwl_form form, pwl_rounding rounding, int fold)
{
    const int64_t codes = (int64_t)1 << (8 << storage), longest[] = {codes / 4, codes / 32, codes / 256};
    uint64_t state = (uint64_t)(((storage * 3 + form) * 4 + rounding) * 2 + fold);
    int good = 1, segments[3];
    for (int i = 0; i < 3; i++) {
        const pwl_table *const table = draw_table(&made, &state, storage, form, rounding, fold, codes, longest[i], 1);
        good &= table_agrees(table, &state, 1 << 16);
        segments[i] = table->segments;
    }
    tap(good, "random tables: int%d, form %d, rounding %d%s; %d, %d and %d segments", 8 << storage, form, rounding,
        fold ? ", folded" : "", segments[0], segments[1], segments[2]);
}

/* The longest of all, and some hundreds with an image. */
static void test_long_tables(pwl_storage storage, size_t random_count)
{
    static const int counts[] = {PWL_MAX_SEGMENTS, 2892, 900};
    const int64_t codes = (int64_t)1 << (8 << storage);
    uint64_t state = (uint64_t)storage;
    for (int form = PWL_ABSOLUTE; form <= PWL_ANCHORED; form++) {
        (void)draw_table(&made, &state, storage, (pwl_form)form, PWL_HALF_EVEN, 0, codes, codes / 8192, counts[form]);
        /* The last segment takes over those that are cut off, and may be too long for its line then. */
        made.table.segments = (uint16_t)counts[form];
        made.q_b[counts[form] - 1] = 0;
        made.n[counts[form] - 1] = 0;
        made.offset[counts[form] - 1] = 1;
        tap(pwl_table_check(made_pack(&made), NULL) == PWL_OK && table_agrees(&made.table, &state, random_count),
            "long table: int%d, form %d, %d segments", 8 << storage, form, made.table.segments);
    }
}

/* Lines in 8 bytes, of ties to even too. */
static void test_smooth_tables(pwl_form form, pwl_rounding rounding)
{
    uint64_t state = (uint64_t)(form * 4 + rounding);
    int good = 1;
    for (int fold = 0; fold < 2; fold++)
        good &= table_agrees(draw_smooth_table(&made, &state, form, rounding, fold, 16), &state, 1 << 16);
    tap(good, "smooth tables, form %d, rounding %d", form, rounding);
}

static void test_shipped_tables(void)
{
    uint64_t state = 1;
    for (int i = 0; luts[i].table; i++)
        tap(table_agrees(luts[i].table, &state, MOST_CODES / 2), "shipped table %s", luts[i].name);
}

static int is_poison(const uint8_t *bytes, size_t first, size_t last)
{
    while (first < last) {
        if (bytes[first++] != POISON)
            return 0;
    }
    return 1;
}

/* One launch: count codes from element x_at of device_x to element y_at of device_y; in place when both arrays are the
 * same. Bytes beside the output, and all of the input, must stay. */
static int launch_agrees(const pwl_cuda_table *uploaded, const pwl_table *table, pwl_type in, size_t x_at, pwl_type out,
                         size_t y_at, size_t count, int in_place)
{
    const uint8_t *const x = arrays.x;
    uint8_t *const y = arrays.y;
    const size_t first = y_at * types[out].bytes, last = first + count * types[out].bytes;
    char *const device_x = in_place ? arrays.device_y : arrays.device_x;
    CUDA(cudaMemset(arrays.device_y, POISON, PAIR_BYTES));
    if (in_place)
        CUDA(cudaMemcpy(arrays.device_y + first, x + first, last - first, cudaMemcpyHostToDevice));
    PWL(pwl_cuda_map(uploaded, in, device_x + x_at * types[in].bytes, out, arrays.device_y + first, count, NULL));
    CUDA(cudaMemcpy(y, arrays.device_y, PAIR_BYTES, cudaMemcpyDeviceToHost));
    if (!is_poison(y, 0, first) || !is_poison(y, last, PAIR_BYTES)) {
        printf("# %s to %s, %zu codes from %zu to %zu%s: bytes beside the output are written\n", types[in].name,
               types[out].name, count, x_at, y_at, in_place ? ", in place" : "");
        return 0;
    }
    return values_agree(table, in, x + x_at * types[in].bytes, out, y + first, count);
}

/* Every length from 0 to 70 at offsets that are aligned to four elements for both arrays, one or none. */
static int lengths_agree(const pwl_cuda_table *uploaded, const pwl_table *table, pwl_type in, pwl_type out)
{
    static const size_t offsets[][2] = {{0, 0}, {4, 8}, {0, 1}, {1, 0}, {3, 3}, {2, 5}};
    const size_t step = small ? 23 : 1;
    for (size_t count = 0; count <= 70; count += step) {
        for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
            if (!launch_agrees(uploaded, table, in, offsets[i][0], out, offsets[i][1], count, 0))
                return 0;
        }
        for (size_t at = 0; at < 4 && types[in].bytes == types[out].bytes; at++) {
            if (!launch_agrees(uploaded, table, in, at, out, at, count, 1))
                return 0;
        }
    }
    return 1;
}

/* A pair of types through tables of every storage, the widest in shared and in global memory. */
static void test_pair(pwl_type in, pwl_type out)
{
    static const struct {
        pwl_storage storage;
        int64_t codes, longest;
        int fewest;
    } kinds[] = {{PWL_INT8, 256, 16, 8},
                 {PWL_INT16, 65536, 4096, 8},
                 {PWL_INT32, (int64_t)1 << 32, (int64_t)1 << 27, 16},
                 {PWL_INT32, (int64_t)1 << 32, (int64_t)1 << 19, PWL_MAX_SEGMENTS}};
    uint64_t state = (uint64_t)(TYPES * in + out);
    int good = 1;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        /* The output range is all that the storage and the type have in common, with the type's sign. */
        const int bits = 8 << kinds[i].storage;
        const int64_t half = (int64_t)1 << (bits - 1);
        const int64_t min = types[out].min < 0 ? -half : 0, max = types[out].min < 0 ? half - 1 : 2 * half - 1;
        pwl_cuda_table uploaded;
        (void)draw_table(&made, &state, kinds[i].storage, (pwl_form)(state % 3), (pwl_rounding)(state / 3 % 4),
                         state / 12 % 2 && kinds[i].fewest < 16, kinds[i].codes, kinds[i].longest, kinds[i].fewest);
        made.table.qmin_y = types[out].min > min ? types[out].min : min;
        made.table.qmax_y = types[out].max < max ? types[out].max : max;
        for (size_t k = 0; k < PAIR_BYTES / types[in].bytes; k++)
            pwl_set_element_of(in, arrays.x, k,
                               k % 2 ? random_in(&state, made.table.qmin_x, made.table.qmax_x)
                                     : (int64_t)random_bits(&state));
        CUDA(cudaMemcpy(arrays.device_x, arrays.x, PAIR_BYTES, cudaMemcpyHostToDevice));
        PWL(pwl_cuda_upload(&made.table, &uploaded));
        good &= lengths_agree(&uploaded, &made.table, in, out);
        PWL(pwl_cuda_release(&uploaded));
        CUDA(cudaMemcpy(arrays.y, arrays.device_x, PAIR_BYTES, cudaMemcpyDeviceToHost));
        good &= memcmp(arrays.x, arrays.y, PAIR_BYTES) == 0;
    }
    tap(good, "lengths 0 to 70, offsets, in place: %s to %s", types[in].name, types[out].name);
}

/* More codes than a grid has threads, four at a time and one at a time. */
static void test_large(void)
{
    const size_t count = small ? 3001 : MOST_CODES - 1;
    uint64_t state = 3;
    pwl_cuda_table uploaded;
    (void)draw_table(&made, &state, PWL_INT16, PWL_BIASED, PWL_HALF_UP, 0, 65536, 4096, 8);
    made.table.qmin_y = INT16_MIN;
    made.table.qmax_y = INT16_MAX;
    PWL(pwl_cuda_upload(&made.table, &uploaded));
    for (size_t k = 0; k <= count; k++)
        pwl_set_element_of(PWL_S16, arrays.x, k, (int64_t)random_bits(&state));
    CUDA(cudaMemcpy(arrays.device_x, arrays.x, 2 * count + 2, cudaMemcpyHostToDevice));
    for (size_t at = 0; at < 2; at++) {
        CUDA(cudaMemset(arrays.device_y, POISON, 2 * count + 4));
        PWL(pwl_cuda_map(&uploaded, PWL_S16, arrays.device_x + 2 * at, PWL_S16, arrays.device_y + 2 * at, count, NULL));
        CUDA(cudaMemcpy(arrays.y, arrays.device_y, 2 * count + 4, cudaMemcpyDeviceToHost));
        tap(values_agree(&made.table, PWL_S16, (int16_t *)arrays.x + at, PWL_S16, (int16_t *)arrays.y + at, count) &&
                is_poison(arrays.y, 2 * (count + at), 2 * count + 4) && is_poison(arrays.y, 0, 2 * at),
            "%zu codes from element %zu", count, at);
    }
    PWL(pwl_cuda_release(&uploaded));
}

/* An array that long launches walk (shape.h), ending within a block and within a pack, has the values that short ones
 * give. */
static void test_longest(const char *name, const pwl_table *table)
{
    const pwl_type type = (pwl_type)(2 * table->storage);
    const size_t element = types[type].bytes;
    uint64_t state = 17;
    pwl_cuda_table uploaded;
    char *x, *at_once, *by_parts;
    PWL(pwl_cuda_upload(table, &uploaded));
    const size_t packs = (size_t)32 * PWL_SHAPE_RESIDENT * uploaded.multiprocessors + 12345;
    const size_t count = packs * (16 / element) + 3, bytes = count * element;
    uint64_t *const random = malloc(bytes + sizeof *random);
    char *const values = malloc(2 * bytes);
    if (!random || !values)
        exit(1);
    for (size_t k = 0; k <= bytes / sizeof *random; k++)
        random[k] = random_bits(&state);
    CUDA(cudaMalloc((void **)&x, bytes));
    CUDA(cudaMalloc((void **)&at_once, bytes));
    CUDA(cudaMalloc((void **)&by_parts, bytes));
    CUDA(cudaMemcpy(x, random, bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(at_once, POISON, bytes));
    PWL(pwl_cuda_map(&uploaded, type, x, type, at_once, count, NULL));
    for (size_t k = 0; k < count; k += MOST_CODES)
        PWL(pwl_cuda_map(&uploaded, type, x + k * element, type, by_parts + k * element,
                         count - k < MOST_CODES ? count - k : MOST_CODES, NULL));
    CUDA(cudaMemcpy(values, at_once, bytes, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(values + bytes, by_parts, bytes, cudaMemcpyDeviceToHost));
    tap(memcmp(values, values + bytes, bytes) == 0, "%zu codes by %s", count, name);
    CUDA(cudaFree(x));
    CUDA(cudaFree(at_once));
    CUDA(cudaFree(by_parts));
    free(random);
    free(values);
    PWL(pwl_cuda_release(&uploaded));
}

/* Tables of their own on streams of their own, launched in turn without waiting. */
static void test_streams(void)
{
    enum { STREAMS = 4, ROUNDS = 8 };
    static struct made_table tables[STREAMS];
    const size_t count = small ? 300 : 20000, bytes = 2 * count;
    cudaStream_t streams[STREAMS];
    pwl_cuda_table uploaded[STREAMS];
    uint64_t state = 5;
    int good = 1;
    for (size_t k = 0; k < count; k++)
        pwl_set_element_of(PWL_U16, arrays.x, k, (int64_t)random_bits(&state));
    CUDA(cudaMemcpy(arrays.device_x, arrays.x, bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(arrays.device_y, POISON, STREAMS * ROUNDS * bytes));
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < STREAMS; i++) {
        (void)draw_table(&tables[i], &state, PWL_INT16, PWL_ANCHORED, PWL_FLOOR, 0, 65536, 256 << i, 4);
        tables[i].table.qmin_y = 0;
        tables[i].table.qmax_y = UINT16_MAX;
        CUDA(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        PWL(pwl_cuda_upload(&tables[i].table, &uploaded[i]));
    }
    for (int i = 0; i < STREAMS * ROUNDS; i++)
        PWL(pwl_cuda_map(&uploaded[i % STREAMS], PWL_U16, arrays.device_x, PWL_U16, arrays.device_y + (size_t)i * bytes,
                         count, streams[i % STREAMS]));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(arrays.y, arrays.device_y, STREAMS * ROUNDS * bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < STREAMS * ROUNDS; i++)
        good &= values_agree(&tables[i % STREAMS].table, PWL_U16, arrays.x, PWL_U16,
                             (char *)arrays.y + (size_t)i * bytes, count);
    for (int i = 0; i < STREAMS; i++) {
        PWL(pwl_cuda_release(&uploaded[i]));
        CUDA(cudaStreamDestroy(streams[i]));
    }
    tap(good, "%d tables in flight on %d streams", STREAMS, STREAMS);
}

/* Two launches in a row, captured, and replayed on other codes once the caller's pwl_cuda_table is gone. */
static void test_graph(void)
{
    const size_t count = 1000;
    uint64_t state = 7;
    pwl_cuda_table uploaded, kept;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    int good = 1;
    (void)draw_table(&made, &state, PWL_INT8, PWL_ABSOLUTE, PWL_HALF_AWAY, 0, 256, 16, 8);
    made.table.qmin_y = INT8_MIN;
    made.table.qmax_y = INT8_MAX;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    PWL(pwl_cuda_upload(&made.table, &uploaded));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    PWL(pwl_cuda_map(&uploaded, PWL_S8, arrays.device_x, PWL_S32, arrays.device_y, count, stream));
    PWL(pwl_cuda_map(&uploaded, PWL_S32, arrays.device_y, PWL_S32, arrays.device_y, count, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    kept = uploaded;
    memset(&uploaded, POISON, sizeof uploaded);
    for (int round = 0; round < 3; round++) {
        for (size_t k = 0; k < count; k++)
            pwl_set_element_of(PWL_S8, arrays.x, k, (int64_t)random_bits(&state));
        CUDA(cudaMemcpy(arrays.device_x, arrays.x, count, cudaMemcpyHostToDevice));
        CUDA(cudaMemset(arrays.device_y, POISON, 4 * count));
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaGraphLaunch(replay, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaMemcpy(arrays.y, arrays.device_y, 4 * count, cudaMemcpyDeviceToHost));
        for (size_t k = 0; k < count; k++)
            pwl_set_element_of(PWL_S8, arrays.x, k, pwl_eval(&made.table, pwl_element_of(PWL_S8, arrays.x, k)));
        good &= values_agree(&made.table, PWL_S8, arrays.x, PWL_S32, arrays.y, count);
    }
    CUDA(cudaGraphExecDestroy(replay));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    PWL(pwl_cuda_release(&kept));
    tap(good, "two launches captured into a graph");
}

/* Launches that need the one before them, from one array to the other and back, each adding one: in one piece, and in
 * two that other threads walk. A launch may start while the one before it still runs, but not read what is not there
 * yet. */
static void test_chain(int in_graph)
{
    enum { LAUNCHES = 100 };
    static const int16_t start = INT16_MIN, slope = 1;
    static const int8_t shift = 0;
    static const int32_t term = 1;
    const pwl_table table = {.version = PWL_TABLE_VERSION,
                             .storage = PWL_INT16,
                             .segments = 1,
                             .start = &start,
                             .q_b = &slope,
                             .n = &shift,
                             .offset = &term,
                             .qmin_x = INT16_MIN,
                             .qmax_x = INT16_MAX,
                             .qmin_y = INT16_MIN,
                             .qmax_y = INT16_MAX};
    const size_t count = small ? 20000 : (size_t)1 << 21, part = count / 3 / 8 * 8;
    uint64_t state = 13;
    int16_t *const x = arrays.x, *const y = arrays.y;
    pwl_cuda_table uploaded;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    int good = 1;
    PWL(pwl_cuda_upload(&table, &uploaded));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (size_t k = 0; k < count; k++)
        x[k] = (int16_t)random_in(&state, INT16_MIN, INT16_MAX - LAUNCHES);
    CUDA(cudaMemcpy(arrays.device_x, x, 2 * count, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    if (in_graph)
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < LAUNCHES; i++) {
        char *const from = i % 2 ? arrays.device_y : arrays.device_x, *const to =
                                                                          i % 2 ? arrays.device_x : arrays.device_y;
        const size_t first = i % 3 ? count : part;
        PWL(pwl_cuda_map(&uploaded, PWL_S16, from, PWL_S16, to, first, stream));
        PWL(pwl_cuda_map(&uploaded, PWL_S16, from + 2 * first, PWL_S16, to + 2 * first, count - first, stream));
    }
    if (in_graph) {
        CUDA(cudaStreamEndCapture(stream, &graph));
        CUDA(cudaGraphInstantiate(&replay, graph, 0));
        CUDA(cudaGraphLaunch(replay, stream));
    }
    CUDA(cudaMemcpyAsync(y, arrays.device_x, 2 * count, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    for (size_t k = 0; k < count; k++)
        good &= y[k] == x[k] + LAUNCHES;
    if (in_graph) {
        CUDA(cudaGraphExecDestroy(replay));
        CUDA(cudaGraphDestroy(graph));
    }
    CUDA(cudaStreamDestroy(stream));
    PWL(pwl_cuda_release(&uploaded));
    tap(good, "%d launches that need one another%s", LAUNCHES, in_graph ? ", in a graph" : "");
}

static void test_launch_errors(void)
{
    uint64_t state = 9;
    pwl_cuda_table uploaded, changed;
    const pwl_table *const table = draw_table(&made, &state, PWL_INT8, PWL_ABSOLUTE, PWL_FLOOR, 0, 256, 16, 8);
    const pwl_type out = output_type(table);
    PWL(pwl_cuda_upload(table, &uploaded));

    changed = uploaded;
    changed.device++;
    tap(pwl_cuda_map(&changed, PWL_S8, arrays.device_x, out, arrays.device_y, 1, NULL) == PWL_CUDA_ERR_DEVICE,
        "a table of another device is refused");
    changed = uploaded;
    pwl_cuda_plan plan = pwl_cuda_plan_of(&uploaded);
    plan.image_bytes = 1 << 24; /* more shared memory than any device grants */
    pwl_cuda_plan_put(&changed, &plan);
    /* Not when small: memcheck takes every error of CUDA's for one of the program's. */
    const int refused =
        small ? cudaErrorInvalidValue
              : pwl_cuda_error(pwl_cuda_map(&changed, PWL_S16, arrays.device_x, out, arrays.device_y, 1, NULL));
    tap(refused == cudaErrorInvalidValue, "a launch that CUDA refuses gives CUDA's error%s", small ? " # SKIP" : "");
    CUDA(cudaMemset(arrays.device_x, 1, 1));
    PWL(pwl_cuda_map(&uploaded, PWL_S8, arrays.device_x, out, arrays.device_y, 1, NULL));
    tap(cudaDeviceSynchronize() == cudaSuccess, "and does not spoil the next one");

    PWL(pwl_cuda_release(&uploaded));
    tap(pwl_cuda_map(&uploaded, PWL_S8, arrays.device_x, out, arrays.device_y, 1, NULL) == PWL_CUDA_ERR_NULL &&
            pwl_cuda_release(&uploaded) == PWL_CUDA_OK,
        "a released table is refused, and released twice without harm");
}

/* Each kind of table and memory once, a few pairs, all of the calls. */
static void run_small(void)
{
    uint64_t state = 11;
    for (int storage = PWL_INT8; storage <= PWL_INT32; storage++)
        test_random_tables((pwl_storage)storage, (pwl_form)storage, PWL_HALF_EVEN, storage == PWL_INT16);
    test_smooth_tables(PWL_ABSOLUTE, PWL_HALF_EVEN);
    (void)draw_table(&made, &state, PWL_INT32, PWL_ABSOLUTE, PWL_FLOOR, 0, (int64_t)1 << 32, 1 << 19, 4096);
    tap(table_agrees(&made.table, &state, 100), "a table in global memory");
    test_pair(PWL_S8, PWL_S8);
    test_pair(PWL_U16, PWL_S32);
    test_pair(PWL_S32, PWL_U8);
}

static void run_all(void)
{
    for (int i = 0; i < 3 * 3 * 4 * 2; i++)
        test_random_tables((pwl_storage)(i / 24), (pwl_form)(i / 8 % 3), (pwl_rounding)(i / 2 % 4), i % 2);
    for (int i = 0; i < 3 * 4; i++)
        test_smooth_tables((pwl_form)(i / 4), (pwl_rounding)(i % 4));
    test_long_tables(PWL_INT16, 0);
    test_long_tables(PWL_INT32, MOST_CODES);
    test_shipped_tables();
    for (int i = 0; luts[i].table; i++) { /* of each width, and with few segments and many */
        if (!strncmp(luts[i].name, "pwl_tanh_", 9))
            test_longest(luts[i].name, luts[i].table);
    }
    for (int i = 0; i < TYPES * TYPES; i++)
        test_pair((pwl_type)(i / TYPES), (pwl_type)(i % TYPES));
}

int main(int argc, char **argv)
{
    /* Beside the random codes: five around each knot and its image, and around the ends. */
    const size_t bytes = (MOST_CODES + 10 * PWL_MAX_SEGMENTS + 20) * sizeof(uint32_t);
    small = test_is_small(argc, argv);
    arrays.x = malloc(bytes);
    arrays.y = malloc(bytes);
    if (!arrays.x || !arrays.y) {
        printf("Bail out! out of memory\n");
        return 1;
    }
    CUDA(cudaMalloc((void **)&arrays.device_x, bytes));
    CUDA(cudaMalloc((void **)&arrays.device_y, bytes));

    if (small)
        run_small();
    else
        run_all();
    test_large();
    test_streams();
    test_graph();
    test_chain(0);
    test_chain(1);
    test_launch_errors();

    CUDA(cudaFree(arrays.device_x));
    CUDA(cudaFree(arrays.device_y));
    free(arrays.x);
    free(arrays.y);
    return tap_end();
}
