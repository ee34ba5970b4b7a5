/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiny specs at random, with every method and constraint, for the fitter and for every_table(). */
#ifndef TINY_SPEC_H
#define TINY_SPEC_H

#include "every_table.h"
#include "spec/spec.h"

#define TINY_CODES 16

struct tiny {
    struct spec spec;
    char text[1600];               /* the flags, and what flags would name files for */
    int count;                     /* codes of the input */
    long double whole[TINY_CODES]; /* f in output codes, before saturation */
    double weight[TINY_CODES];     /* of a code's squared error */
    int64_t fixed[TINY_CODES];     /* output code, or TINY_FREE */
    bool is_level;                 /* so nearly somewhere that rounding decides whether f rises */
};

#define TINY_FREE INT64_MIN

/* The spec of a number. Form, rounding and method go in turn; the rest is drawn: function or samples, widths (2 to 4
 * bits to 2 to 8), scales, zero points, 1 to 4 segments or an error limit, slopes of 2 to 5 bits, and each constraint.
 * The caller frees the spec. */
void tiny_draw(struct tiny *tiny, int number);

/* The same of folded tables with --monotone or --continuous. */
void tiny_draw_tied_fold(struct tiny *tiny, int number);

/* The same of the largest error, samples, free knots and --monotone, at times with --continuous: short
 * slopes, of which each counts. */
void tiny_draw_tied(struct tiny *tiny, int number);

/* The same of values at points, every fourth time within an error: every rounding and offset type, at times outputs of
 * more than 8 bits, whose sums end where zero points are large. */
void tiny_draw_points(struct tiny *tiny, int number);

/* The same as tiny_draw, with --offset-type. */
void tiny_draw_offsets(struct tiny *tiny, int number);

/* The same as tiny_draw, with --shift-multiple, at times of wider slopes, and --offset-type. */
void tiny_draw_multiples(struct tiny *tiny, int number);

/* The spec of flags, as in fixture.h, of a function. */
void tiny_from_flags(struct tiny *tiny, const char *flags);

/* What every table of the spec has to keep to. Uniform knots are those of `table`. */
struct every_spec tiny_every(const struct tiny *tiny, const struct table *table);

#endif
