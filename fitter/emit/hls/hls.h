/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C++ for high-level synthesis: what the parts of a module assign, in order and without registers. */
#ifndef PWLC_EMIT_HLS_H
#define PWLC_EMIT_HLS_H

#include "emit/options.h"
#include "emit/rtl/formula.h"
#include "emit/rtl/rom.h"

int emit_hls(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag);

/* A right side, as a number of the target's type. False where the formula has no counterpart. */
bool hls_add_formula(struct text *out, const struct formula *formula, bool is_signed, int bits);

#endif
