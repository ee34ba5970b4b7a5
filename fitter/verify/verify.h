/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether what is emitted from a table gives its values, by the compilers and simulators that users have. */
#ifndef PWLC_VERIFY_H
#define PWLC_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "emit/options.h"
#include "table/table.h"

struct verification {
    const struct table *table;
    const struct packed_table *packed; /* of the table */
    const struct emit_options *emit;   /* for modules: style, stages */
    const char *simulator;             /* one of VERIFY_SIMULATORS */
    bool exhaustive;                   /* all codes of inputs beyond 16 bits too */
    bool inject;                       /* from a table with one wrong bit */
    double limit_s;                    /* of each program */
};

#define VERIFY_SIMULATORS "verilator|iverilog"

struct verdict {
    char tools[80];                /* "cc 12.2.0" */
    char fault[80];                /* what was injected, else empty */
    int64_t compared, mismatches;  /* codes */
    int64_t code, expected, found; /* of the first mismatch */
    char name[40];                 /* what gave it, "pwl_eval" */
    double seconds;                /* with building */
};

/* Emits, builds and runs one of VERIFY_TARGETS; a mismatch is in the verdict alone. Exit 77 when a tool is missing. */
#define VERIFY_TARGETS "c|standalone|sv|cuda"
int verify(const char *target, const struct verification *verification, struct verdict *verdict, struct diag *diag);

/* Proves with yosys and ABC that a module of stages without feedback gives the table's value for every code, inputs of
 * up to 8 bits; beyond, that there is no feedback, so that what it gives depends on the last codes alone. Exit 3 when
 * it is not so. */
int verify_proof(const struct verification *verification, struct verdict *verdict, struct diag *diag);

#endif
