/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One self-contained HTML page about row operators: facts, the bound and its parts, what rows show. */
#ifndef PWLC_OPERATOR_PAGE_H
#define PWLC_OPERATOR_PAGE_H

#include "base/file.h"
#include "operator/row_sweep.h"

struct operator_report {
    const char *label; /* the file, as it was named */
    struct row_operator of;
    struct operator_certificate bound; /* computed anew */
    struct row_sweep sweep;
};

/* page->failed when memory ran out. */
void operator_page(const struct operator_report *reports, int count, struct text *page);

#endif
