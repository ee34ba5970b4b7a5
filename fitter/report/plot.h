/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table drawn: the function, the table's output, the knots, and the error below with what the certificate says. */
#ifndef PWLC_PLOT_H
#define PWLC_PLOT_H

#include "measure/curve.h"
#include "svg.h"
#include "table/table.h"

/* The whole document; svg->text.failed when memory ran out. Free with svg_free. */
void plot_table(const struct table *table, const struct curve *curve, struct svg *svg);

#endif
