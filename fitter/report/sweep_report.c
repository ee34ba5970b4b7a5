/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sweep_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"

static void function_text(const struct table *table, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", table->function);
    for (int i = 0; i < table->parameter_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, " %s=%.6g", table->parameters[i].name,
                                 table->parameters[i].value);
}

static void add_grid(const struct sweep_row *row, struct cells *cells)
{
    const struct grid_stats *stats = &row->grid_stats;
    char text[CELL_SIZE];
    grid_format(row->grid, text, sizeof text);
    cells_add(cells, "grid", "grid", CELL_STRING | CELL_BRIEF, "%s", text);
    cells_add(cells, "grid_points", "grid points", 0, "%" PRId64, row->grid->count);
    cells_add_number(cells, "grid_mse", "grid MSE", CELL_BRIEF, stats->mse);
    cells_add_number(cells, "grid_mean_abs", "grid mean abs", CELL_BRIEF, stats->mean_abs);
    cells_add_number(cells, "grid_mean_abs_squared", "grid (mean abs)^2", CELL_BRIEF,
                     stats->mean_abs * stats->mean_abs);
    cells_add_number(cells, "grid_rms", "grid RMS", 0, stats->rms);
    cells_add_number(cells, "grid_max", "grid max", CELL_BRIEF, stats->max_err);
    cells_add_number(cells, "grid_max_at", "grid worst x", CELL_BRIEF, stats->max_err_x);
}

static void add_weighted(const struct sweep_row *row, struct cells *cells)
{
    const struct weighted_stats *weighted = &row->weighted;
    cells_add_number(cells, "weighted_rms_err_lsb", "weighted RMS, LSB", CELL_BRIEF, weighted->rms);
    cells_add_number(cells, "weighted_mean_abs_err_lsb", "weighted mean abs, LSB", 0, weighted->mean_abs);
    cells_add_number(cells, "weighted_bias_lsb", "weighted bias, LSB", 0, weighted->bias);
    cells_add_number(cells, "weighted_correctly_rounded", "correctly rounded, weighted", CELL_BRIEF,
                     weighted->correctly_rounded);
}

static void add_histogram(const struct histogram *histogram, struct cells *cells)
{
    char counts[CELL_SIZE] = "";
    size_t used = 0;
    for (int k = 0; k < histogram->bins && used < sizeof counts; k++)
        used +=
            (size_t)snprintf(counts + used, sizeof counts - used, "%s%" PRId64, k ? ", " : "", histogram->counts[k]);
    cells_add_number(cells, "hist_from_lsb", NULL, 0, (double)histogram->first * histogram->width);
    cells_add_number(cells, "hist_bin_lsb", NULL, 0, histogram->width);
    cells_add(cells, "hist_counts", NULL, CELL_LIST, "%s", counts);
}

static void add_distribution(const struct distribution *distribution, struct cells *cells)
{
    static const char *const keys[][2] = {{"median_abs_err_lsb", "median abs, LSB"},
                                          {"within_90_lsb", "90 % within, LSB"},
                                          {"within_99_lsb", "99 % within, LSB"},
                                          {"within_99_9_lsb", "99.9 % within, LSB"}};
    for (int i = 0; i < DISTRIBUTION_SHARES; i++)
        cells_add(cells, keys[i][0], keys[i][1], 0, "%.6g", distribution->within[i]);
}

static void add_worst(const struct distribution *distribution, struct cells *cells)
{
    char codes[CELL_SIZE] = "", errors[CELL_SIZE] = "";
    size_t codes_used = 0, errors_used = 0;
    for (int i = 0; i < distribution->count; i++) {
        const struct code_error *worst = &distribution->worst[i];
        const char *separator = i ? ", " : "";
        codes_used +=
            (size_t)snprintf(codes + codes_used, sizeof codes - codes_used, "%s%" PRId64, separator, worst->code);
        errors_used +=
            (size_t)snprintf(errors + errors_used, sizeof errors - errors_used, "%s%.6g", separator, worst->err);
    }
    cells_add(cells, "worst_codes", NULL, CELL_LIST, "%s", codes);
    cells_add(cells, "worst_errors_lsb", NULL, CELL_LIST, "%s", errors);
}

/* bounds: some row has a proven bound. */
static void fill(const struct sweep_row *row, bool bounds, struct cells *cells)
{
    const struct table *table = &row->table;
    const struct error_stats *stats = &row->stats;
    const double lsb = (double)table->out.scale.value;
    const double mse = stats->rms * stats->rms, mean_abs_squared = stats->mean_abs * stats->mean_abs;
    char function[CELL_SIZE], in[80], out[80];
    function_text(table, function, sizeof function);
    tensor_format(&table->in, in, sizeof in);
    tensor_format(&table->out, out, sizeof out);

    cells_add_text(cells, "table", "table", CELL_BRIEF, row->label);
    cells_add(cells, "function", "function", CELL_STRING | CELL_BRIEF, "%s", function);
    cells_add(cells, "in", "in", CELL_STRING | CELL_BRIEF, "%s", in);
    cells_add(cells, "out", "out", CELL_STRING | CELL_BRIEF, "%s", out);
    cells_add(cells, "form", "form", CELL_STRING, "%s", form_name(table->form));
    cells_add(cells, "rounding", "rounding", CELL_STRING, "%s", rounding_name(table->rounding));
    cells_add(cells, "segments", "segments", CELL_BRIEF, "%d", table->segment_count);
    cells_add(cells, "max_err_lsb", "max, LSB", CELL_BRIEF, "%.6g", stats->max_err);
    cells_add(cells, "max_err_real", "max, real", 0, "%.6g", stats->max_err * lsb);
    cells_add(cells, "max_err_at", "worst code", CELL_BRIEF, "%" PRId64, stats->max_err_at);
    cells_add(cells, "max_err_at_real", "worst x, real", 0, "%.6Lg", tensor_real(&table->in, stats->max_err_at));
    cells_add_number(cells, "bound_lsb", bounds ? "proven max, LSB" : NULL, CELL_BRIEF,
                     row->has_bound ? row->bound : (double)NAN);
    cells_add(cells, "rms_err_lsb", "RMS, LSB", CELL_BRIEF, "%.6g", stats->rms);
    cells_add(cells, "rms_err_real", "RMS, real", 0, "%.6g", stats->rms * lsb);
    cells_add(cells, "mean_abs_err_lsb", "mean abs, LSB", CELL_BRIEF, "%.6g", stats->mean_abs);
    cells_add(cells, "mean_abs_err_real", "mean abs, real", 0, "%.6g", stats->mean_abs * lsb);
    cells_add(cells, "bias_lsb", "bias, LSB", CELL_BRIEF, "%.6g", stats->bias);
    cells_add(cells, "bias_real", "bias, real", 0, "%.6g", stats->bias * lsb);
    add_distribution(&row->distribution, cells);
    cells_add(cells, "mean_abs_squared_lsb2", "(mean abs)^2, LSB^2", 0, "%.6g", mean_abs_squared);
    cells_add(cells, "mean_abs_squared_real", "(mean abs)^2, real", CELL_BRIEF, "%.6g", mean_abs_squared * lsb * lsb);
    cells_add(cells, "mse_lsb2", "MSE, LSB^2", 0, "%.6g", mse);
    cells_add(cells, "mse_real", "MSE, real", CELL_BRIEF, "%.6g", mse * lsb * lsb);
    cells_add(cells, "max_ulp", "max ULP", CELL_BRIEF, "%" PRId64, stats->max_ulp);
    cells_add(cells, "max_ulp_at", "max ULP at code", 0, "%" PRId64, stats->max_ulp_at);
    cells_add(cells, "correctly_rounded", "correctly rounded", CELL_BRIEF, "%.6g", stats->correctly_rounded);
    if (row->has_weighted)
        add_weighted(row, cells);
    cells_add(cells, "saturated_codes", "saturated codes", CELL_BRIEF, "%" PRId64, stats->saturated_codes);
    cells_add(cells, "monotone", "monotone", CELL_BRIEF, "%s", stats->monotone ? "true" : "false");
    cells_add(cells, "checked", "codes checked", CELL_BRIEF, "%" PRId64, stats->checked);
    cells_add(cells, "exhaustive", "exhaustive", CELL_BRIEF, "%s", stats->exhaustive ? "true" : "false");
    add_worst(&row->distribution, cells);
    cells_add(cells, "ref", "reference", CELL_STRING, "%s", row->ref);
    if (row->grid)
        add_grid(row, cells);
    if (row->has_histogram)
        add_histogram(&row->histogram, cells);
}

static void print_histogram(const struct sweep_row *row, struct text *out)
{
    text_add(out, "\n");
    escape_control(out, row->label);
    text_add(out, ", codes by error (table - function, %s):\n\n",
             row->stats.exhaustive ? "every code" : "evenly spaced codes");
    histogram_print(&row->histogram, "LSB", out);
}

/* cells: room for DISTRIBUTION_WORST rows */
static void print_worst(const struct sweep_row *row, struct cells *cells, struct text *out)
{
    const int count = row->distribution.count;
    for (int i = 0; i < count; i++) {
        const struct curve_point *worst = &row->worst[i];
        cells[i].count = 0;
        cells_add(&cells[i], "code", "code", CELL_BRIEF, "%" PRId64, worst->code);
        cells_add(&cells[i], "x", "x, real", CELL_BRIEF, "%.6g", worst->x);
        cells_add(&cells[i], "target", "target code", CELL_BRIEF, "%.9g", worst->target);
        cells_add(&cells[i], "output", "output code", CELL_BRIEF, "%" PRId64, worst->output);
        cells_add(&cells[i], "error", "error, LSB", CELL_BRIEF, "%.6g", worst->err);
    }
    text_add(out, "\n");
    escape_control(out, row->label);
    text_add(out, ", the worst codes (error: output - target):\n\n");
    cells_print(cells, count, CELLS_MD, 0, out);
}

void sweep_report(const struct sweep_row *rows, int count, enum cells_format format, int line_width, struct text *out)
{
    const int room = count > DISTRIBUTION_WORST ? count : DISTRIBUTION_WORST;
    struct cells *cells = calloc((size_t)room, sizeof *cells);
    if (!cells) {
        out->failed = true;
        return;
    }
    bool bounds = false;
    for (int i = 0; i < count; i++)
        bounds |= rows[i].has_bound;
    for (int i = 0; i < count; i++)
        fill(&rows[i], bounds, &cells[i]);
    cells_print(cells, count, format, line_width, out);
    if (count == 1 && format == CELLS_MD)
        print_worst(&rows[0], cells, out);
    free(cells);
    for (int i = 0; i < count && format == CELLS_MD; i++)
        if (rows[i].has_histogram)
            print_histogram(&rows[i], out);
}
