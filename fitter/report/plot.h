/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables drawn: the functions, the tables' outputs and knots, and the errors below. */
#ifndef PWLC_PLOT_H
#define PWLC_PLOT_H

#include "measure/curve.h"
#include "svg.h"
#include "table/table.h"

#define PLOT_MAX_TABLES 6 /* as many colours tell them apart */

struct plot_item {
    const struct table *table;
    const struct curve *curve;
    const char *label; /* in legends of several; not read of one */
};

/* The whole document: a table with its function and knots, and what its certificate says of the errors below;
 * svg->text.failed when memory ran out. Free with svg_free. */
void plot_table(const struct table *table, const struct curve *curve, struct svg *svg);

/* The errors of the segments from first up to last alone; not of a reduced table. More knots than PLOT_MANY_KNOTS have
 * no lines here and there. Free with svg_free. */
#define PLOT_MANY_KNOTS 96
void plot_strip(const struct table *table, const struct curve *curve, int first, int last, struct svg *svg);

/* As plot_table, of 1 to PLOT_MAX_TABLES tables. Errors of several are in output LSB where these are the same, else in
 * real units. */
void plot_tables(const struct plot_item *items, int count, struct svg *svg);

#endif
