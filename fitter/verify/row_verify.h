/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the unit that is emitted of a row operator gives the runtime's codes, in a simulator that users have. */
#ifndef PWLC_ROW_VERIFY_H
#define PWLC_ROW_VERIFY_H

#include <stdint.h>

#include "operator/operator.h"

struct row_verification {
    const char *simulator; /* one of VERIFY_SIMULATORS */
    int lanes;             /* places of a beat; 0: 1 */
    int64_t rows;          /* 0: as many as take seconds */
    double limit_s;        /* of each program */
};

struct row_verdict {
    char tools[80]; /* "verilator 5.006" */
    int64_t rows, codes;
    double seconds; /* with building */
};

/* Emits the unit and its bench, with gaps, waits and a reset, builds and runs them. Exit 77 when a tool is missing, 3
 * when a row differs, which the message then tells. */
int row_verify(const struct row_operator *of, const struct row_verification *verification, struct row_verdict *verdict,
               struct diag *diag);

#endif
