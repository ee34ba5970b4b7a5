/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Range reduction, `--reduce on`: the plan of a reduced table (pwl/reduce.h) and the spec of its core. */
#ifndef PWLC_REDUCE_H
#define PWLC_REDUCE_H

#include <stdbool.h>

#include <pwl/reduce.h>

#include "base/diag.h"
#include "base/real.h"
#include "spec.h"
#include "table/table.h"

/* Storage of the table that a spec asks for. */
pwl_storage spec_storage(const struct spec *spec);

struct reduced_core {
    pwl_reduction reduction; /* as table_pack() completes it */
    struct tensor words;
    int64_t doublings; /* of a word's own octave, up to the largest results that do not saturate */
    double lsb;        /* units of the core's value in an output LSB, where results are largest but not saturated */
};

/* Exit 2 when the function has no law, or the types, method or other choices do not go with it. */
int reduce_plan(const struct spec *spec, struct reduced_core *core, struct diag *diag);

/* The spec whose table is the core; core must outlive it. Its targets are reduce_target's. */
struct spec reduce_core_spec(const struct spec *spec, const struct reduced_core *core);

/* The core's real value at a word, in its own units. */
real reduce_target(const struct spec *core_spec, int64_t word);

/* Units of the core's value in an output LSB of a code's octave, and the code's word; INFINITY for a code that
 * saturates or takes no word. */
double reduce_units(const struct spec *core_spec, int64_t code, int64_t *word);

/* The same for the words first to last, where results are largest, when their codes are too many to visit. */
double reduce_word_units(const struct spec *core_spec, int64_t first, int64_t last);

#endif
