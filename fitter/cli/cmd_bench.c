/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pwl/half.h>

#include "base/number.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "command.h"
#include "device/cuda_library.h"
#include "device/gemm.h"
#include "device/gemm_device.h"
#include "io/rows.h"

#define MOST_VALUES 32
#define MOST_SIZE (1 << 24)             /* of M, N and K */
#define MOST_ON_CPU ((uint64_t)1 << 36) /* multiplications of one product */
#define CPU_REPETITIONS 5

static const struct option_info options[] = {
    {"-m", "M,...", "rows of X, 1,16,512 by default"},
    {"-n", "N,...", "rows of W, 4096 by default"},
    {"-k", "K,...", "their length, multiples of 32, 4096 by default"},
    {"--scheme", "SCHEME,...", "any of " GEMM_SCHEMES "; w4a16,w8a16,w4a8,w8a8 by default"},
    {"--device", "cpu|cuda", "cuda (default) needs " CUDA_LIBRARY_NAME "; cpu measures the reference"},
    {"--format", "md|csv|json|jsonl", "how to print (md by default; json is an array, jsonl one object a line)"},
    {"-o", "FILE", "write to FILE instead of standard output"},
    {NULL, NULL, NULL},
};

/* Values of -m, -n or -k. */
struct sizes {
    size_t values[MOST_VALUES];
    int count;
};

struct request {
    const char *subject;
    struct sizes m, n, k;
    const struct gemm_scheme *schemes[MOST_VALUES];
    int scheme_count;
    enum device device;
    enum cells_format format;
    const char *output;
};

struct row {
    const struct gemm_scheme *scheme;
    struct gemm_case what;
    struct gemm_times times; /* on the CPU warm alone */
};

/* -- On the CPU -------------------------------------------------------------------------------------------------------
 */

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Numbers from -1 to 1, as an .npy file has them. */
static float *draw(size_t count)
{
    float *const values = malloc(count * sizeof *values);
    uint32_t state = 1;
    for (size_t i = 0; values && i < count; i++) {
        state = state * 1664525 + 1013904223;
        npy_store((unsigned char *)&values[i], pwl_bits_of_f32((float)(state >> 8) / (1 << 23) - 1), sizeof *values);
    }
    return values;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Super-blocks, which floats are not made into here: of any codes, with scales of 2^-8. In place of floats. */
static pwl_qgemm_tensor super_blocks_of(const struct gemm_case *what, float *w)
{
    static const struct {
        pwl_qgemm_format format;
        uint32_t type;
        size_t bytes, d[2];
    } formats[] = {
        {PWL_QGEMM_Q4_K, GGUF_Q4_K, sizeof(pwl_block_q4_k), {0, 2}},
        {PWL_QGEMM_Q5_K, GGUF_Q5_K, sizeof(pwl_block_q5_k), {0, 2}},
        {PWL_QGEMM_Q6_K, GGUF_Q6_K, sizeof(pwl_block_q6_k), {208, 208}},
    };
    const size_t i = (size_t)(what->format - PWL_QGEMM_Q4_K), blocks = what->n * what->k / PWL_SUPER_BLOCK;
    unsigned char *const bytes = (unsigned char *)w;
    for (size_t b = 0; b < blocks; b++)
        for (size_t at = 0; at < 2; at++)
            npy_store(bytes + b * formats[i].bytes + formats[i].d[at], 0x1c00, 2);
    return (pwl_qgemm_tensor){formats[i].type, {what->k, what->n, 1, 1}, w, blocks * formats[i].bytes};
}

/* w, x: random */
static int multiply_on_cpu(struct row *row, float *w, const float *x, struct diag *diag)
{
    const struct gemm_case *const what = &row->what;
    const pwl_qgemm_tensor floats = {GGUF_F32, {what->k, what->n, 1, 1}, w, what->n * what->k * sizeof *w};
    const pwl_qgemm_tensor tensor = what->format >= PWL_QGEMM_Q4_K ? super_blocks_of(what, w) : floats;
    const struct npy npy = {'f', sizeof *x, 2, {what->m, what->k}, what->m * what->k, (const unsigned char *)x};
    struct gemm gemm = {.out = GEMM_F16, .scheme = row->scheme, .weights = {.n = what->n, .k = what->k}};
    double us[CPU_REPETITIONS];
    snprintf(gemm.weights_text, sizeof gemm.weights_text, "random weights, %zu x %zu (N x K)", what->n, what->k);
    int code = gemm_take_input(&gemm, &npy, diag);
    if (code == EXIT_DONE)
        code = gemm_prepare(&gemm, &tensor, diag);
    if (code == EXIT_DONE)
        code = gemm_arrange(&gemm, diag);
    for (int r = 0; r < CPU_REPETITIONS && code == EXIT_DONE; r++) {
        const double begin = now_us();
        gemm_multiply(&gemm);
        us[r] = now_us() - begin;
    }
    gemm_free(&gemm);
    if (code != EXIT_DONE)
        return code;
    qsort(us, CPU_REPETITIONS, sizeof *us, by_size);
    row->times = (struct gemm_times){.ran = {"CPU", "host"},
                                     .repetitions = CPU_REPETITIONS,
                                     .launches = 1,
                                     .warm = {us[CPU_REPETITIONS / 2], us[0], us[CPU_REPETITIONS - 1]}};
    return EXIT_DONE;
}

static int measure_on_cpu(struct row *row, struct diag *diag)
{
    const struct gemm_case *const what = &row->what;
    const uint64_t products = (uint64_t)what->m * what->n; /* at most 2^48 */
    if (products > MOST_ON_CPU / what->k)
        return diag_set(diag, EXIT_USAGE, "--device cpu: M %zu, N %zu, K %zu is more than 2^36 multiplications",
                        what->m, what->n, what->k);
    if (what->format >= PWL_QGEMM_Q4_K && what->k % PWL_SUPER_BLOCK)
        return diag_set(diag, EXIT_USAGE, "-k %zu: must be a multiple of 256 for --scheme %s", what->k,
                        row->scheme->name);
    float *const w = draw(what->n * what->k), *const x = draw(what->m * what->k);
    const int code = w && x ? multiply_on_cpu(row, w, x, diag) : diag_set(diag, EXIT_IO, "out of memory");
    free(w);
    free(x);
    return code;
}

/* -- Rows -------------------------------------------------------------------------------------------------------------
 */

static int measure_rows(const struct request *request, struct row *rows, int count, struct diag *diag)
{
    struct library library = {.handle = NULL};
    library_entry *function = NULL;
    const bool cuda = request->device == DEVICE_CUDA;
    int code = cuda ? cuda_library_open(&library, diag) : EXIT_DONE;
    if (code == EXIT_DONE && cuda)
        code = library_function(&library, "pwlc_cuda_bench_gemm", &function, diag);
    struct progress progress;
    progress_begin(&progress, "products", (uint64_t)count);
    for (int i = 0; i < count && code == EXIT_DONE; i++, progress_add(&progress, 1)) {
        char message[400] = "";
        if (!cuda) {
            code = measure_on_cpu(&rows[i], diag);
            continue;
        }
        code = ((pwlc_cuda_bench_gemm_function *)function)(&rows[i].what, &rows[i].times, message, sizeof message);
        if (code != EXIT_DONE)
            diag_set(diag, code, "--device cuda: %s, M %zu, N %zu, K %zu: %s", rows[i].scheme->name, rows[i].what.m,
                     rows[i].what.n, rows[i].what.k, message);
    }
    progress_end(&progress);
    library_close(&library);
    return code;
}

/* Three columns, of which md shows the first; a median of 0 is no time. */
static void add_time(struct cells *cells, const char *const keys[3], const char *title, const struct gemm_time *time)
{
    const bool known = time->median > 0;
    cells_add_number(cells, keys[0], title, CELL_BRIEF, known ? time->median : (double)NAN);
    cells_add_number(cells, keys[1], NULL, 0, known ? time->p10 : (double)NAN);
    cells_add_number(cells, keys[2], NULL, 0, known ? time->p90 : (double)NAN);
}

static void fill(const struct row *row, struct cells *cells)
{
    static const char *const keys[][3] = {
        {"cold_us", "cold_p10_us", "cold_p90_us"},
        {"warm_us", "warm_p10_us", "warm_p90_us"},
        {"cublaslt_cold_us", "cublaslt_cold_p10_us", "cublaslt_cold_p90_us"},
        {"cublaslt_warm_us", "cublaslt_warm_p10_us", "cublaslt_warm_p90_us"},
    };
    const struct gemm_times *const times = &row->times;
    cells_add_text(cells, "scheme", "scheme", CELL_BRIEF, row->scheme->name);
    cells_add(cells, "m", "M", CELL_BRIEF, "%zu", row->what.m);
    cells_add(cells, "n", "N", CELL_BRIEF, "%zu", row->what.n);
    cells_add(cells, "k", "K", CELL_BRIEF, "%zu", row->what.k);
    cells_add_text(cells, "kernel", "kernel", CELL_BRIEF, times->ran.kernel);
    add_time(cells, keys[0], "cold, us", &times->cold);
    add_time(cells, keys[1], "L2 warm, us", &times->warm);
    add_time(cells, keys[2], "cuBLASLt fp16 cold, us", &times->cublaslt_cold);
    add_time(cells, keys[3], "cuBLASLt fp16 warm, us", &times->cublaslt_warm);
    cells_add_number(cells, "times_cublaslt_cold", "times cuBLASLt's speed, cold", CELL_BRIEF,
                     times->has_cublaslt ? times->cublaslt_cold.median / times->cold.median : (double)NAN);
    cells_add(cells, "repetitions", "repetitions", 0, "%d", times->repetitions);
    cells_add(cells, "launches", "launches in each", 0, "%d", times->launches);
    cells_add_text(cells, "device", "device", CELL_BRIEF, times->ran.device);
}

static int report(const struct request *request, const struct row *rows, int count, struct diag *diag)
{
    struct cells *const cells = calloc((size_t)count, sizeof *cells);
    struct text text = {0};
    for (int i = 0; cells && i < count; i++)
        fill(&rows[i], &cells[i]);
    if (cells)
        cells_print(cells, count, request->format, terminal_width(request->output), &text);
    const int code = !cells || text.failed ? diag_set(diag, EXIT_IO, "out of memory")
                                           : file_write(request->output, text.bytes, text.size, diag);
    text_free(&text);
    free(cells);
    return code;
}

/* Shape by shape, so that schemes stand beside each other. */
static int perform(const struct request *request, struct diag *diag)
{
    const int count = request->m.count * request->n.count * request->k.count * request->scheme_count;
    for (int s = 0; s < request->scheme_count; s++)
        if (gemm_need_kernels(request->schemes[s], request->device, diag) != EXIT_DONE)
            return diag->code;
    struct row *const rows = calloc((size_t)count, sizeof *rows);
    struct row *row = rows;
    if (!rows)
        return diag_set(diag, EXIT_IO, "out of memory");
    for (int n = 0; n < request->n.count; n++)
        for (int k = 0; k < request->k.count; k++)
            for (int m = 0; m < request->m.count; m++)
                for (int s = 0; s < request->scheme_count; s++, row++) {
                    row->scheme = request->schemes[s];
                    row->what = (struct gemm_case){row->scheme->scheme, row->scheme->format, request->m.values[m],
                                                   request->n.values[n], request->k.values[k]};
                }
    int code = measure_rows(request, rows, count, diag);
    if (code == EXIT_DONE)
        code = report(request, rows, count, diag);
    free(rows);
    return code;
}

/* -- The command line -------------------------------------------------------------------------------------------------
 */

/* Calls `add` for each part of "a,b,c"; what fails names the flag itself. */
typedef int add_part(struct request *request, const char *part, size_t length, void *to, struct diag *diag);

static int split(struct request *request, const char *value, add_part *add, void *to, struct diag *diag)
{
    for (;;) {
        const size_t length = strcspn(value, ",");
        if (add(request, value, length, to, diag) != EXIT_DONE)
            return diag->code;
        if (!value[length])
            return EXIT_DONE;
        value += length + 1;
    }
}

static int add_size(struct request *request, const char *part, size_t length, void *to, struct diag *diag)
{
    struct sizes *const sizes = to;
    const char flag = sizes == &request->m ? 'm' : sizes == &request->n ? 'n' : 'k';
    const int least = flag == 'k' ? PWL_BLOCK : 1;
    int64_t value;
    if (number_integer(part, length, &value) != NUMBER_OK || value < least || value > MOST_SIZE || value % least)
        return diag_set(diag, EXIT_USAGE, "-%c \"%.*s\" is not a number from %d to %d%s", flag,
                        length < 40 ? (int)length : 40, part, least, MOST_SIZE,
                        flag == 'k' ? ", a multiple of 32" : "");
    if (sizes->count == MOST_VALUES)
        return diag_set(diag, EXIT_USAGE, "-%c has more than %d values", flag, MOST_VALUES);
    sizes->values[sizes->count++] = (size_t)value;
    return EXIT_DONE;
}

static int add_scheme(struct request *request, const char *part, size_t length, void *to, struct diag *diag)
{
    (void)to;
    if (request->scheme_count == MOST_VALUES)
        return diag_set(diag, EXIT_USAGE, "--scheme has more than %d values", MOST_VALUES);
    return gemm_scheme_parse(part, length, &request->schemes[request->scheme_count++], diag);
}

static int set_option(struct request *request, const char *name, const char *value, struct diag *diag)
{
    if (strcmp(name, "-m") == 0)
        return split(request, value, add_size, &request->m, diag);
    if (strcmp(name, "-n") == 0)
        return split(request, value, add_size, &request->n, diag);
    if (strcmp(name, "-k") == 0)
        return split(request, value, add_size, &request->k, diag);
    if (strcmp(name, "--scheme") == 0)
        return split(request, value, add_scheme, NULL, diag);
    if (strcmp(name, "--device") == 0)
        request->device = device_parse(value);
    else if (strcmp(name, "-o") == 0)
        request->output = value;
    else
        request->format = cells_format_parse(value);
    return EXIT_DONE;
}

/* What was not given. */
static int set_defaults(struct request *request, struct diag *diag)
{
    static const struct {
        const char *name, *value;
    } defaults[] = {{"-m", "1,16,512"}, {"-n", "4096"}, {"-k", "4096"}, {"--scheme", "w4a16,w8a16,w4a8,w8a8"}};
    const int counts[] = {request->m.count, request->n.count, request->k.count, request->scheme_count};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (counts[i] == 0 && set_option(request, defaults[i].name, defaults[i].value, diag) != EXIT_DONE)
            return diag->code;
    return EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag);

const struct command command_bench = {
    .name = "bench",
    .synopsis = "pwlc bench gemm [flags]",
    .summary = "Measure products of random numbers in the schemes of pwlc gemm, with cuBLASLt's of fp16 beside them.",
    .details =
        "Every combination of the lists is a row. On a device times are medians of 51 graphs of launches, X and "
        "Y in fp16 "
        "(int8 for int8), with what a scheme makes of X. Cold: launches take turns among copies of the weights "
        "and of Y, "
        "400 MB of them or 256, in graphs of one round. L2 warm: always the same copy. cuBLASLt is measured in "
        "turn with "
        "each row where its library is found, by the fastest algorithm that it names.\n\n"
        "On the CPU, times are of products on all cores, with what a scheme makes of X, by arranged weights that "
        "caches may hold: medians of 5, up to 2^36 multiplications each.",
    .example = "pwlc bench gemm --device cpu -m 1,4 -n 64 -k 128 --scheme w4a16,w8a8 --format md",
    .options = options,
    .run = run,
};

static int run(int argc, char **argv, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_bench, .argc = argc, .argv = argv};
    struct request request = {.device = DEVICE_CUDA};
    const struct option_info *option;
    const char *value;
    int next;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (!option && request.subject)
            return diag_set(diag, EXIT_USAGE, "\"%s\" is one argument too many", value);
        if (!option)
            request.subject = value;
        else if (set_option(&request, option->name, value, diag) != EXIT_DONE)
            return diag->code;
    }
    if (next < 0)
        return diag->code;
    if (!request.subject || strcmp(request.subject, "gemm") != 0)
        return diag_set(diag, EXIT_USAGE, "what to measure is gemm: pwlc bench gemm [flags]");
    if (set_defaults(&request, diag) != EXIT_DONE)
        return diag->code;
    return perform(&request, diag);
}
