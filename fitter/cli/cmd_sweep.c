/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "command.h"
#include "device/cuda_library.h"
#include "device/measure_cuda.h"
#include "function/reference.h"
#include "measure/curve.h"
#include "measure/error_bound.h"
#include "report/anchors.h"
#include "report/plot.h"
#include "report/sweep_gates.h"
#include "report/sweep_report.h"

#define PROGRESS_CODES ((uint64_t)1 << 24) /* fewer codes than this are done before anyone looks */

static const struct option_info options[] = {
    {"--format", "md|csv|json|jsonl", "how to print (md by default; json is an array, jsonl one object a line)"},
    {"--max-err", "L",
     "exit 3 when the largest error of a table, the proven one where codes are left out, exceeds L output LSB"},
    {"--baseline", "OLD.json", "measure OLD.json too; exit 3 when the table's max or RMS error is larger"},
    {"--exhaustive", NULL, "every code of inputs with more than 2^20 codes too, on all cores"},
    {"--device", "cpu|cuda",
     "where --exhaustive runs: cuda is for built-in functions, with the same numbers; needs " CUDA_LIBRARY_NAME},
    {"--samples", "FILE", "the sample points of a table made with fit --samples"},
    {"--weights", "FILE", "also the averages weighted as with fit --weights; a table made so needs its file"},
    {"--ref", "libm|mpfr", "where f comes from: long double libm (default), or MPFR where pwlc was built with it"},
    {"--grid", "LO:HI:STEP", "also measure at real x from LO to below HI (LO:HI:STEP:closed: HI too), in real units"},
    {"--hist", NULL, "also count the codes by error"},
    {"--plot", "OUT.svg", "draw f, one table, its knots and its error"},
    {"--anchors", NULL,
     "instead of tables: fit what others published, side by side; each WORD is in a row's source, function or types"},
    {"-o", "FILE", "write to FILE instead of standard output"},
    {NULL, NULL, NULL},
};

struct request {
    int count;              /* of rows that are under test */
    struct sweep_row *rows; /* and the baseline after them */
    enum cells_format format;
    double max_err; /* NAN when not given */
    const char *baseline, *samples, *output, *plot;
    bool exhaustive, histogram, mpfr, has_grid, anchors;
    enum device device;
    struct cuda_library library; /* of --device cuda */
    struct grid grid;
    const char *weights_path;
    struct weights *weights; /* null without */
    struct svg *drawing;     /* of --plot */
    const char *other;       /* a flag that --anchors does not take */
};

struct progress {
    const char *label;
    int percent; /* the last one shown; -1 when none was */
};

static void show_progress(void *context, uint64_t done, uint64_t total)
{
    struct progress *progress = context;
    if (total < PROGRESS_CODES)
        return;
    const int percent = (int)(done * 100 / total); /* at most 2^32 * 100 */
    if (percent != progress->percent)
        fprintf(stderr, "\r%s: %d %% of %" PRIu64 " codes", progress->label, percent, total);
    progress->percent = percent;
}

/* What is asked for beyond the statistics. */
static int measure_extras(const struct request *request, struct sweep_row *row, const struct packed_table *packed,
                          const struct function *function, struct diag *diag)
{
    struct curve curve;
    if (request->has_grid) {
        row->grid = &request->grid;
        if (grid_measure(row->grid, &row->table, packed, function, &row->grid_stats, diag) != EXIT_DONE)
            return diag->code;
    }
    if (!request->histogram && !request->plot)
        return EXIT_DONE;
    if (curve_make(&row->table, packed, function, &curve, diag) != EXIT_DONE)
        return diag->code;
    row->has_histogram = request->histogram;
    if (request->histogram)
        histogram_make(curve.err, curve.count, &row->histogram);
    if (request->plot && row == request->rows)
        plot_table(&row->table, &curve, request->drawing);
    curve_free(&curve);
    return EXIT_DONE;
}

static int measure_with(const struct request *request, struct sweep_row *row, const struct packed_table *packed,
                        const struct function *function, struct diag *diag)
{
    struct progress progress = {row->label, -1};
    const bool shown = isatty(STDERR_FILENO);
    measure_progress *const show = shown ? show_progress : NULL;
    const int code =
        request->device == DEVICE_CUDA
            ? measure_on_cuda(&row->table, packed, function, &request->library, show, &progress, &row->stats, diag)
            : measure(&row->table, packed, function, request->exhaustive, show, &progress, &row->stats, diag);
    if (progress.percent >= 0)
        fprintf(stderr, "\r\033[K");
    if (code != EXIT_DONE)
        return code;
    row->has_bound = row->table.in.qmax - row->table.in.qmin >= MEASURE_EVERY_CODE &&
                     table_bound(&row->table, function, &row->bound);
    row->has_weighted = request->weights != NULL;
    if (row->has_weighted &&
        measure_weighted(&row->table, packed, function, request->weights, &row->weighted, diag) != EXIT_DONE)
        return diag->code;
    row->witness_err = measure_code(&row->table, packed, function, row->table.certificate.max_err_at);
    return measure_extras(request, row, packed, function, diag);
}

/* Messages name the file. */
static int measure_row(const struct request *request, struct sweep_row *row, struct diag *diag)
{
    struct packed_table packed;
    pwl_proof proof;
    if (table_check_weights(&row->table, request->weights, diag) != EXIT_DONE ||
        table_prove(&row->table, EXIT_USAGE, &packed, &proof, diag) != EXIT_DONE)
        return diag_prefix(diag, row->label);

    struct function function;
    struct function_info info;
    int code = table_function(&row->table, row->table.samples_sha256[0] ? request->samples : NULL, &function, diag);
    if (code == EXIT_DONE) {
        row->ref = request->mpfr ? "mpfr" : "libm";
        if (request->mpfr)
            code = reference_use_mpfr(&function, &info, diag);
        if (code == EXIT_DONE)
            code = measure_with(request, row, &packed, &function, diag);
        function_free(&function);
    }
    packed_table_free(&packed);
    return code == EXIT_DONE ? code : diag_prefix(diag, row->label);
}

static int check_samples_flag(const struct request *request, const struct sweep_row *rows, int count, struct diag *diag)
{
    if (!request->samples)
        return EXIT_DONE;
    for (int i = 0; i < count; i++) {
        if (rows[i].table.samples_sha256[0])
            return EXIT_DONE;
    }
    return diag_set(diag, EXIT_USAGE, "--samples %s: no table here was made from samples; leave the flag out",
                    request->samples);
}

static int check_gates(const struct request *request, struct diag *diag)
{
    for (int i = 0; i < request->count; i++) {
        const struct sweep_row *row = &request->rows[i];
        if (row->table.standing == CERTIFICATE_OTHER)
            fprintf(stderr, "pwlc sweep: note: %s: the certificate is of another table, see pwlc certify\n",
                    row->label);
        if (sweep_check_certificate(row, diag) != EXIT_DONE)
            return diag->code;
    }
    if (!isnan(request->max_err) &&
        sweep_check_max_err(request->rows, request->count, request->max_err, diag) != EXIT_DONE)
        return diag->code;
    return request->baseline ? sweep_check_baseline(&request->rows[0], &request->rows[1], diag) : EXIT_DONE;
}

static int write_text(const struct text *text, const char *path, struct diag *diag)
{
    if (text->failed)
        return diag_set(diag, EXIT_IO, "out of memory while printing");
    return file_write(path, text->bytes, text->size, diag);
}

static int measure_rows(struct request *request, struct diag *diag)
{
    const int total = request->count + (request->baseline != NULL);
    for (int i = 0; i < total; i++) {
        if (table_read(request->rows[i].label, &request->rows[i].table, diag) != EXIT_DONE)
            return diag->code;
    }
    if (check_samples_flag(request, request->rows, total, diag) != EXIT_DONE ||
        (request->weights_path && weights_read(request->weights_path, &request->weights, diag) != EXIT_DONE))
        return diag->code;
    if (request->baseline && sweep_check_comparable(&request->rows[0], &request->rows[1], diag) != EXIT_DONE)
        return diag->code;
    for (int i = 0; i < total; i++) {
        if (measure_row(request, &request->rows[i], diag) != EXIT_DONE)
            return diag->code;
    }
    return EXIT_DONE;
}

static int sweep(struct request *request, struct diag *diag)
{
    struct svg drawing = {0};
    struct text text = {0};
    request->drawing = &drawing;
    int code = request->device == DEVICE_CUDA ? cuda_library_open(&request->library, diag) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = measure_rows(request, diag);
    cuda_library_close(&request->library);
    if (code == EXIT_DONE) {
        sweep_report(request->rows, request->count + (request->baseline != NULL), request->format, &text);
        code = request->plot ? write_text(&drawing.text, request->plot, diag) : EXIT_DONE;
    }
    if (code == EXIT_DONE)
        code = write_text(&text, request->output, diag);
    text_free(&text);
    svg_free(&drawing);
    return code == EXIT_DONE ? check_gates(request, diag) : code;
}

/* A missed requirement is shown by the rows, too. */
static int sweep_anchors(const struct request *request, struct diag *diag)
{
    struct text text = {0};
    struct diag writing = {.code = EXIT_DONE};
    const char **words = calloc((size_t)request->count + 1, sizeof *words);
    if (!words)
        return diag_set(diag, EXIT_IO, "out of memory");
    for (int i = 0; i < request->count; i++)
        words[i] = request->rows[i].label;
    int code = anchors_report(words, request->count, request->format, &text, diag);
    free(words);
    if (code == EXIT_DONE || code == EXIT_REQUIREMENT) {
        if (write_text(&text, request->output, &writing) != EXIT_DONE) {
            *diag = writing;
            code = diag->code;
        }
    }
    text_free(&text);
    return code;
}

static int set_option(struct request *request, const char *name, const char *value, struct diag *diag)
{
    if (strcmp(name, "--format") != 0 && strcmp(name, "-o") != 0 && strcmp(name, "--anchors") != 0)
        request->other = name;
    if (strcmp(name, "--format") == 0) {
        request->format = cells_format_parse(value);
    } else if (strcmp(name, "--max-err") == 0) {
        if (number_real(value, strlen(value), &request->max_err) != NUMBER_OK || request->max_err < 0)
            return diag_set(diag, EXIT_USAGE, "--max-err is a number of output LSB, 0 or more, not \"%s\"", value);
    } else if (strcmp(name, "--ref") == 0) {
        request->mpfr = strcmp(value, "mpfr") == 0;
    } else if (strcmp(name, "--device") == 0) {
        request->device = device_parse(value);
    } else if (strcmp(name, "--grid") == 0) {
        request->has_grid = true;
        return grid_parse(value, &request->grid, diag);
    } else if (strcmp(name, "--hist") == 0) {
        request->histogram = true;
    } else if (strcmp(name, "--anchors") == 0) {
        request->anchors = true;
    } else if (strcmp(name, "--exhaustive") == 0) {
        request->exhaustive = true;
    } else {
        const char **text = strcmp(name, "--baseline") == 0  ? &request->baseline
                            : strcmp(name, "--samples") == 0 ? &request->samples
                            : strcmp(name, "--weights") == 0 ? &request->weights_path
                            : strcmp(name, "--plot") == 0    ? &request->plot
                                                             : &request->output;
        *text = value;
    }
    return EXIT_DONE;
}

static int parse(int argc, char **argv, struct request *request, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_sweep, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value;
    int next;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (!option)
            request->rows[request->count++].label = value;
        else if (set_option(request, option->name, value, diag) != EXIT_DONE)
            return diag->code;
    }
    if (next < 0)
        return diag->code;
    if (request->anchors && request->other)
        return diag_set(diag, EXIT_USAGE,
                        "--anchors fits its own tables and takes words, --format and -o alone, not %s", request->other);
    if (request->anchors)
        return EXIT_DONE;
    if (request->count == 0)
        return diag_set(diag, EXIT_USAGE, "a table is needed: pwlc sweep TABLE.json");
    if (request->device == DEVICE_CUDA && !request->exhaustive)
        return diag_set(diag, EXIT_USAGE, "--device cuda visits every code, and needs --exhaustive");
    if (request->plot && request->count > 1)
        return diag_set(diag, EXIT_USAGE, "--plot draws one table, not %d", request->count);
    if (request->plot && file_is_standard_output(request->plot) && file_is_standard_output(request->output))
        return diag_set(diag, EXIT_USAGE, "--plot %s: the errors go to standard output already; give -o FILE",
                        request->plot);
    if (request->baseline && request->count > 1)
        return diag_set(diag, EXIT_USAGE, "--baseline compares one table, not %d", request->count);
    if (request->baseline)
        request->rows[request->count].label = request->baseline;
    return EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag)
{
    /* A row for each argument and one for the baseline. */
    struct request request = {.max_err = NAN, .rows = calloc((size_t)argc + 1, sizeof *request.rows)};
    if (!request.rows)
        return diag_set(diag, EXIT_IO, "out of memory");
    int code = parse(argc, argv, &request, diag);
    if (code == EXIT_DONE)
        code = request.anchors ? sweep_anchors(&request, diag) : sweep(&request, diag);
    for (int i = 0; i <= argc; i++)
        table_free(&request.rows[i].table);
    free(request.rows);
    weights_free(request.weights);
    return code;
}

const struct command command_sweep = {
    .name = "sweep",
    .synopsis = "pwlc sweep TABLE.json... [flags] | pwlc sweep --anchors [WORD...] [--format FORMAT] [-o FILE]",
    .summary = "Measure tables against the real function, code by code.",
    .details =
        "--device cuda takes libpwlc-cuda.so from PWL_CUDA_LIBRARY where that is set; else from the folder of "
        "pwlc, the folder of installed libraries, or where the system searches. Codes that double precision does "
        "not decide are settled by --ref on the host, so that only averages, which are sums in double, can differ from "
        "the host's, far behind the digits printed.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 -o tanh.json\n"
               "pwlc sweep tanh.json --format json --max-err 2",
    .options = options,
    .run = run,
};
