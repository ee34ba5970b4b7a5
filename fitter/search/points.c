/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "points.h"

#include <stdlib.h>
#include <string.h>

int points_allocate(struct points *points, int count, bool has_units, bool has_served, struct diag *diag)
{
    const size_t n = (size_t)count + 1;
    memset(points, 0, sizeof *points);
    points->count = count;
    points->cell = malloc(n * sizeof *points->cell);
    points->code = malloc(n * sizeof *points->code);
    points->target = malloc(n * sizeof *points->target);
    points->mass = malloc(n * sizeof *points->mass);
    points->weight = malloc(n * sizeof *points->weight);
    points->bend = malloc(n * sizeof *points->bend);
    points->units = has_units ? malloc(n * sizeof *points->units) : NULL;
    points->served = has_served ? calloc(n, sizeof *points->served) : NULL;
    if (points->cell && points->code && points->target && points->mass && points->weight && points->bend &&
        (points->units || !has_units) && (points->served || !has_served))
        return EXIT_DONE;
    points_free(points);
    return diag_set(diag, EXIT_IO, "out of memory for %d codes", count);
}

void points_free(struct points *points)
{
    free(points->cell);
    free(points->code);
    free(points->target);
    free(points->mass);
    free(points->weight);
    free(points->bend);
    free(points->units);
    free(points->served);
    free(points->fixed);
    free(points->grid);
    free(points->effort);
    free(points->between);
    memset(points, 0, sizeof *points);
}
