/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `pwlc fit` is asked for. Flags and the jobs of `--spec` fill the same structure. */
#ifndef PWLC_SPEC_H
#define PWLC_SPEC_H

#include <stdbool.h>

#include "diag.h"
#include "function.h"
#include "table.h"
#include "tensor.h"

enum method { METHOD_LSQ, METHOD_UNIFORM, METHOD_DOCUMENT, METHOD_LUT };

struct spec {
    struct function function;
    struct tensor in, out;
    int segments;            /* 1..4096; 0 when not given */
    double max_err;          /* output LSB, > 0; NAN when not given */
    enum method method;
    pwl_form form;
    pwl_rounding rounding;
    int slope_bits;          /* 2..storage_bits: width of q_b, sign included; 0: the storage's */
    enum outside outside;
    bool no_saturate;
};

#define SPEC_DEFAULT_SEGMENTS 16

const char *method_name(enum method method);
const char *method_summary(enum method method); /* one line for `pwlc list` */
bool method_parse(const char *name, enum method *method);
#define METHOD_COUNT 4

/* Checks what single flags cannot: contradictions (document with an arbitrary scale, lut with more than 12 bits or
 * with --segments, ...), the domain, an output that is saturated everywhere. */
int spec_check(const struct spec *spec, struct diag *diag);

/* Canonical flags, for example "sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 16 --method lsq
 * --form absolute --rounding floor": every choice that changes the table is written, in one order. malloc'd. */
char *spec_canonical(const struct spec *spec);

/* fit.c: spec -> certified table. Exit 3 when no provable table exists, --max-err or --no-saturate is not met. */
int fit(const struct spec *spec, struct table *table, struct diag *diag);

#endif
