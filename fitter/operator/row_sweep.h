/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hard and drawn rows show of an operator: for sweep and report. */
#ifndef PWLC_ROW_SWEEP_H
#define PWLC_ROW_SWEEP_H

#include "operator.h"

enum { ROW_SWEEP_WORST = 10, ROW_SWEEP_BINS = 20 };

struct row_sweep {
    int64_t rows, places, correct; /* places: codes that came out; correct: of at most half an LSB */
    double squares, sum;           /* of |error| */
    int kept;
    struct {
        double error;
        char words[160];
    } worst[ROW_SWEEP_WORST];     /* the first `kept`, the largest error first */
    int64_t bins[ROW_SWEEP_BINS]; /* of |error|, each a twentieth of `top` */
    double top;                   /* the bound */
};

/* Measures every structured row and so many drawn ones. */
int row_sweep(const struct row_operator *of, int64_t drawn, double bound, struct row_sweep *sweep, struct diag *diag);

#endif
