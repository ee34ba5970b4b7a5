/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "operator/hard_rows.h"
#include "report/operator_page.h"
#include "row_operator.h"

static int measure(struct operator_report *report, const char *path, struct diag *diag)
{
    report->label = path;
    if (row_operator_read(path, &report->of, diag))
        return diag->code;
    if (operator_bound(&report->of, &report->bound, diag) ||
        row_sweep(&report->of, hard_rows_default(&report->of), report->bound.bound_lsb, &report->sweep, diag))
        diag_prefix(diag, path);
    return diag->code;
}

int row_operator_report(const char *const *paths, int count, const char *output, struct diag *diag)
{
    struct operator_report *const reports = calloc((size_t)count, sizeof *reports);
    struct text page = {0};
    int code = reports ? file_expect(output, diag) : diag_set(diag, EXIT_IO, "out of memory");
    for (int k = 0; k < count && code == EXIT_DONE; k++)
        code = measure(&reports[k], paths[k], diag);
    if (code == EXIT_DONE) {
        operator_page(reports, count, &page);
        code = page.failed ? diag_set(diag, EXIT_IO, "out of memory for the page")
                           : file_write(output, page.bytes, page.size, diag);
    }
    for (int k = 0; reports && k < count; k++)
        operator_free(&reports[k].of);
    free(reports);
    text_free(&page);
    return code;
}
