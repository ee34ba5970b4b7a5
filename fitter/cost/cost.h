/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table costs where it is built in: cells and clock of its module, bytes and instructions of its C. */
#ifndef PWLC_COST_H
#define PWLC_COST_H

#include <stdbool.h>

#include "figures.h"

struct cost_target;
#define COST_TARGETS                                                                                                   \
    "ice40|ice40-dsp|xc7|xc7-nodsp|ecp5|ecp5-nodsp|generic|cortex-m0|cortex-m4|cortex-m33|cortex-m55|rv32imc"
const struct cost_target *cost_target_find(const char *name); /* one of the list */
const char *cost_target_name(const struct cost_target *target);
bool cost_target_is_hardware(const struct cost_target *target);
bool cost_target_has(const struct cost_target *target, enum cost_figure figure);

/* "ice40:lut4": a target and a figure that it has. Exit 2 for others, naming the flag. */
int cost_figure_parse(const char *flag, const char *text, const struct cost_target **target, enum cost_figure *figure,
                      struct diag *diag);

/* Measures, unless an earlier command measured the same text with the same tools. Any thread may call it. Exit 77 when
 * a tool is missing that cannot be done without. */
int cost_measure(const struct cost_target *target, const struct costing *costing, struct cost *cost, struct diag *diag);

#endif
