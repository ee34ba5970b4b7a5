/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "command.h"
#include "device/cuda_library.h"
#include "device/measure_cuda.h"
#include "function/reference.h"
#include "jobs/share.h"
#include "measure/curve.h"
#include "measure/error_bound.h"
#include "operator/operator.h"
#include "report/anchors.h"
#include "report/plot.h"
#include "report/sweep_codes.h"
#include "report/sweep_gates.h"
#include "report/sweep_report.h"
#include "row_operator.h"
#include "shared_sweep.h"
#include "standing.h"

static const struct option_info options[] = {
    {"--format", "md|csv|json|jsonl", "how to print (md by default; json is an array, jsonl one object a line)"},
    {"--max-err", "L",
     "exit 3 when the largest error of a table, the proven one where codes are left out, exceeds L output LSB"},
    {"--max-rms", "R", "exit 3 when the RMS error of a table exceeds R output LSB"},
    {"--max-bias", "B", "exit 3 when the mean error of a table, with its sign, is more than B output LSB away from 0"},
    {"--min-correct", "SHARE", "exit 3 when a smaller share of a table's codes, 0 to 1, is correctly rounded"},
    {"--baseline", "OLD.json", "measure OLD.json too; exit 3 when the table's max or RMS error is larger"},
    {"--exhaustive", NULL, "every code of inputs with more than 2^20 codes too, on all cores"},
    SHARE_OPTIONS,
    {"--device", "cpu|cuda",
     "where --exhaustive runs: cuda is for built-in functions, with the same numbers; needs " CUDA_LIBRARY_NAME},
    {"--samples", "FILE", "the sample points of a table made with fit --samples"},
    {"--weights", "FILE", "also the averages weighted as with fit --weights; a table made so needs its file"},
    {"--ref", "libm|mpfr", "where f comes from: pwlc's sums of two doubles (libm, default), or MPFR where it was built with that"},
    {"--grid", "LO:HI:STEP", "also measure at real x from LO to below HI (LO:HI:STEP:closed: HI too), in real units"},
    {"--hist", NULL, "also count the codes by error"},
    {"--plot", "OUT.svg", "draw f, the tables and their errors; a single table with its knots"},
    {"--codes", "FILE",
     "write code, x, target, output and error of every input code to FILE.csv, FILE.npy or FILE.jsonl"},
    {"--anchors", NULL,
     "instead of tables: fit what others published, side by side; each WORD is in a row's source, function or types"},
    {"--rows", "N", "of a row operator: how many rows are drawn beside the structured ones"},
    {"-o", "FILE", "write to FILE instead of standard output"},
    {NULL, NULL, NULL},
};

struct request {
    int count;              /* of rows that are under test */
    struct sweep_row *rows; /* and the baseline after them */
    enum cells_format format;
    struct sweep_limits limits;
    const char *baseline, *samples, *output, *plot, *codes;
    bool exhaustive, histogram, mpfr, has_grid, anchors;
    struct shared_sweep shared; /* of --exhaustive, where it is shared out; else of no tables */
    enum device device;
    struct library library; /* of --device cuda */
    struct grid grid;
    const char *weights_path;
    struct weights *weights; /* null without */
    struct curve *curves;    /* of --plot, one a row */
    const char *other;       /* a flag that --anchors does not take */
    const char *of_tables;   /* a flag that row operators do not take */
    int64_t drawn;           /* of --rows */
};

static int measure_curve(const struct request *request, struct sweep_row *row, const struct packed_table *packed,
                         const struct function *function, struct curve *curve, struct diag *diag)
{
    const struct table *table = &row->table;
    const struct curve_point witness = curve_point_of(table, packed, function, row->stats.max_err_at);
    const struct code_error largest = {witness.code, witness.err};
    struct distribution *distribution = &row->distribution;
    row->has_histogram = request->histogram;
    if (request->histogram)
        histogram_make(curve->err, curve->count, &row->histogram);
    if (distribution_make(curve->code, curve->err, curve->count, largest, distribution, diag) != EXIT_DONE)
        return diag->code;
    for (int i = 0; i < distribution->count; i++)
        row->worst[i] = curve_point_of(table, packed, function, distribution->worst[i].code);
    return EXIT_DONE;
}

/* All beyond the statistics. */
static int measure_extras(const struct request *request, struct sweep_row *row, const struct packed_table *packed,
                          const struct function *function, struct diag *diag)
{
    struct curve curve;
    if (request->has_grid) {
        row->grid = &request->grid;
        if (grid_measure(row->grid, &row->table, packed, function, &row->grid_stats, diag) != EXIT_DONE)
            return diag->code;
    }
    if (curve_make(&row->table, packed, function, &curve, diag) != EXIT_DONE)
        return diag->code;
    const int code = measure_curve(request, row, packed, function, &curve, diag);
    if (request->plot)
        request->curves[row - request->rows] = curve;
    else
        curve_free(&curve);
    if (code != EXIT_DONE || !request->codes || row != request->rows)
        return code;
    return sweep_codes_write(request->codes, &row->table, packed, function, diag);
}

static int measure_with(struct request *request, struct sweep_row *row, const struct packed_table *packed,
                        const struct function *function, struct diag *diag)
{
    struct progress progress;
    progress_begin(&progress, "codes", 0);
    const int of = (int)(row - request->rows);
    const bool is_shared = of < request->shared.count && request->shared.tables[of].count > 0;
    const int code =
        is_shared ? shared_sweep_join(&request->shared, of, &row->stats, diag)
        : request->device == DEVICE_CUDA
            ? measure_on_cuda(&row->table, packed, function, &request->library, progress_set, &progress, &row->stats,
                              diag)
            : measure(&row->table, packed, function, request->exhaustive, progress_set, &progress, &row->stats, diag);
    progress_end(&progress);
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
static int measure_row(struct request *request, struct sweep_row *row, struct diag *diag)
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

static int check_codes_flag(const struct request *request, struct diag *diag)
{
    const struct tensor *in = &request->rows[0].table.in;
    const int64_t codes = in->qmax - in->qmin + 1;
    if (!request->codes || request->exhaustive || codes <= MEASURE_EVERY_CODE)
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE,
                    "--codes %s: %" PRId64 " rows, one for each input code; give --exhaustive as well", request->codes,
                    codes);
}

static int check_gates(const struct request *request, struct diag *diag)
{
    for (int i = 0; i < request->count; i++) {
        const struct sweep_row *row = &request->rows[i];
        note_standing(command_sweep.name, row->label, &row->table);
        if (sweep_check_certificate(row, diag) != EXIT_DONE)
            return diag->code;
    }
    if (sweep_check_limits(request->rows, request->count, &request->limits, diag) != EXIT_DONE)
        return diag->code;
    return request->baseline ? sweep_check_baseline(&request->rows[0], &request->rows[1], diag) : EXIT_DONE;
}

static int write_text(const struct text *text, const char *path, struct diag *diag)
{
    if (text->failed)
        return diag_set(diag, EXIT_IO, "out of memory while printing");
    return file_write(path, text->bytes, text->size, diag);
}

static int expect_outputs(const struct request *request, struct diag *diag)
{
    if (request->codes && file_expect(request->codes, diag) != EXIT_DONE)
        return diag->code;
    if (request->plot && file_expect(request->plot, diag) != EXIT_DONE)
        return diag->code;
    return file_expect(request->output, diag);
}

/* Every code of all tables, where others take part in it. */
static int share(struct request *request, int total, bool *goes_on, struct diag *diag)
{
    struct shared_sweep *const shared = &request->shared;
    *goes_on = true;
    if (!share_is_on())
        return EXIT_DONE;
    if (!request->exhaustive || request->device == DEVICE_CUDA)
        return share_nothing(SHARED_SWEEP_JOBS, goes_on, diag);
    *shared = (struct shared_sweep){
        .tables = calloc((size_t)total, sizeof *shared->tables), .samples = request->samples, .mpfr = request->mpfr};
    if (!shared->tables)
        return diag_set(diag, EXIT_IO, "out of memory");
    for (; shared->count < total; shared->count++) {
        shared->tables[shared->count].table = &request->rows[shared->count].table;
        shared->tables[shared->count].name = request->rows[shared->count].label;
    }
    return shared_sweep_run(shared, goes_on, diag);
}

static int measure_rows(struct request *request, bool *goes_on, struct diag *diag)
{
    const int total = request->count + (request->baseline != NULL);
    int bits = 0; /* of the widest input */
    for (int i = 0; i < total; i++) {
        const struct table *const table = &request->rows[i].table;
        if (table_read(request->rows[i].label, &request->rows[i].table, diag) != EXIT_DONE)
            return diag->code;
        bits = table->in.bits > bits ? table->in.bits : bits;
    }
    if (check_samples_flag(request, request->rows, total, diag) != EXIT_DONE ||
        check_codes_flag(request, diag) != EXIT_DONE || expect_outputs(request, diag) != EXIT_DONE ||
        (request->weights_path &&
         weights_read(request->weights_path, (uint64_t)1 << bits, &request->weights, diag) != EXIT_DONE))
        return diag->code;
    if (request->baseline && sweep_check_comparable(&request->rows[0], &request->rows[1], diag) != EXIT_DONE)
        return diag->code;
    if (share(request, total, goes_on, diag) != EXIT_DONE)
        return diag->code;
    for (int i = 0; *goes_on && i < total; i++) {
        if (measure_row(request, &request->rows[i], diag) != EXIT_DONE)
            return diag->code;
    }
    return EXIT_DONE;
}

static int plot(const struct request *request, struct diag *diag)
{
    const int count = request->count + (request->baseline != NULL);
    struct plot_item items[PLOT_MAX_TABLES];
    struct svg drawing = {0};
    for (int i = 0; i < count; i++)
        items[i] = (struct plot_item){&request->rows[i].table, &request->curves[i], request->rows[i].label};
    plot_tables(items, count, &drawing);
    const int code = write_text(&drawing.text, request->plot, diag);
    svg_free(&drawing);
    return code;
}

static int sweep(struct request *request, struct diag *diag)
{
    struct text text = {0};
    bool goes_on = true;
    int code = request->device == DEVICE_CUDA ? cuda_library_open(&request->library, diag) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = measure_rows(request, &goes_on, diag);
    library_close(&request->library);
    if (!goes_on)
        return code;
    if (code == EXIT_DONE && request->plot)
        code = plot(request, diag);
    if (code == EXIT_DONE) {
        sweep_report(request->rows, request->count + (request->baseline != NULL), request->format,
                     terminal_width(request->output), &text);
        code = write_text(&text, request->output, diag);
    }
    text_free(&text);
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
    int code = anchors_report(words, request->count, request->format, terminal_width(request->output), &text, diag);
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

static double *limit_of(struct request *request, const char *name)
{
    struct sweep_limits *limits = &request->limits;
    return strcmp(name, "--max-err") == 0       ? &limits->max_err
           : strcmp(name, "--max-rms") == 0     ? &limits->max_rms
           : strcmp(name, "--max-bias") == 0    ? &limits->max_bias
           : strcmp(name, "--min-correct") == 0 ? &limits->min_correct
                                                : NULL;
}

static int set_limit(struct request *request, const char *name, const char *value, struct diag *diag)
{
    double *const limit = limit_of(request, name);
    const bool is_share = limit == &request->limits.min_correct;
    if (number_real(value, strlen(value), limit) != NUMBER_OK || *limit < 0 || (is_share && *limit > 1))
        return diag_set(diag, EXIT_USAGE, "%s is a %s, not \"%s\"", name,
                        is_share ? "share of codes, 0 to 1" : "number of output LSB, 0 or more", value);
    return EXIT_DONE;
}

static int set_drawn(struct request *request, const char *value, struct diag *diag)
{
    if (number_integer(value, strlen(value), &request->drawn) != NUMBER_OK || request->drawn < 1 ||
        request->drawn > 1000000000)
        return diag_set(diag, EXIT_USAGE, "--rows %s: must be an integer from 1 to 1000000000", value);
    return EXIT_DONE;
}

static int set_option(struct request *request, const char *name, const char *value, struct diag *diag)
{
    if (strcmp(name, "--format") != 0 && strcmp(name, "-o") != 0 && strcmp(name, "--anchors") != 0)
        request->other = name;
    if (strcmp(name, "--rows") == 0)
        return set_drawn(request, value, diag);
    if (strcmp(name, "--format") != 0 && strcmp(name, "-o") != 0 && strcmp(name, "--max-err") != 0)
        request->of_tables = name;
    if (limit_of(request, name))
        return set_limit(request, name, value, diag);
    if (strcmp(name, "--format") == 0) {
        request->format = cells_format_parse(value);
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
                            : strcmp(name, "--codes") == 0   ? &request->codes
                                                             : &request->output;
        *text = value;
    }
    return EXIT_DONE;
}

/* One thing alone goes to standard output. */
static int check_streams(const struct request *request, struct diag *diag)
{
    const struct {
        const char *flag, *path;
    } files[] = {{"--plot", request->plot}, {"--codes", request->codes}};
    bool taken = file_is_standard_output(request->output);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!files[i].path || !file_is_standard_output(files[i].path))
            continue;
        if (taken)
            return diag_set(diag, EXIT_USAGE, "%s %s: %s standard output already; give %s FILE", files[i].flag,
                            files[i].path,
                            file_is_standard_output(request->output) ? "the errors go to" : "the plot goes to",
                            file_is_standard_output(request->output) ? "-o" : "--plot");
        taken = true;
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
    const int tables = request->count + (request->baseline != NULL);
    if (request->plot && tables > PLOT_MAX_TABLES)
        return diag_set(diag, EXIT_USAGE, "--plot draws up to %d tables, not %d", PLOT_MAX_TABLES, tables);
    if (request->codes && request->count > 1)
        return diag_set(diag, EXIT_USAGE, "--codes writes those of one table, not of %d", request->count);
    if (request->codes && !sweep_codes_path(request->codes))
        return diag_set(diag, EXIT_USAGE, "--codes %s: the name must end in .csv, .npy or .jsonl", request->codes);
    if (check_streams(request, diag) != EXIT_DONE)
        return diag->code;
    if (request->baseline && request->count > 1)
        return diag_set(diag, EXIT_USAGE, "--baseline compares one table, not %d", request->count);
    if (request->baseline)
        request->rows[request->count].label = request->baseline;
    return EXIT_DONE;
}

/* A single row operator. */
static int sweep_operator(const struct request *request, struct diag *diag)
{
    const char *const path = request->rows[0].label;
    const struct row_operator_sweep sweep = {path, request->output, request->format, request->drawn,
                                             request->limits.max_err};
    if (request->count > 1)
        return diag_set(diag, EXIT_USAGE, "%s: a row operator, which is swept alone", path);
    if (request->of_tables)
        return diag_set(diag, EXIT_USAGE, "%s: of a table, and %s is a row operator", request->of_tables, path);
    return row_operator_sweep(&sweep, diag);
}

/* Whether the files are row operators: the first of them tells. */
static bool is_operator(const struct request *request)
{
    return request->count > 0 && !request->anchors && operator_recognise(request->rows[0].label);
}

static int run(int argc, char **argv, struct diag *diag)
{
    /* A row for each argument and one for the baseline. */
    struct request request = {.limits = {NAN, NAN, NAN, NAN},
                              .rows = calloc((size_t)argc + 1, sizeof *request.rows),
                              .curves = calloc((size_t)argc + 1, sizeof *request.curves)};
    if (!request.rows || !request.curves)
        return diag_set(diag, EXIT_IO, "out of memory");
    bool goes_on = true;
    int code = share_take(&argc, argv, diag);
    if (code == EXIT_DONE)
        code = parse(argc, argv, &request, diag);
    const bool of_operator = code == EXIT_DONE && is_operator(&request), of_tables = !of_operator && !request.anchors;
    if (code == EXIT_DONE && !of_tables)
        code = share_nothing(SHARED_SWEEP_JOBS, &goes_on, diag);
    if (code != EXIT_DONE || !goes_on)
        ;
    else if (of_operator)
        code = sweep_operator(&request, diag);
    else if (request.drawn && of_tables)
        code = diag_set(diag, EXIT_USAGE, "--rows: of a row operator, and %s is a table", request.rows[0].label);
    else
        code = of_tables ? sweep(&request, diag) : sweep_anchors(&request, diag);
    for (int i = 0; i <= argc; i++) {
        table_free(&request.rows[i].table);
        curve_free(&request.curves[i]);
    }
    free(request.rows);
    free(request.curves);
    weights_free(request.weights);
    shared_sweep_free(&request.shared);
    free(request.shared.tables);
    return code;
}

const struct command command_sweep = {
    .name = "sweep",
    .synopsis = "pwlc sweep TABLE.json... [flags] | pwlc sweep --anchors [WORD...] [--format FORMAT] [-o FILE]",
    .summary = "Measure tables against the real function, code by code.",
    .details =
        "An error is output - target, in output LSB; bias is its mean with the sign, the other averages are of its "
        "size. \"90 % within\" is the least size that 90 % of the codes do not exceed. (mean abs)^2, the square of "
        "the mean absolute error, is what some papers give in the place of the MSE, which is never below it. --codes "
        "of more than 2^20 input codes needs --exhaustive.\n"
        "--device cuda takes libpwlc-cuda.so from PWL_CUDA_LIBRARY where that is set; else from the folder of "
        "pwlc, the folder of installed libraries, or where the system searches. Codes that double precision does "
        "not decide are settled by --ref on the host, so that only averages, which are sums in double, can differ from "
        "the host's, far behind the digits printed.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 -o tanh.json\n"
               "pwlc sweep tanh.json --format json --max-err 2",
    .options = options,
    .run = run,
};
