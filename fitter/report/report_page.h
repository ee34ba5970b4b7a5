/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One self-contained HTML page about tables: facts, plots, segments, and what other methods make of the same spec. */
#ifndef PWLC_REPORT_PAGE_H
#define PWLC_REPORT_PAGE_H

#include "base/file.h"
#include "measure/curve.h"
#include "table/table.h"

/* Another method with the table's types, form and number of segments. */
struct report_rival {
    struct table table; /* when diag.code is 0 */
    struct diag diag;   /* why the method has no such table */
};

/* Error of the codes of a segment, in output LSB; of the curve's codes. */
struct report_segment {
    int64_t codes;
    double max, rms;
};

#define REPORT_RIVALS 3
extern const char *const report_rival_names[REPORT_RIVALS]; /* uniform, document, lut */

struct report {
    const char *label; /* the file, as it was named */
    struct table table;
    struct curve curve;
    struct report_segment *segments;
    struct report_rival rivals[REPORT_RIVALS];
};

/* page->failed when memory ran out. */
void report_page(const struct report *reports, int count, struct text *page);

#endif
