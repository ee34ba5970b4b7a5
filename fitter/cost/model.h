/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a module is expected to cost, without tools: sums over what it consists of, with coefficients that were fitted
 * to measurements (coefficients.h). */
#ifndef PWLC_COST_MODEL_H
#define PWLC_COST_MODEL_H

#include "cost.h"

/* What the number of LUTs, or of generic cells, is a sum of. */
enum cost_term {
    TERM_ONE,        /* each module */
    TERM_WORDS,      /* 64 bits of words that are not in a RAM */
    TERM_COMPARED,   /* a bit of a comparison */
    TERM_LOOKED_UP,  /* 64 bits of the search's ROMs */
    TERM_ADDED,      /* a bit of an adder */
    TERM_FOLDED,     /* a bit of the fold's adders */
    TERM_MULTIPLIED, /* a bit of one factor times a bit of the other, where no DSP takes them */
    TERM_SATURATED,  /* a bit of an output that may be a limit */
    COST_TERMS
};

extern const char *const cost_term_names[COST_TERMS];

struct estimate {
    struct cost cost;
    double terms[COST_TERMS];
    double longest; /* between two registers, in tenths of a nanosecond of an iCE40 UltraPlus */
};

/* Of the table's module in these options. Exit 2 of a target that is no hardware. */
int cost_estimate(const struct cost_target *target, const struct costing *costing, struct estimate *estimate,
                  struct diag *diag);

/* One number: LUTs (cells of `generic`), a RAM counted as COST_RAM_LUTS and a DSP as COST_DSP_LUTS of them; of a
 * processor bytes, an instruction counted as COST_INSTRUCTION_BYTES. */
#define COST_RAM_LUTS 16
#define COST_DSP_LUTS 32
#define COST_INSTRUCTION_BYTES 8
double cost_weight(const struct cost *cost);

#endif
