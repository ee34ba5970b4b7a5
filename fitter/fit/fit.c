/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit.h"

#include <stdio.h>

#include "attempt.h"
#include "base/progress.h"
#include "keep_zero.h"
#include "other_methods.h"
#include "relax.h"

/* In this order; each is held against the best before it. */
static const struct attempt *const attempts[] = {
    &attempt_minimax,       /* of least squares: its RMS error may be less where the search was not complete */
    &attempt_uniform,       /* likewise, with knots on an even grid */
    &attempt_line_of_zero,  /* f(0) by another line in one segment */
    &attempt_table_of_zero, /* f(0) by --fix */
    NULL,
};

int fit_as_asked(const struct spec *spec, struct table *table, struct diag *diag)
{
    struct progress progress;
    progress_begin(&progress, "tables", 0);
    fit_best_of(spec, attempts, table, diag);
    progress_end(&progress);
    return diag->code;
}

/* Adds to the message of a failed fit the choices that are to blame. */
static void explain(const struct spec *spec, struct diag *diag)
{
    struct spec relaxed;
    struct text choice = {0}, binding = {0};
    int choices = 0;
    for (; relax(spec, choices, &relaxed, &choice); choices++) {
        struct table table;
        struct diag ignored;
        if (fit_as_asked(&relaxed, &table, &ignored))
            continue;
        text_add(&binding, "%s%s", binding.size ? " or " : "", choice.bytes);
        table_free(&table);
    }
    char message[sizeof diag->text];
    snprintf(message, sizeof message, "%s", diag->text);
    if (binding.size && !binding.failed)
        diag_set(diag, diag->code, "%s; there is one without %s", message, binding.bytes);
    else if (choices > 1)
        diag_set(diag, diag->code, "%s; leaving out one of its constraints alone does not help", message);
    text_free(&choice);
    text_free(&binding);
}

int fit(const struct spec *spec, struct table *table, struct diag *diag)
{
    if (fit_as_asked(spec, table, diag) == EXIT_REQUIREMENT && !time_limit_over(spec->time_limit))
        explain(spec, diag);
    return diag->code;
}
