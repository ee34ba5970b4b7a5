/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explore_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/size.h"

static int compare_rows(const void *left, const void *right)
{
    const struct explore_row *a = left, *b = right;
    if (a->price != b->price)
        return a->price < b->price ? -1 : 1;
    if (a->mhz != b->mhz)
        return a->mhz > b->mhz ? -1 : 1;
    if (a->error != b->error)
        return a->error < b->error ? -1 : 1;
    return strcmp(a->table.spec, b->table.spec); /* each row has its own */
}

/* What is printed alike is alike: sums in another order may differ in their last bits. */
static double printed(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

/* Whether one is as good in all that counts, and better in something. */
static bool is_beaten(const struct explore_row *row, const struct explore_row *by)
{
    return by->price <= row->price && by->mhz >= row->mhz && by->error <= row->error &&
           (by->price < row->price || by->mhz > row->mhz || by->error < row->error);
}

void explore_rank(struct exploration *exploration)
{
    struct explore_row *rows = exploration->rows;
    int found = 0;
    for (int k = 0; k < exploration->count; k++) {
        const struct explore_row row = rows[k];
        if (row.diag.code)
            continue;
        memmove(&rows[found + 1], &rows[found], (size_t)(k - found) * sizeof *rows);
        rows[found++] = row;
    }
    for (int k = 0; k < found; k++) {
        const struct table *table = &rows[k].table;
        const struct certificate *certificate = &table->certificate;
        rows[k].bytes = table_bytes(table);
        if (!exploration->cost)
            rows[k].price = rows[k].bytes;
        rows[k].error =
            printed(exploration->objective == OBJECTIVE_MAX ? certificate->max_err_lsb : certificate->rms_err_lsb);
    }
    exploration->found = found;
    qsort(rows, (size_t)found, sizeof *rows, compare_rows);
    for (int k = 0; k < found; k++) {
        rows[k].front = true;
        for (int i = 0; i < found && rows[k].front; i++)
            rows[k].front = !is_beaten(&rows[k], &rows[i]);
    }
}

/* What is known of all other tables of the same choices. */
static void proof_text(const struct certificate *certificate, char *text, size_t size)
{
    const char *objective = certificate->objective == OBJECTIVE_MAX ? "max" : "RMS";
    if (certificate->optimal == 1 && certificate->objective == OBJECTIVE_SEGMENTS)
        snprintf(text, size, "fewest");
    else if (certificate->optimal == 1)
        snprintf(text, size, "%s%soptimal", certificate->has_lower_bound ? objective : "",
                 certificate->has_lower_bound ? " " : "");
    else if (certificate->has_lower_bound)
        snprintf(text, size, "%s >= %.6g", objective, certificate->lower_bound_lsb);
    else
        snprintf(text, size, "none");
}

/* Choices with one value are not worth a column for people, except the method. */
static void add_choices(const struct exploration *exploration, const struct explore_row *row, struct cells *cells)
{
    static const struct {
        const char *key, *title;
        bool number;
    } info[AXIS_COUNT] = {{"method", "method", false},
                          {"form", "form", false},
                          {"rounding", "rounding", false},
                          {"slope_bits", "slope bits", true},
                          {"slope_terms", "slope terms", false},
                          {"shift", "shift", false},
                          {"knots", "knots", false},
                          {"symmetry", "symmetry", false},
                          {"segments_asked", "segments asked", true}};
    for (int a = 0; a < AXIS_COUNT; a++) {
        const bool varies = exploration->choice[a].count > 1;
        const bool brief = a == AXIS_METHOD || (a == AXIS_SEGMENTS ? row->diag.code != EXIT_DONE : varies);
        if (info[a].number && row->value[a])
            cells_add(cells, info[a].key, info[a].title, brief ? CELL_BRIEF : 0, "%s", row->value[a]);
        else
            cells_add_text(cells, info[a].key, info[a].title, brief ? CELL_BRIEF : 0, row->value[a]);
    }
}

/* Only where one is asked for. */
static void add_price(const struct exploration *exploration, const struct explore_row *row, struct cells *cells)
{
    if (exploration->cost)
        cells_add_number(cells, "cost", exploration->cost, CELL_BRIEF, row->diag.code == EXIT_DONE ? row->price : NAN);
    if (exploration->has_clock)
        cells_add_number(cells, "fmax_mhz", "MHz", CELL_BRIEF, row->mhz > 0 ? row->mhz : NAN);
}

static void add_numbers(const struct explore_row *row, bool md, struct cells *cells)
{
    const struct certificate *certificate = &row->table.certificate;
    char proof[80];
    proof_text(certificate, proof, sizeof proof);
    cells_add(cells, "segments", "segments", CELL_BRIEF, "%d", row->table.segment_count);
    cells_add(cells, "bytes", "bytes", CELL_BRIEF, "%d", row->bytes);
    cells_add_number(cells, "max_err_lsb", "max, LSB", CELL_BRIEF, certificate->max_err_lsb);
    cells_add_number(cells, "rms_err_lsb", "RMS, LSB", CELL_BRIEF, certificate->rms_err_lsb);
    cells_add_number(cells, "correctly_rounded", "correctly rounded", 0, certificate->correctly_rounded);
    cells_add(cells, "exhaustive", "exhaustive", 0, "%s", certificate->exhaustive ? "true" : "false");
    cells_add(cells, "proof", "proof", CELL_STRING | CELL_BRIEF, "%s", proof);
    if (md)
        cells_add_text(cells, "front", "front", CELL_BRIEF, row->front ? "front" : "");
    else
        cells_add(cells, "front", NULL, 0, "%s", row->front ? "true" : "false");
    cells_add_text(cells, "spec", "spec", 0, row->table.spec);
}

/* The keys of add_numbers, without values. */
static void add_no_numbers(struct cells *cells)
{
    static const char *const keys[] = {"segments",   "bytes", "max_err_lsb", "rms_err_lsb", "correctly_rounded",
                                       "exhaustive", "proof", "front",       "spec"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cells_add_text(cells, keys[i], NULL, 0, NULL);
}

static void fill(const struct exploration *exploration, const struct explore_row *row, bool md, struct cells *cells)
{
    const bool found = row->diag.code == EXIT_DONE;
    cells->count = 0;
    add_choices(exploration, row, cells);
    add_price(exploration, row, cells);
    if (found)
        add_numbers(row, md, cells);
    else
        add_no_numbers(cells);
    cells_add_text(cells, "reason", found ? NULL : "no table, because", CELL_BRIEF, found ? NULL : row->diag.text);
}

int explore_print(const struct exploration *exploration, enum cells_format format, int line_width, struct text *out,
                  struct diag *diag)
{
    const bool md = format == CELLS_MD;
    const int found = exploration->found, missing = exploration->count - found;
    struct cells *rows = malloc((size_t)exploration->count * sizeof *rows);
    if (!rows)
        return diag_set(diag, EXIT_IO, "out of memory for %d rows", exploration->count);
    for (int k = 0; k < exploration->count; k++)
        fill(exploration, &exploration->rows[k], md, &rows[k]);
    if (!md) {
        cells_print(rows, exploration->count, format, line_width, out);
    } else {
        if (found > 0)
            cells_print(rows, found, format, line_width, out);
        if (found > 0 && missing > 0)
            text_add(out, "\n");
        if (missing > 0)
            cells_print(&rows[found], missing, format, line_width, out);
    }
    free(rows);
    return out->failed ? diag_set(diag, EXIT_IO, "out of memory while printing") : EXIT_DONE;
}
