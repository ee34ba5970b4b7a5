/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function/expression.h"
#include "function/samples.h"

static const char *const objective_names[] = {"rms", "max", "segments"};

const char *objective_name(enum objective objective)
{
    return objective_names[objective];
}

bool objective_parse(const char *name, enum objective *objective)
{
    for (size_t i = 0; i < sizeof objective_names / sizeof *objective_names; i++)
        if (strcmp(name, objective_names[i]) == 0) {
            *objective = (enum objective)i;
            return true;
        }
    return false;
}

double objective_error(const struct certificate *certificate)
{
    return certificate->objective == OBJECTIVE_RMS ? certificate->rms_err_lsb : certificate->max_err_lsb;
}

void table_free(struct table *table)
{
    free(table->spec);
    free(table->expression);
    free(table->segments);
    table->spec = NULL;
    table->expression = NULL;
    table->segments = NULL;
    table->segment_count = 0;
}

int64_t table_last_code(const struct table *table)
{
    const struct tensor in = table_segment_codes(table);
    const int64_t mirrored = table->has_fold ? 2 * in.zero_point - in.qmin : in.qmax;
    return mirrored > in.qmax ? mirrored : in.qmax;
}

int table_set_function(struct table *table, const struct function *function, struct diag *diag)
{
    snprintf(table->function, sizeof table->function, "%s", function_name(function));
    if (function->info)
        for (; function->info->parameters[table->parameter_count].name; table->parameter_count++) {
            const int k = table->parameter_count;
            snprintf(table->parameters[k].name, sizeof table->parameters[k].name, "%s",
                     function->info->parameters[k].name);
            table->parameters[k].value = function->parameters[k];
        }
    if (function->expression && !(table->expression = strdup(function->expression->text)))
        return diag_set(diag, EXIT_IO, "out of memory for a table");
    if (function->samples)
        snprintf(table->samples_sha256, sizeof table->samples_sha256, "%s", function->samples->sha256);
    return EXIT_DONE;
}

int table_function(const struct table *table, const char *samples_path, struct function *function, struct diag *diag)
{
    memset(function, 0, sizeof *function);
    if (strcmp(table->function, "samples") == 0) {
        if (!samples_path)
            return diag_set(diag, EXIT_USAGE, "--samples: missing, must name the file of sample points (sha256 %s)",
                            table->samples_sha256);
        if (samples_read(samples_path, &function->samples, diag))
            return diag->code;
        if (strcmp(function->samples->sha256, table->samples_sha256) != 0) {
            diag_set(diag, EXIT_USAGE, "%s: sha256 is %s, the table was made from %s", samples_path,
                     function->samples->sha256, table->samples_sha256);
            function_free(function);
            return diag->code;
        }
        return EXIT_DONE;
    }
    if (table->expression && !samples_path)
        return function_set_expression(function, table->expression, "expression", diag);
    if (samples_path)
        return diag_set(diag, EXIT_USAGE, "--samples: only for tables made from samples, this one is of %s",
                        table->function);
    if (function_init(function, table->function, diag))
        return diag->code;
    for (int i = 0; i < table->parameter_count; i++) {
        const struct parameter_info *info = function->info->parameters;
        while (info->name && strcmp(info->name, table->parameters[i].name) != 0)
            info++;
        if (!info->name)
            return diag_set(diag, EXIT_USAGE, "parameters.%s: unknown, %s has no such parameter",
                            table->parameters[i].name, table->function);
        function->parameters[info - function->info->parameters] = table->parameters[i].value;
    }
    return EXIT_DONE;
}

void function_free(struct function *function)
{
    samples_free(function->samples);
    expression_free(function->expression);
    memset(function, 0, sizeof *function);
}

int table_check_weights(const struct table *table, const struct weights *weights, struct diag *diag)
{
    if (!table->weights_sha256[0])
        return EXIT_DONE;
    if (!weights)
        return diag_set(diag, EXIT_USAGE, "--weights: missing, must name the file of weights (sha256 %s)",
                        table->weights_sha256);
    if (strcmp(weights->sha256, table->weights_sha256) != 0)
        return diag_set(diag, EXIT_USAGE, "--weights: sha256 is %s, the table was made with %s", weights->sha256,
                        table->weights_sha256);
    return EXIT_DONE;
}
