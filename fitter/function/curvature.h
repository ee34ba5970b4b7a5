/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the built-in functions are convex and where concave: what lets a bound speak for every x between two. */
#ifndef PWLC_CURVATURE_H
#define PWLC_CURVATURE_H

#include <stdbool.h>

#include "base/dd.h"

#define CURVATURE_CHANGES 2

/* Between two changes, and beyond the outer ones, f is differentiable and of one curvature. A straight line is of
 * both. The proofs are beside the definitions. */
struct curvature {
    int changes;                     /* 0 where f'' is of one sign all over the domain */
    struct dd at[CURVATURE_CHANGES]; /* ascending: f'' changes its sign, or f has a kink or no value */
    int sign[CURVATURE_CHANGES + 1]; /* +1 convex, -1 concave: below at[0], up to at[1], above */
    bool periodic;                   /* at[0] + k pi are changes for every integer k, the sign alternating */
};

extern const struct curvature curvature_convex, curvature_concave, curvature_convex_concave, curvature_concave_convex,
    curvature_kink, curvature_gelu, curvature_gelu_tanh, curvature_quick_gelu, curvature_silu, curvature_mish,
    curvature_sine, curvature_cosine, curvature_relu6, curvature_hard;

struct curvature_region {
    struct dd from, to; /* +-INFINITY beyond the outer changes */
    int sign;
};

/* The region that holds x; of two that meet near x, either. */
struct curvature_region curvature_at(const struct curvature *curvature, struct dd x);

/* Whether x is surely inside the region: further from its ends than they are known, and than a code's x is rounded. */
bool curvature_inside(const struct curvature_region *region, struct dd x);

#endif
