/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured of what. */
#ifndef PWLC_COST_FIGURES_H
#define PWLC_COST_FIGURES_H

#include <stdbool.h>

#include "emit/options.h"
#include "table/table.h"

enum cost_figure {
    COST_LUT,
    COST_FF,
    COST_DSP,
    COST_RAM,
    COST_CELLS,
    COST_FMAX,
    COST_BYTES,
    COST_INSTRUCTIONS,
    COST_FIGURES
};

/* As csv and json write it; as a column of md. */
extern const struct cost_name {
    const char *key, *title;
} cost_names[COST_FIGURES];

struct row_operator;

struct costing {
    const struct row_operator *of; /* null; or of its unit, and hardware alone: there is no table */
    const struct table *table;
    const struct packed_table *packed; /* of the table */
    struct rtl_options rtl;            /* of hardware */
    bool is_plain;                     /* of processors: an array of all outputs instead */
    bool anew;                         /* what was kept of earlier commands does not count */
    double limit_s;                    /* of each program */
};

struct cost {
    double figure[COST_FIGURES]; /* NAN: the target has none, or `note` says why it could not be measured */
    char note[400];              /* else empty */
};

#endif
