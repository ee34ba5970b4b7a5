/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table must be beyond its format; each may cost accuracy. */
#ifndef PWLC_CONSTRAINTS_H
#define PWLC_CONSTRAINTS_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/file.h"

enum knots_rule {
    KNOTS_FREE,
    KNOTS_UNIFORM, /* segments of equal width */
    KNOTS_POW2,    /* starts on multiples of a power of two */
    KNOTS_POINTS,  /* a value every 2^point_shift codes, from qmin_x on, and straight lines between them */
    KNOTS_STEPS    /* such values, each for the codes q_x whose shr(q_x - qmin_x, point_shift) it is the index of */
};

/* How what lies between two values at points is rounded. */
enum points_rounding {
    POINTS_AS_TABLE,   /* by the rounding of the table */
    POINTS_HALF_DOWN,  /* halves down, which no rounding of tables does */
    POINTS_TOWARD_LEFT /* towards the value on the left: down where the line rises, up where it falls */
};

struct constraints {
    bool one_shift;     /* n_BX_total is the same in all segments */
    int shift_bits;     /* width of n_BX_total, sign included; 0: any shift that the accumulator allows */
    int shift_multiple; /* slopes are stored with a multiple of it as shift: see below; 0: with any shift */
    int slope_terms;    /* q_b is a sum of at most so many +-2^k, 1 or 2; 0: any q_b */
    enum knots_rule knots;
    int index_bits;  /* of KNOTS_POW2: the top bits of a code that decide its segment; 0 when not given */
    int point_shift; /* of KNOTS_POINTS and KNOTS_STEPS; 0 when not given; of steps it is always given */
    enum points_rounding points_rounding; /* of KNOTS_POINTS */
    bool monotone;                        /* no step against the direction of f */
    bool continuous;
    int max_step; /* with continuous: output codes between two segments' values at the start of the second */
};

/*
 * With a shift_multiple N a slope q_b * 2^-n is stored as q_b * 2^(s - n) and the shift s, the least of N, 2 N, ...
 * that is at least n. What is stored has the bits of --slope-bits, and s is at most this.
 */
#define CONSTRAINTS_LONGEST_STORED_SHIFT 32

#define CONSTRAINTS_MAX_INDEX_BITS 12 /* of those that are chosen */
#define CONSTRAINTS_GIVEN_INDEX_BITS 30

#define CONSTRAINTS_MAX_POINT_SHIFT 15

/* The least point_shift that inputs of so many bits can have: so that there are at most 4096 segments. */
#define CONSTRAINTS_LEAST_SHIFT(in_bits) ((in_bits) > 13 ? (in_bits)-12 : 1)

/* Sets one constraint from its flag, --shift, --shift-bits, --shift-multiple, --slope-terms, --knots, --monotone or
 * --continuous, and text; --monotone takes none, --shift and --slope-terms one of the lists of spec.h. Exit 2 with the
 * flag in the message. */
int constraints_set(struct constraints *constraints, const char *flag, const char *value, struct diag *diag);

/* Appends the flags of those that are set, in one order. */
void constraints_add_flags(const struct constraints *constraints, struct text *text);

/* ":half_down" and the like; "" of POINTS_AS_TABLE. */
const char *points_rounding_suffix(enum points_rounding rounding);

/* Whether segments are tied to their neighbours. */
bool constraints_tie(const struct constraints *constraints);

/* The index bits of a table of so many segments: those given, else two more than number its segments. */
int constraints_index_bits(const struct constraints *constraints, int segments, int in_bits);

#endif
