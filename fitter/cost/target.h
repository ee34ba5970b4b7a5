/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two kinds of target. */
#ifndef PWLC_COST_TARGET_H
#define PWLC_COST_TARGET_H

#include "base/scratch.h"
#include "figures.h"

/* Files that are written for a measurement. With the versions of the tools, and how they are used, they are all that it
 * depends on. */
#define SOURCES_MOST 5
struct sources {
    struct {
        const char *name;
        struct text text;
    } file[SOURCES_MOST];
    int count;
    struct text versions;
};

/* A new file; its text is to be added to. */
struct text *sources_add(struct sources *sources, const char *name);

struct cost_target;

struct cost_kind {
    /* Writes the sources, and asks the tools for their versions; cost->note says which optional one is not there. */
    int (*prepare)(const struct cost_target *target, const struct costing *costing, struct sources *sources,
                   struct cost *cost, struct diag *diag);
    /* In a folder with these files. */
    int (*measure)(const struct cost_target *target, const struct costing *costing, const char *folder,
                   struct cost *cost, struct diag *diag);
};

extern const struct cost_kind cost_of_hardware, cost_of_processor;

/* How programs are made for a processor, and run. */
struct processor;
extern const struct processor cortex_m0, cortex_m4, cortex_m33, cortex_m55, rv32imc;

struct cell_kind {
    const char *begin; /* of the names of cells */
    enum cost_figure figure;
    int weight;
};

struct cost_target {
    const char *name;
    const struct cost_kind *kind;
    unsigned figures;                  /* 1 << cost_figure for each that it has */
    const struct processor *processor; /* of those alone */

    /* Hardware alone. */
    const char *synthesis;         /* commands of yosys; %s is the top module */
    const struct cell_kind *cells; /* the first that matches counts; ends with a null name */
    const char *const *route;      /* arguments of place and route, the program first; null: none */
};

#endif
