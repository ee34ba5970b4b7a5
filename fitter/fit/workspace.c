/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workspace.h"
#include "problem.h"

#include <string.h>

void workspace_free(struct workspace *work)
{
    points_free(&work->points);
    ties_free(&work->ties);
}

int workspace_begin(struct workspace *work, const struct spec *spec, struct diag *diag)
{
    workspace_free(work);
    work->spec = spec;
    work->exact = (struct exact){0};
    work->minimax = (struct minimax){.knots = work->knots, .lines = work->lines};
    line_rules_init(&work->rules, spec);
    if (points_build(spec, &work->points, diag) || ties_init(&work->ties, spec, &work->points, diag))
        return diag->code;
    return EXIT_DONE;
}

void keep_table(struct kept *kept, const struct table *table)
{
    kept->count = table->segment_count;
    memcpy(kept->segments, table->segments, (size_t)kept->count * sizeof *kept->segments);
    kept->certificate = table->certificate;
}

void take_kept_table(const struct kept *kept, struct table *table)
{
    table->segment_count = kept->count;
    memcpy(table->segments, kept->segments, (size_t)kept->count * sizeof *kept->segments);
    table->certificate = kept->certificate;
}
