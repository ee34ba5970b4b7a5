/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is verified, and what is found. */
#ifndef PWLC_VERIFICATION_H
#define PWLC_VERIFICATION_H

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
    const char *wave;                  /* file that takes every signal of the simulation, .vcd or .fst; null: none */
    double limit_s;                    /* of each program */
    int part, parts;                   /* of the codes; parts 0: all of them */
};

#define VERIFY_SIMULATORS "verilator|iverilog"

struct verdict {
    char tools[80];                /* "cc 12.2.0" */
    char fault[80];                /* what was injected, else empty */
    int64_t compared, mismatches;  /* codes */
    int64_t code, expected, found; /* of the first mismatch */
    char name[40];                 /* what gave it, "pwl_eval" */
    char claim[80];                /* of a proof; empty with codes that were compared */
    double seconds;                /* with building */
};

#endif
