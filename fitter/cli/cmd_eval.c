/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "command.h"
#include "evaluation.h"
#include "network.h"
#include "network/network.h"
#include "operator/operator.h"
#include "row_operator.h"
#include "table/table.h"

static const struct option_info options[] = {
    {"--real", NULL, "inputs are real values x, quantised as round(x / scale) + zero point, ties to even; prints y"},
    {"--trace", NULL, "show every intermediate value, the real function and the error"},
    {"--samples", "FILE", "with --trace: the samples that the table was made from"},
    {"--line-buffered", NULL, "answer each line of standard input as it comes, instead of all of them at its end"},
    {"-o", "OUT.npy", "write the results as .npy, in the shape of the one .npy input, else in one dimension"},
    {NULL, NULL, NULL},
};

static int parse(int argc, char **argv, struct evaluation_request *request, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_eval, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value;
    int next, standard_input = 0;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (!option) {
            standard_input += strcmp(value, "-") == 0;
            if (!request->table_path)
                request->table_path = value;
            else
                request->inputs[request->input_count++] = value;
        } else if (strcmp(option->name, "--real") == 0) {
            request->real = true;
        } else if (strcmp(option->name, "--trace") == 0) {
            request->trace = true;
        } else if (strcmp(option->name, "--line-buffered") == 0) {
            request->line_buffered = true;
        } else if (strcmp(option->name, "--samples") == 0) {
            request->samples = value;
        } else {
            request->output = value;
        }
    }
    if (next < 0)
        return diag->code;
    if (!request->table_path)
        return diag_set(diag, EXIT_USAGE, "a table is needed: pwlc eval TABLE.json CODE...");
    if (!request->input_count)
        return diag_set(diag, EXIT_USAGE, "codes are needed after %s: integers, - or a .npy file", request->table_path);
    if (standard_input > 1)
        return diag_set(diag, EXIT_USAGE, "- is given more than once; standard input can be read once");
    if (request->trace && request->output)
        return diag_set(diag, EXIT_USAGE, "--trace and -o contradict each other; a trace goes to standard output");
    if (request->line_buffered && request->output)
        return diag_set(diag, EXIT_USAGE, "--line-buffered and -o contradict each other; an array is written at once");
    if (request->line_buffered && (!standard_input || strcmp(request->table_path, "-") == 0))
        return diag_set(diag, EXIT_USAGE, "--line-buffered is for standard input alone; give - as a CODE");
    if (request->samples && !request->trace)
        return diag_set(diag, EXIT_USAGE, "--samples is of use with --trace alone");
    if (request->output && strcmp(request->output, "-") != 0 && !evaluation_takes_array(request->output))
        return diag_set(diag, EXIT_USAGE, "-o %s: the name must end in .npy", request->output);
    if (file_is_standard_output(request->output) && request->output && isatty(STDOUT_FILENO))
        return diag_set(diag, EXIT_USAGE,
                        "-o %s: an array is binary, and standard output is a terminal; give -o OUT.npy or redirect it",
                        request->output);
    return EXIT_DONE;
}

/* A file that is no table: an operator, or with is_network a network. */
static int evaluate_other(const struct evaluation_request *request, bool is_network, struct diag *diag)
{
    const char *of_table = request->real            ? "--real"
                           : request->trace         ? "--trace"
                           : request->line_buffered ? "--line-buffered"
                                                    : NULL;
    for (int k = 0; k < request->input_count && !of_table; k++)
        of_table = strcmp(request->inputs[k], "-") == 0 ? "-" : NULL;
    if (of_table)
        return diag_set(diag, EXIT_USAGE, "%s: of a table, and %s is a %s", of_table, request->table_path,
                        is_network ? "network" : "row operator");
    return (is_network ? network_eval : row_operator_eval)(request->table_path, request->inputs, request->input_count,
                                                           request->output, diag);
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct evaluation_request request = {.inputs = malloc((size_t)argc * sizeof *request.inputs)};
    struct table table = {0};
    struct packed_table packed = {0};
    pwl_proof proof;
    if (!request.inputs)
        return diag_set(diag, EXIT_IO, "out of memory");
    int code = parse(argc, argv, &request, diag);
    const bool is_network = code == EXIT_DONE && network_recognise(request.table_path);
    if (is_network || (code == EXIT_DONE && operator_recognise(request.table_path))) {
        code = evaluate_other(&request, is_network, diag);
        free(request.inputs);
        return code;
    }
    if (code == EXIT_DONE)
        code = table_read(request.table_path, &table, diag);
    if (code == EXIT_DONE)
        code = table_prove(&table, EXIT_USAGE, &packed, &proof, diag);
    if (code == EXIT_DONE)
        code = evaluate(&request, &table, &packed, diag);
    packed_table_free(&packed);
    table_free(&table);
    free(request.inputs);
    return code;
}

const struct command command_eval = {
    .name = "eval",
    .synopsis = "pwlc eval TABLE.json CODE... [flags]",
    .summary = "Evaluate codes as the integer runtime does; a CODE may be - (standard input) or an array FILE.npy.",
    .details =
        "Of a row operator, all CODEs together are one row, or one FILE.npy holds rows along its last axis; of "
        "two inputs the CODEs are pairs, or there are two files. It takes -o, and neither - nor the other flags, "
        "which are of tables alone. Of a network, each input is a FILE.npy, and -o is needed; of several outputs "
        "each has a file, OUT.0.npy and on.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 --method uniform -o tanh.json\n"
               "pwlc eval tanh.json 0 16 -16\n"
               "pwlc eval tanh.json --trace 16\n"
               "pwlc eval tanh.json --real 0.5 -0.5",
    .options = options,
    .run = run,
};
