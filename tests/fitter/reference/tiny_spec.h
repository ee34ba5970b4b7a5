/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specs at random, with every method and constraint, for the fitter and for every_table(); what a table of one keeps
 * to. */
#ifndef TINY_SPEC_H
#define TINY_SPEC_H

#include "every_table.h"
#include "spec/spec.h"

struct reference_table;

struct tiny {
    struct spec spec;
    char text[2800];                /* the flags, and what flags would name files for */
    int count;                      /* codes of the input */
    long double whole[EVERY_CODES]; /* f in output codes, before saturation */
    double weight[EVERY_CODES];     /* of a code's squared error */
    int64_t fixed[EVERY_CODES];     /* output code, or EVERY_FREE */
    bool is_level;                  /* so nearly somewhere that rounding decides whether f rises */
    bool is_constant;               /* f lies outside the output range at every code */
};

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

/* The same of steps: every form and rounding, at times a limit that they keep to. */
void tiny_draw_steps(struct tiny *tiny, int number);

/* The same as tiny_draw, with --offset-type. */
void tiny_draw_offsets(struct tiny *tiny, int number);

/* The same as tiny_draw, with --shift-multiple, at times of wider slopes, and --offset-type. */
void tiny_draw_multiples(struct tiny *tiny, int number);

/* The same as tiny_draw, with --shift-bits, at times with --offset-type and --shift-multiple. */
void tiny_draw_shifts(struct tiny *tiny, int number);

/* Wider formats than these, without a constraint but --fix, to which a test adds its own: 3 to 6 bits to 3 to 10, of
 * `narrow` 3 to 4 to 3 to 5; zero points as far away as there is any use in. The method is minimax, without a number of
 * segments. */
void tiny_draw_free(struct tiny *tiny, int number, bool narrow);

/* Sets a flag of the spec, value null for those without one, and adds it to the text. */
void tiny_set(struct tiny *tiny, const char *flag, const char *value);

/* Whether targets have no rounding error, in the fitter too. */
bool tiny_is_exact(const struct tiny *tiny);

/* The spec of flags, as in fixture.h, of a function of at most EVERY_CODES codes. */
void tiny_from_flags(struct tiny *tiny, const char *flags);

/* What every table of the spec has to keep to, of a table of so many segments; 0: of how many is not known. */
struct every_spec tiny_every(const struct tiny *tiny, int segments);

struct tiny_error {
    double max, squares; /* weighted */
};

/* Of a table, by the definitions alone: no code leaves the accumulator, and fixed ones are as they should. */
struct tiny_error tiny_error(const struct every_spec *every, const struct reference_table *reference, const char *text);

/* Whether a table keeps to --monotone and --continuous. */
bool tiny_keeps_ties(const struct every_spec *every, const struct reference_table *reference);

/* Whether its fields are those that are allowed, and segments start where they may. */
bool tiny_keeps_to_fields(const struct every_spec *every, const struct table *table);

#endif
