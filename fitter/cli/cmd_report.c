/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/jobs.h"
#include "base/number.h"
#include "command.h"
#include "fit/fit.h"
#include "measure/claim.h"
#include "measure/measure.h"
#include "operator/operator.h"
#include "report/report_page.h"
#include "row_operator.h"
#include "spec/spec.h"

static const struct option_info options[] = {
    {"-o", "FILE", "the page (default: standard output)"},
    {"--samples", "FILE", "the sample points of tables made with fit --samples"},
    {"--weights", "FILE", "the weights of tables made with fit --weights"},
    {"--jobs", "N", "how many tables for comparison are fitted at once (default: one a core)"},
    {NULL, NULL, NULL},
};

struct request {
    struct report *reports;
    struct function *functions; /* of each report */
    int count;
    const char *output, *samples, *weights_path;
    struct weights *weights; /* null without */
    int jobs;
};

/* Those that the table was made with, if any. */
static struct weights *weights_of(const struct request *request, const struct table *table)
{
    return table->weights_sha256[0] ? request->weights : NULL;
}

/* The width of q_b is not a field of the table, but of the flags that made it. */
static int slope_bits_of(const struct table *table)
{
    static const char flag[] = "--slope-bits ";
    const char *found = strstr(table->spec, flag);
    int64_t bits;
    if (!found)
        return 0;
    found += strlen(flag);
    const size_t length = strcspn(found, " ");
    if (number_integer(found, length, &bits) != NUMBER_OK || bits < 2 || bits > storage_bits(table->storage))
        return 0;
    return (int)bits;
}

/* The spec of a rival: it shares the function and the weights, which are not its to free. */
static struct spec rival_spec(const struct table *table, const struct function *function, struct weights *weights,
                              enum method method)
{
    struct spec spec;
    spec_init(&spec);
    spec.function = *function;
    spec.in = table->in;
    spec.out = table->out;
    spec.has_in = spec.has_out = spec.has_method = true;
    spec.method = method;
    spec.fold = table->has_fold;
    spec.reduce = table->has_reduction && method == METHOD_UNIFORM;
    spec.outside = table->outside;
    if (method != METHOD_DOCUMENT) { /* which has its own form and rounding, spec_init's */
        spec.form = table->form;
        spec.rounding = table->rounding;
    }
    if (method != METHOD_LUT) {
        spec.segments = table->segment_count;
        spec.slope_bits = slope_bits_of(table);
        spec.weights = weights;
    }
    return spec;
}

/* The averages of a rival that was fitted without weights, to compare it by. */
static void weigh_rival(struct report_rival *rival, const struct function *function, const struct weights *weights)
{
    struct packed_table packed;
    struct weighted_stats weighted;
    if (table_prove(&rival->table, EXIT_IO, &packed, NULL, &rival->diag))
        return;
    if (!measure_weighted(&rival->table, &packed, function, weights, &weighted, &rival->diag))
        certificate_weigh(&rival->table.certificate, &weighted);
    packed_table_free(&packed);
}

static void fit_rival(void *context, int k)
{
    struct request *request = context;
    struct report *report = &request->reports[k / REPORT_RIVALS];
    struct report_rival *rival = &report->rivals[k % REPORT_RIVALS];
    enum method method;
    rival->diag.code = EXIT_DONE;
    if (!method_parse(report_rival_names[k % REPORT_RIVALS], &method)) {
        diag_set(&rival->diag, EXIT_IO, "internal error: unknown method");
        return;
    }
    const struct function *function = &request->functions[k / REPORT_RIVALS];
    struct weights *weights = weights_of(request, &report->table);
    const struct spec spec = rival_spec(&report->table, function, weights, method);
    if (!fit(&spec, &rival->table, &rival->diag) && weights && !spec.weights)
        weigh_rival(rival, function, weights);
}

static int measure_segments(struct report *report, const struct packed_table *packed, struct diag *diag)
{
    const struct curve *curve = &report->curve;
    report->segments = calloc((size_t)report->table.segment_count, sizeof *report->segments);
    if (!report->segments)
        return diag_set(diag, EXIT_IO, "out of memory for %d segments", report->table.segment_count);
    for (size_t k = 0; k < curve->count; k++) {
        const int index = packed_segment(packed, curve->code[k]);
        if (index < 0)
            continue;
        struct report_segment *segment = &report->segments[index];
        segment->codes++;
        segment->max = fmax(segment->max, fabs(curve->err[k]));
        segment->rms += curve->err[k] * curve->err[k];
    }
    for (int i = 0; i < report->table.segment_count; i++)
        if (report->segments[i].codes > 0)
            report->segments[i].rms = sqrt(report->segments[i].rms / (double)report->segments[i].codes);
    return EXIT_DONE;
}

/* Messages do not name the file yet. */
static int measure_report(const struct request *request, int k, struct diag *diag)
{
    struct report *report = &request->reports[k];
    struct function *function = &request->functions[k];
    struct packed_table packed;
    const struct weights *weights = weights_of(request, &report->table);
    const char *samples = report->table.samples_sha256[0] ? request->samples : NULL;
    if (report->table.standing == CERTIFICATE_ABSENT)
        return diag_set(diag, EXIT_REQUIREMENT, "certificate: missing; `pwlc certify` writes a table with one");
    if (table_check_weights(&report->table, request->weights, diag) ||
        table_prove(&report->table, EXIT_USAGE, &packed, NULL, diag))
        return diag->code;
    if (!table_function(&report->table, samples, function, diag) &&
        !claim_check(&report->table, function, weights, diag) &&
        !curve_make(&report->table, &packed, function, &report->curve, diag))
        measure_segments(report, &packed, diag);
    packed_table_free(&packed);
    return diag->code;
}

static int check_samples_flag(const struct request *request, struct diag *diag)
{
    for (int k = 0; k < request->count; k++)
        if (request->reports[k].table.samples_sha256[0])
            return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "--samples %s: no table here was made from samples; leave the flag out",
                    request->samples);
}

static int read_weights(struct request *request, struct diag *diag)
{
    int bits = 0; /* of the widest table that has weights */
    for (int k = 0; k < request->count; k++) {
        const struct table *const table = &request->reports[k].table;
        if (table->weights_sha256[0] && table->in.bits > bits)
            bits = table->in.bits;
    }
    if (bits > 0)
        return weights_read(request->weights_path, (uint64_t)1 << bits, &request->weights, diag);
    return diag_set(diag, EXIT_USAGE, "--weights %s: no table here was made with weights; leave the flag out",
                    request->weights_path);
}

static int report(struct request *request, struct diag *diag)
{
    for (int k = 0; k < request->count; k++)
        if (table_read(request->reports[k].label, &request->reports[k].table, diag))
            return diag->code;
    if (file_expect(request->output, diag) || (request->samples && check_samples_flag(request, diag)) ||
        (request->weights_path && read_weights(request, diag)))
        return diag->code;
    for (int k = 0; k < request->count; k++)
        if (measure_report(request, k, diag))
            return diag_prefix(diag, request->reports[k].label);

    jobs_run(request->count * REPORT_RIVALS, request->jobs, fit_rival, request, "tables");
    struct text page = {0};
    report_page(request->reports, request->count, &page);
    if (page.failed)
        diag_set(diag, EXIT_IO, "out of memory for the page");
    else
        file_write(request->output, page.bytes, page.size, diag);
    text_free(&page);
    return diag->code;
}

/* How many of the files are row operators. */
static int operators_of(const struct request *request)
{
    int count = 0;
    for (int k = 0; k < request->count; k++)
        count += operator_recognise(request->reports[k].label);
    return count;
}

static int report_operators(const struct request *request, int operators, struct diag *diag)
{
    const char *const flag = request->samples ? "--samples" : request->weights_path ? "--weights" : NULL;
    if (operators < request->count)
        return diag_set(diag, EXIT_USAGE, "tables and row operators: a page is of the ones or of the others");
    if (flag)
        return diag_set(diag, EXIT_USAGE, "%s: of a table, and %s is a row operator", flag, request->reports[0].label);
    const char **const paths = malloc((size_t)request->count * sizeof *paths);
    if (!paths)
        return diag_set(diag, EXIT_IO, "out of memory");
    for (int k = 0; k < request->count; k++)
        paths[k] = request->reports[k].label;
    row_operator_report(paths, request->count, request->output, diag);
    free(paths);
    return diag->code;
}

static int parse(int argc, char **argv, struct request *request, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_report, .argc = argc, .argv = argv, .index = 1};
    const struct option_info *option;
    const char *value;
    int more;
    while ((more = argument_next(&walk, &option, &value, diag)) > 0) {
        if (!option)
            request->reports[request->count++].label = value;
        else if (!strcmp(option->name, "-o"))
            request->output = value;
        else if (!strcmp(option->name, "--samples"))
            request->samples = value;
        else if (!strcmp(option->name, "--weights"))
            request->weights_path = value;
        else if (jobs_parse(value, &request->jobs, diag))
            return diag->code;
    }
    if (more == 0 && request->count == 0)
        return diag_set(diag, EXIT_USAGE, "a table is needed: pwlc report TABLE.json -o report.html");
    return more < 0 ? diag->code : EXIT_DONE;
}

static void report_free(struct report *report)
{
    table_free(&report->table);
    curve_free(&report->curve);
    free(report->segments);
    for (int i = 0; i < REPORT_RIVALS; i++)
        table_free(&report->rivals[i].table);
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {.jobs = jobs_default()};
    diag->code = EXIT_DONE;
    request.reports = calloc((size_t)argc, sizeof *request.reports);
    request.functions = calloc((size_t)argc, sizeof *request.functions);
    if (!request.reports || !request.functions)
        diag_set(diag, EXIT_IO, "out of memory");
    else if (!parse(argc, argv, &request, diag)) {
        const int operators = operators_of(&request);
        if (operators)
            report_operators(&request, operators, diag);
        else
            report(&request, diag);
    }
    for (int k = 0; k < request.count; k++) {
        report_free(&request.reports[k]);
        function_free(&request.functions[k]);
    }
    free(request.reports);
    free(request.functions);
    weights_free(request.weights);
    return diag->code;
}

const struct command command_report = {
    .name = "report",
    .synopsis = "pwlc report TABLE.json... [-o report.html]",
    .summary = "Write one HTML page about tables: curves, errors, segments and a comparison of methods.",
    .details = "Of row operators, alone on a page: the bound and its parts, a histogram of errors and the worst rows.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 --segments 8 -o tanh.json\n"
               "pwlc report tanh.json -o report.html",
    .options = options,
    .run = run,
};
