/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sweep_codes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "io/npy.h"
#include "measure/curve.h"

#define COLUMNS 5
#define ROW_BYTES 256 /* more than a row takes as text */
#define ROWS 256      /* written at a time */

enum format { FORMAT_CSV, FORMAT_NPY, FORMAT_JSONL, FORMAT_NONE };

static enum format format_of(const char *path)
{
    static const char *const endings[] = {".csv", ".npy", ".jsonl"};
    const size_t length = strlen(path);
    if (file_is_standard_output(path))
        return FORMAT_CSV;
    for (int i = 0; i < FORMAT_NONE; i++) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(path + length - ending, endings[i]) == 0)
            return (enum format)i;
    }
    return FORMAT_NONE;
}

bool sweep_codes_path(const char *path)
{
    return format_of(path) != FORMAT_NONE;
}

static int add_start(struct file_output *file, enum format format, int64_t codes, struct diag *diag)
{
    static const char titles[] = "code,x,target,output,error\n";
    const struct npy npy = {.kind = 'f',
                            .item_size = 8,
                            .dimensions = 2,
                            .shape = {(size_t)codes, COLUMNS},
                            .count = (size_t)codes * COLUMNS};
    unsigned char header[NPY_HEADER_SIZE];
    size_t size;
    if (format == FORMAT_CSV)
        return file_add(file, titles, sizeof titles - 1, diag);
    if (format == FORMAT_JSONL)
        return EXIT_DONE;
    return npy_build_header(&npy, header, &size, diag) ? diag->code : file_add(file, header, size, diag);
}

/* How many bytes the row takes. */
static size_t row_make(enum format format, const struct curve_point *point, char bytes[ROW_BYTES])
{
    static const char *const lines[] = {[FORMAT_CSV] = "%" PRId64 ",%.12g,%.12g,%" PRId64 ",%.12g\n",
                                        [FORMAT_JSONL] = "{\"code\": %" PRId64
                                                         ", \"x\": %.12g, \"target\": %.12g, \"output\": %" PRId64
                                                         ", \"error\": %.12g}\n"};
    if (format != FORMAT_NPY)
        return (size_t)snprintf(bytes, ROW_BYTES, lines[format], point->code, point->x, point->target, point->output,
                                point->err);
    const double row[COLUMNS] = {(double)point->code, point->x, point->target, (double)point->output, point->err};
    memcpy(bytes, row, sizeof row);
    npy_swap_order(bytes, COLUMNS, sizeof *row);
    return sizeof row;
}

static int add_rows(struct file_output *file, enum format format, const struct table *table,
                    const struct packed_table *packed, const struct function *function, struct diag *diag)
{
    char bytes[ROWS * ROW_BYTES];
    for (int64_t first = table->in.qmin; first <= table->in.qmax; first += ROWS) {
        size_t used = 0;
        for (int64_t code = first; code < first + ROWS && code <= table->in.qmax; code++) {
            const struct curve_point point = curve_point_of(table, packed, function, code);
            used += row_make(format, &point, bytes + used);
        }
        if (file_add(file, bytes, used, diag) != EXIT_DONE)
            return diag->code;
    }
    return EXIT_DONE;
}

int sweep_codes_write(const char *path, const struct table *table, const struct packed_table *packed,
                      const struct function *function, struct diag *diag)
{
    const enum format format = format_of(path);
    struct file_output file;
    int code = file_begin(path, &file, diag);
    if (code == EXIT_DONE)
        code = add_start(&file, format, table->in.qmax - table->in.qmin + 1, diag);
    if (code == EXIT_DONE)
        code = add_rows(&file, format, table, packed, function, diag);
    return file_end(&file, code, diag);
}
