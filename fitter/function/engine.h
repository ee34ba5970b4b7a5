/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expressions of x as programs for a stack of enclosures (ball.h). A program is not written to after it was made:
 * threads may share it.
 *
 * At a point, numbers that their enclosures do not tell apart count as equal: 0.1 * 3 == 0.3, floor(log10(1000)) is 3.
 * Over an interval of x a condition may be undecided: the value is then of either branch.
 */
#ifndef PWLC_ENGINE_H
#define PWLC_ENGINE_H

#include "ball.h"
#include "base/diag.h"

struct engine;

/* A value and its first two derivatives with respect to x. */
struct jet {
    struct ball at[3];
};

/* Exit 2 when text is no expression that has one value and depends on x; field starts the message. */
int engine_create(const char *text, const char *field, struct engine **engine, struct diag *diag);
void engine_free(struct engine *engine);

/* The value at x; the middle is NaN or infinite where there is none. */
struct ball engine_value(const struct engine *engine, struct dd x);

/* The same with the derivatives, of which those from the right count at kinks. At a jump they are those of the branch
 * that is taken. */
struct jet engine_jet(const struct engine *engine, struct dd x);

/* What holds the values, and the derivatives, at every x of an interval. The radius of what is not known, or does not
 * exist at some x, is INFINITY. Where the expression is not smooth, but has slopes on both sides, those are held. */
struct jet engine_enclosure(const struct engine *engine, struct dd middle, double radius);

#endif
