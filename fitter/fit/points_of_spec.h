/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The codes that a spec's table is fitted on, with their targets. */
#ifndef PWLC_POINTS_OF_SPEC_H
#define PWLC_POINTS_OF_SPEC_H

#include "search/points.h"
#include "spec/spec.h"

/* Of spec_fold_half when it is folded. Up to 16 bits every code is a point. The points use the spec as long as they
 * live; points_free drops what they own. */
int points_build(const struct spec *spec, struct points *points, struct diag *diag);

#endif
